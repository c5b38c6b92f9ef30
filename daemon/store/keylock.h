/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A lock an object name that blocks no thread: who has to wait leaves a continuation, which runs
 * on the io pool, with the lock held, when the holder unlocks.
 */
#ifndef STORE_KEYLOCK_H
#define STORE_KEYLOCK_H

#include <semaphore.h>

#include "base/list.h"
#include "loop/pool.h"
#include "store/codec.h"

struct keylock;

/* Embed it; the table's from keylock_take() to keylock_release(). @key stays the caller's. */
struct keylock_hold {
	struct objkey key;
	struct pool_job job; /* fn: the continuation */
	sem_t held; /* private to keylock_wait() */
	struct list link; /* private: of holders in a bucket, or of waiters on a holder */
	struct list waiters; /* private */
};

/* A table whose continuations run on @io. Return: 0 or -ENOMEM. */
int keylock_new(struct pool *io, struct keylock **ret);
/* With nothing held. NULL is fine. */
void keylock_free(struct keylock *t);
/* Return: true, held at once; false, @h->job.fn will run when it is. */
bool keylock_take(struct keylock *t, struct keylock_hold *h);
/* Pass it on. Any thread; @h is the caller's again on return. */
void keylock_release(struct keylock *t, struct keylock_hold *h);

#endif
