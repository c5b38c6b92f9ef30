/* SPDX-License-Identifier: BSD-2-Clause */
/* Unlinking in the background: urgent files in order, others in small bites between. */
#include "store/sweep.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "log.h"
#include "store/blob.h"
#include "store/commit.h"

#define URGENT_MAX 65536 /* files, then the committer waits */
#define BITE 64 /* of what is not urgent */
#define END_NS (INT64_C(2) * 1000000000) /* for what is not urgent, at the end */

/* A file to unlink. */
struct victim {
	char name[RECORD_BLOB_LEN + 1];
	uint8_t what; /* enum victim_what */
};

struct sweeper {
	struct mpath *mp;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t more, less;
	struct buf urgent, later; /* struct victim */
	struct list ops; /* answered after the urgent ones */
	size_t taken; /* files the thread is at */
	bool biting; /* they are not urgent ones */
	bool ending;
	atomic_bool dirty[BLOB_DIRS]; /* folders with unlinks that are not durable */
};

void victim_add(struct buf *b, const char *blob, enum victim_what what)
{
	struct victim v = {.what = (uint8_t)what};

	memcpy(v.name, blob, RECORD_BLOB_LEN);
	buf_append(b, &v, sizeof(v));
}

enum victim_what victim_of(uint32_t flags)
{
	return flags & STORE_F_TRAILER ? VICTIM_BOTH : VICTIM_BLOB;
}

static void unlink_one(struct sweeper *s, const struct victim *v)
{
	char meta[RECORD_BLOB_LEN + 8];
	int r;

	if (v->what == VICTIM_TRAILER) {
		snprintf(meta, sizeof(meta), "%.36s.meta", v->name);
		r = blob_unlink(s->mp, meta, 0);
	} else {
		r = blob_unlink(s->mp, v->name, v->what == VICTIM_BOTH ? STORE_F_TRAILER : 0);
	}
	if (r < 0)
		log_warn("store.unlink", "path=%s blob=%s err=\"%s\"", s->mp->path, v->name,
			 strerror(-r));
	sweep_mark(s, blob_dir(v->name));
}

static void unlink_all(struct sweeper *s, const struct buf *victims)
{
	struct victim v;
	size_t pos;

	for (pos = 0; pos + sizeof(v) <= victims->len; pos += sizeof(v)) {
		memcpy(&v, victims->data + pos, sizeof(v));
		unlink_one(s, &v);
	}
}

/*
 * Before a removal is answered all unlinks are durable, those of versions replaced earlier too:
 * else a rebuild could revive one of them. Return: 0 or errno.
 */
static int sync_all(struct sweeper *s)
{
	unsigned int dir;
	int r = 0, e;

	for (dir = 0; s->mp->s->sync && dir < BLOB_DIRS; dir++) {
		if (!atomic_exchange(&s->dirty[dir], false))
			continue;
		e = blob_sync_dir(s->mp, dir);
		if (e < 0) {
			atomic_store(&s->dirty[dir], true);
			r = e;
		}
	}
	return r;
}

static void answer_all(struct list *ops, int err)
{
	while (!list_empty(ops)) {
		struct commit_op *op = list_entry(ops->next, struct commit_op, link);

		list_del(&op->link);
		op->err = err;
		op->done(op);
	}
}

/* A few of what is not urgent. Under the lock. */
static void take_later(struct sweeper *s, struct buf *victims)
{
	size_t n = MIN(s->later.len, BITE * sizeof(struct victim));

	buf_append(victims, s->later.data + s->later.len - n, n);
	s->later.len -= n;
	if (!s->later.len)
		buf_free(&s->later);
}

/* Wait for work. Return: false when the sweeper ends. */
static bool take(struct sweeper *s, struct buf *victims, struct list *ops, int64_t *end_at)
{
	bool work;

	pthread_mutex_lock(&s->lock);
	s->taken = 0;
	s->biting = false;
	pthread_cond_broadcast(&s->less);
	while (!s->urgent.len && list_empty(&s->ops) && !s->later.len && !s->ending)
		pthread_cond_wait(&s->more, &s->lock);
	if (s->ending && !*end_at)
		*end_at = mono_ns() + END_NS;
	work = true;
	if (s->urgent.len || !list_empty(&s->ops)) {
		*victims = s->urgent;
		s->urgent = (struct buf)BUF_INIT;
		list_splice_tail(ops, &s->ops);
	} else if (s->later.len && (!s->ending || mono_ns() < *end_at)) {
		take_later(s, victims);
		s->biting = true;
	} else {
		work = false;
	}
	s->taken = victims->len / sizeof(struct victim);
	pthread_mutex_unlock(&s->lock);
	return work;
}

static void *sweeper_thread(void *arg)
{
	struct sweeper *s = arg;
	struct list ops = LIST_INIT(ops);
	struct buf victims = BUF_INIT;
	int64_t end_at = 0;

	pthread_setname_np(pthread_self(), "sweep");
	while (take(s, &victims, &ops, &end_at)) {
		unlink_all(s, &victims);
		buf_free(&victims);
		if (!list_empty(&ops))
			answer_all(&ops, sync_all(s));
	}
	return NULL;
}

int sweeper_new(struct mpath *mp, struct sweeper **ret)
{
	struct sweeper *s = calloc(1, sizeof(*s));
	sigset_t all, before;
	int r;

	if (!s)
		return -ENOMEM;
	s->mp = mp;
	list_init(&s->ops);
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->more, NULL);
	pthread_cond_init(&s->less, NULL);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	r = pthread_create(&s->thread, NULL, sweeper_thread, s);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (r) {
		free(s);
		return -r;
	}
	*ret = s;
	return 0;
}

void sweeper_free(struct sweeper *s)
{
	if (!s)
		return;
	pthread_mutex_lock(&s->lock);
	s->ending = true;
	pthread_cond_signal(&s->more);
	pthread_mutex_unlock(&s->lock);
	pthread_join(s->thread, NULL);
	if (s->later.len)
		log_info("store.left", "path=%s blobs=%zu", s->mp->path,
			 s->later.len / sizeof(struct victim));
	buf_free(&s->later);
	pthread_mutex_destroy(&s->lock);
	pthread_cond_destroy(&s->more);
	pthread_cond_destroy(&s->less);
	free(s);
}

/* Append what fits into memory; the rest is for the next start. */
static void queue(struct sweeper *s, struct buf *to, struct buf *victims)
{
	size_t before = to->len;

	if (victims->len)
		buf_append(to, victims->data, victims->len);
	if (to->err || victims->err) {
		log_error("store.sweep", "path=%s err=\"%s\"", s->mp->path, strerror(ENOMEM));
		to->err = 0;
		to->len = before;
	}
	buf_reset(victims);
}

void sweep_add(struct sweeper *s, struct buf *victims, struct list *ops)
{
	if (!victims->len && list_empty(ops))
		return;
	pthread_mutex_lock(&s->lock);
	while (s->urgent.len > URGENT_MAX * sizeof(struct victim))
		pthread_cond_wait(&s->less, &s->lock);
	queue(s, &s->urgent, victims);
	list_splice_tail(&s->ops, ops);
	pthread_cond_signal(&s->more);
	pthread_mutex_unlock(&s->lock);
}

void sweep_later(struct sweeper *s, struct buf *victims)
{
	pthread_mutex_lock(&s->lock);
	queue(s, &s->later, victims);
	pthread_cond_signal(&s->more);
	pthread_mutex_unlock(&s->lock);
}

void sweep_mark(struct sweeper *s, unsigned int dir)
{
	atomic_store(&s->dirty[dir], true);
}

void sweep_wait(struct sweeper *s, size_t max)
{
	pthread_mutex_lock(&s->lock);
	while (s->taken + (s->urgent.len + s->later.len) / sizeof(struct victim) > max)
		pthread_cond_wait(&s->less, &s->lock);
	pthread_mutex_unlock(&s->lock);
}

bool sweep_busy(struct sweeper *s)
{
	bool busy;

	pthread_mutex_lock(&s->lock);
	busy = s->later.len || s->biting;
	pthread_mutex_unlock(&s->lock);
	return busy;
}
