/* SPDX-License-Identifier: BSD-2-Clause */
/* Noun node: mountpaths and scrub of a target. */
#include "base/bits.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "cmd.h"

/* What is asked of the node named by the first argument. */
struct node_call {
	const char *method, *path;
	const char *action; /* NULL: no body */
	struct json_object *value; /* of the action; borrowed */
};

/* Ask by way of the gateway; it must succeed. Return: as cmd_call(). */
static int node_call(struct cmd *c, const struct node_call *n, struct resp *r)
{
	autobuf struct buf line = BUF_INIT, body = BUF_INIT;
	struct call call = {.method = n->method, .path = n->path};

	if (strpbrk(c->args[0], "\r\n"))
		return cmd_usage(c, "\"%s\" is no node", c->args[0]);
	buf_fmt(&line, "Ais-Node-Id: %s", c->args[0]);
	if (n->action)
		cmd_action(&body, n->action, NULL, n->value);
	if (line.err || body.err)
		return -ENOMEM;
	call.headers[0] = line.data;
	call.body = n->action ? body.data : NULL;
	return cmd_call(c, &call, r);
}

static int node_get(struct cmd *c, const char *path, struct json_object **ret)
{
	struct node_call n = {.method = "GET", .path = path};
	autoresp struct resp r = RESP_INIT;
	int rc = node_call(c, &n, &r);

	return rc ? rc : cmd_json(c, &r, ret);
}

/* ---- mountpaths ---- */

static const struct out_col path_cols[] = {
	{"MOUNTPATH", "path", OUT_PLAIN}, {"STATE", "state", OUT_PLAIN},
	{"SINCE", "since_ns", OUT_NS},	  {"FULL", "out_of_space", OUT_PLAIN},
	{"STRAYS", "strays", OUT_PLAIN},  {"CORRUPT", "corrupt", OUT_PLAIN},
	{"REASON", "reason", OUT_PLAIN},  {},
};

static int mountpath_ls(struct cmd *c)
{
	autojson struct json_object *doc = NULL;
	int rc = node_get(c, "/v1/reverse/daemon/mountpaths?all=true", &doc);

	if (rc)
		return rc;
	out_table(&c->out, doc, doc, path_cols);
	return CMD_DONE;
}

int cmd_node_mountpath(struct cmd *c)
{
	static const struct {
		const char *word, *method, *action, *done;
	} rows[] = {
		{"attach", "PUT", "attach-mp", "attached"},
		{"detach", "DELETE", "detach-mp", "detached"},
		{"enable", "POST", "enable-mp", "in service"},
		{"disable", "POST", "disable-mp", "out of service"},
		{"check", "POST", "fshc-mp", "sound"},
		{"rescan", "POST", "rescan-mp", "is looked through"},
	};
	autojson struct json_object *v = NULL, *doc = NULL;
	autoresp struct resp r = RESP_INIT;
	size_t i;
	int rc;

	if (!strcmp(c->args[1], "ls"))
		return c->nargs == 2 ? mountpath_ls(c) : cmd_usage(c, "ls takes no path");
	for (i = 0; i < ARRAY_SIZE(rows) && strcmp(rows[i].word, c->args[1]); i++)
		;
	if (i == ARRAY_SIZE(rows))
		return cmd_usage(c,
				 "\"%s\": expected ls, attach, detach, enable, disable, check "
				 "or rescan",
				 c->args[1]);
	if (c->nargs < 3)
		return cmd_usage(c, "%s which mountpath?", c->args[1]);
	v = json_object_new_string(c->args[2]);
	rc = node_call(c,
		       &(struct node_call){.method = rows[i].method,
					   .path = "/v1/reverse/daemon/mountpaths",
					   .action = rows[i].action,
					   .value = v},
		       &r);
	if (rc)
		return rc;
	doc = json_object_new_object();
	json_object_object_add(doc, "node", json_object_new_string(c->args[0]));
	json_object_object_add(doc, "mountpath", json_object_get(v));
	out_done(&c->out, doc, "mountpath %s of %s: %s", c->args[2], c->args[0], rows[i].done);
	return CMD_DONE;
}

/* ---- scrub ---- */

static const struct out_col scrub_fields[] = {
	{"running", "running", OUT_PLAIN},	{"started", "started_ns", OUT_NS},
	{"ended", "ended_ns", OUT_NS},		{"objects", "objects", OUT_PLAIN},
	{"bytes", "bytes", OUT_BYTES},		{"found corrupt", "corrupt", OUT_PLAIN},
	{"not readable", "missing", OUT_PLAIN}, {},
};

static const struct out_col bad_cols[] = {
	{"BUCKET", "bucket", OUT_PLAIN},
	{"NAME", "name", OUT_PLAIN},
	{"SIZE", "size", OUT_BYTES},
	{"FOUND", "found_ns", OUT_NS},
	{"MOUNTPATH", "mountpath", OUT_PLAIN},
	{"FILE", "file", OUT_PLAIN},
	{},
};

static int scrub_status(struct cmd *c)
{
	autojson struct json_object *doc = NULL;
	struct json_object *bad;
	int rc = node_get(c, "/v1/reverse/daemon/scrub", &doc);

	if (rc)
		return rc;
	out_fields(&c->out, doc, scrub_fields);
	bad = json_member(doc, "quarantine");
	if (!c->out.json && json_object_is_type(bad, json_type_array) &&
	    json_object_array_length(bad)) {
		fputs("\nin quarantine:\n", c->out.f);
		out_table(&c->out, doc, bad, bad_cols);
	}
	return CMD_DONE;
}

int cmd_node_scrub(struct cmd *c)
{
	static const struct {
		const char *opt, *action, *done;
	} rows[] = {
		{"stop", "stop", "the scrub stops"},
		{"purge", "purge-quarantine", "the quarantine is empty"},
		{NULL, "start", "a scrub has begun; see it with --status"},
	};
	autojson struct json_object *doc = NULL;
	autoresp struct resp r = RESP_INIT;
	struct node_call n = {.method = "PUT", .path = "/v1/reverse/daemon/scrub"};
	size_t i;
	int rc;

	if (cmd_opt(c, "status"))
		return scrub_status(c);
	for (i = 0; rows[i].opt && !cmd_opt(c, rows[i].opt); i++)
		;
	n.action = rows[i].action;
	rc = node_call(c, &n, &r);
	if (rc)
		return rc;
	doc = json_object_new_object();
	json_object_object_add(doc, "node", json_object_new_string(c->args[0]));
	json_object_object_add(doc, "action", json_object_new_string(n.action));
	out_done(&c->out, doc, "%s: %s", c->args[0], rows[i].done);
	return CMD_DONE;
}

const struct cmd_opt cmd_scrub_opts[] = {
	{0, "status", NULL, "show the last or running scrub, and what is in quarantine"},
	{0, "stop", NULL, "stop the running scrub"},
	{0, "purge", NULL, "remove what is in quarantine, for ever"},
	{},
};
