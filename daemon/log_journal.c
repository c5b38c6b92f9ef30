/* SPDX-License-Identifier: BSD-2-Clause */
/* Entries of the systemd journal, each with PRIORITY and our own field PAGEWIRE_EVENT. */
#define SD_JOURNAL_SUPPRESS_LOCATION
#include "log_journal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <systemd/sd-journal.h>

bool log_journal_is_stderr(void)
{
	const char *s = getenv("JOURNAL_STREAM");
	uint64_t dev, ino;
	struct stat st;

	/* the variable is inherited, the stream may have been redirected since */
	return s && sscanf(s, "%" SCNu64 ":%" SCNu64, &dev, &ino) == 2 && fstat(2, &st) == 0 &&
	       st.st_dev == dev && st.st_ino == ino;
}

int log_journal_send(int priority, const char *event, const char *message, size_t len)
{
	char prio[32], ev[128], msg[5120];
	struct iovec iov[] = {{.iov_base = prio}, {.iov_base = ev}, {.iov_base = msg}};

	snprintf(prio, sizeof(prio), "PRIORITY=%d", priority);
	snprintf(ev, sizeof(ev), "PAGEWIRE_EVENT=%s", event);
	snprintf(msg, sizeof(msg), "MESSAGE=%.*s", (int)len, message);
	iov[0].iov_len = strlen(prio);
	iov[1].iov_len = strlen(ev);
	iov[2].iov_len = strlen(msg);
	return sd_journal_sendv(iov, 3);
}
