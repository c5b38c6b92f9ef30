/* SPDX-License-Identifier: BSD-2-Clause */
/* The timer wheel against a plain array of times, in simulated time. */
#include "selftests/unit/unit.h"

#include "loop/wheel.h"

#define MS INT64_C(1000000)
#define START (INT64_C(7) * 1000 * MS + 123456)
#define N 2000

static void add_at(struct wheel *w, struct loop_timer *t, int64_t at_ns)
{
	t->at_ns = at_ns;
	t->armed = true;
	wheel_add(w, t);
}

/* Takes what is due at @now_ns; each must be due, and not more than a tick ago if it could run. */
static size_t advance(struct wheel *w, int64_t before_ns, int64_t now_ns)
{
	struct list due = LIST_INIT(due);
	size_t n = 0;

	wheel_advance(w, now_ns, &due);
	while (!list_empty(&due)) {
		struct loop_timer *t = list_entry(due.next, struct loop_timer, node);

		list_del(&t->node);
		t->armed = false;
		ASSERT_TRUE(t->at_ns <= now_ns);
		ASSERT_TRUE(t->at_ns > before_ns - 2 * MS);
		n++;
	}
	return n;
}

static void test_each_level(void)
{
	static const int64_t after_ms[] = {1,	     2,		 63,	     64,     65,
					   4095,     4096,	 75000,	     262143, 262144,
					   16777217, 1073741824, 68719476737};
	struct loop_timer t[ARRAY_SIZE(after_ms)] = {};
	struct wheel w;
	size_t i;

	wheel_init(&w, START);
	ASSERT_TRUE(wheel_next_ns(&w) == INT64_MAX);
	for (i = 0; i < ARRAY_SIZE(after_ms); i++)
		add_at(&w, &t[i], START + after_ms[i] * MS);
	for (i = 0; i < ARRAY_SIZE(after_ms); i++) {
		int64_t at = START + after_ms[i] * MS;

		ASSERT_TRUE(wheel_next_ns(&w) <= at);
		ASSERT_EQ(advance(&w, at - 1, at - 1), 0);
		ASSERT_EQ(advance(&w, at, at), 1);
		ASSERT_TRUE(!t[i].armed);
	}
	ASSERT_TRUE(wheel_next_ns(&w) == INT64_MAX);
}

/* Jumping always to wheel_next_ns() must serve every timer within its tick, in few jumps. */
static void test_jumps_from_slot_to_slot(void)
{
	static struct loop_timer t[N];
	struct wheel w;
	int64_t now = START, before;
	uint64_t seed = 1;
	size_t i, served = 0, jumps = 0;

	wheel_init(&w, START);
	for (i = 0; i < N; i++) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		add_at(&w, &t[i], START + (int64_t)(seed >> 20) % (INT64_C(500000) * MS));
	}
	while (wheel_next_ns(&w) != INT64_MAX) {
		before = now;
		now = wheel_next_ns(&w);
		ASSERT_TRUE(now > before);
		served += advance(&w, now, now);
		jumps++;
	}
	ASSERT_EQ(served, N);
	ASSERT_TRUE(jumps < 4 * N);
}

/* Time that jumps by any amount loses nothing and repeats nothing. */
static void test_random_jumps(void)
{
	static struct loop_timer t[N];
	struct wheel w;
	int64_t now = START;
	uint64_t seed = 7;
	size_t i, round, armed, late;

	wheel_init(&w, START);
	for (round = 0; round < 400; round++) {
		for (i = 0; i < N; i += 1 + round % 7) {
			seed = seed * 6364136223846793005u + 1442695040888963407u;
			if (t[i].armed) {
				list_del(&t[i].node);
				t[i].armed = false;
			} else {
				add_at(&w, &t[i], now + (int64_t)(seed >> 24) % (100000 * MS));
			}
		}
		now += (int64_t)(seed >> 30) % (round % 5 ? 90 * MS : 30000 * MS);
		advance(&w, INT64_MIN / 2, now);
		for (i = 0, armed = 0, late = 0; i < N; i++) {
			armed += t[i].armed;
			late += t[i].armed && t[i].at_ns <= now - MS;
		}
		ASSERT_EQ(late, 0);
		ASSERT_TRUE(armed == 0 || wheel_next_ns(&w) != INT64_MAX);
	}
}

static void test_past_and_far(void)
{
	struct loop_timer past = {}, far = {};
	struct wheel w;

	wheel_init(&w, START);
	add_at(&w, &past, START - 5 * MS);
	add_at(&w, &far, INT64_MAX);
	ASSERT_TRUE(wheel_next_ns(&w) == START + MS);
	ASSERT_EQ(advance(&w, START - 6 * MS, START + MS), 1);
	ASSERT_TRUE(!past.armed && far.armed);
	ASSERT_EQ(advance(&w, 0, START + INT64_C(86400) * 365 * 1000 * MS), 0);
}

UNIT_MAIN("wheel", {"each level is served on time", test_each_level},
	  {"jumps from slot to slot", test_jumps_from_slot_to_slot},
	  {"random jumps lose nothing", test_random_jumps},
	  {"the past is served at once, the far future never", test_past_and_far})
