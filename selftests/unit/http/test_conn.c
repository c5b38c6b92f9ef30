/* SPDX-License-Identifier: BSD-2-Clause */
/* Connections of a live server: keep-alive, pipelining, splits, resets, idle time. */
#include "live.h"

static void hello(struct http_txn *t)
{
	struct buf b = BUF_INIT;

	buf_fmt(&b, "%s %s", t->req.method_text, t->req.path);
	http_reply_buf(t, "text/plain", &b);
}

static void echo_done(struct http_txn *t)
{
	struct buf b = t->body;

	t->body = (struct buf){};
	http_reply_buf(t, "application/octet-stream", &b);
}

static void echo(struct http_txn *t)
{
	http_collect(t, 1 << 20, NULL, echo_done);
}

static void pooled(struct http_txn *t)
{
	struct live *s = t->ctx;

	atomic_fetch_add(&s->handled, 1);
	http_run(t, s->io, hello);
}

/* Answers only when the test says so. */
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;

static void gated_pool(struct http_txn *t)
{
	struct live *s = t->ctx;

	atomic_fetch_add(&s->handled, 1);
	pthread_mutex_lock(&gate);
	pthread_mutex_unlock(&gate);
	hello(t);
}

static void gated(struct http_txn *t)
{
	struct live *s = t->ctx;

	http_run(t, s->io, gated_pool);
}

static void start(struct live *s)
{
	static struct http_route routes[] = {
		{"/hello", BIT(SMAP_NET_PUBLIC), BIT(HTTP_GET) | BIT(HTTP_HEAD), hello, NULL},
		{"/echo", BIT(SMAP_NET_PUBLIC), BIT(HTTP_PUT) | BIT(HTTP_POST), echo, NULL},
		{"/pooled", BIT(SMAP_NET_PUBLIC), BIT(HTTP_GET), pooled, NULL},
		{"/gated", BIT(SMAP_NET_PUBLIC), BIT(HTTP_GET), gated, NULL},
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(routes); i++)
		routes[i].ctx = s;
	s->opts.routes = routes;
	s->opts.n_routes = ARRAY_SIZE(routes);
	live_start(s);
}

static void test_get_put(void)
{
	struct raw_resp r = {};
	struct live s;
	int fd;

	live_init(&s, NULL, 0);
	start(&s);
	fd = raw_open(&s);
	raw_str(fd, "GET /hello/x HTTP/1.1\r\nHost: a\r\n\r\n");
	ASSERT_EQ(raw_read(fd, &r, false), 0);
	ASSERT_EQ(r.status, 200);
	ASSERT_STR(r.body.data, "GET /hello/x");
	ASSERT_TRUE(raw_has(&r, "\r\nDate: ") && raw_has(&r, " GMT\r\n"));
	raw_str(fd, "PUT /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n12345");
	ASSERT_EQ(raw_read(fd, &r, false), 0);
	ASSERT_STR(r.body.data, "12345");
	raw_str(fd, "HEAD /hello HTTP/1.1\r\nHost: a\r\n\r\n");
	ASSERT_EQ(raw_read(fd, &r, true), 0);
	ASSERT_TRUE(raw_has(&r, "\r\nContent-Length: 11\r\n"));
	raw_str(fd, "GET /pooled HTTP/1.1\r\nHost: a\r\n\r\n");
	ASSERT_EQ(raw_read(fd, &r, false), 0);
	ASSERT_STR(r.body.data, "GET /pooled");
	raw_str(fd, "GET /nowhere HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
	ASSERT_EQ(raw_read(fd, &r, false), 0);
	ASSERT_EQ(r.status, 404);
	ASSERT_TRUE(raw_has(&r, "\r\nConnection: close\r\n"));
	ASSERT_TRUE(raw_eof(fd));
	close(fd);
	raw_free(&r);
	live_stop(&s);
	ASSERT_EQ(atomic_load(&s.after_n), 5);
	ASSERT_EQ(atomic_load(&s.after_bad), 0);
}

static void test_http10(void)
{
	struct raw_resp r = {};
	struct live s;
	int fd;

	live_init(&s, NULL, 0);
	start(&s);
	fd = raw_open(&s);
	raw_str(fd, "GET /hello HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
	ASSERT_EQ(raw_read(fd, &r, false), 0);
	ASSERT_TRUE(raw_has(&r, "\r\nConnection: keep-alive\r\n"));
	raw_str(fd, "GET /hello HTTP/1.0\r\n\r\n");
	ASSERT_EQ(raw_read(fd, &r, false), 0);
	ASSERT_TRUE(raw_has(&r, "\r\nConnection: close\r\n"));
	ASSERT_TRUE(raw_eof(fd));
	close(fd);
	raw_free(&r);
	live_stop(&s);
}

static void *pipeline_writer(void *arg)
{
	int fd = *(int *)arg, i;

	for (i = 0; i < 10000; i++) {
		char req[128];
		int n = snprintf(req, sizeof(req),
				 i % 7 == 3
					 ? "PUT /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n"
					   "\r\n%05d"
				 : i % 50 == 1 ? "GET /pooled/%d HTTP/1.1\r\nHost: a\r\n\r\n"
					       : "GET /hello/%d HTTP/1.1\r\nHost: a\r\n\r\n",
				 i);
		raw_send(fd, req, (size_t)n);
	}
	return NULL;
}

static void test_pipelined(void)
{
	struct raw_resp r = {};
	pthread_t writer;
	struct live s;
	int fd, i;

	live_init(&s, NULL, 0);
	start(&s);
	fd = raw_open(&s);
	ASSERT_EQ(pthread_create(&writer, NULL, pipeline_writer, &fd), 0);
	for (i = 0; i < 10000; i++) {
		char want[64];

		snprintf(want, sizeof(want),
			 i % 7 == 3    ? "%05d"
			 : i % 50 == 1 ? "GET /pooled/%d"
				       : "GET /hello/%d",
			 i);
		ASSERT_EQ(raw_read(fd, &r, false), 0);
		ASSERT_STR(r.body.data, want);
	}
	pthread_join(writer, NULL);
	close(fd);
	raw_free(&r);
	live_stop(&s);
	ASSERT_EQ(atomic_load(&s.after_n), 10000);
}

static void test_every_split(void)
{
	static const char text[] =
		"PUT /echo?a=b HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc"
		"\r\nPUT /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
		"2\r\nde\r\n1;x\r\nf\r\n0\r\nT: x\r\n\r\n"
		"GET /hello HTTP/1.1\r\nHost: a\r\n\r\n";
	struct raw_resp r = {};
	struct live s;
	size_t cut;
	int fd;

	live_init(&s, NULL, 0);
	start(&s);
	fd = raw_open(&s);
	for (cut = 1; cut < sizeof(text) - 1; cut++) {
		raw_send(fd, text, cut);
		if (cut >= strlen(text) / 2)
			ASSERT_EQ(raw_read(fd, &r, false), 0); /* so the server has seen the cut */
		raw_send(fd, text + cut, sizeof(text) - 1 - cut);
		if (cut < strlen(text) / 2)
			ASSERT_EQ(raw_read(fd, &r, false), 0);
		ASSERT_STR(r.body.data, "abc");
		ASSERT_EQ(raw_read(fd, &r, false), 0);
		ASSERT_STR(r.body.data, "def");
		ASSERT_EQ(raw_read(fd, &r, false), 0);
		ASSERT_STR(r.body.data, "GET /hello");
	}
	for (cut = 0; cut < sizeof(text) - 1; cut++)
		raw_send(fd, text + cut, 1);
	ASSERT_EQ(raw_read(fd, &r, false), 0);
	ASSERT_EQ(raw_read(fd, &r, false), 0);
	ASSERT_STR(r.body.data, "def");
	ASSERT_EQ(raw_read(fd, &r, false), 0);
	close(fd);
	raw_free(&r);
	live_stop(&s);
}

/* The peer goes while a pool thread has the request: the answer goes nowhere, nothing leaks. */
static void test_gone(void)
{
	struct live s;
	int i;

	live_init(&s, NULL, 0);
	start(&s);
	for (i = 0; i < 50; i++) {
		int fd = raw_open(&s), before = atomic_load(&s.handled);

		pthread_mutex_lock(&gate);
		raw_str(fd, "GET /gated HTTP/1.1\r\nHost: a\r\n\r\nGET /hello");
		ASSERT_TRUE(live_reaches(&s.handled, before + 1));
		raw_reset(fd);
		pthread_mutex_unlock(&gate);
		ASSERT_TRUE(live_reaches(&s.after_n, i + 1));
	}
	live_stop(&s);
	ASSERT_EQ(atomic_load(&s.after_n), 50);
}

/* A peer that only finished sending still gets its answer. */
static void test_half_closed(void)
{
	struct raw_resp r = {};
	struct live s;
	int fd;

	live_init(&s, NULL, 0);
	start(&s);
	fd = raw_open(&s);
	pthread_mutex_lock(&gate);
	raw_str(fd, "GET /gated HTTP/1.1\r\nHost: a\r\n\r\n");
	shutdown(fd, SHUT_WR);
	ASSERT_TRUE(live_reaches(&s.handled, 1));
	pthread_mutex_unlock(&gate);
	ASSERT_EQ(raw_read(fd, &r, false), 0);
	ASSERT_STR(r.body.data, "GET /gated");
	ASSERT_TRUE(raw_eof(fd));
	close(fd);
	raw_free(&r);
	live_stop(&s);
}

/* An idle connection ends by FIN, after a response and before the first request alike. */
static void test_idle(void)
{
	struct raw_resp r = {};
	struct live s;
	int fd;

	live_init(&s, NULL, 0);
	s.opts.limits.idle_ms = 50;
	start(&s);
	fd = raw_open(&s);
	raw_str(fd, "GET /hello HTTP/1.1\r\nHost: a\r\n\r\n");
	ASSERT_EQ(raw_read(fd, &r, false), 0);
	ASSERT_TRUE(raw_eof(fd));
	close(fd);
	fd = raw_open(&s);
	ASSERT_TRUE(raw_eof(fd));
	close(fd);
	raw_free(&r);
	live_stop(&s);
}

static void test_head_late(void)
{
	struct raw_resp r = {};
	struct live s;
	int fd;

	live_init(&s, NULL, 0);
	s.opts.limits.head_ms = 50;
	start(&s);
	fd = raw_open(&s);
	raw_str(fd, "GET /hello HT");
	ASSERT_EQ(raw_read(fd, &r, false), 0);
	ASSERT_EQ(r.status, 408);
	ASSERT_TRUE(raw_eof(fd));
	close(fd);
	raw_free(&r);
	live_stop(&s);
}

UNIT_MAIN("http/conn", {"GET, PUT, HEAD, 404 and close on one connection", test_get_put},
	  {"HTTP/1.0", test_http10}, {"10,000 pipelined requests", test_pipelined},
	  {"cut at every byte", test_every_split}, {"peer gone while handled", test_gone},
	  {"half-closed peer", test_half_closed}, {"idle connections end by FIN", test_idle},
	  {"a head that never ends", test_head_late})
