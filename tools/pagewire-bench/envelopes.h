/* SPDX-License-Identifier: BSD-2-Clause */
/* Requests with the envelopes that a gateway signed for them. */
#ifndef BENCH_ENVELOPES_H
#define BENCH_ENVELOPES_H

#include "lab.h"
#include "load.h"

/**
 * envelopes_collect() - Ask the gateway where requests go, and keep what it says
 * @lab:	the laboratory
 * @from:	requests for the gateway; they are made in turn, as often as needed
 * @n:		envelopes wanted, each of its own
 * @ret:	requests for the target, an empty plan before; free with plan_deinit()
 *
 * Return: 0 or a negative errno, with lab->why.
 */
int envelopes_collect(struct lab *lab, const struct plan *from, size_t n, struct plan *ret);

#endif
