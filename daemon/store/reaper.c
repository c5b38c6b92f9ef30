/* SPDX-License-Identifier: BSD-2-Clause */
/* The thread that reaps a mountpath every day, at another moment on each. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/text.h"
#include "log.h"
#include "store/reap.h"

#define AGAIN_PART 24 /* of the period, to the next try when there was other work */

struct reaper {
	struct mpath *mp;
	int64_t period_ns;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t end;
	atomic_bool ending;
	atomic_uint passes;
};

/* The period, more or less a sixth of it, so that mountpaths and nodes do not all work at once. */
static int64_t wait_ns(const struct reaper *r)
{
	uint32_t dice = 0;

	if (getrandom(&dice, sizeof(dice), 0) < 0)
		return r->period_ns;
	return r->period_ns - r->period_ns / 6 + (int64_t)(dice % 1024) * (r->period_ns / 3 / 1024);
}

/* Return: false when the reaper ends. */
static bool wait_for(struct reaper *r, int64_t ns)
{
	int64_t until = mono_ns() + ns;
	struct timespec at = {until / 1000000000, until % 1000000000};
	bool go_on;

	pthread_mutex_lock(&r->lock);
	while (!atomic_load(&r->ending)) {
		if (pthread_cond_timedwait(&r->end, &r->lock, &at) == ETIMEDOUT)
			break;
	}
	go_on = !atomic_load(&r->ending);
	pthread_mutex_unlock(&r->lock);
	return go_on;
}

static void *reaper_thread(void *arg)
{
	struct reaper *r = arg;
	int64_t ns = wait_ns(r);
	int e;

	pthread_setname_np(pthread_self(), "reap");
	while (wait_for(r, ns)) {
		ns = wait_ns(r);
		if (!mpath_ok(r->mp))
			continue;
		e = reap_running(r->mp, &r->ending);
		if (e == -EAGAIN)
			ns = r->period_ns / AGAIN_PART;
		else if (e < 0)
			log_warn("store.reap", "path=%s err=\"%s\"", r->mp->path, strerror(-e));
		if (e != -EAGAIN)
			atomic_fetch_add(&r->passes, 1);
	}
	return NULL;
}

static int thread_start(struct reaper *r)
{
	sigset_t all, before;
	int e;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	e = pthread_create(&r->thread, NULL, reaper_thread, r);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return -e;
}

int reaper_new(struct mpath *mp, int64_t period_ns, struct reaper **ret)
{
	struct reaper *r = calloc(1, sizeof(*r));
	pthread_condattr_t attr;
	int e;

	if (!r)
		return -ENOMEM;
	r->mp = mp;
	r->period_ns = period_ns;
	pthread_mutex_init(&r->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&r->end, &attr);
	pthread_condattr_destroy(&attr);
	e = thread_start(r);
	if (e < 0) {
		free(r);
		return e;
	}
	*ret = r;
	return 0;
}

void reaper_free(struct reaper *r)
{
	if (!r)
		return;
	pthread_mutex_lock(&r->lock);
	atomic_store(&r->ending, true);
	pthread_cond_signal(&r->end);
	pthread_mutex_unlock(&r->lock);
	pthread_join(r->thread, NULL);
	pthread_mutex_destroy(&r->lock);
	pthread_cond_destroy(&r->end);
	free(r);
}

unsigned int reaper_passes(const struct reaper *r)
{
	return atomic_load(&r->passes);
}
