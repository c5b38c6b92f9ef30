/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The index of one mountpath: records by key in LMDB. The only file that speaks LMDB is index.c.
 *
 * Reads from any thread; each call has a read transaction of its own, none stays open. Writes
 * from one thread, the committer. Errors: -ENOENT, -ENOSPC map or disk full, -EIO, -EUCLEAN a
 * damaged record.
 *
 * A page of the map that can not be read is a fault, and so is a tree that contradicts itself. Then
 * the index is lost: the call and all later ones end with -EIO and never touch it again, not even
 * to abort or close; its memory stays.
 */
#ifndef STORE_INDEX_H
#define STORE_INDEX_H

#include "store/codec.h"

struct index;
struct MDB_txn;

#define INDEX_UUID_MAX 37

/**
 * index_open() - Open or create the environment
 * @dir:	its folder
 * @map_bytes:	room for records; more is mapped, so that removals fit when it is full
 * @sync:	commits are durable
 * @ret:	written on success only
 *
 * Return: 0 or an errno.
 */
int index_open(const char *dir, uint64_t map_bytes, bool sync, struct index **ret);
/* NULL is fine. */
void index_close(struct index *x);
/* @lost is told once, on the thread that finds the loss. Set it before other threads. */
void index_watch(struct index *x, void (*lost)(void *arg), void *arg);
/* Any thread. */
bool index_is_lost(const struct index *x);

/* The mountpath's UUID kept inside, "" before the first. Return: 0 or an errno. */
int index_uuid(struct index *x, char uuid[INDEX_UUID_MAX]);
/* Write it, durably. */
int index_set_uuid(struct index *x, const char *uuid);
/* Force all to disk, whatever @sync was. */
int index_sync(struct index *x);
/* Room on disk for the index is kept back ahead of its use. Return: 0 or -ENOSPC. */
int index_reserve(struct index *x);

/* Record of a key. */
int index_get(struct index *x, const struct objkey *k, struct store_rec *rec);
/* The same as a write transaction sees it. */
int index_find(struct index *x, struct MDB_txn *txn, const struct objkey *k, struct store_rec *rec);
/* Number of keys (records, where names are not long). */
uint64_t index_count(struct index *x);

/* One record met by a walk; borrowed until the callback returns. */
struct index_item {
	struct objkey key;
	const void *val;
	size_t val_len;
};

enum index_step {
	INDEX_NEXT,
	INDEX_STOP,
	INDEX_SEEK, /* go on at the key written to @seek, which is after this one */
};

typedef enum index_step (*index_fn)(void *arg, const struct index_item *it, struct objkey *seek);

/**
 * index_walk() - Visit records in order of key
 * @x:		the index
 * @txn:	the write transaction to see, or NULL for a read transaction of its own
 * @from:	where to begin, inclusive
 * @fn:		called for each; a fault may end it where it reads the item: it takes no locks
 * @arg:	for @fn
 *
 * Return: 0 at the end or when stopped; or an errno.
 */
int index_walk(struct index *x, struct MDB_txn *txn, const struct objkey *from, index_fn fn,
	       void *arg);

/* A write transaction; ends by index_commit() or index_abort(). Return: 0 or an errno. */
int index_begin(struct index *x, struct MDB_txn **ret);
/* Is there room for more records, or only what is kept back for removals? In a transaction. */
bool index_has_room(struct index *x);
/* After an error other than -ENOENT and -EUCLEAN the transaction must be aborted. */
int index_put(struct index *x, struct MDB_txn *txn, const struct objkey *k,
	      const struct store_rec *rec);
int index_del(struct index *x, struct MDB_txn *txn, const struct objkey *k);
int index_commit(struct index *x, struct MDB_txn *txn);
void index_abort(struct index *x, struct MDB_txn *txn);

#endif
