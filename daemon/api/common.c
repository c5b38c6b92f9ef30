/* SPDX-License-Identifier: BSD-2-Clause */
/* What the handlers share: targets, buckets, access, control bodies, answers. */
#include "api/api.h"
#include "api/pairs.h"
#include "api/target.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "loop/pool.h"

int api_parse_target(struct http_txn *t, const char *area, bool need_object, struct api_target *ret)
{
	struct api_target_text in = {
		.area = area,
		.path = t->req.path,
		.path_len = t->req.path_len,
		.provider = http_param(t, "provider"),
		.ns = http_param(t, "namespace"),
		.need_object = need_object,
		.head = t->req.method == HTTP_HEAD,
		.post = t->req.method == HTTP_POST && !strcmp(area, "/v1/buckets"),
	};
	struct api_fault f;
	int r;

	r = api_target_parse(&in, ret, &f);
	if (r < 0)
		http_error(t, f.status, f.tcode, "%s", f.text);
	return r;
}

/* Reads and changes of the mask itself are always let through: only a token could forbid them. */
#define ACCESS_ALWAYS                                                                              \
	(BIT64(BMD_ACE_GET) | BIT64(BMD_ACE_OBJ_HEAD) | BIT64(BMD_ACE_BCK_HEAD) |                  \
	 BIT64(BMD_ACE_OBJ_LIST) | BIT64(BMD_ACE_PATCH) | BIT64(BMD_ACE_SET_BCK_ACL) |             \
	 BIT64(BMD_ACE_LIST_BUCKETS) | BIT64(BMD_ACE_SHOW_CLUSTER))

static int access_check(struct http_txn *t, const struct bmd_bucket *b, enum bmd_access need)
{
	autobuf struct buf name = BUF_INIT, allowed = BUF_INIT;
	unsigned int i;

	if (need >= BMD_ACE_NR || ((b->access | ACCESS_ALWAYS) & BIT64(need)))
		return 0;
	for (i = 0; i < BMD_ACE_NR; i++) {
		if (b->access & BIT64(i))
			buf_fmt(&allowed, "%s%s", allowed.len ? "," : "", bmd_access_name(i));
	}
	bmd_name_print(&b->name, &name);
	http_error(t, 403, "ErrBucketAccessDenied",
		   "bucket %s(0x%llx): %s access denied (allowed: [%s])", buf_cstr(&name),
		   (unsigned long long)(b->bid & ~BIT64(63)), bmd_access_name(need),
		   buf_cstr(&allowed));
	return -EACCES;
}

/* Whether the bucket is in our metadata; then a copy of it. */
static bool lookup(struct api *a, const struct bmd_name *n, struct bmd_bucket *ret)
{
	struct bmd *bmd = cluster_bmd(a->cluster);
	const struct bmd_bucket *b = bmd ? bmd_find(bmd, n) : NULL;
	bool found = b;

	if (found && ret)
		*ret = *b;
	bmd_put(bmd);
	return found;
}

static int found_or_not(struct http_txn *t, const struct bmd_name *n, bool found,
			enum bmd_access need, struct bmd_bucket *b)
{
	autobuf struct buf name = BUF_INIT;

	if (found)
		return access_check(t, b, need);
	bmd_name_print(n, &name);
	http_error(t, 404, "ErrBckNotFound", "bucket \"%s\" does not exist", buf_cstr(&name));
	return -ENOENT;
}

int api_bucket(struct api *a, struct http_txn *t, const struct bmd_name *n, enum bmd_access need,
	       struct bmd_bucket *ret)
{
	struct bmd_bucket b = {};
	int r;

	r = found_or_not(t, n, lookup(a, n, &b), need, &b);
	if (!r)
		*ret = b;
	return r;
}

int api_bucket_pull(struct api *a, struct http_txn *t, const struct bmd_name *n,
		    enum bmd_access need, struct bmd_bucket *ret)
{
	if (!lookup(a, n, NULL) && !cluster_is_primary(a->cluster))
		cluster_pull(a->cluster);
	return api_bucket(a, t, n, need, ret);
}

struct pulled { /* stands in for t->user while the primary is asked */
	struct api *a;
	void (*fn)(struct http_txn *t);
	void *user;
	void (*user_free)(void *user);
};

static void pulled_free(void *arg)
{
	struct pulled *p = arg;

	if (p->user_free)
		p->user_free(p->user);
	free(p);
}

static void pull_then_run(struct http_txn *t)
{
	struct pulled *p = t->user;
	struct pool *io = p->a->io;
	void (*fn)(struct http_txn * t) = p->fn;

	cluster_pull(p->a->cluster);
	t->user = p->user;
	t->user_free = p->user_free;
	free(p);
	http_run(t, io, fn);
}

void api_known(struct api *a, struct http_txn *t, const struct bmd_name *n,
	       void (*fn)(struct http_txn *t))
{
	struct pulled *p;

	if (lookup(a, n, NULL) || cluster_is_primary(a->cluster)) {
		http_run(t, a->io, fn);
		return;
	}
	p = calloc(1, sizeof(*p));
	if (!p) {
		http_reply_error(t, 500, NULL, "out of memory");
		return;
	}
	*p = (struct pulled){
		.a = a,
		.fn = fn,
		.user = t->user,
		.user_free = t->user_free,
	};
	t->user = p;
	t->user_free = pulled_free;
	http_run(t, a->call, pull_then_run);
}

void api_store_bck(const struct bmd_bucket *b, struct store_bck *out)
{
	*out = (struct store_bck){
		.bid = b->bid,
		.uname = b->placement,
		.versioned = b->versioning,
	};
	if (cksum_type_parse(b->cksum_type, &out->cksum) < 0)
		out->cksum = CKSUM_XXHASH2;
}

void api_object_text(const struct bmd_name *n, const char *object, struct buf *out)
{
	bmd_name_print(n, out);
	buf_char(out, '/');
	buf_str(out, object);
}

bool api_json_text(struct json_object *v)
{
	return json_object_is_type(v, json_type_string) &&
	       strlen(json_object_get_string(v)) == (size_t)json_object_get_string_len(v);
}

/* A text member of the control body. */
static int msg_text(struct http_txn *t, struct json_object *root, const char *key, const char **ret)
{
	struct json_object *v = json_member(root, key);

	if (v && !api_json_text(v)) {
		http_error(t, 400, NULL, "failed to unmarshal: \"%s\" must be a string without NUL",
			   key);
		return -EINVAL;
	}
	*ret = v ? json_object_get_string(v) : NULL;
	return 0;
}

int api_msg_parse(struct http_txn *t, struct api_msg *ret)
{
	autojson struct json_object *root = NULL;
	struct api_msg m = {};
	int r;

	*ret = m;
	if (!t->body.len)
		return 0;
	pairs_to_utf8(&t->body);
	r = json_parse(t->body.data, t->body.len, &root);
	if (r < 0 || (root && !json_object_is_type(root, json_type_object))) {
		http_error(t, r == -ENOMEM ? 500 : 400, NULL,
			   "failed to unmarshal the request body: expected one JSON object "
			   "{\"action\",\"name\",\"value\"}");
		return -EINVAL;
	}
	if (msg_text(t, root, "action", &m.action) < 0 || msg_text(t, root, "name", &m.name) < 0)
		return -EINVAL;
	m.value = json_member(root, "value");
	m.root = take_ptr(root);
	*ret = m;
	return 0;
}

void api_msg_free(struct api_msg *m)
{
	json_object_put(m->root);
	*m = (struct api_msg){};
}

void api_store_error(struct api *a, struct http_txn *t, int err, const struct bmd_name *n,
		     const char *object)
{
	const char *node = cluster_node_name(a->cluster);
	autobuf struct buf name = BUF_INIT;

	api_object_text(n, object, &name);
	switch (err) {
	case -ENOENT:
		http_error(t, 404, "ErrNotFound", "%s: %s does not exist", node, buf_cstr(&name));
		break;
	case -ENOSPC:
	case -EDQUOT:
		http_error(t, 507, NULL, "%s: out of space for %s", node, buf_cstr(&name));
		break;
	case -ENAMETOOLONG:
	case -EBADMSG: /* a body of another length than announced */
	case -EINVAL:
		http_error(t, 400, NULL, "%s: %s: %s", node, buf_cstr(&name), strerror(-err));
		break;
	case STORE_OUT:
		http_error(t, 503, "ErrMpathOut",
			   "%s: %s: a mountpath that may hold it is out of service; see pagewire "
			   "node mountpath %s ls",
			   node, buf_cstr(&name), cluster_node_id(a->cluster));
		http_header(t, "Retry-After", "10");
		break;
	case -EAGAIN: /* a bounded queue is full: nothing was begun */
		http_error(t, 503, NULL, "%s: busy, try again: %s", node, buf_cstr(&name));
		http_header(t, "Retry-After", "1");
		break;
	default:
		http_error(t, 500, NULL, "%s: %s: %s", node, buf_cstr(&name), strerror(-err));
	}
}

void api_not_built(struct http_txn *t, const char *what)
{
	http_reply_error(t, 501, "ErrUnsupp", "%s is not supported by this build", what);
}

size_t api_json_max(struct api *a)
{
	struct config *c = cluster_config(a->cluster);
	size_t n = (size_t)config_size(c, "http.max_json_body");

	config_put(c);
	return n;
}

bool api_is_gateway(const struct api *a)
{
	return cluster_role(a->cluster) == SMAP_ROLE_GATEWAY;
}

static int bck_text(struct json_object *o, const char *key, char *out, size_t size)
{
	struct json_object *v = json_member(o, key);

	if (!v)
		return 0;
	if (!api_json_text(v) || (size_t)json_object_get_string_len(v) >= size)
		return -EINVAL;
	snprintf(out, size, "%s", json_object_get_string(v));
	return 0;
}

int api_bck_parse(struct json_object *o, struct bmd_name *ret)
{
	struct bmd_name n = {};
	struct json_object *ns = json_member(o, "namespace");
	char word[16] = "";
	const char *prov;

	if (!json_object_is_type(o, json_type_object) ||
	    (ns && !json_object_is_type(ns, json_type_object)))
		return -EINVAL;
	if (bck_text(o, "name", n.bucket, sizeof(n.bucket)) < 0 ||
	    bck_text(o, "provider", word, sizeof(word)) < 0 ||
	    bck_text(ns, "uuid", n.ns_uuid, sizeof(n.ns_uuid)) < 0 ||
	    bck_text(ns, "name", n.ns_name, sizeof(n.ns_name)) < 0)
		return -EINVAL;
	prov = api_provider(word);
	if (!prov || (n.bucket[0] && !smap_bucket_name_ok(n.bucket)) ||
	    (n.ns_uuid[0] && !smap_uuid_ok(n.ns_uuid)) ||
	    (n.ns_name[0] && !smap_uuid_ok(n.ns_name)))
		return -EINVAL;
	snprintf(n.provider, sizeof(n.provider), "%s", prov);
	*ret = n;
	return 0;
}

void api_bck_print(const struct bmd_name *n, struct buf *out)
{
	buf_str(out, "{\"name\":");
	buf_json_str(out, n->bucket);
	buf_str(out, ",\"provider\":");
	buf_json_str(out, n->bucket[0] ? n->provider : "");
	buf_str(out, ",\"namespace\":{\"uuid\":");
	buf_json_str(out, n->ns_uuid);
	buf_str(out, ",\"name\":");
	buf_json_str(out, n->ns_name);
	buf_str(out, "}}");
}

void api_bck_path(const char *area, const struct bmd_name *n, struct buf *out)
{
	buf_fmt(out, "%s/", area);
	http_uri_encode_path(out, n->bucket, strlen(n->bucket));
	buf_fmt(out, "?provider=%s", n->provider);
	if (n->ns_uuid[0] || n->ns_name[0])
		buf_fmt(out, "&namespace=%%40%s%%23%s", n->ns_uuid, n->ns_name);
}

void api_reply_json(struct http_txn *t, struct buf *b)
{
	if (b->err)
		http_reply_error(t, 500, NULL, "out of memory");
	else
		http_reply_buf(t, "application/json; charset=utf-8", b);
}
