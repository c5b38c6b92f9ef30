/* SPDX-License-Identifier: BSD-2-Clause */
/* Copies within and between buckets and mountpaths. */
#include "fixture.h"

static int copy(struct fix *f, const char *from, const struct store_bck *to, const char *name,
		struct store_rec *rec)
{
	struct store_name a = {&fix_bck, from}, b = {to, name};
	struct answer w = {};

	sem_init(&w.there, 0, 0);
	store_copy(f->s, a, b, answer_done, &w);
	return answer_wait(&w, rec);
}

static void test_copy(void)
{
	struct store_bck md5 = {.bid = 8, .uname = "ais/@#/m/", .cksum = CKSUM_MD5};
	autobuf struct buf custom = BUF_INIT;
	struct store_put_opts o = {.size = 3};
	struct fix f = {.sync = true};
	struct store_rec rec;
	char name[16];
	int i;

	fix_open(&f, 3);
	store_custom_add(&custom, "k", "v");
	o.custom = custom.data;
	o.custom_len = custom.len;
	ASSERT_EQ(fix_put_opts(&f, &fix_bck, "src", "abc", 3, &o, NULL), 0);
	for (i = 0; i < 12; i++) { /* onto each mountpath */
		snprintf(name, sizeof(name), "copy%d", i);
		ASSERT_EQ(copy(&f, "src", &fix_bck, name, &rec), 0);
		ASSERT_CONTENT(&f, name, "abc");
		ASSERT_STR(rec.cksum, "44bc2cf5ad770999");
		ASSERT_STR(store_custom_find(&rec, "k"), "v");
		ASSERT_EQ(rec.version, 1);
	}
	ASSERT_EQ(copy(&f, "src", &fix_bck, "copy0", &rec), 0);
	ASSERT_EQ(rec.version, 2);
	ASSERT_EQ(copy(&f, "src", &md5, "src", &rec), 0);
	ASSERT_EQ(rec.ctype, CKSUM_MD5);
	ASSERT_STR(rec.cksum, "900150983cd24fb0d6963f7d28e17f72");
	ASSERT_EQ(rec.version, 0);
	ASSERT_EQ(copy(&f, "nothing", &fix_bck, "x", &rec), -ENOENT);
	ASSERT_EQ(copy(&f, "src", &fix_bck, "src", &rec), 0); /* onto itself */
	ASSERT_CONTENT(&f, "src", "abc");
	ASSERT_EQ(fix_files(&f, "blob"), 14);
	fix_close(&f);
}

static void test_large(void)
{
	autofree char *data = malloc(5 << 20), *back = malloc(5 << 20);
	struct store_put_opts o = {.size = 5 << 20};
	struct fix f = {};
	struct store_rec rec;
	autofd fd = -1;
	size_t i;

	for (i = 0; i < 5 << 20; i++)
		data[i] = (char)(i * 31 >> 3);
	fix_open(&f, 1);
	ASSERT_EQ(fix_put_opts(&f, &fix_bck, "big", data, 5 << 20, &o, NULL), 0);
	ASSERT_EQ(copy(&f, "big", &fix_bck, "big2", &rec), 0);
	ASSERT_EQ(store_open_blob(f.s, &fix_bck, "big2", &rec, &fd), 0);
	ASSERT_EQ(pread(fd, back, 5 << 20, 0), 5 << 20);
	ASSERT_EQ(memcmp(data, back, 5 << 20), 0);
	fix_close(&f);
}

UNIT_MAIN("store/copy", {"copy", test_copy}, {"large", test_large})
