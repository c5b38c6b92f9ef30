/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Arming, moving and cancelling are O(1): thousands of connections re-arm an idle timer with every
 * request. A timer hangs on the level of the highest 6-bit digit in which its tick differs from
 * the present one, and moves down a level when that digit is reached.
 */
#include "loop/wheel.h"

#define TICK_NS 1000000
#define TICK_MAX (UINT64_C(1) << (WHEEL_BITS * WHEEL_LEVELS - 1))

void wheel_init(struct wheel *w, int64_t now_ns)
{
	unsigned int l, s;

	*w = (struct wheel){.base_ns = now_ns};
	for (l = 0; l < WHEEL_LEVELS; l++)
		for (s = 0; s < WHEEL_SLOTS; s++)
			list_init(&w->slots[l][s]);
}

/* The first tick that does not begin before @at_ns. */
static uint64_t tick_of(const struct wheel *w, int64_t at_ns)
{
	uint64_t t;

	if (at_ns <= w->base_ns)
		return 0;
	t = ((uint64_t)(at_ns - w->base_ns) + TICK_NS - 1) / TICK_NS;
	return MIN(t, TICK_MAX);
}

void wheel_add(struct wheel *w, struct loop_timer *t)
{
	uint64_t tick = MAX(tick_of(w, t->at_ns), w->tick + 1);
	unsigned int level = (63 - (unsigned int)__builtin_clzll(tick ^ w->tick)) / WHEEL_BITS;
	unsigned int slot;

	if (level >= WHEEL_LEVELS)
		level = WHEEL_LEVELS - 1;
	slot = (tick >> (level * WHEEL_BITS)) % WHEEL_SLOTS;
	list_add_tail(&w->slots[level][slot], &t->node);
	w->used[level] |= BIT64(slot);
}

/* Empty the slots of @level that lie after tick @from, up to and with tick @to. */
static void slots_take(struct wheel *w, unsigned int level, uint64_t from, uint64_t to,
		       struct list *out)
{
	uint64_t a = from >> (level * WHEEL_BITS), b = to >> (level * WHEEL_BITS);
	uint64_t n = MIN(b - a, (uint64_t)WHEEL_SLOTS);

	for (; n && w->used[level]; n--) {
		unsigned int slot = ++a % WHEEL_SLOTS;

		if (!(w->used[level] & BIT64(slot)))
			continue;
		list_splice_tail(out, &w->slots[level][slot]);
		w->used[level] &= ~BIT64(slot);
	}
}

void wheel_advance(struct wheel *w, int64_t now_ns, struct list *due)
{
	uint64_t to = now_ns > w->base_ns ? (uint64_t)(now_ns - w->base_ns) / TICK_NS : 0;
	uint64_t from = w->tick;
	struct list moved = LIST_INIT(moved), *pos, *tmp;
	unsigned int l;

	if (to <= from)
		return;
	for (l = 0; l < WHEEL_LEVELS; l++) {
		if (from >> (l * WHEEL_BITS) == to >> (l * WHEEL_BITS))
			break;
		slots_take(w, l, from, to, &moved);
	}
	w->tick = to;
	list_for_each_safe (pos, tmp, &moved) {
		struct loop_timer *t = list_entry(pos, struct loop_timer, node);

		list_del(&t->node);
		if (tick_of(w, t->at_ns) <= to)
			list_add_tail(due, &t->node);
		else
			wheel_add(w, t);
	}
}

int64_t wheel_next_ns(const struct wheel *w)
{
	uint64_t next = UINT64_MAX;
	unsigned int l;

	for (l = 0; l < WHEEL_LEVELS; l++) {
		uint64_t cur = w->tick >> (l * WHEEL_BITS), used = w->used[l];
		unsigned int by = (cur + 1) % WHEEL_SLOTS;
		uint64_t at;

		if (!used)
			continue;
		used = by ? used >> by | used << (WHEEL_SLOTS - by) : used;
		at = (cur + 1 + (unsigned int)__builtin_ctzll(used)) << (l * WHEEL_BITS);
		next = MIN(next, at);
	}
	if (next == UINT64_MAX)
		return INT64_MAX;
	return w->base_ns + (int64_t)next * TICK_NS;
}
