/* SPDX-License-Identifier: BSD-2-Clause */
/* Results as text or JSON, from one set of calls. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/buf.h"
#include "bench.h"

static void key(struct bench_out *out, const char *name)
{
	if (out->json)
		printf("%s\"%s\":", out->first ? "" : ",", name);
	else
		printf("  %s ", name);
	out->first = false;
}

void bench_case(struct bench_out *out, const char *name)
{
	out->first = true;
	if (out->json) {
		putchar('{');
		key(out, "case");
		printf("\"%s\"", name);
	} else {
		printf("%-16s", name);
	}
}

void bench_text(struct bench_out *out, const char *name, const char *v)
{
	autobuf struct buf json = BUF_INIT;

	key(out, name);
	buf_json_str(&json, v);
	fputs(out->json ? buf_cstr(&json) : v, stdout);
}

void bench_u64(struct bench_out *out, const char *name, uint64_t v)
{
	key(out, name);
	printf(out->json ? "%" PRIu64 : "%-10" PRIu64, v);
}

void bench_tenths(struct bench_out *out, const char *name, double v)
{
	key(out, name);
	printf("%.1f", v);
}

void bench_ratio(struct bench_out *out, const char *name, double v)
{
	key(out, name);
	printf("%.3f", v);
}

void bench_case_end(struct bench_out *out)
{
	puts(out->json ? "}" : "");
	fflush(stdout);
}

int bench_error(struct bench_out *out, int code, const char *fmt, ...)
{
	autobuf struct buf text = BUF_INIT, json = BUF_INIT;
	va_list ap;

	va_start(ap, fmt);
	buf_vfmt(&text, fmt, ap);
	va_end(ap);
	fprintf(stderr, "pagewire-bench: %s\n", buf_cstr(&text));
	if (out->json) {
		buf_json_str(&json, buf_cstr(&text));
		printf("{\"error\":%s}\n", buf_cstr(&json));
	}
	return code;
}
