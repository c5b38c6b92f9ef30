/* SPDX-License-Identifier: BSD-2-Clause */
/* Error documents, header values, 405, OPTIONS, routing, admission. */
#include "live.h"

static void error(struct http_txn *t)
{
	http_header(t, "X-Dropped", "yes");
	t->caller = "p[Kx81mQza]";
	http_reply_error(t, 404, http_param(t, "tcode"), "%s",
			 http_param(t, "m") ? http_param(t, "m")
					    : "a<b>&\"c\"\\\n\x01\xff\xc3\xa9");
}

static void headers(struct http_txn *t)
{
	ASSERT_EQ(http_header(t, "X-Good", "%s%d", "a\xc3\xa9", 1), 0);
	ASSERT_EQ(http_header(t, "X-Bad", "a\r\nX-Evil: b"), -EINVAL);
	ASSERT_EQ(http_header(t, "X-Bad", "a%cb", 1), -EINVAL);
	ASSERT_EQ(http_header(t, "X-Bad", "a%cb", 0x7f), -EINVAL);
	ASSERT_EQ(http_header(t, "X Bad", "a"), -EINVAL);
	ASSERT_EQ(http_header(t, "X-Md", "a=b"), 0);
	ASSERT_EQ(http_header(t, "X-Md", "c=d"), 0);
	http_reply_status(t, 200);
}

static void params(struct http_txn *t)
{
	struct buf b = BUF_INIT;

	buf_fmt(&b, "%s|%s|%s|%d%d%d|%s|%s", http_param(t, "a"),
		http_param(t, "empty") ? "set" : "absent", http_param_raw(t, "empty"),
		http_param_true(t, "yes"), http_param_true(t, "no"), http_param_true(t, "none"),
		http_header_get(t, "x-one"), http_header_get(t, "x-two") ? "two" : "none");
	http_reply_buf(t, "text/plain", &b);
}

static void deeper(struct http_txn *t)
{
	http_reply_text(t, 200, "deeper");
}

static bool admit(void *ctx, struct http_txn *t)
{
	if (!http_header_get(t, "x-refuse"))
		return true;
	http_reply_error(t, 403, NULL, "refused");
	return false;
}

static void before_head(void *ctx, struct http_txn *t)
{
	http_header(t, "X-Before", "%d", t->resp.status);
}

#define PUB BIT(SMAP_NET_PUBLIC)

static void start(struct live *s)
{
	static const struct http_route routes[] = {
		{"/error", PUB, BIT(HTTP_GET) | BIT(HTTP_HEAD), error, NULL},
		{"/headers", PUB, BIT(HTTP_GET), headers, NULL},
		{"/params", PUB, BIT(HTTP_GET), params, NULL},
		{"/all", PUB,
		 BIT(HTTP_GET) | BIT(HTTP_HEAD) | BIT(HTTP_PUT) | BIT(HTTP_POST) | BIT(HTTP_DELETE),
		 deeper, NULL},
		{"/error/deeper", PUB, BIT(HTTP_GET), deeper, NULL},
		{"/control", BIT(SMAP_NET_CONTROL), BIT(HTTP_GET), deeper, NULL},
	};

	live_init(s, routes, ARRAY_SIZE(routes));
	s->opts.admit = admit;
	s->opts.before_head = before_head;
	live_start(s);
}

static void ask(int fd, struct raw_resp *r, const char *method, const char *target,
		const char *more)
{
	char req[512];

	snprintf(req, sizeof(req), "%s %s HTTP/1.1\r\nHost: a\r\n%s\r\n", method, target, more);
	raw_str(fd, req);
	ASSERT_EQ(raw_read(fd, r, !strcmp(method, "HEAD")), 0);
}

static void test_error(void)
{
	struct raw_resp r = {};
	struct sockaddr_in in;
	socklen_t len = sizeof(in);
	char want[512];
	struct live s;
	int fd;

	start(&s);
	fd = raw_open(&s);
	getsockname(fd, (struct sockaddr *)&in, &len);
	ask(fd, &r, "GET", "/error/%C3%A9%3C?tcode=ErrX", "");
	ASSERT_EQ(r.status, 404);
	snprintf(want, sizeof(want),
		 "{\"tcode\":\"ErrX\",\"message\":\"a<b>&\\\"c\\\"\\\\\\n\\u0001\\ufffd\xc3\xa9\","
		 "\"method\":\"GET\",\"url_path\":\"/error/\xc3\xa9<\","
		 "\"remote_addr\":\"127.0.0.1:%u\",\"caller\":\"p[Kx81mQza]\","
		 "\"node\":\"t[t1Kq8mXzA]\",\"status\":404}\n",
		 ntohs(in.sin_port));
	ASSERT_STR(r.body.data, want);
	ASSERT_TRUE(raw_has(&r, "\r\nContent-Type: application/json\r\n"));
	ASSERT_TRUE(raw_has(&r, "\r\nX-Content-Type-Options: nosniff\r\n"));
	ASSERT_TRUE(!raw_has(&r, "X-Dropped"));
	ask(fd, &r, "HEAD", "/error?m=x", "");
	snprintf(want, sizeof(want),
		 "\r\nHdr-Error: {\"message\":\"x\",\"method\":\"HEAD\",\"url_path\":\"/error\","
		 "\"remote_addr\":\"127.0.0.1:%u\",\"caller\":\"p[Kx81mQza]\","
		 "\"node\":\"t[t1Kq8mXzA]\",\"status\":404}\r\n",
		 ntohs(in.sin_port));
	ASSERT_TRUE(raw_has(&r, want));
	ask(fd, &r, "GET", "/all", "");
	ASSERT_STR(r.body.data, "deeper");
	close(fd);
	raw_free(&r);
	live_stop(&s);
}

static void test_headers(void)
{
	struct raw_resp r = {};
	struct live s;
	int fd;

	start(&s);
	fd = raw_open(&s);
	ask(fd, &r, "GET", "/headers", "");
	ASSERT_TRUE(raw_has(&r, "\r\nX-Good: a\xc3\xa9"
				"1\r\nX-Md: a=b\r\nX-Md: c=d\r\n"));
	ASSERT_TRUE(!raw_has(&r, "Bad") && !raw_has(&r, "Evil"));
	ASSERT_TRUE(raw_has(&r, "\r\nX-Before: 200\r\n"));
	close(fd);
	raw_free(&r);
	live_stop(&s);
}

static void test_params(void)
{
	struct raw_resp r = {};
	struct live s;
	int fd;

	start(&s);
	fd = raw_open(&s);
	ask(fd, &r, "GET", "/params?a=1&a=2+3%2B&empty=&yes=on&no=Y", "X-One: 1\r\nX-ONE: 2\r\n");
	ASSERT_STR(r.body.data, "2 3+|absent||100|1|none");
	close(fd);
	raw_free(&r);
	live_stop(&s);
}

static void test_methods(void)
{
	struct raw_resp r = {};
	struct live s;
	int fd;

	start(&s);
	fd = raw_open(&s);
	ask(fd, &r, "PATCH", "/all/x", "");
	ASSERT_EQ(r.status, 405);
	ASSERT_TRUE(raw_has(&r, "\r\nAllow: DELETE, GET, HEAD, POST, PUT\r\n"));
	ASSERT_TRUE(raw_has(&r, "\r\nContent-Type: text/plain"));
	ASSERT_STR(r.body.data, "Method Not Allowed\n");
	ask(fd, &r, "BREW", "/all", "");
	ASSERT_EQ(r.status, 405);
	ASSERT_TRUE(raw_has(&r, "\r\nAllow: \r\n"));
	ASSERT_STR(r.body.data, "Method Not Allowed\n");
	ask(fd, &r, "OPTIONS", "/all", "");
	ASSERT_EQ(r.status, 200);
	ASSERT_TRUE(raw_has(&r, "\r\nAllow: DELETE, GET, HEAD, POST, PUT\r\n"));
	ask(fd, &r, "OPTIONS", "*", "");
	ASSERT_EQ(r.status, 200);
	close(fd);
	raw_free(&r);
	live_stop(&s);
}

static void test_routes(void)
{
	static const struct {
		const char *target, *more;
		int status;
	} rows[] = {
		{"/all", "", 200},
		{"/all/", "", 200},
		{"/all//x", "", 200},
		{"/%61ll", "", 200},
		{"/allx", "", 404},
		{"/al", "", 404},
		{"/", "", 404},
		{"/control", "", 404},
		{"/error/deeper/x", "", 200},
		{"/error/deepe", "", 404},
		{"http://h/all", "", 200},
		{"/all", "X-Refuse: 1\r\n", 403},
		{"/nowhere", "X-Refuse: 1\r\n", 403},
	};
	struct raw_resp r = {};
	struct live s;
	size_t i;
	int fd;

	start(&s);
	fd = raw_open(&s);
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		ask(fd, &r, "GET", rows[i].target, rows[i].more);
		ASSERT_EQ(r.status, rows[i].status);
	}
	close(fd);
	raw_free(&r);
	live_stop(&s);
}

UNIT_MAIN("http/reply", {"error document", test_error}, {"header values", test_headers},
	  {"parameters and headers", test_params}, {"methods", test_methods},
	  {"routes and admission", test_routes})
