/* SPDX-License-Identifier: BSD-2-Clause */
/* Signed byte layouts against captured vectors, join proofs against another HMAC implementation. */
#include <sodium.h>

#include "../unit.h"
#include "base/bits.h"
#include "cluster/sign.h"

struct vector {
	const char *name, *method, *path;
	int64_t length;
	uint64_t smap_version, nonce;
	const char *signer, *seed, *key, *canonical, *signature;
};

static const struct vector vectors[] = {
	{"redirect-get-plain", "GET", "/v1/objects/sr/plain", 0, 10, 58200, "gwyWire_1",
	 "a0a1a2a3a4a5a6a7a8a9aaabacadaeafb0b1b2b3b4b5b6b7b8b9babbbcbdbebf",
	 "4fd099ccd47d7893dfe9ec24414ecb0d9b5420232aad30d91c465be33cbe65c4",
	 "474554002f76312f6f626a656374732f73722f706c61696e00677779576972655f3100000000000000000a000"
	 "0000000000000000000000000e358",
	 "CK-yu1LkTzS1FQn4D9ztdsVxd4rkXv5Sf1shp3X3utEfAiDoJ4EWet7lMLCnT0KzgzLfJhGzXLt2uvOvYuV9CA"},
	{"redirect-put-utf8", "PUT", "/v1/objects/sr/\xc3\xbc/\xe6\xbc\xa2", 5, 10, 58201,
	 "gwyWire_1", "a0a1a2a3a4a5a6a7a8a9aaabacadaeafb0b1b2b3b4b5b6b7b8b9babbbcbdbebf",
	 "4fd099ccd47d7893dfe9ec24414ecb0d9b5420232aad30d91c465be33cbe65c4",
	 "505554002f76312f6f626a656374732f73722fc3bc2fe6bca200677779576972655f3100000000000000000a0"
	 "000000000000005000000000000e359",
	 "IgjiyQaox3EwYPbHGrYkoGIhlDBibRCaWPHG6x0Uyds1m0CGZeqpiUvvB_MmQ6TyR1gGsfdbK53UOHjM1RuiAQ"},
	{"redirect-head-special", "HEAD", "/v1/objects/sr/a b", 0, 10, 58202, "gwyWire_1",
	 "a0a1a2a3a4a5a6a7a8a9aaabacadaeafb0b1b2b3b4b5b6b7b8b9babbbcbdbebf",
	 "4fd099ccd47d7893dfe9ec24414ecb0d9b5420232aad30d91c465be33cbe65c4",
	 "48454144002f76312f6f626a656374732f73722f61206200677779576972655f3100000000000000000a00000"
	 "00000000000000000000000e35a",
	 "l5tmvAqwNwSHImpGhA6Yc6TQiCWjUKRSq-Y85HCRR6XyE6c8kGGdtWImTmXkjZmxawWqHRLeGtO6VJoUI9FnAA"},
	{"redirect-put-chunked", "PUT", "/v1/objects/e/chk", 0, 8, 16095, "gwyWire_1",
	 "a0a1a2a3a4a5a6a7a8a9aaabacadaeafb0b1b2b3b4b5b6b7b8b9babbbcbdbebf",
	 "4fd099ccd47d7893dfe9ec24414ecb0d9b5420232aad30d91c465be33cbe65c4",
	 "505554002f76312f6f626a656374732f652f63686b00677779576972655f31000000000000000008000000000"
	 "00000000000000000003edf",
	 "XQQzPzQ0qt4l94rguwZR-pGfqAWlwHsrpLXZ9B5gtSX_RbroecLMUL_9mTCJ2nOjs5P0vIAKl88JATsgoPb4CA"},
	{"redirect-getbatch", "GET", "/v1/ml/moss/src/gbt-WireDemo1/gwyWire-CuWIL/3", 317, 10,
	 58205, "gwyWire_1", "a0a1a2a3a4a5a6a7a8a9aaabacadaeafb0b1b2b3b4b5b6b7b8b9babbbcbdbebf",
	 "4fd099ccd47d7893dfe9ec24414ecb0d9b5420232aad30d91c465be33cbe65c4",
	 "474554002f76312f6d6c2f6d6f73732f7372632f6762742d5769726544656d6f312f677779576972652d43755"
	 "7494c2f3300677779576972655f3100000000000000000a000000000000013d000000000000e35d",
	 "bN0fb_5KoTPEvREZy9YrjAIbn3qRiqOweA8Qn5xXdNdXQOhzte6bylRiIDTzDBmOQLqSF8ZQGMfjbibCCQ97Aw"},
	{"intra-fast-keepalive", "POST", "/v1/cluster/keepalive/tgtWire_A", 0, 10, 12616,
	 "tgtWire_A", "606162636465666768696a6b6c6d6e6f707172737475767778797a7b7c7d7e7f",
	 "174553b456dddfc6908ecab1c101fe6ab21e2baa0617795b7d43a63482993fd5",
	 "504f5354002f76312f636c75737465722f6b656570616c6976652f746774576972655f4100746774576972655"
	 "f4100000000000000000a00000000000000000000000000003148",
	 "yG8fQmLXx5C6StEDe0dF3hk4ZIr8eTH9a5pE7epv0ZutD7hZ1ye3pLFzM0IAkRpHqIZovmhFEFWqVjd0p519Bw"},
	{"intra-metasync", "PUT", "/v1/metasync", 0, 10, 58121, "gwyWire_1",
	 "a0a1a2a3a4a5a6a7a8a9aaabacadaeafb0b1b2b3b4b5b6b7b8b9babbbcbdbebf",
	 "4fd099ccd47d7893dfe9ec24414ecb0d9b5420232aad30d91c465be33cbe65c4",
	 "505554002f76312f6d65746173796e6300677779576972655f3100000000000000000a0000000000000000000"
	 "000000000e309",
	 "L6th_atRxwQSV8p-ywqF5CczKJMb00KTfgJt-fUhV3QYxetxq0Ftt-FRQifeKSUHC8-5XvzVQzic230VuRfWDg"},
	{"intra-health", "GET", "/v1/health", 0, 10, 58122, "gwyWire_1",
	 "a0a1a2a3a4a5a6a7a8a9aaabacadaeafb0b1b2b3b4b5b6b7b8b9babbbcbdbebf",
	 "4fd099ccd47d7893dfe9ec24414ecb0d9b5420232aad30d91c465be33cbe65c4",
	 "474554002f76312f6865616c746800677779576972655f3100000000000000000a00000000000000000000000"
	 "00000e30a",
	 "LTFiNe0JrkJjbx5dcqfoQM4XRWWWuGp7kdhfMmIdEEQ22GJ1PSGCpk6CKuJtr-n8LTI-jGEz6cLPdA0ljbLvBg"},
	{"intra-t2tctrl", "POST",
	 "/v1/xactions/t2tctrl/get-batch/gbt-WireDemo1/gwyWire-CuWIL/startedWI", 0, 10, 53973,
	 "tgtWire_B", "202122232425262728292a2b2c2d2e2f303132333435363738393a3b3c3d3e3f",
	 "29acbae141bccaf0b22e1a94d34d0bc7361e526d0bfe12c89794bc9322966dd7",
	 "504f5354002f76312f78616374696f6e732f7432746374726c2f6765742d62617463682f6762742d576972654"
	 "4656d6f312f677779576972652d437557494c2f73746172746564574900746774576972655f42000000000000"
	 "00000a0000000000000000000000000000d2d5",
	 "QBkzagrinkWNtYzCYHFzJVLmCLqGH5Xr-dvUE8miuentDKmcEc08G7NDFv_H47RENQ4iMPJjGFEOh2J3BNxeAw"},
};

static struct sign_env env_of(const struct vector *v)
{
	return (struct sign_env){v->method,	  v->path,   v->signer,
				 v->smap_version, v->length, v->nonce};
}

static void unhex(uint8_t *out, size_t n, const char *hex)
{
	size_t got = 0;

	ASSERT_EQ(sodium_hex2bin(out, n, hex, strlen(hex), NULL, &got, NULL), 0);
	ASSERT_EQ(got, n);
}

static void test_canonical(void)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(vectors); i++) {
		struct sign_env e = env_of(&vectors[i]);
		autobuf struct buf b = BUF_INIT;
		char hex[1024];

		sign_canonical(&e, &b);
		sodium_bin2hex(hex, sizeof(hex), (uint8_t *)b.data, b.len);
		ASSERT_STR(hex, vectors[i].canonical);
	}
}

static void test_signature(void)
{
	uint8_t seed[32], key[32], made[32], secret[64];
	char sig[SIGN_SIG_TEXT + 1];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(vectors); i++) {
		struct sign_env e = env_of(&vectors[i]);

		unhex(seed, sizeof(seed), vectors[i].seed);
		unhex(key, sizeof(key), vectors[i].key);
		crypto_sign_seed_keypair(made, secret, seed);
		ASSERT_EQ(memcmp(made, key, sizeof(key)), 0);
		ASSERT_EQ(sign_make(&e, secret, sig), 0);
		ASSERT_STR(sig, vectors[i].signature);
		ASSERT_TRUE(sign_check(&e, key, vectors[i].signature));
	}
}

static void test_refusals(void)
{
	const struct vector *v = &vectors[1];
	struct sign_env e;
	uint8_t key[32];
	char sig[128];

	unhex(key, sizeof(key), v->key);
	e = env_of(v);
	e.method = "GET";
	ASSERT_TRUE(!sign_check(&e, key, v->signature));
	e = env_of(v);
	e.path = "/v1/objects/sr/x";
	ASSERT_TRUE(!sign_check(&e, key, v->signature));
	e = env_of(v);
	e.signer = "gwyWire_2";
	ASSERT_TRUE(!sign_check(&e, key, v->signature));
	e = env_of(v);
	e.smap_version++;
	ASSERT_TRUE(!sign_check(&e, key, v->signature));
	e = env_of(v);
	e.length++;
	ASSERT_TRUE(!sign_check(&e, key, v->signature));
	e = env_of(v);
	e.nonce++;
	ASSERT_TRUE(!sign_check(&e, key, v->signature));
	e = env_of(v);
	snprintf(sig, sizeof(sig), "%s", v->signature);
	sig[0] ^= 1;
	ASSERT_TRUE(!sign_check(&e, key, sig));
	snprintf(sig, sizeof(sig), "%.85s", v->signature);
	ASSERT_TRUE(!sign_check(&e, key, sig));
	snprintf(sig, sizeof(sig), "%s=", v->signature);
	ASSERT_TRUE(!sign_check(&e, key, sig));
	snprintf(sig, sizeof(sig), "%.85s ", v->signature);
	ASSERT_TRUE(!sign_check(&e, key, sig));
	ASSERT_TRUE(!sign_check(&e, key, ""));
}

/* chunked: -1 is signed as 0 */
static void test_chunked(void)
{
	struct sign_env e = env_of(&vectors[3]);
	uint8_t key[32];

	unhex(key, sizeof(key), vectors[3].key);
	e.length = -1;
	ASSERT_TRUE(sign_check(&e, key, vectors[3].signature));
}

static const char secret[] = "wire-demo-join-secret-0123456789";

static void join_is(const char *label, const char *uuid, const char *body, const char *want)
{
	struct sign_join j = {label,	    uuid, "POST",      "/v1/cluster/autoreg",
			      "1796071000", body, strlen(body)};
	char got[SIGN_MAC_TEXT + 1];

	sign_join_make(&j, (const uint8_t *)secret, strlen(secret), got);
	ASSERT_STR(got, want);
	ASSERT_TRUE(sign_join_check(&j, (const uint8_t *)secret, strlen(secret), want));
	ASSERT_TRUE(!sign_join_check(&j, (const uint8_t *)secret, strlen(secret) - 1, want));
	j.method = "PUT";
	ASSERT_TRUE(!sign_join_check(&j, (const uint8_t *)secret, strlen(secret), want));
	j.method = "POST";
	j.time = "1796071001";
	ASSERT_TRUE(!sign_join_check(&j, (const uint8_t *)secret, strlen(secret), want));
	ASSERT_TRUE(!sign_join_check(&j, (const uint8_t *)secret, strlen(secret), ""));
}

/* The wanted texts were made with Python's hmac module from the documented layout. */
static void test_join(void)
{
	join_is(SIGN_JOIN_REQUEST, "", "{\"node\":\"t1\"}",
		"VzvMO84ohK9i2kLLvZDmRh9IBK7Oxbtr319mqnC4VYQ");
	join_is(SIGN_JOIN_REQUEST, "u7WqPz1aB", "{\"node\":\"t1\"}",
		"_MY__9dJkPlXqHhlpuW6gjc6xhL9f3NNq5tXy23z1E4");
	join_is(SIGN_JOIN_ANSWER, "u7WqPz1aB", "", "3crGMMC_pNH_n2YR0RkH1esD4jvHwDjom7i2-ufMa7U");
}

UNIT_MAIN("sign", {"canonical payloads", test_canonical}, {"signatures", test_signature},
	  {"refusals", test_refusals}, {"chunked length", test_chunked}, {"join proofs", test_join})
