/* SPDX-License-Identifier: BSD-2-Clause */
/* Placement: the highest random weight among digests. */
#include <xxhash.h>

#include "base/bits.h"
#include "smap/smap_impl.h"

uint64_t smap_digest(const void *p, size_t len)
{
	return XXH64(p, len, SMAP_SEED);
}

/* One step of splitmix64. */
static inline uint64_t mix(uint64_t z)
{
	z += UINT64_C(0x9e3779b97f4a7c15);
	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

static inline uint64_t xhash(uint64_t s)
{
	return rotl64(mix(mix(s)) * 5, 7) * 9;
}

uint64_t smap_xhash(uint64_t s)
{
	return xhash(s);
}

size_t smap_owner_path(const uint64_t *digests, size_t n, uint64_t digest)
{
	uint64_t best = xhash(digests[0] ^ digest);
	size_t owner = 0, i;

	for (i = 1; i < n; i++) {
		uint64_t w = xhash(digests[i] ^ digest);

		/* no branch: in a small cluster its misses would cost more than the weights */
		owner = w > best ? i : owner;
		best = w > best ? w : best;
	}
	return owner;
}

const struct smap_node *smap_owner(const struct smap *m, uint64_t digest)
{
	if (!m->active)
		return NULL;
	return m->owners[smap_owner_path(m->digests, m->active, digest)];
}
