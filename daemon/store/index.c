/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * LMDB as the index: keys, long names, room kept back, short transactions. Functions named _in run
 * under a guard: whatever touches the map is called by them, and they take no locks of their own.
 */
#include "store/index.h"

#include <errno.h>
#include <fcntl.h>
#include <lmdb.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "log.h"
#include "store/guard.h"

#define KEY_MAX (8 + LONG_PREFIX)
#define READERS_MAX 1022
#define RESERVE_MIN (UINT64_C(8) << 20) /* mapped beyond the records' room */
#define RESERVE_DISK (UINT64_C(4) << 20) /* allocated ahead of the last page in use */
#define UUID_KEY "uuid"

struct index {
	MDB_env *env;
	MDB_dbi records, info;
	struct guard_map maps[GUARD_MAPS];
	atomic_bool lost;
	void (*on_lost)(void *arg);
	void *lost_arg;
	bool sync;
	uint64_t room; /* bytes the records may fill */
	uint64_t allocated; /* bytes of the file that have blocks; the committer's */
	bool disk_full; /* the last reservation failed; the committer's */
	int has_room; /* of the write transaction: -1 not yet asked; the committer's */
	unsigned int page;
};

_Static_assert(KEY_MAX == 511, "LMDB's limit as Debian builds it");

static int lose(struct index *x)
{
	if (!atomic_exchange(&x->lost, true) && x->on_lost)
		x->on_lost(x->lost_arg);
	return -EIO;
}

#define GUARDED(x, expr) (atomic_load(&(x)->lost) ? -EIO : guarded((x)->maps, expr, lose(x)))

/* LMDB's name for an error, in ours. One after which it is of no more use is a loss. */
static int errno_of(struct index *x, int r)
{
	switch (r) {
	case 0:
		return 0;
	case MDB_NOTFOUND:
		return -ENOENT;
	case MDB_MAP_FULL:
	case MDB_TXN_FULL:
		return -ENOSPC;
	case MDB_READERS_FULL:
		return -EAGAIN;
	case MDB_VERSION_MISMATCH:
	case MDB_INVALID:
		return -EUCLEAN;
	case MDB_PANIC:
	case MDB_CORRUPTED:
	case MDB_PAGE_NOTFOUND:
		return lose(x);
	default:
		return r > 0 ? -r : -EIO;
	}
}

/* ---- opening ---- */

static int dbs_open_in(struct index *x)
{
	MDB_txn *txn;
	MDB_stat st;
	int r;

	r = mdb_txn_begin(x->env, NULL, 0, &txn);
	if (r)
		return errno_of(x, r);
	r = mdb_dbi_open(txn, "records", MDB_CREATE, &x->records);
	if (!r)
		r = mdb_dbi_open(txn, "info", MDB_CREATE, &x->info);
	if (r) {
		mdb_txn_abort(txn);
		return errno_of(x, r);
	}
	mdb_stat(txn, x->records, &st);
	x->page = st.ms_psize;
	return errno_of(x, mdb_txn_commit(txn));
}

/* LMDB aborts the process where its tree contradicts itself, unless this does not return. */
static void on_assert(MDB_env *env, const char *msg)
{
	log_error("index.assert", "at=\"%s\"", msg);
	guard_trip();
}

/*
 * The table of readers is worth nothing before the first opens it; it may be that of an index that
 * was lost in this process, whose threads still hold its lock.
 */
static void drop_readers(const char *dir)
{
	char path[4096];

	if ((size_t)snprintf(path, sizeof(path), "%s/lock.mdb", dir) < sizeof(path))
		unlink(path);
}

static int env_open(struct index *x, const char *dir, uint64_t map_bytes)
{
	unsigned int flags = MDB_NOTLS | MDB_NORDAHEAD | (x->sync ? 0 : MDB_NOSYNC);
	mdb_filehandle_t fd;
	int r;

	r = mdb_env_create(&x->env);
	if (r)
		return errno_of(x, r);
	r = mdb_env_set_mapsize(x->env, map_bytes + MAX(map_bytes / 16, RESERVE_MIN));
	if (!r)
		r = mdb_env_set_maxreaders(x->env, READERS_MAX);
	if (!r)
		r = mdb_env_set_maxdbs(x->env, 2);
	if (!r)
		r = mdb_env_set_assert(x->env, on_assert);
	if (!r)
		r = mdb_env_open(x->env, dir, flags, 0600);
	if (!r)
		r = mdb_env_get_fd(x->env, &fd);
	if (r)
		return errno_of(x, r);
	guard_find(fd, "lock.mdb", x->maps);
	return GUARDED(x, dbs_open_in(x));
}

int index_open(const char *dir, uint64_t map_bytes, bool sync, struct index **ret)
{
	struct index *x = calloc(1, sizeof(*x));
	int r;

	if (!x)
		return -ENOMEM;
	x->sync = sync;
	x->room = MAX(map_bytes, UINT64_C(1) << 20);
	guard_start();
	drop_readers(dir);
	r = env_open(x, dir, x->room);
	if (r < 0) {
		index_close(x);
		return r;
	}
	*ret = x;
	return 0;
}

void index_close(struct index *x)
{
	if (!x)
		return;
	if (x->env && !atomic_load(&x->lost))
		mdb_env_close(x->env);
	free(x);
}

void index_watch(struct index *x, void (*lost)(void *arg), void *arg)
{
	x->on_lost = lost;
	x->lost_arg = arg;
}

bool index_is_lost(const struct index *x)
{
	return atomic_load(&x->lost);
}

int index_sync(struct index *x)
{
	return GUARDED(x, errno_of(x, mdb_env_sync(x->env, 1)));
}

static int uuid_in(struct index *x, char uuid[INDEX_UUID_MAX])
{
	MDB_val k = {sizeof(UUID_KEY) - 1, (void *)UUID_KEY}, v;
	MDB_txn *txn;
	int r;

	r = mdb_txn_begin(x->env, NULL, MDB_RDONLY, &txn);
	if (r)
		return errno_of(x, r);
	r = mdb_get(txn, x->info, &k, &v);
	if (!r && v.mv_size == INDEX_UUID_MAX - 1) {
		memcpy(uuid, v.mv_data, v.mv_size);
		uuid[v.mv_size] = 0;
	} else {
		uuid[0] = 0;
	}
	mdb_txn_abort(txn);
	return r == MDB_NOTFOUND ? 0 : errno_of(x, r);
}

int index_uuid(struct index *x, char uuid[INDEX_UUID_MAX])
{
	return GUARDED(x, uuid_in(x, uuid));
}

static int set_uuid_in(struct index *x, const char *uuid)
{
	MDB_val k = {sizeof(UUID_KEY) - 1, (void *)UUID_KEY}, v = {strlen(uuid), (void *)uuid};
	MDB_txn *txn;
	int r;

	r = mdb_txn_begin(x->env, NULL, 0, &txn);
	if (r)
		return errno_of(x, r);
	r = mdb_put(txn, x->info, &k, &v, 0);
	if (r) {
		mdb_txn_abort(txn);
		return errno_of(x, r);
	}
	r = mdb_txn_commit(txn);
	return errno_of(x, r ? r : mdb_env_sync(x->env, 1));
}

int index_set_uuid(struct index *x, const char *uuid)
{
	return GUARDED(x, set_uuid_in(x, uuid));
}

/* ---- room ---- */

static int reserve_in(struct index *x)
{
	mdb_filehandle_t fd;
	MDB_envinfo info;
	uint64_t need;

	mdb_env_info(x->env, &info);
	need = ((uint64_t)info.me_last_pgno + 1) * x->page + RESERVE_DISK / 2;
	if (need <= x->allocated)
		return 0;
	if (mdb_env_get_fd(x->env, &fd))
		return -EIO;
	need += RESERVE_DISK;
	if (fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, (off_t)need) == 0 || errno == EOPNOTSUPP) {
		x->allocated = need;
		x->disk_full = false;
		return 0;
	}
	if (errno != ENOSPC && errno != EDQUOT)
		return -errno;
	x->disk_full = true;
	return -errno;
}

int index_reserve(struct index *x)
{
	return GUARDED(x, reserve_in(x));
}

/* Pages that lie free inside the file. Only asked for when it has reached its limit. */
static uint64_t free_pages_in(struct index *x)
{
	MDB_cursor *c;
	MDB_txn *txn;
	MDB_val k, v;
	uint64_t n = 0;
	size_t count;

	if (mdb_txn_begin(x->env, NULL, MDB_RDONLY, &txn))
		return 0;
	if (mdb_cursor_open(txn, 0, &c) == 0) { /* 0: LMDB's own list of free pages */
		while (mdb_cursor_get(c, &k, &v, MDB_NEXT) == 0) {
			memcpy(&count, v.mv_data, sizeof(count));
			n += count;
		}
		mdb_cursor_close(c);
	}
	mdb_txn_abort(txn);
	return n;
}

static bool ask_room_in(struct index *x)
{
	MDB_envinfo info;
	uint64_t used;

	if (x->disk_full && reserve_in(x) < 0)
		return false;
	mdb_env_info(x->env, &info);
	used = (uint64_t)info.me_last_pgno + 1;
	if (used * x->page <= x->room)
		return true;
	return (used - MIN(used, free_pages_in(x))) * x->page <= x->room - x->room / 32;
}

bool index_has_room(struct index *x)
{
	if (x->has_room < 0)
		x->has_room = GUARDED(x, ask_room_in(x));
	return x->has_room != 0; /* who writes next learns of a loss */
}

/* ---- keys ---- */

static MDB_val key_make(const struct objkey *k, unsigned char raw[KEY_MAX])
{
	size_t n = MIN(k->len, (size_t)LONG_PREFIX);

	put_be64(raw, k->bid);
	memcpy(raw + 8, k->name, n);
	return (MDB_val){8 + n, raw};
}

static bool key_is_long(const MDB_val *k)
{
	return k->mv_size == KEY_MAX;
}

/* ---- reading ---- */

static int find_in(struct index *x, MDB_txn *txn, const struct objkey *k, struct store_rec *rec)
{
	unsigned char raw[KEY_MAX];
	MDB_val key = key_make(k, raw), v;
	struct longname_item it;
	int r;

	r = errno_of(x, mdb_get(txn, x->records, &key, &v));
	if (!r && key_is_long(&key)) {
		r = longname_find(v.mv_data, v.mv_size, k, &it);
		v = r ? v : (MDB_val){it.val_len, (void *)it.val};
	}
	return r ? r : record_decode(k, v.mv_data, v.mv_size, rec);
}

static int get_in(struct index *x, const struct objkey *k, struct store_rec *rec)
{
	MDB_txn *txn;
	int r;

	r = mdb_txn_begin(x->env, NULL, MDB_RDONLY, &txn);
	if (r)
		return errno_of(x, r);
	r = find_in(x, txn, k, rec);
	mdb_txn_abort(txn);
	return r;
}

int index_get(struct index *x, const struct objkey *k, struct store_rec *rec)
{
	return GUARDED(x, get_in(x, k, rec));
}

int index_find(struct index *x, struct MDB_txn *txn, const struct objkey *k, struct store_rec *rec)
{
	return GUARDED(x, find_in(x, txn, k, rec));
}

static int count_in(struct index *x, MDB_stat *st)
{
	MDB_txn *txn;
	int r = mdb_txn_begin(x->env, NULL, MDB_RDONLY, &txn);

	if (r)
		return errno_of(x, r);
	mdb_stat(txn, x->records, st);
	mdb_txn_abort(txn);
	return 0;
}

uint64_t index_count(struct index *x)
{
	MDB_stat st = {};

	return GUARDED(x, count_in(x, &st)) < 0 ? 0 : st.ms_entries;
}

/* ---- walking ---- */

struct walk {
	struct index *x;
	index_fn fn;
	void *arg;
	struct objkey from; /* what is before it is left out */
	char seek[STORE_NAME_MAX];
};

static bool item_before(const struct objkey *a, const struct objkey *b)
{
	int r;

	if (a->bid != b->bid)
		return a->bid < b->bid;
	r = memcmp(a->name, b->name, MIN(a->len, b->len));
	return r ? r < 0 : a->len < b->len;
}

static enum index_step visit(struct walk *w, const struct index_item *it)
{
	struct objkey seek = {};
	enum index_step step;

	if (item_before(&it->key, &w->from))
		return INDEX_NEXT;
	step = w->fn(w->arg, it, &seek);
	if (atomic_load(&w->x->lost)) /* the callback, or another thread, has lost it */
		return INDEX_STOP;
	if (step != INDEX_SEEK)
		return step;
	seek.len = MIN(seek.len, sizeof(w->seek));
	memmove(w->seek, seek.name, seek.len);
	w->from = (struct objkey){seek.bid, w->seek, seek.len};
	return INDEX_SEEK;
}

/* All records under one key. Return: a step, or -EUCLEAN. */
static int visit_key(struct walk *w, const MDB_val *k, const MDB_val *v)
{
	struct index_item it = {.val = v->mv_data, .val_len = v->mv_size};
	struct longname_item l;
	size_t pos = 0;
	int r;

	if (k->mv_size < 8)
		return -EUCLEAN;
	it.key.bid = get_be64(k->mv_data);
	it.key.name = (const char *)k->mv_data + 8;
	it.key.len = k->mv_size - 8;
	if (!key_is_long(k))
		return (int)visit(w, &it);
	while ((r = longname_next(v->mv_data, v->mv_size, &pos, &l)) > 0) {
		enum index_step step;

		it.key.name = l.name;
		it.key.len = l.name_len;
		it.val = l.val;
		it.val_len = l.val_len;
		step = visit(w, &it);
		if (step != INDEX_NEXT)
			return (int)step;
	}
	return r < 0 ? r : (int)INDEX_NEXT;
}

static int walk_cursor(struct walk *w, MDB_cursor *c)
{
	unsigned char raw[KEY_MAX];
	MDB_val k = key_make(&w->from, raw), v;
	int r, step;

	r = mdb_cursor_get(c, &k, &v, MDB_SET_RANGE);
	while (!r) {
		step = visit_key(w, &k, &v);
		if (step < 0)
			return step;
		if (step == INDEX_STOP)
			return 0;
		if (step == INDEX_SEEK)
			k = key_make(&w->from, raw);
		r = mdb_cursor_get(c, &k, &v, step == INDEX_SEEK ? MDB_SET_RANGE : MDB_NEXT);
	}
	return r == MDB_NOTFOUND ? 0 : errno_of(w->x, r);
}

static int walk_in(struct walk *w, MDB_txn *txn)
{
	struct index *x = w->x;
	MDB_txn *t = txn;
	MDB_cursor *c;
	int r;

	if (!txn) {
		r = mdb_txn_begin(x->env, NULL, MDB_RDONLY, &t);
		if (r)
			return errno_of(x, r);
	}
	r = errno_of(x, mdb_cursor_open(t, x->records, &c));
	if (!r)
		r = walk_cursor(w, c);
	else
		c = NULL;
	if (atomic_load(&x->lost))
		return -EIO;
	if (c)
		mdb_cursor_close(c);
	if (!txn)
		mdb_txn_abort(t);
	return r;
}

int index_walk(struct index *x, struct MDB_txn *txn, const struct objkey *from, index_fn fn,
	       void *arg)
{
	struct walk w = {.x = x, .fn = fn, .arg = arg, .from = *from};

	return GUARDED(x, walk_in(&w, txn));
}

/* ---- writing ---- */

int index_begin(struct index *x, struct MDB_txn **ret)
{
	x->has_room = -1;
	return GUARDED(x, errno_of(x, mdb_txn_begin(x->env, NULL, 0, ret)));
}

/* Set or (@val NULL) remove one name of a list. */
static int long_edit_in(struct index *x, MDB_txn *txn, const struct objkey *k,
			const struct buf *val)
{
	autobuf struct buf list = BUF_INIT;
	unsigned char raw[KEY_MAX];
	MDB_val key = key_make(k, raw), old = {0, NULL}, v;
	int r;

	r = mdb_get(txn, x->records, &key, &old);
	if (r && r != MDB_NOTFOUND)
		return errno_of(x, r);
	r = longname_edit(old.mv_data, old.mv_size, k, val, &list);
	if (r < 0)
		return r;
	if (list.err)
		return list.err;
	if (!list.len)
		return errno_of(x, mdb_del(txn, x->records, &key, NULL));
	v = (MDB_val){list.len, list.data};
	return errno_of(x, mdb_put(txn, x->records, &key, &v, 0));
}

static int put_in(struct index *x, MDB_txn *txn, const struct objkey *k, const struct buf *b)
{
	unsigned char raw[KEY_MAX];
	MDB_val key = key_make(k, raw), v = {b->len, b->data};

	if (key_is_long(&key))
		return long_edit_in(x, txn, k, b);
	return errno_of(x, mdb_put(txn, x->records, &key, &v, 0));
}

int index_put(struct index *x, struct MDB_txn *txn, const struct objkey *k,
	      const struct store_rec *rec)
{
	autobuf struct buf b = BUF_INIT;

	record_encode(k, rec, &b);
	return b.err ? b.err : GUARDED(x, put_in(x, txn, k, &b));
}

static int del_in(struct index *x, MDB_txn *txn, const struct objkey *k)
{
	unsigned char raw[KEY_MAX];
	MDB_val key = key_make(k, raw);

	if (key_is_long(&key))
		return long_edit_in(x, txn, k, NULL);
	return errno_of(x, mdb_del(txn, x->records, &key, NULL));
}

int index_del(struct index *x, struct MDB_txn *txn, const struct objkey *k)
{
	return GUARDED(x, del_in(x, txn, k));
}

int index_commit(struct index *x, struct MDB_txn *txn)
{
	int r = GUARDED(x, errno_of(x, mdb_txn_commit(txn)));

	if (r == 0)
		index_reserve(x);
	return r;
}

static int abort_in(MDB_txn *txn)
{
	mdb_txn_abort(txn);
	return 0;
}

void index_abort(struct index *x, struct MDB_txn *txn)
{
	GUARDED(x, abort_in(txn));
}
