/* SPDX-License-Identifier: BSD-2-Clause */
/* PUT: content, versions, times, checksums, what a failed one leaves. */
#include "fixture.h"

#include "base/text.h"

static void test_put_get_delete(void)
{
	struct fix f = {.sync = true};
	struct store_rec rec;
	int64_t before = wall_ns();
	int err;

	fix_open(&f, 2);
	ASSERT_EQ(fix_put(&f, "a", "hello"), 0);
	ASSERT_EQ(fix_put(&f, "a/b", "world"), 0);
	ASSERT_EQ(fix_put(&f, "empty", ""), 0);
	ASSERT_CONTENT(&f, "a", "hello");
	ASSERT_CONTENT(&f, "a/b", "world");
	ASSERT_CONTENT(&f, "empty", "");
	ASSERT_EQ(store_stat(f.s, &fix_bck, "a", &rec), 0);
	ASSERT_EQ(rec.size, 5);
	ASSERT_EQ(rec.version, 1);
	ASSERT_EQ(rec.ctype, CKSUM_XXHASH2);
	ASSERT_STR(rec.cksum, "26c7827d889f6da3"); /* xxhsum -H1 of "hello" */
	ASSERT_TRUE(rec.mtime_ns >= before && rec.mtime_ns <= wall_ns());
	fix_restart(&f);
	ASSERT_CONTENT(&f, "a", "hello");
	ASSERT_EQ(fix_delete(&f, "a"), 0);
	ASSERT_EQ(fix_delete(&f, "a"), -ENOENT);
	ASSERT_TRUE(fix_get(&f, "a", &err) == NULL);
	ASSERT_EQ(err, -ENOENT);
	ASSERT_CONTENT(&f, "a/b", "world");
	ASSERT_EQ(fix_files(&f, "blob"), 2);
	fix_close(&f);
}

static void test_versions(void)
{
	struct store_bck plain = fix_bck;
	struct store_put_opts o = {.size = -1};
	struct fix f = {};
	struct store_rec rec;

	plain.versioned = false;
	fix_open(&f, 1);
	ASSERT_EQ(fix_put_opts(&f, &fix_bck, "v", "1", 1, &o, &rec), 0);
	ASSERT_EQ(rec.version, 1);
	ASSERT_EQ(fix_put_opts(&f, &fix_bck, "v", "2", 1, &o, &rec), 0);
	ASSERT_EQ(rec.version, 2);
	o.base_version = 41;
	ASSERT_EQ(fix_put_opts(&f, &fix_bck, "v", "3", 1, &o, &rec), 0);
	ASSERT_EQ(rec.version, 42);
	o.base_version = 0;
	o.reset_version = true;
	ASSERT_EQ(fix_put_opts(&f, &fix_bck, "v", "4", 1, &o, &rec), 0);
	ASSERT_EQ(rec.version, 1);
	ASSERT_EQ(fix_put_opts(&f, &plain, "v", "5", 1, &o, &rec), 0);
	ASSERT_EQ(rec.version, 0);
	ASSERT_CONTENT(&f, "v", "5");
	ASSERT_EQ(fix_delete(&f, "v"), 0);
	ASSERT_EQ(fix_put(&f, "v", "6"), 0);
	ASSERT_EQ(store_stat(f.s, &fix_bck, "v", &rec), 0);
	ASSERT_EQ(rec.version, 1);
	ASSERT_EQ(fix_files(&f, "blob"), 1);
	fix_close(&f);
}

static void test_client_checksums(void)
{
	/* md5 and sha256 of "abc": RFC 1321 A.5, FIPS 180-2 B.1 */
	struct store_put_opts o = {.size = 3,
				   .want_type = CKSUM_MD5,
				   .want_value = "900150983cd24fb0d6963f7d28e17f72"};
	struct fix f = {};
	struct store_rec rec;

	fix_open(&f, 1);
	ASSERT_EQ(fix_put_opts(&f, &fix_bck, "c", "abc", 3, &o, &rec), 0);
	ASSERT_EQ(rec.ctype, CKSUM_XXHASH2);
	ASSERT_STR(rec.cksum, "44bc2cf5ad770999");
	o.want_value = "900150983cd24fb0d6963f7d28e17f73";
	ASSERT_EQ(fix_put_opts(&f, &fix_bck, "bad", "abc", 3, &o, &rec), STORE_E_CKSUM);
	ASSERT_EQ(rec.ctype, CKSUM_MD5);
	ASSERT_STR(rec.cksum, "900150983cd24fb0d6963f7d28e17f72");
	ASSERT_EQ(store_stat(f.s, &fix_bck, "bad", &rec), -ENOENT);
	o.want_type = CKSUM_XXHASH; /* another name of the bucket's own */
	o.want_value = "44bc2cf5ad770999";
	ASSERT_EQ(fix_put_opts(&f, &fix_bck, "x", "abc", 3, &o, &rec), 0);
	ASSERT_EQ(rec.ctype, CKSUM_XXHASH2);
	ASSERT_EQ(fix_files(&f, "blob"), 2);
	fix_close(&f);
}

static void test_refused(void)
{
	struct store_put_opts o = {.size = 4};
	struct fix f = {};
	char name[STORE_NAME_MAX + 2];
	struct store_put *p;

	fix_open(&f, 1);
	ASSERT_EQ(fix_put(&f, "", "x"), -EINVAL);
	memset(name, 'n', sizeof(name));
	name[STORE_NAME_MAX + 1] = 0;
	ASSERT_EQ(fix_put(&f, name, "x"), -ENAMETOOLONG);
	name[STORE_NAME_MAX] = 0;
	ASSERT_EQ(fix_put(&f, name, "x"), 0);
	ASSERT_EQ(fix_put_opts(&f, &fix_bck, "short", "abc", 3, &o, NULL), -EBADMSG);
	ASSERT_EQ(fix_put_opts(&f, &fix_bck, "long", "abcde", 5, &o, NULL), -EBADMSG);
	o.custom = "no value";
	o.custom_len = sizeof("no value");
	ASSERT_EQ(store_put_begin(f.s, &fix_bck, "c", &o, &p), -EINVAL);
	o = (struct store_put_opts){.size = -1};
	ASSERT_EQ(store_put_begin(f.s, &fix_bck, "half", &o, &p), 0);
	ASSERT_EQ(store_put_write(p, "abc", 3), 0);
	store_put_abort(p);
	ASSERT_EQ(fix_files(&f, "blob"), 1);
	fix_close(&f);
}

static void test_large_and_custom(void)
{
	struct store_put_opts o = {.size = 3 << 20, .mtime_ns = 1700000000000000001};
	autofree char *data = malloc(3 << 20), *back = malloc(3 << 20);
	autobuf struct buf custom = BUF_INIT;
	struct fix f = {.sync = true};
	struct store_rec rec;
	autofd fd = -1;

	memset(data, 'z', 3 << 20);
	ASSERT_EQ(store_custom_add(&custom, "k", "v"), 0);
	ASSERT_EQ(store_custom_add(&custom, "empty", ""), 0);
	o.custom = custom.data;
	o.custom_len = custom.len;
	fix_open(&f, 1);
	ASSERT_EQ(fix_put_opts(&f, &fix_bck, "big", data, 3 << 20, &o, NULL), 0);
	fix_restart(&f);
	ASSERT_EQ(store_open_blob(f.s, &fix_bck, "big", &rec, &fd), 0);
	ASSERT_EQ(rec.mtime_ns, 1700000000000000001);
	ASSERT_STR(store_custom_find(&rec, "k"), "v");
	ASSERT_STR(store_custom_find(&rec, "empty"), "");
	ASSERT_TRUE(store_custom_find(&rec, "v") == NULL);
	ASSERT_EQ(pread(fd, back, 3 << 20, 0), 3 << 20);
	ASSERT_EQ(memcmp(data, back, 3 << 20), 0);
	fix_close(&f);
}

UNIT_MAIN("store/put", {"put, get, delete", test_put_get_delete}, {"versions", test_versions},
	  {"checksums of clients", test_client_checksums}, {"refused", test_refused},
	  {"large and custom", test_large_and_custom})
