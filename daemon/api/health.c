/* SPDX-License-Identifier: BSD-2-Clause */
/* /v1/health in all its forms, and /metrics. Answered on the loop: never blocks. */
#include <stdio.h>

#include "api/impl.h"
#include "store/admin.h"

static void uptimes(struct api *a, struct http_txn *t)
{
	int64_t up = cluster_uptime_ns(a->cluster);

	http_header(t, "Ais-Node-Uptime", "%lld", (long long)up);
	http_header(t, "Ais-Cluster-Uptime", "%lld",
		    (long long)(cluster_started(a->cluster) ? up : 0));
}

static void reply_info(struct api *a, struct http_txn *t)
{
	autobuf struct buf out = BUF_INIT;

	uptimes(a, t);
	cluster_print_info(a->cluster, &out);
	api_reply_json(t, &out);
}

static void forward(struct http_txn *t)
{
	struct api *a = t->ctx;

	cluster_forward(a->cluster, t);
}

void api_health(struct http_txn *t)
{
	struct api *a = t->ctx;
	bool gateway = api_is_gateway(a);

	if (http_param_true(t, "cii")) {
		reply_info(a, t);
		return;
	}
	if (gateway && http_param_true(t, "prr") && !cluster_is_primary(a->cluster)) {
		http_run(t, a->call, forward);
		return;
	}
	if (gateway)
		uptimes(a, t);
	if (http_param_true(t, "readiness"))
		http_reply_status(t, cluster_ready(a->cluster) ? 200 : 503);
	else if (gateway && http_param_true(t, "prr"))
		http_reply_status(t, cluster_started(a->cluster) ? 200 : 503);
	else
		http_reply_status(t, 200);
}

void api_metrics(struct http_txn *t)
{
	struct api *a = t->ctx;
	autobuf struct buf out = BUF_INIT;
	char label[64];

	metrics_set_state_flags(a->metrics, cluster_state_flags(a->cluster));
	metrics_print(a->metrics, &out);
	if (a->store) {
		snprintf(label, sizeof(label), "node_id=\"%s\"", cluster_node_id(a->cluster));
		store_metrics_print(a->store, label, &out);
	}
	if (out.err)
		http_reply_error(t, 500, NULL, "metrics: out of memory");
	else
		http_reply_buf(t, "text/plain; version=0.0.4; charset=utf-8", &out);
}
