/* SPDX-License-Identifier: BSD-2-Clause */
/* Documents that a node and its cluster are both asked for. */
#include "api/impl.h"

static void answer_smap(struct api *a, struct buf *out)
{
	struct smap *m = cluster_smap(a->cluster);

	if (m)
		smap_print(m, out);
	smap_put(m);
}

static void answer_bmd(struct api *a, struct buf *out)
{
	struct bmd *b = cluster_bmd(a->cluster);

	if (b)
		bmd_print(b, false, out);
	bmd_put(b);
}

static void answer_snode(struct api *a, struct buf *out)
{
	smap_node_print(cluster_self(a->cluster), out);
}

static void answer_remote(struct api *a, struct buf *out)
{
	buf_str(out, "{\"a\":[],\"ver\":0}");
}

bool answer_common(struct api *a, struct http_txn *t, const char *what)
{
	static const struct {
		const char *what;
		void (*print)(struct api *a, struct buf *out);
	} rows[] = {
		{"smap", answer_smap},
		{"bmd", answer_bmd},
		{"snode", answer_snode},
		{"remote", answer_remote},
	};
	autobuf struct buf out = BUF_INIT;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		if (strcmp(what, rows[i].what))
			continue;
		rows[i].print(a, &out);
		if (out.len)
			api_reply_json(t, &out);
		else
			http_reply_error(t, 503, NULL, "what=%s: not there yet, try again", what);
		return true;
	}
	return false;
}
