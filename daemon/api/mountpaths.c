/* SPDX-License-Identifier: BSD-2-Clause */
/* /v1/daemon/mountpaths of a target, and the questions about its disks. */
#include "api/impl.h"
#include "store/admin.h"

static void print_state(struct api *a, const char *key, const char *const states[3],
			struct buf *out)
{
	struct store_path p;
	size_t i, n = 0;

	buf_fmt(out, "\"%s\":[", key);
	for (i = 0; i < store_paths(a->store); i++) {
		if (store_path_info(a->store, i, &p) < 0 ||
		    (strcmp(p.state, states[0]) && strcmp(p.state, states[1]) &&
		     strcmp(p.state, states[2])))
			continue;
		if (n++)
			buf_char(out, ',');
		buf_json_str(out, p.path);
	}
	buf_char(out, ']');
}

void mountpaths_print(struct api *a, struct buf *out)
{
	static const char *const up[3] = {"available", "", ""};
	static const char *const down[3] = {"disabled", "failed", "read-only"};

	buf_char(out, '{');
	print_state(a, "available", up, out);
	buf_str(out, ",\"waiting_dd\":[],");
	print_state(a, "disabled", down, out);
	buf_char(out, '}');
}

/* The same with all that is known of each: our own, for pagewire(1). */
void mountpaths_print_all(struct api *a, struct buf *out)
{
	struct store_path p;
	size_t i, n = 0;

	buf_char(out, '[');
	for (i = 0; i < store_paths(a->store); i++) {
		if (store_path_info(a->store, i, &p) < 0)
			continue;
		buf_str(out, n++ ? ",{\"path\":" : "{\"path\":");
		buf_json_str(out, p.path);
		buf_fmt(out, ",\"state\":\"%s\",\"reason\":", p.state);
		buf_json_str(out, p.reason);
		buf_fmt(out,
			",\"since_ns\":\"%lld\",\"attached\":%s,\"closing\":%s,\"strays\":%s,"
			"\"out_of_space\":%s,\"low_space\":%s,\"corrupt\":\"%llu\"}",
			(long long)p.since_ns, p.attached ? "true" : "false",
			p.closing ? "true" : "false", p.strays ? "true" : "false",
			p.full ? "true" : "false", p.low ? "true" : "false",
			(unsigned long long)p.corrupt);
	}
	buf_char(out, ']');
}

/* ---- changes ---- */

static enum store_path_op op_of(enum http_method m, const char *action)
{
	static const struct {
		enum http_method method;
		const char *action;
		enum store_path_op op;
	} rows[] = {
		{HTTP_PUT, "attach-mp", STORE_PATH_ATTACH},
		{HTTP_POST, "enable-mp", STORE_PATH_ENABLE},
		{HTTP_POST, "disable-mp", STORE_PATH_DISABLE},
		{HTTP_POST, "rescan-mp", STORE_PATH_RESCAN},
		{HTTP_POST, "fshc-mp", STORE_PATH_CHECK},
		{HTTP_DELETE, "detach-mp", STORE_PATH_DETACH},
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		if (rows[i].method == m && !strcmp(rows[i].action, action))
			return rows[i].op;
	}
	return STORE_PATH_NONE;
}

static void change_refused(struct api *a, struct http_txn *t, int r, const char *why)
{
	const char *node = cluster_node_name(a->cluster);

	switch (r) {
	case -ENOENT:
		http_reply_error(t, 404, "ErrMpathNotFound", "%s: %s", node, why);
		break;
	case -EINVAL:
		http_reply_error(t, 400, NULL, "%s: %s", node, why);
		break;
	case -EEXIST:
	case -EBUSY:
		http_reply_error(t, 409, NULL, "%s: %s", node, why);
		break;
	default:
		http_reply_error(t, 500, NULL, "%s: %s", node, why);
	}
}

static void change(struct api *a, struct http_txn *t, const struct api_msg *m)
{
	const char *path = json_object_is_type(m->value, json_type_string)
				   ? json_object_get_string(m->value)
				   : NULL;
	enum store_path_op op = m->action ? op_of(t->req.method, m->action) : STORE_PATH_NONE;
	char why[512];
	int r;

	if (op == STORE_PATH_NONE) {
		action_error(t, m->action ? m->action : "");
		return;
	}
	if (!path || !*path) {
		http_reply_error(t, 400, NULL, "%s: the value must be the path of a mountpath",
				 m->action);
		return;
	}
	r = store_path_change(a->store, op, path, why, sizeof(why));
	if (r < 0)
		change_refused(a, t, r, why);
	else
		http_reply_status(t, 200);
}

void mountpaths_handle(struct api *a, struct http_txn *t)
{
	autobuf struct buf out = BUF_INIT;
	struct api_msg m = {};

	if (!a->store) {
		http_reply_error(t, 400, NULL, "%s: a gateway has no mountpaths",
				 cluster_node_name(a->cluster));
	} else if (t->req.method == HTTP_GET) {
		if (http_param_true(t, "all"))
			mountpaths_print_all(a, &out);
		else
			mountpaths_print(a, &out);
		api_reply_json(t, &out);
	} else if (api_msg_parse(t, &m) < 0) {
		http_reply(t);
	} else {
		change(a, t, &m);
	}
	api_msg_free(&m);
}
