/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The sweeper of a mountpath: one thread that unlinks blobs nobody refers to any more. Beside the
 * committer, since unlink(2) can take milliseconds (a file system that discards at once).
 */
#ifndef STORE_SWEEP_H
#define STORE_SWEEP_H

#include "base/list.h"
#include "store/impl.h"

struct sweeper;

enum victim_what {
	VICTIM_NONE,
	VICTIM_BLOB,
	VICTIM_BOTH, /* a blob and its trailer */
	VICTIM_TRAILER,
	VICTIM_NR,
};

/* Append a file to unlink to @b; check @b->err. */
void victim_add(struct buf *b, const char *blob, enum victim_what what);
/* What to unlink for a record with @flags. */
enum victim_what victim_of(uint32_t flags);

/* Start the thread. Return: 0; -ENOMEM; or the error of pthread_create(3), negative. */
int sweeper_new(struct mpath *mp, struct sweeper **ret);
/* Do what is urgent, of the rest what fits into a moment; the next start finds it. NULL is fine. */
void sweeper_free(struct sweeper *s);

/**
 * sweep_add() - Files to unlink now, and removals to answer when that is durable
 * @s:		the sweeper
 * @victims:	as victim_add() made it; empty afterwards
 * @ops:	list of struct commit_op, ended in order; empty afterwards
 *
 * Waits while very many are queued.
 */
void sweep_add(struct sweeper *s, struct buf *victims, struct list *ops);
/* Files to unlink when there is nothing urgent. @victims is empty afterwards. */
void sweep_later(struct sweeper *s, struct buf *victims);
/* A name has gone from a folder otherwise, not durably. Any thread. */
void sweep_mark(struct sweeper *s, unsigned int dir);
/* Are there files to unlink that are not urgent? They may still have their names for long. */
bool sweep_busy(struct sweeper *s);
/* Wait until at most @max files are queued. Not from the committer's callbacks. */
void sweep_wait(struct sweeper *s, size_t max);

#endif
