/* SPDX-License-Identifier: BSD-2-Clause */
/* Objects of buckets that are gone go too. */
#include "jobs/purge.h"

#include <string.h>

#include "log.h"

struct purge {
	struct store *store;
	const struct bmd *now;
};

static void purge_one(void *arg, uint64_t bid)
{
	struct purge *p = arg;
	int r;

	if (bmd_find_bid(p->now, bid))
		return;
	if (!bmd_is_gone(p->now, bid)) {
		log_error(
			"bucket.unknown",
			"bid=0x%llx fix=\"its objects are kept: the primary's bucket metadata was "
			"lost or replaced; restore it\"",
			(unsigned long long)bid);
		return;
	}
	r = store_bucket_destroy(p->store, bid);
	if (r < 0)
		log_error("bucket.purge", "bid=0x%llx err=\"%s\"", (unsigned long long)bid,
			  strerror(-r));
	else
		log_info("bucket.purge", "bid=0x%llx", (unsigned long long)bid);
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

void purge_buckets(struct jobs *jobs, struct store *s, const struct bmd *old, const struct bmd *now)
{
	struct purge p = {s, now};
	int r;

	if (old && !abort_jobs(jobs, old, now))
		return;
	r = store_bucket_ids(s, purge_one, &p);
	if (r < 0)
		log_error("bucket.purge", "err=\"%s\"", strerror(-r));
}
