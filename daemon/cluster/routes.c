/* SPDX-License-Identifier: BSD-2-Clause */
/* Which endpoints between nodes this room serves, and leaving. */
#include <errno.h>

#include "cluster/impl.h"
#include "log.h"

#define AREA "/v1/cluster/"

size_t cluster_routes(struct cluster *c, struct http_route *out, size_t max)
{
	if (!max)
		return 0;
	out[0] = (struct http_route){
		.path = "/v1/metasync",
		.nets = BIT(SMAP_NET_CONTROL),
		.methods = BIT(HTTP_PUT) | BIT(HTTP_GET),
		.handle = push_handle,
		.ctx = c,
	};
	return 1;
}

/* ---- leaving ---- */

/* Whether names would move while objects are held. */
static bool holds(struct cluster *c, const struct http_txn *t, const char *id)
{
	struct smap *m = cluster_smap(c);
	const struct smap_node *n = smap_find(m, id);
	bool target = n && n->role == SMAP_ROLE_TARGET && !(n->flags & SMAP_F_INACTIVE);

	smap_put(m);
	return target && !http_param_true(t, "skip_rebalance") && cluster_holds_objects(c);
}

static void leave(struct http_txn *t)
{
	struct cluster *c = t->user;
	const char *id = t->req.path + strlen(AREA "daemon/");

	if (holds(c, t, id)) {
		http_reply_error(t, 501, NULL,
				 "%s: target %s cannot leave while buckets hold objects: moving "
				 "them is not built (skip_rebalance=true leaves them behind)",
				 c->name, id);
		return;
	}
	switch (cluster_change_node(c, id, 0, 0, true)) {
	case 0:
		http_reply_status(t, 200);
		return;
	case -ENOENT:
		http_reply_error(t, 404, "errNodeNotFound", "%s: no node %s", c->name, id);
		return;
	case -EBUSY:
		http_reply_error(t, 400, NULL, "%s: the primary cannot leave", c->name);
		return;
	case -EAGAIN:
		http_error(t, 503, NULL, "%s: not the primary, or not started yet", c->name);
		http_header(t, "Retry-After", "1");
		http_reply(t);
		return;
	default:
		http_reply_error(t, 500, NULL, "%s: node %s could not be removed: see the log",
				 c->name, id);
	}
}

/* The node itself, nobody for it; whom we do not know could not have signed. */
static void leave_handle(struct http_txn *t)
{
	struct cluster *c = t->user;
	const char *id = t->req.path + strlen(AREA "daemon/");
	char name[CLUSTER_NAME_SIZE];
	struct smap *m = cluster_smap(c);
	bool known = smap_find(m, id);

	smap_put(m);
	snprintf(name, sizeof(name), "%c[%s]", t->caller ? *t->caller : '?', id);
	if (!known)
		http_reply_error(t, 404, "errNodeNotFound", "%s: no node %.64s", c->name, id);
	else if (!strcmp(id, c->self.id))
		http_reply_error(t, 400, NULL, "%s: the primary cannot leave", c->name);
	else if (!t->caller || strcmp(name, t->caller))
		http_reply_error(t, 403, NULL, "%s: only node %s itself may leave", c->name, id);
	else
		http_run(t, c->o.call, leave);
}

/* ---- dispatch ---- */

static const struct {
	const char *path;
	enum http_method method;
	bool below; /* matches PATH<something> */
	void (*handle)(struct http_txn *t);
} endpoints[] = {
	{AREA "autoreg", HTTP_POST, false, join_handle},
	{AREA "keepalive/", HTTP_POST, true, keepalive_handle},
	{AREA "daemon/", HTTP_DELETE, true, leave_handle},
};

bool cluster_handle(struct cluster *c, struct http_txn *t)
{
	const char *path = t->req.path;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(endpoints); i++) {
		size_t n = strlen(endpoints[i].path);
		bool here = endpoints[i].below ? !strncmp(path, endpoints[i].path, n) && path[n]
					       : !strcmp(path, endpoints[i].path);

		if (!here || t->req.method != endpoints[i].method)
			continue;
		if (t->req.net != SMAP_NET_CONTROL) {
			metrics_add(c->o.metrics, METRIC_AUTH_DENIED_N, 1);
			http_reply_error(t, 403, NULL, "%s: %s is for the intra-control network",
					 c->name, path);
			return true;
		}
		t->user = c;
		endpoints[i].handle(t);
		return true;
	}
	return false;
}
