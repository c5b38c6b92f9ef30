/* SPDX-License-Identifier: BSD-2-Clause */
/* A sharded hash of access times; one that is flushed stays readable meanwhile. */
#include "store/atime.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#define SHARDS 16
#define CHAINS 1024
#define SHARD_MAX 4096 /* entries */

struct entry {
	struct entry *next;
	uint64_t bid;
	int64_t ns;
	size_t len;
	char name[];
};

struct table {
	struct entry *chains[CHAINS];
};

struct shard {
	pthread_mutex_t lock;
	struct table *now, *flushing; /* flushing: changed by the committer only, under the lock */
	size_t n;
};

struct atimes {
	atomic_size_t count; /* of all tables */
	struct shard shards[SHARDS];
};

int atimes_new(struct atimes **ret)
{
	struct atimes *a = calloc(1, sizeof(*a));
	size_t i;

	if (!a)
		return -ENOMEM;
	for (i = 0; i < SHARDS; i++) {
		pthread_mutex_init(&a->shards[i].lock, NULL);
		a->shards[i].now = calloc(1, sizeof(struct table));
		if (!a->shards[i].now) {
			atimes_free(a);
			return -ENOMEM;
		}
	}
	*ret = a;
	return 0;
}

static void table_free(struct table *t)
{
	size_t i;

	for (i = 0; t && i < CHAINS; i++) {
		while (t->chains[i]) {
			struct entry *e = t->chains[i];

			t->chains[i] = e->next;
			free(e);
		}
	}
	free(t);
}

void atimes_free(struct atimes *a)
{
	size_t i;

	if (!a)
		return;
	for (i = 0; i < SHARDS; i++) {
		table_free(a->shards[i].now);
		table_free(a->shards[i].flushing);
	}
	free(a);
}

static uint64_t hash_of(const struct objkey *k)
{
	return XXH64(k->name, k->len, k->bid);
}

static struct entry *find(const struct table *t, const struct objkey *k, uint64_t h)
{
	struct entry *e;

	for (e = t ? t->chains[h / SHARDS % CHAINS] : NULL; e; e = e->next) {
		if (e->bid == k->bid && e->len == k->len && !memcmp(e->name, k->name, k->len))
			return e;
	}
	return NULL;
}

static void add(struct atimes *a, struct shard *s, const struct objkey *k, int64_t ns)
{
	struct entry **chain = &s->now->chains[hash_of(k) / SHARDS % CHAINS], *e;

	e = s->n < SHARD_MAX ? malloc(sizeof(*e) + k->len) : NULL;
	if (!e)
		return;
	*e = (struct entry){.next = *chain, .bid = k->bid, .ns = ns, .len = k->len};
	memcpy(e->name, k->name, k->len);
	*chain = e;
	s->n++;
	atomic_fetch_add(&a->count, 1);
}

void atimes_note(struct atimes *a, const struct objkey *k, int64_t ns)
{
	uint64_t h = hash_of(k);
	struct shard *s = &a->shards[h % SHARDS];
	struct entry *e;

	pthread_mutex_lock(&s->lock);
	e = find(s->now, k, h);
	if (e)
		e->ns = ns > e->ns ? ns : e->ns;
	else
		add(a, s, k, ns);
	pthread_mutex_unlock(&s->lock);
}

int64_t atimes_get(struct atimes *a, const struct objkey *k)
{
	uint64_t h;
	struct shard *s;
	struct entry *e;
	int64_t ns = 0;

	if (!atomic_load(&a->count))
		return 0;
	h = hash_of(k);
	s = &a->shards[h % SHARDS];
	pthread_mutex_lock(&s->lock);
	e = find(s->flushing, k, h);
	if (e)
		ns = e->ns;
	e = find(s->now, k, h);
	if (e && e->ns > ns)
		ns = e->ns;
	pthread_mutex_unlock(&s->lock);
	return ns;
}

size_t atimes_count(struct atimes *a)
{
	return atomic_load(&a->count);
}

/* Up to @batch entries of @t from *@chain, *@e on, in one transaction. */
static int flush_slice(const struct table *t, struct index *ix, unsigned int batch, size_t *chain,
		       struct entry **e)
{
	struct store_rec rec;
	struct MDB_txn *txn;
	unsigned int n = 0;
	int r;

	r = index_begin(ix, &txn);
	if (r < 0)
		return r;
	while (r == 0 && n < batch && (*e || *chain < CHAINS)) {
		struct objkey k;

		if (!*e) {
			*e = t->chains[(*chain)++];
			continue;
		}
		k = (struct objkey){(*e)->bid, (*e)->name, (*e)->len};
		if (index_get(ix, &k, &rec) == 0 && rec.atime_ns < (*e)->ns) {
			rec.atime_ns = (*e)->ns;
			r = index_put(ix, txn, &k, &rec);
			n++;
		}
		*e = (*e)->next;
	}
	if (r < 0 || !n) {
		index_abort(ix, txn);
		return r;
	}
	return index_commit(ix, txn);
}

static int flush_table(const struct table *t, struct index *ix, unsigned int batch)
{
	struct entry *e = NULL;
	size_t chain = 0;
	int r = 0;

	while (r == 0 && (e || chain < CHAINS))
		r = flush_slice(t, ix, batch, &chain, &e);
	return r;
}

static int flush_shard(struct atimes *a, struct shard *s, struct index *ix, unsigned int batch)
{
	struct table *fresh = calloc(1, sizeof(*fresh)), *t;
	size_t n;
	int r;

	if (!fresh)
		return -ENOMEM;
	pthread_mutex_lock(&s->lock);
	t = s->flushing = s->now;
	s->now = fresh;
	n = s->n;
	s->n = 0;
	pthread_mutex_unlock(&s->lock);
	r = flush_table(t, ix, batch);
	pthread_mutex_lock(&s->lock);
	s->flushing = NULL;
	pthread_mutex_unlock(&s->lock);
	table_free(t);
	atomic_fetch_sub(&a->count, n);
	return r;
}

int atimes_flush(struct atimes *a, struct index *ix, unsigned int batch)
{
	int r = 0, e;
	size_t i;

	for (i = 0; atomic_load(&a->count) && i < SHARDS; i++) {
		e = flush_shard(a, &a->shards[i], ix, batch);
		r = r ? r : e;
	}
	return r;
}
