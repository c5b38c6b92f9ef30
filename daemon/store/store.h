/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * store - objects on local file systems: an index (LMDB) and immutable blobs on each mountpath
 *
 * The record in the index is the only truth; a blob is never changed once it has a name. Functions
 * here may block on a disk: call them on the io pool, never on a loop. Those with a @done callback
 * end later, on the committer thread of the mountpath or at once on the caller's; it must not
 * block. Errors are negative errno: -ENOENT no such object, -ENOSPC, -EDQUOT, -EIO, -EROFS and what
 * the system calls give.
 */
#ifndef STORE_H
#define STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "store/cksum.h"

struct store;
struct store_put;
struct pool;
struct metrics;

#define STORE_NAME_MAX 1024 /* bytes of an object name */
#define STORE_CUSTOM_MAX 2048 /* keys and values of custom metadata together */
#define STORE_PATHS_MAX 64

/* The bucket an object belongs to. */
struct store_bck {
	uint64_t bid; /* prefix of its keys */
	const char *uname; /* placement uname of the bucket, "ais/@#/abc/", for the mountpath */
	enum cksum_type cksum; /* what new objects get */
	bool versioned;
};

/* What is known of an object. Plain data: copy freely. */
struct store_rec {
	uint64_t size;
	uint64_t version; /* 0: none */
	uint64_t seq; /* of two blobs with one key the higher counts */
	int64_t mtime_ns; /* wall clock of the PUT */
	int64_t atime_ns; /* last access, from memory when newer */
	uint32_t flags; /* STORE_F_* */
	uint32_t path; /* index of the mountpath */
	enum cksum_type ctype;
	char cksum[CKSUM_TEXT_MAX]; /* lower-case hex, "" for none */
	char blob[48]; /* its name below blob/, unique for ever */
	uint16_t custom_len;
	char custom[STORE_CUSTOM_MAX + 512]; /* custom metadata: key NUL value NUL ... */
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
};

/**
 * store_open() - Lock and open all mountpaths, repair what a crash left, reap orphan blobs
 * @opts:	copied
 * @ret:	the store, written on success only
 * @err:	a sentence that names the mountpath and the fix
 * @err_size:	room at @err
 *
 * Starts a committer thread a mountpath.
 *
 * Return: 0; -EBUSY locked by another process; -EUCLEAN of another node or format; or an errno.
 */
int store_open(const struct store_opts *opts, struct store **ret, char *err, size_t err_size);
/* Finish what was submitted, write access times, close. NULL is fine. */
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

/* ---- writing ---- */

struct store_put_opts {
	int64_t size; /* bytes to come, -1 unknown */
	const char *custom; /* packed custom metadata, copied */
	size_t custom_len;
	enum cksum_type want_type; /* the client's checksum, CKSUM_NONE: not sent */
	const char *want_value; /* copied */
	bool reset_version; /* skip_vc: start at 1 again */
	uint64_t base_version; /* not 0: the result is this plus one */
	int64_t mtime_ns; /* 0: now */
};

/* Result of a put, delete or change: @rec is set when err is 0 (for delete: what was removed). */
typedef void (*store_done_fn)(void *arg, int err, const struct store_rec *rec);

/**
 * store_put_begin() - Begin a new version of an object
 * @s:		the store
 * @b:		bucket, copied
 * @name:	object name, copied
 * @o:		options
 * @ret:	the put, on success only; ends by store_put_commit() or store_put_abort()
 *
 * Return: 0; -ENAMETOOLONG; -ENOSPC and other errno of open(2), fallocate(2); -ENOMEM.
 */
int store_put_begin(struct store *s, const struct store_bck *b, const char *name,
		    const struct store_put_opts *o, struct store_put **ret);
/* Next bytes. Return: 0 or an errno of pwrite(2); then store_put_abort(). */
int store_put_write(struct store_put *p, const void *data, size_t n);

/**
 * store_put_commit() - Make the version the object
 * @p:		the put, consumed
 * @done:	called once; err 0: durable as configured and visible; STORE_E_CKSUM: the client's
 *		checksum differs, @rec->cksum holds the one computed, of the client's type
 * @arg:	for @done
 *
 * Takes the key's lock, so that versions count, then sets the xattr, syncs, and queues the record.
 */
void store_put_commit(struct store_put *p, store_done_fn done, void *arg);
void store_put_abort(struct store_put *p);
#define STORE_E_CKSUM 1
#define STORE_E_EXISTS 2

/* Remove an object. @done: 0 after it is durable; -ENOENT. */
void store_delete(struct store *s, const struct store_bck *b, const char *name, store_done_fn done,
		  void *arg);

/**
 * store_set_custom() - Change custom metadata of an object
 * @s:		the store
 * @b:		bucket
 * @name:	object
 * @custom:	packed pairs, copied
 * @custom_len:	bytes
 * @replace:	drop the pairs that are not in @custom
 * @done:	0; -ENOENT; -EMSGSIZE over STORE_CUSTOM_MAX
 * @arg:	for @done
 */
struct store_custom {
	const char *pairs;
	size_t len;
	bool replace;
};
void store_set_custom(struct store *s, const struct store_bck *b, const char *name,
		      const struct store_custom *c, store_done_fn done, void *arg);

/**
 * store_copy() - Copy an object to another name on this node, metadata and checksum included
 * @s:		the store
 * @from:	bucket of the source
 * @from_name:	source
 * @to:		bucket of the copy
 * @to_name:	name of the copy
 * @done:	as of store_put_commit(); -ENOENT without a source
 * @arg:	for @done
 *
 * Shares extents where the file system can (FICLONE), else copies in the kernel. The stored
 * checksum is kept if of the target bucket's type, else computed.
 */
struct store_name {
	const struct store_bck *bck;
	const char *name;
};
void store_copy(struct store *s, struct store_name from, struct store_name to, store_done_fn done,
		void *arg);

/* ---- append: an object grown in steps, invisible until flushed ---- */

/**
 * store_append() - Begin or continue an append: a put whose bytes go to a work file
 * @s:		the store
 * @b:		bucket
 * @name:	object
 * @work:	token of an earlier step, "" to begin (from the object's content, if it exists)
 * @ret:	the put; store_put_write() adds; end with store_append_park() or store_put_commit()
 *
 * Return: 0; -ENOENT unknown or used token; -EINVAL malformed token; -EBUSY the token is in use.
 */
int store_append(struct store *s, const struct store_bck *b, const char *name, const char *work,
		 struct store_put **ret);
/* Keep the work file for the next step; @token of 64 bytes. Return: 0 or an errno. */
int store_append_park(struct store_put *p, char token[64]);
/* The checksum the client sent with its flush. */
void store_append_expect(struct store_put *p, enum cksum_type type, const char *value);

/* ---- buckets and capacity ---- */

/**
 * store_bucket_destroy() - Remove all objects of a bucket, in slices
 * @s:		the store
 * @bid:	bucket ID: never used again
 *
 * Return: 0 or the first error; what could not be removed is found by the reaper.
 */
int store_bucket_destroy(struct store *s, uint64_t bid);
/* Call @fn for each bucket ID that has records. */
int store_bucket_ids(struct store *s, void (*fn)(void *arg, uint64_t bid), void *arg);

struct store_space {
	char path[4096], device[256], fs_type[32];
	uint64_t fsid[2];
	uint64_t used, avail, total; /* bytes of the file system */
	uint64_t objects; /* records */
};
size_t store_paths(const struct store *s);
int store_space(struct store *s, size_t path, struct store_space *ret);

/* ---- packed custom metadata ---- */

/* Add a pair to packed @buf. Return: 0; -EINVAL empty key, NUL or control byte; -EMSGSIZE. */
int store_custom_add(struct buf *b, const char *key, const char *value);
/* Next pair after *@pos (begin with 0). False at the end. */
bool store_custom_next(const char *packed, size_t len, size_t *pos, const char **key,
		       const char **value);
/* Value of a key, or NULL. */
const char *store_custom_find(const struct store_rec *rec, const char *key);

#endif
