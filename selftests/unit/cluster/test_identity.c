/* SPDX-License-Identifier: BSD-2-Clause */
/* Join secrets and node IDs: which files are taken, which refused and how. */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../unit.h"
#include "cluster/identity.h"

struct folder {
	char dir[64], path[96];
};

static void begin(struct folder *f)
{
	strcpy(f->dir, "/tmp/test_identity.XXXXXX");
	ASSERT_TRUE(mkdtemp(f->dir) != NULL);
	snprintf(f->path, sizeof(f->path), "%s/secret", f->dir);
}

static void end(struct folder *f)
{
	char cmd[96];

	snprintf(cmd, sizeof(cmd), "rm -rf %s", f->dir);
	ASSERT_EQ(system(cmd), 0);
}

static void put(const char *path, const char *text, size_t n, mode_t mode)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	ASSERT_TRUE(fd >= 0);
	ASSERT_EQ(write(fd, text, n), n);
	ASSERT_EQ(fchmod(fd, mode), 0);
	close(fd);
}

static void taken(const char *text, size_t n, const char *want, size_t want_n)
{
	struct identity id;
	struct folder f;
	char err[256] = "";

	begin(&f);
	put(f.path, text, n, 0600);
	ASSERT_EQ(identity_init(&id, f.path, err, sizeof(err)), 0);
	ASSERT_EQ(id.secret_len, want_n);
	ASSERT_EQ(memcmp(id.secret, want, want_n), 0);
	identity_deinit(&id);
	identity_deinit(&id);
	end(&f);
}

static void test_secrets(void)
{
	taken("abc\n", 4, "abc", 3);
	taken("abc", 3, "abc", 3);
	taken(" abc \r\nmore\n", 12, " abc \r", 6);
	taken("\0\n", 2, "\0", 1);
}

static void refused(const char *text, size_t n, mode_t mode, const char *says)
{
	struct identity id;
	struct folder f;
	char err[256] = "";

	begin(&f);
	if (text)
		put(f.path, text, n, mode);
	ASSERT_EQ(identity_init(&id, f.path, err, sizeof(err)), -EINVAL);
	if (!strstr(err, says) || !strstr(err, f.path))
		fprintf(stderr, "%s\n", err);
	ASSERT_TRUE(strstr(err, says) && strstr(err, f.path));
	end(&f);
}

static void test_refused_secrets(void)
{
	static char big[IDENTITY_SECRET_MAX + 1];
	struct identity id;
	char err[256];

	memset(big, 'x', sizeof(big));
	refused(NULL, 0, 0, "No such file");
	refused("abc\n", 4, 0640, "chmod 600");
	refused("abc\n", 4, 0604, "chmod 600");
	refused("", 0, 0600, "first line is empty");
	refused("\nabc\n", 5, 0600, "first line is empty");
	refused(big, sizeof(big), 0600, "longer than");
	ASSERT_EQ(identity_init(&id, "", err, sizeof(err)), -EINVAL);
	ASSERT_TRUE(strstr(err, "node_join_secret_path") != NULL);
	ASSERT_EQ(identity_init(&id, "/tmp", err, sizeof(err)), -EINVAL);
}

static void test_keys(void)
{
	struct identity a, b;
	struct folder f;
	char err[256];

	begin(&f);
	put(f.path, "abc\n", 4, 0600);
	ASSERT_EQ(identity_init(&a, f.path, err, sizeof(err)), 0);
	ASSERT_EQ(identity_init(&b, f.path, err, sizeof(err)), 0);
	ASSERT_TRUE(memcmp(a.verify_key, b.verify_key, sizeof(a.verify_key)) != 0);
	identity_deinit(&a);
	identity_deinit(&b);
	end(&f);
}

static void test_ids(void)
{
	char id[SMAP_ID_MAX + 1], again[SMAP_ID_MAX + 1], err[256] = "", path[96];
	struct folder f;

	begin(&f);
	ASSERT_EQ(identity_node_id("tMine0001", f.dir, SMAP_ROLE_TARGET, id, err, sizeof(err)), 0);
	ASSERT_STR(id, "tMine0001");
	ASSERT_EQ(identity_node_id("short", f.dir, SMAP_ROLE_TARGET, id, err, sizeof(err)),
		  -EINVAL);
	ASSERT_EQ(identity_node_id("", f.dir, SMAP_ROLE_TARGET, id, err, sizeof(err)), 0);
	ASSERT_EQ(strlen(id), 9);
	ASSERT_EQ(id[0], 't');
	ASSERT_EQ(identity_node_id("", f.dir, SMAP_ROLE_GATEWAY, again, err, sizeof(err)), 0);
	ASSERT_STR(again, id);
	snprintf(path, sizeof(path), "%s/node_id", f.dir);
	put(path, "no id at all\n", 13, 0644);
	ASSERT_EQ(identity_node_id("", f.dir, SMAP_ROLE_TARGET, id, err, sizeof(err)), -EINVAL);
	ASSERT_TRUE(strstr(err, path) != NULL);
	ASSERT_TRUE(identity_node_id("", "/nowhere", SMAP_ROLE_TARGET, id, err, sizeof(err)) < 0);
	end(&f);
}

UNIT_MAIN("identity", {"secrets", test_secrets}, {"refused secrets", test_refused_secrets},
	  {"each process has a pair of its own", test_keys}, {"node IDs", test_ids})
