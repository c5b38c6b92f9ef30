/* SPDX-License-Identifier: BSD-2-Clause */
/* A config file, and a cluster config from a peer: what parses prints to what parses the same. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void cluster_round_trip(const struct config *node, const char *text, size_t len)
{
	autobuf struct buf one = BUF_INIT, two = BUF_INIT;
	struct config *c, *again;
	char err[256];

	if (config_parse_cluster(node, text, len, &c, err, sizeof(err)) < 0)
		return;
	config_print_cluster(c, true, &one);
	config_put(c);
	if (one.err)
		return;
	if (config_parse_cluster(node, one.data, one.len, &again, err, sizeof(err)) < 0)
		abort();
	config_print_cluster(again, true, &two);
	config_put(again);
	if (!two.err && strcmp(one.data, two.data))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	autobuf struct buf out = BUF_INIT;
	struct config *c, *node;
	char err[256] = "";
	int r = config_parse("f", (const char *)data, size, &c, err, sizeof(err));

	if (r == 0) {
		config_print_node(c, &out);
		config_put(c);
	} else if (r == -EINVAL && !*err) {
		abort(); /* a refusal says why */
	}
	if (config_default(&node) < 0)
		return 0;
	cluster_round_trip(node, (const char *)data, size);
	config_put(node);
	return 0;
}
