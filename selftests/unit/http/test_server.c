/* SPDX-License-Identifier: BSD-2-Clause */
/* Listeners, connection limits, draining. */
#include <sys/resource.h>

#include "live.h"

static void slow_done(struct http_txn *t)
{
	http_reply_text(t, 200, "done");
}

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;

static void slow_pool(struct http_txn *t)
{
	struct live *s = t->ctx;

	atomic_fetch_add(&s->handled, 1);
	pthread_mutex_lock(&gate);
	pthread_mutex_unlock(&gate);
	slow_done(t);
}

static void slow(struct http_txn *t)
{
	struct live *s = t->ctx;

	http_run(t, s->io, slow_pool);
}

/* Holds up the loop itself, so that a test knows what has not been looked at yet. */
static void block(struct http_txn *t)
{
	struct live *s = t->ctx;

	atomic_fetch_add(&s->handled, 1);
	pthread_mutex_lock(&gate);
	pthread_mutex_unlock(&gate);
	slow_done(t);
}

static void start(struct live *s)
{
	static struct http_route routes[] = {
		{"/slow", BIT(SMAP_NET_PUBLIC), BIT(HTTP_GET), slow, NULL},
		{"/fast", BIT(SMAP_NET_PUBLIC), BIT(HTTP_GET), slow_done, NULL},
		{"/block", BIT(SMAP_NET_PUBLIC), BIT(HTTP_GET), block, NULL},
	};

	routes[0].ctx = routes[2].ctx = s;
	s->opts.routes = routes;
	s->opts.n_routes = ARRAY_SIZE(routes);
	live_start(s);
}

static void test_new(void)
{
	struct http_server_opts o = {.sz = sizeof(o)};
	struct http_server *s = NULL;

	ASSERT_EQ(http_server_new(&o, &s), -EINVAL); /* no fallback */
	o.fallback = live_fallback;
	o.sz--;
	ASSERT_EQ(http_server_new(&o, &s), -EINVAL);
	o.sz++;
	ASSERT_EQ(http_server_new(&o, &s), 0);
	http_server_free(s);
	http_server_free(NULL);
}

static void test_socket(void)
{
	struct sockaddr_in in = {};
	socklen_t len = sizeof(in);
	int fd = -1, other = -1;

	ASSERT_EQ(http_socket("127.0.0.1", 0, false, "cubic", &fd), 0);
	ASSERT_EQ(getsockname(fd, (struct sockaddr *)&in, &len), 0);
	ASSERT_EQ(http_socket("127.0.0.1", ntohs(in.sin_port), true, NULL, &other), -EADDRINUSE);
	ASSERT_EQ(http_socket("127.0.0.1", 0, false, "nosuchcc", &other), -ENOENT);
	ASSERT_EQ(http_socket("no such name", 0, false, NULL, &other), -EINVAL);
	ASSERT_EQ(http_socket("192.0.2.1", 0, false, NULL, &other), -EADDRNOTAVAIL);
	ASSERT_EQ(other, -1);
	close(fd);
	ASSERT_EQ(http_socket("127.0.0.1", 0, true, NULL, &fd), 0);
	ASSERT_EQ(getsockname(fd, (struct sockaddr *)&in, &len), 0);
	ASSERT_EQ(http_socket("127.0.0.1", ntohs(in.sin_port), true, NULL, &other), 0);
	close(fd);
	close(other);
}

static void test_max_conns(void)
{
	struct raw_resp r = {};
	struct live s;
	static const char fast[] = "GET /fast HTTP/1.1\r\nHost: a\r\n\r\n";
	int64_t until = mono_ns() + LIVE_WAIT_MS * INT64_C(1000000);
	int fd[3], over;

	live_init(&s, NULL, 0);
	s.opts.limits.max_conns = 3;
	start(&s);
	for (over = 0; over < 3; over++) {
		fd[over] = raw_open(&s);
		raw_str(fd[over], "GET /fast HTTP/1.1\r\nHost: a\r\n\r\n");
		ASSERT_EQ(raw_read(fd[over], &r, false), 0);
	}
	over = raw_open(&s);
	ASSERT_EQ(raw_read(over, &r, false), 0);
	ASSERT_EQ(r.status, 503);
	ASSERT_TRUE(raw_has(&r, "\r\nRetry-After: 1\r\n"));
	ASSERT_TRUE(raw_has(&r, "\r\nConnection: close\r\n"));
	ASSERT_TRUE(raw_eof(over));
	close(over);
	ASSERT_EQ(metrics_read(s.metrics, METRIC_CONN_REFUSED_N), 1);
	ASSERT_EQ(metrics_read(s.metrics, METRIC_CONN_N), 3);
	raw_str(fd[0], "GET /fast HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
	ASSERT_EQ(raw_read(fd[0], &r, false), 0);
	ASSERT_TRUE(raw_eof(fd[0]));
	close(fd[0]);
	do { /* as soon as the server has seen that end too, there is room again */
		fd[0] = raw_open(&s);
		raw_send(fd[0], fast, strlen(fast));
		r.status = 0;
		raw_read(fd[0], &r, false);
		if (r.status != 200)
			close(fd[0]);
	} while (r.status != 200 && mono_ns() < until);
	ASSERT_EQ(r.status, 200);
	for (over = 0; over < 3; over++)
		close(fd[over]);
	raw_free(&r);
	live_stop(&s);
}

/* Idle ones end at once, a response under way is finished and says close. */
static void test_drain(void)
{
	struct raw_resp r = {};
	struct live s;
	int idle, busy;

	live_init(&s, NULL, 0);
	start(&s);
	idle = raw_open(&s);
	raw_str(idle, "GET /fast HTTP/1.1\r\nHost: a\r\n\r\n");
	ASSERT_EQ(raw_read(idle, &r, false), 0);
	busy = raw_open(&s);
	pthread_mutex_lock(&gate);
	raw_str(busy, "GET /slow HTTP/1.1\r\nHost: a\r\n\r\n");
	ASSERT_TRUE(live_reaches(&s.handled, 1));
	live_drain(&s);
	ASSERT_TRUE(raw_eof(idle));
	pthread_mutex_unlock(&gate);
	ASSERT_EQ(raw_read(busy, &r, false), 0);
	ASSERT_EQ(r.status, 200);
	ASSERT_TRUE(raw_has(&r, "\r\nConnection: close\r\n"));
	ASSERT_TRUE(raw_eof(busy));
	close(idle);
	close(busy);
	raw_free(&r);
	live_join(&s);
}

/* What was sent before the drain is answered, also on a connection nobody has accepted yet. */
static void test_drain_pending(void)
{
	static const char fast[] = "GET /fast HTTP/1.1\r\nHost: a\r\n\r\n";
	struct raw_resp r = {};
	struct live s;
	int block_fd, fd[2], i;

	live_init(&s, NULL, 0);
	start(&s);
	fd[0] = raw_open(&s);
	raw_str(fd[0], fast);
	ASSERT_EQ(raw_read(fd[0], &r, false), 0);
	pthread_mutex_lock(&gate);
	block_fd = raw_open(&s);
	raw_str(block_fd, "GET /block HTTP/1.1\r\nHost: a\r\n\r\n");
	ASSERT_TRUE(live_reaches(&s.handled, 1));
	fd[1] = raw_open(&s);
	live_drain(&s);
	for (i = 0; i < 2; i++)
		raw_str(fd[i], fast);
	pthread_mutex_unlock(&gate);
	for (i = 0; i < 2; i++) {
		ASSERT_EQ(raw_read(fd[i], &r, false), 0);
		ASSERT_EQ(r.status, 200);
		ASSERT_TRUE(raw_has(&r, "\r\nConnection: close\r\n"));
		ASSERT_TRUE(raw_eof(fd[i]));
		close(fd[i]);
	}
	ASSERT_EQ(raw_read(block_fd, &r, false), 0);
	ASSERT_TRUE(raw_eof(block_fd));
	close(block_fd);
	raw_free(&r);
	live_join(&s);
}

/* What does not end by the limit is closed. */
static void test_drain_limit(void)
{
	struct live s;
	int half, fd;

	live_init(&s, NULL, 0);
	s.drain_ms = 50;
	start(&s);
	half = raw_open(&s);
	raw_str(half, "GET /fa");
	pthread_mutex_lock(&gate);
	fd = raw_open(&s);
	raw_str(fd, "GET /slow HTTP/1.1\r\nHost: a\r\n\r\n");
	ASSERT_TRUE(live_reaches(&s.handled, 1));
	live_drain(&s);
	ASSERT_TRUE(raw_eof(half));
	ASSERT_TRUE(raw_eof(fd));
	pthread_mutex_unlock(&gate); /* the transaction comes back, then the drain is done */
	live_join(&s);
	close(half);
	close(fd);
	ASSERT_EQ(atomic_load(&s.after_bad), 1);
}

/* Out of descriptors: accepting rests, and goes on when there are some again. */
static void test_no_fds(void)
{
	struct rlimit before, tight;
	struct raw_resp r = {};
	struct live s;
	int fd, spare;

	live_init(&s, NULL, 0);
	start(&s);
	ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
	spare = dup(0); /* the number that the client's socket will have */
	close(spare);
	tight = before;
	tight.rlim_cur = (rlim_t)spare + 1;
	ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &tight), 0);
	fd = raw_open(&s);
	ASSERT_EQ(fd, spare);
	raw_str(fd, "GET /fast HTTP/1.1\r\nHost: a\r\n\r\n");
	ASSERT_EQ(metrics_read(s.metrics, METRIC_CONN_N), 0);
	ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
	ASSERT_EQ(raw_read(fd, &r, false), 0);
	ASSERT_EQ(r.status, 200);
	close(fd);
	raw_free(&r);
	live_stop(&s);
}

static void test_many(void)
{
	enum { N = 500 };
	struct raw_resp r = {};
	static int fd[N];
	struct live s;
	int i;

	live_init(&s, NULL, 0);
	start(&s);
	for (i = 0; i < N; i++)
		fd[i] = raw_open(&s);
	for (i = N - 1; i >= 0; i--)
		raw_str(fd[i], "GET /slow HTTP/1.1\r\nHost: a\r\n\r\n");
	for (i = 0; i < N; i++) {
		ASSERT_EQ(raw_read(fd[i], &r, false), 0);
		ASSERT_TRUE(r.status == 200 || r.status == 503); /* a full pool says so */
		if (r.status == 503)
			ASSERT_TRUE(raw_has(&r, "\r\nRetry-After: 1\r\n"));
		close(fd[i]);
	}
	raw_free(&r);
	live_stop(&s);
}

UNIT_MAIN("http/server", {"wrong options", test_new}, {"listening sockets", test_socket},
	  {"too many connections", test_max_conns}, {"drain", test_drain},
	  {"requests pending at a drain", test_drain_pending},
	  {"drain with a limit", test_drain_limit}, {"out of descriptors", test_no_fds},
	  {"500 connections", test_many})
