/* SPDX-License-Identifier: BSD-2-Clause */
/* The forms of a record on disk: in the index, beside the blob, and in lists of long names. */
#ifndef STORE_CODEC_H
#define STORE_CODEC_H

#include "store/record.h"

#define RECORD_FIXED 48 /* bytes before the variable fields */
#define RECORD_MAX (RECORD_FIXED + 64 + 48 + STORE_CUSTOM_MAX + 512 + 8)
#define RECORD_BLOB_LEN 36 /* "xx/eeeeeeeeeeeeeeee-cccccccccccccccc" */
#define ENVELOPE_MAX (14 + STORE_NAME_MAX + RECORD_MAX)
#define LONG_PREFIX 503 /* names from here on share a key of the index: 511 bytes less the bid */

/* What an object is called inside the store. Borrowed name. */
struct objkey {
	uint64_t bid;
	const char *name;
	size_t len;
};

/**
 * record_encode() - Append a record in its form on disk
 * @k:		its key, which its checksum covers
 * @rec:	the record
 * @out:	appended to; check @out->err
 */
void record_encode(const struct objkey *k, const struct store_rec *rec, struct buf *out);

/**
 * record_decode() - Read a record
 * @k:		the key it was found under
 * @p:		its bytes
 * @n:		how many
 * @rec:	written on success only; path is 0
 *
 * Return: 0; -EUCLEAN when it is damaged, of another key, or of an unknown format.
 */
int record_decode(const struct objkey *k, const void *p, size_t n, struct store_rec *rec);

/* Is @s of @n bytes a name as blobs have it? */
bool record_blob_ok(const char *s, size_t n);
/* Are @n bytes at @p whole pairs: key NUL value NUL, no empty key? */
bool record_custom_ok(const char *p, size_t n);

/* Append key and record as they stand in the xattr or trailer of a blob. */
void envelope_encode(const struct objkey *k, const struct store_rec *rec, struct buf *out);
/* The reverse; @k->name points into @p. Return: 0 or -EUCLEAN. */
int envelope_decode(const void *p, size_t n, struct objkey *k, struct store_rec *rec);

/* One record of a list; all borrowed from it. */
struct longname_item {
	const char *name, *val;
	size_t name_len, val_len;
};

/* Next item from *@pos on (begin with 0). Return: 1 got one; 0 the end; -EUCLEAN damaged. */
int longname_next(const void *list, size_t n, size_t *pos, struct longname_item *ret);
/* Find a name. Return: 0; -ENOENT; -EUCLEAN. */
int longname_find(const void *list, size_t n, const struct objkey *k, struct longname_item *ret);
/**
 * longname_edit() - The list with one name set or removed
 * @list:	the old list, @n bytes; may be empty
 * @n:		its length
 * @k:		whose name
 * @val:	bytes of the record, NULL to remove it
 * @out:	the new list is appended; empty when no name is left; check @out->err
 *
 * Return: 0; -ENOENT when the name to remove is not there; -EUCLEAN.
 */
int longname_edit(const void *list, size_t n, const struct objkey *k, const struct buf *val,
		  struct buf *out);

#endif
