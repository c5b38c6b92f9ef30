/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of the store share. */
#ifndef STORE_IMPL_H
#define STORE_IMPL_H

#include <pthread.h>
#include <stdatomic.h>

#include "store/codec.h"
#include "store/index.h"
#include "store/store.h"

#define BLOB_DIRS 256
#define XATTR_NAME "user.pagewire.record"
#define STORE_IO_STEP (UINT32_C(1) << 20) /* bytes written and hashed at a time */

struct atimes;
struct committer;
struct sweeper;
struct keylock;

/* Out of service: disabled by an operator, failed by an error. Detached: forgotten. */
enum mpath_state {
	MPATH_NONE, /* the slot is free */
	MPATH_AVAILABLE,
	MPATH_DISABLED,
	MPATH_FAILED,
	MPATH_DETACHED,
	MPATH_STATE_NR,
};

/* One mountpath. Its slot keeps its place while the store is open. */
struct mpath {
	atomic_int state; /* enum mpath_state */
	char reason[192]; /* why it is out; under the store's lock */
	int64_t since_ns; /* wall clock of the last change of state; the same */
	struct store *s;
	uint32_t idx;
	char *path;
	uint64_t digest; /* of the path, for placement */
	int lock_fd; /* meta/lock, held */
	int blob_fd, work_fd; /* folders */
	bool named_tmp; /* no O_TMPFILE here: blobs begin as files in blob/tmp/ */
	bool no_xattr; /* none here: the copy of each record is a trailer */
	struct index *ix;
	struct atimes *at;
	struct committer *com;
	struct sweeper *sw;
};

struct store {
	bool sync;
	unsigned int batch;
	struct pool *io;
	struct metrics *metrics;
	struct keylock *locks;
	uint64_t epoch; /* of blob names: random, new with each start */
	atomic_uint_fast64_t blobs; /* and their count */
	atomic_uint_fast64_t seq; /* last one given */
	pthread_mutex_t lock; /* of inflight */
	pthread_cond_t idle;
	size_t inflight; /* puts begun, deletes and changes not yet answered */
	size_t n_paths;
	uint64_t digests[STORE_PATHS_MAX];
	struct mpath paths[STORE_PATHS_MAX];
};

/* The mountpath of an object. */
struct mpath *store_path_of(struct store *s, const struct store_bck *b, const char *name);
/* Key of an object. Return: 0; -EINVAL empty; -ENAMETOOLONG. */
int store_key(const struct store_bck *b, const char *name, struct objkey *k);
/* A sequence number higher than all given and than @above. */
uint64_t store_next_seq(struct store *s, uint64_t above);
/* One more operation that store_close() waits for; and its end. */
void store_hold(struct store *s);
void store_drop(struct store *s);
/* Record from the index with the newest access time; damage is -EIO. */
int store_lookup(struct mpath *mp, const struct objkey *k, struct store_rec *rec);

/* ---- mountpath.c, reap.c ---- */

/* A place for a sentence. */
struct errtext {
	char *text;
	size_t size;
};

/* Lock and open one mountpath, make it at first use. Return: as store_open(). */
int mpath_open(struct mpath *mp, const struct store_opts *o, const struct errtext *err);
void mpath_close(struct mpath *mp);
/* Has a folder no entries (or is unreadable)? */
bool mpath_dir_empty(int at, const char *name);
/* Remove what a crash left: orphan blobs, temporary files, old work files. Return: 0 or errno. */
int mpath_reap(struct mpath *mp);

/**
 * mpath_fail() - Take a mountpath out of service
 * @mp:		the mountpath
 * @err:	negative errno that shows it
 * @where:	what was done, for the reason: "write", "index"
 *
 * Any thread; does no I/O on @mp. Of several calls the first counts and is logged.
 */
void mpath_fail(struct mpath *mp, int err, const char *where);
/* May it be used? Any thread. */
bool mpath_ok(const struct mpath *mp);

#endif
