/* SPDX-License-Identifier: BSD-2-Clause */
/* /v1/buckets on a target: parts of what gateways do; clients are sent to a gateway. */
#include "api/impl.h"

/* The renamed bucket's job: over when it is told of. */
static void rename_note(struct api *a, struct http_txn *t, const struct bmd_name *n)
{
	const char *to = http_param(t, "bck_to"), *rest;
	struct job_spec spec = {
		.id = http_param(t, "uuid"),
		.kind = JOB_RENAME_BUCKET,
		.bck = *n,
	};
	int r;

	if (!to || bmd_uname_parse(to, &spec.to, &rest) < 0) {
		http_reply_error(t, 400, NULL, "move-bck: bck_to names no bucket");
		return;
	}
	r = jobs_start(a->jobs, &spec, NULL);
	if (r && r != -EEXIST)
		http_reply_error(t, 503, NULL, "move-bck: %s", strerror(-r));
	else
		http_reply_status(t, 200);
}

static bool is(const struct api_msg *m, const char *action)
{
	return m->action && !strcmp(m->action, action);
}

static void with_bucket(struct api *a, struct http_txn *t, const struct bmd_name *n,
			const struct api_msg *m)
{
	struct bmd_bucket b;

	if (api_bucket(a, t, n, BMD_ACE_NR, &b) < 0)
		http_reply(t);
	else if (t->req.method == HTTP_GET && is(m, "list"))
		list_target(a, t, &b, m);
	else if (t->req.method == HTTP_DELETE && is(m, "delete-listrange"))
		delete_target(a, t, &b, m);
	else
		action_error(t, m->action);
}

/* On the io pool; the bucket, if named, has been looked for. */
static void run(struct http_txn *t)
{
	struct api *a = t->ctx;
	struct api_target tg;
	struct api_msg m = {};

	if (api_parse_target(t, "/v1/buckets", false, &tg) < 0 || api_msg_parse(t, &m) < 0)
		http_reply(t);
	else if (t->req.method == HTTP_GET && is(&m, "summary-bck"))
		summary_target(a, t, &tg.bck, &m);
	else if (t->req.method == HTTP_POST && is(&m, "move-bck"))
		rename_note(a, t, &tg.bck);
	else
		with_bucket(a, t, &tg.bck, &m);
	api_msg_free(&m);
}

static void collected(struct http_txn *t)
{
	struct api *a = t->ctx;
	struct api_target tg;

	if (api_parse_target(t, "/v1/buckets", false, &tg) < 0)
		http_reply(t);
	else if (!tg.bck.bucket[0] || t->req.method == HTTP_POST)
		http_run(t, a->io, run);
	else
		api_known(a, t, &tg.bck, run);
}

void api_buckets_target(struct http_txn *t)
{
	struct api *a = t->ctx;

	if (t->req.net != SMAP_NET_CONTROL || !(t->admitted & CLUSTER_ADMIT_MEMBER))
		http_reply_error(t, 400, NULL, "%s: %s(bucket) requires proxy mediation",
				 cluster_node_name(a->cluster), t->req.method_text);
	else
		http_collect(t, api_json_max(a), NULL, collected);
}
