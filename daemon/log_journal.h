/* SPDX-License-Identifier: BSD-2-Clause */
/* The journal's side of the logger, apart because syslog.h claims the names of log levels. */
#ifndef LOG_JOURNAL_H
#define LOG_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>

/* Whether descriptor 2 is the journal's stream (JOURNAL_STREAM of systemd.exec(5)). */
bool log_journal_is_stderr(void);

/* Send one entry, priority as syslog(3). Return: 0 or a negative errno. */
int log_journal_send(int priority, const char *event, const char *message, size_t len);

#endif
