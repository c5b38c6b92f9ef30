/* SPDX-License-Identifier: BSD-2-Clause */
/* Bucket metadata from a peer: what parses prints to a text that parses to the same. */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "cluster/bmd.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_props(const char *text, size_t len)
{
	autojson struct json_object *o = NULL;
	struct bmd_bucket b = {.access = 1, .cksum_type = "md5", .name.provider = "ais"};
	char err[64];

	if (!json_parse(text, len, &o))
		(void)bmd_props_apply(&b, o, err, sizeof(err));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	autobuf struct buf one = BUF_INIT, two = BUF_INIT;
	struct bmd *b, *again;
	char err[64];

	check_props((const char *)data, size);
	if (bmd_parse((const char *)data, size, &b, err, sizeof(err)) < 0)
		return 0;
	bmd_print(b, true, &one);
	bmd_put(b);
	if (one.err)
		return 0;
	if (bmd_parse(one.data, one.len, &again, err, sizeof(err)) < 0)
		abort();
	bmd_print(again, true, &two);
	bmd_put(again);
	if (!two.err && strcmp(one.data, two.data))
		abort();
	return 0;
}
