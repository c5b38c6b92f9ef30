/* SPDX-License-Identifier: BSD-2-Clause */
/* Times in Go's layouts; the texts expected follow from Go's documentation. */
#include "selftests/unit/unit.h"

#include "api/gotime.h"

/* Mon Nov 30 20:45:07.000123 2026 UTC */
#define WHEN (INT64_C(1796071507) * 1000000000 + 123000)

static const struct {
	const char *layout, *want;
} rows[] = {
	{GOTIME_RFC822, "30 Nov 26 20:45 UTC"},
	{"Mon Jan _2 15:04:05 2006", "Mon Nov 30 20:45:07 2026"}, /* ANSIC */
	{"Mon, 02 Jan 2006 15:04:05 -0700", "Mon, 30 Nov 2026 20:45:07 +0000"}, /* RFC1123Z */
	{"2006-01-02T15:04:05Z07:00", "2026-11-30T20:45:07Z"}, /* RFC3339 */
	{"2006-01-02T15:04:05.999999999Z07:00", "2026-11-30T20:45:07.000123Z"},
	{"Jan _2 15:04:05.000", "Nov 30 20:45:07.000"}, /* StampMilli */
	{"Jan _2 15:04:05.000000", "Nov 30 20:45:07.000123"},
	{"3:04PM", "8:45PM"}, /* Kitchen */
	{"Monday, 1/2/06 03:04 pm", "Monday, 11/30/26 08:45 pm"},
	{"02-01-06 -07:00", "30-11-26 +00:00"},
	{"at 15h", "at 20h"},
	{"", ""},
};

static void test_layouts(void)
{
	struct buf b = BUF_INIT;
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		buf_reset(&b);
		gotime_format(WHEN, rows[i].layout, &b);
		ASSERT_STR(buf_cstr(&b), rows[i].want);
	}
	buf_free(&b);
}

static void test_rfc3339(void)
{
	int64_t ns = -1;

	ASSERT_EQ(gotime_parse_rfc3339("2026-11-30T20:45:07.000123Z", &ns), 0);
	ASSERT_EQ(ns, WHEN);
	ASSERT_EQ(gotime_parse_rfc3339("1970-01-01T00:00:01Z", &ns), 0);
	ASSERT_EQ(ns, 1000000000);
	ASSERT_EQ(gotime_parse_rfc3339("0001-01-01T00:00:00Z", &ns), 0);
	ASSERT_EQ(ns, 0);
	ASSERT_EQ(gotime_parse_rfc3339("2026-11-30", &ns), -EINVAL);
	ASSERT_EQ(gotime_parse_rfc3339("2026-11-30T20:45:07+01:00", &ns), -EINVAL);
	ASSERT_EQ(gotime_parse_rfc3339("", &ns), -EINVAL);
}

UNIT_MAIN("gotime", {"layouts", test_layouts}, {"rfc3339", test_rfc3339})
