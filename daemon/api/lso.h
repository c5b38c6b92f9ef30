/* SPDX-License-Identifier: BSD-2-Clause */
/* Pages of a listing: entries as MessagePack and JSON, and the merge of what targets sent. */
#ifndef API_LSO_H
#define API_LSO_H

#include <string.h>

#include "api/msgpack.h"

/* Bits of an entry's flags. */
#define LSO_STATUS_MASK 31
#define LSO_WRONG_NODE 1
#define LSO_CACHED 64
#define LSO_DIR 256

struct lso_entry {
	const char *name, *cksum, *atime, *version, *location, *custom; /* NULL: absent */
	size_t name_len, cksum_len, atime_len, version_len, location_len, custom_len;
	int64_t size, copies, flags;
	const unsigned char *raw; /* as it was read */
	size_t raw_len;
};

/* Append one entry; texts count by their lengths, zero and empty fields are left out. */
void lso_put_entry(struct buf *out, const struct lso_entry *e);
/* The same as JSON. */
void lso_json_entry(struct buf *out, const struct lso_entry *e);
/* Append the head of a page up to its entries, which must follow, then lso_put_tail(). */
void lso_put_head(struct buf *out, const char *uuid, const char *token, size_t token_len,
		  uint32_t n);
void lso_put_tail(struct buf *out);

/* One page as a target sent it, read from front to back. */
struct lso_page {
	struct mp_cursor at;
	uint32_t left; /* entries behind @at */
	struct lso_entry now; /* the first of the rest; name NULL at the end */
};

/**
 * lso_page_open() - Check the head of a page and read its first entry
 * @p:		the page
 * @data:	its bytes, which must outlive @p
 * @len:	how many
 *
 * Return: 0; -EINVAL malformed.
 */
int lso_page_open(struct lso_page *p, const void *data, size_t len);
/* Go to the next entry. Return: 0; -EINVAL malformed, or names not in ascending order. */
int lso_page_next(struct lso_page *p);

/**
 * lso_merge() - Merge pages by name, without doubles, up to a number of entries
 * @pages:	opened pages; used up
 * @n:		how many
 * @max:	entries wanted
 * @emit:	called in order; of equal names the one that is where it belongs
 * @arg:	for @emit
 *
 * Return: entries emitted, or -EINVAL for a malformed page, -ENOMEM.
 */
int64_t lso_merge(struct lso_page *pages, size_t n, uint32_t max,
		  void (*emit)(void *arg, const struct lso_entry *e), void *arg);

#endif
