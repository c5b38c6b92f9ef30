/* SPDX-License-Identifier: BSD-2-Clause */
/* Every row of the decision, and bodies of every path against the bytes of the file. */
#include "selftests/unit/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/bits.h"
#include "base/cleanup.h"
#include "steer/steer.h"

#define K 1024

static const struct {
	struct steer_input in;
	const char *path, *reason;
} rows[] = {
	{{.body = STEER_BODY_BYTES, .size = 0}, "produce", "produced"},
	{{.body = STEER_BODY_BYTES, .size = 1 << 20, .sendfile_on = true}, "produce", "produced"},
	{{.body = STEER_BODY_BLOB, .size = 1, .checksummed = true}, "produce", "checksummed"},
	{{.body = STEER_BODY_BLOB, .size = 0, .small_max = 32 * K}, "small", "small-body"},
	{{.body = STEER_BODY_BLOB, .size = 32 * K, .small_max = 32 * K}, "small", "small-body"},
	{{.body = STEER_BODY_BLOB,
	  .size = 32 * K + 1,
	  .small_max = 32 * K,
	  .can_sendfile = true,
	  .sendfile_on = true},
	 "sendfile",
	 "large-body"},
	{{.body = STEER_BODY_BLOB, .size = 32 * K + 1, .small_max = 32 * K, .sendfile_on = true},
	 "copy",
	 "forced"},
	{{.body = STEER_BODY_BLOB, .size = 1, .small_max = 0, .can_sendfile = true},
	 "copy",
	 "policy"},
	{{.body = STEER_BODY_BLOB,
	  .size = 1,
	  .small_max = 0,
	  .can_sendfile = true,
	  .sendfile_on = true},
	 "sendfile",
	 "large-body"},
};

static void test_rows(void)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct steer_choice c = steer_decide(&rows[i].in);

		ASSERT_STR(steer_path_names[c.path], rows[i].path);
		ASSERT_STR(steer_reason_names[c.reason], rows[i].reason);
	}
}

static void test_names_complete(void)
{
	size_t i;

	for (i = 0; i < STEER_PATH_NR; i++)
		ASSERT_TRUE(steer_path_names[i] != NULL);
	for (i = 0; i < STEER_REASON_NR; i++)
		ASSERT_TRUE(steer_reason_names[i] && steer_reason_help[i]);
}

static char expect_byte(uint64_t off)
{
	return (char)((off * 2654435761u) >> 13);
}

static int make_file(size_t size)
{
	int fd = memfd_create("blob", MFD_CLOEXEC);
	size_t i;
	char *p = malloc(size + 1);

	ASSERT_TRUE(fd >= 0 && p);
	for (i = 0; i < size; i++)
		p[i] = expect_byte(i);
	ASSERT_EQ(pwrite(fd, p, size, 0), size);
	free(p);
	return fd;
}

static struct config *config_of(const char *sendfile, const char *small_max)
{
	struct config *a, *b, *c;
	char err[256] = "";

	ASSERT_EQ(config_default(&a), 0);
	ASSERT_EQ(config_with(a, "steer.sendfile", sendfile, &b, err, sizeof(err)), 0);
	ASSERT_EQ(config_with(b, "steer.small_max", small_max, &c, err, sizeof(err)), 0);
	config_put(a);
	config_put(b);
	return c;
}

/* Drain what is readable of @fd into a check against the file's bytes. Return: bytes seen. */
static uint64_t check_readable(int fd, uint64_t at)
{
	char got[8192];
	uint64_t seen = 0;
	ssize_t n, i;

	while ((n = recv(fd, got, sizeof(got), MSG_DONTWAIT)) > 0) {
		for (i = 0; i < n; i++)
			ASSERT_EQ(got[i], expect_byte(at + seen + (uint64_t)i));
		seen += (uint64_t)n;
	}
	ASSERT_TRUE(n < 0 && errno == EAGAIN);
	return seen;
}

/* Send a stream through a small socket, so that it is cut by EAGAIN again and again. */
static void pump(struct http_txn *t, uint64_t off, uint64_t len)
{
	int sv[2], small = 4608;
	uint64_t sent = 0, seen = 0;
	bool full = false;

	ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, sv), 0);
	setsockopt(sv[0], SOL_SOCKET, SO_SNDBUF, &small, sizeof(small));
	while (sent < len) {
		ssize_t n = t->resp.stream->send(t->resp.stream, sv[0], 1 << 20);

		full |= n == -EAGAIN;
		ASSERT_TRUE(n > 0 || n == -EAGAIN);
		if (n > 0)
			sent += (uint64_t)n;
		else
			seen += check_readable(sv[1], off + seen);
	}
	seen += check_readable(sv[1], off + seen);
	ASSERT_EQ(seen, len);
	ASSERT_TRUE(full || len < 100000);
	close(sv[0]);
	close(sv[1]);
}

static void one_body(struct config *cfg, const char *path, uint64_t off, uint64_t len)
{
	struct http_txn t = {.req.method = HTTP_GET};
	uint64_t i;

	ASSERT_EQ(steer_blob(&t, cfg, make_file(300 * K), off, len), 0);
	ASSERT_STR(steer_path_names[t.resp.path], path);
	if (t.resp.body == HTTP_BODY_BYTES) {
		ASSERT_EQ(t.resp.bytes.len, len);
		for (i = 0; i < len; i++)
			ASSERT_EQ(t.resp.bytes.data[i], expect_byte(off + i));
	} else {
		ASSERT_EQ(t.resp.length, len);
		/* only what comes from the page cache can be waited for */
		ASSERT_EQ(t.resp.stream->waits != NULL, !strcmp(path, "sendfile"));
		ASSERT_EQ(t.resp.stream->fetch != NULL, !strcmp(path, "sendfile"));
		pump(&t, off, len);
		t.resp.stream->free(t.resp.stream);
	}
	buf_free(&t.resp.bytes);
}

static void test_paths_send_the_same_bytes(void)
{
	static const uint64_t ranges[][2] = {{0, 0},	      {0, 1},	    {5, 4095},
					     {0, 32 * K},     {1, 32 * K},  {0, 32 * K + 1},
					     {7, 100000},     {0, 300 * K}, {300 * K, 0},
					     {300 * K - 1, 1}};
	struct config *on = config_of("true", "32KiB"), *off = config_of("false", "0");
	struct config *always = config_of("true", "0");
	size_t i;

	for (i = 0; i < ARRAY_SIZE(ranges); i++) {
		uint64_t len = ranges[i][1];

		one_body(on, len <= 32 * K ? "small" : "sendfile", ranges[i][0], len);
		one_body(off, len ? "copy" : "small", ranges[i][0], len);
		one_body(always, len ? "sendfile" : "small", ranges[i][0], len);
	}
	config_put(on);
	config_put(off);
	config_put(always);
}

static void test_short_file(void)
{
	struct config *cfg = config_of("true", "0");
	struct http_txn t = {.req.method = HTTP_GET};
	int sv[2], fd = make_file(100 * K), keep = dup(fd);

	ASSERT_EQ(steer_blob(&t, cfg, make_file(10), 0, 11), -EIO);
	ASSERT_EQ(steer_blob(&t, cfg, make_file(10), 11, 0), -EIO);
	ASSERT_EQ(steer_blob(&t, cfg, make_file(10), UINT64_MAX, 2), -EIO);
	/* a file cut behind our back ends the stream, it does not loop */
	ASSERT_EQ(steer_blob(&t, cfg, fd, 0, 100 * K), 0);
	ASSERT_EQ(ftruncate(keep, 0), 0);
	ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, sv), 0);
	ASSERT_EQ(t.resp.stream->send(t.resp.stream, sv[0], 4096), 0);
	t.resp.stream->free(t.resp.stream);
	close(sv[0]);
	close(sv[1]);
	close(keep);
	config_put(cfg);
}

static void test_head_has_length_only(void)
{
	struct config *cfg = config_of("true", "32KiB");
	struct http_txn t = {.req.method = HTTP_HEAD};

	ASSERT_EQ(steer_blob(&t, cfg, make_file(77), 0, 77), 0);
	ASSERT_EQ(t.resp.body, HTTP_BODY_NONE);
	ASSERT_TRUE(t.resp.has_length);
	ASSERT_EQ(t.resp.length, 77);
	ASSERT_EQ(t.resp.path, STEER_PATH_NONE);
	config_put(cfg);
}

UNIT_MAIN("steer", {"rows", test_rows}, {"names complete", test_names_complete},
	  {"paths send the same bytes", test_paths_send_the_same_bytes},
	  {"short file", test_short_file}, {"head has length only", test_head_has_length_only})
