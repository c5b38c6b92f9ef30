/* SPDX-License-Identifier: BSD-2-Clause */
/* /v1/objects on a gateway: authorize, place, redirect. */
#include "api/api.h"
#include "base/cleanup.h"
#include "loop/pool.h"

static enum bmd_access needed(const struct http_txn *t)
{
	switch (t->req.method) {
	case HTTP_HEAD:
		return BMD_ACE_OBJ_HEAD;
	case HTTP_PUT:
		if (http_param(t, "object_to"))
			return BMD_ACE_GET; /* the source; the target checks the destination */
		return http_param(t, "append_type") ? BMD_ACE_APPEND : BMD_ACE_PUT;
	case HTTP_DELETE:
		return BMD_ACE_OBJ_DELETE;
	case HTTP_PATCH:
		return BMD_ACE_OBJ_UPDATE;
	case HTTP_POST:
		return BMD_ACE_NR; /* depends on the action: the target reads it */
	default:
		return BMD_ACE_GET;
	}
}

static void count(struct api *a, const struct http_txn *t)
{
	metrics_add(a->metrics, METRIC_REDIRECT_N, 1);
	if (t->req.method == HTTP_GET)
		metrics_add(a->metrics, METRIC_GET_N, 1);
	else if (t->req.method == HTTP_PUT)
		metrics_add(a->metrics, METRIC_PUT_N, 1);
	else if (t->req.method == HTTP_HEAD)
		metrics_add(a->metrics, METRIC_HEAD_N, 1);
	else if (t->req.method == HTTP_DELETE)
		metrics_add(a->metrics, METRIC_DEL_N, 1);
}

/* An append goes on where it began: the handle's first element is the target's ID. */
static const struct smap_node *append_node(struct http_txn *t, const struct smap *m)
{
	const char *handle = http_param(t, "append_handle");
	const struct smap_node *n = NULL;
	char id[SMAP_ID_MAX + 1];
	size_t len = strcspn(handle, "|");

	if (handle[len] && len < sizeof(id)) {
		memcpy(id, handle, len);
		id[len] = 0;
		n = smap_find(m, id);
	}
	if (!n || n->role != SMAP_ROLE_TARGET) {
		http_error(t, 400, NULL, "invalid append handle \"%.200s\"", handle);
		return NULL;
	}
	return n;
}

static const struct smap_node *pick(struct api *a, struct http_txn *t, const struct smap *m,
				    const struct bmd_bucket *b, const struct api_target *tg)
{
	const struct smap_node *n;

	if (t->req.method == HTTP_PUT && http_param(t, "append_type") &&
	    http_param(t, "append_handle"))
		return append_node(t, m);
	n = cluster_owner(a->cluster, m, b, tg->object);
	if (!n) {
		http_error(t, 503, NULL, "no active targets in the cluster map");
		http_header(t, "Retry-After", "1");
	}
	return n;
}

static void place(struct api *a, struct http_txn *t, const struct bmd_bucket *b,
		  const struct api_target *tg)
{
	struct smap *m = cluster_smap(a->cluster);
	const struct smap_node *n = pick(a, t, m, b, tg);

	if (n) {
		count(a, t);
		cluster_redirect(a->cluster, t, m, n);
	} else {
		http_reply(t);
	}
	smap_put(m);
}

/* Bucket missing in our metadata: after a pull, on the call pool. */
static void place_pulled(struct http_txn *t)
{
	struct api *a = t->ctx;
	struct api_target tg;
	struct bmd_bucket b;

	if (api_parse_target(t, "/v1/objects", true, &tg) < 0 ||
	    api_bucket_pull(a, t, &tg.bck, needed(t), &b) < 0)
		http_reply(t);
	else
		place(a, t, &b, &tg);
}

static bool known(struct api *a, const struct bmd_name *n)
{
	struct bmd *bmd = cluster_bmd(a->cluster);
	bool found = bmd && bmd_find(bmd, n);

	bmd_put(bmd);
	return found;
}

/* POST /v1/objects/B: promote and blob-download, which this build does not have. */
static void post_bucket(struct http_txn *t)
{
	struct api_msg msg;

	if (api_msg_parse(t, &msg) < 0)
		http_reply(t);
	else if (msg.action &&
		 (!strcmp(msg.action, "promote") || !strcmp(msg.action, "blob-download")))
		api_not_built(t, msg.action);
	else
		http_reply_error(t, 400, NULL, "invalid action \"%s\"",
				 msg.action ? msg.action : "");
	api_msg_free(&msg);
}

void api_objects_gateway(struct http_txn *t)
{
	struct api *a = t->ctx;
	struct api_target tg;
	struct bmd_bucket b;

	if (api_parse_target(t, "/v1/objects", t->req.method != HTTP_POST, &tg) < 0) {
		http_reply(t);
		return;
	}
	if (!cluster_ready(a->cluster)) {
		http_header(t, "Retry-After", "1");
		http_reply_status(t, 503);
		return;
	}
	if (!tg.object_len)
		http_collect(t, api_json_max(a), NULL, post_bucket);
	else if (!known(a, &tg.bck) && !cluster_is_primary(a->cluster))
		http_run(t, a->call, place_pulled);
	else if (api_bucket(a, t, &tg.bck, needed(t), &b) < 0)
		http_reply(t);
	else
		place(a, t, &b, &tg);
}
