/* SPDX-License-Identifier: BSD-2-Clause */
/* Go layouts: the reference time is Mon Jan 2 15:04:05 MST 2006. */
#include <stdbool.h>
#include <time.h>

#include "api/gotime.h"
#include "base/bits.h"

/* Longer elements stand before their own beginnings. */
static const struct {
	const char *element, *format; /* strftime; NULL: made below */
} elements[] = {
	{"January", "%B"},
	{"Jan", "%b"},
	{"Monday", "%A"},
	{"Mon", "%a"},
	{"MST", "UTC"},
	{"2006", "%Y"},
	{"002", "%j"},
	{"01", "%m"},
	{"02", "%d"},
	{"03", "%I"},
	{"04", "%M"},
	{"05", "%S"},
	{"06", "%y"},
	{"15", "%H"},
	{"PM", "%p"},
	{"pm", "%P"},
	{"Z07:00:00", "Z"},
	{"Z070000", "Z"},
	{"Z07:00", "Z"},
	{"Z0700", "Z"},
	{"Z07", "Z"},
	{"-07:00:00", "+00:00:00"},
	{"-070000", "+000000"},
	{"-07:00", "+00:00"},
	{"-0700", "+0000"},
	{"-07", "+00"},
	{"__2", NULL},
	{"_2", "%e"},
	{"1", NULL},
	{"2", NULL},
	{"3", NULL},
	{"4", NULL},
	{"5", NULL},
};

static const char *match(const char *at, size_t *len)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(elements); i++) {
		*len = strlen(elements[i].element);
		if (!strncmp(at, elements[i].element, *len))
			return elements[i].element;
	}
	return NULL;
}

/* Numbers without padding. */
static bool put_bare(const char *element, const struct tm *tm, struct buf *out)
{
	int v;

	if (!strcmp(element, "__2")) {
		buf_fmt(out, "%3d", tm->tm_yday + 1);
		return true;
	}
	switch (element[0]) {
	case '1':
		v = tm->tm_mon + 1;
		break;
	case '2':
		v = tm->tm_mday;
		break;
	case '3':
		v = tm->tm_hour % 12 ? tm->tm_hour % 12 : 12;
		break;
	case '4':
		v = tm->tm_min;
		break;
	case '5':
		v = tm->tm_sec;
		break;
	default:
		return false;
	}
	buf_fmt(out, "%d", v);
	return true;
}

static void put_element(const char *element, const struct tm *tm, struct buf *out)
{
	char text[64];
	size_t i, n;

	for (i = 0; i < ARRAY_SIZE(elements); i++) {
		if (elements[i].element != element)
			continue;
		if (!elements[i].format) {
			put_bare(element, tm, out);
			return;
		}
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
		n = strftime(text, sizeof(text), elements[i].format, tm);
#pragma GCC diagnostic pop
		buf_append(out, text, n);
	}
}

/* ".000" or ".999": digits of the second; how many bytes of the layout it takes, 0 for none. */
static size_t put_fraction(const char *at, long ns, struct buf *out)
{
	char digits[16];
	size_t n = 1;

	if ((*at != '.' && *at != ',') || (at[1] != '0' && at[1] != '9'))
		return 0;
	while (at[n] == at[1])
		n++;
	if (n > 10 || (at[n] >= '0' && at[n] <= '9'))
		return 0;
	snprintf(digits, sizeof(digits), "%09ld", ns);
	digits[n - 1] = 0;
	if (at[1] == '9') {
		size_t k = strlen(digits);

		while (k && digits[k - 1] == '0')
			digits[--k] = 0;
		if (!k)
			return n;
	}
	buf_fmt(out, "%c%s", *at, digits);
	return n;
}

void gotime_format(int64_t ns, const char *layout, struct buf *out)
{
	long frac = (long)(ns % 1000000000);
	time_t s = (time_t)(ns / 1000000000);
	const char *element;
	struct tm tm;
	size_t n;

	if (frac < 0) {
		frac += 1000000000;
		s--;
	}
	gmtime_r(&s, &tm);
	while (*layout) {
		n = put_fraction(layout, frac, out);
		if (n) {
			layout += n;
			continue;
		}
		element = match(layout, &n);
		if (element) {
			put_element(element, &tm, out);
			layout += n;
		} else {
			buf_char(out, *layout++);
		}
	}
}

int gotime_parse_rfc3339(const char *s, int64_t *ret_ns)
{
	struct tm tm = {};
	const char *end = strptime(s, "%Y-%m-%dT%H:%M:%S", &tm);
	int64_t frac = 0, unit = 100000000, sec;

	if (!end)
		return -EINVAL;
	if (*end == '.') {
		for (end++; *end >= '0' && *end <= '9'; end++, unit /= 10)
			frac += (*end - '0') * unit;
	}
	if (strcmp(end, "Z"))
		return -EINVAL;
	if (tm.tm_year == 1 - 1900) {
		*ret_ns = 0;
		return 0;
	}
	sec = timegm(&tm);
	if (sec < 0 || sec > INT64_MAX / 1000000000 - 1)
		return -EINVAL;
	*ret_ns = sec * 1000000000 + frac;
	return 0;
}
