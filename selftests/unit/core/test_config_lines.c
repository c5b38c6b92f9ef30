/* SPDX-License-Identifier: BSD-2-Clause */
/* Where keys stand in a JSON text. */
#include "selftests/unit/unit.h"

#include <errno.h>

#include "config_lines.h"

static struct config_lines *lines_of(const char *text)
{
	struct config_lines *l = NULL;

	ASSERT_EQ(config_lines_new(text, strlen(text), &l), 0);
	return l;
}

static void test_lines(void)
{
	struct config_lines *l = lines_of("{ \"a\": {\n"
					  "  \"b\": [1, {\"x\": 2}, \"s:\\\"{\"],\n"
					  "  \"c\":\n"
					  "  { \"d\": 1 } },\n"
					  "\"e.f\": \"}\",\n"
					  "\"g\": {} , \"h\"\n"
					  ": null }");
	size_t line = 0;

	ASSERT_EQ(config_lines_of(l, "a"), 1);
	ASSERT_EQ(config_lines_of(l, "a.b"), 2);
	ASSERT_EQ(config_lines_of(l, "a.c"), 3);
	ASSERT_EQ(config_lines_of(l, "a.c.d"), 4);
	ASSERT_EQ(config_lines_of(l, "e.f"), 5);
	ASSERT_EQ(config_lines_of(l, "g"), 6);
	ASSERT_EQ(config_lines_of(l, "h"), 6);
	/* the nearest section around what is missing, or the first line */
	ASSERT_EQ(config_lines_of(l, "a.c.missing"), 3);
	ASSERT_EQ(config_lines_of(l, "missing"), 1);
	ASSERT_EQ(config_lines_of(l, ""), 1);
	ASSERT_EQ(config_lines_of(NULL, "a"), 1);
	ASSERT_TRUE(!config_lines_double(l, &line));
	config_lines_free(l);
	config_lines_free(NULL);
}

static void test_doubles(void)
{
	struct config_lines *l = lines_of("{\"a\": {\"b\": 1},\n\"c\": {\"b\": 1},\n\"a.b\": 2}");
	size_t line = 0;

	ASSERT_STR(config_lines_double(l, &line), "a.b");
	ASSERT_EQ(line, 3);
	config_lines_free(l);
}

UNIT_MAIN("config_lines", {"lines", test_lines}, {"doubles", test_doubles})
