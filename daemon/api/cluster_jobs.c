/* SPDX-License-Identifier: BSD-2-Clause */
/* Jobs of the whole cluster: asked of all targets, gathered, started, stopped. */
#include "api/gotime.h"
#include "api/impl.h"

struct query {
	const char *id, *kind, *node; /* "" if not given */
	struct json_object *bck;
	bool active;
	enum job_kind built; /* of @kind */
};

/* Snaps as the targets sent them. */
struct snaps {
	struct cast cast;
	struct json_object **docs; /* one a call; NULL where there was no answer */
};

static const char *word(struct json_object *o, const char *key)
{
	const char *s = json_member_str(o, key);

	return s ? s : "";
}

static bool id_ok(const char *ids)
{
	char one[33];

	do {
		size_t n = strcspn(ids, ",");

		if (n > 32 || (n < 8 && (n < 2 || *ids != 'g')))
			return false;
		memcpy(one, ids, n);
		one[n] = 0;
		if (!smap_uuid_ok(one))
			return false;
		ids += n + (ids[n] == ',');
	} while (*ids);
	return true;
}

static int check(struct http_txn *t, struct query *q)
{
	bool known = true;

	if (*q->id && !id_ok(q->id)) {
		http_error(t, 400, NULL, "invalid xaction (job) UUID \"%.100s\"", q->id);
		return -EINVAL;
	}
	if (*q->kind)
		q->built = job_kind_parse(q->kind, &known);
	if (!known) {
		http_error(t, 400, NULL, "unknown job kind \"%.100s\"", q->kind);
		return -EINVAL;
	}
	return 0;
}

static int query_parse(struct http_txn *t, struct json_object *o, struct query *q)
{
	struct json_object *bck = json_member(o, "bck");
	struct bmd_name n;

	if (!json_object_is_type(o, json_type_object)) {
		http_error(t, 400, NULL,
			   "failed to unmarshal: a job query is one JSON object in the body");
		return -EINVAL;
	}
	*q = (struct query){
		.id = word(o, "id"),
		.kind = word(o, "kind"),
		.node = word(o, "node"),
		.active = json_member_bool(o, "show_active", false) ||
			  json_member_bool(o, "OnlyRunning", false),
	};
	if (!*q->node)
		q->node = word(o, "DaemonID");
	if (bck && api_bck_parse(bck, &n) < 0) {
		http_error(t, 400, NULL, "failed to unmarshal: \"bck\" names no bucket");
		return -EINVAL;
	}
	if (bck && n.bucket[0])
		q->bck = bck;
	return check(t, q);
}

/* Ask all targets, or tell them to abort. */
static int ask(struct api *a, const struct query *q, const char *method, struct cast *ret)
{
	autobuf struct buf body = BUF_INIT;
	struct cast_spec spec = {
		.method = method,
		.path = "/v1/xactions",
		.body = &body,
		.resp_max = (size_t)16 << 20,
		.timeout = "client.client_timeout",
	};

	buf_str(&body, "{\"id\":");
	buf_json_str(&body, q->id);
	buf_str(&body, ",\"kind\":");
	buf_json_str(&body, q->kind);
	buf_fmt(&body, ",\"running\":%s", q->active ? "true" : "false");
	if (q->bck)
		buf_fmt(&body, ",\"bck\":%s",
			json_object_to_json_string_ext(q->bck, JSON_C_TO_STRING_PLAIN));
	buf_char(&body, '}');
	return cast_targets(a, &spec, ret);
}

static void snaps_free(struct snaps *s)
{
	size_t i;

	for (i = 0; s->docs && i < s->cast.n; i++)
		json_object_put(s->docs[i]);
	free(s->docs);
	cast_free(&s->cast);
}

static int gather(struct api *a, const struct query *q, struct snaps *s)
{
	const struct smap_node *only;
	size_t i;

	*s = (struct snaps){};
	if (ask(a, q, "GET", &s->cast) < 0)
		return -ENOMEM;
	s->docs = calloc(s->cast.n + 1, sizeof(*s->docs));
	if (!s->docs)
		return -ENOMEM;
	only = *q->node ? smap_find(s->cast.map, q->node) : NULL;
	for (i = 0; i < s->cast.n; i++) {
		const struct http_call *call = &s->cast.calls[i];

		if (!cast_ok(&s->cast, i) || (only && cast_node(&s->cast, i) != only))
			continue;
		if (json_parse(call->resp.data, call->resp.len, &s->docs[i]) < 0)
			s->docs[i] = NULL;
	}
	return 0;
}

/* The list of snaps of call @i, or NULL. */
static struct json_object *list_of(const struct snaps *s, size_t i, size_t *n)
{
	struct json_object *list = s->docs[i] ? json_member(s->docs[i], "snaps") : NULL;

	if (!json_object_is_type(list, json_type_array))
		return NULL;
	*n = json_object_array_length(list);
	return list;
}

static void no_such_job(struct http_txn *t, const struct query *q)
{
	http_reply_error(t, 404, NULL, "job \"%s%s%s\" does not exist", q->kind,
			 *q->kind && *q->id ? "/" : "", q->id);
}

static void reply_snaps(struct http_txn *t, const struct query *q, const struct snaps *s)
{
	autobuf struct buf out = BUF_INIT;
	size_t i, n, shown = 0;

	for (i = 0; i < s->cast.n; i++) {
		struct json_object *list = list_of(s, i, &n);

		if (!list || (*q->id && !n))
			continue;
		buf_fmt(&out, "%s\"%s\":%s", shown++ ? ",\n" : "{", cast_node(&s->cast, i)->id,
			json_object_to_json_string_ext(
				list, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE));
	}
	if (!shown && *q->id) {
		no_such_job(t, q);
		return;
	}
	buf_str(&out, shown ? "}" : "{}");
	api_reply_json(t, &out);
}

/* ---- one job over all targets ---- */

struct agg {
	const char *id, *kind, *err;
	int64_t start, end; /* latest */
	bool running, aborted;
};

struct aggs {
	struct agg *a;
	size_t n, cap;
};

static int64_t time_of(struct json_object *snap, const char *key)
{
	int64_t ns = 0;

	(void)gotime_parse_rfc3339(word(snap, key), &ns);
	return ns;
}

static struct agg *agg_of(struct aggs *all, const char *id)
{
	struct agg *p;
	size_t i;

	for (i = 0; i < all->n; i++)
		if (!strcmp(all->a[i].id, id))
			return &all->a[i];
	if (all->n == all->cap) {
		p = reallocarray(all->a, all->cap + 64, sizeof(*p));
		if (!p)
			return NULL;
		all->a = p;
		all->cap += 64;
	}
	all->a[all->n] = (struct agg){.id = id, .kind = "", .err = ""};
	return &all->a[all->n++];
}

static int agg_add(struct aggs *all, struct json_object *snap)
{
	int64_t start = time_of(snap, "start-time"), end = time_of(snap, "end-time");
	struct agg *g = agg_of(all, word(snap, "id"));

	if (!g)
		return -ENOMEM;
	g->kind = word(snap, "kind");
	g->start = MAX(g->start, start);
	g->end = MAX(g->end, end);
	g->running |= !end;
	g->aborted |= json_member_bool(snap, "aborted", false);
	if (!*g->err)
		g->err = word(snap, "err");
	if (!*g->err)
		g->err = word(snap, "abort-err");
	return 0;
}

static int aggregate(const struct snaps *s, struct aggs *all)
{
	size_t i, k, n;

	for (i = 0; i < s->cast.n; i++) {
		struct json_object *list = list_of(s, i, &n);

		for (k = 0; list && k < n; k++)
			if (agg_add(all, json_object_array_get_idx(list, k)) < 0)
				return -ENOMEM;
	}
	return 0;
}

static void agg_print(const struct agg *g, struct buf *out)
{
	buf_str(out, "{\"kind\":");
	buf_json_str(out, g->kind);
	buf_str(out, ",\"uuid\":");
	buf_json_str(out, g->id);
	buf_str(out, ",\"err\":");
	buf_json_str(out, g->err);
	buf_fmt(out, ",\"end_time\":%lld,\"aborted\":%s}", (long long)(g->running ? 0 : g->end),
		g->aborted ? "true" : "false");
}

static void reply_status(struct http_txn *t, const struct query *q, const struct aggs *all)
{
	const struct agg *last = NULL;
	autobuf struct buf out = BUF_INIT;
	size_t i;

	for (i = 0; i < all->n; i++)
		if (!last || all->a[i].start > last->start)
			last = &all->a[i];
	if (!last) {
		no_such_job(t, q);
		return;
	}
	agg_print(last, &out);
	http_reply_text(t, 200, buf_cstr(&out));
}

static void reply_status_all(struct http_txn *t, const struct aggs *all)
{
	autobuf struct buf out = BUF_INIT;
	size_t i, n = 0;

	for (i = 0; i < all->n; i++) {
		if (!strcmp(all->a[i].kind, job_kind_name(JOB_LIST)))
			continue; /* kinds that idle are not told of here */
		buf_char(&out, n++ ? ',' : '[');
		agg_print(&all->a[i], &out);
	}
	buf_str(&out, n ? "]" : "null");
	http_reply_text(t, 200, buf_cstr(&out));
}

static void reply_running(struct http_txn *t, const struct aggs *all)
{
	autobuf struct buf out = BUF_INIT;
	size_t i, n = 0;

	buf_char(&out, '[');
	for (i = 0; i < all->n; i++) {
		if (all->a[i].running)
			buf_fmt(&out, "%s\"%s[%s]\"", n++ ? "," : "", all->a[i].kind, all->a[i].id);
	}
	buf_char(&out, ']');
	api_reply_json(t, &out);
}

bool jobs_what(const char *what)
{
	return !strcmp(what, "qryxstats") || !strcmp(what, "status") ||
	       !strcmp(what, "status_all") || !strcmp(what, "running_all");
}

static void reply_what(struct http_txn *t, const struct query *q, const char *what,
		       const struct snaps *s)
{
	struct aggs all = {};

	if (!strcmp(what, "qryxstats"))
		reply_snaps(t, q, s);
	else if (aggregate(s, &all) < 0)
		http_reply_error(t, 500, NULL, "jobs: out of memory");
	else if (!strcmp(what, "status"))
		reply_status(t, q, &all);
	else if (!strcmp(what, "status_all"))
		reply_status_all(t, &all);
	else
		reply_running(t, &all);
	free(all.a);
}

void jobs_get(struct api *a, struct http_txn *t, const char *what)
{
	autojson struct json_object *o = NULL;
	struct snaps s = {};
	struct query q;

	if (!t->body.len)
		http_reply_error(t, 400, NULL, "failed to unmarshal: EOF: what=%s takes a body",
				 what);
	else if (json_parse(t->body.data, t->body.len, &o) < 0)
		http_reply_error(t, 400, NULL, "failed to unmarshal the job query");
	else if (query_parse(t, o, &q) < 0)
		http_reply(t);
	else if (!strcmp(what, "status") && !*q.id && !*q.kind)
		http_reply_error(t, 400, NULL, "what=status: expected a job ID or kind");
	else if (gather(a, &q, &s) < 0)
		http_reply_error(t, 500, NULL, "jobs: out of memory");
	else
		reply_what(t, &q, what, &s);
	snaps_free(&s);
}

/* ---- start, stop ---- */

static bool one_of(const char *s, const char *const *list)
{
	for (; *list; list++)
		if (!strcmp(s, *list))
			return true;
	return false;
}

static void start(struct http_txn *t, const struct query *q)
{
	static const char *const separate[] = {"ec-encode", "ec-bucket", "make-n-copies",
					       "mirror",    "download",	 "put-copies",
					       NULL};
	static const char *const bucket[] = {"list",	"copy-bck",	  "copy-bucket",
					     "rechunk", "load-lom-cache", "warm-up-metadata",
					     NULL};

	if (!*q->kind)
		http_reply_error(t, 400, NULL, "start: expected a job kind");
	else if (one_of(q->kind, separate))
		http_reply_error(t, 400, NULL,
				 "starting \"%s\" must be done via a separate documented API",
				 q->kind);
	else if (one_of(q->kind, bucket) && !q->bck)
		http_reply_error(t, 400, NULL, "\"%s\" requires a bucket to start", q->kind);
	else
		api_not_built(t, q->kind);
}

void jobs_action(struct api *a, struct http_txn *t, const struct api_msg *m, bool begin)
{
	struct cast c = {};
	struct query q;

	if (query_parse(t, m->value, &q) < 0) {
		http_reply(t);
	} else if (begin) {
		start(t, &q);
	} else if (!*q.id && !*q.kind) {
		http_reply_error(t, 400, NULL, "stop: expected a job ID or kind");
	} else {
		q.active = true;
		if (ask(a, &q, "DELETE", &c) < 0)
			http_reply_error(t, 500, NULL, "jobs: out of memory");
		else if (cast_check(a, t, &c, "stop") < 0)
			http_reply(t);
		else
			http_reply_status(t, 200);
		cast_free(&c);
	}
}
