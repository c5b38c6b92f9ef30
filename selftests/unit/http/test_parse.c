/* SPDX-License-Identifier: BSD-2-Clause */
/* The head parser: what it takes, and what it must refuse. */
#include "../unit.h"
#include "http/http.h"
#include "http/parse.h"

static const struct http_limits limits = {.max_head = 2048, .max_headers = 20};

struct head {
	struct http_scan scan;
	struct http_req req;
	char *text;
	struct http_fault fault; /* status 0: good */
};

static void head_free(struct head *h)
{
	free(h->text);
	*h = (struct head){};
}

/* As a connection does: scan, parse, target. */
static void head_do(struct head *h, const char *p, size_t n)
{
	int r;

	memset(h, 0, sizeof(*h));
	r = http_head_scan(&h->scan, p, n, &limits, &h->fault);
	if (r == 0)
		r = http_head_parse(p, &h->scan, &h->req, &h->text, &h->fault);
	if (r == 0)
		r = http_target_parse(&h->req, http_target_room(&h->req, h->text, &h->scan),
				      &h->fault);
	ASSERT_TRUE(r == 0 || r == 1);
	ASSERT_EQ(r != 0, h->fault.status != 0);
}

static int status_of(const char *text)
{
	struct head h;
	int status;

	head_do(&h, text, strlen(text));
	status = h.fault.status;
	head_free(&h);
	return status;
}

static void test_good(void)
{
	static const char text[] =
		"PUT /v1/objects/b/d%2Fo+x?provider=ais&a=b+c%2B&empty= HTTP/1.1\r\n"
		"Host: 127.0.0.1:8080\r\n"
		"Content-LENGTH: 0012 \r\n"
		"Ais-Custom-Md:\ta=b\r\n"
		"AIS-Custom-Md: c=d, e\r\n"
		"Expect: 100-Continue\r\n\r\nbody";
	struct head h;

	head_do(&h, text, sizeof(text) - 1);
	ASSERT_EQ(h.fault.status, 0);
	ASSERT_EQ(h.scan.pos, sizeof(text) - 1 - 4);
	ASSERT_EQ(h.req.method, HTTP_PUT);
	ASSERT_STR(h.req.method_text, "PUT");
	ASSERT_STR(h.req.target, "/v1/objects/b/d%2Fo+x?provider=ais&a=b+c%2B&empty=");
	ASSERT_STR(h.req.path, "/v1/objects/b/d/o+x");
	ASSERT_EQ(h.req.path_len, 19);
	ASSERT_STR(h.req.query, "provider=ais&a=b+c%2B&empty=");
	ASSERT_EQ(h.req.n_params, 3);
	ASSERT_STR(h.req.params[1].name, "a");
	ASSERT_STR(h.req.params[1].value, "b c+");
	ASSERT_STR(h.req.params[2].value, "");
	ASSERT_EQ(h.req.length, 12);
	ASSERT_TRUE(h.req.expect && h.req.keep_alive);
	ASSERT_EQ(h.req.n_headers, 5);
	ASSERT_STR(h.req.headers[3].name, "ais-custom-md");
	ASSERT_STR(h.req.headers[3].value, "c=d, e");
	ASSERT_STR(h.req.headers[2].value, "a=b");
	head_free(&h);
}

/* Framing that two readers could read differently (P-20). */
static void test_ambiguous(void)
{
	static const char *const lines[] = {
		"Content-Length: 5\r\nTransfer-Encoding: chunked",
		"Transfer-Encoding: chunked\r\nContent-Length: 5",
		"Content-Length: 5\r\nContent-Length: 6",
		"Content-Length: 5\r\nContent-Length: 5",
		"Content-Length: 5, 5",
		"Content-Length: +5",
		"Content-Length: -5",
		"Content-Length: 5 5",
		"Content-Length: 0x5",
		"Content-Length: 5a",
		"Content-Length:",
		"Content-Length: 9223372036854775808",
		"Content-Length: 18446744073709551621",
		"Content-Length : 5",
		"Transfer-Encoding: xchunked",
		"Transfer-Encoding: chunked, identity",
		"Transfer-Encoding: gzip, chunked",
		"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
		"Transfer-Encoding:\r\n chunked",
		"Transfer-Encoding: \vchunked",
		" Content-Length: 5",
		"X: a\r\n folded",
		"X: a\r\n\tfolded",
		"X: a\rContent-Length: 5",
		"X: a\nContent-Length: 5",
		"X\001: a",
		"X: \001",
		"X",
		": a",
		"X Y: a",
		"Host: b",
	};
	char text[256];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(lines); i++) {
		snprintf(text, sizeof(text), "POST /a HTTP/1.1\r\nHost: a\r\n%s\r\n\r\n", lines[i]);
		if (status_of(text) != 400)
			fprintf(stderr, "row %zu: %s\n", i, lines[i]);
		ASSERT_EQ(status_of(text), 400);
	}
	ASSERT_EQ(status_of("POST /a HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n"), 400);
}

static const struct {
	int status;
	const char *text;
} heads[] = {
	{0, "GET / HTTP/1.1\r\nHost: a\r\n\r\n"},
	{0, "GET / HTTP/1.1\r\nHost:\r\n\r\n"},
	{0, "GET / HTTP/1.0\r\n\r\n"},
	{0, "GET http://h:80/a?b HTTP/1.1\r\nHost: h\r\n\r\n"},
	{0, "GET http://h HTTP/1.1\r\nHost: h\r\n\r\n"},
	{0, "OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n"},
	{0, "BREW / HTTP/1.1\r\nHost: a\r\n\r\n"},
	{0, "GET /\xc3\xa9 HTTP/1.1\r\nHost: a\r\n\r\n"},
	{0, "GET / HTTP/1.1\r\nHost: [::1]:80\r\nContent-Length: 9223372036854775807\r\n\r\n"},
	{400, "GET / HTTP/1.1\r\n\r\n"},
	{400, "GET / HTTP/1.1\r\nHost: a b\r\n\r\n"},
	{400, "GET / HTTP/1.1\r\nHost: a/b\r\n\r\n"},
	{400, "GET * HTTP/1.1\r\nHost: a\r\n\r\n"},
	{400, "GET a HTTP/1.1\r\nHost: a\r\n\r\n"},
	{400, "GET https://h/a HTTP/1.1\r\nHost: h\r\n\r\n"},
	{400, "GET http:///a HTTP/1.1\r\nHost: h\r\n\r\n"},
	{400, "CONNECT a:80 HTTP/1.1\r\nHost: a\r\n\r\n"},
	{400, "GET /\r\n\r\n"},
	{400, "GET  / HTTP/1.1\r\nHost: a\r\n\r\n"},
	{400, "GET /  HTTP/1.1\r\nHost: a\r\n\r\n"},
	{400, "GET /a b HTTP/1.1\r\nHost: a\r\n\r\n"},
	{400, "GET\t/ HTTP/1.1\r\nHost: a\r\n\r\n"},
	{400, "GET /#f HTTP/1.1\r\nHost: a\r\n\r\n"},
	{400, "GET / HTTP/1.1\nHost: a\n\n"},
	{400, "GET / HTTP/1.1\r\nHost: a\n\r\n"},
	{400, " GET / HTTP/1.1\r\nHost: a\r\n\r\n"},
	{400, "\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n"},
	{400, "G\x80T / HTTP/1.1\r\nHost: a\r\n\r\n"},
	{400, "\x16\x03\x01\x02"},
	{400, "GET / HTPP/1.1\r\nHost: a\r\n\r\n"},
	{505, "GET / HTTP/2.0\r\nHost: a\r\n\r\n"},
	{505, "GET / HTTP/1.2\r\nHost: a\r\n\r\n"},
	{505, "GET / HTTP/0.9\r\nHost: a\r\n\r\n"},
	{505, "GET / HTTP/11.1\r\nHost: a\r\n\r\n"},
	{505, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"},
	{417, "PUT / HTTP/1.1\r\nHost: a\r\nExpect: 200-ok\r\n\r\n"},
	{0, "PUT / HTTP/1.0\r\nExpect: 200-ok\r\n\r\n"},
	{400, "GET //v1//buckets HTTP/1.1\r\nHost: a\r\n\r\n"},
	{400, "GET /%2Fv1 HTTP/1.1\r\nHost: a\r\n\r\n"},
	{400, "GET /%zz HTTP/1.1\r\nHost: a\r\n\r\n"},
	{400, "GET /%4 HTTP/1.1\r\nHost: a\r\n\r\n"},
	{400, "GET /% HTTP/1.1\r\nHost: a\r\n\r\n"},
	{400, "GET /%00 HTTP/1.1\r\nHost: a\r\n\r\n"},
	{400, "GET /%ff HTTP/1.1\r\nHost: a\r\n\r\n"},
	{400, "GET /%c0%af HTTP/1.1\r\nHost: a\r\n\r\n"},
	{400, "GET /%ed%a0%80 HTTP/1.1\r\nHost: a\r\n\r\n"},
	{400, "GET /a?b=%zz HTTP/1.1\r\nHost: a\r\n\r\n"},
	{400, "GET /a?b%00 HTTP/1.1\r\nHost: a\r\n\r\n"},
};

static void test_heads(void)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(heads); i++) {
		if (status_of(heads[i].text) != heads[i].status)
			fprintf(stderr, "row %zu: %s\n", i, heads[i].text);
		ASSERT_EQ(status_of(heads[i].text), heads[i].status);
	}
}

static void test_nul(void)
{
	static const char in_line[] = "GET /\0 HTTP/1.1\r\nHost: a\r\n\r\n";
	static const char in_value[] = "GET / HTTP/1.1\r\nHost: a\r\nX: a\0b\r\n\r\n";
	struct head h;

	head_do(&h, in_line, sizeof(in_line) - 1);
	ASSERT_EQ(h.fault.status, 400);
	head_free(&h);
	head_do(&h, in_value, sizeof(in_value) - 1);
	ASSERT_EQ(h.fault.status, 400);
	head_free(&h);
}

static void test_keep_alive(void)
{
	static const struct {
		bool keep;
		const char *text;
	} rows[] = {
		{true, "GET / HTTP/1.1\r\nHost: a\r\n\r\n"},
		{false, "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"},
		{false, "GET / HTTP/1.1\r\nHost: a\r\nConnection: foo , CLOSE\r\n\r\n"},
		{true, "GET / HTTP/1.1\r\nHost: a\r\nConnection: closed\r\n\r\n"},
		{false, "GET / HTTP/1.0\r\n\r\n"},
		{true, "GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n"},
		{false, "GET / HTTP/1.0\r\nConnection: keep-alive\r\nConnection: close\r\n\r\n"},
	};
	struct head h;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		head_do(&h, rows[i].text, strlen(rows[i].text));
		ASSERT_EQ(h.fault.status, 0);
		ASSERT_EQ(h.req.keep_alive, rows[i].keep);
		head_free(&h);
	}
}

/* Fed byte by byte, a head ends exactly at its end. */
static void test_incremental(void)
{
	static const char text[] = "GET /a HTTP/1.1\r\nHost: a\r\nX-Y: z\r\n\r\nGET /next";
	struct http_scan s = {};
	struct http_fault f;
	size_t n, end = (size_t)(strstr(text, "GET /next") - text);

	for (n = 0; n < end; n++)
		ASSERT_EQ(http_head_scan(&s, text, n, &limits, &f), -EAGAIN);
	ASSERT_EQ(http_head_scan(&s, text, n, &limits, &f), 0);
	ASSERT_EQ(s.pos, end);
}

static void test_limits(void)
{
	struct buf b = BUF_INIT;
	size_t i;

	buf_str(&b, "GET /");
	for (i = 0; i < 2048; i++)
		buf_char(&b, 'a');
	ASSERT_EQ(status_of(b.data), 414);
	buf_reset(&b);
	buf_str(&b, "GET / HTTP/1.1\r\nHost: a\r\nX: ");
	for (i = 0; i < 2048; i++)
		buf_char(&b, 'a');
	ASSERT_EQ(status_of(b.data), 431);
	buf_reset(&b);
	buf_str(&b, "GET / HTTP/1.1\r\nHost: a\r\n");
	for (i = 0; i < 19; i++)
		buf_str(&b, "A:b\r\n");
	buf_str(&b, "\r\n");
	ASSERT_EQ(status_of(b.data), 0); /* 20 lines */
	b.len -= 2;
	buf_str(&b, "A:b\r\n\r\n");
	ASSERT_EQ(status_of(b.data), 431);
	buf_free(&b);
}

static void test_params(void)
{
	struct buf b = BUF_INIT;
	size_t i;

	buf_str(&b, "GET /?");
	for (i = 0; i < 99; i++)
		buf_fmt(&b, "p%zu&&", i);
	i = b.len;
	buf_str(&b, " HTTP/1.1\r\nHost: a\r\n\r\n");
	ASSERT_EQ(status_of(b.data), 0);
	b.len = i;
	buf_str(&b, "one=more HTTP/1.1\r\nHost: a\r\n\r\n");
	ASSERT_EQ(status_of(b.data), 400);
	buf_free(&b);
}

UNIT_MAIN("http/parse", {"a good head", test_good}, {"ambiguous framing", test_ambiguous},
	  {"table of heads", test_heads}, {"NUL bytes", test_nul}, {"keep-alive", test_keep_alive},
	  {"byte by byte", test_incremental}, {"limits", test_limits},
	  {"count of parameters", test_params})
