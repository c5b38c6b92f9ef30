/* SPDX-License-Identifier: BSD-2-Clause */
/* Pages of a listing: bytes of the API's example, msgpack-c as a second reader, the merge. */
#include "selftests/unit/unit.h"

#include <msgpack.h>

#include "api/lso.h"

static void hex(const struct buf *b, char *out)
{
	size_t i;

	for (i = 0; i < b->len; i++)
		sprintf(out + 2 * i, "%02x", (unsigned char)b->data[i]);
}

/* The example of the API: one entry a/1 of 3 bytes, flags 64. */
static void test_example(void)
{
	static const char *const want =
		"84a455554944a9513177453272543379b1436f6e74696e756174696f6e546f6b656ea0"
		"a7456e74726965739183a16ea3612f31a17303a16640a5466c61677300";
	struct lso_entry e = {.name = "a/1", .name_len = 3, .size = 3, .flags = 64};
	struct buf b = BUF_INIT;
	char got[512] = "";

	lso_put_head(&b, "Q1wE2rT3y", "", 0, 1);
	lso_put_entry(&b, &e);
	lso_put_tail(&b);
	hex(&b, got);
	ASSERT_STR(got, want);
	buf_free(&b);
}

static const msgpack_object *value_of(const msgpack_object *map, const char *key)
{
	uint32_t i;

	ASSERT_EQ(map->type, MSGPACK_OBJECT_MAP);
	for (i = 0; i < map->via.map.size; i++) {
		const msgpack_object_kv *kv = &map->via.map.ptr[i];

		if (kv->key.via.str.size == strlen(key) &&
		    !memcmp(kv->key.via.str.ptr, key, strlen(key)))
			return &kv->val;
	}
	return NULL;
}

static void expect_str(const msgpack_object *map, const char *key, const char *want)
{
	const msgpack_object *v = value_of(map, key);

	ASSERT_TRUE(v && v->type == MSGPACK_OBJECT_STR && v->via.str.size == strlen(want));
	ASSERT_TRUE(!memcmp(v->via.str.ptr, want, strlen(want)));
}

static void expect_int(const msgpack_object *map, const char *key, int64_t want)
{
	const msgpack_object *v = value_of(map, key);

	ASSERT_TRUE(v && v->type == MSGPACK_OBJECT_POSITIVE_INTEGER);
	ASSERT_EQ(v->via.i64, want);
}

/* All fields and all widths of lengths, read by msgpack-c. */
static void test_second_reader(void)
{
	struct lso_entry e = {.name = "n",
			      .cksum = "44bc2cf5ad770999",
			      .atime = "30 Nov 26 20:45 UTC",
			      .version = "7",
			      .location = "t[x]:mp[/y, z]",
			      .custom = "[k:v]",
			      .cksum_len = 16,
			      .atime_len = 19,
			      .version_len = 1,
			      .location_len = 14,
			      .custom_len = 5,
			      .copies = 1,
			      .flags = 8256};
	static const size_t lens[] = {1, 31, 32, 255, 256, 1024};
	static const int64_t sizes[] = {1, 127, 128, 255, 256, 65535, 65536, INT64_C(4294967296)};
	char name[1025];
	struct buf b = BUF_INIT;
	size_t i, k;

	memset(name, 'q', sizeof(name));
	name[1024] = 0;
	for (i = 0; i < 6 * 8; i++) {
		msgpack_unpacked u;
		size_t off = 0;

		k = i % 8;
		e.name = name;
		e.name_len = lens[i / 8];
		e.size = sizes[k];
		buf_reset(&b);
		lso_put_entry(&b, &e);
		msgpack_unpacked_init(&u);
		ASSERT_EQ(msgpack_unpack_next(&u, b.data, b.len, &off), MSGPACK_UNPACK_SUCCESS);
		ASSERT_EQ(off, b.len);
		ASSERT_EQ(u.data.via.map.size, 9);
		expect_str(&u.data, "n", name + 1024 - e.name_len);
		expect_str(&u.data, "cs", e.cksum);
		expect_str(&u.data, "a", e.atime);
		expect_str(&u.data, "v", "7");
		expect_str(&u.data, "t", e.location);
		expect_str(&u.data, "m", "[k:v]");
		expect_int(&u.data, "s", sizes[k]);
		expect_int(&u.data, "c", 1);
		expect_int(&u.data, "f", 8256);
		msgpack_unpacked_destroy(&u);
	}
	buf_free(&b);
}

static void test_json(void)
{
	struct lso_entry e = {.name = "a\"1", .name_len = 3, .size = 3, .flags = 64};
	struct lso_entry all = {.name = "b",
				.cksum = "c",
				.version = "2",
				.location = "t",
				.custom = "[k:v]",
				.atime = "a",
				.name_len = 1,
				.cksum_len = 1,
				.atime_len = 1,
				.version_len = 1,
				.location_len = 1,
				.custom_len = 5,
				.size = 1,
				.copies = 1,
				.flags = 64};
	struct buf b = BUF_INIT;

	lso_json_entry(&b, &e);
	ASSERT_STR(buf_cstr(&b), "{\"name\":\"a\\\"1\",\"size\":\"3\",\"flags\":64}");
	buf_reset(&b);
	lso_json_entry(&b, &all);
	ASSERT_STR(buf_cstr(&b),
		   "{\"name\":\"b\",\"checksum\":\"c\",\"atime\":\"a\",\"version\":\"2\","
		   "\"location\":\"t\",\"custom-md\":\"[k:v]\",\"size\":\"1\","
		   "\"copies\":1,\"flags\":64}");
	buf_free(&b);
}

/* ---- merge ---- */

#define TARGETS 5

struct names {
	char text[400][8];
	size_t n;
};

static int by_text(const void *a, const void *b)
{
	return strcmp(a, b);
}

static void names_sort(struct names *s)
{
	size_t i, n = 0;

	qsort(s->text, s->n, sizeof(s->text[0]), by_text);
	for (i = 0; i < s->n; i++)
		if (!i || strcmp(s->text[i], s->text[n - 1]))
			memmove(s->text[n++], s->text[i], sizeof(s->text[0]));
	s->n = n;
}

static void page_of(const struct names *s, struct buf *out)
{
	size_t i;

	lso_put_head(out, "", "", 0, (uint32_t)s->n);
	for (i = 0; i < s->n; i++) {
		struct lso_entry e = {
			.name = s->text[i], .name_len = strlen(s->text[i]), .flags = 256};

		lso_put_entry(out, &e);
	}
	lso_put_tail(out);
}

static void take(void *arg, const struct lso_entry *e)
{
	struct names *s = arg;

	ASSERT_TRUE(s->n < 400 && e->name_len < 8);
	memcpy(s->text[s->n], e->name, e->name_len);
	s->text[s->n++][e->name_len] = 0;
}

/* Against sorting everything: random names, many of them on several targets. */
static void merge_round(unsigned int *seed)
{
	struct names part[TARGETS] = {}, want = {}, got = {};
	struct lso_page pages[TARGETS];
	struct buf raw[TARGETS] = {};
	uint32_t max = (uint32_t)(rand_r(seed) % 100);
	size_t i, k;

	for (i = 0; i < TARGETS; i++) {
		part[i].n = (size_t)rand_r(seed) % 60;
		for (k = 0; k < part[i].n; k++)
			snprintf(part[i].text[k], 8, "%x", rand_r(seed) % 150);
		names_sort(&part[i]);
		for (k = 0; k < part[i].n; k++)
			memcpy(want.text[want.n++], part[i].text[k], 8);
		page_of(&part[i], &raw[i]);
		ASSERT_EQ(lso_page_open(&pages[i], raw[i].data, raw[i].len), 0);
	}
	names_sort(&want);
	if (want.n > max)
		want.n = max;
	ASSERT_EQ(lso_merge(pages, TARGETS, max, take, &got), want.n);
	ASSERT_EQ(got.n, want.n);
	for (i = 0; i < want.n; i++)
		ASSERT_STR(got.text[i], want.text[i]);
	for (i = 0; i < TARGETS; i++)
		buf_free(&raw[i]);
}

static void test_merge(void)
{
	unsigned int seed = 20261130, i;

	for (i = 0; i < 500; i++)
		merge_round(&seed);
}

static void take_flags(void *arg, const struct lso_entry *e)
{
	*(int64_t *)arg = e->flags;
}

/* Of two with one name the one at its owner is shown. */
static void test_misplaced(void)
{
	struct lso_entry wrong = {.name = "o", .name_len = 1, .flags = 65};
	struct lso_entry right = {.name = "o", .name_len = 1, .flags = 64};
	struct lso_page pages[2];
	struct buf a = BUF_INIT, b = BUF_INIT;
	int64_t flags = 0;

	lso_put_head(&a, "", "", 0, 1);
	lso_put_entry(&a, &wrong);
	lso_put_head(&b, "", "", 0, 1);
	lso_put_entry(&b, &right);
	ASSERT_EQ(lso_page_open(&pages[0], a.data, a.len), 0);
	ASSERT_EQ(lso_page_open(&pages[1], b.data, b.len), 0);
	ASSERT_EQ(lso_merge(pages, 2, 10, take_flags, &flags), 1);
	ASSERT_EQ(flags, 64);
	buf_free(&a);
	buf_free(&b);
}

/* Names out of order, and every cut of a page, are refused. */
static void test_malformed(void)
{
	struct names s = {.text = {"a", "b", "c"}, .n = 3};
	struct names bad = {.text = {"b", "a"}, .n = 2};
	struct buf b = BUF_INIT;
	struct lso_page p;
	size_t i;

	page_of(&s, &b);
	for (i = 0; i < b.len - 8; i++) { /* the flags behind the entries are not read */
		struct names got = {};
		int r = lso_page_open(&p, b.data, i);

		ASSERT_TRUE(r == -EINVAL || lso_merge(&p, 1, 10, take, &got) == -EINVAL);
	}
	buf_reset(&b);
	page_of(&bad, &b);
	ASSERT_EQ(lso_page_open(&p, b.data, b.len), 0);
	ASSERT_EQ(lso_page_next(&p), -EINVAL);
	buf_free(&b);
}

UNIT_MAIN("lso", {"the API's example", test_example}, {"second reader", test_second_reader},
	  {"json", test_json}, {"merge", test_merge}, {"misplaced", test_misplaced},
	  {"malformed", test_malformed})
