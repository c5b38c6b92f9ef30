/* SPDX-License-Identifier: BSD-2-Clause */
/* The embedded metadata store: what is left after crashes and damage. */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../unit.h"
#include "cluster/meta.h"

struct fixture {
	char dir[64], path[128];
	struct meta *m;
};

static void begin(struct fixture *f)
{
	strcpy(f->dir, "/tmp/test_meta.XXXXXX");
	ASSERT_TRUE(mkdtemp(f->dir) != NULL);
	snprintf(f->path, sizeof(f->path), "%s/meta", f->dir);
	ASSERT_EQ(meta_open_embedded(f->path, &f->m), 0);
}

static void end(struct fixture *f)
{
	char cmd[160];

	meta_free(f->m);
	snprintf(cmd, sizeof(cmd), "rm -rf %s", f->dir);
	ASSERT_EQ(system(cmd), 0);
}

static void save(struct fixture *f, const char *name, int64_t version, const char *text)
{
	struct meta_object o = {name, version, text, strlen(text)};

	ASSERT_EQ(meta_save(f->m, &o, 1), 0);
}

/* Loading gives this, with @result: 0, or META_E_PREV when the newest version is lost. */
static void loads_as(struct fixture *f, const char *name, int result, int64_t version,
		     const char *text)
{
	autobuf struct buf b = BUF_INIT;
	int64_t got = -1;

	ASSERT_EQ(meta_load(f->m, name, &b, &got), result);
	ASSERT_EQ(got, version);
	ASSERT_STR(buf_cstr(&b), text);
}

static void loads(struct fixture *f, const char *name, int64_t version, const char *text)
{
	loads_as(f, name, 0, version, text);
}

static void file_name(const struct fixture *f, const char *file, char out[256])
{
	snprintf(out, 256, "%s/%s", f->path, file);
}

static void put_file(const struct fixture *f, const char *file, const char *text, size_t n)
{
	char path[256];
	int fd;

	file_name(f, file, path);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	ASSERT_TRUE(fd >= 0);
	ASSERT_EQ(write(fd, text, n), n);
	close(fd);
}

static void cut_file(const struct fixture *f, const char *file, off_t by)
{
	char path[256];
	struct stat st;

	file_name(f, file, path);
	ASSERT_EQ(stat(path, &st), 0);
	ASSERT_EQ(truncate(path, st.st_size - by), 0);
}

static void test_round(void)
{
	struct meta_object both[] = {{"smap", 7, "{\"a\":1}", 7}, {"bmd", 3, "", 0}};
	autobuf struct buf b = BUF_INIT;
	struct fixture f;
	int64_t v;

	begin(&f);
	ASSERT_EQ(meta_load(f.m, "smap", &b, &v), -ENOENT);
	ASSERT_EQ(meta_save(f.m, both, 2), 0);
	loads(&f, "smap", 7, "{\"a\":1}");
	loads(&f, "bmd", 3, "");
	save(&f, "smap", 8, "{}");
	loads(&f, "smap", 8, "{}");
	loads(&f, "bmd", 3, "");
	end(&f);
}

/* hash by sha256sum */
static void test_format(void)
{
	static const char file[] =
		"pagewire-meta-v1 smap 7 7 "
		"015abd7f5cc57a2dd94b7590f04ad8084273905ee33ec5cebeae62276a97f862\n{\"a\":1}";
	struct fixture f;

	begin(&f);
	put_file(&f, "smap.json", file, sizeof(file) - 1);
	loads(&f, "smap", 7, "{\"a\":1}");
	end(&f);
}

static void test_damage(void)
{
	autobuf struct buf b = BUF_INIT;
	struct fixture f;
	int64_t v;

	begin(&f);
	save(&f, "smap", 1, "one");
	save(&f, "smap", 2, "two");
	cut_file(&f, "smap.json", 1);
	loads_as(&f, "smap", META_E_PREV, 1, "one");
	/* what is saved now must not push the good copy out with the damaged one */
	save(&f, "smap", 3, "three");
	loads(&f, "smap", 3, "three");
	cut_file(&f, "smap.json", 2);
	cut_file(&f, "smap.json.prev", 2);
	ASSERT_EQ(meta_load(f.m, "smap", &b, &v), -EUCLEAN);
	end(&f);
}

static void test_crash(void)
{
	struct fixture f;
	char from[256], to[256];

	begin(&f);
	save(&f, "smap", 1, "one");
	/* while the new file was written */
	put_file(&f, "smap.json.new", "pagewire-me", 11);
	loads(&f, "smap", 1, "one");
	save(&f, "smap", 2, "two");
	loads(&f, "smap", 2, "two");
	/* the current file is the previous one too, the new one has not its name yet */
	file_name(&f, "smap.json", from);
	file_name(&f, "smap.json.prev", to);
	ASSERT_EQ(unlink(to), 0);
	ASSERT_EQ(link(from, to), 0);
	loads(&f, "smap", 2, "two");
	save(&f, "smap", 3, "three");
	/* no crash makes the file vanish: then a version is lost */
	ASSERT_EQ(unlink(from), 0);
	loads_as(&f, "smap", META_E_PREV, 2, "two");
	end(&f);
}

static void test_unwrap(void)
{
	static const char *const wrong[] = {
		"",
		"\n",
		"pagewire-meta-v1 smap 7 7\n{\"a\":1}",
		"pagewire-meta-v2 smap 7 7 015abd7f5cc57a2dd94b7590f04ad8084273905ee33ec5cebeae622"
		"76a97f862\n{\"a\":1}",
		"pagewire-meta-v1 bmd 7 7 015abd7f5cc57a2dd94b7590f04ad8084273905ee33ec5cebeae6227"
		"6a97f862\n{\"a\":1}",
		"pagewire-meta-v1 smap -7 7 015abd7f5cc57a2dd94b7590f04ad8084273905ee33ec5cebeae622"
		"76a97f862\n{\"a\":1}",
		"pagewire-meta-v1 smap 7 7 015abd7f5cc57a2dd94b7590f04ad8084273905ee33ec5cebeae6227"
		"6a97f862 x\n{\"a\":1}",
		"pagewire-meta-v1 smap 7 7 015abd7f5cc57a2dd94b7590f04ad8084273905ee33ec5cebeae6227"
		"6a97f862\n{\"a\":2}",
	};
	int64_t v;
	size_t i, off;

	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		ASSERT_EQ(meta_unwrap("smap", wrong[i], strlen(wrong[i]), &off, &v), -EUCLEAN);
}

UNIT_MAIN("meta_embedded", {"saves and loads", test_round}, {"file format", test_format},
	  {"damaged files", test_damage}, {"crashes between steps", test_crash},
	  {"wrong envelopes", test_unwrap})
