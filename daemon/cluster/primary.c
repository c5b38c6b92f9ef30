/* SPDX-License-Identifier: BSD-2-Clause */
/* The primary: forms or resumes the cluster, makes new versions, knows who is silent. */
#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "base/text.h"
#include "cluster/impl.h"
#include "log.h"

#define UUID_CHARS 9
#define RECOVER_ROUNDS 8 /* members that may be ahead of the primary's disk, one after the other */

/* ---- the beginning ---- */

static int put_self(struct cluster *c, struct smap_edit *e, const struct smap *now)
{
	const struct smap_node *old = now ? smap_find(now, c->self.id) : NULL;
	struct smap_node me = c->self;
	int r;

	me.flags = SMAP_F_IC | (old ? old->flags : 0);
	r = smap_edit_put_node(e, &me);
	return r ? r : smap_edit_set_primary(e, me.id);
}

static int first_map(struct cluster *c, struct smap **ret)
{
	char uuid[UUID_CHARS + 1], created[32];
	struct smap_edit *e;
	time_t now = time(NULL);
	struct tm tm;
	int r;

	identity_random(uuid, UUID_CHARS);
	strftime(created, sizeof(created), "%Y-%m-%d %H:%M:%S", gmtime_r(&now, &tm));
	r = smap_edit_new(NULL, &e);
	if (r < 0)
		return r;
	r = smap_edit_set_identity(e, uuid, created);
	if (!r)
		r = put_self(c, e, NULL);
	if (r < 0) {
		smap_edit_free(e);
		return r;
	}
	smap_edit_set_version(e, 1);
	return smap_edit_freeze(e, ret);
}

static int stamped(const struct config *from, int64_t version, const char *uuid,
		   struct config **ret)
{
	struct config *f;
	int r = config_adopt(from, from, &f);

	if (r < 0)
		return r;
	config_stamp(f, version, uuid, wall_ns());
	*ret = f;
	return 0;
}

static int form(struct cluster *c)
{
	char bmd_id[UUID_CHARS + 1];
	struct doc d = {};
	int r;

	identity_random(bmd_id, UUID_CHARS);
	r = first_map(c, &d.smap);
	if (!r)
		r = bmd_new(bmd_id, &d.bmd);
	if (!r)
		r = stamped(c->o.config, 1, smap_uuid(d.smap), &d.conf);
	if (!r)
		r = snap_commit(c, &d);
	if (!r)
		log_info("cluster.formed", "uuid=%s", smap_uuid(d.smap));
	doc_deinit(&d);
	return r;
}

static int resumed_map(struct cluster *c, const struct smap *now, struct smap **ret)
{
	struct smap_edit *e;
	int r;

	r = smap_edit_new(now, &e);
	if (r < 0)
		return r;
	r = put_self(c, e, now);
	if (r < 0) {
		smap_edit_free(e);
		return r;
	}
	return smap_edit_freeze(e, ret);
}

/* Our key is new, so our record and the map's version are. */
static int resume(struct cluster *c)
{
	struct doc d = {};
	int r;

	r = resumed_map(c, c->smap, &d.smap);
	/* a crash may have come between the first map and the first config */
	if (!r && !config_version(c->config))
		r = stamped(c->config, 1, smap_uuid(d.smap), &d.conf);
	if (!r)
		r = snap_commit(c, &d);
	if (!r)
		log_info("cluster.resumed", "uuid=%s smap=%lld bmd=%lld", smap_uuid(d.smap),
			 (long long)smap_version(d.smap), (long long)bmd_version(c->bmd));
	doc_deinit(&d);
	return r;
}

/* The newer parts of a member's document, under change_lock; with our own key, once that is out. */
static int newer_parts(struct cluster *c, const struct doc *d, struct doc *ret)
{
	struct doc fresh = {};
	int r = 0;

	if (!d->smap || !d->bmd || !d->conf || strcmp(smap_uuid(d->smap), smap_uuid(c->smap)))
		return -EXDEV;
	if (smap_version(d->smap) > smap_version(c->smap)) {
		if (c->joined)
			r = resumed_map(c, d->smap, &fresh.smap);
		else
			fresh.smap = smap_get(d->smap);
	}
	if (r < 0)
		return r;
	if (bmd_version(d->bmd) > bmd_version(c->bmd))
		fresh.bmd = bmd_get(d->bmd);
	if (config_version(d->conf) > config_version(c->config))
		fresh.conf = config_get(d->conf);
	*ret = fresh;
	return 0;
}

int primary_recover(struct cluster *c, const struct smap_node *from)
{
	struct doc d, fresh = {};
	int r;

	r = push_fetch(c, from, &d);
	if (r < 0)
		return r;
	pthread_mutex_lock(&c->change_lock);
	r = newer_parts(c, &d, &fresh);
	if (!r)
		r = snap_commit(c, &fresh);
	if (!r)
		log_warn("cluster.recovered", "from=%s smap=%lld bmd=%lld conf=%lld", from->id,
			 (long long)smap_version(c->smap), (long long)bmd_version(c->bmd),
			 (long long)config_version(c->config));
	pthread_mutex_unlock(&c->change_lock);
	doc_deinit(&fresh);
	doc_deinit(&d);
	return r;
}

/* Before a new version is made: nobody may hold another of the same number. */
static void recover(struct cluster *c)
{
	struct push_opts o = {.proof = true, .all = true, .survey = true};
	struct smap_node ahead;
	int rounds;

	for (rounds = 0; rounds < RECOVER_ROUNDS && push_newest(c, &o, &ahead); rounds++) {
		if (primary_recover(c, &ahead) < 0)
			break;
	}
}

static void complain_of_doubt(const struct cluster *c)
{
	log_warn(
		"cluster.doubt",
		"why=\"metadata of an earlier version was loaded\" fix=\"start all members, or, to "
		"go on "
		"with that version for good, copy each .prev in %s/meta that lost its newer file\"",
		config_text(c->o.config, "state_dir"));
}

int primary_begin(struct cluster *c)
{
	struct push_opts o = {.proof = true, .all = true};
	int r;

	if (smap_version(c->smap))
		recover(c);
	pthread_mutex_lock(&c->change_lock);
	r = smap_version(c->smap) ? resume(c) : form(c);
	pthread_mutex_unlock(&c->change_lock);
	if (r < 0) {
		log_error("cluster.begin", "err=\"%s\" next=\"trying again\"", strerror(-r));
		return r;
	}
	if (c->doubt)
		complain_of_doubt(c);
	c->joined = true;
	push_newest(c, &o, NULL);
	c->ready = true;
	pthread_mutex_lock(&c->change_lock);
	snap_tell_first(c);
	pthread_mutex_unlock(&c->change_lock);
	return 0;
}

void primary_tick(struct cluster *c)
{
	struct smap *m = cluster_smap(c);
	struct config *f = cluster_config(c);
	bool all = peers_sweep(c, m);

	/*
	 * On older metadata nothing is changed before all members have been heard: who adopted a
	 * version made from it would drop what it does not know of.
	 */
	if (!c->started && (all || (!c->doubt && mono_ns() - c->start_ns >=
							 config_ns(f, "timeout.startup_time")))) {
		c->doubt = false;
		c->started = true;
		log_info("cluster.started", "smap=%lld gateways=%zu targets=%zu%s",
			 (long long)smap_version(m), smap_count(m, SMAP_ROLE_GATEWAY),
			 smap_count(m, SMAP_ROLE_TARGET), all ? "" : " some=silent");
	}
	config_put(f);
	smap_put(m);
}

/* ---- changes ---- */

static void spread(struct cluster *c, const struct smap_node *extra)
{
	struct push_opts o = {.extra = extra};

	push_newest(c, &o, NULL);
}

int primary_change_smap(struct cluster *c,
			int (*fn)(void *arg, const struct smap *now, struct smap **ret), void *arg,
			const struct smap_node *extra)
{
	struct doc d = {};
	bool changed;
	int r;

	if (!c->primary || !c->joined)
		return -EAGAIN;
	pthread_mutex_lock(&c->change_lock);
	r = fn(arg, c->smap, &d.smap);
	if (!r)
		r = snap_commit(c, &d);
	changed = !r && d.smap;
	pthread_mutex_unlock(&c->change_lock);
	doc_deinit(&d);
	if (changed)
		spread(c, extra);
	return r;
}

int cluster_change_bmd(struct cluster *c,
		       int (*fn)(void *arg, const struct bmd *now, struct bmd **ret), void *arg)
{
	struct doc d = {};
	int r;

	if (!c->primary || !c->started)
		return -EAGAIN;
	pthread_mutex_lock(&c->change_lock);
	r = fn(arg, c->bmd, &d.bmd);
	if (!r && bmd_version(d.bmd) <= bmd_version(c->bmd))
		r = -EINVAL;
	if (!r)
		r = snap_commit(c, &d);
	pthread_mutex_unlock(&c->change_lock);
	doc_deinit(&d);
	if (!r)
		spread(c, NULL);
	return r;
}

int cluster_change_config(struct cluster *c,
			  int (*fn)(void *arg, const struct config *now, struct config **ret),
			  void *arg)
{
	struct config *made = NULL;
	struct doc d = {};
	int r;

	if (!c->primary || !c->started)
		return -EAGAIN;
	pthread_mutex_lock(&c->change_lock);
	r = fn(arg, c->config, &made);
	if (!r)
		r = stamped(made, config_version(c->config) + 1, smap_uuid(c->smap), &d.conf);
	if (!r)
		r = snap_commit(c, &d);
	pthread_mutex_unlock(&c->change_lock);
	if (made)
		config_put(made);
	doc_deinit(&d);
	if (!r)
		spread(c, NULL);
	return r;
}

struct node_change {
	struct cluster *c;
	const char *id;
	uint64_t set, clear;
	bool remove;
	struct smap_node was;
};

static int change_edit(struct node_change *ch, struct smap_edit *e)
{
	struct smap_node n = ch->was;

	if (ch->remove) {
		peers_removed(ch->c, &ch->was);
		return smap_edit_del_node(e, ch->id);
	}
	n.flags = (n.flags & ~ch->clear) | ch->set;
	return smap_edit_put_node(e, &n);
}

static int change_apply(void *arg, const struct smap *now, struct smap **ret)
{
	struct node_change *ch = arg;
	const struct smap_node *old = smap_find(now, ch->id);
	struct smap_edit *e;
	int r;

	if (!old)
		return -ENOENT;
	ch->was = *old;
	if (!ch->remove && ((old->flags & ~ch->clear) | ch->set) == old->flags)
		return 0;
	r = smap_edit_new(now, &e);
	if (r < 0)
		return r;
	r = change_edit(ch, e);
	if (r < 0) {
		smap_edit_free(e);
		return r;
	}
	return smap_edit_freeze(e, ret);
}

int cluster_change_node(struct cluster *c, const char *node_id, uint64_t set, uint64_t clear,
			bool remove)
{
	struct node_change ch = {c, node_id, set, clear, remove, {}};
	int r;

	if (!c->primary || !c->started)
		return -EAGAIN;
	if (remove && !strcmp(node_id, c->self.id))
		return -EBUSY;
	/* who is removed hears of it too: it serves no more, and does not join again by itself */
	r = primary_change_smap(c, change_apply, &ch, remove ? &ch.was : NULL);
	if (!r && remove)
		log_info("node.removed", "id=%s", node_id);
	return r;
}
