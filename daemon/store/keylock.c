/* SPDX-License-Identifier: BSD-2-Clause */
/* Locks of names: a sharded table of holders, each with its queue of waiters. */
#include "store/keylock.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#define SHARDS 256

struct shard {
	pthread_mutex_t lock;
	struct list holders;
};

struct keylock {
	struct pool *io;
	struct shard shards[SHARDS];
};

int keylock_new(struct pool *io, struct keylock **ret)
{
	struct keylock *t = calloc(1, sizeof(*t));
	size_t i;

	if (!t)
		return -ENOMEM;
	t->io = io;
	for (i = 0; i < SHARDS; i++) {
		pthread_mutex_init(&t->shards[i].lock, NULL);
		list_init(&t->shards[i].holders);
	}
	*ret = t;
	return 0;
}

void keylock_free(struct keylock *t)
{
	size_t i;

	if (!t)
		return;
	for (i = 0; i < SHARDS; i++)
		pthread_mutex_destroy(&t->shards[i].lock);
	free(t);
}

static struct shard *shard_of(struct keylock *t, const struct objkey *k)
{
	return &t->shards[XXH64(k->name, k->len, k->bid) % SHARDS];
}

static bool same_key(const struct objkey *a, const struct objkey *b)
{
	return a->bid == b->bid && a->len == b->len && !memcmp(a->name, b->name, a->len);
}

bool keylock_take(struct keylock *t, struct keylock_hold *h)
{
	struct shard *s = shard_of(t, &h->key);
	bool held = true;
	struct list *l;

	list_init(&h->waiters);
	pthread_mutex_lock(&s->lock);
	list_for_each (l, &s->holders) {
		struct keylock_hold *o = list_entry(l, struct keylock_hold, link);

		if (same_key(&o->key, &h->key)) {
			list_add_tail(&o->waiters, &h->link);
			held = false;
			break;
		}
	}
	if (held)
		list_add_tail(&s->holders, &h->link);
	pthread_mutex_unlock(&s->lock);
	return held;
}

void keylock_release(struct keylock *t, struct keylock_hold *h)
{
	struct shard *s = shard_of(t, &h->key);
	struct keylock_hold *next = NULL;

	pthread_mutex_lock(&s->lock);
	list_del(&h->link);
	if (!list_empty(&h->waiters)) {
		next = list_entry(h->waiters.next, struct keylock_hold, link);
		list_del(&next->link);
		list_splice_tail(&next->waiters, &h->waiters);
		list_add_tail(&s->holders, &next->link);
	}
	pthread_mutex_unlock(&s->lock);
	if (next)
		pool_continue(t->io, &next->job);
}
