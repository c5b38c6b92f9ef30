/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a crash left: blobs without a record, temporary files, work files nobody came back to.
 *
 * The index is read once, and again for each further REAP_SET records, so that memory is bounded:
 * a pass looks after a part of the folders. With a damaged record nothing is removed, since the
 * blob it names is not known.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "log.h"
#include "metrics.h"
#include "store/blob.h"
#include "store/sweep.h"

#define REAP_SET (UINT64_C(4) << 20) /* records a pass: 128 MiB */
#define REAP_NOW 1000 /* orphans unlinked before the start goes on; the others meanwhile */
#define WORK_AGE_S (24 * 3600)

struct id {
	uint64_t epoch, n;
};

struct pass {
	struct mpath *mp;
	unsigned int k, of; /* this pass: folders with dir % of == k */
	struct id *set; /* open addressing; epoch 0: free */
	uint64_t mask, used;
	uint64_t matched, orphans, foreign, damaged;
	struct buf later; /* orphans for the sweeper */
	bool full;
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

/* @s: "eeeeeeeeeeeeeeee-cccccccccccccccc", known to be well-formed. */
static struct id id_of(const char *s)
{
	struct id id = {};

	id.epoch = strtoull(s, NULL, 16);
	id.n = strtoull(s + 17, NULL, 16);
	return id;
}

static struct id *slot(struct pass *p, struct id id)
{
	uint64_t i = (id.n * UINT64_C(0x9e3779b97f4a7c15) ^ id.epoch) & p->mask;

	while (p->set[i].epoch && (p->set[i].epoch != id.epoch || p->set[i].n != id.n))
		i = (i + 1) & p->mask;
	return &p->set[i];
}

static enum index_step collect(void *arg, const struct index_item *it, struct objkey *seek)
{
	struct pass *p = arg;
	struct store_rec rec;
	struct id *s;

	if (record_decode(&it->key, it->val, it->val_len, &rec) < 0) {
		p->damaged++;
		return INDEX_NEXT;
	}
	if (blob_dir(rec.blob) % p->of != p->k)
		return INDEX_NEXT;
	if (p->used > p->mask / 4 * 3) {
		p->full = true;
		return INDEX_STOP;
	}
	s = slot(p, id_of(rec.blob + 3));
	if (!s->epoch)
		p->used++;
	*s = id_of(rec.blob + 3);
	return INDEX_NEXT;
}

/* One file of a folder: is it an object's? */
static void check_file(struct pass *p, const char *dir, const char *name)
{
	char blob[48], file[64];
	size_t n = strlen(name);
	bool meta = n == 33 + 5 && !strcmp(name + 33, ".meta");

	if (n != 33 && !meta) {
		p->foreign++;
		return;
	}
	snprintf(blob, sizeof(blob), "%.2s/%.33s", dir, name);
	if (!record_blob_ok(blob, strlen(blob))) {
		p->foreign++;
		return;
	}
	if (slot(p, id_of(name))->epoch) {
		p->matched += !meta;
		return;
	}
	if (p->orphans >= REAP_NOW) {
		victim_add(&p->later, blob, meta ? VICTIM_TRAILER : VICTIM_BLOB);
		p->orphans += !meta;
		return;
	}
	snprintf(file, sizeof(file), "%.2s/%.38s", dir, name);
	if (unlinkat(p->mp->blob_fd, file, 0) == 0)
		p->orphans += !meta;
}

static int check_dirs(struct pass *p)
{
	unsigned int i;
	char dir[8];

	for (i = p->k; i < BLOB_DIRS; i += p->of) {
		autoclean(close_dir) DIR *d = NULL;
		struct dirent *e;

		snprintf(dir, sizeof(dir), "%02x", i);
		d = dir_list(p->mp->blob_fd, dir);
		if (!d)
			return -errno;
		while ((e = readdir(d))) {
			if (!is_dots(e->d_name))
				check_file(p, dir, e->d_name);
		}
	}
	return 0;
}

static int pass_run(struct pass *p)
{
	struct objkey from = {0, "", 0};
	int r;

	r = index_walk(p->mp->ix, NULL, &from, collect, p);
	if (r == 0 && p->full)
		r = -ENOBUFS;
	if (r == 0 && p->damaged)
		r = -EUCLEAN;
	return r ? r : check_dirs(p);
}

/* All passes for sets of @slots. Return: 0; -ENOBUFS when more passes are needed; or an errno. */
static int reap_blobs(struct pass *total, unsigned int of, uint64_t slots)
{
	autofree struct id *set = malloc(slots * sizeof(*set));
	unsigned int k;
	int r = 0;

	if (!set)
		return -ENOMEM;
	for (k = 0; r == 0 && k < of; k++) {
		struct pass p = {.mp = total->mp, .k = k, .of = of, .set = set, .mask = slots - 1};

		memset(set, 0, slots * sizeof(*set));
		r = pass_run(&p);
		total->used += p.used;
		total->matched += p.matched;
		total->orphans += p.orphans;
		total->foreign += p.foreign;
		total->damaged += p.damaged;
		sweep_later(total->mp->sw, &p.later);
		buf_free(&p.later);
	}
	return r;
}

/* Empty blob/tmp/; in work/ only what is old. */
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
			unlinkat(dirfd(d), e->d_name, 0);
	}
}

static void report(const struct pass *t)
{
	const char *path = t->mp->path;

	metrics_add(t->mp->s->metrics, METRIC_ORPHANS_N, t->orphans);
	if (t->orphans || t->foreign)
		log_info("store.reaped", "path=%s orphans=%" PRIu64 " foreign=%" PRIu64, path,
			 t->orphans, t->foreign);
	if (t->damaged)
		log_error("store.damaged", "path=%s records=%" PRIu64 " reaped=no", path,
			  t->damaged);
	if (!t->damaged && t->used > t->matched)
		log_error("store.missing", "path=%s blobs=%" PRIu64, path, t->used - t->matched);
}

int mpath_reap(struct mpath *mp)
{
	uint64_t n = index_count(mp->ix), slots = 1024;
	struct pass total;
	unsigned int of = 1;
	int r;

	while (n / of > REAP_SET && of < BLOB_DIRS)
		of *= 2;
	while (slots < n / of * 2)
		slots *= 2;
	do {
		total = (struct pass){.mp = mp};
		r = reap_blobs(&total, of, slots);
		/* folders are not equally full, and long names are more than their keys */
		if (r == -ENOBUFS)
			slots *= 2;
	} while (r == -ENOBUFS);
	if (r == 0 || r == -EUCLEAN)
		report(&total);
	reap_names(mp->blob_fd, "tmp", INT64_MIN);
	reap_names(mp->work_fd, ".", WORK_AGE_S);
	return r == -EUCLEAN ? 0 : r;
}
