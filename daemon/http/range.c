/* SPDX-License-Identifier: BSD-2-Clause */
/* The Range header: one range of bytes. */
#include <stdint.h>
#include <strings.h>

#include "base/bits.h"
#include "http/uri.h"

static void skip_blanks(const char **s)
{
	while (**s == ' ' || **s == '\t')
		(*s)++;
}

/* Digits, which may be none; a number too large is UINT64_MAX. Return: whether there were any. */
static bool take_num(const char **s, uint64_t *ret)
{
	const char *start = *s;
	uint64_t v = 0;

	for (; **s >= '0' && **s <= '9'; (*s)++) {
		if (__builtin_mul_overflow(v, UINT64_C(10), &v) ||
		    __builtin_add_overflow(v, (uint64_t)(**s - '0'), &v))
			v = UINT64_MAX; /* and stays: ten times it overflows again */
	}
	*ret = v;
	return *s != start;
}

int http_range(const char *text, uint64_t size, uint64_t *ret_off, uint64_t *ret_len)
{
	uint64_t first, last;
	bool has_first, has_last;

	if (strncasecmp(text, "bytes=", 6) != 0)
		return HTTP_RANGE_E_SYNTAX;
	text += 6;
	skip_blanks(&text);
	has_first = take_num(&text, &first);
	if (*text++ != '-')
		return HTTP_RANGE_E_SYNTAX;
	has_last = take_num(&text, &last);
	skip_blanks(&text);
	if (*text == ',') /* an empty element more is no second range */
		text++;
	skip_blanks(&text);
	if (*text || (!has_first && !has_last) || (has_first && has_last && last < first))
		return HTTP_RANGE_E_SYNTAX;
	if (!has_first) { /* the last so many */
		if (!last || !size)
			return HTTP_RANGE_E_BEYOND;
		*ret_len = MIN(last, size);
		*ret_off = size - *ret_len;
		return 0;
	}
	if (first >= size)
		return HTTP_RANGE_E_BEYOND;
	*ret_off = first;
	*ret_len = (has_last ? MIN(last, size - 1) : size - 1) - first + 1;
	return 0;
}
