/* SPDX-License-Identifier: BSD-2-Clause */
/* PUT beside dd, and beside threads that only make files. */
#include <errno.h>

#include "base/bits.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "cmp.h"
#include "envelopes.h"
#include "pair.h"
#include "raw.h"

#define LARGE (64U << 20)
#define LARGE_NAMES 4 /* overwritten in turn, by both sides */
#define SMALL (10U << 10)
#define SMALL_NAMES 20000 /* more than a round stores */
#define THREADS 16
#define WARM_NS INT64_C(50000000)

/* Names of a round are new: what is overwritten leaves inodes that ext4 skips one by one. */
static void fill_plan(struct lab *lab, struct plan *p, unsigned int names, uint64_t size)
{
	unsigned int round = lab->round++, i;
	char path[128];

	plan_init(p, "PUT", lab->to_gateway.host);
	p->body = lab->content;
	p->body_len = size;
	for (i = 0; i < names; i++) {
		snprintf(path, sizeof(path), "/v1/objects/" LAB_BUCKET "/put/%u/%05u", round, i);
		plan_add(p, path, "Expect: 100-continue\r\n");
	}
}

static int add_both(struct lab *lab, struct meter *m)
{
	int r = meter_add_session(m, lab->target.pid);

	return r ? r : meter_add_session(m, lab->gateway.pid);
}

static int check_first(struct lab *lab, uint64_t size)
{
	static const struct ask ask = {
		.method = "GET", .path = "/v1/objects/" LAB_BUCKET "/put/00000", .follow = true};

	return lab_check(lab, &lab->to_gateway, &ask, 0, size);
}

/* ---- 64 MiB beside dd ---- */

static int dd_round(void *arg, struct sample *ret)
{
	struct lab *lab = arg;
	struct raw_result res;
	char path[LAB_PATH];
	unsigned int i = 0;
	int r = 0;

	lab_pin(lab->cpu_server, lab->cpu_server);
	while (!r && ret->wall_ns < lab->o.round_ns) {
		snprintf(path, sizeof(path), "%s/www/dd%u", lab->dir, i++ % LARGE_NAMES);
		r = raw_dd(path, lab->content, LARGE, &res);
		if (r)
			break;
		ret->units += (double)LARGE / 1048576;
		ret->wall_ns += res.wall_ns;
		ret->cpu_ns += res.cpu_ns;
	}
	if (r)
		buf_fmt(&lab->why, "dd of=%s: %s", path, strerror(-r));
	return r;
}

static int run_large(struct lab *lab)
{
	autoclean(meter_deinit) struct meter ours = METER_INIT;
	autoclean(plan_deinit) struct plan plan = {};
	struct load_side a = {.lab = lab,
			      .by_bytes = true,
			      .cpu = lab->cpu_server,
			      .o = {.plan = &plan,
				    .to = &lab->to_gateway,
				    .connections = 1,
				    .warm_ns = WARM_NS,
				    .limit_ns = lab->o.round_ns,
				    .follow = true,
				    .server = &ours}};
	struct pair_case pc = {.name = "put-64MiB-none",
			       .unit = "MiB",
			       .ours = {load_side_round, &a},
			       .peer = {dd_round, lab}};
	int r;

	fill_plan(lab, &plan, LARGE_NAMES, LARGE);
	r = lab_put(lab, "put/%05u", LARGE_NAMES, LARGE);
	r = r ? r : check_first(lab, LARGE);
	r = r ? r : add_both(lab, &ours);
	return r ? lab_failed(lab, pc.name) : pair_run(lab, &pc);
}

/* ---- 10 KiB beside threads ---- */

struct store_side {
	struct lab *lab;
	bool durable;
};

static int store_round(void *arg, struct sample *ret)
{
	struct store_side *s = arg;
	char dir[LAB_PATH];
	struct raw_store o = {.dir = dir,
			      .body = s->lab->content,
			      .len = SMALL,
			      .threads = THREADS,
			      .durable = s->durable,
			      .limit_ns = s->lab->o.round_ns};
	struct raw_result res = {};
	int r;

	lab_pin(s->lab->cpu_server, s->lab->cpu_server);
	snprintf(dir, sizeof(dir), "%s/rawput%u", s->lab->dir, s->lab->round++);
	r = raw_store_run(&o, &res);
	if (r)
		buf_fmt(&s->lab->why, "files in %s: %s", dir, strerror(-r));
	ret->units = (double)res.n;
	ret->wall_ns = res.wall_ns;
	ret->cpu_ns = res.cpu_ns;
	return r;
}

static int gateway_round(void *arg, struct sample *ret)
{
	autoclean(plan_deinit) struct plan plan = {};
	struct load_side s = *(struct load_side *)arg;

	fill_plan(s.lab, &plan, SMALL_NAMES, SMALL);
	s.o.plan = &plan;
	return load_side_round(&s, ret);
}

/* Envelopes are collected first, so that only the target is measured. */
static int target_round(void *arg, struct sample *ret)
{
	struct load_side *s = arg;
	autoclean(plan_deinit) struct plan plan = {}, signed_plan = {};
	struct load_side straight = *s;
	size_t n = s->lab->o.round_ns > 500000000 ? SMALL_NAMES / 2 : SMALL_NAMES / 8;
	int r;

	fill_plan(s->lab, &plan, (unsigned int)n, SMALL);
	r = envelopes_collect(s->lab, &plan, n, &signed_plan);
	straight.o.plan = &signed_plan;
	straight.o.to = &s->lab->to_target;
	straight.o.follow = false;
	straight.o.limit_ns = 0;
	straight.o.warm_ns = 0;
	return r ? r : load_side_round(&straight, ret);
}

static int run_small(struct lab *lab, bool durable, bool straight)
{
	autoclean(meter_deinit) struct meter ours = METER_INIT;
	struct store_side b = {.lab = lab, .durable = durable};
	struct load_side a = {.lab = lab,
			      .cpu = lab->cpu_server,
			      .o = {.to = &lab->to_gateway,
				    .connections = THREADS,
				    .warm_ns = WARM_NS,
				    .limit_ns = lab->o.round_ns,
				    .follow = true,
				    .server = &ours}};
	char name[64];
	struct pair_case pc = {.name = name,
			       .unit = "request",
			       .ours = {straight ? target_round : gateway_round, &a},
			       .peer = {store_round, &b}};
	int r;

	snprintf(name, sizeof(name), "put-10KiB-%s%s", durable ? "commit" : "none",
		 straight ? "-target" : "");
	if (!lab_wants(lab, name))
		return BENCH_OK;
	r = lab_put(lab, "put/%05u", 1, SMALL);
	r = r ? r : check_first(lab, SMALL);
	r = r ? r : add_both(lab, &ours);
	return r ? lab_failed(lab, name) : pair_run(lab, &pc);
}

static int run_cluster(struct lab *lab, bool commit)
{
	struct lab_cluster cluster = {.commit = commit};
	int r;

	if (lab_cluster_start(lab, &cluster) < 0)
		return lab_failed(lab, "pagewired");
	r = run_small(lab, commit, false);
	r = r ? r : run_small(lab, commit, true);
	if (!r && !commit && lab_wants(lab, "put-64MiB-none"))
		r = run_large(lab);
	lab_cluster_stop(lab);
	return r;
}

int cmp_put(struct lab *lab)
{
	int r;

	if (lab->o.only && strncmp(lab->o.only, "put", 3) != 0)
		return BENCH_OK;
	r = run_cluster(lab, true);
	return r ? r : run_cluster(lab, false);
}
