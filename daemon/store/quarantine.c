/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Corrupt blobs. One whose bytes differ from its record is linked into quarantine/, then record
 * and blob go, so that it is never served again and still there for whoever wants to save it. Its
 * copy of key and record stays with it: the list is read from there at each start.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/list.h"
#include "base/text.h"
#include "log.h"
#include "store/blob.h"
#include "store/commit.h"
#include "store/keylock.h"
#include "store/paths.h"

#define LISTED_MAX 10000 /* more are counted, not listed */
#define FILE_LEN 33 /* of a blob's name, without its folder */

struct bad {
	struct list link;
	uint32_t idx;
	uint64_t bid, size;
	int64_t found_ns;
	bool told;
	char file[FILE_LEN + 1];
	size_t len;
	char name[];
};

struct quarantine {
	pthread_mutex_t lock;
	struct list items;
	size_t n;
	uint64_t counts[STORE_PATHS_MAX];
};

int quarantine_new(struct quarantine **ret)
{
	struct quarantine *q = calloc(1, sizeof(*q));

	if (!q)
		return -ENOMEM;
	pthread_mutex_init(&q->lock, NULL);
	list_init(&q->items);
	*ret = q;
	return 0;
}

/* Under the lock. */
static void forget(struct quarantine *q, uint32_t idx, bool all)
{
	struct list *l, *next;

	list_for_each_safe (l, next, &q->items) {
		struct bad *b = list_entry(l, struct bad, link);

		if (!all && b->idx != idx)
			continue;
		list_del(&b->link);
		free(b);
		q->n--;
	}
	if (!all)
		q->counts[idx] = 0;
}

void quarantine_free(struct quarantine *q)
{
	if (!q)
		return;
	forget(q, 0, true);
	pthread_mutex_destroy(&q->lock);
	free(q);
}

uint64_t quarantine_count(const struct mpath *mp)
{
	struct quarantine *q = mp->s->bad;
	uint64_t n;

	pthread_mutex_lock(&q->lock);
	n = q->counts[mp->idx];
	pthread_mutex_unlock(&q->lock);
	return n;
}

static void add(struct mpath *mp, const struct objkey *k, uint64_t size, const char *file,
		int64_t found_ns)
{
	struct quarantine *q = mp->s->bad;
	struct bad *b = calloc(1, sizeof(*b) + k->len + 1);

	pthread_mutex_lock(&q->lock);
	q->counts[mp->idx]++;
	if (b && q->n < LISTED_MAX) {
		b->idx = mp->idx;
		b->bid = k->bid;
		b->size = size;
		b->found_ns = found_ns;
		b->len = k->len;
		memcpy(b->name, k->name, k->len);
		snprintf(b->file, sizeof(b->file), "%s", file);
		list_add_tail(&q->items, &b->link);
		q->n++;
		b = NULL;
	}
	pthread_mutex_unlock(&q->lock);
	free(b);
}

/* ---- what is there at the start ---- */

/* The copy of key and record of @file, into @page. Return: its length or an errno. */
static ssize_t envelope_read(int dir, const char *file, char page[ENVELOPE_MAX])
{
	char meta[FILE_LEN + 8];
	autofd fd = openat(dir, file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	autofd side = -1;
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = fgetxattr(fd, XATTR_NAME, page, ENVELOPE_MAX);
	if (n >= 0)
		return n;
	snprintf(meta, sizeof(meta), "%.33s.meta", file);
	side = openat(dir, meta, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	n = side < 0 ? -1 : read(side, page, ENVELOPE_MAX);
	return n < 0 ? -errno : n;
}

static void note_file(struct mpath *mp, const char *file)
{
	autofree char *page = malloc(ENVELOPE_MAX);
	autofree struct store_rec *rec = calloc(1, sizeof(*rec));
	struct objkey k = {0, "", 0};
	struct stat st;
	ssize_t n;

	if (!page || !rec || fstatat(mp->bad_fd, file, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return;
	n = envelope_read(mp->bad_fd, file, page);
	if (n < 0 || envelope_decode(page, (size_t)n, &k, rec) < 0)
		k = (struct objkey){0, "", 0};
	add(mp, &k, (uint64_t)st.st_size, file,
	    st.st_ctim.tv_sec * INT64_C(1000000000) + st.st_ctim.tv_nsec);
}

static void close_dir(DIR **d)
{
	if (*d)
		closedir(*d);
}

static DIR *dir_of(struct mpath *mp)
{
	int fd = openat(mp->bad_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);

	if (!d && fd >= 0)
		close(fd);
	return d;
}

void quarantine_load(struct mpath *mp)
{
	autoclean(close_dir) DIR *d = dir_of(mp);
	struct quarantine *q = mp->s->bad;
	struct dirent *e;

	pthread_mutex_lock(&q->lock);
	forget(q, mp->idx, false);
	pthread_mutex_unlock(&q->lock);
	while (d && (e = readdir(d))) {
		if (strlen(e->d_name) == FILE_LEN)
			note_file(mp, e->d_name);
	}
}

int store_quarantine_purge(struct store *s)
{
	int r = 0;
	size_t i;

	for (i = 0; i < store_paths(s); i++) {
		autoclean(close_dir) DIR *d = NULL;
		struct mpath *mp = store_hold_path(s, i);
		struct dirent *e;

		if (!mp)
			continue;
		d = dir_of(mp);
		while (d && (e = readdir(d))) {
			if (e->d_name[0] != '.' && unlinkat(mp->bad_fd, e->d_name, 0) < 0)
				r = -errno;
		}
		quarantine_load(mp);
		mpath_drop(mp);
	}
	return r;
}

/* ---- putting in ---- */

static int move_file(struct mpath *mp, const char *from, const char *to)
{
	if (linkat(mp->blob_fd, from, mp->bad_fd, to, 0) == 0 || errno == EEXIST)
		return 0;
	if (errno != EPERM && errno != EOPNOTSUPP && errno != EMLINK)
		return -errno;
	return renameat(mp->blob_fd, from, mp->bad_fd, to) < 0 ? -errno : 0;
}

static int move_aside(struct mpath *mp, const struct store_rec *rec)
{
	char meta[64];
	int r = move_file(mp, rec->blob, rec->blob + 3);

	if (r == 0 && rec->flags & STORE_F_TRAILER) {
		snprintf(meta, sizeof(meta), "%.36s.meta", rec->blob);
		r = move_file(mp, meta, meta + 3);
	}
	if (r == 0 && mp->s->sync && fsync(mp->bad_fd) < 0)
		r = -errno;
	return r;
}

int quarantine_put(struct mpath *mp, const struct objkey *k, const struct store_rec *rec)
{
	struct commit_op op = {
		.kind = COMMIT_DELETE, .key = *k, .old_blob = rec->blob, .old_flags = rec->flags};
	int r = move_aside(mp, rec);

	if (r == 0)
		r = commit_wait(mp, &op);
	log_error("store.corrupt",
		  "path=%s bid=%llx name=\"%.*s\" size=%llu quarantine=%s err=\"%s\"", mp->path,
		  (unsigned long long)k->bid, (int)k->len, k->name, (unsigned long long)rec->size,
		  rec->blob + 3, r < 0 ? strerror(-r) : "");
	if (r < 0)
		return r;
	add(mp, k, rec->size, rec->blob + 3, wall_ns());
	return 0;
}

/* One that waits for the lock of its name. */
struct putting {
	struct store *s;
	uint64_t digest;
	struct keylock_hold hold;
	struct store_rec rec;
	char name[STORE_NAME_MAX + 1];
};

static int put_locked(struct putting *p)
{
	autofree struct store_rec *now = malloc(sizeof(*now));
	struct mpath *mp;
	int r = now ? store_find(p->s, p->digest, &p->hold.key, now, &mp) : -ENOMEM;

	if (r != 0 && r != -EUCLEAN)
		return r;
	if (r == 0 && !strcmp(now->blob, p->rec.blob))
		r = quarantine_put(mp, &p->hold.key, now);
	else
		r = -ENOENT;
	mpath_drop(mp);
	return r;
}

static int putting_run(struct putting *p)
{
	struct store *s = p->s;
	int r = put_locked(p);

	keylock_release(s->locks, &p->hold);
	free(p);
	store_drop(s);
	return r;
}

static void putting_job(struct pool_job *j)
{
	putting_run(container_of(j, struct putting, hold.job));
}

int store_quarantine(struct store *s, struct store_name n, const struct store_rec *rec)
{
	struct putting *p;
	struct objkey k;
	int r = store_key(n.bck, n.name, &k);

	if (r < 0)
		return r;
	p = calloc(1, sizeof(*p));
	if (!p)
		return -ENOMEM;
	p->s = s;
	p->digest = store_digest(n.bck, n.name);
	p->rec = *rec;
	memcpy(p->name, n.name, k.len);
	p->hold.key = (struct objkey){k.bid, p->name, k.len};
	p->hold.job.fn = putting_job;
	store_hold(s);
	return keylock_take(s->locks, &p->hold) ? putting_run(p) : 0;
}

/* ---- asking ---- */

void store_quarantine_each(struct store *s, void (*fn)(void *arg, const struct store_bad *b),
			   void *arg)
{
	struct list *l;

	pthread_mutex_lock(&s->bad->lock);
	list_for_each (l, &s->bad->items) {
		const struct bad *b = list_entry(l, struct bad, link);
		struct store_bad out = {
			.bid = b->bid,
			.name = b->name,
			.size = b->size,
			.found_ns = b->found_ns,
			.path = s->paths[b->idx].path,
			.file = b->file,
		};

		fn(arg, &out);
	}
	pthread_mutex_unlock(&s->bad->lock);
}

enum store_bad_state store_quarantine_ask(struct store *s, const struct store_bck *b,
					  const char *name)
{
	enum store_bad_state r = STORE_BAD_NONE;
	size_t len = strlen(name);
	struct list *l;

	pthread_mutex_lock(&s->bad->lock);
	list_for_each (l, &s->bad->items) {
		struct bad *i = list_entry(l, struct bad, link);

		if (i->bid != b->bid || i->len != len || memcmp(i->name, name, len))
			continue;
		r = i->told && r != STORE_BAD_NEW ? STORE_BAD_TOLD : STORE_BAD_NEW;
		i->told = true;
	}
	pthread_mutex_unlock(&s->bad->lock);
	return r;
}
