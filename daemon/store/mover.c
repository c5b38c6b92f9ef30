/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The mover brings strays home: what was put elsewhere while its mountpath was out, and what has
 * another owner since a mountpath was attached. It works while all mountpaths can be written.
 *
 * An object is copied, its checksum compared, and is durable at home before it goes where it was.
 * Who looks for it meanwhile finds one or both; lists wait for the removal.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "log.h"
#include "store/blob.h"
#include "store/commit.h"
#include "store/keylock.h"
#include "store/paths.h"

#define SLICE 256 /* names read from the index at a time */
#define AGAIN_NS (INT64_C(10) * 1000000000) /* between two tries of what could not be moved */
#define UNAME_MAX 512

struct mover {
	struct store *s;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	bool ending, kicked;
	atomic_bool busy;
	/* the thread's own */
	uint64_t moved, left; /* by this pass; what it could not move */
	uint64_t bid; /* whose uname is known */
	bool known;
	char uname[UNAME_MAX];
	char *page;
};

/* ---- waiting for a lock ---- */

static void held_job(struct pool_job *j)
{
	sem_post(&container_of(j, struct keylock_hold, job)->held);
}

void keylock_wait(struct keylock *t, struct keylock_hold *h)
{
	sem_init(&h->held, 0, 0);
	h->job.fn = held_job;
	if (!keylock_take(t, h)) {
		while (sem_wait(&h->held) < 0)
			;
	}
	sem_destroy(&h->held);
}

/* ---- one object ---- */

/* The bytes of @rec into @b, compared on the way. Return: 0; STORE_E_CKSUM; or an errno. */
static int copy_checked(struct mover *m, int from, struct blob *b, const struct store_rec *rec)
{
	char sum[CKSUM_TEXT_MAX] = "";
	struct cksum *c = NULL;
	uint64_t off = 0;
	int r = cksum_new(rec->ctype, &c);

	while (r == 0 && off < rec->size) {
		size_t step = MIN(rec->size - off, (uint64_t)STORE_IO_STEP);
		ssize_t n = pread(from, m->page, step, (off_t)off);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			r = -errno;
		else if (n == 0)
			r = STORE_E_CKSUM;
		else
			r = blob_write(b->fd, m->page, (size_t)n, off);
		if (r == 0 && c)
			cksum_update(c, m->page, (size_t)n);
		off += n > 0 ? (uint64_t)n : 0;
	}
	cksum_final(c, sum);
	return r == 0 && strcmp(sum, rec->cksum) ? STORE_E_CKSUM : r;
}

/* Make @rec durable on @to as well, in place of @old unless NULL. As copy_checked(). */
static int copy_home(struct mover *m, struct mpath *from, struct mpath *to, const struct objkey *k,
		     struct store_rec *rec, const struct store_rec *old)
{
	autofd fd = blob_open(from, rec->blob, O_RDONLY);
	struct commit_op op = {.kind = COMMIT_PUT, .key = *k, .rec = rec};
	struct blob b = {.fd = -1};
	int r;

	if (fd < 0)
		return fd;
	r = space_ask(to, (int64_t)rec->size);
	if (r == 0)
		r = blob_create(to, &b);
	if (r < 0)
		return r;
	r = copy_checked(m, fd, &b, rec);
	if (r == 0) {
		memcpy(rec->blob, b.name, sizeof(rec->blob));
		rec->path = to->idx;
		r = blob_seal(&b, k, rec);
	}
	if (r == 0) {
		op.blob = &b;
		op.old_blob = old ? old->blob : NULL;
		op.old_flags = old ? old->flags : 0;
		r = commit_wait(to, &op);
	}
	blob_end(&b);
	return r;
}

static int remove_stray(struct mpath *from, const struct objkey *k, const struct store_rec *rec)
{
	struct commit_op op = {
		.kind = COMMIT_DELETE, .key = *k, .old_blob = rec->blob, .old_flags = rec->flags};
	struct store *s = from->s;
	int r;

	/* counted before: who has missed it at home and misses it here looks once more */
	atomic_fetch_add(&s->moves, 1);
	pthread_rwlock_wrlock(&s->move_lock);
	r = commit_wait(from, &op);
	pthread_rwlock_unlock(&s->move_lock);
	return r;
}

struct pair {
	struct store_rec here, home, was;
};

/* The key is locked. Return: 0 or an errno. */
static int move_locked(struct mover *m, struct mpath *from, struct mpath *to,
		       const struct objkey *k)
{
	autofree struct pair *p = malloc(sizeof(*p));
	int r, e;

	if (!p)
		return -ENOMEM;
	r = index_get(from->ix, k, &p->here);
	if (r < 0)
		return r == -ENOENT ? 0 : r;
	e = index_get(to->ix, k, &p->home);
	if (e < 0 && e != -ENOENT && e != -EUCLEAN)
		return e;
	p->was = p->here;
	if (e != 0 || p->home.seq < p->here.seq)
		r = copy_home(m, from, to, k, &p->here, e == 0 ? &p->home : NULL);
	if (r == STORE_E_CKSUM)
		return quarantine_put(from, k, &p->was);
	return r < 0 ? r : remove_stray(from, k, &p->was);
}

static void move_one(struct mover *m, struct mpath *from, struct mpath *to, const struct objkey *k)
{
	struct keylock_hold hold = {.key = *k};
	int r;

	keylock_wait(m->s->locks, &hold);
	r = mpath_writable(from) && mpath_writable(to) ? move_locked(m, from, to, k) : STORE_OUT;
	keylock_release(m->s->locks, &hold);
	if (r < 0) {
		if (!m->left++)
			log_warn("mountpath.move",
				 "from=%s to=%s bid=%llx name=\"%.*s\" err=\"%s\"", from->path,
				 to->path, (unsigned long long)k->bid, (int)k->len, k->name,
				 strerror(-r));
	} else {
		m->moved++;
	}
}

/* ---- a mountpath ---- */

struct strays {
	struct mover *m;
	struct mpath *mp;
	struct buf names; /* bid, length, slot of the owner, name */
	char at[STORE_NAME_MAX + 1]; /* the last one looked at */
	struct objkey from;
	size_t n;
};

/* The uname of a bucket. A bucket that is gone has nothing to move: it is purged. */
static bool bucket_known(struct mover *m, uint64_t bid)
{
	struct store_opts *o = &m->s->o;

	if (m->bid != bid) {
		m->bid = bid;
		m->known = o->bucket && o->bucket(o->ctx, bid, m->uname, sizeof(m->uname)) == 0;
	}
	return m->known;
}

static enum index_step look(void *arg, const struct index_item *it, struct objkey *seek)
{
	struct strays *w = arg;
	uint64_t h[3] = {it->key.bid, it->key.len, 0};
	char name[STORE_NAME_MAX + 1];
	struct store_bck b = {.uname = w->m->uname};
	struct mpath *to;

	(void)seek;
	if (it->key.len > STORE_NAME_MAX)
		return INDEX_NEXT;
	memcpy(w->at, it->key.name, it->key.len);
	w->from = (struct objkey){it->key.bid, w->at, it->key.len};
	w->n++;
	if (!bucket_known(w->m, it->key.bid)) {
		w->m->left++;
	} else {
		memcpy(name, it->key.name, it->key.len);
		name[it->key.len] = 0;
		to = store_owner(w->m->s, store_digest(&b, name));
		if (to && to != w->mp) {
			h[2] = to->idx;
			buf_append(&w->names, h, sizeof(h));
			buf_append(&w->names, name, it->key.len);
		}
	}
	return w->n == SLICE ? INDEX_STOP : INDEX_NEXT;
}

static bool ends(struct mover *m)
{
	bool r;

	pthread_mutex_lock(&m->lock);
	r = m->ending;
	pthread_mutex_unlock(&m->lock);
	return r;
}

static void move_slice(struct mover *m, struct strays *w)
{
	size_t pos = 0;

	while (pos < w->names.len && !ends(m)) {
		struct objkey k = {};
		struct mpath *to;
		uint64_t h[3];

		memcpy(h, w->names.data + pos, sizeof(h));
		k = (struct objkey){h[0], w->names.data + pos + sizeof(h), (size_t)h[1]};
		pos += sizeof(h) + k.len;
		to = store_hold_path(m->s, (size_t)h[2]);
		if (to)
			move_one(m, w->mp, to, &k);
		else
			m->left++;
		mpath_drop(to);
	}
}

static int move_path(struct mover *m, struct mpath *mp)
{
	autofree struct strays *w = calloc(1, sizeof(*w));
	int r;

	if (!w)
		return -ENOMEM;
	w->m = m;
	w->mp = mp;
	w->from.name = w->at;
	do {
		w->n = 0;
		r = index_walk(mp->ix, NULL, &w->from, look, w);
		r = r ? r : w->names.err;
		if (r == 0)
			move_slice(m, w);
		buf_reset(&w->names);
		w->at[w->from.len++] = 0;
	} while (r == 0 && w->n == SLICE && w->from.len <= STORE_NAME_MAX && mpath_ok(mp) &&
		 !ends(m));
	buf_free(&w->names);
	return r < 0 ? r : !mpath_ok(mp) || ends(m) ? -ECANCELED : 0;
}

/* Nothing was left: it has no strays any more, unless one came meanwhile. */
static void clear_strays(struct mpath *mp, uint64_t seen)
{
	struct store *s = mp->s;

	pthread_mutex_lock(&s->save);
	atomic_store(&mp->strays_kept, false);
	if (atomic_load(&mp->strays_seen) == seen) {
		pthread_rwlock_wrlock(&s->set_lock);
		atomic_store(&mp->strays, false);
		store_recount(s);
		pthread_rwlock_unlock(&s->set_lock);
		path_states_write(s);
	}
	pthread_mutex_unlock(&s->save);
}

static void run(struct mover *m, struct mpath *mp)
{
	uint64_t seen = atomic_load(&mp->strays_seen);
	int r;

	atomic_store(&m->busy, true);
	m->moved = m->left = 0;
	m->bid = 0;
	r = move_path(m, mp);
	log_info("mountpath.moved", "path=%s objects=%llu left=%llu err=\"%s\"", mp->path,
		 (unsigned long long)m->moved, (unsigned long long)m->left,
		 r < 0 ? strerror(-r) : "");
	if (r == 0 && !m->left && store_sound(m->s))
		clear_strays(mp, seen);
	atomic_store(&m->busy, false);
}

/* ---- the thread ---- */

/* Return: does something wait for another try? */
static bool run_all(struct mover *m)
{
	bool more = false;
	size_t i;

	for (i = 0; i < store_paths(m->s) && store_sound(m->s) && !ends(m); i++) {
		struct mpath *mp = store_hold_path(m->s, i);

		if (mp && atomic_load(&mp->strays)) {
			run(m, mp);
			more |= atomic_load(&mp->strays);
		}
		mpath_drop(mp);
	}
	return more;
}

/* Return: false when the thread ends. */
static bool wait_turn(struct mover *m, bool again)
{
	int64_t at = mono_ns() + AGAIN_NS;
	struct timespec ts = {at / 1000000000, at % 1000000000};
	bool go_on;

	pthread_mutex_lock(&m->lock);
	while (!m->ending && !m->kicked) {
		if (!again)
			pthread_cond_wait(&m->wake, &m->lock);
		else if (pthread_cond_timedwait(&m->wake, &m->lock, &ts) == ETIMEDOUT)
			break;
	}
	m->kicked = false;
	go_on = !m->ending;
	pthread_mutex_unlock(&m->lock);
	return go_on;
}

static void *mover_thread(void *arg)
{
	struct mover *m = arg;
	bool again = false;

	pthread_setname_np(pthread_self(), "mover");
	while (wait_turn(m, again))
		again = run_all(m);
	return NULL;
}

int mover_new(struct store *s, struct mover **ret)
{
	struct mover *m = calloc(1, sizeof(*m));
	int r = -ENOMEM;

	if (!m)
		return r;
	m->s = s;
	m->kicked = true;
	m->page = malloc(STORE_IO_STEP);
	pthread_mutex_init(&m->lock, NULL);
	store_cond_init(&m->wake);
	if (m->page)
		r = store_thread(&m->thread, mover_thread, m);
	if (r < 0) {
		free(m->page);
		free(m);
		return r;
	}
	*ret = m;
	return 0;
}

void mover_free(struct mover *m)
{
	if (!m)
		return;
	pthread_mutex_lock(&m->lock);
	m->ending = true;
	pthread_cond_signal(&m->wake);
	pthread_mutex_unlock(&m->lock);
	pthread_join(m->thread, NULL);
	pthread_mutex_destroy(&m->lock);
	pthread_cond_destroy(&m->wake);
	free(m->page);
	free(m);
}

void mover_kick(struct mover *m)
{
	if (!m)
		return;
	pthread_mutex_lock(&m->lock);
	m->kicked = true;
	pthread_cond_signal(&m->wake);
	pthread_mutex_unlock(&m->lock);
}

bool mover_busy(struct mover *m)
{
	return m && atomic_load(&m->busy);
}
