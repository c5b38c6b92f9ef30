/* SPDX-License-Identifier: BSD-2-Clause */
/* Latencies in buckets that are at most 1/64 of their value wide. */
#ifndef BENCH_HIST_H
#define BENCH_HIST_H

#include <stdint.h>

#define HIST_SUB 64 /* buckets of each power of two */
#define HIST_NR (HIST_SUB * 59)

struct hist {
	uint64_t n;
	uint64_t count[HIST_NR];
};

/* Count one value. */
static inline void hist_add(struct hist *h, uint64_t v)
{
	unsigned int shift = v < 2 * HIST_SUB ? 0 : 57 - (unsigned int)__builtin_clzll(v);

	h->count[shift * HIST_SUB + (v >> shift)]++;
	h->n++;
}

/* The value below which a share @q of all lies, 0 for none. */
static inline uint64_t hist_quantile(const struct hist *h, double q)
{
	uint64_t want = (uint64_t)(q * (double)h->n), seen = 0;
	uint64_t i, shift;

	for (i = 0; i < HIST_NR; i++) {
		seen += h->count[i];
		if (seen > want || (h->n && seen == h->n))
			break;
	}
	if (i == HIST_NR)
		return 0;
	shift = i < 2 * HIST_SUB ? 0 : i / HIST_SUB - 1;
	return (i - shift * HIST_SUB) << shift;
}

#endif
