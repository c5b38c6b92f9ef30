/* SPDX-License-Identifier: BSD-2-Clause */
/* Joining: a node asks the primary to be put in the map with its key; both sides. */
#include <errno.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/text.h"
#include "cluster/impl.h"
#include "log.h"

#define PATH "/v1/cluster/autoreg"
#define COMPLAIN_NS INT64_C(10000000000) /* a failing join is logged this often */
#define JOIN_MS 15000 /* the primary asks targets and waits for their answers meanwhile */
#define IC_MAX 3 /* gateways that are information centers */

/* ---- the joiner ---- */

static void complain(struct cluster *c, const char *why)
{
	int64_t now = mono_ns();

	if (c->complained_ns && now - c->complained_ns < COMPLAIN_NS)
		return;
	c->complained_ns = now;
	log_warn("cluster.join", "primary=%s err=\"%s\" next=\"trying again\"", c->primary_url,
		 why);
}

static int ask(struct cluster *c, struct http_call *call, const struct buf *body, const char *uuid)
{
	autobuf struct buf url = BUF_INIT;
	int r;

	buf_fmt(&url, "%s%s", c->primary_url, PATH);
	if (url.err)
		return url.err;
	r = http_call_init(call, "POST", url.data, JOIN_MS);
	if (r < 0)
		return r;
	call->body = body->data;
	call->body_len = body->len;
	call->resp_max = DOC_MAX;
	r = http_call_header(call, "Content-Type", "application/json");
	if (!r)
		r = http_call_header(call, "Ais-Node-Version", "%s", CLUSTER_VERSION_TEXT);
	if (!r)
		r = proof_add(c, call, uuid);
	return r ? r : http_call_all(call, 1);
}

static void answered_badly(struct cluster *c, const struct http_call *call)
{
	autojson struct json_object *o = NULL;
	const char *said = NULL;
	char text[320];

	if (!json_parse(buf_cstr(&call->resp), call->resp.len, &o))
		said = json_member_str(o, "message");
	snprintf(text, sizeof(text), "status %d: %s", call->status, said ? said : "");
	complain(c, text);
}

/* The map may have gone on since the answer was made: what it says now counts. */
static int take_place(struct cluster *c)
{
	const struct smap_node *me;
	bool first = !c->ready;
	int r = 0;

	pthread_mutex_lock(&c->change_lock);
	me = smap_find(c->smap, c->self.id);
	if (me && smap_node_same_key(me, &c->self)) {
		c->joined = true;
		c->ready = true;
		c->started = true;
		snap_tell_first(c);
		log_info("cluster.joined", "primary=%s smap=%lld%s", c->primary_url,
			 (long long)smap_version(c->smap), first ? " ready=true" : "");
	} else {
		r = -ESTALE;
	}
	pthread_mutex_unlock(&c->change_lock);
	return r;
}

static int take_answer(struct cluster *c, const struct http_call *call)
{
	struct doc d;
	int r;

	if (call->err) {
		complain(c, call->errtext);
		return call->err;
	}
	if (call->status != 200) {
		answered_badly(c, call);
		/* taken out of the map; not proven, so this goes on asking */
		if (call->status == 410)
			c->ready = false;
		return -EACCES;
	}
	r = proof_take_doc(c, call, &d);
	if (r < 0)
		return r;
	r = snap_adopt(c, &d);
	doc_deinit(&d);
	if (!r)
		r = take_place(c);
	if (!r)
		c->complained_ns = 0;
	return r;
}

int join_once(struct cluster *c)
{
	struct doc_join j = {.si = c->self};
	autobuf struct buf body = BUF_INIT;
	struct http_call call = {};
	int r;

	snap_uuid(c, j.uuid);
	snap_versions(c, &j.have);
	doc_join_print(&j, &body);
	if (body.err)
		return body.err;
	r = ask(c, &call, &body, j.uuid);
	if (!r)
		r = take_answer(c, &call);
	else
		complain(c, strerror(-r));
	http_call_deinit(&call);
	return r;
}

/* ---- the primary ---- */

struct join {
	struct cluster *c;
	struct doc_join req;
	bool changed;
};

static uint64_t flags_of(const struct smap *now, const struct smap_node *old,
			 const struct smap_node *si)
{
	size_t i, ic = 0;

	if (old)
		return old->flags;
	if (si->role != SMAP_ROLE_GATEWAY)
		return 0;
	if (si->flags & SMAP_F_NON_ELECTABLE)
		return SMAP_F_NON_ELECTABLE;
	for (i = 0; i < smap_count(now, SMAP_ROLE_GATEWAY); i++)
		ic += !!(smap_at(now, SMAP_ROLE_GATEWAY, i)->flags & SMAP_F_IC);
	return ic < IC_MAX ? SMAP_F_IC : 0;
}

static int join_apply(void *arg, const struct smap *now, struct smap **ret)
{
	struct join *j = arg;
	const struct smap_node *old = smap_find(now, j->req.si.id);
	struct smap_node n = j->req.si;
	struct smap_edit *e;
	int r;

	if (old && old->role != n.role)
		return -EEXIST;
	if (!old && peers_was_removed(j->c, &n))
		return -ESTALE;
	if (old && smap_node_same_key(old, &n) && smap_node_same_net(old, &n))
		return 0;
	n.flags = flags_of(now, old, &n);
	r = smap_edit_new(now, &e);
	if (r < 0)
		return r;
	r = smap_edit_put_node(e, &n);
	if (r < 0) {
		smap_edit_free(e);
		return r;
	}
	/* what members hold already must be older than this */
	smap_edit_set_version(e, MAX(smap_version(now), j->req.have.smap) + 1);
	j->changed = true;
	return smap_edit_freeze(e, ret);
}

static bool is_new_target(struct cluster *c, const struct doc_join *req)
{
	struct smap *m = cluster_smap(c);
	bool is = req->si.role == SMAP_ROLE_TARGET && !smap_find(m, req->si.id);

	smap_put(m);
	return is;
}

static void refuse(struct join *j, struct http_txn *t, int r)
{
	const struct smap_node *si = &j->req.si;

	switch (r) {
	case -EEXIST:
		http_error(t, 409, NULL,
			   "%s: node %s: its ID or one of its addresses belongs to another node",
			   j->c->name, si->id);
		break;
	case -EINVAL:
		http_error(t, 400, NULL,
			   "%s: node %s: its public address must differ from its intra-cluster "
			   "ones, and none may be missing",
			   j->c->name, si->id);
		break;
	case -ESTALE:
		http_error(t, 410, NULL,
			   "%s: node %s was taken out of the cluster; restart it to join again",
			   j->c->name, si->id);
		break;
	case -EAGAIN:
		http_error(t, 503, NULL, "%s: not the primary, or not ready yet", j->c->name);
		http_header(t, "Retry-After", "1");
		break;
	default:
		http_error(t, 500, NULL, "%s: node %s: %s", j->c->name, si->id, strerror(-r));
		break;
	}
	http_reply(t);
}

/* A member that the primary's disk forgot may hold what it forgot besides. */
static void learn_from(struct cluster *c, const struct doc_join *req)
{
	struct doc_versions own;

	snap_versions(c, &own);
	if (*req->uuid &&
	    (req->have.smap > own.smap || req->have.bmd > own.bmd || req->have.conf > own.conf))
		primary_recover(c, &req->si);
}

static void admit_node(struct join *j, struct http_txn *t)
{
	const struct smap_node *si = &j->req.si;
	struct cluster *c = j->c;
	struct buf body = BUF_INIT;
	struct doc d;
	int r;

	if (is_new_target(c, &j->req) && !j->req.skip_rebalance && cluster_holds_objects(c)) {
		http_reply_error(t, 501, NULL,
				 "%s: target %s cannot join while buckets hold objects: moving "
				 "them to new owners is not built",
				 c->name, si->id);
		return;
	}
	learn_from(c, &j->req);
	peers_heard(c, si);
	r = primary_change_smap(c, join_apply, j, si);
	if (r < 0) {
		refuse(j, t, r);
		return;
	}
	if (j->changed)
		log_info("node.joined", "id=%s control=%s", si->id, si->net[SMAP_NET_CONTROL].url);
	snap_newer(c, NULL, &d);
	if (!peers_silent(c, d.smap, &d))
		doc_print(&d, &body);
	else
		body.err = -ENOMEM;
	doc_deinit(&d);
	proof_reply(c, t, &body);
}

/* Ais-Node-Version: absent or older than 5 is 409, not a version 400. */
static bool version_ok(struct cluster *c, struct http_txn *t)
{
	const char *v = http_header_get(t, "ais-node-version");
	char *end = NULL;
	long major = v ? strtol(v, &end, 10) : 0;

	if (v && (end == v || *end != '.')) {
		http_reply_error(t, 400, NULL, "%s: Ais-Node-Version \"%s\" is no version", c->name,
				 v);
		return false;
	}
	if (major >= 5)
		return true;
	http_reply_error(t, 409, NULL, "%s: Ais-Node-Version 5.0 or later is wanted", c->name);
	return false;
}

static void join_received(struct http_txn *t)
{
	struct join j = {.c = t->user};
	struct cluster *c = j.c;
	char err[256] = "", own[SMAP_UUID_MAX + 1];
	int r;

	if (!version_ok(c, t))
		return;
	r = doc_join_parse(buf_cstr(&t->body), t->body.len, &j.req, err, sizeof(err));
	if (r < 0) {
		http_reply_error(t, r == -ENOMEM ? 500 : 400, NULL, "%s: %s", c->name, err);
		return;
	}
	if (!proof_check(c, t, j.req.uuid)) {
		metrics_add(c->o.metrics, METRIC_AUTH_DENIED_N, 1);
		http_reply_error(t, 401, NULL,
				 "%s: invalid or expired node-join signature: the secrets differ, "
				 "or the clocks",
				 c->name);
		return;
	}
	snap_uuid(c, own);
	if (!c->primary || !c->joined) {
		refuse(&j, t, -EAGAIN);
	} else if (*j.req.uuid && strcmp(j.req.uuid, own)) {
		http_reply_error(t, 409, NULL,
				 "%s: node %s belongs to cluster %s, this is %s: correct its "
				 "proxy.primary_url, or empty its state_dir",
				 c->name, j.req.si.id, j.req.uuid, own);
	} else if (!strcmp(j.req.si.id, c->self.id)) {
		refuse(&j, t, -EEXIST);
	} else {
		admit_node(&j, t);
	}
}

void join_handle(struct http_txn *t)
{
	struct cluster *c = t->user;

	http_collect(t, DOC_JOIN_MAX, c->o.call, join_received);
}
