/* SPDX-License-Identifier: BSD-2-Clause */
/* Texts of HTTP: percent-encoding, UTF-8, dates, ranges. No I/O, no state. Use http/http.h. */
#ifndef HTTP_URI_H
#define HTTP_URI_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"

/* Percent-encode a path: '/' and RFC 3986 unreserved stay, also "!$&'()*,:=@;" do not: %XX. */
void http_uri_encode_path(struct buf *out, const char *p, size_t n);
/* Percent-encode one query name or value: only unreserved stays, '/' becomes %2F. */
void http_uri_encode_query(struct buf *out, const char *p, size_t n);
/* Decode in place; '+' is a blank if @form. Return: new length, -EINVAL for a bad escape or NUL. */
ssize_t http_uri_decode(char *s, size_t n, bool form);
/* Well-formed UTF-8 (RFC 3629), no NUL. */
bool http_utf8_ok(const char *s, size_t n);
/* How many bytes of @s are that, from its start. */
size_t http_utf8_span(const char *s, size_t n);
/* @t as an IMF-fixdate (RFC 9110 5.6.7); @out of 30 bytes. */
void http_date_format(int64_t unix_s, char out[30]);
/* Any of the three forms of RFC 9110 5.6.7. Return: 0 or -EINVAL. */
int http_date_parse(const char *s, int64_t *ret_unix_s);

/**
 * http_range() - One byte range against a size (RFC 9110 14.1.2)
 * @text:	the Range header's value
 * @size:	of the representation
 * @ret_off:	first byte
 * @ret_len:	bytes, clamped to the size
 *
 * Return: 0; HTTP_RANGE_E_SYNTAX malformed or several ranges; HTTP_RANGE_E_BEYOND starts at or
 * past the end (answer Content-Range: bytes * /size).
 */
int http_range(const char *text, uint64_t size, uint64_t *ret_off, uint64_t *ret_len);
#define HTTP_RANGE_E_SYNTAX 1
#define HTTP_RANGE_E_BEYOND 2

#endif
