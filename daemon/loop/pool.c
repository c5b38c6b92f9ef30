/* SPDX-License-Identifier: BSD-2-Clause */
/* One bounded queue under one lock: the work behind it is disk or network, the lock is cheap. */
#include "loop/pool.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#define NAME_SIZE 16 /* what the kernel keeps of a thread's name */

struct pool {
	pthread_mutex_t lock;
	pthread_cond_t more;
	struct pool_job *head, **tail;
	size_t queued, queue_max;
	unsigned int idle; /* threads that wait for more */
	bool ending;
	char name[NAME_SIZE];
	unsigned int n_threads;
	pthread_t threads[];
};

/* The next job, waited for; NULL when the pool ends and nothing is queued. */
static struct pool_job *pool_take(struct pool *p)
{
	struct pool_job *j;

	pthread_mutex_lock(&p->lock);
	while (!p->head && !p->ending) {
		p->idle++;
		pthread_cond_wait(&p->more, &p->lock);
		p->idle--;
	}
	j = p->head;
	if (j) {
		p->head = j->next;
		if (!p->head)
			p->tail = &p->head;
		p->queued--;
	}
	pthread_mutex_unlock(&p->lock);
	return j;
}

static void *pool_thread(void *arg)
{
	struct pool *p = arg;
	struct pool_job *j;

	pthread_setname_np(pthread_self(), p->name);
	while ((j = pool_take(p)))
		j->fn(j);
	return NULL;
}

static int threads_start(struct pool *p, unsigned int threads)
{
	sigset_t all, before;
	int r = 0;

	/* signals belong to the thread that waits for them */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	while (p->n_threads < threads && r == 0) {
		r = pthread_create(&p->threads[p->n_threads], NULL, pool_thread, p);
		if (r == 0)
			p->n_threads++;
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return -r;
}

int pool_new(const char *name, unsigned int threads, size_t queue_max, struct pool **ret)
{
	struct pool *p;
	int r;

	if (!threads)
		threads = 1;
	p = calloc(1, sizeof(*p) + threads * sizeof(p->threads[0]));
	if (!p)
		return -ENOMEM;
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->more, NULL);
	p->tail = &p->head;
	p->queue_max = queue_max;
	snprintf(p->name, sizeof(p->name), "%s", name);
	r = threads_start(p, threads);
	if (r < 0) {
		pool_free(p);
		return r;
	}
	*ret = p;
	return 0;
}

void pool_free(struct pool *p)
{
	unsigned int i;

	if (!p)
		return;
	pthread_mutex_lock(&p->lock);
	p->ending = true;
	pthread_cond_broadcast(&p->more);
	pthread_mutex_unlock(&p->lock);
	for (i = 0; i < p->n_threads; i++)
		pthread_join(p->threads[i], NULL);
	pthread_cond_destroy(&p->more);
	pthread_mutex_destroy(&p->lock);
	free(p);
}

static int pool_add(struct pool *p, struct pool_job *j, bool bounded)
{
	int r = 0;

	j->next = NULL;
	pthread_mutex_lock(&p->lock);
	if (bounded && p->queued >= p->queue_max) {
		r = -EAGAIN;
	} else {
		*p->tail = j;
		p->tail = &j->next;
		p->queued++;
		if (p->idle)
			pthread_cond_signal(&p->more);
	}
	pthread_mutex_unlock(&p->lock);
	return r;
}

int pool_submit(struct pool *p, struct pool_job *j)
{
	return pool_add(p, j, true);
}

void pool_continue(struct pool *p, struct pool_job *j)
{
	pool_add(p, j, false);
}

size_t pool_queued(struct pool *p)
{
	size_t n;

	pthread_mutex_lock(&p->lock);
	n = p->queued;
	pthread_mutex_unlock(&p->lock);
	return n;
}
