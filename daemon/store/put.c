/* SPDX-License-Identifier: BSD-2-Clause */
/* PUT: bytes into a nameless blob, then under the key's lock the version, the copy, the record. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "store/paths.h"
#include "store/put_impl.h"

#define FALLOCATE_MIN (64 << 10) /* smaller files have no extents worth joining */
#define EARLY_SYNC_MIN (256 << 10) /* data that is flushed before others wait for the key */

int put_check_custom(const char *packed, size_t len)
{
	const char *k, *v;
	size_t pos = 0, sum = 0;

	if (len > sizeof(((struct store_rec *)0)->custom))
		return -EMSGSIZE;
	if (!record_custom_ok(packed, len))
		return -EINVAL;
	while (store_custom_next(packed, len, &pos, &k, &v))
		sum += strlen(k) + strlen(v);
	return sum > STORE_CUSTOM_MAX ? -EMSGSIZE : 0;
}

static void put_free(struct store_put *p)
{
	struct store *s = p->mp->s;

	blob_end(&p->blob);
	cksum_free(p->sum);
	cksum_free(p->want_sum);
	mpath_drop(p->stale);
	mpath_drop(p->mp);
	free(p->name);
	free(p);
	store_drop(s);
}

void put_end(struct store_put *p, int err)
{
	mpath_suspect(p->mp, err);
	blob_end(&p->blob);
	if (p->admitted)
		commit_discharge(p->mp->com); /* before the answer: the next may come at once */
	p->done(p->arg, err, err < 0 ? NULL : &p->rec);
	put_free(p);
}

int put_new(struct store *s, const struct store_bck *b, const char *name,
	    const struct store_put_opts *o, struct store_put **ret)
{
	struct store_put *p;
	struct objkey key;
	int r;

	r = store_key(b, name, &key);
	if (r == 0)
		r = put_check_custom(o->custom, o->custom_len);
	if (r < 0)
		return r;
	p = calloc(1, sizeof(*p));
	if (!p)
		return -ENOMEM;
	p->name = strdup(name);
	if (!p->name) {
		free(p);
		return -ENOMEM;
	}
	p->digest = store_digest(b, name);
	r = store_place(s, p->digest, &p->mp);
	if (r < 0) {
		free(p->name);
		free(p);
		return r;
	}
	p->hold.key = (struct objkey){key.bid, p->name, key.len};
	p->blob.fd = -1;
	p->type = b->cksum;
	p->versioned = b->versioned;
	p->want_type = o->want_type;
	if (o->want_type != CKSUM_NONE && o->want_value)
		snprintf(p->want, sizeof(p->want), "%s", o->want_value);
	p->expect = o->size;
	p->reset_version = o->reset_version;
	p->base_version = o->base_version;
	p->mtime_ns = o->mtime_ns;
	p->rec.custom_len = (uint16_t)o->custom_len;
	if (o->custom_len)
		memcpy(p->rec.custom, o->custom, o->custom_len);
	store_hold(s);
	*ret = p;
	return 0;
}

static bool same_sum(enum cksum_type a, enum cksum_type b)
{
	return a == b || (a == CKSUM_XXHASH && b == CKSUM_XXHASH2) ||
	       (a == CKSUM_XXHASH2 && b == CKSUM_XXHASH);
}

static int sums_begin(struct store_put *p)
{
	int r = cksum_new(p->type, &p->sum);

	if (r == 0 && p->want_type != CKSUM_NONE && !same_sum(p->type, p->want_type))
		r = cksum_new(p->want_type, &p->want_sum);
	return r;
}

static int preallocate(struct store_put *p)
{
	if (p->expect <= FALLOCATE_MIN || fallocate(p->blob.fd, 0, 0, p->expect) == 0)
		return 0;
	return errno == EOPNOTSUPP || errno == EINTR ? 0 : -errno;
}

int store_put_begin(struct store *s, const struct store_bck *b, const char *name,
		    const struct store_put_opts *o, struct store_put **ret)
{
	struct store_put *p;
	int r;

	r = put_new(s, b, name, o, &p);
	if (r < 0)
		return r;
	/* better now than after the bytes */
	r = commit_is_full(p->mp->com) ? -EAGAIN : space_ask(p->mp, o->size);
	if (r == 0)
		r = sums_begin(p);
	if (r == 0)
		r = blob_create(p->mp, &p->blob);
	if (r == 0)
		r = preallocate(p);
	if (r < 0) {
		mpath_suspect(p->mp, r);
		put_free(p);
		return r;
	}
	*ret = p;
	return 0;
}

static void sums_update(struct store_put *p, const void *data, size_t n)
{
	if (p->sum)
		cksum_update(p->sum, data, n);
	if (p->want_sum)
		cksum_update(p->want_sum, data, n);
}

int store_put_write(struct store_put *p, const void *data, size_t n)
{
	const char *at = data;

	if (p->expect >= 0 && n > (uint64_t)p->expect - p->size)
		return -EBADMSG;
	while (n) {
		size_t step = MIN(n, (size_t)STORE_IO_STEP); /* hashed while it is in the cache */
		int r = blob_write(p->blob.fd, at, step, p->size);

		if (r < 0) {
			mpath_suspect(p->mp, r);
			return r;
		}
		sums_update(p, at, step);
		p->size += step;
		at += step;
		n -= step;
	}
	return 0;
}

void store_put_abort(struct store_put *p)
{
	/* bytes of a step that failed go; a file that keeps them is no good */
	if (p->resumed && !p->blob.keep)
		p->blob.keep = ftruncate(p->blob.fd, (off_t)p->base) == 0;
	put_free(p);
}

/* ---- commit ---- */

static int hash_file(struct store_put *p)
{
	autofree char *page = malloc(STORE_IO_STEP);
	uint64_t off = 0;
	int r;

	if (!page)
		return -ENOMEM;
	r = sums_begin(p);
	while (r == 0 && off < p->size) {
		ssize_t n = pread(p->blob.fd, page, STORE_IO_STEP, (off_t)off);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		sums_update(p, page, (size_t)n);
		off += (uint64_t)n;
	}
	return r;
}

/* Checksum into the record; the client's compared. Return: 0; STORE_E_CKSUM; or an errno. */
static int finish_sums(struct store_put *p)
{
	char other[CKSUM_TEXT_MAX];
	const char *got = p->rec.cksum;
	int r = p->rehash ? hash_file(p) : 0;

	if (r < 0)
		return r;
	p->rec.ctype = p->type;
	if (!p->known)
		cksum_final(take_ptr(p->sum), p->rec.cksum);
	if (p->want_sum) {
		cksum_final(take_ptr(p->want_sum), other);
		got = other;
	}
	if (p->want_type == CKSUM_NONE || !strcmp(got, p->want))
		return 0;
	if (got != p->rec.cksum)
		memcpy(p->rec.cksum, other, sizeof(other));
	p->rec.ctype = p->want_type;
	return STORE_E_CKSUM;
}

static uint64_t next_version(const struct store_put *p, bool existed)
{
	if (!p->versioned)
		return 0;
	if (p->base_version)
		return p->base_version + 1;
	return p->reset_version || !existed ? 1 : p->old.version + 1;
}

/* The older version on another mountpath is gone too, or stays for the mover. */
static void put_settled(struct commit_op *op)
{
	struct store_put *p = container_of(op, struct store_put, op);

	keylock_release(p->mp->s->locks, &p->hold);
	put_end(p, 0);
}

static void put_committed(struct commit_op *op)
{
	struct store_put *p = container_of(op, struct store_put, op);

	if (op->err == 0 && mpath_writable(p->stale)) {
		p->op = (struct commit_op){.kind = COMMIT_DELETE,
					   .key = p->hold.key,
					   .old_blob = p->old.blob,
					   .old_flags = p->old.flags,
					   .done = put_settled};
		commit_submit(p->stale->com, &p->op);
		return;
	}
	keylock_release(p->mp->s->locks, &p->hold);
	put_end(p, op->err);
}

static void fill_record(struct store_put *p, bool existed)
{
	struct store_rec *r = &p->rec;

	r->size = p->size;
	r->version = next_version(p, existed);
	r->seq = store_next_seq(p->mp->s, existed ? p->old.seq : 0);
	r->atime_ns = wall_ns();
	r->mtime_ns = p->mtime_ns ? p->mtime_ns : r->atime_ns;
	r->path = p->mp->idx;
	memcpy(r->blob, p->blob.name, sizeof(r->blob));
}

/* A newer version on another mountpath than the one this put goes to becomes p->old. */
static void look_beside(struct store_put *p, bool *existed)
{
	struct store_rec other;
	struct mpath *mp;
	int r = store_find_other(p->mp->s, p->mp, &p->hold.key, &other, &mp);

	if (r != 0 && r != -EUCLEAN)
		return;
	if (r < 0 || (*existed && other.seq <= p->old.seq)) {
		mpath_drop(mp); /* the mover removes it */
		return;
	}
	p->old = other;
	p->stale = mp;
	*existed = true;
}

/* What there is, and whether this may replace it here. Return: 0 or an errno. */
static int put_look(struct store_put *p, bool *existed)
{
	int r;

	/* under the lock of the key: else an older version elsewhere could be taken for newer */
	if (!mpath_writable(p->mp))
		return STORE_OUT;
	r = index_get(p->mp->ix, &p->hold.key, &p->old);
	*existed = r == 0;
	/* a damaged record is replaced; its blob is unknown and goes with the reaper */
	if (r < 0 && r != -ENOENT && r != -EUCLEAN)
		return r;
	if (r == 0) {
		memcpy(p->replaced, p->old.blob, sizeof(p->replaced));
		p->replaced_flags = p->old.flags;
	}
	look_beside(p, existed);
	return store_owner(p->mp->s, p->digest) == p->mp ? 0 : mpath_note_stray(p->mp);
}

/* The key is locked. */
static void put_locked(struct store_put *p)
{
	struct store *s = p->mp->s;
	bool existed;
	int r;

	r = put_look(p, &existed);
	if (r == 0) {
		fill_record(p, existed);
		r = blob_seal(&p->blob, &p->hold.key, &p->rec);
	}
	if (r < 0) {
		keylock_release(s->locks, &p->hold);
		put_end(p, r);
		return;
	}
	p->op = (struct commit_op){.kind = COMMIT_PUT,
				   .key = p->hold.key,
				   .rec = &p->rec,
				   .blob = &p->blob,
				   .old_blob = p->replaced[0] ? p->replaced : NULL,
				   .old_flags = p->replaced_flags,
				   .done = put_committed};
	commit_submit(p->mp->com, &p->op);
}

static void put_locked_job(struct pool_job *j)
{
	put_locked(container_of(j, struct store_put, hold.job));
}

void store_put_commit(struct store_put *p, store_done_fn done, void *arg)
{
	struct store *s = p->mp->s;
	int r;

	p->done = done;
	p->arg = arg;
	r = commit_admit(p->mp->com);
	p->admitted = r == 0;
	if (r == 0)
		r = p->expect >= 0 && p->size != (uint64_t)p->expect ? -EBADMSG : finish_sums(p);
	if (r == 0 && s->sync && p->size >= EARLY_SYNC_MIN && fdatasync(p->blob.fd) < 0)
		r = -errno;
	if (r) {
		put_end(p, r);
		return;
	}
	p->hold.job.fn = put_locked_job;
	if (keylock_take(s->locks, &p->hold))
		put_locked(p);
}
