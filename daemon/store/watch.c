/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The watch: each second, is each mountpath still where it was, how much room is there, and may
 * one that is out of service be closed?
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#include "base/text.h"
#include "store/paths.h"

#define PERIOD_NS INT64_C(1000000000)
#define TRIES 3 /* that fail before a mountpath is read-only */

struct watch {
	struct store *s;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	bool ending;
};

/* It was suspect, or is read-only: can it be written? One bad try alone says nothing yet. */
static void try_writing(struct mpath *mp)
{
	int r = mpath_try(mp);

	if (r == 0 || !mpath_broken(r)) {
		mp->bad_tries = 0;
		mpath_set_readonly(mp, 0);
	} else if (++mp->bad_tries >= TRIES || r == -EROFS) {
		mpath_set_readonly(mp, r);
	} else {
		atomic_store(&mp->suspect, true);
	}
}

static void look_at(struct mpath *mp)
{
	int r = mpath_probe(mp);

	if (r == -EROFS) {
		mpath_set_readonly(mp, r);
	} else if (r < 0) {
		mpath_fail(mp, r, "folder");
	} else {
		space_look(mp);
		if (atomic_exchange(&mp->suspect, false) || !mpath_writable(mp))
			try_writing(mp);
	}
}

static void look(struct store *s, size_t i)
{
	struct mpath *mp = store_hold_path(s, i);

	if (mp) {
		look_at(mp);
		mpath_drop(mp);
		return;
	}
	/* a change that is under way does the same */
	if (pthread_mutex_trylock(&s->admin))
		return;
	mpath_settle(&s->paths[i]);
	pthread_mutex_unlock(&s->admin);
}

static bool pause_here(struct watch *w)
{
	int64_t at = mono_ns() + PERIOD_NS;
	struct timespec ts = {at / PERIOD_NS, at % PERIOD_NS};
	bool go_on;

	pthread_mutex_lock(&w->lock);
	while (!w->ending && pthread_cond_timedwait(&w->wake, &w->lock, &ts) == 0)
		;
	go_on = !w->ending;
	pthread_mutex_unlock(&w->lock);
	return go_on;
}

static void *watch_thread(void *arg)
{
	struct watch *w = arg;
	size_t i;

	pthread_setname_np(pthread_self(), "watch");
	do {
		for (i = 0; i < store_paths(w->s); i++)
			look(w->s, i);
	} while (pause_here(w));
	return NULL;
}

void store_cond_init(pthread_cond_t *c)
{
	pthread_condattr_t attr;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(c, &attr);
	pthread_condattr_destroy(&attr);
}

int store_thread(pthread_t *t, void *(*fn)(void *arg), void *arg)
{
	sigset_t all, before;
	int r;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	r = pthread_create(t, NULL, fn, arg);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return -r;
}

int watch_new(struct store *s, struct watch **ret)
{
	struct watch *w = calloc(1, sizeof(*w));
	int r;

	if (!w)
		return -ENOMEM;
	w->s = s;
	pthread_mutex_init(&w->lock, NULL);
	store_cond_init(&w->wake);
	r = store_thread(&w->thread, watch_thread, w);
	if (r < 0) {
		free(w);
		return r;
	}
	*ret = w;
	return 0;
}

void watch_free(struct watch *w)
{
	if (!w)
		return;
	pthread_mutex_lock(&w->lock);
	w->ending = true;
	pthread_cond_signal(&w->wake);
	pthread_mutex_unlock(&w->lock);
	pthread_join(w->thread, NULL);
	pthread_mutex_destroy(&w->lock);
	pthread_cond_destroy(&w->wake);
	free(w);
}
