/* SPDX-License-Identifier: BSD-2-Clause */
/* Checksums against the vectors of their standards. */
#include "selftests/unit/unit.h"

#include <errno.h>
#include <stdlib.h>

#include "store/cksum.h"

static void check(enum cksum_type t, const char *data, size_t n, const char *want)
{
	char got[CKSUM_TEXT_MAX];
	struct cksum *c;
	size_t cut;

	for (cut = 0; cut <= n; cut += n / 2 + 1) {
		ASSERT_EQ(cksum_new(t, &c), 0);
		cksum_update(c, data, cut);
		cksum_update(c, data + cut, n - cut);
		cksum_final(c, got);
		ASSERT_STR(got, want);
	}
}

static void test_xxhash(void)
{
	/* the published value of the empty input, and of "abc" */
	check(CKSUM_XXHASH, "", 0, "ef46db3751d8e999");
	check(CKSUM_XXHASH2, "abc", 3, "44bc2cf5ad770999");
}

static void test_md5(void)
{
	/* RFC 1321 A.5 */
	check(CKSUM_MD5, "", 0, "d41d8cd98f00b204e9800998ecf8427e");
	check(CKSUM_MD5, "abc", 3, "900150983cd24fb0d6963f7d28e17f72");
	check(CKSUM_MD5, "message digest", 14, "f96b697d7cb7938d525a2f31aaf161d0");
}

static void test_crc32c(void)
{
	char b[32];
	int i;

	/* RFC 3720 B.4, there printed with the low byte first */
	memset(b, 0, sizeof(b));
	check(CKSUM_CRC32C, b, sizeof(b), "8a9136aa");
	memset(b, 0xff, sizeof(b));
	check(CKSUM_CRC32C, b, sizeof(b), "62a8ab43");
	for (i = 0; i < 32; i++)
		b[i] = (char)i;
	check(CKSUM_CRC32C, b, sizeof(b), "46dd794e");
	for (i = 0; i < 32; i++)
		b[i] = (char)(31 - i);
	check(CKSUM_CRC32C, b, sizeof(b), "113fdb5c");
	check(CKSUM_CRC32C, "", 0, "00000000");
}

static void test_sha(void)
{
	/* FIPS 180-2 B.1, C.1 */
	check(CKSUM_SHA256, "abc", 3,
	      "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	check(CKSUM_SHA512, "abc", 3,
	      "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
	      "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f");
}

static void test_names(void)
{
	enum cksum_type t;

	check(CKSUM_NONE, "abc", 3, "");
	ASSERT_STR(cksum_name(CKSUM_NONE), "none");
	ASSERT_STR(cksum_name(CKSUM_CRC32C), "crc32c");
	ASSERT_EQ(cksum_type_parse("sha512", &t), 0);
	ASSERT_EQ(t, CKSUM_SHA512);
	ASSERT_EQ(cksum_type_parse("SHA512", &t), -EINVAL);
	ASSERT_EQ(cksum_type_parse("", &t), -EINVAL);
	cksum_free(NULL);
}

UNIT_MAIN("store/cksum", {"xxhash", test_xxhash}, {"md5", test_md5}, {"crc32c", test_crc32c},
	  {"sha", test_sha}, {"names", test_names})
