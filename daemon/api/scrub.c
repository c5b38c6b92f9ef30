/* SPDX-License-Identifier: BSD-2-Clause */
/* /v1/daemon/scrub of a target: start, stop, state, what is in quarantine. */
#include "api/impl.h"
#include "store/admin.h"

struct printing {
	struct bmd *bmd;
	struct buf *out;
	size_t n;
};

static void print_bad(void *arg, const struct store_bad *b)
{
	struct printing *p = arg;
	const struct bmd_bucket *bck = p->bmd ? bmd_find_bid(p->bmd, b->bid) : NULL;
	autobuf struct buf name = BUF_INIT;

	buf_fmt(p->out, "%s{\"bucket\":", p->n++ ? "," : "");
	if (bck)
		bmd_name_print(&bck->name, &name);
	buf_json_str(p->out, buf_cstr(&name));
	buf_str(p->out, ",\"name\":");
	buf_json_str(p->out, b->name);
	buf_fmt(p->out, ",\"size\":\"%llu\",\"found_ns\":\"%lld\",\"mountpath\":",
		(unsigned long long)b->size, (long long)b->found_ns);
	buf_json_str(p->out, b->path);
	buf_fmt(p->out, ",\"file\":\"quarantine/%s\"}", b->file);
}

static void print(struct api *a, struct buf *out)
{
	struct printing p = {.bmd = cluster_bmd(a->cluster), .out = out};
	struct store_scrub st;

	store_scrub_status(a->store, &st);
	buf_fmt(out,
		"{\"running\":%s,\"started_ns\":\"%lld\",\"ended_ns\":\"%lld\",\"objects\":\"%"
		"llu\","
		"\"bytes\":\"%llu\",\"corrupt\":\"%llu\",\"missing\":\"%llu\",\"quarantine\":[",
		st.running ? "true" : "false", (long long)st.started_ns, (long long)st.ended_ns,
		(unsigned long long)st.objects, (unsigned long long)st.bytes,
		(unsigned long long)st.corrupt, (unsigned long long)st.missing);
	store_quarantine_each(a->store, print_bad, &p);
	buf_str(out, "]}");
	bmd_put(p.bmd);
}

static void act(struct api *a, struct http_txn *t, const char *action)
{
	int r = 0;

	if (!strcmp(action, "start")) {
		r = store_scrub_start(a->store);
	} else if (!strcmp(action, "stop")) {
		store_scrub_stop(a->store);
	} else if (!strcmp(action, "purge-quarantine")) {
		r = store_quarantine_purge(a->store);
	} else {
		action_error(t, action);
		return;
	}
	if (r == -EALREADY)
		http_reply_error(t, 409, "ErrXactUsePrev", "%s: a scrub is running already",
				 cluster_node_name(a->cluster));
	else if (r < 0)
		http_reply_error(t, 500, NULL, "%s: %s: %s", cluster_node_name(a->cluster), action,
				 strerror(-r));
	else
		http_reply_status(t, 200);
}

void scrub_handle(struct api *a, struct http_txn *t)
{
	autobuf struct buf out = BUF_INIT;
	struct api_msg m = {};

	if (!a->store) {
		http_reply_error(t, 400, NULL, "%s: a gateway has no objects",
				 cluster_node_name(a->cluster));
	} else if (t->req.method == HTTP_GET) {
		print(a, &out);
		api_reply_json(t, &out);
	} else if (t->req.method != HTTP_PUT) {
		http_reply_error(t, 400, NULL, "%s %.200s: unknown request", t->req.method_text,
				 t->req.path);
	} else if (api_msg_parse(t, &m) < 0) {
		http_reply(t);
	} else {
		act(a, t, m.action ? m.action : "");
	}
	api_msg_free(&m);
}
