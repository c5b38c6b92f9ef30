/* SPDX-License-Identifier: BSD-2-Clause */
/* Entries of a listing in both encodings; pages as targets send them. */
#include "api/lso.h"
#include "base/bits.h"

/* The text fields in the order of the encodings. */
static const struct {
	const char *key, *json;
	size_t off, len_off;
} texts[] = {
#define TEXT(k, j, m)                                                                              \
	{                                                                                          \
		k, j, offsetof(struct lso_entry, m), offsetof(struct lso_entry, m##_len)           \
	}
	TEXT("n", "name", name),	 TEXT("cs", "checksum", cksum),
	TEXT("a", "atime", atime),	 TEXT("v", "version", version),
	TEXT("t", "location", location), TEXT("m", "custom-md", custom),
#undef TEXT
};

static size_t text_of(const struct lso_entry *e, size_t i, const char **ret)
{
	const char *base = (const char *)e;

	memcpy(ret, base + texts[i].off, sizeof(*ret));
	return *ret ? *(const size_t *)(const void *)(base + texts[i].len_off) : 0;
}

static void text_set(struct lso_entry *e, size_t i, const char *s, size_t n)
{
	char *base = (char *)e;

	memcpy(base + texts[i].off, &s, sizeof(s));
	memcpy(base + texts[i].len_off, &n, sizeof(n));
}

static void put_int(struct buf *out, const char *key, int64_t v)
{
	if (!v)
		return;
	mp_put_str(out, key, 1);
	mp_put_int(out, v);
}

void lso_put_entry(struct buf *out, const struct lso_entry *e)
{
	uint32_t n = (e->size != 0) + (e->copies != 0) + (e->flags != 0);
	const char *s;
	size_t i, len;

	for (i = 0; i < ARRAY_SIZE(texts); i++)
		n += !i || text_of(e, i, &s);
	mp_put_map(out, n);
	for (i = 0; i < ARRAY_SIZE(texts); i++) {
		len = text_of(e, i, &s);
		if (i && !len)
			continue;
		mp_put_str(out, texts[i].key, strlen(texts[i].key));
		mp_put_str(out, s, len);
	}
	put_int(out, "s", e->size);
	put_int(out, "c", e->copies);
	put_int(out, "f", e->flags);
}

void lso_json_entry(struct buf *out, const struct lso_entry *e)
{
	const char *s;
	size_t i, len;

	for (i = 0; i < ARRAY_SIZE(texts); i++) {
		len = text_of(e, i, &s);
		if (i && !len)
			continue;
		buf_fmt(out, "%s\"%s\":\"", i ? "," : "{", texts[i].json);
		buf_json_escape(out, s, len);
		buf_char(out, '"');
	}
	if (e->size)
		buf_fmt(out, ",\"size\":\"%lld\"", (long long)e->size);
	if (e->copies)
		buf_fmt(out, ",\"copies\":%lld", (long long)e->copies);
	if (e->flags)
		buf_fmt(out, ",\"flags\":%lld", (long long)e->flags);
	buf_char(out, '}');
}

void lso_put_head(struct buf *out, const char *uuid, const char *token, size_t token_len,
		  uint32_t n)
{
	mp_put_map(out, 4);
	mp_put_str(out, "UUID", 4);
	mp_put_str(out, uuid, strlen(uuid));
	mp_put_str(out, "ContinuationToken", 17);
	mp_put_str(out, token, token_len);
	mp_put_str(out, "Entries", 7);
	mp_put_array(out, n);
}

void lso_put_tail(struct buf *out)
{
	mp_put_str(out, "Flags", 5);
	mp_put_int(out, 0);
}

static bool is(const char *key, size_t len, const char *want)
{
	return len == strlen(want) && !memcmp(key, want, len);
}

/* One field of an entry; what is unknown is skipped. */
static int read_field(struct mp_cursor *c, struct lso_entry *e)
{
	const char *key, *s;
	size_t len, n, i;

	if (mp_get_str(c, &key, &len) < 0)
		return -EINVAL;
	for (i = 0; i < ARRAY_SIZE(texts); i++) {
		if (!is(key, len, texts[i].key))
			continue;
		if (mp_get_str(c, &s, &n) < 0)
			return -EINVAL;
		text_set(e, i, s, n);
		return 0;
	}
	if (is(key, len, "s"))
		return mp_get_int(c, &e->size);
	if (is(key, len, "c"))
		return mp_get_int(c, &e->copies);
	if (is(key, len, "f"))
		return mp_get_int(c, &e->flags);
	return mp_skip(c);
}

static int read_entry(struct mp_cursor *c, struct lso_entry *ret)
{
	struct lso_entry e = {.raw = c->p};
	uint32_t n;

	if (mp_get_map(c, &n) < 0)
		return -EINVAL;
	while (n--)
		if (read_field(c, &e) < 0)
			return -EINVAL;
	if (!e.name || !e.name_len)
		return -EINVAL;
	e.raw_len = (size_t)(c->p - e.raw);
	*ret = e;
	return 0;
}

/* Byte order of names. */
static int by_name(const struct lso_entry *a, const struct lso_entry *b)
{
	size_t n = MIN(a->name_len, b->name_len);
	int r = n ? memcmp(a->name, b->name, n) : 0;

	if (r)
		return r;
	return (a->name_len > b->name_len) - (a->name_len < b->name_len);
}

int lso_page_next(struct lso_page *p)
{
	struct lso_entry e = {};

	if (p->left) {
		if (read_entry(&p->at, &e) < 0 || (p->now.name && by_name(&p->now, &e) >= 0))
			return -EINVAL;
		p->left--;
	}
	p->now = e;
	return 0;
}

int lso_page_open(struct lso_page *p, const void *data, size_t len)
{
	struct mp_cursor c = {data, (const unsigned char *)data + len};
	const char *key;
	uint32_t n;
	size_t klen;

	*p = (struct lso_page){};
	if (mp_get_map(&c, &n) < 0)
		return -EINVAL;
	for (; n; n--) {
		if (mp_get_str(&c, &key, &klen) < 0)
			return -EINVAL;
		if (is(key, klen, "Entries")) {
			if (mp_get_array(&c, &p->left) < 0)
				return -EINVAL;
			p->at = c;
			return lso_page_next(p);
		}
		if (mp_skip(&c) < 0)
			return -EINVAL;
	}
	return -EINVAL;
}

/* ---- merge: a binary heap of pages by their current name ---- */

static bool before(const struct lso_page *a, const struct lso_page *b)
{
	int r = by_name(&a->now, &b->now);

	if (r)
		return r < 0;
	return (a->now.flags & LSO_STATUS_MASK) < (b->now.flags & LSO_STATUS_MASK);
}

static void sift_down(struct lso_page **heap, size_t n, size_t i)
{
	for (;;) {
		size_t low = i, k;

		for (k = 2 * i + 1; k <= 2 * i + 2 && k < n; k++)
			if (before(heap[k], heap[low]))
				low = k;
		if (low == i)
			return;
		struct lso_page *tmp = heap[i];

		heap[i] = heap[low];
		heap[low] = tmp;
		i = low;
	}
}

static size_t heap_make(struct lso_page **heap, struct lso_page *pages, size_t n)
{
	size_t used = 0, i;

	for (i = 0; i < n; i++)
		if (pages[i].now.name)
			heap[used++] = &pages[i];
	for (i = used / 2; i-- > 0;)
		sift_down(heap, used, i);
	return used;
}

int64_t lso_merge(struct lso_page *pages, size_t n, uint32_t max,
		  void (*emit)(void *arg, const struct lso_entry *e), void *arg)
{
	struct lso_page **heap = calloc(n + 1, sizeof(*heap));
	struct lso_entry last = {};
	int64_t count = 0;

	if (!heap)
		return -ENOMEM;
	n = heap_make(heap, pages, n);
	while (n) {
		struct lso_page *top = heap[0];

		if (!last.name || by_name(&last, &top->now)) {
			if (count == max)
				break;
			last = top->now;
			emit(arg, &last);
			count++;
		}
		if (lso_page_next(top) < 0) {
			count = -EINVAL;
			break;
		}
		if (!top->now.name)
			heap[0] = heap[--n];
		sift_down(heap, n, 0);
	}
	free(heap);
	return count;
}
