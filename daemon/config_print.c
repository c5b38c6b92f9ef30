/* SPDX-License-Identifier: BSD-2-Clause */
/* The config as the API's JSON, and the table of keys as manual and as help. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/bits.h"
#include "config.h"
#include "config_priv.h"

#define NAME_SIZE 128

/* ---- JSON ---- */

static void comma(struct buf *out)
{
	char last = out->len ? out->data[out->len - 1] : '{';

	if (last != '{' && last != ',')
		buf_char(out, ',');
}

/* Leave the sections in @at that @name is not in, enter those it is in. @at: "net.http." */
static void section_move(struct buf *out, char *at, const char *name)
{
	const char *dot;

	while (*at && strncmp(at, name, strlen(at))) {
		at[strlen(at) - 1] = 0;
		at[strrchr(at, '.') ? strrchr(at, '.') + 1 - at : 0] = 0;
		buf_char(out, '}');
	}
	while ((dot = strchr(name + strlen(at), '.'))) {
		size_t done = strlen(at), end = (size_t)(dot + 1 - name);

		comma(out);
		buf_fmt(out, "\"%.*s\":{", (int)(end - 1 - done), name + done);
		memcpy(at, name, end);
		at[end] = 0;
	}
}

/* All keys that have one of the flags @any (0: all) and none of @none, as one object. */
static void print_object(const struct config *c, unsigned int any, unsigned int none,
			 struct buf *out)
{
	char at[NAME_SIZE] = "";
	size_t i;

	buf_char(out, '{');
	for (i = 0; i < c->n_keys; i++) {
		const struct config_key *k = &config_keys[i];

		if ((any && !(k->flags & any)) || k->flags & none)
			continue;
		section_move(out, at, k->name);
		comma(out);
		buf_fmt(out, "\"%s\":", k->name + strlen(at));
		config_value_print(c, i, out);
	}
	section_move(out, at, "");
	buf_char(out, '}');
}

void config_print_cluster(const struct config *c, bool own, struct buf *out)
{
	print_object(c, CONFIG_F_CLUSTER | CONFIG_F_SHOWN,
		     CONFIG_F_SECRET | (own ? 0 : CONFIG_F_HIDDEN), out);
}

void config_print_node(const struct config *c, struct buf *out)
{
	print_object(c, 0, CONFIG_F_SECRET, out);
}

/* ---- the table ---- */

static const char *const type_names[CONFIG_NR] = {
	[CONFIG_BOOL] = "true or false", [CONFIG_INT] = "number",  [CONFIG_INT_TEXT] = "number",
	[CONFIG_DURATION] = "duration",	 [CONFIG_SIZE] = "size",   [CONFIG_TEXT] = "text",
	[CONFIG_ENUM] = "word",		 [CONFIG_PATHS] = "paths", [CONFIG_EMPTY] = "object",
};

static void format_number(enum config_type type, int64_t n, char *out, size_t size)
{
	if (type == CONFIG_DURATION)
		config_format_duration(n, out, size);
	else if (type == CONFIG_SIZE)
		config_format_size(n, out, size);
	else
		snprintf(out, size, "%lld", (long long)n);
}

/* "duration from 1s to 1m" */
static void print_type(const struct config_key *k, struct buf *out)
{
	char lo[40], hi[40];

	if (k->type == CONFIG_ENUM) {
		buf_str(out, k->words);
		return;
	}
	buf_str(out, type_names[k->type]);
	if (k->type == CONFIG_BOOL || k->min == k->max)
		return;
	format_number(k->type, k->min, lo, sizeof(lo));
	format_number(k->type, k->max, hi, sizeof(hi));
	buf_fmt(out, " from %s to %s", lo, hi);
}

static const char *scope(const struct config_key *k)
{
	if (k->flags & CONFIG_F_RUNTIME)
		return "cluster-wide, can be changed at run time";
	return k->flags & CONFIG_F_CLUSTER ? "cluster-wide" : "node-wide";
}

static void print_rst_key(const struct config_key *k, struct buf *out)
{
	buf_fmt(out, "``%s``\n    ``", k->name);
	print_type(k, out);
	buf_str(out, "``; ");
	if (*k->dflt)
		buf_fmt(out, "default ``%s``; ", k->dflt);
	buf_fmt(out, "%s.\n    %c%s.\n\n", scope(k), toupper((unsigned char)k->help[0]),
		k->help + 1);
}

static bool is_listed(const struct config_key *k)
{
	return !(k->flags & (CONFIG_F_UNBUILT | CONFIG_F_STAMP));
}

static void print_rst_reported(struct buf *out)
{
	const struct config_key *k;

	buf_str(out,
		"Reported only\n~~~~~~~~~~~~~\n\n"
		"These keys are reported with the value given here, so that clients find the "
		"whole\ndocument. Nothing acts on them yet, and another value is refused.\n\n");
	for (k = config_keys; k->name; k++) {
		if (!(k->flags & CONFIG_F_UNBUILT))
			continue;
		buf_fmt(out, "- ``%s``", k->name);
		if (*k->dflt)
			buf_fmt(out, " (``%s``)", k->dflt);
		buf_fmt(out, ": %s\n", k->help);
	}
	buf_char(out, '\n');
}

static void print_rst(struct buf *out)
{
	const struct config_key *k;

	buf_str(out, "Keys\n~~~~\n\n");
	for (k = config_keys; k->name; k++) {
		if (is_listed(k))
			print_rst_key(k, out);
	}
	print_rst_reported(out);
}

void config_print_table(bool rst, struct buf *out)
{
	const struct config_key *k;

	if (rst) {
		print_rst(out);
		return;
	}
	for (k = config_keys; k->name; k++) {
		if (!is_listed(k))
			continue;
		buf_fmt(out, "  %-40s ", k->name);
		print_type(k, out);
		buf_fmt(out, "%s%s\n      %s\n", *k->dflt ? ", default " : "", k->dflt, k->help);
	}
}
