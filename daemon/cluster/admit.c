/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The perimeter: who may ask what on which network. A signature that is present is verified, and a
 * wrong one is refused as such: it never counts as an absent one.
 */
#include <errno.h>

#include "base/text.h"
#include "cluster/impl.h"
#include "log.h"

#define PULL_PAUSE_NS                                                                              \
	INT64_C(1000000000) /* after a pull, a newer version is not believed so long */

enum verdict {
	VERDICT_OK,
	VERDICT_BAD, /* 401 */
	VERDICT_LATER, /* signed under a map we do not have yet: 503, and it is fetched */
};

__attribute__((format(printf, 4, 5))) static bool refuse(struct cluster *c, struct http_txn *t,
							 int status, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (status != 503)
		metrics_add(c->o.metrics, METRIC_AUTH_DENIED_N, 1);
	http_error(t, status, NULL, "%s: %s", c->name, text);
	if (status == 503)
		http_header(t, "Retry-After", "1");
	http_reply(t);
	return false;
}

static bool under(const char *path, const char *area)
{
	size_t n = strlen(area);

	return !strncmp(path, area, n) && (!path[n] || path[n] == '/');
}

static bool is_read(const struct http_txn *t)
{
	return t->req.method == HTTP_GET || t->req.method == HTTP_HEAD;
}

static bool is_object(const struct http_txn *t)
{
	return under(t->req.path, "/v1/objects") || under(t->req.path, "/v1/ml") ||
	       under(t->req.path, "/s3");
}

/* A map we do not have yet may explain a signature that does not verify. */
static enum verdict doubt(struct cluster *c, const struct smap *m, uint64_t version)
{
	if (c->primary || version <= (uint64_t)smap_version(m) ||
	    mono_ns() - c->pulled_ns < PULL_PAUSE_NS)
		return VERDICT_BAD;
	keepalive_pull_soon(c);
	return VERDICT_LATER;
}

static enum verdict verify(struct cluster *c, const struct smap *m, const struct sign_env *e,
			   const char *sig, const struct smap_node **ret)
{
	const struct smap_node *n = smap_find(m, e->signer);

	if (!n || !n->has_key || !sign_check(e, n->key, sig))
		return doubt(c, m, e->smap_version);
	*ret = n;
	return VERDICT_OK;
}

/* ---- redirects: a gateway's word, carried by a client ---- */

/* A marker without a signature is none. */
static bool has_marker(const struct http_txn *t)
{
	return http_param(t, "pid") && http_param(t, "utm") && http_param(t, "u");
}

static bool redirect_verdict(struct cluster *c, struct http_txn *t, enum verdict v,
			     const struct smap_node *n)
{
	if (v == VERDICT_LATER)
		return refuse(c, t, 503, "redirect signed under a newer cluster map; try again");
	if (v == VERDICT_BAD)
		return refuse(c, t, 401, "redirect: invalid signature or unknown signer %.64s",
			      http_param(t, "pid"));
	if (n->role != SMAP_ROLE_GATEWAY)
		return refuse(c, t, 401, "redirect: signer %s is not a gateway", n->id);
	t->admitted |= CLUSTER_ADMIT_REDIRECT;
	return true;
}

static bool admit_redirect(struct cluster *c, struct http_txn *t)
{
	const char *version = http_param(t, "vpams"), *nonce = http_param(t, "x");
	struct sign_env e = {.method = t->req.method_text,
			     .path = t->req.path,
			     .signer = http_param(t, "pid"),
			     .length = t->req.length};
	const struct smap_node *n = NULL;
	enum verdict v;
	struct smap *m;
	bool ok;

	if (version && base36_decode(version, &e.smap_version) < 0)
		return refuse(c, t, 400, "redirect: vpams \"%.32s\" is no base-36 number", version);
	if (nonce && base36_decode(nonce, &e.nonce) < 0)
		return refuse(c, t, 400, "redirect: x \"%.32s\" is no base-36 number", nonce);
	m = cluster_smap(c);
	v = verify(c, m, &e, http_param(t, "u"), &n);
	ok = redirect_verdict(c, t, v, n);
	smap_put(m);
	return ok;
}

/* ---- members: a node's own word ---- */

struct caller {
	struct sign_env env;
	const char *name, *sig;
};

static bool read_caller(struct cluster *c, struct http_txn *t, struct caller *out)
{
	const char *version = http_header_get(t, "ais-caller-smap-ver");
	const char *nonce = http_header_get(t, "ais-caller-nonce");

	*out = (struct caller){.env = {.method = t->req.method_text,
				       .path = t->req.path,
				       .signer = http_header_get(t, "ais-caller-id"),
				       .length = t->req.length},
			       .name = http_header_get(t, "ais-caller-name"),
			       .sig = http_header_get(t, "ais-caller-sig")};
	if (!out->env.signer || !out->name)
		return refuse(c, t, 400, "not an intra-control request: no Ais-Caller-Id or -Name");
	if ((version && parse_u64(version, &out->env.smap_version) < 0) ||
	    (nonce && parse_u64(nonce, &out->env.nonce) < 0))
		return refuse(c, t, 400, "Ais-Caller-Smap-Ver or -Nonce of %.80s is no number",
			      out->name);
	if (!out->sig)
		return refuse(c, t, 401, "unsigned request from %.80s", out->name);
	return true;
}

static bool member_verdict(struct cluster *c, struct http_txn *t, const struct caller *who,
			   const struct smap *m)
{
	const struct smap_node *n = NULL, *primary = smap_primary(m);
	char name[CLUSTER_NAME_SIZE];

	switch (verify(c, m, &who->env, who->sig, &n)) {
	case VERDICT_OK:
		break;
	case VERDICT_LATER:
		return refuse(c, t, 503, "%.80s signs under a newer cluster map; try again",
			      who->name);
	default:
		return refuse(c, t, 401, "invalid signature, or unknown node: %.80s", who->name);
	}
	smap_node_name(n, name, sizeof(name));
	if (strcmp(name, who->name))
		return refuse(c, t, 400, "Ais-Caller-Name %.80s, but the signer is %s", who->name,
			      name);
	t->caller = peers_heard(c, n);
	t->admitted |= CLUSTER_ADMIT_MEMBER;
	if (n == primary || (primary && !strcmp(n->id, primary->id)))
		t->admitted |= CLUSTER_ADMIT_PRIMARY;
	return true;
}

static bool admit_member(struct cluster *c, struct http_txn *t)
{
	struct caller who;
	struct smap *m;
	bool ok;

	if (!read_caller(c, t, &who))
		return false;
	m = cluster_smap(c);
	ok = member_verdict(c, t, &who, m);
	smap_put(m);
	return ok;
}

/* ---- by network ---- */

/* Requests that may come with a proof of the secret in place of a signature; their handlers check
 * it over the body. */
static bool may_prove(const struct http_txn *t)
{
	if (!http_header_get(t, "ais-join-sig") || http_header_get(t, "ais-caller-id"))
		return false;
	return (t->req.method == HTTP_POST && !strcmp(t->req.path, "/v1/cluster/autoreg")) ||
	       ((t->req.method == HTTP_PUT || t->req.method == HTTP_GET) &&
		!strcmp(t->req.path, "/v1/metasync"));
}

static bool admit_intra(struct cluster *c, struct http_txn *t)
{
	if (is_read(t) && under(t->req.path, "/v1/health"))
		return true;
	if (may_prove(t))
		return true;
	if (!http_header_get(t, "ais-caller-id") && is_object(t) && has_marker(t))
		return admit_redirect(c, t);
	return admit_member(c, t);
}

/* A client that asks a target by itself. */
static bool admit_direct(struct cluster *c, struct http_txn *t)
{
	const char *verb = t->req.method_text;

	if (under(t->req.path, "/v1/buckets"))
		return refuse(c, t, 400, "%s(bck) requires proxy mediation", verb);
	if (!is_object(t))
		return true;
	if (c->request_auth)
		return refuse(c, t, 403, "%s(obj) is expected to be redirected", verb);
	if (!is_read(t) || under(t->req.path, "/v1/ml"))
		return refuse(c, t, 400, "%s(obj) is expected to be redirected", verb);
	return true;
}

static bool admit_public(struct cluster *c, struct http_txn *t)
{
	if (http_header_get(t, "ais-caller-id"))
		return refuse(c, t, 403, "unexpected intra-cluster header on the public network");
	if (c->role == SMAP_ROLE_GATEWAY)
		return true;
	return has_marker(t) ? admit_redirect(c, t) : admit_direct(c, t);
}

bool cluster_admit(void *ctx, struct http_txn *t)
{
	struct cluster *c = ctx;

	t->caller = NULL;
	t->admitted = 0;
	/* until its first sync a target's map, and with it each verdict, may be of another day */
	if (c->role == SMAP_ROLE_TARGET && !c->ready && is_object(t))
		return refuse(c, t, 503, "joining the cluster, not ready yet");
	return t->req.net == SMAP_NET_PUBLIC ? admit_public(c, t) : admit_intra(c, t);
}
