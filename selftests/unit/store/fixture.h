/* SPDX-License-Identifier: BSD-2-Clause */
/* A store in folders of its own, and calls that wait for the answer. */
#ifndef SELFTESTS_STORE_FIXTURE_H
#define SELFTESTS_STORE_FIXTURE_H

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <semaphore.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "loop/pool.h"
#include "selftests/unit/unit.h"
#include "store/commit.h"
#include "store/store.h"
#include "store/sweep.h"

struct fix {
	char dir[64]; /* of all */
	char path[4][80];
	const char *paths[4];
	size_t n;
	bool sync;
	uint64_t map_bytes;
	unsigned int batch;
	struct pool *io;
	struct store *s;
	char err[512];
};

/* A bucket with versions and the default checksum. */
static const struct store_bck fix_bck = {
	.bid = 7, .uname = "ais/@#/abc/", .cksum = CKSUM_XXHASH2, .versioned = true};

static inline int fix_start(struct fix *f)
{
	struct store_opts o = {.sz = sizeof(o),
			       .paths = f->paths,
			       .n_paths = f->n,
			       .node_id = "t1",
			       .sync = f->sync,
			       .map_bytes = f->map_bytes ? f->map_bytes : 256 << 20,
			       .batch = f->batch,
			       .io = f->io};

	return store_open(&o, &f->s, f->err, sizeof(f->err));
}

/* Folders for @n mountpaths below TMPDIR or /tmp; nothing is opened yet. */
static inline void fix_dirs(struct fix *f, size_t n)
{
	const char *tmp = getenv("TMPDIR");
	size_t i;

	snprintf(f->dir, sizeof(f->dir), "%.40s/store-XXXXXX", tmp ? tmp : "/tmp");
	ASSERT_TRUE(mkdtemp(f->dir) != NULL);
	f->n = n;
	for (i = 0; i < n; i++) {
		snprintf(f->path[i], sizeof(f->path[i]), "%s/mp%zu", f->dir, i);
		f->paths[i] = f->path[i];
		ASSERT_EQ(mkdir(f->path[i], 0700), 0);
	}
}

static inline void fix_open(struct fix *f, size_t n)
{
	fix_dirs(f, n);
	ASSERT_EQ(pool_new("io", 4, 100000, &f->io), 0);
	ASSERT_EQ(fix_start(f), 0);
}

static inline void fix_stop(struct fix *f)
{
	store_close(take_ptr(f->s));
}

static inline void fix_restart(struct fix *f)
{
	fix_stop(f);
	ASSERT_EQ(fix_start(f), 0);
}

static inline int fix_rm_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	return remove(path);
}

static inline void fix_close(struct fix *f)
{
	fix_stop(f);
	pool_free(take_ptr(f->io));
	nftw(f->dir, fix_rm_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* An answer and the wait for it. */
struct answer {
	sem_t there;
	int err;
	struct store_rec rec;
};

static inline void answer_done(void *arg, int err, const struct store_rec *rec)
{
	struct answer *a = arg;

	a->err = err;
	if (rec)
		a->rec = *rec;
	sem_post(&a->there);
}

static inline int answer_wait(struct answer *a, struct store_rec *rec)
{
	while (sem_wait(&a->there) < 0)
		;
	sem_destroy(&a->there);
	if (rec && a->err >= 0)
		*rec = a->rec;
	return a->err;
}

struct fix_bytes {
	const char *data;
	size_t n;
};

#define fix_put_opts(f, b, name, data, n, o, rec)                                                  \
	fix_put_bytes(f, b, name, (struct fix_bytes){data, n}, o, rec)

static inline int fix_put_bytes(struct fix *f, const struct store_bck *b, const char *name,
				struct fix_bytes bytes, const struct store_put_opts *o,
				struct store_rec *rec)
{
	struct answer a = {};
	struct store_put *p;
	int r = store_put_begin(f->s, b, name, o, &p);

	if (r < 0)
		return r;
	r = store_put_write(p, bytes.data, bytes.n);
	if (r < 0) {
		store_put_abort(p);
		return r;
	}
	sem_init(&a.there, 0, 0);
	store_put_commit(p, answer_done, &a);
	return answer_wait(&a, rec);
}

static inline int fix_put(struct fix *f, const char *name, const char *text)
{
	struct store_put_opts o = {.size = (int64_t)strlen(text)};

	return fix_put_opts(f, &fix_bck, name, text, strlen(text), &o, NULL);
}

static inline int fix_delete(struct fix *f, const char *name)
{
	struct answer a = {};

	sem_init(&a.there, 0, 0);
	store_delete(f->s, &fix_bck, name, answer_done, &a);
	return answer_wait(&a, NULL);
}

/* Content as a text of at most 64 KiB, the caller's; NULL and @ret_err without one. */
static inline char *fix_get(struct fix *f, const char *name, int *ret_err)
{
	char *text = calloc(1, 65537);
	struct store_rec rec;
	autofd fd = -1;

	*ret_err = store_open_blob(f->s, &fix_bck, name, &rec, &fd);
	if (*ret_err < 0 || pread(fd, text, 65536, 0) != (ssize_t)rec.size) {
		free(text);
		return NULL;
	}
	return text;
}

#define ASSERT_CONTENT(f, name, want)                                                              \
	do {                                                                                       \
		int content_err_;                                                                  \
		autofree char *content_ = fix_get(f, name, &content_err_);                         \
		ASSERT_EQ(content_err_, 0);                                                        \
		ASSERT_STR(content_, want);                                                        \
	} while (0)

/* Files below a folder of all mountpaths, those in blob/tmp/ too, once what is old has gone. */
static size_t fix_counted;

static inline int fix_count_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	fix_counted += type == FTW_F;
	return 0;
}

static inline size_t fix_files(struct fix *f, const char *below)
{
	char dir[128];
	size_t i;

	fix_counted = 0;
	for (i = 0; i < f->n; i++) {
		struct commit_op last = {}; /* a put is answered before what it replaced goes */

		if (f->s && f->s->paths[i].open) {
			commit_wait(&f->s->paths[i], &last);
			sweep_wait(f->s->paths[i].sw, 0);
		}
		snprintf(dir, sizeof(dir), "%s/%s", f->path[i], below);
		nftw(dir, fix_count_one, 16, FTW_PHYS);
	}
	return fix_counted;
}

#endif
