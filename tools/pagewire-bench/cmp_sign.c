/* SPDX-License-Identifier: BSD-2-Clause */
/* Redirects beside bare signatures, and their checks beside bare verifications. */
#include <errno.h>

#include "base/bits.h"
#include "base/cleanup.h"
#include "cmp.h"
#include "envelopes.h"
#include "pair.h"
#include "raw.h"

#define CONNECTIONS 16
#define WARM_NS INT64_C(50000000)
#define OBJECTS 128
#define SIZE 4096
#define FORMAT "d4k/%03u"

/* Processor time counts here: of what is signed in one second of it. */
struct bare_side {
	struct lab *lab;
	int (*run)(int64_t limit_ns, struct raw_result *ret);
};

static int bare_round(void *arg, struct sample *ret)
{
	struct bare_side *s = arg;
	struct raw_result res;
	int r;

	lab_pin(s->lab->cpu_server, s->lab->cpu_server);
	r = s->run(s->lab->o.round_ns, &res);
	if (r)
		return r;
	ret->units = (double)res.n;
	ret->wall_ns = res.wall_ns;
	ret->cpu_ns = res.cpu_ns;
	return 0;
}

static void fill_plan(struct lab *lab, struct plan *p)
{
	char path[128];
	unsigned int i;

	plan_init(p, "GET", lab->to_gateway.host);
	for (i = 0; i < OBJECTS; i++) {
		snprintf(path, sizeof(path), "/v1/objects/" LAB_BUCKET "/" FORMAT, i);
		plan_add(p, path, NULL);
	}
}

static int run_redirects(struct lab *lab, const struct plan *plan)
{
	autoclean(meter_deinit) struct meter ours = METER_INIT;
	struct bare_side b = {.lab = lab, .run = raw_sign};
	struct load_side a = {.lab = lab,
			      .cpu = lab->cpu_other,
			      .o = {.plan = plan,
				    .to = &lab->to_gateway,
				    .connections = CONNECTIONS,
				    .warm_ns = WARM_NS,
				    .limit_ns = lab->o.round_ns,
				    .status = 307,
				    .server = &ours}};
	struct pair_case pc = {.name = "redirect-sign",
			       .unit = "request",
			       .ours = {load_side_round, &a},
			       .peer = {bare_round, &b}};

	if (meter_add_session(&ours, lab->gateway.pid) < 0)
		return lab_failed(lab, pc.name);
	return pair_run(lab, &pc);
}

/* Each envelope is used once: the target has never seen it before. */
static int verify_round(void *arg, struct sample *ret)
{
	struct load_side *s = arg;
	autoclean(plan_deinit) struct plan fresh = {};
	struct load_side once = *s;
	size_t n = s->lab->o.round_ns > 500000000 ? 8000 : 2000;
	int r;

	r = envelopes_collect(s->lab, s->o.plan, n, &fresh);
	once.o.plan = &fresh;
	once.o.to = &s->lab->to_target;
	once.o.status = 200;
	return r ? r : load_side_round(&once, ret);
}

static int run_verify(struct lab *lab, const struct plan *plan)
{
	autoclean(meter_deinit) struct meter ours = METER_INIT;
	struct bare_side b = {.lab = lab, .run = raw_verify};
	struct load_side a = {.lab = lab,
			      .cpu = lab->cpu_other,
			      .o = {.plan = plan,
				    .to = &lab->to_gateway,
				    .connections = CONNECTIONS,
				    .server = &ours}};
	struct pair_case pc = {.name = "get-4KiB-verify",
			       .unit = "request",
			       .ours = {verify_round, &a},
			       .peer = {bare_round, &b}};

	if (meter_add_session(&ours, lab->target.pid) < 0)
		return lab_failed(lab, pc.name);
	return pair_run(lab, &pc);
}

static int run_both(struct lab *lab, bool redirects, bool verify)
{
	static const struct ask ask = {
		.method = "GET", .path = "/v1/objects/" LAB_BUCKET "/d4k/000", .follow = true};
	autoclean(plan_deinit) struct plan plan = {};
	int r;

	r = lab_put(lab, FORMAT, OBJECTS, SIZE);
	r = r ? r : lab_check(lab, &lab->to_gateway, &ask, 0, SIZE);
	if (r < 0)
		return lab_failed(lab, "redirect-sign");
	fill_plan(lab, &plan);
	r = redirects ? run_redirects(lab, &plan) : BENCH_OK;
	return r || !verify ? r : run_verify(lab, &plan);
}

int cmp_sign(struct lab *lab)
{
	static const struct lab_cluster cluster = {.request_auth = true};
	bool redirects = lab_wants(lab, "redirect-sign"),
	     verify = lab_wants(lab, "get-4KiB-verify");
	int r;

	if (!redirects && !verify)
		return BENCH_OK;
	if (lab_cluster_start(lab, &cluster) < 0)
		return lab_failed(lab, "pagewired");
	r = run_both(lab, redirects, verify);
	lab_cluster_stop(lab);
	return r;
}
