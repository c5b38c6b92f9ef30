/* SPDX-License-Identifier: BSD-2-Clause */
/* Pairs of rounds. */
#include "pair.h"

#include <errno.h>
#include <stdlib.h>

#include "base/bits.h"
#include "base/cleanup.h"

#define PAIRS_MAX 99

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

double median(double *v, unsigned int n)
{
	qsort(v, n, sizeof(v[0]), by_value);
	return n ? v[n / 2] : 0;
}

/* Rates and costs of one side in each pair. */
struct column {
	double rate[PAIRS_MAX], cost[PAIRS_MAX], p99[PAIRS_MAX];
};

static int one_round(struct lab *lab, const struct side *s, struct column *c, unsigned int i)
{
	struct sample m = {};
	int r = s->round(s->arg, &m);

	if (r < 0)
		return r;
	if (!(m.units > 0) || m.wall_ns <= 0) {
		buf_str(&lab->why, "a round in which nothing was done; give more --seconds");
		return -EIO;
	}
	c->rate[i] = m.units / ((double)m.wall_ns / 1e9);
	c->cost[i] = (double)m.cpu_ns / 1e3 / m.units;
	c->p99[i] = (double)m.p99_ns / 1e3;
	return 0;
}

static double ratio(const double *a, const double *b, unsigned int n)
{
	double v[PAIRS_MAX];
	unsigned int i;

	for (i = 0; i < n; i++)
		v[i] = b[i] > 0 ? a[i] / b[i] : 0;
	return median(v, n);
}

static void print(struct lab *lab, const struct pair_case *c, struct column *a, struct column *b)
{
	struct bench_out *out = lab->out;
	unsigned int n = (unsigned int)lab->o.pairs;

	bench_case(out, c->name);
	bench_u64(out, "pairs", n);
	bench_ratio(out, "wall_ratio", ratio(a->rate, b->rate, n));
	bench_ratio(out, "cpu_ratio", ratio(a->cost, b->cost, n));
	bench_text(out, "congestion", lab->congestion);
	bench_text(out, "unit", c->unit);
	bench_tenths(out, "ours_per_s", median(a->rate, n));
	bench_tenths(out, "peer_per_s", median(b->rate, n));
	bench_ratio(out, "ours_cpu_us", median(a->cost, n));
	bench_ratio(out, "peer_cpu_us", median(b->cost, n));
	if (median(a->p99, n) > 0 && median(b->p99, n) > 0) {
		bench_ratio(out, "p99_ratio", ratio(a->p99, b->p99, n));
		bench_tenths(out, "ours_p99_us", median(a->p99, n));
		bench_tenths(out, "peer_p99_us", median(b->p99, n));
	}
	bench_text(out, "fs", lab->fs);
	bench_case_end(out);
}

int pair_run(struct lab *lab, const struct pair_case *c)
{
	autofree struct column *a = calloc(1, sizeof(*a)), *b = calloc(1, sizeof(*b));
	unsigned int i;
	int r = a && b ? 0 : -ENOMEM;

	for (i = 0; !r && i < lab->o.pairs; i++) {
		r = one_round(lab, &c->ours, a, i);
		r = r ? r : one_round(lab, &c->peer, b, i);
	}
	if (r < 0) {
		if (!lab->why.len)
			buf_str(&lab->why, strerror(-r));
		return lab_failed(lab, c->name);
	}
	print(lab, c, a, b);
	return BENCH_OK;
}

int load_side_round(void *arg, struct sample *ret)
{
	struct load_side *s = arg;
	autofree struct load_result *res = malloc(sizeof(*res));
	int r;

	if (!res)
		return -ENOMEM;
	lab_pin(s->cpu, s->cpu);
	r = load_run(&s->o, res, &s->lab->why);
	if (r)
		return r;
	ret->units = s->by_bytes ? (double)res->bytes / 1048576 : (double)res->requests;
	ret->wall_ns = res->wall_ns;
	ret->cpu_ns = res->cpu_ns;
	ret->p99_ns = hist_quantile(&res->latency, 0.99);
	return 0;
}
