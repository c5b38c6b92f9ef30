/* SPDX-License-Identifier: BSD-2-Clause */
/* Whether stderr is the journal's stream is told by device and inode, not by the variable alone. */
#include "selftests/unit/unit.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "log_journal.h"

static void test_stream(void)
{
	int saved = dup(2), p[2];
	bool none, right, other, garbled;
	struct stat st;
	char text[64];

	ASSERT_EQ(pipe2(p, O_CLOEXEC), 0);
	ASSERT_EQ(fstat(p[1], &st), 0);
	snprintf(text, sizeof(text), "%llu:%llu", (unsigned long long)st.st_dev,
		 (unsigned long long)st.st_ino);
	unsetenv("JOURNAL_STREAM");
	dup2(p[1], 2);
	none = log_journal_is_stderr();
	setenv("JOURNAL_STREAM", text, 1);
	right = log_journal_is_stderr();
	dup2(saved, 2); /* inherited, but stderr was redirected since */
	other = log_journal_is_stderr();
	setenv("JOURNAL_STREAM", "x", 1);
	garbled = log_journal_is_stderr();
	unsetenv("JOURNAL_STREAM");
	close(saved);
	close(p[0]);
	close(p[1]);
	ASSERT_TRUE(!none && right && !other && !garbled);
}

UNIT_MAIN("log_journal", {"stderr is the journal's stream or not", test_stream})
