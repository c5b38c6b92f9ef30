/* SPDX-License-Identifier: BSD-2-Clause */
/* What the page cache holds of a real file: written, dropped, fetched, in part. */
#include "selftests/unit/unit.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "steer/resident.h"

#define MIB (1 << 20)
#define TMPFS 0x01021994

/* A file of 4 MiB on disk, all of it written back. It has no name. */
static int make_file(void)
{
	char path[] = "build/resident.XXXXXX", *piece = calloc(1, MIB);
	int fd = mkstemp(path), i;

	ASSERT_TRUE(fd >= 0 && piece);
	unlink(path);
	for (i = 0; i < 4; i++)
		ASSERT_EQ(pwrite(fd, piece, MIB, (off_t)i * MIB), MIB);
	ASSERT_EQ(fsync(fd), 0);
	free(piece);
	return fd;
}

static void test_file(void)
{
	struct statfs st;
	int fd = make_file();

	ASSERT_EQ(fstatfs(fd, &st), 0);
	ASSERT_TRUE(resident(fd, 0, 4 * MIB));
	ASSERT_TRUE(resident(fd, 1, 1) && resident(fd, 4 * MIB - 1, 1) && resident(fd, 7, 0));
	if (st.f_type == TMPFS) /* there is no disk behind it to drop to */
		return;
	ASSERT_EQ(posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED), 0);
	ASSERT_TRUE(!resident(fd, 0, 4 * MIB) && !resident(fd, 2 * MIB, 4096));
	resident_fetch(fd, 2 * MIB, MIB);
	ASSERT_TRUE(resident(fd, 2 * MIB, 4096) && resident(fd, 3 * MIB - 1, 1));
	resident_fetch(fd, 0, 4 * MIB);
	ASSERT_TRUE(resident(fd, 2 * MIB, MIB));
	close(fd);
}

static void test_beyond_the_end(void)
{
	int fd = make_file();

	ASSERT_TRUE(!resident(fd, 4 * MIB - 1, 2 * 4096));
	close(fd);
}

UNIT_MAIN("resident", {"file", test_file}, {"beyond the end", test_beyond_the_end})
