/* SPDX-License-Identifier: BSD-2-Clause */
/* Bucket metadata: changes, JSON against the API's documented text, properties. */
#include "selftests/unit/unit.h"

#include <errno.h>
#include <stdlib.h>

#include "base/bits.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "cluster/bmd.h"

static struct bmd_bucket fresh(const char *name)
{
	struct bmd_bucket b = {.access = UINT64_MAX, .versioning = true};

	snprintf(b.name.bucket, sizeof(b.name.bucket), "%s", name);
	strcpy(b.name.provider, "ais");
	strcpy(b.cksum_type, "xxhash2");
	return b;
}

/* @b with bucket @name more; drops the reference to @b. */
static struct bmd *with(struct bmd *b, const char *name)
{
	struct bmd_bucket add = fresh(name);
	struct bmd *n;

	ASSERT_EQ(bmd_with_bucket(b, &add, &n), 0);
	bmd_put(b);
	return n;
}

static struct bmd *two_buckets(void)
{
	struct bmd *b;

	ASSERT_EQ(bmd_new("Vb3nM9kQe", &b), 0);
	return with(with(b, "xyz"), "abc");
}

static void test_changes(void)
{
	struct bmd *b = two_buckets(), *n;
	struct bmd_name abc = fresh("abc").name, nope = fresh("nope").name;
	struct bmd_bucket again = fresh("abc");
	uint64_t bid = bmd_find(b, &abc)->bid;

	ASSERT_EQ(bmd_version(b), 2);
	ASSERT_EQ(bmd_count(b), 2);
	ASSERT_STR(bmd_at(b, 0)->name.bucket, "abc");
	ASSERT_STR(bmd_at(b, 0)->placement, "ais/@#/abc/");
	ASSERT_TRUE(bmd_at(b, 0)->bid != bmd_at(b, 1)->bid);
	ASSERT_TRUE(bid >> 63);
	ASSERT_EQ(bmd_with_bucket(b, &again, &n), -EEXIST);
	ASSERT_EQ(bmd_without_bucket(b, &nope, &n), -ENOENT);
	ASSERT_EQ(bmd_without_bucket(b, &abc, &n), 0);
	ASSERT_EQ(bmd_count(n), 1);
	ASSERT_TRUE(!bmd_find(n, &abc) && !bmd_find_bid(n, bid));
	ASSERT_TRUE(bmd_is_gone(n, bid) && !bmd_is_gone(b, bid) && !bmd_is_gone(n, bid + 1));
	/* a new bucket of the old name is another bucket */
	n = with(n, "abc");
	ASSERT_TRUE(bmd_find(n, &abc)->bid != bid);
	bmd_put(n);
	bmd_put(b);
}

static void test_rename_keeps_id_and_placement(void)
{
	struct bmd *b = two_buckets(), *n;
	struct bmd_name abc = fresh("abc").name, xyz = fresh("xyz").name, zzz = fresh("zzz").name;
	uint64_t bid = bmd_find(b, &abc)->bid;

	ASSERT_EQ(bmd_with_rename(b, &abc, &xyz, &n), -EEXIST);
	ASSERT_EQ(bmd_with_rename(b, &zzz, &abc, &n), -ENOENT);
	ASSERT_EQ(bmd_with_rename(b, &abc, &zzz, &n), 0);
	ASSERT_TRUE(!bmd_find(n, &abc));
	ASSERT_HEX(bmd_find(n, &zzz)->bid, bid);
	ASSERT_STR(bmd_find(n, &zzz)->placement, "ais/@#/abc/");
	ASSERT_EQ(bmd_version(n), 3);
	bmd_put(n);
	bmd_put(b);
}

/* The set of http-api 3.2 with the checked page's corrections, bid and created as given there. */
static const char props_text[] =
	"{\"backend_bck\":{\"name\":\"\",\"provider\":\"\",\"namespace\":{\"uuid\":\"\",\"name\":"
	"\"\"}},\"write_policy\":{\"data\":\"immediate\",\"md\":\"immediate\"},\"provider\":"
	"\"ais\",\"Renamed\":\"\",\"checksum\":{\"type\":\"xxhash2\",\"validate_cold_get\":false,"
	"\"validate_warm_get\":false,\"validate_obj_move\":false,\"enable_read_range\":false},"
	"\"extra\":{\"aws\":{},\"gcp\":{},\"oci\":{}},\"rate_limit\":{\"backend\":{\"interval\":"
	"\"1m\",\"max_tokens\":1000,\"enabled\":false,\"num_retries\":3},\"frontend\":{"
	"\"interval\":\"1m\",\"max_tokens\":1000,\"enabled\":false,\"burst_size\":375}},\"ec\":{"
	"\"compression\":\"never\",\"bundle_multiplier\":2,\"burst_buffer\":512,\"objsize_limit\":"
	"262144,\"data_slices\":2,\"parity_slices\":2,\"enabled\":false,\"disk_only\":false},"
	"\"chunks\":{\"objsize_limit\":\"0B\",\"max_monolithic_size\":\"1TiB\",\"chunk_size\":"
	"\"1GiB\"},\"mirror\":{\"copies\":2,\"burst_buffer\":512,\"enabled\":false},\"lru\":{"
	"\"dont_evict_time\":\"2h0m\",\"capacity_upd_time\":\"10m\",\"batch_size\":32768,"
	"\"enabled\":false},\"access\":\"18446744073709551615\",\"features\":\"0\",\"bid\":"
	"\"9223372036854775811\",\"created\":\"1767225600000000000\",\"versioning\":{\"enabled\":"
	"true,\"validate_warm_get\":false,\"synchronize\":false}}";

static void test_props_text(void)
{
	autobuf struct buf out = BUF_INIT;
	struct bmd_bucket b = fresh("abc");

	b.bid = 9223372036854775811u;
	b.created_ns = 1767225600000000000;
	bmd_props_print(&b, &out);
	ASSERT_STR(buf_cstr(&out), props_text);
}

static void test_json_round_trip(void)
{
	autobuf struct buf one = BUF_INIT, two = BUF_INIT, plain = BUF_INIT;
	struct bmd *b = two_buckets(), *ren, *back;
	struct bmd_name abc = fresh("abc").name, zzz = fresh("zzz").name;
	struct bmd_bucket ns = fresh("inns");
	char err[200] = "";

	strcpy(ns.name.ns_name, "mine");
	ASSERT_EQ(bmd_with_rename(b, &abc, &zzz, &ren), 0);
	bmd_put(b);
	ASSERT_EQ(bmd_with_bucket(ren, &ns, &b), 0);
	bmd_print(b, true, &one);
	ASSERT_EQ(bmd_parse(one.data, one.len, &back, err, sizeof(err)), 0);
	bmd_print(back, true, &two);
	ASSERT_STR(two.data, one.data);
	ASSERT_STR(bmd_find(back, &zzz)->placement, "ais/@#/abc/");
	ASSERT_STR(bmd_uuid(back), "Vb3nM9kQe");
	bmd_print(back, false, &plain);
	ASSERT_TRUE(!strstr(plain.data, "placement") && strstr(plain.data, "\"@#mine\":{"));
	bmd_put(back);
	bmd_put(ren);
	bmd_put(b);
}

static void test_gone_is_remembered(void)
{
	autobuf struct buf text = BUF_INIT;
	struct bmd *b = two_buckets(), *n, *back;
	struct bmd_name abc = fresh("abc").name;
	uint64_t first = bmd_find(b, &abc)->bid, last = first;
	char err[200] = "";
	size_t i;

	for (i = 0; i < BMD_GONE_MAX + 1; i++) {
		last = bmd_find(b, &abc)->bid;
		ASSERT_EQ(bmd_without_bucket(b, &abc, &n), 0);
		bmd_put(b);
		b = with(n, "abc");
	}
	ASSERT_TRUE(!bmd_is_gone(b, first) && bmd_is_gone(b, last));
	bmd_print(b, true, &text);
	ASSERT_EQ(bmd_parse(text.data, text.len, &back, err, sizeof(err)), 0);
	ASSERT_TRUE(!bmd_is_gone(back, first) && bmd_is_gone(back, last));
	ASSERT_TRUE(!bmd_is_gone(back, bmd_find(back, &abc)->bid));
	bmd_put(back);
	bmd_put(b);
}

static void test_bad_json(void)
{
	static const char *const bad[] = {
		"",
		"[]",
		"{\"uuid\":\"abc\"}",
		"{\"version\":\"1\"}",
		"{\"uuid\":\"abc\",\"version\":\"-1\"}",
		"{\"uuid\":\"a/../b\",\"version\":\"1\"}",
		"{\"uuid\":\"abc\",\"version\":\"1\",\"providers\":[]}",
		"{\"uuid\":\"abc\",\"version\":\"1\",\"providers\":{\"aws\":{}}}",
		"{\"uuid\":\"abc\",\"version\":\"1\",\"providers\":{\"ais\":{\"x\":{}}}}",
		"{\"uuid\":\"abc\",\"version\":\"1\",\"providers\":{\"ais\":{\"@#\":{\"..\":{}}}}}",
		"{\"uuid\":\"abc\",\"version\":\"1\",\"providers\":{\"ais\":{\"@#\":{\"abc\":{}}}}"
		"}",
		"{\"uuid\":\"abc\",\"version\":\"1\"} x",
		"{\"uuid\":\"abc\",\"version\":\"1\",\"gone\":{}}",
		"{\"uuid\":\"abc\",\"version\":\"1\",\"gone\":[1]}",
	};
	struct bmd *b;
	char err[200];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		err[0] = 0;
		ASSERT_EQ(bmd_parse(bad[i], strlen(bad[i]), &b, err, sizeof(err)), -EINVAL);
		ASSERT_TRUE(err[0] != 0);
	}
}

static int apply(struct bmd_bucket *b, const char *text, char *err, size_t size)
{
	autojson struct json_object *o = NULL;

	ASSERT_EQ(json_parse(text, strlen(text), &o), 0);
	return bmd_props_apply(b, o, err, size);
}

static void test_props_apply(void)
{
	struct bmd_bucket b = fresh("abc");
	char err[200] = "";

	ASSERT_EQ(apply(&b,
			"{\"checksum\":{\"type\":\"md5\"},\"access\":\"3\",\"versioning\":"
			"{\"enabled\":false},\"unknown\":{\"x\":1},\"mirror\":null}",
			err, sizeof(err)),
		  0);
	ASSERT_STR(b.cksum_type, "md5");
	ASSERT_EQ(b.access, 3);
	ASSERT_TRUE(!b.versioning);
	/* the defaults of what is not built are no change */
	ASSERT_EQ(apply(&b, "{\"lru\":{\"dont_evict_time\":\"120m\"},\"mirror\":{\"copies\":2}}",
			err, sizeof(err)),
		  0);
	ASSERT_EQ(apply(&b, "{\"access\":\"7\",\"mirror\":{\"enabled\":true}}", err, sizeof(err)),
		  -ENOTSUP);
	ASSERT_TRUE(strstr(err, "mirror.enabled") != NULL);
	ASSERT_EQ(b.access, 3); /* nothing half-applied */
	ASSERT_EQ(apply(&b, "{\"checksum\":{\"type\":\"sha1\"}}", err, sizeof(err)), -EINVAL);
	ASSERT_EQ(apply(&b, "{\"checksum\":3}", err, sizeof(err)), -EINVAL);
	ASSERT_EQ(apply(&b, "{\"access\":\"-1\"}", err, sizeof(err)), -EINVAL);
	ASSERT_EQ(apply(&b, "{\"bid\":\"1\"}", err, sizeof(err)), -EINVAL);
	ASSERT_EQ(apply(&b, "{\"backend_bck\":{\"name\":\"x\",\"provider\":\"gcp\"}}", err,
			sizeof(err)),
		  -ENOTSUP);
	ASSERT_EQ(apply(&b, "[1]", err, sizeof(err)), -EINVAL);
}

static void test_unames(void)
{
	autobuf struct buf out = BUF_INIT;
	struct bmd_name n;
	const char *obj;

	ASSERT_EQ(bmd_uname_parse("ais/@#/abc/", &n, &obj), 0);
	ASSERT_STR(n.bucket, "abc");
	ASSERT_STR(obj, "");
	ASSERT_EQ(bmd_uname_parse("ais/@u1#ns/abc/d//o", &n, &obj), 0);
	ASSERT_STR(n.ns_uuid, "u1");
	ASSERT_STR(n.ns_name, "ns");
	ASSERT_STR(obj, "d//o");
	bmd_name_print(&n, &out);
	ASSERT_STR(buf_cstr(&out), "ais://@u1#ns/abc");
	ASSERT_EQ(bmd_uname_parse("ais/@#/abc", &n, &obj), -EINVAL);
	ASSERT_EQ(bmd_uname_parse("ais/#/abc/", &n, &obj), -EINVAL);
	ASSERT_EQ(bmd_uname_parse("ais/@#/a*c/", &n, &obj), -EINVAL);
	ASSERT_EQ(bmd_uname_parse("/@#/abc/", &n, &obj), -EINVAL);
	ASSERT_EQ(bmd_uname_parse("", &n, &obj), -EINVAL);
}

UNIT_MAIN("bmd", {"changes", test_changes},
	  {"rename keeps id and placement", test_rename_keeps_id_and_placement},
	  {"props text", test_props_text}, {"json round trip", test_json_round_trip},
	  {"gone is remembered", test_gone_is_remembered}, {"bad json", test_bad_json},
	  {"props apply", test_props_apply}, {"unames", test_unames})
