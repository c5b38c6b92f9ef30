/* SPDX-License-Identifier: BSD-2-Clause */
/* PUT /v1/cluster on the primary: config, membership, jobs. */
#include "api/impl.h"

#define PAIRS_MAX 64

/* ---- set-config ---- */

struct pair {
	const char *key;
	char *value; /* heap */
};

struct config_change {
	struct pair pairs[PAIRS_MAX];
	size_t n;
	char err[256];
};

static void pairs_free(struct config_change *c)
{
	size_t i;

	for (i = 0; i < c->n; i++)
		free(c->pairs[i].value);
}

static int apply(void *arg, const struct config *now, struct config **ret)
{
	struct config_change *c = arg;
	struct config *cur = NULL, *next;
	size_t i;
	int r;

	for (i = 0; i < c->n; i++) {
		r = config_with(cur ? cur : now, c->pairs[i].key, c->pairs[i].value, &next, c->err,
				sizeof(c->err));
		if (cur)
			config_put(cur);
		if (r < 0)
			return r;
		cur = next;
	}
	*ret = cur;
	return 0;
}

/* A key may be changed on a running cluster; else a sentence. */
static int key_check(const char *name, char *err, size_t size)
{
	const struct config_key *k = config_key_find(name);

	if (!k)
		snprintf(err, size, "unknown property \"%.100s\"", name);
	else if (!(k->flags & CONFIG_F_CLUSTER))
		snprintf(err, size, "property \"%s\" belongs to one node: change its config file",
			 name);
	else if (!(k->flags & (CONFIG_F_RUNTIME | CONFIG_F_UNBUILT)))
		snprintf(err, size, "property \"%s\" can not change on a running cluster", name);
	else
		return 0;
	return -EINVAL;
}

static int add_pair(struct config_change *c, const char *key, const char *value)
{
	const struct config_key *k = config_key_find(key);

	if (key_check(key, c->err, sizeof(c->err)) < 0)
		return -EINVAL;
	if (c->n == PAIRS_MAX) {
		snprintf(c->err, sizeof(c->err), "over %d properties at one time", PAIRS_MAX);
		return -EINVAL;
	}
	c->pairs[c->n].value = strdup(value);
	if (!c->pairs[c->n].value)
		return -ENOMEM;
	c->pairs[c->n++].key = k->name;
	return 0;
}

static int from_query(struct http_txn *t, struct config_change *c)
{
	static const char *const other[] = {"provider", "namespace", "transient",
					    "what",	"pid",	     "utm"};
	size_t i, k;
	int r = 0;

	for (i = 0; !r && i < t->req.n_params; i++) {
		for (k = 0; k < ARRAY_SIZE(other); k++)
			if (!strcmp(t->req.params[i].name, other[k]))
				break;
		if (k == ARRAY_SIZE(other))
			r = add_pair(c, t->req.params[i].name, t->req.params[i].value);
	}
	return r;
}

/* A nested object as dotted keys; null leaves a key alone. */
static int from_json(struct json_object *o, const char *prefix, struct config_change *c)
{
	int r = 0;

	json_object_object_foreach (o, key, v) {
		char name[256];

		if (r || !v)
			continue;
		if (snprintf(name, sizeof(name), "%s%s%s", prefix, *prefix ? "." : "", key) >=
		    (int)sizeof(name)) {
			snprintf(c->err, sizeof(c->err), "unknown property \"%.100s...\"", name);
			return -EINVAL;
		}
		if (json_object_is_type(v, json_type_object))
			r = from_json(v, name, c);
		else
			r = add_pair(c, name, json_object_get_string(v));
	}
	return r;
}

static void config_reply(struct http_txn *t, const struct config_change *c, int r)
{
	const char *err = c->err[0] ? c->err : "bad value";

	if (!r)
		http_reply_status(t, 200);
	else if (r == -EINVAL || r == -ENOENT)
		http_reply_error(t, 400, NULL, "set-config: %s", err);
	else if (r == -ENOTSUP)
		http_reply_error(t, 501, "ErrUnsupp", "set-config: %s", err);
	else
		change_error(t, r, "set-config");
}

static void set_config(struct api *a, struct http_txn *t, struct json_object *value)
{
	autofree struct config_change *c = calloc(1, sizeof(*c));
	int r;

	if (!c) {
		http_reply_error(t, 500, NULL, "set-config: out of memory");
		return;
	}
	if (http_param_true(t, "transient")) {
		http_reply_error(
			t, 400, NULL,
			"set-config: transient=true is for one node; these are cluster-wide");
		return;
	}
	if (value && json_object_is_type(value, json_type_object))
		r = from_json(value, "", c);
	else
		r = from_query(t, c);
	if (!r && !c->n) {
		snprintf(c->err, sizeof(c->err), "no properties given");
		r = -EINVAL;
	}
	if (!r)
		r = cluster_change_config(a->cluster, apply, c);
	config_reply(t, c, r);
	pairs_free(c);
}

/* ---- membership ---- */

/* One node by "sid", or by the only one of "sids". */
static const char *node_of(struct json_object *value)
{
	struct json_object *list = json_member(value, "sids");
	const char *id = json_member_str(value, "sid");

	if (id && *id)
		return id;
	if (json_object_is_type(list, json_type_array) && json_object_array_length(list) == 1) {
		struct json_object *one = json_object_array_get_idx(list, 0);

		return json_object_is_type(one, json_type_string) ? json_object_get_string(one)
								  : NULL;
	}
	return NULL;
}

/*
 * Whether owners of names may change: objects do not move yet, so with objects in any bucket only
 * on the operator's word.
 */
static int owners_may_change(struct api *a, struct http_txn *t, const struct api_msg *m)
{
	uint64_t objects = 1;

	if (json_member_bool(m->value, "skip_rebalance", false))
		return 0;
	if (summary_count(a, &objects) < 0) {
		http_error(t, 503, NULL,
			   "%s: not all targets answer, so it is not known that buckets are empty; "
			   "skip_rebalance true leaves the objects of the node behind",
			   m->action);
		return -EAGAIN;
	}
	if (!objects)
		return 0;
	http_error(t, 501, "ErrUnsupp",
		   "%s: rebalance is not supported by this build, and buckets hold objects: their "
		   "owners would change; skip_rebalance true leaves the objects of the node behind",
		   m->action);
	return -ENOTSUP;
}

struct node_action {
	const char *action;
	uint64_t set, clear;
	bool remove, unchecked;
};

static const struct node_action node_actions[] = {
	{.action = "start-maintenance", .set = SMAP_F_MAINTENANCE},
	{.action = "stop-maintenance", .clear = SMAP_F_INACTIVE},
	{.action = "decommission-node", .remove = true},
	{.action = "rm-unsafe", .remove = true, .unchecked = true},
};

static void node_change(struct api *a, struct http_txn *t, const struct api_msg *m,
			const struct node_action *act)
{
	struct smap *map = cluster_smap(a->cluster);
	const char *id = node_of(m->value);
	const struct smap_node *n = id ? smap_find(map, id) : NULL;
	int r = -EINVAL;

	if (!id) {
		http_error(t, 400, NULL, "%s: expected one node ID in \"sid\"", m->action);
	} else if (!n) {
		http_error(t, 404, "errNodeNotFound", "%s: node \"%.64s\" does not exist",
			   m->action, id);
	} else if (n == smap_primary(map)) {
		http_error(t, 400, NULL, "%s: p[%s] is the primary", m->action, id);
	} else {
		r = 0;
		if (n->role == SMAP_ROLE_TARGET && !act->unchecked)
			r = owners_may_change(a, t, m);
	}
	if (r < 0) {
		http_reply(t);
	} else {
		r = cluster_change_node(a->cluster, n->id, act->set, act->clear, act->remove);
		if (r == -ENOENT)
			http_reply_error(t, 404, "errNodeNotFound",
					 "%s: node \"%s\" does not exist", m->action, n->id);
		else if (r < 0)
			change_error(t, r, m->action);
		else
			http_reply_status(t, 200);
	}
	smap_put(map);
}

/* PUT /v1/cluster/proxy/<id>: the primary is always the first gateway. */
static void set_primary(struct api *a, struct http_txn *t, const char *id)
{
	struct smap *map = cluster_smap(a->cluster);
	const struct smap_node *n = smap_find(map, id);

	if (!n || n->role != SMAP_ROLE_GATEWAY)
		http_reply_error(t, 404, "errNodeNotFound", "gateway \"%.64s\" does not exist", id);
	else if (n == smap_primary(map))
		http_reply_status(t, 200);
	else
		api_not_built(t, "moving the primary");
	smap_put(map);
}

/* ---- dispatch ---- */

static bool one_of(const char *s, const char *const *list)
{
	for (; *list; list++)
		if (!strcmp(s, *list))
			return true;
	return false;
}

static void by_action(struct api *a, struct http_txn *t, const struct api_msg *m)
{
	static const char *const unbuilt[] = {"reset-config", "rotate-logs",   "reset-stats",
					      "clear-lcache", "reload-creds",  "shutdown",
					      "decommission", "shutdown-node", NULL};
	size_t i;

	if (!m->action) {
		action_error(t, NULL);
		return;
	}
	for (i = 0; i < ARRAY_SIZE(node_actions); i++) {
		if (strcmp(m->action, node_actions[i].action))
			continue;
		node_change(a, t, m, &node_actions[i]);
		return;
	}
	if (!strcmp(m->action, "set-config"))
		set_config(a, t, m->value);
	else if (!strcmp(m->action, "start") || !strcmp(m->action, "stop"))
		jobs_action(a, t, m, !strcmp(m->action, "start"));
	else if (one_of(m->action, unbuilt))
		api_not_built(t, m->action);
	else
		action_error(t, m->action);
}

void cluster_put(struct api *a, struct http_txn *t, const struct api_msg *m)
{
	static const char *const unbuilt[] = {"attach", "detach", "load-x509", NULL};
	const char *sub = t->req.path + strlen("/v1/cluster");

	while (*sub == '/')
		sub++;
	if (!*sub)
		by_action(a, t, m);
	else if (!strcmp(sub, "set-config"))
		set_config(a, t, m->value);
	else if (!strncmp(sub, "proxy/", 6))
		set_primary(a, t, sub + 6);
	else if (one_of(sub, unbuilt) || !strncmp(sub, "enable-bend/", 12) ||
		 !strncmp(sub, "disable-bend/", 13))
		api_not_built(t, sub);
	else
		http_reply_error(t, 400, NULL, "invalid request URI \"%.200s\"", t->req.path);
}
