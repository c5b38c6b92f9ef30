/* SPDX-License-Identifier: BSD-2-Clause */
/* Options of a verb: one table each, `--name VALUE`. */
#ifndef BENCH_OPTIONS_H
#define BENCH_OPTIONS_H

#include <stdint.h>

#include "bench.h"

enum option_kind {
	OPTION_NONE,
	OPTION_FLAG, /* bool, no value follows */
	OPTION_TEXT, /* const char *, borrowed from argv */
	OPTION_COUNT, /* uint64_t */
	OPTION_SIZE, /* uint64_t bytes: 10KiB, 64MiB, 4GiB or plain */
	OPTION_SECONDS, /* int64_t ns: 0.5, 10 */
	OPTION_NR,
};

struct option_row {
	const char *name; /* "--seconds" */
	enum option_kind kind;
	void *ret;
	uint64_t min, max; /* of counts and sizes */
};

/**
 * options_parse() - Read all of @argv, which holds options only
 * @out:	where a refusal goes
 * @rows:	the table, ended by a row without name
 * @argc:	words
 * @argv:	the words
 *
 * Return: BENCH_OK, or BENCH_USAGE after telling what is wrong.
 */
int options_parse(struct bench_out *out, const struct option_row *rows, int argc, char **argv);

/* "64KiB" and the like. Return: 0 or -EINVAL. */
int options_size(const char *text, uint64_t *ret);

#endif
