/* SPDX-License-Identifier: BSD-2-Clause */
/* HTTP dates, against date(1). */
#include "../unit.h"
#include <stdint.h>
#include "http/uri.h"

static void test_format(void)
{
	char s[30];

	http_date_format(784111777, s);
	ASSERT_STR(s, "Sun, 06 Nov 1994 08:49:37 GMT");
	http_date_format(0, s);
	ASSERT_STR(s, "Thu, 01 Jan 1970 00:00:00 GMT");
	http_date_format(1709164800, s);
	ASSERT_STR(s, "Thu, 29 Feb 2024 00:00:00 GMT");
	http_date_format(4102444799, s);
	ASSERT_STR(s, "Thu, 31 Dec 2099 23:59:59 GMT");
	http_date_format(-1, s);
	ASSERT_STR(s, "Thu, 01 Jan 1970 00:00:00 GMT");
	http_date_format(INT64_MAX, s);
	ASSERT_STR(s, "Fri, 31 Dec 9999 23:59:59 GMT");
}

static void test_parse(void)
{
	static const struct {
		const char *s;
		int64_t want; /* -1: refused */
	} rows[] = {
		{"Sun, 06 Nov 1994 08:49:37 GMT", 784111777},
		{"Sunday, 06-Nov-94 08:49:37 GMT", 784111777},
		{"Sun Nov  6 08:49:37 1994", 784111777},
		{"Wed Nov 16 08:49:37 1994", 784975777},
		{"Thu, 29 Feb 2024 00:00:00 GMT", 1709164800},
		{"Sat, 31 Dec 2016 23:59:60 GMT", 1483228799},
		{"Thu, 30 Feb 2024 00:00:00 GMT", -1},
		{"Sun, 00 Nov 1994 08:49:37 GMT", -1},
		{"Sun, 06 Nov 1994 24:00:00 GMT", -1},
		{"Sun, 06 Nov 1994 08:60:00 GMT", -1},
		{"Sun, 06 Nov 1994 08:49:37", -1},
		{"Sun, 06 Nov 1994 08:49:37 UTC", -1},
		{"Sun, 06 Nov 1994 08:49:37 GMT ", -1},
		{"Sun, 6 Nov 1994 08:49:37 GMT", -1},
		{"sun, 06 Nov 1994 08:49:37 GMT", -1},
		{"06 Nov 1994 08:49:37 GMT", -1},
		{"Sun Nov 6 08:49:37 1994", -1},
		{"784111777", -1},
		{"", -1},
	};
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int64_t got = -1;
		int r = http_date_parse(rows[i].s, &got);

		ASSERT_EQ(r, rows[i].want < 0 ? -EINVAL : 0);
		ASSERT_EQ(got, rows[i].want);
	}
}

UNIT_MAIN("http/date", {"format", test_format}, {"parse", test_parse})
