/* SPDX-License-Identifier: BSD-2-Clause */
/* The value of "list": which properties follow, what is refused, and that targets read it back. */
#include "selftests/unit/unit.h"

#include "api/list_msg.h"
#include "base/json.h"

static int parse(const char *text, struct list_msg *m, struct api_fault *f)
{
	struct json_object *o = NULL;
	int r;

	ASSERT_EQ(json_parse(text, strlen(text), &o), 0);
	*f = (struct api_fault){};
	r = list_msg_parse(o, m, f);
	json_object_put(o);
	return r;
}

#define DEFAULT LIST_P_SIZE
#define CACHED (LIST_P_SIZE | LIST_P_CKSUM | LIST_P_ATIME)

static void test_props(void)
{
	static const struct {
		const char *value;
		uint32_t props;
	} rows[] = {
		{"{}", DEFAULT},
		{"{\"flags\":\"0\",\"props\":\"\"}", DEFAULT},
		{"{\"flags\":\"1\"}", CACHED},
		{"{\"flags\":\"32\"}", DEFAULT},
		{"{\"flags\":\"33\"}", DEFAULT},
		{"{\"flags\":\"16\",\"props\":\"name,size\"}", 0},
		{"{\"flags\":\"32\",\"props\":\"name, version ,custom\"}",
		 LIST_P_VERSION | LIST_P_CUSTOM},
		{"{\"props\":\"name\"}", 0},
		{"{\"props\":\"name,size,checksum,atime,version,cached,status,copies,custom,"
		 "location\"}",
		 CACHED | LIST_P_VERSION | LIST_P_COPIES | LIST_P_CUSTOM | LIST_P_LOCATION},
		{"{\"props\":\"Size,unknown,sizes\"}", 0},
		{"{\"PROPS\":\"size\",\"unknown\":[1],\"Prefix\":null}", LIST_P_SIZE},
	};
	struct list_msg m;
	struct api_fault f;
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		ASSERT_EQ(parse(rows[i].value, &m, &f), 0);
		ASSERT_EQ(m.props, rows[i].props);
	}
	ASSERT_EQ(list_msg_parse(NULL, &m, &f), 0);
	ASSERT_EQ(m.props, DEFAULT);
	ASSERT_EQ(m.page, 10000);
}

static void test_pages(void)
{
	struct list_msg m;
	struct api_fault f;

	ASSERT_EQ(parse("{\"pagesize\":0}", &m, &f), 0);
	ASSERT_EQ(m.page, 10000);
	ASSERT_EQ(parse("{\"pagesize\":7,\"start_after\":\"b\"}", &m, &f), 0);
	ASSERT_EQ(m.page, 7);
	ASSERT_STR(list_msg_after(&m), "b");
	ASSERT_EQ(parse("{\"pagesize\":20000,\"continuation_token\":\"c\",\"start_after\":\"b\"}",
			&m, &f),
		  0);
	ASSERT_EQ(m.page, 20000);
	ASSERT_STR(list_msg_after(&m), "c");
	ASSERT_EQ(parse("{\"prefix\":\"dir/a*\",\"uuid\":\"Q1wE2rT3yX\"}", &m, &f), 0);
	ASSERT_STR(m.prefix, "dir/a");
	ASSERT_STR(m.uuid, "Q1wE2rT3yX");
}

static void test_refused(void)
{
	static const struct {
		const char *value, *text;
		int status;
	} rows[] = {
		{"[]", "must be an object", 400},
		{"\"x\"", "must be an object", 400},
		{"{\"pagesize\":-1}", "pagesize", 400},
		{"{\"pagesize\":\"x\"}", "pagesize", 400},
		{"{\"pagesize\":1.5}", "pagesize", 400},
		{"{\"flags\":-1}", "flags", 400},
		{"{\"flags\":1}", "flags", 400},
		{"{\"pagesize\":\"7\"}", "pagesize", 400},
		{"{\"flags\":\"-1\"}", "flags", 400},
		{"{\"flags\":\"x\"}", "flags", 400},
		{"{\"flags\":[]}", "flags", 400},
		{"{\"flags\":\"8\"}", "archives", 501},
		{"{\"flags\":\"512\"}", "remote", 400},
		{"{\"flags\":\"4096\"}", "remote", 400},
		{"{\"flags\":\"32768\"}", "no inventories", 400},
		{"{\"uuid\":\"x\"}", "uuid", 400},
		{"{\"uuid\":\"../../etc\"}", "uuid", 400},
		{"{\"uuid\":5}", "must be a string", 400},
		{"{\"prefix\":\"../x\"}", "prefix", 400},
		{"{\"prefix\":\"a/../x\"}", "prefix", 400},
		{"{\"prefix\":\"a/./x\"}", "prefix", 400},
		{"{\"prefix\":\"~/x\"}", "prefix", 400},
		{"{\"prefix\":\"a\\u0000b\"}", "NUL", 400},
		{"{\"time_format\":"
		 "\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\"}",
		 "time_format", 400},
	};
	struct list_msg m;
	struct api_fault f;
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		ASSERT_EQ(parse(rows[i].value, &m, &f), -EINVAL);
		ASSERT_EQ(f.status, rows[i].status);
		if (!strstr(f.text, rows[i].text))
			fprintf(stderr, "%s: %s\n", rows[i].value, f.text);
		ASSERT_TRUE(strstr(f.text, rows[i].text) != NULL);
	}
}

/* What is sent to targets means the same there. */
static void test_round_trip(void)
{
	struct json_object *o = NULL;
	struct list_msg m, back;
	struct buf b = BUF_INIT;
	struct api_fault f;

	ASSERT_EQ(parse("{\"props\":\"name,atime,copies\",\"prefix\":\"q\\\"/\",\"flags\":\"2049\","
			"\"time_format\":\"15:04\",\"start_after\":\"q\\\"/x\",\"pagesize\":9}",
			&m, &f),
		  0);
	list_msg_print(&m, list_msg_after(&m), m.page, &b);
	ASSERT_EQ(json_parse(b.data, b.len, &o), 0);
	ASSERT_STR(json_member_str(o, "action"), "list");
	ASSERT_EQ(list_msg_parse(json_member(o, "value"), &back, &f), 0);
	ASSERT_EQ(back.props, LIST_P_ATIME | LIST_P_COPIES);
	ASSERT_EQ(back.flags, LIST_F_NO_RECURSION);
	ASSERT_EQ(back.page, 9);
	ASSERT_STR(back.prefix, "q\"/");
	ASSERT_STR(list_msg_after(&back), "q\"/x");
	ASSERT_STR(back.layout, "15:04");
	json_object_put(o);
	buf_free(&b);
}

UNIT_MAIN("list_msg", {"props", test_props}, {"pages", test_pages}, {"refused", test_refused},
	  {"round trip", test_round_trip})
