/* SPDX-License-Identifier: BSD-2-Clause */
/* KEY=VALUE arguments as JSON: flat strings, or nested and typed. */
#include <string.h>

#include "base/bits.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "cmd.h"
#include "kv.h"

#define KEY_MAX 128

/* Properties that are strings in the API though they read like numbers. */
static const char *const string_props[] = {
	"access",
	"features",
	"chunks.objsize_limit",
	"chunks.chunk_size",
	"chunks.max_monolithic_size",
};

static int split(struct cmd *c, const char *arg, char key[KEY_MAX], const char **ret_value)
{
	size_t n = strcspn(arg, "=");

	if (!n || !arg[n])
		return cmd_usage(c, "\"%s\": expected KEY=VALUE", arg);
	if (n >= KEY_MAX)
		return cmd_usage(c, "\"%.40s...\": the key is longer than %d bytes", arg,
				 KEY_MAX - 1);
	memcpy(key, arg, n);
	key[n] = 0;
	*ret_value = arg + n + 1;
	return 0;
}

int kv_custom(struct cmd *c, int first, struct json_object **ret)
{
	autojson struct json_object *doc = json_object_new_object();
	int i, r;

	for (i = first; i < c->nargs; i++) {
		char key[KEY_MAX];
		const char *value;

		r = split(c, c->args[i], key, &value);
		if (r)
			return r;
		json_object_object_add(doc, key, json_object_new_string(value));
	}
	*ret = take_ptr(doc);
	return 0;
}

static bool whole_number(const char *s, int64_t *ret)
{
	char *end;

	errno = 0;
	*ret = strtoll(s, &end, 10);
	return !errno && *s && !*end;
}

static struct json_object *typed(const char *value, enum json_type type)
{
	int64_t n;

	switch (type) {
	case json_type_boolean:
		if (strcmp(value, "true") && strcmp(value, "false"))
			return NULL;
		return json_object_new_boolean(*value == 't');
	case json_type_int:
		return whole_number(value, &n) ? json_object_new_int64(n) : NULL;
	case json_type_string:
		return json_object_new_string(value);
	default:
		return NULL;
	}
}

static enum json_type guess(const char *key, const char *value)
{
	int64_t n;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(string_props); i++) {
		if (!strcmp(key, string_props[i]))
			return json_type_string;
	}
	if (!strcmp(value, "true") || !strcmp(value, "false"))
		return json_type_boolean;
	return whole_number(value, &n) ? json_type_int : json_type_string;
}

/* The member of @o at dotted @key. */
static struct json_object *find(struct json_object *o, const char *key)
{
	char part[KEY_MAX];

	while (o && *key) {
		size_t n = strcspn(key, ".");

		memcpy(part, key, n);
		part[n] = 0;
		o = json_member(o, part);
		key += n + (key[n] == '.');
	}
	return o;
}

static void put(struct json_object *o, const char *key, struct json_object *value)
{
	char part[KEY_MAX];
	size_t n = strcspn(key, ".");
	struct json_object *in;

	memcpy(part, key, n);
	part[n] = 0;
	if (!key[n]) {
		json_object_object_add(o, part, value);
		return;
	}
	in = json_member(o, part);
	if (!json_object_is_type(in, json_type_object)) {
		in = json_object_new_object();
		json_object_object_add(o, part, in);
	}
	put(in, key + n + 1, value);
}

static int put_one(struct cmd *c, const char *arg, struct json_object *like,
		   struct json_object *doc)
{
	enum json_type type = json_type_boolean;
	struct json_object *v, *old;
	char key[KEY_MAX];
	const char *value;
	int r = split(c, arg, key, &value);

	if (r)
		return r;
	if (!like) {
		type = guess(key, value);
	} else if (strcmp(key, "force")) {
		old = find(like, key);
		if (!old || json_object_is_type(old, json_type_object))
			return cmd_fail(c, "no property \"%s\"; `pagewire bucket props` lists them",
					key);
		type = json_object_get_type(old);
	}
	v = typed(value, type);
	if (!v)
		return cmd_usage(c, "\"%s\": expected %s", arg,
				 type == json_type_boolean ? "true or false" : "a whole number");
	put(doc, key, v);
	return 0;
}

int kv_props(struct cmd *c, int first, struct json_object *like, struct json_object **ret)
{
	autojson struct json_object *doc = json_object_new_object();
	int i, r;

	for (i = first; i < c->nargs; i++) {
		r = put_one(c, c->args[i], like, doc);
		if (r)
			return r;
	}
	*ret = take_ptr(doc);
	return 0;
}

int kv_unknown(const struct cmd *c, int first, struct json_object *like)
{
	int i;

	for (i = first; i < c->nargs; i++) {
		char key[KEY_MAX];
		size_t n = strcspn(c->args[i], "=");

		if (n >= KEY_MAX)
			return i;
		memcpy(key, c->args[i], n);
		key[n] = 0;
		if (!find(like, key))
			return i;
	}
	return 0;
}
