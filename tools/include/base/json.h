/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * json-c with our input rules: keys match in any case, null counts as absent, unknown keys are
 * ignored, nesting and size are bounded by the caller's buffer and JSON_DEPTH_MAX.
 */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include <errno.h>
#include <json-c/json.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

#define JSON_DEPTH_MAX 32

/* Of autojson. */
static inline void base_json_put(struct json_object **o)
{
	json_object_put(*o);
}

/* A reference dropped at the end of its scope: `autojson struct json_object *o = NULL;` */
#define autojson __attribute__((cleanup(base_json_put)))

/**
 * json_parse() - Parse one whole JSON document
 * @text:	the document, need not be NUL-terminated
 * @len:	its length in bytes
 * @ret:	the document, on success only; the caller's reference; NULL for a bare `null`
 *
 * Trailing white space is allowed, anything else after the document is not.
 *
 * Return: 0, -EINVAL for what is not one JSON document, -ENOMEM.
 */
static inline int json_parse(const char *text, size_t len, struct json_object **ret)
{
	struct json_tokener *tok;
	struct json_object *o;
	enum json_tokener_error err;
	size_t end;

	if (len > INT_MAX - 1)
		return -EINVAL;
	tok = json_tokener_new_ex(JSON_DEPTH_MAX);
	if (!tok)
		return -ENOMEM;
	json_tokener_set_flags(tok, JSON_TOKENER_VALIDATE_UTF8);
	o = json_tokener_parse_ex(tok, text, (int)len);
	err = json_tokener_get_error(tok);
	if (err == json_tokener_continue && len > 0) {
		/* a bare number ends only with the input */
		o = json_tokener_parse_ex(tok, "\0", 1);
		err = json_tokener_get_error(tok);
		end = len;
	} else {
		end = json_tokener_get_parse_end(tok);
	}
	json_tokener_free(tok);
	if (err != json_tokener_success) {
		json_object_put(o);
		return -EINVAL;
	}
	for (; end < len; end++) {
		if (!memchr(" \t\r\n", text[end], 4)) {
			json_object_put(o);
			return -EINVAL;
		}
	}
	*ret = o;
	return 0;
}

/**
 * json_member() - Member of an object by key, in any case; an exact match wins
 * @o:		an object, anything else or NULL has no members
 * @key:	the key
 *
 * Return: a borrowed reference, or NULL when absent or null.
 */
static inline struct json_object *json_member(struct json_object *o, const char *key)
{
	struct json_object *v = NULL;

	if (!json_object_is_type(o, json_type_object))
		return NULL;
	if (json_object_object_get_ex(o, key, &v))
		return v;
	json_object_object_foreach (o, k, val) {
		if (!strcasecmp(k, key))
			return val;
	}
	return NULL;
}

/* String member, or NULL when absent, null or of another type. Borrowed. */
static inline const char *json_member_str(struct json_object *o, const char *key)
{
	struct json_object *v = json_member(o, key);

	return json_object_is_type(v, json_type_string) ? json_object_get_string(v) : NULL;
}

/* Boolean member, @dflt when absent or of another type. */
static inline bool json_member_bool(struct json_object *o, const char *key, bool dflt)
{
	struct json_object *v = json_member(o, key);

	return json_object_is_type(v, json_type_boolean) ? json_object_get_boolean(v) : dflt;
}

/**
 * json_member_int() - Integer member, bare or (as this API's 64-bit numbers are) in quotes
 * @o:		the object
 * @key:	the key
 * @ret:	the value, written on success only
 *
 * Return: 0; -ENOENT when absent or null; -EINVAL for another type or not a whole number.
 */
static inline int json_member_int(struct json_object *o, const char *key, int64_t *ret)
{
	struct json_object *v = json_member(o, key);
	char *end;
	int64_t n;

	if (!v)
		return -ENOENT;
	if (json_object_is_type(v, json_type_int)) {
		*ret = json_object_get_int64(v);
		return 0;
	}
	if (!json_object_is_type(v, json_type_string) || !json_object_get_string_len(v))
		return -EINVAL;
	errno = 0;
	n = strtoll(json_object_get_string(v), &end, 10);
	if (errno || *end)
		return -EINVAL;
	*ret = n;
	return 0;
}

/* As json_member_int(), for the whole unsigned 64-bit range. */
static inline int json_member_u64(struct json_object *o, const char *key, uint64_t *ret)
{
	struct json_object *v = json_member(o, key);
	const char *s;
	char *end;
	uint64_t n;

	if (!v)
		return -ENOENT;
	if (json_object_is_type(v, json_type_int)) {
		if (json_object_get_int64(v) < 0)
			return -EINVAL;
		*ret = json_object_get_uint64(v);
		return 0;
	}
	if (!json_object_is_type(v, json_type_string))
		return -EINVAL;
	s = json_object_get_string(v);
	if (*s < '0' || *s > '9')
		return -EINVAL;
	errno = 0;
	n = strtoull(s, &end, 10);
	if (errno || *end)
		return -EINVAL;
	*ret = n;
	return 0;
}

#endif
