/* SPDX-License-Identifier: BSD-2-Clause */
/* Objects of buckets that are gone go too: on the io pool, one run a version of the metadata. */
#include "jobs/purge.h"

#include <stdlib.h>
#include <string.h>

#include "log.h"
#include "loop/pool.h"

struct purge {
	struct pool_job job;
	struct store *store;
	struct bmd *now;
};

static void purge_one(void *arg, uint64_t bid)
{
	struct purge *p = arg;
	int r;

	if (bmd_find_bid(p->now, bid))
		return;
	r = store_bucket_destroy(p->store, bid);
	if (r < 0)
		log_error("bucket.purge", "bid=0x%llx err=\"%s\"", (unsigned long long)bid,
			  strerror(-r));
	else
		log_info("bucket.purge", "bid=0x%llx", (unsigned long long)bid);
}

static void purge_run(struct pool_job *j)
{
	struct purge *p = container_of(j, struct purge, job);
	int r = store_bucket_ids(p->store, purge_one, p);

	if (r < 0)
		log_error("bucket.purge", "err=\"%s\"", strerror(-r));
	bmd_put(p->now);
	free(p);
}

/* Abort the jobs of buckets that are not in @now. Return: whether there were such buckets. */
static bool abort_jobs(struct jobs *jobs, const struct bmd *old, const struct bmd *now)
{
	bool gone = false;
	size_t i;

	for (i = 0; i < bmd_count(old); i++) {
		const struct bmd_bucket *b = bmd_at(old, i);
		struct job_query q = {.bck = &b->name};

		if (bmd_find_bid(now, b->bid))
			continue;
		jobs_abort(jobs, &q, "remove bucket");
		gone = true;
	}
	return gone;
}

void purge_buckets(const struct purge_opts *o, const struct bmd *old, const struct bmd *now)
{
	struct purge *p;

	if (old && !abort_jobs(o->jobs, old, now))
		return;
	p = calloc(1, sizeof(*p));
	if (!p) {
		log_error("bucket.purge", "err=\"out of memory\" fix=\"a restart purges\"");
		return;
	}
	p->job.fn = purge_run;
	p->store = o->store;
	p->now = bmd_get((struct bmd *)now);
	pool_continue(o->io, &p->job);
}
