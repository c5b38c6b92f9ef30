/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bmd - bucket metadata: which buckets exist and their properties
 *
 * Immutable and counted like the cluster map; the primary makes new versions, all others adopt.
 * Properties are fields where this build acts on them; the rest of the API's set is fixed and only
 * printed.
 */
#ifndef BMD_H
#define BMD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "smap/smap.h"

struct json_object;
struct bmd;

#define BMD_BUCKETS_MAX 100000
#define BMD_GONE_MAX 8192 /* destroyed buckets that are remembered */

/* Permission bits of the access mask. */
enum bmd_access {
	BMD_ACE_GET,
	BMD_ACE_OBJ_HEAD,
	BMD_ACE_PUT,
	BMD_ACE_APPEND,
	BMD_ACE_OBJ_DELETE,
	BMD_ACE_OBJ_MOVE,
	BMD_ACE_PROMOTE,
	BMD_ACE_OBJ_UPDATE,
	BMD_ACE_BCK_HEAD,
	BMD_ACE_OBJ_LIST,
	BMD_ACE_PATCH,
	BMD_ACE_SET_BCK_ACL,
	BMD_ACE_LIST_BUCKETS,
	BMD_ACE_SHOW_CLUSTER,
	BMD_ACE_CREATE_BCK,
	BMD_ACE_DESTROY_BCK,
	BMD_ACE_MOVE_BCK,
	BMD_ACE_ADMIN,
	BMD_ACE_NR,
};

/* Text of a permission in refusals: "GET", "HEAD-OBJECT", ... */
const char *bmd_access_name(enum bmd_access a);

/* A bucket's name: provider is "ais" in this build; namespaces have a name, no uuid, if any. */
struct bmd_name {
	char bucket[SMAP_BUCKET_MAX + 1];
	char provider[8];
	char ns_uuid[SMAP_UUID_MAX + 1];
	char ns_name[SMAP_UUID_MAX + 1];
};

struct bmd_bucket {
	struct bmd_name name;
	uint64_t bid; /* bit 63 set: an ais bucket; the rest is a serial number */
	int64_t created_ns; /* wall clock */
	uint64_t access; /* BIT64(BMD_ACE_*) */
	uint64_t features;
	char cksum_type[16]; /* "xxhash2" */
	bool versioning;
	bool read_range; /* checksum.enable_read_range */
	bool warm_get; /* checksum.validate_warm_get: a GET compares before it sends */
	char placement[32 + 2 * SMAP_UUID_MAX + SMAP_BUCKET_MAX]; /* uname for HRW: "ais/@#/abc/" */
};

/* An empty BMD of version 0 and a given UUID. Return: 0 or -ENOMEM. */
int bmd_new(const char *uuid, struct bmd **ret);
/* Read from the API's JSON. Return: 0, -EINVAL (with a sentence), -E2BIG, -ENOMEM. */
int bmd_parse(const char *text, size_t len, struct bmd **ret, char *err, size_t err_size);
/* Append as the API's JSON (http-api 4.3); @own adds what only nodes need ("placement"). */
void bmd_print(const struct bmd *b, bool own, struct buf *out);
struct bmd *bmd_get(struct bmd *b);
void bmd_put(struct bmd *b);

/* Version: newer wins, never a count. */
int64_t bmd_version(const struct bmd *b);
/* UUID of the metadata, set once. */
const char *bmd_uuid(const struct bmd *b);
/* Number of buckets. */
size_t bmd_count(const struct bmd *b);
/* Bucket @i in byte order of unames. Owned by @b. */
const struct bmd_bucket *bmd_at(const struct bmd *b, size_t i);
/* By name, or NULL. */
const struct bmd_bucket *bmd_find(const struct bmd *b, const struct bmd_name *name);
/* By ID, or NULL. */
const struct bmd_bucket *bmd_find_bid(const struct bmd *b, uint64_t bid);

/**
 * bmd_is_gone() - Whether a bucket was destroyed, by an order that this metadata remembers
 * @b:		the metadata
 * @bid:	bucket ID
 *
 * A bucket that is merely not known may be one whose metadata was lost: its objects are kept. The
 * last BMD_GONE_MAX destroyed buckets are remembered.
 *
 * Return: true if destroyed.
 */
bool bmd_is_gone(const struct bmd *b, uint64_t bid);

/* A copy with one bucket more (bid and created are set here), version + 1. -EEXIST, -E2BIG. */
int bmd_with_bucket(const struct bmd *b, const struct bmd_bucket *add, struct bmd **ret);
/* A copy without a bucket, version + 1. -ENOENT. */
int bmd_without_bucket(const struct bmd *b, const struct bmd_name *name, struct bmd **ret);
/* A copy with changed properties of a bucket (same name, bid), version + 1. -ENOENT. */
int bmd_with_props(const struct bmd *b, const struct bmd_bucket *props, struct bmd **ret);
/* A copy in which @from is called @to; bid and placement stay. -ENOENT, -EEXIST. */
int bmd_with_rename(const struct bmd *b, const struct bmd_name *from, const struct bmd_name *to,
		    struct bmd **ret);

/* ---- names ---- */

/* Text of a bucket in messages: "ais://abc", "ais://#ns/abc". Appended. */
void bmd_name_print(const struct bmd_name *n, struct buf *out);
/* Uname with its trailing '/': "ais/@#/abc/". Appended. */
void bmd_name_uname(const struct bmd_name *n, struct buf *out);
/**
 * bmd_uname_parse() - A uname, of a bucket or an object, as bck_to and object_to carry it
 * @uname:	"ais/@#/abc/" or "ais/@#/abc/dir/o"
 * @ret:	the bucket
 * @ret_object:	points into @uname behind the bucket, "" for a bucket uname
 *
 * Return: 0; -EINVAL malformed.
 */
int bmd_uname_parse(const char *uname, struct bmd_name *ret, const char **ret_object);

/* ---- properties as JSON ---- */

/* Append the full set of properties of a bucket (http-api 3.2). */
void bmd_props_print(const struct bmd_bucket *b, struct buf *out);
/**
 * bmd_props_apply() - Apply a partial set of properties
 * @b:		changed in place, on success only
 * @o:		e.g. {"checksum":{"type":"md5"},"access":"3"}; unknown keys are ignored
 * @err:	sentence that names the property
 * @err_size:	room at @err
 *
 * Return: 0; -EINVAL wrong type or value; -ENOTSUP a property that is not built (mirror, ec, ...)
 * set to something else than its default.
 */
int bmd_props_apply(struct bmd_bucket *b, struct json_object *o, char *err, size_t err_size);

#endif
