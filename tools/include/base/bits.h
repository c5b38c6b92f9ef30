/* SPDX-License-Identifier: BSD-2-Clause */
/* Small integer and memory helpers. */
#ifndef BASE_BITS_H
#define BASE_BITS_H

#include <endian.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define BIT(n) (UINT32_C(1) << (n))
#define BIT64(n) (UINT64_C(1) << (n))
#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define container_of(ptr, type, member) ((type *)((char *)(ptr)-offsetof(type, member)))

#define MIN(a, b)                                                                                  \
	({                                                                                         \
		__typeof__(a) min_a_ = (a);                                                        \
		__typeof__(b) min_b_ = (b);                                                        \
		min_a_ < min_b_ ? min_a_ : min_b_;                                                 \
	})
#define MAX(a, b)                                                                                  \
	({                                                                                         \
		__typeof__(a) max_a_ = (a);                                                        \
		__typeof__(b) max_b_ = (b);                                                        \
		max_a_ > max_b_ ? max_a_ : max_b_;                                                 \
	})

/* Store @v at @p, big-endian, at any alignment. */
static inline void put_be64(void *p, uint64_t v)
{
	v = htobe64(v);
	memcpy(p, &v, sizeof(v));
}

/* The big-endian number at @p. */
static inline uint64_t get_be64(const void *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return be64toh(v);
}

/* Store @v at @p, big-endian, at any alignment. */
static inline void put_be32(void *p, uint32_t v)
{
	v = htobe32(v);
	memcpy(p, &v, sizeof(v));
}

/* The big-endian number at @p. */
static inline uint32_t get_be32(const void *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return be32toh(v);
}

/* @v rotated left by @n bits, 0 < @n < 64. */
static inline uint64_t rotl64(uint64_t v, unsigned int n)
{
	return (v << n) | (v >> (64 - n));
}

#endif
