/* SPDX-License-Identifier: BSD-2-Clause */
/* Durations, sizes, booleans and times in the API's spelling. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "base/bits.h"
#include "config.h"
#include "config_priv.h"

#define SEC INT64_C(1000000000)
#define FRACTION_DIGITS 12

struct unit {
	const char *name;
	int64_t factor;
};

/*
 * Longer names first where one begins another. "us" has three spellings: letter u, micro sign,
 * Greek mu.
 */
static const struct unit duration_units[] = {
	{"ns", 1},	 {"us", 1000}, {"\xc2\xb5s", 1000}, {"\xce\xbcs", 1000},
	{"ms", 1000000}, {"s", SEC},   {"m", 60 * SEC},	    {"h", 3600 * SEC},
};

static const struct unit size_units[] = {
	{"", 1},
	{"b", 1},
	{"k", INT64_C(1) << 10},
	{"kib", INT64_C(1) << 10},
	{"kb", 1000},
	{"m", INT64_C(1) << 20},
	{"mib", INT64_C(1) << 20},
	{"mb", 1000000},
	{"g", INT64_C(1) << 30},
	{"gib", INT64_C(1) << 30},
	{"gb", 1000000000},
	{"t", INT64_C(1) << 40},
	{"tib", INT64_C(1) << 40},
	{"tb", INT64_C(1000000000000)},
	{"p", INT64_C(1) << 50},
	{"pib", INT64_C(1) << 50},
	{"pb", INT64_C(1000000000000000)},
	{"eib", INT64_C(1) << 60},
};

struct decimal {
	int64_t whole, fraction, scale; /* whole + fraction / scale */
};

/* "12", "1.5", ".5" at *@s, which moves behind it. Digits beyond what counts are dropped. */
static int take_decimal(const char **s, struct decimal *ret)
{
	struct decimal d = {.scale = 1};
	const char *p = *s;
	int digits = 0, places = 0;

	for (; *p >= '0' && *p <= '9'; p++, digits++) {
		if (__builtin_mul_overflow(d.whole, 10, &d.whole) ||
		    __builtin_add_overflow(d.whole, *p - '0', &d.whole))
			return -EINVAL;
	}
	if (*p == '.') {
		for (p++; *p >= '0' && *p <= '9'; p++, digits++) {
			if (places++ >= FRACTION_DIGITS)
				continue;
			d.fraction = d.fraction * 10 + (*p - '0');
			d.scale *= 10;
		}
	}
	if (!digits)
		return -EINVAL;
	*s = p;
	*ret = d;
	return 0;
}

/* @sum += @d * @factor, exactly but for what is below one. */
static int add_scaled(int64_t *sum, const struct decimal *d, int64_t factor)
{
	int64_t whole, part = (int64_t)((__int128)d->fraction * factor / d->scale);

	if (__builtin_mul_overflow(d->whole, factor, &whole) ||
	    __builtin_add_overflow(*sum, whole, sum) || __builtin_add_overflow(*sum, part, sum))
		return -EINVAL;
	return 0;
}

int config_parse_duration(const char *s, int64_t *ret_ns)
{
	int64_t sum = 0;
	size_t i;

	if (!strcmp(s, "0")) {
		*ret_ns = 0;
		return 0;
	}
	do {
		struct decimal d;
		size_t len = 0;

		if (take_decimal(&s, &d) < 0)
			return -EINVAL;
		for (i = 0; i < ARRAY_SIZE(duration_units); i++) {
			len = strlen(duration_units[i].name);
			if (!strncmp(s, duration_units[i].name, len))
				break;
		}
		if (i == ARRAY_SIZE(duration_units) ||
		    add_scaled(&sum, &d, duration_units[i].factor) < 0)
			return -EINVAL;
		s += len;
	} while (*s);
	*ret_ns = sum;
	return 0;
}

/* @ns below one second, or the seconds of a longer time, as digits of @unit without end zeros. */
static void put_fraction(char *out, size_t size, int64_t ns, const struct unit *unit)
{
	int64_t rest = ns % unit->factor, at;
	char frac[16];
	size_t n = 0;

	for (at = unit->factor; at > 1; at /= 10) {
		rest *= 10;
		frac[n++] = (char)('0' + rest / unit->factor);
		rest %= unit->factor;
	}
	while (n && frac[n - 1] == '0')
		n--;
	frac[n] = 0;
	snprintf(out, size, "%lld%s%s%s", (long long)(ns / unit->factor), n ? "." : "",
		 n ? frac : "", unit->name);
}

void config_format_duration(int64_t ns, char *out, size_t size)
{
	static const struct unit s = {"s", SEC}, ms = {"ms", 1000000}, us = {"\xc2\xb5s", 1000};
	int64_t h = ns / (3600 * SEC), m = ns / (60 * SEC) % 60, rest = ns % (60 * SEC);
	char sec[32] = "", min[16] = "", hour[24] = "";

	if (ns < SEC) {
		if (ns <= 0)
			snprintf(out, size, "0s");
		else if (ns < 1000)
			snprintf(out, size, "%lldns", (long long)ns);
		else
			put_fraction(out, size, ns, ns < 1000000 ? &us : &ms);
		return;
	}
	if (h)
		snprintf(hour, sizeof(hour), "%lldh", (long long)h);
	if (h || m)
		snprintf(min, sizeof(min), "%dm", (int)m);
	if (rest)
		put_fraction(sec, sizeof(sec), rest, &s);
	snprintf(out, size, "%s%s%s", hour, min, sec);
}

int config_parse_size(const char *s, int64_t *ret)
{
	struct decimal d;
	int64_t sum = 0;
	size_t i;

	if (take_decimal(&s, &d) < 0)
		return -EINVAL;
	for (i = 0; i < ARRAY_SIZE(size_units); i++) {
		if (!strcasecmp(s, size_units[i].name))
			break;
	}
	if (i == ARRAY_SIZE(size_units) || (d.fraction && size_units[i].factor == 1) ||
	    add_scaled(&sum, &d, size_units[i].factor) < 0)
		return -EINVAL;
	*ret = sum;
	return 0;
}

void config_format_size(int64_t n, char *out, size_t size)
{
	static const char *const names[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
	size_t i = 0;

	while (n && n % 1024 == 0 && i + 1 < ARRAY_SIZE(names)) {
		n /= 1024;
		i++;
	}
	snprintf(out, size, "%lld%s", (long long)n, names[i]);
}

bool config_query_true(const char *s)
{
	static const char *const words[] = {"1",    "t", "T",	"true", "True",
					    "TRUE", "y", "yes", "on"};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(words); i++) {
		if (!strcmp(s, words[i]))
			return true;
	}
	return false;
}

/* "2026-01-01 00:00:00.5 +0000 UTC", always UTC; 0 is the API's zero time. */
void config_format_time(int64_t ns, char *out, size_t size)
{
	time_t sec = (time_t)(ns / SEC);
	char date[32], frac[32];
	struct unit none = {"", SEC};
	struct tm tm;

	if (ns <= 0) {
		snprintf(out, size, "0001-01-01 00:00:00 +0000 UTC");
		return;
	}
	gmtime_r(&sec, &tm);
	strftime(date, sizeof(date), "%Y-%m-%d %H:%M:%S", &tm);
	put_fraction(frac, sizeof(frac), ns % SEC, &none);
	snprintf(out, size, "%s%s +0000 UTC", date, frac + 1);
}

int config_parse_time(const char *s, int64_t *ret_ns)
{
	struct decimal d = {.scale = 1};
	struct tm tm = {};
	const char *p;
	int64_t ns = 0;
	time_t sec;

	if (!strcmp(s, "0001-01-01 00:00:00 +0000 UTC")) {
		*ret_ns = 0;
		return 0;
	}
	p = strptime(s, "%Y-%m-%d %H:%M:%S", &tm);
	if (!p || (*p == '.' && take_decimal(&p, &d) < 0) || strcmp(p, " +0000 UTC"))
		return -EINVAL;
	sec = timegm(&tm);
	if (sec < 0 || sec > INT64_MAX / SEC - 1 || add_scaled(&ns, &d, SEC) < 0)
		return -EINVAL;
	*ret_ns = (int64_t)sec * SEC + ns;
	return 0;
}
