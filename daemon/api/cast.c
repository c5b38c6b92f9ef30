/* SPDX-License-Identifier: BSD-2-Clause */
/* The same control call to every target, and what is said when one does not answer. */
#include "api/impl.h"

int cast_targets(struct api *a, const struct cast_spec *s, struct cast *ret)
{
	struct config *cfg = cluster_config(a->cluster);
	struct cluster_cast tmpl = {
		.method = s->method,
		.path_query = s->path,
		.body = s->body ? buf_cstr(s->body) : NULL,
		.body_len = s->body ? s->body->len : 0,
		.resp_max = s->resp_max,
		.timeout_ms = config_ms(cfg, s->timeout),
	};
	struct cast c = {.map = cluster_smap(a->cluster)};
	int r = -ENOMEM;

	config_put(cfg);
	if (c.map && (!s->body || !s->body->err))
		r = cluster_broadcast(a->cluster, c.map, SMAP_ROLE_TARGET, &tmpl, &c.calls, &c.n);
	if (r < 0) {
		smap_put(c.map);
		return r;
	}
	*ret = c;
	return 0;
}

void cast_free(struct cast *c)
{
	if (c->calls)
		cluster_broadcast_free(c->calls, c->n);
	smap_put(c->map);
	*c = (struct cast){};
}

const struct smap_node *cast_node(const struct cast *c, size_t i)
{
	return c->calls[i].user;
}

bool cast_ok(const struct cast *c, size_t i)
{
	return !c->calls[i].err && c->calls[i].status == 200;
}

/* The sentence inside an error document of a node, else what curl or the status says. */
static void explain(const struct http_call *call, struct buf *out)
{
	autojson struct json_object *doc = NULL;
	const char *text = NULL;

	if (call->err) {
		buf_fmt(out, "%s", call->errtext[0] ? call->errtext : strerror(-call->err));
		return;
	}
	if (call->resp.len && !json_parse(call->resp.data, call->resp.len, &doc))
		text = json_member_str(doc, "message");
	if (text)
		buf_str(out, text);
	else
		buf_fmt(out, "status %d", call->status);
}

int cast_check(struct api *a, struct http_txn *t, const struct cast *c, const char *what)
{
	size_t i;

	for (i = 0; i < c->n; i++) {
		const struct smap_node *node = cast_node(c, i);
		const struct http_call *call = &c->calls[i];
		autobuf struct buf why = BUF_INIT;

		if (cast_ok(c, i) || (node->flags & SMAP_F_INACTIVE))
			continue;
		explain(call, &why);
		log_warn("cast.failed", "what=%s node=t[%s] err=\"%s\"", what, node->id,
			 buf_cstr(&why));
		http_error(t, call->err || call->status >= 500 ? 503 : call->status, NULL,
			   "%s: t[%s] did not do its part: %s", what, node->id, buf_cstr(&why));
		return -EIO;
	}
	return 0;
}
