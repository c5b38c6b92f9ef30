/* SPDX-License-Identifier: BSD-2-Clause */
/* The command line client: the table of nouns, one run, the exit status. */
#include <curl/curl.h>
#include <signal.h>
#include <string.h>

#include "base/version.h"
#include "cmd.h"

const struct cmd_noun cmd_nouns[] = {
	{"bucket", "make, list, change and remove buckets", bucket_verbs},
	{"object", "put, get, list, change and remove objects", object_verbs},
	{"cluster", "the cluster: its map, its configuration, its members", cluster_verbs},
	{"node", "one node, or each", node_verbs},
	{"job", "long work of the cluster", job_verbs},
	{},
};

const struct cmd_short cmd_shorts[] = {
	{"put", "object", "put", "put a file, a folder's tree, or standard input"},
	{"get", "object", "get", "get an object"},
	{"ls", "bucket", "ls", "list buckets, or the objects of one"},
	{"cp", "object", "cp", "copy an object"},
	{"rmo", "object", "rm", "remove objects"},
	{"rmb", "bucket", "rm", "remove a bucket with all it holds"},
	{"create", "bucket", "create", "make a bucket"},
	{"show cluster", "cluster", "show", "the cluster map"},
	{"show node", "node", "show", "state of nodes"},
	{"show job", "job", "show", "jobs"},
	{},
};

const struct cmd_opt cmd_common_opts[] = {
	{'j', "json", NULL, "print one JSON document on standard output"},
	{0, "endpoint", "URL",
	 "a gateway; else $PAGEWIRE_ENDPOINT, else $AIS_ENDPOINT, else http://localhost:8080"},
	{0, "token-file", "FILE", "file with the access token; else $AIS_AUTHN_TOKEN_FILE"},
	{0, "ca-cert", "FILE", "certificates that sign the server's, instead of the system's"},
	{0, "insecure", NULL, "take any certificate of the server"},
	{'h', "help", NULL, "print help and do nothing else"},
	{0, "version", NULL, "print the version and do nothing else"},
	{},
};

static int print_version(struct cmd *c)
{
	if (c->out.json)
		fputs("{\"version\":\"" PAGEWIRE_VERSION "\"}\n", c->out.f);
	else
		fputs("pagewire " PAGEWIRE_VERSION "\n", c->out.f);
	return CMD_DONE;
}

static int run(struct cmd *c, int argc, char **argv)
{
	int r = cmd_parse(c, argc, argv);

	if (r == CMD_HELP || r == CMD_HELP_RST)
		return help_print(c, r == CMD_HELP_RST);
	if (r == CMD_VERSION)
		return print_version(c);
	if (r)
		return r;
	r = c->verb->run(c);
	if (r < 0)
		r = cmd_fail(c, "%s %s: %s", c->noun->name, c->verb->name, strerror(-r));
	return r;
}

int main(int argc, char **argv)
{
	struct cmd c = {};
	int r;

	signal(SIGPIPE, SIG_IGN);
	if (curl_global_init(CURL_GLOBAL_DEFAULT)) {
		fputs("pagewire: libcurl does not start\n", stderr);
		return CMD_FAILED;
	}
	r = run(&c, argc, argv);
	client_free(c.client);
	if (out_close(&c.out) < 0 && r == CMD_DONE)
		r = CMD_FAILED;
	curl_global_cleanup();
	return r;
}
