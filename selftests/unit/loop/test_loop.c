/* SPDX-License-Identifier: BSD-2-Clause */
/* The loop: descriptors, stale events, timers, posted work, stop. */
#include "selftests/unit/unit.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/text.h"
#include "loop/loop.h"

#define SEC INT64_C(1000000000)

struct fixture {
	struct loop *loop;
	int a[2], b[2]; /* socket pairs: [0] is watched */
	struct loop_fd fa, fb;
	int calls_a, calls_b;
	uint32_t events;
	struct loop_timer limit;
	bool timed_out;
};

static struct fixture fx;

static void fail_at_limit(struct loop_timer *t)
{
	fx.timed_out = true;
	loop_stop(fx.loop);
}

static void setup(void)
{
	fx = (struct fixture){.limit.cb = fail_at_limit};
	ASSERT_EQ(loop_new("w0", &fx.loop), 0);
	ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fx.a), 0);
	ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fx.b), 0);
	fx.fa.fd = fx.a[0];
	fx.fb.fd = fx.b[0];
	loop_timer_arm(fx.loop, &fx.limit, 20000);
}

static void run(void)
{
	ASSERT_EQ(loop_run(fx.loop), 0);
	ASSERT_TRUE(!fx.timed_out);
}

static void teardown(void)
{
	loop_fd_del(&fx.fa);
	loop_fd_del(&fx.fb);
	loop_free(fx.loop);
	close(fx.a[0]);
	close(fx.a[1]);
	close(fx.b[0]);
	close(fx.b[1]);
}

static void count_and_stop(struct loop_fd *f, uint32_t events)
{
	char c;

	fx.calls_a++;
	fx.events = events;
	ASSERT_TRUE(loop_current() == fx.loop);
	ASSERT_EQ(read(f->fd, &c, 1), 1);
	loop_stop(fx.loop);
}

static void test_readable(void)
{
	setup();
	fx.fa.cb = count_and_stop;
	fx.fa.events = EPOLLIN;
	ASSERT_EQ(loop_fd_add(fx.loop, &fx.fa), 0);
	ASSERT_TRUE(fx.fa.loop == fx.loop);
	ASSERT_EQ(write(fx.a[1], "xy", 2), 2);
	run();
	ASSERT_EQ(fx.calls_a, 1);
	ASSERT_HEX(fx.events, EPOLLIN);
	/* level-triggered: the byte that was left is told again */
	run();
	ASSERT_EQ(fx.calls_a, 2);
	ASSERT_TRUE(!loop_current());
	loop_fd_del(&fx.fa);
	loop_fd_del(&fx.fa);
	ASSERT_TRUE(!fx.fa.loop);
	/* the descriptor stays the caller's */
	ASSERT_TRUE(fcntl(fx.a[0], F_GETFD) >= 0);
	teardown();
}

static void test_add_fails(void)
{
	setup();
	fx.fa.fd = -1;
	ASSERT_EQ(loop_fd_add(fx.loop, &fx.fa), -EBADF);
	ASSERT_TRUE(!fx.fa.loop);
	teardown();
}

/* Whichever of the two is served first removes the other, whose event is in the same batch. */
static void remove_other(struct loop_fd *f, uint32_t events)
{
	struct loop_fd *other = f == &fx.fa ? &fx.fb : &fx.fa;

	fx.calls_a++;
	loop_fd_del(other);
	memset(other, 0xff, sizeof(*other)); /* as good as freed */
	other->loop = NULL;
	loop_fd_del(f);
	loop_stop(fx.loop);
}

static void test_stale_event_is_struck_out(void)
{
	setup();
	fx.fa.cb = fx.fb.cb = remove_other;
	fx.fa.events = fx.fb.events = EPOLLIN;
	ASSERT_EQ(loop_fd_add(fx.loop, &fx.fa), 0);
	ASSERT_EQ(loop_fd_add(fx.loop, &fx.fb), 0);
	ASSERT_EQ(write(fx.a[1], "x", 1), 1);
	ASSERT_EQ(write(fx.b[1], "x", 1), 1);
	run();
	ASSERT_EQ(fx.calls_a, 1);
	teardown();
}

static void mute_other(struct loop_fd *f, uint32_t events)
{
	struct loop_fd *other = f == &fx.fa ? &fx.fb : &fx.fa;

	fx.calls_a++;
	ASSERT_EQ(loop_fd_mod(other, 0), 0);
	ASSERT_EQ(loop_fd_mod(f, 0), 0);
	loop_stop(fx.loop);
}

static void test_mod_counts_within_the_batch(void)
{
	setup();
	fx.fa.cb = fx.fb.cb = mute_other;
	fx.fa.events = fx.fb.events = EPOLLIN;
	ASSERT_EQ(loop_fd_add(fx.loop, &fx.fa), 0);
	ASSERT_EQ(loop_fd_add(fx.loop, &fx.fb), 0);
	ASSERT_EQ(write(fx.a[1], "x", 1), 1);
	ASSERT_EQ(write(fx.b[1], "x", 1), 1);
	run();
	ASSERT_EQ(fx.calls_a, 1);
	teardown();
}

static void count_hangup(struct loop_fd *f, uint32_t events)
{
	fx.events = events;
	loop_fd_del(f);
	loop_stop(fx.loop);
}

static void test_hangup_is_told_without_asking(void)
{
	setup();
	fx.fa.cb = count_hangup;
	ASSERT_EQ(loop_fd_add(fx.loop, &fx.fa), 0);
	ASSERT_EQ(shutdown(fx.a[1], SHUT_RDWR), 0);
	run();
	ASSERT_TRUE(fx.events & EPOLLHUP);
	teardown();
}

/* ---- timers ---- */

struct timing {
	struct loop_timer t;
	int64_t armed_ns, fired_ns;
	uint64_t ms;
	int fired;
};

static struct timing timing[3];
static int timings_left;

static void fired(struct loop_timer *t)
{
	struct timing *m = container_of(t, struct timing, t);

	m->fired_ns = mono_ns();
	m->fired++;
	if (--timings_left == 0)
		loop_stop(fx.loop);
}

static void arm(struct timing *m, uint64_t ms)
{
	m->t.cb = fired;
	m->ms = ms;
	m->armed_ns = mono_ns();
	loop_timer_arm(fx.loop, &m->t, ms);
}

static void test_timers_never_early(void)
{
	size_t i;

	setup();
	memset(timing, 0, sizeof(timing));
	timings_left = 3;
	arm(&timing[0], 0);
	arm(&timing[1], 3);
	arm(&timing[2], 90); /* moves down a level on its way */
	run();
	for (i = 0; i < 3; i++) {
		ASSERT_EQ(timing[i].fired, 1);
		ASSERT_TRUE(timing[i].fired_ns - timing[i].armed_ns >=
			    (int64_t)timing[i].ms * 1000000);
		ASSERT_TRUE(timing[i].fired_ns - timing[i].armed_ns < 10 * SEC);
	}
	ASSERT_TRUE(timing[0].fired_ns <= timing[1].fired_ns);
	ASSERT_TRUE(timing[1].fired_ns <= timing[2].fired_ns);
	teardown();
}

static void test_rearm_moves_and_cancel_ends(void)
{
	setup();
	memset(timing, 0, sizeof(timing));
	timings_left = 1;
	arm(&timing[0], 3600000);
	arm(&timing[1], 1);
	arm(&timing[2], 1);
	loop_timer_cancel(fx.loop, &timing[1].t);
	loop_timer_cancel(fx.loop, &timing[1].t);
	loop_timer_cancel(fx.loop, &timing[2].t);
	arm(&timing[0], 5);
	run();
	ASSERT_EQ(timing[0].fired, 1);
	ASSERT_EQ(timing[1].fired, 0);
	ASSERT_EQ(timing[2].fired, 0);
	teardown();
}

static void cancel_sibling(struct loop_timer *t)
{
	struct timing *m = container_of(t, struct timing, t);
	struct timing *other = m == &timing[0] ? &timing[1] : &timing[0];

	m->fired++;
	loop_timer_cancel(fx.loop, &other->t);
	loop_stop(fx.loop);
}

static void test_cancel_of_a_due_timer(void)
{
	setup();
	memset(timing, 0, sizeof(timing));
	arm(&timing[0], 2);
	arm(&timing[1], 2);
	timing[0].t.cb = timing[1].t.cb = cancel_sibling;
	run();
	ASSERT_EQ(timing[0].fired + timing[1].fired, 1);
	teardown();
}

/* ---- posted work and stop ---- */

#define POSTERS 4
#define POSTS 5000

struct posted {
	struct loop_work w;
	int poster, seq;
};

static struct posted posted[POSTERS][POSTS];
static int next_seq[POSTERS], total;

static void take_posted(struct loop_work *w)
{
	struct posted *p = container_of(w, struct posted, w);

	/* work of one thread comes in the order it was posted */
	ASSERT_EQ(p->seq, next_seq[p->poster]);
	next_seq[p->poster]++;
	if (++total == POSTERS * POSTS)
		loop_stop(fx.loop);
}

static void *post_all(void *arg)
{
	int i, k = (int)((struct posted(*)[POSTS])arg - posted);

	for (i = 0; i < POSTS; i++) {
		posted[k][i] = (struct posted){.w.fn = take_posted, .poster = k, .seq = i};
		loop_post(fx.loop, &posted[k][i].w);
	}
	return NULL;
}

static void test_post_from_many_threads(void)
{
	pthread_t t[POSTERS];
	int i;

	setup();
	total = 0;
	memset(next_seq, 0, sizeof(next_seq));
	for (i = 0; i < POSTERS; i++)
		ASSERT_EQ(pthread_create(&t[i], NULL, post_all, &posted[i]), 0);
	run();
	for (i = 0; i < POSTERS; i++)
		pthread_join(t[i], NULL);
	ASSERT_EQ(total, POSTERS * POSTS);
	teardown();
}

static char thread_name[16];

static void note_name(struct loop_work *w)
{
	pthread_getname_np(pthread_self(), thread_name, sizeof(thread_name));
	loop_stop(fx.loop);
}

static void *run_on_thread(void *arg)
{
	return (void *)(intptr_t)loop_run(fx.loop);
}

static void test_thread_is_named(void)
{
	struct loop_work w = {.fn = note_name};
	void *r;
	pthread_t t;

	setup();
	loop_post(fx.loop, &w); /* before it runs */
	ASSERT_EQ(pthread_create(&t, NULL, run_on_thread, NULL), 0);
	pthread_join(t, &r);
	ASSERT_TRUE(r == NULL);
	ASSERT_STR(thread_name, "w0");
	teardown();
}

static void on_signal(int sig)
{
	loop_stop(fx.loop);
}

static void raise_it(struct loop_timer *t)
{
	raise(SIGUSR1);
}

static void test_stop_from_a_signal_handler(void)
{
	struct loop_timer t = {.cb = raise_it};

	setup();
	ASSERT_TRUE(signal(SIGUSR1, on_signal) != SIG_ERR);
	loop_timer_arm(fx.loop, &t, 1);
	run();
	signal(SIGUSR1, SIG_DFL);
	/* a stop that came before the run ends it after one round */
	loop_stop(fx.loop);
	run();
	teardown();
}

UNIT_MAIN("loop", {"readable, level-triggered", test_readable},
	  {"a bad descriptor is refused", test_add_fails},
	  {"a stale event is struck out", test_stale_event_is_struck_out},
	  {"mod counts within the batch", test_mod_counts_within_the_batch},
	  {"hang-up is told without asking", test_hangup_is_told_without_asking},
	  {"timers are never early", test_timers_never_early},
	  {"re-arm moves, cancel ends", test_rearm_moves_and_cancel_ends},
	  {"cancel of a due timer", test_cancel_of_a_due_timer},
	  {"post from many threads", test_post_from_many_threads},
	  {"the thread is named", test_thread_is_named},
	  {"stop from a signal handler", test_stop_from_a_signal_handler})
