/* SPDX-License-Identifier: BSD-2-Clause */
/* Objects of buckets that are gone go too. */
#ifndef JOBS_PURGE_H
#define JOBS_PURGE_H

#include "cluster/bmd.h"
#include "jobs/jobs.h"
#include "store/store.h"

struct pool;

struct purge_opts {
	struct jobs *jobs;
	struct store *store;
	struct pool *io;
};

/**
 * purge_buckets() - Act on a new version of the bucket metadata
 * @o:		copied; what it points to must outlive the io pool
 * @old:	the version before, NULL at the first one after a start
 * @now:	the new one
 *
 * Jobs of buckets that are gone are aborted; their objects are removed on the io pool, at the first
 * version those of all buckets that were destroyed while this node was away. Any thread.
 */
void purge_buckets(const struct purge_opts *o, const struct bmd *old, const struct bmd *now);

#endif
