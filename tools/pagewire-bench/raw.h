/* SPDX-License-Identifier: BSD-2-Clause */
/* The bare calls that a storage node cannot do without, and nothing else. */
#ifndef BENCH_RAW_H
#define BENCH_RAW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

/* A server of one file: recv, head, splice. */
struct raw_splice {
	uint16_t port;
	char file[512];
};

/* Serve for ever. @arg is a struct raw_splice. Return: an exit code, on failure only. */
int raw_splice_serve(void *arg);

/* A loop of threads that store files. */
struct raw_store {
	const char *dir;
	const void *body;
	size_t len;
	unsigned int threads;
	bool durable; /* fdatasync, and fsync of the folder */
	int64_t limit_ns;
};

/* What a bare loop did. */
struct raw_result {
	uint64_t n;
	int64_t wall_ns, cpu_ns;
};

/* Store files until the time is over; they stay in the folder. Return: 0 or -errno. */
int raw_store_run(const struct raw_store *s, struct raw_result *ret);
/* Pipe @len bytes to `dd of=@path bs=1M`. Return: 0 or -errno. */
int raw_dd(const char *path, const void *body, size_t len, struct raw_result *ret);
/* Sign 200 bytes again and again. Return: 0 or -errno. */
int raw_sign(int64_t limit_ns, struct raw_result *ret);
/* Verify signatures of 200 bytes again and again. Return: 0 or -errno. */
int raw_verify(int64_t limit_ns, struct raw_result *ret);

#endif
