/* SPDX-License-Identifier: BSD-2-Clause */
/* Processor time of servers: the sum over the threads of all processes of their sessions. */
#ifndef BENCH_METER_H
#define BENCH_METER_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* schedstat files of threads, open: reading them costs the server nothing. */
struct meter {
	int *fds;
	size_t n, cap;
};

#define METER_INIT                                                                                 \
	{                                                                                          \
	}

/* Count process @pid, too. Return: 0 or a negative errno. */
int meter_add_process(struct meter *m, pid_t pid);
/* Count all processes of the session that @sid leads, too. Return: as meter_add_process(). */
int meter_add_session(struct meter *m, pid_t sid);
/* Close all. */
void meter_deinit(struct meter *m);
/* The sum so far. Threads that came after they were added are not seen. Return: 0 or -errno. */
int meter_read(struct meter *m, int64_t *ret_ns);
/* Resident memory of a process in bytes, 0 if it is gone. */
uint64_t meter_rss(pid_t pid);

#endif
