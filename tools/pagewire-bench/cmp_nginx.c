/* SPDX-License-Identifier: BSD-2-Clause */
/* compare-nginx: the same objects from a target and, as files, from nginx. */
#include <errno.h>
#include <inttypes.h>

#include "base/bits.h"
#include "base/cleanup.h"
#include "cmp.h"
#include "pair.h"

#define CONNECTIONS 16
#define WARM_NS INT64_C(50000000)
#define RANGE (1U << 20)

/* Formats are literals of the table. */
#pragma GCC diagnostic ignored "-Wformat-nonliteral"

static const struct body_case {
	const char *name, *method, *format;
	unsigned int objects;
	uint64_t size;
	bool ranges;
} cases[] = {
	{"get-4KiB", "GET", "d4k/%03u", 128, 4 << 10, false},
	{"get-64KiB", "GET", "d64k/%03u", 64, 64 << 10, false},
	{"get-256KiB", "GET", "d256k/%03u", 32, 256 << 10, false},
	{"get-1MiB", "GET", "d1m/%03u", 16, 1 << 20, false},
	{"get-64MiB", "GET", "d64m/%03u", 2, 64 << 20, false},
	{"range-1MiB", "GET", "d64m/%03u", 2, 64 << 20, true},
	{"head", "HEAD", "d4k/%03u", 128, 4 << 10, false},
};

static void fill_plan(struct plan *p, const struct body_case *c, const char *prefix)
{
	char name[64], path[128], range[64];
	unsigned int i;
	uint64_t k;

	for (i = 0; i < c->objects; i++) {
		snprintf(name, sizeof(name), c->format, i);
		snprintf(path, sizeof(path), "%s%s", prefix, name);
		/* not in order: the next range is another part of the file */
		for (k = 0; c->ranges && k < c->size / RANGE; k++) {
			uint64_t off = k * 37 % (c->size / RANGE) * RANGE;

			snprintf(range, sizeof(range), "Range: bytes=%" PRIu64 "-%" PRIu64 "\r\n",
				 off, off + RANGE - 1);
			plan_add(p, path, range);
		}
		if (!c->ranges)
			plan_add(p, path, NULL);
	}
}

/* The body of the last object, byte by byte. */
static int check(struct lab *lab, const struct body_case *c, const struct endpoint *e,
		 const char *prefix)
{
	uint64_t off = c->ranges ? 5 * RANGE : 0, len = c->ranges ? RANGE : c->size;
	char name[64], path[128], range[64];
	struct ask ask = {.method = "GET", .path = path};

	snprintf(name, sizeof(name), c->format, c->objects - 1);
	snprintf(path, sizeof(path), "%s%s", prefix, name);
	snprintf(range, sizeof(range), "Range: bytes=%" PRIu64 "-%" PRIu64 "\r\n", off,
		 off + len - 1);
	if (c->ranges)
		ask.headers = range;
	return lab_check(lab, e, &ask, off, len);
}

static int run_pairs(struct lab *lab, const struct body_case *c, struct plan *plans)
{
	autoclean(meter_deinit) struct meter ours = METER_INIT, peer = METER_INIT;
	struct load_side a = {.lab = lab,
			      .by_bytes = c->method[0] == 'G' && c->size > 4096,
			      .cpu = lab->cpu_server,
			      .o = {.plan = &plans[0],
				    .to = &lab->to_target,
				    .connections = CONNECTIONS,
				    .warm_ns = WARM_NS,
				    .limit_ns = lab->o.round_ns,
				    .status = c->ranges ? 206 : 200,
				    .server = &ours}},
			 b = a;
	struct pair_case pc = {.name = c->name,
			       .unit = a.by_bytes ? "MiB" : "request",
			       .ours = {load_side_round, &a},
			       .peer = {load_side_round, &b}};
	int r;

	b.o.plan = &plans[1];
	b.o.to = &lab->to_peer;
	b.o.server = &peer;
	r = meter_add_session(&ours, lab->target.pid);
	r = r ? r : meter_add_session(&peer, lab->peer.pid);
	if (r < 0) {
		buf_str(&lab->why, strerror(-r));
		return lab_failed(lab, c->name);
	}
	return pair_run(lab, &pc);
}

static int run_case(struct lab *lab, const struct body_case *c)
{
	autoclean(plan_deinit) struct plan ours = {}, peer = {};
	struct plan plans[2];
	int r;

	r = lab_put(lab, c->format, c->objects, c->size);
	r = r ? r : lab_write(lab, c->format, c->objects, c->size);
	r = r ? r : check(lab, c, &lab->to_target, "/v1/objects/" LAB_BUCKET "/");
	r = r ? r : check(lab, c, &lab->to_peer, "/");
	if (r < 0)
		return lab_failed(lab, c->name);
	plan_init(&ours, c->method, lab->to_target.host);
	plan_init(&peer, c->method, lab->to_peer.host);
	fill_plan(&ours, c, "/v1/objects/" LAB_BUCKET "/");
	fill_plan(&peer, c, "/");
	plans[0] = ours;
	plans[1] = peer;
	return run_pairs(lab, c, plans);
}

static int run_all(struct lab *lab, unsigned int objects)
{
	static const struct lab_cluster cluster = {};
	size_t i;
	int r = 0;

	if (lab_cluster_start(lab, &cluster) < 0)
		return lab_failed(lab, "pagewired");
	if (lab_peer_start(lab) < 0)
		return lab_failed(lab, lab->o.peer ? "--peer" : "nginx");
	for (i = 0; !r && i < ARRAY_SIZE(cases); i++)
		if (lab_wants(lab, cases[i].name))
			r = run_case(lab, &cases[i]);
	if (!r)
		r = cmp_list(lab, objects);
	if (!r && !lab->ran)
		r = bench_error(lab->out, BENCH_USAGE, "no case \"%s\"", lab->o.only);
	return r;
}

int bench_compare_nginx(struct bench_out *out, int argc, char **argv)
{
	autoclean(lab_free) struct lab *lab = NULL;
	struct lab_opts o = {};
	uint64_t objects = 100000;
	const struct option_row rows[] = {
		LAB_ROWS(o),
		{"--nginx", OPTION_TEXT, &o.nginx, 0, 0},
		{"--peer", OPTION_TEXT, &o.peer, 0, 0},
		{"--objects", OPTION_COUNT, &objects, 2000, 10000000},
		{},
	};
	int r;

	r = options_parse(out, rows, argc, argv);
	r = r ? r : lab_new(out, &o, &lab);
	return r ? r : run_all(lab, (unsigned int)objects);
}
