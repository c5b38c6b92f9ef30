/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * loop - one epoll loop of one thread: descriptors, timers, work posted from other threads
 *
 * All functions but loop_post() and loop_stop() belong to the loop's own thread (or to the time
 * before it runs). Callbacks may add and remove descriptors and timers, their own too. Nothing in
 * a callback may block.
 */
#ifndef LOOP_H
#define LOOP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/epoll.h>

#include "base/list.h"

struct loop;

struct loop_fd {
	int fd;
	uint32_t events; /* EPOLL* waited for, level-triggered; set by loop_fd_mod() */
	void (*cb)(struct loop_fd *f, uint32_t events);
	struct loop *loop; /* NULL when not added */
};

struct loop_timer {
	struct list node; /* private */
	int64_t at_ns; /* private */
	bool armed; /* private */
	void (*cb)(struct loop_timer *t);
};

/* Work posted to a loop: embed it; it is the loop's from loop_post() until @fn is called. */
struct loop_work {
	struct loop_work *next; /* private */
	void (*fn)(struct loop_work *w);
};

/**
 * loop_new() - Make a loop
 * @name:	thread name when it runs, at most 15 characters, copied
 * @ret:	the loop, written on success only
 *
 * Return: 0, -ENOMEM, or the error of epoll_create1(2), eventfd(2).
 */
int loop_new(const char *name, struct loop **ret);
/* Free a loop that does not run; its descriptors must have been removed. NULL is fine. */
void loop_free(struct loop *l);

/*
 * Run on the calling thread until loop_stop(). The thread takes the loop's name, unless it is the
 * process's first. Return: 0, or a negative errno of epoll_wait(2).
 */
int loop_run(struct loop *l);
/*
 * Make loop_run() return after the current round (the next one, if it does not run). Any thread,
 * signal handlers too.
 */
void loop_stop(struct loop *l);
/* Call @w->fn on the loop's thread, in order of posting. Any thread. */
void loop_post(struct loop *l, struct loop_work *w);
/* The loop that runs on this thread, or NULL. */
struct loop *loop_current(void);
/* CLOCK_MONOTONIC in ns, read once a round. */
int64_t loop_now_ns(const struct loop *l);

/* Wait for @f->events on @f->fd. Return: 0 or the error of epoll_ctl(2). */
int loop_fd_add(struct loop *l, struct loop_fd *f);
/* Wait for other events (0: only errors and hang-up). No system call if nothing changes. */
int loop_fd_mod(struct loop_fd *f, uint32_t events);
/* Stop waiting; the descriptor stays open and the caller's. A second call is a no-op. */
void loop_fd_del(struct loop_fd *f);

/* Call @t->cb once, @ms from now; re-arming moves it. A zeroed struct with cb set is valid. */
void loop_timer_arm(struct loop *l, struct loop_timer *t, uint64_t ms);
/* A no-op if not armed. */
void loop_timer_cancel(struct loop *l, struct loop_timer *t);

#endif
