/* SPDX-License-Identifier: BSD-2-Clause */
/* The pool: order, bound, continuation, end; and jobs that post back to a loop. */
#include "selftests/unit/unit.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>

#include "base/bits.h"
#include "loop/loop.h"
#include "loop/pool.h"

#define JOBS 2000

static struct pool *pool;
static sem_t gate, started;
static int order[8], n_order;
static atomic_int ran;

struct numbered {
	struct pool_job j;
	int n;
};

static void note(struct pool_job *j)
{
	order[n_order++] = container_of(j, struct numbered, j)->n;
}

static void wait_at_gate(struct pool_job *j)
{
	sem_post(&started);
	sem_wait(&gate);
}

static void count(struct pool_job *j)
{
	atomic_fetch_add(&ran, 1);
}

static void test_order_and_bound(void)
{
	struct pool_job blocker = {.fn = wait_at_gate};
	struct numbered job[4];
	int i;

	sem_init(&gate, 0, 0);
	sem_init(&started, 0, 0);
	n_order = 0;
	ASSERT_EQ(pool_new("io", 1, 2, &pool), 0);
	ASSERT_EQ(pool_submit(pool, &blocker), 0);
	sem_wait(&started);
	for (i = 0; i < 4; i++)
		job[i] = (struct numbered){.j.fn = note, .n = i};
	ASSERT_EQ(pool_submit(pool, &job[0].j), 0);
	ASSERT_EQ(pool_submit(pool, &job[1].j), 0);
	ASSERT_EQ(pool_queued(pool), 2);
	ASSERT_EQ(pool_submit(pool, &job[2].j), -EAGAIN);
	pool_continue(pool, &job[3].j);
	ASSERT_EQ(pool_queued(pool), 3);
	sem_post(&gate);
	pool_free(pool); /* finishes what is queued */
	ASSERT_EQ(n_order, 3);
	ASSERT_EQ(order[0], 0);
	ASSERT_EQ(order[1], 1);
	ASSERT_EQ(order[2], 3);
	sem_destroy(&gate);
	sem_destroy(&started);
}

struct chain {
	struct pool_job j;
	int left;
};

static void chain_on(struct pool_job *j)
{
	struct chain *c = container_of(j, struct chain, j);

	atomic_fetch_add(&ran, 1);
	if (--c->left)
		pool_continue(pool, j);
}

static void test_continuation_survives_the_end(void)
{
	struct chain c = {.j.fn = chain_on, .left = 50};

	atomic_store(&ran, 0);
	ASSERT_EQ(pool_new("io", 3, 1, &pool), 0);
	ASSERT_EQ(pool_submit(pool, &c.j), 0);
	pool_free(pool);
	ASSERT_EQ(atomic_load(&ran), 50);
}

static sigset_t job_mask;
static char job_thread[16];

static void note_thread(struct pool_job *j)
{
	pthread_sigmask(SIG_SETMASK, NULL, &job_mask);
	pthread_getname_np(pthread_self(), job_thread, sizeof(job_thread));
}

static void test_threads_take_no_signals(void)
{
	struct pool_job j = {.fn = note_thread};
	sigset_t mine;

	ASSERT_EQ(pool_new("a-name-of-sixteen", 1, 1, &pool), 0);
	ASSERT_EQ(pool_submit(pool, &j), 0);
	pool_free(pool);
	ASSERT_TRUE(sigismember(&job_mask, SIGTERM));
	ASSERT_TRUE(sigismember(&job_mask, SIGCHLD));
	ASSERT_STR(job_thread, "a-name-of-sixte");
	pthread_sigmask(SIG_SETMASK, NULL, &mine);
	ASSERT_TRUE(!sigismember(&mine, SIGTERM));
	pool_free(NULL);
}

/* A loop hands jobs to the pool and gets each back: the way every handler works. */
struct trip {
	struct pool_job j;
	struct loop_work w;
	int value;
};

static struct loop *loop;
static struct trip trip[JOBS];
static int back;

static void trip_back(struct loop_work *w)
{
	struct trip *t = container_of(w, struct trip, w);

	ASSERT_EQ(t->value, (int)(t - trip) * 2);
	if (++back == JOBS)
		loop_stop(loop);
}

static void trip_there(struct pool_job *j)
{
	struct trip *t = container_of(j, struct trip, j);

	t->value *= 2;
	loop_post(loop, &t->w);
}

static void test_round_trips(void)
{
	int i;

	back = 0;
	ASSERT_EQ(loop_new("w0", &loop), 0);
	ASSERT_EQ(pool_new("io", 4, JOBS, &pool), 0);
	for (i = 0; i < JOBS; i++) {
		trip[i] = (struct trip){.j.fn = trip_there, .w.fn = trip_back, .value = i};
		ASSERT_EQ(pool_submit(pool, &trip[i].j), 0);
	}
	ASSERT_EQ(loop_run(loop), 0);
	pool_free(pool);
	loop_free(loop);
	ASSERT_EQ(back, JOBS);
}

static void *submit_many(void *arg)
{
	struct pool_job *jobs = arg;
	int i;

	for (i = 0; i < JOBS; i++) {
		jobs[i].fn = count;
		if (pool_submit(pool, &jobs[i]) < 0)
			atomic_fetch_add(&ran, 1); /* refused: stays ours, counted here */
	}
	return NULL;
}

static void test_submit_from_many_threads(void)
{
	static struct pool_job jobs[4][JOBS];
	pthread_t t[4];
	int i;

	atomic_store(&ran, 0);
	ASSERT_EQ(pool_new("io", 4, 64, &pool), 0);
	for (i = 0; i < 4; i++)
		ASSERT_EQ(pthread_create(&t[i], NULL, submit_many, jobs[i]), 0);
	for (i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	pool_free(pool);
	ASSERT_EQ(atomic_load(&ran), 4 * JOBS);
}

UNIT_MAIN("pool", {"order and bound", test_order_and_bound},
	  {"a continuation survives the end", test_continuation_survives_the_end},
	  {"threads take no signals", test_threads_take_no_signals},
	  {"round trips to a loop", test_round_trips},
	  {"submit from many threads", test_submit_from_many_threads})
