/* SPDX-License-Identifier: BSD-2-Clause */
/* Documents, join requests and versions from other nodes. */
#include <stdlib.h>

#include "cluster/doc.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	autobuf struct buf out = BUF_INIT;
	struct doc_versions v;
	struct config *node;
	struct doc_join j;
	struct doc d;
	char err[256];

	if (config_default(&node) < 0)
		return 0;
	if (!doc_parse(node, (const char *)data, size, &d, err, sizeof(err))) {
		doc_print(&d, &out);
		doc_deinit(&d);
		/* what we print we must be able to read */
		if (!out.err && doc_parse(node, out.data, out.len, &d, err, sizeof(err)) < 0)
			abort();
		doc_deinit(&d);
	}
	config_put(node);
	if (!doc_join_parse((const char *)data, size, &j, err, sizeof(err)))
		doc_join_print(&j, &out);
	doc_versions_parse((const char *)data, size, &v);
	return 0;
}
