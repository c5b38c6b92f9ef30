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
	http_run(t, t->server ? t->ctx : NULL, hello);
}

static struct http_route routes[] = {
	{"/hello", BIT(SMAP_NET_PUBLIC), BIT(HTTP_GET) | BIT(HTTP_HEAD), hello, NULL},
	{"/echo", BIT(SMAP_NET_PUBLIC), BIT(HTTP_PUT) | BIT(HTTP_POST), echo, NULL},
	{"/pooled", BIT(SMAP_NET_PUBLIC), BIT(HTTP_GET), pooled, NULL},
};

static void test_get_put(void)
{
	struct raw_resp r = {};
	struct live s;
	int fd;

	live_init(&s, routes, ARRAY_SIZE(routes));
	live_start(&s);
	fd = raw_open(&s);
	raw_str(fd, "GET /hello/x HTTP/1.1\r\nHost: a\r\n\r\n");
	ASSERT_EQ(raw_read(fd, &r, false), 0);
	ASSERT_EQ(r.status, 200);
	ASSERT_STR(r.body.data, "GET /hello/x");
	raw_str(fd, "PUT /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n12345");
	ASSERT_EQ(raw_read(fd, &r, false), 0);
	ASSERT_STR(r.body.data, "12345");
	raw_str(fd, "HEAD /hello HTTP/1.1\r\nHost: a\r\n\r\n");
	ASSERT_EQ(raw_read(fd, &r, true), 0);
	ASSERT_TRUE(raw_has(&r, "\r\nContent-Length: 11\r\n"));
	raw_str(fd, "GET /nowhere HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
	ASSERT_EQ(raw_read(fd, &r, false), 0);
	ASSERT_EQ(r.status, 404);
	ASSERT_TRUE(raw_has(&r, "\r\nConnection: close\r\n"));
	ASSERT_TRUE(raw_eof(fd));
	close(fd);
	raw_free(&r);
	live_stop(&s);
}

UNIT_MAIN("http/conn", {"GET, PUT, HEAD, 404 and close on one connection", test_get_put})
