/* SPDX-License-Identifier: BSD-2-Clause */
/* The table, the values by name, copies with one key changed, and what a node adopts. */
#include "selftests/unit/unit.h"

#include <errno.h>

#include "base/bits.h"
#include "config.h"

static void test_table_is_sound(void)
{
	struct config *c, *with;
	const struct config_key *k, *other;
	char err[512];

	ASSERT_EQ(config_default(&c), 0);
	for (k = config_keys; k->name; k++) {
		const char *dot = strrchr(k->name, '.');

		for (other = config_keys; other < k; other++) {
			ASSERT_TRUE(strcmp(other->name, k->name) != 0);
			/* no key is also a section */
			ASSERT_TRUE(strncmp(k->name, other->name, strlen(other->name)) ||
				    k->name[strlen(other->name)] != '.');
		}
		ASSERT_TRUE(config_key_find(k->name) == k);
		ASSERT_TRUE(k->type > CONFIG_NONE && k->type < CONFIG_NR);
		ASSERT_TRUE(k->help && *k->help && k->help[strlen(k->help) - 1] != '.');
		/* at run time means cluster-wide and built */
		if (k->flags & CONFIG_F_RUNTIME)
			ASSERT_TRUE(k->flags & CONFIG_F_CLUSTER && !(k->flags & CONFIG_F_UNBUILT));
		if (k->flags & CONFIG_F_STAMP || k->type == CONFIG_PATHS)
			continue;
		/* each default is a value that the key takes */
		if (config_with(c, k->name, k->dflt, &with, err, sizeof(err)) < 0) {
			fprintf(stderr, "%s\n", err);
			CU_FAIL_FATAL("a default is refused");
		}
		config_put(with);
		/* keys of one section stand together: else the JSON has it twice */
		for (other = k + 1; dot && other->name; other++) {
			if (!strncmp(other->name, k->name, (size_t)(dot + 1 - k->name)))
				ASSERT_TRUE(!strncmp(other[-1].name, k->name,
						     strcspn(k->name, ".") + 1));
		}
	}
	ASSERT_TRUE(!config_key_find("no.such"));
	config_put(c);
}

static void test_values(void)
{
	struct config *c;

	ASSERT_EQ(config_default(&c), 0);
	ASSERT_TRUE(config_bool(c, "auth.intra_cluster.request_auth"));
	ASSERT_EQ(config_int(c, "host_net.port"), 8080);
	ASSERT_EQ(config_int(c, "host_net.port_intra_data"), 0);
	ASSERT_EQ(config_int(c, "http.max_headers"), 128);
	ASSERT_EQ(config_size(c, "steer.small_max"), 32768);
	ASSERT_EQ(config_size(c, "http.max_body"), INT64_C(5) << 40);
	ASSERT_EQ(config_ms(c, "http.keepalive_idle"), 75000);
	ASSERT_EQ(config_ns(c, "keepalivetracker.target.interval"), INT64_C(10000000000));
	ASSERT_EQ(config_int(c, "keepalivetracker.proxy.factor"), 3);
	ASSERT_STR(config_text(c, "store.durability"), "commit");
	ASSERT_STR(config_text(c, "checksum.type"), "xxhash2");
	ASSERT_STR(config_text(c, "node_id"), "");
	ASSERT_EQ(config_int(c, "get_batch.warmup_workers"), -1);
	ASSERT_EQ(config_paths(c), 0);
	ASSERT_TRUE(config_get(c) == c);
	config_put(c);
	config_put(c);
	config_put(NULL);
}

static void refused(const struct config *c, const char *name, const char *value, int want,
		    const char *text)
{
	struct config *to = NULL;
	char err[512] = "";

	ASSERT_EQ(config_with(c, name, value, &to, err, sizeof(err)), want);
	ASSERT_TRUE(!to);
	ASSERT_STR(err, text);
}

static void test_with(void)
{
	struct config *c, *d, *e;
	char err[512];

	ASSERT_EQ(config_default(&c), 0);
	ASSERT_EQ(config_with(c, "keepalivetracker.target.interval", "200ms", &d, err, sizeof(err)),
		  0);
	ASSERT_EQ(config_ms(d, "keepalivetracker.target.interval"), 200);
	ASSERT_EQ(config_ms(c, "keepalivetracker.target.interval"), 10000);
	ASSERT_EQ(config_with(d, "checksum.type", "md5", &e, err, sizeof(err)), 0);
	ASSERT_STR(config_text(e, "checksum.type"), "md5");
	ASSERT_EQ(config_ms(e, "keepalivetracker.target.interval"), 200);
	config_put(d);
	config_put(e);
	ASSERT_EQ(config_with(c, "versioning.enabled", "off", &d, err, sizeof(err)), 0);
	ASSERT_TRUE(!config_bool(d, "versioning.enabled"));
	config_put(d);
	/* an unbuilt key takes its default, in any spelling */
	ASSERT_EQ(config_with(c, "lru.dont_evict_time", "120m", &d, err, sizeof(err)), 0);
	config_put(d);
	config_put(c);
}

static void test_with_refuses(void)
{
	struct config *c;

	ASSERT_EQ(config_default(&c), 0);
	refused(c, "x.y", "1", -ENOENT, "unknown property \"x.y\"");
	refused(c, "net", "1", -ENOENT, "unknown property \"net\"");
	refused(c, "timeout.startup_time", "10", -EINVAL,
		"\"timeout.startup_time\": expected a duration such as \"10s\" or \"1h30m\" from "
		"1s "
		"to 1h0m");
	refused(c, "keepalivetracker.proxy.interval", "199ms", -EINVAL,
		"\"keepalivetracker.proxy.interval\": expected a duration such as \"10s\" or "
		"\"1h30m\" from 200ms to 1m");
	refused(c, "keepalivetracker.proxy.factor", "0x3", -EINVAL,
		"\"keepalivetracker.proxy.factor\": expected a whole number from 1 to 100");
	refused(c, "keepalivetracker.proxy.factor", "-", -EINVAL,
		"\"keepalivetracker.proxy.factor\": expected a whole number from 1 to 100");
	refused(c, "checksum.type", "md", -EINVAL,
		"\"checksum.type\": expected one of "
		"none|xxhash|xxhash2|md5|crc32c|sha256|sha512");
	refused(c, "checksum.type", "", -EINVAL,
		"\"checksum.type\": expected one of "
		"none|xxhash|xxhash2|md5|crc32c|sha256|sha512");
	refused(c, "versioning.enabled", "maybe", -EINVAL,
		"\"versioning.enabled\": expected true or false");
	refused(c, "features", "2", -EINVAL, "\"features\": expected 0");
	refused(c, "mirror.enabled", "true", -ENOTSUP,
		"\"mirror.enabled\": not built yet, only the default false is possible");
	refused(c, "tls.public.cert", "/c", -ENOTSUP,
		"\"tls.public.cert\": not built yet, leave it out");
	refused(c, "fspaths", "/a", -EINVAL, "\"fspaths\" cannot be set");
	refused(c, "config_version", "7", -EINVAL, "\"config_version\" cannot be set");
	refused(c, "state_dir", "/a\nb", -EINVAL, "\"state_dir\": has a control character");
	config_put(c);
}

static void test_adopt(void)
{
	struct config *node, *primary, *got;
	char err[512];

	ASSERT_EQ(config_default(&got), 0);
	ASSERT_EQ(config_with(got, "host_net.port", "51001", &node, err, sizeof(err)), 0);
	ASSERT_EQ(config_with(got, "timeout.startup_time", "2s", &primary, err, sizeof(err)), 0);
	config_put(got);
	config_stamp(primary, 4, "uuid1", 99);
	ASSERT_EQ(config_adopt(node, primary, &got), 0);
	ASSERT_EQ(config_int(got, "host_net.port"), 51001);
	ASSERT_EQ(config_ms(got, "timeout.startup_time"), 2000);
	ASSERT_EQ(config_version(got), 4);
	ASSERT_STR(config_uuid(got), "uuid1");
	ASSERT_EQ(config_time_ns(got), 99);
	config_put(node);
	config_put(primary);
	config_put(got);
}

UNIT_MAIN("config", {"the table is sound", test_table_is_sound}, {"values", test_values},
	  {"one key changed", test_with}, {"what is refused", test_with_refuses},
	  {"what a node adopts", test_adopt})
