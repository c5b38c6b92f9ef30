/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Access times of one mountpath, kept in memory and written to the index in batches. Bounded: when
 * it is full, new ones are dropped until the next flush.
 */
#ifndef STORE_ATIME_H
#define STORE_ATIME_H

#include "store/index.h"

struct atimes;

/* Return: 0 or -ENOMEM. */
int atimes_new(struct atimes **ret);
/* Drop all that is not flushed. NULL is fine. */
void atimes_free(struct atimes *a);
/* Any thread. */
void atimes_note(struct atimes *a, const struct objkey *k, int64_t ns);
/* The noted time of a key, or 0. Any thread. */
int64_t atimes_get(struct atimes *a, const struct objkey *k);
/* Is anything noted, and too much? Any thread. */
size_t atimes_count(struct atimes *a);
/* Write all to the index, @batch a transaction. The committer. Return: 0 or errno of the index. */
int atimes_flush(struct atimes *a, struct index *ix, unsigned int batch);

#endif
