/* SPDX-License-Identifier: BSD-2-Clause */
/* What the measurements share: the table of verbs and the way results are printed. */
#ifndef BENCH_H
#define BENCH_H

#include <stdbool.h>
#include <stdint.h>

/* Exit codes, the same for each verb. */
enum bench_exit {
	BENCH_OK = 0,
	BENCH_FAILED = 1,
	BENCH_USAGE = 2,
};

/* Where results go: lines for people, or with @json one object a case. */
struct bench_out {
	bool json;
	bool first; /* nothing of the current case is printed yet */
};

/* One verb: `pagewire-bench NAME ARGS`; @run gets what follows the name. */
struct bench_verb {
	const char *name;
	int (*run)(struct bench_out *out, int argc, char **argv);
	const char *args, *help;
};

/* Begin the results of one case. */
void bench_case(struct bench_out *out, const char *name);
/* One result, a text. */
void bench_text(struct bench_out *out, const char *key, const char *v);
/* One result, a whole number. */
void bench_u64(struct bench_out *out, const char *key, uint64_t v);
/* One result with one digit after the point. */
void bench_tenths(struct bench_out *out, const char *key, double v);
/* One result with three digits after the point. */
void bench_ratio(struct bench_out *out, const char *key, double v);
/* End of a case; the line is written out at once. */
void bench_case_end(struct bench_out *out);

/**
 * bench_error() - Tell what went wrong, on stderr, with -j also as an object on stdout
 * @out:	where results go
 * @code:	the exit code to be
 * @fmt:	a sentence that names the thing and the fix
 *
 * Return: @code.
 */
__attribute__((format(printf, 3, 4))) int bench_error(struct bench_out *out, int code,
						      const char *fmt, ...);

/* The verb `place`: what placing a name costs. */
int bench_place(struct bench_out *out, int argc, char **argv);
/* The verb `get`: objects or ranges of them. */
int bench_get(struct bench_out *out, int argc, char **argv);
/* The verb `put`: bodies of one size. */
int bench_put(struct bench_out *out, int argc, char **argv);
/* The verb `head`: what is known of objects. */
int bench_head(struct bench_out *out, int argc, char **argv);
/* The verb `redirect`: GETs at a gateway, its answers not followed. */
int bench_redirect(struct bench_out *out, int argc, char **argv);
/* The verb `list`: a bucket, page by page. */
int bench_list(struct bench_out *out, int argc, char **argv);
/* The verb `compare-nginx`: pairs of rounds beside nginx or another server of files. */
int bench_compare_nginx(struct bench_out *out, int argc, char **argv);
/* The verb `compare-raw`: pairs of rounds beside the bare calls. */
int bench_compare_raw(struct bench_out *out, int argc, char **argv);
/* The verb `scale`: cost of a request as connections, objects and workers grow. */
int bench_scale(struct bench_out *out, int argc, char **argv);
/* The verb `rss`: memory of an idle target and of idle connections. */
int bench_rss(struct bench_out *out, int argc, char **argv);

#endif
