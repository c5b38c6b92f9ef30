/* SPDX-License-Identifier: BSD-2-Clause */
/* smap.c: lookup, order and life time; a large map. */
#include "selftests/unit/unit.h"

#include <pthread.h>

#include "base/bits.h"
#include "base/text.h"
#include "smap/smap.h"

#define MANY 10000

static void add(struct smap_edit *e, enum smap_role role, const char *id, unsigned int port)
{
	struct smap_node n;

	ASSERT_EQ(smap_node_init(&n, id, role), 0);
	ASSERT_EQ(smap_node_set_net(&n, SMAP_NET_PUBLIC, "http", "h", (uint16_t)port), 0);
	ASSERT_EQ(smap_edit_put_node(e, &n), 0);
}

static struct smap *small_map(void)
{
	struct smap_edit *e;
	struct smap *m;

	ASSERT_EQ(smap_edit_new(NULL, &e), 0);
	add(e, SMAP_ROLE_TARGET, "target_c", 3);
	add(e, SMAP_ROLE_TARGET, "target_a", 1);
	add(e, SMAP_ROLE_GATEWAY, "gateway1", 10);
	add(e, SMAP_ROLE_TARGET, "Target_B", 2);
	ASSERT_EQ(smap_edit_set_primary(e, "gateway1"), 0);
	ASSERT_EQ(smap_edit_set_identity(e, "u7WqPz1aB", "2026-01-01 00:00:00"), 0);
	ASSERT_EQ(smap_edit_freeze(e, &m), 0);
	return m;
}

static void test_lookup(void)
{
	struct smap *m = small_map();

	ASSERT_EQ(smap_count(m, SMAP_ROLE_TARGET), 3);
	ASSERT_EQ(smap_count(m, SMAP_ROLE_GATEWAY), 1);
	ASSERT_EQ(smap_count(m, SMAP_ROLE_NONE), 0);
	ASSERT_STR(smap_at(m, SMAP_ROLE_TARGET, 0)->id, "Target_B");
	ASSERT_STR(smap_at(m, SMAP_ROLE_TARGET, 1)->id, "target_a");
	ASSERT_STR(smap_at(m, SMAP_ROLE_TARGET, 2)->id, "target_c");
	ASSERT_EQ(smap_find(m, "target_c")->net[SMAP_NET_PUBLIC].port, 3);
	ASSERT_EQ(smap_find(m, "gateway1")->role, SMAP_ROLE_GATEWAY);
	ASSERT_TRUE(!smap_find(m, "target_b"));
	ASSERT_TRUE(!smap_find(m, ""));
	ASSERT_TRUE(!smap_find(m, "zzzzzzzzz"));
	ASSERT_STR(smap_primary(m)->id, "gateway1");
	ASSERT_STR(smap_uuid(m), "u7WqPz1aB");
	ASSERT_STR(smap_creation_time(m), "2026-01-01 00:00:00");
	ASSERT_EQ(smap_version(m), 1);
	smap_put(m);
}

static void test_references(void)
{
	struct smap *m = small_map(), *again = smap_get(m);
	const struct smap_node *n = smap_find(m, "target_a");
	struct smap_edit *e;
	struct smap *next;

	ASSERT_TRUE(again == m);
	smap_put(m);
	ASSERT_STR(n->id, "target_a");
	/* a new version shares the records, and keeps them when the old one goes */
	ASSERT_EQ(smap_edit_new(again, &e), 0);
	ASSERT_EQ(smap_edit_freeze(e, &next), 0);
	smap_put(again);
	ASSERT_TRUE(smap_find(next, "target_a") == n);
	ASSERT_STR(n->id, "target_a");
	smap_put(next);
	ASSERT_TRUE(!smap_get(NULL));
	smap_put(NULL);
}

/* Takes and drops references, and makes versions of the map, beside other threads. */
static void *churn(void *arg)
{
	struct smap *m = arg, *next;
	struct smap_edit *e;
	int i;

	for (i = 0; i < 2000; i++) {
		smap_put(smap_get(m));
		if (smap_edit_new(m, &e) < 0)
			return m;
		smap_edit_del_node(e, "target_a");
		if (smap_edit_freeze(e, &next) < 0)
			return m;
		smap_put(next);
	}
	smap_put(m);
	return NULL;
}

static void test_threads(void)
{
	struct smap *m = small_map();
	pthread_t t[4];
	void *failed;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(t); i++)
		ASSERT_EQ(pthread_create(&t[i], NULL, churn, smap_get(m)), 0);
	for (i = 0; i < ARRAY_SIZE(t); i++) {
		ASSERT_EQ(pthread_join(t[i], &failed), 0);
		ASSERT_TRUE(!failed);
	}
	ASSERT_EQ(smap_count(m, SMAP_ROLE_TARGET), 3);
	ASSERT_STR(smap_find(m, "target_a")->id, "target_a");
	smap_put(m);
}

/* JSON of a map of @n targets, IDs out of order, written by hand rather than by the library. */
static void print_many(struct buf *out, unsigned int n)
{
	unsigned int i, k;

	buf_str(out, "{\"pmap\":{},\"tmap\":{");
	for (i = 0; i < n; i++) {
		k = (i * 7919) % n; /* 7919 is prime and no factor of n */
		buf_fmt(out,
			"%s\"target%05u\":{\"public_net\":{\"node_ip_addr\":\"10.1.%u.%u\","
			"\"daemon_port\":\"8081\",\"direct_url\":\"http://10.1.%u.%u:8081\"},"
			"\"intra_control_net\":{\"node_ip_addr\":\"10.2.%u.%u\","
			"\"daemon_port\":\"9081\"},\"daemon_type\":\"target\","
			"\"daemon_id\":\"target%05u\",\"flags\":0}",
			i ? "," : "", k, k / 250, k % 250, k / 250, k % 250, k / 250, k % 250, k);
	}
	buf_str(out, "},\"version\":\"5\"}");
}

/*
 * The limits are of processor time, ten times above what a table and a sorted list need, and far
 * below what comparing each node with each other would take.
 */
static void test_many(void)
{
	autobuf struct buf text = BUF_INIT;
	int64_t begin, loaded, found;
	char id[32], err[256] = "";
	struct smap *m;
	unsigned int i;

	print_many(&text, MANY);
	begin = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	ASSERT_EQ(smap_parse(text.data, text.len, &m, err, sizeof(err)), 0);
	loaded = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	for (i = 0; i < MANY; i++) {
		snprintf(id, sizeof(id), "target%05u", i);
		ASSERT_STR(smap_find(m, id)->id, id);
	}
	found = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	printf("(%d targets: load %lld us, look up %lld ns each) ", MANY,
	       (long long)(loaded - begin) / 1000, (long long)(found - loaded) / MANY);
	ASSERT_TRUE(loaded - begin < 5000000000);
	ASSERT_TRUE(found - loaded < 300000000);
	ASSERT_EQ(smap_active_targets(m), MANY);
	ASSERT_STR(smap_at(m, SMAP_ROLE_TARGET, MANY - 1)->id, "target09999");
	smap_put(m);
}

/* Every target of a large map gets its share of names: within 6 sigma of the mean. */
static void test_spread(void)
{
	autobuf struct buf text = BUF_INIT;
	unsigned int got[101] = {}, i;
	char name[64], err[256];
	struct smap *m;

	print_many(&text, ARRAY_SIZE(got));
	ASSERT_EQ(smap_parse(text.data, text.len, &m, err, sizeof(err)), 0);
	for (i = 0; i < 101000; i++) {
		int len = snprintf(name, sizeof(name), "ais/@#/spread/dir/%u", i);
		const struct smap_node *n = smap_owner(m, smap_digest(name, (size_t)len));

		got[atoi(n->id + 6)]++;
	}
	for (i = 0; i < ARRAY_SIZE(got); i++)
		ASSERT_TRUE(got[i] > 1000 - 190 && got[i] < 1000 + 190);
	smap_put(m);
}

UNIT_MAIN("smap", {"lookup", test_lookup}, {"references", test_references},
	  {"threads", test_threads}, {"ten thousand targets", test_many}, {"spread", test_spread})
