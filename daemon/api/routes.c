/* SPDX-License-Identifier: BSD-2-Clause */
/* Which path is served on which listener, and what the others answer. */
#include "api/impl.h"

#define PUBLIC BIT(SMAP_NET_PUBLIC)
#define CONTROL BIT(SMAP_NET_CONTROL)
#define DATA BIT(SMAP_NET_DATA)

#define M_READ (BIT(HTTP_GET) | BIT(HTTP_HEAD))
#define M_ALL                                                                                      \
	(M_READ | BIT(HTTP_PUT) | BIT(HTTP_POST) | BIT(HTTP_DELETE) | BIT(HTTP_PATCH) |            \
	 BIT(HTTP_OPTIONS))
#define M_BODY (M_READ | BIT(HTTP_PUT) | BIT(HTTP_POST) | BIT(HTTP_DELETE) | BIT(HTTP_PATCH))

/* Areas of the API that are not built: lists of them are empty, all else is 501. */
static void unbuilt(struct http_txn *t)
{
	api_not_built(t, t->req.path);
}

static void empty_list(struct http_txn *t)
{
	autobuf struct buf out = BUF_INIT;

	if (t->req.method != HTTP_GET) {
		unbuilt(t);
		return;
	}
	buf_str(&out, "[]");
	api_reply_json(t, &out);
}

static void downloads_collected(struct http_txn *t)
{
	autojson struct json_object *o = NULL;
	const char *id;

	if (!t->body.len || json_parse(t->body.data, t->body.len, &o) < 0) {
		http_reply_error(t, 400, NULL, "failed to unmarshal: EOF: expected a JSON body");
		return;
	}
	id = json_member_str(o, "id");
	if (id && *id)
		http_reply_error(t, 404, NULL, "download job \"%.40s\" does not exist", id);
	else
		http_reply_text(t, 200, "[]");
}

static void downloads(struct http_txn *t)
{
	if (t->req.method == HTTP_GET)
		http_collect(t, api_json_max(t->ctx), NULL, downloads_collected);
	else
		unbuilt(t);
}

static const struct http_route gateway_routes[] = {
	{"/v1/objects", PUBLIC, M_BODY, api_objects_gateway, NULL},
	{"/v1/buckets", PUBLIC | CONTROL, M_BODY, api_buckets_gateway, NULL},
	{"/v1/cluster", PUBLIC | CONTROL, M_BODY, api_cluster, NULL},
	{"/v1/daemon", PUBLIC | CONTROL, M_BODY, api_daemon, NULL},
	{"/v1/reverse", PUBLIC | CONTROL, M_BODY, api_reverse, NULL},
	{"/v1/health", PUBLIC | CONTROL, M_ALL, api_health, NULL},
	{"/v1/ml", PUBLIC, M_BODY, unbuilt, NULL},
	{"/v1/download", PUBLIC, M_BODY, downloads, NULL},
	{"/v1/sort", PUBLIC, M_BODY, empty_list, NULL},
	{"/v1/etl", PUBLIC, M_BODY, empty_list, NULL},
	{"/v1/tokens", PUBLIC, M_BODY, unbuilt, NULL},
	{"/s3", PUBLIC, M_BODY, unbuilt, NULL},
	{"/ais", PUBLIC, M_BODY, unbuilt, NULL},
	{"/gs", PUBLIC, M_BODY, unbuilt, NULL},
	{"/az", PUBLIC, M_BODY, unbuilt, NULL},
	{"/metrics", PUBLIC | CONTROL, M_READ, api_metrics, NULL},
};

static const struct http_route target_routes[] = {
	{"/v1/objects", PUBLIC | CONTROL | DATA, M_BODY, api_objects_target, NULL},
	{"/v1/buckets", PUBLIC | CONTROL, M_BODY, api_buckets_target, NULL},
	{"/v1/daemon", PUBLIC | CONTROL, M_BODY, api_daemon, NULL},
	{"/v1/health", PUBLIC | CONTROL, M_ALL, api_health, NULL},
	{"/v1/xactions", CONTROL, BIT(HTTP_GET) | BIT(HTTP_DELETE), xactions_handle, NULL},
	{"/v1/ml", PUBLIC | CONTROL, M_BODY, unbuilt, NULL},
	{"/s3", PUBLIC | DATA, M_BODY, unbuilt, NULL},
	{"/metrics", PUBLIC | CONTROL, M_READ, api_metrics, NULL},
};

size_t api_routes(struct api *a, struct http_route *out, size_t max)
{
	bool gateway = api_is_gateway(a);
	const struct http_route *r = gateway ? gateway_routes : target_routes;
	size_t i, n = gateway ? ARRAY_SIZE(gateway_routes) : ARRAY_SIZE(target_routes);

	n = MIN(n, max);
	for (i = 0; i < n; i++) {
		out[i] = r[i];
		out[i].ctx = a;
	}
	return n + cluster_routes(a->cluster, out + n, max - n);
}

void api_fallback(struct http_txn *t)
{
	if (t->req.net == SMAP_NET_PUBLIC)
		http_reply_error(t, 400, NULL, "invalid request URI \"%.300s\"", t->req.path);
	else
		http_reply_text(t, 404, "404 page not found\n");
}
