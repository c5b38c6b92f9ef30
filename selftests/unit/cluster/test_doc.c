/* SPDX-License-Identifier: BSD-2-Clause */
/* Documents between nodes: what is read, what is refused, and that what is printed is read back. */
#include "../unit.h"
#include "cluster/doc.h"

#define NET(port)                                                                                  \
	"{\"node_ip_addr\":\"127.0.0.1\",\"daemon_port\":\"" port                                  \
	"\",\"direct_url\":\"http://127.0.0.1:" port "\"}"
#define NODE_BEGIN                                                                                 \
	"{\"public_net\":" NET("8081") ",\"intra_data_net\":" NET(                                 \
		"10081") ",\"intra_control_net\":" NET("9081") ",\"daemon_type\":\"target\","      \
							       "\"daemon_id\":\"tTarget01\","      \
							       "\"flags\":0,\"id_digest\":0"
#define KEY ",\"verifying_key\":\"T9CZzNR9eJPf6ewkQU7LDZtUICMqrTDZHEZb4zy+ZcQ=\""
#define NODE NODE_BEGIN KEY "}"

static int join(const char *text, struct doc_join *j)
{
	char err[256] = "";
	int r = doc_join_parse(text, strlen(text), j, err, sizeof(err));

	if (r < 0)
		ASSERT_TRUE(*err);
	return r;
}

static void test_join(void)
{
	struct doc_join j, again;
	autobuf struct buf b = BUF_INIT;

	ASSERT_EQ(join("{\"si\":" NODE ",\"uuid\":\"u7WqPz1aB\",\"smap\":\"7\",\"bmd\":2,"
		       "\"conf\":null,\"more\":[]}",
		       &j),
		  0);
	ASSERT_STR(j.si.id, "tTarget01");
	ASSERT_STR(j.uuid, "u7WqPz1aB");
	ASSERT_EQ(j.have.smap, 7);
	ASSERT_EQ(j.have.bmd, 2);
	ASSERT_EQ(j.have.conf, 0);
	ASSERT_EQ(j.si.key[0], 0x4f);
	ASSERT_EQ(j.si.net[SMAP_NET_CONTROL].port, 9081);
	ASSERT_TRUE(!j.skip_rebalance);
	doc_join_print(&j, &b);
	ASSERT_EQ(join(b.data, &again), 0);
	ASSERT_TRUE(smap_node_same_key(&j.si, &again.si) && smap_node_same_net(&j.si, &again.si));
	ASSERT_EQ(again.have.smap, 7);
}

static void test_join_refused(void)
{
	static const char *const wrong[] = {
		"",
		"null",
		"[]",
		"{}",
		"{\"si\":7}",
		"{\"si\":" NODE_BEGIN "}}", /* no key */
		"{\"si\":" NODE ",\"uuid\":\"not a uuid\"}",
		"{\"si\":" NODE ",\"smap\":\"-1\"}",
		"{\"si\":" NODE ",\"smap\":\"9223372036854775807\"}",
		"{\"si\":" NODE ",\"smap\":\"7x\"}",
		"{\"si\":" NODE "} x",
	};
	struct doc_join j;
	size_t i;

	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		ASSERT_EQ(join(wrong[i], &j), -EINVAL);
}

static int versions(const char *text, struct doc_versions *v)
{
	return doc_versions_parse(text, strlen(text), v);
}

static void test_versions(void)
{
	struct doc_versions v;

	ASSERT_EQ(versions("{\"smap\":\"12\",\"bmd\":\"0\",\"conf\":\"3\"}", &v), 0);
	ASSERT_EQ(v.smap, 12);
	ASSERT_EQ(v.conf, 3);
	ASSERT_EQ(versions("{}", &v), 0);
	ASSERT_EQ(v.smap, 0);
	ASSERT_EQ(versions("{\"smap\":\"-1\"}", &v), -EINVAL);
	ASSERT_EQ(versions("[]", &v), -EINVAL);
	ASSERT_EQ(versions("", &v), -EINVAL);
}

static int parse(const char *text, struct doc *d)
{
	struct config *node;
	char err[256] = "";
	int r;

	ASSERT_EQ(config_default(&node), 0);
	r = doc_parse(node, text, strlen(text), d, err, sizeof(err));
	config_put(node);
	if (r < 0)
		ASSERT_TRUE(*err);
	return r;
}

static void test_doc(void)
{
	autobuf struct buf b = BUF_INIT;
	struct doc d, again;

	ASSERT_EQ(parse("{\"Smap\":{\"pmap\":{},\"tmap\":{\"tTarget01\":" NODE
			"},\"uuid\":\"u7WqPz1aB\",\"version\":\"9\"},"
			"\"silent\":[\"tTarget02\",\"tTarget01\"]}",
			&d),
		  0);
	ASSERT_EQ(smap_version(d.smap), 9);
	ASSERT_TRUE(!d.bmd && !d.conf && d.has_silent);
	ASSERT_EQ(d.n_silent, 2);
	ASSERT_STR(d.silent[0], "tTarget01");
	ASSERT_EQ(bmd_new("u7WqPz1aC", &d.bmd), 0);
	ASSERT_EQ(config_default(&d.conf), 0);
	config_stamp(d.conf, 4, "u7WqPz1aB", 1);
	doc_print(&d, &b);
	ASSERT_EQ(parse(b.data, &again), 0);
	ASSERT_EQ(smap_version(again.smap), 9);
	ASSERT_STR(bmd_uuid(again.bmd), "u7WqPz1aC");
	ASSERT_EQ(config_version(again.conf), 4);
	ASSERT_STR(again.silent[1], "tTarget02");
	doc_deinit(&again);
	doc_deinit(&d);
	doc_deinit(&d);
	ASSERT_EQ(parse("{}", &d), 0);
	ASSERT_TRUE(!d.smap && !d.has_silent);
	doc_deinit(&d);
}

static void test_doc_refused(void)
{
	static const char *const wrong[] = {
		"",
		"7",
		"{\"Smap\":7}",
		"{\"Smap\":{\"version\":\"x\"}}",
		"{\"BMD\":[]}",
		"{\"Conf\":\"\"}",
		"{\"silent\":{}}",
		"{\"silent\":[7]}",
		"{\"silent\":[\"../../x\"]}",
	};
	struct doc d;
	size_t i;

	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		ASSERT_EQ(parse(wrong[i], &d), -EINVAL);
}

UNIT_MAIN("doc", {"join requests", test_join}, {"wrong join requests", test_join_refused},
	  {"versions", test_versions}, {"documents", test_doc},
	  {"wrong documents", test_doc_refused})
