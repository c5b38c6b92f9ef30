/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cluster - this node's view of the cluster: identity, map, bucket metadata, cluster config; who
 * may speak to it (perimeter); joining, keepalive, and the primary's pushing of metadata
 *
 * Snapshots (map, BMD, config) are immutable: take a reference, use it, drop it. Functions marked
 * [blocks] call other nodes or write files: call-pool threads and the cluster's own thread only.
 */
#ifndef CLUSTER_H
#define CLUSTER_H

#include <stdbool.h>
#include <stdint.h>

#include "cluster/bmd.h"
#include "config.h"
#include "http/client.h"
#include "http/http.h"
#include "smap/smap.h"

struct cluster;

struct cluster_opts {
	size_t sz; /* sizeof(struct cluster_opts) */
	struct config *config; /* the node's file, over the defaults */
	struct metrics *metrics;
	struct pool *call;
	/* On adoption of a new BMD: targets drop buckets that are gone. @old is NULL once, after
	 * the first sync. On a thread of its own, one at a time, until cluster_stop(). */
	void (*bmd_changed)(void *ctx, const struct bmd *old, const struct bmd *now);
	/* On adoption of another cluster config. */
	void (*config_changed)(void *ctx, const struct config *now);
	/* Whether this node holds objects (of any bucket): for design 9.13. [blocks] */
	bool (*has_objects)(void *ctx);
	/* Alerts of this node's other rooms, as state flags; NULL: none. Never blocks. */
	uint64_t (*node_flags)(void *ctx);
	void *ctx;
};

/**
 * cluster_new() - Identity, secret and stored metadata; no network yet
 * @o:		options
 * @ret:	the cluster, written on success only
 * @err:	a sentence that names file and fix
 * @err_size:	room at @err
 *
 * Makes the Ed25519 pair of this process, reads the join secret, takes or makes the node ID
 * (config node_id, else state_dir/node_id), loads what state_dir/meta holds.
 *
 * Return: 0; -EINVAL no usable join secret or bad config (exit 2); or an errno.
 */
int cluster_new(const struct cluster_opts *o, struct cluster **ret, char *err, size_t err_size);
/* Start the cluster's thread: primary: form or resume; others: join, then keepalive. */
int cluster_start(struct cluster *c);
/* Stop the thread and the callbacks, after all loops have ended; members stay in the map. */
void cluster_stop(struct cluster *c);
void cluster_free(struct cluster *c);

/* ---- snapshots: each returns a reference for the caller ---- */
struct smap *cluster_smap(struct cluster *c);
struct bmd *cluster_bmd(struct cluster *c);
struct config *cluster_config(struct cluster *c);

/* ---- this node ---- */
const char *cluster_node_id(const struct cluster *c);
enum smap_role cluster_role(const struct cluster *c);
/* "p[ID]" / "t[ID]". */
const char *cluster_node_name(const struct cluster *c);
/* This node's own record, keys and nets filled in. Owned by @c. */
const struct smap_node *cluster_self(const struct cluster *c);
bool cluster_is_primary(struct cluster *c);
/* A target may serve objects: it has had its first sync. A gateway may redirect: the targets that
 * are heard hold its key. */
bool cluster_ready(struct cluster *c);
/* The primary is up, all started: what prr=true asks. Meaningful on the primary. */
bool cluster_started(struct cluster *c);
/* State flags of http-api 1.11 (healthy: 6). */
uint64_t cluster_state_flags(struct cluster *c);
int64_t cluster_uptime_ns(const struct cluster *c); /* of the node */
/* Append the document of health?cii=true. */
void cluster_print_info(struct cluster *c, struct buf *out);
/* A target that the primary has not heard for keepalive interval x factor. */
bool cluster_silent(struct cluster *c, const char *node_id);

/* ---- perimeter (admit.c): opts.admit of the HTTP server ---- */

#define CLUSTER_ADMIT_MEMBER BIT(0) /* signed by a current member: t->caller is its name */
#define CLUSTER_ADMIT_PRIMARY BIT(1) /* which is the primary */
#define CLUSTER_ADMIT_REDIRECT BIT(2) /* carries a gateway's redirect envelope, verified */
#define CLUSTER_ADMIT_JOINER BIT(3) /* proved by the join secret, not by a key of the map */

/**
 * cluster_admit() - The three questions: enforced? a gateway's envelope? an intra-cluster call?
 * @c:		the cluster (struct cluster *)
 * @t:		the transaction; t->caller and t->admitted are set
 *
 * Invalid is never absent: a bad signature, key, role or network is refused here with the
 * documented status. Unmarked requests on control and data listeners are refused but for health.
 *
 * Return: false when it has replied.
 */
bool cluster_admit(void *c, struct http_txn *t);
/* A join proof over the body, for requests that carry one; after http_collect(). */
bool cluster_check_join(struct cluster *c, const struct http_txn *t);

/* ---- redirects and calls ---- */

/**
 * cluster_owner() - The target that owns an object
 * @c:		the cluster
 * @m:		the map to use
 * @b:		bucket
 * @object:	object name
 *
 * Return: the record, owned by @m; NULL without active targets.
 */
const struct smap_node *cluster_owner(struct cluster *c, const struct smap *m,
				      const struct bmd_bucket *b, const char *object);

/**
 * cluster_redirect() - Reply 307 to another node's public URL with a signed envelope
 * @c:		the cluster
 * @t:		the transaction: path, query, method and length as the client sent them
 * @m:		the map whose version is signed
 * @to:		the node, of @m
 *
 * Location is always fully percent-encoded; Cache-Control: no-store. A silent target is answered
 * 503 with Retry-After.
 */
void cluster_redirect(struct cluster *c, struct http_txn *t, const struct smap *m,
		      const struct smap_node *to);

/**
 * cluster_call_init() - Begin a signed call to a node
 * @c:		the cluster
 * @to:		the node; the URL is made from its @net
 * @net:	control, or data for object bytes
 * @method:	HTTP method
 * @path_query:	percent-encoded path with query
 * @call:	filled in; set body and limits, then cluster_call_sign(); end: http_call_deinit()
 *
 * Return: 0 or -ENOMEM.
 */
int cluster_call_init(struct cluster *c, const struct smap_node *to, enum smap_netid net,
		      const char *method, const char *path_query, struct http_call *call);
/* Add the envelope's headers over method, path and body length. Last step before the call. */
int cluster_call_sign(struct cluster *c, struct http_call *call);

/**
 * cluster_broadcast() - The same call to many nodes, in parallel [blocks]
 * @c:		the cluster
 * @m:		the map
 * @role:	SMAP_ROLE_TARGET, SMAP_ROLE_GATEWAY (self left out), or SMAP_ROLE_NR for both
 * @tmpl:	method, path_query, body, timeout, resp_max
 * @ret:	array of calls, their user = const struct smap_node *; free with
 *		cluster_broadcast_free(); on success only
 * @ret_n:	how many
 *
 * Return: 0 or -ENOMEM. Errors of a call are in the call.
 */
struct cluster_cast {
	const char *method, *path_query;
	const void *body;
	size_t body_len, resp_max;
	int64_t timeout_ms;
};
int cluster_broadcast(struct cluster *c, const struct smap *m, enum smap_role role,
		      const struct cluster_cast *tmpl, struct http_call **ret, size_t *ret_n);
void cluster_broadcast_free(struct http_call *calls, size_t n);

/**
 * cluster_forward() - On a gateway that is not the primary: pass a request to the primary [blocks]
 * @c:		the cluster
 * @t:		the transaction, body collected; replied to in any case
 *
 * The client's method, path, query, Accept and body go; status, type, Ais-* headers and body come
 * back. 503 when the primary does not answer.
 */
void cluster_forward(struct cluster *c, struct http_txn *t);

/* ---- changes, primary only [blocks] ---- */

/**
 * cluster_change_bmd() - Change bucket metadata: persist, push, wait for who is heard
 * @c:		the cluster
 * @fn:		makes the next version from the current one; 0 or negative (then nothing changes)
 * @arg:	for @fn
 *
 * One change at a time; @fn may be called under the lock and must not block.
 *
 * Return: 0; what @fn returned; -EAGAIN not the primary or not started (503); errno of the disk.
 */
int cluster_change_bmd(struct cluster *c,
		       int (*fn)(void *arg, const struct bmd *now, struct bmd **ret), void *arg);
/* The same for the cluster config. */
int cluster_change_config(struct cluster *c,
			  int (*fn)(void *arg, const struct config *now, struct config **ret),
			  void *arg);
/**
 * cluster_change_node() - Flags or removal of a member
 * @c:		the cluster
 * @node_id:	which
 * @set:	SMAP_F_* to set
 * @clear:	SMAP_F_* to clear
 * @remove:	take it out of the map instead
 *
 * Removing, maintenance and decommission of a target, and their end, move names to other targets:
 * the caller has asked cluster_holds_objects() before.
 *
 * Return: 0; -ENOENT; -EBUSY for the primary's own removal; as cluster_change_bmd().
 */
int cluster_change_node(struct cluster *c, const char *node_id, uint64_t set, uint64_t clear,
			bool remove);

/* Primary: a target holds objects, or cannot be asked. [blocks] */
bool cluster_holds_objects(struct cluster *c);

/**
 * cluster_pull() - Fetch newer metadata from the primary now: an unknown bucket was asked for, or a
 * peer spoke of a newer version [blocks, at most 2 s; concurrent pulls share one call]
 *
 * Return: 0 when something newer was adopted or nothing newer exists; a negative errno otherwise.
 */
int cluster_pull(struct cluster *c);

/* ---- endpoints between nodes (routes.c): autoreg, keepalive, metasync, leave ---- */

/* The routes this room serves on @role's listeners; static contexts are @c. Return: how many. */
size_t cluster_routes(struct cluster *c, struct http_route *out, size_t max);
/* Handlers that daemon/api's /v1/cluster dispatcher calls for these sub-paths. */
bool cluster_handle(struct cluster *c, struct http_txn *t);

/* A new job ID: @out of 16 bytes; 9 characters of the short-id alphabet's letters and digits. */
void cluster_make_id(char out[16]);

#endif
