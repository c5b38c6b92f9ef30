/* SPDX-License-Identifier: BSD-2-Clause */
/* A live server on a thread of its own, and raw sockets to talk to it. */
#ifndef SELFTESTS_HTTP_LIVE_H
#define SELFTESTS_HTTP_LIVE_H

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../unit.h"
#include "base/text.h"
#include "http/http.h"
#include "loop/loop.h"
#include "loop/pool.h"
#include "metrics.h"

#define LIVE_WAIT_MS 20000 /* no event may take longer */

struct live {
	struct http_server_opts opts; /* set what differs before live_start() */
	struct http_server *server;
	struct loop *loop;
	struct pool *io;
	struct metrics *metrics;
	pthread_t thread;
	uint16_t port;
	uint64_t drain_ms;
	struct loop_work stop;
	atomic_int after_n, after_bad; /* responses told, and those that broke */
	atomic_int handled; /* handlers begun */
};

static void live_fallback(struct http_txn *t)
{
	http_reply_text(t, 404, "404 page not found\n");
}

static void live_after(void *ctx, struct http_txn *t, int err)
{
	struct live *s = ctx;

	if (err)
		atomic_fetch_add(&s->after_bad, 1);
	atomic_fetch_add(&s->after_n, 1);
}

static inline void live_init(struct live *s, const struct http_route *routes, size_t n)
{
	memset(s, 0, sizeof(*s));
	s->drain_ms = 5000;
	s->opts = (struct http_server_opts){
		.sz = sizeof(struct http_server_opts),
		.node_name = "t[t1Kq8mXzA]",
		.routes = routes,
		.n_routes = n,
		.limits = {.max_head = 65536,
			   .max_headers = 100,
			   .head_ms = 16000,
			   .body_ms = 30000,
			   .idle_ms = 75000,
			   .drain_bytes = 1 << 30,
			   .drain_ms = 30000,
			   .max_conns = 1000},
		.after = live_after,
		.fallback = live_fallback,
		.ctx = s,
	};
}

static void *live_thread(void *arg)
{
	struct live *s = arg;

	loop_run(s->loop);
	return NULL;
}

static inline void live_start(struct live *s)
{
	struct sockaddr_in in = {};
	socklen_t len = sizeof(in);
	int fd = -1;

	signal(SIGPIPE, SIG_IGN);
	ASSERT_EQ(metrics_new("t1Kq8mXzA", false, &s->metrics), 0);
	ASSERT_EQ(pool_new("io", 2, 64, &s->io), 0);
	ASSERT_EQ(loop_new("live", &s->loop), 0);
	s->opts.metrics = s->metrics;
	s->opts.io = s->io;
	ASSERT_EQ(http_server_new(&s->opts, &s->server), 0);
	ASSERT_EQ(http_socket("127.0.0.1", 0, false, NULL, &fd), 0);
	ASSERT_EQ(getsockname(fd, (struct sockaddr *)&in, &len), 0);
	s->port = ntohs(in.sin_port);
	ASSERT_EQ(http_listen(s->server, s->loop, SMAP_NET_PUBLIC, fd), 0);
	ASSERT_EQ(pthread_create(&s->thread, NULL, live_thread, s), 0);
}

static void live_drained(void *arg)
{
	struct live *s = arg;

	loop_stop(s->loop);
}

static void live_stop_work(struct loop_work *w)
{
	struct live *s = container_of(w, struct live, stop);

	http_drain(s->server, s->loop, s->drain_ms, live_drained, s);
}

static inline void live_drain(struct live *s)
{
	s->stop.fn = live_stop_work;
	loop_post(s->loop, &s->stop);
}

/* Wait for a drain to end, free all. */
static inline void live_join(struct live *s)
{
	pthread_join(s->thread, NULL);
	pool_free(s->io);
	http_server_free(s->server);
	loop_free(s->loop);
	metrics_free(s->metrics);
}

static inline void live_stop(struct live *s)
{
	live_drain(s);
	live_join(s);
}

/* ---- a raw client ---- */

static inline int raw_open_rcvbuf(const struct live *s, int rcvbuf)
{
	struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons(s->port)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;
	struct timeval tv = {.tv_sec = LIVE_WAIT_MS / 1000};

	in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (rcvbuf)
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &rcvbuf, sizeof(rcvbuf));
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &tv, sizeof(tv));
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	ASSERT_EQ(connect(fd, (struct sockaddr *)&in, sizeof(in)), 0);
	return fd;
}

static inline int raw_open(const struct live *s)
{
	return raw_open_rcvbuf(s, 0);
}

/* Send all, as long as the peer takes it. Return: bytes sent. */
static inline size_t raw_send(int fd, const void *p, size_t n)
{
	size_t done = 0;

	while (done < n) {
		ssize_t r = send(fd, (const char *)p + done, n - done, MSG_NOSIGNAL);

		if (r <= 0)
			break;
		done += (size_t)r;
	}
	return done;
}

static inline void raw_str(int fd, const char *s)
{
	ASSERT_EQ(raw_send(fd, s, strlen(s)), strlen(s));
}

/* Close with a reset. */
static inline void raw_reset(int fd)
{
	struct linger l = {.l_onoff = 1};

	setsockopt(fd, SOL_SOCKET, SO_LINGER, &l, sizeof(l));
	close(fd);
}

struct raw_resp {
	int status;
	struct buf head; /* up to the empty line */
	struct buf body;
};

/* Read up to the end of a head. Return: 0; -1 at the end of the stream. */
static inline int raw_head(int fd, struct buf *head)
{
	char c;

	buf_reset(head);
	while (head->len < 4 || memcmp(head->data + head->len - 4, "\r\n\r\n", 4) != 0) {
		if (recv(fd, &c, 1, 0) != 1)
			return -1;
		buf_char(head, c);
	}
	return 0;
}

static inline bool raw_has(const struct raw_resp *r, const char *line)
{
	return strstr(buf_cstr(&r->head), line);
}

/* Read a response; @no_body for HEAD. Return: 0, -1 at the end of the stream. */
static inline int raw_read(int fd, struct raw_resp *r, bool no_body)
{
	const char *cl;
	size_t left = 0;
	char tmp[65536];

	buf_reset(&r->body);
	r->status = 0;
	if (raw_head(fd, &r->head) < 0)
		return -1;
	ASSERT_EQ(sscanf(r->head.data, "HTTP/1.1 %d ", &r->status), 1);
	cl = strcasestr(r->head.data, "\r\nContent-Length: ");
	if (cl && !no_body && r->status >= 200 && r->status != 204 && r->status != 304)
		left = strtoull(cl + 18, NULL, 10);
	while (left) {
		ssize_t n = recv(fd, tmp, MIN(left, sizeof(tmp)), 0);

		if (n <= 0)
			return -1;
		buf_append(&r->body, tmp, (size_t)n);
		left -= (size_t)n;
	}
	return 0;
}

static inline void raw_free(struct raw_resp *r)
{
	buf_free(&r->head);
	buf_free(&r->body);
}

/* Whether the stream ends here, without a reset. */
static inline bool raw_eof(int fd)
{
	char c;

	return recv(fd, &c, 1, 0) == 0;
}

/* Wait for a counter of the server to reach @want. */
static inline bool live_reaches(atomic_int *v, int want)
{
	int64_t until = mono_ns() + LIVE_WAIT_MS * INT64_C(1000000);

	while (atomic_load(v) < want) {
		if (mono_ns() > until)
			return false;
		sched_yield();
	}
	return true;
}

#endif
