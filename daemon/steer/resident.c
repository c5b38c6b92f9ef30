/* SPDX-License-Identifier: BSD-2-Clause */
/* Whether bytes of a file are in the page cache, asked without waiting for them. */
#include "steer/resident.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/bits.h"
#include "base/cleanup.h"

#define PROBE_STEP 65536 /* between two looks, where the kernel has no cachestat(2) */

#define FETCH_PIECE (256U << 10)

#ifndef __NR_cachestat
#define __NR_cachestat 451 /* the same number on every architecture */
#endif

/* As linux/mman.h has them since 6.5. */
struct range {
	uint64_t off, len;
};
struct stat_pages {
	uint64_t cache, dirty, writeback, evicted, recently_evicted;
};

/* Read one byte of each step and the last one. Return: whether all were had. */
static bool probe(int fd, uint64_t off, uint64_t len)
{
	uint64_t at;
	char c;
	struct iovec v = {&c, 1};

	for (at = 0; at < len; at += PROBE_STEP) {
		if (preadv2(fd, &v, 1, (off_t)(off + at), RWF_NOWAIT) != 1)
			return false;
	}
	return !len || preadv2(fd, &v, 1, (off_t)(off + len - 1), RWF_NOWAIT) == 1;
}

bool resident(int fd, uint64_t off, uint64_t len)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	struct range r = {off, len};
	struct stat_pages s;

	if (!len)
		return true;
	if (syscall(__NR_cachestat, (unsigned int)fd, &r, &s, 0U) == 0)
		return s.cache == (off + len - 1) / page - off / page + 1;
	return probe(fd, off, len);
}

void resident_fetch(int fd, uint64_t off, uint64_t len)
{
	autofree char *piece = malloc(FETCH_PIECE);

	while (piece && len) {
		ssize_t n = pread(fd, piece, MIN(len, (uint64_t)FETCH_PIECE), (off_t)off);

		if (!n || (n < 0 && errno != EINTR))
			return;
		if (n > 0) {
			off += (uint64_t)n;
			len -= (uint64_t)n;
		}
	}
}
