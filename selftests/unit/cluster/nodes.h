/* SPDX-License-Identifier: BSD-2-Clause */
/* Whole nodes in one process, for tests: cluster, HTTP server on loopback, loop, pool. */
#ifndef TEST_NODES_H
#define TEST_NODES_H

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

#define NODES_WAIT_NS INT64_C(10000000000) /* an event that takes longer does not come */

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

static inline void *node_main(void *arg)
{
	loop_run(((struct node *)arg)->loop);
	return NULL;
}

/* Start, or start again with the same ports and state. */
static inline void node_up(struct node *n)
{
	struct cluster_opts o = {.sz = sizeof(o),
				 .bmd_changed = node_bmd_changed,
				 .has_objects = node_has_objects,
				 .ctx = n};
	char err[256] = "";
	int fd[SMAP_NET_NR], i;

	for (i = 0; i < SMAP_NET_NR; i++)
		fd[i] = node_listen(&n->port[i]);
	node_config(n);
	ASSERT_EQ(metrics_new(n->id, n->gateway, &n->metrics), 0);
	ASSERT_EQ(pool_new("call", 4, 64, &n->call), 0);
	o.config = n->config;
	o.metrics = n->metrics;
	o.call = n->call;
	if (cluster_new(&o, &n->c, err, sizeof(err)) < 0)
		fprintf(stderr, "%s\n", err);
	ASSERT_TRUE(n->c != NULL);
	ASSERT_EQ(loop_new(n->id, &n->loop), 0);
	node_serve(n, fd);
	ASSERT_EQ(pthread_create(&n->thread, NULL, node_main, n), 0);
	ASSERT_EQ(cluster_start(n->c), 0);
	n->up = true;
}

struct node_end {
	struct loop_work w;
	struct node *n;
};

static inline void node_drained(void *arg)
{
	loop_stop(((struct node *)arg)->loop);
}

static inline void node_drain(struct loop_work *w)
{
	struct node_end *e = container_of(w, struct node_end, w);

	http_drain(e->n->server, e->n->loop, 0, node_drained, e->n);
}

/* As a crash, to the others: nobody is told. */
static inline void node_down(struct node *n)
{
	struct node_end e = {.w.fn = node_drain, .n = n};

	if (!n->up)
		return;
	loop_post(n->loop, &e.w);
	pthread_join(n->thread, NULL);
	cluster_stop(n->c);
	pool_free(n->call);
	http_server_free(n->server);
	loop_free(n->loop);
	cluster_free(n->c);
	metrics_free(n->metrics);
	config_put(n->config);
	n->c = NULL;
	n->config = NULL;
	n->up = false;
}

/* Wait until @cond, with a limit. */
#define WAIT_FOR(cond)                                                                             \
	do {                                                                                       \
		int64_t until_ = mono_ns() + NODES_WAIT_NS;                                        \
		while (!(cond) && mono_ns() < until_)                                              \
			usleep(2000);                                                              \
		if (!(cond))                                                                       \
			fprintf(stderr, "%s:%d: never: %s\n", __FILE__, __LINE__, #cond);          \
		ASSERT_TRUE(cond);                                                                 \
	} while (0)

/* A folder with a join secret. */
static inline void nodes_begin(char dir[64])
{
	char path[96];
	int fd;

	strcpy(dir, "/tmp/test_nodes.XXXXXX");
	ASSERT_TRUE(mkdtemp(dir) != NULL);
	snprintf(path, sizeof(path), "%s/secret", dir);
	fd = open(path, O_CREAT | O_WRONLY, 0600);
	ASSERT_EQ(write(fd, "0123456789abcdef\n", 17), 17);
	close(fd);
}

static inline void nodes_end(const char *dir)
{
	char cmd[96];

	snprintf(cmd, sizeof(cmd), "rm -rf %s", dir);
	ASSERT_EQ(system(cmd), 0);
}

static inline int64_t node_smap_version(struct node *n)
{
	struct smap *m = cluster_smap(n->c);
	int64_t v = smap_version(m);

	smap_put(m);
	return v;
}

/* Whether @n's map has @other with its present key. */
static inline bool node_knows(struct node *n, struct node *other)
{
	struct smap *m = cluster_smap(n->c);
	const struct smap_node *r = smap_find(m, other->id);
	bool yes = r && smap_node_same_key(r, cluster_self(other->c));

	smap_put(m);
	return yes;
}

#endif
