/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * DOC: bodies into sinks
 *
 * The loop fills one piece while the sink writes the other; it stops reading when both are full.
 * A sink's job runs on the io pool, so many of them at once that reading always finds a thread.
 * Each transaction that came this far gets exactly one of end (leads to a reply) and abort (the
 * engine replies, to nobody if the peer is gone).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "http/parts.h"

static struct pool *rx_pool(struct txn *x)
{
	return x->t.server->opts.io;
}

/* ---- on the pool ---- */

static void abort_job(struct pool_job *j)
{
	struct txn *x = container_of(j, struct txn, rx.job);

	x->rx.sink->abort(&x->t);
	http_reply(&x->t);
}

/* ---- turns ---- */

/* Give the job of @x to the pool, at its turn. Return: 0, or -EAGAIN: the pool is full. */
static int sink_begin(struct txn *x)
{
	struct sinks *k = &x->t.server->sinks;
	size_t max = x->t.server->opts.limits.max_sinks;
	int r = 0;

	pthread_mutex_lock(&k->lock);
	if (max && k->at_work >= max) {
		list_add_tail(&k->waiting, &x->rx.turn);
	} else {
		if (x->rx.started)
			pool_continue(rx_pool(x), &x->rx.job);
		else
			r = pool_submit(rx_pool(x), &x->rx.job);
		k->at_work += r == 0;
	}
	pthread_mutex_unlock(&k->lock);
	return r;
}

/* On the pool, when a job is over: the next one's turn. */
static void sink_over(struct http_server *s)
{
	struct list *first;

	pthread_mutex_lock(&s->sinks.lock);
	first = s->sinks.waiting.next;
	if (first == &s->sinks.waiting) {
		s->sinks.at_work--;
	} else {
		list_del(first);
		pool_continue(s->opts.io, &list_entry(first, struct txn, rx.turn)->rx.job);
	}
	pthread_mutex_unlock(&s->sinks.lock);
}

static void piece_work(struct txn *x)
{
	struct rx *rx = &x->rx;
	int r = 0;

	if (rx->busy.len)
		r = rx->sink->write(&x->t, rx->busy.data, rx->busy.len);
	if (r < 0) {
		rx->sink->abort(&x->t);
		if (!x->t.resp.status)
			http_error(&x->t, 500, NULL, "%s", strerror(-r));
		http_reply(&x->t);
		return;
	}
	if (rx->last)
		rx->sink->end(&x->t); /* @x may be gone now */
	else
		loop_post(x->t.conn->hl->loop, &rx->idle);
}

static void piece_job(struct pool_job *j)
{
	struct txn *x = container_of(j, struct txn, rx.job);
	struct http_server *s = x->t.server;

	piece_work(x); /* @x may be gone now */
	sink_over(s);
}

/* ---- on the loop ---- */

/* The sink is idle and will get no more. */
static void rx_abort(struct txn *x)
{
	struct rx *rx = &x->rx;

	if (rx->ending)
		return;
	rx->ending = true;
	if (rx->fault.status == 503)
		http_busy(&x->t, rx->fault.why);
	else
		http_error(&x->t, rx->fault.status, NULL, "%s", rx->fault.why);
	rx->job.fn = abort_job;
	pool_continue(rx_pool(x), &rx->job);
}

void http_rx_fail(struct txn *x, const struct http_fault *f)
{
	if (!x->rx.fault.status)
		x->rx.fault = *f;
	if (!x->rx.writing)
		rx_abort(x);
}

static void sink_idle(struct loop_work *w)
{
	struct txn *x = container_of(w, struct txn, rx.idle);
	struct http_conn *c = x->t.conn;

	x->rx.writing = false;
	x->rx.busy.len = 0;
	if (x->rx.fault.status)
		rx_abort(x);
	else
		http_conn_turn(c);
}

/* Hand the filled piece to the sink. */
static void piece_submit(struct txn *x)
{
	static const struct http_fault busy = {503, "too many requests in flight"};
	struct rx *rx = &x->rx;
	struct piece p = rx->busy;
	int r = 0;

	rx->busy = rx->fill;
	rx->fill = p;
	rx->fill.full = false;
	rx->job.fn = piece_job;
	rx->idle.fn = sink_idle;
	rx->writing = true;
	rx->last = x->body.done;
	r = sink_begin(x);
	rx->started = true;
	if (r < 0) {
		rx->writing = rx->last = false;
		http_rx_fail(x, &busy);
	}
}

/* ---- memory of pieces ---- */

/* How much of a piece is taken from the bounds. */
static size_t piece_bound(size_t cap)
{
	return cap > CONN_PIECE_MIN ? cap - CONN_PIECE_MIN : 0;
}

static void piece_free(struct http_conn *c, struct piece *p)
{
	bound_give(&conn_bounds(c)->bodies, piece_bound(p->cap));
	free(p->data);
	*p = (struct piece){};
}

void http_rx_free(struct txn *x)
{
	piece_free(x->t.conn, &x->rx.fill);
	piece_free(x->t.conn, &x->rx.busy);
	x->rx = (struct rx){};
}

/* Whether a piece waits for a peer, and for nobody else. */
static bool piece_waits(const struct http_conn *c)
{
	const struct rx *rx;

	if (c->dead || c->state != CONN_RECEIVE || c->txn->act != ACT_NONE)
		return false;
	rx = &c->txn->rx;
	return !rx->writing && !rx->last && !rx->ending && !rx->fault.status &&
	       rx->fill.cap > CONN_PIECE_MIN;
}

/*
 * Memory is short: what slow peers of this loop have sent goes to their sinks, so that they hold
 * no more than their share while they send nothing.
 */
static void squeeze(struct http_conn *but)
{
	struct http_loop *hl = but->hl;
	int64_t now = loop_now_ns(hl->loop);
	struct list *pos;

	if (hl->squeezed_ns && now - hl->squeezed_ns < CONN_SQUEEZE_MS * INT64_C(1000000))
		return;
	hl->squeezed_ns = now;
	list_for_each (pos, &hl->conns) {
		struct http_conn *c = list_entry(pos, struct http_conn, node);

		if (c == but || !piece_waits(c))
			continue;
		if (c->txn->rx.fill.len)
			piece_submit(c->txn);
		else
			piece_free(c, &c->txn->rx.fill);
	}
}

/* Return: 0; 1 when it may not be larger now; -ENOMEM. */
static int piece_grow(struct http_conn *c, struct piece *p, size_t cap)
{
	atomic_size_t *used = &conn_bounds(c)->bodies;
	size_t more = piece_bound(cap) - piece_bound(p->cap);
	char *data;

	if (more && !bound_take(used, more, conn_limits(c)->max_memory)) {
		squeeze(c);
		if (p->cap)
			return 1;
		cap = CONN_PIECE_MIN;
		more = 0;
	}
	data = realloc(p->data, cap);
	if (!data) {
		bound_give(used, more);
		return p->cap ? 1 : -ENOMEM;
	}
	p->data = data;
	p->cap = cap;
	return 0;
}

/* Room for more in the piece being filled, at most CONN_PIECE altogether. As piece_grow(). */
static int piece_room(struct http_conn *c, struct txn *x)
{
	struct piece *p = &x->rx.fill;
	size_t cap = CONN_PIECE;

	if (p->len < p->cap)
		return 0;
	if (x->t.req.length < 0)
		cap = p->cap ? CONN_PIECE : CONN_SCRATCH;
	else
		cap = (size_t)MIN((uint64_t)CONN_PIECE, p->len + x->body.left);
	return piece_grow(c, p, cap);
}

/* An idle body has no piece when others need the memory. */
static void pieces_rest(struct http_conn *c, struct rx *rx)
{
	if (rx->fill.len || !bound_tight(&conn_bounds(c)->bodies, conn_limits(c)->max_memory))
		return;
	piece_free(c, &rx->fill);
	if (!rx->writing)
		piece_free(c, &rx->busy);
}

/* Read until the piece is full or the body whole. Return: 0, -EAGAIN, or another errno. */
static int piece_fill(struct http_conn *c, struct txn *x)
{
	struct piece *p = &x->rx.fill;

	while (!x->body.done && !p->full) {
		ssize_t n = piece_room(c, x);

		if (n == 0)
			n = http_body_read(c, p->data + p->len, p->cap - p->len);
		else if (n > 0)
			p->full = true;
		if (n == -EAGAIN)
			pieces_rest(c, &x->rx);
		if (n < 0)
			return (int)n;
		if (!p->full)
			p->len += (size_t)n;
		if (p->len == CONN_PIECE)
			p->full = true;
	}
	return 0;
}

static int rx_failed(struct txn *x, int err)
{
	static const struct http_fault chunks = {400, "malformed chunked body"};
	static const struct http_fault large = {413, "request body too large"};
	static const struct http_fault memory = {503, "out of memory"};

	if (err != -EBADMSG && err != -EFBIG && err != -ENOMEM)
		return err;
	if (err == -EBADMSG)
		x->broken = true;
	http_rx_fail(x, err == -EBADMSG ? &chunks : err == -EFBIG ? &large : &memory);
	return 0;
}

int http_conn_receive_step(struct http_conn *c)
{
	struct txn *x = c->txn;
	struct rx *rx = &x->rx;
	int r = 0;

	if (rx->fault.status)
		http_rx_fail(x, &rx->fault); /* there was no room for it */
	if (x->t.req.length > 0 && (uint64_t)x->t.req.length > x->body.max)
		r = rx_failed(x, -EFBIG);
	while (r == 0) {
		if (x->act == ACT_REPLY)
			return CONN_REPLY;
		if (rx->last)
			return CONN_HANDLER; /* the sink ends it */
		if (rx->fault.status || (rx->writing && rx->fill.full) ||
		    (rx->writing && x->body.done)) {
			c->wants = 0;
			return -EAGAIN;
		}
		r = http_conn_interim(c);
		if (r == 0)
			r = piece_fill(c, x);
		if (r == 0 && !rx->writing)
			piece_submit(x);
		else if (r < 0 && r != -EAGAIN)
			r = rx_failed(x, r);
	}
	return r;
}
