/* SPDX-License-Identifier: BSD-2-Clause */
/* Timers of one loop: a hierarchical wheel of 1 ms ticks. Private to the loop. */
#ifndef LOOP_WHEEL_H
#define LOOP_WHEEL_H

#include "loop/loop.h"

#define WHEEL_BITS 6
#define WHEEL_SLOTS 64
#define WHEEL_LEVELS 7 /* 64^7 ms: 139 years from the start of the loop */

struct wheel {
	int64_t base_ns; /* tick 0 */
	uint64_t tick; /* all slots up to this one are empty */
	uint64_t used[WHEEL_LEVELS]; /* bit = slot that may hold timers */
	struct list slots[WHEEL_LEVELS][WHEEL_SLOTS];
};

/* An empty wheel whose tick 0 is @now_ns. */
void wheel_init(struct wheel *w, int64_t now_ns);

/**
 * wheel_add() - Hang a timer that is not armed into the wheel
 * @w:		the wheel
 * @t:		the timer; it never runs before @t->at_ns, and at most 1 ms and a round after it
 */
void wheel_add(struct wheel *w, struct loop_timer *t);

/**
 * wheel_advance() - Take out what is due
 * @w:		the wheel
 * @now_ns:	the present
 * @due:	gets the timers whose time has come, still marked armed
 */
void wheel_advance(struct wheel *w, int64_t now_ns, struct list *due);

/* Time of the next slot that holds something (no timer is earlier), or INT64_MAX if none does. */
int64_t wheel_next_ns(const struct wheel *w);

#endif
