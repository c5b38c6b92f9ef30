/* SPDX-License-Identifier: BSD-2-Clause */
/* /v1/buckets on a gateway: dispatch, and what changes buckets. */
#include "api/impl.h"

/* ---- changes of the bucket metadata ---- */

struct change {
	struct api *a;
	struct bmd_bucket b; /* to be made */
	struct bmd_name to;
	struct json_object *props;
	bool reset;
	char err[256];
};

static void bucket_defaults(struct api *a, struct bmd_bucket *b)
{
	struct config *cfg = cluster_config(a->cluster);

	b->access = UINT64_MAX;
	b->features = 0;
	b->versioning = config_bool(cfg, "versioning.enabled");
	b->read_range = config_bool(cfg, "checksum.enable_read_range");
	b->warm_get = config_bool(cfg, "checksum.validate_warm_get");
	snprintf(b->cksum_type, sizeof(b->cksum_type), "%s", config_text(cfg, "checksum.type"));
	config_put(cfg);
}

static int change_create(void *arg, const struct bmd *now, struct bmd **ret)
{
	const struct change *c = arg;

	return bmd_with_bucket(now, &c->b, ret);
}

static int change_destroy(void *arg, const struct bmd *now, struct bmd **ret)
{
	const struct change *c = arg;

	return bmd_without_bucket(now, &c->b.name, ret);
}

static int change_rename(void *arg, const struct bmd *now, struct bmd **ret)
{
	const struct change *c = arg;

	return bmd_with_rename(now, &c->b.name, &c->to, ret);
}

static int change_props(void *arg, const struct bmd *now, struct bmd **ret)
{
	struct change *c = arg;
	const struct bmd_bucket *old = bmd_find(now, &c->b.name);
	struct bmd_bucket b;
	int r = 0;

	if (!old)
		return -ENOENT;
	b = *old;
	if (c->reset)
		bucket_defaults(c->a, &b);
	else
		r = bmd_props_apply(&b, c->props, c->err, sizeof(c->err));
	return r ? r : bmd_with_props(now, &b, ret);
}

static void reply_change(struct http_txn *t, const struct change *c, int r)
{
	autobuf struct buf name = BUF_INIT;

	bmd_name_print(r == -EEXIST && c->to.bucket[0] ? &c->to : &c->b.name, &name);
	if (!r)
		http_reply_status(t, 200);
	else if (r == -EEXIST)
		http_reply_error(t, c->to.bucket[0] ? 400 : 409, "ErrBucketAlreadyExists",
				 "bucket \"%s\" already exists", buf_cstr(&name));
	else if (r == -ENOENT)
		http_reply_error(t, 404, "ErrBckNotFound", "bucket \"%s\" does not exist",
				 buf_cstr(&name));
	else if (r == -EINVAL)
		http_reply_error(t, 400, NULL, "bucket \"%s\": %s", buf_cstr(&name),
				 c->err[0] ? c->err : "invalid properties");
	else if (r == -ENOTSUP)
		http_reply_error(t, 501, "ErrUnsupp", "bucket \"%s\": %s", buf_cstr(&name),
				 c->err[0] ? c->err : "not supported by this build");
	else if (r == -E2BIG)
		http_reply_error(t, 400, NULL, "bucket \"%s\": over %d buckets", buf_cstr(&name),
				 BMD_BUCKETS_MAX);
	else
		change_error(t, r, "buckets");
}

void change_error(struct http_txn *t, int err, const char *what)
{
	if (err == -EAGAIN) {
		http_error(t, 503, NULL, "%s: the primary is not ready, try again", what);
		http_header(t, "Retry-After", "1");
	} else {
		http_error(t, 500, NULL, "%s: %s", what, strerror(-err));
	}
	http_reply(t);
}

void action_error(struct http_txn *t, const char *action)
{
	if (action)
		http_reply_error(t, 400, NULL, "invalid action \"%.100s\"", action);
	else
		http_reply_error(t, 400, NULL,
				 "failed to unmarshal: the request body names no \"action\"");
}

static void create(struct api *a, struct http_txn *t, const struct api_target *tg,
		   const struct api_msg *m)
{
	struct change c = {.a = a, .b = {.name = tg->bck}};
	autobuf struct buf uname = BUF_INIT;
	int r = 0;

	if (tg->bck.ns_uuid[0]) {
		api_not_built(t, "a bucket of another cluster");
		return;
	}
	bucket_defaults(a, &c.b);
	bmd_name_uname(&tg->bck, &uname);
	snprintf(c.b.placement, sizeof(c.b.placement), "%s", buf_cstr(&uname));
	if (m->value)
		r = bmd_props_apply(&c.b, m->value, c.err, sizeof(c.err));
	if (!r)
		r = cluster_change_bmd(a->cluster, change_create, &c);
	reply_change(t, &c, r);
}

static void destroy(struct api *a, struct http_txn *t, const struct api_target *tg)
{
	struct change c = {.a = a};

	if (api_bucket(a, t, &tg->bck, BMD_ACE_DESTROY_BCK, &c.b) < 0) {
		http_reply(t);
		return;
	}
	reply_change(t, &c, cluster_change_bmd(a->cluster, change_destroy, &c));
}

/* The job is over at once; the targets remember it, so that it can be waited for. */
static void rename_note(struct api *a, const struct change *c, const char *xid)
{
	autobuf struct buf path = BUF_INIT, body = BUF_INIT, uname = BUF_INIT;
	struct cast_spec spec = {
		.method = "POST",
		.body = &body,
		.resp_max = 4096,
		.timeout = "timeout.cplane_operation",
	};
	struct cast cast = {};

	api_bck_path("/v1/buckets", &c->b.name, &path);
	bmd_name_uname(&c->to, &uname);
	buf_fmt(&path, "&uuid=%s&bck_to=", xid);
	http_uri_encode_query(&path, buf_cstr(&uname), uname.len);
	buf_str(&body, "{\"action\":\"move-bck\",\"name\":\"\",\"value\":null}");
	spec.path = buf_cstr(&path);
	if (path.err || cast_targets(a, &spec, &cast) < 0)
		log_warn("bucket.rename", "xid=%s err=\"job not registered\"", xid);
	cast_free(&cast);
}

static void rename_bucket(struct api *a, struct http_txn *t, const struct api_target *tg)
{
	struct change c = {.a = a};
	const char *to = http_param(t, "bck_to"), *rest;
	char xid[16];
	int r;

	if (!to || bmd_uname_parse(to, &c.to, &rest) < 0 || *rest ||
	    !smap_bucket_name_ok(c.to.bucket) || strcmp(c.to.provider, "ais")) {
		http_reply_error(
			t, 400, NULL,
			"move-bck: bck_to=%.200s names no bucket: expected \"ais/@#/NAME/\"",
			to ? to : "");
		return;
	}
	if (api_bucket(a, t, &tg->bck, BMD_ACE_MOVE_BCK, &c.b) < 0) {
		http_reply(t);
		return;
	}
	r = cluster_change_bmd(a->cluster, change_rename, &c);
	if (r) {
		reply_change(t, &c, r);
		return;
	}
	cluster_make_id(xid);
	rename_note(a, &c, xid);
	http_reply_text(t, 200, xid);
}

static void patch(struct api *a, struct http_txn *t, const struct api_target *tg,
		  const struct api_msg *m)
{
	struct change c = {.a = a, .props = m->value};

	if (api_bucket(a, t, &tg->bck, BMD_ACE_PATCH, &c.b) < 0) {
		http_reply(t);
		return;
	}
	if (m->action && !strcmp(m->action, "reset-bprops")) {
		c.reset = true;
	} else if (!m->action || strcmp(m->action, "set-bprops")) {
		action_error(t, m->action);
		return;
	} else if (m->value && !json_object_is_type(m->value, json_type_object)) {
		http_reply_error(t, 400, NULL,
				 "failed to unmarshal: the value of set-bprops must be an object");
		return;
	}
	if (!c.reset && !m->value)
		http_reply_status(t, 200);
	else
		reply_change(t, &c, cluster_change_bmd(a->cluster, change_props, &c));
}

/* ---- dispatch ---- */

static bool one_of(const char *word, const char *const *list)
{
	for (; *list; list++)
		if (!strcmp(word, *list))
			return true;
	return false;
}

static void not_remote(struct http_txn *t, const struct bmd_name *n, const char *action)
{
	autobuf struct buf name = BUF_INIT;

	bmd_name_print(n, &name);
	http_reply_error(t, 400, "ErrNotRemoteBck",
			 "%s: bucket \"%s\" is not remote: expected a remote bucket", action,
			 buf_cstr(&name));
}

static void get(struct api *a, struct http_txn *t, const struct api_target *tg,
		const struct api_msg *m)
{
	static const char *const unbuilt[] = {"summary-shard", "shard-summary", NULL};
	const char *action = m->action && *m->action ? m->action : "list";
	struct bmd_bucket b;

	if (!strcmp(action, "summary-bck")) {
		summary_get(a, t, &tg->bck, m);
	} else if (!strcmp(action, "show-inventory")) {
		autobuf struct buf out = BUF_INIT;

		buf_str(&out, "{}");
		api_reply_json(t, &out);
	} else if (one_of(action, unbuilt)) {
		api_not_built(t, action);
	} else if (strcmp(action, "list")) {
		action_error(t, action);
	} else if (!tg->bck.bucket[0]) {
		buckets_list(a, t, tg, m);
	} else if (m->root && !m->value) {
		http_reply_error(
			t, 400, NULL,
			"failed to unmarshal: listing objects takes an object as \"value\"");
	} else if (api_bucket(a, t, &tg->bck, BMD_ACE_OBJ_LIST, &b) < 0) {
		http_reply(t);
	} else {
		list_gateway(a, t, &tg->bck, m);
	}
}

static void post(struct api *a, struct http_txn *t, const struct api_target *tg,
		 const struct api_msg *m)
{
	static const char *const unbuilt[] = {"copy-bck",      "etl-bck",	"copy-listrange",
					      "etl-listrange", "make-n-copies", "ec-encode",
					      "rechunk",       "index-shard",	NULL};
	static const char *const remote[] = {"prefetch-listrange", "create-inventory", NULL};
	struct bmd_bucket b;

	if (!m->action)
		action_error(t, NULL);
	else if (!strcmp(m->action, "create-bck"))
		create(a, t, tg, m);
	else if (!strcmp(m->action, "move-bck"))
		rename_bucket(a, t, tg);
	else if (!one_of(m->action, unbuilt) && !one_of(m->action, remote))
		action_error(t, m->action);
	else if (api_bucket(a, t, &tg->bck, BMD_ACE_NR, &b) < 0)
		http_reply(t);
	else if (one_of(m->action, remote))
		not_remote(t, &tg->bck, m->action);
	else
		api_not_built(t, m->action);
}

static void drop(struct api *a, struct http_txn *t, const struct api_target *tg,
		 const struct api_msg *m)
{
	static const char *const remote[] = {"evict-remote-bck", "evict-listrange",
					     "destroy-inventory", NULL};
	struct bmd_bucket b;

	if (!m->action)
		action_error(t, NULL);
	else if (t->req.path[t->req.path_len - 1] == '/')
		http_reply_error(t, 400, NULL, "bad bucket name \"%s/\" in %s", tg->bck.bucket,
				 t->req.path);
	else if (!strcmp(m->action, "destroy-bck"))
		destroy(a, t, tg);
	else if (!strcmp(m->action, "delete-listrange"))
		delete_gateway(a, t, &tg->bck, m);
	else if (!one_of(m->action, remote))
		action_error(t, m->action);
	else if (api_bucket(a, t, &tg->bck, BMD_ACE_NR, &b) < 0)
		http_reply(t);
	else
		not_remote(t, &tg->bck, m->action);
}

static void put(struct api *a, struct http_txn *t, const struct api_target *tg,
		const struct api_msg *m)
{
	struct bmd_bucket b;

	if (!m->action || strcmp(m->action, "archive"))
		action_error(t, m->action);
	else if (api_bucket(a, t, &tg->bck, BMD_ACE_NR, &b) < 0)
		http_reply(t);
	else
		api_not_built(t, m->action);
}

/* Reads that this gateway's own metadata answers. */
static bool answered_here(const struct http_txn *t, const struct api_target *tg,
			  const struct api_msg *m)
{
	if (t->req.method == HTTP_HEAD)
		return !http_param(t, "bsumm_remote") && !http_param(t, "uuid");
	return t->req.method == HTTP_GET && !tg->bck.bucket[0] &&
	       (!m->action || !*m->action || !strcmp(m->action, "list"));
}

static void dispatch(struct api *a, struct http_txn *t, const struct api_target *tg,
		     const struct api_msg *m)
{
	if (tg->object_len && t->req.method != HTTP_HEAD)
		http_reply_error(t, 400, NULL, "bad bucket name \"%s/%.200s\" in the path",
				 tg->bck.bucket, tg->object);
	else if (!answered_here(t, tg, m) && !cluster_is_primary(a->cluster))
		cluster_forward(a->cluster, t);
	else if (t->req.method == HTTP_HEAD)
		buckets_head(a, t, tg);
	else if (t->req.method == HTTP_GET)
		get(a, t, tg, m);
	else if (!tg->bck.bucket[0])
		http_reply_error(t, 400, NULL,
				 "path \"%.300s\" is too short: expected 3 items, got 2",
				 t->req.path);
	else if (t->req.method == HTTP_POST)
		post(a, t, tg, m);
	else if (t->req.method == HTTP_DELETE)
		drop(a, t, tg, m);
	else if (t->req.method == HTTP_PATCH)
		patch(a, t, tg, m);
	else
		put(a, t, tg, m);
}

static void collected(struct http_txn *t)
{
	struct api *a = t->ctx;
	struct api_target tg;
	struct api_msg m;

	if (api_msg_parse(t, &m) < 0 || api_parse_target(t, "/v1/buckets", false, &tg) < 0)
		http_reply(t);
	else
		dispatch(a, t, &tg, &m);
	api_msg_free(&m);
}

void api_buckets_gateway(struct http_txn *t)
{
	struct api *a = t->ctx;

	http_collect(t, api_json_max(a), a->call, collected);
}
