/* SPDX-License-Identifier: BSD-2-Clause */
/* Noun object; get and put have files of their own. */
#include "base/cleanup.h"
#include "base/json.h"
#include "cmd.h"
#include "kv.h"
#include "ls.h"
#include "object.h"

static int call_object(struct cmd *c, const char *method, const struct uri *u, const char *body,
		       struct resp *r)
{
	autobuf struct buf path = BUF_INIT;
	struct call call = {.method = method, .body = body};

	uri_request(&path, "objects", u);
	if (path.err)
		return -ENOMEM;
	call.path = path.data;
	return cmd_call(c, &call, r);
}

static void add(struct json_object *doc, const char *key, const char *value)
{
	autofree char *clean = value ? out_utf8(value) : NULL;

	if (clean)
		json_object_object_add(doc, key, json_object_new_string(clean));
}

static void add_header(struct json_object *doc, const char *key, const struct resp *r,
		       const char *header)
{
	autofree char *v = resp_header(r, header, 0);

	add(doc, key, v);
}

/* Custom metadata: one header a pair. */
static void add_custom(struct json_object *doc, const struct resp *r)
{
	struct json_object *custom = json_object_new_object();
	unsigned int i;

	for (i = 0;; i++) {
		autofree char *pair = resp_header(r, "Ais-Custom-Md", i);
		char *eq = pair ? strchr(pair, '=') : NULL;

		if (!pair)
			break;
		if (!eq)
			continue;
		*eq = 0;
		add(custom, pair, eq + 1);
	}
	json_object_object_add(doc, "custom", custom);
}

static const struct out_col head_cols[] = {
	{"object", "object", OUT_PLAIN},
	{"size", "size", OUT_PLAIN},
	{"checksum", "checksum", OUT_PLAIN},
	{"checksum type", "checksum_type", OUT_PLAIN},
	{"version", "version", OUT_PLAIN},
	{"accessed", "atime", OUT_NS},
	{"modified", "last_modified", OUT_TIME},
	{"etag", "etag", OUT_PLAIN},
	{"location", "location", OUT_PLAIN},
	{"custom", "custom", OUT_PLAIN},
	{},
};

static int head(struct cmd *c)
{
	autojson struct json_object *doc = NULL;
	autoresp struct resp r = RESP_INIT;
	autouri struct uri u = URI_INIT;
	uint64_t size = 0, atime = 0;
	int rc = cmd_object(c, 0, &u);

	if (rc == 0)
		rc = call_object(c, "HEAD", &u, NULL, &r);
	if (rc)
		return rc;
	doc = json_object_new_object();
	resp_header_u64(&r, "Content-Length", &size);
	add(doc, "object", c->args[0]);
	json_object_object_add(doc, "size", json_object_new_uint64(size));
	add_header(doc, "checksum_type", &r, "Ais-Checksum-Type");
	add_header(doc, "checksum", &r, "Ais-Checksum-Value");
	add_header(doc, "version", &r, "Ais-Version");
	if (resp_header_u64(&r, "Ais-Atime", &atime) == 0)
		json_object_object_add(doc, "atime", json_object_new_uint64(atime));
	add_header(doc, "last_modified", &r, "Last-Modified");
	add_header(doc, "etag", &r, "ETag");
	add_header(doc, "location", &r, "Ais-Location");
	add_custom(doc, &r);
	out_fields(&c->out, doc, head_cols);
	return CMD_DONE;
}

/* All names with a prefix: a job of the cluster. */
static int rm_prefix(struct cmd *c, const char *prefix)
{
	autojson struct json_object *v = json_object_new_object(), *doc = json_object_new_object();
	autobuf struct buf path = BUF_INIT, body = BUF_INIT;
	autoresp struct resp r = RESP_INIT;
	autouri struct uri u = URI_INIT;
	struct call call = {.method = "DELETE"};
	int rc;

	if (c->nargs != 1)
		return cmd_usage(c, "--prefix takes one bucket");
	if (!*prefix)
		return cmd_usage(c, "--prefix is empty: that would be all objects");
	if (strpbrk(prefix, "{}@%"))
		return cmd_usage(c,
				 "--prefix \"%s\": braces, @ and %% are ranges to the server; "
				 "remove by name",
				 prefix);
	rc = cmd_bucket(c, 0, &u);
	if (rc)
		return rc;
	json_object_object_add(v, "template", json_object_new_string(prefix));
	cmd_action(&body, "delete-listrange", NULL, v);
	uri_request(&path, "buckets", &u);
	if (path.err || body.err)
		return -ENOMEM;
	call.path = path.data;
	call.body = body.data;
	rc = cmd_call(c, &call, &r);
	if (rc)
		return rc;
	add(doc, "job", buf_cstr(&r.body));
	out_done(&c->out, doc, "job %s removes them; `pagewire job wait %s` waits for its end",
		 buf_cstr(&r.body), buf_cstr(&r.body));
	return CMD_DONE;
}

/* Remove one of several; what fails is told and the others go on. */
static int rm_one(struct cmd *c, int i, struct json_object *errors)
{
	autobuf struct buf path = BUF_INIT, why = BUF_INIT;
	autoresp struct resp r = RESP_INIT;
	autouri struct uri u = URI_INIT;
	struct call call = {.method = "DELETE"};
	struct json_object *e;
	struct client *client;
	int rc = cmd_object(c, i, &u);

	if (rc == 0)
		rc = cmd_client(c, &client);
	if (rc)
		return rc;
	uri_request(&path, "objects", &u);
	if (path.err)
		return -ENOMEM;
	call.path = path.data;
	rc = client_call(client, &call, &r);
	if (rc < 0 || resp_ok(&r))
		return rc;
	json_object_put(resp_error(&r, &why));
	out_note(&c->out, "pagewire: %s: %s", c->args[i], buf_cstr(&why));
	e = json_object_new_object();
	add(e, "name", c->args[i]);
	add(e, "error", buf_cstr(&why));
	json_object_array_add(errors, e);
	return 0;
}

static int rm_many(struct cmd *c)
{
	autojson struct json_object *doc = json_object_new_object();
	struct json_object *errors = json_object_new_array();
	int i, failed, rc;

	json_object_object_add(doc, "errors", errors);
	for (i = 0; i < c->nargs; i++) {
		rc = rm_one(c, i, errors);
		if (rc)
			return rc;
	}
	failed = (int)json_object_array_length(errors);
	json_object_object_add(doc, "removed", json_object_new_int(c->nargs - failed));
	json_object_object_add(doc, "failed", json_object_new_int(failed));
	out_done(&c->out, doc, "%d removed, %d failed", c->nargs - failed, failed);
	return failed ? CMD_FAILED : CMD_DONE;
}

static int rm(struct cmd *c)
{
	autojson struct json_object *doc = NULL;
	const char *prefix = cmd_opt(c, "prefix");
	autoresp struct resp r = RESP_INIT;
	autouri struct uri u = URI_INIT;
	int i, rc = 0;

	if (prefix)
		return rm_prefix(c, prefix);
	/* all names are read before the first object goes */
	for (i = 0; i < c->nargs && rc == 0; i++) {
		uri_deinit(&u);
		rc = cmd_object(c, i, &u);
	}
	if (rc)
		return rc;
	if (c->nargs > 1)
		return rm_many(c);
	rc = call_object(c, "DELETE", &u, NULL, &r);
	if (rc)
		return rc;
	doc = json_object_new_object();
	add(doc, "object", c->args[0]);
	json_object_object_add(doc, "removed", json_object_new_boolean(true));
	out_done(&c->out, doc, "%s removed", c->args[0]);
	return CMD_DONE;
}

/* Where only a bucket or a folder in it was given, the object keeps its last name. */
static int complete(struct uri *to, const struct uri *from)
{
	autobuf struct buf b = BUF_INIT;
	size_t n = to->object ? strlen(to->object) : 0;

	if (n && to->object[n - 1] != '/')
		return 0;
	buf_fmt(&b, "%s%s", n ? to->object : "", n ? object_base(from->object) : from->object);
	free(to->object);
	to->object = buf_take(&b);
	return to->object ? 0 : -ENOMEM;
}

static int cp(struct cmd *c)
{
	autojson struct json_object *doc = NULL;
	autobuf struct buf path = BUF_INIT;
	autoresp struct resp r = RESP_INIT;
	autouri struct uri from = URI_INIT, to = URI_INIT;
	struct call call = {.method = "PUT", .body = ""};
	int rc = cmd_object(c, 0, &from);

	if (rc == 0)
		rc = cmd_place(c, 1, &to);
	if (rc == 0)
		rc = complete(&to, &from);
	if (rc)
		return rc;
	uri_request(&path, "objects", &from);
	uri_query_uname(&path, "object_to", &to);
	if (path.err)
		return -ENOMEM;
	call.path = path.data;
	rc = cmd_call(c, &call, &r);
	if (rc)
		return rc;
	doc = json_object_new_object();
	add(doc, "from", c->args[0]);
	add(doc, "bucket", to.bucket);
	add(doc, "object", to.object);
	out_done(&c->out, doc, "%s copied to %s in %s", c->args[0], to.object, to.bucket);
	return CMD_DONE;
}

static bool same_bucket(const struct uri *a, const struct uri *b)
{
	return !strcmp(a->provider, b->provider) && !strcmp(a->bucket, b->bucket) &&
	       !strcmp(a->ns ? a->ns : "", b->ns ? b->ns : "");
}

static int mv(struct cmd *c)
{
	autojson struct json_object *doc = NULL;
	autobuf struct buf body = BUF_INIT;
	autoresp struct resp r = RESP_INIT;
	autouri struct uri from = URI_INIT, to = URI_INIT;
	const char *name = c->args[1];
	int rc = cmd_object(c, 0, &from);

	if (rc)
		return rc;
	if (strstr(name, "://")) {
		rc = cmd_object(c, 1, &to);
		if (rc)
			return rc;
		if (!same_bucket(&from, &to))
			return cmd_usage(c, "mv stays within one bucket; use cp, then rm");
		name = to.object;
	}
	cmd_action(&body, "rename-obj", name, NULL);
	if (body.err)
		return -ENOMEM;
	rc = call_object(c, "POST", &from, body.data, &r);
	if (rc)
		return rc;
	doc = json_object_new_object();
	add(doc, "from", from.object);
	add(doc, "object", name);
	out_done(&c->out, doc, "%s is now %s", from.object, name);
	return CMD_DONE;
}

static int set_custom(struct cmd *c)
{
	autojson struct json_object *value = NULL, *doc = NULL;
	autobuf struct buf path = BUF_INIT, body = BUF_INIT;
	autoresp struct resp r = RESP_INIT;
	autouri struct uri u = URI_INIT;
	struct call call = {.method = "PATCH"};
	bool replace = cmd_opt(c, "replace");
	int rc = cmd_object(c, 0, &u);

	if (rc)
		return rc;
	if (c->nargs < 2 && !replace)
		return cmd_usage(c, "set what? expected KEY=VALUE after the object");
	rc = kv_custom(c, 1, &value);
	if (rc)
		return rc;
	cmd_action(&body, "", NULL, value);
	uri_request(&path, "objects", &u);
	if (replace)
		buf_str(&path, "&set-new-custom=true");
	if (path.err || body.err)
		return -ENOMEM;
	call.path = path.data;
	call.body = body.data;
	rc = cmd_call(c, &call, &r);
	if (rc)
		return rc;
	doc = json_object_new_object();
	add(doc, "object", c->args[0]);
	json_object_object_add(doc, "custom", json_object_get(value));
	out_done(&c->out, doc, "%s: custom metadata set", c->args[0]);
	return CMD_DONE;
}

static int ls(struct cmd *c)
{
	autouri struct uri u = URI_INIT;
	int rc = cmd_place(c, 0, &u);

	return rc ? rc : ls_objects(c, &u);
}

static const struct cmd_opt rm_opts[] = {
	{0, "prefix", "P", "of a bucket, all objects whose names begin with P: starts a job"},
	{},
};

static const struct cmd_opt custom_opts[] = {
	{0, "replace", NULL, "drop what is not named"},
	{},
};

const struct cmd_verb object_verbs[] = {
	{"put", object_put, "FILE|DIR|- ais://BUCKET[/NAME]",
	 "put a file or standard input; of a folder each file, under NAME if given", 2, 2,
	 put_opts},
	{"get", object_get, "ais://BUCKET/NAME [FILE|-]",
	 "get an object, into a file of its last name if none is given; - is standard output", 1, 2,
	 get_opts},
	{"head", head, "ais://BUCKET/NAME", "show what is known of an object", 1, 1, NULL},
	{"ls", ls, "ais://BUCKET[/PREFIX]", "list the objects of a bucket", 1, 1, ls_opts},
	{"rm", rm, "ais://BUCKET/NAME... | ais://BUCKET --prefix P", "remove objects", 1,
	 CMD_ARGS_ANY, rm_opts},
	{"cp", cp, "ais://BUCKET/NAME ais://BUCKET[/NAME]", "copy an object", 2, 2, NULL},
	{"mv", mv, "ais://BUCKET/NAME NEW|ais://BUCKET/NEW",
	 "give an object another name in its bucket", 2, 2, NULL},
	{"set-custom", set_custom, "ais://BUCKET/NAME KEY=VALUE...",
	 "set custom metadata of an object", 1, CMD_ARGS_ANY, custom_opts},
	{},
};
