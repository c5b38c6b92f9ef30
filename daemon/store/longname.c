/* SPDX-License-Identifier: BSD-2-Clause */
/* Lists of records whose long names share one key of the index, sorted by full name. */
#include <errno.h>
#include <string.h>

#include "store/codec.h"

#define LIST_FORMAT 1
#define LIST_HEAD 1 /* format */
#define ITEM_HEAD 6 /* u16 length of the name, u32 length of the record */

static int name_cmp(const char *a, size_t a_len, const char *b, size_t b_len)
{
	int r = memcmp(a, b, MIN(a_len, b_len));

	return r ? r : (a_len > b_len) - (a_len < b_len);
}

int longname_next(const void *list, size_t n, size_t *pos, struct longname_item *ret)
{
	const unsigned char *p = list;
	size_t at = *pos ? *pos : LIST_HEAD, name_len, val_len;

	if (!n)
		return 0;
	if (p[0] != LIST_FORMAT)
		return -EUCLEAN;
	if (at == n)
		return 0;
	if (at > n || n - at < ITEM_HEAD)
		return -EUCLEAN;
	name_len = (size_t)p[at] << 8 | p[at + 1];
	val_len = get_be32(p + at + 2);
	at += ITEM_HEAD;
	if (!name_len || name_len > STORE_NAME_MAX || val_len > RECORD_MAX ||
	    n - at < name_len + val_len)
		return -EUCLEAN;
	ret->name = (const char *)p + at;
	ret->name_len = name_len;
	ret->val = ret->name + name_len;
	ret->val_len = val_len;
	*pos = at + name_len + val_len;
	return 1;
}

int longname_find(const void *list, size_t n, const struct objkey *k, struct longname_item *ret)
{
	struct longname_item it;
	size_t pos = 0;
	int r, c;

	while ((r = longname_next(list, n, &pos, &it)) > 0) {
		c = name_cmp(it.name, it.name_len, k->name, k->len);
		if (c > 0)
			break;
		if (c == 0) {
			*ret = it;
			return 0;
		}
	}
	return r < 0 ? r : -ENOENT;
}

static void item_add(struct buf *out, const char *name, size_t name_len, const char *val,
		     size_t val_len)
{
	unsigned char h[ITEM_HEAD];

	if (!out->len)
		buf_char(out, LIST_FORMAT);
	h[0] = (unsigned char)(name_len >> 8);
	h[1] = (unsigned char)name_len;
	put_be32(h + 2, (uint32_t)val_len);
	buf_append(out, h, sizeof(h));
	buf_append(out, name, name_len);
	buf_append(out, val, val_len);
}

int longname_edit(const void *list, size_t n, const struct objkey *k, const struct buf *val,
		  struct buf *out)
{
	struct longname_item it;
	bool found = false, added = false;
	size_t pos = 0;
	int r, c;

	while ((r = longname_next(list, n, &pos, &it)) > 0) {
		c = name_cmp(it.name, it.name_len, k->name, k->len);
		found |= c == 0;
		if (val && c >= 0 && !added) {
			item_add(out, k->name, k->len, val->data, val->len);
			added = true;
		}
		if (c != 0)
			item_add(out, it.name, it.name_len, it.val, it.val_len);
	}
	if (r < 0)
		return r;
	if (val && !added)
		item_add(out, k->name, k->len, val->data, val->len);
	return val || found ? 0 : -ENOENT;
}
