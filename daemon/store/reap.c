/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What no object needs: blobs without a record, temporary files, work files nobody came back to.
 *
 * A pass lists a part of the folders, then reads all records and marks what they name; the rest are
 * orphans. Files are listed first: while the store runs, all groups that were on their way then are
 * waited for, and what was linked since is not in the list. With a damaged record nothing is
 * removed, since the blob it names is not known.
 */
#include "store/reap.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "log.h"
#include "metrics.h"
#include "store/blob.h"
#include "store/commit.h"
#include "store/sweep.h"

#define REAP_SET (UINT64_C(2) << 20) /* files a pass: 96 MiB */
#define REAP_NOW 1000 /* orphans unlinked before the start goes on; the others meanwhile */
#define REAP_SLICE 4096 /* records between two looks whether to stop */
#define WORK_AGE_S (24 * 3600)

/* A blob, its trailer, or both. */
struct file {
	uint64_t epoch, n; /* of its name; with neither blob nor meta it is a free place */
	uint8_t dir;
	bool blob, meta; /* which were listed */
	bool named; /* by a record */
};

struct pass {
	struct mpath *mp;
	const atomic_bool *stop; /* NULL: at a start */
	unsigned int k, of; /* folders with dir % of == k */
	struct file *set; /* open addressing */
	uint64_t slots, used;
	uint64_t matched, missing, orphans, foreign, damaged;
	char lost[RECORD_BLOB_LEN + 1]; /* the first blob that is missing */
	struct buf later; /* orphans for the sweeper */
	/* the walk */
	struct objkey next;
	char name[STORE_NAME_MAX];
	size_t seen;
	bool more;
};

static void close_dir(DIR **d)
{
	if (*d)
		closedir(*d);
}

static DIR *dir_list(int at, const char *name)
{
	int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);

	if (!d && fd >= 0)
		close(fd);
	return d;
}

static bool is_dots(const char *name)
{
	return !strcmp(name, ".") || !strcmp(name, "..");
}

bool mpath_dir_empty(int at, const char *name)
{
	autoclean(close_dir) DIR *d = dir_list(at, name);
	struct dirent *e;

	while (d && (e = readdir(d))) {
		if (!is_dots(e->d_name))
			return false;
	}
	return true;
}

static bool told_to_stop(const struct pass *p)
{
	return p->stop && atomic_load(p->stop);
}

/* ---- the set ---- */

/* @blob: "xx/eeeeeeeeeeeeeeee-cccccccccccccccc", known to be well-formed. */
static struct file file_of(const char *blob)
{
	struct file f = {.dir = (uint8_t)blob_dir(blob)};

	f.epoch = strtoull(blob + 3, NULL, 16);
	f.n = strtoull(blob + 20, NULL, 16);
	return f;
}

static bool is_free(const struct file *f)
{
	return !f->blob && !f->meta;
}

static struct file *slot(const struct pass *p, const struct file *f)
{
	uint64_t i = f->n * UINT64_C(0x9e3779b97f4a7c15) ^ f->epoch, mask = p->slots - 1;

	for (;; i++) {
		struct file *at = &p->set[i & mask];

		if (is_free(at) || (at->epoch == f->epoch && at->n == f->n && at->dir == f->dir))
			return at;
	}
}

static int grow(struct pass *p)
{
	struct pass big = *p;
	uint64_t i;

	big.slots = p->slots ? p->slots * 2 : 1024;
	big.set = calloc(big.slots, sizeof(*big.set));
	if (!big.set)
		return -ENOMEM;
	for (i = 0; i < p->slots; i++) {
		if (!is_free(&p->set[i]))
			*slot(&big, &p->set[i]) = p->set[i];
	}
	free(p->set);
	p->set = big.set;
	p->slots = big.slots;
	return 0;
}

/* ---- the files ---- */

/* Return: 0; -ENOBUFS too many for one pass; -ENOMEM. */
static int note_file(struct pass *p, const char *dir, const char *name)
{
	size_t n = strlen(name);
	bool meta = n == 33 + 5 && !strcmp(name + 33, ".meta");
	char blob[48];
	struct file f, *at;

	snprintf(blob, sizeof(blob), "%.2s/%.33s", dir, name);
	if ((n != 33 && !meta) || !record_blob_ok(blob, strlen(blob))) {
		p->foreign++;
		return 0;
	}
	if (p->used >= REAP_SET && p->of < BLOB_DIRS)
		return -ENOBUFS;
	if (p->used >= p->slots / 4 * 3 && grow(p) < 0)
		return -ENOMEM;
	f = file_of(blob);
	at = slot(p, &f);
	if (is_free(at)) {
		*at = f;
		p->used++;
	}
	at->meta |= meta;
	at->blob |= !meta;
	return 0;
}

static int list_dir(struct pass *p, const char *dir)
{
	autoclean(close_dir) DIR *d = dir_list(p->mp->blob_fd, dir);
	struct dirent *e;
	int r = 0;

	if (!d)
		return -errno;
	while (r == 0 && (errno = 0, e = readdir(d))) {
		if (!is_dots(e->d_name))
			r = note_file(p, dir, e->d_name);
	}
	return r ? r : -errno;
}

static int list_files(struct pass *p)
{
	unsigned int i;
	char dir[8];
	int r = 0;

	for (i = p->k; r == 0 && i < BLOB_DIRS; i += p->of) {
		snprintf(dir, sizeof(dir), "%02x", i);
		r = told_to_stop(p) ? -EAGAIN : list_dir(p, dir);
	}
	return r;
}

/* ---- the records ---- */

/* The walk goes on behind this one. */
static void note_next(struct pass *p, const struct objkey *k)
{
	memcpy(p->name, k->name, k->len);
	p->next = (struct objkey){k->bid, p->name, k->len};
	p->more = true;
}

static enum index_step mark(void *arg, const struct index_item *it, struct objkey *seek)
{
	struct pass *p = arg;
	struct store_rec rec;
	struct file f, *at;

	if (p->seen++ == REAP_SLICE) {
		note_next(p, &it->key);
		return INDEX_STOP;
	}
	if (record_decode(&it->key, it->val, it->val_len, &rec) < 0) {
		p->damaged++;
		return INDEX_NEXT;
	}
	f = file_of(rec.blob);
	if (f.dir % p->of != p->k)
		return INDEX_NEXT;
	at = p->slots ? slot(p, &f) : NULL;
	if (at && at->blob) {
		p->matched += !at->named;
		at->named = true;
	} else if (!p->missing++) {
		memcpy(p->lost, rec.blob, sizeof(p->lost));
	}
	if (at && at->meta)
		at->named = true;
	return INDEX_NEXT;
}

static int mark_all(struct pass *p)
{
	int r = 0;

	p->next = (struct objkey){0, "", 0};
	do {
		p->more = false;
		p->seen = 0;
		r = told_to_stop(p) ? -EAGAIN : index_walk(p->mp->ix, NULL, &p->next, mark, p);
	} while (r == 0 && p->more);
	return r == 0 && p->damaged ? -EUCLEAN : r;
}

/* ---- the orphans ---- */

static void reap_file(struct pass *p, const struct file *f)
{
	char name[64];
	bool gone = false;

	snprintf(name, sizeof(name), "%02x/%016" PRIx64 "-%016" PRIx64, f->dir, f->epoch, f->n);
	if (!p->stop && p->orphans >= REAP_NOW) {
		victim_add(&p->later, name, f->meta ? VICTIM_BOTH : VICTIM_BLOB);
		p->orphans++;
		return;
	}
	if (f->blob)
		gone = unlinkat(p->mp->blob_fd, name, 0) == 0;
	if (f->meta) {
		strcat(name, ".meta");
		unlinkat(p->mp->blob_fd, name, 0);
	}
	p->orphans += gone;
}

static void reap_files(struct pass *p)
{
	uint64_t i;

	for (i = 0; i < p->slots && !told_to_stop(p); i++) {
		if (!is_free(&p->set[i]) && !p->set[i].named)
			reap_file(p, &p->set[i]);
	}
}

/*
 * All that was on its way is done: names linked so far have their record or are gone, and what was
 * replaced or removed is unlinked.
 */
static int settle(struct pass *p)
{
	struct commit_op op = {.kind = COMMIT_NONE};
	int r;

	if (!p->stop)
		return 0;
	r = commit_wait(p->mp, &op);
	return r == 0 && sweep_busy(p->mp->sw) ? -EAGAIN : r;
}

static int pass_run(struct pass *p)
{
	int r = list_files(p);

	r = r ? r : settle(p);
	r = r ? r : mark_all(p);
	r = r ? r : settle(p);
	if (r == 0)
		reap_files(p);
	return r;
}

static void add_up(struct pass *total, const struct pass *p)
{
	if (!total->missing)
		memcpy(total->lost, p->lost, sizeof(total->lost));
	total->matched += p->matched;
	total->missing += p->missing;
	total->orphans += p->orphans;
	total->foreign += p->foreign;
	total->damaged += p->damaged;
}

/* Return: 0; -ENOBUFS when more passes are needed; or an errno. */
static int reap_blobs(struct pass *total, unsigned int of)
{
	unsigned int k;
	int r = 0;

	for (k = 0; r == 0 && k < of; k++) {
		struct pass p = {.mp = total->mp, .stop = total->stop, .k = k, .of = of};

		r = pass_run(&p);
		add_up(total, &p);
		if (p.later.len)
			sweep_later(total->mp->sw, &p.later);
		buf_free(&p.later);
		free(p.set);
	}
	return r;
}

/* An append that goes on holds its file's lock. */
static void reap_work(int at, const char *name)
{
	autofd fd = openat(at, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) == 0)
		unlinkat(at, name, 0);
}

/* Files of at least this age. */
static void reap_names(int at, const char *name, int64_t min_age_s)
{
	autoclean(close_dir) DIR *d = dir_list(at, name);
	int64_t now_s = wall_ns() / 1000000000;
	struct dirent *e;
	struct stat st;

	while (d && (e = readdir(d))) {
		if (is_dots(e->d_name) ||
		    fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		if (now_s - st.st_mtime >= min_age_s)
			reap_work(dirfd(d), e->d_name);
	}
}

static void report(const struct pass *t)
{
	const char *path = t->mp->path;

	metrics_add(t->mp->s->metrics, METRIC_ORPHANS_N, t->orphans);
	if (t->orphans || (t->foreign && !t->stop))
		log_info("store.reaped", "path=%s orphans=%" PRIu64 " foreign=%" PRIu64, path,
			 t->orphans, t->foreign);
	if (t->damaged)
		log_error("store.damaged", "path=%s records=%" PRIu64 " reaped=no", path,
			  t->damaged);
	/* while it runs, what was put since the list was made looks like that too */
	if (!t->stop && !t->damaged && t->missing)
		log_error("store.missing", "path=%s blobs=%" PRIu64 " first=%s", path, t->missing,
			  t->lost);
}

static int reap_all(struct pass *total)
{
	unsigned int of = 1;
	int r;

	do {
		struct pass t = {.mp = total->mp, .stop = total->stop};

		r = reap_blobs(&t, of);
		*total = t;
		of *= 2;
	} while (r == -ENOBUFS);
	report(total);
	return r;
}

int mpath_reap(struct mpath *mp)
{
	struct pass total = {.mp = mp};
	int r = reap_all(&total);

	reap_names(mp->blob_fd, "tmp", INT64_MIN);
	reap_names(mp->work_fd, ".", WORK_AGE_S);
	return r == -EUCLEAN ? 0 : r;
}

int reap_running(struct mpath *mp, const atomic_bool *stop)
{
	struct pass total = {.mp = mp, .stop = stop};
	int r = reap_all(&total);

	reap_names(mp->work_fd, ".", WORK_AGE_S);
	return r;
}
