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

struct slice {
	struct commit_op op;
	sem_t done;
};

static void slice_done(struct commit_op *op)
{
	sem_post(&container_of(op, struct slice, op)->done);
}

/* Remove up to COMMIT_RANGE_MAX records. Return: how many, or an errno. */
static int destroy_slice(struct mpath *mp, uint64_t bid)
{
	struct slice s = {.op = {.kind = COMMIT_RANGE, .key = {bid, "", 0}, .done = slice_done}};

	sem_init(&s.done, 0, 0);
	commit_submit(mp->com, &s.op);
	while (sem_wait(&s.done) < 0)
		;
	sem_destroy(&s.done);
	buf_free(&s.op.victims);
	return s.op.err < 0 ? s.op.err : (int)s.op.count;
}

int store_bucket_destroy(struct store *s, uint64_t bid)
{
	int first = 0, n;
	size_t i;

	store_hold(s);
	for (i = 0; i < s->n_paths; i++) {
		do {
			sweep_wait(s->paths[i].sw, SWEEP_MAX);
			n = destroy_slice(&s->paths[i], bid);
		} while (n > 0);
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
	size_t i, n;
	int r = 0;

	for (i = 0; r == 0 && i < s->n_paths; i++)
		r = index_walk(s->paths[i].ix, NULL, &from, take_bid, &ids);
	r = r ? r : ids.err;
	if (r < 0 || !ids.len)
		return r;
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
	return 0;
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
	return s->n_paths;
}

int store_space(struct store *s, size_t path, struct store_space *ret)
{
	struct statfs st;
	struct mpath *mp;
	uint64_t unit;
	int id[2];

	if (path >= s->n_paths)
		return -EINVAL;
	mp = &s->paths[path];
	if (fstatfs(mp->blob_fd, &st) < 0)
		return -errno;
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
	find_mount(ret);
	return 0;
}
