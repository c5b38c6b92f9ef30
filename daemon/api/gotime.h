/* SPDX-License-Identifier: BSD-2-Clause */
/* Times in the layouts that clients send: those of Go's time package. */
#ifndef API_GOTIME_H
#define API_GOTIME_H

#include <stdint.h>

#include "base/buf.h"

#define GOTIME_RFC822 "02 Jan 06 15:04 MST"

/**
 * gotime_format() - Append a time in a Go layout, in UTC
 * @ns:		wall clock, ns since the epoch
 * @layout:	e.g. "2006-01-02T15:04:05Z07:00"; what is no element of a layout is copied
 * @out:	appended to
 */
void gotime_format(int64_t ns, const char *layout, struct buf *out);
/* "2026-08-21T10:00:00.5Z" to ns; the zero time of year 1 is 0. Return: 0 or -EINVAL. */
int gotime_parse_rfc3339(const char *s, int64_t *ret_ns);

#endif
