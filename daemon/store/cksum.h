/* SPDX-License-Identifier: BSD-2-Clause */
/* Checksums of objects: types of the API, computed as the bytes pass. */
#ifndef STORE_CKSUM_H
#define STORE_CKSUM_H

#include <stddef.h>

#define CKSUM_TEXT_MAX 129 /* sha512 in hex, and a NUL */

enum cksum_type {
	CKSUM_NONE,
	CKSUM_XXHASH, /* XXH64 seed 0, big-endian digits */
	CKSUM_XXHASH2, /* the same value under another name */
	CKSUM_MD5,
	CKSUM_CRC32C,
	CKSUM_SHA256,
	CKSUM_SHA512,
	CKSUM_NR,
};

struct cksum;

/* "xxhash2"; "none" for CKSUM_NONE. Static. */
const char *cksum_name(enum cksum_type t);
/* Type by name. Return: 0, -EINVAL for an unknown name. */
int cksum_type_parse(const char *name, enum cksum_type *ret);
/* Begin; CKSUM_NONE is fine and yields "". Return: 0 or -ENOMEM. */
int cksum_new(enum cksum_type t, struct cksum **ret);
void cksum_update(struct cksum *c, const void *p, size_t n);
/* Value so far as lower-case hex, and free. */
void cksum_final(struct cksum *c, char out[CKSUM_TEXT_MAX]);
/* NULL is fine. */
void cksum_free(struct cksum *c);

#endif
