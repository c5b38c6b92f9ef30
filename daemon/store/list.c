/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lists: each mountpath is read in slices, a short read transaction each, and the slices are
 * merged by a heap. A virtual directory costs one seek, however much lies below it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "log.h"
#include "store/atime.h"
#include "store/impl.h"

#define SLICE_MAX 256 /* entries */

/* What is asked, in lengths. */
struct query {
	uint64_t bid;
	const char *prefix;
	size_t prefix_len;
	bool no_recursion;
	size_t slice;
};

/* An entry in a slice: this, then the name, then the record's bytes. */
struct packed {
	uint32_t name_len, val_len; /* val_len 0: a directory */
};

/* One mountpath of a list. */
struct source {
	struct mpath *mp;
	const struct query *q;
	struct buf slice;
	size_t at, n; /* next entry in it; entries in it */
	char from[STORE_NAME_MAX + 1]; /* where the next slice begins */
	size_t from_len;
	bool exclusive; /* after @from, not at it */
	bool end; /* no further slice */
	char seek[STORE_NAME_MAX];
	/* the current entry */
	const char *name, *val;
	size_t name_len, val_len;
};

static void pack(struct source *s, const char *name, size_t name_len, const void *val,
		 size_t val_len)
{
	struct packed h = {(uint32_t)name_len, (uint32_t)val_len};

	buf_append(&s->slice, &h, sizeof(h));
	buf_append(&s->slice, name, name_len);
	buf_append(&s->slice, val, val_len);
	s->n++;
}

static void set_from(struct source *s, const char *name, size_t len, bool exclusive)
{
	memcpy(s->from, name, len);
	s->from_len = len;
	s->exclusive = exclusive;
}

/* Go on behind everything in the directory @name, whose last byte is '/'. */
static void behind_dir(char *name, size_t len)
{
	name[len - 1] = '/' + 1;
}

static enum index_step take(void *arg, const struct index_item *it, struct objkey *seek)
{
	struct source *s = arg;
	const struct query *q = s->q;
	const char *name = it->key.name, *slash = NULL;
	size_t len = it->key.len;

	if (it->key.bid != q->bid || len < q->prefix_len ||
	    memcmp(name, q->prefix, q->prefix_len)) {
		s->end = true;
		return INDEX_STOP;
	}
	if (s->exclusive && len == s->from_len && !memcmp(name, s->from, len))
		return INDEX_NEXT;
	if (s->n == q->slice) {
		set_from(s, name, len, false);
		s->end = false;
		return INDEX_STOP;
	}
	if (q->no_recursion)
		slash = memchr(name + q->prefix_len, '/', len - q->prefix_len);
	if (!slash) {
		pack(s, name, len, it->val, it->val_len);
		return INDEX_NEXT;
	}
	len = (size_t)(slash - name) + 1;
	pack(s, name, len, NULL, 0);
	memcpy(s->seek, name, len);
	behind_dir(s->seek, len);
	*seek = (struct objkey){q->bid, s->seek, len};
	return INDEX_SEEK;
}

/* Return: 0 or an errno; afterwards an empty slice is the end. */
static int fill(struct source *s)
{
	struct objkey from = {s->q->bid, s->from, s->from_len};
	bool was_end = s->end;
	int r;

	buf_reset(&s->slice);
	s->at = s->n = 0;
	if (was_end)
		return 0;
	s->end = true; /* unless the walk stops at a full slice */
	r = index_walk(s->mp->ix, NULL, &from, take, s);
	return r < 0 ? r : s->slice.err;
}

/* To the next entry. Return: 1; 0 at the end; or an errno. */
static int advance(struct source *s)
{
	struct packed h;
	int r;

	if (s->at >= s->slice.len) {
		r = fill(s);
		if (r < 0 || !s->slice.len)
			return r;
	}
	memcpy(&h, s->slice.data + s->at, sizeof(h));
	s->name = s->slice.data + s->at + sizeof(h);
	s->name_len = h.name_len;
	s->val = s->name + h.name_len;
	s->val_len = h.val_len;
	s->at += sizeof(h) + h.name_len + h.val_len;
	return 1;
}

/* Where to begin: at the prefix, or after what was listed last. */
static void begin(struct source *s, const char *after)
{
	const struct query *q = s->q;
	size_t n = strlen(after);
	bool below = n >= q->prefix_len && !memcmp(after, q->prefix, q->prefix_len);

	n = MIN(n, (size_t)STORE_NAME_MAX);
	set_from(s, q->prefix, q->prefix_len, false);
	if (!below && strcmp(after, q->prefix) < 0)
		return;
	set_from(s, after, n, true);
	/* a directory that was listed is done with all that is in it */
	if (q->no_recursion && below && n > q->prefix_len && after[n - 1] == '/') {
		behind_dir(s->from, n);
		s->exclusive = false;
	}
}

/* ---- the heap: the source with the least name first ---- */

struct merge {
	struct source *heap[STORE_PATHS_MAX];
	size_t n;
};

/* Sequence number of the entry @s is at; 0 for a directory and for what is damaged. */
static uint64_t seq_of(const struct source *s)
{
	struct objkey k = {s->q->bid, s->name, s->name_len};
	struct store_rec rec;

	return s->val_len && record_decode(&k, s->val, s->val_len, &rec) == 0 ? rec.seq : 0;
}

/* Of one name on several mountpaths the newest version is first, and the only one shown. */
static bool before(const struct source *a, const struct source *b)
{
	int r = memcmp(a->name, b->name, MIN(a->name_len, b->name_len));

	if (r == 0 && a->name_len == b->name_len)
		return seq_of(a) > seq_of(b);
	return r ? r < 0 : a->name_len < b->name_len;
}

static void sift(struct merge *m, size_t i)
{
	for (;;) {
		size_t least = i, c;
		struct source *t;

		for (c = 2 * i + 1; c <= 2 * i + 2 && c < m->n; c++) {
			if (before(m->heap[c], m->heap[least]))
				least = c;
		}
		if (least == i)
			return;
		t = m->heap[i];
		m->heap[i] = m->heap[least];
		m->heap[least] = t;
		i = least;
	}
}

static int merge_begin(struct merge *m, struct source *s, size_t n)
{
	size_t i;
	int r;

	for (i = 0; i < n; i++) {
		r = advance(&s[i]);
		if (r < 0)
			return r;
		if (r)
			m->heap[m->n++] = &s[i];
	}
	for (i = m->n; i-- > 0;)
		sift(m, i);
	return 0;
}

/* Behind the first entry, and behind its equals: a directory may be on several mountpaths. */
static int merge_next(struct merge *m, const char *name, size_t len)
{
	while (m->n && m->heap[0]->name_len == len && !memcmp(m->heap[0]->name, name, len)) {
		int r = advance(m->heap[0]);

		if (r < 0)
			return r;
		if (r == 0)
			m->heap[0] = m->heap[--m->n];
		sift(m, 0);
	}
	return 0;
}

/* ---- the list ---- */

/* The record of the current entry. Return: false when it is damaged. */
static bool decode(const struct source *s, struct store_rec *rec)
{
	struct objkey k = {s->q->bid, s->name, s->name_len};
	int64_t at;

	if (record_decode(&k, s->val, s->val_len, rec) < 0) {
		log_error("store.damaged", "path=%s bid=%llx", s->mp->path,
			  (unsigned long long)s->q->bid);
		return false;
	}
	rec->path = s->mp->idx;
	at = atimes_get(s->mp->at, &k);
	rec->atime_ns = MAX(rec->atime_ns, at);
	return true;
}

struct listing {
	const struct store_list_opts *o;
	int (*emit)(void *arg, const struct store_entry *e);
	void *arg;
	size_t n;
	struct store_rec rec;
	char name[STORE_NAME_MAX + 1]; /* of the entry: outlives its slice */
};

/* Emit the entry @s is at; a damaged one is left out. Return: what emit returned, or 0. */
static int emit_one(struct listing *l, const struct source *s)
{
	struct store_entry e = {.name = l->name, .name_len = s->name_len, .is_dir = !s->val_len};

	memcpy(l->name, s->name, s->name_len);
	l->name[s->name_len] = 0;
	if (s->val_len && !decode(s, &l->rec))
		return 0;
	e.rec = e.is_dir ? NULL : &l->rec;
	l->n++;
	return l->emit(l->arg, &e);
}

static int list_run(struct listing *l, struct source *s, size_t n)
{
	struct merge m = {};
	int r = merge_begin(&m, s, n);

	while (r == 0 && m.n && (!l->o->max || l->n < l->o->max)) {
		size_t len = m.heap[0]->name_len;

		r = emit_one(l, m.heap[0]);
		if (r == 0)
			r = merge_next(&m, l->name, len);
	}
	return r;
}

static void sources_free(struct source *s, size_t n)
{
	size_t i;

	for (i = 0; s && i < n; i++) {
		mpath_drop(s[i].mp);
		buf_free(&s[i].slice);
	}
	free(s);
}

/* All mountpaths: with one out of service the list would have holes. Return: how many; errno. */
static int sources_make(struct store *s, const struct query *q, const char *after,
			struct source **ret)
{
	size_t i, n = 0, max = store_paths(s);
	struct source *src;

	src = calloc(max ? max : 1, sizeof(*src));
	if (!src)
		return -ENOMEM;
	for (i = 0; i < max; i++) {
		src[n].mp = store_hold_path(s, i);
		if (!src[n].mp)
			continue;
		src[n].q = q;
		begin(&src[n++], after);
	}
	if (!store_whole(s)) {
		sources_free(src, n);
		return STORE_OUT;
	}
	*ret = src;
	return (int)n;
}

int store_list(struct store *s, const struct store_bck *b, const struct store_list_opts *o,
	       int (*emit)(void *arg, const struct store_entry *e), void *arg)
{
	struct query q = {.bid = b->bid,
			  .prefix = o->prefix,
			  .prefix_len = strlen(o->prefix),
			  .no_recursion = o->no_recursion};
	struct source *src;
	struct listing *l;
	int r, n;

	if (q.prefix_len > STORE_NAME_MAX)
		return 0;
	q.slice = o->max && o->max < SLICE_MAX ? o->max : SLICE_MAX;
	l = calloc(1, sizeof(*l));
	if (!l)
		return -ENOMEM;
	*l = (struct listing){.o = o, .emit = emit, .arg = arg};
	pthread_rwlock_rdlock(&s->move_lock);
	r = n = sources_make(s, &q, o->after, &src);
	if (n >= 0) {
		r = list_run(l, src, (size_t)n);
		sources_free(src, (size_t)n);
	}
	pthread_rwlock_unlock(&s->move_lock);
	free(l);
	return r;
}

static int sum_entry(void *arg, const struct store_entry *e)
{
	struct store_sum *t = arg;

	t->min_size = t->objects ? MIN(t->min_size, e->rec->size) : e->rec->size;
	t->max_size = MAX(t->max_size, e->rec->size);
	t->objects++;
	t->bytes += e->rec->size;
	return 0;
}

int store_summary(struct store *s, const struct store_bck *b, const char *prefix,
		  struct store_sum *ret)
{
	struct store_list_opts o = {.prefix = prefix, .after = ""};
	struct store_sum sum = {};
	int r = store_list(s, b, &o, sum_entry, &sum);

	if (r == 0)
		*ret = sum;
	return r;
}
