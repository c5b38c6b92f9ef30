/* SPDX-License-Identifier: BSD-2-Clause */
/* Text forms of numbers used on the wire. */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#define BASE36_MAX 14 /* digits of UINT64_MAX in base 36, and a NUL */

/* @v in lower-case base 36. Return: the length; @out is NUL-terminated. */
static inline size_t base36_encode(uint64_t v, char out[BASE36_MAX])
{
	char tmp[BASE36_MAX];
	size_t n = 0, i;

	do {
		tmp[n++] = "0123456789abcdefghijklmnopqrstuvwxyz"[v % 36];
		v /= 36;
	} while (v);
	for (i = 0; i < n; i++)
		out[i] = tmp[n - 1 - i];
	out[n] = 0;
	return n;
}

/* Parse base 36 in any case. Return: 0, or -EINVAL for empty, foreign characters or overflow. */
static inline int base36_decode(const char *s, uint64_t *ret)
{
	uint64_t v = 0;

	if (!*s)
		return -EINVAL;
	for (; *s; s++) {
		unsigned int d;

		if (*s >= '0' && *s <= '9')
			d = (unsigned int)(*s - '0');
		else if (*s >= 'a' && *s <= 'z')
			d = (unsigned int)(*s - 'a') + 10;
		else if (*s >= 'A' && *s <= 'Z')
			d = (unsigned int)(*s - 'A') + 10;
		else
			return -EINVAL;
		if (__builtin_mul_overflow(v, UINT64_C(36), &v) || __builtin_add_overflow(v, d, &v))
			return -EINVAL;
	}
	*ret = v;
	return 0;
}

/* Decimal digits only, no sign, no blanks. Return: 0, or -EINVAL for anything else or overflow. */
static inline int parse_u64(const char *s, uint64_t *ret)
{
	uint64_t v = 0;

	if (!*s)
		return -EINVAL;
	for (; *s; s++) {
		if (*s < '0' || *s > '9' || __builtin_mul_overflow(v, UINT64_C(10), &v) ||
		    __builtin_add_overflow(v, (uint64_t)(*s - '0'), &v))
			return -EINVAL;
	}
	*ret = v;
	return 0;
}

/* A clock in ns. */
static inline int64_t clock_ns(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

/* Wall clock, ns since the epoch: for what is stored or sent. */
static inline int64_t wall_ns(void)
{
	return clock_ns(CLOCK_REALTIME);
}

/* Monotonic clock, ns: for intervals and limits. */
static inline int64_t mono_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

#endif
