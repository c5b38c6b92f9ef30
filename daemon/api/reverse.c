/* SPDX-License-Identifier: BSD-2-Clause */
/* /v1/reverse/daemon on a gateway: a question to one node, named in a header. */
#include "api/impl.h"

#define AREA "/v1/reverse"

/* A node in maintenance may be off: the map answers for it. */
static void reply_inactive(struct http_txn *t, const struct smap_node *n)
{
	autobuf struct buf out = BUF_INIT;

	buf_str(&out, "{\"status\":");
	buf_json_str(&out, n->flags & SMAP_F_DECOMMISSION ? "decommission" : "maintenance");
	buf_str(&out, ",\"deployment\":\"\",\"ais_version\":\"\",\"build_time\":\"\","
		      "\"k8s_pod_name\":\"\",\"snode\":");
	smap_node_print(n, &out);
	buf_str(&out, ",\"tracker\":null,\"capacity\":{\"mountpaths\":null,\"cs_err\":\"\","
		      "\"total_used\":\"0\",\"total_avail\":\"0\",\"pct_max\":0,\"pct_avg\":0,"
		      "\"pct_min\":0},\"smap_version\":\"0\"}");
	api_reply_json(t, &out);
}

static void relay_answer(struct http_txn *t, const struct smap_node *n, struct http_call *call)
{
	char type[128];

	if (call->err) {
		http_reply_error(t, 503, NULL, "%c[%s] does not answer: %s",
				 n->role == SMAP_ROLE_GATEWAY ? 'p' : 't', n->id,
				 call->errtext[0] ? call->errtext : strerror(-call->err));
		return;
	}
	if (!http_call_resp_header(call, "Content-Type", type, sizeof(type)))
		snprintf(type, sizeof(type), "text/plain; charset=utf-8");
	t->resp.status = call->status;
	t->resp.body = HTTP_BODY_BYTES;
	t->resp.bytes = call->resp;
	call->resp = (struct buf){};
	http_header(t, "Content-Type", "%s", type);
	http_reply(t);
}

static void relay(struct api *a, struct http_txn *t, const struct smap_node *n, const char *sub)
{
	struct config *cfg = cluster_config(a->cluster);
	autobuf struct buf path = BUF_INIT;
	struct http_call call = {};
	int r;

	buf_str(&path, "/v1");
	http_uri_encode_path(&path, sub, strlen(sub));
	if (*t->req.query)
		buf_fmt(&path, "?%s", t->req.query);
	r = path.err ? path.err
		     : cluster_call_init(a->cluster, n, SMAP_NET_CONTROL, t->req.method_text,
					 buf_cstr(&path), &call);
	if (!r) {
		call.body = t->body.data;
		call.body_len = t->body.len;
		call.resp_max = 16 << 20;
		call.timeout_ms = config_ms(cfg, "client.client_timeout");
		r = cluster_call_sign(a->cluster, &call);
	}
	if (!r)
		r = http_call_all(&call, 1);
	if (r < 0)
		http_reply_error(t, 500, NULL, "reverse: %s", strerror(-r));
	else
		relay_answer(t, n, &call);
	http_call_deinit(&call);
	config_put(cfg);
}

static void run(struct http_txn *t)
{
	struct api *a = t->ctx;
	const char *id = http_header_get(t, "ais-node-id"), *what = http_param(t, "what");
	const char *sub = t->req.path + strlen(AREA);
	struct smap *map = cluster_smap(a->cluster);
	const struct smap_node *n = map && id ? smap_find(map, id) : NULL;
	bool get = t->req.method == HTTP_GET || t->req.method == HTTP_HEAD;

	if (!id)
		http_reply_error(t, 400, NULL, "reverse: the header Ais-Node-Id is missing");
	else if (!n)
		http_reply_error(t, 404, "errNodeNotFound", "node \"%.64s\" does not exist", id);
	else if (strncmp(sub, "/daemon", 7) || (sub[7] && sub[7] != '/'))
		http_reply_error(t, 400, NULL, "invalid request URI \"%.200s\"", t->req.path);
	else if ((n->flags & SMAP_F_INACTIVE) && get && what && !strcmp(what, "node_status"))
		reply_inactive(t, n);
	else if (!strcmp(n->id, cluster_node_id(a->cluster)))
		daemon_answer(a, t, sub + 7);
	else
		relay(a, t, n, sub);
	smap_put(map);
}

void api_reverse(struct http_txn *t)
{
	struct api *a = t->ctx;

	http_collect(t, api_json_max(a), a->call, run);
}
