/* SPDX-License-Identifier: BSD-2-Clause */
/* scale: cost of a request while one thing grows. rss: memory of an idle target. */
#include <errno.h>
#include <inttypes.h>

#include "base/bits.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "cmp.h"
#include "lab.h"
#include "load.h"
#include "pair.h"

#define WARM_NS INT64_C(100000000)
#define SIZE 4096
#define CONNECTIONS 16
#define OBJECTS 128
#define RSS_CONNECTIONS 1000
#define PLAN_MAX 65536 /* names asked for in turn, spread over all there are */

static const unsigned int connections[] = {1, 16, 128, 1000, 2000};

static void fill_plan(struct lab *lab, struct plan *p, const char *method, unsigned int objects)
{
	unsigned int n = MIN(objects, (unsigned int)PLAN_MAX), i;
	uint64_t at = 0;
	char path[128];

	plan_init(p, method, lab->to_target.host);
	for (i = 0; i < n; i++) {
		/* a step that shares no factor with powers of ten visits all, far apart */
		at = (at + 7919 * (uint64_t)(objects / n) + 1) % objects;
		snprintf(path, sizeof(path), "/v1/objects/" LAB_BUCKET "/scale/%07" PRIu64, at);
		plan_add(p, path, NULL);
	}
}

struct scale_case {
	const char *name, *method, *grows;
	unsigned int connections, objects;
	uint64_t value;
};

static int run_case(struct lab *lab, const struct scale_case *c)
{
	autoclean(meter_deinit) struct meter meter = METER_INIT;
	autoclean(plan_deinit) struct plan p = {};
	autofree struct load_result *res = malloc(sizeof(*res));
	struct load_opts o = {.plan = &p,
			      .to = &lab->to_target,
			      .connections = c->connections,
			      .warm_ns = WARM_NS,
			      .limit_ns = lab->o.round_ns,
			      .status = 200,
			      .server = &meter};
	int r;

	fill_plan(lab, &p, c->method, c->objects);
	lab_pin(lab->cpu_server, lab->spread ? lab->cpu_other : lab->cpu_server);
	r = res ? meter_add_session(&meter, lab->target.pid) : -ENOMEM;
	r = r ? r : load_run(&o, res, &lab->why);
	if (r < 0 || !res->requests)
		return lab_failed(lab, c->name);
	bench_case(lab->out, c->name);
	bench_u64(lab->out, c->grows, c->value);
	bench_tenths(lab->out, "requests_per_s",
		     (double)res->requests / ((double)res->wall_ns / 1e9));
	bench_ratio(lab->out, "cpu_us", (double)res->cpu_ns / 1e3 / (double)res->requests);
	bench_tenths(lab->out, "p50_us", (double)hist_quantile(&res->latency, 0.5) / 1e3);
	bench_tenths(lab->out, "p99_us", (double)hist_quantile(&res->latency, 0.99) / 1e3);
	bench_text(lab->out, "congestion", lab->congestion);
	bench_case_end(lab->out);
	return BENCH_OK;
}

/* ---- what grows ---- */

static int grow_connections(struct lab *lab)
{
	struct scale_case c = {.name = "scale-connections",
			       .method = "GET",
			       .grows = "connections",
			       .objects = OBJECTS};
	size_t i;
	int r = 0;

	for (i = 0; !r && i < ARRAY_SIZE(connections); i++) {
		c.connections = connections[i];
		c.value = connections[i];
		r = run_case(lab, &c);
	}
	return r;
}

/* Objects from @from on, so that each step adds only what is missing. */
static int add_objects(struct lab *lab, unsigned int from, unsigned int to)
{
	autoclean(plan_deinit) struct plan p = {};
	autoclean(meter_deinit) struct meter meter = METER_INIT;
	autofree struct load_result *res = malloc(sizeof(*res));
	struct load_opts o = {.plan = &p,
			      .to = &lab->to_gateway,
			      .connections = CONNECTIONS,
			      .follow = true,
			      .server = &meter};
	char path[128];
	unsigned int i;
	int r;

	plan_init(&p, "PUT", lab->to_gateway.host);
	p.body = lab->content;
	p.body_len = SIZE;
	for (i = from; i < to; i++) {
		snprintf(path, sizeof(path), "/v1/objects/" LAB_BUCKET "/scale/%07u", i);
		plan_add(&p, path, "Expect: 100-continue\r\n");
	}
	r = res ? meter_add_session(&meter, lab->target.pid) : -ENOMEM;
	r = r ? r : load_run(&o, res, &lab->why);
	if (r < 0)
		return lab_failed(lab, "scale-put");
	bench_case(lab->out, "scale-put");
	bench_u64(lab->out, "objects", to);
	bench_tenths(lab->out, "requests_per_s",
		     (double)res->requests / ((double)res->wall_ns / 1e9));
	bench_ratio(lab->out, "cpu_us", (double)res->cpu_ns / 1e3 / (double)res->requests);
	bench_text(lab->out, "congestion", lab->congestion);
	bench_case_end(lab->out);
	return BENCH_OK;
}

static int grow_objects(struct lab *lab, unsigned int max)
{
	static const char *const methods[][2] = {{"scale-get", "GET"}, {"scale-head", "HEAD"}};
	unsigned int n, have = OBJECTS;
	size_t i;
	int r = 0;

	for (n = MIN(max, 1000U); !r && n <= max; n *= 10) {
		r = add_objects(lab, have, n);
		have = n;
		for (i = 0; !r && i < ARRAY_SIZE(methods); i++) {
			struct scale_case c = {.name = methods[i][0],
					       .method = methods[i][1],
					       .grows = "objects",
					       .connections = CONNECTIONS,
					       .objects = n,
					       .value = n};

			r = run_case(lab, &c);
		}
	}
	return r;
}

static int one_worker(struct lab *lab, unsigned int objects)
{
	static const struct lab_cluster cluster = {};
	bool conns = lab_wants(lab, "scale-connections"), objs = lab_wants(lab, "scale-objects");
	int r;

	if (!conns && !objs)
		return BENCH_OK;
	if (lab_cluster_start(lab, &cluster) < 0 || lab_put(lab, "scale/%07u", OBJECTS, SIZE) < 0)
		return lab_failed(lab, "scale");
	r = conns ? grow_connections(lab) : BENCH_OK;
	r = r || !objs ? r : grow_objects(lab, objects);
	lab_cluster_stop(lab);
	return r;
}

static int grow_workers(struct lab *lab)
{
	struct scale_case c = {.name = "scale-workers",
			       .method = "GET",
			       .grows = "workers",
			       .connections = 128,
			       .objects = OBJECTS};
	int r = 0;

	if (!lab_wants(lab, "scale-workers"))
		return BENCH_OK;
	lab->spread = true;
	for (c.value = 1; !r && c.value <= 2; c.value++) {
		struct lab_cluster cluster = {.workers = (unsigned int)c.value};

		if (lab_cluster_start(lab, &cluster) < 0 ||
		    lab_put(lab, "scale/%07u", OBJECTS, SIZE) < 0)
			return lab_failed(lab, "scale-workers");
		r = run_case(lab, &c);
		lab_cluster_stop(lab);
	}
	lab->spread = false;
	return r;
}

int bench_scale(struct bench_out *out, int argc, char **argv)
{
	autoclean(lab_free) struct lab *lab = NULL;
	struct lab_opts o = {};
	uint64_t objects = 100000;
	const struct option_row rows[] = {
		LAB_ROWS(o),
		{"--objects", OPTION_COUNT, &objects, 1000, 10000000},
		{},
	};
	int r;

	r = options_parse(out, rows, argc, argv);
	r = r ? r : lab_new(out, &o, &lab);
	r = r ? r : one_worker(lab, (unsigned int)objects);
	r = r ? r : grow_workers(lab);
	return r ? r : cmp_cold(lab);
}

/* ---- memory ---- */

/* Connections that have made one request each, and stay. */
static int open_idle(struct lab *lab, struct client *c, unsigned int n)
{
	static const struct ask ask = {.method = "GET",
				       .path = "/v1/objects/" LAB_BUCKET "/scale/0000000"};
	struct answer a = {};
	unsigned int i;
	int r = 0;

	for (i = 0; !r && i < n; i++) {
		client_init(&c[i], &lab->to_target);
		r = client_ask(&c[i], &ask, &a);
		if (!r && a.status != 200) {
			buf_fmt(&lab->why, "%s: status %d", ask.path, a.status);
			r = -EREMOTEIO;
		}
	}
	answer_free(&a);
	return r;
}

static int measure_rss(struct lab *lab)
{
	autofree struct client *c = calloc(RSS_CONNECTIONS, sizeof(*c));
	uint64_t idle, full;
	unsigned int i;
	int r;

	idle = meter_rss(lab->target.pid);
	for (i = 0; c && i < RSS_CONNECTIONS; i++)
		c[i].fd = -1;
	r = c ? open_idle(lab, c, RSS_CONNECTIONS) : -ENOMEM;
	full = meter_rss(lab->target.pid);
	for (i = 0; c && i < RSS_CONNECTIONS; i++)
		client_deinit(&c[i]);
	if (r < 0)
		return lab_failed(lab, "rss");
	bench_case(lab->out, "rss");
	bench_tenths(lab->out, "idle_mib", (double)idle / 1048576);
	bench_u64(lab->out, "connections", RSS_CONNECTIONS);
	bench_u64(lab->out, "bytes_per_connection",
		  full > idle ? (full - idle) / RSS_CONNECTIONS : 0);
	bench_case_end(lab->out);
	return BENCH_OK;
}

int bench_rss(struct bench_out *out, int argc, char **argv)
{
	static const struct lab_cluster cluster = {};
	autoclean(lab_free) struct lab *lab = NULL;
	struct lab_opts o = {};
	const struct option_row rows[] = {LAB_ROWS(o), {}};
	int r;

	r = options_parse(out, rows, argc, argv);
	r = r ? r : lab_new(out, &o, &lab);
	if (r)
		return r;
	if (lab_cluster_start(lab, &cluster) < 0 || lab_put(lab, "scale/%07u", 1, SIZE) < 0)
		return lab_failed(lab, "rss");
	return measure_rss(lab);
}
