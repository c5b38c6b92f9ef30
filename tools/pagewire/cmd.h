/* SPDX-License-Identifier: BSD-2-Clause */
/* Nouns, verbs and options: the tables that arguments, help and the man page are made from. */
#ifndef PAGEWIRE_CMD_H
#define PAGEWIRE_CMD_H

#include <limits.h>

#include "client.h"
#include "out.h"
#include "uri.h"

struct json_object;
struct cmd;

enum {
	CMD_DONE = 0,
	CMD_FAILED = 1, /* and said so */
	CMD_USAGE = 2, /* and said so */
};

#define CMD_OPTS_MAX 16
#define CMD_ARGS_ANY INT_MAX

/* A table of options ends with {}. */
struct cmd_opt {
	char letter; /* short form, 0: none */
	const char *name; /* without its two hyphens */
	const char *arg; /* what its value is called, NULL: it takes none */
	const char *help;
};

/* A table of verbs ends with {}. */
struct cmd_verb {
	const char *name;
	int (*run)(struct cmd *c); /* CMD_*, or a negative errno that was not reported yet */
	const char *args;
	const char *help;
	int min, max; /* how many arguments */
	const struct cmd_opt *opts;
};

/* The table of nouns ends with {}. */
struct cmd_noun {
	const char *name;
	const char *help;
	const struct cmd_verb *verbs;
};

/* What users of the original type; the table ends with {}. */
struct cmd_short {
	const char *words; /* one word, or two joined by a blank */
	const char *noun, *verb;
	const char *help;
};

struct cmd_val {
	const struct cmd_opt *opt;
	const char *value;
};

/* One run of a verb. */
struct cmd {
	const struct cmd_noun *noun;
	const struct cmd_verb *verb;
	char **args;
	int nargs;
	struct cmd_val vals[CMD_OPTS_MAX];
	size_t nvals;
	struct out out;
	struct client *client; /* made by the first call */
};

extern const struct cmd_noun cmd_nouns[];
extern const struct cmd_short cmd_shorts[];
extern const struct cmd_opt cmd_common_opts[];

extern const struct cmd_verb bucket_verbs[], object_verbs[], cluster_verbs[], node_verbs[];
extern const struct cmd_verb job_verbs[];

/* Verbs of cmd_node.c, in the table of cmd_cluster.c. */
int cmd_node_mountpath(struct cmd *c);
int cmd_node_scrub(struct cmd *c);
extern const struct cmd_opt cmd_scrub_opts[];

/**
 * cmd_parse() - Find noun, verb, options and arguments
 * @c:		filled; out is set for text or JSON even on failure
 * @argc:	of main()
 * @argv:	of main(); kept, and permuted
 *
 * Return: 0; CMD_USAGE after saying what is wrong; or CMD_HELP, CMD_HELP_RST, CMD_VERSION: what is
 * asked for instead.
 */
int cmd_parse(struct cmd *c, int argc, char **argv);

enum {
	CMD_HELP = 16, /* of noun and verb as far as they are set */
	CMD_HELP_RST, /* all of it, as a fragment of the man page */
	CMD_VERSION,
};

/* The value of an option ("" for one without), NULL when it was not given. */
const char *cmd_opt(const struct cmd *c, const char *name);

/**
 * cmd_opt_u64() - A number given with an option
 * @c:		the command
 * @name:	the option
 * @max:	the largest allowed
 * @ret:	the number; left alone when the option is absent
 *
 * Return: 0, or CMD_USAGE after saying what is wrong.
 */
int cmd_opt_u64(struct cmd *c, const char *name, uint64_t max, uint64_t *ret);

/* Say what is wrong with the arguments. Return: CMD_USAGE. */
int cmd_usage(struct cmd *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Say why the command failed. Return: CMD_FAILED. */
int cmd_fail(struct cmd *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/**
 * cmd_bucket() - Argument @i as the name of a bucket
 * @c:		the command
 * @i:		index of the argument
 * @ret:	the name, written on success only; end it with uri_deinit()
 *
 * Return: 0; CMD_USAGE after saying what is wrong; -ENOMEM.
 */
int cmd_bucket(struct cmd *c, int i, struct uri *ret);

/* As cmd_bucket(), for the name of an object: the scheme is asked for. */
int cmd_object(struct cmd *c, int i, struct uri *ret);

/* As cmd_bucket(), for either: object is NULL when there is none; the scheme is asked for. */
int cmd_place(struct cmd *c, int i, struct uri *ret);

/**
 * cmd_client() - The client of this run, made when first asked for
 * @c:		the command
 * @ret:	the client, written on success only; stays the command's
 *
 * Return: 0; CMD_USAGE for an endpoint that is none, CMD_FAILED else, after saying why.
 */
int cmd_client(struct cmd *c, struct client **ret);

/**
 * cmd_call() - Make a call that must succeed
 * @c:		the command
 * @call:	the call
 * @r:		the answer
 *
 * Return: 0; CMD_FAILED after saying why; -ENOMEM.
 */
int cmd_call(struct cmd *c, const struct call *call, struct resp *r);

/* Say why a call failed: the API's document with -j, its message else. Return: CMD_FAILED. */
int cmd_refused(struct cmd *c, const struct resp *r);

/**
 * cmd_json() - The body of an answer as JSON
 * @c:		the command
 * @r:		the answer
 * @ret:	the document, written on success only; the caller's reference
 *
 * Return: 0, or CMD_FAILED after saying that it is none.
 */
int cmd_json(struct cmd *c, const struct resp *r, struct json_object **ret);

/**
 * cmd_action() - The body of a control call
 * @b:		appended to
 * @action:	its action
 * @name:	its name, NULL: empty
 * @value:	its value, borrowed; NULL: null
 */
void cmd_action(struct buf *b, const char *action, const char *name, struct json_object *value);

/* Print help of what @c names. @rst: all of it, as definition lists. Return: CMD_DONE. */
int help_print(struct cmd *c, bool rst);

#endif
