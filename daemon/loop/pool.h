/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pool - helper threads for work that blocks: disk (io), or other nodes (call)
 *
 * Jobs start in order of submission. The queue is bounded: a full one refuses, and the caller
 * answers 503 with Retry-After. A job of an io pool never waits for another node, so that two
 * nodes can not wait for each other.
 */
#ifndef POOL_H
#define POOL_H

#include <stddef.h>

struct pool;

/* Embed it; it is the pool's from pool_submit() until @fn is called. */
struct pool_job {
	struct pool_job *next; /* private */
	void (*fn)(struct pool_job *j);
};

/**
 * pool_new() - Start a pool
 * @name:	name of its threads, at most 15 characters, copied
 * @threads:	how many
 * @queue_max:	jobs that may wait
 * @ret:	the pool, written on success only
 *
 * Return: 0, -ENOMEM, or the error of pthread_create(3), negative.
 */
int pool_new(const char *name, unsigned int threads, size_t queue_max, struct pool **ret);
/* Finish what is queued, end the threads, free. Not from a pool thread. NULL is fine. */
void pool_free(struct pool *p);
/* Return: 0; -EAGAIN when the queue is full (the job stays the caller's). Any thread. */
int pool_submit(struct pool *p, struct pool_job *j);
/* As pool_submit() but never refused: for the continuation of work that was admitted before. */
void pool_continue(struct pool *p, struct pool_job *j);
/* Jobs waiting now. Any thread. */
size_t pool_queued(struct pool *p);

#endif
