/* SPDX-License-Identifier: BSD-2-Clause */
/* Byte layouts that are signed. */
#include <sodium.h>

#include "base/bits.h"
#include "cluster/sign.h"

#define B64 sodium_base64_VARIANT_URLSAFE_NO_PADDING

_Static_assert(SIGN_SIG_BYTES == crypto_sign_BYTES, "Ed25519");

void sign_canonical(const struct sign_env *e, struct buf *out)
{
	uint8_t nums[24];

	buf_append(out, e->method, strlen(e->method) + 1);
	buf_append(out, e->path, strlen(e->path) + 1);
	buf_append(out, e->signer, strlen(e->signer) + 1);
	put_be64(nums, e->smap_version);
	put_be64(nums + 8, e->length > 0 ? (uint64_t)e->length : 0);
	put_be64(nums + 16, e->nonce);
	buf_append(out, nums, sizeof(nums));
}

int sign_make(const struct sign_env *e, const uint8_t *secret_key, char out[SIGN_SIG_TEXT + 1])
{
	autobuf struct buf b = BUF_INIT;
	uint8_t sig[SIGN_SIG_BYTES];

	sign_canonical(e, &b);
	if (b.err)
		return b.err;
	crypto_sign_detached(sig, NULL, (const uint8_t *)b.data, b.len, secret_key);
	sodium_bin2base64(out, SIGN_SIG_TEXT + 1, sig, sizeof(sig), B64);
	return 0;
}

bool sign_check(const struct sign_env *e, const uint8_t *key, const char *sig)
{
	autobuf struct buf b = BUF_INIT;
	uint8_t raw[SIGN_SIG_BYTES];
	size_t n = 0;

	if (strlen(sig) != SIGN_SIG_TEXT ||
	    sodium_base642bin(raw, sizeof(raw), sig, SIGN_SIG_TEXT, NULL, &n, NULL, B64) < 0 ||
	    n != sizeof(raw))
		return false;
	sign_canonical(e, &b);
	if (b.err)
		return false;
	return !crypto_sign_verify_detached(raw, (const uint8_t *)b.data, b.len, key);
}

static void join_mac(const struct sign_join *j, const uint8_t *secret, size_t secret_len,
		     uint8_t mac[crypto_auth_hmacsha256_BYTES])
{
	const char *parts[] = {j->label, j->uuid, j->method, j->path, j->time};
	crypto_auth_hmacsha256_state st;
	size_t i;

	crypto_auth_hmacsha256_init(&st, secret, secret_len);
	/* the final NUL of each text separates it from the next */
	for (i = 0; i < ARRAY_SIZE(parts); i++)
		crypto_auth_hmacsha256_update(&st, (const uint8_t *)parts[i], strlen(parts[i]) + 1);
	if (j->body_len)
		crypto_auth_hmacsha256_update(&st, j->body, j->body_len);
	crypto_auth_hmacsha256_final(&st, mac);
	sodium_memzero(&st, sizeof(st));
}

void sign_join_make(const struct sign_join *j, const uint8_t *secret, size_t secret_len,
		    char out[SIGN_MAC_TEXT + 1])
{
	uint8_t mac[crypto_auth_hmacsha256_BYTES];

	join_mac(j, secret, secret_len, mac);
	sodium_bin2base64(out, SIGN_MAC_TEXT + 1, mac, sizeof(mac), B64);
}

bool sign_join_check(const struct sign_join *j, const uint8_t *secret, size_t secret_len,
		     const char *sig)
{
	uint8_t want[crypto_auth_hmacsha256_BYTES], got[crypto_auth_hmacsha256_BYTES];
	size_t n = 0;

	if (strlen(sig) != SIGN_MAC_TEXT ||
	    sodium_base642bin(got, sizeof(got), sig, SIGN_MAC_TEXT, NULL, &n, NULL, B64) < 0 ||
	    n != sizeof(got))
		return false;
	join_mac(j, secret, secret_len, want);
	return !sodium_memcmp(want, got, sizeof(want));
}
