/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Room on mountpaths, against the watermarks. A put is refused before the file system is full, so
 * that the index can grow and removals go on. The system is asked a few times a second; in between
 * what was promised is taken off.
 */
#include <errno.h>
#include <sys/statfs.h>

#include "base/text.h"
#include "log.h"
#include "store/paths.h"

#define LOOK_NS (INT64_C(200) * 1000000) /* between two looks */
#define UNKNOWN (INT64_C(1) << 20) /* what a put of unknown length is taken for */
#define KEPT_MAX (UINT64_C(32) << 20) /* kept free whatever the watermark, on a small one less */

/* Bytes that puts must leave. */
static int64_t floor_of(uint64_t all, unsigned int out_of_space)
{
	uint64_t kept = MIN(all / 32, KEPT_MAX), mark = all / 100 * (100 - out_of_space);

	return (int64_t)MAX(kept, mark);
}

static void note(struct mpath *mp, atomic_bool *flag, bool now, const char *what)
{
	if (atomic_exchange(flag, now) == now)
		return;
	if (now)
		log_warn("mountpath.space",
			 "path=%s state=\"%s\" fix=\"remove objects, or add room\"", mp->path,
			 what);
	else
		log_info("mountpath.space", "path=%s state=\"not %s any more\"", mp->path, what);
}

static void limits_get(struct store *s, struct store_limits *l)
{
	pthread_mutex_lock(&s->lock);
	*l = s->limits;
	pthread_mutex_unlock(&s->lock);
}

void space_look(struct mpath *mp)
{
	uint64_t unit, all, avail;
	struct store_limits l;
	struct statfs st;

	if (fstatfs(mp->blob_fd, &st) < 0)
		return; /* the probe says what is wrong */
	limits_get(mp->s, &l);
	unit = (uint64_t)(st.f_frsize ? st.f_frsize : st.f_bsize);
	avail = MIN(st.f_bavail * unit, (uint64_t)INT64_MAX / 2);
	all = (st.f_blocks - st.f_bfree) * unit + avail;
	atomic_store(&mp->looked_ns, mono_ns());
	if (!l.out_of_space) {
		atomic_store(&mp->left, INT64_MAX / 2);
		note(mp, &mp->full, false, "out of space");
	} else {
		atomic_store(&mp->left, (int64_t)avail - floor_of(all, l.out_of_space));
		note(mp, &mp->full, atomic_load(&mp->left) <= 0, "out of space");
	}
	note(mp, &mp->low, l.high && all && avail < all / 100 * (100 - l.high), "low on space");
}

int space_ask(struct mpath *mp, int64_t bytes)
{
	int64_t need = bytes < 0 ? UNKNOWN : bytes;

	if (mono_ns() - atomic_load(&mp->looked_ns) > LOOK_NS || atomic_load(&mp->left) < need)
		space_look(mp);
	if (atomic_fetch_sub(&mp->left, need) >= need)
		return 0;
	atomic_fetch_add(&mp->left, need);
	return -ENOSPC;
}
