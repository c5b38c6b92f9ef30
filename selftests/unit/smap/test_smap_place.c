/* SPDX-License-Identifier: BSD-2-Clause */
/* smap_place.c against values that were computed and observed elsewhere. */
#include "selftests/unit/unit.h"

#include "base/bits.h"
#include "smap/smap.h"

struct vector {
	const char *uname;
	uint64_t digest;
	uint64_t weight[3]; /* of tgtWire_A, _B, _C */
	int target, path; /* who wins among them and among /mnt/d0, d1, d2 */
};

/* Placements of a running cluster of the original. */
static const struct vector vectors[] = {
	{"ais/@#/hrw/a",
	 0x4e658973cc966935,
	 {0x72678eaf8fa7a858, 0xa0cdaa004374f0b5, 0xc02b496bf82c8b6f},
	 2,
	 1},
	{"ais/@#/hrw/a b",
	 0xad7df2238023c83b,
	 {0x971fbc922b291039, 0xc603ae6c7ae70936, 0xc5e7deb3bf118e8e},
	 1,
	 1},
	{"ais/@#/hrw/\303\274n\303\257/c\303\270d\303\251",
	 0x2ae78b3b00107cf9,
	 {0xe31a2fd36349f266, 0xb386430f651416c1, 0xa5a70df5b2052fbc},
	 0,
	 2},
	{"ais/@#/hrw/%41",
	 0x56af399b1f53f653,
	 {0xbce181b2fa26132c, 0x5f6ccbc281280cd6, 0x19a890a9af0d9dba},
	 0,
	 0},
	{"ais/@#/hrw/100%",
	 0xa06cbce82cb443f0,
	 {0xfdd38e1fd28269f7, 0x2e44673a4f7a9cfb, 0xc5645e9c7ddf0d0f},
	 0,
	 0},
	{"ais/@#/hrw/q?m=1",
	 0x56cf06bbe7fc96b0,
	 {0x8631a67a2ac10605, 0x8e80624c6901f44a, 0xdc474588e6e8bb0f},
	 2,
	 1},
	{"ais/@#/hrw/h#sh",
	 0x1d9ee9c6b7ecb73c,
	 {0xddfce00f873ce8c2, 0x5c067f2173fc14be, 0x83d1bb2b3a2546a1},
	 0,
	 2},
	{"ais/@#/hrw/\346\227\245\346\234\254\350\252\236/\346\226\207",
	 0x4f9699bad87ba0de,
	 {0xb8475e2a41fc7708, 0x22908c2d781b1cfa, 0x66c8e5bca90d9f6e},
	 0,
	 1},
	{"ais/@#/hrw/semi;colon",
	 0x6116fbb8982b90e9,
	 {0xdfc7d817af2f71bf, 0xaad36c87d70d1e0d, 0x29c662bf4e287fc2},
	 0,
	 1},
};

static const char *const target_ids[] = {"tgtWire_A", "tgtWire_B", "tgtWire_C"};
static const uint64_t target_digests[] = {UINT64_C(4160650550051236508), 17616582937754374799u,
					  14813806778440392256u};

/* A map of @n targets, target i at port 9000 + i; those of @idle (a bit each) with @flags. */
static struct smap *map_of(const char *const *ids, size_t n, uint32_t idle, uint64_t flags)
{
	struct smap_edit *e;
	struct smap_node node;
	struct smap *m;
	size_t i;

	ASSERT_EQ(smap_edit_new(NULL, &e), 0);
	for (i = 0; i < n; i++) {
		ASSERT_EQ(smap_node_init(&node, ids[i], SMAP_ROLE_TARGET), 0);
		ASSERT_EQ(smap_node_set_net(&node, SMAP_NET_PUBLIC, "http", "127.0.0.1",
					    (uint16_t)(9000 + i)),
			  0);
		node.flags = idle & BIT(i) ? flags : 0;
		ASSERT_EQ(smap_edit_put_node(e, &node), 0);
	}
	ASSERT_EQ(smap_edit_freeze(e, &m), 0);
	return m;
}

static uint64_t digest(const char *s)
{
	return smap_digest(s, strlen(s));
}

static void test_hashes(void)
{
	ASSERT_HEX(smap_xhash(0), 1905207664160064169u);
	ASSERT_HEX(smap_xhash(0), 0x1a70a846bd9cc2a9);
	ASSERT_HEX(smap_xhash(1), 0xc5883e370b0926c3);
	ASSERT_HEX(smap_xhash(4573842), 5026071747115404967u);
	ASSERT_HEX(digest(""), 0xaaa3575891557d33);
	ASSERT_HEX(digest("abc"), 0xa89f935f7bdc1f8c);
	ASSERT_HEX(digest("ais/@#/bck/obj"), 0x69fb0b85594a59bb);
	ASSERT_HEX(digest("ais/@#/abc/dir/obj-1"), 8142563100421934502u);
	ASSERT_HEX(digest("t1Kq8mXzA"), 17294988425395217457u);
	ASSERT_HEX(digest("t2Vr5nYbC"), 3445317686340572736u);
}

static void test_weights(void)
{
	uint64_t d = digest("ais/@#/abc/dir/obj-1"), obj = digest("ais/@#/bck/obj");

	ASSERT_HEX(smap_xhash(digest("t1Kq8mXzA") ^ d), 11826329585407143613u);
	ASSERT_HEX(smap_xhash(digest("t2Vr5nYbC") ^ d), 3521631592631525347u);
	ASSERT_HEX(smap_xhash(digest("tgtAAAAA1") ^ obj), 0x4d3ba74fee43fef3);
	ASSERT_HEX(smap_xhash(digest("tgtBBBBB2") ^ obj), 0xc5b2af520ad25eee);
	ASSERT_HEX(smap_xhash(digest("tgtCCCCC3") ^ obj), 0xbb10df2c0988a23f);
	ASSERT_HEX(smap_xhash(digest("/mnt/d0") ^ obj), 0xe17e7cef221f9b07);
	ASSERT_HEX(smap_xhash(digest("/mnt/d1") ^ obj), 0x60a9bad712886232);
}

static void test_small_examples(void)
{
	static const char *const abc[] = {"tgtAAAAA1", "tgtBBBBB2", "tgtCCCCC3"};
	static const char *const two[] = {"t2Vr5nYbC", "t1Kq8mXzA"};
	struct smap *m = map_of(abc, 3, 0, 0);

	ASSERT_STR(smap_owner(m, digest("ais/@#/bck/obj"))->id, "tgtBBBBB2");
	smap_put(m);
	m = map_of(two, 2, 0, 0);
	ASSERT_STR(smap_owner(m, digest("ais/@#/abc/dir/obj-1"))->id, "t1Kq8mXzA");
	smap_put(m);
}

static void test_vectors_targets(void)
{
	struct smap *m = map_of(target_ids, 3, 0, 0);
	size_t i, t;

	for (t = 0; t < 3; t++)
		ASSERT_HEX(smap_find(m, target_ids[t])->digest, target_digests[t]);
	for (i = 0; i < ARRAY_SIZE(vectors); i++) {
		const struct vector *v = &vectors[i];

		ASSERT_HEX(digest(v->uname), v->digest);
		for (t = 0; t < 3; t++)
			ASSERT_HEX(smap_xhash(target_digests[t] ^ v->digest), v->weight[t]);
		ASSERT_STR(smap_owner(m, v->digest)->id, target_ids[v->target]);
	}
	smap_put(m);
}

static void test_vectors_paths(void)
{
	const uint64_t paths[] = {digest("/mnt/d0"), digest("/mnt/d1"), digest("/mnt/d2")};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(vectors); i++)
		ASSERT_EQ(smap_owner_path(paths, 3, vectors[i].digest), vectors[i].path);
}

/* Whoever is in maintenance or decommission loses its names to the next weight. */
static void test_inactive(void)
{
	static const uint64_t flags[] = {SMAP_F_MAINTENANCE, SMAP_F_DECOMMISSION};
	size_t i, f;

	for (i = 0; i < ARRAY_SIZE(vectors); i++) {
		const struct vector *v = &vectors[i];
		int a = (v->target + 1) % 3, b = (v->target + 2) % 3;
		int next = v->weight[a] > v->weight[b] ? a : b;

		for (f = 0; f < ARRAY_SIZE(flags); f++) {
			struct smap *m = map_of(target_ids, 3, BIT(v->target), flags[f]);

			ASSERT_EQ(smap_active_targets(m), 2);
			ASSERT_EQ(smap_count(m, SMAP_ROLE_TARGET), 3);
			ASSERT_STR(smap_owner(m, v->digest)->id, target_ids[next]);
			smap_put(m);
		}
	}
}

static void test_nobody(void)
{
	struct smap *m = map_of(target_ids, 3, 7, SMAP_F_MAINTENANCE);

	ASSERT_EQ(smap_active_targets(m), 0);
	ASSERT_TRUE(!smap_owner(m, 1));
	smap_put(m);
	m = map_of(target_ids, 0, 0, 0);
	ASSERT_TRUE(!smap_owner(m, 1));
	smap_put(m);
}

static void test_tie(void)
{
	static const uint64_t same[] = {7, 7, 7};

	ASSERT_EQ(smap_owner_path(same, 3, 12345), 0);
	ASSERT_EQ(smap_owner_path(same, 1, 12345), 0);
}

UNIT_MAIN("smap placement", {"hashes", test_hashes}, {"weights", test_weights},
	  {"small examples", test_small_examples}, {"vectors, targets", test_vectors_targets},
	  {"vectors, mountpaths", test_vectors_paths}, {"inactive targets", test_inactive},
	  {"nobody", test_nobody}, {"tie", test_tie})
