/* SPDX-License-Identifier: BSD-2-Clause */
/* /v1/daemon: what one node says of itself. */
#include "api/impl.h"

/* Lines of a severity and graver, from an offset. Never empty: clients take that for a failure. */
static void reply_log(struct http_txn *t)
{
	static const struct {
		const char *word;
		enum log_level level;
	} words[] = {{"info", LOG_DEBUG}, {"warning", LOG_WARN}, {"error", LOG_ERROR}};
	const char *severity = http_param(t, "severity"), *text = http_param(t, "offset");
	autobuf struct buf out = BUF_INIT;
	enum log_level level = LOG_NONE;
	uint64_t offset = 0;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(words); i++)
		if (!strcmp(severity ? severity : "info", words[i].word))
			level = words[i].level;
	if (level == LOG_NONE) {
		http_reply_error(t, 400, NULL,
				 "log: unknown severity \"%.40s\": one of info, warning, error",
				 severity);
	} else if (text && parse_u64(text, &offset) < 0) {
		http_reply_error(t, 400, NULL, "log: invalid offset \"%.40s\"", text);
	} else if (http_param_true(t, "all")) {
		api_not_built(t, "log with all=true");
	} else {
		log_tail(level, offset, &out);
		if (!out.len && !offset)
			buf_char(&out, '\n');
		http_reply_buf(t, "text/plain; charset=utf-8", &out);
	}
}

static void print_config(struct api *a, struct buf *out)
{
	struct config *c = cluster_config(a->cluster);

	config_print_node(c, out);
	config_put(c);
}

static void print_sysinfo(struct api *a, struct buf *out)
{
	sysinfo_print(a, true, out);
}

static void print_kinds(struct api *a, struct buf *out)
{
	metrics_print_kinds(a->metrics, out);
	if (out->err || !a->store)
		return;
	out->len--; /* the brace */
	disks_print_kinds(a, out);
	buf_char(out, '}');
}

static bool json_answer(struct api *a, struct http_txn *t, const char *what)
{
	static const struct {
		const char *what;
		void (*print)(struct api *a, struct buf *out);
	} rows[] = {
		{"config", print_config},	  {"node_status", node_status_print},
		{"node_stats", node_stats_print}, {"sysinfo", print_sysinfo},
		{"metrics", print_kinds},	  {"disk", disk_status_print},
		{"mountpaths", mountpaths_print},
	};
	autobuf struct buf out = BUF_INIT;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		if (strcmp(what, rows[i].what) || (i >= 5 && !a->store))
			continue;
		rows[i].print(a, &out);
		api_reply_json(t, &out);
		return true;
	}
	return false;
}

static void get(struct api *a, struct http_txn *t, const char *what)
{
	static const char *const unbuilt[] = {"smapvote"};
	size_t i;

	if (answer_common(a, t, what) || json_answer(a, t, what))
		return;
	if (!strcmp(what, "log")) {
		reply_log(t);
		return;
	}
	if (!strcmp(what, "software_version")) {
		http_reply_text(t, 200, "5.0.1");
		return;
	}
	if (!strcmp(what, "tls_certificate")) {
		http_reply_error(t, 404, NULL, "%s: no TLS certificate is loaded",
				 cluster_node_name(a->cluster));
		return;
	}
	for (i = 0; i < ARRAY_SIZE(unbuilt); i++) {
		if (strcmp(what, unbuilt[i]))
			continue;
		api_not_built(t, what);
		return;
	}
	http_reply_error(t, 400, NULL, "unrecognized 'what=%.100s' query", what);
}

/* Areas of their own below /v1/daemon; changes come by control only. */
static bool sub_answer(struct api *a, struct http_txn *t, const char *sub)
{
	static const struct {
		const char *name;
		void (*handle)(struct api *a, struct http_txn *t);
	} rows[] = {{"mountpaths", mountpaths_handle}, {"scrub", scrub_handle}};
	bool get = t->req.method == HTTP_GET || t->req.method == HTTP_HEAD;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		if (strcmp(sub, rows[i].name))
			continue;
		if (!get && t->req.net == SMAP_NET_PUBLIC && !api_is_gateway(a))
			return false;
		rows[i].handle(a, t);
		return true;
	}
	return false;
}

void daemon_answer(struct api *a, struct http_txn *t, const char *sub)
{
	const char *what = http_param(t, "what");

	while (*sub == '/')
		sub++;
	if (sub_answer(a, t, sub))
		return;
	if (t->req.method != HTTP_GET && t->req.method != HTTP_HEAD) {
		if (!api_is_gateway(a) && t->req.net == SMAP_NET_PUBLIC)
			http_reply_error(t, 403, NULL, "%s: %s %.200s is not for this network",
					 cluster_node_name(a->cluster), t->req.method_text,
					 t->req.path);
		else
			api_not_built(t, *sub ? sub : "changing one node");
		return;
	}
	if (*sub)
		http_reply_error(t, 400, NULL, "invalid request URI \"%.200s\"", t->req.path);
	else
		get(a, t, what ? what : "");
}

static void run(struct http_txn *t)
{
	daemon_answer(t->ctx, t, t->req.path + strlen("/v1/daemon"));
}

void api_daemon(struct http_txn *t)
{
	struct api *a = t->ctx;

	/* changes may wait for what the io pool does */
	if (t->req.method != HTTP_GET && t->req.method != HTTP_HEAD)
		http_collect(t, api_json_max(a), a->call, run);
	else
		http_run(t, a->io, run);
}
