/* SPDX-License-Identifier: BSD-2-Clause */
/* Options of a verb, from a table. */
#include "options.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "base/text.h"

#define SECONDS_MAX 3600

int options_size(const char *text, uint64_t *ret)
{
	static const struct {
		const char *name;
		unsigned int shift;
	} units[] = {{"", 0}, {"B", 0}, {"KiB", 10}, {"MiB", 20}, {"GiB", 30}};
	size_t digits = strspn(text, "0123456789"), i;
	char number[24];
	uint64_t v;

	if (digits >= sizeof(number))
		return -EINVAL;
	memcpy(number, text, digits);
	number[digits] = 0;
	if (parse_u64(number, &v) < 0)
		return -EINVAL;
	for (i = 0; i < ARRAY_SIZE(units); i++) {
		if (strcmp(text + digits, units[i].name) != 0)
			continue;
		if (v > UINT64_MAX >> units[i].shift)
			return -EINVAL;
		*ret = v << units[i].shift;
		return 0;
	}
	return -EINVAL;
}

static int parse_seconds(const char *text, int64_t *ret)
{
	char *end;
	double v = strtod(text, &end);

	if (!*text || *end || !(v > 0) || v > SECONDS_MAX)
		return -EINVAL;
	*ret = (int64_t)(v * 1e9);
	return 0;
}

static int parse_number(const struct option_row *row, const char *text)
{
	uint64_t v;
	int r = row->kind == OPTION_SIZE ? options_size(text, &v) : parse_u64(text, &v);

	if (r < 0 || v < row->min || v > row->max)
		return -EINVAL;
	*(uint64_t *)row->ret = v;
	return 0;
}

static int take_value(struct bench_out *out, const struct option_row *row, const char *text)
{
	switch (row->kind) {
	case OPTION_TEXT:
		*(const char **)row->ret = text;
		return BENCH_OK;
	case OPTION_SECONDS:
		if (!parse_seconds(text, row->ret))
			return BENCH_OK;
		return bench_error(out, BENCH_USAGE,
				   "%s must be more than 0 and at most %d, "
				   "not \"%s\"",
				   row->name, SECONDS_MAX, text);
	default:
		if (!parse_number(row, text))
			return BENCH_OK;
		return bench_error(out, BENCH_USAGE,
				   "%s must be %" PRIu64 " to %" PRIu64 ", not \"%s\"", row->name,
				   row->min, row->max, text);
	}
}

int options_parse(struct bench_out *out, const struct option_row *rows, int argc, char **argv)
{
	int i, r;

	for (i = 0; i < argc; i++) {
		const struct option_row *row = rows;

		while (row->name && strcmp(row->name, argv[i]) != 0)
			row++;
		if (!row->name)
			return bench_error(out, BENCH_USAGE,
					   "no option \"%s\", see pagewire-bench help", argv[i]);
		if (row->kind == OPTION_FLAG) {
			*(bool *)row->ret = true;
			continue;
		}
		if (++i == argc)
			return bench_error(out, BENCH_USAGE, "%s: its value is missing", row->name);
		r = take_value(out, row, argv[i]);
		if (r)
			return r;
	}
	return BENCH_OK;
}
