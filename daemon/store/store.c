/* SPDX-License-Identifier: BSD-2-Clause */
/* The store as a whole: opening, closing, placement, sequence numbers. */
#include "store/store.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/text.h"
#include "store/keylock.h"
#include "store/paths.h"

int store_key(const struct store_bck *b, const char *name, struct objkey *k)
{
	size_t n = strlen(name);

	if (!n)
		return -EINVAL;
	if (n > STORE_NAME_MAX)
		return -ENAMETOOLONG;
	*k = (struct objkey){b->bid, name, n};
	return 0;
}

uint64_t store_next_seq(struct store *s, uint64_t above)
{
	uint64_t last = atomic_load(&s->seq), now = (uint64_t)wall_ns(), next;

	do {
		next = MAX(last, above) + 1;
		next = MAX(next, now);
	} while (!atomic_compare_exchange_weak(&s->seq, &last, next));
	return next;
}

void store_hold(struct store *s)
{
	pthread_mutex_lock(&s->lock);
	s->inflight++;
	pthread_mutex_unlock(&s->lock);
}

void store_drop(struct store *s)
{
	pthread_mutex_lock(&s->lock);
	if (--s->inflight == 0)
		pthread_cond_broadcast(&s->idle);
	pthread_mutex_unlock(&s->lock);
}

static int opts_check(const struct store_opts *o, const struct errtext *err)
{
	size_t i;

	if (o->sz != sizeof(*o) || !o->io || !o->node_id || !*o->node_id)
		return -EINVAL;
	if (!o->n_paths || o->n_paths > STORE_PATHS_MAX) {
		snprintf(err->text, err->size, "fspaths: 1 to %d mountpaths are needed, not %zu",
			 STORE_PATHS_MAX, o->n_paths);
		return -EINVAL;
	}
	for (i = 0; i < o->n_paths; i++) {
		if (o->paths[i][0] != '/') {
			snprintf(err->text, err->size, "mountpath %s: not an absolute path",
				 o->paths[i]);
			return -EINVAL;
		}
	}
	return 0;
}

static void locks_init(struct store *s)
{
	pthread_rwlockattr_t a;

	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->idle, NULL);
	pthread_mutex_init(&s->admin, NULL);
	pthread_mutex_init(&s->save, NULL);
	pthread_rwlock_init(&s->set_lock, NULL);
	/* lists must not keep the mover out for ever */
	pthread_rwlockattr_init(&a);
	pthread_rwlockattr_setkind_np(&a, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
	pthread_rwlock_init(&s->move_lock, &a);
	pthread_rwlockattr_destroy(&a);
}

static void locks_destroy(struct store *s)
{
	pthread_cond_destroy(&s->idle);
	pthread_mutex_destroy(&s->lock);
	pthread_mutex_destroy(&s->admin);
	pthread_mutex_destroy(&s->save);
	pthread_rwlock_destroy(&s->set_lock);
	pthread_rwlock_destroy(&s->move_lock);
}

static int opts_take(struct store *s, const struct store_opts *o)
{
	s->sync = o->sync;
	s->batch = o->batch ? o->batch : 256;
	s->io = o->io;
	s->metrics = o->metrics;
	s->limits = o->limits;
	s->o = *o;
	s->o.paths = NULL;
	s->o.node_id = strdup(o->node_id);
	s->o.state_dir = o->state_dir ? strdup(o->state_dir) : NULL;
	return s->o.node_id && (s->o.state_dir || !o->state_dir) ? 0 : -ENOMEM;
}

static int threads_start(struct store *s)
{
	int r = mover_new(s, &s->mover);

	if (r == 0)
		r = scrub_new(s, &s->scrub);
	return r ? r : watch_new(s, &s->watch); /* last: it uses the others */
}

int store_open(const struct store_opts *opts, struct store **ret, char *err, size_t err_size)
{
	struct errtext e = {err, err_size};
	struct store *s;
	int r;

	snprintf(err, err_size, "store: %s", "wrong options");
	r = opts_check(opts, &e);
	if (r < 0)
		return r;
	s = calloc(1, sizeof(*s));
	if (!s)
		return -ENOMEM;
	locks_init(s);
	r = opts_take(s, opts);
	if (r == 0)
		r = keylock_new(s->io, &s->locks);
	if (r == 0)
		r = quarantine_new(&s->bad);
	while (r == 0 && !s->epoch)
		r = getrandom(&s->epoch, sizeof(s->epoch), 0) < 0 ? -errno : 0;
	if (r == 0)
		r = store_open_paths(s, opts, &e);
	if (r == 0)
		r = threads_start(s);
	if (r < 0) {
		store_close(s);
		return r;
	}
	*ret = s;
	return 0;
}

void store_close(struct store *s)
{
	size_t i;

	if (!s)
		return;
	watch_free(s->watch);
	scrub_free(s->scrub);
	mover_free(s->mover);
	pthread_mutex_lock(&s->lock);
	while (s->inflight)
		pthread_cond_wait(&s->idle, &s->lock);
	pthread_mutex_unlock(&s->lock);
	for (i = 0; i < atomic_load(&s->n_paths); i++) {
		mpath_close(&s->paths[i]);
		free(s->paths[i].path);
	}
	quarantine_free(s->bad);
	keylock_free(s->locks);
	free((char *)s->o.node_id);
	free((char *)s->o.state_dir);
	locks_destroy(s);
	free(s);
}
