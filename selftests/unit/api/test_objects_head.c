/* SPDX-License-Identifier: BSD-2-Clause */
/* Entity tags and conditional requests: RFC 9110 13, by table. */
#include "selftests/unit/unit.h"

#include "api/objects.h"
#include "base/bits.h"

/* 2026-11-30 12:00:00 UTC, and a fraction that dates do not show */
#define MTIME_S 1796040000
#define DATE_SAME "Mon, 30 Nov 2026 12:00:00 GMT"
#define DATE_BEFORE "Mon, 30 Nov 2026 11:59:59 GMT"
#define DATE_AFTER "Mon, 30 Nov 2026 12:00:01 GMT"

static struct store_rec record(enum cksum_type type, const char *value)
{
	struct store_rec r = {.ctype = type, .mtime_ns = MTIME_S * INT64_C(1000000000) + 7};

	snprintf(r.cksum, sizeof(r.cksum), "%s", value);
	strcpy(r.blob, "00aa/1");
	return r;
}

static void check_tag(const struct store_rec *r, const char *want)
{
	struct buf b = BUF_INIT;

	obj_etag(r, &b);
	ASSERT_STR(buf_cstr(&b), want);
	buf_free(&b);
}

static void test_tags(void)
{
	struct store_rec r = record(CKSUM_MD5, "900150983cd24fb0d6963f7d28e17f72");
	struct buf custom = BUF_INIT;

	check_tag(&r, "\"900150983cd24fb0d6963f7d28e17f72\"");
	r = record(CKSUM_XXHASH2, "44bc2cf5ad770999");
	/* 1796040000000000007 in base 36, by Python */
	check_tag(&r, "\"v1-44bc2cf5ad770999-dn8j1lidedc7\"");
	r = record(CKSUM_NONE, "");
	check_tag(&r, "\"v1-00aa/1\"");
	ASSERT_EQ(store_custom_add(&custom, "ETag", "abc-2"), 0);
	memcpy(r.custom, custom.data, custom.len);
	r.custom_len = (uint16_t)custom.len;
	check_tag(&r, "\"abc-2\"");
	buf_free(&custom);
}

static const struct {
	const char *name[2], *value[2];
	enum obj_cond want;
} rows[] = {
	{{NULL}, {NULL}, OBJ_COND_GO},
	{{"if-match"}, {"\"aa\""}, OBJ_COND_GO},
	{{"if-match"}, {"\"bb\", \"aa\""}, OBJ_COND_GO},
	{{"if-match"}, {"*"}, OBJ_COND_GO},
	{{"if-match"}, {"\"bb\""}, OBJ_COND_FAILED},
	{{"if-match"}, {"W/\"aa\""}, OBJ_COND_FAILED}, /* strong comparison */
	{{"if-match"}, {""}, OBJ_COND_FAILED},
	{{"if-none-match"}, {"\"aa\""}, OBJ_COND_NOT_MODIFIED},
	{{"if-none-match"}, {"W/\"aa\""}, OBJ_COND_NOT_MODIFIED},
	{{"if-none-match"}, {"*"}, OBJ_COND_NOT_MODIFIED},
	{{"if-none-match"}, {"\"bb\""}, OBJ_COND_GO},
	{{"if-none-match"}, {"\"a,a\", \"bb\""}, OBJ_COND_GO},
	{{"if-unmodified-since"}, {DATE_SAME}, OBJ_COND_GO},
	{{"if-unmodified-since"}, {DATE_AFTER}, OBJ_COND_GO},
	{{"if-unmodified-since"}, {DATE_BEFORE}, OBJ_COND_FAILED},
	{{"if-unmodified-since"}, {"yesterday"}, OBJ_COND_GO}, /* invalid dates are ignored */
	{{"if-modified-since"}, {DATE_SAME}, OBJ_COND_NOT_MODIFIED},
	{{"if-modified-since"}, {DATE_AFTER}, OBJ_COND_NOT_MODIFIED},
	{{"if-modified-since"}, {DATE_BEFORE}, OBJ_COND_GO},
	{{"if-modified-since"}, {"1"}, OBJ_COND_GO},
	/* If-Match over If-Unmodified-Since, If-None-Match over If-Modified-Since */
	{{"if-match", "if-unmodified-since"}, {"\"aa\"", DATE_BEFORE}, OBJ_COND_GO},
	{{"if-match", "if-unmodified-since"}, {"\"bb\"", DATE_AFTER}, OBJ_COND_FAILED},
	{{"if-none-match", "if-modified-since"}, {"\"bb\"", DATE_AFTER}, OBJ_COND_GO},
	{{"if-none-match", "if-modified-since"}, {"\"aa\"", DATE_BEFORE}, OBJ_COND_NOT_MODIFIED},
	{{"if-match", "if-none-match"}, {"\"aa\"", "\"aa\""}, OBJ_COND_NOT_MODIFIED},
	{{"if-match", "if-none-match"}, {"\"bb\"", "\"aa\""}, OBJ_COND_FAILED},
};

static void test_conditions(void)
{
	struct store_rec r = record(CKSUM_MD5, "aa");
	size_t i, k;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct http_field h[2];
		struct http_txn t = {.req.headers = h};

		for (k = 0; k < 2 && rows[i].name[k]; k++)
			h[t.req.n_headers++] =
				(struct http_field){rows[i].name[k], rows[i].value[k]};
		if (obj_conditions(&t, &r) != rows[i].want)
			fprintf(stderr, "row %zu\n", i);
		ASSERT_EQ(obj_conditions(&t, &r), rows[i].want);
	}
}

static void test_if_range(void)
{
	static const struct {
		const char *value;
		bool want;
	} cases[] = {{"\"aa\"", true},	{"\"bb\"", false},    {"W/\"aa\"", false},
		     {DATE_SAME, true}, {DATE_BEFORE, false}, {"nonsense", false}};
	struct store_rec r = record(CKSUM_MD5, "aa");
	struct http_txn none = {};
	size_t i;

	ASSERT_TRUE(obj_if_range(&none, &r));
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct http_field h = {"if-range", cases[i].value};
		struct http_txn t = {.req.headers = &h, .req.n_headers = 1};

		ASSERT_EQ(obj_if_range(&t, &r), cases[i].want);
	}
}

UNIT_MAIN("objects_head", {"tags", test_tags}, {"conditions", test_conditions},
	  {"if-range", test_if_range})
