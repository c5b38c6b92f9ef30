/* SPDX-License-Identifier: BSD-2-Clause */
/* One value: from text, with its range; and as JSON. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "config.h"
#include "config_priv.h"

/* A number of @type as it is written in the file. */
static void number_text(enum config_type type, int64_t n, char *out, size_t size)
{
	if (type == CONFIG_DURATION)
		config_format_duration(n, out, size);
	else if (type == CONFIG_SIZE)
		config_format_size(n, out, size);
	else
		snprintf(out, size, "%lld", (long long)n);
}

static int range_error(const struct config_key *k, char *why, size_t size)
{
	static const char *const nouns[CONFIG_NR] = {
		[CONFIG_INT] = "a whole number",
		[CONFIG_INT_TEXT] = "a whole number",
		[CONFIG_DURATION] = "a duration such as \"10s\" or \"1h30m\"",
		[CONFIG_SIZE] = "a size such as \"32KiB\"",
	};
	char lo[40], hi[40];

	number_text(k->type, k->min, lo, sizeof(lo));
	number_text(k->type, k->max, hi, sizeof(hi));
	if (k->min == k->max)
		snprintf(why, size, "expected %s", lo);
	else
		snprintf(why, size, "expected %s from %s to %s", nouns[k->type], lo, hi);
	return -EINVAL;
}

static int parse_bool(const char *text, int64_t *ret, char *why, size_t size)
{
	static const char *const no[] = {"0",	  "f", "F",  "false", "False",
					 "FALSE", "n", "no", "off"};
	size_t i;

	if (config_query_true(text)) {
		*ret = 1;
		return 0;
	}
	for (i = 0; i < ARRAY_SIZE(no); i++) {
		if (!strcmp(text, no[i])) {
			*ret = 0;
			return 0;
		}
	}
	snprintf(why, size, "expected true or false");
	return -EINVAL;
}

/* A decimal with an optional minus and nothing else. */
static int parse_int(const char *text, int64_t *ret)
{
	char *end;
	long long n;

	if ((*text < '0' || *text > '9') && *text != '-')
		return -EINVAL;
	errno = 0;
	n = strtoll(text, &end, 10);
	if (errno || *end || end[-1] == '-')
		return -EINVAL;
	*ret = n;
	return 0;
}

static int parse_number(const struct config_key *k, const char *text, int64_t *ret, char *why,
			size_t size)
{
	int64_t n;
	int r;

	if (k->type == CONFIG_BOOL)
		return parse_bool(text, ret, why, size);
	if (k->type == CONFIG_DURATION)
		r = config_parse_duration(text, &n);
	else if (k->type == CONFIG_SIZE)
		r = config_parse_size(text, &n);
	else
		r = parse_int(text, &n);
	if (r < 0 || n < k->min || n > k->max)
		return range_error(k, why, size);
	*ret = n;
	return 0;
}

/* Whether @word is one of "a|b|c". */
static bool word_listed(const char *words, const char *word)
{
	size_t len = strlen(word), n;

	for (; *words; words += n + (words[n] == '|')) {
		n = strcspn(words, "|");
		if (n == len && !memcmp(words, word, n))
			return true;
	}
	return false;
}

static int text_check(const struct config_key *k, const char *text, char *why, size_t size)
{
	const unsigned char *p;

	if (strlen(text) > CONFIG_TEXT_MAX) {
		snprintf(why, size, "longer than %d bytes", CONFIG_TEXT_MAX);
		return -EINVAL;
	}
	for (p = (const unsigned char *)text; *p; p++) {
		if (*p < 0x20 || *p == 0x7f) {
			snprintf(why, size, "has a control character");
			return -EINVAL;
		}
	}
	/* an empty default means "not set", and can be put back */
	if (k->type == CONFIG_ENUM && strcmp(text, k->dflt) && !word_listed(k->words, text)) {
		snprintf(why, size, "expected one of %s", k->words);
		return -EINVAL;
	}
	return 0;
}

static int not_built(const struct config_key *k, char *why, size_t size)
{
	if (*k->dflt)
		snprintf(why, size, "not built yet, only the default %s is possible", k->dflt);
	else
		snprintf(why, size, "not built yet, leave it out");
	return -ENOTSUP;
}

static int text_set(struct config *c, size_t i, const char *text, char *why, size_t size)
{
	const struct config_key *k = &config_keys[i];
	char *copy;
	int r;

	r = text_check(k, text, why, size);
	if (r < 0)
		return r;
	if (k->flags & CONFIG_F_UNBUILT && strcmp(text, k->dflt))
		return not_built(k, why, size);
	copy = strdup(text);
	if (!copy)
		return -ENOMEM;
	free(c->values[i].text);
	c->values[i].text = copy;
	return 0;
}

int config_value_set(struct config *c, size_t i, const char *text, char *why, size_t size)
{
	const struct config_key *k = &config_keys[i];
	int64_t n, dflt;
	int r;

	if (k->type == CONFIG_PATHS)
		return *text ? -EINVAL : 0;
	if (k->type == CONFIG_EMPTY)
		return *text ? not_built(k, why, size) : 0;
	if (k->type == CONFIG_TEXT || k->type == CONFIG_ENUM)
		return text_set(c, i, text, why, size);
	r = parse_number(k, text, &n, why, size);
	if (r < 0)
		return r;
	if (k->flags & CONFIG_F_UNBUILT) {
		r = parse_number(k, k->dflt, &dflt, why, size);
		if (r < 0)
			return r;
		if (n != dflt)
			return not_built(k, why, size);
	}
	c->values[i].num = n;
	return 0;
}

static void print_paths(const struct config *c, struct buf *out)
{
	size_t i;

	buf_char(out, '{');
	for (i = 0; i < c->n_paths; i++) {
		if (i)
			buf_char(out, ',');
		buf_json_str(out, c->paths[i].path);
		buf_char(out, ':');
		buf_json_str(out, c->paths[i].label);
	}
	buf_char(out, '}');
}

/* Values that are not kept as values. Return: whether @name is one of them. */
static bool print_special(const struct config *c, const char *name, struct buf *out)
{
	char text[80];

	if (!strcmp(name, "uuid")) {
		buf_json_str(out, c->uuid);
	} else if (!strcmp(name, "config_version")) {
		buf_fmt(out, "\"%lld\"", (long long)c->version);
	} else if (!strcmp(name, "lastupdate_time")) {
		config_format_time(c->time_ns, text, sizeof(text));
		buf_json_str(out, text);
	} else if (!strcmp(name, "confdir") || !strcmp(name, "log_dir")) {
		buf_json_str(out, config_text(c, "state_dir"));
	} else {
		return false;
	}
	return true;
}

void config_value_print(const struct config *c, size_t i, struct buf *out)
{
	const struct config_key *k = &config_keys[i];
	const struct config_value *v = &c->values[i];
	char text[80];

	if (print_special(c, k->name, out))
		return;
	switch (k->type) {
	case CONFIG_BOOL:
		buf_str(out, v->num ? "true" : "false");
		break;
	case CONFIG_PATHS:
		print_paths(c, out);
		break;
	case CONFIG_EMPTY:
		buf_str(out, "{}");
		break;
	case CONFIG_TEXT:
	case CONFIG_ENUM:
		buf_json_str(out, v->text);
		break;
	default:
		number_text(k->type, v->num, text, sizeof(text));
		if (k->type == CONFIG_INT)
			buf_str(out, text);
		else
			buf_json_str(out, text);
	}
}

/* @in as an absolute path without ".", doubled or final slashes. NULL: no memory. */
static char *path_clean(const char *in)
{
	char *out = malloc(strlen(in) + 2);
	size_t len = 0, n;

	if (!out)
		return NULL;
	for (; *in; in += n) {
		in += strspn(in, "/");
		n = strcspn(in, "/");
		if (!n || (n == 1 && *in == '.'))
			continue;
		out[len++] = '/';
		memcpy(out + len, in, n);
		len += n;
	}
	out[len] = 0;
	return out;
}

static bool path_has_dotdot(const char *p)
{
	size_t n;

	for (; *p; p += n) {
		p += strspn(p, "/");
		n = strcspn(p, "/");
		if (n == 2 && !memcmp(p, "..", 2))
			return true;
	}
	return false;
}

/* Whether @inner is @outer or lies inside of it. */
static bool path_inside(const char *inner, const char *outer)
{
	size_t n = strlen(outer);

	return !strncmp(inner, outer, n) && (inner[n] == '/' || !inner[n]);
}

static int path_check(const struct config *c, const char *path, char *why, size_t size)
{
	size_t i;

	if (!*path) {
		snprintf(why, size, "a mountpath must be a folder of its own, not / or empty");
		return -EINVAL;
	}
	if (*path != '/' || path_has_dotdot(path)) {
		snprintf(why, size, "mountpath %s must be absolute and without \"..\"", path);
		return -EINVAL;
	}
	if (c->n_paths >= CONFIG_PATHS_MAX) {
		snprintf(why, size, "more than %d mountpaths", CONFIG_PATHS_MAX);
		return -EINVAL;
	}
	for (i = 0; i < c->n_paths; i++) {
		const char *other = c->paths[i].path;

		if (!strcmp(path, other))
			snprintf(why, size, "mountpath %s is given twice", path);
		else if (path_inside(path, other) || path_inside(other, path))
			snprintf(why, size, "mountpaths %s and %s: one lies inside the other",
				 other, path);
		else
			continue;
		return -EINVAL;
	}
	return 0;
}

/* The list takes both texts. Return: 0 or -ENOMEM, the texts stay the caller's. */
static int path_push(struct config *c, char *path, char *label)
{
	struct config_mountpath *paths = realloc(c->paths, (c->n_paths + 1) * sizeof(*paths));

	if (!paths)
		return -ENOMEM;
	c->paths = paths;
	paths[c->n_paths++] = (struct config_mountpath){.path = path, .label = label};
	return 0;
}

int config_path_add(struct config *c, const char *path, const char *label, char *why, size_t size)
{
	static const struct config_key text = {.type = CONFIG_TEXT, .dflt = ""};
	char *clean, *copy;
	int r;

	r = text_check(&text, path, why, size);
	if (r == 0)
		r = text_check(&text, label, why, size);
	if (r < 0)
		return r;
	clean = *path == '/' ? path_clean(path) : strdup(path);
	copy = strdup(label);
	r = clean && copy ? path_check(c, clean, why, size) : -ENOMEM;
	if (r == 0)
		r = path_push(c, clean, copy);
	if (r < 0) {
		free(clean);
		free(copy);
	}
	return r;
}

void config_paths_clear(struct config *c)
{
	size_t i;

	for (i = 0; i < c->n_paths; i++) {
		free(c->paths[i].path);
		free(c->paths[i].label);
	}
	free(c->paths);
	c->paths = NULL;
	c->n_paths = 0;
}
