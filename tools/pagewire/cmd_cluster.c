/* SPDX-License-Identifier: BSD-2-Clause */
/* Nouns cluster and node. */
#include "base/cleanup.h"
#include "base/json.h"
#include "cmd.h"

/* Of a node in the cluster map. */
#define FLAG_MAINTENANCE 4
#define FLAG_DECOMMISSION 8

#define NODE_STATUS "/v1/reverse/daemon?what=node_status"
#define NODE_LIMIT_MS 3000L

static int get_json(struct cmd *c, const char *path, struct json_object **ret)
{
	autoresp struct resp r = RESP_INIT;
	struct call call = {.method = "GET", .path = path};
	int rc = cmd_call(c, &call, &r);

	return rc ? rc : cmd_json(c, &r, ret);
}

static const struct out_col smap_fields[] = {
	{"cluster", "uuid", OUT_PLAIN},
	{"map version", "version", OUT_PLAIN},
	{"primary", "proxy_si.daemon_id", OUT_PLAIN},
	{"created", "creation_time", OUT_TIME},
	{},
};

static const struct out_col smap_cols[] = {
	{"NODE", "daemon_id", OUT_PLAIN},
	{"ROLE", "role", OUT_PLAIN},
	{"STATE", "state", OUT_PLAIN},
	{"PUBLIC", "public_net.direct_url", OUT_PLAIN},
	{"CONTROL", "intra_control_net.direct_url", OUT_PLAIN},
	{"DATA", "intra_data_net.direct_url", OUT_PLAIN},
	{},
};

/* What the map says of a node, in words of ours beside the API's own. */
static void describe(struct json_object *node, bool target, bool primary)
{
	const char *state = "member";
	int64_t flags = 0;

	json_member_int(node, "flags", &flags);
	if (flags & FLAG_DECOMMISSION)
		state = "decommission";
	else if (flags & FLAG_MAINTENANCE)
		state = "maintenance";
	json_object_object_add(node, "state", json_object_new_string(state));
	json_object_object_add(node, "role",
			       json_object_new_string(target	? "target"
						      : primary ? "gateway, primary"
								: "gateway"));
}

/* Copies of one half of the map, appended to @rows. */
static void add_rows(struct json_object *rows, struct json_object *smap, bool target)
{
	struct json_object *map = json_member(smap, target ? "tmap" : "pmap");
	const char *primary = json_member_str(json_member(smap, "proxy_si"), "daemon_id");

	if (!json_object_is_type(map, json_type_object))
		return;
	json_object_object_foreach (map, id, node) {
		struct json_object *row = NULL;

		if (!json_object_is_type(node, json_type_object) ||
		    json_object_deep_copy(node, &row, NULL) < 0)
			continue;
		describe(row, target, primary && !strcmp(primary, id));
		json_object_array_add(rows, row);
	}
}

static int cluster_show(struct cmd *c)
{
	autojson struct json_object *smap = NULL, *rows = json_object_new_array();
	int rc = get_json(c, "/v1/daemon?what=smap", &smap);

	if (rc)
		return rc;
	if (c->out.json) {
		out_doc(&c->out, smap);
		return CMD_DONE;
	}
	out_fields(&c->out, smap, smap_fields);
	fputc('\n', c->out.f);
	add_rows(rows, smap, false);
	add_rows(rows, smap, true);
	out_table(&c->out, smap, rows, smap_cols);
	return CMD_DONE;
}

static int config_set(struct cmd *c)
{
	autobuf struct buf path = BUF_INIT;
	autoresp struct resp r = RESP_INIT;
	autojson struct json_object *doc = json_object_new_object();
	struct call call = {.method = "PUT", .body = ""};
	int i, rc;

	if (c->nargs < 2)
		return cmd_usage(c, "set what? expected KEY=VALUE, as timeout.startup_time=1m");
	buf_str(&path, "/v1/cluster/set-config");
	for (i = 1; i < c->nargs; i++) {
		size_t n = strcspn(c->args[i], "=");

		if (!n || !c->args[i][n])
			return cmd_usage(c, "\"%s\": expected KEY=VALUE", c->args[i]);
		c->args[i][n] = 0;
		buf_char(&path, i == 1 ? '?' : '&');
		uri_escape_query(&path, c->args[i]);
		buf_char(&path, '=');
		uri_escape_query(&path, c->args[i] + n + 1);
		json_object_object_add(doc, c->args[i], json_object_new_string(c->args[i] + n + 1));
	}
	if (path.err)
		return -ENOMEM;
	call.path = path.data;
	rc = cmd_call(c, &call, &r);
	if (rc)
		return rc;
	out_done(&c->out, doc, "cluster configuration set");
	return CMD_DONE;
}

static int cluster_config(struct cmd *c)
{
	autojson struct json_object *doc = NULL;
	int rc;

	if (c->nargs && strcmp(c->args[0], "set"))
		return cmd_usage(c, "\"%s\": expected set KEY=VALUE...", c->args[0]);
	if (c->nargs)
		return config_set(c);
	rc = get_json(c, "/v1/cluster?what=cluster_config", &doc);
	if (rc)
		return rc;
	out_flat(&c->out, doc);
	return CMD_DONE;
}

static int cluster_leave(struct cmd *c)
{
	autojson struct json_object *v = json_object_new_object(), *doc = json_object_new_object();
	autobuf struct buf body = BUF_INIT;
	autoresp struct resp r = RESP_INIT;
	struct call call = {.method = "PUT", .path = "/v1/cluster"};
	bool skip = cmd_opt(c, "skip-rebalance");
	int rc;

	json_object_object_add(v, "sid", json_object_new_string(c->args[0]));
	json_object_object_add(v, "sids", json_object_new_array());
	json_object_object_add(v, "skip_rebalance", json_object_new_boolean(skip));
	json_object_object_add(v, "rm_user_data", json_object_new_boolean(false));
	json_object_object_add(v, "keep_initial_config", json_object_new_boolean(false));
	json_object_object_add(v, "no_shutdown", json_object_new_boolean(false));
	cmd_action(&body, "decommission-node", NULL, v);
	if (body.err)
		return -ENOMEM;
	call.body = body.data;
	rc = cmd_call(c, &call, &r);
	if (rc)
		return rc;
	json_object_object_add(doc, "node", json_object_new_string(c->args[0]));
	if (r.body.len)
		json_object_object_add(doc, "job", json_object_new_string(buf_cstr(&r.body)));
	out_done(&c->out, doc, "node %s leaves the cluster%s%s", c->args[0],
		 r.body.len ? ", job " : "", buf_cstr(&r.body));
	return CMD_DONE;
}

static int cluster_health(struct cmd *c)
{
	autojson struct json_object *doc = json_object_new_object();
	autoresp struct resp r = RESP_INIT;
	struct call call = {.method = "GET", .path = "/v1/health?prr=true"};
	uint64_t up = 0;
	int rc = cmd_call(c, &call, &r);

	if (rc)
		return rc;
	resp_header_u64(&r, "Ais-Cluster-Uptime", &up);
	json_object_object_add(doc, "ready", json_object_new_boolean(true));
	json_object_object_add(doc, "cluster_uptime_s",
			       json_object_new_uint64(up / UINT64_C(1000000000)));
	out_done(&c->out, doc, "ready, up for %llu s",
		 (unsigned long long)(up / UINT64_C(1000000000)));
	return CMD_DONE;
}

static const struct out_col node_cols[] = {
	{"NODE", "snode.daemon_id", OUT_PLAIN},
	{"ROLE", "role", OUT_PLAIN},
	{"STATE", "state", OUT_PLAIN},
	{"VERSION", "ais_version", OUT_PLAIN},
	{"MAP", "smap_version", OUT_PLAIN},
	{"USED", "capacity.total_used", OUT_BYTES},
	{"AVAILABLE", "capacity.total_avail", OUT_BYTES},
	{"MEM %", "sys_info.pct_mem_used", OUT_PLAIN},
	{"CPU %", "sys_info.pct_cpu_used", OUT_PLAIN},
	{"ALERTS", "n_alerts", OUT_PLAIN},
	{"PUBLIC", "snode.public_net.direct_url", OUT_PLAIN},
	{},
};

static int ask_node(struct cmd *c, const char *id, struct resp *r)
{
	autobuf struct buf line = BUF_INIT;
	struct call call = {.method = "GET", .path = NODE_STATUS};
	struct client *client;
	int rc = cmd_client(c, &client);

	if (rc)
		return rc;
	buf_fmt(&line, "Ais-Node-Id: %s", id);
	if (line.err)
		return -ENOMEM;
	call.headers[0] = line.data;
	return client_call(client, &call, r);
}

/* Each alert on a line of its own; how many into the table. */
static void note_alerts(struct cmd *c, struct json_object *row, const char *id)
{
	struct json_object *a = json_member(row, "alerts");
	size_t i, n = json_object_is_type(a, json_type_array) ? json_object_array_length(a) : 0;

	for (i = 0; i < n; i++) {
		const char *text = json_object_get_string(json_object_array_get_idx(a, i));

		out_note(&c->out, "%s: %s", id, text);
	}
	json_object_object_add(row, "n_alerts", json_object_new_uint64(n));
}

/* One node of the map, and what it says. */
struct asked {
	const char *id;
	struct json_object *snode; /* borrowed from the map */
	bool target;
	struct buf line;
	struct resp r;
};

struct asked_all {
	size_t n;
	struct asked *each;
};

static void asked_deinit(struct asked_all *a)
{
	size_t i;

	for (i = 0; i < a->n; i++) {
		buf_free(&a->each[i].line);
		resp_deinit(&a->each[i].r);
	}
	free(a->each);
	*a = (struct asked_all){};
}

/* The nodes of the map, gateways first. */
static int asked_fill(struct asked_all *a, struct json_object *smap)
{
	static const char *const half[] = {"pmap", "tmap"};
	struct json_object *map[2];
	size_t n = 1, i;

	for (i = 0; i < 2; i++) {
		map[i] = json_member(smap, half[i]);
		if (!json_object_is_type(map[i], json_type_object))
			map[i] = NULL;
		n += map[i] ? (size_t)json_object_object_length(map[i]) : 0;
	}
	a->each = calloc(n, sizeof(*a->each));
	if (!a->each)
		return -ENOMEM;
	for (i = 0; i < 2; i++) {
		if (!map[i])
			continue;
		json_object_object_foreach (map[i], id, snode) {
			a->each[a->n++] =
				(struct asked){.id = id, .snode = snode, .target = i == 1};
		}
	}
	return 0;
}

/* Ask all at once: those that are silent do not add up. */
static int ask_all(struct cmd *c, struct asked_all *a)
{
	autofree struct call *calls = calloc(a->n + 1, sizeof(*calls));
	autofree struct resp *answers = calloc(a->n + 1, sizeof(*answers));
	struct client *client;
	int rc = cmd_client(c, &client);
	size_t i;

	if (rc)
		return rc;
	if (!calls || !answers)
		return -ENOMEM;
	for (i = 0; i < a->n; i++) {
		buf_fmt(&a->each[i].line, "Ais-Node-Id: %s", a->each[i].id);
		if (a->each[i].line.err)
			return -ENOMEM;
		calls[i] = (struct call){
			.method = "GET",
			.path = NODE_STATUS,
			.headers = {a->each[i].line.data},
		};
	}
	rc = client_call_all(client, calls, a->n, NODE_LIMIT_MS, answers);
	for (i = 0; i < a->n; i++)
		a->each[i].r = answers[i];
	return rc;
}

/* State of one node of the map; one that does not answer is shown with what it says instead. */
static void add_node(struct cmd *c, struct json_object *rows, const struct asked *a)
{
	autobuf struct buf text = BUF_INIT;
	autofree char *status = NULL;
	struct json_object *row = NULL;

	if (resp_ok(&a->r) && json_parse(buf_cstr(&a->r.body), a->r.body.len, &row) < 0)
		row = NULL;
	if (!row) {
		row = json_object_new_object();
		json_object_object_add(row, "snode", json_object_get(a->snode));
		json_object_object_add(row, "error", resp_error(&a->r, &text));
		out_note(&c->out, "%s: %s", a->id, buf_cstr(&text));
	}
	json_object_array_add(rows, row);
	if (c->out.json)
		return;
	status = out_value(row, "status", OUT_PLAIN);
	note_alerts(c, row, a->id);
	json_object_object_add(row, "role",
			       json_object_new_string(a->target ? "target" : "gateway"));
	json_object_object_add(row, "state",
			       json_object_new_string(text.len		  ? "silent"
						      : status && *status ? status
									  : "up"));
}

static int node_show_all(struct cmd *c)
{
	autojson struct json_object *smap = NULL, *rows = json_object_new_array();
	autoclean(asked_deinit) struct asked_all a = {};
	int rc = get_json(c, "/v1/daemon?what=smap", &smap);
	size_t i;

	if (rc == 0)
		rc = asked_fill(&a, smap);
	if (rc == 0)
		rc = ask_all(c, &a);
	if (rc)
		return rc;
	for (i = 0; i < a.n; i++)
		add_node(c, rows, &a.each[i]);
	out_table(&c->out, rows, rows, node_cols);
	return CMD_DONE;
}

static int node_show(struct cmd *c)
{
	autojson struct json_object *doc = NULL;
	autoresp struct resp r = RESP_INIT;
	int rc;

	if (c->nargs == 0)
		return node_show_all(c);
	if (!*c->args[0] || strpbrk(c->args[0], "\r\n"))
		return cmd_usage(c, "\"%s\" is no node; `pagewire node show` lists them",
				 c->args[0]);
	rc = ask_node(c, c->args[0], &r);
	if (rc)
		return rc;
	if (!resp_ok(&r))
		return cmd_refused(c, &r);
	rc = cmd_json(c, &r, &doc);
	if (rc)
		return rc;
	out_flat(&c->out, doc);
	return CMD_DONE;
}

static const struct cmd_opt leave_opts[] = {
	{0, "skip-rebalance", NULL, "do not move its objects first: they are lost to the cluster"},
	{},
};

const struct cmd_verb cluster_verbs[] = {
	{"show", cluster_show, "", "the cluster map: its version, its primary, its nodes", 0, 0,
	 NULL},
	{"config", cluster_config, "[set KEY=VALUE...]",
	 "show the configuration, or set some of it", 0, CMD_ARGS_ANY, NULL},
	{"health", cluster_health, "", "whether the cluster is ready: exit status 0, else 1", 0, 0,
	 NULL},
	{"leave", cluster_leave, "NODE", "take a node out of the cluster for good", 1, 1,
	 leave_opts},
	{},
};

const struct cmd_verb node_verbs[] = {
	{"show", node_show, "[NODE]", "state of each node and its alerts, or all about one", 0, 1,
	 NULL},
	{"mountpath", cmd_node_mountpath,
	 "NODE ls|attach|detach|enable|disable|check|rescan [PATH]",
	 "show the mountpaths of a target, or change one while it runs", 2, 3, NULL},
	{"scrub", cmd_node_scrub, "NODE",
	 "read all objects of a target again and compare them with their checksums", 1, 1,
	 cmd_scrub_opts},
	{},
};
