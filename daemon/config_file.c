/* SPDX-License-Identifier: BSD-2-Clause */
/* A config from JSON: the file of a node, or the cluster's config as nodes keep and send it. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bits.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "base/text.h"
#include "config.h"
#include "config_lines.h"
#include "config_priv.h"

#define FILE_MAX (1U << 20)
#define NAME_MAX_LEN 512

struct source {
	const char *name;
	struct config_lines *lines;
	bool stored; /* the cluster's config: node-wide and unknown keys are skipped */
	char *err;
	size_t err_size;
};

static int apply_object(const struct source *s, struct config *c, struct json_object *o,
			const char *prefix);

static void config_drop(struct config **c)
{
	config_put(*c);
}

static void lines_drop(struct config_lines **l)
{
	config_lines_free(*l);
}

__attribute__((format(printf, 3, 4))) static int fail(const struct source *s, const char *key,
						      const char *fmt, ...)
{
	va_list ap;
	int n;

	n = snprintf(s->err, s->err_size, "%s:%zu: %s: ", s->name, config_lines_of(s->lines, key),
		     key);
	va_start(ap, fmt);
	if (n >= 0 && (size_t)n < s->err_size)
		vsnprintf(s->err + n, s->err_size - (size_t)n, fmt, ap);
	va_end(ap);
	return -EINVAL;
}

static int fail_at(const struct source *s, size_t line, const char *what)
{
	snprintf(s->err, s->err_size, "%s:%zu: %s", s->name, line, what);
	return -EINVAL;
}

/* A string without NULs, or NULL. */
static const char *string_of(struct json_object *v)
{
	const char *s;

	if (!json_object_is_type(v, json_type_string))
		return NULL;
	s = json_object_get_string(v);
	return strlen(s) == (size_t)json_object_get_string_len(v) ? s : NULL;
}

static int apply_path(const struct source *s, struct config *c, const char *path,
		      struct json_object *label)
{
	char why[CONFIG_TEXT_MAX * 3];
	int r;

	if (!path || (label && !string_of(label)))
		return fail(s, "fspaths", "expected {\"/path\": \"label\"} or [\"/path\"]");
	r = config_path_add(c, path, label ? string_of(label) : "", why, sizeof(why));
	return r == -EINVAL ? fail(s, "fspaths", "%s", why) : r;
}

static int apply_paths(const struct source *s, struct config *c, struct json_object *v)
{
	size_t i;
	int r = 0;

	config_paths_clear(c);
	if (json_object_is_type(v, json_type_object)) {
		json_object_object_foreach (v, path, label) {
			r = apply_path(s, c, path, label);
			if (r < 0)
				return r;
		}
		return 0;
	}
	if (!json_object_is_type(v, json_type_array))
		return apply_path(s, c, NULL, NULL);
	for (i = 0; r == 0 && i < json_object_array_length(v); i++)
		r = apply_path(s, c, string_of(json_object_array_get_idx(v, i)), NULL);
	return r;
}

/* A value in quotes or bare, as its type wants it, as text; NULL for a wrong type. */
static const char *scalar_text(enum config_type type, struct json_object *v)
{
	bool number = json_object_is_type(v, json_type_int);

	switch (type) {
	case CONFIG_BOOL:
		return json_object_is_type(v, json_type_boolean) ? json_object_get_string(v) : NULL;
	case CONFIG_INT:
		return number ? json_object_get_string(v) : NULL;
	case CONFIG_INT_TEXT:
	case CONFIG_SIZE:
		return number ? json_object_get_string(v) : string_of(v);
	default:
		return string_of(v);
	}
}

static int apply_scalar(const struct source *s, struct config *c, size_t i, struct json_object *v)
{
	static const char *const wants[CONFIG_NR] = {
		[CONFIG_BOOL] = "true or false without quotes",
		[CONFIG_INT] = "a whole number without quotes",
		[CONFIG_INT_TEXT] = "a whole number",
		[CONFIG_DURATION] = "a duration in quotes, such as \"10s\"",
		[CONFIG_SIZE] = "a size in quotes, such as \"32KiB\", or a number of bytes",
		[CONFIG_TEXT] = "a text in quotes",
		[CONFIG_ENUM] = "a word in quotes",
	};
	const struct config_key *k = &config_keys[i];
	const char *text = scalar_text(k->type, v);
	char why[512];
	int r;

	if (!text)
		return fail(s, k->name, "expected %s", wants[k->type]);
	r = config_value_set(c, i, text, why, sizeof(why));
	return r == -EINVAL || r == -ENOTSUP ? fail(s, k->name, "%s", why) : r;
}

/* uuid, config_version, lastupdate_time of a stored config. */
static int apply_stamp(const struct source *s, struct config *c, const char *name,
		       struct json_object *v)
{
	const char *text = string_of(v);
	uint64_t version;
	int64_t ns;

	if (!s->stored)
		return fail(s, name, "is kept by the cluster: leave it out");
	if (!strcmp(name, "uuid") && text && strlen(text) < CONFIG_UUID_SIZE)
		config_stamp(c, c->version, text, c->time_ns);
	else if (!strcmp(name, "config_version") && text && parse_u64(text, &version) == 0 &&
		 version <= INT64_MAX)
		config_stamp(c, (int64_t)version, c->uuid, c->time_ns);
	else if (!strcmp(name, "lastupdate_time") && text && config_parse_time(text, &ns) == 0)
		config_stamp(c, c->version, c->uuid, ns);
	else
		return fail(s, name, "not of the form that a node writes");
	return 0;
}

static bool is_section(const char *name)
{
	const struct config_key *k;
	size_t n = strlen(name);

	for (k = config_keys; k->name; k++) {
		if (!strncmp(k->name, name, n) && k->name[n] == '.')
			return true;
	}
	return false;
}

static int apply_member(const struct source *s, struct config *c, const char *name,
			struct json_object *v)
{
	int i = config_index(c, name);
	const struct config_key *k;

	if (i < 0 && is_section(name)) {
		if (!v)
			return 0;
		if (!json_object_is_type(v, json_type_object))
			return fail(s, name, "is a section: expected { ... }");
		return apply_object(s, c, v, name);
	}
	if (i < 0)
		return s->stored ? 0 : fail(s, name, "unknown key; pagewired(8) lists all");
	k = &config_keys[i];
	if (!v || (s->stored && !(k->flags & CONFIG_F_CLUSTER)))
		return 0;
	if (k->flags & CONFIG_F_STAMP)
		return apply_stamp(s, c, name, v);
	if (k->type == CONFIG_PATHS)
		return apply_paths(s, c, v);
	if (k->type != CONFIG_EMPTY)
		return apply_scalar(s, c, (size_t)i, v);
	if (!json_object_is_type(v, json_type_object) || json_object_object_length(v))
		return fail(s, name, "not built yet, only {} is possible");
	return 0;
}

static int apply_object(const struct source *s, struct config *c, struct json_object *o,
			const char *prefix)
{
	char name[NAME_MAX_LEN];
	int r;

	json_object_object_foreach (o, key, v) {
		int n = snprintf(name, sizeof(name), "%s%s%s", prefix, *prefix ? "." : "", key);

		if (n < 0 || (size_t)n >= sizeof(name))
			return fail(s, *prefix ? prefix : "{", "holds a name that is too long");
		r = apply_member(s, c, name, v);
		if (r < 0)
			return r;
	}
	return 0;
}

static size_t line_at(const char *text, size_t at)
{
	size_t line = 1, i;

	for (i = 0; i < at; i++)
		line += text[i] == '\n';
	return line;
}

/* One JSON object and nothing behind it, in json-c's strict mode. */
static int parse_object(const struct source *s, const char *text, size_t len,
			struct json_object **ret)
{
	struct json_tokener *tok;
	autojson struct json_object *o = NULL;
	enum json_tokener_error err;
	size_t end = 0;

	if (len > FILE_MAX)
		return fail_at(s, 1, "longer than 1 MiB");
	while (end < len && memchr(" \t\r\n", text[end], 4))
		end++;
	if (end < len && text[end] != '{')
		return fail_at(s, line_at(text, end), "expected a JSON object: { ... }");
	tok = json_tokener_new_ex(JSON_DEPTH_MAX);
	if (!tok)
		return -ENOMEM;
	json_tokener_set_flags(tok, JSON_TOKENER_STRICT | JSON_TOKENER_ALLOW_TRAILING_CHARS |
					    JSON_TOKENER_VALIDATE_UTF8);
	o = json_tokener_parse_ex(tok, text, (int)len);
	err = json_tokener_get_error(tok);
	end = json_tokener_get_parse_end(tok);
	json_tokener_free(tok);
	if (err == json_tokener_continue)
		return fail_at(s, line_at(text, len), "the JSON ends too early");
	if (err != json_tokener_success)
		return fail_at(s, line_at(text, MIN(end, len)), json_tokener_error_desc(err));
	while (end < len && memchr(" \t\r\n", text[end], 4))
		end++;
	if (end < len)
		return fail_at(s, line_at(text, end), "more text behind the end of the JSON");
	*ret = take_ptr(o);
	return 0;
}

/* Apply a whole document to @c. @s->lines must live as long as errors are told. */
static int source_apply(struct source *s, struct config *c, const char *text, size_t len)
{
	autojson struct json_object *o = NULL;
	const char *twice;
	size_t line;
	int r;

	r = parse_object(s, text, len, &o);
	if (r < 0)
		return r;
	r = config_lines_new(text, len, &s->lines);
	if (r == -E2BIG)
		return fail_at(s, 1, "too many keys");
	if (r < 0)
		return r;
	twice = config_lines_double(s->lines, &line);
	if (twice) {
		snprintf(s->err, s->err_size, "%s:%zu: %s: is given twice", s->name, line, twice);
		return -EINVAL;
	}
	return apply_object(s, c, o, "");
}

static int parse_as(const char *name, const struct buf *text, const char *role, struct config **ret,
		    char *err, size_t err_size)
{
	autoclean(lines_drop) struct config_lines *lines = NULL;
	autoclean(config_drop) struct config *c = NULL;
	struct source s = {.name = name, .err = err, .err_size = err_size};
	const char *key = "";
	char why[1024];
	int r;

	r = config_default(&c);
	if (r < 0)
		return r;
	r = source_apply(&s, c, buf_cstr(text), text->len);
	lines = s.lines;
	if (r < 0)
		return r;
	if (role) {
		r = config_value_set(c, (size_t)config_index(c, "role"), role, why, sizeof(why));
		if (r == -EINVAL)
			snprintf(err, err_size, "--role: %s", why);
		if (r < 0)
			return r;
	}
	r = config_check(c, &key, why, sizeof(why));
	if (r < 0)
		return fail(&s, key, "%s", why);
	*ret = take_ptr(c);
	return 0;
}

int config_parse(const char *name, const char *text, size_t len, struct config **ret, char *err,
		 size_t err_size)
{
	const struct buf b = {.data = (char *)text, .len = len};

	return parse_as(name, &b, NULL, ret, err, err_size);
}

static int read_file(const char *path, struct buf *out)
{
	autofd fd = open(path, O_RDONLY | O_CLOEXEC);
	char chunk[16384];
	ssize_t n;

	if (fd < 0)
		return -errno;
	while ((n = read(fd, chunk, sizeof(chunk))) > 0 && out->len <= FILE_MAX)
		buf_append(out, chunk, (size_t)n);
	return n < 0 ? -errno : out->err;
}

int config_load_as(const char *path, const char *role, struct config **ret, char *err,
		   size_t err_size)
{
	autobuf struct buf text = BUF_INIT;
	int r = read_file(path, &text);

	if (r < 0) {
		snprintf(err, err_size, "%s: cannot be read: %s", path, strerror(-r));
		return r;
	}
	return parse_as(path, &text, role, ret, err, err_size);
}

int config_load(const char *path, struct config **ret, char *err, size_t err_size)
{
	return config_load_as(path, NULL, ret, err, err_size);
}

/* All defaults but the node-wide values of @node. */
static int config_of_node(const struct config *node, struct config **ret)
{
	autoclean(config_drop) struct config *dflt = NULL;
	int r;

	r = config_default(&dflt);
	return r < 0 ? r : config_adopt(node, dflt, ret);
}

int config_parse_cluster(const struct config *node, const char *text, size_t len,
			 struct config **ret, char *err, size_t err_size)
{
	autoclean(lines_drop) struct config_lines *lines = NULL;
	autoclean(config_drop) struct config *c = NULL;
	struct source s = {
		.name = "cluster config", .stored = true, .err = err, .err_size = err_size};
	int r;

	r = config_of_node(node, &c);
	if (r < 0)
		return r;
	r = source_apply(&s, c, text, len);
	lines = s.lines;
	if (r < 0)
		return r;
	*ret = take_ptr(c);
	return 0;
}
