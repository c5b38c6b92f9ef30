/* SPDX-License-Identifier: BSD-2-Clause */
/* Whole nodes in one process, for tests: started, stopped as by a crash, started again. */
#ifndef TEST_NODES_H
#define TEST_NODES_H

#include "node.h"

#define NODES_WAIT_NS INT64_C(10000000000) /* an event that takes longer does not come */

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
