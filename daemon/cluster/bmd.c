/* SPDX-License-Identifier: BSD-2-Clause */
/* Bucket metadata: an immutable, counted, sorted array of buckets, and the changes to it. */
#include "cluster/bmd.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "cluster/bmd_private.h"

static const char *const access_names[BMD_ACE_NR] = {
	[BMD_ACE_GET] = "GET",
	[BMD_ACE_OBJ_HEAD] = "HEAD-OBJECT",
	[BMD_ACE_PUT] = "PUT",
	[BMD_ACE_APPEND] = "APPEND",
	[BMD_ACE_OBJ_DELETE] = "DELETE-OBJECT",
	[BMD_ACE_OBJ_MOVE] = "MOVE-OBJECT",
	[BMD_ACE_PROMOTE] = "PROMOTE",
	[BMD_ACE_OBJ_UPDATE] = "UPDATE-OBJECT",
	[BMD_ACE_BCK_HEAD] = "HEAD-BUCKET",
	[BMD_ACE_OBJ_LIST] = "LIST-OBJECTS",
	[BMD_ACE_PATCH] = "PATCH",
	[BMD_ACE_SET_BCK_ACL] = "SET-BUCKET-ACL",
	[BMD_ACE_LIST_BUCKETS] = "LIST-BUCKETS",
	[BMD_ACE_SHOW_CLUSTER] = "SHOW-CLUSTER",
	[BMD_ACE_CREATE_BCK] = "CREATE-BUCKET",
	[BMD_ACE_DESTROY_BCK] = "DESTROY-BUCKET",
	[BMD_ACE_MOVE_BCK] = "MOVE-BUCKET",
	[BMD_ACE_ADMIN] = "ADMIN",
};

const char *bmd_access_name(enum bmd_access a)
{
	return a < BMD_ACE_NR ? access_names[a] : "";
}

bool bmd_cksum_type_ok(const char *s)
{
	static const char *const types[] = {"none",   "xxhash", "xxhash2", "md5",
					    "crc32c", "sha256", "sha512"};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(types); i++) {
		if (!strcmp(types[i], s))
			return true;
	}
	return false;
}

static int name_cmp(const struct bmd_name *a, const struct bmd_name *b)
{
	int r = strcmp(a->provider, b->provider);

	if (!r)
		r = strcmp(a->ns_uuid, b->ns_uuid);
	if (!r)
		r = strcmp(a->ns_name, b->ns_name);
	return r ? r : strcmp(a->bucket, b->bucket);
}

static int bucket_cmp(const void *a, const void *b)
{
	return name_cmp(&((const struct bmd_bucket *)a)->name,
			&((const struct bmd_bucket *)b)->name);
}

int bmd_alloc(const char *uuid, int64_t version, size_t room, struct bmd **ret)
{
	struct bmd *b;

	if (strlen(uuid) >= sizeof(b->uuid))
		return -EINVAL;
	if (room > BMD_BUCKETS_MAX)
		return -E2BIG;
	b = calloc(1, sizeof(*b) + room * sizeof(b->buckets[0]));
	if (!b)
		return -ENOMEM;
	atomic_init(&b->refs, 1);
	strcpy(b->uuid, uuid);
	b->version = version;
	*ret = b;
	return 0;
}

int bmd_seal(struct bmd *b)
{
	size_t i;

	qsort(b->buckets, b->n, sizeof(b->buckets[0]), bucket_cmp);
	for (i = 1; i < b->n; i++) {
		if (!name_cmp(&b->buckets[i - 1].name, &b->buckets[i].name))
			return -EEXIST;
	}
	return 0;
}

int bmd_new(const char *uuid, struct bmd **ret)
{
	return bmd_alloc(uuid, 0, 0, ret);
}

struct bmd *bmd_get(struct bmd *b)
{
	if (b)
		atomic_fetch_add_explicit(&b->refs, 1, memory_order_relaxed);
	return b;
}

void bmd_put(struct bmd *b)
{
	if (!b || atomic_fetch_sub_explicit(&b->refs, 1, memory_order_acq_rel) != 1)
		return;
	free(b->gone);
	free(b);
}

int64_t bmd_version(const struct bmd *b)
{
	return b->version;
}

const char *bmd_uuid(const struct bmd *b)
{
	return b->uuid;
}

size_t bmd_count(const struct bmd *b)
{
	return b->n;
}

const struct bmd_bucket *bmd_at(const struct bmd *b, size_t i)
{
	return i < b->n ? &b->buckets[i] : NULL;
}

const struct bmd_bucket *bmd_find(const struct bmd *b, const struct bmd_name *name)
{
	size_t lo = 0, hi = b->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		int r = name_cmp(&b->buckets[mid].name, name);

		if (!r)
			return &b->buckets[mid];
		if (r < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return NULL;
}

const struct bmd_bucket *bmd_find_bid(const struct bmd *b, uint64_t bid)
{
	size_t i;

	for (i = 0; i < b->n; i++) {
		if (b->buckets[i].bid == bid)
			return &b->buckets[i];
	}
	return NULL;
}

bool bmd_is_gone(const struct bmd *b, uint64_t bid)
{
	size_t i;

	for (i = 0; i < b->n_gone; i++) {
		if (b->gone[i] == bid)
			return true;
	}
	return false;
}

int bmd_add_gone(struct bmd *b, uint64_t bid)
{
	size_t drop = b->n_gone >= BMD_GONE_MAX;
	uint64_t *g = calloc(b->n_gone + 1, sizeof(*g));

	if (!g)
		return -ENOMEM;
	if (b->n_gone > drop)
		memcpy(g, b->gone + drop, (b->n_gone - drop) * sizeof(*g));
	b->n_gone -= drop;
	g[b->n_gone++] = bid;
	free(b->gone);
	b->gone = g;
	return 0;
}

static int copy_gone(struct bmd *to, const struct bmd *from)
{
	if (!from->n_gone)
		return 0;
	to->gone = malloc(from->n_gone * sizeof(*to->gone));
	if (!to->gone)
		return -ENOMEM;
	memcpy(to->gone, from->gone, from->n_gone * sizeof(*to->gone));
	to->n_gone = from->n_gone;
	return 0;
}

/* A copy with room for @extra more buckets, of the next version. */
static int next_version(const struct bmd *b, size_t extra, struct bmd **ret)
{
	struct bmd *c;
	int r = bmd_alloc(b->uuid, b->version + 1, b->n + extra, &c);

	if (r < 0)
		return r;
	r = copy_gone(c, b);
	if (r < 0) {
		bmd_put(c);
		return r;
	}
	c->last_serial = b->last_serial;
	memcpy(c->buckets, b->buckets, b->n * sizeof(b->buckets[0]));
	c->n = b->n;
	*ret = c;
	return 0;
}

/*
 * A bucket ID is never used twice: objects of a destroyed bucket must not come back under a new
 * one. The serial number is remembered, and at least the clock's, in case metadata was lost.
 */
static uint64_t next_bid(struct bmd *b, int64_t now_ns)
{
	uint64_t floor = (uint64_t)now_ns / 1000000;
	size_t i;

	for (i = 0; i < b->n; i++)
		floor = MAX(floor, (b->buckets[i].bid & (BMD_BID_AIS - 1)) + 1);
	b->last_serial = MAX(floor, b->last_serial + 1);
	return BMD_BID_AIS | b->last_serial;
}

int bmd_with_bucket(const struct bmd *b, const struct bmd_bucket *add, struct bmd **ret)
{
	autobuf struct buf uname = BUF_INIT;
	struct bmd_bucket *n;
	struct bmd *c;
	int r;

	if (bmd_find(b, &add->name))
		return -EEXIST;
	bmd_name_uname(&add->name, &uname);
	if (uname.err)
		return uname.err;
	r = next_version(b, 1, &c);
	if (r < 0)
		return r;
	n = &c->buckets[c->n];
	*n = *add;
	n->created_ns = wall_ns();
	n->bid = next_bid(c, n->created_ns);
	c->n++;
	if (uname.len >= sizeof(n->placement)) {
		bmd_put(c);
		return -EINVAL;
	}
	strcpy(n->placement, uname.data);
	r = bmd_seal(c);
	if (r < 0) {
		bmd_put(c);
		return r;
	}
	*ret = c;
	return 0;
}

int bmd_without_bucket(const struct bmd *b, const struct bmd_name *name, struct bmd **ret)
{
	const struct bmd_bucket *old = bmd_find(b, name);
	struct bmd *c;
	size_t at;
	int r;

	if (!old)
		return -ENOENT;
	r = next_version(b, 0, &c);
	if (r < 0)
		return r;
	r = bmd_add_gone(c, old->bid);
	if (r < 0) {
		bmd_put(c);
		return r;
	}
	at = (size_t)(old - b->buckets);
	memmove(&c->buckets[at], &c->buckets[at + 1], (c->n - at - 1) * sizeof(c->buckets[0]));
	c->n--;
	*ret = c;
	return 0;
}

int bmd_with_props(const struct bmd *b, const struct bmd_bucket *props, struct bmd **ret)
{
	const struct bmd_bucket *old = bmd_find(b, &props->name);
	struct bmd_bucket *n;
	struct bmd *c;
	int r;

	if (!old)
		return -ENOENT;
	r = next_version(b, 0, &c);
	if (r < 0)
		return r;
	n = &c->buckets[old - b->buckets];
	*n = *props;
	n->bid = old->bid;
	n->created_ns = old->created_ns;
	memcpy(n->placement, old->placement, sizeof(n->placement));
	*ret = c;
	return 0;
}

int bmd_with_rename(const struct bmd *b, const struct bmd_name *from, const struct bmd_name *to,
		    struct bmd **ret)
{
	const struct bmd_bucket *old = bmd_find(b, from);
	struct bmd *c;
	int r;

	if (!old)
		return -ENOENT;
	if (bmd_find(b, to))
		return -EEXIST;
	r = next_version(b, 0, &c);
	if (r < 0)
		return r;
	c->buckets[old - b->buckets].name = *to;
	r = bmd_seal(c);
	if (r < 0) {
		bmd_put(c);
		return r;
	}
	*ret = c;
	return 0;
}

void bmd_name_print(const struct bmd_name *n, struct buf *out)
{
	buf_fmt(out, "%s://", n->provider);
	if (n->ns_uuid[0])
		buf_fmt(out, "@%s", n->ns_uuid);
	if (n->ns_uuid[0] || n->ns_name[0])
		buf_fmt(out, "#%s/", n->ns_name);
	buf_str(out, n->bucket);
}

void bmd_name_uname(const struct bmd_name *n, struct buf *out)
{
	smap_bucket_uname(out, n->provider, n->ns_uuid, n->ns_name, n->bucket);
}

/* Copy @n bytes at @s to @out of @size bytes. Return: whether they fit. */
static bool copy_part(char *out, size_t size, const char *s, size_t n)
{
	if (n >= size)
		return false;
	memcpy(out, s, n);
	out[n] = 0;
	return true;
}

int bmd_ns_parse(const char *text, size_t len, struct bmd_name *ret)
{
	const char *hash = memchr(text, '#', len);

	if (!len || text[0] != '@' || !hash)
		return -EINVAL;
	if (!copy_part(ret->ns_uuid, sizeof(ret->ns_uuid), text + 1, (size_t)(hash - text) - 1) ||
	    !copy_part(ret->ns_name, sizeof(ret->ns_name), hash + 1,
		       len - (size_t)(hash - text) - 1))
		return -EINVAL;
	return 0;
}

int bmd_uname_parse(const char *uname, struct bmd_name *ret, const char **ret_object)
{
	const char *ns = strchr(uname, '/');
	const char *bck = ns ? strchr(ns + 1, '/') : NULL;
	const char *obj = bck ? strchr(bck + 1, '/') : NULL;
	struct bmd_name n = {};

	if (!obj)
		return -EINVAL;
	if (!copy_part(n.provider, sizeof(n.provider), uname, (size_t)(ns - uname)) ||
	    bmd_ns_parse(ns + 1, (size_t)(bck - ns) - 1, &n) < 0 ||
	    !copy_part(n.bucket, sizeof(n.bucket), bck + 1, (size_t)(obj - bck) - 1) ||
	    !n.provider[0] || !smap_bucket_name_ok(n.bucket))
		return -EINVAL;
	*ret = n;
	*ret_object = obj + 1;
	return 0;
}
