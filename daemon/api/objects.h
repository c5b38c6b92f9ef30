/* SPDX-License-Identifier: BSD-2-Clause */
/* What the object handlers of a target share: one struct obj a request, kept as t->user. */
#ifndef API_OBJECTS_H
#define API_OBJECTS_H

#include "api/api.h"

struct obj {
	struct api *a;
	struct http_txn *t;
	struct api_target tg; /* as the path says */
	struct bmd_bucket b; /* a copy, once looked up */
	struct store_bck sb; /* the store's view of b */
	struct store_rec rec;
	char range_cksum[CKSUM_TEXT_MAX]; /* of the range sent, when the bucket wants that */
	/* put and append */
	struct store_put *put;
	struct buf custom; /* packed */
	enum cksum_type want_type;
	const char *want_value;
	char work[64]; /* token of an append under way */
	/* copy and rename */
	struct bmd_name to_name;
	const char *to_object;
	struct bmd_bucket to_b;
	struct store_bck to_sb;
	char *to_text; /* heap: what to_object points into */
	bool rename;
};

/* The request's struct obj. */
struct obj *obj_of(struct http_txn *t);
/* Bucket by name into o->b and o->sb, access checked. Return: 0; negative after http_error(). */
int obj_bucket(struct obj *o, enum bmd_access need);
/* http_error() for a store error about this object. */
void obj_store_error(struct obj *o, int err);
/* A text without control bytes, as a header can carry it. */
bool obj_header_safe(const char *s, size_t n);

/* ---- objects_read.c: continuations on the io pool ---- */
void obj_get(struct http_txn *t);
void obj_head(struct http_txn *t);

/* ---- objects_head.c ---- */

/* Quoted entity tag of a record: http-api 2.2. */
void obj_etag(const struct store_rec *rec, struct buf *out);
/* ETag, Last-Modified, checksum, access time, version and custom metadata lines. */
void obj_headers(struct obj *o, const struct store_rec *rec);
/* Lines of HEAD: v1 all that is known, v2 what @props asks. Return: 0; negative after error. */
int obj_head_v1(struct obj *o);
int obj_head_v2(struct obj *o, const char *props);

enum obj_cond {
	OBJ_COND_GO,
	OBJ_COND_NOT_MODIFIED, /* 304 */
	OBJ_COND_FAILED, /* 412 */
};
/* The four conditions of RFC 9110 13.2.2 against a record. */
enum obj_cond obj_conditions(const struct http_txn *t, const struct store_rec *rec);
/* Whether If-Range, if any, lets a range be served. */
bool obj_if_range(const struct http_txn *t, const struct store_rec *rec);

/* ---- objects_put.c, objects_append.c: begin on the loop ---- */
void obj_put(struct http_txn *t);
void obj_append(struct http_txn *t);
/* The client's checksum headers into o->want_*. Return: 0; -EINVAL after http_error(). */
int obj_want_checksum(struct obj *o);
/* store_done_fn of a put: answers @arg, a struct obj. */
void obj_put_done(void *arg, int err, const struct store_rec *rec);
/* Bucket of an object about to be written, asked of the primary if unknown. io pool. */
int obj_bucket_for_write(struct obj *o, enum bmd_access need);
/* The bucket is still the one the body was begun for. Return: 0; -ENOENT after http_error(). */
int obj_bucket_still(struct obj *o);

/* ---- objects_change.c, objects_copy.c: bodies collected, on a pool ---- */
void obj_delete(struct http_txn *t);
void obj_patch(struct http_txn *t);
void obj_post(struct http_txn *t);
void obj_copy(struct http_txn *t);
/* Move o's object to name @to of the same bucket; on the call pool. */
void obj_rename(struct http_txn *t);

#endif
