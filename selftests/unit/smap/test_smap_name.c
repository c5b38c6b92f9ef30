/* SPDX-License-Identifier: BSD-2-Clause */
/* smap_name.c: each rule of names, both sides of it. */
#include "selftests/unit/unit.h"

#include "base/bits.h"
#include "smap/smap.h"

#define TEN "0123456789"
#define FIFTY TEN TEN TEN TEN TEN

static void test_node_ids(void)
{
	static const char *const good[] = {"abcdefgh", "t1Kq8mXzA", "tgtWire_A", "a-_-_--b",
					   FIFTY "01234567890123"};
	static const char *const wrong[] = {"",
					    "abcdefg",
					    "-bcdefgh",
					    "abcdefg-",
					    "_bcdefgh",
					    "abcdefg_",
					    "abcd.fgh",
					    "abcd fgh",
					    "abcd/fgh",
					    "abcdefg\n",
					    "abcd\"fgh",
					    "\303\274bcdefgh",
					    FIFTY "012345678901234"};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(good); i++)
		ASSERT_TRUE(smap_node_id_ok(good[i]));
	for (i = 0; i < ARRAY_SIZE(wrong); i++)
		ASSERT_TRUE(!smap_node_id_ok(wrong[i]));
	ASSERT_TRUE(!smap_node_id_ok(NULL));
}

static void test_uuids(void)
{
	ASSERT_TRUE(smap_uuid_ok("u7WqPz1aB"));
	ASSERT_TRUE(smap_uuid_ok("-5nZJDft6"));
	ASSERT_TRUE(smap_uuid_ok(TEN TEN TEN "01"));
	ASSERT_TRUE(!smap_uuid_ok(TEN TEN TEN "012"));
	ASSERT_TRUE(!smap_uuid_ok(""));
	ASSERT_TRUE(!smap_uuid_ok("a/b"));
	ASSERT_TRUE(!smap_uuid_ok(NULL));
}

static void test_buckets(void)
{
	static const char *const good[] = {
		"a", "abc", "A-b_c.d", "-", "_", "a.", "a.b.c", "1", FIFTY "01234567890123"};
	static const char *const wrong[] = {"",
					    ".",
					    "..",
					    ".sys-inventory",
					    ".sys-shardidx",
					    "a..b",
					    "a..",
					    "*",
					    " ",
					    "#x",
					    "a/b",
					    "a b",
					    "a@b",
					    "a:b",
					    "a\n",
					    "\303\244",
					    FIFTY "012345678901234"};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(good); i++)
		ASSERT_TRUE(smap_bucket_name_ok(good[i]));
	for (i = 0; i < ARRAY_SIZE(wrong); i++)
		ASSERT_TRUE(!smap_bucket_name_ok(wrong[i]));
	ASSERT_TRUE(!smap_bucket_name_ok(NULL));
}

static bool object_ok(const char *s)
{
	return !smap_object_name_check(s, strlen(s));
}

static void test_objects(void)
{
	static const char *const good[] = {
		"a", "a/b", "a//b", "~", "~a/b", "a/~/b", "...", "a/...", ".a", "a.", "..a", "a..",
		".hidden/x", "100%", "q?m=1", "a b", "%41", "a\tb", "a\177b", "\\", "a:b",
		/* two, three, four bytes, and the last character below and above the surrogates */
		"\303\274n\303\257", "\346\227\245\346\234\254", "\360\237\230\200", "\355\237\277",
		"\356\200\200", "\364\217\277\277", "\302\200"};
	static const char *const wrong[] = {
		"", "/", "/a", "//", "a/", "a//", "~/", "~/a", ".", "..", "./a", "../a", "a/.",
		"a/..", "a/./b", "a/../b", "a/b/..", "//.",
		/* lone, cut, overlong, surrogate, above U+10FFFF, never valid */
		"\200", "a\303", "\303a", "\300\200", "\301\277", "\340\200\200", "\340\237\277",
		"\346\227", "\355\240\200", "\355\277\277", "\360\200\200\200", "\360\217\277\277",
		"\360\237\230", "\364\220\200\200", "\365\200\200\200", "\377", "\376",
		"\346\227a"};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(good); i++)
		if (!object_ok(good[i]))
			CU_FAIL_FATAL(good[i]);
	for (i = 0; i < ARRAY_SIZE(wrong); i++)
		if (object_ok(wrong[i]))
			CU_FAIL_FATAL(wrong[i]);
}

static void test_object_lengths(void)
{
	char name[1025];

	memset(name, 'x', sizeof(name));
	ASSERT_TRUE(!smap_object_name_check(name, 1024));
	ASSERT_STR(smap_object_name_check(name, 1025), "object name is longer than 1024 bytes");
	name[300] = '/';
	ASSERT_TRUE(!smap_object_name_check(name, 1024));
	name[500] = 0;
	ASSERT_STR(smap_object_name_check(name, 1024), "object name has a NUL byte");
	/* a character cut by the given length, though its rest lies behind it */
	memcpy(name, "a\303\274", 3);
	ASSERT_STR(smap_object_name_check(name, 2), "object name is not UTF-8");
	ASSERT_TRUE(!smap_object_name_check(name, 3));
	ASSERT_STR(smap_object_name_check("../x", 4), "object name has a path element '.' or '..'");
}

static void test_unames(void)
{
	autobuf struct buf b = BUF_INIT;

	smap_bucket_uname(&b, "ais", "", "", "abc");
	ASSERT_STR(buf_cstr(&b), "ais/@#/abc/");
	buf_reset(&b);
	smap_bucket_uname(&b, "ais", "uuid", "ns", "abc");
	ASSERT_STR(buf_cstr(&b), "ais/@uuid#ns/abc/");
	buf_reset(&b);
	smap_bucket_uname(&b, "aws", "", "ns", "images");
	ASSERT_STR(buf_cstr(&b), "aws/@#ns/images/");
	ASSERT_EQ(b.err, 0);
}

UNIT_MAIN("smap names", {"node IDs", test_node_ids}, {"UUIDs", test_uuids},
	  {"buckets", test_buckets}, {"objects", test_objects},
	  {"object lengths", test_object_lengths}, {"unames", test_unames})
