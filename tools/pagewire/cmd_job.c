/* SPDX-License-Identifier: BSD-2-Clause */
/* Noun job. */
#include <time.h>

#include "base/bits.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "base/text.h"
#include "cmd.h"

#define WAIT_DEFAULT_S 3600

static const struct out_col status_cols[] = {
	{"JOB", "uuid", OUT_PLAIN},	  {"KIND", "kind", OUT_PLAIN},
	{"BUCKET", "bucket", OUT_PLAIN},  {"STATE", "state", OUT_PLAIN},
	{"STARTED", "started", OUT_TIME}, {"ENDED", "end_time", OUT_NS},
	{"ERROR", "err", OUT_PLAIN},	  {},
};

static const struct out_col snap_cols[] = {
	{"NODE", "node", OUT_PLAIN},
	{"KIND", "kind", OUT_PLAIN},
	{"STATE", "state", OUT_PLAIN},
	{"OBJECTS", "stats.loc-objs", OUT_PLAIN},
	{"BYTES", "stats.loc-bytes", OUT_BYTES},
	{"STARTED", "start-time", OUT_TIME},
	{"ENDED", "end-time", OUT_TIME},
	{"ERROR", "err", OUT_PLAIN},
	{},
};

static int ask(struct cmd *c, const char *what, const char *id, struct json_object **ret)
{
	autojson struct json_object *q = json_object_new_object();
	const char *kind = cmd_opt(c, "kind");
	autoresp struct resp r = RESP_INIT;
	struct call call = {.method = "GET", .path = what};
	int rc;

	json_object_object_add(q, "id", json_object_new_string(id ? id : ""));
	json_object_object_add(q, "kind", json_object_new_string(kind ? kind : ""));
	json_object_object_add(q, "node", json_object_new_string(""));
	json_object_object_add(q, "show_active",
			       json_object_new_boolean(cmd_opt(c, "running") != NULL));
	call.body = json_object_to_json_string_ext(q, JSON_C_TO_STRING_PLAIN);
	rc = cmd_call(c, &call, &r);
	return rc ? rc : cmd_json(c, &r, ret);
}

static const char *state_word(bool aborted, bool running, bool idle)
{
	return aborted ? "aborted" : !running ? "finished" : idle ? "idle" : "running";
}

static void describe_status(struct json_object *job)
{
	int64_t end = 0;

	json_member_int(job, "end_time", &end);
	json_object_object_add(
		job, "state",
		json_object_new_string(state_word(json_member_bool(job, "aborted", false), end == 0,
						  json_member_bool(job, "is_idle", false))));
}

static void add_str(struct json_object *o, const char *key, const char *value)
{
	json_object_object_add(o, key, json_object_new_string(value));
}

/* Bucket and first start of a job, out of what one node says of it. */
static void add_snap(struct json_object *job, struct json_object *snap)
{
	struct json_object *bck = json_member(snap, "bck");
	const char *start = json_member_str(snap, "start-time");
	const char *known = json_member_str(job, "started");
	const char *bucket = json_member_str(bck, "name");
	autobuf struct buf text = BUF_INIT;

	if (start && *start && (!known || strcmp(start, known) < 0))
		add_str(job, "started", start);
	if (!bucket || !*bucket || json_member(job, "bucket"))
		return;
	out_bucket(&text, bck);
	add_str(job, "bucket", buf_cstr(&text));
}

static struct json_object *job_of(struct json_object *jobs, const char *id)
{
	size_t n = json_object_array_length(jobs), i;

	for (i = 0; i < n && id; i++) {
		struct json_object *job = json_object_array_get_idx(jobs, i);
		const char *uuid = json_member_str(job, "uuid");

		if (uuid && !strcmp(uuid, id))
			return job;
	}
	return NULL;
}

/* The list of jobs lacks what each node knows of them. */
static void add_snaps(struct json_object *jobs, struct json_object *all)
{
	if (!json_object_is_type(all, json_type_object))
		return;
	json_object_object_foreach (all, node, snaps) {
		bool array = json_object_is_type(snaps, json_type_array);
		size_t n = array ? json_object_array_length(snaps) : 0, i;

		(void)node;
		for (i = 0; i < n; i++) {
			struct json_object *s = json_object_array_get_idx(snaps, i);
			struct json_object *job = job_of(jobs, json_member_str(s, "id"));

			if (job)
				add_snap(job, s);
		}
	}
}

static int show_all(struct cmd *c)
{
	autojson struct json_object *doc = NULL, *snaps = NULL;
	size_t n, i;
	int rc = ask(c, "/v1/cluster?what=status_all", NULL, &doc);

	if (rc)
		return rc;
	n = json_object_is_type(doc, json_type_array) ? json_object_array_length(doc) : 0;
	for (i = 0; i < n && !c->out.json; i++)
		describe_status(json_object_array_get_idx(doc, i));
	if (n && !c->out.json) {
		rc = ask(c, "/v1/cluster?what=qryxstats", NULL, &snaps);
		if (rc)
			return rc;
		add_snaps(doc, snaps);
	}
	out_table(&c->out, doc, doc, status_cols);
	return CMD_DONE;
}

/* The API's zero time: the job has not ended. */
static bool snap_running(struct json_object *snap)
{
	const char *end = json_member_str(snap, "end-time");

	return !end || !*end || !strncmp(end, "0001-01-01", 10);
}

struct progress_of_job {
	bool running, aborted;
	const char *err; /* borrowed from the document */
};

/* Go through the snaps of all nodes; @rows, if not NULL, gets them described. */
static struct progress_of_job walk(struct json_object *doc, struct json_object *rows)
{
	struct progress_of_job p = {};

	if (!json_object_is_type(doc, json_type_object))
		return p;
	json_object_object_foreach (doc, node, snaps) {
		bool array = json_object_is_type(snaps, json_type_array);
		size_t n = array ? json_object_array_length(snaps) : 0, i;

		for (i = 0; i < n; i++) {
			struct json_object *s = json_object_array_get_idx(snaps, i);
			bool run = snap_running(s), idle = json_member_bool(s, "is_idle", false);
			bool aborted = json_member_bool(s, "aborted", false);
			const char *err = json_member_str(s, "err");

			p.running |= run && !idle && !aborted;
			p.aborted |= aborted;
			p.err = err && *err ? err : p.err;
			if (!rows)
				continue;
			json_object_object_add(s, "node", json_object_new_string(node));
			json_object_object_add(
				s, "state", json_object_new_string(state_word(aborted, run, idle)));
			json_object_array_add(rows, json_object_get(s));
		}
	}
	return p;
}

static int show(struct cmd *c)
{
	autojson struct json_object *doc = NULL, *rows = json_object_new_array();
	int rc;

	if (c->nargs == 0)
		return show_all(c);
	rc = ask(c, "/v1/cluster?what=qryxstats", c->args[0], &doc);
	if (rc)
		return rc;
	if (!c->out.json)
		walk(doc, rows);
	out_table(&c->out, doc, rows, snap_cols);
	return CMD_DONE;
}

static int ended(struct cmd *c, struct json_object *doc, const struct progress_of_job *p)
{
	const char *id = c->args[0];

	if (!p->aborted && !p->err) {
		out_done(&c->out, doc, "job %s finished", id);
		return CMD_DONE;
	}
	out_error(&c->out, doc, "job %s %s%s%s", id, p->aborted ? "was aborted" : "failed",
		  p->err ? ": " : "", p->err ? p->err : "");
	return CMD_FAILED;
}

static int wait_end(struct cmd *c)
{
	struct timespec pause = {.tv_nsec = 20000000};
	uint64_t limit_s = WAIT_DEFAULT_S;
	int64_t limit;
	int rc = cmd_opt_u64(c, "timeout", 1000000, &limit_s);

	if (rc)
		return rc;
	limit = mono_ns() + (int64_t)limit_s * 1000000000;
	do {
		autojson struct json_object *doc = NULL;
		struct progress_of_job p;

		rc = ask(c, "/v1/cluster?what=qryxstats", c->args[0], &doc);
		if (rc)
			return rc;
		p = walk(doc, NULL);
		if (!p.running)
			return ended(c, doc, &p);
		nanosleep(&pause, NULL);
		pause.tv_nsec = MIN(pause.tv_nsec * 2, 500000000L);
	} while (mono_ns() < limit);
	return cmd_fail(c, "job %s still runs after %llu s", c->args[0],
			(unsigned long long)limit_s);
}

static const struct cmd_opt show_opts[] = {
	{0, "kind", "KIND", "only jobs of this kind"},
	{0, "running", NULL, "only jobs that run"},
	{},
};

static const struct cmd_opt wait_opts[] = {
	{0, "timeout", "SECONDS", "give up after so long (default: 3600)"},
	{},
};

const struct cmd_verb job_verbs[] = {
	{"show", show, "[JOB]", "list jobs, or show what each node did for one", 0, 1, show_opts},
	{"wait", wait_end, "JOB", "wait for the end of a job: exit status 0 if it went well", 1, 1,
	 wait_opts},
	{},
};
