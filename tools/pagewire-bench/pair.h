/* SPDX-License-Identifier: BSD-2-Clause */
/* Pairs of rounds, A B A B: what counts is the median of the ratios. */
#ifndef BENCH_PAIR_H
#define BENCH_PAIR_H

#include "lab.h"
#include "load.h"

/* One round of one side. */
struct sample {
	double units; /* requests, MiB, names */
	int64_t wall_ns, cpu_ns;
	uint64_t p99_ns; /* 0: not known */
};

struct side {
	int (*round)(void *arg, struct sample *ret); /* 0, or a negative errno with lab->why */
	void *arg;
};

struct pair_case {
	const char *name, *unit;
	struct side ours, peer;
};

/**
 * pair_run() - Run both sides in turn and print the case
 * @lab:	the laboratory
 * @c:		the case
 *
 * wall_ratio is our rate over the peer's, cpu_ratio our processor time a unit over the peer's:
 * better is a larger one and a smaller one.
 *
 * Return: BENCH_OK, or BENCH_FAILED after telling why.
 */
int pair_run(struct lab *lab, const struct pair_case *c);

/* A round that is a load on a server. */
struct load_side {
	struct lab *lab;
	struct load_opts o;
	bool by_bytes; /* units are MiB of bodies, else requests */
	int cpu; /* where the client runs */
};

/* As struct side.round; @arg is a struct load_side. */
int load_side_round(void *arg, struct sample *ret);

/* The middle one of @n values, which are sorted. */
double median(double *v, unsigned int n);

#endif
