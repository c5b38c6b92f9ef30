/* SPDX-License-Identifier: BSD-2-Clause */
/* Connections of each peer: a hash table of those that have any. */
#include "http/bounds.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/text.h"

#define PREFIX_BYTES 8 /* of an IPv6 address: who has one address of a /64 has all */

struct peer_key {
	unsigned char addr[PREFIX_BYTES];
	uint32_t family, net;
};

struct bounds_peer {
	struct list node; /* in its slot */
	struct peer_key key;
	size_t conns;
};

void bounds_init(struct bounds *b)
{
	size_t i;

	pthread_mutex_init(&b->lock, NULL);
	if (getrandom(&b->seed, sizeof(b->seed), GRND_NONBLOCK) != sizeof(b->seed))
		b->seed = (uint64_t)mono_ns();
	for (i = 0; i < BOUNDS_SLOTS; i++)
		list_init(&b->peers[i]);
}

void bounds_deinit(struct bounds *b)
{
	pthread_mutex_destroy(&b->lock);
}

/* An IPv4 address that came to a socket for both families is an IPv4 address. */
static struct peer_key key_make(const struct sockaddr *sa, enum smap_netid net)
{
	struct peer_key k = {.family = AF_INET, .net = (uint32_t)net};

	if (sa->sa_family == AF_INET) {
		memcpy(k.addr, &((const struct sockaddr_in *)sa)->sin_addr, 4);
	} else if (sa->sa_family == AF_INET6) {
		const struct in6_addr *a = &((const struct sockaddr_in6 *)sa)->sin6_addr;
		bool mapped = IN6_IS_ADDR_V4MAPPED(a);

		k.family = mapped ? AF_INET : AF_INET6;
		memcpy(k.addr, a->s6_addr + (mapped ? 12 : 0), mapped ? 4 : PREFIX_BYTES);
	}
	return k;
}

static struct list *slot_of(struct bounds *b, const struct peer_key *k)
{
	uint64_t h = b->seed, part[2];
	size_t i;

	_Static_assert(sizeof(part) == sizeof(*k), "the key is hashed as two words");
	memcpy(part, k, sizeof(part));
	for (i = 0; i < 2; i++) {
		h = (h ^ part[i]) * UINT64_C(0x9e3779b97f4a7c15);
		h ^= h >> 29;
	}
	return &b->peers[(h >> 32) % BOUNDS_SLOTS];
}

static struct bounds_peer *peer_find(struct list *slot, const struct peer_key *k)
{
	struct bounds_peer *p;
	struct list *pos;

	list_for_each (pos, slot) {
		p = list_entry(pos, struct bounds_peer, node);
		if (!memcmp(&p->key, k, sizeof(*k)))
			return p;
	}
	p = calloc(1, sizeof(*p));
	if (!p)
		return NULL;
	p->key = *k;
	list_add_tail(slot, &p->node);
	return p;
}

int bounds_peer_take(struct bounds *b, const struct sockaddr *sa, enum smap_netid net, size_t max,
		     struct bounds_peer **ret)
{
	struct peer_key k = key_make(sa, net);
	struct bounds_peer *p;
	int r = 0;

	pthread_mutex_lock(&b->lock);
	p = peer_find(slot_of(b, &k), &k);
	if (!p)
		r = -ENOMEM;
	else if (max && p->conns >= max)
		r = -EAGAIN;
	else
		p->conns++;
	pthread_mutex_unlock(&b->lock);
	if (r == 0)
		*ret = p;
	return r;
}

void bounds_peer_give(struct bounds *b, struct bounds_peer *p)
{
	if (!p)
		return;
	pthread_mutex_lock(&b->lock);
	if (!--p->conns) {
		list_del(&p->node);
		free(p);
	}
	pthread_mutex_unlock(&b->lock);
}
