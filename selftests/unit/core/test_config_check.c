/* SPDX-License-Identifier: BSD-2-Clause */
/* Keys that contradict each other, or are missing for a role. */
#include "selftests/unit/unit.h"

#include <errno.h>

#include "base/bits.h"
#include "config.h"

#define SECRET "\"auth.intra_cluster.node_join_secret_path\": \"/etc/s\""
#define GATEWAY "\"role\": \"gateway\", \"state_dir\": \"/s\", " SECRET

static int parse(const char *text, char *err, size_t size)
{
	struct config *c = NULL;
	int r = config_parse("f", text, strlen(text), &c, err, size);

	config_put(c);
	return r;
}

static const char *const fine[] = {
	"{" GATEWAY "}",
	/* intra-data shares control's listener */
	"{" GATEWAY ", \"host_net\": {\"port\": 1, \"port_intra_control\": 2,"
	"\"port_intra_data\": 2}}",
	/* one port on two addresses */
	"{" GATEWAY ", \"host_net\": {\"port\": 1, \"port_intra_control\": 1,"
	"\"hostname\": \"10.0.0.1\", \"hostname_intra_control\": \"10.1.0.1\"}}",
	"{" GATEWAY ", \"host_net\": {\"hostname\": \"10.0.0.1,10.0.0.2\"}}",
	"{" GATEWAY ", \"proxy.primary_url\": \"http://[::1]:9080\", \"node_id\": \"p-1_A\"}",
};

static const struct {
	const char *text, *err;
} refusals[] = {
	{"{}", "f:1: role: missing: \"gateway\" or \"target\""},
	{"{\"role\": \"gateway\"}",
	 "f:1: state_dir: missing or not absolute: name a folder of this node"},
	{"{\"role\": \"gateway\",\n\"state_dir\": \"rel\"}",
	 "f:2: state_dir: missing or not absolute: name a folder of this node"},
	{"{\"role\": \"gateway\", \"state_dir\": \"/s\"}",
	 "f:1: auth.intra_cluster.node_join_secret_path: missing: name the file with the cluster's "
	 "secret"},
	{"{\"role\": \"target\", \"state_dir\": \"/s\", \"fspaths\": [\"/a\"], " SECRET "}",
	 "f:1: proxy.primary_url: missing: a target needs the intra-control URL of the primary"},
	{"{\"role\": \"target\", \"state_dir\": \"/s\", \"proxy.primary_url\": "
	 "\"http://h:1\", " SECRET "}",
	 "f:1: fspaths: missing: a target needs at least one mountpath"},
	{"{" GATEWAY ",\n\"proxy\":\n{\"primary_url\": \"127.0.0.1:9080\"}}",
	 "f:3: proxy.primary_url: expected a URL such as http://10.0.0.1:9080"},
	{"{" GATEWAY ", \"proxy.primary_url\": \"http://a/b\"}",
	 "f:1: proxy.primary_url: expected a URL such as http://10.0.0.1:9080"},
	{"{" GATEWAY ", \"node_id\": \"a/b\"}",
	 "f:1: node_id: expected at most 32 letters, digits, \"-\" and \"_\""},
	{"{" GATEWAY ",\n\"host_net\": {\"port\": \"8080\",\n\"port_intra_control\": \"8080\"}}",
	 "f:3: host_net.port_intra_control: the public and the intra-control listener are both "
	 "127.0.0.1:8080: give intra-control an address or port of its own"},
	{"{" GATEWAY ", \"host_net\": {\"port\": 1, \"port_intra_control\": 1,"
	 "\"hostname\": \"10.0.0.2,0.0.0.0\", \"hostname_intra_control\": \"10.1.0.1\"}}",
	 "f:1: host_net.port_intra_control: the public and the intra-control listener are both "
	 "10.1.0.1:1: give intra-control an address or port of its own"},
	{"{" GATEWAY ", \"host_net\": {\"port\": 1, \"port_intra_data\": 1,"
	 "\"hostname_intra_data\": \"localhost\"}}",
	 "f:1: host_net.port_intra_data: the public and the intra-data listener are both "
	 "localhost:1: give intra-data an address or port of its own, or 0 to use intra-control"},
	{"{" GATEWAY ", \"host_net.hostname\": \"\"}",
	 "f:1: host_net.hostname: missing: name the address that clients use"},
	{"{" GATEWAY ", \"host_net.hostname\": \"a b\"}",
	 "f:1: host_net.hostname: expected a host name or address"},
	{"{" GATEWAY ", \"host_net.hostname_intra_control\": \"a,b\"}",
	 "f:1: host_net.hostname_intra_control: expected one host: only the public listener may "
	 "have several"},
};

static void test_fine(void)
{
	char err[1024] = "";
	size_t i;

	for (i = 0; i < ARRAY_SIZE(fine); i++) {
		if (parse(fine[i], err, sizeof(err)))
			fprintf(stderr, "%s\n", err);
		ASSERT_EQ(parse(fine[i], err, sizeof(err)), 0);
	}
}

static void test_refusals(void)
{
	char err[1024];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(refusals); i++) {
		*err = 0;
		ASSERT_EQ(parse(refusals[i].text, err, sizeof(err)), -EINVAL);
		ASSERT_STR(err, refusals[i].err);
	}
}

UNIT_MAIN("config_check", {"what fits together", test_fine},
	  {"contradictions are refused", test_refusals})
