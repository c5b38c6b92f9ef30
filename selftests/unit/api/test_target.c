/* SPDX-License-Identifier: BSD-2-Clause */
/* Buckets and objects in paths and queries: a table of what is taken and how others are refused. */
#include "selftests/unit/unit.h"

#include "api/target.h"

static const struct row {
	const char *area, *path, *provider, *ns;
	bool need_object, head, post;
	int status; /* 0: taken */
	const char *bucket, *object; /* or tcode and a part of the text */
} rows[] = {
	{"/v1/buckets", "/v1/buckets", NULL, NULL, .bucket = "", .object = ""},
	{"/v1/buckets", "/v1/buckets/", NULL, NULL, .bucket = "", .object = ""},
	{"/v1/buckets", "/v1/buckets//abc//", NULL, NULL, .bucket = "abc", .object = ""},
	{"/v1/buckets", "/v1/buckets/abc/pre/fix/", "ais", NULL, .bucket = "abc",
	 .object = "pre/fix/"},
	{"/v1/objects", "/v1/objects/abc/d//e", "", NULL, true, .bucket = "abc", .object = "d//e"},
	{"/v1/objects", "/v1/objects//abc/o", NULL, "#ns", true, .bucket = "abc", .object = "o"},
	{"/v1/objects", "/v1/objects/abc//x", NULL, NULL, true, .status = 400, NULL,
	 "invalid object name \"/x\""},
	{"/v1/objects", "/v1/objects/abc/d/", NULL, NULL, true, .status = 400, NULL, "d/"},
	{"/v1/objects", "/v1/objects/abc/d/", NULL, NULL, true, true, .bucket = "abc",
	 .object = "d/"},
	{"/v1/objects", "/v1/objects/abc/../x", NULL, NULL, true, .status = 400, NULL, "../x"},
	{"/v1/objects", "/v1/objects/abc/~/x", NULL, NULL, true, .status = 400, NULL, "~/x"},
	{"/v1/objects", "/v1/objects/abc", NULL, NULL, true, .status = 400, NULL,
	 "is too short: expected 4 items, got 3"},
	{"/v1/objects", "/v1/objects/abc/", NULL, NULL, true, .status = 400, NULL, "got 3"},
	{"/v1/objects", "/v1/objects", NULL, NULL, true, .status = 400, NULL, "got 2"},
	{"/v1/objects", "/v1/objects/abc", .bucket = "abc", .object = ""},
	{"/v1/objects", "/v1/objects/abc/", .bucket = "abc", .object = ""},
	{"/v1/objects", "/v1/objects/abc/o", .bucket = "abc", .object = "o"},
	{"/v1/objects", "/v1/objects/abc/../x", .status = 400, NULL, "../x"},
	{"/v1/objects", "/v1/objects/abc//", .status = 400, NULL, "invalid object name"},
	{"/v1/buckets", "/v1/buckets/*", NULL, NULL, .status = 400, NULL, "\"*\" is invalid"},
	{"/v1/buckets", "/v1/buckets/.", NULL, NULL, .status = 400, NULL, "is invalid"},
	{"/v1/buckets", "/v1/buckets/ ", NULL, NULL, .status = 400, NULL, "is invalid"},
	{"/v1/buckets", "/v1/buckets/a..b", NULL, NULL, .status = 400, NULL, "is invalid"},
	{"/v1/buckets", "/v1/buckets/.sys-inventory", NULL, NULL, .status = 400, NULL,
	 "is invalid"},
	{"/v1/buckets",
	 "/v1/buckets/"
	 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
	 NULL, NULL, .status = 400, NULL, "over 64 characters"},
	{"/v1/buckets", "/v1/buckets/abc", "xyz", NULL, .status = 400, "ErrInvalidBackendProvider",
	 "\"xyz\""},
	{"/v1/buckets", "/v1/buckets", "AIS", NULL, .status = 400, "ErrInvalidBackendProvider",
	 "\"AIS\""},
	{"/v1/buckets", "/v1/buckets/b", "s3", NULL, .status = 404, "ErrFailedTo",
	 "failed to lookup bucket s3://b, err: AWS backend is missing in the cluster "
	 "configuration"},
	{"/v1/buckets", "/v1/buckets/b", "gcp", NULL, .status = 404, "ErrFailedTo", "gs://b"},
	{"/v1/buckets", "/v1/buckets/b", "aws", NULL, .post = true, .status = 501,
	 "ErrRemoteBckNotFound", "aws bucket \"s3://b\" does not exist"},
	{"/v1/buckets", "/v1/buckets", "aws", NULL, .bucket = "", .object = ""},
	{"/v1/buckets", "/v1/buckets/b", NULL, "@u/v#x", .status = 400, NULL, "invalid namespace"},
};

static void test_table(void)
{
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct row *r = &rows[i];
		struct api_target_text in = {.area = r->area,
					     .path = r->path,
					     .path_len = strlen(r->path),
					     .provider = r->provider,
					     .ns = r->ns,
					     .need_object = r->need_object,
					     .head = r->head,
					     .post = r->post};
		struct api_fault f = {};
		struct api_target t;
		int got = api_target_parse(&in, &t, &f);

		if ((got < 0) != (r->status != 0))
			fprintf(stderr, "%s: %d %s\n", r->path, f.status, f.text);
		ASSERT_EQ(got, r->status ? -EINVAL : 0);
		ASSERT_EQ(f.status, r->status);
		if (!r->status) {
			ASSERT_STR(t.bck.bucket, r->bucket);
			ASSERT_STR(t.object, r->object);
			ASSERT_EQ(t.object_len, strlen(r->object));
			continue;
		}
		ASSERT_STR(f.tcode ? f.tcode : "", r->bucket ? r->bucket : "");
		if (!strstr(f.text, r->object))
			fprintf(stderr, "%s: %s\n", r->path, f.text);
		ASSERT_TRUE(strstr(f.text, r->object) != NULL);
	}
}

static void test_namespace(void)
{
	static const struct {
		const char *text, *uuid, *name;
	} good[] = {{NULL, "", ""},    {"", "", ""},	  {"@#", "", ""},
		    {"#ns", "", "ns"}, {"ns", "", "ns"},  {"@u1#ns", "u1", "ns"},
		    {"@u1", "u1", ""}, {"@u1#", "u1", ""}};
	static const char *const bad[] = {"@a@b#c", "#a#b", "@a b#c", "#a/b",
					  "#aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"};
	struct bmd_name n;
	size_t i;

	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		ASSERT_EQ(api_ns_parse(good[i].text, &n), 0);
		ASSERT_STR(n.ns_uuid, good[i].uuid);
		ASSERT_STR(n.ns_name, good[i].name);
	}
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ASSERT_EQ(api_ns_parse(bad[i], &n), -EINVAL);
}

static void test_provider(void)
{
	ASSERT_STR(api_provider(NULL), "ais");
	ASSERT_STR(api_provider(""), "ais");
	ASSERT_STR(api_provider("oc"), "oci");
	ASSERT_STR(api_provider("az"), "azure");
	ASSERT_TRUE(!api_provider("azur"));
	ASSERT_STR(api_provider_title("aws"), "AWS");
}

UNIT_MAIN("target", {"table", test_table}, {"namespace", test_namespace},
	  {"provider", test_provider})
