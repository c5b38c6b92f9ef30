/* SPDX-License-Identifier: BSD-2-Clause */
/* One node of a test: its config, its routes, its HTTP server on loopback. */
#ifndef TEST_NODE_H
#define TEST_NODE_H

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sodium.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../unit.h"
#include "base/text.h"
#include "cluster/cluster.h"
#include "http/client.h"
#include "http/http.h"
#include "loop/loop.h"
#include "loop/pool.h"
#include "metrics.h"

struct node {
	const char *dir; /* of the test */
	const char *id;
	bool gateway;
	bool open; /* request_auth: false */
	const char *primary_url;
	uint16_t port[SMAP_NET_NR]; /* 0: to be chosen */
	_Atomic bool objects; /* what has_objects says */
	_Atomic int asked; /* times has_objects ran */
	_Atomic int64_t bmd_seen; /* version */
	struct config *config;
	struct metrics *metrics;
	struct pool *call;
	struct cluster *c;
	struct loop *loop;
	struct http_server *server;
	struct http_route routes[4];
	pthread_t thread;
	bool up;
};

static inline void node_bmd_changed(void *ctx, const struct bmd *old, const struct bmd *now)
{
	struct node *n = ctx;

	n->bmd_seen = bmd_version(now);
}

static inline bool node_has_objects(void *ctx)
{
	struct node *n = ctx;

	n->asked++;
	return n->objects;
}

static inline void node_fallback(struct http_txn *t)
{
	http_reply_error(t, 404, NULL, "nothing here");
}

static inline void node_cluster(struct http_txn *t)
{
	struct node *n = t->ctx;

	if (!cluster_handle(n->c, t))
		node_fallback(t);
}

static inline void node_objects(struct http_txn *t)
{
	struct node *n = t->ctx;
	struct smap *m;

	if (!n->gateway) {
		http_reply_text(t, 200, t->caller ? t->caller : "client");
		return;
	}
	m = cluster_smap(n->c);
	if (smap_count(m, SMAP_ROLE_TARGET))
		cluster_redirect(n->c, t, m, smap_at(m, SMAP_ROLE_TARGET, 0));
	else
		http_reply_status(t, 503);
	smap_put(m);
}

static inline bool node_admit(void *ctx, struct http_txn *t)
{
	return cluster_admit(((struct node *)ctx)->c, t);
}

static inline int node_listen(uint16_t *port)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(*port)};
	socklen_t len = sizeof(a);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), one = 1;

	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	ASSERT_EQ(bind(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	ASSERT_EQ(listen(fd, 64), 0);
	ASSERT_EQ(getsockname(fd, (struct sockaddr *)&a, &len), 0);
	*port = ntohs(a.sin_port);
	return fd;
}

/* Config of a node, whose ports are known. */
static inline void node_config(struct node *n)
{
	autobuf struct buf b = BUF_INIT;
	char err[256] = "";

	buf_fmt(&b,
		"{\"role\":\"%s\",\"node_id\":\"%s\",\"state_dir\":\"%s/%s\","
		"\"host_net\":{\"hostname\":\"127.0.0.1\",\"port\":\"%u\","
		"\"port_intra_control\":\"%u\",\"port_intra_data\":\"%u\"},",
		n->gateway ? "gateway" : "target", n->id, n->dir, n->id, n->port[0], n->port[1],
		n->port[2]);
	if (!n->gateway)
		buf_fmt(&b, "\"fspaths\":{\"%s/mp\":\"\"},", n->dir);
	buf_fmt(&b,
		"\"proxy\":{\"primary_url\":\"%s\"},\"timeout\":{\"startup_time\":\"1s\"},"
		"\"auth\":{\"intra_cluster\":{\"node_join_secret_path\":\"%s/secret\","
		"\"request_auth\":%s}},"
		"\"keepalivetracker\":{\"proxy\":{\"interval\":\"200ms\",\"factor\":10},"
		"\"target\":{\"interval\":\"200ms\",\"factor\":10}}}",
		n->primary_url, n->dir, n->open ? "false" : "true");
	if (config_parse(n->id, b.data, b.len, &n->config, err, sizeof(err)) < 0)
		fprintf(stderr, "%s\n", err);
	ASSERT_TRUE(n->config != NULL);
}

static inline void node_serve(struct node *n, const int fd[SMAP_NET_NR])
{
	struct http_server_opts o = {
		.sz = sizeof(o),
		.node_name = cluster_node_name(n->c),
		.gateway = n->gateway,
		.routes = n->routes,
		.limits = {65536, 100, 10000, 10000, 10000, 1 << 20, 1000, 1000},
		.metrics = n->metrics,
		.io = n->call,
		.admit = node_admit,
		.fallback = node_fallback,
		.ctx = n,
	};
	uint32_t all = BIT(SMAP_NET_PUBLIC) | BIT(SMAP_NET_CONTROL) | BIT(SMAP_NET_DATA);
	int i;

	o.n_routes = cluster_routes(n->c, n->routes, 4);
	n->routes[o.n_routes++] = (struct http_route){"/v1/cluster", all, ~0U, node_cluster, n};
	n->routes[o.n_routes++] = (struct http_route){"/v1/objects", all, ~0U, node_objects, n};
	ASSERT_EQ(http_server_new(&o, &n->server), 0);
	for (i = 0; i < SMAP_NET_NR; i++)
		ASSERT_EQ(http_listen(n->server, n->loop, (enum smap_netid)i, fd[i]), 0);
}

#endif
