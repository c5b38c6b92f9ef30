/* SPDX-License-Identifier: BSD-2-Clause */
/* A map in the making: records are added, replaced and removed, then all is frozen. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "base/cleanup.h"
#include "smap/smap_impl.h"

struct smap_edit {
	int64_t version; /* of the source */
	bool version_set; /* version is the one to be */
	char uuid[SMAP_UUID_MAX + 1];
	char creation_time[SMAP_TIME_MAX + 1];
	const struct smap_node *primary;
	struct smap_list list[SMAP_ROLE_NR];
	struct smap_addrs addrs; /* built when the first record is put */
};

static void put_ref(struct smap_ref **r)
{
	smap_ref_put(*r);
}

static void free_edit(struct smap_edit **e)
{
	smap_edit_free(*e);
}

static int copy_list(struct smap_list *to, const struct smap_list *from)
{
	size_t i;
	int r;

	r = smap_list_reserve(to, from->n);
	if (r < 0)
		return r;
	for (i = 0; i < from->n; i++)
		to->v[i] = smap_ref_get(from->v[i]);
	to->n = from->n;
	return 0;
}

int smap_edit_new(const struct smap *from, struct smap_edit **ret)
{
	autoclean(free_edit) struct smap_edit *e = calloc(1, sizeof(*e));
	int role, r;

	if (!e)
		return -ENOMEM;
	if (from) {
		e->version = from->version;
		memcpy(e->uuid, from->uuid, sizeof(e->uuid));
		memcpy(e->creation_time, from->creation_time, sizeof(e->creation_time));
		e->primary = from->primary; /* its record is shared */
		for (role = SMAP_ROLE_GATEWAY; role < SMAP_ROLE_NR; role++) {
			r = copy_list(&e->list[role], &from->list[role]);
			if (r < 0)
				return r;
		}
	}
	*ret = take_ptr(e);
	return 0;
}

void smap_edit_free(struct smap_edit *e)
{
	int role;

	if (!e)
		return;
	for (role = 0; role < SMAP_ROLE_NR; role++)
		smap_list_deinit(&e->list[role]);
	smap_addrs_deinit(&e->addrs);
	free(e);
}

/* The list that has @id, and where. NULL: none has. */
static struct smap_list *find_list(struct smap_edit *e, const char *id, size_t *ret_pos)
{
	int role;

	for (role = SMAP_ROLE_GATEWAY; role < SMAP_ROLE_NR; role++)
		if (smap_list_find(&e->list[role], id, ret_pos))
			return &e->list[role];
	return NULL;
}

static int index_addrs(struct smap_edit *e)
{
	int role, r;
	size_t i;

	if (e->addrs.cap)
		return 0;
	for (role = SMAP_ROLE_GATEWAY; role < SMAP_ROLE_NR; role++) {
		for (i = 0; i < e->list[role].n; i++) {
			r = smap_addrs_add(&e->addrs, &e->list[role].v[i]->node);
			if (r < 0) {
				smap_addrs_deinit(&e->addrs);
				return r;
			}
		}
	}
	return 0;
}

/* A private copy of @n with what is derived filled in. */
static int complete(const struct smap_node *n, struct smap_ref **ret)
{
	const struct smap_net *pub = &n->net[SMAP_NET_PUBLIC];
	struct smap_ref *ref;

	if (n->role != SMAP_ROLE_GATEWAY && n->role != SMAP_ROLE_TARGET)
		return -EINVAL;
	if (!smap_node_id_ok(n->id) || !pub->port)
		return -EINVAL;
	/* who comes in by public must not pass for one who came in by an intra net */
	if (smap_net_same(pub, &n->net[SMAP_NET_CONTROL]) ||
	    smap_net_same(pub, &n->net[SMAP_NET_DATA]))
		return -EINVAL;
	ref = smap_ref_new(n);
	if (!ref)
		return -ENOMEM;
	ref->node.net[SMAP_NET_DATA] = *smap_net_of(n, SMAP_NET_DATA);
	ref->node.digest = smap_digest(n->id, strlen(n->id));
	*ret = ref;
	return 0;
}

static void list_insert(struct smap_list *l, size_t pos, struct smap_ref *ref)
{
	memmove(l->v + pos + 1, l->v + pos, (l->n - pos) * sizeof(*l->v));
	l->v[pos] = ref;
	l->n++;
}

static struct smap_ref *list_remove(struct smap_list *l, size_t pos)
{
	struct smap_ref *ref = l->v[pos];

	l->n--;
	memmove(l->v + pos, l->v + pos + 1, (l->n - pos) * sizeof(*l->v));
	return ref;
}

static void drop_node(struct smap_edit *e, struct smap_list *l, size_t pos)
{
	struct smap_ref *ref = list_remove(l, pos);

	if (e->primary == &ref->node)
		e->primary = NULL;
	smap_addrs_del(&e->addrs, &ref->node);
	smap_ref_put(ref);
}

int smap_edit_put_node(struct smap_edit *e, const struct smap_node *n)
{
	autoclean(put_ref) struct smap_ref *ref = NULL;
	struct smap_list *old, *to;
	bool primary = false;
	size_t pos = 0;
	int r;

	r = complete(n, &ref);
	if (r < 0)
		return r;
	r = index_addrs(e);
	if (r < 0)
		return r;
	if (smap_addrs_clash(&e->addrs, &ref->node))
		return -EEXIST;
	old = find_list(e, n->id, &pos);
	if (!old && e->list[SMAP_ROLE_GATEWAY].n + e->list[SMAP_ROLE_TARGET].n >= SMAP_NODES_MAX)
		return -E2BIG;
	to = &e->list[n->role];
	r = smap_list_reserve(to, to->n + 1);
	if (r < 0)
		return r;
	r = smap_addrs_add(&e->addrs, &ref->node);
	if (r < 0)
		return r;
	if (old) {
		primary = e->primary == &old->v[pos]->node && n->role == SMAP_ROLE_GATEWAY;
		drop_node(e, old, pos);
	}
	smap_list_find(to, n->id, &pos);
	if (primary)
		e->primary = &ref->node;
	list_insert(to, pos, take_ptr(ref));
	return 0;
}

int smap_edit_del_node(struct smap_edit *e, const char *id)
{
	size_t pos;
	struct smap_list *l = find_list(e, id, &pos);

	if (!l)
		return -ENOENT;
	drop_node(e, l, pos);
	return 0;
}

int smap_edit_set_primary(struct smap_edit *e, const char *id)
{
	struct smap_list *l = &e->list[SMAP_ROLE_GATEWAY];
	size_t pos;

	if (!smap_list_find(l, id, &pos))
		return -ENOENT;
	e->primary = &l->v[pos]->node;
	return 0;
}

static bool time_ok(const char *s)
{
	size_t i;

	for (i = 0; s[i]; i++)
		if (i >= SMAP_TIME_MAX || s[i] < 0x20 || s[i] > 0x7e)
			return false;
	return true;
}

int smap_edit_set_identity(struct smap_edit *e, const char *uuid, const char *creation_time)
{
	if (!smap_uuid_ok(uuid) || !creation_time || !time_ok(creation_time))
		return -EINVAL;
	memset(e->uuid, 0, sizeof(e->uuid));
	memcpy(e->uuid, uuid, strlen(uuid));
	memset(e->creation_time, 0, sizeof(e->creation_time));
	memcpy(e->creation_time, creation_time, strlen(creation_time));
	return 0;
}

void smap_edit_set_version(struct smap_edit *e, int64_t version)
{
	e->version = version;
	e->version_set = true;
}

static int index_targets(struct smap *m)
{
	const struct smap_list *l = &m->list[SMAP_ROLE_TARGET];
	size_t i;

	m->digests = calloc(l->n + 1, sizeof(*m->digests));
	m->owners = calloc(l->n + 1, sizeof(*m->owners));
	if (!m->digests || !m->owners)
		return -ENOMEM;
	for (i = 0; i < l->n; i++) {
		const struct smap_node *n = &l->v[i]->node;

		if (n->flags & SMAP_F_INACTIVE)
			continue;
		m->digests[m->active] = n->digest;
		m->owners[m->active++] = n;
	}
	return 0;
}

static void put_map(struct smap **m)
{
	smap_put(*m);
}

int smap_edit_freeze(struct smap_edit *edit, struct smap **ret)
{
	autoclean(free_edit) struct smap_edit *e = edit;
	autoclean(put_map) struct smap *m = calloc(1, sizeof(*m));
	int r;

	if (!m)
		return -ENOMEM;
	atomic_init(&m->refs, 1);
	m->version = e->version;
	if (!e->version_set && m->version < INT64_MAX)
		m->version++;
	memcpy(m->uuid, e->uuid, sizeof(m->uuid));
	memcpy(m->creation_time, e->creation_time, sizeof(m->creation_time));
	memcpy(m->list, e->list, sizeof(m->list));
	memset(e->list, 0, sizeof(e->list));
	m->primary = e->primary;
	r = index_targets(m);
	if (r < 0)
		return r;
	*ret = take_ptr(m);
	return 0;
}
