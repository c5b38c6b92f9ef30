/* SPDX-License-Identifier: BSD-2-Clause */
/* Buckets as ranges; room; a full index still lets objects go. */
#include "fixture.h"

#include "store/codec.h"

static void ids(void *arg, uint64_t bid)
{
	buf_fmt(arg, "%llx ", (unsigned long long)bid);
}

static int put_in(struct fix *f, uint64_t bid, const char *name)
{
	struct store_bck b = fix_bck;
	struct store_put_opts o = {.size = 1};

	b.bid = bid;
	return fix_put_opts(f, &b, name, "x", 1, &o, NULL);
}

static void test_destroy(void)
{
	autobuf struct buf got = BUF_INIT;
	struct store_sum sum;
	struct fix f = {};
	char name[700];
	int i;

	fix_open(&f, 2);
	memset(name, 'n', sizeof(name));
	for (i = 0; i < 2300; i++) { /* more than a slice a mountpath */
		snprintf(name + (i % 100 ? 0 : 600), 90, "%d", i);
		ASSERT_EQ(put_in(&f, 5, name), 0);
		memset(name, 'n', sizeof(name));
	}
	ASSERT_EQ(put_in(&f, 4, "before"), 0);
	ASSERT_EQ(put_in(&f, 6, "after"), 0);
	ASSERT_EQ(put_in(&f, UINT64_MAX, "last"), 0);
	ASSERT_EQ(store_bucket_ids(f.s, ids, &got), 0);
	ASSERT_STR(buf_cstr(&got), "4 5 6 ffffffffffffffff ");
	ASSERT_EQ(store_bucket_destroy(f.s, 5), 0);
	ASSERT_EQ(store_bucket_destroy(f.s, 5), 0); /* nothing left: fine */
	buf_reset(&got);
	ASSERT_EQ(store_bucket_ids(f.s, ids, &got), 0);
	ASSERT_STR(buf_cstr(&got), "4 6 ffffffffffffffff ");
	ASSERT_EQ(fix_files(&f, "blob"), 3);
	ASSERT_EQ(store_summary(f.s, &(struct store_bck){.bid = 5}, "", &sum), 0);
	ASSERT_EQ(sum.objects, 0);
	fix_close(&f);
}

static void test_space(void)
{
	struct store_space sp;
	struct fix f = {};

	fix_open(&f, 2);
	ASSERT_EQ(fix_put(&f, "o", "x"), 0);
	ASSERT_EQ(store_paths(f.s), 2);
	ASSERT_EQ(store_space(f.s, 2, &sp), STORE_OUT);
	ASSERT_EQ(store_space(f.s, 1, &sp), 0);
	ASSERT_STR(sp.path, f.path[1]);
	ASSERT_TRUE(sp.fs_type[0] && sp.device[0]);
	ASSERT_TRUE(sp.total >= sp.used && sp.total > sp.avail && sp.avail > 0);
	fix_close(&f);
}

static void test_full_index(void)
{
	struct fix f = {.map_bytes = 1 << 20};
	struct store_rec rec;
	char name[400];
	int i, full, r = 0;

	fix_open(&f, 1);
	memset(name, 'n', sizeof(name));
	for (i = 0; r == 0 && i < 10000; i++) {
		snprintf(name + 300, 90, "%d", i);
		r = fix_put(&f, name, "x");
	}
	ASSERT_EQ(r, -ENOSPC);
	full = i - 1;
	ASSERT_EQ(store_stat(f.s, &fix_bck, name, &rec), -ENOENT);
	ASSERT_EQ(fix_files(&f, "blob"), (size_t)full); /* nothing of the refused one stays */
	for (i = 0; i < full; i++) {
		snprintf(name + 300, 90, "%d", i);
		ASSERT_EQ(fix_delete(&f, name), 0);
	}
	ASSERT_EQ(fix_put(&f, "again", "x"), 0);
	fix_close(&f);
}

/* A disk that is full: on a tmpfs of 16 MiB, which needs root. */
static void test_full_disk(void)
{
	static const char data[256 << 10];
	struct store_put_opts o = {.size = 256 << 10};
	struct fix f = {.map_bytes = 64 << 20};
	char name[16], cmd[160];
	int i, r = 0, stored;

	fix_dirs(&f, 1);
	snprintf(cmd, sizeof(cmd), "mount -t tmpfs -o size=16m none %s 2>/dev/null", f.path[0]);
	if (geteuid() != 0 || system(cmd) != 0) {
		fprintf(stderr, " (left out: can not mount a tmpfs) ");
		fix_close(&f);
		return;
	}
	ASSERT_EQ(pool_new("io", 2, 100, &f.io), 0);
	ASSERT_EQ(fix_start(&f), 0);
	for (i = 0; r == 0 && i < 100; i++) {
		snprintf(name, sizeof(name), "o%d", i);
		r = fix_put_opts(&f, &fix_bck, name, data, 256 << 10, &o, NULL);
	}
	ASSERT_EQ(r, -ENOSPC);
	stored = i - 1;
	ASSERT_TRUE(stored > 5);
	while (fix_put(&f, "filler", "x") == 0 && i++ < 3000) { /* into the last page */
		snprintf(name, sizeof(name), "f%d", i);
		if (fix_put(&f, name, "x") != 0)
			break;
	}
	for (i = 0; i < stored; i++) {
		snprintf(name, sizeof(name), "o%d", i);
		ASSERT_EQ(fix_delete(&f, name), 0);
	}
	ASSERT_EQ(fix_put(&f, "fits again", "x"), 0);
	fix_stop(&f);
	snprintf(cmd, sizeof(cmd), "umount %s", f.path[0]);
	ASSERT_EQ(system(cmd), 0);
	fix_close(&f);
}

UNIT_MAIN("store/bucket", {"destroy", test_destroy}, {"space", test_space},
	  {"full index", test_full_index}, {"full disk", test_full_disk})
