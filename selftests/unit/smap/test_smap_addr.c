/* SPDX-License-Identifier: BSD-2-Clause */
/* smap_addr.c: the table of addresses while it grows and loses entries. */
#include "selftests/unit/unit.h"

#include "base/bits.h"
#include "smap/smap_impl.h"

#define NODES 3000

static void fill(struct smap_node *n, unsigned int i)
{
	char id[32];

	snprintf(id, sizeof(id), "node%05u", i);
	ASSERT_EQ(smap_node_init(n, id, SMAP_ROLE_TARGET), 0);
	ASSERT_EQ(smap_node_set_net(n, SMAP_NET_PUBLIC, "http", "A.example", (uint16_t)(i + 1)), 0);
	ASSERT_EQ(smap_node_set_net(n, SMAP_NET_DATA, "http", "b.example", (uint16_t)(i + 1)), 0);
}

/* A newcomer that has the public address of node @i on its control net. */
static const struct smap_node *who_has(const struct smap_addrs *t, unsigned int i)
{
	struct smap_node n;

	ASSERT_EQ(smap_node_init(&n, "newcomer", SMAP_ROLE_GATEWAY), 0);
	ASSERT_EQ(smap_node_set_net(&n, SMAP_NET_CONTROL, "http", "a.EXAMPLE", (uint16_t)(i + 1)),
		  0);
	return smap_addrs_clash(t, &n);
}

static void test_grow_and_remove(void)
{
	struct smap_node *nodes = calloc(NODES, sizeof(*nodes));
	struct smap_addrs t = {};
	unsigned int i;

	ASSERT_TRUE(nodes != NULL);
	ASSERT_TRUE(!who_has(&t, 0));
	for (i = 0; i < NODES; i++) {
		fill(&nodes[i], i);
		ASSERT_TRUE(!smap_addrs_clash(&t, &nodes[i]));
		ASSERT_EQ(smap_addrs_add(&t, &nodes[i]), 0);
		ASSERT_TRUE(!smap_addrs_clash(&t, &nodes[i]));
	}
	for (i = 0; i < NODES; i++)
		ASSERT_TRUE(who_has(&t, i) == &nodes[i]);
	for (i = 0; i < NODES; i += 2)
		smap_addrs_del(&t, &nodes[i]);
	for (i = 0; i < NODES; i++)
		ASSERT_TRUE(who_has(&t, i) == (i % 2 ? &nodes[i] : NULL));
	smap_addrs_deinit(&t);
	smap_addrs_deinit(&t);
	free(nodes);
}

/* Adding and removing for ever needs no more room than what is in it. */
static void test_bounded(void)
{
	struct smap_addrs t = {};
	struct smap_node n;
	unsigned int i;

	for (i = 0; i < 50000; i++) {
		fill(&n, i);
		ASSERT_EQ(smap_addrs_add(&t, &n), 0);
		smap_addrs_del(&t, &n);
	}
	ASSERT_EQ(t.cap, 64);
	smap_addrs_deinit(&t);
}

UNIT_MAIN("smap addresses", {"grow and remove", test_grow_and_remove}, {"bounded", test_bounded})
