/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which node has an address: open addressing with linear probing. An edit asks once for each net
 * of each record; without the table a large map would take a comparison for each pair of nodes.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "smap/smap_impl.h"

/* Host names compare in any case, so the hash is that of the lower-case form. */
static uint64_t addr_hash(const struct smap_net *net)
{
	char low[SMAP_HOST_MAX + 1];
	size_t i;

	for (i = 0; net->host[i]; i++) {
		char c = net->host[i];

		low[i] = c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
	}
	return XXH64(low, i, net->port);
}

static void enter(struct smap_addrs *t, const struct smap_addr *a)
{
	size_t i = a->hash & (t->cap - 1);

	while (t->slot[i].net)
		i = (i + 1) & (t->cap - 1);
	t->slot[i] = *a;
	t->used++;
}

/* Room for one more record at less than three quarters full; removed slots are left behind. */
static int make_room(struct smap_addrs *t)
{
	struct smap_addrs bigger = {};
	size_t i, live = 0;

	if (t->cap && t->used + SMAP_NET_NR <= t->cap / 4 * 3)
		return 0;
	for (i = 0; i < t->cap; i++)
		live += t->slot[i].node != NULL;
	bigger.cap = 64;
	while (bigger.cap < (live + SMAP_NET_NR) * 2)
		bigger.cap *= 2;
	bigger.slot = calloc(bigger.cap, sizeof(*bigger.slot));
	if (!bigger.slot)
		return -ENOMEM;
	for (i = 0; i < t->cap; i++)
		if (t->slot[i].node)
			enter(&bigger, &t->slot[i]);
	free(t->slot);
	*t = bigger;
	return 0;
}

int smap_addrs_add(struct smap_addrs *t, const struct smap_node *n)
{
	int net, r;

	r = make_room(t);
	if (r < 0)
		return r;
	for (net = 0; net < SMAP_NET_NR; net++) {
		struct smap_addr a = {.net = &n->net[net], .node = n};

		if (!a.net->port)
			continue;
		a.hash = addr_hash(a.net);
		enter(t, &a);
	}
	return 0;
}

void smap_addrs_del(struct smap_addrs *t, const struct smap_node *n)
{
	int net;

	for (net = 0; t->cap && net < SMAP_NET_NR; net++) {
		size_t i = addr_hash(&n->net[net]) & (t->cap - 1);

		for (; t->slot[i].net; i = (i + 1) & (t->cap - 1))
			if (t->slot[i].net == &n->net[net])
				t->slot[i].node = NULL;
	}
}

static const struct smap_node *other_owner(const struct smap_addrs *t, const struct smap_net *net,
					   const char *id)
{
	uint64_t hash = addr_hash(net);
	size_t i;

	for (i = hash & (t->cap - 1); t->slot[i].net; i = (i + 1) & (t->cap - 1)) {
		const struct smap_addr *a = &t->slot[i];

		if (a->node && a->hash == hash && smap_net_same(a->net, net) &&
		    strcmp(a->node->id, id))
			return a->node;
	}
	return NULL;
}

const struct smap_node *smap_addrs_clash(const struct smap_addrs *t, const struct smap_node *n)
{
	const struct smap_node *found;
	int net;

	for (net = 0; t->cap && net < SMAP_NET_NR; net++) {
		if (!n->net[net].port)
			continue;
		found = other_owner(t, &n->net[net], n->id);
		if (found)
			return found;
	}
	return NULL;
}

void smap_addrs_deinit(struct smap_addrs *t)
{
	free(t->slot);
	*t = (struct smap_addrs){};
}
