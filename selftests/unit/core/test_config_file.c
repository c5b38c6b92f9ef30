/* SPDX-License-Identifier: BSD-2-Clause */
/* A config from its file: forms that are taken, and each refusal with file, line and key. */
#include "selftests/unit/unit.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/bits.h"
#include "base/buf.h"
#include "config.h"

#define BASE                                                                                       \
	"\"role\": \"target\", \"state_dir\": \"/var/lib/pagewire\", \"fspaths\": {\"/d1\": "      \
	"\"\"},"                                                                                   \
	"\"auth.intra_cluster.node_join_secret_path\": \"/etc/s\","                                \
	"\"proxy\": {\"primary_url\": \"http://127.0.0.1:9080\"}"

static struct config *parsed(const char *text)
{
	struct config *c = NULL;
	char err[1024] = "";
	int r = config_parse("f", text, strlen(text), &c, err, sizeof(err));

	if (r)
		fprintf(stderr, "%s\n", err);
	ASSERT_EQ(r, 0);
	return c;
}

static void test_nested_and_dotted(void)
{
	struct config *c =
		parsed("{" BASE ",\n"
		       "\"keepalivetracker\": {\"proxy\": {\"interval\": \"1s\"},"
		       "  \"target.interval\": \"1500ms\"},\n"
		       "\"timeout.startup_time\": \"2s\",\n"
		       "\"host_net\": {\"port\": \"51000\", \"port_intra_control\": 51001},"
		       "\"steer\": {\"small_max\": 65536}, \"http.max_head\": \"8KiB\","
		       "\"workers\": null, \"list\": null}\n");

	ASSERT_EQ(config_ms(c, "keepalivetracker.proxy.interval"), 1000);
	ASSERT_EQ(config_ms(c, "keepalivetracker.target.interval"), 1500);
	ASSERT_EQ(config_ms(c, "timeout.startup_time"), 2000);
	ASSERT_EQ(config_int(c, "host_net.port"), 51000);
	ASSERT_EQ(config_int(c, "host_net.port_intra_control"), 51001);
	ASSERT_EQ(config_size(c, "steer.small_max"), 65536);
	ASSERT_EQ(config_size(c, "http.max_head"), 8192);
	ASSERT_STR(config_text(c, "proxy.primary_url"), "http://127.0.0.1:9080");
	config_put(c);
}

static void test_mountpaths(void)
{
	struct config *c;
	const char *label;

	c = parsed("{" BASE ", \"workers\": 1}");
	ASSERT_EQ(config_paths(c), 1);
	config_put(c);
	c = parsed("{\"role\": \"target\", \"state_dir\": \"/s\", \"proxy.primary_url\":"
		   "\"http://h:1\", \"auth\": {\"intra_cluster\": {\"node_join_secret_path\":"
		   "\"/etc/s\"}}, \"fspaths\": {\"//d/./1/\": \"fast\", \"/d/10\": null}}");
	ASSERT_EQ(config_paths(c), 2);
	ASSERT_STR(config_path(c, 0, &label), "/d/1");
	ASSERT_STR(label, "fast");
	ASSERT_STR(config_path(c, 1, &label), "/d/10");
	ASSERT_STR(label, "");
	config_put(c);
	c = parsed("{\"role\": \"target\", \"state_dir\": \"/s\", \"proxy.primary_url\":"
		   "\"http://h:1\", \"auth.intra_cluster.node_join_secret_path\": \"/etc/s\","
		   "\"fspaths\": [\"/a\", \"/b\"]}");
	ASSERT_EQ(config_paths(c), 2);
	ASSERT_STR(config_path(c, 1, NULL), "/b");
	config_put(c);
}

static const struct {
	const char *text, *err;
} refusals[] = {
	{"", "f:1: the JSON ends too early"},
	{"{\n\n", "f:3: the JSON ends too early"},
	{"null", "f:1: expected a JSON object: { ... }"},
	{"[]", "f:1: expected a JSON object: { ... }"},
	{"{}\n x", "f:2: more text behind the end of the JSON"},
	{"{" BASE ",\n\"workrs\": 1}", "f:2: workrs: unknown key; pagewired(8) lists all"},
	{"{" BASE ",\n\"net\": {\n\"http\": {\n\"x\": 1}}}",
	 "f:4: net.http.x: unknown key; pagewired(8) lists all"},
	{"{" BASE ",\n\"net\": 5}", "f:2: net: is a section: expected { ... }"},
	{"{" BASE ",\n\"workers\": \"1\"}", "f:2: workers: expected a whole number without quotes"},
	{"{" BASE ",\n\"workers\": 1.0}", "f:2: workers: expected a whole number without quotes"},
	{"{" BASE ",\n\"workers\": 2000}", "f:2: workers: expected a whole number from 0 to 1024"},
	{"{" BASE ",\n\"workers\": 99999999999999999999}",
	 "f:2: workers: expected a whole number from 0 to 1024"},
	{"{" BASE ",\n\n\"host_net\": {\n\"port\": \"0\"}}",
	 "f:4: host_net.port: expected a whole number from 1 to 65535"},
	{"{" BASE ",\n\"steer\": {\"sendfile\": \"true\"}}",
	 "f:2: steer.sendfile: expected true or false without quotes"},
	{"{" BASE ",\n\"timeout\": {\"startup_time\": 2}}",
	 "f:2: timeout.startup_time: expected a duration in quotes, such as \"10s\""},
	{"{" BASE ",\n\"store\": {\"durability\": \"maybe\"}}",
	 "f:2: store.durability: expected one of commit|none"},
	{"{" BASE ",\n\"store\": {\"durability\": true}}",
	 "f:2: store.durability: expected a word in quotes"},
	{"{" BASE ",\n\"mirror\": {\"enabled\":\ntrue}}",
	 "f:2: mirror.enabled: not built yet, only the default false is possible"},
	{"{" BASE ",\n\"backend\": {\"aws\": {}}}",
	 "f:2: backend: not built yet, only {} is possible"},
	{"{" BASE ",\n\"config_version\": \"3\"}",
	 "f:2: config_version: is kept by the cluster: leave it out"},
	{"{" BASE ",\n\"node_id\": \"a\\u0000b\"}", "f:2: node_id: expected a text in quotes"},
	{"{" BASE ",\n\"workers\": 1,\n\"workers\": 2}", "f:3: workers: is given twice"},
	{"{" BASE ",\n\"store.mdb_size\": \"1GiB\",\n\"store\": {\n\"mdb_size\": \"2GiB\"}}",
	 "f:4: store.mdb_size: is given twice"},
	{"{" BASE ",\n\"pool\": {},\n\"pool\": {}}", "f:3: pool: is given twice"},
	{"{\"fspaths\": {\"rel\": \"\"}}",
	 "f:1: fspaths: mountpath rel must be absolute and without \"..\""},
	{"{\n\"fspaths\": {\"/a/../b\": \"\"}}",
	 "f:2: fspaths: mountpath /a/../b must be absolute and without \"..\""},
	{"{\"fspaths\": [\"/a\", \"/a/\"]}", "f:1: fspaths: mountpath /a is given twice"},
	{"{\"fspaths\": [\"/a\", \"/a/b\"]}",
	 "f:1: fspaths: mountpaths /a and /a/b: one lies inside the other"},
	{"{\"fspaths\": [\"/a/b\", \"/a\"]}",
	 "f:1: fspaths: mountpaths /a/b and /a: one lies inside the other"},
	{"{\"fspaths\": [\"/\"]}",
	 "f:1: fspaths: a mountpath must be a folder of its own, not / or empty"},
	{"{\"fspaths\": [5]}", "f:1: fspaths: expected {\"/path\": \"label\"} or [\"/path\"]"},
	{"{\"fspaths\": \"/a\"}", "f:1: fspaths: expected {\"/path\": \"label\"} or [\"/path\"]"},
};

static void test_refusals(void)
{
	struct config *c = NULL;
	char err[1024];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(refusals); i++) {
		const char *text = refusals[i].text;

		*err = 0;
		ASSERT_EQ(config_parse("f", text, strlen(text), &c, err, sizeof(err)), -EINVAL);
		ASSERT_STR(err, refusals[i].err);
		ASSERT_TRUE(!c);
	}
}

/* Forms of JSON that only lenient parsers take; the words after the line are json-c's. */
static void test_strict_json(void)
{
	static const char *const bad[] = {
		"{'role': \"target\"}", "{\n\"role\": \"target\",}", "{/* c */}",
		"{\"role\": \"\xff\"}", "{\"workers\": 01}",	     "{\"workers\" 1}"};
	struct config *c = NULL;
	char err[1024];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		ASSERT_EQ(config_parse("f", bad[i], strlen(bad[i]), &c, err, sizeof(err)), -EINVAL);
		ASSERT_TRUE(!strncmp(err, i == 1 ? "f:2: " : "f:1: ", 5));
	}
}

static void test_too_many_keys(void)
{
	autobuf struct buf b = BUF_INIT;
	struct config *c = NULL;
	char err[256];
	int i;

	buf_str(&b, "{\"fspaths\": {");
	for (i = 0; i < 3000; i++)
		buf_fmt(&b, "%s\"/m%d\": \"\"", i ? "," : "", i);
	buf_str(&b, "}}");
	ASSERT_EQ(config_parse("f", b.data, b.len, &c, err, sizeof(err)), -EINVAL);
	ASSERT_STR(err, "f:1: too many keys");
}

static void test_load(void)
{
	char path[] = "/tmp/pagewire-config-XXXXXX", err[512], want[512];
	const char *text = "{" BASE "}";
	struct config *c = NULL;
	int fd = mkstemp(path);

	ASSERT_TRUE(fd >= 0);
	ASSERT_EQ(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
	ASSERT_EQ(config_load(path, &c, err, sizeof(err)), 0);
	ASSERT_STR(config_text(c, "role"), "target");
	config_put(c);
	ASSERT_EQ(config_load_as(path, "gateway", &c, err, sizeof(err)), 0);
	ASSERT_STR(config_text(c, "role"), "gateway");
	config_put(c);
	ASSERT_EQ(config_load_as(path, "proxy", &c, err, sizeof(err)), -EINVAL);
	ASSERT_STR(err, "--role: expected one of gateway|target");
	unlink(path);
	ASSERT_EQ(config_load(path, &c, err, sizeof(err)), -ENOENT);
	snprintf(want, sizeof(want), "%s: cannot be read: No such file or directory", path);
	ASSERT_STR(err, want);
}

static void test_stored_cluster_config(void)
{
	static const char bad[] = "{\n\"timeout\": {\"startup_time\": \"x\"}}";
	autobuf struct buf b = BUF_INIT, again = BUF_INIT;
	struct config *node, *changed, *stored, *back = NULL;
	char err[512];

	node = parsed("{" BASE ", \"host_net.port\": 51000}");
	ASSERT_EQ(config_with(node, "timeout.startup_time", "2s", &changed, err, sizeof(err)), 0);
	ASSERT_EQ(config_with(changed, "checksum.type", "md5", &stored, err, sizeof(err)), 0);
	config_put(changed);
	config_stamp(stored, 12, "u7WqPz1aB", INT64_C(1767225600500000000));
	config_print_cluster(stored, true, &b);
	ASSERT_EQ(config_parse_cluster(node, b.data, b.len, &back, err, sizeof(err)), 0);
	ASSERT_EQ(config_ms(back, "timeout.startup_time"), 2000);
	ASSERT_STR(config_text(back, "checksum.type"), "md5");
	ASSERT_EQ(config_int(back, "host_net.port"), 51000);
	ASSERT_EQ(config_paths(back), 1);
	ASSERT_EQ(config_version(back), 12);
	ASSERT_STR(config_uuid(back), "u7WqPz1aB");
	config_print_cluster(back, true, &again);
	ASSERT_STR(again.data, b.data);
	config_put(back);
	/* what a newer node knows and we do not is skipped, and no node-wide key comes this way */
	buf_reset(&b);
	buf_str(&b, "{\"brand\": {\"new\": 1}, \"timeout\": {\"startup_time\": \"3s\", \"z\": 1},"
		    "\"role\": \"gateway\", \"proxy\": {\"primary_url\": \"http://evil:1\"}}");
	ASSERT_EQ(config_parse_cluster(node, b.data, b.len, &back, err, sizeof(err)), 0);
	ASSERT_EQ(config_ms(back, "timeout.startup_time"), 3000);
	ASSERT_STR(config_text(back, "role"), "target");
	ASSERT_STR(config_text(back, "proxy.primary_url"), "http://127.0.0.1:9080");
	config_put(back);
	ASSERT_EQ(config_parse_cluster(node, bad, strlen(bad), &back, err, sizeof(err)), -EINVAL);
	ASSERT_TRUE(!strncmp(err, "cluster config:2: timeout.startup_time: ", 40));
	config_put(stored);
	config_put(node);
}

UNIT_MAIN("config_file", {"nested and dotted keys", test_nested_and_dotted},
	  {"mountpaths", test_mountpaths}, {"refusals name line and key", test_refusals},
	  {"strict JSON", test_strict_json}, {"too many keys", test_too_many_keys},
	  {"load", test_load}, {"stored cluster config", test_stored_cluster_config})
