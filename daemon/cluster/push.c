/* SPDX-License-Identifier: BSD-2-Clause */
/* Metadata from the primary to all: sending, receiving, what else /v1/metasync is asked for. */
#include <errno.h>
#include <stdlib.h>

#include "base/json.h"
#include "cluster/impl.h"
#include "log.h"

#define PATH "/v1/metasync"
#define OBJECTS_QUERY PATH "?what=objects"
#define ALL_QUERY PATH "?what=all"
#define FETCH_MS 10000

/* ---- the primary's side ---- */

struct push {
	struct cluster *c;
	const struct push_opts *o;
	struct smap *map; /* whose members are sent to */
	struct buf body;
	char uuid[SMAP_UUID_MAX + 1];
	int64_t limit_ms;
	struct http_call *calls;
	size_t n;
	struct doc_versions sent;
	struct smap_node *ahead; /* who holds something newer, if has_ahead; may be NULL */
	bool has_ahead;
};

static int push_init(struct push *p)
{
	struct config *f = cluster_config(p->c);
	struct doc d;
	int r;

	p->limit_ms = config_ms(f, "cluster.push_timeout");
	config_put(f);
	snap_newer(p->c, NULL, &d);
	p->map = smap_get(d.smap);
	p->sent = (struct doc_versions){smap_version(d.smap), bmd_version(d.bmd),
					config_version(d.conf)};
	snprintf(p->uuid, sizeof(p->uuid), "%s", smap_uuid(d.smap));
	/* who has just come back must not be refused until the next keepalive */
	r = peers_silent(p->c, d.smap, &d);
	if (!r)
		doc_print(&d, &p->body);
	doc_deinit(&d);
	return r ? r : p->body.err;
}

static void push_deinit(struct push *p)
{
	size_t i;

	for (i = 0; i < p->n; i++)
		http_call_deinit(&p->calls[i]);
	free(p->calls);
	buf_free(&p->body);
	smap_put(p->map);
}

/* A call to one node; the n-th of an array that has room. */
static int push_add(struct push *p, const struct smap_node *to, bool proof)
{
	struct http_call *call = &p->calls[p->n];
	int r;

	r = cluster_call_init(p->c, to, SMAP_NET_CONTROL, p->o->survey ? "GET" : "PUT", PATH, call);
	if (r < 0)
		return r;
	p->n++;
	if (!p->o->survey) {
		call->body = p->body.data;
		call->body_len = p->body.len;
	}
	call->timeout_ms = p->limit_ms;
	call->user = (void *)to;
	r = http_call_header(call, "Content-Type", "application/json");
	if (!r)
		r = proof ? proof_add(p->c, call, p->uuid) : cluster_call_sign(p->c, call);
	return r;
}

static int push_build(struct push *p)
{
	const struct smap_node *extra = p->o->extra;
	enum smap_role role;
	size_t i;
	int r = 0;

	p->calls = calloc(smap_count(p->map, SMAP_ROLE_GATEWAY) +
				  smap_count(p->map, SMAP_ROLE_TARGET) + 1,
			  sizeof(*p->calls));
	if (!p->calls)
		return -ENOMEM;
	for (role = SMAP_ROLE_GATEWAY; role < SMAP_ROLE_NR && !r; role++) {
		for (i = 0; i < smap_count(p->map, role) && !r; i++) {
			const struct smap_node *n = smap_at(p->map, role, i);

			if (!strcmp(n->id, p->c->self.id) || (extra && !strcmp(n->id, extra->id)))
				continue;
			if (p->o->all || peers_is_heard(p->c, n))
				r = push_add(p, n, p->o->proof);
		}
	}
	return r || !extra ? r : push_add(p, extra, true);
}

static void push_acknowledged(struct push *p, const struct http_call *call)
{
	const struct smap_node *from = call->user;
	struct doc_versions v;

	peers_heard(p->c, from);
	if (doc_versions_parse(buf_cstr(&call->resp), call->resp.len, &v) < 0 ||
	    (v.smap <= p->sent.smap && v.bmd <= p->sent.bmd && v.conf <= p->sent.conf))
		return;
	p->has_ahead = true;
	if (p->ahead)
		*p->ahead = *from;
}

/* Return: whether the node wants the proof in place of a signature it cannot check. */
static bool push_result(struct push *p, struct http_call *call)
{
	const struct smap_node *to = call->user;
	char name[CLUSTER_NAME_SIZE];

	smap_node_name(to, name, sizeof(name));
	if (call->err == -ECONNREFUSED) {
		/* a node that joins may listen a moment later: it gets the answer to its join */
		if (to != p->o->extra)
			peers_refused(p->c, to);
		return false;
	}
	if (!call->err && call->status == 200) {
		push_acknowledged(p, call);
		return false;
	}
	/* 401: it has another key of ours; 503: it has no map yet, and waits for ours */
	if (!call->err && (call->status == 401 || call->status == 503))
		return true;
	log_warn("metasync.failed", "node=%s status=%d err=\"%s\"", name, call->status,
		 call->err ? call->errtext : "");
	return false;
}

/* A second round for those that did not know our key. */
static void push_again(struct push *p, const struct smap_node **who, size_t n)
{
	size_t i;

	for (i = 0; i < p->n; i++)
		http_call_deinit(&p->calls[i]);
	p->n = 0;
	for (i = 0; i < n; i++) {
		if (push_add(p, who[i], true) < 0)
			break;
	}
	if (http_call_all(p->calls, p->n) < 0)
		return;
	for (i = 0; i < p->n; i++)
		push_result(p, &p->calls[i]);
}

static void push_send(struct push *p)
{
	autofree const struct smap_node **again = calloc(p->n + 1, sizeof(*again));
	size_t i, n = 0;

	if (!again || http_call_all(p->calls, p->n) < 0)
		return;
	for (i = 0; i < p->n; i++) {
		if (push_result(p, &p->calls[i]))
			again[n++] = p->calls[i].user;
	}
	if (n && !p->o->proof)
		push_again(p, again, n);
}

bool push_newest(struct cluster *c, const struct push_opts *o, struct smap_node *ret_ahead)
{
	struct push p = {.c = c, .o = o, .ahead = ret_ahead};
	int r;

	r = push_init(&p);
	if (!r)
		r = push_build(&p);
	if (!r && p.n)
		push_send(&p);
	if (r < 0)
		log_error("metasync",
			  "err=\"%s\" next=\"nodes get the change with their next keepalive\"",
			  strerror(-r));
	push_deinit(&p);
	return p.has_ahead;
}

int push_fetch(struct cluster *c, const struct smap_node *from, struct doc *ret)
{
	struct http_call call = {};
	char uuid[SMAP_UUID_MAX + 1];
	int r;

	snap_uuid(c, uuid);
	r = cluster_call_init(c, from, SMAP_NET_CONTROL, "GET", ALL_QUERY, &call);
	call.resp_max = DOC_MAX;
	call.timeout_ms = FETCH_MS;
	if (!r)
		r = proof_add(c, &call, uuid);
	if (!r)
		r = http_call_all(&call, 1);
	if (!r)
		r = call.err ? call.err : call.status != 200 ? -EIO : 0;
	if (!r)
		r = proof_take_doc(c, &call, ret);
	if (r < 0)
		log_error("metasync.fetch", "id=%s err=\"%s\"", from->id, strerror(-r));
	http_call_deinit(&call);
	return r;
}

/* ---- does anybody hold objects? ---- */

static bool says_empty(const struct http_call *call)
{
	autojson struct json_object *o = NULL;

	return !call->err && call->status == 200 &&
	       !json_parse(buf_cstr(&call->resp), call->resp.len, &o) &&
	       !json_member_bool(o, "objects", true);
}

bool cluster_holds_objects(struct cluster *c)
{
	struct cluster_cast cast = {.method = "GET",
				    .path_query = OBJECTS_QUERY,
				    .resp_max = 1024,
				    .timeout_ms = 10000};
	struct smap *m = cluster_smap(c);
	struct bmd *b = cluster_bmd(c);
	struct http_call *calls = NULL;
	bool holds = true;
	size_t i, n;

	if (!bmd_count(b)) {
		holds = false;
	} else if (!cluster_broadcast(c, m, SMAP_ROLE_TARGET, &cast, &calls, &n)) {
		holds = false;
		for (i = 0; i < n; i++)
			holds |= !says_empty(&calls[i]);
		cluster_broadcast_free(calls, n);
	}
	bmd_put(b);
	smap_put(m);
	return holds;
}

/* ---- the receiver's side ---- */

static void answer_objects(struct http_txn *t)
{
	struct cluster *c = t->user;
	struct buf b = BUF_INIT;
	bool has = c->o.has_objects && c->o.has_objects(c->o.ctx);

	buf_fmt(&b, "{\"objects\":%s}", has ? "true" : "false");
	http_reply_buf(t, "application/json; charset=utf-8", &b);
}

static void answer_all(struct http_txn *t)
{
	struct cluster *c = t->user;
	struct buf b = BUF_INIT;
	struct doc d;

	snap_newer(c, NULL, &d);
	doc_print(&d, &b);
	doc_deinit(&d);
	proof_reply(c, t, &b);
}

static void answer_versions(struct cluster *c, struct http_txn *t)
{
	struct doc_versions v;
	struct buf b = BUF_INIT;

	snap_versions(c, &v);
	buf_char(&b, '{');
	doc_versions_print(&v, &b);
	buf_char(&b, '}');
	http_reply_buf(t, "application/json; charset=utf-8", &b);
}

/* The body's own word for its sender: the primary's key, or the join secret. */
static bool sender_ok(struct cluster *c, struct http_txn *t, const struct doc *d)
{
	if (t->admitted & CLUSTER_ADMIT_PRIMARY)
		return true;
	return http_header_get(t, "ais-join-sig") &&
	       proof_check(c, t, d->smap ? smap_uuid(d->smap) : "");
}

static void receive(struct http_txn *t)
{
	struct cluster *c = t->user;
	struct doc d = {};
	char err[256] = "";
	int r;

	r = doc_parse(c->o.config, buf_cstr(&t->body), t->body.len, &d, err, sizeof(err));
	if (r < 0) {
		http_reply_error(t, r == -ENOMEM ? 500 : 400, NULL, "%s: metasync: %s", c->name,
				 err);
		return;
	}
	if (!sender_ok(c, t, &d)) {
		metrics_add(c->o.metrics, METRIC_AUTH_DENIED_N, 1);
		http_error(t, t->caller ? 403 : 401, NULL,
			   "%s: metasync is for the primary, or needs a valid join proof", c->name);
	} else {
		r = snap_adopt(c, &d);
		if (r < 0)
			http_error(t, r == -EXDEV || r == -EAGAIN ? 409 : 500, NULL,
				   "%s: metasync: %s", c->name,
				   r == -EXDEV	  ? "this node belongs to another cluster"
				   : r == -EAGAIN ? "this node is the primary"
						  : strerror(-r));
	}
	doc_deinit(&d);
	if (t->resp.status)
		http_reply(t);
	else
		answer_versions(c, t);
}

void push_handle(struct http_txn *t)
{
	struct cluster *c = t->ctx;
	const char *what = http_param(t, "what");

	t->user = c;
	if (t->req.method == HTTP_PUT)
		http_collect(t, DOC_MAX, c->disk, receive);
	else if (!t->caller && !cluster_check_join(c, t))
		http_reply_error(t, 401, NULL, "%s: neither signed nor a valid join proof",
				 c->name);
	else if (what && !strcmp(what, "all"))
		http_run(t, c->disk, answer_all);
	else if (what && !strcmp(what, "objects"))
		http_run(t, c->disk, answer_objects);
	else
		answer_versions(c, t);
}
