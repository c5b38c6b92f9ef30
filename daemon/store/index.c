/* SPDX-License-Identifier: BSD-2-Clause */
/* LMDB as the index: keys, long names, room kept back, short transactions. */
#include "store/index.h"

#include <errno.h>
#include <fcntl.h>
#include <lmdb.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

#define KEY_MAX (8 + LONG_PREFIX)
#define READERS_MAX 1022
#define RESERVE_MIN (UINT64_C(8) << 20) /* mapped beyond the records' room */
#define RESERVE_DISK (UINT64_C(4) << 20) /* allocated ahead of the last page in use */
#define UUID_KEY "uuid"

struct index {
	MDB_env *env;
	MDB_dbi records, info;
	bool sync;
	uint64_t room; /* bytes the records may fill */
	uint64_t allocated; /* bytes of the file that have blocks; the committer's */
	bool disk_full; /* the last reservation failed; the committer's */
	int has_room; /* of the write transaction: -1 not yet asked; the committer's */
	unsigned int page;
};

_Static_assert(KEY_MAX == 511, "LMDB's limit as Debian builds it");

static int errno_of(int r)
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
	default:
		return r > 0 ? -r : -EIO;
	}
}

/* ---- opening ---- */

static int dbs_open(struct index *x)
{
	MDB_txn *txn;
	MDB_stat st;
	int r;

	r = mdb_txn_begin(x->env, NULL, 0, &txn);
	if (r)
		return r;
	r = mdb_dbi_open(txn, "records", MDB_CREATE, &x->records);
	if (!r)
		r = mdb_dbi_open(txn, "info", MDB_CREATE, &x->info);
	if (r) {
		mdb_txn_abort(txn);
		return r;
	}
	mdb_stat(txn, x->records, &st);
	x->page = st.ms_psize;
	return mdb_txn_commit(txn);
}

static int env_open(struct index *x, const char *dir, uint64_t map_bytes)
{
	unsigned int flags = MDB_NOTLS | MDB_NORDAHEAD | (x->sync ? 0 : MDB_NOSYNC);
	int r, dead;

	r = mdb_env_create(&x->env);
	if (r)
		return r;
	r = mdb_env_set_mapsize(x->env, map_bytes + MAX(map_bytes / 16, RESERVE_MIN));
	if (!r)
		r = mdb_env_set_maxreaders(x->env, READERS_MAX);
	if (!r)
		r = mdb_env_set_maxdbs(x->env, 2);
	if (!r)
		r = mdb_env_open(x->env, dir, flags, 0600);
	if (!r)
		r = mdb_reader_check(x->env, &dead);
	return r ? r : dbs_open(x);
}

int index_open(const char *dir, uint64_t map_bytes, bool sync, struct index **ret)
{
	struct index *x = calloc(1, sizeof(*x));
	int r;

	if (!x)
		return -ENOMEM;
	x->sync = sync;
	x->room = MAX(map_bytes, UINT64_C(1) << 20);
	r = errno_of(env_open(x, dir, x->room));
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
	if (x->env)
		mdb_env_close(x->env);
	free(x);
}

int index_sync(struct index *x)
{
	return errno_of(mdb_env_sync(x->env, 1));
}

int index_uuid(struct index *x, char uuid[INDEX_UUID_MAX])
{
	MDB_val k = {sizeof(UUID_KEY) - 1, (void *)UUID_KEY}, v;
	MDB_txn *txn;
	int r;

	r = mdb_txn_begin(x->env, NULL, MDB_RDONLY, &txn);
	if (r)
		return errno_of(r);
	r = mdb_get(txn, x->info, &k, &v);
	if (!r && v.mv_size == INDEX_UUID_MAX - 1) {
		memcpy(uuid, v.mv_data, v.mv_size);
		uuid[v.mv_size] = 0;
	} else {
		uuid[0] = 0;
	}
	mdb_txn_abort(txn);
	return r == MDB_NOTFOUND ? 0 : errno_of(r);
}

int index_set_uuid(struct index *x, const char *uuid)
{
	MDB_val k = {sizeof(UUID_KEY) - 1, (void *)UUID_KEY}, v = {strlen(uuid), (void *)uuid};
	MDB_txn *txn;
	int r;

	r = mdb_txn_begin(x->env, NULL, 0, &txn);
	if (r)
		return errno_of(r);
	r = mdb_put(txn, x->info, &k, &v, 0);
	if (r) {
		mdb_txn_abort(txn);
		return errno_of(r);
	}
	r = mdb_txn_commit(txn);
	return r ? errno_of(r) : index_sync(x);
}

/* ---- room ---- */

int index_reserve(struct index *x)
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

/* Pages that lie free inside the file. Only asked for when it has reached its limit. */
static uint64_t free_pages(struct index *x)
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

static bool ask_room(struct index *x)
{
	MDB_envinfo info;
	uint64_t used;

	if (x->disk_full && index_reserve(x) < 0)
		return false;
	mdb_env_info(x->env, &info);
	used = (uint64_t)info.me_last_pgno + 1;
	if (used * x->page <= x->room)
		return true;
	return (used - MIN(used, free_pages(x))) * x->page <= x->room - x->room / 32;
}

bool index_has_room(struct index *x)
{
	if (x->has_room < 0)
		x->has_room = ask_room(x);
	return x->has_room;
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

int index_get(struct index *x, const struct objkey *k, struct store_rec *rec)
{
	unsigned char raw[KEY_MAX];
	MDB_val key = key_make(k, raw), v;
	struct longname_item it;
	MDB_txn *txn;
	int r;

	r = mdb_txn_begin(x->env, NULL, MDB_RDONLY, &txn);
	if (r)
		return errno_of(r);
	r = errno_of(mdb_get(txn, x->records, &key, &v));
	if (!r && key_is_long(&key)) {
		r = longname_find(v.mv_data, v.mv_size, k, &it);
		v = r ? v : (MDB_val){it.val_len, (void *)it.val};
	}
	if (!r)
		r = record_decode(k, v.mv_data, v.mv_size, rec);
	mdb_txn_abort(txn);
	return r;
}

uint64_t index_count(struct index *x)
{
	MDB_stat st = {};
	MDB_txn *txn;

	if (mdb_txn_begin(x->env, NULL, MDB_RDONLY, &txn))
		return 0;
	mdb_stat(txn, x->records, &st);
	mdb_txn_abort(txn);
	return st.ms_entries;
}

/* ---- walking ---- */

struct walk {
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
	return r == MDB_NOTFOUND ? 0 : errno_of(r);
}

int index_walk(struct index *x, struct MDB_txn *txn, const struct objkey *from, index_fn fn,
	       void *arg)
{
	struct walk w = {.fn = fn, .arg = arg, .from = *from};
	MDB_txn *t = txn;
	MDB_cursor *c;
	int r;

	if (!txn) {
		r = mdb_txn_begin(x->env, NULL, MDB_RDONLY, &t);
		if (r)
			return errno_of(r);
	}
	r = errno_of(mdb_cursor_open(t, x->records, &c));
	if (!r) {
		r = walk_cursor(&w, c);
		mdb_cursor_close(c);
	}
	if (!txn)
		mdb_txn_abort(t);
	return r;
}

/* ---- writing ---- */

int index_begin(struct index *x, struct MDB_txn **ret)
{
	x->has_room = -1;
	return errno_of(mdb_txn_begin(x->env, NULL, 0, ret));
}

/* Set or (@val NULL) remove one name of a list. */
static int long_edit(struct index *x, MDB_txn *txn, const struct objkey *k, const struct buf *val)
{
	autobuf struct buf list = BUF_INIT;
	unsigned char raw[KEY_MAX];
	MDB_val key = key_make(k, raw), old = {0, NULL}, v;
	int r;

	r = mdb_get(txn, x->records, &key, &old);
	if (r && r != MDB_NOTFOUND)
		return errno_of(r);
	r = longname_edit(old.mv_data, old.mv_size, k, val, &list);
	if (r < 0)
		return r;
	if (list.err)
		return list.err;
	if (!list.len)
		return errno_of(mdb_del(txn, x->records, &key, NULL));
	v = (MDB_val){list.len, list.data};
	return errno_of(mdb_put(txn, x->records, &key, &v, 0));
}

int index_put(struct index *x, struct MDB_txn *txn, const struct objkey *k,
	      const struct store_rec *rec)
{
	autobuf struct buf b = BUF_INIT;
	unsigned char raw[KEY_MAX];
	MDB_val key = key_make(k, raw), v;

	record_encode(k, rec, &b);
	if (b.err)
		return b.err;
	if (key_is_long(&key))
		return long_edit(x, txn, k, &b);
	v = (MDB_val){b.len, b.data};
	return errno_of(mdb_put(txn, x->records, &key, &v, 0));
}

int index_del(struct index *x, struct MDB_txn *txn, const struct objkey *k)
{
	unsigned char raw[KEY_MAX];
	MDB_val key = key_make(k, raw);

	if (key_is_long(&key))
		return long_edit(x, txn, k, NULL);
	return errno_of(mdb_del(txn, x->records, &key, NULL));
}

int index_commit(struct index *x, struct MDB_txn *txn)
{
	int r = errno_of(mdb_txn_commit(txn));

	if (r == 0)
		index_reserve(x);
	return r;
}

void index_abort(struct MDB_txn *txn)
{
	mdb_txn_abort(txn);
}
