/* SPDX-License-Identifier: BSD-2-Clause */
/* Responses out: the head, the body behind it, and what follows the last byte. */
#include <errno.h>

#include "http/parts.h"
#include "http/status.h"
#include "log.h"
#include "metrics.h"

/* Whether responses of this kind never have a body (RFC 9110 6.4.1). */
static bool bodiless(const struct txn *x)
{
	int s = x->t.resp.status;

	return x->t.req.method == HTTP_HEAD || s < 200 || s == 204 || s == 304;
}

/* Whether the connection has to end with this response. */
static bool must_close(const struct http_conn *c, const struct txn *x)
{
	if (x->t.resp.close || !x->t.req.keep_alive || x->broken || c->hl->draining)
		return true;
	if (x->body.done)
		return false;
	/* a client that was not told to go on may send its body or not: nobody can know */
	return x->unread || x->body.left > conn_limits(c)->drain_bytes;
}

static void length_make(struct txn *x)
{
	struct http_resp *resp = &x->t.resp;
	bool none = bodiless(x);
	uint64_t len = 0;

	if (resp->body == HTTP_BODY_BYTES)
		len = resp->bytes.len;
	else if (resp->body == HTTP_BODY_STREAM || resp->has_length)
		len = resp->length;
	if (!none || resp->has_length || len)
		buf_fmt(&x->out, "Content-Length: %llu\r\n", (unsigned long long)len);
	if (none)
		resp->body = HTTP_BODY_NONE;
	x->body_len = resp->body == HTTP_BODY_NONE ? 0 : len;
}

static bool resp_usable(const struct http_resp *resp)
{
	return resp->status >= 200 && resp->status <= 599 && !resp->head.err && !resp->bytes.err &&
	       (resp->body != HTTP_BODY_STREAM || resp->stream);
}

/* A large answer is kept until its reader has it: all of them together are bounded. */
static void answer_keep(struct http_conn *c, struct txn *x)
{
	struct http_resp *resp = &x->t.resp;
	size_t n;

	if (resp->body != HTTP_BODY_BYTES || resp->bytes.cap <= CONN_KEPT_MIN || conn_unbound(c))
		return;
	n = resp->bytes.cap - CONN_KEPT_MIN;
	if (bound_take(&conn_bounds(c)->answers, n, conn_limits(c)->max_memory))
		x->kept_answer = n;
	else
		http_busy(&x->t, "too much memory in use by answers");
}

/* Make the head. Return: 0 or -ENOMEM. */
static int head_make(struct http_conn *c, struct txn *x)
{
	const struct http_server_opts *o = &c->hl->server->opts;
	struct http_resp *resp = &x->t.resp;

	if (!resp_usable(resp)) {
		if (!resp->status)
			log_error("http.no_status", "method=%s path=\"%s\"", x->t.req.method_text,
				  x->t.req.path);
		http_error(&x->t, 500, NULL, "the response could not be made");
	}
	answer_keep(c, x);
	if (o->before_head)
		o->before_head(o->ctx, &x->t);
	x->closing = must_close(c, x);
	buf_fmt(&x->out, "HTTP/1.1 %d %s\r\nDate: %s\r\n", resp->status,
		http_status_reason(resp->status), http_loop_date(c->hl));
	buf_append(&x->out, resp->head.data, resp->head.len);
	if (resp->status != 204)
		length_make(x);
	else
		resp->body = HTTP_BODY_NONE;
	if (x->closing)
		buf_str(&x->out, "Connection: close\r\n");
	else if (x->t.req.http10)
		buf_str(&x->out, "Connection: keep-alive\r\n");
	buf_str(&x->out, "\r\n");
	x->begun = true;
	return x->out.err ? x->out.err : resp->head.err;
}

/* What is left of head and bytes, at most the turn's budget. Return: parts in @iov. */
static size_t parts_left(const struct http_conn *c, const struct txn *x, struct iovec iov[2])
{
	const struct http_resp *resp = &x->t.resp;
	uint64_t done = x->sent;
	size_t n = 0, len;

	if (done < x->out.len) {
		iov[n++] = (struct iovec){x->out.data + done, x->out.len - done};
		done = x->out.len;
	}
	done -= x->out.len;
	if (resp->body != HTTP_BODY_BYTES || done >= resp->bytes.len)
		return n;
	len = MIN(resp->bytes.len - (size_t)done, c->budget);
	iov[n++] = (struct iovec){resp->bytes.data + done, len};
	return n;
}

static void sent(struct http_conn *c, struct txn *x, size_t n)
{
	x->sent += n;
	c->budget -= MIN(n, c->budget);
	conn_moved(c, n);
}

static int parts_send(struct http_conn *c, struct txn *x)
{
	bool more = x->t.resp.body == HTTP_BODY_STREAM && x->body_len;
	struct iovec iov[2];
	size_t n;

	while ((n = parts_left(c, x, iov)) > 0) {
		ssize_t r;

		if (!c->budget)
			return -EAGAIN; /* writable still: the next turn comes at once */
		r = c->link.ops->send(&c->link, iov, n, more);
		if (r < 0)
			return (int)r;
		sent(c, x, (size_t)r);
	}
	return 0;
}

/* A source that failed, as against a peer that went away. */
static int stream_failed(struct http_conn *c, struct txn *x, ssize_t r)
{
	unsigned long long done = x->sent - x->out.len;

	if (r == -EPIPE || r == -ECONNRESET || r == -ETIMEDOUT)
		return (int)r;
	metrics_add(c->hl->server->opts.metrics, METRIC_BODY_SHORT_N, 1);
	log_error("http.body_short", "peer=%s path=\"%s\" sent=%llu of=%llu err=\"%s\"", c->peer,
		  x->t.req.path, done, (unsigned long long)x->body_len,
		  r ? strerror((int)-r) : "source ended early");
	return r ? (int)r : -EIO;
}

/* ---- waiting for a disk ---- */

static void fetched(struct loop_work *w)
{
	struct txn *x = container_of(w, struct txn, work);

	x->fetching = false;
	if (x->t.conn->dead)
		http_conn_die(x->t.conn, -ECONNRESET);
	else
		http_conn_turn(x->t.conn);
}

static void fetch_job(struct pool_job *j)
{
	struct txn *x = container_of(j, struct txn, job);
	struct http_stream *s = x->t.resp.stream;

	s->fetch(s, x->at_hand);
	loop_post(x->t.conn->hl->loop, &x->work);
}

int http_conn_fetch_step(struct http_conn *c)
{
	return c->txn->fetching ? -EAGAIN : CONN_REPLY;
}

/* See to it that @max bytes can be sent without waiting. Return: 0, or CONN_FETCH. */
static int stream_ready(struct txn *x, size_t max)
{
	struct http_stream *s = x->t.resp.stream;

	if (x->at_hand)
		return 0;
	x->at_hand = max;
	if (!s->waits || !s->waits(s, max))
		return 0;
	x->fetching = true;
	x->job.fn = fetch_job;
	x->work.fn = fetched;
	pool_continue(x->t.server->opts.io, &x->job);
	return CONN_FETCH;
}

/* Return: 0 when all is sent; CONN_FETCH; -EAGAIN; another errno. */
static int stream_send(struct http_conn *c, struct txn *x)
{
	struct http_stream *s = x->t.resp.stream;
	uint64_t end = x->out.len + x->body_len;

	if (x->t.resp.body != HTTP_BODY_STREAM)
		return 0;
	while (x->sent < end) {
		size_t max = (size_t)MIN((uint64_t)c->budget, end - x->sent);
		ssize_t r;

		if (!max)
			return -EAGAIN;
		r = stream_ready(x, max);
		if (r)
			return (int)r;
		max = MIN(max, x->at_hand);
		r = s->send(s, c->fd.fd, max);
		if (r == -EINTR)
			continue;
		if (r == -EAGAIN)
			return -EAGAIN;
		if (r <= 0 || (size_t)r > max)
			return stream_failed(c, x, r);
		x->at_hand -= (size_t)r;
		sent(c, x, (size_t)r);
	}
	return 0;
}

/* The last byte is with the kernel. Return: the next state. */
static int reply_done(struct http_conn *c, struct txn *x)
{
	const struct http_limits *lim = conn_limits(c);
	bool read_all = x->body.done && !x->broken;

	http_txn_told(x, 0);
	if (x->closing) {
		bool draining = !read_all && !x->broken;

		return http_conn_linger(c, draining ? lim->drain_ms : CONN_LINGER_MS,
					draining ? lim->drain_bytes : CONN_TURN_BYTES);
	}
	if (!read_all) {
		x->body.got = 0;
		x->body.max = lim->drain_bytes;
		return CONN_DISCARD;
	}
	http_txn_end(x, 0);
	return c->in.off < c->in.len ? CONN_HEAD : CONN_IDLE;
}

int http_conn_reply_step(struct http_conn *c)
{
	struct txn *x = c->txn;
	int r = 0;

	if (!x->begun)
		r = head_make(c, x);
	if (r == 0)
		r = parts_send(c, x);
	if (r == 0)
		r = stream_send(c, x);
	if (r == 0)
		return reply_done(c, x);
	if (r < 0 && r != -EAGAIN)
		metrics_add(c->hl->server->opts.metrics, METRIC_ERR_HTTP_WRITE_N, 1);
	return r;
}
