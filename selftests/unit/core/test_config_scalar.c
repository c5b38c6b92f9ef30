/* SPDX-License-Identifier: BSD-2-Clause */
/* Durations, sizes, booleans, times. Expected values by hand and from Go's time package. */
#include "selftests/unit/unit.h"

#include <errno.h>

#include "base/bits.h"
#include "config_priv.h"

#define S INT64_C(1000000000)

static void test_parse_duration(void)
{
	static const struct {
		const char *text;
		int64_t ns;
	} good[] = {
		{"0", 0},
		{"0s", 0},
		{"10s", 10 * S},
		{"1h30m", 5400 * S},
		{"2h0m", 7200 * S},
		{"500ms", S / 2},
		{"1.5s", 3 * S / 2},
		{".5m", 30 * S},
		{"1.000000001s", S + 1},
		{"3us", 3000},
		{"3\xc2\xb5s", 3000},
		{"3\xce\xbcs", 3000},
		{"7ns", 7},
		{"1h1m1s1ms1us1ns", 3661 * S + 1001001},
		{"2562047h47m16.854775807s", INT64_MAX},
		{"0.123456789012345678s", 123456789},
	};
	static const char *const bad[] = {"",
					  "10",
					  "s",
					  "-1s",
					  "1 s",
					  "1s ",
					  "1d",
					  "1h-",
					  ".s",
					  "1..5s",
					  "+1s",
					  "1S",
					  "0x1s",
					  "1e3s",
					  "2562047h47m16.854775808s",
					  "99999999999999999999s",
					  "9223372036854775807h",
					  "00"};
	int64_t ns;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(good); i++) {
		ASSERT_EQ(config_parse_duration(good[i].text, &ns), 0);
		ASSERT_EQ(ns, good[i].ns);
	}
	for (i = 0; i < ARRAY_SIZE(bad); i++)
		ASSERT_EQ(config_parse_duration(bad[i], &ns), -EINVAL);
}

static void test_format_duration(void)
{
	/* the forms of spec/http-api-checked.md 1.8-1.9 and of Go below a second */
	static const struct {
		int64_t ns;
		const char *text;
	} rows[] = {
		{0, "0s"},
		{7200 * S, "2h0m"},
		{3600 * S, "1h0m"},
		{60 * S, "1m"},
		{20 * S, "20s"},
		{S / 10, "100ms"},
		{75 * S, "1m15s"},
		{3661 * S, "1h1m1s"},
		{3605 * S, "1h0m5s"},
		{600 * S, "10m"},
		{3 * S / 2, "1.5s"},
		{60 * S + S / 4, "1m0.25s"},
		{1500000, "1.5ms"},
		{2500, "2.5\xc2\xb5s"},
		{7, "7ns"},
		{S + 1, "1.000000001s"},
		{INT64_MAX, "2562047h47m16.854775807s"},
	};
	char text[64];
	int64_t back;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		config_format_duration(rows[i].ns, text, sizeof(text));
		ASSERT_STR(text, rows[i].text);
		ASSERT_EQ(config_parse_duration(text, &back), 0);
		ASSERT_EQ(back, rows[i].ns);
	}
}

static void test_sizes(void)
{
	static const struct {
		const char *text;
		int64_t n;
		const char *printed;
	} good[] = {
		{"10", 10, "10B"},
		{"0", 0, "0B"},
		{"0B", 0, "0B"},
		{"32KiB", 32768, "32KiB"},
		{"32kib", 32768, "32KiB"},
		{"2gb", 2000000000, "1953125KiB"},
		{"2g", INT64_C(2) << 30, "2GiB"},
		{"1.5GiB", INT64_C(3) << 29, "1536MiB"},
		{"1TiB", INT64_C(1) << 40, "1TiB"},
		{"1000", 1000, "1000B"},
		{"7EiB", INT64_C(7) << 60, "7EiB"},
		{"9223372036854775807", INT64_MAX, "9223372036854775807B"},
	};
	static const char *const bad[] = {"",
					  "KiB",
					  "-1",
					  "1 KiB",
					  "1KiBs",
					  "1.5",
					  "8EiB",
					  "0x10",
					  "1e3",
					  "1,5k",
					  "9223372036854775808"};
	char text[64];
	int64_t n;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(good); i++) {
		ASSERT_EQ(config_parse_size(good[i].text, &n), 0);
		ASSERT_EQ(n, good[i].n);
		config_format_size(n, text, sizeof(text));
		ASSERT_STR(text, good[i].printed);
	}
	for (i = 0; i < ARRAY_SIZE(bad); i++)
		ASSERT_EQ(config_parse_size(bad[i], &n), -EINVAL);
}

static void test_query_true(void)
{
	static const char *const yes[] = {"1", "t", "T", "true", "True", "TRUE", "y", "yes", "on"};
	static const char *const no[] = {"Y", "YES", "ON", "tRuE", "", "0", "false", "true "};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(yes); i++)
		ASSERT_TRUE(config_query_true(yes[i]));
	for (i = 0; i < ARRAY_SIZE(no); i++)
		ASSERT_TRUE(!config_query_true(no[i]));
}

static void test_times(void)
{
	/* date -u -d '2026-01-01' +%s is 1767225600 */
	static const struct {
		int64_t ns;
		const char *text;
	} rows[] = {
		{INT64_C(1767225600) * S, "2026-01-01 00:00:00 +0000 UTC"},
		{INT64_C(1767225600) * S + S / 2, "2026-01-01 00:00:00.5 +0000 UTC"},
		{INT64_C(1767225600) * S + 1, "2026-01-01 00:00:00.000000001 +0000 UTC"},
		{0, "0001-01-01 00:00:00 +0000 UTC"},
	};
	static const char *const bad[] = {"",
					  "2026-01-01",
					  "2026-01-01 00:00:00",
					  "2026-13-01 00:00:00 +0000 UTC",
					  "2026-01-01 00:00:00 +0100 CET",
					  "2026-01-01 00:00:00. +0000 UTC "};
	char text[64];
	int64_t ns;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		config_format_time(rows[i].ns, text, sizeof(text));
		ASSERT_STR(text, rows[i].text);
		ASSERT_EQ(config_parse_time(rows[i].text, &ns), 0);
		ASSERT_EQ(ns, rows[i].ns);
	}
	for (i = 0; i < ARRAY_SIZE(bad); i++)
		ASSERT_EQ(config_parse_time(bad[i], &ns), -EINVAL);
}

UNIT_MAIN("config_scalar", {"durations are read", test_parse_duration},
	  {"durations are printed", test_format_duration}, {"sizes", test_sizes},
	  {"booleans of queries", test_query_true}, {"times", test_times})
