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
struct keylock_hold;
struct commit_op;
struct watch;
struct mover;
struct scrub;
struct quarantine;

/*
 * Out of service: disabled by an operator, failed by an error. Read-only: nothing can be written,
 * what is there is served. Detached: forgotten.
 */
enum mpath_state {
	MPATH_NONE, /* the slot is free */
	MPATH_AVAILABLE,
	MPATH_READONLY,
	MPATH_DISABLED,
	MPATH_FAILED,
	MPATH_DETACHED,
	MPATH_STATE_NR,
};

/*
 * One mountpath. Its slot keeps its place and its path while the store is open; what is behind it
 * is closed when it is out of service and the last user is gone.
 */
struct mpath {
	atomic_int state; /* enum mpath_state */
	atomic_uint users; /* who holds it: mpath_drop() */
	atomic_bool strays; /* may hold names that another mountpath owns */
	atomic_bool strays_kept; /* and the state file says so */
	atomic_uint_fast64_t strays_seen; /* how many came */
	atomic_bool full, low; /* of room, against the limits: space.c */
	atomic_int_fast64_t left; /* bytes, as known last; what is on its way taken off */
	atomic_int_fast64_t looked_ns; /* when; monotonic */
	atomic_bool suspect; /* an operation on it has failed: the watch tries it */
	unsigned int bad_tries; /* the watch's: in a row */
	char reason[192]; /* why it is out; under the store's lock */
	int64_t since_ns; /* wall clock of the last change of state; the same */
	char uuid[INDEX_UUID_MAX]; /* of its format file; "" before the first use */
	bool attached; /* at run time */
	bool open; /* has what follows; under the store's admin lock */
	struct store *s;
	uint32_t idx;
	char *path;
	uint64_t digest; /* of the path, for placement */
	uint64_t dev, ino; /* of the folder when it was opened */
	int lock_fd; /* meta/lock, held */
	int blob_fd, work_fd, bad_fd; /* folders */
	bool named_tmp; /* no O_TMPFILE here: blobs begin as files in blob/tmp/ */
	bool no_xattr; /* none here: the copy of each record is a trailer */
	struct index *ix;
	struct atimes *at;
	struct committer *com;
	struct sweeper *sw;
};

/* The mountpaths that take part in placement, out of service or not. */
struct mpath_set {
	size_t n;
	uint64_t digests[STORE_PATHS_MAX];
	uint8_t slot[STORE_PATHS_MAX];
};

struct store {
	bool sync;
	unsigned int batch;
	struct pool *io;
	struct metrics *metrics;
	struct keylock *locks;
	struct store_opts o; /* with texts of its own; no paths */
	uint64_t epoch; /* of blob names: random, new with each start */
	atomic_uint_fast64_t blobs; /* and their count */
	atomic_uint_fast64_t seq; /* last one given */
	pthread_mutex_t lock; /* of inflight */
	pthread_cond_t idle;
	size_t inflight; /* puts begun, deletes and changes not yet answered */
	pthread_mutex_t admin; /* one change of mountpaths at a time */
	pthread_mutex_t save; /* one writer of the state file; inside admin */
	pthread_rwlock_t set_lock; /* of the set; users are counted under it */
	atomic_bool uneven; /* some are out or have strays: names are looked for everywhere */
	atomic_uint_fast64_t moves; /* of objects between mountpaths */
	pthread_rwlock_t move_lock; /* lists against the removal of what was moved */
	struct store_limits limits; /* under lock */
	struct watch *watch;
	struct mover *mover;
	struct scrub *scrub;
	struct quarantine *bad;
	atomic_int_fast64_t scrubbed_ns; /* wall clock: end of the last whole scrub */
	struct mpath_set set;
	atomic_size_t n_paths; /* slots that were ever used */
	struct mpath paths[STORE_PATHS_MAX];
};

/* ---- place.c: which mountpaths a name is looked for on ---- */

/* Digest of a name, for placement. */
uint64_t store_digest(const struct store_bck *b, const char *name);
/* The owner, in service or not; not held. NULL without any. */
struct mpath *store_owner(struct store *s, uint64_t digest);
/* Slot @i if it is in service, held: mpath_drop(). Else NULL. */
struct mpath *store_hold_path(struct store *s, size_t i);
/* Hold once more what is held. */
void mpath_hold(struct mpath *mp);
/* Let go; NULL is fine. */
void mpath_drop(struct mpath *mp);
/**
 * store_place() - Where a new version goes: the first mountpath in service in the name's order
 * @s:		the store
 * @digest:	store_digest() of the name
 * @ret:	held, on success only
 *
 * Return: 0; STORE_OUT without one.
 */
int store_place(struct store *s, uint64_t digest, struct mpath **ret);
/**
 * store_find() - The newest version of a name, wherever it is
 * @s:		the store
 * @digest:	store_digest() of the name
 * @k:		its key
 * @rec:	written on success only
 * @ret:	where it is, held; on success and -EUCLEAN
 *
 * Return: 0; -ENOENT; -EUCLEAN a damaged record; STORE_OUT when a mountpath that is out of service
 * may have it, or a newer version; or an errno of the index.
 */
int store_find(struct store *s, uint64_t digest, const struct objkey *k, struct store_rec *rec,
	       struct mpath **ret);
/*
 * The newest version beside @but, for who holds the key's lock. Return: 0, @ret held; -ENOENT.
 * What is out of service is passed over.
 */
int store_find_other(struct store *s, const struct mpath *but, const struct objkey *k,
		     struct store_rec *rec, struct mpath **ret);
/* Are all in service? */
bool store_whole(struct store *s);
/* And writable? */
bool store_sound(struct store *s);
/* Note that @mp holds a name that is not its own, lastingly. Return: 0 or an errno. */
int mpath_note_stray(struct mpath *mp);
/* Count again what makes the store uneven; under set_lock for writing, or before any thread. */
void store_recount(struct store *s);

/* ---- what else there is of a store ---- */

/* Key of an object. Return: 0; -EINVAL empty; -ENAMETOOLONG. */
int store_key(const struct store_bck *b, const char *name, struct objkey *k);
/* A sequence number higher than all given and than @above. */
uint64_t store_next_seq(struct store *s, uint64_t above);
/* One more operation that store_close() waits for; and its end. */
void store_hold(struct store *s);
void store_drop(struct store *s);
/* As store_find(), with the newest access time; damage is -EIO, nothing held. */
int store_lookup(struct store *s, uint64_t digest, const struct objkey *k, struct store_rec *rec,
		 struct mpath **ret);

/* ---- mountpath.c, reap.c ---- */

/* A place for a sentence. */
struct errtext {
	char *text;
	size_t size;
};

/* "path: what: why" into @err. Return: @r. */
int mpath_error(const struct errtext *err, const struct mpath *mp, const char *what, int r);
/* Lock and open one mountpath, make it at first use. Return: as store_open(). */
int mpath_open(struct mpath *mp, const struct store_opts *o, const struct errtext *err);
/* Close what is open; the path stays. */
void mpath_close(struct mpath *mp);
/* Open, reap, start its threads, put it into service. Under admin. Return: as store_open(). */
int mpath_start(struct mpath *mp, const struct errtext *err);
/* Close it if it is out of service and nobody holds it. Under admin. Return: is it closed? */
bool mpath_settle(struct mpath *mp);
/* Is its folder still the one that was opened, and can it be written? Return: 0 or an errno. */
int mpath_probe(struct mpath *mp);
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
/* May it be used? NULL may not. Any thread. */
bool mpath_ok(const struct mpath *mp);
/* And be written? */
bool mpath_writable(const struct mpath *mp);
/* An operation ended with @err (0 is fine): if that can be the disk, have it tried. Any thread. */
void mpath_suspect(struct mpath *mp, int err);

/* One operation of the committer, waited for. Return: its error, or a RANGE's count. */
int commit_wait(struct mpath *mp, struct commit_op *op);

#endif
