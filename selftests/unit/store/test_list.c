/* SPDX-License-Identifier: BSD-2-Clause */
/* Lists against a reference made by sorting the names: prefixes, pages, directories. */
#include "fixture.h"

#define RANDOM_NAMES 500
#define NAMES_MAX 600

static char *names[NAMES_MAX];
static size_t n_names;

static int by_bytes(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void name_add(const char *s)
{
	size_t i;

	for (i = 0; i < n_names; i++) {
		if (!strcmp(names[i], s))
			return;
	}
	names[n_names++] = strdup(s);
}

static void name_add_long(size_t len, char fill, const char *tail)
{
	char s[STORE_NAME_MAX + 1];

	memset(s, fill, len);
	strcpy(s + len - strlen(tail), tail);
	name_add(s);
}

/* The same names each time: 1 to 12 of {a, /, -, _, e acute}, no leading slash. */
static void names_make(void)
{
	static const char *const part[] = {"a", "/", "-", "_", "\xc3\xa9"};
	static const size_t len[] = {255, 256, 502, 503, 504, 512, 1023, 1024};
	uint32_t x = 12345;
	char s[64];
	size_t i;
	int k, n;

	for (k = 0; k < RANDOM_NAMES; k++) {
		x = x * 1103515245 + 12345;
		n = 1 + (int)(x >> 16) % 12;
		for (s[0] = 0; n; n--) {
			x = x * 1103515245 + 12345;
			strcat(s, part[s[0] ? (x >> 16) % 5 : 0]);
		}
		name_add(s);
	}
	for (i = 0; i < sizeof(len) / sizeof(len[0]); i++) {
		name_add_long(len[i], 'L', "");
		name_add_long(len[i], 'L', "x");
		name_add_long(len[i], 'L', "/z");
	}
	name_add("a");
	name_add("a/b");
	name_add("a0");
	name_add("a.");
	qsort(names, n_names, sizeof(names[0]), by_bytes);
}

static void names_free(void)
{
	while (n_names)
		free(names[--n_names]);
}

struct result {
	char *got[NAMES_MAX];
	size_t n;
};

static int collect(void *arg, const struct store_entry *e)
{
	struct result *r = arg;

	ASSERT_TRUE(r->n < NAMES_MAX);
	ASSERT_EQ(strlen(e->name), e->name_len);
	ASSERT_EQ(e->is_dir, e->rec == NULL);
	ASSERT_TRUE(e->is_dir ? e->name[e->name_len - 1] == '/' : e->rec->size == e->name_len);
	r->got[r->n++] = strdup(e->name);
	return 0;
}

static void result_free(struct result *r)
{
	while (r->n)
		free(r->got[--r->n]);
}

/* What the list should be, by the rule and not by the index. */
static void expect(struct result *r, const char *prefix, bool no_recursion)
{
	size_t i, p = strlen(prefix);

	for (i = 0; i < n_names; i++) {
		char e[STORE_NAME_MAX + 1];
		char *slash;

		if (strncmp(names[i], prefix, p))
			continue;
		strcpy(e, names[i]);
		slash = no_recursion ? strchr(e + p, '/') : NULL;
		if (slash)
			slash[1] = 0;
		if (!r->n || strcmp(r->got[r->n - 1], e))
			r->got[r->n++] = strdup(e);
	}
}

static void compare(const struct result *got, const struct result *want)
{
	size_t i;

	for (i = 0; i < got->n && i < want->n; i++)
		ASSERT_STR(got->got[i], want->got[i]);
	ASSERT_EQ(got->n, want->n);
}

/* All pages of @page entries, or one list if 0. */
static void list_all(struct fix *f, const char *prefix, bool no_recursion, size_t page,
		     struct result *r)
{
	struct store_list_opts o = {
		.prefix = prefix, .after = "", .max = page, .no_recursion = no_recursion};
	size_t before;

	do {
		before = r->n;
		ASSERT_EQ(store_list(f->s, &fix_bck, &o, collect, r), 0);
		ASSERT_TRUE(!page || r->n - before <= page);
		o.after = r->n ? r->got[r->n - 1] : "";
	} while (page && r->n - before == page);
}

static void check(struct fix *f, const char *prefix)
{
	static const size_t pages[] = {0, 1, 7, 256};
	size_t i;
	int flat;

	for (flat = 0; flat < 2; flat++) {
		for (i = 0; i < sizeof(pages) / sizeof(pages[0]); i++) {
			struct result got = {}, want = {};

			expect(&want, prefix, flat);
			list_all(f, prefix, flat, pages[i], &got);
			compare(&got, &want);
			result_free(&got);
			result_free(&want);
		}
	}
}

static void fill(struct fix *f)
{
	size_t i;

	/* backwards, so that order of insertion does not help */
	for (i = n_names; i-- > 0;)
		ASSERT_EQ(fix_put(f, names[i], names[i]), 0);
}

static void check_all(struct fix *f)
{
	char longest[STORE_NAME_MAX + 1];
	size_t i;

	check(f, "");
	check(f, "a");
	check(f, "a/");
	check(f, "a/a");
	check(f, "a\xc3\xa9");
	check(f, "nothing");
	check(f, "L");
	memset(longest, 'L', STORE_NAME_MAX);
	for (i = 500; i <= STORE_NAME_MAX; i += 131) {
		longest[i] = 0;
		check(f, longest);
		longest[i] = 'L';
	}
}

static void test_against_reference(void)
{
	size_t paths;

	for (paths = 1; paths <= 3; paths++) {
		struct fix f = {};

		names_make();
		fix_open(&f, paths);
		fill(&f);
		check_all(&f);
		fix_restart(&f);
		check(&f, "");
		names_free();
		fix_close(&f);
	}
}

static void test_after_deletes(void)
{
	struct fix f = {};
	struct store_sum sum;
	uint64_t bytes = 0;
	size_t i, kept = 0;

	names_make();
	fix_open(&f, 2);
	fill(&f);
	for (i = 0; i < n_names; i++) {
		if (i % 3) {
			ASSERT_EQ(fix_delete(&f, names[i]), 0);
			free(names[i]);
		} else {
			bytes += strlen(names[i]);
			names[kept++] = names[i];
		}
	}
	n_names = kept;
	check_all(&f);
	ASSERT_EQ(store_summary(f.s, &fix_bck, "", &sum), 0);
	ASSERT_EQ(sum.objects, kept);
	ASSERT_EQ(sum.bytes, bytes);
	ASSERT_EQ(sum.min_size, 1);
	names_free();
	fix_close(&f);
}

static void test_after_between(void)
{
	struct store_list_opts o = {.prefix = "", .after = "b", .no_recursion = true};
	struct fix f = {};
	struct result r = {};

	fix_open(&f, 2);
	ASSERT_EQ(fix_put(&f, "a/1", "123"), 0);
	ASSERT_EQ(fix_put(&f, "b/1", "123"), 0);
	ASSERT_EQ(fix_put(&f, "b/3", "123"), 0);
	ASSERT_EQ(fix_put(&f, "c", "1"), 0);
	ASSERT_EQ(store_list(f.s, &fix_bck, &o, collect, &r), 0);
	ASSERT_EQ(r.n, 2);
	ASSERT_STR(r.got[0], "b/");
	ASSERT_STR(r.got[1], "c");
	result_free(&r);
	o.after = "b/2"; /* inside: more of b/ is to come */
	ASSERT_EQ(store_list(f.s, &fix_bck, &o, collect, &r), 0);
	ASSERT_EQ(r.n, 2);
	ASSERT_STR(r.got[0], "b/");
	result_free(&r);
	o.after = "b/";
	ASSERT_EQ(store_list(f.s, &fix_bck, &o, collect, &r), 0);
	ASSERT_EQ(r.n, 1);
	ASSERT_STR(r.got[0], "c");
	result_free(&r);
	fix_close(&f);
}

UNIT_MAIN("store/list", {"against a reference", test_against_reference},
	  {"after deletes", test_after_deletes}, {"after, between", test_after_between})
