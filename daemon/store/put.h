/* SPDX-License-Identifier: BSD-2-Clause */
/* Writing objects: put, delete, change, copy, append. Use "store/store.h". */
#ifndef STORE_PUT_H
#define STORE_PUT_H

#include "store/record.h"

struct store;
struct store_put;

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
 * Return: 0; -EAGAIN too many changes wait for the disk; -ENAMETOOLONG; -ENOSPC and other errno of
 * open(2), fallocate(2); -ENOMEM.
 */
int store_put_begin(struct store *s, const struct store_bck *b, const char *name,
		    const struct store_put_opts *o, struct store_put **ret);
/* Next bytes. Return: 0 or an errno of pwrite(2); then store_put_abort(). */
int store_put_write(struct store_put *p, const void *data, size_t n);

/* Conditions a @done may be given. */
#define STORE_E_CKSUM 1

/**
 * store_put_commit() - Make the version the object
 * @p:		the put, consumed
 * @done:	called once; err 0: durable as configured and visible; STORE_E_CKSUM: the client's
 *		checksum differs, @rec->cksum holds the one computed, of the client's type
 * @arg:	for @done
 *
 * A put of another length than announced fails with -EBADMSG. -EAGAIN: too many changes wait for
 * the disk, nothing was done; ask again later.
 *
 * Takes the key's lock, so that versions count, then sets the xattr, syncs, and queues the record.
 */
void store_put_commit(struct store_put *p, store_done_fn done, void *arg);
void store_put_abort(struct store_put *p);

/* Remove an object. @done: 0 after it is durable; -ENOENT; -EAGAIN as of store_put_commit(). */
void store_delete(struct store *s, const struct store_bck *b, const char *name, store_done_fn done,
		  void *arg);

/* A change of custom metadata. */
struct store_custom {
	const char *pairs; /* packed */
	size_t len;
	bool replace; /* drop the pairs that are not in it */
};

/**
 * store_set_custom() - Change custom metadata of an object
 * @s:		the store
 * @b:		bucket
 * @name:	object
 * @c:		the change, copied
 * @done:	0; -ENOENT; -EMSGSIZE over STORE_CUSTOM_MAX; -EAGAIN as of store_put_commit()
 * @arg:	for @done
 */
void store_set_custom(struct store *s, const struct store_bck *b, const char *name,
		      const struct store_custom *c, store_done_fn done, void *arg);

/* An object by bucket and name. */
struct store_name {
	const struct store_bck *bck;
	const char *name;
};

/* As store_delete(), but only the version with sequence number @seq; -ENOENT for another one. */
void store_delete_version(struct store *s, struct store_name n, uint64_t seq, store_done_fn done,
			  void *arg);

/**
 * store_copy() - Copy an object to another name on this node, metadata and checksum included
 * @s:		the store
 * @from:	source
 * @to:		the copy
 * @done:	as of store_put_commit(); -ENOENT without a source
 * @arg:	for @done
 *
 * Shares extents where the file system can (FICLONE), else copies in the kernel. The stored
 * checksum is kept if of the target bucket's type, else computed.
 */
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

#endif
