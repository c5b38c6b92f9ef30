/* SPDX-License-Identifier: BSD-2-Clause */
/* Buckets as ranges of keys, and the room on mountpaths. */
#include <errno.h>
#include <fcntl.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statfs.h>

#include "base/cleanup.h"
#include "store/commit.h"
#include "store/sweep.h"

#define SWEEP_MAX 65536 /* files that may wait to be unlinked before more are added */

/* ---- destroy ---- */

struct waited {
	struct commit_op op;
	sem_t done;
};

static void waited_done(struct commit_op *op)
{
	sem_post(&container_of(op, struct waited, op)->done);
}

int commit_wait(struct mpath *mp, struct commit_op *op)
{
	struct waited w = {.op = *op};

	sem_init(&w.done, 0, 0);
	w.op.done = waited_done;
	commit_submit(mp->com, &w.op);
	while (sem_wait(&w.done) < 0)
		;
	sem_destroy(&w.done);
	*op = w.op;
	return op->err < 0 ? op->err : (int)op->count;
}

/* Remove up to COMMIT_RANGE_MAX records. Return: how many, or an errno. */
static int destroy_slice(struct mpath *mp, uint64_t bid)
{
	struct commit_op op = {.kind = COMMIT_RANGE, .key = {bid, "", 0}};
	int r;

	sweep_wait(mp->sw, SWEEP_MAX);
	r = commit_wait(mp, &op);
	buf_free(&op.victims);
	return r;
}

int store_bucket_destroy(struct store *s, uint64_t bid)
{
	int first = 0, n;
	size_t i;

	store_hold(s);
	for (i = 0; i < store_paths(s); i++) {
		struct mpath *mp = store_hold_path(s, i);

		if (!mp || !mpath_writable(mp)) {
			mpath_drop(mp);
			continue; /* asked for again when it is back */
		}
		do {
			n = destroy_slice(mp, bid);
		} while (n > 0);
		mpath_drop(mp);
		if (n < 0 && !first)
			first = n;
	}
	store_drop(s);
	return first;
}

/* ---- bucket IDs ---- */

static enum index_step take_bid(void *arg, const struct index_item *it, struct objkey *seek)
{
	struct buf *ids = arg;

	buf_append(ids, &it->key.bid, sizeof(it->key.bid));
	if (it->key.bid == UINT64_MAX)
		return INDEX_STOP;
	*seek = (struct objkey){it->key.bid + 1, "", 0};
	return INDEX_SEEK;
}

static int id_cmp(const void *a, const void *b)
{
	uint64_t x, y;

	memcpy(&x, a, sizeof(x));
	memcpy(&y, b, sizeof(y));
	return (x > y) - (x < y);
}

int store_bucket_ids(struct store *s, void (*fn)(void *arg, uint64_t bid), void *arg)
{
	autobuf struct buf ids = BUF_INIT;
	struct objkey from = {0, "", 0};
	int r = 0, out = store_whole(s) ? 0 : STORE_OUT;
	size_t i, n;

	for (i = 0; r == 0 && i < store_paths(s); i++) {
		struct mpath *mp = store_hold_path(s, i);

		if (!mp)
			continue;
		r = index_walk(mp->ix, NULL, &from, take_bid, &ids);
		mpath_drop(mp);
	}
	r = r ? r : ids.err;
	if (r < 0 || !ids.len)
		return r < 0 ? r : out;
	n = ids.len / sizeof(uint64_t);
	qsort(ids.data, n, sizeof(uint64_t), id_cmp);
	for (i = 0; i < n; i++) {
		uint64_t id, before;

		memcpy(&id, ids.data + i * sizeof(id), sizeof(id));
		if (i)
			memcpy(&before, ids.data + (i - 1) * sizeof(id), sizeof(before));
		if (!i || before != id)
			fn(arg, id);
	}
	return out;
}

/* ---- room ---- */

/* The kernel writes blanks in names as \040. In place. */
static void unescape(char *s)
{
	char *out = s;

	for (; *s; s++) {
		if (s[0] == '\\' && s[1] >= '0' && s[1] <= '3' && s[2] >= '0' && s[2] <= '7' &&
		    s[3] >= '0' && s[3] <= '7') {
			*out++ = (char)((s[1] - '0') * 64 + (s[2] - '0') * 8 + (s[3] - '0'));
			s += 3;
		} else {
			*out++ = *s;
		}
	}
	*out = 0;
}

static bool is_below(const char *path, const char *dir)
{
	size_t n = strlen(dir);

	return !strcmp(dir, "/") || (!strncmp(path, dir, n) && (!path[n] || path[n] == '/'));
}

/* Device and type of the file system with the longest mount point above the path. */
static void find_mount(struct store_space *sp)
{
	autofile FILE *f = fopen("/proc/self/mountinfo", "re");
	char line[4096], point[4096], type[32], dev[256];
	size_t best = 0;

	while (f && fgets(line, sizeof(line), f)) {
		const char *dash = strstr(line, " - ");

		if (!dash || sscanf(line, "%*s %*s %*s %*s %4095s", point) != 1 ||
		    sscanf(dash, " - %31s %255s", type, dev) != 2)
			continue;
		unescape(point);
		if (strlen(point) < best || !is_below(sp->path, point))
			continue;
		best = strlen(point);
		unescape(dev);
		memcpy(sp->fs_type, type, sizeof(type));
		memcpy(sp->device, dev, sizeof(dev));
	}
}

size_t store_paths(const struct store *s)
{
	return atomic_load(&s->n_paths);
}

int store_space(struct store *s, size_t path, struct store_space *ret)
{
	struct mpath *mp = store_hold_path(s, path);
	struct statfs st;
	uint64_t unit;
	int id[2];

	if (!mp)
		return STORE_OUT;
	if (fstatfs(mp->blob_fd, &st) < 0) {
		mpath_drop(mp);
		return -errno;
	}
	unit = (uint64_t)(st.f_frsize ? st.f_frsize : st.f_bsize);
	memset(ret, 0, sizeof(*ret));
	snprintf(ret->path, sizeof(ret->path), "%s", mp->path);
	memcpy(id, &st.f_fsid, sizeof(id));
	ret->fsid[0] = (uint32_t)id[0];
	ret->fsid[1] = (uint32_t)id[1];
	ret->total = st.f_blocks * unit;
	ret->used = (st.f_blocks - st.f_bfree) * unit;
	ret->avail = st.f_bavail * unit;
	ret->objects = index_count(mp->ix);
	mpath_drop(mp);
	find_mount(ret);
	return 0;
}
