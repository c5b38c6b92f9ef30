/* SPDX-License-Identifier: BSD-2-Clause */
/* This node in the cluster: set-up, its thread, and what it says of itself. */
#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sodium.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

#include "base/text.h"
#include "cluster/impl.h"
#include "log.h"

#define RETRY_MS 500 /* a join that failed */
#define STATE_CLUSTER_STARTED BIT64(1)
#define STATE_NODE_STARTED BIT64(2)
#define STATE_MAINTENANCE BIT64(10)
#define DISK_QUEUE 1024
#define JOB_ID_CHARS 9

__attribute__((format(printf, 3, 4))) static int bad(char *err, size_t err_size, const char *fmt,
						     ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(err, err_size, fmt, ap);
	va_end(ap);
	return -EINVAL;
}

/* ---- the node's own record ---- */

/* An address that others can reach, where the config leaves the host out. */
static void own_address(char out[INET_ADDRSTRLEN])
{
	struct ifaddrs *list, *i;

	strcpy(out, "127.0.0.1");
	if (getifaddrs(&list) < 0)
		return;
	for (i = list; i; i = i->ifa_next) {
		const struct sockaddr_in *in = (const struct sockaddr_in *)i->ifa_addr;

		if (!in || in->sin_family != AF_INET || (i->ifa_flags & IFF_LOOPBACK) ||
		    !(i->ifa_flags & IFF_UP))
			continue;
		inet_ntop(AF_INET, &in->sin_addr, out, INET_ADDRSTRLEN);
		break;
	}
	freeifaddrs(list);
}

/* The first of a comma list, else the fallback. */
static void pick_host(const struct config *f, const char *key, const char *fallback,
		      char out[SMAP_HOST_MAX + 1])
{
	const char *text = config_text(f, key);
	size_t n = strcspn(text, ", ");

	if (!n || n > SMAP_HOST_MAX || (n == 7 && !memcmp(text, "0.0.0.0", n)))
		snprintf(out, SMAP_HOST_MAX + 1, "%s", fallback);
	else
		snprintf(out, SMAP_HOST_MAX + 1, "%.*s", (int)n, text);
}

static int make_self(struct cluster *c, char *err, size_t err_size)
{
	static const char *const hosts[] = {"host_net.hostname", "host_net.hostname_intra_control",
					    "host_net.hostname_intra_data"};
	static const char *const ports[] = {"host_net.port", "host_net.port_intra_control",
					    "host_net.port_intra_data"};
	const char *scheme = config_bool(c->o.config, "net.http.use_https") ? "https" : "http";
	char host[SMAP_HOST_MAX + 1], fallback[SMAP_HOST_MAX + 1], own[INET_ADDRSTRLEN];
	int i, r;

	own_address(own);
	strcpy(fallback, own);
	for (i = 0; i < SMAP_NET_NR; i++) {
		int64_t port = config_int(c->o.config, ports[i]);

		pick_host(c->o.config, hosts[i], fallback, host);
		strcpy(fallback, host);
		if (i == SMAP_NET_DATA && !port)
			continue;
		r = smap_node_set_net(&c->self, (enum smap_netid)i, scheme, host, (uint16_t)port);
		if (r < 0)
			return bad(err, err_size, "%s or %s: \"%s\" port %lld is no address",
				   hosts[i], ports[i], host, (long long)port);
	}
	c->self.has_key = true;
	memcpy(c->self.key, c->id.verify_key, sizeof(c->self.key));
	smap_node_name(&c->self, c->name, sizeof(c->name));
	return 0;
}

static bool is_loopback(const char *host)
{
	return !strcasecmp(host, "localhost") || !strcmp(host, "127.0.0.1") || !strcmp(host, "::1");
}

/* "scheme://host:port" or "scheme://[v6]:port". */
static int split_url(const char *url, char host[SMAP_HOST_MAX + 1], uint64_t *ret_port)
{
	const char *p = strstr(url, "://"), *end, *port;

	if (!p)
		return -EINVAL;
	p += 3;
	end = *p == '[' ? strchr(p, ']') : p + strcspn(p, ":/");
	if (!end)
		return -EINVAL;
	port = strchr(end, ':');
	p += *p == '[';
	if (!port || end == p || end - p > SMAP_HOST_MAX || parse_u64(port + 1, ret_port) < 0)
		return -EINVAL;
	snprintf(host, SMAP_HOST_MAX + 1, "%.*s", (int)(end - p), p);
	return 0;
}

static int find_primary(struct cluster *c, char *err, size_t err_size)
{
	const struct smap_net *control = &c->self.net[SMAP_NET_CONTROL];
	const char *url = config_text(c->o.config, "proxy.primary_url");
	char host[SMAP_HOST_MAX + 1];
	size_t n = strlen(url);
	uint64_t port;

	if (!n && c->role == SMAP_ROLE_GATEWAY)
		url = control->url;
	n = strlen(url);
	while (n && url[n - 1] == '/')
		n--;
	if (n >= sizeof(c->primary_url))
		return bad(err, err_size, "proxy.primary_url: longer than %zu characters",
			   sizeof(c->primary_url) - 1);
	snprintf(c->primary_url, sizeof(c->primary_url), "%.*s", (int)n, url);
	if (split_url(c->primary_url, host, &port) < 0)
		return bad(err, err_size,
			   "proxy.primary_url \"%s\": the primary's intra-control address is "
			   "wanted, as http://10.0.0.1:9080",
			   c->primary_url);
	c->primary = c->role == SMAP_ROLE_GATEWAY && port == control->port &&
		     (!strcasecmp(host, control->host) ||
		      (is_loopback(host) && is_loopback(control->host)));
	return 0;
}

/* ---- making and freeing ---- */

static int init_store(struct cluster *c, char *err, size_t err_size)
{
	const char *dir = config_text(c->o.config, "state_dir");
	autobuf struct buf path = BUF_INIT;
	int r;

	if (mkdir(dir, 0700) < 0 && errno != EEXIST) {
		r = -errno;
		bad(err, err_size, "state_dir %s: %s", dir, strerror(-r));
		return r;
	}
	buf_fmt(&path, "%s/meta", dir);
	if (path.err)
		return path.err;
	r = meta_open_embedded(path.data, &c->meta);
	if (r < 0)
		bad(err, err_size, "%s: %s", path.data, strerror(-r));
	return r;
}

static int init_identity(struct cluster *c, char *err, size_t err_size)
{
	const struct config *f = c->o.config;
	const char *role = config_text(f, "role");
	char id[SMAP_ID_MAX + 1];
	int r;

	c->role = !strcmp(role, "gateway") ? SMAP_ROLE_GATEWAY : SMAP_ROLE_TARGET;
	r = identity_init(&c->id, config_text(f, "auth.intra_cluster.node_join_secret_path"), err,
			  err_size);
	if (r < 0)
		return r;
	c->nonce = randombytes_uniform(1U << 16);
	r = identity_node_id(config_text(f, "node_id"), config_text(f, "state_dir"), c->role, id,
			     err, err_size);
	if (r < 0)
		return r;
	return smap_node_init(&c->self, id, c->role);
}

static void init_locks(struct cluster *c)
{
	pthread_condattr_t mono;

	pthread_rwlock_init(&c->snap_lock, NULL);
	pthread_mutex_init(&c->change_lock, NULL);
	pthread_mutex_init(&c->peer_lock, NULL);
	pthread_mutex_init(&c->lock, NULL);
	pthread_condattr_init(&mono);
	pthread_condattr_setclock(&mono, CLOCK_MONOTONIC);
	pthread_cond_init(&c->cond, &mono);
	pthread_condattr_destroy(&mono);
}

static int init_parts(struct cluster *c, char *err, size_t err_size)
{
	int r;

	snprintf(err, err_size, "cluster: out of memory");
	r = init_store(c, err, err_size);
	if (!r)
		r = init_identity(c, err, err_size);
	if (!r)
		r = make_self(c, err, err_size);
	if (!r)
		r = find_primary(c, err, err_size);
	if (!r)
		r = snap_load(c, err, err_size);
	if (!r)
		r = pool_new("cluster-disk", 1, DISK_QUEUE, &c->disk);
	if (!r)
		r = pool_new("cluster-event", 1, DISK_QUEUE, &c->events);
	return r;
}

int cluster_new(const struct cluster_opts *o, struct cluster **ret, char *err, size_t err_size)
{
	struct cluster *c;
	int r;

	if (o->sz != sizeof(*o))
		return bad(err, err_size, "cluster: wrong size of its options");
	c = calloc(1, sizeof(*c));
	if (!c)
		return -ENOMEM;
	c->o = *o;
	config_get(c->o.config);
	c->start_ns = mono_ns();
	init_locks(c);
	r = init_parts(c, err, err_size);
	if (r < 0) {
		cluster_free(c);
		return r;
	}
	*ret = c;
	return 0;
}

void cluster_free(struct cluster *c)
{
	if (!c)
		return;
	cluster_stop(c);
	snap_deinit(c);
	peers_deinit(c);
	meta_free(c->meta);
	identity_deinit(&c->id);
	config_put(c->o.config);
	pthread_cond_destroy(&c->cond);
	pthread_mutex_destroy(&c->lock);
	pthread_mutex_destroy(&c->peer_lock);
	pthread_mutex_destroy(&c->change_lock);
	pthread_rwlock_destroy(&c->snap_lock);
	free(c);
}

/* ---- the thread ---- */

void cluster_kick(struct cluster *c)
{
	pthread_mutex_lock(&c->lock);
	c->kicked = true;
	pthread_cond_broadcast(&c->cond);
	pthread_mutex_unlock(&c->lock);
}

/* Wait until kicked, or so long. Return: whether to go on. */
static bool pause_for(struct cluster *c, int64_t ns)
{
	struct timespec until;
	bool go_on;

	clock_gettime(CLOCK_MONOTONIC, &until);
	ns += until.tv_nsec;
	until.tv_sec += ns / 1000000000;
	until.tv_nsec = ns % 1000000000;
	pthread_mutex_lock(&c->lock);
	while (!c->kicked && !c->stopping) {
		if (pthread_cond_timedwait(&c->cond, &c->lock, &until) == ETIMEDOUT)
			break;
	}
	c->kicked = false;
	go_on = !c->stopping;
	pthread_mutex_unlock(&c->lock);
	return go_on;
}

/* Return: how long to wait after it, ns. */
static int64_t primary_turn(struct cluster *c)
{
	if (!c->joined && primary_begin(c) < 0)
		return RETRY_MS * CLUSTER_NS_MS;
	primary_tick(c);
	return MIN(peers_interval_ns(c, SMAP_ROLE_TARGET) / 4, INT64_C(1000000000));
}

static int64_t member_turn(struct cluster *c)
{
	int64_t interval = peers_interval_ns(c, c->role);

	if (c->removed)
		return interval;
	if (!c->joined)
		return join_once(c) < 0 ? RETRY_MS * CLUSTER_NS_MS : interval;
	if (keepalive_once(c, MAX(interval / CLUSTER_NS_MS, INT64_C(1000))) < 0)
		return MIN(interval, RETRY_MS * CLUSTER_NS_MS);
	return interval;
}

static void *cluster_main(void *arg)
{
	struct cluster *c = arg;
	int64_t wait;

	do {
		wait = c->primary ? primary_turn(c) : member_turn(c);
		metrics_set_state_flags(c->o.metrics, cluster_state_flags(c));
	} while (pause_for(c, wait));
	return NULL;
}

int cluster_start(struct cluster *c)
{
	int r = pthread_create(&c->thread, NULL, cluster_main, c);

	if (r)
		return -r;
	pthread_setname_np(c->thread, "cluster");
	c->running = true;
	return 0;
}

/* What is under way ends; later changes are not told to a daemon that goes away. */
static void stop_pools(struct cluster *c)
{
	struct pool *events;

	pool_free(c->disk);
	c->disk = NULL;
	pthread_mutex_lock(&c->change_lock);
	events = c->events;
	c->events = NULL;
	pthread_mutex_unlock(&c->change_lock);
	pool_free(events);
}

void cluster_stop(struct cluster *c)
{
	if (c->running) {
		pthread_mutex_lock(&c->lock);
		c->stopping = true;
		pthread_cond_broadcast(&c->cond);
		pthread_mutex_unlock(&c->lock);
		pthread_join(c->thread, NULL);
		c->running = false;
	}
	stop_pools(c);
}

/* ---- what it says of itself ---- */

const char *cluster_node_id(const struct cluster *c)
{
	return c->self.id;
}

enum smap_role cluster_role(const struct cluster *c)
{
	return c->role;
}

const char *cluster_node_name(const struct cluster *c)
{
	return c->name;
}

const struct smap_node *cluster_self(const struct cluster *c)
{
	return &c->self;
}

bool cluster_is_primary(struct cluster *c)
{
	return c->primary;
}

bool cluster_ready(struct cluster *c)
{
	return c->ready;
}

bool cluster_started(struct cluster *c)
{
	return c->started;
}

int64_t cluster_uptime_ns(const struct cluster *c)
{
	return mono_ns() - c->start_ns;
}

uint64_t cluster_state_flags(struct cluster *c)
{
	uint64_t flags =
		(c->started ? STATE_CLUSTER_STARTED : 0) | (c->ready ? STATE_NODE_STARTED : 0);
	struct smap *m = cluster_smap(c);
	const struct smap_node *me = smap_find(m, c->self.id);

	if (me && (me->flags & SMAP_F_INACTIVE))
		flags |= STATE_MAINTENANCE;
	if (c->o.node_flags)
		flags |= c->o.node_flags(c->o.ctx);
	smap_put(m);
	return flags;
}

void cluster_print_info(struct cluster *c, struct buf *out)
{
	const struct smap_node *p;
	struct doc d;

	snap_newer(c, NULL, &d);
	p = smap_primary(d.smap);
	buf_fmt(out,
		"{\"smap\":{\"Primary\":{\"pub_url\":\"%s\",\"control_url\":\"%s\",\"id\":\"%s\"},"
		"\"uuid\":\"%s\",\"version\":\"%lld\"},",
		p ? p->net[SMAP_NET_PUBLIC].url : "", p ? p->net[SMAP_NET_CONTROL].url : "",
		p ? p->id : "", smap_uuid(d.smap), (long long)smap_version(d.smap));
	buf_fmt(out,
		"\"bmd\":{\"uuid\":\"%s\",\"version\":\"%lld\"},\"rmd\":{\"version\":\"0\"},"
		"\"config\":{\"version\":\"%lld\"},\"etlmd\":{\"version\":\"0\"},\"flags\":%llu}",
		bmd_uuid(d.bmd), (long long)bmd_version(d.bmd), (long long)config_version(d.conf),
		(unsigned long long)cluster_state_flags(c));
	doc_deinit(&d);
}

void cluster_make_id(char out[16])
{
	identity_random(out, JOB_ID_CHARS);
}
