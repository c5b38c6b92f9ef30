/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * DOC: the one global
 *
 * A line of log must be possible from everywhere, also before anything else is set up, so the
 * logger is the one object that is not passed around: a level, and the kept text under a lock.
 * The descriptor is written outside of that lock: whoever reads our stderr slowly delays the
 * thread that logs by WRITE_WAIT_MS at most, then the line is only kept.
 */
#include "log.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <time.h>
#include <unistd.h>

#include "base/bits.h"
#include "log_journal.h"

#define LINE_SIZE 4096 /* PIPE_BUF: one write is one line, whoever else writes */
#define STAMP_LEN 27 /* 2026-11-30T22:10:01.123456Z */
#define WRITE_WAIT_MS 100

static struct {
	atomic_int level;
	pthread_once_t once;
	bool to_journal;
	pthread_mutex_t lock;
	size_t start, len; /* of the kept text in the ring; it begins with a line's beginning */
	char ring[LOG_KEEP_BYTES];
} logger = {.level = LOG_INFO, .once = PTHREAD_ONCE_INIT, .lock = PTHREAD_MUTEX_INITIALIZER};

static const struct {
	const char *name;
	int priority; /* of syslog(3) */
} levels[LOG_NR] = {
	[LOG_NONE] = {"none", 7}, [LOG_ERROR] = {"error", 3}, [LOG_WARN] = {"warn", 4},
	[LOG_INFO] = {"info", 6}, [LOG_DEBUG] = {"debug", 7},
};

static void log_begin(void)
{
	logger.to_journal = log_journal_is_stderr();
}

void log_set_level(enum log_level level)
{
	atomic_store_explicit(&logger.level, (int)level, memory_order_relaxed);
}

/* Bytes at @s that must not reach a terminal or split a line: C0, DEL, and C1 as UTF-8. */
static size_t control_len(const unsigned char *s)
{
	if (s[0] < 0x20 || s[0] == 0x7f)
		return 1;
	return s[0] == 0xc2 && s[1] >= 0x80 && s[1] < 0xa0 ? 2 : 0;
}

/* Copy @s with control bytes as \xNN; cut with "..." at @size. Return: the length. */
static size_t copy_escaped(char *out, size_t size, const char *s)
{
	const unsigned char *p = (const unsigned char *)s;
	size_t n = 0, ctl;

	while (*p) {
		if (n + 8 + 3 >= size) {
			memcpy(out + n, "...", 3);
			return n + 3;
		}
		ctl = control_len(p);
		if (!ctl)
			out[n++] = (char)*p++;
		for (; ctl; ctl--)
			n += (size_t)snprintf(out + n, 5, "\\x%02x", *p++);
	}
	return n;
}

static size_t put_stamp(char *out, size_t size)
{
	struct timespec now;
	struct tm tm;
	size_t n;

	clock_gettime(CLOCK_REALTIME, &now);
	gmtime_r(&now.tv_sec, &tm);
	n = strftime(out, size, "%Y-%m-%dT%H:%M:%S", &tm);
	return n + (size_t)snprintf(out + n, size - n, ".%06ldZ", now.tv_nsec / 1000);
}

static char ring_at(size_t i)
{
	return logger.ring[(logger.start + i) % LOG_KEEP_BYTES];
}

/* Forget the oldest lines until @n more bytes fit. */
static void ring_make_room(size_t n)
{
	size_t drop = 0;

	if (LOG_KEEP_BYTES - logger.len >= n)
		return;
	while (LOG_KEEP_BYTES - logger.len + drop < n || ring_at(drop - 1) != '\n')
		drop++;
	logger.start = (logger.start + drop) % LOG_KEEP_BYTES;
	logger.len -= drop;
}

static void ring_put(const char *line, size_t n)
{
	size_t at, first;

	pthread_mutex_lock(&logger.lock);
	ring_make_room(n);
	at = (logger.start + logger.len) % LOG_KEEP_BYTES;
	first = MIN(n, LOG_KEEP_BYTES - at);
	memcpy(logger.ring + at, line, first);
	memcpy(logger.ring, line + first, n - first);
	logger.len += n;
	pthread_mutex_unlock(&logger.lock);
}

static void write_stderr(const char *line, size_t n)
{
	struct pollfd p = {.fd = 2, .events = POLLOUT};

	if (poll(&p, 1, WRITE_WAIT_MS) == 1 && write(2, line, n) < 0)
		return; /* nobody is left to tell */
}

/* Lay out one line of at most LINE_SIZE. @body: where the event begins. Return: the length. */
static size_t line_make(char *line, enum log_level level, const char *event, const char *text,
			size_t *body)
{
	size_t n = put_stamp(line, LINE_SIZE);

	n += (size_t)snprintf(line + n, LINE_SIZE - n, " %s ", levels[level].name);
	*body = n;
	n += copy_escaped(line + n, 256, event);
	if (*text)
		line[n++] = ' ';
	n += copy_escaped(line + n, LINE_SIZE - n - 1, text);
	line[n++] = '\n';
	return n;
}

void log_write(enum log_level level, const char *event, const char *fmt, ...)
{
	char text[LINE_SIZE] = "", line[LINE_SIZE];
	int keep = errno;
	size_t n, body;
	va_list ap;

	if (level <= LOG_NONE || level >= LOG_NR ||
	    (int)level > atomic_load_explicit(&logger.level, memory_order_relaxed))
		return;
	pthread_once(&logger.once, log_begin);
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	n = line_make(line, level, event, text, &body);
	ring_put(line, n);
	if (!logger.to_journal ||
	    log_journal_send(levels[level].priority, event, line + body, n - 1 - body) < 0)
		write_stderr(line, n);
	errno = keep;
}

/* Length of the line at @from of the kept text, with its newline. */
static size_t line_len(size_t from)
{
	size_t n = 0;

	while (from + n < logger.len && ring_at(from + n) != '\n')
		n++;
	return n + 1;
}

/* Level of a kept line, known by the first letter of its name. */
static enum log_level line_level(size_t from)
{
	char c = ring_at(from + STAMP_LEN + 1);
	int l;

	for (l = LOG_ERROR; l < LOG_DEBUG; l++) {
		if (levels[l].name[0] == c)
			break;
	}
	return (enum log_level)l;
}

/* Append @n bytes of the kept text from @from on. */
static void ring_copy(size_t from, size_t n, struct buf *out)
{
	size_t at = (logger.start + from) % LOG_KEEP_BYTES;
	size_t first = MIN(n, LOG_KEEP_BYTES - at);

	buf_append(out, logger.ring + at, first);
	buf_append(out, logger.ring, n - first);
}

void log_tail(enum log_level min, size_t offset, struct buf *out)
{
	size_t from, n, skip;

	pthread_mutex_lock(&logger.lock);
	for (from = 0; from < logger.len; from += n) {
		n = line_len(from);
		if (line_level(from) > min)
			continue;
		skip = MIN(offset, n);
		offset -= skip;
		ring_copy(from + skip, n - skip, out);
	}
	pthread_mutex_unlock(&logger.lock);
}
