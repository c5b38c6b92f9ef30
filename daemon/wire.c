/* SPDX-License-Identifier: BSD-2-Clause */
/* Puts the rooms together: store, cluster, jobs, API, HTTP server, loops; runs and stops them. */
#include "wire.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <systemd/sd-daemon.h>

#include "api/api.h"
#include "base/bits.h"
#include "base/cleanup.h"
#include "cluster/cluster.h"
#include "http/addr.h"
#include "http/client.h"
#include "http/http.h"
#include "jobs/jobs.h"
#include "jobs/purge.h"
#include "log.h"
#include "loop/loop.h"
#include "loop/pool.h"
#include "metrics.h"
#include "steer/steer.h"
#include "store/admin.h"
#include "store/store.h"

#define WIRE_WORKERS_MAX 256
#define WIRE_JOB_THREADS 4
#define WIRE_JOBS_MAX 10000

struct wire_worker {
	struct wire *wire;
	struct loop *loop;
	struct loop_work drain;
	pthread_t thread;
	bool started;
};

struct wire {
	struct config *cfg;
	struct metrics *metrics;
	struct pool *io, *call;
	struct store *store;
	struct cluster *cluster;
	struct jobs *jobs;
	struct api api;
	struct http_route routes[API_ROUTES_MAX];
	struct http_server *server;
	struct loop *control; /* of the main thread: control listener, signals */
	struct wire_worker workers[WIRE_WORKERS_MAX];
	unsigned int n_workers;
	unsigned int undrained; /* loops, counted on the control loop */
	struct loop_work drained;
	struct loop_fd signals;
	bool stopping;
	char err[512];
};

/* ---- what other rooms tell the node ---- */

static void on_bmd_changed(void *ctx, const struct bmd *old, const struct bmd *now)
{
	struct wire *w = ctx;

	if (w->store)
		purge_buckets(w->jobs, w->store, old, now);
}

static void apply_log_level(const struct config *cfg)
{
	static const enum log_level levels[] = {LOG_ERROR, LOG_ERROR, LOG_WARN, LOG_INFO};
	int64_t level = config_int(cfg, "log.level");

	log_set_level(level < (int64_t)ARRAY_SIZE(levels) ? levels[level] : LOG_DEBUG);
}

static struct store_limits limits_of(const struct config *c)
{
	return (struct store_limits){
		.out_of_space = (unsigned int)config_int(c, "space.out_of_space"),
		.high = (unsigned int)config_int(c, "space.highwm"),
		.scrub_interval_ns = config_ns(c, "scrub.interval"),
		.scrub_rate = (uint64_t)config_size(c, "scrub.rate"),
	};
}

static void on_config_changed(void *ctx, const struct config *now)
{
	struct wire *w = ctx;
	struct store_limits l = limits_of(now);

	apply_log_level(now);
	if (w->store)
		store_set_limits(w->store, &l);
}

static uint64_t node_flags(void *ctx)
{
	struct wire *w = ctx;

	return w->store ? store_alerts(w->store) : 0;
}

/* The store asks for the placement name of a bucket. */
static int find_bucket(void *ctx, uint64_t bid, char *uname, size_t size)
{
	struct bmd *m = cluster_bmd(((struct wire *)ctx)->cluster);
	const struct bmd_bucket *b = m ? bmd_find_bid(m, bid) : NULL;

	if (b)
		snprintf(uname, size, "%s", b->placement);
	bmd_put(m);
	return b ? 0 : -ENOENT;
}

/* A mountpath came back: buckets may have gone without it. */
static void path_back(void *ctx)
{
	struct wire *w = ctx;
	struct bmd *now = cluster_bmd(w->cluster);

	if (now && cluster_ready(w->cluster))
		purge_buckets(w->jobs, w->store, NULL, now);
	bmd_put(now);
}

static void stop_at_any(void *arg, uint64_t bid)
{
	(void)bid;
	*(bool *)arg = true;
}

static bool has_objects(void *ctx)
{
	struct wire *w = ctx;
	bool any = false;

	/* an index that can not be read may hold objects */
	if (w->store && store_bucket_ids(w->store, stop_at_any, &any) < 0)
		return true;
	return any;
}

static bool on_admit(void *ctx, struct http_txn *t)
{
	return cluster_admit(((struct wire *)ctx)->cluster, t);
}

static void on_before_head(void *ctx, struct http_txn *t)
{
	steer_before_head(((struct wire *)ctx)->metrics, t);
}

static void on_after(void *ctx, struct http_txn *t, int err)
{
	steer_after(((struct wire *)ctx)->metrics, t, err);
}

/* ---- making ---- */

static int failed(struct wire *w, const char *what, int r)
{
	log_error("start.failed", "what=%s err=\"%s\"", what, *w->err ? w->err : strerror(-r));
	return r;
}

static int make_store(struct wire *w)
{
	const char *paths[STORE_PATHS_MAX];
	struct store_opts o = {
		.sz = sizeof(o),
		.paths = paths,
		.n_paths = config_paths(w->cfg),
		.node_id = cluster_node_id(w->cluster),
		.sync = !strcmp(config_text(w->cfg, "store.durability"), "commit"),
		.map_bytes = (uint64_t)config_size(w->cfg, "store.mdb_size"),
		.batch = (unsigned int)config_int(w->cfg, "store.commit_batch"),
		.io = w->io,
		.metrics = w->metrics,
		.state_dir = config_text(w->cfg, "state_dir"),
		.limits = limits_of(w->cfg),
		.bucket = find_bucket,
		.path_back = path_back,
		.ctx = w,
	};
	size_t i;

	if (o.n_paths > STORE_PATHS_MAX) {
		snprintf(w->err, sizeof(w->err), "fspaths: %zu mountpaths, at most %d", o.n_paths,
			 STORE_PATHS_MAX);
		return -E2BIG;
	}
	for (i = 0; i < o.n_paths; i++)
		paths[i] = config_path(w->cfg, i, NULL);
	return store_open(&o, &w->store, w->err, sizeof(w->err));
}

static int make_pools(struct wire *w)
{
	size_t queue = (size_t)config_int(w->cfg, "pool.queue_max");
	int r = pool_new("io", (unsigned int)config_int(w->cfg, "pool.io_threads"), queue, &w->io);

	if (r < 0)
		return r;
	return pool_new("call", (unsigned int)config_int(w->cfg, "pool.call_threads"), queue,
			&w->call);
}

static int make_cluster(struct wire *w)
{
	struct cluster_opts o = {
		.sz = sizeof(o),
		.config = w->cfg,
		.metrics = w->metrics,
		.call = w->call,
		.bmd_changed = on_bmd_changed,
		.config_changed = on_config_changed,
		.has_objects = has_objects,
		.node_flags = node_flags,
		.ctx = w,
	};

	int r = cluster_new(&o, &w->cluster, w->err, sizeof(w->err));

	return r ? r : metrics_name_node(w->metrics, cluster_node_id(w->cluster));
}

static int make_server(struct wire *w)
{
	const struct config *c = w->cfg;
	struct http_server_opts o = {
		.sz = sizeof(o),
		.node_name = cluster_node_name(w->cluster),
		.gateway = cluster_role(w->cluster) == SMAP_ROLE_GATEWAY,
		.routes = w->routes,
		.n_routes = api_routes(&w->api, w->routes, API_ROUTES_MAX),
		.limits = http_limits_of(c),
		.metrics = w->metrics,
		.io = w->io,
		.admit = on_admit,
		.before_head = on_before_head,
		.after = on_after,
		.fallback = api_fallback,
		.ctx = w,
	};

	metrics_name_paths(w->metrics, steer_path_names, STEER_PATH_NR, steer_reason_names,
			   STEER_REASON_NR);
	return http_server_new(&o, &w->server);
}

static int make_api(struct wire *w)
{
	struct jobs_opts jo = {
		.sz = sizeof(jo),
		.threads = WIRE_JOB_THREADS,
		.keep_ns = config_ns(w->cfg, "jobs.keep"),
		.max = WIRE_JOBS_MAX,
	};
	int r = jobs_new(&jo, &w->jobs);

	if (r < 0)
		return r;
	w->api = (struct api){
		.cluster = w->cluster,
		.store = w->store,
		.jobs = w->jobs,
		.metrics = w->metrics,
		.io = w->io,
		.call = w->call,
	};
	return api_init(&w->api);
}

/* ---- listeners ---- */

static int listen_on(struct wire *w, enum smap_netid net, struct loop *l)
{
	autofd fd = -1;
	int r;

	r = http_addr_open(w->cfg, net, net != SMAP_NET_CONTROL, &fd, w->err, sizeof(w->err));
	if (r < 0)
		return r;
	r = http_listen(w->server, l, net, fd);
	if (!r)
		take_fd(&fd);
	return r;
}

static int make_listeners(struct wire *w)
{
	unsigned int i;
	int r = http_addr_probe(w->cfg, w->err, sizeof(w->err));

	if (!r)
		r = listen_on(w, SMAP_NET_CONTROL, w->control);
	for (i = 0; !r && i < w->n_workers; i++) {
		r = listen_on(w, SMAP_NET_PUBLIC, w->workers[i].loop);
		if (!r && !http_addr_absent(w->cfg, SMAP_NET_DATA))
			r = listen_on(w, SMAP_NET_DATA, w->workers[i].loop);
	}
	return r;
}

/* ---- loops ---- */

static unsigned int count_workers(const struct wire *w)
{
	int64_t n = config_int(w->cfg, "workers");
	cpu_set_t set;

	if (!n)
		n = sched_getaffinity(0, sizeof(set), &set) < 0 ? 1 : CPU_COUNT(&set);
	return (unsigned int)MIN(n, (int64_t)WIRE_WORKERS_MAX);
}

static int make_loops(struct wire *w)
{
	unsigned int i, n = count_workers(w);
	int r = loop_new("control", &w->control);

	for (i = 0; !r && i < n; i++) {
		char name[24];

		snprintf(name, sizeof(name), "worker%u", i);
		w->workers[i].wire = w;
		r = loop_new(name, &w->workers[i].loop);
		if (!r)
			w->n_workers++;
	}
	return r;
}

static void *worker_main(void *arg)
{
	struct wire_worker *k = arg;
	int r = loop_run(k->loop);

	if (r < 0)
		log_error("worker.failed", "err=\"%s\"", strerror(-r));
	return NULL;
}

static int start_workers(struct wire *w)
{
	unsigned int i;
	int r;

	for (i = 0; i < w->n_workers; i++) {
		r = pthread_create(&w->workers[i].thread, NULL, worker_main, &w->workers[i]);
		if (r)
			return -r;
		w->workers[i].started = true;
	}
	return 0;
}

static void stop_workers(struct wire *w)
{
	unsigned int i;

	for (i = 0; i < w->n_workers; i++) {
		if (!w->workers[i].started)
			continue;
		loop_stop(w->workers[i].loop);
		pthread_join(w->workers[i].thread, NULL);
	}
}

/* ---- stopping ---- */

static void one_drained(struct wire *w)
{
	if (--w->undrained == 0)
		loop_stop(w->control);
}

/* A worker's loop is empty: told on the control loop, where they are counted. */
struct drained {
	struct loop_work work;
	struct wire *wire;
};

static void worker_drained_on_control(struct loop_work *work)
{
	struct drained *d = container_of(work, struct drained, work);

	one_drained(d->wire);
	free(d);
}

static void worker_drained(void *arg)
{
	struct wire_worker *k = arg;
	struct drained *d = calloc(1, sizeof(*d));

	if (!d) { /* the limit of the stop is void then: end the hard way */
		loop_stop(k->wire->control);
		return;
	}
	d->work.fn = worker_drained_on_control;
	d->wire = k->wire;
	loop_post(k->wire->control, &d->work);
}

static void control_drained(void *arg)
{
	one_drained(arg);
}

static uint64_t stop_limit(const struct wire *w)
{
	return (uint64_t)config_ms(w->cfg, "http.stop_timeout");
}

static void worker_drain(struct loop_work *work)
{
	struct wire_worker *k = container_of(work, struct wire_worker, drain);

	http_drain(k->wire->server, k->loop, stop_limit(k->wire), worker_drained, k);
}

static void begin_stop(struct wire *w)
{
	unsigned int i;

	w->stopping = true;
	log_info("stop.begin", "limit_ms=%llu", (unsigned long long)stop_limit(w));
	sd_notify(0, "STOPPING=1");
	w->undrained = w->n_workers + 1;
	for (i = 0; i < w->n_workers; i++) {
		w->workers[i].drain.fn = worker_drain;
		loop_post(w->workers[i].loop, &w->workers[i].drain);
	}
	http_drain(w->server, w->control, stop_limit(w), control_drained, w);
}

static void on_signal(struct loop_fd *f, uint32_t events)
{
	struct wire *w = container_of(f, struct wire, signals);
	struct signalfd_siginfo si;

	if (read(f->fd, &si, sizeof(si)) != sizeof(si))
		return;
	if (w->stopping) {
		log_warn("stop.forced", "signal=%u", si.ssi_signo);
		_exit(1);
	}
	begin_stop(w);
}

static int make_signals(struct wire *w)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	w->signals.fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	if (w->signals.fd < 0)
		return -errno;
	w->signals.events = EPOLLIN;
	w->signals.cb = on_signal;
	return loop_fd_add(w->control, &w->signals);
}

/* Before any thread: signals go to the signalfd; a core dump would hold keys and the secret. */
static void settle_process(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGHUP, SIG_IGN); /* the terminal it was started from may go */
	prctl(PR_SET_DUMPABLE, 0);
}

/* ---- all of it ---- */

static const struct {
	const char *what;
	int (*make)(struct wire *w);
} steps[] = {
	{"pools", make_pools},	    {"cluster", make_cluster},
	{"loops", make_loops},	    {"store", make_store},
	{"api", make_api},	    {"server", make_server},
	{"signals", make_signals},  {"listeners", make_listeners},
	{"workers", start_workers},
};

static int make_all(struct wire *w)
{
	bool gateway = !strcmp(config_text(w->cfg, "role"), "gateway");
	size_t i;
	int r;

	for (i = 0; i < ARRAY_SIZE(steps); i++) {
		if (gateway && steps[i].make == make_store)
			continue;
		r = steps[i].make(w);
		if (r < 0)
			return failed(w, steps[i].what, r);
	}
	return 0;
}

static void unmake(struct wire *w)
{
	unsigned int i;

	stop_workers(w);
	if (w->cluster)
		cluster_stop(w->cluster);
	jobs_free(w->jobs);
	pool_free(w->call);
	store_close(w->store); /* waits for what is under way on the io pool */
	pool_free(w->io);
	http_server_free(w->server);
	api_deinit(&w->api);
	cluster_free(w->cluster);
	if (w->signals.loop)
		loop_fd_del(&w->signals);
	if (w->signals.fd >= 0)
		close(w->signals.fd);
	for (i = 0; i < w->n_workers; i++)
		loop_free(w->workers[i].loop);
	loop_free(w->control);
	metrics_free(w->metrics);
}

static int serve(struct wire *w)
{
	int r = cluster_start(w->cluster);

	if (r < 0)
		return failed(w, "cluster", r);
	log_info("start", "node=%s role=%s workers=%u", cluster_node_name(w->cluster),
		 config_text(w->cfg, "role"), w->n_workers);
	sd_notify(0, "READY=1");
	return loop_run(w->control);
}

int wire_run(struct config *cfg)
{
	struct wire *w = calloc(1, sizeof(*w));
	bool gateway = !strcmp(config_text(cfg, "role"), "gateway");
	int r;

	if (!w || http_client_init() < 0) {
		free(w);
		return 1;
	}
	settle_process();
	apply_log_level(cfg);
	w->cfg = cfg;
	w->signals.fd = -1;
	r = metrics_new(config_text(cfg, "node_id"), gateway, &w->metrics);
	if (!r)
		r = make_all(w);
	if (!r)
		r = serve(w);
	unmake(w);
	http_client_exit();
	r = r < 0 ? (!w->cluster && r == -EINVAL ? 2 : 1) : 0;
	log_info("stop", "status=%d", r);
	free(w);
	return r;
}
