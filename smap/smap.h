/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * smap - cluster map: nodes, networks, keys, version; placement by highest random weight
 *
 * A map is immutable and counted: take a reference with smap_get(), drop it with smap_put(), from
 * any thread. A new version is made with a struct smap_edit and frozen. The library does no I/O.
 */
#ifndef SMAP_H
#define SMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "smap/smap_name.h"

struct json_object;

#define SMAP_HOST_MAX 255 /* RFC 1035 2.3.4 */
#define SMAP_URL_MAX 300 /* scheme, host, port */
#define SMAP_KEY_BYTES 32 /* an Ed25519 public key, RFC 8032 5.1.5 */
#define SMAP_NODES_MAX 16384 /* nodes of one map, gateways and targets together */
#define SMAP_TEXT_MAX (64u << 20) /* bytes of a map's JSON */
#define SMAP_VERSION_MAX (INT64_MAX / 2) /* taken from JSON: what is added to it cannot overflow */
#define SMAP_SEED 1103515245 /* seed of XXH64 for placement and digests */

enum smap_role {
	SMAP_ROLE_NONE,
	SMAP_ROLE_GATEWAY,
	SMAP_ROLE_TARGET,
	SMAP_ROLE_NR,
};

/* Same order and meaning as the listeners of a node. */
enum smap_netid {
	SMAP_NET_PUBLIC,
	SMAP_NET_CONTROL,
	SMAP_NET_DATA,
	SMAP_NET_NR,
};

/* Bits of struct smap_node.flags, as in the JSON. */
#define SMAP_F_NON_ELECTABLE (UINT64_C(1) << 0)
#define SMAP_F_IC (UINT64_C(1) << 1)
#define SMAP_F_MAINTENANCE (UINT64_C(1) << 2)
#define SMAP_F_DECOMMISSION (UINT64_C(1) << 3)
#define SMAP_F_POST_REBALANCE (UINT64_C(1) << 4)
#define SMAP_F_INACTIVE (SMAP_F_MAINTENANCE | SMAP_F_DECOMMISSION)

struct smap_net {
	char host[SMAP_HOST_MAX + 1];
	uint16_t port; /* 0: this net is absent */
	char url[SMAP_URL_MAX + 1]; /* direct_url, e.g. "http://127.0.0.1:8080" */
};

struct smap_node {
	char id[SMAP_ID_MAX + 1];
	enum smap_role role;
	struct smap_net net[SMAP_NET_NR];
	uint64_t flags; /* SMAP_F_* */
	uint64_t digest; /* XXH64(id, SMAP_SEED), always recomputed */
	bool has_key;
	uint8_t key[SMAP_KEY_BYTES]; /* verifying key, if has_key */
};

struct smap; /* an immutable map */
struct smap_edit; /* a map in the making */

/**
 * smap_parse() - Read a map from its JSON
 * @text:	the JSON, need not be NUL-terminated
 * @len:	its length in bytes
 * @ret:	the map with one reference for the caller, written on success only
 * @err:	a sentence that names what is wrong, on -EINVAL and -E2BIG; may be NULL
 * @err_size:	room at @err
 *
 * Unknown keys are ignored; id_digest is recomputed; proxy_si must be a member of pmap (null and
 * absent: no primary); an absent data net is the control net. A key that an object has twice is
 * refused here (smap_from_json() cannot see it). Any thread.
 *
 * Return: 0; -EINVAL malformed, wrong type, bad ID, URL or key, a duplicate; -E2BIG over a limit
 * of this header; -ENOMEM.
 */
int smap_parse(const char *text, size_t len, struct smap **ret, char *err, size_t err_size);

/**
 * smap_from_json() - As smap_parse(), from a parsed object, which stays the caller's
 * @o:		the object
 * @ret:	the map
 * @err:	sentence on -EINVAL and -E2BIG, may be NULL
 * @err_size:	room at @err
 *
 * Return: as smap_parse().
 */
int smap_from_json(struct json_object *o, struct smap **ret, char *err, size_t err_size);

/**
 * smap_print() - Append the map as JSON, keys in the protocol's order
 * @m:		the map
 * @out:	appended to; check @out->err
 */
void smap_print(const struct smap *m, struct buf *out);

/**
 * smap_node_parse() - Read one node record
 * @o:		its JSON object
 * @ret:	the record, written on success only
 * @err:	sentence on -EINVAL and -E2BIG, may be NULL
 * @err_size:	room at @err
 *
 * Return: as smap_parse().
 */
int smap_node_parse(struct json_object *o, struct smap_node *ret, char *err, size_t err_size);

/**
 * smap_node_print() - Append one node record as JSON
 * @n:		the record
 * @out:	appended to; check @out->err
 */
void smap_node_print(const struct smap_node *n, struct buf *out);

/**
 * smap_node_init() - Fill in ID, role and digest of a new record; no nets, flags or key
 * @n:		the record
 * @id:		node ID
 * @role:	gateway or target
 *
 * Return: 0; -EINVAL for a bad ID or role.
 */
int smap_node_init(struct smap_node *n, const char *id, enum smap_role role);

/**
 * smap_node_set_net() - Set one net of a record, URL included
 * @n:		the record
 * @net:	which
 * @scheme:	"http" or "https"
 * @host:	name or address; IPv6 without brackets
 * @port:	TCP port, not 0
 *
 * Return: 0; -EINVAL for a bad host, scheme or port.
 */
int smap_node_set_net(struct smap_node *n, enum smap_netid net, const char *scheme,
		      const char *host, uint16_t port);

/* Hosts and ports of all three nets are equal (scheme and key do not count; no data: control). */
bool smap_node_same_net(const struct smap_node *a, const struct smap_node *b);

/* Same presence and same bytes of the verifying keys. */
bool smap_node_same_key(const struct smap_node *a, const struct smap_node *b);

/* "p[ID]" or "t[ID]" into @out of @size bytes (SMAP_ID_MAX + 4 suffice); returns @out. */
const char *smap_node_name(const struct smap_node *n, char *out, size_t size);

/* One more reference; returns @m. NULL is fine. Any thread. */
struct smap *smap_get(struct smap *m);
/* Drop a reference; the last one frees. NULL is fine. Any thread. */
void smap_put(struct smap *m);

/* The version: newer wins; never a count of changes. */
int64_t smap_version(const struct smap *m);
/* The cluster's UUID, "" before it has one. Owned by the map. */
const char *smap_uuid(const struct smap *m);
/* When the cluster was made, "" if unknown. Owned by the map. */
const char *smap_creation_time(const struct smap *m);
/* The primary's record, or NULL when there is none. Owned by the map. */
const struct smap_node *smap_primary(const struct smap *m);
/* A node by ID, or NULL. Owned by the map. */
const struct smap_node *smap_find(const struct smap *m, const char *id);
/* Number of nodes of @role, the inactive ones included. */
size_t smap_count(const struct smap *m, enum smap_role role);
/* Node @i of @role in byte order of IDs, i < smap_count(). Owned by the map. */
const struct smap_node *smap_at(const struct smap *m, enum smap_role role, size_t i);
/* Targets that take part in placement (not in maintenance or decommission). */
size_t smap_active_targets(const struct smap *m);

/**
 * smap_edit_new() - Begin a new map
 * @from:	the map to start from, or NULL for an empty one of version 0
 * @ret:	the edit, written on success only; smap_edit_freeze() or smap_edit_free() ends it
 *
 * Return: 0 or -ENOMEM.
 */
int smap_edit_new(const struct smap *from, struct smap_edit **ret);

/**
 * smap_edit_put_node() - Add a record, or replace the one of the same ID
 * @e:		the edit
 * @n:		the record, copied
 *
 * An absent data net becomes the control net. Public must differ from the node's own two others.
 *
 * Return: 0; -EINVAL for an incomplete record (no role, no public net) or one whose public net is
 * an intra net as well; -EEXIST when another node has the same host and port on any net; -E2BIG
 * over SMAP_NODES_MAX; -ENOMEM.
 */
int smap_edit_put_node(struct smap_edit *e, const struct smap_node *n);

/* Remove a node. Return: 0 or -ENOENT. A removed primary leaves none. */
int smap_edit_del_node(struct smap_edit *e, const char *id);

/* Make gateway @id the primary. Return: 0; -ENOENT no such gateway. */
int smap_edit_set_primary(struct smap_edit *e, const char *id);

/* Cluster UUID and creation time ("2026-01-01 00:00:00"). Return: 0; -EINVAL bad or too long. */
int smap_edit_set_identity(struct smap_edit *e, const char *uuid, const char *creation_time);

/* The version to be, whatever it was. */
void smap_edit_set_version(struct smap_edit *e, int64_t version);

/**
 * smap_edit_freeze() - End an edit
 * @e:		the edit, freed in any case
 * @ret:	the map with one reference, written on success only
 *
 * Unless smap_edit_set_version() was called the version is that of the source plus one.
 *
 * Return: 0 or -ENOMEM.
 */
int smap_edit_freeze(struct smap_edit *e, struct smap **ret);
/* Drop an edit without a map. NULL is fine. */
void smap_edit_free(struct smap_edit *e);

/* ---- placement ---- */

/* XXH64 of @len bytes with SMAP_SEED. */
uint64_t smap_digest(const void *p, size_t len);
/* The scrambler of weights: xhash(s). */
uint64_t smap_xhash(uint64_t s);
/**
 * smap_owner() - The target that owns a name
 * @m:		the map
 * @digest:	smap_digest() of the uname
 *
 * Ties go to the smaller ID. Return: the record, owned by the map; NULL without active targets.
 */
const struct smap_node *smap_owner(const struct smap *m, uint64_t digest);
/**
 * smap_owner_path() - The mountpath that owns a name
 * @digests:	smap_digest() of each clean path
 * @n:		how many, not 0
 * @digest:	smap_digest() of the uname
 *
 * Return: index of the owner; the lower one at a tie.
 */
size_t smap_owner_path(const uint64_t *digests, size_t n, uint64_t digest);

#endif
