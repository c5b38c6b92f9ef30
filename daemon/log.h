/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The only logger: one line an event, "time level event key=value ...", to stderr or, where that
 * is the journal's stream under systemd, to the journal with its priority. The last MiB is kept in
 * memory for what=log.
 * Control bytes inside a line are escaped (\xNN), so no peer can forge a line. Never log secrets.
 */
#ifndef LOG_H
#define LOG_H

#include "base/buf.h"

enum log_level {
	LOG_NONE,
	LOG_ERROR,
	LOG_WARN,
	LOG_INFO,
	LOG_DEBUG,
	LOG_NR,
};

#define LOG_KEEP_BYTES (1U << 20)

/**
 * log_write() - Log one event
 * @level:	its weight
 * @event:	a short constant name, "put.failed"
 * @fmt:	"key=%s key2=%d", printf; text that may hold blanks goes in quotes: err=\"%s\"
 *
 * Any thread; never fails, never blocks for long; keeps errno.
 */
void log_write(enum log_level level, const char *event, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#define log_error(event, ...) log_write(LOG_ERROR, event, __VA_ARGS__)
#define log_warn(event, ...) log_write(LOG_WARN, event, __VA_ARGS__)
#define log_info(event, ...) log_write(LOG_INFO, event, __VA_ARGS__)
#define log_debug(event, ...) log_write(LOG_DEBUG, event, __VA_ARGS__)

/* Events lighter than @level are dropped. Default LOG_INFO. Any thread. */
void log_set_level(enum log_level level);

/**
 * log_tail() - Append what is kept of the log
 * @min:	lines of this level and graver only (LOG_DEBUG: all)
 * @offset:	skip so many bytes of those lines first: what the caller has already
 * @out:	appended to; check @out->err
 *
 * Any thread.
 */
void log_tail(enum log_level min, size_t offset, struct buf *out);

#endif
