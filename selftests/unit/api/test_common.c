/* SPDX-License-Identifier: BSD-2-Clause */
/* Control bodies, Bck objects and paths of calls between nodes. */
#include "selftests/unit/unit.h"

#include "api/api.h"
#include "base/json.h"

static void none(struct http_txn *t)
{
}

static struct http_server *server;

/* Parse @body; the error document is left in @doc. */
static int parse(const char *body, struct api_msg *m, struct buf *doc)
{
	struct http_server_opts o = {.sz = sizeof(o), .node_name = "p[test1234]", .fallback = none};
	struct http_txn t = {
		.req = {.method = HTTP_PUT, .method_text = "PUT", .path = "/v1/cluster"},
	};
	int r;

	if (!server)
		ASSERT_EQ(http_server_new(&o, &server), 0);
	t.server = server;
	buf_str(&t.body, body);
	r = api_msg_parse(&t, m);
	buf_free(&t.body);
	buf_free(&t.resp.head);
	buf_free(doc);
	*doc = t.resp.bytes;
	ASSERT_EQ(t.resp.status, r ? 400 : 0);
	return r;
}

static void test_msg(void)
{
	struct buf doc = BUF_INIT;
	struct api_msg m;

	ASSERT_EQ(parse("", &m, &doc), 0);
	ASSERT_TRUE(!m.root && !m.action && !m.name && !m.value);
	ASSERT_EQ(parse("null", &m, &doc), 0);
	ASSERT_TRUE(!m.action);
	ASSERT_EQ(parse("{\"ACTION\":\"x\",\"Name\":\"n\",\"value\":{\"a\":1},\"more\":[]}", &m,
			&doc),
		  0);
	ASSERT_STR(m.action, "x");
	ASSERT_STR(m.name, "n");
	ASSERT_TRUE(json_member(m.value, "A") != NULL);
	api_msg_free(&m);
	ASSERT_EQ(parse("{\"action\":null,\"value\":null}", &m, &doc), 0);
	ASSERT_TRUE(m.root && !m.action && !m.value);
	api_msg_free(&m);
	api_msg_free(&m);
	http_server_free(server);
	server = NULL;
}

static void test_msg_refused(void)
{
	static const char *const bodies[] = {"{",
					     "[]",
					     "x",
					     "{}{}",
					     "5",
					     "{\"action\":5}",
					     "{\"name\":\"a\\u0000b\"}",
					     "{\"action\":\"a\",\"name\":[]}"};
	struct buf doc = BUF_INIT;
	struct api_msg m;
	size_t i;

	for (i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++) {
		ASSERT_EQ(parse(bodies[i], &m, &doc), -EINVAL);
		ASSERT_TRUE(strstr(buf_cstr(&doc), "failed to unmarshal") != NULL);
		ASSERT_TRUE(!m.root);
	}
	buf_free(&doc);
	http_server_free(server);
	server = NULL;
}

static int bck(const char *text, struct bmd_name *n)
{
	struct json_object *o = NULL;
	int r;

	ASSERT_EQ(json_parse(text, strlen(text), &o), 0);
	r = api_bck_parse(o, n);
	json_object_put(o);
	return r;
}

static void test_bck(void)
{
	struct buf b = BUF_INIT;
	struct bmd_name n;

	ASSERT_EQ(bck("{\"name\":\"abc\",\"provider\":\"\",\"namespace\":null}", &n), 0);
	ASSERT_STR(n.provider, "ais");
	api_bck_print(&n, &b);
	ASSERT_STR(buf_cstr(&b), "{\"name\":\"abc\",\"provider\":\"ais\",\"namespace\":"
				 "{\"uuid\":\"\",\"name\":\"\"}}");
	/* the CLI sends an empty struct for none */
	ASSERT_EQ(
		bck("{\"name\":\"\",\"provider\":\"\",\"namespace\":{\"uuid\":\"\",\"name\":\"\"}}",
		    &n),
		0);
	ASSERT_STR(n.bucket, "");
	ASSERT_EQ(bck("{\"Name\":\"b\",\"Provider\":\"s3\"}", &n), 0);
	ASSERT_STR(n.provider, "aws");
	ASSERT_EQ(bck("{\"name\":\"a/b\"}", &n), -EINVAL);
	ASSERT_EQ(bck("{\"name\":5}", &n), -EINVAL);
	ASSERT_EQ(bck("{\"name\":\"b\",\"provider\":\"ftp\"}", &n), -EINVAL);
	ASSERT_EQ(bck("{\"name\":\"b\",\"namespace\":\"x\"}", &n), -EINVAL);
	ASSERT_EQ(bck("[]", &n), -EINVAL);
	buf_free(&b);
}

static void test_path(void)
{
	struct bmd_name n = {.bucket = "abc", .provider = "ais"};
	struct buf b = BUF_INIT;

	api_bck_path("/v1/buckets", &n, &b);
	ASSERT_STR(buf_cstr(&b), "/v1/buckets/abc?provider=ais");
	buf_reset(&b);
	strcpy(n.ns_name, "ns");
	api_bck_path("/v1/buckets", &n, &b);
	ASSERT_STR(buf_cstr(&b), "/v1/buckets/abc?provider=ais&namespace=%40%23ns");
	buf_reset(&b);
	api_object_text(&n, "dir/o", &b);
	ASSERT_STR(buf_cstr(&b), "ais://#ns/abc/dir/o");
	buf_free(&b);
}

UNIT_MAIN("common", {"msg", test_msg}, {"msg refused", test_msg_refused}, {"bck", test_bck},
	  {"path", test_path})
