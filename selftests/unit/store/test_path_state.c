/* SPDX-License-Identifier: BSD-2-Clause */
/* The state file of mountpaths: what is read, what is refused. */
#include "fixture.h"

#include "store/paths.h"

#define UUID "01234567-89ab-4def-8123-456789abcdef"
#define ROW(path, uuid, state)                                                                     \
	"{\"scrubbed_ns\":5,\"mountpaths\":[{\"path\":\"" path "\",\"uuid\":\"" uuid               \
	"\",\"state\":\"" state "\",\"attached\":true,\"strays\":true}]}"

static int parse(const char *text, struct path_states *p)
{
	return path_states_parse(text, strlen(text), p);
}

static void test_reads(void)
{
	struct path_states p = {};

	ASSERT_EQ(parse(ROW("/mnt/d0", UUID, "disabled"), &p), 0);
	ASSERT_TRUE(p.found);
	ASSERT_EQ(p.scrubbed_ns, 5);
	ASSERT_EQ(p.n, 1);
	ASSERT_STR(p.rows[0].path, "/mnt/d0");
	ASSERT_STR(p.rows[0].uuid, UUID);
	ASSERT_EQ(p.rows[0].state, MPATH_DISABLED);
	ASSERT_TRUE(p.rows[0].attached && p.rows[0].strays);
	path_states_free(&p);
	ASSERT_EQ(parse("{\"scrubbed_ns\":0,\"mountpaths\":[]}", &p), 0);
	ASSERT_EQ(p.n, 0);
	path_states_free(&p);
}

static void test_refuses(void)
{
	static const char *const bad[] = {
		"",
		"{",
		"[]",
		"{}",
		"{\"scrubbed_ns\":0}",
		"{\"mountpaths\":[]}",
		"{\"scrubbed_ns\":0,\"mountpaths\":[1]}",
		"{\"scrubbed_ns\":0,\"mountpaths\":[{}]}",
		ROW("mnt", UUID, "available"),
		ROW("/mnt", "0123", "available"),
		ROW("/mnt", UUID, "failed"), /* never written */
		ROW("/mnt", UUID, "?"),
	};
	struct path_states p = {};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(bad); i++)
		ASSERT_EQ(parse(bad[i], &p), -EUCLEAN);
	ASSERT_TRUE(!p.rows);
}

/* A damaged file is said so, and stops the start: what it kept is not known. */
static void test_damaged_file(void)
{
	struct errtext err = {(char[512]){""}, 512};
	struct path_states p;
	struct fix f = {};
	char path[120];
	FILE *o;

	fix_dirs(&f, 1);
	ASSERT_EQ(path_states_read(f.dir, &p, &err), 0);
	ASSERT_TRUE(!p.found);
	snprintf(path, sizeof(path), "%s/mountpaths.json", f.dir);
	o = fopen(path, "we");
	fputs("{\"scrubbed_ns\":", o);
	fclose(o);
	ASSERT_EQ(path_states_read(f.dir, &p, &err), -EUCLEAN);
	ASSERT_TRUE(strstr(err.text, path) != NULL);
	fix_close(&f);
}

UNIT_MAIN("store/path_state", {"reads", test_reads}, {"refuses", test_refuses},
	  {"damaged file", test_damaged_file})
