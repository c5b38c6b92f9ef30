/* SPDX-License-Identifier: BSD-2-Clause */
/* /v1/xactions on a target's control listener: its jobs, for the gateway that gathers. */
#include "api/impl.h"

/* {"id","kind","bck","running"} */
static int query_parse(struct json_object *o, struct job_query *q, struct bmd_name *bck)
{
	struct json_object *b = json_member(o, "bck");
	const char *kind = json_member_str(o, "kind");
	bool known = true;

	q->id = json_member_str(o, "id");
	if (kind && *kind) {
		q->by_kind = true;
		q->kind = job_kind_parse(kind, &known);
	}
	q->only_running = json_member_bool(o, "running", false);
	if (b) {
		if (api_bck_parse(b, bck) < 0)
			return -EINVAL;
		q->bck = bck;
	}
	return known ? 0 : -EINVAL;
}

static void answer(struct api *a, struct http_txn *t, struct json_object *o)
{
	autobuf struct buf out = BUF_INIT;
	struct job_query q = {};
	struct bmd_name bck;

	if (query_parse(o, &q, &bck) < 0) {
		http_reply_error(t, 400, NULL, "xactions: malformed query");
		return;
	}
	if (t->req.method == HTTP_DELETE) {
		jobs_abort(a->jobs, &q, "aborted by user");
		http_reply_status(t, 200);
		return;
	}
	buf_str(&out, "{\"snaps\":");
	jobs_print_snaps(a->jobs, &q, &out);
	buf_char(&out, '}');
	api_reply_json(t, &out);
}

static void collected(struct http_txn *t)
{
	autojson struct json_object *o = NULL;

	if (json_parse(buf_cstr(&t->body), t->body.len, &o) < 0 ||
	    !json_object_is_type(o, json_type_object))
		http_reply_error(t, 400, NULL, "xactions: the body must be one JSON object");
	else
		answer(t->ctx, t, o);
}

void xactions_handle(struct http_txn *t)
{
	struct api *a = t->ctx;

	if (!(t->admitted & CLUSTER_ADMIT_MEMBER))
		http_reply_error(t, 400, NULL, "not an intra-control request");
	else
		http_collect(t, api_json_max(a), NULL, collected);
}
