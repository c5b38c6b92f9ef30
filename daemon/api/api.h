/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * api - handlers of /v1, a file a noun; what they share
 *
 * A gateway answers for buckets and the cluster and redirects for objects; a target stores. Each
 * route's context is the struct api.
 */
#ifndef API_H
#define API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cluster/cluster.h"
#include "http/http.h"
#include "jobs/jobs.h"
#include "metrics.h"
#include "store/store.h"

struct pool;
struct api_disks; /* rates of disks: disks.c */
struct api_summaries; /* gathered bucket summaries of a gateway, by job ID: summary.c */

struct api {
	struct cluster *cluster;
	struct store *store; /* targets only, else NULL */
	struct jobs *jobs;
	struct metrics *metrics;
	struct pool *io, *call;
	struct api_summaries *summaries;
	struct api_disks *disks; /* targets only */
};

#define API_ROUTES_MAX 48

/* Routes of this node's role; also those of cluster_routes(). Return: how many. */
size_t api_routes(struct api *a, struct http_route *out, size_t max);
/* No route: the documented texts of wrong areas. */
void api_fallback(struct http_txn *t);
/* State that handlers keep between requests. Return: 0 or -ENOMEM. */
int api_init(struct api *a);
void api_deinit(struct api *a);

/* ---- shared by handlers (common.c) ---- */

/* /v1/AREA/BUCKET/OBJECT of a request; texts point into the request. */
struct api_target {
	struct bmd_name bck;
	const char *object; /* "" if none */
	size_t object_len;
};

/**
 * api_parse_target() - Bucket and object from path and query (provider, namespace)
 * @t:		the transaction
 * @area:	"/v1/objects" or "/v1/buckets"
 * @need_object: the path must name one
 * @ret:	written on success only
 *
 * Return: 0; -EINVAL after it has filled in the documented error (http_error()).
 */
int api_parse_target(struct http_txn *t, const char *area, bool need_object,
		     struct api_target *ret);

/**
 * api_bucket() - The bucket's metadata, and whether this may be done to it
 * @a:		the api
 * @t:		the transaction
 * @n:		name
 * @need:	permission checked against the bucket's access mask, BMD_ACE_NR for none
 * @ret:	a copy, on success only
 *
 * Return: 0; -ENOENT, -EACCES after http_error() (404 `bucket "ais://x" does not exist`, 403).
 */
int api_bucket(struct api *a, struct http_txn *t, const struct bmd_name *n, enum bmd_access need,
	       struct bmd_bucket *ret);
/* The same, but an unknown bucket is first pulled from the primary. [blocks: call pool] */
int api_bucket_pull(struct api *a, struct http_txn *t, const struct bmd_name *n,
		    enum bmd_access need, struct bmd_bucket *ret);

/* The store's view of a bucket; @out->uname points into @b. */
void api_store_bck(const struct bmd_bucket *b, struct store_bck *out);

/* "ais://abc/dir/o" into @out. */
void api_object_text(const struct bmd_name *n, const char *object, struct buf *out);

/* The control body {"action","name","value"}; value is borrowed from root. */
struct api_msg {
	struct json_object *root, *value;
	const char *action, *name;
};
/* Parse t->body; empty is all NULL. Return: 0; -EINVAL after http_error(). Free by api_msg_free. */
int api_msg_parse(struct http_txn *t, struct api_msg *ret);
void api_msg_free(struct api_msg *m);
/* A JSON string without NUL: as C text it is whole. */
bool api_json_text(struct json_object *v);

/* Answer a store or system error: 404, 507, 500 ... with the object named. */
void api_store_error(struct api *a, struct http_txn *t, int err, const struct bmd_name *n,
		     const char *object);
/* 501 that names what is not built. */
void api_not_built(struct http_txn *t, const char *what);

/* Most bytes of a JSON request body (http.max_json_body), for http_collect(). */
size_t api_json_max(struct api *a);
/* Whether this node is a gateway. */
bool api_is_gateway(const struct api *a);

/**
 * api_known() - Continue on the io pool with a bucket that has been looked for everywhere
 * @a:		the api
 * @t:		the transaction; body, if any, already collected
 * @n:		the bucket; when it is not in our metadata, the primary is asked first (call pool)
 * @fn:		the continuation: calls api_bucket(), which may still refuse
 *
 * Any thread. Ends the handler or the continuation that calls it.
 */
void api_known(struct api *a, struct http_txn *t, const struct bmd_name *n,
	       void (*fn)(struct http_txn *t));

/* A Bck object {"name","provider","namespace":{"uuid","name"}}. Return: 0; -EINVAL. */
int api_bck_parse(struct json_object *o, struct bmd_name *ret);
/* The same, appended. An empty name gives an object of empty fields. */
void api_bck_print(const struct bmd_name *n, struct buf *out);
/* "/v1/AREA/BUCKET" of a bucket, percent-encoded, and "?provider=ais[&namespace=...]" behind. */
void api_bck_path(const char *area, const struct bmd_name *n, struct buf *out);
/* 200 with JSON; @b moved. 500 when @b ran out of memory. */
void api_reply_json(struct http_txn *t, struct buf *b);

/* ---- handlers ---- */
void api_objects_gateway(struct http_txn *t); /* objects_gateway.c: redirects */
void api_objects_target(struct http_txn *t); /* objects.c: get, head, put, delete, patch, post */
void api_buckets_gateway(struct http_txn *t); /* buckets.c */
void api_buckets_target(struct http_txn *t); /* buckets_target.c: parts of gateways' calls */
void api_cluster(struct http_txn *t); /* cluster.c: /v1/cluster on gateways */
void api_daemon(struct http_txn *t); /* daemon.c */
void api_reverse(struct http_txn *t); /* reverse.c */
void api_health(struct http_txn *t); /* health.c */
void api_metrics(struct http_txn *t); /* health.c: /metrics */

#endif
