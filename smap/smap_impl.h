/* SPDX-License-Identifier: BSD-2-Clause */
/* Inside the smap library: shared records, the map, the table of addresses. */
#ifndef SMAP_IMPL_H
#define SMAP_IMPL_H

#include <stdatomic.h>

#include "smap/smap.h"

#define SMAP_TIME_MAX 39 /* characters of a creation time, at most */

/*
 * A record is never changed once it is in a list, so all versions of a map share it: a new version
 * of a large cluster costs pointers, not copies of records.
 */
struct smap_ref {
	atomic_uint refs;
	struct smap_node node;
};

/* Records of one role, in byte order of their IDs; each pointer holds one reference. */
struct smap_list {
	struct smap_ref **v;
	size_t n, cap;
};

struct smap {
	atomic_uint refs;
	int64_t version;
	char uuid[SMAP_UUID_MAX + 1];
	char creation_time[SMAP_TIME_MAX + 1];
	const struct smap_node *primary; /* in list[SMAP_ROLE_GATEWAY] */
	struct smap_list list[SMAP_ROLE_NR];
	/* Active targets in order of IDs: placement walks the digests alone, then looks one up. */
	uint64_t *digests;
	const struct smap_node **owners;
	size_t active;
};

/* A new record with one reference, copied from @n. NULL: no memory. */
struct smap_ref *smap_ref_new(const struct smap_node *n);
/* One more reference; returns @r. */
struct smap_ref *smap_ref_get(struct smap_ref *r);
/* Drop a reference. NULL is fine. */
void smap_ref_put(struct smap_ref *r);

/**
 * smap_list_find() - Where an ID is, or would be put
 * @l:		the list
 * @id:		node ID
 * @ret_pos:	index of it, or of the first greater one
 *
 * Return: whether it is there.
 */
bool smap_list_find(const struct smap_list *l, const char *id, size_t *ret_pos);
/* Room for @n records in all. Return: 0 or -ENOMEM. */
int smap_list_reserve(struct smap_list *l, size_t n);
/* Drop all references and the list's memory. */
void smap_list_deinit(struct smap_list *l);

/* The data net, or the control net which it falls back to. */
const struct smap_net *smap_net_of(const struct smap_node *n, enum smap_netid net);
/* Same host (in any case) and port; absent equals absent. */
bool smap_net_same(const struct smap_net *a, const struct smap_net *b);

/* ---- table of addresses: who has this host and port ---- */

struct smap_addr {
	uint64_t hash;
	const struct smap_net *net; /* NULL: free */
	const struct smap_node *node; /* NULL, but net set: removed */
};

struct smap_addrs {
	struct smap_addr *slot;
	size_t cap, used; /* cap is a power of two; used counts the removed ones too */
};

/**
 * smap_addrs_add() - Enter the nets of a record
 * @t:		the table
 * @n:		the record, borrowed until smap_addrs_del()
 *
 * Return: 0 or -ENOMEM, and then nothing is entered.
 */
int smap_addrs_add(struct smap_addrs *t, const struct smap_node *n);
/* Take the nets of a record out again; it must be the same pointer. */
void smap_addrs_del(struct smap_addrs *t, const struct smap_node *n);
/* The first other node than one of ID @n->id that has any net of @n, or NULL. */
const struct smap_node *smap_addrs_clash(const struct smap_addrs *t, const struct smap_node *n);
/* Free the table. */
void smap_addrs_deinit(struct smap_addrs *t);

#endif
