/* SPDX-License-Identifier: BSD-2-Clause */
/* Life of a connection: the table of its states, its turns and waits, its end. */
#include "http/parts.h"

#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>

#include "metrics.h"

/* ---- steps that only wait, and what happens when a state has lasted too long ---- */

static int handler_step(struct http_conn *c)
{
	static const int next[ACT_NR] = {
		[ACT_REPLY] = CONN_REPLY,
		[ACT_COLLECT] = CONN_COLLECT,
		[ACT_RECEIVE] = CONN_RECEIVE,
	};
	struct txn *x = c->txn;
	int to = next[x->act];

	if (!to) {
		c->wants = 0;
		return -EAGAIN;
	}
	if (x->act != ACT_REPLY)
		x->act = ACT_NONE; /* taken */
	return to;
}

static int late_end(struct http_conn *c)
{
	(void)c;
	return -ETIMEDOUT;
}

/* Time to close, unless a request has come that nobody has looked at yet. */
static int late_idle(struct http_conn *c)
{
	int r;

	c->readable = true;
	r = http_conn_idle_step(c);
	return r == -EAGAIN ? -ECANCELED : r;
}

static int late_answer(struct http_conn *c)
{
	static const struct http_fault head = {408, "request head took too long"};
	static const struct http_fault body = {408, "request body made no progress"};

	return http_conn_bad(c, c->state == CONN_HEAD ? &head : &body);
}

static int late_receive(struct http_conn *c)
{
	static const struct http_fault body = {408, "request body made no progress"};

	c->txn->broken = true;
	http_rx_fail(c->txn, &body);
	return CONN_RECEIVE;
}

static int late_discard(struct http_conn *c)
{
	return http_conn_linger(c, CONN_LINGER_MS, CONN_TURN_BYTES);
}

#define LIMIT(field) offsetof(struct http_limits, field)

static const struct conn_step {
	const char *name;
	int (*run)(struct http_conn *c); /* next state; -EAGAIN: wait here; else it ends */
	uint32_t wants; /* EPOLL* bits while waiting, unless the step says otherwise */
	uint32_t next; /* every legal successor but the end, asserted */
	size_t limit; /* offset in struct http_limits of the longest stay; 0: none, or linger_ms */
	int (*late)(struct http_conn *c); /* then: as run */
} steps[CONN_NR] = {
	[CONN_IDLE] = {"idle", http_conn_idle_step, EPOLLIN, BIT(CONN_HEAD), LIMIT(idle_ms),
		       late_idle},
	[CONN_HEAD] = {"head", http_conn_head_step, EPOLLIN, BIT(CONN_HANDLER) | BIT(CONN_REPLY),
		       LIMIT(head_ms), late_answer},
	[CONN_HANDLER] = {"handler", handler_step, 0,
			  BIT(CONN_REPLY) | BIT(CONN_COLLECT) | BIT(CONN_RECEIVE), 0, late_end},
	[CONN_COLLECT] = {"collect", http_conn_collect_step, EPOLLIN,
			  BIT(CONN_HANDLER) | BIT(CONN_REPLY), LIMIT(body_ms), late_answer},
	[CONN_RECEIVE] = {"receive", http_conn_receive_step, EPOLLIN,
			  BIT(CONN_HANDLER) | BIT(CONN_REPLY) | BIT(CONN_RECEIVE), LIMIT(body_ms),
			  late_receive},
	[CONN_REPLY] = {"reply", http_conn_reply_step, EPOLLOUT,
			BIT(CONN_IDLE) | BIT(CONN_HEAD) | BIT(CONN_DISCARD) | BIT(CONN_LINGER) |
				BIT(CONN_FETCH),
			LIMIT(body_ms), late_end},
	[CONN_FETCH] = {"fetch", http_conn_fetch_step, 0, BIT(CONN_REPLY), 0, late_end},
	[CONN_DISCARD] = {"discard", http_conn_discard_step, EPOLLIN,
			  BIT(CONN_IDLE) | BIT(CONN_HEAD) | BIT(CONN_LINGER), LIMIT(drain_ms),
			  late_discard},
	[CONN_LINGER] = {"linger", http_conn_linger_step, EPOLLIN, 0, 0, late_end},
};

static void enter(struct http_conn *c, int next)
{
	assert(next > CONN_NONE && next < CONN_NR && steps[c->state].next & BIT(next));
	c->state = (enum conn_state)next;
	c->moved = 0;
	c->rearm = true;
}

static uint64_t limit_ms(const struct http_conn *c)
{
	const struct conn_step *s = &steps[c->state];

	if (c->state == CONN_LINGER)
		return c->linger_ms;
	if (!s->limit)
		return 0;
	return *(const uint64_t *)((const char *)conn_limits(c) + s->limit);
}

/* Tell the loop what to wait for. Waiting for nothing is told only when an event disproves it. */
static int wait_for(struct http_conn *c)
{
	uint64_t ms = limit_ms(c);
	int r = 0;

	c->lazy = !c->wants;
	if (c->wants)
		r = loop_fd_mod(&c->fd, c->wants);
	if (!c->wants || !ms) {
		loop_timer_cancel(c->hl->loop, &c->timer);
		c->rearm = true;
	} else if (c->rearm) {
		loop_timer_arm(c->hl->loop, &c->timer, ms);
		c->rearm = false;
	}
	return r;
}

static void turn_from(struct http_conn *c, int r)
{
	while (r > 0) {
		enter(c, r);
		c->wants = steps[c->state].wants;
		r = steps[c->state].run(c);
	}
	if (r == -EAGAIN)
		r = wait_for(c);
	c->turn = false;
	if (r < 0)
		http_conn_die(c, r);
}

static void turn_begin(struct http_conn *c)
{
	c->turn = true;
	c->budget = CONN_TURN_BYTES;
	c->reqs = CONN_TURN_REQS;
	c->wants = steps[c->state].wants;
}

void http_conn_turn(struct http_conn *c)
{
	turn_begin(c);
	turn_from(c, steps[c->state].run(c));
}

static void conn_event(struct loop_fd *f, uint32_t events)
{
	struct http_conn *c = container_of(f, struct http_conn, fd);
	bool failed = events & (EPOLLERR | EPOLLHUP);

	if (events & (EPOLLIN | EPOLLERR | EPOLLHUP))
		c->readable = true;
	if (!c->lazy) {
		http_conn_turn(c);
		return;
	}
	/* a request to come makes no difference now; the end of the peer's half does */
	if (events & EPOLLRDHUP)
		atomic_store(&c->gone, true);
	if (failed || loop_fd_mod(f, events & EPOLLRDHUP ? 0 : EPOLLRDHUP) < 0)
		http_conn_die(c, -ECONNRESET);
}

static void conn_late(struct loop_timer *t)
{
	struct http_conn *c = container_of(t, struct http_conn, timer);

	turn_begin(c);
	turn_from(c, steps[c->state].late(c));
}

/* ---- begin and end ---- */

static void peer_text(const struct sockaddr *sa, char out[64])
{
	char host[INET6_ADDRSTRLEN] = "";

	if (sa->sa_family == AF_INET) {
		const struct sockaddr_in *in = (const struct sockaddr_in *)sa;

		inet_ntop(AF_INET, &in->sin_addr, host, sizeof(host));
		snprintf(out, 64, "%s:%u", host, ntohs(in->sin_port));
	} else if (sa->sa_family == AF_INET6) {
		const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)sa;

		if (IN6_IS_ADDR_V4MAPPED(&in6->sin6_addr)) { /* of a socket for both families */
			inet_ntop(AF_INET, &in6->sin6_addr.s6_addr[12], host, sizeof(host));
			snprintf(out, 64, "%s:%u", host, ntohs(in6->sin6_port));
			return;
		}
		inet_ntop(AF_INET6, &in6->sin6_addr, host, sizeof(host));
		snprintf(out, 64, "[%s]:%u", host, ntohs(in6->sin6_port));
	}
}

/* A place for one more connection. Return: 0; -EAGAIN over a limit; -ENOMEM. */
static int place_take(struct http_conn *c, const struct sockaddr *sa)
{
	struct bounds *b = conn_bounds(c);
	const struct http_limits *lim = conn_limits(c);
	int r;

	if (c->from->n_conns >= lim->max_conns)
		return -EAGAIN;
	if (!bound_take(&b->conns, !conn_unbound(c), lim->max_conns_all))
		return -EAGAIN;
	r = bounds_peer_take(b, sa, c->from->net, lim->max_conns_peer, &c->from_peer);
	if (r < 0) {
		bound_give(&b->conns, !conn_unbound(c));
		if (r == -EAGAIN)
			metrics_add(c->hl->server->opts.metrics, METRIC_CONN_REFUSED_PEER_N, 1);
		return r;
	}
	c->from->n_conns++;
	return 0;
}

static void place_give(struct http_conn *c)
{
	bound_give(&conn_bounds(c)->conns, !conn_unbound(c));
	bounds_peer_give(conn_bounds(c), c->from_peer);
	c->from->n_conns--;
}

int http_conn_new(struct listener *from, int fd, const struct sockaddr *sa)
{
	struct http_conn *c = calloc(1, sizeof(*c));
	int r;

	if (!c)
		return -ENOMEM;
	c->hl = from->hl;
	c->from = from;
	c->state = CONN_IDLE;
	c->rearm = true;
	c->wants = EPOLLIN;
	c->fd = (struct loop_fd){.fd = fd, .events = EPOLLIN, .cb = conn_event};
	c->timer.cb = conn_late;
	peer_text(sa, c->peer);
	r = place_take(c, sa);
	if (r == 0) {
		r = loop_fd_add(c->hl->loop, &c->fd);
		if (r < 0)
			place_give(c);
	}
	if (r < 0) {
		free(c);
		return r;
	}
	http_link_plain(&c->link, fd);
	list_add_tail(&c->hl->conns, &c->node);
	metrics_add(c->hl->server->opts.metrics, METRIC_CONN_N, 1);
	wait_for(c);
	return 0;
}

/* Whether the transaction will come back by itself. */
static bool txn_held(const struct http_conn *c)
{
	if (c->state == CONN_FETCH)
		return c->txn->fetching;
	return (c->state == CONN_HANDLER || c->state == CONN_RECEIVE) && c->txn->act == ACT_NONE;
}

static void conn_free(struct http_conn *c, int err)
{
	struct http_loop *hl = c->hl;

	if (c->txn)
		http_txn_end(c->txn, err);
	list_del(&c->node);
	free(c);
	http_loop_left(hl);
}

/* The peer went away, or was too slow, in the middle of a request. */
static void count_abort(const struct http_conn *c, int err)
{
	if (c->txn && !c->txn->told && (err == -ECONNRESET || err == -EPIPE || err == -ETIMEDOUT))
		metrics_add(c->hl->server->opts.metrics, METRIC_HTTP_ABORT_N, 1);
}

void http_conn_die(struct http_conn *c, int err)
{
	static const struct http_fault gone = {499, "client closed the connection"};

	if (!c->dead) {
		c->dead = true;
		count_abort(c, err);
		atomic_store(&c->gone, true);
		loop_timer_cancel(c->hl->loop, &c->timer);
		loop_fd_del(&c->fd);
		c->link.ops->close(&c->link);
		place_give(c);
		c->in.off = c->in.len;
		http_conn_in_release(c);
		if (c->state == CONN_RECEIVE && c->txn->act == ACT_NONE)
			http_rx_fail(c->txn, &gone);
	}
	if (!c->txn || !txn_held(c))
		conn_free(c, err);
}

bool http_conn_idle(const struct http_conn *c)
{
	return c->state == CONN_IDLE;
}
