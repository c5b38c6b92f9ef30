/* SPDX-License-Identifier: BSD-2-Clause */
/* The perimeter: a table of who asks what where, with which word, asked of real nodes. */
#include "cluster/impl.h"
#include "nodes.h"

enum word { /* what a request carries to vouch for it */
	    WORD_NONE,
	    WORD_PRIMARY, /* headers, signed by the primary */
	    WORD_GATEWAY, /* by another gateway */
	    WORD_TARGET, /* by the other target */
	    WORD_STRANGER, /* by a key the map does not have */
	    WORD_TAMPERED, /* the primary's, one digit changed */
	    WORD_OTHER_PATH, /* the primary's, for another path */
	    WORD_NO_SIG,
	    WORD_NO_NAME,
	    WORD_WRONG_NAME,
	    WORD_BAD_NONCE,
	    WORD_BAD_PROOF, /* a join proof that is none */
	    WORD_ID_ONLY, /* Ais-Caller-Id alone */
	    WORD_MARKER, /* a gateway's redirect */
	    WORD_MARKER_TARGET, /* signed by a target */
	    WORD_MARKER_NO_SIG,
	    WORD_MARKER_TAMPERED,
	    WORD_MARKER_NEWER, /* wrong, under a version nobody has */
};

enum who { P, G, T1, T2, WHO_NR };

struct row {
	const char *name;
	enum who at;
	enum smap_netid net;
	const char *method, *path;
	enum word word;
	int want;
};

#define PUB SMAP_NET_PUBLIC
#define CTL SMAP_NET_CONTROL
#define DAT SMAP_NET_DATA
#define OBJ "/v1/objects/abc/o"

static const struct row rows[] = {
	{"direct GET", T1, PUB, "GET", OBJ, WORD_NONE, 403},
	{"direct HEAD", T1, PUB, "HEAD", OBJ, WORD_NONE, 403},
	{"direct PUT", T1, PUB, "PUT", OBJ, WORD_NONE, 403},
	{"redirect", T1, PUB, "GET", OBJ, WORD_MARKER, 200},
	{"redirect, data net", T1, DAT, "GET", OBJ, WORD_MARKER, 200},
	{"redirect, control net", T1, CTL, "GET", OBJ, WORD_MARKER, 200},
	{"redirect by a target", T1, PUB, "GET", OBJ, WORD_MARKER_TARGET, 401},
	{"marker without signature", T1, PUB, "GET", OBJ, WORD_MARKER_NO_SIG, 403},
	{"tampered redirect", T1, PUB, "GET", OBJ, WORD_MARKER_TAMPERED, 401},
	{"tampered redirect, data net", T1, DAT, "GET", OBJ, WORD_MARKER_TAMPERED, 401},
	{"redirect of a newer map", T1, PUB, "GET", OBJ, WORD_MARKER_NEWER, 503},
	{"member's headers in public", T1, PUB, "GET", OBJ, WORD_PRIMARY, 403},
	{"caller's ID in public", T1, PUB, "GET", OBJ, WORD_ID_ONLY, 403},
	{"caller's ID at a gateway", P, PUB, "GET", OBJ, WORD_ID_ONLY, 403},
	{"bucket at a target", T1, PUB, "GET", "/v1/buckets/abc", WORD_NONE, 400},
	{"health is open", T1, PUB, "GET", "/v1/health", WORD_NONE, 404},
	{"health is open inside", T1, CTL, "GET", "/v1/health", WORD_NONE, 404},
	{"object, nobody", T1, DAT, "GET", OBJ, WORD_NONE, 400},
	{"object, nobody, control", T1, CTL, "PUT", OBJ, WORD_NONE, 400},
	{"object, gateway", T1, DAT, "GET", OBJ, WORD_GATEWAY, 200},
	{"object, target", T1, DAT, "PUT", OBJ, WORD_TARGET, 200},
	{"object, stranger", T1, DAT, "GET", OBJ, WORD_STRANGER, 401},
	{"object, tampered", T1, DAT, "GET", OBJ, WORD_TAMPERED, 401},
	{"object, word for another path", T1, DAT, "GET", OBJ, WORD_OTHER_PATH, 401},
	{"object, no signature", T1, DAT, "GET", OBJ, WORD_NO_SIG, 401},
	{"object, no name", T1, DAT, "GET", OBJ, WORD_NO_NAME, 400},
	{"object, wrong name", T1, DAT, "GET", OBJ, WORD_WRONG_NAME, 400},
	{"object, bad nonce", T1, DAT, "GET", OBJ, WORD_BAD_NONCE, 400},
	{"object, join proof", T1, DAT, "GET", OBJ, WORD_BAD_PROOF, 400},
	{"metasync, primary", T1, CTL, "PUT", "/v1/metasync", WORD_PRIMARY, 200},
	{"metasync, gateway", T1, CTL, "PUT", "/v1/metasync", WORD_GATEWAY, 403},
	{"metasync, target", T1, CTL, "PUT", "/v1/metasync", WORD_TARGET, 403},
	{"metasync, nobody", T1, CTL, "PUT", "/v1/metasync", WORD_NONE, 400},
	{"metasync, bad proof", T1, CTL, "PUT", "/v1/metasync", WORD_BAD_PROOF, 401},
	{"metasync, data net", T1, DAT, "PUT", "/v1/metasync", WORD_PRIMARY, 404},
	{"metasync, public", T1, PUB, "PUT", "/v1/metasync", WORD_NONE, 404},
	{"metasync to the primary", P, CTL, "PUT", "/v1/metasync", WORD_GATEWAY, 403},
	{"versions, member", T1, CTL, "GET", "/v1/metasync", WORD_TARGET, 200},
	{"versions, nobody", T1, CTL, "GET", "/v1/metasync", WORD_NONE, 400},
	{"keepalive for another", P, CTL, "POST", "/v1/cluster/keepalive/tTarget01", WORD_TARGET,
	 403},
	{"keepalive, own", P, CTL, "POST", "/v1/cluster/keepalive/tTarget02", WORD_TARGET, 200},
	{"keepalive, nobody", P, CTL, "POST", "/v1/cluster/keepalive/tTarget02", WORD_NONE, 400},
	{"keepalive, public", P, PUB, "POST", "/v1/cluster/keepalive/tTarget02", WORD_NONE, 403},
	{"keepalive, not at the primary", G, CTL, "POST", "/v1/cluster/keepalive/tTarget02",
	 WORD_TARGET, 503},
	{"join, public", P, PUB, "POST", "/v1/cluster/autoreg", WORD_BAD_PROOF, 403},
	{"join, nobody", P, CTL, "POST", "/v1/cluster/autoreg", WORD_NONE, 400},
	{"leave for another", P, CTL, "DELETE", "/v1/cluster/daemon/tTarget01", WORD_TARGET, 403},
	{"leave, unknown", P, CTL, "DELETE", "/v1/cluster/daemon/tNobody99", WORD_TARGET, 404},
	{"leave, primary", P, CTL, "DELETE", "/v1/cluster/daemon/pPrimary1", WORD_TARGET, 400},
	{"leave, public", P, PUB, "DELETE", "/v1/cluster/daemon/tTarget02", WORD_NONE, 403},
};

/* With request_auth: false only unmarked reads change. */
static const struct row open_rows[] = {
	{"direct GET", T1, PUB, "GET", OBJ, WORD_NONE, 200},
	{"direct HEAD", T1, PUB, "HEAD", OBJ, WORD_NONE, 200},
	{"direct PUT", T1, PUB, "PUT", OBJ, WORD_NONE, 400},
	{"direct DELETE", T1, PUB, "DELETE", OBJ, WORD_NONE, 400},
	{"marker without signature", T1, PUB, "GET", OBJ, WORD_MARKER_NO_SIG, 200},
	{"tampered redirect", T1, PUB, "GET", OBJ, WORD_MARKER_TAMPERED, 401},
	{"redirect", T1, PUB, "PUT", OBJ, WORD_MARKER, 200},
	{"object, nobody", T1, DAT, "GET", OBJ, WORD_NONE, 400},
	{"object, tampered", T1, DAT, "GET", OBJ, WORD_TAMPERED, 401},
};

struct net {
	char dir[64], url[64];
	struct node node[WHO_NR];
	uint8_t strange[64]; /* a secret key nobody knows */
};

/* On the heap, not the stack: after a failed test its nodes go on running. */
static struct net *net_begin(bool open)
{
	static const char *const ids[] = {"pPrimary1", "pSecond01", "tTarget01", "tTarget02"};
	struct net *x = calloc(1, sizeof(*x));
	uint8_t key[32];
	int i;

	ASSERT_TRUE(x != NULL);
	nodes_begin(x->dir);
	crypto_sign_keypair(key, x->strange);
	close(node_listen(&x->node[P].port[SMAP_NET_CONTROL]));
	snprintf(x->url, sizeof(x->url), "http://127.0.0.1:%u", x->node[P].port[1]);
	for (i = 0; i < WHO_NR; i++) {
		x->node[i].dir = x->dir;
		x->node[i].id = ids[i];
		x->node[i].gateway = i < T1;
		x->node[i].primary_url = x->url;
		x->node[i].open = open;
		node_up(&x->node[i]);
		WAIT_FOR(cluster_ready(x->node[i].c));
	}
	WAIT_FOR(cluster_started(x->node[P].c));
	for (i = 0; i < WHO_NR; i++)
		WAIT_FOR(node_smap_version(&x->node[i]) == node_smap_version(&x->node[P]));
	return x;
}

static void net_end(struct net *x)
{
	int i;

	for (i = WHO_NR - 1; i >= 0; i--)
		node_down(&x->node[i]);
	nodes_end(x->dir);
	free(x);
}

static struct node *signer(struct net *x, enum word w)
{
	return &x->node[w == WORD_GATEWAY			      ? G
			: w == WORD_TARGET || w == WORD_MARKER_TARGET ? T2
								      : P];
}

/* Sign as a member and spoil it as the row says. */
static void add_headers(struct net *x, const struct row *r, struct http_call *call)
{
	struct node *n = signer(x, r->word);
	struct sign_env e = {.method = r->method,
			     .path = r->word == WORD_OTHER_PATH ? "/v1/objects/abc/x" : r->path,
			     .signer = n->id,
			     .smap_version = (uint64_t)node_smap_version(n),
			     .length = (int64_t)call->body_len,
			     .nonce = 77};
	char sig[SIGN_SIG_TEXT + 1];

	ASSERT_EQ(sign_make(&e, r->word == WORD_STRANGER ? x->strange : n->c->id.sign_key, sig), 0);
	if (r->word == WORD_TAMPERED)
		sig[3] = sig[3] == 'A' ? 'B' : 'A';
	http_call_header(call, "Ais-Caller-Id", "%s", n->id);
	if (r->word != WORD_NO_NAME)
		http_call_header(call, "Ais-Caller-Name", "%s",
				 r->word == WORD_WRONG_NAME ? "t[pPrimary1]"
							    : cluster_node_name(n->c));
	http_call_header(call, "Ais-Caller-Nonce", "%s", r->word == WORD_BAD_NONCE ? "7x" : "77");
	http_call_header(call, "Ais-Caller-Smap-Ver", "%llu", (unsigned long long)e.smap_version);
	if (r->word != WORD_NO_SIG)
		http_call_header(call, "Ais-Caller-Sig", "%s", sig);
}

static void add_marker(struct net *x, const struct row *r, struct buf *url)
{
	struct node *n = signer(x, r->word);
	struct sign_env e = {.method = r->method,
			     .path = r->path,
			     .signer = n->id,
			     .smap_version = (uint64_t)node_smap_version(n),
			     .nonce = 77};
	char sig[SIGN_SIG_TEXT + 1], version[BASE36_MAX];

	if (r->word == WORD_MARKER_NEWER)
		e.smap_version += 1000;
	ASSERT_EQ(sign_make(&e, n->c->id.sign_key, sig), 0);
	if (r->word == WORD_MARKER_TAMPERED || r->word == WORD_MARKER_NEWER)
		sig[3] = sig[3] == 'A' ? 'B' : 'A';
	base36_encode(e.smap_version, version);
	buf_fmt(url, "?pid=%s&utm=abc&vpams=%s&x=25", n->id, version);
	if (r->word != WORD_MARKER_NO_SIG)
		buf_fmt(url, "&u=%s", sig);
}

static void add_word(struct net *x, const struct row *r, struct http_call *call)
{
	switch (r->word) {
	case WORD_NONE:
		break;
	case WORD_ID_ONLY:
		http_call_header(call, "Ais-Caller-Id", "%s", x->node[P].id);
		break;
	case WORD_BAD_PROOF:
		http_call_header(call, "Ais-Join-Time", "%lld",
				 (long long)(wall_ns() / 1000000000));
		http_call_header(call, "Ais-Join-Sig", "%s",
				 "VzvMO84ohK9i2kLLvZDmRh9IBK7Oxbtr319mqnC4VYQ");
		break;
	default:
		if (r->word < WORD_MARKER)
			add_headers(x, r, call);
	}
}

static int ask(struct net *x, const struct row *r)
{
	autobuf struct buf url = BUF_INIT;
	struct http_call call;
	int status;

	buf_fmt(&url, "http://127.0.0.1:%u%s", x->node[r->at].port[r->net], r->path);
	if (r->word >= WORD_MARKER)
		add_marker(x, r, &url);
	ASSERT_EQ(http_call_init(&call, r->method, url.data, 5000), 0);
	/* nothing, as metadata and as versions */
	if (!strcmp(r->method, "POST") || !strcmp(r->path, "/v1/metasync")) {
		call.body = "{}";
		call.body_len = 2;
	}
	add_word(x, r, &call);
	ASSERT_EQ(http_call_all(&call, 1), 0);
	ASSERT_EQ(call.err, 0);
	status = call.status;
	http_call_deinit(&call);
	return status;
}

static void walk(const struct row *r, size_t n, bool open)
{
	struct net *x = net_begin(open);
	size_t i;
	int bad = 0;

	for (i = 0; i < n; i++) {
		int got = ask(x, &r[i]);

		if (got == r[i].want)
			continue;
		fprintf(stderr, "%s: %d, wanted %d\n", r[i].name, got, r[i].want);
		bad++;
	}
	ASSERT_EQ(bad, 0);
	net_end(x);
}

static void test_enforced(void)
{
	ASSERT_TRUE(sodium_init() >= 0);
	ASSERT_EQ(http_client_init(), 0);
	walk(rows, ARRAY_SIZE(rows), false);
}

static void test_open(void)
{
	walk(open_rows, ARRAY_SIZE(open_rows), true);
}

UNIT_MAIN("admit", {"requests are authenticated", test_enforced},
	  {"unmarked reads are served", test_open})
