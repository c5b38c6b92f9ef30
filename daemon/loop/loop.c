/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * DOC: rounds
 *
 * A round waits, then serves descriptors, then timers that are due, then posted work; each of the
 * three is a list taken once, so what a callback adds is served in the next round and no source
 * starves another. A callback may remove any descriptor: its event, if it still waits in this
 * round's batch, is struck out, for the struct may be gone by then.
 */
#include "loop/loop.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "loop/wheel.h"

#define BATCH 256
#define NAME_SIZE 16 /* what the kernel keeps of a thread's name */

struct loop {
	int epoll_fd, wake_fd;
	char name[NAME_SIZE];
	atomic_bool stop;
	bool running;
	_Atomic(struct loop_work *) inbox; /* newest first */
	int64_t now_ns;
	struct wheel wheel;
	int batch_len, batch_pos;
	struct epoll_event batch[BATCH];
};

static __thread struct loop *current;

static int loop_open(struct loop *l)
{
	struct epoll_event ev = {.events = EPOLLIN, .data.ptr = NULL};
	autofd ep = -1, wake = -1;

	ep = epoll_create1(EPOLL_CLOEXEC);
	if (ep < 0)
		return -errno;
	wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (wake < 0)
		return -errno;
	ev.data.ptr = l; /* no loop_fd has this address */
	if (epoll_ctl(ep, EPOLL_CTL_ADD, wake, &ev) < 0)
		return -errno;
	l->epoll_fd = take_fd(&ep);
	l->wake_fd = take_fd(&wake);
	return 0;
}

int loop_new(const char *name, struct loop **ret)
{
	autofree struct loop *l = calloc(1, sizeof(*l));
	int r;

	if (!l)
		return -ENOMEM;
	r = loop_open(l);
	if (r < 0)
		return r;
	snprintf(l->name, sizeof(l->name), "%s", name);
	l->now_ns = mono_ns();
	wheel_init(&l->wheel, l->now_ns);
	*ret = take_ptr(l);
	return 0;
}

void loop_free(struct loop *l)
{
	if (!l)
		return;
	close(l->epoll_fd);
	close(l->wake_fd);
	free(l);
}

struct loop *loop_current(void)
{
	return current;
}

int64_t loop_now_ns(const struct loop *l)
{
	return l->running ? l->now_ns : mono_ns();
}

static void loop_wake(struct loop *l)
{
	uint64_t one = 1;
	ssize_t n;

	/* EAGAIN means a counter at its end: it is awake */
	do
		n = write(l->wake_fd, &one, sizeof(one));
	while (n < 0 && errno == EINTR);
}

void loop_stop(struct loop *l)
{
	int keep = errno;

	atomic_store(&l->stop, true);
	loop_wake(l);
	errno = keep;
}

void loop_post(struct loop *l, struct loop_work *w)
{
	struct loop_work *head = atomic_load_explicit(&l->inbox, memory_order_relaxed);

	do
		w->next = head;
	while (!atomic_compare_exchange_weak(&l->inbox, &head, w));
	/* @w may be gone by now; who found the inbox empty wakes the loop for all */
	if (!head)
		loop_wake(l);
}

static void run_inbox(struct loop *l)
{
	struct loop_work *w = atomic_exchange(&l->inbox, NULL), *fifo = NULL;

	while (w) {
		struct loop_work *next = w->next;

		w->next = fifo;
		fifo = w;
		w = next;
	}
	while (fifo) {
		w = fifo;
		fifo = w->next;
		w->fn(w);
	}
}

static void run_timers(struct loop *l)
{
	struct list due = LIST_INIT(due);

	wheel_advance(&l->wheel, l->now_ns, &due);
	while (!list_empty(&due)) {
		struct loop_timer *t = list_entry(due.next, struct loop_timer, node);

		list_del(&t->node);
		t->armed = false;
		t->cb(t);
	}
}

static void run_events(struct loop *l, int n)
{
	l->batch_len = n;
	for (l->batch_pos = 0; l->batch_pos < n; l->batch_pos++) {
		struct epoll_event *ev = &l->batch[l->batch_pos];
		struct loop_fd *f = ev->data.ptr;
		uint32_t events;

		if (!f)
			continue;
		if (ev->data.ptr == (void *)l) {
			uint64_t count;

			if (read(l->wake_fd, &count, sizeof(count)) < 0)
				continue; /* already taken */
			continue;
		}
		/* a callback before this one may have asked for less */
		events = ev->events & (f->events | EPOLLERR | EPOLLHUP);
		if (events)
			f->cb(f, events);
	}
	l->batch_len = 0;
}

/* How long epoll may wait, in ms; -1: for ever. */
static int wait_ms(const struct loop *l)
{
	int64_t next = wheel_next_ns(&l->wheel), now;

	if (next == INT64_MAX)
		return -1;
	now = mono_ns();
	if (next <= now)
		return 0;
	return (int)MIN((next - now + 999999) / 1000000, (int64_t)INT_MAX);
}

static int loop_round(struct loop *l)
{
	int n = epoll_wait(l->epoll_fd, l->batch, BATCH, wait_ms(l));

	if (n < 0 && errno != EINTR)
		return -errno;
	l->now_ns = mono_ns();
	run_events(l, MAX(n, 0));
	run_timers(l);
	run_inbox(l);
	return 0;
}

int loop_run(struct loop *l)
{
	struct loop *outer = current;
	int r;

	/* the first thread's name is the process's in ps and top: it stays */
	if (gettid() != getpid())
		pthread_setname_np(pthread_self(), l->name);
	current = l;
	l->now_ns = mono_ns();
	l->running = true;
	do
		r = loop_round(l);
	while (r == 0 && !atomic_load(&l->stop));
	l->running = false;
	atomic_store(&l->stop, false);
	current = outer;
	return r;
}

int loop_fd_add(struct loop *l, struct loop_fd *f)
{
	struct epoll_event ev = {.events = f->events, .data.ptr = f};

	if (epoll_ctl(l->epoll_fd, EPOLL_CTL_ADD, f->fd, &ev) < 0)
		return -errno;
	f->loop = l;
	return 0;
}

int loop_fd_mod(struct loop_fd *f, uint32_t events)
{
	struct epoll_event ev = {.events = events, .data.ptr = f};

	if (f->events == events)
		return 0;
	if (epoll_ctl(f->loop->epoll_fd, EPOLL_CTL_MOD, f->fd, &ev) < 0)
		return -errno;
	f->events = events;
	return 0;
}

void loop_fd_del(struct loop_fd *f)
{
	struct loop *l = f->loop;
	int i;

	if (!l)
		return;
	epoll_ctl(l->epoll_fd, EPOLL_CTL_DEL, f->fd, NULL);
	for (i = l->batch_pos + 1; i < l->batch_len; i++) {
		if (l->batch[i].data.ptr == (void *)f)
			l->batch[i].data.ptr = NULL;
	}
	f->loop = NULL;
}

void loop_timer_arm(struct loop *l, struct loop_timer *t, uint64_t ms)
{
	int64_t now = loop_now_ns(l);

	loop_timer_cancel(l, t);
	if (ms > (uint64_t)(INT64_MAX - now) / 1000000)
		t->at_ns = INT64_MAX;
	else
		t->at_ns = now + (int64_t)ms * 1000000;
	t->armed = true;
	wheel_add(&l->wheel, t);
}

void loop_timer_cancel(struct loop *l, struct loop_timer *t)
{
	if (!t->armed)
		return;
	list_del(&t->node); /* its slot's bit stays set: at worst one idle wake-up */
	t->armed = false;
}
