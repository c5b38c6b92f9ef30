/* SPDX-License-Identifier: BSD-2-Clause */
/* Append: steps, tokens, flush, what is refused. */
#include "fixture.h"

static int step(struct fix *f, const char *name, char token[64], const char *text)
{
	struct store_put *p;
	int r = store_append(f->s, &fix_bck, name, token, &p);

	if (r < 0)
		return r;
	ASSERT_EQ(store_put_write(p, text, strlen(text)), 0);
	return store_append_park(p, token);
}

static int flush(struct fix *f, const char *name, const char *token, const char *md5,
		 struct store_rec *rec)
{
	struct answer a = {};
	struct store_put *p;
	int r = store_append(f->s, &fix_bck, name, token, &p);

	if (r < 0)
		return r;
	if (md5)
		store_append_expect(p, CKSUM_MD5, md5);
	sem_init(&a.there, 0, 0);
	store_put_commit(p, answer_done, &a);
	return answer_wait(&a, rec);
}

static void test_steps(void)
{
	struct fix f = {.sync = true};
	char token[64] = "";
	struct store_rec rec;
	int err;

	fix_open(&f, 2);
	ASSERT_EQ(step(&f, "log", token, "a"), 0);
	ASSERT_TRUE(fix_get(&f, "log", &err) == NULL);
	fix_restart(&f); /* the work file outlives it */
	ASSERT_EQ(step(&f, "log", token, "b"), 0);
	ASSERT_EQ(step(&f, "log", token, "c"), 0);
	ASSERT_EQ(flush(&f, "log", token, "900150983cd24fb0d6963f7d28e17f72", &rec), 0);
	ASSERT_CONTENT(&f, "log", "abc");
	ASSERT_STR(rec.cksum, "44bc2cf5ad770999"); /* XXH64 of "abc" */
	ASSERT_EQ(rec.version, 1);
	ASSERT_EQ(flush(&f, "log", token, NULL, NULL), -ENOENT);
	ASSERT_EQ(fix_files(&f, "work"), 0);
	token[0] = 0;
	ASSERT_EQ(step(&f, "log", token, "d"), 0); /* begins with what is there */
	ASSERT_EQ(flush(&f, "log", token, NULL, &rec), 0);
	ASSERT_CONTENT(&f, "log", "abcd");
	ASSERT_EQ(rec.version, 2);
	ASSERT_EQ(fix_files(&f, "blob"), 1);
	fix_close(&f);
}

static void test_tokens(void)
{
	static const char *const bad[] = {"x", "../../../etc/passwd", "0123456789abcdef",
					  "0123456789abcdef-0123456789abcdeF",
					  "0123456789abcdef/0123456789abcdef"};
	struct store_put *p, *q;
	struct fix f = {};
	char token[64] = "";
	size_t i;

	fix_open(&f, 1);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ASSERT_EQ(store_append(f.s, &fix_bck, "o", bad[i], &p), -EINVAL);
	ASSERT_EQ(step(&f, "o", token, "1"), 0);
	ASSERT_EQ(store_append(f.s, &fix_bck, "other", token, &p), -ENOENT);
	ASSERT_EQ(store_append(f.s, &fix_bck, "o", token, &p), 0);
	ASSERT_EQ(store_append(f.s, &fix_bck, "o", token, &q), -EBUSY);
	ASSERT_EQ(store_put_write(p, "lost", 4), 0);
	store_put_abort(p); /* a step that broke off: the token is as before */
	ASSERT_EQ(step(&f, "o", token, "2"), 0);
	ASSERT_EQ(flush(&f, "o", token, NULL, NULL), 0);
	ASSERT_CONTENT(&f, "o", "12");
	token[0] = 0;
	ASSERT_EQ(store_append(f.s, &fix_bck, "gone", "", &p), 0);
	store_put_abort(p);
	ASSERT_EQ(fix_files(&f, "work"), 0);
	fix_close(&f);
}

static void test_wrong_checksum(void)
{
	struct fix f = {};
	char token[64] = "";
	struct store_rec rec;
	int err;

	fix_open(&f, 1);
	ASSERT_EQ(step(&f, "o", token, "abc"), 0);
	ASSERT_EQ(flush(&f, "o", token, "d41d8cd98f00b204e9800998ecf8427e", &rec), STORE_E_CKSUM);
	ASSERT_STR(rec.cksum, "900150983cd24fb0d6963f7d28e17f72");
	ASSERT_TRUE(fix_get(&f, "o", &err) == NULL);
	ASSERT_EQ(fix_files(&f, "work"), 0);
	fix_close(&f);
}

UNIT_MAIN("store/append", {"steps", test_steps}, {"tokens", test_tokens},
	  {"wrong checksum", test_wrong_checksum})
