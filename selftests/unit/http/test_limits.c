/* SPDX-License-Identifier: BSD-2-Clause */
/* Limits from the config, and what the host's descriptors make of them. */
#include "../unit.h"

#include <sys/resource.h>

#include "config.h"
#include "http/http.h"

static struct config *config_of(const char *key, const char *value)
{
	struct config *c = NULL, *with = NULL;
	char err[512] = "";

	ASSERT_EQ(config_default(&c), 0);
	ASSERT_EQ(config_with(c, key, value, &with, err, sizeof(err)), 0);
	config_put(c);
	return with;
}

static void test_defaults(void)
{
	struct config *c = NULL;
	struct http_limits l;

	ASSERT_EQ(config_default(&c), 0);
	l = http_limits_of(c);
	ASSERT_EQ(l.max_head, 65536);
	ASSERT_EQ(l.max_headers, 128);
	ASSERT_EQ(l.head_ms, 16000);
	ASSERT_EQ(l.body_ms, 60000);
	ASSERT_EQ(l.idle_ms, 75000);
	ASSERT_EQ(l.drain_bytes, 1 << 30);
	ASSERT_EQ(l.drain_ms, 30000);
	ASSERT_EQ(l.max_conns, 10000);
	ASSERT_EQ(l.max_conns_peer, 8192);
	ASSERT_EQ(l.max_requests, 8192);
	ASSERT_EQ(l.max_memory, 256 << 20);
	config_put(c);
}

static void test_sinks(void)
{
	static const struct {
		const char *threads;
		size_t sinks;
	} rows[] = {{"1", 0}, {"2", 1}, {"4", 3}, {"8", 6}, {"64", 48}};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct config *c = config_of("pool.io_threads", rows[i].threads);

		ASSERT_EQ(http_limits_of(c).max_sinks, rows[i].sinks);
		config_put(c);
	}
}

/* Less than half of the descriptors, and the soft limit is no obstacle. */
static void test_descriptors(void)
{
	static const struct {
		rlim_t soft, hard;
		size_t conns;
	} rows[] = {{128, 1024, 448}, {256, 256, 64}, {64, 64, 16}};
	struct config *c = NULL;
	struct rlimit now;
	size_t i;

	ASSERT_EQ(config_default(&c), 0);
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct rlimit r = {rows[i].soft, rows[i].hard};

		ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &r), 0);
		ASSERT_EQ(http_limits_of(c).max_conns_all, rows[i].conns);
		ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &now), 0);
		ASSERT_EQ(now.rlim_cur, rows[i].hard);
	}
	config_put(c);
}

UNIT_MAIN("http/limits", {"defaults", test_defaults}, {"sinks", test_sinks},
	  {"descriptors", test_descriptors})
