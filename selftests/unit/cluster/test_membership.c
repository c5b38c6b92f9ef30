/* SPDX-License-Identifier: BSD-2-Clause */
/* Nodes in one process: form, join, change, restart, fall silent, leave. */
#include "nodes.h"

struct trio {
	char dir[64], url[64];
	struct node p, t1, t2, p2;
};

/* On the heap, not the stack: after a failed test its nodes go on running. */
static struct trio *trio_begin(void)
{
	struct trio *x = calloc(1, sizeof(*x));
	int fd;

	ASSERT_TRUE(x != NULL);
	nodes_begin(x->dir);
	x->p = (struct node){.dir = x->dir, .id = "pPrimary1", .gateway = true};
	x->p2 = (struct node){.dir = x->dir, .id = "pSecond01", .gateway = true};
	x->t1 = (struct node){.dir = x->dir, .id = "tTarget01"};
	x->t2 = (struct node){.dir = x->dir, .id = "tTarget02"};
	fd = node_listen(&x->p.port[SMAP_NET_CONTROL]);
	close(fd);
	snprintf(x->url, sizeof(x->url), "http://127.0.0.1:%u", x->p.port[SMAP_NET_CONTROL]);
	x->p.primary_url = x->p2.primary_url = x->t1.primary_url = x->t2.primary_url = x->url;
	return x;
}

static void trio_end(struct trio *x)
{
	node_down(&x->t1);
	node_down(&x->t2);
	node_down(&x->p2);
	node_down(&x->p);
	nodes_end(x->dir);
	free(x);
}

static int add_bucket(void *arg, const struct bmd *now, struct bmd **ret)
{
	struct bmd_bucket b = {.cksum_type = "xxhash2"};

	snprintf(b.name.bucket, sizeof(b.name.bucket), "%s", (const char *)arg);
	strcpy(b.name.provider, "ais");
	return bmd_with_bucket(now, &b, ret);
}

static int create(struct node *n, const char *bucket)
{
	char name[SMAP_BUCKET_MAX + 1];

	strcpy(name, bucket);
	return cluster_change_bmd(n->c, add_bucket, name);
}

static void test_join(void)
{
	struct trio *x;

	x = trio_begin();
	node_up(&x->p);
	WAIT_FOR(cluster_ready(x->p.c) && cluster_started(x->p.c));
	ASSERT_TRUE(cluster_is_primary(x->p.c));
	ASSERT_EQ(node_smap_version(&x->p), 1);
	node_up(&x->t1);
	WAIT_FOR(cluster_ready(x->t1.c));
	ASSERT_TRUE(node_knows(&x->p, &x->t1));
	node_up(&x->p2);
	WAIT_FOR(cluster_ready(x->p2.c));
	/* the gateway answers only once the target has its key */
	ASSERT_TRUE(node_knows(&x->t1, &x->p2));
	ASSERT_TRUE(!cluster_is_primary(x->p2.c));
	ASSERT_EQ(node_smap_version(&x->p), 3);
	ASSERT_EQ(cluster_state_flags(x->t1.c), 6);
	trio_end(x);
}

static void test_change(void)
{
	struct bmd_name n = {"abc", "ais", "", ""};
	struct trio *x;
	struct bmd *b;

	x = trio_begin();
	node_up(&x->p);
	node_up(&x->t1);
	WAIT_FOR(cluster_ready(x->t1.c) && cluster_started(x->p.c));
	ASSERT_EQ(create(&x->p, "abc"), 0);
	/* acknowledged: it is there */
	b = cluster_bmd(x->t1.c);
	ASSERT_TRUE(bmd_find(b, &n) != NULL);
	ASSERT_EQ(bmd_version(b), 1);
	bmd_put(b);
	WAIT_FOR(x->t1.bmd_seen == 1);
	ASSERT_EQ(create(&x->t1, "nope"), -EAGAIN);
	ASSERT_EQ(create(&x->p, "abc"), -EEXIST);
	/* ready by a push, it joins with the answer to its request, a moment later */
	WAIT_FOR(cluster_pull(x->t1.c) == 0);
	trio_end(x);
}

static void test_restart_target(void)
{
	struct trio *x;
	int64_t v;

	x = trio_begin();
	node_up(&x->p);
	node_up(&x->t1);
	WAIT_FOR(cluster_ready(x->t1.c) && cluster_started(x->p.c));
	node_down(&x->t1);
	WAIT_FOR(cluster_silent(x->p.c, x->t1.id));
	/* a change does not wait for who is silent */
	v = mono_ns();
	ASSERT_EQ(create(&x->p, "abc"), 0);
	ASSERT_TRUE(mono_ns() - v < INT64_C(1000000000));
	v = node_smap_version(&x->p);
	node_up(&x->t1);
	WAIT_FOR(cluster_ready(x->t1.c));
	ASSERT_TRUE(node_knows(&x->p, &x->t1));
	ASSERT_EQ(node_smap_version(&x->p), v + 1);
	WAIT_FOR(!cluster_silent(x->p.c, x->t1.id));
	/* and is told of what it missed */
	WAIT_FOR(x->t1.bmd_seen == 1);
	trio_end(x);
}

static void test_restart_primary(void)
{
	struct trio *x;
	char uuid[SMAP_UUID_MAX + 1];
	struct smap *m;

	x = trio_begin();
	node_up(&x->p);
	node_up(&x->t1);
	node_up(&x->p2);
	WAIT_FOR(cluster_ready(x->t1.c) && cluster_ready(x->p2.c) && cluster_started(x->p.c));
	ASSERT_EQ(create(&x->p, "abc"), 0);
	m = cluster_smap(x->p.c);
	strcpy(uuid, smap_uuid(m));
	smap_put(m);
	node_down(&x->p);
	node_up(&x->p);
	WAIT_FOR(cluster_ready(x->p.c) && cluster_started(x->p.c));
	m = cluster_smap(x->p.c);
	ASSERT_STR(smap_uuid(m), uuid);
	ASSERT_EQ(smap_count(m, SMAP_ROLE_TARGET), 1);
	smap_put(m);
	/* pushed by proof: all who were heard have its new key */
	WAIT_FOR(node_knows(&x->t1, &x->p) && node_knows(&x->p2, &x->p));
	ASSERT_EQ(create(&x->p, "def"), 0);
	WAIT_FOR(x->t1.bmd_seen == 2 && x->p2.bmd_seen == 2);
	trio_end(x);
}

static bool has_bucket(struct node *n, const char *bucket)
{
	struct bmd_name name = {"", "ais", "", ""};
	struct bmd *b = cluster_bmd(n->c);
	bool has;

	strcpy(name.bucket, bucket);
	has = bmd_find(b, &name);
	bmd_put(b);
	return has;
}

/* The primary's newest files are damaged: members still have what they said. */
static void recover(bool known)
{
	static const char *const names[] = {"smap", "bmd"};
	struct trio *x;
	char path[128];
	size_t i;

	x = trio_begin();
	node_up(&x->p);
	node_up(&x->t1);
	WAIT_FOR(cluster_ready(x->t1.c) && cluster_started(x->p.c));
	if (known) { /* in the older map too */
		node_up(&x->p2);
		WAIT_FOR(cluster_ready(x->p2.c));
	}
	ASSERT_EQ(create(&x->p, "abc"), 0);
	ASSERT_EQ(create(&x->p, "def"), 0);
	node_down(&x->p);
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		snprintf(path, sizeof(path), "%s/%s/meta/%s.json", x->dir, x->p.id, names[i]);
		ASSERT_EQ(truncate(path, 100), 0);
	}
	node_up(&x->p);
	WAIT_FOR(cluster_ready(x->p.c) && node_knows(&x->p, &x->t1) && node_knows(&x->t1, &x->p));
	ASSERT_TRUE(has_bucket(&x->p, "def"));
	ASSERT_TRUE(!known || node_knows(&x->p2, &x->p));
	trio_end(x);
}

static void test_recover(void)
{
	recover(true);
}

static void test_recover_unknown(void)
{
	recover(false);
}

static void test_restart_all(void)
{
	struct trio *x;

	x = trio_begin();
	node_up(&x->p);
	node_up(&x->t1);
	node_up(&x->p2);
	WAIT_FOR(cluster_ready(x->t1.c) && cluster_ready(x->p2.c) && cluster_started(x->p.c));
	node_down(&x->p);
	node_down(&x->t1);
	node_down(&x->p2);
	node_up(&x->t1);
	node_up(&x->p2);
	/* what a target remembers is not enough to serve by */
	ASSERT_TRUE(!cluster_ready(x->t1.c));
	node_up(&x->p);
	WAIT_FOR(cluster_ready(x->p.c) && cluster_ready(x->t1.c) && cluster_ready(x->p2.c));
	WAIT_FOR(cluster_started(x->p.c) && !cluster_silent(x->p.c, x->t1.id) &&
		 !cluster_silent(x->p2.c, x->t1.id));
	ASSERT_TRUE(node_knows(&x->t1, &x->p) && node_knows(&x->t1, &x->p2));
	trio_end(x);
}

static void test_objects_hold(void)
{
	struct trio *x;

	x = trio_begin();
	node_up(&x->p);
	node_up(&x->t1);
	WAIT_FOR(cluster_ready(x->t1.c) && cluster_started(x->p.c));
	ASSERT_EQ(create(&x->p, "abc"), 0);
	x->t1.objects = true;
	ASSERT_TRUE(cluster_holds_objects(x->p.c));
	ASSERT_EQ(cluster_change_node(x->p.c, x->t1.id, SMAP_F_MAINTENANCE, 0, false), 0);
	ASSERT_EQ(cluster_state_flags(x->t1.c), 6 | 1 << 10);
	x->t1.asked = 0;
	node_up(&x->t2);
	WAIT_FOR(x->t1.asked > 0);
	ASSERT_EQ(node_smap_version(&x->p), 3);
	ASSERT_TRUE(!cluster_ready(x->t2.c));
	x->t1.objects = false;
	WAIT_FOR(cluster_ready(x->t2.c));
	trio_end(x);
}

static void test_remove(void)
{
	struct trio *x;
	struct smap *m;

	x = trio_begin();
	node_up(&x->p);
	node_up(&x->t1);
	WAIT_FOR(cluster_ready(x->t1.c) && cluster_started(x->p.c));
	ASSERT_EQ(cluster_change_node(x->p.c, "tNobody99", 0, 0, true), -ENOENT);
	ASSERT_EQ(cluster_change_node(x->p.c, x->p.id, 0, 0, true), -EBUSY);
	ASSERT_EQ(cluster_change_node(x->p.c, x->t1.id, 0, 0, true), 0);
	/* it was told, serves no more and stays away until it is restarted */
	ASSERT_TRUE(!cluster_ready(x->t1.c));
	m = cluster_smap(x->p.c);
	ASSERT_EQ(smap_count(m, SMAP_ROLE_TARGET), 0);
	smap_put(m);
	node_down(&x->t1);
	node_up(&x->t1);
	WAIT_FOR(cluster_ready(x->t1.c));
	trio_end(x);
}

static void test_other_secret(void)
{
	struct trio *x;
	char other[64], path[96];
	int fd;

	x = trio_begin();
	nodes_begin(other);
	snprintf(path, sizeof(path), "%s/secret", other);
	fd = open(path, O_WRONLY | O_TRUNC);
	ASSERT_EQ(write(fd, "another\n", 8), 8);
	close(fd);
	x->t1.dir = other;
	node_up(&x->p);
	WAIT_FOR(cluster_started(x->p.c));
	node_up(&x->t1);
	WAIT_FOR(metrics_read(x->p.metrics, METRIC_AUTH_DENIED_N) > 0);
	ASSERT_TRUE(!cluster_ready(x->t1.c));
	ASSERT_EQ(node_smap_version(&x->p), 1);
	trio_end(x);
	nodes_end(other);
}

/* GET of a URL; the status, and the Location if asked for. */
static int fetch(const char *url, const char *header, const char *value, char *location)
{
	struct http_call call;
	int status;

	ASSERT_EQ(http_call_init(&call, "GET", url, 5000), 0);
	if (header)
		ASSERT_EQ(http_call_header(&call, header, "%s", value), 0);
	ASSERT_EQ(http_call_all(&call, 1), 0);
	ASSERT_EQ(call.err, 0);
	status = call.status;
	if (location)
		ASSERT_TRUE(http_call_resp_header(&call, "Location", location, 1024));
	http_call_deinit(&call);
	return status;
}

static void test_redirect(void)
{
	char url[256], loc[1024], bad[1100], *at;
	struct trio *x;

	x = trio_begin();
	node_up(&x->p);
	node_up(&x->t1);
	WAIT_FOR(cluster_ready(x->t1.c) && cluster_started(x->p.c));
	snprintf(url, sizeof(url), "http://127.0.0.1:%u/v1/objects/abc/a%%20%%C3%%BC?provider=ais",
		 x->p.port[0]);
	ASSERT_EQ(fetch(url, NULL, NULL, loc), 307);
	ASSERT_EQ(fetch(loc, NULL, NULL, NULL), 200);
	/* the same word for another name, another nonce, or by nobody, is none */
	snprintf(bad, sizeof(bad), "%s", loc);
	at = strstr(bad, "/abc/a");
	at[5] = 'b';
	ASSERT_EQ(fetch(bad, NULL, NULL, NULL), 401);
	snprintf(bad, sizeof(bad), "%s1", loc);
	ASSERT_EQ(fetch(bad, NULL, NULL, NULL), 401);
	snprintf(bad, sizeof(bad), "%s&pid=pNobody99", loc);
	ASSERT_EQ(fetch(bad, NULL, NULL, NULL), 401);
	snprintf(bad, sizeof(bad), "%s&vpams=!", loc);
	ASSERT_EQ(fetch(bad, NULL, NULL, NULL), 400);
	snprintf(url, sizeof(url), "http://127.0.0.1:%u/v1/objects/abc/o", x->t1.port[0]);
	ASSERT_EQ(fetch(url, NULL, NULL, NULL), 403);
	ASSERT_EQ(fetch(url, "Ais-Caller-Id", x->p.id, NULL), 403);
	snprintf(url, sizeof(url), "http://127.0.0.1:%u/v1/objects/abc/o", x->t1.port[2]);
	ASSERT_EQ(fetch(url, NULL, NULL, NULL), 400);
	ASSERT_EQ(fetch(url, "Ais-Caller-Id", x->p.id, NULL), 400);
	/* once the target is silent the gateway says so */
	node_down(&x->t1);
	WAIT_FOR(cluster_silent(x->p.c, x->t1.id));
	snprintf(url, sizeof(url), "http://127.0.0.1:%u/v1/objects/abc/o", x->p.port[0]);
	ASSERT_EQ(fetch(url, NULL, NULL, NULL), 503);
	trio_end(x);
}

static void test_client(void)
{
	ASSERT_TRUE(sodium_init() >= 0);
	ASSERT_EQ(http_client_init(), 0);
}

UNIT_MAIN("membership", {"set-up", test_client}, {"form and join", test_join},
	  {"change of buckets", test_change}, {"target restarts", test_restart_target},
	  {"primary restarts", test_restart_primary},
	  {"primary loses its last versions", test_recover},
	  {"primary forgets its only target", test_recover_unknown},
	  {"all restart", test_restart_all}, {"objects hold their targets", test_objects_hold},
	  {"removal", test_remove}, {"another secret", test_other_secret},
	  {"redirects and the perimeter", test_redirect})
