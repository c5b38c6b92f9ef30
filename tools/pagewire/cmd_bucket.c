/* SPDX-License-Identifier: BSD-2-Clause */
/* Noun bucket. */
#include <time.h>

#include "base/bits.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "base/text.h"
#include "cmd.h"
#include "kv.h"
#include "ls.h"

#define SUMMARY_LIMIT_S 600

static int call_bucket(struct cmd *c, const char *method, const struct uri *u, const char *body,
		       struct resp *r)
{
	autobuf struct buf path = BUF_INIT;
	struct call call = {.method = method, .body = body};

	uri_request(&path, "buckets", u);
	if (path.err)
		return -ENOMEM;
	call.path = path.data;
	return cmd_call(c, &call, r);
}

/* {"bucket": NAME, "job": ID}, the job only if the answer holds one. */
static struct json_object *result(const char *name, const struct resp *r)
{
	struct json_object *doc = json_object_new_object();

	json_object_object_add(doc, "bucket", json_object_new_string(name));
	if (r->body.len)
		json_object_object_add(doc, "job", json_object_new_string(buf_cstr(&r->body)));
	return doc;
}

static bool exists_already(const struct resp *r)
{
	return r->status == 409;
}

/* The properties of a bucket, out of the header they travel in. */
static int fetch_props(struct cmd *c, const struct uri *u, struct json_object **ret)
{
	autoresp struct resp r = RESP_INIT;
	autofree char *text = NULL;
	int rc = call_bucket(c, "HEAD", u, NULL, &r);

	if (rc)
		return rc;
	text = resp_header(&r, "Ais-Bucket-Props", 0);
	if (!text || json_parse(text, strlen(text), ret) < 0)
		return cmd_fail(c, "the server's answer has no properties in Ais-Bucket-Props");
	return 0;
}

/* A property that is not known is ignored by the server: this is told, as the user is to know. */
static int check_created(struct cmd *c, const struct uri *u)
{
	autojson struct json_object *now = NULL;
	int i, rc = fetch_props(c, u, &now);

	if (rc)
		return rc;
	i = kv_unknown(c, 1, now);
	if (i)
		return cmd_fail(c,
				"%s is created, but there is no property \"%.*s\"; "
				"`pagewire bucket props` lists them",
				c->args[0], (int)strcspn(c->args[i], "="), c->args[i]);
	return 0;
}

static int create(struct cmd *c)
{
	autojson struct json_object *props = NULL, *doc = NULL;
	autobuf struct buf path = BUF_INIT, body = BUF_INIT;
	autoresp struct resp r = RESP_INIT;
	autouri struct uri u = URI_INIT;
	struct client *client;
	struct call call;
	int rc = cmd_bucket(c, 0, &u);

	if (rc == 0 && c->nargs > 1)
		rc = kv_props(c, 1, NULL, &props);
	if (rc == 0)
		rc = cmd_client(c, &client);
	if (rc)
		return rc;
	cmd_action(&body, "create-bck", NULL, props);
	uri_request(&path, "buckets", &u);
	if (body.err || path.err)
		return -ENOMEM;
	call = (struct call){.method = "POST", .path = path.data, .body = body.data};
	rc = client_call(client, &call, &r);
	if (rc < 0)
		return rc;
	if (!resp_ok(&r) && !(exists_already(&r) && cmd_opt(c, "exist-ok")))
		return cmd_refused(c, &r);
	if (props && resp_ok(&r)) {
		rc = check_created(c, &u);
		if (rc)
			return rc;
	}
	doc = json_object_new_object();
	json_object_object_add(doc, "bucket", json_object_new_string(c->args[0]));
	json_object_object_add(doc, "created", json_object_new_boolean(resp_ok(&r)));
	out_done(&c->out, doc, "%s %s", c->args[0], resp_ok(&r) ? "created" : "exists already");
	return CMD_DONE;
}

static int destroy(struct cmd *c)
{
	autojson struct json_object *doc = NULL;
	autobuf struct buf body = BUF_INIT;
	autoresp struct resp r = RESP_INIT;
	autouri struct uri u = URI_INIT;
	int rc = cmd_bucket(c, 0, &u);

	if (rc)
		return rc;
	cmd_action(&body, "destroy-bck", NULL, NULL);
	rc = call_bucket(c, "DELETE", &u, buf_cstr(&body), &r);
	if (rc)
		return rc;
	doc = json_object_new_object();
	json_object_object_add(doc, "bucket", json_object_new_string(c->args[0]));
	json_object_object_add(doc, "removed", json_object_new_boolean(true));
	out_done(&c->out, doc, "%s removed", c->args[0]);
	return CMD_DONE;
}

static void print_bucket(struct out *o, struct json_object *bucket)
{
	autobuf struct buf text = BUF_INIT;

	out_bucket(&text, bucket);
	out_name(o, buf_cstr(&text));
	fputc('\n', o->f);
}

static int list_buckets(struct cmd *c)
{
	autojson struct json_object *doc = NULL;
	autobuf struct buf body = BUF_INIT;
	autoresp struct resp r = RESP_INIT;
	struct call call = {.method = "GET", .path = "/v1/buckets?presence=2"};
	size_t n, i;
	int rc;

	cmd_action(&body, "list", NULL, NULL);
	call.body = buf_cstr(&body);
	rc = cmd_call(c, &call, &r);
	if (rc == 0)
		rc = cmd_json(c, &r, &doc);
	if (rc)
		return rc;
	out_doc(&c->out, doc);
	n = json_object_is_type(doc, json_type_array) ? json_object_array_length(doc) : 0;
	for (i = 0; i < n && !c->out.json; i++)
		print_bucket(&c->out, json_object_array_get_idx(doc, i));
	return CMD_DONE;
}

static int ls(struct cmd *c)
{
	autouri struct uri u = URI_INIT;
	const struct cmd_opt *o;
	int rc;

	for (o = ls_opts; o->name && c->nargs == 0; o++) {
		if (cmd_opt(c, o->name))
			return cmd_usage(c, "--%s is for the objects of a bucket: name one",
					 o->name);
	}
	if (c->nargs == 0)
		return list_buckets(c);
	if (strstr(c->args[0], "://"))
		rc = cmd_place(c, 0, &u);
	else
		rc = cmd_bucket(c, 0, &u);
	return rc ? rc : ls_objects(c, &u);
}

static int change_props(struct cmd *c, const struct uri *u, const char *name, bool reset)
{
	autojson struct json_object *now = NULL, *value = NULL, *doc = NULL;
	autobuf struct buf body = BUF_INIT;
	autoresp struct resp r = RESP_INIT;
	int rc = 0;

	if (reset != (c->nargs == 2))
		return cmd_usage(c, reset ? "reset takes nothing but the bucket"
					  : "set what? expected KEY=VALUE after the bucket");
	if (!reset)
		rc = fetch_props(c, u, &now);
	if (rc == 0 && !reset)
		rc = kv_props(c, 2, now, &value);
	if (rc)
		return rc;
	cmd_action(&body, reset ? "reset-bprops" : "set-bprops", NULL, value);
	rc = call_bucket(c, "PATCH", u, buf_cstr(&body), &r);
	if (rc)
		return rc;
	doc = result(name, &r);
	out_done(&c->out, doc, "%s: properties %s%s%s", name, reset ? "reset" : "set",
		 r.body.len ? ", job " : "", buf_cstr(&r.body));
	return CMD_DONE;
}

static int props(struct cmd *c)
{
	autojson struct json_object *doc = NULL;
	autouri struct uri u = URI_INIT;
	/* the word stands before the bucket or behind it */
	bool front = !strcmp(c->args[0], "set") || !strcmp(c->args[0], "reset");
	const char *word = front ? c->args[0] : c->nargs > 1 ? c->args[1] : NULL;
	int at = front ? 1 : 0, rc;

	if (at == c->nargs)
		return cmd_usage(c, "%s the properties of what? expected ais://BUCKET", word);
	rc = cmd_bucket(c, at, &u);
	if (rc)
		return rc;
	if (word && (!strcmp(word, "set") || !strcmp(word, "reset")))
		return change_props(c, &u, c->args[at], !strcmp(word, "reset"));
	if (word)
		return cmd_usage(c, "\"%s\": expected set or reset", word);
	rc = fetch_props(c, &u, &doc);
	if (rc)
		return rc;
	out_flat(&c->out, doc);
	return CMD_DONE;
}

static int rename_bucket(struct cmd *c)
{
	autojson struct json_object *doc = NULL;
	autobuf struct buf path = BUF_INIT, body = BUF_INIT;
	autoresp struct resp r = RESP_INIT;
	autouri struct uri from = URI_INIT, to = URI_INIT;
	struct call call = {.method = "POST"};
	int rc = cmd_bucket(c, 0, &from);

	if (rc == 0)
		rc = cmd_bucket(c, 1, &to);
	if (rc)
		return rc;
	uri_request(&path, "buckets", &from);
	uri_query_uname(&path, "bck_to", &to);
	cmd_action(&body, "move-bck", NULL, NULL);
	if (path.err || body.err)
		return -ENOMEM;
	call.path = path.data;
	call.body = body.data;
	rc = cmd_call(c, &call, &r);
	if (rc)
		return rc;
	doc = result(c->args[1], &r);
	out_done(&c->out, doc, "%s is now %s, job %s", c->args[0], c->args[1], buf_cstr(&r.body));
	return CMD_DONE;
}

static const struct out_col summary_cols[] = {
	{"BUCKET", "bucket", OUT_PLAIN},
	{"OBJECTS", "ObjCount.obj_count_present", OUT_PLAIN},
	{"SIZE", "TotalSize.size_all_present_objs", OUT_BYTES},
	{"ON DISK", "TotalSize.size_on_disk", OUT_BYTES},
	{"SMALLEST", "ObjSize.obj_min_size", OUT_BYTES},
	{"AVERAGE", "ObjSize.obj_avg_size", OUT_BYTES},
	{"LARGEST", "ObjSize.obj_max_size", OUT_BYTES},
	{},
};

/* One question of the summary's two-step protocol: 202 with a job's ID, later 200 with the rest. */
static int summary_ask(struct cmd *c, const char *path, const char *id, struct resp *r)
{
	autojson struct json_object *v = json_object_new_object();
	const char *prefix = cmd_opt(c, "prefix");
	autobuf struct buf body = BUF_INIT;
	struct call call = {.method = "GET", .path = path};

	json_object_object_add(v, "uuid", json_object_new_string(id));
	json_object_object_add(v, "prefix", json_object_new_string(prefix ? prefix : ""));
	json_object_object_add(v, "cached", json_object_new_boolean(true));
	json_object_object_add(v, "present", json_object_new_boolean(true));
	cmd_action(&body, "summary-bck", NULL, v);
	if (body.err)
		return -ENOMEM;
	call.body = body.data;
	return cmd_call(c, &call, r);
}

static int summary_wait(struct cmd *c, const char *path, struct resp *r)
{
	int64_t limit = mono_ns() + SUMMARY_LIMIT_S * INT64_C(1000000000);
	struct timespec pause = {.tv_nsec = 20000000};
	char id[64] = "";
	int rc;

	do {
		rc = summary_ask(c, path, id, r);
		if (rc || r->status == 200)
			return rc;
		if (!*id)
			snprintf(id, sizeof(id), "%s", buf_cstr(&r->body));
		nanosleep(&pause, NULL);
		pause.tv_nsec = MIN(pause.tv_nsec * 2, 500000000L);
	} while (mono_ns() < limit);
	return cmd_fail(c, "no summary within %d s; job %s goes on", SUMMARY_LIMIT_S, id);
}

/* The whole name as one more member. */
static void add_bucket_text(struct json_object *row)
{
	autobuf struct buf text = BUF_INIT;

	out_bucket(&text, row);
	json_object_object_add(row, "bucket", json_object_new_string(buf_cstr(&text)));
}

static int summary(struct cmd *c)
{
	autojson struct json_object *doc = NULL;
	autobuf struct buf path = BUF_INIT;
	autoresp struct resp r = RESP_INIT;
	autouri struct uri u = URI_INIT;
	size_t n, i;
	int rc = 0;

	if (c->nargs)
		rc = cmd_bucket(c, 0, &u);
	if (rc)
		return rc;
	if (c->nargs)
		uri_request(&path, "buckets", &u);
	else
		buf_str(&path, "/v1/buckets?presence=2");
	if (path.err)
		return -ENOMEM;
	rc = summary_wait(c, path.data, &r);
	if (rc == 0)
		rc = cmd_json(c, &r, &doc);
	if (rc)
		return rc;
	n = json_object_is_type(doc, json_type_array) ? json_object_array_length(doc) : 0;
	for (i = 0; i < n && !c->out.json; i++)
		add_bucket_text(json_object_array_get_idx(doc, i));
	out_table(&c->out, doc, doc, summary_cols);
	return CMD_DONE;
}

static const struct cmd_opt create_opts[] = {
	{0, "exist-ok", NULL, "do not fail if the bucket exists"},
	{},
};

static const struct cmd_opt summary_opts[] = {
	{0, "prefix", "P", "only objects whose names begin with P"},
	{},
};

const struct cmd_verb bucket_verbs[] = {
	{"create", create, "ais://BUCKET [KEY=VALUE]...", "make a bucket, with these properties", 1,
	 CMD_ARGS_ANY, create_opts},
	{"rm", destroy, "ais://BUCKET", "remove a bucket with all it holds", 1, 1, NULL},
	{"ls", ls, "[ais://BUCKET[/PREFIX]]", "list buckets, or the objects of one", 0, 1, ls_opts},
	{"props", props, "ais://BUCKET [set KEY=VALUE... | reset]",
	 "show the properties of a bucket, set some, or set all to the defaults", 1, CMD_ARGS_ANY,
	 NULL},
	{"rename", rename_bucket, "ais://BUCKET ais://NEW", "give a bucket another name", 2, 2,
	 NULL},
	{"summary", summary, "[ais://BUCKET]", "count objects and bytes, of one bucket or each", 0,
	 1, summary_opts},
	{},
};
