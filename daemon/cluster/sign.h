/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sign - byte layouts that are signed: the v1 request envelope (Ed25519) and the join proof (HMAC)
 *
 * No I/O, no state; Documentation/membership.rst has the layouts and vectors.
 */
#ifndef CLUSTER_SIGN_H
#define CLUSTER_SIGN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

#define SIGN_SIG_BYTES 64
#define SIGN_SIG_TEXT 86 /* base64url without padding */
#define SIGN_MAC_TEXT 43 /* the same of an HMAC-SHA256 */

#define SIGN_JOIN_REQUEST "pagewire-join-v2"
#define SIGN_JOIN_ANSWER "pagewire-join-answer-v2"

/* What a v1 envelope covers. Texts are borrowed. */
struct sign_env {
	const char *method, *path; /* path: percent-decoded, without query */
	const char *signer; /* node ID */
	uint64_t smap_version;
	int64_t length; /* Content-Length; negative (chunked) counts as 0 */
	uint64_t nonce;
};

/* What a join proof covers. Texts are borrowed. */
struct sign_join {
	const char *label; /* SIGN_JOIN_* */
	const char *uuid; /* of the cluster; "" at a node's first join */
	const char *method, *path, *time; /* time: Unix seconds in decimal, as sent */
	const void *body;
	size_t body_len;
};

/* Append the canonical payload: Method 00 Path 00 signer 00 u64 version, length, nonce (BE). */
void sign_canonical(const struct sign_env *e, struct buf *out);
/* Sign @e with an Ed25519 secret key of 64 bytes. Return: 0 or -ENOMEM. */
int sign_make(const struct sign_env *e, const uint8_t *secret_key, char out[SIGN_SIG_TEXT + 1]);
/* Whether @sig is @key's signature of @e; false for any text that is not 86 base64url digits. */
bool sign_check(const struct sign_env *e, const uint8_t *key, const char *sig);
/* The join proof's text. */
void sign_join_make(const struct sign_join *j, const uint8_t *secret, size_t secret_len,
		    char out[SIGN_MAC_TEXT + 1]);
/* Compare in constant time. */
bool sign_join_check(const struct sign_join *j, const uint8_t *secret, size_t secret_len,
		     const char *sig);

#endif
