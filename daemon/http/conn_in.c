/* SPDX-License-Identifier: BSD-2-Clause */
/* What a connection reads: heads, bodies, and bytes nobody wants. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "http/parts.h"
#include "metrics.h"

/* ---- the read buffer ---- */

static size_t in_len(const struct http_conn *c)
{
	return c->in.len - c->in.off;
}

void http_conn_in_release(struct http_conn *c)
{
	if (in_len(c) || !c->in.data)
		return;
	if (c->in.cap == CONN_IN_SIZE && !c->hl->spare_in)
		c->hl->spare_in = c->in.data;
	else
		free(c->in.data);
	if (c->in.cap > CONN_IN_SIZE)
		bound_give(&conn_bounds(c)->bodies, c->in.cap - CONN_IN_SIZE);
	c->in = (struct conn_buf){};
}

static int in_grow(struct http_conn *c, size_t cap)
{
	atomic_size_t *used = &conn_bounds(c)->bodies;
	size_t more = c->in.cap ? cap - c->in.cap : 0; /* the first size is everybody's */
	char *p;

	if (!bound_take(used, more, conn_limits(c)->max_memory))
		return -ENOBUFS;
	p = realloc(c->in.data, cap);
	if (!p) {
		bound_give(used, more);
		return -ENOMEM;
	}
	c->in.data = p;
	c->in.cap = cap;
	return 0;
}

/* Room behind what is there: from the spare, by moving, or by growing. */
static int in_room(struct http_conn *c)
{
	struct conn_buf *b = &c->in;

	if (!b->data && c->hl->spare_in) {
		*b = (struct conn_buf){.data = c->hl->spare_in, .cap = CONN_IN_SIZE};
		c->hl->spare_in = NULL;
	}
	if (b->off) {
		memmove(b->data, b->data + b->off, in_len(c));
		b->len -= b->off;
		b->off = 0;
	}
	if (b->len < b->cap)
		return 0;
	return in_grow(c, b->cap ? b->cap * 2 : CONN_IN_SIZE);
}

/* recv, counted; a short one says that the socket is empty now. Return: bytes, or negative. */
static ssize_t take(struct http_conn *c, void *p, size_t n)
{
	ssize_t r;

	if (!c->readable || !c->budget)
		return -EAGAIN; /* level-triggered: the event comes again */
	n = MIN(n, c->budget);
	r = c->link.ops->recv(&c->link, p, n);
	if (r == 0)
		return -ECONNRESET;
	if (r < (ssize_t)n)
		c->readable = false;
	if (r < 0)
		return r;
	c->budget -= (size_t)r;
	if (c->state == CONN_COLLECT || c->state == CONN_RECEIVE)
		conn_moved(c, (size_t)r); /* the other states are limited as a whole */
	return r;
}

static int in_fill(struct http_conn *c)
{
	ssize_t n;
	int r;

	if (!c->readable)
		return -EAGAIN;
	r = in_room(c);
	if (r < 0)
		return r;
	n = take(c, c->in.data + c->in.len, c->in.cap - c->in.len);
	if (n < 0)
		return (int)n;
	c->in.len += (size_t)n;
	return 0;
}

/* ---- heads ---- */

int http_conn_idle_step(struct http_conn *c)
{
	int r;

	if (!in_len(c)) {
		if (c->hl->draining)
			c->readable = true; /* a request that came before the end is served */
		r = in_fill(c);
		if (r < 0) {
			http_conn_in_release(c);
			return r == -EAGAIN && c->hl->draining ? -ECANCELED : r;
		}
	}
	return CONN_HEAD;
}

int http_conn_bad(struct http_conn *c, const struct http_fault *f)
{
	struct txn *x = c->txn ? c->txn : http_txn_new(c);

	if (!x)
		return -ENOMEM;
	x->broken = true;
	if (f->status == 503) {
		http_busy(&x->t, f->why);
	} else {
		metrics_add(c->hl->server->opts.metrics, METRIC_HTTP_BAD_N, 1);
		http_error(&x->t, f->status, NULL, "%s", f->why);
	}
	x->act = ACT_REPLY;
	return CONN_REPLY;
}

/* The head of @n bytes is whole: make a transaction of it. */
static int head_take(struct http_conn *c)
{
	struct http_scan scan = c->scan;
	struct http_fault f;
	struct txn *x = http_txn_new(c);
	int r;

	c->scan = (struct http_scan){};
	c->seen_crlf = false;
	if (!x)
		return -ENOMEM;
	r = http_head_parse(c->in.data + c->in.off, &scan, &x->t.req, &x->text, &f);
	c->in.off += scan.pos;
	if (r < 0)
		return r;
	if (r > 0)
		return http_conn_bad(c, &f);
	x->body.left = x->t.req.length > 0 ? (uint64_t)x->t.req.length : 0;
	x->body.done = x->t.req.length == 0;
	x->unread = x->t.req.expect;
	http_conn_in_release(c);
	if (http_target_parse(&x->t.req, http_target_room(&x->t.req, x->text, &scan), &f)) {
		metrics_add(c->hl->server->opts.metrics, METRIC_HTTP_BAD_N, 1);
		http_error(&x->t, f.status, NULL, "%s", f.why);
		x->act = ACT_REPLY;
		return CONN_REPLY;
	}
	http_dispatch(&x->t);
	return CONN_HANDLER;
}

/* Some clients send an empty line after a body; one is forgiven. Return: whether more must come. */
static bool head_skip_crlf(struct http_conn *c)
{
	const char *p = c->in.data + c->in.off;

	if (!c->seen_crlf && in_len(c) && p[0] == '\r') {
		if (in_len(c) == 1)
			return true;
		if (p[1] == '\n') {
			c->in.off += 2;
			c->seen_crlf = true;
		}
	}
	return !in_len(c);
}

int http_conn_head_step(struct http_conn *c)
{
	static const struct http_fault full = {503, "too much memory in use by others"};
	struct http_fault f;
	int r;

	if (!c->reqs) {
		c->wants = EPOLLOUT; /* others first; it comes again at once */
		return -EAGAIN;
	}
	for (;;) {
		r = -EAGAIN;
		if (!head_skip_crlf(c))
			r = http_head_scan(&c->scan, c->in.data + c->in.off, in_len(c),
					   conn_limits(c), &f);
		if (r == 0) {
			c->reqs--;
			return head_take(c);
		}
		if (r > 0)
			return http_conn_bad(c, &f);
		r = in_fill(c);
		if (r == -ENOBUFS)
			return http_conn_bad(c, &full);
		if (r < 0)
			return r;
	}
}

/* ---- bodies ---- */

int http_conn_interim(struct http_conn *c)
{
	static const char text[] = "HTTP/1.1 100 Continue\r\n\r\n";
	struct txn *x = c->txn;

	if (x->unread && !x->body.done) {
		x->interim = sizeof(text) - 1;
		x->unread = false;
	}
	while (x->interim) {
		struct iovec v = {(char *)text + sizeof(text) - 1 - x->interim, x->interim};
		ssize_t n = c->link.ops->send(&c->link, &v, 1, false);

		if (n == -EAGAIN)
			c->wants = EPOLLOUT;
		if (n < 0)
			return (int)n;
		x->interim -= (size_t)n;
	}
	return 0;
}

/* From the read buffer. Return: body bytes, which may be none though input was used. */
static ssize_t body_from_in(struct http_conn *c, struct body_in *b, char *dst, size_t room)
{
	const char *p = c->in.data + c->in.off;
	size_t n = in_len(c);
	int r;

	if (c->txn->t.req.length < 0) {
		r = http_chunked_decode(&b->dec, p, &n, dst, &room);
		if (r < 0)
			return r;
		c->in.off += n;
		b->done = b->dec.state == CHUNK_DONE;
		return (ssize_t)room;
	}
	n = MIN(n, room);
	n = (size_t)MIN((uint64_t)n, b->left);
	if (dst)
		memcpy(dst, p, n);
	c->in.off += n;
	b->left -= n;
	b->done = !b->left;
	return (ssize_t)n;
}

static char *scratch(struct http_loop *hl)
{
	if (!hl->scratch)
		hl->scratch = malloc(CONN_SCRATCH);
	return hl->scratch;
}

/* From the socket, past the buffer: @n bytes are known to be body. */
static ssize_t body_direct(struct http_conn *c, struct body_in *b, char *dst, size_t n)
{
	ssize_t r;

	if (!dst) {
		dst = scratch(c->hl);
		n = MIN(n, (size_t)CONN_SCRATCH);
	}
	if (!dst)
		return -ENOMEM;
	r = take(c, dst, n);
	if (r < 0)
		return r;
	if (c->txn->t.req.length < 0) {
		http_chunked_skip(&b->dec, (uint64_t)r);
		return r;
	}
	b->left -= (uint64_t)r;
	b->done = !b->left;
	return r;
}

ssize_t http_body_read(struct http_conn *c, char *dst, size_t room)
{
	struct body_in *b = &c->txn->body;
	bool chunked = c->txn->t.req.length < 0;
	ssize_t n = 0;

	while (!b->done && n == 0) {
		uint64_t known = chunked ? b->dec.left : b->left;

		if (chunked && b->dec.state != CHUNK_DATA)
			known = 0;
		if (in_len(c))
			n = body_from_in(c, b, dst, room);
		else if (known)
			n = body_direct(c, b, dst, (size_t)MIN((uint64_t)room, known));
		else
			n = in_fill(c);
	}
	http_conn_in_release(c);
	if (n < 0)
		return n;
	b->got += (uint64_t)n;
	return b->got > b->max ? -EFBIG : n;
}

/* A body that can not go on. Return: as a step. */
static int collect_failed(struct http_conn *c, int err)
{
	static const struct http_fault chunks = {400, "malformed chunked body"};
	struct txn *x = c->txn;

	switch (err) {
	case -EBADMSG:
		return http_conn_bad(c, &chunks);
	case -EFBIG:
		http_error(&x->t, 413, NULL, "request body too large");
		break;
	case -ENOBUFS:
		http_busy(&x->t, "too much memory in use by request bodies");
		break;
	case -ENOMEM:
		http_busy(&x->t, "out of memory");
		break;
	default:
		return err;
	}
	http_txn_body_drop(x);
	x->act = ACT_REPLY;
	return CONN_REPLY;
}

/* Room for more of a body. What is beyond everybody's share is taken from the bounds. */
static int collect_room(struct http_conn *c, struct txn *x)
{
	struct buf *to = &x->t.body;
	size_t room = MAX(to->len, (size_t)16384), more;

	if (x->t.req.length > 0)
		room = (size_t)MIN((uint64_t)room, x->body.left);
	if (buf_reserve(to, room) < 0)
		return -ENOMEM;
	if (to->cap <= CONN_KEPT_MIN + x->kept_body || conn_unbound(c))
		return (int)room;
	more = to->cap - CONN_KEPT_MIN - x->kept_body;
	if (!bound_take(&conn_bounds(c)->bodies, more, conn_limits(c)->max_memory))
		return -ENOBUFS;
	x->kept_body += more;
	return (int)room;
}

int http_conn_collect_step(struct http_conn *c)
{
	struct txn *x = c->txn;
	struct buf *to = &x->t.body;
	ssize_t n;
	int r;

	if (x->t.req.length > 0 && (uint64_t)x->t.req.length > x->body.max)
		return collect_failed(c, -EFBIG);
	r = http_conn_interim(c);
	if (r < 0)
		return r;
	while (!x->body.done) {
		n = collect_room(c, x);
		if (n < 0)
			return collect_failed(c, (int)n);
		n = http_body_read(c, to->data + to->len, (size_t)n);
		if (n == -EAGAIN)
			return -EAGAIN;
		if (n < 0)
			return collect_failed(c, (int)n);
		to->len += (size_t)n;
		to->data[to->len] = 0;
	}
	http_txn_continue(x);
	return CONN_HANDLER;
}

/* ---- what nobody wants ---- */

int http_conn_linger(struct http_conn *c, uint64_t ms, uint64_t bytes)
{
	c->link.ops->finish(&c->link);
	c->linger_ms = ms;
	c->linger_bytes = bytes;
	if (c->txn)
		http_txn_end(c->txn, 0);
	return CONN_LINGER;
}

int http_conn_discard_step(struct http_conn *c)
{
	ssize_t n;

	do
		n = http_body_read(c, NULL, CONN_SCRATCH);
	while (n > 0);
	if (n == -EAGAIN)
		return -EAGAIN;
	if (n == -EBADMSG || n == -EFBIG)
		return http_conn_linger(c, CONN_LINGER_MS, CONN_TURN_BYTES);
	if (n < 0)
		return (int)n;
	http_txn_end(c->txn, 0);
	return in_len(c) ? CONN_HEAD : CONN_IDLE;
}

int http_conn_linger_step(struct http_conn *c)
{
	char *to = scratch(c->hl);
	ssize_t n;

	if (!to)
		return -ENOMEM;
	c->in.off = c->in.len;
	http_conn_in_release(c);
	for (;;) {
		n = take(c, to, CONN_SCRATCH);
		if (n < 0)
			return (int)n;
		if ((uint64_t)n >= c->linger_bytes)
			return -EFBIG;
		c->linger_bytes -= (uint64_t)n;
	}
}
