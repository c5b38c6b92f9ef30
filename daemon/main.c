/* SPDX-License-Identifier: BSD-2-Clause */
/* pagewired: arguments, config, run, exit status */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/version.h"
#include "config.h"
#include "store/rebuild.h"
#include "store/store.h"
#include "wire.h"

enum verb {
	VERB_RUN,
	VERB_CHECK,
	VERB_REBUILD,
};

struct args {
	enum verb verb;
	const char *file, *role;
	bool rebuild;
};

static const char usage_text[] =
	"usage: pagewired --config FILE [--role gateway|target]\n"
	"       pagewired --rebuild-index --config FILE\n"
	"       pagewired --check-config FILE\n"
	"       pagewired --help | --version\n"
	"\n"
	"  --config FILE         run as the node that FILE describes\n"
	"  --role gateway|target overrides the key \"role\" of FILE\n"
	"  --rebuild-index       make the index of each mountpath anew from its blobs, and end;\n"
	"                        the node must be stopped\n"
	"  --check-config FILE   read FILE, name what is wrong, and end\n"
	"  -h, --help            this text and the table of config keys\n"
	"  --version             version of pagewire\n"
	"\n"
	"Exit status: 0 after a stop, 1 failed, 2 wrong usage or config.\n";

static int wrong_usage(const char *what)
{
	fprintf(stderr, "pagewired: %s\n%s", what, usage_text);
	return 2;
}

/* What getopt_long(3) could not read. @o: its answer; @word: the argument it stopped at. */
static int wrong_option(int o, const char *word)
{
	char what[160];

	if (o == ':')
		snprintf(what, sizeof(what), "%.100s needs a value", word);
	else if (optopt && word[0] == '-' && word[1] == '-')
		snprintf(what, sizeof(what), "%.100s: this option takes no value", word);
	else
		snprintf(what, sizeof(what), "unknown option \"%.100s\"", word);
	return wrong_usage(what);
}

static int print_help(const char *form)
{
	autobuf struct buf out = BUF_INIT;
	bool rst = form && !strcmp(form, "rst");

	if (form && !rst)
		return wrong_usage("--help takes no value but rst");
	if (!rst) {
		buf_str(&out, usage_text);
		buf_str(&out, "\nKeys of FILE (JSON; \"a.b\" is {\"a\":{\"b\":...}}):\n\n");
	}
	config_print_table(rst, &out);
	if (out.err || fwrite(out.data, 1, out.len, stdout) != out.len || fflush(stdout))
		return 1;
	return 0;
}

/* Return: -1 to go on, else the exit status. */
static int parse_args(int argc, char **argv, struct args *a)
{
	static const struct option options[] = {
		{"config", required_argument, NULL, 'c'},
		{"check-config", required_argument, NULL, 'k'},
		{"role", required_argument, NULL, 'r'},
		{"rebuild-index", no_argument, NULL, 'i'},
		{"help", optional_argument, NULL, 'h'},
		{"version", no_argument, NULL, 'v'},
		{},
	};
	int o;

	opterr = 0;
	while ((o = getopt_long(argc, argv, ":h", options, NULL)) != -1) {
		switch (o) {
		case 'c':
		case 'k':
			if (a->file)
				return wrong_usage("one of --config and --check-config, once");
			a->file = optarg;
			a->verb = o == 'k' ? VERB_CHECK : VERB_RUN;
			break;
		case 'r':
			a->role = optarg;
			break;
		case 'i':
			a->rebuild = true;
			break;
		case 'h':
			return print_help(optarg);
		case 'v':
			printf("pagewired %s\n", PAGEWIRE_VERSION);
			return 0;
		default:
			return wrong_option(o, argv[optind - 1]);
		}
	}
	if (optind < argc)
		return wrong_usage("unexpected argument");
	if (!a->file)
		return wrong_usage("--config FILE is needed");
	if (a->rebuild && a->verb == VERB_CHECK)
		return wrong_usage("--rebuild-index takes --config FILE");
	if (a->rebuild)
		a->verb = VERB_REBUILD;
	return -1;
}

/* Read FILE, with the role of --role if given. Return: -1 to go on, else the exit status. */
static int load(const struct args *a, struct config **ret)
{
	char err[512] = "";
	int r = config_load_as(a->file, a->role, ret, err, sizeof(err));

	if (!r)
		return -1;
	fprintf(stderr, "pagewired: %s\n", *err ? err : strerror(-r));
	return 2;
}

static void say(void *arg, const char *line)
{
	(void)arg;
	fprintf(stderr, "%s\n", line);
}

/* Return: the exit status. */
static int rebuild(const struct config *cfg)
{
	const char *paths[STORE_PATHS_MAX];
	struct rebuild_count n;
	struct rebuild_opts o = {
		.paths = paths,
		.n_paths = config_paths(cfg),
		.map_bytes = (uint64_t)config_size(cfg, "store.mdb_size"),
		.say = say,
	};
	size_t i;
	int r;

	if (!strcmp(config_text(cfg, "role"), "gateway")) {
		fputs("pagewired: a gateway has no mountpaths to rebuild\n", stderr);
		return 2;
	}
	if (!o.n_paths || o.n_paths > STORE_PATHS_MAX) {
		fprintf(stderr, "pagewired: fspaths: 1 to %d mountpaths are needed, not %zu\n",
			STORE_PATHS_MAX, o.n_paths);
		return 2;
	}
	for (i = 0; i < o.n_paths; i++)
		paths[i] = config_path(cfg, i, NULL);
	r = store_rebuild(&o, &n);
	fprintf(stderr,
		"pagewired: %zu of %zu mountpaths rebuilt: objects=%" PRIu64 " bytes=%" PRIu64
		" replaced=%" PRIu64 " quarantined=%" PRIu64 " foreign=%" PRIu64 "\n",
		o.n_paths - n.failed, o.n_paths, n.objects, n.bytes, n.replaced, n.quarantined,
		n.foreign);
	return r < 0 ? 1 : 0;
}

int main(int argc, char **argv)
{
	struct args a = {};
	struct config *cfg;
	int status = parse_args(argc, argv, &a);

	if (status < 0)
		status = load(&a, &cfg);
	if (status >= 0)
		return status;
	if (a.verb == VERB_CHECK)
		status = 0;
	else if (a.verb == VERB_REBUILD)
		status = rebuild(cfg);
	else
		status = wire_run(cfg);
	config_put(cfg);
	return status;
}
