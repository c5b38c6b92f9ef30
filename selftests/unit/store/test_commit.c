/* SPDX-License-Identifier: BSD-2-Clause */
/* Group commit under many writers: nothing lost, nothing mixed, groups form; prints the rate. */
#include "fixture.h"

#include <pthread.h>

#include "base/text.h"
#include "metrics.h"

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

UNIT_MAIN("store/commit", {"rate", test_rate}, {"one key", test_one_key},
	  {"a member that fails", test_failing_member})
