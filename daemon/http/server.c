/* SPDX-License-Identifier: BSD-2-Clause */
/* The server: its parts on loops, accepting, draining. */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "http/parts.h"
#include "log.h"
#include "metrics.h"

#define ACCEPTS_A_WAKE 64
#define PAUSE_MS 100 /* accepting rests when the process is out of descriptors or memory */

int http_server_new(const struct http_server_opts *opts, struct http_server **ret)
{
	struct http_server *s;

	if (opts->sz != sizeof(*opts) || !opts->fallback)
		return -EINVAL;
	s = calloc(1, sizeof(*s));
	if (!s)
		return -ENOMEM;
	s->opts = *opts;
	pthread_mutex_init(&s->lock, NULL);
	list_init(&s->loops);
	bounds_init(&s->bounds);
	pthread_mutex_init(&s->sinks.lock, NULL);
	list_init(&s->sinks.waiting);
	*ret = s;
	return 0;
}

/* ---- parts on loops ---- */

static void drain_late(struct loop_timer *t);

static struct http_loop *hl_new(struct http_server *s, struct loop *l)
{
	struct http_loop *hl = calloc(1, sizeof(*hl));

	if (!hl)
		return NULL;
	hl->server = s;
	hl->loop = l;
	hl->date_s = -1;
	hl->drain_timer.cb = drain_late;
	list_init(&hl->listeners);
	list_init(&hl->conns);
	list_add_tail(&s->loops, &hl->node);
	return hl;
}

static struct http_loop *hl_find(struct http_server *s, struct loop *l)
{
	struct list *pos;

	list_for_each (pos, &s->loops) {
		struct http_loop *hl = list_entry(pos, struct http_loop, node);

		if (hl->loop == l)
			return hl;
	}
	return NULL;
}

static struct http_loop *hl_get(struct http_server *s, struct loop *l, bool make)
{
	struct http_loop *hl;

	pthread_mutex_lock(&s->lock);
	hl = hl_find(s, l);
	if (!hl && make)
		hl = hl_new(s, l);
	pthread_mutex_unlock(&s->lock);
	return hl;
}

static void listener_close(struct listener *ln)
{
	loop_timer_cancel(ln->hl->loop, &ln->pause);
	loop_fd_del(&ln->fd);
	if (ln->fd.fd >= 0)
		close(ln->fd.fd);
	ln->fd.fd = -1;
}

static void conns_end(struct http_loop *hl)
{
	struct list *pos, *tmp;

	list_for_each_safe (pos, tmp, &hl->conns) {
		struct http_conn *c = list_entry(pos, struct http_conn, node);

		if (!c->dead)
			http_conn_die(c, -ECANCELED);
	}
}

static void hl_free(struct http_loop *hl)
{
	struct list *pos, *tmp;

	hl->draining = false; /* nobody is told any more */
	conns_end(hl);
	list_for_each_safe (pos, tmp, &hl->conns) { /* their transactions never came back */
		struct http_conn *c = list_entry(pos, struct http_conn, node);

		http_txn_end(c->txn, -ECANCELED);
		list_del(&c->node);
		free(c);
	}
	list_for_each_safe (pos, tmp, &hl->listeners) {
		struct listener *ln = list_entry(pos, struct listener, node);

		listener_close(ln);
		free(ln);
	}
	loop_timer_cancel(hl->loop, &hl->drain_timer);
	free(hl->spare_in);
	free(hl->scratch);
	free(hl);
}

void http_server_free(struct http_server *s)
{
	struct list *pos, *tmp;

	if (!s)
		return;
	list_for_each_safe (pos, tmp, &s->loops)
		hl_free(list_entry(pos, struct http_loop, node));
	bounds_deinit(&s->bounds);
	pthread_mutex_destroy(&s->sinks.lock);
	pthread_mutex_destroy(&s->lock);
	free(s);
}

const char *http_loop_date(struct http_loop *hl)
{
	int64_t now = clock_ns(CLOCK_REALTIME_COARSE) / 1000000000;

	if (now != hl->date_s) {
		http_date_format(now, hl->date);
		hl->date_s = now;
	}
	return hl->date;
}

/* ---- accepting ---- */

/* Return: whether to go on. */
static bool accept_failed(struct listener *ln, int err)
{
	switch (err) {
	case EAGAIN:
		return false;
	case EMFILE:
	case ENFILE:
	case ENOBUFS:
	case ENOMEM:
		if (!ln->failing)
			log_warn("http.accept_paused", "net=%d err=\"%s\"", (int)ln->net,
				 strerror(err));
		ln->failing = true;
		loop_fd_mod(&ln->fd, 0);
		loop_timer_arm(ln->hl->loop, &ln->pause, PAUSE_MS);
		return false;
	default: /* this connection failed before it was accepted */
		return true;
	}
}

/* Say why, as far as that goes without waiting for the peer. */
static void refuse(struct listener *ln, int fd)
{
	static const char text[] = "HTTP/1.1 503 Service Unavailable\r\n"
				   "Retry-After: 1\r\n"
				   "Content-Length: 0\r\n"
				   "Connection: close\r\n\r\n";
	struct http_link link;

	metrics_add(ln->hl->server->opts.metrics, METRIC_CONN_REFUSED_N, 1);
	http_link_plain(&link, fd);
	link.ops->send(&link, &(struct iovec){(char *)text, sizeof(text) - 1}, 1, false);
	link.ops->finish(&link);
	link.ops->close(&link);
}

static void accept_one(struct listener *ln, int fd, const struct sockaddr *sa)
{
	ln->failing = false;
	if (http_conn_new(ln, fd, sa) < 0)
		refuse(ln, fd);
}

static void accept_some(struct listener *ln, int max)
{
	int i;

	for (i = 0; i < max; i++) {
		struct sockaddr_storage ss = {};
		socklen_t len = sizeof(ss);
		int fd = accept4(ln->fd.fd, (struct sockaddr *)&ss, &len,
				 SOCK_NONBLOCK | SOCK_CLOEXEC);

		if (fd >= 0)
			accept_one(ln, fd, (const struct sockaddr *)&ss);
		else if (!accept_failed(ln, errno))
			break;
	}
}

static void listener_event(struct loop_fd *f, uint32_t events)
{
	accept_some(container_of(f, struct listener, fd), ACCEPTS_A_WAKE);
}

static void listener_resume(struct loop_timer *t)
{
	struct listener *ln = container_of(t, struct listener, pause);

	if (loop_fd_mod(&ln->fd, EPOLLIN) < 0)
		loop_timer_arm(ln->hl->loop, t, PAUSE_MS);
}

int http_listen(struct http_server *s, struct loop *l, enum smap_netid net, int fd)
{
	struct http_loop *hl = hl_get(s, l, true);
	autofree struct listener *ln = calloc(1, sizeof(*ln));
	int one = 1, r;

	if (!hl || !ln)
		return -ENOMEM;
	ln->hl = hl;
	ln->net = net;
	ln->fd = (struct loop_fd){.fd = fd, .events = EPOLLIN, .cb = listener_event};
	ln->pause.cb = listener_resume;
	list_init(&ln->node);
	/* accepted sockets inherit it */
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	r = loop_fd_add(l, &ln->fd);
	if (r < 0)
		return r;
	list_add_tail(&hl->listeners, &ln->node);
	ln = NULL; /* the list's now */
	return 0;
}

/* ---- draining ---- */

void http_loop_left(struct http_loop *hl)
{
	void (*done)(void *arg) = hl->done;

	if (!hl->draining || !done || !list_empty(&hl->conns))
		return;
	hl->done = NULL;
	loop_timer_cancel(hl->loop, &hl->drain_timer);
	done(hl->done_arg);
}

/* The step of an idle connection looks for a request that has come, else it ends. */
static void idle_end(struct http_loop *hl)
{
	struct list *pos, *tmp;

	list_for_each_safe (pos, tmp, &hl->conns) {
		struct http_conn *c = list_entry(pos, struct http_conn, node);

		if (!c->dead && http_conn_idle(c))
			http_conn_turn(c);
	}
}

static void drain_late(struct loop_timer *t)
{
	struct http_loop *hl = container_of(t, struct http_loop, drain_timer);

	conns_end(hl);
}

void http_drain(struct http_server *s, struct loop *l, uint64_t limit_ms, void (*done)(void *arg),
		void *arg)
{
	struct http_loop *hl = hl_get(s, l, false);
	struct list *pos;

	if (!hl) {
		done(arg);
		return;
	}
	hl->draining = true;
	list_for_each (pos, &hl->listeners) {
		struct listener *ln = list_entry(pos, struct listener, node);

		if (ln->fd.fd >= 0)
			accept_some(ln, SOMAXCONN); /* closing would reset who waits */
		listener_close(ln);
	}
	idle_end(hl);
	hl->done = done;
	hl->done_arg = arg;
	loop_timer_arm(l, &hl->drain_timer, limit_ms);
	http_loop_left(hl);
}
