/* SPDX-License-Identifier: BSD-2-Clause */
/* The logger: form of a line, escaping, levels, what is kept. stderr is a pipe here. */
#include "selftests/unit/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <regex.h>
#include <stdbool.h>
#include <unistd.h>

#include "log.h"

static char line[8192];

/* Where stderr goes while a line is logged. */
static struct {
	int saved, pipe[2];
} tap;

static void tap_open(void)
{
	ASSERT_EQ(pipe2(tap.pipe, O_CLOEXEC), 0);
	tap.saved = dup(2);
	ASSERT_EQ(dup2(tap.pipe[1], 2), 2);
}

/* What was written since tap_open(), into @line. */
static void tap_close(void)
{
	ssize_t n;

	dup2(tap.saved, 2);
	close(tap.saved);
	close(tap.pipe[1]);
	n = read(tap.pipe[0], line, sizeof(line) - 1);
	close(tap.pipe[0]);
	ASSERT_TRUE(n >= 0);
	line[n] = 0;
}

static bool matches(const char *pattern)
{
	regex_t re;
	int r;

	ASSERT_EQ(regcomp(&re, pattern, REG_EXTENDED | REG_NOSUB), 0);
	r = regexec(&re, line, 0, NULL, 0);
	regfree(&re);
	if (r)
		fprintf(stderr, "got: %s\n", line);
	return r == 0;
}

#define STAMP "^[0-9]{4}-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-6][0-9]\\.[0-9]{6}Z "

static void test_form(void)
{
	tap_open();
	errno = EXDEV;
	log_warn("put.failed", "object=%s code=%d", "ais://b/o", -5);
	ASSERT_EQ(errno, EXDEV);
	tap_close();
	ASSERT_TRUE(matches(STAMP "warn put\\.failed object=ais://b/o code=-5\n$"));
}

static void test_no_line_can_be_forged(void)
{
	tap_open();
	log_info("http.bad", "head=\"%s\"", "x\n2026 error fake\r\x1b[2J\x7f\xc2\x9bM \xc3\xa4");
	tap_close();
	ASSERT_TRUE(NULL != strstr(line, "http.bad head=\"x\\x0a2026 error fake\\x0d\\x1b[2J\\x7f"
					 "\\xc2\\x9bM \xc3\xa4\"\n"));
	ASSERT_TRUE(strchr(line, '\n') == line + strlen(line) - 1);
}

static void test_level(void)
{
	tap_open();
	log_debug("loop.round", "n=%d", 1);
	log_set_level(LOG_ERROR);
	log_warn("a", "b=%d", 1);
	log_error("c", "d=%d", 2);
	log_set_level(LOG_INFO);
	tap_close();
	ASSERT_TRUE(matches(STAMP "error c d=2\n$"));
}

static void test_long_lines_are_cut(void)
{
	static char big[10000];

	memset(big, 1, sizeof(big) - 1);
	tap_open();
	log_info("big", "x=%s", big);
	tap_close();
	ASSERT_TRUE(strlen(line) <= 4096 && strlen(line) > 4000);
	ASSERT_STR(line + strlen(line) - 8, "\\x01...\n");
}

static void test_tail_by_level_and_offset(void)
{
	autobuf struct buf all = BUF_INIT, some = BUF_INIT, rest = BUF_INIT;
	const char *last;

	tap_open();
	log_error("tail.e", "n=%d", 1);
	log_info("tail.i", "n=%d", 2);
	log_warn("tail.w", "n=%d", 3);
	tap_close();
	log_tail(LOG_DEBUG, 0, &all);
	log_tail(LOG_WARN, 0, &some);
	ASSERT_EQ(all.err, 0);
	ASSERT_TRUE(strstr(all.data, "info tail.i n=2\n") != NULL);
	ASSERT_TRUE(strstr(some.data, "error tail.e n=1\n") != NULL);
	ASSERT_TRUE(strstr(some.data, "warn tail.w n=3\n") != NULL);
	ASSERT_TRUE(!strstr(some.data, " info "));
	ASSERT_TRUE(all.len > strlen(line) && !strcmp(all.data + all.len - strlen(line), line));
	/* the offset counts bytes of the text asked for */
	last = strstr(some.data, "warn tail.w");
	log_tail(LOG_WARN, (size_t)(last - some.data), &rest);
	ASSERT_STR(rest.data, "warn tail.w n=3\n");
	buf_reset(&rest);
	log_tail(LOG_WARN, some.len + 5, &rest);
	ASSERT_EQ(rest.len, 0);
}

static void *log_many(void *arg)
{
	int i;

	for (i = 0; i < 4000; i++)
		log_info("many", "thread=%d n=%d pad=%0100d", *(int *)arg, i, 0);
	return NULL;
}

static void test_ring_keeps_the_last_mib(void)
{
	autobuf struct buf b = BUF_INIT;
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC), saved = dup(2), i, id[4];
	pthread_t t[4];
	const char *p, *end;

	dup2(null, 2);
	for (i = 0; i < 4; i++) {
		id[i] = i;
		ASSERT_EQ(pthread_create(&t[i], NULL, log_many, &id[i]), 0);
	}
	for (i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	dup2(saved, 2);
	close(saved);
	close(null);
	log_tail(LOG_DEBUG, 0, &b);
	ASSERT_TRUE(b.len <= LOG_KEEP_BYTES && b.len > LOG_KEEP_BYTES - 4096);
	/* whole lines only, the last of them the last one logged */
	for (p = b.data; *p; p = end + 1) {
		end = strchr(p, '\n');
		ASSERT_TRUE(end != NULL);
		if (strncmp(p + 27, " info many thread=", 18))
			CU_FAIL_FATAL("a torn line is kept");
	}
	ASSERT_TRUE(strstr(b.data, " n=3999 ") != NULL);
}

static void test_full_pipe_does_not_block(void)
{
	autobuf struct buf b = BUF_INIT;
	char chunk[4096] = {};
	int i;

	tap_open();
	fcntl(tap.pipe[1], F_SETFL, O_NONBLOCK);
	while (write(tap.pipe[1], chunk, sizeof(chunk)) > 0)
		;
	fcntl(tap.pipe[1], F_SETFL, 0);
	for (i = 0; i < 2; i++)
		log_info("jam", "n=%d", i);
	tap_close();
	log_tail(LOG_DEBUG, 0, &b);
	ASSERT_TRUE(strstr(b.data, "info jam n=1\n") != NULL);
}

UNIT_MAIN("log", {"form of a line", test_form},
	  {"no line can be forged", test_no_line_can_be_forged}, {"level", test_level},
	  {"long lines are cut", test_long_lines_are_cut},
	  {"tail by level and offset", test_tail_by_level_and_offset},
	  {"the ring keeps the last MiB", test_ring_keeps_the_last_mib},
	  {"a full pipe does not block", test_full_pipe_does_not_block})
