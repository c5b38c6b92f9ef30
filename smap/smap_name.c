/* SPDX-License-Identifier: BSD-2-Clause */
/* What IDs, buckets and objects may be called. */
#include <string.h>

#include "smap/smap_name.h"

static bool alnum(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool id_char(char c)
{
	return alnum(c) || c == '-' || c == '_';
}

bool smap_node_id_ok(const char *id)
{
	size_t len, i;

	if (!id)
		return false;
	len = strnlen(id, SMAP_ID_MAX + 1);
	if (len < SMAP_ID_MIN || len > SMAP_ID_MAX || !alnum(id[0]) || !alnum(id[len - 1]))
		return false;
	for (i = 0; i < len; i++)
		if (!id_char(id[i]))
			return false;
	return true;
}

bool smap_uuid_ok(const char *uuid)
{
	size_t len, i;

	if (!uuid)
		return false;
	len = strnlen(uuid, SMAP_UUID_MAX + 1);
	if (!len || len > SMAP_UUID_MAX)
		return false;
	for (i = 0; i < len; i++)
		if (!id_char(uuid[i]))
			return false;
	return true;
}

bool smap_bucket_name_ok(const char *name)
{
	size_t len, i;

	if (!name)
		return false;
	len = strnlen(name, SMAP_BUCKET_MAX + 1);
	if (!len || len > SMAP_BUCKET_MAX || name[0] == '.')
		return false;
	for (i = 0; i < len; i++) {
		if (!id_char(name[i]) && name[i] != '.')
			return false;
		if (name[i] == '.' && name[i + 1] == '.')
			return false;
	}
	return true;
}

/*
 * Bytes of the UTF-8 character at @p, 0 if there is none within @left: neither overlong forms nor
 * surrogates nor anything above U+10FFFF, as RFC 3629 section 4.
 */
static size_t utf8_char(const unsigned char *p, size_t left)
{
	unsigned char lo = 0x80, hi = 0xbf;
	size_t n, i;

	if (p[0] < 0x80)
		return 1;
	if (p[0] < 0xc2 || p[0] > 0xf4)
		return 0;
	n = p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;
	if (n > left)
		return 0;
	if (p[0] == 0xe0)
		lo = 0xa0;
	else if (p[0] == 0xed)
		hi = 0x9f;
	else if (p[0] == 0xf0)
		lo = 0x90;
	else if (p[0] == 0xf4)
		hi = 0x8f;
	if (p[1] < lo || p[1] > hi)
		return 0;
	for (i = 2; i < n; i++)
		if (p[i] < 0x80 || p[i] > 0xbf)
			return 0;
	return n;
}

static bool utf8_ok(const char *s, size_t len)
{
	const unsigned char *p = (const unsigned char *)s;
	size_t i, n;

	for (i = 0; i < len; i += n) {
		n = utf8_char(p + i, len - i);
		if (!n)
			return false;
	}
	return true;
}

/* Whether one of the parts between slashes is "." or "..". */
static bool has_dot_element(const char *s, size_t len)
{
	size_t start = 0, i;

	for (i = 0; i <= len; i++) {
		size_t n = i - start;

		if (i < len && s[i] != '/')
			continue;
		if ((n == 1 || n == 2) && s[start] == '.' && s[i - 1] == '.')
			return true;
		start = i + 1;
	}
	return false;
}

const char *smap_object_name_check(const char *name, size_t len)
{
	if (!len)
		return "object name is empty";
	if (len > SMAP_OBJECT_MAX)
		return "object name is longer than 1024 bytes";
	if (memchr(name, 0, len))
		return "object name has a NUL byte";
	if (name[0] == '/')
		return "object name starts with '/'";
	if (name[len - 1] == '/')
		return "object name ends with '/'";
	if (len >= 2 && name[0] == '~' && name[1] == '/')
		return "object name starts with '~/'";
	if (has_dot_element(name, len))
		return "object name has a path element '.' or '..'";
	if (!utf8_ok(name, len))
		return "object name is not UTF-8";
	return NULL;
}

void smap_bucket_uname(struct buf *out, const char *provider, const char *ns_uuid,
		       const char *ns_name, const char *bucket)
{
	buf_str(out, provider);
	buf_str(out, "/@");
	buf_str(out, ns_uuid);
	buf_char(out, '#');
	buf_str(out, ns_name);
	buf_char(out, '/');
	buf_str(out, bucket);
	buf_char(out, '/');
}
