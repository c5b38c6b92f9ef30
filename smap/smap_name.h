/* SPDX-License-Identifier: BSD-2-Clause */
/* Names: what IDs, buckets and objects may be called, and the uname placement is computed from. */
#ifndef SMAP_NAME_H
#define SMAP_NAME_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

#define SMAP_ID_MIN 8 /* characters of a node ID, at least */
#define SMAP_ID_MAX 64 /* and at most */
#define SMAP_UUID_MAX 32 /* characters of a cluster UUID, at most */
#define SMAP_BUCKET_MAX 64 /* characters of a bucket name */
#define SMAP_OBJECT_MAX 1024 /* bytes of an object name */
#define SMAP_UNAME_MAX (16 + 2 * SMAP_UUID_MAX + SMAP_BUCKET_MAX + SMAP_OBJECT_MAX + 16)

/* 1 to 64 of letters, digits, "-_."; no "..", no leading "."; system buckets are refused too. */
bool smap_bucket_name_ok(const char *name);
/**
 * smap_object_name_check() - Whether an object name may be stored
 * @name:	the name
 * @len:	its length in bytes
 *
 * Return: NULL if it may, else a sentence that says why not (static).
 */
const char *smap_object_name_check(const char *name, size_t len);
/* Node IDs: 8 to 64 letters, digits, inner '-' and '_'. */
bool smap_node_id_ok(const char *id);
/* Cluster UUIDs: 1 to 32 letters, digits, '-' and '_'. */
bool smap_uuid_ok(const char *uuid);

/**
 * smap_bucket_uname() - "provider/ns/bucket/" of a bucket, e.g. "ais/@#/abc/"
 * @out:	appended to; check @out->err
 * @provider:	e.g. "ais"
 * @ns_uuid:	"" for the local cluster
 * @ns_name:	"" for the global namespace
 * @bucket:	bucket name
 */
void smap_bucket_uname(struct buf *out, const char *provider, const char *ns_uuid,
		       const char *ns_name, const char *bucket);

#endif
