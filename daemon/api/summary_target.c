/* SPDX-License-Identifier: BSD-2-Clause */
/* A target's part of a summary: numbers of its own objects. */
#include "api/impl.h"

static int print_bucket(struct api *a, const struct bmd_bucket *b, const char *prefix,
			struct buf *out)
{
	struct store_sum sum = {};
	struct store_bck sb;
	int r;

	api_store_bck(b, &sb);
	r = store_summary(a->store, &sb, prefix, &sum);
	if (r < 0)
		return r;
	buf_str(out, "{\"bck\":");
	api_bck_print(&b->name, out);
	buf_fmt(out, ",\"objects\":\"%llu\",\"bytes\":\"%llu\",\"min\":\"%llu\",\"max\":\"%llu\"}",
		(unsigned long long)sum.objects, (unsigned long long)sum.bytes,
		(unsigned long long)sum.min_size, (unsigned long long)sum.max_size);
	return 0;
}

static int print_buckets(struct api *a, const struct bmd_name *n, const char *prefix,
			 struct buf *out)
{
	struct bmd *bmd = cluster_bmd(a->cluster);
	const struct bmd_bucket *one = bmd && n->bucket[0] ? bmd_find(bmd, n) : NULL;
	size_t i, count = bmd && !n->bucket[0] ? bmd_count(bmd) : 0;
	int r = 0;

	if (one)
		r = print_bucket(a, one, prefix, out);
	for (i = 0; !r && i < count; i++) {
		if (i)
			buf_char(out, ',');
		r = print_bucket(a, bmd_at(bmd, i), prefix, out);
	}
	bmd_put(bmd);
	return r;
}

/* Bytes of all file systems, each counted once. */
static uint64_t disk_bytes(struct api *a)
{
	autofree struct store_space *s = calloc(1, sizeof(*s));
	uint64_t seen[STORE_PATHS_MAX][2], sum = 0;
	size_t i, k, n = 0;

	for (i = 0; s && i < store_paths(a->store) && i < STORE_PATHS_MAX; i++) {
		if (store_space(a->store, i, s) < 0)
			continue;
		for (k = 0; k < n; k++)
			if (!memcmp(seen[k], s->fsid, sizeof(seen[k])))
				break;
		if (k < n)
			continue;
		memcpy(seen[n++], s->fsid, sizeof(seen[0]));
		sum += s->total;
	}
	return sum;
}

void summary_target(struct api *a, struct http_txn *t, const struct bmd_name *n,
		    const struct api_msg *m)
{
	const char *prefix = json_member_str(m->value, "prefix");
	autobuf struct buf out = BUF_INIT;
	int r;

	buf_str(&out, "{\"buckets\":[");
	r = print_buckets(a, n, prefix ? prefix : "", &out);
	buf_fmt(&out, "],\"disks\":\"%llu\"}", (unsigned long long)disk_bytes(a));
	if (r < 0)
		http_reply_error(t, 500, NULL, "summary: %s", strerror(-r));
	else
		api_reply_json(t, &out);
}
