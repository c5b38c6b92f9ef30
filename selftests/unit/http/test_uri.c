/* SPDX-License-Identifier: BSD-2-Clause */
/* Percent-encoding and UTF-8, against values written by hand. */
#include "../unit.h"
#include "http/uri.h"

static void encode_is(const char *in, const char *path, const char *query)
{
	struct buf b = BUF_INIT;

	http_uri_encode_path(&b, in, strlen(in));
	ASSERT_STR(buf_cstr(&b), path);
	buf_reset(&b);
	http_uri_encode_query(&b, in, strlen(in));
	ASSERT_STR(buf_cstr(&b), query);
	buf_free(&b);
}

static void test_encode(void)
{
	encode_is("", "", "");
	encode_is("/v1/objects/b/aZ09-._~", "/v1/objects/b/aZ09-._~",
		  "%2Fv1%2Fobjects%2Fb%2FaZ09-._~");
	encode_is("a b+c%d?e#f", "a%20b%2Bc%25d%3Fe%23f", "a%20b%2Bc%25d%3Fe%23f");
	encode_is("!$&'()*,:=@;\"\\<>", "%21%24%26%27%28%29%2A%2C%3A%3D%40%3B%22%5C%3C%3E",
		  "%21%24%26%27%28%29%2A%2C%3A%3D%40%3B%22%5C%3C%3E");
	encode_is("\xe4\xbd\xa0\r\n\x7f", "%E4%BD%A0%0D%0A%7F", "%E4%BD%A0%0D%0A%7F");
}

static void decode_is(const char *in, bool form, const char *want)
{
	char s[64];
	ssize_t n;

	snprintf(s, sizeof(s), "%s", in);
	n = http_uri_decode(s, strlen(s), form);
	if (!want) {
		ASSERT_EQ(n, -EINVAL);
		return;
	}
	ASSERT_EQ(n, strlen(want));
	ASSERT_EQ(memcmp(s, want, (size_t)n), 0);
}

static void test_decode(void)
{
	decode_is("", false, "");
	decode_is("a+b%2Bc", false, "a+b+c");
	decode_is("a+b%2Bc", true, "a b+c");
	decode_is("%252F", false, "%2F");
	decode_is("%e4%BD%a0", false, "\xe4\xbd\xa0");
	decode_is("%41", false, "A");
	decode_is("a%4", false, NULL);
	decode_is("%", false, NULL);
	decode_is("%g0", false, NULL);
	decode_is("%0g", false, NULL);
	decode_is("%00", false, NULL);
	decode_is("%%41", false, NULL);
}

static void test_utf8(void)
{
	static const struct {
		bool ok;
		const char *s;
	} rows[] = {
		{true, ""},
		{true, "abc\x01\x7f"},
		{true, "\xc2\x80\xdf\xbf"},
		{true, "\xe0\xa0\x80\xed\x9f\xbf\xee\x80\x80\xef\xbf\xbf"},
		{true, "\xf0\x90\x80\x80\xf4\x8f\xbf\xbf"},
		{false, "\x80"},
		{false, "\xc0\xaf"},
		{false, "\xc1\xbf"},
		{false, "\xc2"},
		{false, "\xc2z"},
		{false, "\xe0\x9f\xbf"},
		{false, "\xed\xa0\x80"},
		{false, "\xe4\xbd"},
		{false, "\xf0\x8f\xbf\xbf"},
		{false, "\xf4\x90\x80\x80"},
		{false, "\xf5\x80\x80\x80"},
		{false, "\xff"},
	};
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		ASSERT_EQ(http_utf8_ok(rows[i].s, strlen(rows[i].s)), rows[i].ok);
	ASSERT_TRUE(!http_utf8_ok("a\0b", 3));
	ASSERT_EQ(http_utf8_span("ab\xff"
				 "c",
				 4),
		  2);
}

UNIT_MAIN("http/uri", {"encode", test_encode}, {"decode", test_decode}, {"UTF-8", test_utf8})
