/* SPDX-License-Identifier: BSD-2-Clause */
/* A line on the terminal while a transfer runs; nothing where stderr is no terminal. */
#ifndef PAGEWIRE_PROGRESS_H
#define PAGEWIRE_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
	bool on;
	bool drawn;
	int64_t start_ns, next_ns;
};

/* Start; @quiet: draw nothing. */
void progress_start(struct progress *p, bool quiet);

/**
 * progress_show() - Draw, at most ten times a second, once a transfer takes long
 * @p:		the line
 * @what:	what is transferred
 * @done:	bytes so far
 * @total:	bytes in all, 0: unknown
 */
void progress_show(struct progress *p, const char *what, uint64_t done, uint64_t total);

/* Wipe the line; before anything else is printed, and at the end. */
void progress_wipe(struct progress *p);

#endif
