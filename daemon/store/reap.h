/* SPDX-License-Identifier: BSD-2-Clause */
/* Removal of what no object needs: once at a start (mpath_reap()), then every day. */
#ifndef STORE_REAP_H
#define STORE_REAP_H

#include "store/impl.h"

/**
 * reap_running() - As mpath_reap(), while the mountpath is used
 * @mp:		with its committer
 * @stop:	ends the pass early when it becomes true
 *
 * Blobs that are on their way to become objects are not touched, nor is blob/tmp/.
 *
 * Return: 0; -EAGAIN the sweeper is busy, or told to stop; -EUCLEAN damaged records, nothing was
 * removed; or an errno.
 */
int reap_running(struct mpath *mp, const atomic_bool *stop);

/* ---- reaper.c ---- */

struct reaper;

/* A thread that does it about every @period_ns. Return: 0; -ENOMEM; or pthread_create(3)'s. */
int reaper_new(struct mpath *mp, int64_t period_ns, struct reaper **ret);
/* End it, before the committer. NULL is fine. */
void reaper_free(struct reaper *r);
/* Passes that have ended. Any thread. */
unsigned int reaper_passes(const struct reaper *r);

#endif
