/* SPDX-License-Identifier: BSD-2-Clause */
/* smap_node.c: what a record takes and how two compare. */
#include "selftests/unit/unit.h"

#include <errno.h>

#include "base/bits.h"
#include "smap/smap.h"

static struct smap_node node_of(const char *id)
{
	struct smap_node n;

	ASSERT_EQ(smap_node_init(&n, id, SMAP_ROLE_TARGET), 0);
	return n;
}

static void test_init(void)
{
	struct smap_node n = node_of("t1Kq8mXzA");

	ASSERT_HEX(n.digest, 17294988425395217457u);
	ASSERT_EQ(n.flags, 0);
	ASSERT_TRUE(!n.has_key && !n.net[SMAP_NET_PUBLIC].port);
	ASSERT_EQ(smap_node_init(&n, "short", SMAP_ROLE_TARGET), -EINVAL);
	ASSERT_EQ(smap_node_init(&n, "t1Kq8mXzA", SMAP_ROLE_NONE), -EINVAL);
	ASSERT_EQ(smap_node_init(&n, "t1Kq8mXzA", SMAP_ROLE_NR), -EINVAL);
}

static void test_urls(void)
{
	struct smap_node n = node_of("t1Kq8mXzA");
	const struct smap_net *net = &n.net[SMAP_NET_CONTROL];

	ASSERT_EQ(smap_node_set_net(&n, SMAP_NET_CONTROL, "http", "127.0.0.1", 9080), 0);
	ASSERT_STR(net->url, "http://127.0.0.1:9080");
	ASSERT_EQ(smap_node_set_net(&n, SMAP_NET_CONTROL, "https", "node-1.example_x.org", 443), 0);
	ASSERT_STR(net->url, "https://node-1.example_x.org:443");
	ASSERT_EQ(smap_node_set_net(&n, SMAP_NET_CONTROL, "http", "fd00::1", 65535), 0);
	ASSERT_STR(net->url, "http://[fd00::1]:65535");
	ASSERT_STR(net->host, "fd00::1");
}

static void test_bad_nets(void)
{
	static const char *const hosts[] = {"",	    "-a",  ".a",  "a b",  "a/b", "[::1]",   "a\"b",
					    "a\nb", "a@b", "::g", "a:80", "a%b", "\303\274"};
	struct smap_node n = node_of("t1Kq8mXzA");
	char long_host[SMAP_HOST_MAX + 2];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(hosts); i++)
		ASSERT_EQ(smap_node_set_net(&n, SMAP_NET_DATA, "http", hosts[i], 1), -EINVAL);
	ASSERT_EQ(smap_node_set_net(&n, SMAP_NET_DATA, "http", "h", 0), -EINVAL);
	ASSERT_EQ(smap_node_set_net(&n, SMAP_NET_DATA, "ftp", "h", 1), -EINVAL);
	ASSERT_EQ(smap_node_set_net(&n, SMAP_NET_DATA, "HTTP", "h", 1), -EINVAL);
	ASSERT_EQ(smap_node_set_net(&n, SMAP_NET_NR, "http", "h", 1), -EINVAL);
	ASSERT_EQ(n.net[SMAP_NET_DATA].port, 0);
	memset(long_host, 'h', sizeof(long_host));
	long_host[SMAP_HOST_MAX + 1] = 0;
	ASSERT_EQ(smap_node_set_net(&n, SMAP_NET_DATA, "http", long_host, 1), -EINVAL);
	long_host[SMAP_HOST_MAX] = 0;
	ASSERT_EQ(smap_node_set_net(&n, SMAP_NET_DATA, "https", long_host, 65535), 0);
	ASSERT_EQ(strlen(n.net[SMAP_NET_DATA].url), 8 + SMAP_HOST_MAX + 6);
}

static void test_same_net(void)
{
	struct smap_node a = node_of("t1Kq8mXzA"), b = node_of("t2Vr5nYbC");

	ASSERT_TRUE(smap_node_same_net(&a, &b));
	smap_node_set_net(&a, SMAP_NET_PUBLIC, "http", "Host-A", 80);
	ASSERT_TRUE(!smap_node_same_net(&a, &b));
	smap_node_set_net(&b, SMAP_NET_PUBLIC, "https", "host-a", 80);
	ASSERT_TRUE(smap_node_same_net(&a, &b));
	smap_node_set_net(&a, SMAP_NET_CONTROL, "http", "host-a", 81);
	ASSERT_TRUE(!smap_node_same_net(&a, &b));
	/* b names the fall-back of data, a does not */
	smap_node_set_net(&b, SMAP_NET_CONTROL, "http", "host-a", 81);
	smap_node_set_net(&b, SMAP_NET_DATA, "http", "host-a", 81);
	ASSERT_TRUE(smap_node_same_net(&a, &b));
	smap_node_set_net(&b, SMAP_NET_DATA, "http", "host-a", 82);
	ASSERT_TRUE(!smap_node_same_net(&a, &b));
}

static void test_same_key(void)
{
	struct smap_node a = node_of("t1Kq8mXzA"), b = node_of("t2Vr5nYbC");

	ASSERT_TRUE(smap_node_same_key(&a, &b));
	a.has_key = true;
	ASSERT_TRUE(!smap_node_same_key(&a, &b));
	b.has_key = true;
	ASSERT_TRUE(smap_node_same_key(&a, &b));
	b.key[31] = 1;
	ASSERT_TRUE(!smap_node_same_key(&a, &b));
}

static void test_name(void)
{
	struct smap_node n = node_of("t1Kq8mXzA");
	char out[SMAP_ID_MAX + 4];

	ASSERT_STR(smap_node_name(&n, out, sizeof(out)), "t[t1Kq8mXzA]");
	n.role = SMAP_ROLE_GATEWAY;
	ASSERT_STR(smap_node_name(&n, out, sizeof(out)), "p[t1Kq8mXzA]");
	memset(n.id, 'x', SMAP_ID_MAX);
	n.id[SMAP_ID_MAX] = 0;
	ASSERT_EQ(strlen(smap_node_name(&n, out, sizeof(out))), SMAP_ID_MAX + 3);
}

UNIT_MAIN("smap records", {"init", test_init}, {"URLs", test_urls}, {"bad nets", test_bad_nets},
	  {"same net", test_same_net}, {"same key", test_same_key}, {"name", test_name})
