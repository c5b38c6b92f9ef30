/* SPDX-License-Identifier: BSD-2-Clause */
/* The printed config against the documented example of a development cluster, key by key. */
#include "selftests/unit/unit.h"

#include "base/bits.h"
#include "base/json.h"
#include "config.h"

/* GET what=cluster_config of the original, as documented */
static const char example[] =
	"{\"write_policy\":{\"data\":\"immediate\",\"md\":\"immediate\"},"
	"\"checksum\":{\"type\":\"xxhash2\",\"validate_cold_get\":false,"
	"\"validate_warm_get\":false,\"validate_obj_move\":false,"
	"\"enable_read_range\":false},"
	"\"tcb\":{\"compression\":\"never\",\"bundle_multiplier\":2,"
	"\"burst_buffer\":512},\"tco\":{\"compression\":\"never\","
	"\"bundle_multiplier\":2,\"burst_buffer\":512},"
	"\"arch\":{\"compression\":\"never\",\"bundle_multiplier\":2,"
	"\"burst_buffer\":512},"
	"\"lso\":{\"compression\":\"never\",\"bundle_multiplier\":1,"
	"\"burst_buffer\":32,\"walk_buffer\":128,\"idle_time\":\"20s\","
	"\"quiescent\":\"5s\"},"
	"\"rate_limit\":{\"backend\":{\"interval\":\"1m\",\"max_tokens\":1000,"
	"\"enabled\":false,\"num_retries\":3},\"frontend\":{\"interval\":\"1m\","
	"\"max_tokens\":1000,\"enabled\":false,\"burst_size\":375}},"
	"\"keepalivetracker\":{\"proxy\":{\"name\":\"heartbeat\",\"interval\":\"10s\","
	"\"factor\":3},\"target\":{\"name\":\"heartbeat\",\"interval\":\"10s\","
	"\"factor\":3},\"num_retries\":3,\"retry_factor\":4},"
	"\"rebalance\":{\"compression\":\"never\",\"bundle_multiplier\":2,"
	"\"burst_buffer\":1024,\"dest_retry_time\":\"2m\",\"enabled\":true},"
	"\"log\":{\"level\":\"3\",\"max_size\":\"64MiB\",\"max_total\":\"512MiB\","
	"\"flush_time\":\"1m\",\"stats_time\":\"3m\",\"to_stderr\":false},"
	"\"ec\":{\"compression\":\"never\",\"bundle_multiplier\":2,"
	"\"burst_buffer\":512,\"objsize_limit\":262144,\"data_slices\":2,"
	"\"parity_slices\":2,\"enabled\":false,\"disk_only\":false},"
	"\"get_batch\":{\"compression\":\"never\",\"bundle_multiplier\":2,"
	"\"burst_buffer\":512,\"max_wait\":\"20s\",\"warmup_workers\":-1,"
	"\"max_soft_errs\":8,\"max_gfn\":5},"
	"\"space\":{\"cleanupwm\":65,\"lowwm\":75,\"highwm\":90,\"out_of_space\":95,"
	"\"batch_size\":32768,\"dont_cleanup_time\":\"2h0m\"},"
	"\"transport\":{\"max_header\":4096,\"burst_buffer\":1024,"
	"\"idle_teardown\":\"4s\",\"quiescent\":\"10s\",\"lz4_block\":\"256KiB\","
	"\"lz4_frame_checksum\":false},"
	"\"disk\":{\"disk_util_low_wm\":20,\"disk_util_high_wm\":80,"
	"\"disk_util_max_wm\":95,\"iostat_time_long\":\"2s\","
	"\"iostat_time_short\":\"100ms\",\"iostat_time_smooth\":\"8s\"},"
	"\"fshc\":{\"test_files\":4,\"error_limit\":2,\"io_err_limit\":10,"
	"\"io_err_time\":\"10s\",\"enabled\":true},"
	"\"chunks\":{\"objsize_limit\":\"0B\",\"max_monolithic_size\":\"1TiB\","
	"\"chunk_size\":\"1GiB\"},"
	"\"lru\":{\"dont_evict_time\":\"2h0m\",\"capacity_upd_time\":\"10m\","
	"\"batch_size\":32768,\"enabled\":false},\"mirror\":{\"copies\":2,"
	"\"burst_buffer\":512,\"enabled\":false},"
	"\"periodic\":{\"stats_time\":\"10s\",\"retry_sync_time\":\"2s\","
	"\"notif_time\":\"30s\"},\"client\":{\"client_timeout\":\"10s\","
	"\"client_long_timeout\":\"5m\",\"list_timeout\":\"5m\"},"
	"\"downloader\":{\"timeout\":\"1h0m\"},"
	"\"auth\":{\"client_auth_required\":false},\"backend\":{},"
	"\"uuid\":\"u7WqPz1aB\",\"lastupdate_time\":\"2026-01-01 00:00:00 +0000 UTC\","
	"\"proxy\":{\"primary_url\":\"http://127.0.0.1:9080\","
	"\"original_url\":\"http://127.0.0.1:8080\",\"discovery_url\":\"\","
	"\"non_electable\":false},"
	"\"net\":{\"l4\":{\"proto\":\"tcp\",\"sndrcv_buf_size\":131072},"
	"\"http\":{\"server_crt\":\"server.crt\",\"server_key\":\"server.key\","
	"\"client_ca_tls\":\"\",\"client_auth_tls\":0,\"domain_tls\":\"\","
	"\"idle_conn_time\":\"6s\",\"backend_idle_conn_time\":\"6s\","
	"\"idle_conns_per_host\":32,\"idle_conns\":256,\"write_buffer_size\":65536,"
	"\"read_buffer_size\":65536,\"use_https\":false,\"skip_verify\":false,"
	"\"chunked_transfer\":true},\"use_ipv6\":false},"
	"\"timeout\":{\"cplane_operation\":\"2s\",\"max_keepalive\":\"5s\","
	"\"max_host_busy\":\"20s\",\"startup_time\":\"1m\","
	"\"join_startup_time\":\"3m\",\"send_file_time\":\"5m\","
	"\"ec_streams_time\":\"10m\",\"object_md\":\"2h0m\","
	"\"cold_get_conflict\":\"5s\"},"
	"\"memsys\":{\"min_free\":\"2GiB\",\"default_buf\":\"32KiB\","
	"\"to_gc\":\"4GiB\",\"hk_time\":\"3m\",\"min_pct_total\":0,\"min_pct_free\":0},"
	"\"features\":\"0\",\"config_version\":\"1\",\"versioning\":{\"enabled\":true,"
	"\"validate_warm_get\":false,\"synchronize\":false},"
	"\"resilver\":{\"enabled\":true}}";

/* Keys that differ from the example on purpose. */
static const char *const differing[] = {
	"auth.intra_cluster", /* ours has it always: request signing is on by default */
};

static bool differs_on_purpose(const char *path)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(differing); i++) {
		if (!strcmp(differing[i], path))
			return true;
	}
	return false;
}

static void compare(struct json_object *got, struct json_object *want, const char *prefix)
{
	struct json_object_iterator g, w, g_end, w_end;
	char path[256];

	g = json_object_iter_begin(got);
	g_end = json_object_iter_end(got);
	w = json_object_iter_begin(want);
	w_end = json_object_iter_end(want);
	while (!json_object_iter_equal(&g, &g_end)) {
		struct json_object *gv = json_object_iter_peek_value(&g), *wv;
		const char *name = json_object_iter_peek_name(&g);

		snprintf(path, sizeof(path), "%s%s%s", prefix, *prefix ? "." : "", name);
		json_object_iter_next(&g);
		if (differs_on_purpose(path))
			continue;
		/* the same keys in the same order */
		if (json_object_iter_equal(&w, &w_end))
			fprintf(stderr, "%s is not in the example\n", path);
		ASSERT_TRUE(!json_object_iter_equal(&w, &w_end));
		ASSERT_STR(name, json_object_iter_peek_name(&w));
		wv = json_object_iter_peek_value(&w);
		json_object_iter_next(&w);
		if (json_object_get_type(gv) != json_object_get_type(wv))
			fprintf(stderr, "%s: another type\n", path);
		ASSERT_EQ(json_object_get_type(gv), json_object_get_type(wv));
		if (json_object_is_type(gv, json_type_object))
			compare(gv, wv, path);
		else
			ASSERT_STR(json_object_get_string(gv), json_object_get_string(wv));
	}
	ASSERT_TRUE(json_object_iter_equal(&w, &w_end));
}

/* The config of the node that the example was taken from. */
static struct config *example_node(void)
{
	static const char text[] =
		"{\"role\": \"target\", \"state_dir\": \"/var/lib/pagewire\","
		"\"fspaths\": {\"/ais/mp1\": \"\"}, \"auth\": {\"intra_cluster\":"
		"{\"node_join_secret_path\": \"/etc/pagewire/join.secret\"}},"
		"\"proxy\": {\"primary_url\": \"http://127.0.0.1:9080\","
		"\"original_url\": \"http://127.0.0.1:8080\"},"
		"\"host_net\": {\"hostname_intra_control\": \"127.0.0.1\", \"port\": \"8081\","
		"\"hostname_intra_data\": \"127.0.0.1\","
		"\"port_intra_control\": \"9081\", \"port_intra_data\": \"10081\"}}";
	struct config *c = NULL;
	char err[512] = "";

	if (config_parse("f", text, strlen(text), &c, err, sizeof(err)) < 0)
		CU_FAIL_FATAL("the node's own config");
	config_stamp(c, 1, "u7WqPz1aB", INT64_C(1767225600000000000));
	return c;
}

static void test_cluster_config(void)
{
	autojson struct json_object *got = NULL, *want = NULL;
	autobuf struct buf b = BUF_INIT;
	struct config *c = example_node();

	config_print_cluster(c, false, &b);
	ASSERT_EQ(b.err, 0);
	ASSERT_EQ(json_parse(b.data, b.len, &got), 0);
	ASSERT_EQ(json_parse(example, strlen(example), &want), 0);
	compare(got, want, "");
	ASSERT_TRUE(strstr(b.data, "\"auth\":{\"client_auth_required\":false,\"intra_cluster\":"
				   "{\"request_auth\":true,\"nonce_window\":\"1m\",\"ttl\":\"1m\","
				   "\"rotation_grace\":\"1m\"}}") != NULL);
	config_put(c);
}

static void test_node_config(void)
{
	/* spec/http-api-checked.md B, but for the two folders and the test mountpaths */
	static const char begins[] =
		"{\"fspaths\":{\"/ais/mp1\":\"\"},\"confdir\":\"/var/lib/pagewire\","
		"\"log_dir\":\"/var/lib/pagewire\","
		"\"test_fspaths\":{\"root\":\"\",\"count\":0,\"instance\":0},"
		"\"host_net\":{\"hostname\":\"127.0.0.1\",\"hostname_intra_control\":\"127.0.0.1\","
		"\"hostname_intra_data\":\"127.0.0.1\",\"port\":\"8081\","
		"\"port_intra_control\":\"9081\",\"port_intra_data\":\"10081\"},"
		"\"role\":\"target\",";
	autojson struct json_object *got = NULL;
	autobuf struct buf b = BUF_INIT;
	struct config *c = example_node();

	config_print_node(c, &b);
	ASSERT_TRUE(!strncmp(b.data, begins, strlen(begins)));
	ASSERT_EQ(json_parse(b.data, b.len, &got), 0);
	ASSERT_STR(json_member_str(json_member(got, "store"), "durability"), "commit");
	ASSERT_STR(json_member_str(json_member(got, "transport"), "dead_peer"), "30s");
	ASSERT_STR(json_member_str(json_member(got, "checksum"), "type"), "xxhash2");
	/* where the secret lies is nobody's business */
	ASSERT_TRUE(!strstr(b.data, "join.secret"));
	config_put(c);
}

static void test_tables_name_every_key(void)
{
	autobuf struct buf rst = BUF_INIT, help = BUF_INIT;
	const struct config_key *k;
	char name[128];

	config_print_table(true, &rst);
	config_print_table(false, &help);
	for (k = config_keys; k->name; k++) {
		if (k->flags & CONFIG_F_STAMP)
			continue;
		snprintf(name, sizeof(name), "``%s``", k->name);
		ASSERT_TRUE(strstr(rst.data, name) != NULL);
		snprintf(name, sizeof(name), "  %s ", k->name);
		if (!(k->flags & CONFIG_F_UNBUILT))
			ASSERT_TRUE(strstr(help.data, name) != NULL);
	}
	ASSERT_TRUE(strstr(help.data, "duration from 200ms to 1m, default 10s\n") != NULL);
}

UNIT_MAIN("config_print", {"cluster_config equals the example", test_cluster_config},
	  {"config of a node", test_node_config},
	  {"manual and help name every key", test_tables_name_every_key})
