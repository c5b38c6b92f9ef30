/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Group commit. A group goes through these steps, each for all its members before the next:
 *
 *   1. link each new blob, then sync each folder once: a record is never durable before its blob
 *   2. all records in one transaction
 *   3. answer puts and changes
 *   4. to the sweeper: what was replaced or removed. An old blob never goes before the new record
 *      is durable; a removal is answered when the unlink is, so that a rebuild revives nothing
 *
 * A member that fails leaves the group and takes nobody with it.
 */
#include "store/commit.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "log.h"
#include "metrics.h"
#include "store/atime.h"
#include "store/reap.h"
#include "store/sweep.h"

#define FLUSH_NS (INT64_C(60) * 1000000000) /* between two writes of access times */
#define FLUSH_COUNT 32768 /* entries that do not wait for it */
#define REAP_NS (INT64_C(24) * 3600 * 1000000000) /* between two looks for orphans */

struct committer {
	struct mpath *mp;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t more;
	struct list queue;
	bool ending;
	atomic_uint admitted, max; /* changes of clients */
	struct reaper *reaper;
	/* the thread's own */
	int64_t flush_at; /* monotonic */
	bool unsynced[BLOB_DIRS]; /* folders with new names that are not durable yet */
	struct buf victims, later; /* for the sweeper */
};

#define for_each_op(op, l, g)                                                                      \
	for ((l) = (g)->next, (op) = list_entry(l, struct commit_op, link); (l) != (g);            \
	     (l) = (l)->next, (op) = list_entry(l, struct commit_op, link))

static bool removes(const struct commit_op *op)
{
	return op->kind == COMMIT_DELETE || op->kind == COMMIT_RANGE;
}

/* ---- step 1 ---- */

static void link_blobs(struct committer *c, struct list *g)
{
	struct commit_op *op;
	struct list *l;

	for_each_op(op, l, g)
	{
		if (op->kind == COMMIT_PUT)
			op->err = blob_link(op->blob);
		if (op->blob && (op->blob->linked || op->blob->trailer))
			c->unsynced[blob_dir(op->blob->name)] = true;
	}
}

static void fail_dir(struct list *g, unsigned int dir, int err)
{
	struct commit_op *op;
	struct list *l;

	for_each_op(op, l, g)
	{
		if (op->err == 0 && op->blob && blob_dir(op->blob->name) == dir)
			op->err = err;
	}
}

/* Sync the folders this group has new names in. */
static void sync_new_names(struct committer *c, struct list *g)
{
	struct commit_op *op;
	struct list *l;
	int r;

	if (!c->mp->s->sync)
		return;
	for_each_op(op, l, g)
	{
		unsigned int dir;

		if (op->err || !op->blob)
			continue;
		dir = blob_dir(op->blob->name);
		if (!c->unsynced[dir])
			continue;
		r = blob_sync_dir(c->mp, dir);
		if (r < 0)
			fail_dir(g, dir, r);
		else
			c->unsynced[dir] = false;
	}
}

/* ---- step 2 ---- */

struct range {
	uint64_t bid;
	struct buf keys; /* u16 length, name, in the machine's order */
	struct buf *victims;
	size_t n;
};

static enum index_step range_item(void *arg, const struct index_item *it, struct objkey *seek)
{
	struct range *r = arg;
	uint16_t len = (uint16_t)it->key.len;
	struct store_rec rec;

	if (it->key.bid != r->bid || r->n == COMMIT_RANGE_MAX)
		return INDEX_STOP;
	buf_append(&r->keys, &len, sizeof(len));
	buf_append(&r->keys, it->key.name, len);
	/* the blob of a damaged record is an orphan once it is gone */
	if (record_decode(&it->key, it->val, it->val_len, &rec) == 0)
		victim_add(r->victims, rec.blob, victim_of(rec.flags));
	r->n++;
	return INDEX_NEXT;
}

static int apply_range(struct committer *c, struct commit_op *op, struct MDB_txn *txn)
{
	struct range range = {.bid = op->key.bid, .victims = &op->victims};
	struct objkey from = {op->key.bid, "", 0};
	size_t pos = 0;
	int r;

	buf_reset(&op->victims);
	r = index_walk(c->mp->ix, txn, &from, range_item, &range);
	if (r == 0)
		r = range.keys.err ? range.keys.err : op->victims.err;
	while (r == 0 && pos < range.keys.len) {
		struct objkey k = {.bid = op->key.bid};
		uint16_t len;

		memcpy(&len, range.keys.data + pos, sizeof(len));
		k.name = range.keys.data + pos + sizeof(len);
		k.len = len;
		pos += sizeof(len) + len;
		r = index_del(c->mp->ix, txn, &k);
	}
	op->count = range.n;
	buf_free(&range.keys);
	return r;
}

static int apply(struct committer *c, struct commit_op *op, struct MDB_txn *txn)
{
	switch (op->kind) {
	case COMMIT_PUT:
	case COMMIT_CHANGE:
		return index_put(c->mp->ix, txn, &op->key, op->rec);
	case COMMIT_DELETE:
		return index_del(c->mp->ix, txn, &op->key);
	case COMMIT_RANGE:
		return apply_range(c, op, txn);
	default:
		return -EINVAL;
	}
}

/* Is the transaction still good after a member's error? */
static bool harmless(int r)
{
	return r == -ENOENT || r == -EUCLEAN;
}

/* Apply all members. Return: how many are in; -1 when one broke the transaction and left. */
static int apply_all(struct committer *c, struct list *g, struct MDB_txn *txn)
{
	struct commit_op *op;
	struct list *l;
	int n = 0;

	for_each_op(op, l, g)
	{
		if (op->err || op->kind == COMMIT_NONE)
			continue;
		if (!removes(op) && !index_has_room(c->mp->ix)) {
			op->err = -ENOSPC;
			continue;
		}
		op->err = apply(c, op, txn);
		if (op->err && !harmless(op->err))
			return -1;
		n += !op->err;
	}
	return n;
}

static void fail_all(struct list *g, int err)
{
	struct commit_op *op;
	struct list *l;

	for_each_op(op, l, g)
	{
		if (!op->err)
			op->err = err;
	}
}

/*
 * The commit failed: what is in the index now? A blob that a record may point to stays, the reaper
 * decides at the next start.
 */
static void keep_doubtful(struct committer *c, struct list *g)
{
	struct store_rec rec;
	struct commit_op *op;
	struct list *l;
	int r;

	for_each_op(op, l, g)
	{
		if (op->err || op->kind != COMMIT_PUT)
			continue;
		r = index_get(c->mp->ix, &op->key, &rec);
		if (r != -ENOENT && (r < 0 || !strcmp(rec.blob, op->rec->blob)))
			op->blob->keep = true;
	}
}

static void commit_records(struct committer *c, struct list *g)
{
	struct MDB_txn *txn = NULL;
	int r, n;

	do {
		r = index_begin(c->mp->ix, &txn);
		if (r < 0) {
			fail_all(g, r);
			return;
		}
		n = apply_all(c, g, txn);
		if (n <= 0)
			index_abort(c->mp->ix, txn);
	} while (n < 0);
	if (n == 0)
		return;
	r = index_commit(c->mp->ix, txn);
	if (r < 0) {
		log_error("store.commit", "path=%s err=\"%s\"", c->mp->path, strerror(-r));
		keep_doubtful(c, g);
		fail_all(g, r);
		return;
	}
	metrics_add(c->mp->s->metrics, METRIC_COMMIT_GROUPS_N, 1);
	metrics_add(c->mp->s->metrics, METRIC_COMMIT_OBJS_N, (uint64_t)n);
}

/* ---- steps 3 and 4 ---- */

/* The blob of a member that failed goes when it is answered, not durably. */
static void note_failed(struct committer *c, const struct commit_op *op)
{
	if (op->kind == COMMIT_PUT && op->blob->linked && !op->blob->keep)
		sweep_mark(c->mp->sw, blob_dir(op->blob->name));
}

/* Note what to unlink: the operations end before that. */
static void note_victims(struct committer *c, struct list *g)
{
	struct commit_op *op;
	struct list *l;

	for_each_op(op, l, g)
	{
		if (op->err) {
			note_failed(c, op);
			continue;
		}
		if (op->kind == COMMIT_PUT)
			op->blob->keep = true;
		if (op->kind == COMMIT_RANGE)
			buf_append(&c->later, op->victims.data, op->victims.len);
		else if (op->kind != COMMIT_CHANGE && op->old_blob)
			victim_add(&c->victims, op->old_blob, victim_of(op->old_flags));
		else if (op->kind == COMMIT_CHANGE && op->old_flags & STORE_F_TRAILER &&
			 !(op->rec->flags & STORE_F_TRAILER))
			victim_add(&c->victims, op->rec->blob, VICTIM_TRAILER);
	}
}

/* End the members that do not wait for the sweeper. A destroyed bucket does not come back. */
static void answer(struct list *g)
{
	struct list *l, *next;

	list_for_each_safe (l, next, g) {
		struct commit_op *op = list_entry(l, struct commit_op, link);

		if ((op->kind == COMMIT_DELETE || op->kind == COMMIT_NONE) && !op->err)
			continue;
		list_del(&op->link);
		op->done(op);
	}
}

static void group_run(struct committer *c, struct list *g)
{
	link_blobs(c, g);
	sync_new_names(c, g);
	commit_records(c, g);
	note_victims(c, g);
	answer(g);
	if (c->later.len)
		sweep_later(c->mp->sw, &c->later);
	sweep_add(c->mp->sw, &c->victims, g);
}

/* ---- the thread ---- */

static void flush_atimes(struct committer *c)
{
	struct mpath *mp = c->mp;
	int r = atimes_flush(mp->at, mp->ix, mp->s->batch);

	if (r < 0)
		log_warn("store.atime", "path=%s err=\"%s\"", mp->path, strerror(-r));
	c->flush_at = mono_ns() + FLUSH_NS;
}

/* Wait for work. Return: false when all is done and the committer ends. */
static bool take_group(struct committer *c, struct list *g)
{
	struct timespec at = {c->flush_at / 1000000000, c->flush_at % 1000000000};
	unsigned int n = 0;
	bool more;

	pthread_mutex_lock(&c->lock);
	while (list_empty(&c->queue) && !c->ending) {
		if (pthread_cond_timedwait(&c->more, &c->lock, &at) == ETIMEDOUT)
			break;
	}
	more = !list_empty(&c->queue) || !c->ending;
	while (!list_empty(&c->queue) && n++ < c->mp->s->batch) {
		struct list *l = c->queue.next;

		list_del(l);
		list_add_tail(g, l);
	}
	pthread_mutex_unlock(&c->lock);
	return more;
}

static void *committer_thread(void *arg)
{
	struct committer *c = arg;
	struct list g = LIST_INIT(g);

	pthread_setname_np(pthread_self(), "commit");
	while (take_group(c, &g)) {
		if (!list_empty(&g))
			group_run(c, &g);
		if (mono_ns() >= c->flush_at || atimes_count(c->mp->at) > FLUSH_COUNT)
			flush_atimes(c);
	}
	flush_atimes(c);
	return NULL;
}

static void index_lost(void *arg)
{
	mpath_fail(arg, -EIO, "index");
}

static int thread_start(struct committer *c)
{
	sigset_t all, before;
	int r;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	r = pthread_create(&c->thread, NULL, committer_thread, c);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return -r;
}

int committer_new(struct mpath *mp, struct committer **ret)
{
	struct committer *c = calloc(1, sizeof(*c));
	pthread_condattr_t attr;
	int r;

	if (!c)
		return -ENOMEM;
	c->mp = mp;
	atomic_store(&c->max, COMMIT_QUEUE_MAX);
	c->flush_at = mono_ns() + FLUSH_NS;
	list_init(&c->queue);
	pthread_mutex_init(&c->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&c->more, &attr);
	pthread_condattr_destroy(&attr);
	index_watch(mp->ix, index_lost, mp);
	r = thread_start(c);
	if (r < 0) {
		free(c);
		return r;
	}
	r = reaper_new(mp, REAP_NS, &c->reaper);
	if (r < 0) {
		committer_free(c);
		return r;
	}
	*ret = c;
	return 0;
}

void committer_free(struct committer *c)
{
	if (!c)
		return;
	reaper_free(c->reaper);
	pthread_mutex_lock(&c->lock);
	c->ending = true;
	pthread_cond_signal(&c->more);
	pthread_mutex_unlock(&c->lock);
	pthread_join(c->thread, NULL);
	buf_free(&c->victims);
	buf_free(&c->later);
	pthread_mutex_destroy(&c->lock);
	pthread_cond_destroy(&c->more);
	free(c);
}

void commit_submit(struct committer *c, struct commit_op *op)
{
	op->err = 0;
	op->count = 0;
	op->victims = (struct buf)BUF_INIT;
	pthread_mutex_lock(&c->lock);
	list_add_tail(&c->queue, &op->link);
	pthread_cond_signal(&c->more);
	pthread_mutex_unlock(&c->lock);
}

int commit_admit(struct committer *c)
{
	if (atomic_fetch_add(&c->admitted, 1) < atomic_load(&c->max))
		return 0;
	commit_discharge(c);
	return -EAGAIN;
}

void commit_discharge(struct committer *c)
{
	atomic_fetch_sub(&c->admitted, 1);
}

bool commit_is_full(struct committer *c)
{
	return atomic_load(&c->admitted) >= atomic_load(&c->max);
}

void commit_set_max(struct committer *c, unsigned int max)
{
	atomic_store(&c->max, max);
}
