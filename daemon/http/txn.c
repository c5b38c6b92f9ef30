/* SPDX-License-Identifier: BSD-2-Clause */
/* Transactions: what a handler asks and decides, and how that comes back to the loop. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "http/parts.h"
#include "metrics.h"

struct txn *http_txn_new(struct http_conn *c)
{
	struct txn *x = calloc(1, sizeof(*x));
	struct http_req *req;

	if (!x)
		return NULL;
	req = &x->t.req;
	req->method_text = req->target = req->path = req->query = "";
	req->net = c->from->net;
	req->start_ns = mono_ns();
	memcpy(req->peer, c->peer, sizeof(req->peer));
	x->t.conn = c;
	x->t.server = c->hl->server;
	c->txn = x;
	return x;
}

void http_txn_told(struct txn *x, int err)
{
	const struct http_server_opts *o = &x->t.server->opts;

	if (!x->told && o->after)
		o->after(o->ctx, &x->t, err);
	x->told = true;
}

void http_txn_end(struct txn *x, int err)
{
	struct http_stream *s = x->t.resp.stream;

	http_txn_told(x, err);
	x->t.conn->txn = NULL;
	if (x->t.user_free && x->t.user)
		x->t.user_free(x->t.user);
	if (s && s->free)
		s->free(s);
	buf_free(&x->t.resp.head);
	buf_free(&x->t.resp.bytes);
	buf_free(&x->out);
	http_txn_body_drop(x);
	http_rx_free(x);
	bound_give(&x->t.server->bounds.answers, x->kept_answer);
	bound_give(&x->t.server->bounds.requests, x->admitted);
	free(x->text);
	free(x);
}

void http_txn_body_drop(struct txn *x)
{
	buf_free(&x->t.body);
	bound_give(&x->t.server->bounds.bodies, x->kept_body);
	x->kept_body = 0;
}

/* ---- bounds ---- */

static const char too_many[] = "too many requests in flight";

void http_busy(struct http_txn *t, const char *why)
{
	metrics_add(t->server->opts.metrics, METRIC_HTTP_BUSY_N, 1);
	http_error(t, 503, NULL, "%s", why);
	http_header(t, "Retry-After", "1");
}

bool http_txn_admit(struct txn *x)
{
	struct http_server *s = x->t.server;

	if (!x->admitted && x->t.req.net != SMAP_NET_CONTROL)
		x->admitted = bound_take(&s->bounds.requests, 1, s->opts.limits.max_requests);
	return x->admitted || x->t.req.net == SMAP_NET_CONTROL;
}

/* ---- decisions ---- */

static void act_arrives(struct loop_work *w)
{
	struct txn *x = container_of(w, struct txn, work);
	struct http_conn *c = x->t.conn;

	x->act = x->posted;
	if (!c->dead) {
		http_conn_turn(c);
		return;
	}
	if (x->act == ACT_RECEIVE) { /* the sink must hear of it: run the step that tells */
		x->act = ACT_NONE;
		c->state = CONN_RECEIVE;
		http_rx_fail(x, &(struct http_fault){499, "client closed the connection"});
		return;
	}
	http_conn_die(c, -ECONNRESET);
}

void http_txn_act(struct txn *x, enum txn_act act)
{
	struct http_conn *c = x->t.conn;

	if (loop_current() == c->hl->loop && c->turn) {
		x->act = act;
		return;
	}
	x->posted = act;
	x->work.fn = act_arrives;
	loop_post(c->hl->loop, &x->work);
}

void http_reply(struct http_txn *t)
{
	http_txn_act(txn_of(t), ACT_REPLY);
}

static void run_job(struct pool_job *j)
{
	struct txn *x = container_of(j, struct txn, job);

	x->fn(&x->t);
}

static void run_work(struct loop_work *w)
{
	struct txn *x = container_of(w, struct txn, work);

	x->fn(&x->t);
}

void http_txn_continue(struct txn *x)
{
	http_run(&x->t, x->pool, x->fn);
}

void http_run(struct http_txn *t, struct pool *p, void (*fn)(struct http_txn *t))
{
	struct txn *x = txn_of(t);
	struct loop *l = t->conn->hl->loop;

	x->fn = fn;
	if (p) {
		x->job.fn = run_job;
		if (http_txn_admit(x) && pool_submit(p, &x->job) == 0)
			return;
		http_busy(t, too_many);
		http_reply(t);
	} else if (loop_current() == l) {
		fn(t);
	} else {
		x->work.fn = run_work;
		loop_post(l, &x->work);
	}
}

void http_collect(struct http_txn *t, size_t max, struct pool *p, void (*fn)(struct http_txn *t))
{
	struct txn *x = txn_of(t);

	x->body.max = max;
	x->pool = p;
	x->fn = fn;
	if (http_txn_admit(x)) {
		http_txn_act(x, ACT_COLLECT);
		return;
	}
	http_busy(t, too_many);
	http_reply(t);
}

void http_receive(struct http_txn *t, uint64_t max, const struct http_sink *sink)
{
	struct txn *x = txn_of(t);

	x->body.max = max;
	x->rx.sink = sink;
	if (!http_txn_admit(x))
		x->rx.fault = (struct http_fault){503, too_many};
	http_txn_act(x, ACT_RECEIVE);
}

bool http_gone(const struct http_txn *t)
{
	return atomic_load(&t->conn->gone);
}

/* ---- questions ---- */

const char *http_header_get(const struct http_txn *t, const char *name)
{
	size_t i;

	for (i = 0; i < t->req.n_headers; i++) {
		if (!strcmp(t->req.headers[i].name, name))
			return t->req.headers[i].value;
	}
	return NULL;
}

const char *http_param_raw(const struct http_txn *t, const char *name)
{
	size_t i;

	for (i = t->req.n_params; i > 0; i--) {
		if (!strcmp(t->req.params[i - 1].name, name))
			return t->req.params[i - 1].value;
	}
	return NULL;
}

const char *http_param(const struct http_txn *t, const char *name)
{
	const char *v = http_param_raw(t, name);

	return v && *v ? v : NULL;
}

bool http_param_true(const struct http_txn *t, const char *name)
{
	static const char *const words[] = {"1",    "t", "T",	"true", "True",
					    "TRUE", "y", "yes", "on"};
	const char *v = http_param(t, name);
	size_t i;

	for (i = 0; v && i < ARRAY_SIZE(words); i++) {
		if (!strcmp(v, words[i]))
			return true;
	}
	return false;
}
