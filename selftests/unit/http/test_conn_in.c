/* SPDX-License-Identifier: BSD-2-Clause */
/* Request bodies of a live server: framing faults, Expect, early answers, limits, discarding. */
#include "live.h"

static void count(struct http_txn *t)
{
	struct live *s = t->ctx;

	atomic_fetch_add(&s->handled, 1);
	http_reply_text(t, 200, "ok");
}

static void refuse(struct http_txn *t)
{
	http_reply_error(t, 403, NULL, "no");
}

static void redirect(struct http_txn *t)
{
	t->resp.status = 307;
	http_header(t, "Location", "http://127.0.0.1:1/x");
	http_reply(t);
}

static void collected(struct http_txn *t)
{
	struct buf b = BUF_INIT;

	buf_fmt(&b, "%zu", t->body.len);
	http_reply_buf(t, "text/plain", &b);
}

static void collect(struct http_txn *t)
{
	struct live *s = t->ctx;

	http_collect(t, 1 << 20, s->io, collected);
}

static void start(struct live *s)
{
	static struct http_route routes[] = {
		{"/count", BIT(SMAP_NET_PUBLIC), ~0U, count, NULL},
		{"/refuse", BIT(SMAP_NET_PUBLIC), ~0U, refuse, NULL},
		{"/redirect", BIT(SMAP_NET_PUBLIC), ~0U, redirect, NULL},
		{"/collect", BIT(SMAP_NET_PUBLIC), ~0U, collect, NULL},
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(routes); i++)
		routes[i].ctx = s;
	s->opts.routes = routes;
	s->opts.n_routes = ARRAY_SIZE(routes);
	live_start(s);
}

/* Each is answered once, then the stream ends; what is pipelined behind never runs (P-20). */
static void test_smuggling(void)
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
		"Content-Length: a",
		"Content-Length:",
		"Content-Length: 9223372036854775808",
		"Content-Length: 99999999999999999999",
		"Content-Length : 5",
		"Transfer-Encoding: xchunked",
		"Transfer-Encoding: chunked, identity",
		"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
		"Transfer-Encoding:\r\n chunked",
		"X: a\rContent-Length: 5",
		"Content-Length: 5\nX: b",
	};
	struct raw_resp r = {};
	struct buf b = BUF_INIT;
	struct live s;
	size_t i;

	live_init(&s, NULL, 0);
	start(&s);
	for (i = 0; i < ARRAY_SIZE(lines); i++) {
		int fd = raw_open(&s);

		buf_reset(&b);
		buf_fmt(&b,
			"POST /count HTTP/1.1\r\nHost: a\r\n%s\r\n\r\n"
			"GET /count HTTP/1.1\r\nHost: a\r\n\r\n",
			lines[i]);
		raw_str(fd, b.data);
		ASSERT_EQ(raw_read(fd, &r, false), 0);
		ASSERT_EQ(r.status, 400);
		ASSERT_TRUE(raw_has(&r, "\r\nConnection: close\r\n"));
		ASSERT_TRUE(raw_eof(fd));
		close(fd);
	}
	live_stop(&s);
	ASSERT_EQ(atomic_load(&s.handled), 0);
	buf_free(&b);
	raw_free(&r);
}

static void test_head_faults(void)
{
	static const struct {
		int status;
		const char *text;
	} rows[] = {
		{505, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"},
		{417, "PUT /count HTTP/1.1\r\nHost: a\r\nExpect: x\r\nContent-Length: 1\r\n\r\n"},
		{400, "GET /count HTTP/1.1\r\n\r\n"},
		{400, "\r\n\r\nGET /count HTTP/1.1\r\nHost: a\r\n\r\n"},
		{400, "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"},
	};
	struct raw_resp r = {};
	struct live s;
	size_t i;

	live_init(&s, NULL, 0);
	start(&s);
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		int fd = raw_open(&s);

		raw_str(fd, rows[i].text);
		ASSERT_EQ(raw_read(fd, &r, false), 0);
		ASSERT_EQ(r.status, rows[i].status);
		ASSERT_TRUE(raw_eof(fd));
		close(fd);
	}
	live_stop(&s);
	ASSERT_EQ(atomic_load(&s.handled), 0);
	raw_free(&r);
}

static void test_head_limits(void)
{
	struct raw_resp r = {};
	struct buf b = BUF_INIT;
	struct live s;
	int fd, i;

	live_init(&s, NULL, 0);
	start(&s);
	for (i = 0; i < 2; i++) {
		fd = raw_open(&s);
		buf_reset(&b);
		buf_str(&b, i ? "GET /count HTTP/1.1\r\nX: " : "GET /");
		while (b.len < 1 << 20)
			buf_str(&b, "aaaaaaaaaaaaaaaa");
		raw_send(fd, b.data, b.len); /* a part may be refused: the answer must come */
		ASSERT_EQ(raw_read(fd, &r, false), 0);
		ASSERT_EQ(r.status, i ? 431 : 414);
		ASSERT_TRUE(raw_eof(fd));
		close(fd);
	}
	fd = raw_open(&s); /* 60 KiB are fine */
	buf_reset(&b);
	buf_str(&b, "GET /count HTTP/1.1\r\nHost: a\r\nX: ");
	while (b.len < 60000)
		buf_char(&b, 'a');
	buf_str(&b, "\r\n\r\n");
	raw_str(fd, b.data);
	ASSERT_EQ(raw_read(fd, &r, false), 0);
	ASSERT_EQ(r.status, 200);
	close(fd);
	live_stop(&s);
	raw_free(&r);
	buf_free(&b);
}

static void test_bad_target_goes_on(void)
{
	struct raw_resp r = {};
	struct live s;
	int fd;

	live_init(&s, NULL, 0);
	start(&s);
	fd = raw_open(&s);
	raw_str(fd, "PUT /%zz HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc"
		    "GET //v1//buckets HTTP/1.1\r\nHost: a\r\n\r\n"
		    "GET /count HTTP/1.1\r\nHost: a\r\n\r\n");
	ASSERT_EQ(raw_read(fd, &r, false), 0);
	ASSERT_EQ(r.status, 400);
	ASSERT_EQ(raw_read(fd, &r, false), 0);
	ASSERT_EQ(r.status, 400);
	ASSERT_TRUE(strstr(r.body.data, "\"message\":\"invalid request URI\"") != NULL);
	ASSERT_EQ(raw_read(fd, &r, false), 0);
	ASSERT_EQ(r.status, 200);
	close(fd);
	raw_free(&r);
	live_stop(&s);
}

/* 100 Continue comes when the body is wanted, never for a refusal or an empty body (P-21). */
static void test_expect(void)
{
	struct raw_resp r = {};
	struct live s;
	int fd, i;

	live_init(&s, NULL, 0);
	start(&s);
	fd = raw_open(&s);
	for (i = 0; i < 100; i++) {
		raw_str(fd, "PUT /collect HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n"
			    "Content-Length: 4\r\n\r\n");
		ASSERT_EQ(raw_read(fd, &r, false), 0);
		ASSERT_EQ(r.status, 100);
		raw_str(fd, "abcd");
		ASSERT_EQ(raw_read(fd, &r, false), 0);
		ASSERT_EQ(r.status, 200);
		ASSERT_STR(r.body.data, "4");
		raw_str(fd, "PUT /collect HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n"
			    "Content-Length: 0\r\n\r\n");
		ASSERT_EQ(raw_read(fd, &r, false), 0);
		ASSERT_EQ(r.status, 200);
		ASSERT_STR(r.body.data, "0");
	}
	raw_str(fd, "PUT /refuse HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n"
		    "Content-Length: 4\r\n\r\n");
	ASSERT_EQ(raw_read(fd, &r, false), 0);
	ASSERT_EQ(r.status, 403);
	ASSERT_TRUE(raw_has(&r, "\r\nConnection: close\r\n"));
	ASSERT_TRUE(raw_eof(fd));
	close(fd);
	raw_free(&r);
	live_stop(&s);
}

/* Send a 10 MiB body, all of it or until the server will have no more, then read the answer. */
static int early(struct live *s, const char *head, bool *ret_goes_on)
{
	static const char next[] = "GET /count HTTP/1.1\r\nHost: a\r\n\r\n";
	struct raw_resp r = {};
	char *body = calloc(1, 10 << 20);
	int fd = raw_open(s), status;

	raw_str(fd, head);
	raw_send(fd, body, 10 << 20);
	ASSERT_EQ(raw_read(fd, &r, false), 0);
	status = r.status;
	raw_send(fd, next, strlen(next));
	*ret_goes_on = raw_read(fd, &r, false) == 0 && r.status == 200;
	close(fd);
	free(body);
	raw_free(&r);
	return status;
}

static void test_early(void)
{
	struct live s;
	bool on;
	int i;

	live_init(&s, NULL, 0);
	start(&s);
	for (i = 0; i < 10; i++) {
		ASSERT_EQ(
			early(&s,
			      "PUT /refuse HTTP/1.1\r\nHost: a\r\nContent-Length: 10485760\r\n\r\n",
			      &on),
			403);
		ASSERT_TRUE(on);
		ASSERT_EQ(early(&s,
				"PUT /redirect HTTP/1.1\r\nHost: a\r\nContent-Length: "
				"10485760\r\n\r\n",
				&on),
			  307);
		ASSERT_TRUE(on);
		ASSERT_EQ(early(&s,
				"PUT /collect HTTP/1.1\r\nHost: a\r\nContent-Length: "
				"10485760\r\n\r\n",
				&on),
			  413);
		ASSERT_TRUE(on);
	}
	live_stop(&s);
	ASSERT_EQ(atomic_load(&s.after_bad), 0);
}

/* More than the server discards: the answer is readable all the same. */
static void test_early_limited(void)
{
	struct live s;
	bool on;
	int i;

	live_init(&s, NULL, 0);
	s.opts.limits.drain_bytes = 1 << 20;
	start(&s);
	for (i = 0; i < 3; i++) {
		struct raw_resp r = {};
		int fd = raw_open(&s);

		raw_str(fd,
			"PUT /refuse HTTP/1.1\r\nHost: a\r\nContent-Length: 10485760\r\n\r\n12345");
		ASSERT_EQ(raw_read(fd, &r, false), 0); /* before any more is sent */
		ASSERT_EQ(r.status, 403);
		ASSERT_TRUE(raw_has(&r, "\r\nConnection: close\r\n"));
		ASSERT_TRUE(raw_eof(fd));
		close(fd);
		raw_free(&r);
	}
	/* a client that sends on regardless is cut off in the end */
	ASSERT_EQ(early(&s, "PUT /refuse HTTP/1.1\r\nHost: a\r\nContent-Length: 10485760\r\n\r\n",
			&on),
		  403);
	ASSERT_TRUE(!on);
	live_stop(&s);
}

static void test_chunked(void)
{
	struct raw_resp r = {};
	struct buf b = BUF_INIT;
	struct live s;
	int fd, i;

	live_init(&s, NULL, 0);
	start(&s);
	fd = raw_open(&s);
	buf_str(&b, "PUT /collect HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n");
	for (i = 1; i <= 700; i++)
		buf_fmt(&b, "%x\r\n%0*d\r\n", i, i, 0);
	buf_str(&b, "0\r\nTrailer: x\r\n\r\nGET /count HTTP/1.1\r\nHost: a\r\n\r\n");
	raw_str(fd, b.data);
	ASSERT_EQ(raw_read(fd, &r, false), 0);
	ASSERT_STR(r.body.data, "245350"); /* 700 * 701 / 2 */
	ASSERT_EQ(raw_read(fd, &r, false), 0);
	ASSERT_EQ(r.status, 200);
	/* too long: answered, discarded, and the connection goes on */
	buf_reset(&b);
	buf_str(&b, "PUT /collect HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n");
	for (i = 0; i < 2000; i++)
		buf_fmt(&b, "3e8\r\n%01000d\r\n", i);
	buf_str(&b, "0\r\n\r\nGET /count HTTP/1.1\r\nHost: a\r\n\r\n");
	raw_str(fd, b.data);
	ASSERT_EQ(raw_read(fd, &r, false), 0);
	ASSERT_EQ(r.status, 413);
	ASSERT_EQ(raw_read(fd, &r, false), 0);
	ASSERT_EQ(r.status, 200);
	/* malformed in the middle, with a request behind it that must not run */
	raw_str(fd, "PUT /collect HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
		    "3\r\nabcd\r\n0\r\n\r\nGET /count HTTP/1.1\r\nHost: a\r\n\r\n");
	ASSERT_EQ(raw_read(fd, &r, false), 0);
	ASSERT_EQ(r.status, 400);
	ASSERT_TRUE(raw_eof(fd));
	close(fd);
	live_stop(&s);
	ASSERT_EQ(atomic_load(&s.handled), 2);
	buf_free(&b);
	raw_free(&r);
}

static void test_body_late(void)
{
	struct raw_resp r = {};
	struct live s;
	int fd;

	live_init(&s, NULL, 0);
	s.opts.limits.body_ms = 50;
	start(&s);
	fd = raw_open(&s);
	raw_str(fd, "PUT /collect HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n12345");
	ASSERT_EQ(raw_read(fd, &r, false), 0);
	ASSERT_EQ(r.status, 408);
	ASSERT_TRUE(raw_eof(fd));
	close(fd);
	raw_free(&r);
	live_stop(&s);
}

static void *drip(void *arg)
{
	int fd = *(int *)arg;

	while (send(fd, "x", 1, MSG_NOSIGNAL) == 1)
		poll(NULL, 0, 5); /* the pace is what is tested */
	return NULL;
}

/* A byte now and then is no progress. */
static void test_body_drips(void)
{
	struct raw_resp r = {};
	pthread_t thread;
	struct live s;
	int fd;

	live_init(&s, NULL, 0);
	s.opts.limits.body_ms = 200;
	start(&s);
	fd = raw_open(&s);
	raw_str(fd, "PUT /collect HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n");
	ASSERT_EQ(pthread_create(&thread, NULL, drip, &fd), 0);
	ASSERT_EQ(raw_read(fd, &r, false), 0);
	ASSERT_EQ(r.status, 408);
	ASSERT_TRUE(raw_eof(fd));
	shutdown(fd, SHUT_RDWR);
	pthread_join(thread, NULL);
	close(fd);
	raw_free(&r);
	live_stop(&s);
}

UNIT_MAIN("http/conn_in", {"20 ambiguous requests", test_smuggling},
	  {"faulty heads", test_head_faults}, {"oversized heads", test_head_limits},
	  {"a bad target does not end the connection", test_bad_target_goes_on},
	  {"Expect: 100-continue", test_expect}, {"early answers, 10 MiB unread", test_early},
	  {"early answers beyond the limit", test_early_limited}, {"chunked bodies", test_chunked},
	  {"a body that stops", test_body_late}, {"a body that drips", test_body_drips})
