/* SPDX-License-Identifier: BSD-2-Clause */
/* A live server on a thread of its own, and raw sockets to talk to it. */
#ifndef SELFTESTS_HTTP_LIVE_H
#define SELFTESTS_HTTP_LIVE_H

#include <errno.h>
#include <netinet/in.h>
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
#include "raw.h"

#define LIVE_WAIT_MS (RAW_WAIT_S * 1000)

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

static inline int raw_open(const struct live *s)
{
	return raw_connect(s->port, 0);
}

#endif
