/* SPDX-License-Identifier: BSD-2-Clause */
/* Name templates: the three notations, counts, limits, what is refused. */
#include "selftests/unit/unit.h"

#include "api/template.h"

/* All names joined by blanks; @want_count of the parse. */
static void expect(const char *text, uint64_t want_count, const char *want)
{
	char name[TEMPLATE_LEN_MAX + 1], got[4096] = "", err[300];
	struct template t;

	ASSERT_EQ(template_parse(text, &t, err, sizeof(err)), 0);
	ASSERT_EQ(t.count, want_count);
	while (template_next(&t, name)) {
		if (*got)
			strcat(got, " ");
		strcat(got, name);
	}
	ASSERT_STR(got, want);
	ASSERT_TRUE(!template_next(&t, name));
}

static void refuse(const char *text, const char *why)
{
	struct template t;
	char err[300] = "";

	ASSERT_EQ(template_parse(text, &t, err, sizeof(err)), -EINVAL);
	if (!strstr(err, why))
		fprintf(stderr, "%s: %s\n", text, err);
	ASSERT_TRUE(strstr(err, why) != NULL);
}

static void test_brace(void)
{
	expect("p-{1..3}", 3, "p-1 p-2 p-3");
	expect("p-{0008..0011..2}-s", 2, "p-0008-s p-0010-s");
	expect("{0..2}/{00..01}.tar", 6, "0/00.tar 0/01.tar 1/00.tar 1/01.tar 2/00.tar 2/01.tar");
	/* the narrower bound sets the padding */
	expect("{1..0003}", 3, "1 2 3");
	expect("{08..10}", 3, "08 09 10");
	expect("{5..5..9}", 1, "5");
}

static void test_percent(void)
{
	char name[TEMPLATE_LEN_MAX + 1], err[300];
	struct template t;

	expect("x%01dy", 10, "x0y x1y x2y x3y x4y x5y x6y x7y x8y x9y");
	ASSERT_EQ(template_parse("p-%04d", &t, err, sizeof(err)), 0);
	ASSERT_EQ(t.count, 10000);
	ASSERT_TRUE(template_next(&t, name));
	ASSERT_STR(name, "p-0000");
	while (template_next(&t, name))
		;
	ASSERT_STR(t.text, "p-%04d");
}

static void test_at(void)
{
	expect("o@3", 4, "o0 o1 o2 o3");
	expect("a@01b@1", 4, "a00b0 a00b1 a01b0 a01b1");
}

/* Without a range it is a prefix; a '*' at its end is nothing. */
static void test_prefix(void)
{
	static const char *const texts[][2] = {
		{"", ""},	  {"dir/", "dir/"},	  {"dir/*", "dir/"},
		{"100%", "100%"}, {"me@home", "me@home"}, {"a}b", "a}b"}};
	char name[TEMPLATE_LEN_MAX + 1], err[300];
	struct template t;
	size_t i;

	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		ASSERT_EQ(template_parse(texts[i][0], &t, err, sizeof(err)), 0);
		ASSERT_EQ(t.n_ranges, 0);
		ASSERT_EQ(t.prefix_len, strlen(texts[i][1]));
		ASSERT_STR(t.text, texts[i][1]);
		ASSERT_TRUE(!template_next(&t, name));
	}
}

static void test_refused(void)
{
	char longest[1100];

	refuse("p-{1..3", "expected {START..END}");
	refuse("p-{}", "expected");
	refuse("p-{a..b}", "expected");
	refuse("p-{3..1}", "expected");
	refuse("p-{1..3..0}", "expected");
	refuse("p-{-1..3}", "expected");
	refuse("p-{1..3..1..1}", "expected");
	refuse("p-{1...3}", "expected");
	refuse("{1..99999999999999999999}", "expected");
	refuse("{0..10000000}", "over 10000000 names");
	refuse("{1..9999}{1..9999}", "over 10000000 names");
	refuse("{0..999999999999999999}{0..999999999999999999}{0..999999999999999999}", "names");
	refuse("%08d", "over 10000000 names");
	refuse("{1..2}{1..2}{1..2}{1..2}{1..2}{1..2}{1..2}{1..2}{1..2}", "over 8 ranges");
	memset(longest, 'x', sizeof(longest));
	longest[1025] = 0;
	refuse(longest, "over 1024 bytes");
	memcpy(longest, "{1..9}", 6);
	longest[1024] = 0;
	memcpy(longest + 1016, "{1..999}", 8);
	longest[1024] = 0;
	{
		struct template t;
		char err[300], name[TEMPLATE_LEN_MAX + 1];

		/* 1 + 1010 + 3 bytes */
		ASSERT_EQ(template_parse(longest, &t, err, sizeof(err)), 0);
		while (template_next(&t, name))
			ASSERT_TRUE(strlen(name) <= 1014);
		ASSERT_EQ(strlen(name), 1014);
	}
}

UNIT_MAIN("template", {"brace", test_brace}, {"percent", test_percent}, {"at", test_at},
	  {"prefix", test_prefix}, {"refused", test_refused})
