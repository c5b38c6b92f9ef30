/* SPDX-License-Identifier: BSD-2-Clause */
/* Arguments into noun, verb, options and the rest. */
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "cmd.h"

struct parse {
	struct cmd *c;
	char **argv;
	int argc, i;
	bool only_args; /* after "--" */
	bool help;
	bool rst;
	bool version;
	char *first; /* first word of a short form of two */
};

static const struct cmd_opt *find_in(const struct cmd_opt *o, const char *name, size_t n,
				     char letter)
{
	for (; o && o->name; o++) {
		if (letter ? o->letter == letter
			   : strlen(o->name) == n && !memcmp(o->name, name, n))
			return o;
	}
	return NULL;
}

static const struct cmd_opt *find_opt(struct cmd *c, const char *name, size_t n, char letter)
{
	const struct cmd_opt *o = find_in(cmd_common_opts, name, n, letter);

	return o || !c->verb ? o : find_in(c->verb->opts, name, n, letter);
}

static void hint(struct cmd *c, char text[96])
{
	snprintf(text, 96, "`pagewire %s%s%s%shelp`", c->noun ? c->noun->name : "",
		 c->noun ? " " : "", c->verb ? c->verb->name : "", c->verb ? " " : "");
}

static int unknown(struct cmd *c, const char *what, const char *word)
{
	char see[96];

	hint(c, see);
	return cmd_usage(c, "unknown %s \"%s\"; %s lists them", what, word, see);
}

static int keep_opt(struct parse *p, const struct cmd_opt *o, const char *value)
{
	struct cmd *c = p->c;

	if (!strcmp(o->name, "help"))
		p->help = true;
	else if (!strcmp(o->name, "version"))
		p->version = true;
	else if (!strcmp(o->name, "json"))
		c->out.json = true;
	else if (c->nvals == CMD_OPTS_MAX)
		return cmd_usage(c, "too many options");
	else
		c->vals[c->nvals++] = (struct cmd_val){.opt = o, .value = value};
	return 0;
}

/* The option at argv[i], with its value. */
static int parse_opt(struct parse *p)
{
	const char *word = p->argv[p->i], *name = word + 2;
	size_t n = strcspn(name, "=");
	const struct cmd_opt *o;
	const char *value = NULL;

	if (word[1] != '-')
		o = word[2] ? NULL : find_opt(p->c, NULL, 0, word[1]);
	else
		o = find_opt(p->c, name, n, 0);
	if (!o)
		return unknown(p->c, "option", word);
	if (word[1] == '-' && name[n])
		value = name + n + 1;
	if (!o->arg && value)
		return cmd_usage(p->c, "option --%s takes no value", o->name);
	if (o->arg && !value) {
		if (p->i + 1 == p->argc)
			return cmd_usage(p->c, "option --%s needs %s", o->name, o->arg);
		value = p->argv[++p->i];
	}
	return keep_opt(p, o, value ? value : "");
}

static const struct cmd_noun *find_noun(const char *name)
{
	const struct cmd_noun *n;

	for (n = cmd_nouns; n->name; n++) {
		if (!strcmp(n->name, name))
			return n;
	}
	return NULL;
}

static const struct cmd_verb *find_verb(const struct cmd_noun *n, const char *name)
{
	const struct cmd_verb *v;

	for (v = n->verbs; v->name; v++) {
		if (!strcmp(v->name, name))
			return v;
	}
	return NULL;
}

static bool take_short(struct parse *p, const char *word)
{
	char words[64];
	const struct cmd_short *s;

	snprintf(words, sizeof(words), "%s%s%s", p->first ? p->first : "", p->first ? " " : "",
		 word);
	for (s = cmd_shorts; s->words; s++) {
		if (!strcmp(s->words, words)) {
			p->c->noun = find_noun(s->noun);
			p->c->verb = find_verb(p->c->noun, s->verb);
			return true;
		}
	}
	return false;
}

/* A word in the place of noun or verb. */
static int parse_word(struct parse *p, char *word)
{
	struct cmd *c = p->c;

	if (!strcmp(word, "help")) {
		p->help = true;
		return 0;
	}
	if (!c->noun) {
		if (take_short(p, word))
			return 0;
		if (!p->first)
			c->noun = find_noun(word);
		if (c->noun)
			return 0;
		if (p->first || strcmp(word, "show"))
			return unknown(c, "command", word);
		p->first = word;
		return 0;
	}
	c->verb = find_verb(c->noun, word);
	return c->verb ? 0 : unknown(c, "verb", word);
}

static int parse_one(struct parse *p)
{
	struct cmd *c = p->c;
	char *word = p->argv[p->i];

	if (!p->only_args && word[0] == '-' && word[1]) {
		if (!strcmp(word, "--")) {
			p->only_args = true;
			return 0;
		}
		if (p->help && !c->noun && !strcmp(word, "--rst")) {
			p->rst = true;
			return 0;
		}
		return parse_opt(p);
	}
	if (!c->verb)
		return parse_word(p, word);
	if (!c->nargs && !strcmp(word, "help") && !p->only_args) {
		p->help = true;
		return 0;
	}
	c->args[c->nargs++] = word;
	return 0;
}

static int check(struct parse *p)
{
	struct cmd *c = p->c;

	if (!c->noun)
		return cmd_usage(c, p->first ? "show what? `pagewire help` lists what there is"
					     : "no command given; `pagewire help` lists them");
	if (!c->verb)
		return cmd_usage(c, "%s what? `pagewire %s help` lists its verbs", c->noun->name,
				 c->noun->name);
	if (c->nargs < c->verb->min || c->nargs > c->verb->max)
		return cmd_usage(c, "too %s arguments; usage: pagewire %s %s%s%s",
				 c->nargs < c->verb->min ? "few" : "many", c->noun->name,
				 c->verb->name, *c->verb->args ? " " : "", c->verb->args);
	return 0;
}

/* -j decides the form of every complaint, those about words before it too. */
static bool wants_json(int argc, char **argv)
{
	int i;

	for (i = 1; i < argc && strcmp(argv[i], "--"); i++) {
		if (!strcmp(argv[i], "-j") || !strcmp(argv[i], "--json"))
			return true;
	}
	return false;
}

int cmd_parse(struct cmd *c, int argc, char **argv)
{
	struct parse p = {.c = c, .argv = argv, .argc = argc};
	int r;

	out_init(&c->out, wants_json(argc, argv));
	/* arguments move to the front, over words that were read already */
	c->args = argv;
	for (p.i = 1; p.i < argc; p.i++) {
		r = parse_one(&p);
		if (r)
			return r;
	}
	if (p.help)
		return p.rst ? CMD_HELP_RST : CMD_HELP;
	return p.version ? CMD_VERSION : check(&p);
}
