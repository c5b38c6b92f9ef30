/* SPDX-License-Identifier: BSD-2-Clause */
/* Reaping while the store is used: orphans go, what is on its way stays; and the timer. */
#include "fixture.h"

#include <pthread.h>
#include <sys/time.h>

#include "base/text.h"
#include "metrics.h"
#include "store/commit.h"
#include "store/reap.h"

static const atomic_bool go_on;

static const char *below(struct fix *f, const char *name)
{
	static char path[192];

	snprintf(path, sizeof(path), "%s/%s", f->path[0], name);
	return path;
}

static void make(struct fix *f, const char *name)
{
	autofd fd = open(below(f, name), O_CREAT | O_WRONLY | O_EXCL, 0600);

	ASSERT_TRUE(fd >= 0);
}

static bool there(struct fix *f, const char *name)
{
	return access(below(f, name), F_OK) == 0;
}

static void test_pass(void)
{
	struct timeval old[2] = {{1000000000, 0}, {1000000000, 0}};
	struct store_put_opts o = {.size = 1};
	struct fix f = {};
	struct store_put *p;
	struct answer a = {};

	fix_open(&f, 1);
	ASSERT_EQ(metrics_new("t1", false, &f.s->metrics), 0);
	ASSERT_EQ(fix_put(&f, "o", "x"), 0);
	ASSERT_EQ(store_put_begin(f.s, &fix_bck, "on its way", &o, &p), 0);
	make(&f, "blob/00/00000000000000aa-0000000000000001");
	make(&f, "blob/ff/00000000000000aa-0000000000000002");
	make(&f, "blob/ff/00000000000000aa-0000000000000002.meta");
	make(&f, "blob/fe/00000000000000aa-0000000000000003.meta");
	make(&f, "blob/10/README");
	make(&f, "blob/tmp/00000000000000aa-0000000000000004");
	make(&f, "work/00000000000000aa-0000000000000005");
	make(&f, "work/00000000000000aa-0000000000000006");
	ASSERT_EQ(utimes(below(&f, "work/00000000000000aa-0000000000000005"), old), 0);
	ASSERT_EQ(reap_running(&f.s->paths[0], &go_on), 0);
	ASSERT_EQ(metrics_read(f.s->metrics, METRIC_ORPHANS_N), 2);
	ASSERT_EQ(fix_files(&f, "blob"), 3); /* the object, README, and of tmp/ who knows */
	ASSERT_TRUE(there(&f, "blob/tmp/00000000000000aa-0000000000000004"));
	ASSERT_TRUE(!there(&f, "work/00000000000000aa-0000000000000005"));
	ASSERT_TRUE(there(&f, "work/00000000000000aa-0000000000000006"));
	ASSERT_EQ(store_put_write(p, "y", 1), 0);
	sem_init(&a.there, 0, 0);
	store_put_commit(p, answer_done, &a);
	ASSERT_EQ(answer_wait(&a, NULL), 0);
	ASSERT_CONTENT(&f, "o", "x");
	ASSERT_CONTENT(&f, "on its way", "y");
	metrics_free(f.s->metrics);
	f.s->metrics = NULL;
	fix_close(&f);
}

/* With a damaged record nothing goes. */
static void test_damaged(void)
{
	struct store_rec rec;
	struct objkey k = {7, "o", 1};
	struct commit_op op = {.kind = COMMIT_CHANGE, .key = k, .rec = &rec};
	struct fix f = {};

	fix_open(&f, 1);
	ASSERT_EQ(fix_put(&f, "o", "x"), 0);
	ASSERT_EQ(store_stat(f.s, &fix_bck, "o", &rec), 0);
	strcpy(rec.blob, "zz");
	ASSERT_EQ(commit_wait(&f.s->paths[0], &op), 0);
	make(&f, "blob/00/00000000000000aa-0000000000000001");
	ASSERT_EQ(reap_running(&f.s->paths[0], &go_on), -EUCLEAN);
	ASSERT_EQ(fix_files(&f, "blob"), 2);
	fix_close(&f);
}

struct writer {
	struct fix *f;
	atomic_bool stop;
	int failed, rounds;
};

static void *writer_run(void *arg)
{
	struct writer *w = arg;
	char name[16], text[16];

	for (w->rounds = 0; !atomic_load(&w->stop); w->rounds++) {
		snprintf(name, sizeof(name), "w-%d", w->rounds % 100);
		snprintf(text, sizeof(text), "%d", w->rounds);
		w->failed += fix_put(w->f, name, text) != 0;
		if (w->rounds % 7 == 3)
			w->failed += fix_delete(w->f, name) != 0;
	}
	return NULL;
}

/* Pass after pass beside puts, overwrites and removals: not one blob is taken for an orphan. */
static void test_beside(void)
{
	struct fix f = {};
	struct writer w = {.f = &f};
	struct commit_op last = {};
	struct store_sum sum;
	pthread_t t;
	int i, r;

	fix_open(&f, 1);
	ASSERT_EQ(metrics_new("t1", false, &f.s->metrics), 0);
	ASSERT_EQ(pthread_create(&t, NULL, writer_run, &w), 0);
	for (i = 0; i < 50; i++) {
		r = reap_running(&f.s->paths[0], &go_on);
		ASSERT_TRUE(r == 0 || r == -EAGAIN);
	}
	atomic_store(&w.stop, true);
	pthread_join(t, NULL);
	ASSERT_EQ(w.failed, 0);
	ASSERT_EQ(metrics_read(f.s->metrics, METRIC_ORPHANS_N), 0);
	ASSERT_EQ(commit_wait(&f.s->paths[0], &last), 0); /* what was replaced is gone, too */
	ASSERT_EQ(store_summary(f.s, &fix_bck, "", &sum), 0);
	ASSERT_EQ(fix_files(&f, "blob"), sum.objects);
	metrics_free(f.s->metrics);
	f.s->metrics = NULL;
	fix_close(&f);
}

static void test_timer(void)
{
	int64_t limit = mono_ns() + INT64_C(20) * 1000000000;
	struct reaper *r;
	struct fix f = {};

	fix_open(&f, 1);
	make(&f, "blob/00/00000000000000aa-0000000000000001");
	ASSERT_EQ(reaper_new(&f.s->paths[0], 20000000, &r), 0);
	while (!reaper_passes(r) && mono_ns() < limit)
		sched_yield();
	ASSERT_TRUE(reaper_passes(r) > 0);
	reaper_free(r);
	ASSERT_EQ(fix_files(&f, "blob"), 0);
	fix_close(&f);
}

UNIT_MAIN("store/reaper", {"a pass", test_pass}, {"damaged record", test_damaged},
	  {"beside writers", test_beside}, {"every day", test_timer})
