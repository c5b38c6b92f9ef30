/* SPDX-License-Identifier: BSD-2-Clause */
/* Which congestion control the sockets of this namespace really run. */
#ifndef BENCH_CONGESTION_H
#define BENCH_CONGESTION_H

#include <stddef.h>

/**
 * congestion_other() - Look for an established TCP socket that runs another algorithm
 * @name:	the algorithm that all should run
 * @ret:	the other's name, written when there is one
 * @size:	room at @ret
 *
 * Return: 0 when all run @name; 1 when one does not; -ENOENT when there are no sockets; or a
 * negative errno: the kernel does not tell.
 */
int congestion_other(const char *name, char *ret, size_t size);

#endif
