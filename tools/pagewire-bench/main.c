/* SPDX-License-Identifier: BSD-2-Clause */
/* pagewire-bench: measurements, a verb each. */
#include <stdio.h>
#include <string.h>

#include "base/bits.h"
#include "bench.h"

static int run_help(struct bench_out *out, int argc, char **argv);

static const struct bench_verb verbs[] = {
	{"place", bench_place, "[ SECONDS ]",
	 "cost of placing a name at 16, 256 and 4096 targets; SECONDS a case, default 1"},
	{"get", bench_get, "OPTIONS", "GET objects, or ranges of them with --range BYTES"},
	{"put", bench_put, "OPTIONS", "PUT bodies of --size BYTES"},
	{"head", bench_head, "OPTIONS", "HEAD objects"},
	{"redirect", bench_redirect, "OPTIONS", "GET at a gateway, without following"},
	{"list", bench_list, "OPTIONS", "list a bucket, page by page"},
	{"compare-nginx", bench_compare_nginx, "OPTIONS", "beside nginx, or --peer COMMAND"},
	{"compare-raw", bench_compare_raw, "OPTIONS", "beside the bare system calls"},
	{"scale", bench_scale, "OPTIONS", "cost of a request while something grows"},
	{"rss", bench_rss, "OPTIONS", "memory of a target, idle and for a connection"},
	{"help", run_help, "", "this text"},
};

static void print_help(FILE *to)
{
	size_t i;

	fprintf(to, "usage: pagewire-bench [ -j ] VERB [ ARGS ]\n\nverbs:\n");
	for (i = 0; i < ARRAY_SIZE(verbs); i++)
		fprintf(to, "  %-13s %-11s %s\n", verbs[i].name, verbs[i].args, verbs[i].help);
	fprintf(to,
		"\nload: --endpoint URL --bucket NAME --object NAME --objects N --connections N\n"
		"      --seconds S --rate N --size BYTES --range BYTES --server-pid PID;\n"
		"      list: --endpoint --bucket --prefix --page N\n"
		"comparisons, scale, rss: --dir FOLDER --daemon FILE --case NAME --pairs N\n"
		"      --seconds S --quick --congestion NAME --keep; compare-nginx also --nginx\n"
		"      FILE --peer COMMAND --objects N; scale also --objects N\n"
		"\noptions:\n"
		"  -j, --json   one JSON object a case on stdout\n"
		"  -h, --help   this text\n"
		"\nexit status: 0 done, 1 failed, 2 wrong usage\n");
}

static int run_help(struct bench_out *out, int argc, char **argv)
{
	if (argc)
		return bench_error(out, BENCH_USAGE, "help takes no argument");
	print_help(stdout);
	return BENCH_OK;
}

static int run_verb(struct bench_out *out, int argc, char **argv)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(verbs); i++)
		if (!strcmp(argv[0], verbs[i].name))
			return verbs[i].run(out, argc - 1, argv + 1);
	return bench_error(out, BENCH_USAGE, "no verb \"%s\", see pagewire-bench help", argv[0]);
}

/* Takes an option out of the way. Return: whether @arg is one; *@help is set for -h. */
static bool take_option(struct bench_out *out, const char *arg, bool *help)
{
	if (!strcmp(arg, "-j") || !strcmp(arg, "--json"))
		out->json = true;
	else if (!strcmp(arg, "-h") || !strcmp(arg, "--help"))
		*help = true;
	else
		return false;
	return true;
}

int main(int argc, char **argv)
{
	struct bench_out out = {};
	bool help = false;
	int i, n = 0, r;

	/* options stand anywhere; what remains moves to the front */
	for (i = 1; i < argc; i++)
		if (!take_option(&out, argv[i], &help))
			argv[n++] = argv[i];
	if (n && argv[0][0] == '-')
		return bench_error(&out, BENCH_USAGE, "no option \"%s\", see pagewire-bench help",
				   argv[0]);
	if (help) {
		print_help(stdout);
		r = BENCH_OK;
	} else if (!n) {
		print_help(stderr);
		r = bench_error(&out, BENCH_USAGE, "a verb is missing");
	} else {
		r = run_verb(&out, n, argv);
	}
	if (fflush(stdout) || ferror(stdout))
		return bench_error(&(struct bench_out){}, BENCH_FAILED, "cannot write to stdout");
	return r;
}
