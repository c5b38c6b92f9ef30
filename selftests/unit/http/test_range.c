/* SPDX-License-Identifier: BSD-2-Clause */
/* Byte ranges: syntax, clamping, the end. */
#include "../unit.h"
#include <stdint.h>
#include "http/uri.h"

#define SYNTAX HTTP_RANGE_E_SYNTAX
#define BEYOND HTTP_RANGE_E_BEYOND

static void test_table(void)
{
	static const struct {
		const char *s;
		uint64_t size;
		int r;
		uint64_t off, len;
	} rows[] = {
		{"bytes=0-0", 100, 0, 0, 1},
		{"bytes=0-", 100, 0, 0, 100},
		{"bytes=-5", 100, 0, 95, 5},
		{"bytes=-500", 100, 0, 0, 100},
		{"bytes=5-100", 15, 0, 5, 10},
		{"bytes=99-", 100, 0, 99, 1},
		{"bytes=99-99", 100, 0, 99, 1},
		{"bytes=0-109", 100, 0, 0, 100},
		{"bytes= 1-2", 100, 0, 1, 2},
		{"bytes=1-2,", 100, 0, 1, 2},
		{"bytes=1-2 , ", 100, 0, 1, 2},
		{"Bytes=1-2", 100, 0, 1, 2},
		{"bytes=0-0", 1, 0, 0, 1},
		{"bytes=1-18446744073709551615", 3, 0, 1, 2},
		{"bytes=1-99999999999999999999999", 3, 0, 1, 2},
		{"bytes=100-", 100, BEYOND, 0, 0},
		{"bytes=99999999999999999999999-", 100, BEYOND, 0, 0},
		{"bytes=-0", 100, BEYOND, 0, 0},
		{"bytes=0-", 0, BEYOND, 0, 0},
		{"bytes=-5", 0, BEYOND, 0, 0},
		{"bytes=0-0", 0, BEYOND, 0, 0},
		{"bytes=5-2", 100, SYNTAX, 0, 0},
		{"bytes=abc", 100, SYNTAX, 0, 0},
		{"bytes=", 100, SYNTAX, 0, 0},
		{"bytes=-", 100, SYNTAX, 0, 0},
		{"bytes", 100, SYNTAX, 0, 0},
		{"", 100, SYNTAX, 0, 0},
		{"chars=1-2", 100, SYNTAX, 0, 0},
		{"bytes=1-2,4-5", 100, SYNTAX, 0, 0},
		{"bytes=1-2,,", 100, SYNTAX, 0, 0},
		{"bytes=1-2x", 100, SYNTAX, 0, 0},
		{"bytes=1 -2", 100, SYNTAX, 0, 0},
		{"bytes=--2", 100, SYNTAX, 0, 0},
		{"bytes=+1-2", 100, SYNTAX, 0, 0},
		{"bytes=1", 100, SYNTAX, 0, 0},
		{"bytes=0x1-2", 100, SYNTAX, 0, 0},
	};
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint64_t off = 0, len = 0;
		int r = http_range(rows[i].s, rows[i].size, &off, &len);

		if (r != rows[i].r)
			fprintf(stderr, "row %zu: %s\n", i, rows[i].s);
		ASSERT_EQ(r, rows[i].r);
		ASSERT_HEX(off, rows[i].off);
		ASSERT_HEX(len, rows[i].len);
	}
}

UNIT_MAIN("http/range", {"table", test_table})
