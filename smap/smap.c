/* SPDX-License-Identifier: BSD-2-Clause */
/* The immutable, counted map and its shared records. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "smap/smap_impl.h"

struct smap_ref *smap_ref_new(const struct smap_node *n)
{
	struct smap_ref *r = malloc(sizeof(*r));

	if (!r)
		return NULL;
	atomic_init(&r->refs, 1);
	r->node = *n;
	return r;
}

struct smap_ref *smap_ref_get(struct smap_ref *r)
{
	atomic_fetch_add_explicit(&r->refs, 1, memory_order_relaxed);
	return r;
}

/* Drop one of @refs. Return: whether it was the last, and all other threads' uses are over. */
static bool last_ref(atomic_uint *refs)
{
	return atomic_fetch_sub_explicit(refs, 1, memory_order_acq_rel) == 1;
}

void smap_ref_put(struct smap_ref *r)
{
	if (r && last_ref(&r->refs))
		free(r);
}

bool smap_list_find(const struct smap_list *l, const char *id, size_t *ret_pos)
{
	size_t lo = 0, hi = l->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		int c = strcmp(l->v[mid]->node.id, id);

		if (!c) {
			*ret_pos = mid;
			return true;
		}
		if (c < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	*ret_pos = lo;
	return false;
}

int smap_list_reserve(struct smap_list *l, size_t n)
{
	size_t cap = l->cap ? l->cap : 16;
	struct smap_ref **v;

	if (n <= l->cap)
		return 0;
	while (cap < n)
		cap *= 2;
	v = reallocarray(l->v, cap, sizeof(*v));
	if (!v)
		return -ENOMEM;
	l->v = v;
	l->cap = cap;
	return 0;
}

void smap_list_deinit(struct smap_list *l)
{
	size_t i;

	for (i = 0; i < l->n; i++)
		smap_ref_put(l->v[i]);
	free(l->v);
	*l = (struct smap_list){};
}

struct smap *smap_get(struct smap *m)
{
	if (m)
		atomic_fetch_add_explicit(&m->refs, 1, memory_order_relaxed);
	return m;
}

void smap_put(struct smap *m)
{
	int role;

	if (!m || !last_ref(&m->refs))
		return;
	for (role = 0; role < SMAP_ROLE_NR; role++)
		smap_list_deinit(&m->list[role]);
	free(m->digests);
	free(m->owners);
	free(m);
}

int64_t smap_version(const struct smap *m)
{
	return m->version;
}

const char *smap_uuid(const struct smap *m)
{
	return m->uuid;
}

const char *smap_creation_time(const struct smap *m)
{
	return m->creation_time;
}

const struct smap_node *smap_primary(const struct smap *m)
{
	return m->primary;
}

const struct smap_node *smap_find(const struct smap *m, const char *id)
{
	int role;
	size_t pos;

	for (role = SMAP_ROLE_GATEWAY; role < SMAP_ROLE_NR; role++)
		if (smap_list_find(&m->list[role], id, &pos))
			return &m->list[role].v[pos]->node;
	return NULL;
}

size_t smap_count(const struct smap *m, enum smap_role role)
{
	return m->list[role].n;
}

const struct smap_node *smap_at(const struct smap *m, enum smap_role role, size_t i)
{
	return &m->list[role].v[i]->node;
}

size_t smap_active_targets(const struct smap *m)
{
	return m->active;
}
