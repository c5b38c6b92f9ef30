/* SPDX-License-Identifier: BSD-2-Clause */
/* MessagePack: shortest forms out, all forms of the same types in. */
#include <errno.h>
#include <limits.h>

#include "api/msgpack.h"

#define DEPTH_MAX 8

/* A tag and @n bytes of @v, big endian. */
static void put_tagged(struct buf *out, unsigned int tag, uint64_t v, unsigned int n)
{
	unsigned char raw[9];
	unsigned int i;

	raw[0] = (unsigned char)tag;
	for (i = 0; i < n; i++)
		raw[1 + i] = (unsigned char)(v >> (8 * (n - 1 - i)));
	buf_append(out, raw, 1 + n);
}

void mp_put_map(struct buf *out, uint32_t n)
{
	if (n < 16)
		put_tagged(out, 0x80 | n, 0, 0);
	else if (n <= UINT16_MAX)
		put_tagged(out, 0xde, n, 2);
	else
		put_tagged(out, 0xdf, n, 4);
}

void mp_put_array(struct buf *out, uint32_t n)
{
	if (n < 16)
		put_tagged(out, 0x90 | n, 0, 0);
	else if (n <= UINT16_MAX)
		put_tagged(out, 0xdc, n, 2);
	else
		put_tagged(out, 0xdd, n, 4);
}

void mp_put_str(struct buf *out, const char *s, size_t n)
{
	if (n < 32)
		put_tagged(out, 0xa0 | (unsigned int)n, 0, 0);
	else if (n <= UINT8_MAX)
		put_tagged(out, 0xd9, n, 1);
	else if (n <= UINT16_MAX)
		put_tagged(out, 0xda, n, 2);
	else
		put_tagged(out, 0xdb, n, 4);
	buf_append(out, s, n);
}

static void put_negative(struct buf *out, int64_t v)
{
	if (v >= -32)
		put_tagged(out, (unsigned int)(v & 0xff), 0, 0);
	else if (v >= INT8_MIN)
		put_tagged(out, 0xd0, (uint64_t)v, 1);
	else if (v >= INT16_MIN)
		put_tagged(out, 0xd1, (uint64_t)v, 2);
	else if (v >= INT32_MIN)
		put_tagged(out, 0xd2, (uint64_t)v, 4);
	else
		put_tagged(out, 0xd3, (uint64_t)v, 8);
}

void mp_put_int(struct buf *out, int64_t v)
{
	if (v < 0)
		put_negative(out, v);
	else if (v < 128)
		put_tagged(out, (unsigned int)v, 0, 0);
	else if (v <= UINT8_MAX)
		put_tagged(out, 0xcc, (uint64_t)v, 1);
	else if (v <= UINT16_MAX)
		put_tagged(out, 0xcd, (uint64_t)v, 2);
	else if (v <= UINT32_MAX)
		put_tagged(out, 0xce, (uint64_t)v, 4);
	else
		put_tagged(out, 0xcf, (uint64_t)v, 8);
}

void mp_put_nil(struct buf *out)
{
	put_tagged(out, 0xc0, 0, 0);
}

/* @n bytes behind the tag, big endian. */
static int get_be(const struct mp_cursor *c, unsigned int n, uint64_t *ret)
{
	uint64_t v = 0;
	unsigned int i;

	if ((size_t)(c->end - c->p) < 1 + (size_t)n)
		return -EINVAL;
	for (i = 0; i < n; i++)
		v = v << 8 | c->p[1 + i];
	*ret = v;
	return 0;
}

/* A container or text head: @fix with its count mask, or one of up to three tags. */
static int get_head(struct mp_cursor *c, unsigned int fix, unsigned int mask, const int tags[3],
		    uint32_t *ret)
{
	static const unsigned int width[3] = {1, 2, 4};
	uint64_t v;
	int i;

	if (c->p >= c->end)
		return -EINVAL;
	if ((*c->p & ~mask & 0xff) == fix) {
		*ret = *c->p & mask;
		c->p++;
		return 0;
	}
	for (i = 0; i < 3; i++) {
		if (*c->p != tags[i])
			continue;
		if (get_be(c, width[i], &v) < 0)
			return -EINVAL;
		c->p += 1 + width[i];
		*ret = (uint32_t)v;
		return 0;
	}
	return -EINVAL;
}

int mp_get_map(struct mp_cursor *c, uint32_t *ret_n)
{
	return get_head(c, 0x80, 0x0f, (const int[3]){-1, 0xde, 0xdf}, ret_n);
}

int mp_get_array(struct mp_cursor *c, uint32_t *ret_n)
{
	if (c->p < c->end && *c->p == 0xc0) {
		c->p++;
		*ret_n = 0;
		return 0;
	}
	return get_head(c, 0x90, 0x0f, (const int[3]){-1, 0xdc, 0xdd}, ret_n);
}

int mp_get_str(struct mp_cursor *c, const char **ret, size_t *ret_n)
{
	struct mp_cursor at = *c;
	uint32_t n;

	if (get_head(&at, 0xa0, 0x1f, (const int[3]){0xd9, 0xda, 0xdb}, &n) < 0 ||
	    (size_t)(at.end - at.p) < n)
		return -EINVAL;
	*ret = (const char *)at.p;
	*ret_n = n;
	at.p += n;
	*c = at;
	return 0;
}

int mp_get_int(struct mp_cursor *c, int64_t *ret)
{
	unsigned int tag, n;
	uint64_t v;

	if (c->p >= c->end)
		return -EINVAL;
	tag = *c->p;
	if (tag < 0x80 || tag >= 0xe0) {
		*ret = (int8_t)tag;
		c->p++;
		return 0;
	}
	if (tag < 0xcc || tag > 0xd3)
		return -EINVAL;
	n = 1U << (tag & 3);
	if (get_be(c, n, &v) < 0 || (tag == 0xcf && v > INT64_MAX))
		return -EINVAL;
	if (tag >= 0xd0 && n < 8 && v >> (8 * n - 1))
		v |= UINT64_MAX << (8 * n);
	c->p += 1 + n;
	*ret = (int64_t)v;
	return 0;
}

/* Bytes of a value without children, its tag included; 0: unknown or a container. */
static size_t flat_size(unsigned int tag)
{
	if (tag == 0xc0 || tag == 0xc2 || tag == 0xc3)
		return 1;
	if (tag == 0xca)
		return 5;
	if (tag == 0xcb)
		return 9;
	return 0;
}

static int skip_depth(struct mp_cursor *c, unsigned int depth)
{
	struct mp_cursor at = *c;
	const char *s;
	uint32_t n, i;
	int64_t v;
	size_t len;
	bool map;

	if (at.p >= at.end || !depth)
		return -EINVAL;
	len = flat_size(*at.p);
	if (len) {
		if ((size_t)(at.end - at.p) < len)
			return -EINVAL;
		c->p += len;
		return 0;
	}
	if (!mp_get_str(c, &s, &len) || !mp_get_int(c, &v))
		return 0;
	map = !mp_get_map(&at, &n);
	if (!map && mp_get_array(&at, &n) < 0)
		return -EINVAL;
	for (i = 0; i < n; i++) {
		if (skip_depth(&at, depth - 1) < 0 || (map && skip_depth(&at, depth - 1) < 0))
			return -EINVAL;
	}
	*c = at;
	return 0;
}

int mp_skip(struct mp_cursor *c)
{
	return skip_depth(c, DEPTH_MAX);
}
