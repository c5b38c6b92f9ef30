/* SPDX-License-Identifier: BSD-2-Clause */
/* Escaped surrogate pairs become characters; nothing else changes. */
#include "selftests/unit/unit.h"

#include "api/pairs.h"
#include "base/json.h"

static const struct {
	const char *in, *want;
} rows[] = {
	{"", ""},
	{"\"\\ud836\\udc00\"", "\"\xf0\x9d\xa0\x80\""}, /* U+1D800 */
	{"\"\\uD83D\\uDE00\"", "\"\xf0\x9f\x98\x80\""}, /* U+1F600 */
	{"\"\\ud800\\udc00x\\udbff\\udfff\"", "\"\xf0\x90\x80\x80x\xf4\x8f\xbf\xbf\""},
	{"\"\\\\ud836\\udc00\"", "\"\\\\ud836\\udc00\""}, /* an escaped backslash, a lone half */
	{"\"\\\\\\ud836\\udc00\"", "\"\\\\\xf0\x9d\xa0\x80\""},
	{"\"\\ud836\"", "\"\\ud836\""},
	{"\"\\udc00\\ud836\"", "\"\\udc00\\ud836\""},
	{"\"\\ud836\\u0041\"", "\"\\ud836\\u0041\""},
	{"\"\\u00e9\\n\"", "\"\\u00e9\\n\""},
	{"\\ud836\\udc0", "\\ud836\\udc0"},
	{"\\ud836\\", "\\ud836\\"},
	{"\\", "\\"},
};

static void test_rows(void)
{
	struct buf b = BUF_INIT;
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		buf_reset(&b);
		buf_str(&b, rows[i].in);
		pairs_to_utf8(&b);
		ASSERT_EQ(b.len, strlen(rows[i].want));
		ASSERT_STR(buf_cstr(&b), rows[i].want);
	}
	buf_free(&b);
}

/* Every character above U+FFFF, escaped, is itself after json-c. */
static void test_all(void)
{
	struct buf b = BUF_INIT;
	uint32_t c;

	for (c = 0x10000; c < 0x110000; c++) {
		struct json_object *o = NULL;
		char want[5] = {(char)(0xf0 | c >> 18), (char)(0x80 | (c >> 12 & 63)),
				(char)(0x80 | (c >> 6 & 63)), (char)(0x80 | (c & 63)), 0};

		buf_reset(&b);
		buf_fmt(&b, "\"\\u%04x\\u%04x\"", 0xd800 + ((c - 0x10000) >> 10),
			0xdc00 + (c & 0x3ff));
		pairs_to_utf8(&b);
		if (json_parse(b.data, b.len, &o) < 0 || strcmp(json_object_get_string(o), want))
			CU_FAIL_FATAL("a character changed");
		json_object_put(o);
	}
	buf_free(&b);
}

UNIT_MAIN("pairs", {"rows", test_rows}, {"all characters", test_all})
