/* SPDX-License-Identifier: BSD-2-Clause */
/* Placement and redirects: 307 to the owner with a signed envelope in the query. */
#include <ctype.h>
#include <errno.h>

#include "base/text.h"
#include "cluster/impl.h"
#include "cluster/redirect.h"

const struct smap_node *cluster_owner(struct cluster *c, const struct smap *m,
				      const struct bmd_bucket *b, const char *object)
{
	char uname[SMAP_UNAME_MAX];
	size_t n = strlen(b->placement), len = strlen(object);

	if (n + len > sizeof(uname))
		return NULL;
	memcpy(uname, b->placement, n);
	memcpy(uname + n, object, len);
	return smap_owner(m, smap_digest(uname, n + len));
}

/* What RFC 3986 3.4 lets stand in a query. */
static bool query_char(unsigned char ch)
{
	return isalnum(ch) || (ch && strchr("-._~!$&'()*+,;=:@/?", ch));
}

void redirect_query(struct buf *out, const char *query)
{
	const unsigned char *p = (const unsigned char *)query;

	for (; *p; p++) {
		if (query_char(*p) || (*p == '%' && isxdigit(p[1]) && isxdigit(p[2])))
			buf_char(out, (char)*p);
		else
			buf_fmt(out, "%%%02X", *p);
	}
}

int redirect_location(const struct redirect *r, struct buf *out)
{
	char utm[BASE36_MAX], ver[BASE36_MAX], nonce[BASE36_MAX], sig[SIGN_SIG_TEXT + 1];
	int e;

	e = sign_make(&r->env, r->sign_key, sig);
	if (e < 0)
		return e;
	base36_encode(r->time_ns, utm);
	base36_encode(r->env.smap_version, ver);
	base36_encode(r->env.nonce, nonce);
	buf_str(out, r->url);
	http_uri_encode_path(out, r->env.path, strlen(r->env.path));
	buf_char(out, '?');
	redirect_query(out, r->query);
	if (*r->query)
		buf_char(out, '&');
	buf_fmt(out, "pid=%s&u=%s&utm=%s&vpams=%s&x=%s", r->env.signer, sig, utm, ver, nonce);
	return out->err;
}

static void not_now(struct http_txn *t, const char *self, const char *node, const char *why)
{
	http_error(t, 503, NULL, "%s: no redirect to %s: %s", self, node, why);
	http_header(t, "Retry-After", "1");
	http_reply(t);
}

void cluster_redirect(struct cluster *c, struct http_txn *t, const struct smap *m,
		      const struct smap_node *to)
{
	autobuf struct buf loc = BUF_INIT;
	char name[CLUSTER_NAME_SIZE];
	struct redirect r = {
		.env = {.method = t->req.method_text,
			.path = t->req.path,
			.signer = c->self.id,
			.smap_version = (uint64_t)smap_version(m),
			.length = t->req.length,
			.nonce = atomic_fetch_add(&c->nonce, 1)},
		.url = to->net[SMAP_NET_PUBLIC].url,
		.query = t->req.query,
		.time_ns = (uint64_t)wall_ns(),
		.sign_key = c->id.sign_key,
	};

	smap_node_name(to, name, sizeof(name));
	if (!c->ready) {
		not_now(t, c->name, name, "this gateway has not joined the cluster yet");
	} else if (cluster_silent(c, to->id)) {
		not_now(t, c->name, name, "it has not been heard for some time");
	} else if (redirect_location(&r, &loc) < 0) {
		http_reply_error(t, 500, NULL, "out of memory");
	} else {
		metrics_add(c->o.metrics, METRIC_REDIRECT_N, 1);
		http_header(t, "Location", "%s", loc.data);
		http_header(t, "Cache-Control", "no-store");
		http_reply_status(t, 307);
	}
}
