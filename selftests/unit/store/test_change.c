/* SPDX-License-Identifier: BSD-2-Clause */
/* Custom metadata: merge, replace, limits, what does not fit an xattr; removal of the damaged. */
#include "fixture.h"

#include <sys/xattr.h>

#include "store/codec.h"
#include "store/impl.h"

static int set(struct fix *f, const char *name, const struct buf *pairs, bool replace,
	       struct store_rec *rec)
{
	struct store_custom c = {.pairs = pairs->data, .len = pairs->len, .replace = replace};
	struct answer a = {};

	sem_init(&a.there, 0, 0);
	store_set_custom(f->s, &fix_bck, name, &c, answer_done, &a);
	return answer_wait(&a, rec);
}

static void test_merge(void)
{
	autobuf struct buf one = BUF_INIT, two = BUF_INIT, none = BUF_INIT;
	struct fix f = {.sync = true};
	struct store_rec rec, before;

	fix_open(&f, 1);
	store_custom_add(&one, "a", "1");
	store_custom_add(&one, "b", "2");
	store_custom_add(&two, "b", "3");
	ASSERT_EQ(set(&f, "o", &one, false, &rec), -ENOENT);
	ASSERT_EQ(fix_put(&f, "o", "x"), 0);
	ASSERT_EQ(store_stat(f.s, &fix_bck, "o", &before), 0);
	ASSERT_EQ(set(&f, "o", &one, false, &rec), 0);
	ASSERT_EQ(set(&f, "o", &two, false, &rec), 0);
	fix_restart(&f);
	ASSERT_EQ(store_stat(f.s, &fix_bck, "o", &rec), 0);
	ASSERT_STR(store_custom_find(&rec, "a"), "1");
	ASSERT_STR(store_custom_find(&rec, "b"), "3");
	ASSERT_EQ(rec.version, before.version);
	ASSERT_EQ(rec.mtime_ns, before.mtime_ns);
	ASSERT_STR(rec.blob, before.blob);
	ASSERT_EQ(set(&f, "o", &two, true, &rec), 0);
	ASSERT_TRUE(store_custom_find(&rec, "a") == NULL);
	ASSERT_EQ(set(&f, "o", &none, true, &rec), 0);
	ASSERT_EQ(rec.custom_len, 0);
	ASSERT_EQ(fix_put(&f, "o", "y"), 0); /* a PUT drops it */
	fix_close(&f);
}

static void test_limits(void)
{
	autobuf struct buf b = BUF_INIT, more = BUF_INIT, bad = BUF_INIT;
	struct fix f = {};
	struct store_rec rec;
	char v[2048];

	fix_open(&f, 1);
	ASSERT_EQ(fix_put(&f, "o", "x"), 0);
	memset(v, 'v', sizeof(v));
	v[2046] = 0;
	ASSERT_EQ(store_custom_add(&b, "k1", v), 0); /* 2048 together */
	ASSERT_EQ(set(&f, "o", &b, false, &rec), 0);
	ASSERT_EQ(store_custom_add(&more, "k", ""), 0);
	ASSERT_EQ(set(&f, "o", &more, false, &rec), -EMSGSIZE);
	ASSERT_EQ(store_custom_add(&bad, "", "v"), -EINVAL);
	ASSERT_EQ(store_custom_add(&bad, "a\nb", "v"), -EINVAL);
	ASSERT_EQ(store_custom_add(&bad, "k", "\x7f"), -EINVAL);
	buf_str(&bad, "no NUL");
	ASSERT_EQ(set(&f, "o", &bad, false, &rec), -EINVAL);
	ASSERT_EQ(store_stat(f.s, &fix_bck, "o", &rec), 0);
	ASSERT_EQ(strlen(store_custom_find(&rec, "k1")), 2046);
	fix_close(&f);
}

/* The copy beside the blob, from its xattr or its trailer. */
static void read_copy(struct fix *f, const struct store_rec *rec, struct buf *out)
{
	char file[160];
	ssize_t n;

	buf_reset(out);
	ASSERT_EQ(buf_reserve(out, ENVELOPE_MAX), 0);
	if (rec->flags & STORE_F_TRAILER) {
		autofd fd = -1;

		snprintf(file, sizeof(file), "%s/blob/%s.meta", f->path[0], rec->blob);
		fd = open(file, O_RDONLY);
		n = read(fd, out->data, ENVELOPE_MAX);
	} else {
		snprintf(file, sizeof(file), "%s/blob/%s", f->path[0], rec->blob);
		n = getxattr(file, XATTR_NAME, out->data, ENVELOPE_MAX);
	}
	ASSERT_TRUE(n > 0);
	out->len = (size_t)n;
}

static void check_copy(struct fix *f, const char *name)
{
	autobuf struct buf b = BUF_INIT;
	struct store_rec rec, copy;
	struct objkey k;

	ASSERT_EQ(store_stat(f->s, &fix_bck, name, &rec), 0);
	read_copy(f, &rec, &b);
	ASSERT_EQ(envelope_decode(b.data, b.len, &k, &copy), 0);
	ASSERT_EQ(k.bid, fix_bck.bid);
	ASSERT_EQ(k.len, strlen(name));
	ASSERT_EQ(memcmp(k.name, name, k.len), 0);
	ASSERT_EQ(copy.seq, rec.seq);
	ASSERT_EQ(copy.version, rec.version);
	ASSERT_STR(copy.blob, rec.blob);
	ASSERT_EQ(copy.custom_len, rec.custom_len);
	ASSERT_EQ(memcmp(copy.custom, rec.custom, rec.custom_len), 0);
}

/* With xattrs and without, and from one to the other. */
static void test_trailer(void)
{
	autobuf struct buf big = BUF_INIT, small = BUF_INIT;
	struct fix f = {.sync = true};
	char name[STORE_NAME_MAX + 1], v[2001];
	struct store_rec rec;

	fix_open(&f, 1);
	memset(name, 'n', STORE_NAME_MAX);
	name[STORE_NAME_MAX] = 0;
	memset(v, 'v', 2000);
	v[2000] = 0;
	store_custom_add(&small, "k", "v");
	store_custom_add(&big, "key", v);
	ASSERT_EQ(fix_put(&f, name, "x"), 0);
	check_copy(&f, name);
	f.s->paths[0].no_xattr = true;
	ASSERT_EQ(set(&f, name, &big, true, &rec), 0);
	check_copy(&f, name);
	ASSERT_EQ(rec.flags, STORE_F_TRAILER);
	ASSERT_EQ(fix_files(&f, "blob"), 2);
	fix_restart(&f);
	check_copy(&f, name);
	ASSERT_EQ(fix_files(&f, "blob"), 2);
	ASSERT_EQ(set(&f, name, &small, true, &rec), 0);
	check_copy(&f, name);
	ASSERT_EQ(rec.flags, 0);
	fix_stop(&f);
	ASSERT_EQ(fix_files(&f, "blob"), 1);
	ASSERT_EQ(fix_start(&f), 0);
	f.s->paths[0].no_xattr = true;
	ASSERT_EQ(fix_put(&f, name, "y"), 0);
	check_copy(&f, name);
	fix_restart(&f);
	ASSERT_EQ(fix_files(&f, "blob"), 2);
	ASSERT_EQ(fix_delete(&f, name), 0);
	ASSERT_EQ(fix_files(&f, "blob"), 0);
	fix_close(&f);
}

static void test_delete_version(void)
{
	struct fix f = {};
	struct store_name n = {&fix_bck, "o"};
	struct store_rec first, second;
	struct answer a = {};

	fix_open(&f, 1);
	ASSERT_EQ(fix_put(&f, "o", "1"), 0);
	ASSERT_EQ(store_stat(f.s, &fix_bck, "o", &first), 0);
	ASSERT_EQ(fix_put(&f, "o", "2"), 0);
	ASSERT_EQ(store_stat(f.s, &fix_bck, "o", &second), 0);
	ASSERT_TRUE(second.seq > first.seq);
	sem_init(&a.there, 0, 0);
	store_delete_version(f.s, n, first.seq, answer_done, &a);
	ASSERT_EQ(answer_wait(&a, NULL), -ENOENT);
	ASSERT_CONTENT(&f, "o", "2");
	sem_init(&a.there, 0, 0);
	store_delete_version(f.s, n, second.seq, answer_done, &a);
	ASSERT_EQ(answer_wait(&a, NULL), 0);
	ASSERT_EQ(fix_files(&f, "blob"), 0);
	fix_close(&f);
}

UNIT_MAIN("store/change", {"merge", test_merge}, {"limits", test_limits}, {"trailer", test_trailer},
	  {"delete one version", test_delete_version})
