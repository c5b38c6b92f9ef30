/* SPDX-License-Identifier: BSD-2-Clause */
/* The register of jobs: states, limits, aborts, and what is told of them. */
#include "selftests/unit/unit.h"

#include <pthread.h>

#include "base/json.h"
#include "jobs/jobs.h"

static const struct bmd_name abc = {.bucket = "abc", .provider = "ais"};
static const struct bmd_name xyz = {.bucket = "xyz", .provider = "ais", .ns_name = "ns"};

struct gate { /* a job that waits in its work until it is let go */
	pthread_mutex_t lock;
	pthread_cond_t cond;
	bool entered, open, freed, saw_abort;
};

#define GATE                                                                                       \
	{                                                                                          \
		.lock = PTHREAD_MUTEX_INITIALIZER, .cond = PTHREAD_COND_INITIALIZER                \
	}

static void gate_set(struct gate *g, bool *flag)
{
	pthread_mutex_lock(&g->lock);
	*flag = true;
	pthread_cond_broadcast(&g->cond);
	pthread_mutex_unlock(&g->lock);
}

static void gate_wait(struct gate *g, const bool *flag)
{
	struct timespec limit;

	clock_gettime(CLOCK_REALTIME, &limit);
	limit.tv_sec += 20;
	pthread_mutex_lock(&g->lock);
	while (!*flag && !pthread_cond_timedwait(&g->cond, &g->lock, &limit))
		;
	pthread_mutex_unlock(&g->lock);
	ASSERT_TRUE(*flag);
}

static int gate_run(struct job *job, void *arg)
{
	struct gate *g = arg;

	job_count(job, 2, 30);
	gate_set(g, &g->entered);
	gate_wait(g, &g->open);
	g->saw_abort = job_aborted(job);
	job_error(job, "first of %s", job_id(job));
	job_error(job, "second");
	return 0;
}

static void gate_free(void *arg)
{
	struct gate *g = arg;

	gate_set(g, &g->freed);
}

static struct jobs *make(int64_t keep_ns, size_t max)
{
	struct jobs_opts o = {.sz = sizeof(o), .threads = 2, .keep_ns = keep_ns, .max = max};
	struct jobs *j = NULL;

	ASSERT_EQ(jobs_new(&o, &j), 0);
	return j;
}

static struct json_object *snaps(struct jobs *j, const struct job_query *q, size_t want)
{
	struct json_object *o = NULL;
	struct buf b = BUF_INIT;

	ASSERT_EQ(jobs_print_snaps(j, q, &b), want);
	ASSERT_EQ(json_parse(b.data, b.len, &o), 0);
	ASSERT_EQ(json_object_array_length(o), want);
	buf_free(&b);
	return o;
}

static const char *text(struct json_object *list, size_t i, const char *key)
{
	const char *s = json_member_str(json_object_array_get_idx(list, i), key);

	return s ? s : "(none)";
}

static bool flag(struct json_object *list, size_t i, const char *key)
{
	struct json_object *v = json_member(json_object_array_get_idx(list, i), key);

	ASSERT_TRUE(json_object_is_type(v, json_type_boolean));
	return json_object_get_boolean(v);
}

/* A job without work is over when it is registered; the keys stand as the API has them. */
static void test_over_at_once(void)
{
	static const char *const want =
		"\"bck\":{\"name\":\"abc\",\"provider\":\"ais\",\"namespace\":{\"uuid\":\"\","
		"\"name\":\"\"}},\"src-bck\":{\"name\":\"abc\",\"provider\":\"ais\",\"namespace\":{"
		"\"uuid\":\"\",\"name\":\"\"}},\"dst-bck\":{\"name\":\"xyz\",\"provider\":\"ais\","
		"\"namespace\":{\"uuid\":\"\",\"name\":\"ns\"}},\"id\":\"job-12345\","
		"\"kind\":\"move-bck\",\"abort-err\":\"\",\"err\":\"\",\"glob.id\":\"1\","
		"\"stats\":{\"loc-objs\":\"0\",\"loc-bytes\":\"0\",\"out-objs\":\"0\","
		"\"out-bytes\":\"0\",\"in-objs\":\"0\",\"in-bytes\":\"0\"},\"aborted\":false,"
		"\"is_idle\":true}]";
	struct jobs *j = make(INT64_C(60000000000), 10);
	struct job_spec s = {.id = "job-12345", .kind = JOB_RENAME_BUCKET, .bck = abc, .to = xyz};
	struct buf b = BUF_INIT;
	char id[33];

	ASSERT_EQ(jobs_start(j, &s, id), 0);
	ASSERT_STR(id, "job-12345");
	ASSERT_EQ(jobs_start(j, &s, NULL), -EEXIST);
	ASSERT_EQ(jobs_print_snaps(j, &(struct job_query){}, &b), 1);
	ASSERT_TRUE(!strncmp(b.data, "[{\"ext\":null,\"start-time\":\"20", 29));
	ASSERT_STR(strstr(b.data, "\"bck\""), want);
	ASSERT_TRUE(!strstr(b.data, "0001-01-01"));
	ASSERT_TRUE(!strstr(b.data, "ctlmsg"));
	buf_free(&b);
	jobs_free(j);
}

static void test_runs_and_counts(void)
{
	struct jobs *j = make(INT64_C(60000000000), 10);
	struct gate g = GATE;
	struct job_spec s = {.id = "a23456789",
			     .kind = JOB_DELETE_OBJECTS,
			     .bck = abc,
			     .ctlmsg = "workers: 2",
			     .run = gate_run,
			     .arg = &g,
			     .arg_free = gate_free};
	struct json_object *o;

	ASSERT_EQ(jobs_start(j, &s, NULL), 0);
	gate_wait(&g, &g.entered);
	o = snaps(j, &(struct job_query){.only_running = true}, 1);
	ASSERT_STR(text(o, 0, "end-time"), "0001-01-01T00:00:00Z");
	ASSERT_STR(text(o, 0, "ctlmsg"), "workers: 2");
	ASSERT_TRUE(!flag(o, 0, "is_idle"));
	json_object_put(o);
	json_object_put(snaps(j, &(struct job_query){.only_finished = true}, 0));
	gate_set(&g, &g.open);
	gate_wait(&g, &g.freed);
	jobs_free(j); /* waits for the end */
	ASSERT_TRUE(!g.saw_abort);
}

/* What runs sees the abort; what waits is not begun. */
static void test_abort(void)
{
	struct jobs_opts o = {.sz = sizeof(o), .threads = 1, .keep_ns = INT64_MAX, .max = 9};
	struct gate g = GATE, waiting = GATE;
	struct job_spec s = {.id = "first1234",
			     .kind = JOB_DELETE_OBJECTS,
			     .bck = abc,
			     .run = gate_run,
			     .arg = &g,
			     .arg_free = gate_free};
	struct json_object *list;
	struct jobs *j = NULL;

	ASSERT_EQ(jobs_new(&o, &j), 0);
	ASSERT_EQ(jobs_start(j, &s, NULL), 0);
	s.id = "second123";
	s.arg = &waiting;
	s.bck = xyz;
	ASSERT_EQ(jobs_start(j, &s, NULL), 0);
	gate_wait(&g, &g.entered);
	ASSERT_EQ(jobs_abort(j, &(struct job_query){.id = "nobody123"}, "x"), 0);
	ASSERT_EQ(jobs_abort(j, &(struct job_query){.bck = &xyz}, "remove bucket"), 1);
	ASSERT_EQ(jobs_abort(j, &(struct job_query){.id = "x1234567,first1234"}, "stop"), 1);
	gate_set(&g, &g.open);
	gate_wait(&waiting, &waiting.freed);
	ASSERT_TRUE(g.saw_abort && !waiting.entered);
	list = snaps(j, &(struct job_query){}, 2);
	ASSERT_TRUE(flag(list, 0, "aborted") && flag(list, 1, "aborted"));
	ASSERT_STR(text(list, 0, "abort-err"), "stop");
	ASSERT_STR(text(list, 0, "err"), "first of first1234");
	ASSERT_STR(text(list, 1, "abort-err"), "remove bucket");
	json_object_put(list);
	jobs_free(j);
}

static void test_queries(void)
{
	struct jobs *j = make(INT64_MAX, 10);
	struct job_spec s = {.kind = JOB_RENAME_BUCKET, .bck = abc};
	char one[33], two[33];

	ASSERT_EQ(jobs_start(j, &s, one), 0);
	s.bck = xyz;
	s.kind = JOB_SUMMARY;
	ASSERT_EQ(jobs_start(j, &s, two), 0);
	ASSERT_TRUE(strcmp(one, two));
	json_object_put(snaps(j, &(struct job_query){.id = one}, 1));
	json_object_put(snaps(j, &(struct job_query){.bck = &xyz}, 1));
	json_object_put(snaps(j, &(struct job_query){.by_kind = true, .kind = JOB_SUMMARY}, 1));
	json_object_put(snaps(j, &(struct job_query){.by_kind = true}, 0));
	json_object_put(snaps(j, &(struct job_query){.only_running = true}, 0));
	jobs_free(j);
}

/* The oldest finished go first; what runs is never forgotten. */
static void test_limits(void)
{
	struct jobs *j = make(INT64_MAX, 2);
	struct gate g = GATE;
	struct job_spec s = {.id = "running12",
			     .kind = JOB_DELETE_OBJECTS,
			     .run = gate_run,
			     .arg = &g,
			     .arg_free = gate_free};
	struct job_spec over = {.id = "over11111", .kind = JOB_RENAME_BUCKET};
	struct json_object *o;

	ASSERT_EQ(jobs_start(j, &s, NULL), 0);
	ASSERT_EQ(jobs_start(j, &over, NULL), 0);
	over.id = "over22222";
	ASSERT_EQ(jobs_start(j, &over, NULL), 0);
	o = snaps(j, &(struct job_query){}, 2);
	ASSERT_STR(text(o, 0, "id"), "running12");
	ASSERT_STR(text(o, 1, "id"), "over22222");
	json_object_put(o);
	gate_set(&g, &g.open);
	jobs_free(j);
	j = make(0, 2); /* kept for no time */
	ASSERT_EQ(jobs_start(j, &over, NULL), 0);
	json_object_put(snaps(j, &(struct job_query){}, 0));
	jobs_free(j);
}

static void test_full(void)
{
	struct jobs *j = make(INT64_MAX, 1);
	struct gate g = GATE, refused = GATE;
	struct job_spec s = {
		.kind = JOB_DELETE_OBJECTS, .run = gate_run, .arg = &g, .arg_free = gate_free};

	ASSERT_EQ(jobs_start(j, &s, NULL), 0);
	s.arg = &refused;
	ASSERT_EQ(jobs_start(j, &s, NULL), -EAGAIN);
	ASSERT_TRUE(refused.freed);
	gate_set(&g, &g.open);
	jobs_free(j);
}

UNIT_MAIN("jobs", {"over at once", test_over_at_once}, {"runs and counts", test_runs_and_counts},
	  {"abort", test_abort}, {"queries", test_queries}, {"limits", test_limits},
	  {"full", test_full})
