/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * json-c keeps no positions and lets the last of two equal keys win in silence. This walk over the
 * same text, which json-c has found well-formed, tells where each key stands and which do so twice.
 */
#include "config_lines.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"

#define KEYS_MAX 2048
#define KEY_LEN_MAX 512 /* longer ones are no keys of ours */

struct key_line {
	char *key;
	size_t line;
};

struct config_lines {
	size_t n;
	struct key_line keys[KEYS_MAX];
};

struct scan {
	struct config_lines *l;
	const char *p, *end;
	size_t line;
	struct buf path; /* of the present key */
	size_t base[JSON_DEPTH_MAX + 2]; /* length of @path outside of each open container */
	bool is_object[JSON_DEPTH_MAX + 2];
	size_t depth;
	bool key_next;
};

static int record(struct scan *s)
{
	struct key_line *k;

	if (s->path.len > KEY_LEN_MAX)
		return 0;
	if (s->l->n >= KEYS_MAX)
		return -E2BIG;
	k = &s->l->keys[s->l->n];
	k->key = strdup(buf_cstr(&s->path));
	if (!k->key)
		return -ENOMEM;
	k->line = s->line;
	s->l->n++;
	return 0;
}

/* Move behind the string that begins here. Return: its length between the quotes. */
static size_t skip_string(struct scan *s)
{
	const char *from = ++s->p;

	while (s->p < s->end && *s->p != '"') {
		s->line += *s->p == '\n';
		s->p += *s->p == '\\' && s->p + 1 < s->end ? 2 : 1;
	}
	if (s->p < s->end)
		s->p++;
	return (size_t)(s->p - from) - (s->p > from && s->p[-1] == '"');
}

static int scan_string(struct scan *s)
{
	const char *from = s->p + 1;
	size_t len;

	if (!s->depth || !s->is_object[s->depth] || !s->key_next) {
		skip_string(s);
		return 0;
	}
	len = skip_string(s);
	s->path.len = s->base[s->depth];
	if (s->path.len)
		buf_char(&s->path, '.');
	buf_append(&s->path, from, len);
	if (s->path.err)
		return s->path.err;
	s->key_next = false;
	return record(s);
}

static int scan_open(struct scan *s, bool is_object)
{
	if (s->depth + 1 >= JSON_DEPTH_MAX + 2)
		return -E2BIG;
	s->depth++;
	s->base[s->depth] = s->path.len;
	s->is_object[s->depth] = is_object;
	s->key_next = is_object;
	return 0;
}

static int scan_step(struct scan *s)
{
	char c = *s->p;

	if (c == '"')
		return scan_string(s);
	s->p++;
	if (c == '{' || c == '[')
		return scan_open(s, c == '{');
	if ((c == '}' || c == ']') && s->depth) {
		s->path.len = s->base[s->depth];
		s->depth--;
		s->key_next = false;
	}
	if (c == ',')
		s->key_next = true;
	s->line += c == '\n';
	return 0;
}

int config_lines_new(const char *text, size_t len, struct config_lines **ret)
{
	struct scan s = {.p = text, .end = text + len, .line = 1};
	int r = 0;

	s.l = calloc(1, sizeof(*s.l));
	if (!s.l)
		return -ENOMEM;
	while (r == 0 && s.p < s.end)
		r = scan_step(&s);
	buf_free(&s.path);
	if (r < 0) {
		config_lines_free(s.l);
		return r;
	}
	*ret = s.l;
	return 0;
}

void config_lines_free(struct config_lines *l)
{
	size_t i;

	for (i = 0; l && i < l->n; i++)
		free(l->keys[i].key);
	free(l);
}

size_t config_lines_of(const struct config_lines *l, const char *key)
{
	size_t len = strlen(key), i;

	for (; l && len; len--) {
		if (key[len] && key[len] != '.')
			continue;
		for (i = 0; i < l->n; i++) {
			if (!strncmp(l->keys[i].key, key, len) && !l->keys[i].key[len])
				return l->keys[i].line;
		}
	}
	return 1;
}

const char *config_lines_double(const struct config_lines *l, size_t *line)
{
	size_t i, k;

	for (i = 1; i < l->n; i++) {
		for (k = 0; k < i; k++) {
			if (!strcmp(l->keys[i].key, l->keys[k].key)) {
				*line = l->keys[i].line;
				return l->keys[i].key;
			}
		}
	}
	return NULL;
}
