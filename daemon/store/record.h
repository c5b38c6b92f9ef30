/* SPDX-License-Identifier: BSD-2-Clause */
/* What is known of an object, and its custom metadata as packed pairs. Use "store/store.h". */
#ifndef STORE_RECORD_H
#define STORE_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bits.h"
#include "base/buf.h"
#include "store/cksum.h"

#define STORE_NAME_MAX 1024 /* bytes of an object name */
#define STORE_CUSTOM_MAX 2048 /* keys and values of custom metadata together */
#define STORE_PATHS_MAX 64

/* Flags of a record. */
#define STORE_F_TRAILER BIT(0) /* its copy beside the blob is a file, not an xattr */

/* The bucket an object belongs to. */
struct store_bck {
	uint64_t bid; /* prefix of its keys */
	const char *uname; /* placement uname of the bucket, "ais/@#/abc/", for the mountpath */
	enum cksum_type cksum; /* what new objects get */
	bool versioned;
};

/* What is known of an object. Plain data: copy freely. */
struct store_rec {
	uint64_t size;
	uint64_t version; /* 0: none */
	uint64_t seq; /* of two blobs with one key the higher counts */
	int64_t mtime_ns; /* wall clock of the PUT */
	int64_t atime_ns; /* last access, from memory when newer */
	uint32_t flags; /* STORE_F_* */
	uint32_t path; /* index of the mountpath */
	enum cksum_type ctype;
	char cksum[CKSUM_TEXT_MAX]; /* lower-case hex, "" for none */
	char blob[48]; /* its name below blob/, unique for ever */
	uint16_t custom_len;
	char custom[STORE_CUSTOM_MAX + 512]; /* custom metadata: key NUL value NUL ... */
};

/* ---- packed custom metadata ---- */

/* Add a pair to packed @buf. Return: 0; -EINVAL empty key, NUL or control byte; -EMSGSIZE. */
int store_custom_add(struct buf *b, const char *key, const char *value);
/* Next pair after *@pos (begin with 0). False at the end. */
bool store_custom_next(const char *packed, size_t len, size_t *pos, const char **key,
		       const char **value);
/* Value of a key, or NULL. */
const char *store_custom_find(const struct store_rec *rec, const char *key);

#endif
