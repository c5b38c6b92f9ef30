/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Faults on mapped files. A page that the disk can not give, or that a file no longer has, is
 * SIGBUS in the thread that touches it; under a guard it is an error of that one call instead.
 */
#ifndef STORE_GUARD_H
#define STORE_GUARD_H

#include <setjmp.h>
#include <stddef.h>

#define GUARD_MAPS 2 /* the index and its table of readers */

/* Memory in which a fault is expected. */
struct guard_map {
	const char *base;
	size_t len;
};

/* One guarded call on a thread's stack. */
struct guard {
	sigjmp_buf back;
	const struct guard_map *maps; /* GUARD_MAPS of them */
	struct guard *outer;
};

/* Catch faults from now on, in the whole process; those outside of guards end it as before. */
void guard_start(void);
/* Where the file @fd and its neighbour @other (a name in the same folder) are mapped. */
void guard_find(int fd, const char *other, struct guard_map maps[GUARD_MAPS]);
/* Use guarded(). */
void guard_enter(struct guard *g, const struct guard_map *maps);
void guard_leave(struct guard *g);
/* Out of the innermost guarded call, as a fault does; returns only when there is none. */
void guard_trip(void);

/*
 * The int @expr under a guard; @lost is what counts after a fault. What @expr held then is held for
 * ever: locks, memory.
 */
#define guarded(guard_maps, expr, lost)                                                            \
	({                                                                                         \
		struct guard guard_;                                                               \
		int guard_r_;                                                                      \
		guard_enter(&guard_, guard_maps);                                                  \
		if (sigsetjmp(guard_.back, 0) == 0)                                                \
			guard_r_ = (expr);                                                         \
		else                                                                               \
			guard_r_ = (lost);                                                         \
		guard_leave(&guard_);                                                              \
		guard_r_;                                                                          \
	})

#endif
