/* SPDX-License-Identifier: BSD-2-Clause */
/* Whether bytes of a file are in the page cache. */
#ifndef STEER_RESIDENT_H
#define STEER_RESIDENT_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Whether [@off, +@len) of @fd can be read without a disk: by cachestat(2) where the kernel has it
 * (6.5), else by reading with RWF_NOWAIT. What can not be told counts as not resident.
 */
bool resident(int fd, uint64_t off, uint64_t len);
/* Read the range, so that it is. May block: io pool only. Errors show when the bytes are sent. */
void resident_fetch(int fd, uint64_t off, uint64_t len);

#endif
