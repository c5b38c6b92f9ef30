/* SPDX-License-Identifier: BSD-2-Clause */
/* Objects of buckets that are gone go too. */
#ifndef JOBS_PURGE_H
#define JOBS_PURGE_H

#include "cluster/bmd.h"
#include "jobs/jobs.h"
#include "store/store.h"

/**
 * purge_buckets() - Act on a new version of the bucket metadata
 * @jobs:	jobs of buckets that are gone are aborted
 * @s:		objects of them are removed
 * @old:	the version before, NULL at the first one after a start: then all buckets count that
 *		were destroyed while this node was away
 * @now:	the new one
 *
 * Blocks on the disk: on the cluster's thread for events.
 */
void purge_buckets(struct jobs *jobs, struct store *s, const struct bmd *old,
		   const struct bmd *now);

#endif
