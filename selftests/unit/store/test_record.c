/* SPDX-License-Identifier: BSD-2-Clause */
/* Records as bytes: the documented layout, damage of each kind, packed pairs. */
#include "selftests/unit/unit.h"

#include <errno.h>

#include "base/buf.h"
#include "store/codec.h"

static const struct objkey key = {7, "dir/name", 8};

static struct store_rec example(void)
{
	struct store_rec r = {.size = 0x1122334455,
			      .version = 3,
			      .seq = 99,
			      .mtime_ns = 1000000001,
			      .atime_ns = -1,
			      .flags = STORE_F_TRAILER,
			      .ctype = CKSUM_XXHASH2,
			      .cksum = "44bc2cf5ad770999",
			      .blob = "0a/0123456789abcdef-fedcba9876543210",
			      .custom_len = 4};

	memcpy(r.custom, "k\0v", 4);
	return r;
}

static void test_layout(void)
{
	/* written down by hand from Documentation/disk-format.rst */
	static const unsigned char want[] = {
		1,    2,    0,	  1,	0,    4,    36,	  8,
		0,    0,    0,	  0x11, 0x22, 0x33, 0x44, 0x55, /* to size */
		0,    0,    0,	  0,	0,    0,    0,	  3,
		0,    0,    0,	  0,	0,    0,    0,	  99, /* version, seq */
		0,    0,    0,	  0,	0x3b, 0x9a, 0xca, 0x01, /* mtime */
		0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, /* atime */
		0x44, 0xbc, 0x2c, 0xf5, 0xad, 0x77, 0x09, 0x99};
	struct store_rec r = example(), back = {};
	autobuf struct buf b = BUF_INIT;

	record_encode(&key, &r, &b);
	ASSERT_EQ(b.len, sizeof(want) + 36 + 4 + 8);
	ASSERT_EQ(memcmp(b.data, want, sizeof(want)), 0);
	ASSERT_EQ(memcmp(b.data + sizeof(want), r.blob, 36), 0);
	ASSERT_EQ(record_decode(&key, b.data, b.len, &back), 0);
	ASSERT_EQ(back.size, r.size);
	ASSERT_EQ(back.version, 3);
	ASSERT_EQ(back.seq, 99);
	ASSERT_EQ(back.mtime_ns, 1000000001);
	ASSERT_EQ(back.atime_ns, -1);
	ASSERT_EQ(back.flags, STORE_F_TRAILER);
	ASSERT_EQ(back.ctype, CKSUM_XXHASH2);
	ASSERT_STR(back.cksum, r.cksum);
	ASSERT_STR(back.blob, r.blob);
	ASSERT_STR(store_custom_find(&back, "k"), "v");
}

static void test_damage(void)
{
	struct objkey other = {8, "dir/name", 8}, longer = {7, "dir/namex", 9};
	struct store_rec r = example(), back;
	autobuf struct buf b = BUF_INIT;
	size_t i;

	record_encode(&key, &r, &b);
	for (i = 0; i < b.len; i++) { /* any byte */
		b.data[i] ^= 0x40;
		ASSERT_EQ(record_decode(&key, b.data, b.len, &back), -EUCLEAN);
		b.data[i] ^= 0x40;
		ASSERT_EQ(record_decode(&key, b.data, i, &back), -EUCLEAN);
	}
	ASSERT_EQ(record_decode(&other, b.data, b.len, &back), -EUCLEAN);
	ASSERT_EQ(record_decode(&longer, b.data, b.len, &back), -EUCLEAN);
	ASSERT_EQ(record_decode(&key, b.data, b.len, &back), 0);
}

/* A sound checksum over fields that are not: still refused. */
static void test_bad_fields(void)
{
	struct store_rec r = example(), back;
	autobuf struct buf b = BUF_INIT;

	strcpy(r.blob, "../0123456789abcdef-fedcba987654321");
	record_encode(&key, &r, &b);
	ASSERT_EQ(record_decode(&key, b.data, b.len, &back), -EUCLEAN);
	buf_reset(&b);
	r = example();
	memcpy(r.custom, "k\0vv", 4);
	record_encode(&key, &r, &b);
	ASSERT_EQ(record_decode(&key, b.data, b.len, &back), -EUCLEAN);
	buf_reset(&b);
	memcpy(r.custom, "\0v\0", 3);
	r.custom_len = 3;
	record_encode(&key, &r, &b);
	ASSERT_EQ(record_decode(&key, b.data, b.len, &back), -EUCLEAN);
}

static void test_envelope(void)
{
	struct store_rec r = example(), back;
	autobuf struct buf b = BUF_INIT;
	struct objkey k;

	envelope_encode(&key, &r, &b);
	ASSERT_EQ(memcmp(b.data, "PWB\1\0\0\0\0\0\0\0\7\0\10dir/name", 22), 0);
	ASSERT_EQ(envelope_decode(b.data, b.len, &k, &back), 0);
	ASSERT_EQ(k.bid, 7);
	ASSERT_EQ(k.len, 8);
	ASSERT_EQ(memcmp(k.name, "dir/name", 8), 0);
	b.data[15] ^= 1; /* the name is covered too */
	ASSERT_EQ(envelope_decode(b.data, b.len, &k, &back), -EUCLEAN);
	ASSERT_EQ(envelope_decode(b.data, 13, &k, &back), -EUCLEAN);
}

static void test_pairs(void)
{
	autobuf struct buf b = BUF_INIT;
	const char *k, *v;
	size_t pos = 0;

	ASSERT_EQ(store_custom_add(&b, "a", "1"), 0);
	ASSERT_EQ(store_custom_add(&b, "bc", ""), 0);
	ASSERT_EQ(b.len, 8);
	ASSERT_TRUE(record_custom_ok(b.data, b.len));
	ASSERT_TRUE(record_custom_ok(NULL, 0));
	ASSERT_TRUE(!record_custom_ok(b.data, b.len - 1));
	ASSERT_TRUE(store_custom_next(b.data, b.len, &pos, &k, &v));
	ASSERT_STR(k, "a");
	ASSERT_STR(v, "1");
	ASSERT_TRUE(store_custom_next(b.data, b.len, &pos, &k, &v));
	ASSERT_STR(k, "bc");
	ASSERT_STR(v, "");
	ASSERT_TRUE(!store_custom_next(b.data, b.len, &pos, &k, &v));
}

UNIT_MAIN("store/record", {"layout", test_layout}, {"damage", test_damage},
	  {"bad fields", test_bad_fields}, {"envelope", test_envelope}, {"pairs", test_pairs})
