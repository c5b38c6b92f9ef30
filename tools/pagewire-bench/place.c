/* SPDX-License-Identifier: BSD-2-Clause */
/* What placing a name costs: the digest of its uname, then the highest weight among targets. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "bench.h"
#include "smap/smap.h"

#define NAMES 4096 /* different names, taken in turn: more than branch predictors learn */
#define ROUNDS 5 /* of which the median counts */
#define SECONDS_MAX 3600

static const unsigned int cases[] = {16, 256, 4096};

/* Unames one behind the other, so that reading them costs what it does in a list page. */
struct names {
	struct buf text;
	uint32_t begin[NAMES + 1];
};

static void names_deinit(struct names *n)
{
	buf_free(&n->text);
}

/* Shards and pictures of a training set: 50 to 53 bytes each. */
static int names_init(struct names *n)
{
	unsigned int i;

	for (i = 0; i < NAMES; i++) {
		n->begin[i] = (uint32_t)n->text.len;
		smap_bucket_uname(&n->text, "ais", "", "", "training-images");
		buf_fmt(&n->text, "shard-%05u/n%08u_%u.jpg", i / 64, i * 2654435761u % 100000000u,
			i);
	}
	n->begin[NAMES] = (uint32_t)n->text.len;
	return n->text.err;
}

static int add_target(struct smap_edit *e, unsigned int i)
{
	struct smap_node n;
	char id[SMAP_ID_MAX + 1], host[64];
	int r;

	snprintf(id, sizeof(id), "target%05u", i);
	snprintf(host, sizeof(host), "10.0.%u.%u", i / 256, i % 256);
	r = smap_node_init(&n, id, SMAP_ROLE_TARGET);
	if (!r)
		r = smap_node_set_net(&n, SMAP_NET_PUBLIC, "http", host, 8081);
	return r ? r : smap_edit_put_node(e, &n);
}

static void put_map(struct smap **m)
{
	smap_put(*m);
}

static int make_map(unsigned int targets, struct smap **ret)
{
	struct smap_edit *e;
	unsigned int i;
	int r;

	r = smap_edit_new(NULL, &e);
	for (i = 0; !r && i < targets; i++) {
		r = add_target(e, i);
		if (r)
			smap_edit_free(e);
	}
	return r ? r : smap_edit_freeze(e, ret);
}

/* Places all names once. Return: a sum over the owners, so that no call can be left out. */
static uint64_t place_all(const struct smap *m, const struct names *names)
{
	uint64_t sum = 0;
	unsigned int i;

	for (i = 0; i < NAMES; i++) {
		uint64_t digest = smap_digest(names->text.data + names->begin[i],
					      names->begin[i + 1] - names->begin[i]);

		sum += smap_owner(m, digest)->digest;
	}
	return sum;
}

/* Processor time of this thread for one name, over at least @limit_ns; -1 for a wrong result. */
static double round_ns(const struct smap *m, const struct names *names, int64_t limit_ns)
{
	uint64_t want = place_all(m, names), done = 0;
	int64_t begin = clock_ns(CLOCK_THREAD_CPUTIME_ID), spent;

	do {
		if (place_all(m, names) != want)
			return -1;
		done += NAMES;
		spent = clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin;
	} while (spent < limit_ns);
	return (double)spent / (double)done;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static int run_case(struct bench_out *out, const struct names *names, unsigned int targets,
		    int64_t limit_ns)
{
	autoclean(put_map) struct smap *m = NULL;
	double ns[ROUNDS];
	char name[32];
	int i, r;

	r = make_map(targets, &m);
	if (r < 0)
		return bench_error(out, BENCH_FAILED, "map of %u targets: %s", targets,
				   strerror(-r));
	for (i = 0; i < ROUNDS; i++) {
		ns[i] = round_ns(m, names, limit_ns / ROUNDS);
		if (ns[i] <= 0)
			return bench_error(out, BENCH_FAILED,
					   "one name had two owners at %u targets", targets);
	}
	qsort(ns, ROUNDS, sizeof(ns[0]), by_value);
	snprintf(name, sizeof(name), "place-%u", targets);
	bench_case(out, name);
	bench_u64(out, "targets", targets);
	bench_u64(out, "names_per_s", (uint64_t)(1e9 / ns[ROUNDS / 2]));
	bench_tenths(out, "ns_per_name", ns[ROUNDS / 2]);
	bench_case_end(out);
	return BENCH_OK;
}

int bench_place(struct bench_out *out, int argc, char **argv)
{
	autoclean(names_deinit) struct names names = {};
	uint64_t seconds = 1;
	size_t i;
	int r;

	if (argc > 1)
		return bench_error(out, BENCH_USAGE, "place takes one argument at most");
	if (argc && (parse_u64(argv[0], &seconds) < 0 || !seconds || seconds > SECONDS_MAX))
		return bench_error(out, BENCH_USAGE, "SECONDS must be 1 to %d, not \"%s\"",
				   SECONDS_MAX, argv[0]);
	if (names_init(&names) < 0)
		return bench_error(out, BENCH_FAILED, "no memory for names");
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		r = run_case(out, &names, cases[i], (int64_t)seconds * 1000000000);
		if (r)
			return r;
	}
	return BENCH_OK;
}
