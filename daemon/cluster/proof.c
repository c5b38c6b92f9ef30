/* SPDX-License-Identifier: BSD-2-Clause */
/* Join proofs on requests and on answers: who knows the cluster's secret. */
#include <errno.h>
#include <stdlib.h>

#include "base/text.h"
#include "cluster/impl.h"
#include "log.h"

#define TIME_TEXT 24

static bool time_ok(struct cluster *c, const char *text)
{
	struct config *f = cluster_config(c);
	int64_t window = config_ns(f, "auth.intra_cluster.nonce_window") / 1000000000;
	int64_t now = wall_ns() / 1000000000;
	uint64_t t;

	config_put(f);
	return !parse_u64(text, &t) && t < (uint64_t)INT64_MAX && (int64_t)t >= now - window &&
	       (int64_t)t <= now + window;
}

int proof_add(struct cluster *c, struct http_call *call, const char *uuid)
{
	autobuf struct buf path = BUF_INIT;
	char mac[SIGN_MAC_TEXT + 1], now[TIME_TEXT];
	struct sign_join j = {SIGN_JOIN_REQUEST, uuid,		call->method, NULL, now,
			      call->body,	 call->body_len};
	int r;

	r = call_path(call->url, &path);
	if (r < 0)
		return r;
	j.path = path.data;
	snprintf(now, sizeof(now), "%lld", (long long)(wall_ns() / 1000000000));
	sign_join_make(&j, c->id.secret, c->id.secret_len, mac);
	r = http_call_header(call, "Ais-Join-Time", "%s", now);
	return r ? r : http_call_header(call, "Ais-Join-Sig", "%s", mac);
}

bool proof_check(struct cluster *c, const struct http_txn *t, const char *uuid)
{
	const char *when = http_header_get(t, "ais-join-time");
	const char *sig = http_header_get(t, "ais-join-sig");
	struct sign_join j = {
		SIGN_JOIN_REQUEST, uuid, t->req.method_text, t->req.path, when, NULL, 0};

	if (!when || !sig || !time_ok(c, when))
		return false;
	j.body = t->body.data;
	j.body_len = t->body.len;
	return sign_join_check(&j, c->id.secret, c->id.secret_len, sig);
}

bool cluster_check_join(struct cluster *c, const struct http_txn *t)
{
	char uuid[SMAP_UUID_MAX + 1];

	snap_uuid(c, uuid);
	return proof_check(c, t, uuid) || proof_check(c, t, "");
}

void proof_reply(struct cluster *c, struct http_txn *t, struct buf *body)
{
	char mac[SIGN_MAC_TEXT + 1], now[TIME_TEXT], uuid[SMAP_UUID_MAX + 1];
	struct sign_join j = {SIGN_JOIN_ANSWER, uuid,	  t->req.method_text, t->req.path, now,
			      body->data,	body->len};

	if (body->err) {
		buf_free(body);
		http_reply_error(t, 500, NULL, "out of memory");
		return;
	}
	snap_uuid(c, uuid);
	snprintf(now, sizeof(now), "%lld", (long long)(wall_ns() / 1000000000));
	sign_join_make(&j, c->id.secret, c->id.secret_len, mac);
	http_header(t, "Ais-Join-Time", "%s", now);
	http_header(t, "Ais-Join-Sig", "%s", mac);
	http_header(t, "Ais-Node-Version", "%s", CLUSTER_VERSION_TEXT);
	http_reply_buf(t, "application/json; charset=utf-8", body);
}

bool proof_check_answer(struct cluster *c, const struct http_call *call, const char *uuid)
{
	autobuf struct buf path = BUF_INIT;
	char sig[SIGN_MAC_TEXT + 1], when[TIME_TEXT];
	struct sign_join j = {SIGN_JOIN_ANSWER, uuid,	       call->method, NULL, when,
			      call->resp.data,	call->resp.len};

	if (!http_call_resp_header(call, "Ais-Join-Time", when, sizeof(when)) ||
	    !http_call_resp_header(call, "Ais-Join-Sig", sig, sizeof(sig)) || !time_ok(c, when))
		return false;
	if (call_path(call->url, &path) < 0)
		return false;
	j.path = path.data;
	return sign_join_check(&j, c->id.secret, c->id.secret_len, sig);
}

int proof_take_doc(struct cluster *c, const struct http_call *call, struct doc *ret)
{
	char err[256] = "", uuid[SMAP_UUID_MAX + 1];
	int r;

	r = doc_parse(c->o.config, buf_cstr(&call->resp), call->resp.len, ret, err, sizeof(err));
	if (r < 0) {
		log_warn("cluster.answer", "url=%s err=\"%s\"", call->url, err);
		return r;
	}
	snap_uuid(c, uuid);
	if (proof_check_answer(c, call, ret->smap ? smap_uuid(ret->smap) : uuid))
		return 0;
	log_error("cluster.proof",
		  "url=%s why=\"its answer has no valid proof of the join secret\" fix=\"one "
		  "secret for "
		  "all; clocks less than auth.intra_cluster.nonce_window apart\"",
		  call->url);
	doc_deinit(ret);
	return -EBADMSG;
}
