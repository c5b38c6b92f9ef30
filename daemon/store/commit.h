/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The committer of a mountpath: one thread that makes changes durable in groups, in this order:
 * names of blobs, their folders, records, answers. The sweeper has the rest. See commit.c.
 */
#ifndef STORE_COMMIT_H
#define STORE_COMMIT_H

#include "base/list.h"
#include "store/blob.h"

enum commit_kind {
	COMMIT_NONE, /* nothing: ends when all before it has, with what it removed */
	COMMIT_PUT, /* link @blob, write @rec, remove what it replaces */
	COMMIT_CHANGE, /* write @rec; its blob stays */
	COMMIT_DELETE, /* remove the record and its blob */
	COMMIT_RANGE, /* remove up to COMMIT_RANGE_MAX records of key.bid, and their blobs */
	COMMIT_NR,
};

#define COMMIT_RANGE_MAX 1000

/* Embed it; the committer's from commit_submit() until @done, on its thread or the sweeper's. */
struct commit_op {
	struct list link; /* private */
	enum commit_kind kind;
	struct objkey key;
	const struct store_rec *rec; /* PUT, CHANGE: the new one */
	struct blob *blob; /* PUT: what to link; CHANGE: NULL or whose trailer is new */
	const char *old_blob; /* PUT, DELETE: to unlink after; NULL: none */
	uint32_t old_flags;
	struct buf victims; /* private: blobs a RANGE removed */
	size_t count; /* RANGE: records removed */
	int err; /* 0 or negative errno, set before @done */
	void (*done)(struct commit_op *op);
};

/* Start the thread. Return: 0; -ENOMEM; or the error of pthread_create(3), negative. */
int committer_new(struct mpath *mp, struct committer **ret);
/* Finish what is queued, write access times, end the thread. NULL is fine. */
void committer_free(struct committer *c);
/* Any thread; never blocks for long, never refuses: see commit_admit(). */
void commit_submit(struct committer *c, struct commit_op *op);

/*
 * Changes that clients ask for are bounded: those that wait for a key, too. Each is admitted before
 * anything is taken, and discharged when it is answered.
 */
#define COMMIT_QUEUE_MAX 4096

/* Any thread. Return: 0; -EAGAIN there are too many. */
int commit_admit(struct committer *c);
void commit_discharge(struct committer *c);
/* Would commit_admit() refuse now? */
bool commit_is_full(struct committer *c);
/* Another bound than COMMIT_QUEUE_MAX; 0 refuses all. */
void commit_set_max(struct committer *c, unsigned int max);

#endif
