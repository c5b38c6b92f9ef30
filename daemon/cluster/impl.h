/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of this room share. */
#ifndef CLUSTER_IMPL_H
#define CLUSTER_IMPL_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/cleanup.h"
#include "cluster/cluster.h"
#include "cluster/doc.h"
#include "cluster/identity.h"
#include "cluster/meta.h"
#include "cluster/sign.h"
#include "loop/pool.h"
#include "metrics.h"

#define CLUSTER_VERSION_TEXT "5.0.1" /* the protocol's release: Ais-Node-Version */
#define CLUSTER_NAME_SIZE (SMAP_ID_MAX + 4) /* "p[ID]" */
#define CLUSTER_NS_MS INT64_C(1000000)

/* A member, or a former one: never freed before the cluster, so that its name can be lent out. */
struct peer {
	char id[SMAP_ID_MAX + 1];
	char name[CLUSTER_NAME_SIZE];
	int64_t heard_ns; /* mono_ns() of the last contact, 0: none in this process's life */
	bool refused; /* its port refused a connection since then */
	bool silent; /* as told to others */
	bool removed; /* taken out of the map while it had this key */
	uint8_t removed_key[SMAP_KEY_BYTES];
};

struct cluster {
	struct cluster_opts o;
	enum smap_role role;
	bool primary;
	struct identity id;
	struct smap_node self;
	char name[CLUSTER_NAME_SIZE];
	char primary_url[SMAP_URL_MAX + 1]; /* its control URL */
	struct meta *meta;
	struct pool *disk; /* adoption and questions to the store: waits for no other node */
	struct pool *events; /* callbacks of opts, in order */
	int64_t start_ns;
	_Atomic uint64_t nonce;

	pthread_rwlock_t snap_lock; /* the five below */
	struct smap *smap;
	struct bmd *bmd;
	struct config *config;
	char (*silent)[SMAP_ID_MAX + 1]; /* as the primary told, in byte order */
	size_t n_silent;

	pthread_mutex_t change_lock; /* held while a version is made or adopted, and persisted */
	atomic_bool doubt; /* older metadata was loaded: members may know better than we do */
	bool bmd_told; /* bmd_changed has run once */

	pthread_mutex_t peer_lock; /* the peers */
	struct peer **peers; /* in byte order of IDs */
	size_t n_peers, cap_peers;

	_Atomic bool request_auth; /* of the config: asked by every request */
	_Atomic bool any_silent;
	_Atomic bool joined; /* keepalives go on; else join */
	_Atomic bool member; /* was in the map with the key of this process */
	_Atomic bool ready, started;
	_Atomic bool removed; /* taken out of the map by the primary */
	_Atomic bool pull_asked; /* an asynchronous pull waits or runs */
	_Atomic int64_t pulled_ns; /* when a pull last ended */

	pthread_mutex_t lock; /* the rest */
	pthread_cond_t cond;
	pthread_t thread;
	bool running, stopping, kicked;
	bool pulling;
	uint64_t pull_gen;
	int pull_result;
	int64_t complained_ns; /* when the last failed join was logged */
};

/* ---- snapshot.c ---- */

/* Load what the store has, or set up the empty versions. Return: 0 or an errno with a sentence. */
int snap_load(struct cluster *c, char *err, size_t err_size);
/* Drop all. */
void snap_deinit(struct cluster *c);
/* Versions held now. */
void snap_versions(struct cluster *c, struct doc_versions *ret);
/* UUID of the cluster, "" if none yet, into @out of SMAP_UUID_MAX + 1. */
void snap_uuid(struct cluster *c, char *out);
/* Take references to what is newer than @have (all if NULL) into @ret. */
void snap_newer(struct cluster *c, const struct doc_versions *have, struct doc *ret);
/* Persist, then publish the members of @d that are set; takes references. change_lock is held. */
int snap_commit(struct cluster *c, const struct doc *d);
/* Tell the daemon of the current BMD, once, after the first sync. change_lock is held. */
void snap_tell_first(struct cluster *c);
/**
 * snap_adopt() - Take over what is newer in a document of the primary
 * @c:		the cluster
 * @d:		the document, trusted by the caller
 *
 * Return: 0; -EXDEV another cluster; an errno of the disk.
 */
int snap_adopt(struct cluster *c, const struct doc *d);

/* ---- peers.c ---- */

/* A signed contact with a member; returns its name, which lives as long as @c. */
const char *peers_heard(struct cluster *c, const struct smap_node *n);
/* Its port refused: silent until the next contact. */
void peers_refused(struct cluster *c, const struct smap_node *n);
/* Taken out of the map: does not come back with the key it has. */
void peers_removed(struct cluster *c, const struct smap_node *n);
/* Whether it was, with this key. */
bool peers_was_removed(struct cluster *c, const struct smap_node *n);
/* Contact within keepalive interval x factor. */
bool peers_is_heard(struct cluster *c, const struct smap_node *n);
/* Primary: who of @m is silent now; logs changes. Return: whether all nodes have been heard. */
bool peers_sweep(struct cluster *c, const struct smap *m);
/* Primary: the silent members of @m into @d. Return: 0 or -ENOMEM. */
int peers_silent(struct cluster *c, const struct smap *m, struct doc *d);
/* Free all. */
void peers_deinit(struct cluster *c);
/* Keepalive interval of a role in the current config. */
int64_t peers_interval_ns(struct cluster *c, enum smap_role role);

/* ---- push.c ---- */

struct push_opts {
	bool proof; /* by the join secret: receivers do not know our key yet */
	bool all; /* not only who is heard */
	bool survey; /* only ask which versions they hold */
	const struct smap_node *extra; /* one more receiver, by proof; may be NULL */
};

/* Send the newest metadata to the members and wait for their answers. Return: whether a member
 * holds something newer; then @ret_ahead, unless NULL, is it [blocks] */
bool push_newest(struct cluster *c, const struct push_opts *o, struct smap_node *ret_ahead);
/* Ask a member for all it holds, by proof. Return: 0 or a negative errno, logged [blocks] */
int push_fetch(struct cluster *c, const struct smap_node *from, struct doc *ret);
/* PUT and GET /v1/metasync. */
void push_handle(struct http_txn *t);

/* ---- primary.c ---- */

/* Form the cluster or resume it. Return: 0 or an errno of the disk: try again [blocks] */
int primary_begin(struct cluster *c);
/* Take over what a member holds and our disk has lost: a damaged file, an old copy restored.
 * Return: 0 or a negative errno [blocks] */
int primary_recover(struct cluster *c, const struct smap_node *from);
/* Once an interval: who is silent, whether the cluster has started. */
void primary_tick(struct cluster *c);
/* Change the map: as cluster_change_bmd(), for joins before the start too; @fn may leave *ret
 * NULL: nothing to change. @extra also gets the push. [blocks] */
int primary_change_smap(struct cluster *c,
			int (*fn)(void *arg, const struct smap *now, struct smap **ret), void *arg,
			const struct smap_node *extra);

/* ---- join.c, keepalive.c ---- */

/* Ask the primary to take this node in. Return: 0 or a negative errno, logged [blocks] */
int join_once(struct cluster *c);
/* The primary's side: POST /v1/cluster/autoreg. */
void join_handle(struct http_txn *t);
/* One keepalive; adopts what comes back. Return: 0 or a negative errno [blocks] */
int keepalive_once(struct cluster *c, int64_t timeout_ms);
/* The primary's side: POST /v1/cluster/keepalive/<id>; t->user is the cluster. */
void keepalive_handle(struct http_txn *t);
/* Begin a pull on the call pool unless one is under way. Any thread, does not block. */
void keepalive_pull_soon(struct cluster *c);
/* Wake the cluster's thread. */
void cluster_kick(struct cluster *c);

/* ---- call.c ---- */

/* Append the path of a URL as its receiver sees it: decoded, no query. 0, -EINVAL, -ENOMEM. */
int call_path(const char *url, struct buf *out);

/* ---- proof.c ---- */

/* Add Ais-Join-Time and -Sig to a call whose body is set. */
int proof_add(struct cluster *c, struct http_call *call, const char *uuid);
/* The request's proof over t->body with @uuid. */
bool proof_check(struct cluster *c, const struct http_txn *t, const char *uuid);
/* Reply 200 with @body (moved) and the proof of an answer. */
void proof_reply(struct cluster *c, struct http_txn *t, struct buf *body);
/* Check the proof of an answer with @uuid. */
bool proof_check_answer(struct cluster *c, const struct http_call *call, const char *uuid);
/* Parse a proven answer into @ret. Return: 0; -EBADMSG no proof; as doc_parse(). Logs. */
int proof_take_doc(struct cluster *c, const struct http_call *call, struct doc *ret);

#endif
