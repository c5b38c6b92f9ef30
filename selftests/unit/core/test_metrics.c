/* SPDX-License-Identifier: BSD-2-Clause */
/* Counters: sums over threads, names on /metrics, tracker and kinds. */
#include "selftests/unit/unit.h"

#include <errno.h>
#include <pthread.h>

#include "base/bits.h"
#include "base/json.h"
#include "metrics.h"

#define THREADS 40 /* more than shards */
#define ROUNDS 2000

static struct metrics *m;

static void setup(const char *id, bool gateway)
{
	static const char *const paths[] = {NULL, "small", "sendfile"};
	static const char *const reasons[] = {NULL, "small-body", "resident"};

	ASSERT_EQ(metrics_new(id, gateway, &m), 0);
	metrics_name_paths(m, paths, 3, reasons, 3);
}

static void *add_many(void *arg)
{
	int i;

	for (i = 0; i < ROUNDS; i++) {
		metrics_add(m, METRIC_GET_N, 1);
		metrics_add(m, METRIC_GET_SIZE, 1000);
		metrics_add_response(m, 1, 1, 1000);
	}
	return NULL;
}

static void test_sum_over_threads(void)
{
	autobuf struct buf out = BUF_INIT;
	pthread_t t[THREADS];
	int i;

	setup("t1", false);
	for (i = 0; i < THREADS; i++)
		ASSERT_EQ(pthread_create(&t[i], NULL, add_many, NULL), 0);
	metrics_print(m, &out); /* while they add */
	for (i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	ASSERT_EQ(metrics_read(m, METRIC_GET_N), 80000);
	ASSERT_EQ(metrics_read(m, METRIC_GET_SIZE), 80000000);
	buf_reset(&out);
	metrics_print(m, &out);
	ASSERT_TRUE(strstr(out.data, "\npagewire_responses_total{node_id=\"t1\",path=\"small\","
				     "reason=\"small-body\"} 80000\n") != NULL);
	ASSERT_TRUE(strstr(out.data,
			   "\npagewire_response_bytes_total{node_id=\"t1\",path=\"small\","
			   "reason=\"small-body\"} 80000000\n") != NULL);
	metrics_free(m);
}

static void test_original_names(void)
{
	/* spec/cluster.md (o) */
	static const char *const names[] = {"ais_target_get_count{node_id=\"t1\"} 3\n",
					    "ais_target_get_bytes{node_id=\"t1\"} 0\n",
					    "ais_target_get_ns_total{",
					    "ais_target_put_bytes{",
					    "ais_target_err_get_count{",
					    "ais_target_err_put_cksum_count{",
					    "ais_target_err_kalive_count{",
					    "ais_target_err_http_write_count{",
					    "ais_target_uptime{",
					    "ais_target_state_flags{node_id=\"t1\"} 6\n",
					    "pagewire_redirects_total{"};
	autobuf struct buf out = BUF_INIT;
	size_t i;

	setup("t1", false);
	metrics_add(m, METRIC_GET_N, 3);
	metrics_add(NULL, METRIC_GET_N, 3);
	metrics_set_state_flags(m, 6);
	metrics_print(m, &out);
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		if (!strstr(out.data, names[i]))
			fprintf(stderr, "missing: %s\n", names[i]);
		ASSERT_TRUE(strstr(out.data, names[i]) != NULL);
	}
	ASSERT_TRUE(strstr(out.data, "# HELP ais_target_get_count GET object requests\n"
				     "# TYPE ais_target_get_count counter\n"
				     "ais_target_get_count{") == out.data);
	ASSERT_TRUE(strstr(out.data, "# TYPE ais_target_uptime gauge\n") != NULL);
	metrics_free(m);
}

static void test_gateway_names(void)
{
	autobuf struct buf out = BUF_INIT;

	setup("p\"1\\", true);
	metrics_print(m, &out);
	ASSERT_TRUE(strstr(out.data, "\nais_proxy_get_count{node_id=\"p\\\"1\\\\\"} 0\n") != NULL);
	ASSERT_TRUE(!strstr(out.data, "ais_target_"));
	ASSERT_TRUE(!strstr(out.data, "get_bytes"));
	metrics_free(m);
	metrics_free(NULL);
}

static void test_tracker_and_kinds(void)
{
	autobuf struct buf out = BUF_INIT;
	autojson struct json_object *o = NULL;
	int64_t v;

	setup("t1", false);
	metrics_add(m, METRIC_PUT_NS_TOTAL, UINT64_C(5000000000));
	metrics_add(m, METRIC_REDIRECT_N, 9);
	buf_char(&out, '{');
	metrics_print_tracker(m, &out);
	buf_char(&out, '}');
	ASSERT_TRUE(!strncmp(out.data, "{\"put.ns.total\":5000000000,\"up.ns.time\":", 40));
	ASSERT_EQ(json_parse(out.data, out.len, &o), 0);
	ASSERT_EQ(json_member_int(o, "up.ns.time", &v), 0);
	ASSERT_TRUE(v >= 0);
	buf_reset(&out);
	metrics_print_kinds(m, &out);
	json_object_put(o);
	o = NULL;
	ASSERT_EQ(json_parse(out.data, out.len, &o), 0);
	ASSERT_STR(json_member_str(o, "get.n"), "counter");
	ASSERT_STR(json_member_str(o, "put.size"), "size");
	ASSERT_STR(json_member_str(o, "lst.ns.total"), "total");
	ASSERT_STR(json_member_str(o, "state.flags"), "gauge");
	ASSERT_STR(json_member_str(o, "up.ns.time"), "special");
	metrics_free(m);
}

UNIT_MAIN("metrics", {"sum over threads", test_sum_over_threads},
	  {"original names", test_original_names}, {"gateway names", test_gateway_names},
	  {"tracker and kinds", test_tracker_and_kinds})
