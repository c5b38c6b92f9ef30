/* SPDX-License-Identifier: BSD-2-Clause */
/* smap_edit.c: what each change does, and what is refused. */
#include "selftests/unit/unit.h"

#include <errno.h>

#include "smap/smap.h"

/* Host "h", public @port, control @port + 1000. */
static struct smap_node node_of(enum smap_role role, const char *id, uint16_t port)
{
	struct smap_node n;

	ASSERT_EQ(smap_node_init(&n, id, role), 0);
	ASSERT_EQ(smap_node_set_net(&n, SMAP_NET_PUBLIC, "http", "h", port), 0);
	ASSERT_EQ(smap_node_set_net(&n, SMAP_NET_CONTROL, "http", "h", (uint16_t)(port + 1000)), 0);
	return n;
}

static int put(struct smap_edit *e, enum smap_role role, const char *id, uint16_t port)
{
	struct smap_node n = node_of(role, id, port);

	return smap_edit_put_node(e, &n);
}

static struct smap_edit *begin(const struct smap *from)
{
	struct smap_edit *e;

	ASSERT_EQ(smap_edit_new(from, &e), 0);
	return e;
}

static struct smap *end(struct smap_edit *e)
{
	struct smap *m;

	ASSERT_EQ(smap_edit_freeze(e, &m), 0);
	return m;
}

/* One gateway, the primary, and two targets. Version 1. */
static struct smap *base_map(void)
{
	struct smap_edit *e = begin(NULL);

	ASSERT_EQ(put(e, SMAP_ROLE_GATEWAY, "gateway1", 80), 0);
	ASSERT_EQ(put(e, SMAP_ROLE_TARGET, "target_1", 81), 0);
	ASSERT_EQ(put(e, SMAP_ROLE_TARGET, "target_2", 82), 0);
	ASSERT_EQ(smap_edit_set_primary(e, "gateway1"), 0);
	return end(e);
}

static void test_versions(void)
{
	struct smap *a = end(begin(NULL)), *b, *c;
	struct smap_edit *e;

	ASSERT_EQ(smap_version(a), 1);
	b = end(begin(a));
	ASSERT_EQ(smap_version(b), 2);
	e = begin(b);
	smap_edit_set_version(e, 0);
	c = end(e);
	ASSERT_EQ(smap_version(c), 0);
	smap_put(a);
	smap_put(b);
	smap_put(c);
}

static void test_source_is_untouched(void)
{
	struct smap *a = base_map(), *b;
	struct smap_edit *e = begin(a);

	ASSERT_EQ(smap_edit_del_node(e, "target_1"), 0);
	ASSERT_EQ(put(e, SMAP_ROLE_TARGET, "target_2", 92), 0);
	ASSERT_EQ(put(e, SMAP_ROLE_TARGET, "target_3", 83), 0);
	b = end(e);
	ASSERT_EQ(smap_count(a, SMAP_ROLE_TARGET), 2);
	ASSERT_EQ(smap_find(a, "target_2")->net[SMAP_NET_PUBLIC].port, 82);
	ASSERT_TRUE(smap_find(a, "target_1") != NULL);
	ASSERT_EQ(smap_count(b, SMAP_ROLE_TARGET), 2);
	ASSERT_EQ(smap_find(b, "target_2")->net[SMAP_NET_PUBLIC].port, 92);
	ASSERT_TRUE(!smap_find(b, "target_1"));
	ASSERT_STR(smap_primary(b)->id, "gateway1");
	smap_put(a);
	smap_put(b);
}

static void test_primary(void)
{
	struct smap *a = base_map(), *b;
	struct smap_edit *e = begin(a);

	ASSERT_EQ(smap_edit_set_primary(e, "target_1"), -ENOENT);
	ASSERT_EQ(smap_edit_set_primary(e, "nobody_here"), -ENOENT);
	/* a restart replaces the record: it stays the primary, and is the new record */
	ASSERT_EQ(put(e, SMAP_ROLE_GATEWAY, "gateway1", 90), 0);
	b = end(e);
	ASSERT_EQ(smap_primary(b)->net[SMAP_NET_PUBLIC].port, 90);
	smap_put(a);
	e = begin(b);
	ASSERT_EQ(smap_edit_del_node(e, "gateway1"), 0);
	a = end(e);
	ASSERT_TRUE(!smap_primary(a));
	smap_put(a);
	e = begin(b);
	ASSERT_EQ(put(e, SMAP_ROLE_TARGET, "gateway1", 90), 0);
	a = end(e);
	ASSERT_TRUE(!smap_primary(a));
	ASSERT_EQ(smap_count(a, SMAP_ROLE_GATEWAY), 0);
	ASSERT_EQ(smap_count(a, SMAP_ROLE_TARGET), 3);
	smap_put(a);
	smap_put(b);
}

static void test_removal(void)
{
	struct smap *a = base_map();
	struct smap_edit *e = begin(a);

	ASSERT_EQ(smap_edit_del_node(e, "target_9"), -ENOENT);
	ASSERT_EQ(smap_edit_del_node(e, "target_1"), 0);
	ASSERT_EQ(smap_edit_del_node(e, "target_1"), -ENOENT);
	smap_edit_free(e);
	smap_edit_free(NULL);
	smap_put(a);
}

/* Addresses of others are refused on any net and in any case, and are free once given up. */
static void test_addresses(void)
{
	struct smap *a = base_map();
	struct smap_edit *e = begin(a);
	struct smap_node n;

	ASSERT_EQ(put(e, SMAP_ROLE_TARGET, "target_3", 81), -EEXIST);
	ASSERT_EQ(put(e, SMAP_ROLE_TARGET, "target_3", 1081), -EEXIST);
	ASSERT_EQ(put(e, SMAP_ROLE_TARGET, "target_2", 81), -EEXIST);
	n = node_of(SMAP_ROLE_TARGET, "target_3", 83);
	ASSERT_EQ(smap_node_set_net(&n, SMAP_NET_DATA, "https", "H", 1080), 0);
	ASSERT_EQ(smap_edit_put_node(e, &n), -EEXIST);
	ASSERT_EQ(smap_node_set_net(&n, SMAP_NET_DATA, "https", "i", 1080), 0);
	ASSERT_EQ(smap_edit_put_node(e, &n), 0);
	/* its own addresses it may keep, or swap */
	ASSERT_EQ(smap_edit_put_node(e, &n), 0);
	ASSERT_EQ(smap_node_set_net(&n, SMAP_NET_PUBLIC, "http", "h", 1083), 0);
	ASSERT_EQ(smap_node_set_net(&n, SMAP_NET_CONTROL, "http", "h", 83), 0);
	ASSERT_EQ(smap_edit_put_node(e, &n), 0);
	ASSERT_EQ(smap_edit_del_node(e, "target_1"), 0);
	ASSERT_EQ(put(e, SMAP_ROLE_GATEWAY, "gateway2", 81), 0);
	smap_edit_free(e);
	smap_put(a);
}

static void test_incomplete(void)
{
	struct smap_edit *e = begin(NULL);
	struct smap_node n = node_of(SMAP_ROLE_TARGET, "target_1", 81);

	n.role = SMAP_ROLE_NONE;
	ASSERT_EQ(smap_edit_put_node(e, &n), -EINVAL);
	n.role = SMAP_ROLE_TARGET;
	n.id[0] = '-';
	ASSERT_EQ(smap_edit_put_node(e, &n), -EINVAL);
	n.id[0] = 't';
	n.net[SMAP_NET_DATA] = n.net[SMAP_NET_PUBLIC];
	ASSERT_EQ(smap_edit_put_node(e, &n), -EINVAL);
	n.net[SMAP_NET_DATA].port = 0;
	n.net[SMAP_NET_CONTROL] = n.net[SMAP_NET_PUBLIC];
	ASSERT_EQ(smap_edit_put_node(e, &n), -EINVAL);
	n.net[SMAP_NET_CONTROL].port = 0;
	n.net[SMAP_NET_PUBLIC].port = 0;
	ASSERT_EQ(smap_edit_put_node(e, &n), -EINVAL);
	smap_edit_free(e);
}

/* What is derived is filled in: the digest always, data from control. */
static void test_derived(void)
{
	struct smap_edit *e = begin(NULL);
	struct smap_node n = node_of(SMAP_ROLE_TARGET, "t1Kq8mXzA", 81);
	struct smap *m;

	n.digest = 5;
	ASSERT_EQ(smap_edit_put_node(e, &n), 0);
	m = end(e);
	ASSERT_HEX(smap_find(m, n.id)->digest, 17294988425395217457u);
	ASSERT_EQ(smap_find(m, n.id)->net[SMAP_NET_DATA].port, 1081);
	ASSERT_STR(smap_find(m, n.id)->net[SMAP_NET_DATA].url, "http://h:1081");
	smap_put(m);
}

static void test_identity(void)
{
	struct smap_edit *e = begin(NULL);
	struct smap *m, *next;

	ASSERT_EQ(smap_edit_set_identity(e, "", "2026-01-01 00:00:00"), -EINVAL);
	ASSERT_EQ(smap_edit_set_identity(e, "a b", ""), -EINVAL);
	ASSERT_EQ(smap_edit_set_identity(e, "u7WqPz1aB", "a\nb"), -EINVAL);
	ASSERT_EQ(smap_edit_set_identity(e, "u7WqPz1aB", NULL), -EINVAL);
	ASSERT_EQ(smap_edit_set_identity(e, "u7WqPz1aB",
					 "0123456789012345678901234567890123456789"),
		  -EINVAL);
	ASSERT_EQ(smap_edit_set_identity(e, "0123456789-longer", "2026-01-01 00:00:00 later"), 0);
	ASSERT_EQ(smap_edit_set_identity(e, "u7WqPz1aB", "2026-01-01 00:00:00"), 0);
	m = end(e);
	next = end(begin(m));
	ASSERT_STR(smap_uuid(next), "u7WqPz1aB");
	ASSERT_STR(smap_creation_time(next), "2026-01-01 00:00:00");
	smap_put(m);
	smap_put(next);
}

static void test_limit(void)
{
	struct smap_edit *e = begin(NULL);
	char id[32];
	int i;

	for (i = 0; i <= SMAP_NODES_MAX; i++) {
		enum smap_role role = i % 2 ? SMAP_ROLE_TARGET : SMAP_ROLE_GATEWAY;
		struct smap_node n;

		snprintf(id, sizeof(id), "node%05d", i);
		ASSERT_EQ(smap_node_init(&n, id, role), 0);
		ASSERT_EQ(smap_node_set_net(&n, SMAP_NET_PUBLIC, "http", "h", (uint16_t)(i + 1)),
			  0);
		ASSERT_EQ(smap_edit_put_node(e, &n), i < SMAP_NODES_MAX ? 0 : -E2BIG);
	}
	/* a replacement is no addition */
	ASSERT_EQ(put(e, SMAP_ROLE_TARGET, "node00001", 30000), 0);
	smap_put(end(e));
}

/* Many replacements in one edit leave no dead entries that fill the table of addresses. */
static void test_many_replacements(void)
{
	struct smap_edit *e = begin(NULL);
	struct smap *m;
	int i;

	for (i = 0; i < 20000; i++) {
		ASSERT_EQ(put(e, SMAP_ROLE_TARGET, "target_1", (uint16_t)(1 + i % 900)), 0);
		ASSERT_EQ(put(e, SMAP_ROLE_TARGET, "target_2", (uint16_t)(3000 + i % 900)), 0);
	}
	m = end(e);
	ASSERT_EQ(smap_count(m, SMAP_ROLE_TARGET), 2);
	smap_put(m);
}

UNIT_MAIN("smap edits", {"versions", test_versions},
	  {"the source stays as it was", test_source_is_untouched}, {"primary", test_primary},
	  {"removal", test_removal}, {"addresses", test_addresses}, {"incomplete", test_incomplete},
	  {"derived", test_derived}, {"identity", test_identity}, {"limit", test_limit},
	  {"many replacements", test_many_replacements})
