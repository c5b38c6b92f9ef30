/* SPDX-License-Identifier: BSD-2-Clause */
/* Calls against our own server: methods, bodies, limits, failures, many at once. */
#include "live.h"
#include "http/client.h"

static void echo_done(struct http_txn *t)
{
	struct buf b = BUF_INIT;

	buf_fmt(&b, "%s %s %lld [%s] [%s] ", t->req.method_text, t->req.target,
		(long long)t->req.length,
		http_header_get(t, "x-a") ? http_header_get(t, "x-a") : "",
		http_header_get(t, "content-type") ? http_header_get(t, "content-type") : "");
	buf_append(&b, t->body.data, t->body.len);
	http_header(t, "X-B", "  %s ", t->req.peer);
	http_reply_buf(t, "text/plain", &b);
}

static void echo(struct http_txn *t)
{
	if (http_header_get(t, "expect"))
		http_reply_error(t, 400, NULL, "no Expect was wanted");
	else
		http_collect(t, 64 << 20, NULL, echo_done);
}

static void redirect(struct http_txn *t)
{
	http_header(t, "Location", "/echo");
	http_reply_status(t, 307);
}

static void start(struct live *s)
{
	static const struct http_route routes[] = {
		{"/echo", BIT(SMAP_NET_PUBLIC), ~0U, echo, NULL},
		{"/redirect", BIT(SMAP_NET_PUBLIC), ~0U, redirect, NULL},
	};

	live_init(s, routes, ARRAY_SIZE(routes));
	live_start(s);
}

static void call(struct http_call *c, const struct live *s, const char *method, const char *target)
{
	char url[256];

	snprintf(url, sizeof(url), "http://127.0.0.1:%u%s", s->port, target);
	ASSERT_EQ(http_call_init(c, method, url, LIVE_WAIT_MS), 0);
}

static void test_methods(void)
{
	static const struct {
		const char *method, *body, *want;
	} rows[] = {
		{"GET", "", "GET /echo/a//b%20?c=d%2F 0 [v] [] "},
		{"GET", "{}", "GET /echo/a//b%20?c=d%2F 2 [v] [] {}"},
		{"PUT", "", "PUT /echo/a//b%20?c=d%2F 0 [v] [] "},
		{"PUT", "abc", "PUT /echo/a//b%20?c=d%2F 3 [v] [] abc"},
		{"POST", "", "POST /echo/a//b%20?c=d%2F 0 [v] [] "},
		{"POST", "{}", "POST /echo/a//b%20?c=d%2F 2 [v] [] {}"},
		{"DELETE", "", "DELETE /echo/a//b%20?c=d%2F 0 [v] [] "},
		{"DELETE", "x", "DELETE /echo/a//b%20?c=d%2F 1 [v] [] x"},
		{"PATCH", "x", "PATCH /echo/a//b%20?c=d%2F 1 [v] [] x"},
		{"HEAD", "", ""},
	};
	char value[64];
	struct live s;
	size_t i;

	start(&s);
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct http_call c;

		call(&c, &s, rows[i].method, "/echo/a//b%20?c=d%2F");
		ASSERT_EQ(http_call_header(&c, "X-A", "%s", "v"), 0);
		ASSERT_EQ(http_call_header(&c, "X-Evil", "a\r\nb"), -EINVAL);
		c.body = rows[i].body;
		c.body_len = strlen(rows[i].body);
		ASSERT_EQ(http_call_all(&c, 1), 0);
		ASSERT_EQ(c.err, 0);
		ASSERT_EQ(c.status, 200);
		ASSERT_STR(buf_cstr(&c.resp), rows[i].want);
		ASSERT_TRUE(http_call_resp_header(&c, "x-b", value, sizeof(value)));
		ASSERT_EQ(strncmp(value, "127.0.0.1:", 10), 0);
		ASSERT_TRUE(!strchr(value, ' '));
		ASSERT_TRUE(!http_call_resp_header(&c, "x-b", value, 5));
		ASSERT_TRUE(!http_call_resp_header(&c, "x", value, sizeof(value)));
		http_call_deinit(&c);
		http_call_deinit(&c);
	}
	ASSERT_EQ(metrics_read(s.metrics, METRIC_CONN_N), 1); /* kept alive */
	live_stop(&s);
}

static void test_content_type(void)
{
	struct http_call c;
	struct live s;

	start(&s);
	call(&c, &s, "POST", "/echo");
	ASSERT_EQ(http_call_header(&c, "Content-Type", "application/json"), 0);
	ASSERT_EQ(http_call_header(&c, "X-A", "%s", ""), 0);
	c.body = "{}";
	c.body_len = 2;
	ASSERT_EQ(http_call_all(&c, 1), 0);
	ASSERT_STR(buf_cstr(&c.resp), "POST /echo 2 [] [application/json] {}");
	http_call_deinit(&c);
	live_stop(&s);
}

static void test_file(void)
{
	enum { N = 3000000 };
	FILE *f = tmpfile();
	struct http_call c;
	struct live s;
	int i;

	start(&s);
	for (i = 0; i < N + 10; i++)
		fputc((i * 7 + i / 256) & 255, f);
	fflush(f);
	call(&c, &s, "PUT", "/echo");
	c.body_fd = fileno(f);
	c.body_off = 5;
	c.body_len = N;
	c.resp_max = 4 << 20;
	ASSERT_EQ(http_call_all(&c, 1), 0);
	ASSERT_EQ(c.err, 0);
	ASSERT_EQ(c.resp.len, strlen("PUT /echo 3000000 [] [] ") + N);
	for (i = 0; i < N; i++) {
		unsigned char got = (unsigned char)c.resp.data[c.resp.len - N + (size_t)i];

		if (got != (unsigned char)((i + 5) * 7 + (i + 5) / 256))
			break;
	}
	ASSERT_EQ(i, N);
	/* a file shorter than promised fails the call, and does not hang it */
	c.body_len = N + 100;
	ASSERT_EQ(http_call_all(&c, 1), 0);
	ASSERT_EQ(c.err, -EIO);
	ASSERT_TRUE(c.errtext[0] != 0);
	http_call_deinit(&c);
	fclose(f);
	live_stop(&s);
}

static void test_many(void)
{
	enum { N = 50 };
	static struct http_call c[N];
	struct live s;
	int i;

	start(&s);
	for (i = 0; i < N; i++) {
		char target[32];

		snprintf(target, sizeof(target), i == 7 ? "/nowhere" : "/echo/%d", i);
		call(&c[i], &s, "GET", target);
	}
	ASSERT_EQ(http_call_all(c, N), 0);
	for (i = 0; i < N; i++) {
		char want[64];

		ASSERT_EQ(c[i].err, 0);
		ASSERT_EQ(c[i].status, i == 7 ? 404 : 200);
		snprintf(want, sizeof(want), "GET /echo/%d 0 [] [] ", i);
		ASSERT_STR(c[i].resp.data, i == 7 ? "404 page not found\n" : want);
		http_call_deinit(&c[i]);
	}
	ASSERT_EQ(http_call_all(NULL, 0), 0);
	live_stop(&s);
}

static void test_failures(void)
{
	struct sockaddr_in in = {};
	socklen_t len = sizeof(in);
	struct http_call c[5];
	struct live s, silent = {};
	int fd = -1, i;

	start(&s);
	ASSERT_EQ(http_socket("127.0.0.1", 0, false, NULL, &fd), 0); /* never accepts */
	ASSERT_EQ(getsockname(fd, (struct sockaddr *)&in, &len), 0);
	silent.port = ntohs(in.sin_port);
	call(&c[0], &s, "GET", "/redirect");
	call(&c[1], &s, "GET", "/echo/12345678901234567890");
	c[1].resp_max = 10;
	call(&c[2], &silent, "GET", "/");
	c[2].timeout_ms = 100;
	ASSERT_EQ(http_call_init(&c[3], "GET", "ftp://127.0.0.1/", 1000), 0);
	call(&c[4], &s, "GET", "/echo");
	ASSERT_EQ(http_call_all(c, 5), 0);
	ASSERT_EQ(c[0].err, 0);
	ASSERT_EQ(c[0].status, 307);
	ASSERT_EQ(c[1].err, -E2BIG);
	ASSERT_EQ(c[1].status, 0);
	ASSERT_EQ(c[2].err, -ETIMEDOUT);
	ASSERT_EQ(c[3].err, -EINVAL);
	ASSERT_EQ(c[4].err, 0);
	for (i = 0; i < 5; i++)
		http_call_deinit(&c[i]);
	close(fd);
	call(&c[0], &silent, "GET", "/");
	ASSERT_EQ(http_call_all(c, 1), 0);
	ASSERT_EQ(c[0].err, -ECONNREFUSED);
	http_call_deinit(&c[0]);
	live_stop(&s);
}

/* A server that resets a kept connection in the middle of its second request. */
static void *fickle(void *arg)
{
	static const char ok[] = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
	int lfd = *(int *)arg, round, fd;
	struct buf head = BUF_INIT;
	size_t left, body = 3000000;
	char tmp[65536];

	for (round = 0; round < 2; round++) {
		struct pollfd p = {.fd = lfd, .events = POLLIN};

		poll(&p, 1, LIVE_WAIT_MS);
		fd = accept4(lfd, NULL, NULL, SOCK_CLOEXEC);
		if (raw_head(fd, &head) < 0)
			break;
		for (left = body; left;) {
			ssize_t n = recv(fd, tmp, MIN(left, sizeof(tmp)), 0);

			if (n <= 0)
				break;
			left -= (size_t)n;
		}
		raw_send(fd, ok, sizeof(ok) - 1);
		if (round == 0 && raw_head(fd, &head) == 0)
			raw_reset(fd);
	}
	close(fd);
	buf_free(&head);
	return (void *)(intptr_t)round;
}

static void test_stale(void)
{
	struct sockaddr_in in = {};
	socklen_t len = sizeof(in);
	char *body = calloc(1, 3000000);
	struct live s = {};
	struct http_call c;
	pthread_t thread;
	void *rounds;
	int fd = -1, i;

	ASSERT_EQ(http_socket("127.0.0.1", 0, false, NULL, &fd), 0);
	ASSERT_EQ(getsockname(fd, (struct sockaddr *)&in, &len), 0);
	s.port = ntohs(in.sin_port);
	ASSERT_EQ(pthread_create(&thread, NULL, fickle, &fd), 0);
	for (i = 0; i < 2; i++) {
		call(&c, &s, "PUT", "/");
		c.body = body;
		c.body_len = 3000000;
		ASSERT_EQ(http_call_all(&c, 1), 0);
		ASSERT_EQ(c.err, 0);
		ASSERT_EQ(c.status, 200);
		http_call_deinit(&c);
	}
	pthread_join(thread, &rounds);
	ASSERT_EQ((intptr_t)rounds, 2);
	close(fd);
	free(body);
}

static void *calls_thread(void *arg)
{
	const struct live *s = arg;
	intptr_t good = 0;
	int i;

	for (i = 0; i < 50; i++) {
		struct http_call c;
		char url[64];

		snprintf(url, sizeof(url), "http://127.0.0.1:%u/echo", s->port);
		if (http_call_init(&c, "GET", url, LIVE_WAIT_MS) == 0 &&
		    http_call_all(&c, 1) == 0 && c.status == 200)
			good++;
		http_call_deinit(&c);
	}
	return (void *)good;
}

static void test_threads(void)
{
	pthread_t threads[4];
	struct live s;
	void *good;
	int i;

	start(&s);
	for (i = 0; i < 4; i++)
		ASSERT_EQ(pthread_create(&threads[i], NULL, calls_thread, &s), 0);
	for (i = 0; i < 4; i++) {
		pthread_join(threads[i], &good);
		ASSERT_EQ((intptr_t)good, 50);
	}
	ASSERT_EQ(metrics_read(s.metrics, METRIC_CONN_N), 4);
	live_stop(&s);
}

static void test_init(void)
{
	setenv("http_proxy", "http://127.0.0.1:1", 1); /* must be ignored throughout */
	ASSERT_EQ(http_client_init(), 0);
}

static void test_exit(void)
{
	http_client_exit();
}

UNIT_MAIN("http/client", {"init", test_init}, {"methods", test_methods},
	  {"content type", test_content_type}, {"body from a file", test_file},
	  {"50 at once", test_many}, {"failures", test_failures},
	  {"a stale connection is replaced", test_stale}, {"threads", test_threads},
	  {"exit", test_exit})
