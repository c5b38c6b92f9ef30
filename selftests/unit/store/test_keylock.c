/* SPDX-License-Identifier: BSD-2-Clause */
/* Locks of names: order of waiters, independence of names, many threads. */
#include "selftests/unit/unit.h"

#include <pthread.h>
#include <semaphore.h>

#include "store/keylock.h"

#define THREADS 8
#define ROUNDS 2000

static struct pool *pool;
static struct keylock *locks;
static sem_t ran;
static int order[4], n_order;

struct numbered {
	struct keylock_hold h;
	int n;
};

static void note(struct pool_job *j)
{
	struct numbered *x = container_of(j, struct numbered, h.job);

	order[n_order++] = x->n;
	keylock_release(locks, &x->h);
	sem_post(&ran);
}

static void test_order(void)
{
	struct numbered first = {}, w[3] = {}, other = {};
	int i;

	ASSERT_EQ(pool_new("io", 4, 1, &pool), 0);
	ASSERT_EQ(keylock_new(pool, &locks), 0);
	sem_init(&ran, 0, 0);
	first.h.key = (struct objkey){1, "name", 4};
	other.h.key = (struct objkey){2, "name", 4};
	ASSERT_TRUE(keylock_take(locks, &first.h));
	ASSERT_TRUE(keylock_take(locks, &other.h)); /* another bucket */
	for (i = 0; i < 3; i++) {
		w[i] = (struct numbered){.h = {.key = {1, "name", 4}, .job = {.fn = note}}, .n = i};
		ASSERT_TRUE(!keylock_take(locks, &w[i].h));
	}
	ASSERT_EQ(n_order, 0);
	keylock_release(locks, &first.h);
	for (i = 0; i < 3; i++)
		sem_wait(&ran);
	for (i = 0; i < 3; i++)
		ASSERT_EQ(order[i], i);
	ASSERT_TRUE(keylock_take(locks, &first.h)); /* free again */
	keylock_release(locks, &first.h);
	keylock_release(locks, &other.h);
	keylock_free(locks);
	pool_free(pool);
}

static long counters[4]; /* one a name, guarded by its lock alone */

struct counting {
	struct keylock_hold h;
	int name;
	sem_t done;
};

static void count(struct counting *c)
{
	counters[c->name]++;
	keylock_release(locks, &c->h);
	sem_post(&c->done);
}

static void count_job(struct pool_job *j)
{
	count(container_of(j, struct counting, h.job));
}

static void *counter(void *arg)
{
	static const char *const names[] = {"a", "b", "c", "d"};
	struct counting c = {.h.job.fn = count_job};
	int i;

	sem_init(&c.done, 0, 0);
	for (i = 0; i < ROUNDS; i++) {
		c.name = i % 4;
		c.h.key = (struct objkey){1, names[c.name], 1};
		if (keylock_take(locks, &c.h))
			count(&c);
		sem_wait(&c.done);
	}
	return NULL;
}

static void test_threads(void)
{
	pthread_t t[THREADS];
	int i;

	ASSERT_EQ(pool_new("io", 3, 1, &pool), 0);
	ASSERT_EQ(keylock_new(pool, &locks), 0);
	for (i = 0; i < THREADS; i++)
		ASSERT_EQ(pthread_create(&t[i], NULL, counter, NULL), 0);
	for (i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	for (i = 0; i < 4; i++)
		ASSERT_EQ(counters[i], THREADS * ROUNDS / 4);
	pool_free(pool);
	keylock_free(locks);
}

UNIT_MAIN("store/keylock", {"order", test_order}, {"threads", test_threads})
