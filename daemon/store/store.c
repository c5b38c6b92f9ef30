/* SPDX-License-Identifier: BSD-2-Clause */
/* The store as a whole: opening, closing, placement, sequence numbers. */
#include "store/store.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#define XXH_STATIC_LINKING_ONLY /* a state on the stack */
#include <xxhash.h>

#include "base/text.h"
#include "smap/smap.h"
#include "store/commit.h"
#include "store/keylock.h"
#include "store/sweep.h"

struct mpath *store_path_of(struct store *s, const struct store_bck *b, const char *name)
{
	XXH64_state_t st;

	if (s->n_paths == 1)
		return &s->paths[0];
	XXH64_reset(&st, SMAP_SEED);
	XXH64_update(&st, b->uname, strlen(b->uname));
	XXH64_update(&st, name, strlen(name));
	return &s->paths[smap_owner_path(s->digests, s->n_paths, XXH64_digest(&st))];
}

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

static int path_open(struct store *s, const struct store_opts *o, size_t i,
		     const struct errtext *err)
{
	struct mpath *mp = &s->paths[i];
	int r;

	mp->s = s;
	mp->idx = (uint32_t)i;
	mp->lock_fd = mp->blob_fd = mp->work_fd = -1;
	mp->path = strdup(o->paths[i]);
	if (!mp->path)
		return -ENOMEM;
	s->n_paths = i + 1;
	r = mpath_open(mp, o, err);
	if (r < 0)
		return r;
	s->digests[i] = mp->digest;
	r = sweeper_new(mp, &mp->sw);
	if (r == 0)
		r = mpath_reap(mp);
	if (r == 0)
		r = committer_new(mp, &mp->com);
	if (r < 0)
		snprintf(err->text, err->size, "mountpath %s: start: %s", mp->path, strerror(-r));
	return r;
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

int store_open(const struct store_opts *opts, struct store **ret, char *err, size_t err_size)
{
	struct errtext e = {err, err_size};
	struct store *s;
	size_t i;
	int r;

	snprintf(err, err_size, "store: %s", "wrong options");
	r = opts_check(opts, &e);
	if (r < 0)
		return r;
	s = calloc(1, sizeof(*s));
	if (!s)
		return -ENOMEM;
	s->sync = opts->sync;
	s->batch = opts->batch ? opts->batch : 256;
	s->io = opts->io;
	s->metrics = opts->metrics;
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->idle, NULL);
	r = keylock_new(s->io, &s->locks);
	while (r == 0 && !s->epoch)
		r = getrandom(&s->epoch, sizeof(s->epoch), 0) < 0 ? -errno : 0;
	for (i = 0; r == 0 && i < opts->n_paths; i++)
		r = path_open(s, opts, i, &e);
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
	pthread_mutex_lock(&s->lock);
	while (s->inflight)
		pthread_cond_wait(&s->idle, &s->lock);
	pthread_mutex_unlock(&s->lock);
	for (i = 0; i < s->n_paths; i++)
		mpath_close(&s->paths[i]);
	keylock_free(s->locks);
	pthread_cond_destroy(&s->idle);
	pthread_mutex_destroy(&s->lock);
	free(s);
}
