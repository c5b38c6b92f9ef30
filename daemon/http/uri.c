/* SPDX-License-Identifier: BSD-2-Clause */
/* Percent-encoding and UTF-8. */
#include "http/uri.h"

#include <errno.h>

static bool unreserved(unsigned char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '-' || c == '.' || c == '_' || c == '~';
}

static void encode(struct buf *out, const char *p, size_t n, bool slash_stays)
{
	static const char hex[] = "0123456789ABCDEF";
	size_t i;

	for (i = 0; i < n; i++) {
		unsigned char c = (unsigned char)p[i];
		char esc[3] = {'%', hex[c >> 4], hex[c & 15]};

		if (unreserved(c) || (slash_stays && c == '/'))
			buf_char(out, (char)c);
		else
			buf_append(out, esc, sizeof(esc));
	}
}

void http_uri_encode_path(struct buf *out, const char *p, size_t n)
{
	encode(out, p, n, true);
}

void http_uri_encode_query(struct buf *out, const char *p, size_t n)
{
	encode(out, p, n, false);
}

static int hex_digit(unsigned char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

ssize_t http_uri_decode(char *s, size_t n, bool form)
{
	size_t i, o = 0;

	for (i = 0; i < n; i++) {
		unsigned char c = (unsigned char)s[i];

		if (c == '%') {
			int hi = i + 2 < n ? hex_digit((unsigned char)s[i + 1]) : -1;
			int lo = i + 2 < n ? hex_digit((unsigned char)s[i + 2]) : -1;

			if (hi < 0 || lo < 0)
				return -EINVAL;
			c = (unsigned char)(hi << 4 | lo);
			i += 2;
		} else if (form && c == '+') {
			c = ' ';
		}
		if (!c)
			return -EINVAL;
		s[o++] = (char)c;
	}
	return (ssize_t)o;
}

/* Length of the well-formed sequence at @p, 0 if there is none (RFC 3629, table of section 4). */
static size_t utf8_len(const unsigned char *p, size_t n)
{
	unsigned char lo = 0x80, hi = 0xbf;
	size_t len, i;

	if (p[0] < 0x80)
		return p[0] != 0;
	if (p[0] >= 0xc2 && p[0] <= 0xdf)
		len = 2;
	else if (p[0] >= 0xe0 && p[0] <= 0xef)
		len = 3;
	else if (p[0] >= 0xf0 && p[0] <= 0xf4)
		len = 4;
	else
		return 0;
	if (p[0] == 0xe0)
		lo = 0xa0;
	else if (p[0] == 0xed)
		hi = 0x9f;
	else if (p[0] == 0xf0)
		lo = 0x90;
	else if (p[0] == 0xf4)
		hi = 0x8f;
	if (n < len || p[1] < lo || p[1] > hi)
		return 0;
	for (i = 2; i < len; i++) {
		if (p[i] < 0x80 || p[i] > 0xbf)
			return 0;
	}
	return len;
}

size_t http_utf8_span(const char *s, size_t n)
{
	size_t i = 0;

	while (i < n) {
		size_t len = utf8_len((const unsigned char *)s + i, n - i);

		if (!len)
			break;
		i += len;
	}
	return i;
}

bool http_utf8_ok(const char *s, size_t n)
{
	return http_utf8_span(s, n) == n;
}
