/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A growable byte buffer with a sticky error: append freely, check buf->err (0 or -ENOMEM) once.
 * After an error the content is undefined but safe to free. The data is always NUL-terminated
 * (the NUL is not counted in len).
 */
#ifndef BASE_BUF_H
#define BASE_BUF_H

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct buf {
	char *data;
	size_t len, cap;
	int err;
};

#define BUF_INIT                                                                                   \
	{                                                                                          \
	}
/* A buffer freed at the end of its scope: `autobuf struct buf b = BUF_INIT;` */
#define autobuf __attribute__((cleanup(buf_free)))

/* Free what @b holds; it is an empty buffer afterwards. */
static inline void buf_free(struct buf *b)
{
	free(b->data);
	*b = (struct buf){};
}

/* Forget content and error, keep the memory. */
static inline void buf_reset(struct buf *b)
{
	b->len = 0;
	b->err = 0;
	if (b->data)
		b->data[0] = 0;
}

/* Room for @n more bytes and a NUL. Return: 0 or -ENOMEM (also stored in @b->err). */
static inline int buf_reserve(struct buf *b, size_t n)
{
	size_t cap = b->cap ? b->cap : 128;
	char *p;

	if (b->err)
		return b->err;
	if (n > SIZE_MAX / 2 - b->len - 1)
		return b->err = -ENOMEM;
	if (b->len + n + 1 <= b->cap)
		return 0;
	while (cap < b->len + n + 1)
		cap *= 2;
	p = realloc(b->data, cap);
	if (!p)
		return b->err = -ENOMEM;
	b->data = p;
	b->cap = cap;
	return 0;
}

/* Append @n bytes. */
static inline void buf_append(struct buf *b, const void *p, size_t n)
{
	if (buf_reserve(b, n) < 0)
		return;
	if (n)
		memcpy(b->data + b->len, p, n);
	b->len += n;
	b->data[b->len] = 0;
}

/* Append a C string. */
static inline void buf_str(struct buf *b, const char *s)
{
	buf_append(b, s, strlen(s));
}

/* Append one byte. */
static inline void buf_char(struct buf *b, char c)
{
	buf_append(b, &c, 1);
}

/* Append formatted text. */
__attribute__((format(printf, 2, 0))) static inline void buf_vfmt(struct buf *b, const char *fmt,
								  va_list ap)
{
	va_list again;
	int n;

	va_copy(again, ap);
	n = vsnprintf(NULL, 0, fmt, again);
	va_end(again);
	if (n < 0 || buf_reserve(b, (size_t)n) < 0) {
		b->err = -ENOMEM;
		return;
	}
	vsnprintf(b->data + b->len, (size_t)n + 1, fmt, ap);
	b->len += (size_t)n;
}

/* Append formatted text. */
__attribute__((format(printf, 2, 3))) static inline void buf_fmt(struct buf *b, const char *fmt,
								 ...)
{
	va_list ap;

	va_start(ap, fmt);
	buf_vfmt(b, fmt, ap);
	va_end(ap);
}

/* The content as a C string, never NULL. Owned by @b. */
static inline const char *buf_cstr(const struct buf *b)
{
	return b->data ? b->data : "";
}

/* The heap string (at least ""), now the caller's; @b is empty. NULL after an error. */
static inline char *buf_take(struct buf *b)
{
	char *p;

	if (buf_reserve(b, 0) < 0) {
		buf_free(b);
		return NULL;
	}
	p = b->data;
	p[b->len] = 0;
	*b = (struct buf){};
	return p;
}

/* Append @s (@n bytes) as the inside of a JSON string: quotes, backslash and controls escaped. */
static inline void buf_json_escape(struct buf *b, const char *s, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		unsigned char c = (unsigned char)s[i];

		if (c == '"' || c == '\\')
			buf_fmt(b, "\\%c", c);
		else if (c == '\n')
			buf_str(b, "\\n");
		else if (c < 0x20 || c == 0x7f)
			buf_fmt(b, "\\u%04x", c);
		else
			buf_char(b, (char)c);
	}
}

/* Append @s as a JSON string with its quotes. */
static inline void buf_json_str(struct buf *b, const char *s)
{
	buf_char(b, '"');
	buf_json_escape(b, s, strlen(s));
	buf_char(b, '"');
}

#endif
