/* SPDX-License-Identifier: BSD-2-Clause */
/* Group commit under many writers: nothing lost, nothing mixed, groups form; prints the rate. */
#include "fixture.h"

#include <pthread.h>

#include "base/text.h"
#include "metrics.h"
#include "store/commit.h"

#define THREADS 16

struct writer {
	struct fix *f;
	pthread_t t;
	int id, rounds;
	const char *data;
	size_t n;
	bool same_keys; /* all write the same names */
	int failed;
};

static void *writer_run(void *arg)
{
	struct writer *w = arg;
	struct store_put_opts o = {.size = (int64_t)w->n};
	char name[32];
	int i;

	for (i = 0; i < w->rounds; i++) {
		snprintf(name, sizeof(name), "o-%d-%d", w->same_keys ? 0 : w->id, i % 10000);
		w->failed += fix_put_opts(w->f, &fix_bck, name, w->data, w->n, &o, NULL) != 0;
	}
	return NULL;
}

/* Return: puts a second. */
static double run(struct fix *f, int rounds, size_t size, bool same_keys)
{
	autofree char *data = calloc(1, size);
	struct writer w[THREADS];
	int64_t t0 = mono_ns();
	int i;

	for (i = 0; i < THREADS; i++) {
		w[i] = (struct writer){.f = f,
				       .id = i,
				       .rounds = rounds,
				       .data = data,
				       .n = size,
				       .same_keys = same_keys};
		ASSERT_EQ(pthread_create(&w[i].t, NULL, writer_run, &w[i]), 0);
	}
	for (i = 0; i < THREADS; i++) {
		pthread_join(w[i].t, NULL);
		ASSERT_EQ(w[i].failed, 0);
	}
	return THREADS * rounds * 1e9 / (double)(mono_ns() - t0);
}

static void test_rate(void)
{
	int sync;

	for (sync = 0; sync < 2; sync++) {
		struct fix f = {.sync = sync};
		struct store_sum sum;
		double rate;

		fix_open(&f, 1);
		rate = run(&f, sync ? 60 : 250, 10 << 10, false);
		fprintf(stderr, "\n    sync=%d: %.0f puts/s of 10 KiB by %d threads\n", sync, rate,
			THREADS);
		ASSERT_EQ(store_summary(f.s, &fix_bck, "", &sum), 0);
		ASSERT_EQ(sum.objects, THREADS * (sync ? 60 : 250));
		ASSERT_EQ(fix_files(&f, "blob"), sum.objects);
		fix_close(&f);
	}
}

static void test_one_key(void)
{
	struct fix f = {.sync = false};
	struct store_rec rec;
	int i;

	fix_open(&f, 2);
	run(&f, 30, 100, true);
	for (i = 0; i < 30; i++) {
		char name[32];

		snprintf(name, sizeof(name), "o-0-%d", i);
		ASSERT_EQ(store_stat(f.s, &fix_bck, name, &rec), 0);
		/* the lock of the key: no version was given twice */
		ASSERT_EQ(rec.version, THREADS);
	}
	fix_stop(&f);
	ASSERT_EQ(fix_files(&f, "blob"), 30);
	ASSERT_EQ(fix_start(&f), 0);
	fix_close(&f);
}

/* A group in which one member can not be linked: the others are committed. */
static void test_failing_member(void)
{
	struct fix f = {.sync = true};
	struct store_put_opts o = {.size = 1};
	struct answer a[3] = {};
	struct store_put *p[3];
	char name[8], cmd[160];
	int i;

	fix_open(&f, 1);
	/* blobs 0 to 63 go to folder 00, so all three do; without it none can be linked */
	for (i = 0; i < 3; i++) {
		snprintf(name, sizeof(name), "m%d", i);
		ASSERT_EQ(store_put_begin(f.s, &fix_bck, name, &o, &p[i]), 0);
		ASSERT_EQ(store_put_write(p[i], "x", 1), 0);
		sem_init(&a[i].there, 0, 0);
	}
	snprintf(cmd, sizeof(cmd), "%s/blob/00", f.path[0]);
	ASSERT_EQ(rmdir(cmd), 0);
	store_put_commit(p[0], answer_done, &a[0]);
	ASSERT_EQ(answer_wait(&a[0], NULL), -ENOENT);
	ASSERT_EQ(mkdir(cmd, 0700), 0);
	store_put_commit(p[1], answer_done, &a[1]);
	store_put_commit(p[2], answer_done, &a[2]);
	ASSERT_EQ(answer_wait(&a[1], NULL), 0);
	ASSERT_EQ(answer_wait(&a[2], NULL), 0);
	ASSERT_CONTENT(&f, "m1", "x");
	ASSERT_EQ(fix_files(&f, "blob"), 2);
	fix_close(&f);
}

/* Over the bound of the committer: refused before anything is taken, and served afterwards. */
static void test_bound(void)
{
	struct fix f = {.sync = true};
	struct store_put_opts o = {.size = 1};
	struct store_custom custom = {"k\0v", 4, false};
	struct answer a = {}, b = {};
	struct store_put *p, *q;

	fix_open(&f, 1);
	ASSERT_EQ(fix_put(&f, "o", "old"), 0);
	ASSERT_EQ(store_put_begin(f.s, &fix_bck, "o", &o, &p), 0);
	ASSERT_EQ(store_put_write(p, "x", 1), 0);
	commit_set_max(f.s->paths[0].com, 0);
	ASSERT_EQ(store_put_begin(f.s, &fix_bck, "o", &o, &q), -EAGAIN);
	sem_init(&a.there, 0, 0);
	store_put_commit(p, answer_done, &a);
	ASSERT_EQ(answer_wait(&a, NULL), -EAGAIN);
	ASSERT_EQ(fix_delete(&f, "o"), -EAGAIN);
	sem_init(&b.there, 0, 0);
	store_set_custom(f.s, &fix_bck, "o", &custom, answer_done, &b);
	ASSERT_EQ(answer_wait(&b, NULL), -EAGAIN);
	ASSERT_CONTENT(&f, "o", "old");
	ASSERT_EQ(fix_files(&f, "blob"), 1);
	ASSERT_EQ(store_bucket_destroy(f.s, 99), 0); /* not a client's change */
	commit_set_max(f.s->paths[0].com, 1);
	ASSERT_EQ(fix_put(&f, "o", "new"), 0);
	ASSERT_EQ(fix_put(&f, "o", "newer"), 0); /* the place was given back */
	ASSERT_EQ(fix_delete(&f, "o"), 0);
	ASSERT_EQ(fix_files(&f, "blob"), 0);
	fix_close(&f);
}

UNIT_MAIN("store/commit", {"rate", test_rate}, {"one key", test_one_key},
	  {"a member that fails", test_failing_member}, {"bound of the queue", test_bound})
