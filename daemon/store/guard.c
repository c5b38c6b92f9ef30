/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A handler of SIGBUS that returns into the guarded call. It looks for the guard whose map the
 * address is in; a fault elsewhere is handed to who had the signal before, which by default ends
 * the process.
 */
#include "store/guard.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <ucontext.h>

#include "base/cleanup.h"

static _Thread_local struct guard *top; /* innermost guard of this thread */
static _Thread_local bool ready; /* it takes the signal */
static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct sigaction before; /* who had it */

static bool covers(const struct guard *g, const char *at)
{
	size_t i;

	for (i = 0; i < GUARD_MAPS; i++) {
		if (at >= g->maps[i].base && at < g->maps[i].base + g->maps[i].len)
			return true;
	}
	return false;
}

static void on_fault(int sig, siginfo_t *si, void *context)
{
	struct guard *g;

	for (g = top; g; g = g->outer) {
		if (si->si_code > 0 && covers(g, si->si_addr)) {
			top = g;
			/* as it was at the fault: this handler does not return */
			pthread_sigmask(SIG_SETMASK, &((ucontext_t *)context)->uc_sigmask, NULL);
			siglongjmp(g->back, 1);
		}
	}
	/* not ours: it faults again, or is sent again, and then it is the other's */
	sigaction(sig, &before, NULL);
	if (si->si_code <= 0)
		raise(sig);
}

static void install(void)
{
	struct sigaction sa = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};

	sigemptyset(&sa.sa_mask);
	sigaction(SIGBUS, &sa, &before);
}

void guard_start(void)
{
	pthread_once(&once, install);
}

void guard_enter(struct guard *g, const struct guard_map *maps)
{
	if (!ready) {
		sigset_t bus;

		/* threads begin with all signals blocked; a blocked fault ends the process */
		sigemptyset(&bus);
		sigaddset(&bus, SIGBUS);
		pthread_sigmask(SIG_UNBLOCK, &bus, NULL);
		ready = true;
	}
	g->maps = maps;
	g->outer = top;
	atomic_signal_fence(memory_order_seq_cst);
	top = g;
}

void guard_leave(struct guard *g)
{
	atomic_signal_fence(memory_order_seq_cst);
	top = g->outer;
}

void guard_trip(void)
{
	if (top)
		siglongjmp(top->back, 1);
}

/* ---- where files are mapped ---- */

/* "base-end perms offset dev inode   path": is it @path? */
static void take_line(const char *line, const char *path, struct guard_map *ret)
{
	unsigned long base, end;
	const char *at = strchr(line, '/');
	size_t n = strlen(path);

	if (!at || strncmp(at, path, n) || at[n] != '\n' ||
	    sscanf(line, "%lx-%lx", &base, &end) != 2)
		return;
	*ret = (struct guard_map){(const char *)base, end - base};
}

void guard_find(int fd, const char *other, struct guard_map maps[GUARD_MAPS])
{
	autofile FILE *f = fopen("/proc/self/maps", "re");
	char link[32], path[4096], beside[4096], line[4096 + 128];
	ssize_t n;
	char *slash;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof(path) - 1);
	if (!f || n <= 0)
		return;
	path[n] = 0;
	slash = strrchr(path, '/');
	if (!slash || (size_t)(slash + 1 - path) + strlen(other) >= sizeof(beside))
		return;
	snprintf(beside, sizeof(beside), "%.*s%s", (int)(slash + 1 - path), path, other);
	while (fgets(line, sizeof(line), f)) {
		take_line(line, path, &maps[0]);
		take_line(line, beside, &maps[1]);
	}
}
