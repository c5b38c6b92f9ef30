/* SPDX-License-Identifier: BSD-2-Clause */
/* What the connections of a server may have together: of one peer, in flight, in memory. */
#ifndef HTTP_BOUNDS_H
#define HTTP_BOUNDS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "base/list.h"
#include "smap/smap.h"

#define BOUNDS_SLOTS 1024

struct bounds_peer; /* an address on a network; an IPv6 one stands for its /64 */

struct bounds {
	atomic_size_t conns; /* of the public and data networks */
	atomic_size_t requests; /* in flight */
	atomic_size_t bodies; /* bytes of requests in memory, beyond what each may have */
	atomic_size_t answers; /* bytes of produced answers in memory, likewise */
	pthread_mutex_t lock; /* of the peers */
	uint64_t seed; /* peers can not choose their slots */
	struct list peers[BOUNDS_SLOTS];
};

/* Nothing is taken yet. */
void bounds_init(struct bounds *b);
/* All must have been given back. */
void bounds_deinit(struct bounds *b);

/**
 * bounds_peer_take() - Count one more connection of an address
 * @b:		the bounds
 * @sa:		the peer's address
 * @net:	where it arrived: networks are counted apart
 * @max:	most connections of it; 0: no limit
 * @ret:	for bounds_peer_give(), written on success only
 *
 * Any thread. Return: 0; -EAGAIN when it has @max already; -ENOMEM.
 */
int bounds_peer_take(struct bounds *b, const struct sockaddr *sa, enum smap_netid net, size_t max,
		     struct bounds_peer **ret);
/* One connection less. NULL is fine. */
void bounds_peer_give(struct bounds *b, struct bounds_peer *p);

/* Take @n of what may be used up to @max (0: without limit). Return: whether it was there. */
static inline bool bound_take(atomic_size_t *used, size_t n, size_t max)
{
	size_t before = atomic_fetch_add(used, n);

	if (!max || (before <= max && n <= max - before))
		return true;
	atomic_fetch_sub(used, n);
	return false;
}

/* Give back. */
static inline void bound_give(atomic_size_t *used, size_t n)
{
	atomic_fetch_sub(used, n);
}

/* Whether more than half of @max is taken. */
static inline bool bound_tight(atomic_size_t *used, size_t max)
{
	return max && atomic_load(used) > max / 2;
}

#endif
