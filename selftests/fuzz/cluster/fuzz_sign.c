/* SPDX-License-Identifier: BSD-2-Clause */
/* Signatures, proofs and queries as strangers send them. */
#include <sodium.h>
#include <stdlib.h>

#include "cluster/redirect.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	autobuf struct buf text = BUF_INIT, out = BUF_INIT, again = BUF_INIT;
	static const uint8_t key[32] = {1};
	struct sign_env e = {.method = "GET", .signer = "pPrimary1"};
	struct sign_join j = {SIGN_JOIN_REQUEST, "", "POST", "/", "1", data, size};

	if (sodium_init() < 0)
		return 0;
	buf_append(&text, data, size);
	e.path = buf_cstr(&text);
	if (sign_check(&e, key, buf_cstr(&text)) ||
	    sign_join_check(&j, key, sizeof(key), buf_cstr(&text)))
		abort();
	redirect_query(&out, buf_cstr(&text));
	/* once valid it stays as it is */
	redirect_query(&again, buf_cstr(&out));
	if (strcmp(buf_cstr(&out), buf_cstr(&again)))
		abort();
	return 0;
}
