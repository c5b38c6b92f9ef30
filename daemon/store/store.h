/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * store - objects on local file systems: an index (LMDB) and immutable blobs on each mountpath
 *
 * The record in the index is the only truth; a blob is never changed once it has a name. Functions
 * here may block on a disk: call them on the io pool, never on a loop. Those with a @done callback
 * end later, on the committer thread of the mountpath or at once on the caller's; it must not
 * block. Errors are negative errno: -ENOENT no such object, -ENOSPC, -EDQUOT, -EIO, -EROFS and what
 * the system calls give. Mountpaths come and go: "store/admin.h".
 */
#ifndef STORE_H
#define STORE_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/put.h"
#include "store/record.h"

struct store;
struct pool;
struct metrics;

/* A mountpath that is out of service is in the way: its objects are neither here nor gone. */
#define STORE_OUT (-ENODEV)

/* What a running store is told by the configuration; 0: no such limit, nothing by itself. */
struct store_limits {
	unsigned int out_of_space; /* used percent at which puts are refused: -ENOSPC */
	unsigned int high; /* used percent at which there is an alert */
	int64_t scrub_interval_ns; /* between two scrubs */
	uint64_t scrub_rate; /* bytes a second */
};

struct store_opts {
	size_t sz; /* sizeof(struct store_opts) */
	const char *const *paths; /* clean absolute mountpaths */
	size_t n_paths;
	const char *node_id; /* written to each mountpath at first use; another one is -EUCLEAN */
	bool sync; /* store.durability: commit */
	uint64_t map_bytes; /* LMDB map size a mountpath */
	unsigned int batch; /* records a commit, at most */
	struct pool *io; /* for continuations */
	struct metrics *metrics;
	const char *state_dir; /* keeps what is changed at run time; NULL: nothing is kept */
	struct store_limits limits;
	/* Placement uname of a bucket, to bring strays home. Return: 0; -ENOENT. Any thread. */
	int (*bucket)(void *ctx, uint64_t bid, char *uname, size_t size);
	/* A mountpath is in service again: it may hold buckets that are gone. Any thread. */
	void (*path_back)(void *ctx);
	void *ctx;
};

/**
 * store_open() - Lock and open all mountpaths, repair what a crash left, reap orphan blobs
 * @opts:	copied
 * @ret:	the store, written on success only
 * @err:	a sentence that names the mountpath and the fix
 * @err_size:	room at @err
 *
 * Starts a committer thread a mountpath. A mountpath that is known and can not be opened is out of
 * service; that of another node, or without its index, is an error.
 *
 * Return: 0; -EBUSY locked by another process; -EUCLEAN of another node or format; or an errno.
 */
int store_open(const struct store_opts *opts, struct store **ret, char *err, size_t err_size);
/*
 * Finish what was submitted, write access times, close; waits for each put that has begun to be
 * committed or aborted. The pool must still run. NULL is fine.
 */
void store_close(struct store *s);

/* ---- reading ---- */

/* Record of an object. Return: 0, -ENOENT, or an errno of the index. */
int store_stat(struct store *s, const struct store_bck *b, const char *name, struct store_rec *rec);

/**
 * store_open_blob() - Record of an object and a descriptor of exactly that version
 * @s:		the store
 * @b:		bucket
 * @name:	object name
 * @rec:	written on success only
 * @ret_fd:	O_RDONLY, the caller's, on success only
 *
 * Notes the access time. An overwrite in between is looked up anew.
 *
 * Return: 0; -ENOENT; -EIO when the record has no blob or one of another size; or an errno.
 */
int store_open_blob(struct store *s, const struct store_bck *b, const char *name,
		    struct store_rec *rec, int *ret_fd);

struct store_entry {
	const char *name;
	size_t name_len;
	bool is_dir; /* no recursion: a virtual directory, name ends in '/' */
	const struct store_rec *rec; /* NULL for a directory */
};

struct store_list_opts {
	const char *prefix; /* "" for all */
	const char *after; /* exclusive; "" from the start */
	size_t max; /* entries; 0: no limit */
	bool no_recursion; /* children of prefix only, subdirectories once */
};

/**
 * store_list() - Objects of a bucket in byte order of names, all mountpaths merged
 * @s:		the store
 * @b:		bucket
 * @o:		what
 * @emit:	called for each entry, texts valid during the call only; non-zero stops
 * @arg:	for @emit
 *
 * Return: 0; what @emit returned if not 0; or an errno of the index.
 */
int store_list(struct store *s, const struct store_bck *b, const struct store_list_opts *o,
	       int (*emit)(void *arg, const struct store_entry *e), void *arg);

/* Number and bytes of a bucket's objects below @prefix, smallest and largest size. */
struct store_sum {
	uint64_t objects, bytes, min_size, max_size;
};
int store_summary(struct store *s, const struct store_bck *b, const char *prefix,
		  struct store_sum *ret);

/* ---- buckets and capacity ---- */

/**
 * store_bucket_destroy() - Remove all objects of a bucket, in slices
 * @s:		the store
 * @bid:	bucket ID: never used again
 *
 * Return: 0 or the first error; what could not be removed is found by the reaper.
 */
int store_bucket_destroy(struct store *s, uint64_t bid);
/* Call @fn for each bucket ID that has records. Return: 0; STORE_OUT: there may be more. */
int store_bucket_ids(struct store *s, void (*fn)(void *arg, uint64_t bid), void *arg);

struct store_space {
	char path[4096], device[256], fs_type[32];
	uint64_t fsid[2];
	uint64_t used, avail, total; /* bytes of the file system */
	uint64_t objects; /* records */
};
/* Number of mountpaths, those too that are not in service. */
size_t store_paths(const struct store *s);
/* Room on mountpath @path, and its number of index keys. Return: 0; STORE_OUT; or an errno. */
int store_space(struct store *s, size_t path, struct store_space *ret);

#endif
