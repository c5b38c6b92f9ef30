/* SPDX-License-Identifier: BSD-2-Clause */
/* Help as text, as JSON and as a fragment of the man page, all from the tables. */
#include "base/cleanup.h"
#include "base/json.h"
#include "cmd.h"

static void opts_text(FILE *f, const struct cmd_opt *o)
{
	for (; o && o->name; o++) {
		char left[48];

		snprintf(left, sizeof(left), "%s%c%s--%s%s%s", o->letter ? "-" : "",
			 o->letter ? o->letter : ' ', o->letter ? ", " : "   ", o->name,
			 o->arg ? " " : "", o->arg ? o->arg : "");
		fprintf(f, "  %-24s  %s\n", left, o->help);
	}
}

static void common_text(FILE *f)
{
	fputs("\nOptions of every command:\n", f);
	opts_text(f, cmd_common_opts);
	fputs("\nExit status: 0 done, 1 failed, 2 wrong usage.\n", f);
}

static void verb_text(FILE *f, const struct cmd_noun *n, const struct cmd_verb *v)
{
	const char *gap = *v->args ? " " : "";
	const struct cmd_short *s;

	fprintf(f, "Usage: pagewire %s %s%s%s\n\n%s\n", n->name, v->name, gap, v->args, v->help);
	for (s = cmd_shorts; s->words; s++) {
		if (!strcmp(s->noun, n->name) && !strcmp(s->verb, v->name))
			fprintf(f, "\nShort form: pagewire %s%s%s\n", s->words, gap, v->args);
	}
	if (v->opts) {
		fputs("\nOptions:\n", f);
		opts_text(f, v->opts);
	}
	common_text(f);
}

static void verbs_text(FILE *f, const struct cmd_noun *n)
{
	const struct cmd_verb *v;

	for (v = n->verbs; v->name; v++)
		fprintf(f, "  %s %s%s%s\n        %s\n", n->name, v->name, *v->args ? " " : "",
			v->args, v->help);
}

static void all_text(FILE *f)
{
	const struct cmd_noun *n;
	const struct cmd_short *s;

	fputs("Usage: pagewire NOUN VERB [ARGUMENT]... [OPTION]...\n"
	      "       pagewire [NOUN [VERB]] help\n",
	      f);
	for (n = cmd_nouns; n->name; n++) {
		fprintf(f, "\n%s: %s\n", n->name, n->help);
		verbs_text(f, n);
	}
	fputs("\nShort forms:\n", f);
	for (s = cmd_shorts; s->words; s++)
		fprintf(f, "  %-14s%s %s: %s\n", s->words, s->noun, s->verb, s->help);
	common_text(f);
}

static void add_str(struct json_object *o, const char *key, const char *v)
{
	if (v)
		json_object_object_add(o, key, json_object_new_string(v));
}

static struct json_object *opts_json(const struct cmd_opt *o)
{
	struct json_object *ret = json_object_new_array();

	for (; o && o->name; o++) {
		struct json_object *e = json_object_new_object();

		add_str(e, "option", o->name);
		add_str(e, "value", o->arg);
		add_str(e, "help", o->help);
		json_object_array_add(ret, e);
	}
	return ret;
}

static struct json_object *verb_json(const struct cmd_noun *n, const struct cmd_verb *v)
{
	struct json_object *ret = json_object_new_object();

	add_str(ret, "noun", n->name);
	add_str(ret, "verb", v->name);
	add_str(ret, "arguments", v->args);
	add_str(ret, "help", v->help);
	json_object_object_add(ret, "options", opts_json(v->opts));
	return ret;
}

static struct json_object *shorts_json(void)
{
	struct json_object *ret = json_object_new_array();
	const struct cmd_short *s;

	for (s = cmd_shorts; s->words; s++) {
		struct json_object *e = json_object_new_object();

		add_str(e, "short", s->words);
		add_str(e, "noun", s->noun);
		add_str(e, "verb", s->verb);
		json_object_array_add(ret, e);
	}
	return ret;
}

static void help_json(struct cmd *c)
{
	autojson struct json_object *doc = json_object_new_object();
	struct json_object *verbs = json_object_new_array();
	const struct cmd_noun *n;
	const struct cmd_verb *v;

	for (n = cmd_nouns; n->name; n++) {
		for (v = n->verbs; v->name; v++) {
			if ((!c->noun || c->noun == n) && (!c->verb || c->verb == v))
				json_object_array_add(verbs, verb_json(n, v));
		}
	}
	json_object_object_add(doc, "commands", verbs);
	json_object_object_add(doc, "short_forms", shorts_json());
	json_object_object_add(doc, "options", opts_json(cmd_common_opts));
	out_doc(&c->out, doc);
}

/* Text with what rst would read as markup made plain. */
static void rst_text(FILE *f, const char *s)
{
	for (; *s; s++) {
		if (strchr("*`|\\_", *s))
			fputc('\\', f);
		fputc(*s, f);
	}
}

static void opts_rst(FILE *f, const struct cmd_opt *o, const char *indent)
{
	for (; o && o->name; o++) {
		if (o->letter)
			fprintf(f, "%s``-%c``, ", indent, o->letter);
		fprintf(f, "%s``--%s%s%s``\n%s    ", o->letter ? "" : indent, o->name,
			o->arg ? " " : "", o->arg ? o->arg : "", indent);
		rst_text(f, o->help);
		fputs("\n\n", f);
	}
}

static void noun_rst(FILE *f, const struct cmd_noun *n)
{
	const struct cmd_verb *v;
	size_t i;

	fprintf(f, "%s\n", n->name);
	for (i = 0; n->name[i]; i++)
		fputc('-', f);
	fputs("\n\n", f);
	rst_text(f, n->help);
	fputs("\n\n", f);
	for (v = n->verbs; v->name; v++) {
		fprintf(f, "``%s %s%s%s``\n    ", n->name, v->name, *v->args ? " " : "", v->args);
		rst_text(f, v->help);
		fputs("\n\n", f);
		opts_rst(f, v->opts, "    ");
	}
}

static void all_rst(FILE *f)
{
	const struct cmd_noun *n;
	const struct cmd_short *s;

	fputs("COMMANDS\n========\n\n", f);
	for (n = cmd_nouns; n->name; n++)
		noun_rst(f, n);
	fputs("SHORT FORMS\n===========\n\n", f);
	for (s = cmd_shorts; s->words; s++)
		fprintf(f, "``%s``\n    ``%s %s``: %s\n\n", s->words, s->noun, s->verb, s->help);
	fputs("OPTIONS OF EVERY COMMAND\n========================\n\n", f);
	opts_rst(f, cmd_common_opts, "");
}

int help_print(struct cmd *c, bool rst)
{
	FILE *f = c->out.f;

	if (rst) {
		all_rst(f);
	} else if (c->out.json) {
		help_json(c);
	} else if (c->verb) {
		verb_text(f, c->noun, c->verb);
	} else if (c->noun) {
		fprintf(f, "%s: %s\n", c->noun->name, c->noun->help);
		verbs_text(f, c->noun);
		common_text(f);
	} else {
		all_text(f);
	}
	return CMD_DONE;
}
