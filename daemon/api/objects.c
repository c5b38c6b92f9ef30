/* SPDX-License-Identifier: BSD-2-Clause */
/* /v1/objects on a target: which handler, and whether this target is to answer at all. */
#include <stdlib.h>

#include "api/objects.h"
#include "base/cleanup.h"
#include "loop/pool.h"

struct obj *obj_of(struct http_txn *t)
{
	return t->user;
}

static void obj_free(void *arg)
{
	struct obj *o = arg;

	buf_free(&o->custom);
	free(o->to_text);
	free(o);
}

int obj_bucket(struct obj *o, enum bmd_access need)
{
	int r = api_bucket(o->a, o->t, &o->tg.bck, need, &o->b);

	if (!r)
		api_store_bck(&o->b, &o->sb);
	return r;
}

void obj_store_error(struct obj *o, int err)
{
	api_store_error(o->a, o->t, err, &o->tg.bck, o->tg.object);
}

bool obj_header_safe(const char *s, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		if ((unsigned char)s[i] < 0x20 || s[i] == 0x7f)
			return false;
	}
	return true;
}

/*
 * A request that no gateway placed here, for an object that another target owns, is sent there:
 * a client that reads directly may have an old map, or know a renamed bucket by its new name.
 */
static bool send_to_owner(struct obj *o)
{
	autobuf struct buf url = BUF_INIT;
	struct http_txn *t = o->t;
	struct smap *m = cluster_smap(o->a->cluster);
	const struct smap_node *owner = NULL;
	bool other;

	if (m)
		owner = cluster_owner(o->a->cluster, m, &o->b, o->tg.object);
	other = owner && strcmp(owner->id, cluster_node_id(o->a->cluster));
	if (other) {
		buf_str(&url, owner->net[SMAP_NET_PUBLIC].url);
		http_uri_encode_path(&url, t->req.path, t->req.path_len);
		if (t->req.query[0])
			buf_fmt(&url, "?%s", t->req.query);
	}
	smap_put(m);
	if (!other)
		return false;
	t->resp.status = 307;
	http_header(t, "Location", "%s", buf_cstr(&url));
	http_header(t, "Cache-Control", "no-store");
	http_reply(t);
	return true;
}

static void read_here(struct http_txn *t)
{
	struct obj *o = obj_of(t);
	bool head = t->req.method == HTTP_HEAD;

	if (obj_bucket(o, head ? BMD_ACE_OBJ_HEAD : BMD_ACE_GET) < 0) {
		http_reply(t);
		return;
	}
	if (!(t->admitted & (CLUSTER_ADMIT_MEMBER | CLUSTER_ADMIT_REDIRECT)) && send_to_owner(o))
		return;
	if (head)
		obj_head(t);
	else
		obj_get(t);
}

/* Features of GET and PUT that this build does not have; true when answered. */
static bool not_built(struct http_txn *t)
{
	static const struct {
		const char *param, *what;
	} no[] = {
		{"archpath", "reading and writing archived files (archpath)"},
		{"archregx", "reading archived files (archregx)"},
		{"etl_name", "ETL"},
		{"etl_pipeline", "ETL"},
		{"uploadId", "multipart upload"},
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(no); i++) {
		if (http_param(t, no[i].param)) {
			api_not_built(t, no[i].what);
			return true;
		}
	}
	return false;
}

static void begin_read(struct http_txn *t)
{
	const char *blob = http_header_get(t, "ais-blob-download");

	if (t->req.method == HTTP_GET) {
		if (not_built(t))
			return;
		if (http_param_raw(t, "archmode")) {
			http_reply_error(t, 400, NULL,
					 "unrecognized or unsupported file format: \"%s\"",
					 obj_of(t)->tg.object);
			return;
		}
		if (blob && config_query_true(blob)) {
			http_reply_error(t, 400, "ErrNotRemoteBck",
					 "blob download needs a remote bucket");
			return;
		}
	}
	api_known(obj_of(t)->a, t, &obj_of(t)->tg.bck, read_here);
}

static void begin_put(struct http_txn *t)
{
	struct obj *o = obj_of(t);

	if (not_built(t))
		return;
	if (http_param(t, "object_to"))
		http_run(t, o->a->call, obj_copy);
	else if (http_param(t, "append_type"))
		obj_append(t);
	else
		obj_put(t);
}

static void dispatch(struct http_txn *t)
{
	struct api *a = t->ctx;
	size_t max = api_json_max(a);

	switch (t->req.method) {
	case HTTP_GET:
	case HTTP_HEAD:
		begin_read(t);
		break;
	case HTTP_PUT:
		begin_put(t);
		break;
	case HTTP_DELETE:
		http_collect(t, max, a->io, obj_delete);
		break;
	case HTTP_PATCH:
		http_collect(t, max, a->io, obj_patch);
		break;
	default:
		http_collect(t, max, a->call, obj_post);
	}
}

void api_objects_target(struct http_txn *t)
{
	struct api *a = t->ctx;
	struct obj *o;

	if (!cluster_ready(a->cluster)) {
		http_header(t, "Retry-After", "1");
		http_reply_status(t, 503);
		return;
	}
	o = calloc(1, sizeof(*o));
	if (!o) {
		http_reply_error(t, 500, NULL, "out of memory");
		return;
	}
	o->a = a;
	o->t = t;
	t->user = o;
	t->user_free = obj_free;
	if (api_parse_target(t, "/v1/objects", t->req.method != HTTP_POST, &o->tg) < 0)
		http_reply(t);
	else
		dispatch(t);
}
