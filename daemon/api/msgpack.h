/* SPDX-License-Identifier: BSD-2-Clause */
/* The few MessagePack forms that listings use: written to a buffer, read with a checked cursor. */
#ifndef API_MSGPACK_H
#define API_MSGPACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

/* Append the head of a map of @n pairs, which must follow. */
void mp_put_map(struct buf *out, uint32_t n);
/* Append the head of an array of @n values, which must follow. */
void mp_put_array(struct buf *out, uint32_t n);
/* Append a text of @n bytes. */
void mp_put_str(struct buf *out, const char *s, size_t n);
/* Append a whole number, negative ones too. */
void mp_put_int(struct buf *out, int64_t v);
/* Append nil. */
void mp_put_nil(struct buf *out);

struct mp_cursor {
	const unsigned char *p, *end;
};

/* Each moves the cursor on success only. Return: 0; -EINVAL another type, or the input ends. */
int mp_get_map(struct mp_cursor *c, uint32_t *ret_n);
/* nil counts as an empty array. */
int mp_get_array(struct mp_cursor *c, uint32_t *ret_n);
/* The text points into the input, without NUL. */
int mp_get_str(struct mp_cursor *c, const char **ret, size_t *ret_n);
/* Signed and unsigned forms; beyond INT64_MAX is -EINVAL. */
int mp_get_int(struct mp_cursor *c, int64_t *ret);
/* One value of any type, at most 8 deep. */
int mp_skip(struct mp_cursor *c);

#endif
