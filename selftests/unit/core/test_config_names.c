/* SPDX-License-Identifier: BSD-2-Clause */
/* Every key that the daemon's sources ask for by name is in the table, with the type asked for. */
#include "selftests/unit/unit.h"

#include <errno.h>
#include <ftw.h>
#include <regex.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/bits.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "config.h"

static regex_t call;
static int calls, wrong;

static bool type_fits(const char *fn, size_t len, enum config_type type)
{
	static const struct {
		const char *fn;
		uint32_t types;
	} rows[] = {
		{"bool", BIT(CONFIG_BOOL)},   {"int", BIT(CONFIG_INT) | BIT(CONFIG_INT_TEXT)},
		{"size", BIT(CONFIG_SIZE)},   {"ns", BIT(CONFIG_DURATION)},
		{"ms", BIT(CONFIG_DURATION)}, {"text", BIT(CONFIG_TEXT) | BIT(CONFIG_ENUM)},
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		if (strlen(rows[i].fn) == len && !memcmp(rows[i].fn, fn, len))
			return rows[i].types & BIT(type);
	}
	return false;
}

static void check_text(const char *path, const char *p)
{
	regmatch_t m[3];

	for (; !regexec(&call, p, 3, m, 0); p += m[0].rm_eo) {
		char name[128];
		const struct config_key *k;

		snprintf(name, sizeof(name), "%.*s", (int)(m[2].rm_eo - m[2].rm_so),
			 p + m[2].rm_so);
		k = config_key_find(name);
		calls++;
		if (k && type_fits(p + m[1].rm_so, (size_t)(m[1].rm_eo - m[1].rm_so), k->type))
			continue;
		wrong++;
		fprintf(stderr, "%s: \"%s\" is not in the table, or of another type\n", path, name);
	}
}

static int check_file(const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
	autobuf struct buf b = BUF_INIT;
	autofile FILE *f = NULL;
	char chunk[4096];
	size_t n, len = strlen(path);

	if (kind != FTW_F || len < 2 || strcmp(path + len - 2, ".c"))
		return 0;
	f = fopen(path, "re");
	ASSERT_TRUE(f != NULL);
	while ((n = fread(chunk, 1, sizeof(chunk), f)) > 0)
		buf_append(&b, chunk, n);
	ASSERT_EQ(b.err, 0);
	check_text(path, buf_cstr(&b));
	return 0;
}

static void test_names(void)
{
	/* run from the root of the tree, as selftests/run.sh does */
	ASSERT_EQ(regcomp(&call, "config_(bool|int|size|ns|ms|text)\\([^;\"]*\"([a-z0-9_.]+)\"\\)",
			  REG_EXTENDED),
		  0);
	ASSERT_EQ(nftw("daemon", check_file, 16, FTW_PHYS), 0);
	regfree(&call);
	ASSERT_TRUE(calls > 10);
	ASSERT_EQ(wrong, 0);
}

UNIT_MAIN("config_names", {"each name asked for is in the table", test_names})
