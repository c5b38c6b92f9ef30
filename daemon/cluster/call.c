/* SPDX-License-Identifier: BSD-2-Clause */
/* Signed calls to other nodes: one, many at a time, and what is forwarded to the primary. */
#include <errno.h>
#include <stdlib.h>

#include "cluster/impl.h"
#include "log.h"

#define FORWARD_MS 120000
#define FORWARD_MAX (256u << 20) /* bytes of an answer that is passed on */
#define FORWARDED                                                                                  \
	"Pagewire-Forwarded" /* keeps two gateways from passing a request back and forth */

int cluster_call_init(struct cluster *c, const struct smap_node *to, enum smap_netid net,
		      const char *method, const char *path_query, struct http_call *call)
{
	autobuf struct buf url = BUF_INIT;
	struct config *f;
	int64_t ms;

	if (net == SMAP_NET_DATA && !to->net[net].port)
		net = SMAP_NET_CONTROL;
	buf_fmt(&url, "%s%s", to->net[net].url, path_query);
	if (url.err)
		return url.err;
	f = cluster_config(c);
	ms = config_ms(f, "timeout.cplane_operation");
	config_put(f);
	return http_call_init(call, method, url.data, ms);
}

int call_path(const char *url, struct buf *out)
{
	const char *p = strstr(url, "://");
	ssize_t n;

	p = p ? strchr(p + 3, '/') : NULL;
	if (!p)
		return -EINVAL;
	buf_append(out, p, strcspn(p, "?"));
	if (out->err)
		return out->err;
	n = http_uri_decode(out->data, out->len, false);
	if (n < 0)
		return -EINVAL;
	out->len = (size_t)n;
	out->data[n] = 0;
	return 0;
}

static int add_envelope(struct cluster *c, struct http_call *call, const struct sign_env *e,
			const char *sig)
{
	int r;

	r = http_call_header(call, "User-Agent", "Ais-Node");
	if (!r)
		r = http_call_header(call, "Ais-Caller-Id", "%s", c->self.id);
	if (!r && c->primary)
		r = http_call_header(call, "Ais-Caller-Is-Primary", "true");
	if (!r)
		r = http_call_header(call, "Ais-Caller-Name", "%s", c->name);
	if (!r)
		r = http_call_header(call, "Ais-Caller-Nonce", "%llu",
				     (unsigned long long)e->nonce);
	if (!r)
		r = http_call_header(call, "Ais-Caller-Sig", "%s", sig);
	if (!r)
		r = http_call_header(call, "Ais-Caller-Smap-Ver", "%llu",
				     (unsigned long long)e->smap_version);
	return r;
}

int cluster_call_sign(struct cluster *c, struct http_call *call)
{
	autobuf struct buf path = BUF_INIT;
	char sig[SIGN_SIG_TEXT + 1];
	struct doc_versions v;
	struct sign_env e;
	int r;

	r = call_path(call->url, &path);
	if (r < 0)
		return r;
	snap_versions(c, &v);
	e = (struct sign_env){
		.method = call->method,
		.path = path.data,
		.signer = c->self.id,
		.smap_version = (uint64_t)v.smap,
		.length = (int64_t)call->body_len,
		.nonce = atomic_fetch_add(&c->nonce, 1),
	};
	r = sign_make(&e, c->id.sign_key, sig);
	return r ? r : add_envelope(c, call, &e, sig);
}

/* ---- the same to many ---- */

static int cast_one(struct cluster *c, const struct smap_node *to, const struct cluster_cast *tmpl,
		    struct http_call *call)
{
	int r;

	r = cluster_call_init(c, to, SMAP_NET_CONTROL, tmpl->method, tmpl->path_query, call);
	if (r < 0)
		return r;
	call->body = tmpl->body;
	call->body_len = tmpl->body_len;
	if (tmpl->resp_max)
		call->resp_max = tmpl->resp_max;
	if (tmpl->timeout_ms)
		call->timeout_ms = tmpl->timeout_ms;
	call->user = (void *)to;
	if (tmpl->body_len) {
		r = http_call_header(call, "Content-Type", "application/json");
		if (r < 0)
			return r;
	}
	return cluster_call_sign(c, call);
}

/* Receivers, those that answer first; the silent rest is not waited for. */
static size_t receivers(struct cluster *c, const struct smap *m, enum smap_role role,
			const struct smap_node **out, size_t *ret_live)
{
	enum smap_role r;
	size_t i, n = 0;
	int silent;

	for (silent = 0; silent < 2; silent++) {
		for (r = SMAP_ROLE_GATEWAY; r < SMAP_ROLE_NR; r++) {
			for (i = 0; (role == r || role == SMAP_ROLE_NR) && i < smap_count(m, r);
			     i++) {
				const struct smap_node *to = smap_at(m, r, i);

				if (strcmp(to->id, c->self.id) &&
				    cluster_silent(c, to->id) == !!silent)
					out[n++] = to;
			}
		}
		if (!silent)
			*ret_live = n;
	}
	return n;
}

int cluster_broadcast(struct cluster *c, const struct smap *m, enum smap_role role,
		      const struct cluster_cast *tmpl, struct http_call **ret, size_t *ret_n)
{
	/* a node may become silent, or be heard, while the list is made: room for it twice */
	size_t max = 2 * (smap_count(m, SMAP_ROLE_GATEWAY) + smap_count(m, SMAP_ROLE_TARGET));
	autofree const struct smap_node **to = calloc(max + 1, sizeof(*to));
	struct http_call *calls = calloc(max + 1, sizeof(*calls));
	size_t i, n, live = 0;
	int r = 0;

	if (!to || !calls) {
		free(calls);
		return -ENOMEM;
	}
	n = receivers(c, m, role, to, &live);
	for (i = 0; i < n && !r; i++)
		r = cast_one(c, to[i], tmpl, &calls[i]);
	if (!r)
		r = http_call_all(calls, live);
	if (r < 0) {
		cluster_broadcast_free(calls, n);
		return r;
	}
	for (i = live; i < n; i++) {
		calls[i].err = -EHOSTDOWN;
		snprintf(calls[i].errtext, sizeof(calls[i].errtext),
			 "not heard for some time, not asked");
	}
	*ret = calls;
	*ret_n = n;
	return 0;
}

void cluster_broadcast_free(struct http_call *calls, size_t n)
{
	size_t i;

	for (i = 0; calls && i < n; i++)
		http_call_deinit(&calls[i]);
	free(calls);
}

/* ---- forwarding ---- */

static bool starts(const char *s, const char *with)
{
	return !strncasecmp(s, with, strlen(with));
}

/* Which of the client's headers go along: what selects or describes, nothing that vouches. */
static bool passes(const char *name)
{
	if (starts(name, "ais-caller-") || starts(name, "ais-join-"))
		return false;
	return starts(name, "ais-") || !strcasecmp(name, "accept") ||
	       !strcasecmp(name, "content-type") || !strcasecmp(name, "authorization");
}

static int forward_headers(struct cluster *c, const struct http_txn *t, struct http_call *call)
{
	size_t i;
	int r = http_call_header(call, FORWARDED, "%s", c->self.id);

	for (i = 0; i < t->req.n_headers && !r; i++) {
		const struct http_field *h = &t->req.headers[i];

		if (passes(h->name))
			r = http_call_header(call, h->name, "%s", h->value);
	}
	return r ? r : cluster_call_sign(c, call);
}

/* One line of the primary's answer; what describes the connection is the engine's own. */
static void pass_header(struct http_txn *t, char *line)
{
	char *value = strchr(line, ':');

	if (!value)
		return;
	*value++ = 0;
	value += strspn(value, " \t");
	if (starts(line, "ais-") || !strcasecmp(line, "content-type") ||
	    !strcasecmp(line, "retry-after") || !strcasecmp(line, "hdr-error"))
		http_header(t, line, "%s", value);
}

static void pass_back(struct http_txn *t, struct http_call *call)
{
	char *line, *save = NULL;

	for (line = strtok_r(call->resp_heads.data, "\r\n", &save); line;
	     line = strtok_r(NULL, "\r\n", &save))
		pass_header(t, line);
	t->resp.status = call->status;
	if (call->resp.len) {
		t->resp.body = HTTP_BODY_BYTES;
		t->resp.bytes = call->resp;
		call->resp = (struct buf)BUF_INIT;
	}
	http_reply(t);
}

static int forward_call(struct cluster *c, struct http_txn *t, const struct smap_node *primary,
			struct http_call *call)
{
	autobuf struct buf path = BUF_INIT;
	int r;

	http_uri_encode_path(&path, t->req.path, t->req.path_len);
	if (*t->req.query)
		buf_fmt(&path, "?%s", t->req.query);
	if (path.err)
		return path.err;
	r = cluster_call_init(c, primary, SMAP_NET_CONTROL, t->req.method_text, path.data, call);
	if (r < 0)
		return r;
	call->body = t->body.data;
	call->body_len = t->body.len;
	call->resp_max = FORWARD_MAX;
	call->timeout_ms = FORWARD_MS;
	r = forward_headers(c, t, call);
	return r ? r : http_call_all(call, 1);
}

static void unavailable(struct http_txn *t, const char *name, const char *why)
{
	http_error(t, 503, NULL, "%s: the primary does not answer: %s", name, why);
	http_header(t, "Retry-After", "1");
	http_reply(t);
}

void cluster_forward(struct cluster *c, struct http_txn *t)
{
	struct smap *m = cluster_smap(c);
	const struct smap_node *primary = smap_primary(m);
	struct http_call call = {};
	int r;

	if (!primary || c->primary || http_header_get(t, "pagewire-forwarded")) {
		unavailable(t, c->name, "no primary is known");
		smap_put(m);
		return;
	}
	r = forward_call(c, t, primary, &call);
	if (r < 0)
		unavailable(t, c->name, strerror(-r));
	else if (call.err)
		unavailable(t, c->name, call.errtext);
	else
		pass_back(t, &call);
	http_call_deinit(&call);
	smap_put(m);
}
