/* SPDX-License-Identifier: BSD-2-Clause */
/* The current versions of map, bucket metadata and config: loading, publishing, adopting. */
#include <errno.h>
#include <stdlib.h>

#include "cluster/impl.h"
#include "log.h"

struct smap *cluster_smap(struct cluster *c)
{
	struct smap *m;

	pthread_rwlock_rdlock(&c->snap_lock);
	m = smap_get(c->smap);
	pthread_rwlock_unlock(&c->snap_lock);
	return m;
}

struct bmd *cluster_bmd(struct cluster *c)
{
	struct bmd *b;

	pthread_rwlock_rdlock(&c->snap_lock);
	b = bmd_get(c->bmd);
	pthread_rwlock_unlock(&c->snap_lock);
	return b;
}

struct config *cluster_config(struct cluster *c)
{
	struct config *f;

	pthread_rwlock_rdlock(&c->snap_lock);
	f = config_get(c->config);
	pthread_rwlock_unlock(&c->snap_lock);
	return f;
}

void snap_versions(struct cluster *c, struct doc_versions *ret)
{
	pthread_rwlock_rdlock(&c->snap_lock);
	*ret = (struct doc_versions){
		.smap = smap_version(c->smap),
		.bmd = bmd_version(c->bmd),
		.conf = config_version(c->config),
	};
	pthread_rwlock_unlock(&c->snap_lock);
}

void snap_uuid(struct cluster *c, char *out)
{
	pthread_rwlock_rdlock(&c->snap_lock);
	snprintf(out, SMAP_UUID_MAX + 1, "%s", smap_uuid(c->smap));
	pthread_rwlock_unlock(&c->snap_lock);
}

void snap_newer(struct cluster *c, const struct doc_versions *have, struct doc *ret)
{
	struct doc d = {};

	pthread_rwlock_rdlock(&c->snap_lock);
	if (!have || smap_version(c->smap) > have->smap)
		d.smap = smap_get(c->smap);
	if (!have || bmd_version(c->bmd) > have->bmd)
		d.bmd = bmd_get(c->bmd);
	if (!have || config_version(c->config) > have->conf)
		d.conf = config_get(c->config);
	pthread_rwlock_unlock(&c->snap_lock);
	*ret = d;
}

/* ---- telling the daemon ---- */

struct change_event {
	struct pool_job job;
	struct cluster *c;
	struct bmd *old, *now;
	struct config *conf;
};

static void event_run(struct pool_job *j)
{
	struct change_event *e = container_of(j, struct change_event, job);

	if (e->now && e->c->o.bmd_changed)
		e->c->o.bmd_changed(e->c->o.ctx, e->old, e->now);
	if (e->conf && e->c->o.config_changed)
		e->c->o.config_changed(e->c->o.ctx, e->conf);
	if (e->old)
		bmd_put(e->old);
	if (e->now)
		bmd_put(e->now);
	if (e->conf)
		config_put(e->conf);
	free(e);
}

/* Under change_lock. */
static void tell(struct cluster *c, struct bmd *old, struct bmd *now, struct config *conf)
{
	struct change_event *e;

	if (!c->events)
		return;
	e = calloc(1, sizeof(*e));
	if (!e) {
		log_error("cluster.event", "err=\"out of memory\"; a change was not acted on");
		return;
	}
	e->job.fn = event_run;
	e->c = c;
	e->old = old ? bmd_get(old) : NULL;
	e->now = now ? bmd_get(now) : NULL;
	e->conf = conf ? config_get(conf) : NULL;
	pool_continue(c->events, &e->job);
}

void snap_tell_first(struct cluster *c)
{
	/* version 0 is no bucket metadata: acting on it would drop what the store has */
	if (c->bmd_told || !bmd_version(c->bmd))
		return;
	c->bmd_told = true;
	tell(c, NULL, c->bmd, NULL);
}

static void tell_changes(struct cluster *c, const struct doc *d, struct bmd *old)
{
	if (d->conf)
		tell(c, NULL, NULL, d->conf);
	if (!d->bmd)
		return;
	if (c->bmd_told)
		tell(c, old, d->bmd, NULL);
	else
		snap_tell_first(c);
}

/* ---- publishing ---- */

static void publish(struct cluster *c, const struct doc *d)
{
	struct smap *smap = NULL;
	struct bmd *bmd = NULL;
	struct config *conf = NULL;

	pthread_rwlock_wrlock(&c->snap_lock);
	if (d->smap) {
		smap = c->smap;
		c->smap = smap_get(d->smap);
	}
	if (d->bmd) {
		bmd = c->bmd;
		c->bmd = bmd_get(d->bmd);
	}
	if (d->conf) {
		conf = c->config;
		c->config = config_get(d->conf);
		c->request_auth = config_bool(d->conf, "auth.intra_cluster.request_auth");
	}
	pthread_rwlock_unlock(&c->snap_lock);
	tell_changes(c, d, bmd);
	smap_put(smap);
	if (bmd)
		bmd_put(bmd);
	if (conf)
		config_put(conf);
}

int snap_commit(struct cluster *c, const struct doc *d)
{
	autobuf struct buf smap = BUF_INIT, bmd = BUF_INIT, conf = BUF_INIT;
	struct meta_object objs[3];
	size_t n = 0;
	int r;

	if (d->smap) {
		smap_print(d->smap, &smap);
		objs[n++] =
			(struct meta_object){"smap", smap_version(d->smap), smap.data, smap.len};
	}
	if (d->bmd) {
		bmd_print(d->bmd, true, &bmd);
		objs[n++] = (struct meta_object){"bmd", bmd_version(d->bmd), bmd.data, bmd.len};
	}
	if (d->conf) {
		config_print_cluster(d->conf, true, &conf);
		objs[n++] =
			(struct meta_object){"conf", config_version(d->conf), conf.data, conf.len};
	}
	if (smap.err || bmd.err || conf.err)
		return -ENOMEM;
	r = n ? meta_save(c->meta, objs, n) : 0;
	if (!r)
		publish(c, d);
	return r;
}

/* ---- adopting ---- */

static bool other_cluster(struct cluster *c, const struct doc *d)
{
	const char *own = smap_uuid(c->smap), *theirs = d->smap ? smap_uuid(d->smap) : own;

	if (!*own || !strcmp(own, theirs))
		return false;
	log_error("cluster.uuid",
		  "own=%s theirs=%s; this node belongs to another cluster: correct "
		  "proxy.primary_url, or empty its state_dir to let it join anew",
		  own, theirs);
	return true;
}

/* What a new map says of this node itself. */
static void look_for_self(struct cluster *c, const struct smap *m)
{
	const struct smap_node *me = smap_find(m, c->self.id);

	if (!me) {
		if (!c->member)
			return;
		log_warn("cluster.removed",
			 "smap=%lld; this node was taken out of the cluster and serves no more; "
			 "restart it to join again",
			 (long long)smap_version(m));
		c->removed = true;
		c->ready = false;
		c->joined = false;
		return;
	}
	if (!smap_node_same_key(me, &c->self)) {
		/* the map of before our restart, or somebody else with our ID */
		if (c->joined)
			log_warn("cluster.key",
				 "smap=%lld id=%s why=\"another key\" next=\"joining again\"",
				 (long long)smap_version(m), me->id);
		c->joined = false;
		return;
	}
	c->member = true;
	if (c->role == SMAP_ROLE_TARGET && !c->ready) {
		c->ready = true;
		log_info("cluster.ready", "smap=%lld", (long long)smap_version(m));
	}
}

/* Under change_lock. */
static int adopt_newer(struct cluster *c, const struct doc *d)
{
	struct doc fresh = {};
	int r;

	if (other_cluster(c, d))
		return -EXDEV;
	if (d->smap && smap_version(d->smap) > smap_version(c->smap))
		fresh.smap = d->smap;
	if (d->bmd && bmd_version(d->bmd) > bmd_version(c->bmd))
		fresh.bmd = d->bmd;
	if (d->conf && config_version(d->conf) > config_version(c->config))
		fresh.conf = d->conf;
	r = snap_commit(c, &fresh);
	if (!r && fresh.smap)
		look_for_self(c, fresh.smap);
	if (!r && c->ready)
		snap_tell_first(c);
	return r;
}

static void take_silent(struct cluster *c, const struct doc *d)
{
	char(*mine)[SMAP_ID_MAX + 1], (*old)[SMAP_ID_MAX + 1];
	size_t n = d->n_silent;

	mine = calloc(n ? n : 1, sizeof(*mine));
	if (!mine)
		return;
	if (n)
		memcpy(mine, d->silent, n * sizeof(*mine));
	pthread_rwlock_wrlock(&c->snap_lock);
	old = c->silent;
	c->silent = mine;
	c->n_silent = n;
	c->any_silent = n > 0;
	pthread_rwlock_unlock(&c->snap_lock);
	free(old);
}

int snap_adopt(struct cluster *c, const struct doc *d)
{
	int r;

	if (c->primary)
		return -EAGAIN;
	pthread_mutex_lock(&c->change_lock);
	r = adopt_newer(c, d);
	pthread_mutex_unlock(&c->change_lock);
	if (!r && d->has_silent)
		take_silent(c, d);
	if (!r && !c->joined)
		cluster_kick(c);
	return r;
}

/* ---- loading ---- */

static int load_one(struct cluster *c, const char *name, struct buf *text, char *err,
		    size_t err_size)
{
	int64_t version;
	int r = meta_load(c->meta, name, text, &version);

	if (r < 0 && r != -ENOENT)
		snprintf(err, err_size, "%s/meta/%s.json: %s; restore it from a backup",
			 config_text(c->o.config, "state_dir"), name,
			 r == -EUCLEAN ? "it and its .prev are damaged" : strerror(-r));
	if (r != META_E_PREV)
		return r;
	c->doubt = true;
	return 0;
}

static int load_smap(struct cluster *c, struct smap **ret, char *err, size_t err_size)
{
	autobuf struct buf text = BUF_INIT;
	struct smap_edit *e;
	int r;

	r = load_one(c, "smap", &text, err, err_size);
	if (!r)
		return smap_parse(text.data, text.len, ret, err, err_size);
	if (r != -ENOENT)
		return r;
	r = smap_edit_new(NULL, &e);
	if (r < 0)
		return r;
	smap_edit_set_version(e, 0);
	return smap_edit_freeze(e, ret);
}

static int load_bmd(struct cluster *c, struct bmd **ret, char *err, size_t err_size)
{
	autobuf struct buf text = BUF_INIT;
	int r;

	r = load_one(c, "bmd", &text, err, err_size);
	if (!r)
		return bmd_parse(text.data, text.len, ret, err, err_size);
	return r == -ENOENT ? bmd_new("", ret) : r;
}

static int load_conf(struct cluster *c, struct config **ret, char *err, size_t err_size)
{
	autobuf struct buf text = BUF_INIT;
	int r;

	r = load_one(c, "conf", &text, err, err_size);
	if (!r)
		return config_parse_cluster(c->o.config, text.data, text.len, ret, err, err_size);
	if (r != -ENOENT)
		return r;
	*ret = config_get(c->o.config);
	return 0;
}

int snap_load(struct cluster *c, char *err, size_t err_size)
{
	int r;

	r = load_smap(c, &c->smap, err, err_size);
	if (!r)
		r = load_bmd(c, &c->bmd, err, err_size);
	if (!r && smap_version(c->smap) && !bmd_version(c->bmd) && !*bmd_uuid(c->bmd))
		c->doubt = true; /* both files are gone */
	if (!r)
		r = load_conf(c, &c->config, err, err_size);
	if (!r)
		c->request_auth = config_bool(c->config, "auth.intra_cluster.request_auth");
	return r;
}

void snap_deinit(struct cluster *c)
{
	smap_put(c->smap);
	if (c->bmd)
		bmd_put(c->bmd);
	if (c->config)
		config_put(c->config);
	free(c->silent);
	c->smap = NULL;
	c->bmd = NULL;
	c->config = NULL;
	c->silent = NULL;
}
