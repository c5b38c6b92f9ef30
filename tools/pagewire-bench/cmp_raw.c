/* SPDX-License-Identifier: BSD-2-Clause */
/* compare-raw: what a storage node does beside the bare calls it cannot do without. */
#include <errno.h>

#include "base/bits.h"
#include "base/cleanup.h"
#include "cmp.h"
#include "pair.h"

#define CONNECTIONS 16
#define WARM_NS INT64_C(50000000)
#define SIZE (64U << 20)
#define FORMAT "d64m/%03u"
#define FIRST "d64m/000"

static int run_get(struct lab *lab)
{
	autoclean(meter_deinit) struct meter ours = METER_INIT, peer = METER_INIT;
	autoclean(plan_deinit) struct plan plan_a = {}, plan_b = {};
	struct load_side a = {.lab = lab,
			      .by_bytes = true,
			      .cpu = lab->cpu_server,
			      .o = {.plan = &plan_a,
				    .to = &lab->to_target,
				    .connections = CONNECTIONS,
				    .warm_ns = WARM_NS,
				    .limit_ns = lab->o.round_ns,
				    .status = 200,
				    .server = &ours}},
			 b = a;
	struct pair_case pc = {.name = "get-64MiB-splice",
			       .unit = "MiB",
			       .ours = {load_side_round, &a},
			       .peer = {load_side_round, &b}};
	int r;

	b.o.plan = &plan_b;
	b.o.to = &lab->to_raw;
	b.o.server = &peer;
	plan_init(&plan_a, "GET", lab->to_target.host);
	plan_add(&plan_a, "/v1/objects/" LAB_BUCKET "/" FIRST, NULL);
	plan_init(&plan_b, "GET", lab->to_raw.host);
	plan_add(&plan_b, "/", NULL);
	r = meter_add_session(&ours, lab->target.pid);
	r = r ? r : meter_add_session(&peer, lab->raw.pid);
	return r ? lab_failed(lab, pc.name) : pair_run(lab, &pc);
}

static int cmp_get(struct lab *lab)
{
	static const struct lab_cluster cluster = {};
	static const struct ask ours = {.method = "GET",
					.path = "/v1/objects/" LAB_BUCKET "/" FIRST},
				peer = {.method = "GET", .path = "/"};
	int r;

	if (!lab_wants(lab, "get-64MiB-splice"))
		return BENCH_OK;
	r = lab_cluster_start(lab, &cluster);
	r = r ? r : lab_put(lab, FORMAT, 1, SIZE);
	r = r ? r : lab_write(lab, FORMAT, 1, SIZE);
	r = r ? r : lab_raw_start(lab, FIRST);
	r = r ? r : lab_check(lab, &lab->to_target, &ours, 0, SIZE);
	r = r ? r : lab_check(lab, &lab->to_raw, &peer, 0, SIZE);
	r = r < 0 ? lab_failed(lab, "get-64MiB-splice") : run_get(lab);
	lab_cluster_stop(lab);
	return r;
}

int bench_compare_raw(struct bench_out *out, int argc, char **argv)
{
	autoclean(lab_free) struct lab *lab = NULL;
	struct lab_opts o = {};
	const struct option_row rows[] = {LAB_ROWS(o), {}};
	int r;

	r = options_parse(out, rows, argc, argv);
	r = r ? r : lab_new(out, &o, &lab);
	r = r ? r : cmp_get(lab);
	r = r ? r : cmp_put(lab);
	r = r ? r : cmp_sign(lab);
	if (!r && !lab->ran)
		r = bench_error(out, BENCH_USAGE, "no case \"%s\"", o.only);
	return r;
}
