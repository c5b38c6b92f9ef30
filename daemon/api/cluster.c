/* SPDX-License-Identifier: BSD-2-Clause */
/* /v1/cluster on a gateway: questions about the whole cluster; changes are in cluster_put.c. */
#include "api/impl.h"

static void reply_config(struct api *a, struct http_txn *t)
{
	autobuf struct buf out = BUF_INIT;
	struct config *c = cluster_config(a->cluster);

	config_print_cluster(c, false, &out);
	config_put(c);
	api_reply_json(t, &out);
}

/* Three addresses a target, one a net, joined by ','. */
static void reply_target_ips(struct api *a, struct http_txn *t)
{
	autobuf struct buf out = BUF_INIT;
	struct smap *m = cluster_smap(a->cluster);
	size_t i, net;

	for (i = 0; m && i < smap_count(m, SMAP_ROLE_TARGET); i++) {
		const struct smap_node *n = smap_at(m, SMAP_ROLE_TARGET, i);

		for (net = 0; net < SMAP_NET_NR; net++)
			if (n->net[net].port)
				buf_fmt(&out, "%s%s", out.len ? "," : "", n->net[net].host);
	}
	smap_put(m);
	http_reply_text(t, 200, buf_cstr(&out));
}

/* {"proxy":{...},"target":{"<id>":{...}}} of what every node answers to @what; of mountpaths
 * {"targets":{...}}. */
static void reply_nodes(struct api *a, struct http_txn *t, const char *what)
{
	autobuf struct buf out = BUF_INIT, path = BUF_INIT;
	struct cast_spec spec = {
		.method = "GET",
		.resp_max = 1 << 20,
		.timeout = "client.client_timeout",
	};
	struct cast c = {};
	size_t i, n = 0;

	buf_fmt(&path, "/v1/daemon?what=%s", what);
	spec.path = buf_cstr(&path);
	if (path.err || cast_targets(a, &spec, &c) < 0) {
		http_reply_error(t, 500, NULL, "what=%s: out of memory", what);
		return;
	}
	if (!strcmp(what, "mountpaths")) {
		buf_str(&out, "{\"targets\":{");
	} else {
		buf_str(&out, "{\"proxy\":");
		if (!strcmp(what, "node_stats"))
			node_stats_print(a, &out);
		else
			buf_str(&out, "{}");
		buf_str(&out, ",\"target\":{");
	}
	for (i = 0; i < c.n; i++) {
		if (!cast_ok(&c, i))
			continue;
		buf_fmt(&out, "%s\"%s\":", n++ ? "," : "", cast_node(&c, i)->id);
		buf_append(&out, c.calls[i].resp.data, c.calls[i].resp.len);
	}
	buf_str(&out, "}}");
	cast_free(&c);
	api_reply_json(t, &out);
}

static void reply_text_json(struct http_txn *t, const char *json)
{
	autobuf struct buf out = BUF_INIT;

	buf_str(&out, json);
	api_reply_json(t, &out);
}

static void get(struct api *a, struct http_txn *t, const char *what)
{
	if (answer_common(a, t, what))
		return;
	if (!strcmp(what, "cluster_config"))
		reply_config(a, t);
	else if (!strcmp(what, "backends"))
		reply_text_json(t, "[]");
	else if (!strcmp(what, "target_ips"))
		reply_target_ips(a, t);
	else if (!strcmp(what, "node_stats") || !strcmp(what, "sysinfo") ||
		 !strcmp(what, "mountpaths"))
		reply_nodes(a, t, what);
	else if (!strcmp(what, "smapvote"))
		api_not_built(t, what);
	else if (jobs_what(what))
		jobs_get(a, t, what);
	else
		http_reply_error(t, 400, NULL, "unexpected query [what=%.100s]", what);
}

static void run(struct http_txn *t)
{
	struct api *a = t->ctx;
	const char *what = http_param(t, "what");
	struct api_msg m = {};

	if (t->req.method == HTTP_GET || t->req.method == HTTP_HEAD) {
		get(a, t, what ? what : "");
		return;
	}
	if (t->req.method != HTTP_PUT) {
		http_reply_error(t, 400, NULL, "%s %.200s: unknown request", t->req.method_text,
				 t->req.path);
		return;
	}
	if (!cluster_is_primary(a->cluster))
		cluster_forward(a->cluster, t);
	else if (api_msg_parse(t, &m) < 0)
		http_reply(t);
	else
		cluster_put(a, t, &m);
	api_msg_free(&m);
}

void api_cluster(struct http_txn *t)
{
	struct api *a = t->ctx;

	if (!cluster_handle(a->cluster, t))
		http_collect(t, api_json_max(a), a->call, run);
}
