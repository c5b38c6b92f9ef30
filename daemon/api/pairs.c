/* SPDX-License-Identifier: BSD-2-Clause */
/* Surrogate pairs in JSON text, written out before json-c reads it. */
#include <stdbool.h>

#include "api/pairs.h"

static int digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

/* "\uXXXX" at @s, within @left bytes. */
static bool unit_at(const char *s, size_t left, uint32_t *ret)
{
	uint32_t v = 0;
	size_t i;

	if (left < 6 || s[0] != '\\' || s[1] != 'u')
		return false;
	for (i = 2; i < 6; i++) {
		int d = digit(s[i]);

		if (d < 0)
			return false;
		v = v << 4 | (uint32_t)d;
	}
	*ret = v;
	return true;
}

/* Both halves at @s: the character, 0 if there are none. */
static uint32_t pair_at(const char *s, size_t left)
{
	uint32_t high, low;

	if (!unit_at(s, left, &high) || (high & 0xfc00) != 0xd800 ||
	    !unit_at(s + 6, left - 6, &low) || (low & 0xfc00) != 0xdc00)
		return 0;
	return 0x10000 + ((high & 0x3ff) << 10) + (low & 0x3ff);
}

void pairs_to_utf8(struct buf *b)
{
	size_t in = 0, out = 0;

	while (in < b->len) {
		uint32_t c = pair_at(b->data + in, b->len - in);

		if (c) {
			b->data[out++] = (char)(0xf0 | c >> 18);
			b->data[out++] = (char)(0x80 | (c >> 12 & 0x3f));
			b->data[out++] = (char)(0x80 | (c >> 6 & 0x3f));
			b->data[out++] = (char)(0x80 | (c & 0x3f));
			in += 12;
			continue;
		}
		if (b->data[in] == '\\' && in + 1 < b->len)
			b->data[out++] = b->data[in++]; /* what is escaped begins nothing */
		b->data[out++] = b->data[in++];
	}
	b->len = out;
	if (b->data)
		b->data[out] = 0;
}
