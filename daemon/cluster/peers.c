/* SPDX-License-Identifier: BSD-2-Clause */
/* Who was heard when; on the primary, who is silent. */
#include <errno.h>
#include <stdlib.h>

#include "base/text.h"
#include "cluster/impl.h"
#include "log.h"

#define PEERS_MAX (4 * SMAP_NODES_MAX) /* former members count too */

static const char nobody[] = "?";

/* Where @id is, or belongs. */
static size_t position(const struct cluster *c, const char *id, bool *ret_found)
{
	size_t lo = 0, hi = c->n_peers;

	*ret_found = false;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		int d = strcmp(c->peers[mid]->id, id);

		if (!d) {
			*ret_found = true;
			return mid;
		}
		if (d < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static struct peer *insert(struct cluster *c, size_t at, const struct smap_node *n)
{
	struct peer *p;

	if (c->n_peers >= PEERS_MAX)
		return NULL;
	if (c->n_peers == c->cap_peers) {
		size_t cap = c->cap_peers ? 2 * c->cap_peers : 16;
		struct peer **more = realloc(c->peers, cap * sizeof(struct peer *));

		if (!more)
			return NULL;
		c->peers = more;
		c->cap_peers = cap;
	}
	p = calloc(1, sizeof(*p));
	if (!p)
		return NULL;
	strcpy(p->id, n->id);
	smap_node_name(n, p->name, sizeof(p->name));
	memmove(&c->peers[at + 1], &c->peers[at], (c->n_peers - at) * sizeof(struct peer *));
	c->peers[at] = p;
	c->n_peers++;
	return p;
}

/* peer_lock is held. NULL without memory. */
static struct peer *peer_of(struct cluster *c, const struct smap_node *n)
{
	bool found;
	size_t at = position(c, n->id, &found);

	return found ? c->peers[at] : insert(c, at, n);
}

int64_t peers_interval_ns(struct cluster *c, enum smap_role role)
{
	struct config *f = cluster_config(c);
	int64_t ns = config_ns(f, role == SMAP_ROLE_TARGET ? "keepalivetracker.target.interval"
							   : "keepalivetracker.proxy.interval");

	config_put(f);
	return ns;
}

/* How long a node of @role may keep quiet. */
static int64_t patience_ns(struct cluster *c, enum smap_role role)
{
	struct config *f = cluster_config(c);
	int64_t ns = peers_interval_ns(c, role);
	int64_t factor = config_int(f, role == SMAP_ROLE_TARGET ? "keepalivetracker.target.factor"
								: "keepalivetracker.proxy.factor");

	config_put(f);
	return ns * (factor > 0 ? factor : 1);
}

const char *peers_heard(struct cluster *c, const struct smap_node *n)
{
	const char *name = nobody;
	struct peer *p;

	pthread_mutex_lock(&c->peer_lock);
	p = peer_of(c, n);
	if (p) {
		p->heard_ns = mono_ns();
		p->refused = false;
		name = p->name;
		if (p->silent && c->primary) {
			p->silent = false;
			log_info("node.heard", "node=%s", p->name);
		}
	}
	pthread_mutex_unlock(&c->peer_lock);
	return name;
}

void peers_removed(struct cluster *c, const struct smap_node *n)
{
	struct peer *p;

	pthread_mutex_lock(&c->peer_lock);
	p = peer_of(c, n);
	if (p) {
		p->removed = n->has_key;
		memcpy(p->removed_key, n->key, sizeof(p->removed_key));
	}
	pthread_mutex_unlock(&c->peer_lock);
}

bool peers_was_removed(struct cluster *c, const struct smap_node *n)
{
	struct peer *p;
	bool yes;

	pthread_mutex_lock(&c->peer_lock);
	p = peer_of(c, n);
	yes = p && p->removed && !memcmp(p->removed_key, n->key, sizeof(p->removed_key));
	pthread_mutex_unlock(&c->peer_lock);
	return yes;
}

static bool heard_now(const struct peer *p, int64_t patience, int64_t now)
{
	return p && p->heard_ns && !p->refused && now - p->heard_ns < patience;
}

bool peers_is_heard(struct cluster *c, const struct smap_node *n)
{
	int64_t patience = patience_ns(c, n->role);
	bool yes;

	pthread_mutex_lock(&c->peer_lock);
	yes = heard_now(peer_of(c, n), patience, mono_ns());
	pthread_mutex_unlock(&c->peer_lock);
	return yes;
}

/* peer_lock is held. */
static void set_silent(struct cluster *c, struct peer *p, bool silent, const char *why)
{
	if (p->silent == silent)
		return;
	p->silent = silent;
	if (silent) {
		c->any_silent = true;
		log_warn("node.silent", "node=%s why=\"%s\"%s", p->name, why,
			 *p->name == 't' ? " effect=\"its objects are answered 503\"" : "");
	}
}

void peers_refused(struct cluster *c, const struct smap_node *n)
{
	struct peer *p;

	pthread_mutex_lock(&c->peer_lock);
	p = peer_of(c, n);
	if (p) {
		p->refused = true;
		if (c->primary)
			set_silent(c, p, true, "connection refused");
	}
	pthread_mutex_unlock(&c->peer_lock);
}

struct sweep {
	bool all_heard, any_silent;
	int64_t patience[SMAP_ROLE_NR], now;
};

/* peer_lock is held. */
static void sweep_node(struct cluster *c, const struct smap_node *n, struct sweep *s)
{
	struct peer *p;

	if (!strcmp(n->id, c->self.id))
		return;
	p = peer_of(c, n);
	if (!p)
		return;
	if (!heard_now(p, s->patience[n->role], s->now)) {
		s->all_heard = false;
		/* after our own start everybody has this long to come back */
		if (s->now - MAX(p->heard_ns, c->start_ns) >= s->patience[n->role])
			set_silent(c, p, true, "not heard for keepalive interval x factor");
	}
	s->any_silent |= p->silent;
}

bool peers_sweep(struct cluster *c, const struct smap *m)
{
	struct sweep s = {.all_heard = true, .now = mono_ns()};
	enum smap_role role;
	size_t i;

	for (role = SMAP_ROLE_GATEWAY; role < SMAP_ROLE_NR; role++)
		s.patience[role] = patience_ns(c, role);
	pthread_mutex_lock(&c->peer_lock);
	for (role = SMAP_ROLE_GATEWAY; role < SMAP_ROLE_NR; role++) {
		for (i = 0; i < smap_count(m, role); i++)
			sweep_node(c, smap_at(m, role, i), &s);
	}
	c->any_silent = s.any_silent;
	pthread_mutex_unlock(&c->peer_lock);
	return s.all_heard;
}

int peers_silent(struct cluster *c, const struct smap *m, struct doc *d)
{
	size_t i;

	d->silent = calloc(smap_count(m, SMAP_ROLE_GATEWAY) + smap_count(m, SMAP_ROLE_TARGET) + 1,
			   sizeof(*d->silent));
	if (!d->silent)
		return -ENOMEM;
	pthread_mutex_lock(&c->peer_lock);
	for (i = 0; i < c->n_peers; i++) {
		/* peers and members may differ, the members are never more than were counted */
		if (c->peers[i]->silent && smap_find(m, c->peers[i]->id))
			strcpy(d->silent[d->n_silent++], c->peers[i]->id);
	}
	pthread_mutex_unlock(&c->peer_lock);
	d->has_silent = true;
	return 0;
}

static bool told_silent(struct cluster *c, const char *id)
{
	bool yes;

	pthread_rwlock_rdlock(&c->snap_lock);
	yes = c->n_silent && bsearch(id, c->silent, c->n_silent, sizeof(*c->silent),
				     (int (*)(const void *, const void *))strcmp);
	pthread_rwlock_unlock(&c->snap_lock);
	return yes;
}

bool cluster_silent(struct cluster *c, const char *node_id)
{
	bool yes, found;
	size_t at;

	if (!c->any_silent)
		return false;
	if (!c->primary)
		return told_silent(c, node_id);
	pthread_mutex_lock(&c->peer_lock);
	at = position(c, node_id, &found);
	yes = found && c->peers[at]->silent;
	pthread_mutex_unlock(&c->peer_lock);
	return yes;
}

void peers_deinit(struct cluster *c)
{
	size_t i;

	for (i = 0; i < c->n_peers; i++)
		free(c->peers[i]);
	free(c->peers);
	c->peers = NULL;
	c->n_peers = c->cap_peers = 0;
}
