/* SPDX-License-Identifier: BSD-2-Clause */
/* smap_json.c: the protocol's examples byte for byte, and everything that is refused. */
#include "selftests/unit/unit.h"

#include <errno.h>

#include "base/bits.h"
#include "base/json.h"
#include "smap/smap.h"

#define NET(port)                                                                                  \
	"{\"node_ip_addr\":\"127.0.0.1\",\"daemon_port\":\"" port                                  \
	"\",\"direct_url\":\"http://127.0.0.1:" port "\"}"
#define NETS(p)                                                                                    \
	"\"public_net\":" NET("80" p) ",\"intra_data_net\":" NET(                                  \
		"100" p) ",\"intra_control_net\":" NET("90" p)
#define KEY "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="

#define GATEWAY                                                                                    \
	"{" NETS("80") ",\"daemon_type\":\"proxy\",\"daemon_id\":\"Kx81mQza\",\"flags\":2,"        \
		       "\"id_digest\":4343461419871697197}"
#define TARGET                                                                                     \
	"{" NETS("81") ",\"daemon_type\":\"target\",\"daemon_id\":\"t1Kq8mXzA\",\"flags\":0,"      \
		       "\"id_digest\":17294988425395217457}"
#define TARGET_WITH_KEY                                                                            \
	"{" NETS("81") ",\"daemon_type\":\"target\",\"daemon_id\":\"t1Kq8mXzA\",\"flags\":0,"      \
		       "\"id_digest\":17294988425395217457,\"verifying_key\":\"" KEY "\"}"
#define MAP(pmap, si, tmap, rest)                                                                  \
	"{\"pmap\":{" pmap "},\"proxy_si\":" si ",\"tmap\":{" tmap "}," rest "}"
#define IDENTITY "\"uuid\":\"u7WqPz1aB\",\"creation_time\":\"2026-01-01 00:00:00\","
#define VERSION "\"version\":\"12\""

static struct smap *parse(const char *text)
{
	char err[256] = "";
	struct smap *m = NULL;
	int r = smap_parse(text, strlen(text), &m, err, sizeof(err));

	if (r)
		fprintf(stderr, "%s\n%s\n", text, err);
	ASSERT_EQ(r, 0);
	return m;
}

/* @text is refused, and the sentence has @part in it. */
static void refuse(const char *text, const char *part)
{
	char err[256] = "";
	struct smap *m = NULL;
	int r = smap_parse(text, strlen(text), &m, err, sizeof(err));

	if (r != -EINVAL || !strstr(err, part))
		fprintf(stderr, "%s\nresult %d, \"%s\" without \"%s\"\n", text, r, err, part);
	ASSERT_EQ(r, -EINVAL);
	ASSERT_TRUE(!m);
	ASSERT_TRUE(strstr(err, part) != NULL);
}

static void same_after(const char *text)
{
	autobuf struct buf out = BUF_INIT;
	struct smap *m = parse(text);

	smap_print(m, &out);
	ASSERT_EQ(out.err, 0);
	ASSERT_STR(buf_cstr(&out), text);
	smap_put(m);
}

static void test_example(void)
{
	static const char text[] =
		MAP("\"Kx81mQza\":" GATEWAY, GATEWAY, "\"t1Kq8mXzA\":" TARGET, IDENTITY VERSION);
	struct smap *m = parse(text);
	const struct smap_node *n = smap_find(m, "t1Kq8mXzA");

	ASSERT_EQ(smap_version(m), 12);
	ASSERT_STR(smap_uuid(m), "u7WqPz1aB");
	ASSERT_STR(smap_primary(m)->id, "Kx81mQza");
	ASSERT_EQ(smap_primary(m)->flags, SMAP_F_IC);
	ASSERT_HEX(smap_primary(m)->digest, 4343461419871697197u);
	ASSERT_EQ(n->net[SMAP_NET_PUBLIC].port, 8081);
	ASSERT_EQ(n->net[SMAP_NET_CONTROL].port, 9081);
	ASSERT_EQ(n->net[SMAP_NET_DATA].port, 10081);
	ASSERT_HEX(n->digest, 17294988425395217457u);
	smap_put(m);
	same_after(text);
}

static void test_empty(void)
{
	same_after(MAP("", "null", "", "\"uuid\":\"\",\"creation_time\":\"\",\"version\":\"0\""));
	same_after(MAP("", "null", "\"t1Kq8mXzA\":" TARGET_WITH_KEY,
		       "\"uuid\":\"\",\"creation_time\":\"\",\"version\":\"0\""));
}

static void test_record(void)
{
	autojson struct json_object *o = NULL;
	autobuf struct buf out = BUF_INIT;
	struct smap_node n;
	int i;

	ASSERT_EQ(json_parse(TARGET_WITH_KEY, strlen(TARGET_WITH_KEY), &o), 0);
	ASSERT_EQ(smap_node_parse(o, &n, NULL, 0), 0);
	ASSERT_TRUE(n.has_key);
	for (i = 0; i < SMAP_KEY_BYTES; i++)
		ASSERT_EQ(n.key[i], i);
	smap_node_print(&n, &out);
	ASSERT_STR(buf_cstr(&out), TARGET_WITH_KEY);
}

/* What the protocol lets pass: any order and case of keys, null, strangers, numbers either way. */
static void test_lenient(void)
{
	struct smap *m = parse(
		"{\"Version\":7,\"ext\":{\"a\":[1]},\"UUID\":null,\"proxy_si\":null,\"tmap\":null,"
		"\"PMap\":{\"Kx81mQza\":{\"daemon_id\":\"Kx81mQza\",\"Daemon_Type\":\"proxy\","
		"\"pub_extra\":[{}],\"flags\":\"3\",\"verifying_key\":null,\"id_digest\":1,"
		"\"public_net\":{\"node_ip_addr\":\"fd00::1\",\"daemon_port\":443,"
		"\"direct_url\":\"https://[fd00::1]:443\",\"x\":0}}}} \n");
	const struct smap_node *n = smap_find(m, "Kx81mQza");

	ASSERT_EQ(smap_version(m), 7);
	ASSERT_EQ(n->flags, 3);
	ASSERT_HEX(n->digest, 4343461419871697197u);
	ASSERT_STR(n->net[SMAP_NET_PUBLIC].url, "https://[fd00::1]:443");
	ASSERT_EQ(n->net[SMAP_NET_CONTROL].port, 0);
	ASSERT_TRUE(!smap_primary(m) && !n->has_key);
	smap_put(m);
}

/* An absent data net, in each way of being absent, is the control net. */
static void test_data_falls_back(void)
{
	static const char *const data[] = {
		"", "\"intra_data_net\":null,", "\"intra_data_net\":{},",
		"\"intra_data_net\":{\"node_ip_addr\":\"\",\"daemon_port\":\"\","
		"\"direct_url\":\"\"},",
		"\"intra_data_net\":{\"node_ip_addr\":\"127.0.0.1\",\"daemon_port\":\"0\"},"};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(data); i++) {
		autobuf struct buf b = BUF_INIT;
		struct smap *m;

		buf_fmt(&b,
			"{\"tmap\":{\"t1Kq8mXzA\":{%s\"daemon_id\":\"t1Kq8mXzA\","
			"\"daemon_type\":\"target\",\"public_net\":%s,\"intra_control_net\":%s}},"
			"\"version\":\"1\"}",
			data[i], NET("8081"), NET("9081"));
		m = parse(buf_cstr(&b));
		ASSERT_STR(smap_find(m, "t1Kq8mXzA")->net[SMAP_NET_DATA].url,
			   "http://127.0.0.1:9081");
		buf_reset(&b);
		smap_print(m, &b);
		ASSERT_TRUE(strstr(buf_cstr(&b), "\"intra_data_net\":" NET("9081")) != NULL);
		smap_put(m);
	}
}

static void test_documents(void)
{
	static const char *const bad[] = {"",
					  " ",
					  "{",
					  "nul",
					  "{\"version\":\"1\"}x",
					  "{a}",
					  "\"\\",
					  "{\"version\":\"1\"",
					  "\"\377\""};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(bad); i++)
		refuse(bad[i], "JSON document");
	refuse("null", "JSON object");
	refuse("[]", "JSON object");
	refuse("7", "JSON object");
	refuse("{}", "version is missing");
	refuse("{\"version\":null}", "version is missing");
}

static void test_scalars(void)
{
	static const char *const numbers[] = {"\"x\"",	     "\" 1\"", "\"+1\"",
					      "\"1 \"",	     "\"-1\"", "1.5",
					      "true",	     "[]",     "\"18446744073709551616\"",
					      "\"1\\u0000\""};
	char text[256];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(numbers); i++) {
		snprintf(text, sizeof(text), "{\"version\":%s}", numbers[i]);
		refuse(text, "version must be a whole number");
	}
	refuse("{\"version\":-1}", "version must not be negative");
	refuse("{\"version\":\"9223372036854775807\"}", "version must be at most");
	refuse("{\"version\":18446744073709551615}", "version must be at most");
	refuse("{\"version\":\"1\",\"uuid\":7}", "uuid must be a string");
	refuse("{\"version\":\"1\",\"uuid\":\"a b\"}", "uuid must be at most 32");
	refuse("{\"version\":\"1\",\"uuid\":\"a\\u0000b\"}", "uuid contains a NUL");
	refuse("{\"version\":\"1\",\"uuid\":\"abc\",\"creation_time\":\"\\n\"}", "creation_time");
	refuse("{\"version\":\"1\",\"tmap\":[]}", "tmap must be an object");
	refuse("{\"version\":\"1\",\"pmap\":\"\"}", "pmap must be an object");
	refuse("{\"version\":\"1\",\"pmap\":{\"Kx81mQza\":null}}", "must be an object");
	refuse("{\"version\":\"1\",\"proxy_si\":[]}", "must be an object");
}

/* One target, whose record is @id, @type and @rest. */
static void refuse_record(const char *id, const char *type, const char *rest, const char *part)
{
	autobuf struct buf b = BUF_INIT;

	buf_fmt(&b,
		"{\"version\":\"1\",\"tmap\":{\"t1Kq8mXzA\":{\"daemon_id\":%s,\"daemon_type\":%s,"
		"%s}}}",
		id, type, rest);
	refuse(buf_cstr(&b), part);
}

static void test_records(void)
{
	static const char id[] = "\"t1Kq8mXzA\"", t[] = "\"target\"";
	static const char pub[] = "\"public_net\":" NET("8081");

	refuse_record("\"short\"", t, pub, "daemon_id must be 8 to 64");
	refuse_record("7", t, pub, "daemon_id must be a string");
	refuse_record("null", t, pub, "daemon_id must be");
	refuse_record("\"t1Kq8mXzA\\u0000\"", t, pub, "daemon_id contains a NUL");
	refuse_record("\"t1Kq8mXzB\"", t, pub, "under another ID");
	refuse_record(id, "\"Target\"", pub, "daemon_type of t1Kq8mXzA must be");
	refuse_record(id, "null", pub, "daemon_type of t1Kq8mXzA must be");
	refuse_record(id, "\"proxy\"", pub, "which is a proxy");
	refuse_record(id, t, "\"flags\":0", "public_net of t1Kq8mXzA has no address");
	refuse_record(id, t, NETS("81") ",\"flags\":-1", "flags must not be negative");
	refuse_record(id, t, NETS("81") ",\"flags\":\"a\"", "flags must be a whole number");
	refuse_record(id, t, NETS("81") ",\"id_digest\":1.5", "id_digest must be a whole number");
	refuse_record(id, t, "\"public_net\":" NET("8081") ",\"intra_control_net\":" NET("8081"),
		      "public host and port on an intra net");
	refuse_record(id, t, "\"public_net\":" NET("8081") ",\"intra_data_net\":" NET("8081"),
		      "public host and port on an intra net");
}

static void test_nets(void)
{
	static const char id[] = "\"t1Kq8mXzA\"", t[] = "\"target\"";

	refuse_record(id, t, "\"public_net\":7", "public_net of t1Kq8mXzA must be an object");
	refuse_record(id, t, "\"public_net\":{\"node_ip_addr\":1}", "node_ip_addr must be a str");
	refuse_record(id, t, "\"public_net\":{\"node_ip_addr\":\"a/b\",\"daemon_port\":\"1\"}",
		      "node_ip_addr is not a host");
	refuse_record(id, t, "\"public_net\":{\"node_ip_addr\":\"a\",\"daemon_port\":\"65536\"}",
		      "daemon_port must be at most 65535");
	refuse_record(id, t, "\"public_net\":{\"node_ip_addr\":\"a\",\"daemon_port\":\"-1\"}",
		      "daemon_port must be a whole number");
	refuse_record(id, t,
		      "\"public_net\":{\"node_ip_addr\":\"a\",\"daemon_port\":\"1\","
		      "\"direct_url\":\"http://b:1\"}",
		      "public_net of t1Kq8mXzA: direct_url must be http://a:1");
	refuse_record(id, t,
		      "\"public_net\":{\"node_ip_addr\":\"a\",\"daemon_port\":\"1\","
		      "\"direct_url\":\"https://a:1/\"}",
		      "direct_url must be https://a:1");
}

static void test_keys(void)
{
	static const char *const bad[] = {
		"7",
		"[]",
		"\"AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8\"", /* no padding */
		"\"AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHg==\"", /* 31 bytes */
		"\"AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8g\"", /* 33 bytes */
		"\"__________________________________________8=\"", /* the URL alphabet */
		"\"AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh9=\"", /* stray bits at the end */
		"\" AECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=\""};
	char rest[1024];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		snprintf(rest, sizeof(rest), "%s,\"verifying_key\":%s", NETS("81"), bad[i]);
		refuse_record("\"t1Kq8mXzA\"", "\"target\"", rest, "verifying_key");
	}
}

static void test_duplicates(void)
{
	static const char other[] = "{\"public_net\":" NET("10081") ",\"daemon_type\":\"target\","
								    "\"daemon_id\":\"t2Vr5nYbC\"}";
	autobuf struct buf b = BUF_INIT;

	refuse("{\"version\":\"1\",\"pmap\":{\"t1Kq8mXzA\":{" NETS(
		       "82") ",\"daemon_type\":\"proxy\","
			     "\"daemon_id\":\"t1Kq8mXzA\"}},\"tmap\":{\"t1Kq8mXzA\":" TARGET "}}",
	       "both in pmap and in tmap");
	buf_fmt(&b, "{\"version\":\"1\",\"tmap\":{\"t1Kq8mXzA\":%s,\"t2Vr5nYbC\":%s}}", TARGET,
		other);
	refuse(buf_cstr(&b), "t2Vr5nYbC has a host and port that another node has");
}

/* The same ID twice in one object would be lost while parsing. */
static void test_keys_twice(void)
{
	refuse("{\"version\":\"1\",\"tmap\":{\"t1Kq8mXzA\":" TARGET ",\"t1Kq8mXzA\":" TARGET "}}",
	       "key twice");
	refuse("{\"version\":\"1\",\"version\":\"2\"}", "key twice");
	refuse("{\"version\":\"1\",\"ext\":[{\"a\":{\"b\":1,\"b\":2}}]}", "key twice");
	smap_put(parse("{\"version\":\"1\",\"ext\":[{\"a:\\\":\":\"b:\"},\"c:\",{\"a:\":[]}]}"));
}

static void test_primaries(void)
{
	refuse(MAP("", GATEWAY, "", VERSION), "proxy_si Kx81mQza is not in pmap");
	refuse(MAP("", TARGET, "\"t1Kq8mXzA\":" TARGET, VERSION), "not in pmap");
	refuse(MAP("\"Kx81mQza\":" GATEWAY,
		   "{" NETS("82") ",\"daemon_type\":\"proxy\",\"daemon_id\":\"Kx81mQza\"}", "",
		   VERSION),
	       "proxy_si Kx81mQza differs");
	refuse(MAP("\"Kx81mQza\":" GATEWAY,
		   "{" NETS("80") ",\"daemon_type\":\"proxy\",\"daemon_id\":\"Kx81mQza\","
				  "\"verifying_key\":\"" KEY "\"}",
		   "", VERSION),
	       "proxy_si Kx81mQza differs");
}

/* Flags and digests use all 64 bits: nothing passes through a signed or a floating number. */
static void test_whole_range(void)
{
	autobuf struct buf b = BUF_INIT, out = BUF_INIT;
	struct smap *m;

	buf_fmt(&b,
		"{\"version\":\"4611686018427387903\",\"tmap\":{\"t1Kq8mXzA\":{%s,\"flags\":"
		"18446744073709551615,\"daemon_id\":\"t1Kq8mXzA\",\"daemon_type\":\"target\"}}}",
		NETS("81"));
	m = parse(buf_cstr(&b));
	ASSERT_HEX(smap_find(m, "t1Kq8mXzA")->flags, UINT64_MAX);
	ASSERT_EQ(smap_version(m), 4611686018427387903);
	smap_print(m, &out);
	ASSERT_TRUE(strstr(buf_cstr(&out), "\"flags\":18446744073709551615,") != NULL);
	ASSERT_TRUE(strstr(buf_cstr(&out), "\"version\":\"4611686018427387903\"}") != NULL);
	smap_put(m);
}

static void test_limits(void)
{
	autobuf struct buf b = BUF_INIT;
	char err[128] = "";
	struct smap *m = NULL;
	int i;

	buf_str(&b, "{\"version\":\"1\",\"pmap\":{");
	for (i = 0; i <= SMAP_NODES_MAX; i++)
		buf_fmt(&b, "%s\"%d\":{}", i ? "," : "", i);
	buf_str(&b, "}}");
	ASSERT_EQ(smap_parse(b.data, b.len, &m, err, sizeof(err)), -E2BIG);
	ASSERT_STR(err, "pmap has more than 16384 nodes");
	ASSERT_EQ(smap_parse("", (size_t)SMAP_TEXT_MAX + 1, &m, NULL, 0), -E2BIG);
	ASSERT_TRUE(!m);
	/* the sentence is cut to its room, and may be left out */
	ASSERT_EQ(smap_parse("{}", 2, &m, err, 8), -EINVAL);
	ASSERT_STR(err, "version");
	ASSERT_EQ(smap_parse("{}", 2, &m, NULL, 0), -EINVAL);
}

UNIT_MAIN("smap JSON", {"example", test_example}, {"empty", test_empty}, {"record", test_record},
	  {"lenient", test_lenient}, {"data falls back", test_data_falls_back},
	  {"documents", test_documents}, {"scalars", test_scalars}, {"records", test_records},
	  {"nets", test_nets}, {"keys", test_keys}, {"duplicates", test_duplicates},
	  {"keys twice", test_keys_twice}, {"primaries", test_primaries},
	  {"whole range", test_whole_range}, {"limits", test_limits})
