/* SPDX-License-Identifier: BSD-2-Clause */
/* HTTP dates (RFC 9110 5.6.7), without the C library's locale and time zone. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "http/uri.h"

static const char days[7][4] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
static const char days_long[7][10] = {"Sunday",	  "Monday", "Tuesday", "Wednesday",
				      "Thursday", "Friday", "Saturday"};
static const char months[12][4] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
				   "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

#define YEAR_9999_END INT64_C(253402300799)

void http_date_format(int64_t unix_s, char out[30])
{
	time_t t = unix_s < 0 ? 0 : unix_s > YEAR_9999_END ? YEAR_9999_END : unix_s;
	struct tm tm = {};

	gmtime_r(&t, &tm);
	snprintf(out, 30, "%s, %02u %s %04u %02u:%02u:%02u GMT", days[tm.tm_wday % 7],
		 (unsigned int)tm.tm_mday % 100, months[tm.tm_mon % 12],
		 (unsigned int)(tm.tm_year + 1900) % 10000, (unsigned int)tm.tm_hour % 100,
		 (unsigned int)tm.tm_min % 100, (unsigned int)tm.tm_sec % 100);
}

/* Take the text @lit. */
static int take(const char **s, const char *lit)
{
	size_t n = strlen(lit);

	if (strncmp(*s, lit, n) != 0)
		return -EINVAL;
	*s += n;
	return 0;
}

/* Take exactly @n digits. */
static int take_num(const char **s, unsigned int n, int *ret)
{
	int v = 0;

	for (; n; n--, (*s)++) {
		if (**s < '0' || **s > '9')
			return -EINVAL;
		v = v * 10 + (**s - '0');
	}
	*ret = v;
	return 0;
}

static int take_month(const char **s, int *ret)
{
	int i;

	for (i = 0; i < 12; i++) {
		if (take(s, months[i]) == 0) {
			*ret = i;
			return 0;
		}
	}
	return -EINVAL;
}

static int take_clock(const char **s, struct tm *tm)
{
	if (take_num(s, 2, &tm->tm_hour) < 0 || take(s, ":") < 0 ||
	    take_num(s, 2, &tm->tm_min) < 0 || take(s, ":") < 0 || take_num(s, 2, &tm->tm_sec) < 0)
		return -EINVAL;
	return 0;
}

/* "Sun, 06 Nov 1994 08:49:37 GMT" */
static int parse_imf(const char *s, struct tm *tm)
{
	int year;

	if (take_num(&s, 2, &tm->tm_mday) < 0 || take(&s, " ") < 0 ||
	    take_month(&s, &tm->tm_mon) < 0 || take(&s, " ") < 0 || take_num(&s, 4, &year) < 0 ||
	    take(&s, " ") < 0 || take_clock(&s, tm) < 0 || take(&s, " GMT") < 0 || *s)
		return -EINVAL;
	tm->tm_year = year - 1900;
	return 0;
}

/* "Sunday, 06-Nov-94 08:49:37 GMT": a year over 50 years ahead is of the last century */
static int parse_850(const char *s, struct tm *tm)
{
	time_t now = time(NULL);
	struct tm today;
	int yy, year;

	if (take_num(&s, 2, &tm->tm_mday) < 0 || take(&s, "-") < 0 ||
	    take_month(&s, &tm->tm_mon) < 0 || take(&s, "-") < 0 || take_num(&s, 2, &yy) < 0 ||
	    take(&s, " ") < 0 || take_clock(&s, tm) < 0 || take(&s, " GMT") < 0 || *s)
		return -EINVAL;
	gmtime_r(&now, &today);
	year = today.tm_year / 100 * 100 + yy;
	if (year > today.tm_year + 50)
		year -= 100;
	tm->tm_year = year;
	return 0;
}

/* "Sun Nov  6 08:49:37 1994" */
static int parse_asctime(const char *s, struct tm *tm)
{
	unsigned int width;
	int year;

	if (take_month(&s, &tm->tm_mon) < 0 || take(&s, " ") < 0)
		return -EINVAL;
	width = take(&s, " ") == 0 ? 1 : 2;
	if (take_num(&s, width, &tm->tm_mday) < 0 || take(&s, " ") < 0 || take_clock(&s, tm) < 0 ||
	    take(&s, " ") < 0 || take_num(&s, 4, &year) < 0 || *s)
		return -EINVAL;
	tm->tm_year = year - 1900;
	return 0;
}

static int parse_any(const char *s, struct tm *tm)
{
	size_t i;

	for (i = 0; i < 7; i++) {
		const char *p = s;

		if (take(&p, days_long[i]) == 0 && take(&p, ", ") == 0)
			return parse_850(p, tm);
		p = s;
		if (take(&p, days[i]) < 0)
			continue;
		if (take(&p, ", ") == 0)
			return parse_imf(p, tm);
		if (take(&p, " ") == 0)
			return parse_asctime(p, tm);
	}
	return -EINVAL;
}

int http_date_parse(const char *s, int64_t *ret_unix_s)
{
	struct tm tm = {}, check;
	time_t t;

	if (parse_any(s, &tm) < 0)
		return -EINVAL;
	if (tm.tm_hour > 23 || tm.tm_min > 59 || tm.tm_sec > 60)
		return -EINVAL;
	if (tm.tm_sec == 60)
		tm.tm_sec = 59; /* a leap second: not in unix time */
	check = tm;
	t = timegm(&check);
	if (check.tm_mday != tm.tm_mday || check.tm_mon != tm.tm_mon || tm.tm_mday < 1)
		return -EINVAL; /* 31 Feb */
	*ret_unix_s = t;
	return 0;
}
