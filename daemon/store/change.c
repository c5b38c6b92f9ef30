/* SPDX-License-Identifier: BSD-2-Clause */
/* Changes of an object that has its blob already: removal, custom metadata. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "store/put_impl.h"

struct change {
	struct store *s;
	struct mpath *mp; /* held, once the key is locked: where the object is */
	struct mpath *admitted; /* held: whose committer counts this; NULL: none does */
	uint64_t digest; /* of the name, for placement */
	char *name;
	struct keylock_hold hold;
	int (*locked)(struct change *c); /* prepares the operation */
	char *pairs; /* of a change of custom metadata */
	size_t pairs_len;
	bool replace;
	uint64_t only_seq; /* of a removal: this version and no other; 0: whatever it is */
	struct store_rec old, rec; /* rec: the new one, or the removed */
	struct blob blob;
	struct commit_op op;
	store_done_fn done;
	void *arg;
};

static void change_end(struct change *c, int err)
{
	struct store *s = c->s;

	if (c->admitted)
		commit_discharge(c->admitted->com);
	c->done(c->arg, err, err < 0 ? NULL : &c->rec);
	blob_end(&c->blob);
	if (c->mp)
		mpath_suspect(c->mp, err);
	mpath_drop(c->admitted);
	mpath_drop(c->mp);
	free(c->pairs);
	free(c->name);
	free(c);
	store_drop(s);
}

static void change_committed(struct commit_op *op)
{
	struct change *c = container_of(op, struct change, op);

	keylock_release(c->s->locks, &c->hold);
	change_end(c, op->err);
}

/* The key is locked. */
static void change_locked(struct change *c)
{
	int r = c->locked(c);

	if (r < 0) {
		keylock_release(c->s->locks, &c->hold);
		change_end(c, r);
		return;
	}
	c->op.key = c->hold.key;
	c->op.done = change_committed;
	commit_submit(c->mp->com, &c->op);
}

static void change_locked_job(struct pool_job *j)
{
	change_locked(container_of(j, struct change, hold.job));
}

static int change_new(struct store *s, const struct store_bck *b, const char *name,
		      struct change **ret)
{
	struct change *c;
	struct objkey key;
	int r = store_key(b, name, &key);

	if (r < 0)
		return r;
	c = calloc(1, sizeof(*c));
	if (!c)
		return -ENOMEM;
	c->name = strdup(name);
	if (!c->name) {
		free(c);
		return -ENOMEM;
	}
	c->s = s;
	c->digest = store_digest(b, name);
	c->hold.key = (struct objkey){key.bid, c->name, key.len};
	c->blob.fd = -1;
	store_hold(s);
	*ret = c;
	return 0;
}

/*
 * Where the object is is known under the lock of its key only. Those that wait for that count at
 * the mountpath where it ought to be.
 */
static int change_admit(struct change *c)
{
	struct mpath *mp;
	int r = store_place(c->s, c->digest, &mp);

	if (r < 0)
		return r;
	r = commit_admit(mp->com);
	if (r < 0)
		mpath_drop(mp);
	else
		c->admitted = mp;
	return r;
}

static void change_start(struct change *c, store_done_fn done, void *arg)
{
	int r = change_admit(c);

	c->done = done;
	c->arg = arg;
	if (r < 0) {
		change_end(c, r);
		return;
	}
	c->hold.job.fn = change_locked_job;
	if (keylock_take(c->s->locks, &c->hold))
		change_locked(c);
}

/* ---- delete ---- */

/* Older versions on other mountpaths go first: else one could come back. Return: 0 or errno. */
static int delete_older(struct change *c)
{
	struct store_rec rec;
	struct mpath *mp;
	int r;

	for (;;) {
		struct commit_op op = {.kind = COMMIT_DELETE, .key = c->hold.key};
		int e = store_find_other(c->s, c->mp, &c->hold.key, &rec, &mp);

		if (e != 0 && e != -EUCLEAN)
			return e == -ENOENT ? 0 : e;
		op.old_blob = e == 0 ? rec.blob : NULL;
		op.old_flags = e == 0 ? rec.flags : 0;
		r = mpath_writable(mp) ? commit_wait(mp, &op) : STORE_OUT;
		mpath_drop(mp);
		if (r < 0 && r != -ENOENT)
			return r;
	}
}

static int delete_locked(struct change *c)
{
	int r = store_find(c->s, c->digest, &c->hold.key, &c->rec, &c->mp), e;

	/* what is damaged can be removed too; the reaper finds its blob */
	if (r < 0 && r != -EUCLEAN)
		return r;
	/* an owner that is out has a version of its own, which would come back with it */
	if (!mpath_ok(store_owner(c->s, c->digest)) || !mpath_writable(c->mp))
		return STORE_OUT;
	if (c->only_seq && (r < 0 || c->rec.seq != c->only_seq))
		return -ENOENT;
	e = delete_older(c);
	if (e < 0)
		return e;
	c->op.kind = COMMIT_DELETE;
	c->op.old_blob = r == 0 ? c->rec.blob : NULL;
	c->op.old_flags = c->rec.flags;
	c->rec.path = c->mp->idx;
	return 0;
}

void store_delete_version(struct store *s, struct store_name n, uint64_t seq, store_done_fn done,
			  void *arg)
{
	struct change *c;
	int r = change_new(s, n.bck, n.name, &c);

	if (r < 0) {
		done(arg, r, NULL);
		return;
	}
	c->locked = delete_locked;
	c->only_seq = seq;
	change_start(c, done, arg);
}

void store_delete(struct store *s, const struct store_bck *b, const char *name, store_done_fn done,
		  void *arg)
{
	store_delete_version(s, (struct store_name){b, name}, 0, done, arg);
}

/* ---- custom metadata ---- */

static bool pairs_have(const struct change *c, const char *key)
{
	const char *k, *v;
	size_t pos = 0;

	while (store_custom_next(c->pairs, c->pairs_len, &pos, &k, &v)) {
		if (!strcmp(k, key))
			return true;
	}
	return false;
}

/* The pairs as they will be into c->rec. Return: 0; -EMSGSIZE; -ENOMEM. */
static int merge_pairs(struct change *c)
{
	autobuf struct buf b = BUF_INIT;
	const char *k, *v;
	size_t pos = 0;
	int r;

	while (!c->replace && store_custom_next(c->old.custom, c->old.custom_len, &pos, &k, &v)) {
		if (pairs_have(c, k))
			continue;
		buf_append(&b, k, strlen(k) + 1);
		buf_append(&b, v, strlen(v) + 1);
	}
	buf_append(&b, c->pairs, c->pairs_len);
	if (b.err)
		return b.err;
	r = put_check_custom(b.data, b.len);
	if (r < 0)
		return r;
	c->rec.custom_len = (uint16_t)b.len;
	if (b.len)
		memcpy(c->rec.custom, b.data, b.len);
	return 0;
}

static int custom_locked(struct change *c)
{
	int r = store_find(c->s, c->digest, &c->hold.key, &c->old, &c->mp), fd;

	if (r < 0)
		return r == -EUCLEAN ? -EIO : r;
	if (!mpath_writable(c->mp))
		return STORE_OUT;
	c->rec = c->old;
	c->rec.path = c->mp->idx;
	c->rec.seq = store_next_seq(c->s, c->old.seq);
	r = merge_pairs(c);
	if (r < 0)
		return r;
	fd = blob_open(c->mp, c->rec.blob, O_RDWR);
	if (fd < 0)
		return fd == -ENOENT ? -EIO : fd;
	c->blob = (struct blob){.mp = c->mp, .fd = fd, .keep = true};
	memcpy(c->blob.name, c->rec.blob, sizeof(c->blob.name));
	r = blob_seal(&c->blob, &c->hold.key, &c->rec);
	if (r < 0)
		return r;
	c->op.kind = COMMIT_CHANGE;
	c->op.rec = &c->rec;
	c->op.blob = c->blob.trailer ? &c->blob : NULL;
	c->op.old_flags = c->old.flags;
	return 0;
}

void store_set_custom(struct store *s, const struct store_bck *b, const char *name,
		      const struct store_custom *cu, store_done_fn done, void *arg)
{
	struct change *c;
	int r = record_custom_ok(cu->pairs, cu->len) ? change_new(s, b, name, &c) : -EINVAL;

	if (r < 0) {
		done(arg, r, NULL);
		return;
	}
	c->locked = custom_locked;
	c->replace = cu->replace;
	c->pairs = malloc(cu->len + 1);
	if (!c->pairs) {
		c->done = done;
		c->arg = arg;
		change_end(c, -ENOMEM);
		return;
	}
	if (cu->len)
		memcpy(c->pairs, cu->pairs, cu->len);
	c->pairs_len = cu->len;
	change_start(c, done, arg);
}
