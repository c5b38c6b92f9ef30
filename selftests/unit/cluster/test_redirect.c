/* SPDX-License-Identifier: BSD-2-Clause */
/* The Location of redirects. */
#include <sodium.h>

#include "../unit.h"
#include "base/text.h"
#include "cluster/redirect.h"

/* The seed of the captured vectors: bytes a0 to bf. */
static void test_key(uint8_t secret[64])
{
	uint8_t seed[32], key[32];
	size_t i;

	for (i = 0; i < sizeof(seed); i++)
		seed[i] = (uint8_t)(0xa0 + i);
	crypto_sign_seed_keypair(key, secret, seed);
}

static void location_is(struct sign_env env, const char *query, const char *want)
{
	autobuf struct buf loc = BUF_INIT;
	uint8_t secret[64];
	struct redirect r = {
		.env = env,
		.url = "http://127.0.0.1:38094",
		.query = query,
		.sign_key = secret,
	};

	r.env.signer = "gwyWire_1";
	test_key(secret);
	ASSERT_EQ(base36_decode("dn8u2hugfd16", &r.time_ns), 0);
	ASSERT_EQ(redirect_location(&r, &loc), 0);
	ASSERT_STR(loc.data, want);
}

static void test_plain(void)
{
	location_is((struct sign_env){.method = "GET",
				      .path = "/v1/objects/sr/plain",
				      .length = 0,
				      .smap_version = 10,
				      .nonce = 58200},
		    "provider=ais",
		    "http://127.0.0.1:38094/v1/objects/sr/plain?provider=ais&pid=gwyWire_1&u="
		    "CK-yu1LkTzS1FQn4D9ztdsVxd4rkXv5Sf1shp3X3utEfAiDoJ4EWet7lMLCnT0KzgzLfJhGzXLt2"
		    "uvOvYuV9CA&utm=dn8u2hugfd16&vpams=a&x=18wo");
}

/* as captured, but with the canonical upper-case hex */
static void test_utf8(void)
{
	location_is((struct sign_env){.method = "PUT",
				      .path = "/v1/objects/sr/\xc3\xbc/\xe6\xbc\xa2",
				      .length = 5,
				      .smap_version = 10,
				      .nonce = 58201},
		    "provider=ais",
		    "http://127.0.0.1:38094/v1/objects/sr/%C3%BC/%E6%BC%A2?provider=ais&"
		    "pid=gwyWire_1&u=IgjiyQaox3EwYPbHGrYkoGIhlDBibRCaWPHG6x0Uyds1m0CGZeqpiUvvB_MmQ6"
		    "TyR1gGsfdbK53UOHjM1RuiAQ&utm=dn8u2hugfd16&vpams=a&x=18wp");
}

static void test_special(void)
{
	location_is((struct sign_env){.method = "HEAD",
				      .path = "/v1/objects/sr/a b",
				      .length = 0,
				      .smap_version = 10,
				      .nonce = 58202},
		    "",
		    "http://127.0.0.1:38094/v1/objects/sr/a%20b?pid=gwyWire_1&u=l5tmvAqwNwSHImpGhA6"
		    "Yc6TQiCWjUKRSq-Y85HCRR6XyE6c8kGGdtWImTmXkjZmxawWqHRLeGtO6VJoUI9FnAA&"
		    "utm=dn8u2hugfd16&vpams=a&x=18wq");
}

static void test_query(void)
{
	static const char *const rows[][2] = {
		{"provider=ais&x=a%20b+c", "provider=ais&x=a%20b+c"},
		{"a=\"<>\"", "a=%22%3C%3E%22"},
		{"a=%zz&b=%4", "a=%25zz&b=%254"},
		{"a=\xc3\xbc\t\x7f", "a=%C3%BC%09%7F"},
		{"a=b#c", "a=b%23c"},
		{"a=/?:@!$'()*,;-._~", "a=/?:@!$'()*,;-._~"},
		{"", ""},
	};
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		autobuf struct buf b = BUF_INIT;

		redirect_query(&b, rows[i][0]);
		ASSERT_STR(buf_cstr(&b), rows[i][1]);
	}
}

UNIT_MAIN("redirect", {"plain, as captured", test_plain}, {"UTF-8 path", test_utf8},
	  {"blank in the path", test_special}, {"queries are made valid", test_query})
