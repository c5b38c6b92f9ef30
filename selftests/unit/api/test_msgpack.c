/* SPDX-License-Identifier: BSD-2-Clause */
/* MessagePack: every width written and read back, against msgpack-c, and what is refused. */
#include "selftests/unit/unit.h"

#include <msgpack.h>

#include "api/msgpack.h"

static const int64_t numbers[] = {0,	      1,
				  127,	      128,
				  255,	      256,
				  65535,      65536,
				  UINT32_MAX, INT64_C(1) << 32,
				  INT64_MAX,  -1,
				  -32,	      -33,
				  INT8_MIN,   INT8_MIN - 1,
				  INT16_MIN,  INT16_MIN - 1,
				  INT32_MIN,  INT64_C(-2147483649),
				  INT64_MIN};

/* Ours is byte for byte what msgpack-c packs, and reads back. */
static void test_numbers(void)
{
	struct buf b = BUF_INIT;
	size_t i;

	for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		struct mp_cursor c;
		msgpack_sbuffer sb;
		msgpack_packer pk;
		int64_t got = 0;

		buf_reset(&b);
		mp_put_int(&b, numbers[i]);
		msgpack_sbuffer_init(&sb);
		msgpack_packer_init(&pk, &sb, msgpack_sbuffer_write);
		msgpack_pack_int64(&pk, numbers[i]);
		ASSERT_EQ(b.len, sb.size);
		ASSERT_TRUE(!memcmp(b.data, sb.data, sb.size));
		msgpack_sbuffer_destroy(&sb);
		c = (struct mp_cursor){(void *)b.data, (unsigned char *)b.data + b.len};
		ASSERT_EQ(mp_get_int(&c, &got), 0);
		ASSERT_EQ(got, numbers[i]);
		ASSERT_TRUE(c.p == c.end);
	}
	buf_free(&b);
}

static void test_texts(void)
{
	static const size_t lens[] = {0, 1, 31, 32, 255, 256, 65535, 65536};
	char *text = calloc(1, 65537);
	struct buf b = BUF_INIT;
	size_t i;

	ASSERT_TRUE(text != NULL);
	memset(text, 't', 65536);
	for (i = 0; i < sizeof(lens) / sizeof(lens[0]); i++) {
		struct mp_cursor c;
		msgpack_sbuffer sb;
		msgpack_packer pk;
		const char *got;
		size_t n;

		buf_reset(&b);
		mp_put_str(&b, text, lens[i]);
		msgpack_sbuffer_init(&sb);
		msgpack_packer_init(&pk, &sb, msgpack_sbuffer_write);
		msgpack_pack_str(&pk, lens[i]);
		msgpack_pack_str_body(&pk, text, lens[i]);
		ASSERT_EQ(b.len, sb.size);
		ASSERT_TRUE(!memcmp(b.data, sb.data, sb.size));
		msgpack_sbuffer_destroy(&sb);
		c = (struct mp_cursor){(void *)b.data, (unsigned char *)b.data + b.len};
		ASSERT_EQ(mp_get_str(&c, &got, &n), 0);
		ASSERT_EQ(n, lens[i]);
		ASSERT_TRUE(c.p == c.end);
		c = (struct mp_cursor){(void *)b.data, (unsigned char *)b.data + b.len - 1};
		ASSERT_EQ(mp_get_str(&c, &got, &n), -EINVAL);
	}
	buf_free(&b);
	free(text);
}

static void test_containers(void)
{
	static const uint32_t counts[] = {0, 15, 16, 65535, 65536};
	struct buf b = BUF_INIT;
	size_t i;

	for (i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		struct mp_cursor c;
		uint32_t n = 1;

		buf_reset(&b);
		mp_put_map(&b, counts[i]);
		mp_put_array(&b, counts[i]);
		mp_put_nil(&b);
		c = (struct mp_cursor){(void *)b.data, (unsigned char *)b.data + b.len};
		ASSERT_EQ(mp_get_array(&c, &n), -EINVAL);
		ASSERT_EQ(mp_get_map(&c, &n), 0);
		ASSERT_EQ(n, counts[i]);
		ASSERT_EQ(mp_get_map(&c, &n), -EINVAL);
		ASSERT_EQ(mp_get_array(&c, &n), 0);
		ASSERT_EQ(n, counts[i]);
		ASSERT_EQ(mp_get_array(&c, &n), 0); /* nil */
		ASSERT_EQ(n, 0);
		ASSERT_TRUE(c.p == c.end);
	}
	buf_free(&b);
}

static int skip(const char *bytes, size_t n)
{
	struct mp_cursor c = {(const void *)bytes, (const unsigned char *)bytes + n};
	int r = mp_skip(&c);

	ASSERT_TRUE(r || c.p == c.end);
	return r;
}

static void test_skip(void)
{
	ASSERT_EQ(skip("\xc0", 1), 0);
	ASSERT_EQ(skip("\xc3", 1), 0);
	ASSERT_EQ(skip("\xcb\0\0\0\0\0\0\0\0", 9), 0);
	ASSERT_EQ(skip("\xcb\0\0\0\0\0\0\0", 8), -EINVAL);
	ASSERT_EQ(skip("\x82\xa1k\x91\x05\xa1l\x80", 8), 0);
	ASSERT_EQ(skip("\x82\xa1k\x91\x05\xa1l", 7), -EINVAL);
	ASSERT_EQ(skip("\xdf\xff\xff\xff\xff", 5), -EINVAL);
	ASSERT_EQ(skip("\x91\x91\x91\x91\x91\x91\x91\x90", 8), 0);
	ASSERT_EQ(skip("\x91\x91\x91\x91\x91\x91\x91\x91\x90", 9), -EINVAL); /* too deep */
	ASSERT_EQ(skip("", 0), -EINVAL);
	/* what does not fit a signed number */
	ASSERT_EQ(skip("\xcf\xff\xff\xff\xff\xff\xff\xff\xff", 9), -EINVAL);
}

UNIT_MAIN("msgpack", {"numbers", test_numbers}, {"texts", test_texts},
	  {"containers", test_containers}, {"skip", test_skip})
