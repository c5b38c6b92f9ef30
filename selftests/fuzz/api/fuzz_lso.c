/* SPDX-License-Identifier: BSD-2-Clause */
/* Any bytes as a page that a target sent: read to the end or refused; names come in order. */
#include <stdlib.h>
#include <string.h>

#include "api/lso.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct seen {
	struct buf last;
	int64_t n;
};

static void take(void *arg, const struct lso_entry *e)
{
	struct seen *s = arg;
	struct buf json = BUF_INIT;
	size_t n = s->last.len < e->name_len ? s->last.len : e->name_len;
	int r = n ? memcmp(s->last.data, e->name, n) : 0;

	if (s->n++ && (r > 0 || (!r && s->last.len >= e->name_len)))
		abort();
	buf_reset(&s->last);
	buf_append(&s->last, e->name, e->name_len);
	lso_json_entry(&json, e);
	buf_free(&json);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct lso_page pages[2];
	struct seen s = {};
	size_t half = size / 2;
	int64_t r;

	/* one page, then the input as two */
	if (!lso_page_open(&pages[0], data, size)) {
		r = lso_merge(pages, 1, 100, take, &s);
		if (r >= 0 && (r != s.n || r > 100))
			abort();
	}
	s.n = 0;
	if (!lso_page_open(&pages[0], data, half) &&
	    !lso_page_open(&pages[1], data + half, size - half))
		lso_merge(pages, 2, 100, take, &s);
	buf_free(&s.last);
	return 0;
}
