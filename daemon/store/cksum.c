/* SPDX-License-Identifier: BSD-2-Clause */
/* Checksums of objects, one small state for any type. */
#include "store/cksum.h"

#include <errno.h>
#include <isa-l/crc.h>
#include <openssl/evp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/bits.h"

#define CRC_STEP (1U << 30) /* crc32_iscsi() takes an int */

struct cksum {
	enum cksum_type type;
	XXH64_state_t *xxh;
	EVP_MD_CTX *md;
	uint32_t crc;
};

static const char *const names[CKSUM_NR] = {
	[CKSUM_NONE] = "none",	   [CKSUM_XXHASH] = "xxhash", [CKSUM_XXHASH2] = "xxhash2",
	[CKSUM_MD5] = "md5",	   [CKSUM_CRC32C] = "crc32c", [CKSUM_SHA256] = "sha256",
	[CKSUM_SHA512] = "sha512",
};

const char *cksum_name(enum cksum_type t)
{
	return (unsigned int)t < CKSUM_NR ? names[t] : "none";
}

int cksum_type_parse(const char *name, enum cksum_type *ret)
{
	unsigned int t;

	for (t = 0; t < CKSUM_NR; t++) {
		if (!strcmp(name, names[t])) {
			*ret = (enum cksum_type)t;
			return 0;
		}
	}
	return -EINVAL;
}

static const EVP_MD *digest_of(enum cksum_type t)
{
	switch (t) {
	case CKSUM_MD5:
		return EVP_md5();
	case CKSUM_SHA256:
		return EVP_sha256();
	case CKSUM_SHA512:
		return EVP_sha512();
	default:
		return NULL;
	}
}

/* The state behind @c->type. Return: false without memory. */
static bool state_init(struct cksum *c)
{
	const EVP_MD *md = digest_of(c->type);

	if (c->type == CKSUM_XXHASH || c->type == CKSUM_XXHASH2) {
		c->xxh = XXH64_createState();
		return c->xxh && XXH64_reset(c->xxh, 0) == XXH_OK;
	}
	if (md) {
		c->md = EVP_MD_CTX_new();
		return c->md && EVP_DigestInit_ex(c->md, md, NULL) == 1;
	}
	c->crc = UINT32_MAX;
	return true;
}

int cksum_new(enum cksum_type t, struct cksum **ret)
{
	struct cksum *c = calloc(1, sizeof(*c));

	if (!c)
		return -ENOMEM;
	c->type = t;
	if (!state_init(c)) {
		cksum_free(c);
		return -ENOMEM;
	}
	*ret = c;
	return 0;
}

static void crc_update(struct cksum *c, const unsigned char *p, size_t n)
{
	while (n) {
		size_t step = MIN(n, (size_t)CRC_STEP);

		c->crc = crc32_iscsi((unsigned char *)p, (int)step, c->crc);
		p += step;
		n -= step;
	}
}

void cksum_update(struct cksum *c, const void *p, size_t n)
{
	if (!n)
		return;
	if (c->xxh)
		XXH64_update(c->xxh, p, n);
	else if (c->md)
		EVP_DigestUpdate(c->md, p, n);
	else if (c->type == CKSUM_CRC32C)
		crc_update(c, p, n);
}

void cksum_final(struct cksum *c, char out[CKSUM_TEXT_MAX])
{
	unsigned char v[EVP_MAX_MD_SIZE];
	unsigned int n = 0, i;

	if (c->xxh) {
		put_be64(v, XXH64_digest(c->xxh));
		n = 8;
	} else if (c->md) {
		if (EVP_DigestFinal_ex(c->md, v, &n) != 1)
			n = 0;
	} else if (c->type == CKSUM_CRC32C) {
		put_be32(v, c->crc ^ UINT32_MAX);
		n = 4;
	}
	for (i = 0; i < n; i++) {
		out[2 * i] = "0123456789abcdef"[v[i] >> 4];
		out[2 * i + 1] = "0123456789abcdef"[v[i] & 15];
	}
	out[2 * n] = 0;
	cksum_free(c);
}

void cksum_free(struct cksum *c)
{
	if (!c)
		return;
	XXH64_freeState(c->xxh);
	EVP_MD_CTX_free(c->md);
	free(c);
}
