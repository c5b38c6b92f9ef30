/* SPDX-License-Identifier: BSD-2-Clause */
/* The chunked decoder: whole, byte by byte, and refused. */
#include "../unit.h"
#include "base/buf.h"
#include "base/bits.h"
#include "http/chunked.h"

/* Decode @in in steps of @step input and @room output bytes. Return: 0 done, 1 unfinished, <0. */
static int decode(const char *in, size_t n, size_t step, size_t room, struct buf *out)
{
	struct http_chunked d = {};
	char tmp[64];
	size_t off = 0;

	buf_reset(out);
	while (off < n && d.state != CHUNK_DONE) {
		size_t n_in = MIN(step, n - off), n_out = MIN(room, sizeof(tmp));
		int r = http_chunked_decode(&d, in + off, &n_in, tmp, &n_out);

		if (r < 0)
			return r;
		ASSERT_TRUE(n_in || n_out);
		buf_append(out, tmp, n_out);
		off += n_in;
	}
	return d.state == CHUNK_DONE ? 0 : 1;
}

static void test_good(void)
{
	static const char text[] =
		"5\r\nhello\r\n00A;name=\"v\"\r\n, chunked \r\n0\r\nX: y\r\nZ:\r\n\r\n";
	struct buf out = BUF_INIT;
	size_t step;

	for (step = 1; step < sizeof(text); step++) {
		ASSERT_EQ(decode(text, sizeof(text) - 1, step, 3, &out), 0);
		ASSERT_STR(buf_cstr(&out), "hello, chunked ");
		ASSERT_EQ(decode(text, sizeof(text) - 1, step, 64, &out), 0);
		ASSERT_STR(buf_cstr(&out), "hello, chunked ");
	}
	buf_free(&out);
}

static void test_end_exact(void)
{
	static const char text[] = "1\r\na\r\n0\r\n\r\nGET / HTTP/1.1";
	struct http_chunked d = {};
	size_t n_in = sizeof(text) - 1, n_out = 10;
	char out[10];

	ASSERT_EQ(http_chunked_decode(&d, text, &n_in, out, &n_out), 0);
	ASSERT_EQ(d.state, CHUNK_DONE);
	ASSERT_EQ(n_in, 11);
	ASSERT_EQ(n_out, 1);
}

static void test_bad(void)
{
	static const char *const rows[] = {
		"\r\n",
		"g\r\n",
		"-1\r\n",
		"+1\r\n",
		" 1\r\n",
		"1 \r\n",
		"0x1\r\n",
		"1\n",
		"1\ra",
		"1;a\nb",
		"1\r\nab",
		"1\r\na\n",
		"1\r\na\r\r",
		"8000000000000000\r\n",
		"10000000000000000\r\n",
		"0\r\n\n",
		"0\r\nX: y\n",
		"0\r\n folded\r\n",
		"0\r\n: y\r\n",
		"0\r\n\r\r",
		"1;\001\r\n",
	};
	struct buf out = BUF_INIT;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		int r = decode(rows[i], strlen(rows[i]), 1, 64, &out);

		if (r != -EBADMSG)
			fprintf(stderr, "row %zu: %d\n", i, r);
		ASSERT_EQ(r, -EBADMSG);
		ASSERT_EQ(decode(rows[i], strlen(rows[i]), 999, 64, &out), -EBADMSG);
	}
	ASSERT_EQ(decode("7fffffffffffffff\r\na", 19, 99, 64, &out), 1);
	ASSERT_EQ(decode("", 0, 1, 64, &out), 1);
	buf_free(&out);
}

static void test_limits(void)
{
	struct buf in = BUF_INIT, out = BUF_INIT;
	size_t i;

	buf_str(&in, "1;");
	for (i = 0; i < HTTP_CHUNK_LINE_MAX; i++)
		buf_char(&in, 'x');
	ASSERT_EQ(decode(in.data, in.len, 4096, 64, &out), -EBADMSG);
	buf_reset(&in);
	for (i = 0; i < 2000; i++)
		buf_char(&in, '0');
	ASSERT_EQ(decode(in.data, in.len, 4096, 64, &out), -EBADMSG);
	buf_reset(&in);
	buf_str(&in, "0\r\n");
	for (i = 0; i < HTTP_TRAILERS_MAX / 6 + 1; i++)
		buf_str(&in, "X: y\r\n");
	ASSERT_EQ(decode(in.data, in.len, 4096, 64, &out), -EBADMSG);
	buf_free(&in);
	buf_free(&out);
}

UNIT_MAIN("http/chunked", {"good, in every step", test_good}, {"ends exactly", test_end_exact},
	  {"refused", test_bad}, {"limits", test_limits})
