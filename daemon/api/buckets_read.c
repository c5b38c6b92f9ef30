/* SPDX-License-Identifier: BSD-2-Clause */
/* Reading buckets on a gateway: which there are, HEAD. */
#include "api/impl.h"
#include "api/target.h"

static bool selected(const struct bmd_name *have, const struct bmd_name *want, const char *name)
{
	if (name && *name && strcmp(have->bucket, name))
		return false;
	if (want->ns_uuid[0] && strcmp(have->ns_uuid, want->ns_uuid))
		return false;
	return !want->ns_name[0] || !strcmp(have->ns_name, want->ns_name);
}

static bool presence_only(const struct http_txn *t)
{
	const char *p = http_param(t, "presence");

	return p && (!strcmp(p, "2") || !strcmp(p, "3"));
}

void buckets_list(struct api *a, struct http_txn *t, const struct api_target *tg,
		  const struct api_msg *m)
{
	autobuf struct buf out = BUF_INIT;
	struct bmd *bmd;
	size_t i;

	if (m->value) {
		http_reply_error(t, 400, NULL,
				 "failed to unmarshal: listing buckets takes no \"value\"");
		return;
	}
	if (strcmp(tg->bck.provider, "ais") && !presence_only(t)) {
		http_reply_error(t, 400, "ErrMissingBackend",
				 "%s backend is missing in the cluster configuration",
				 api_provider_title(tg->bck.provider));
		return;
	}
	bmd = cluster_bmd(a->cluster);
	buf_char(&out, '[');
	for (i = 0; bmd && !strcmp(tg->bck.provider, "ais") && i < bmd_count(bmd); i++) {
		const struct bmd_name *n = &bmd_at(bmd, i)->name;

		if (!selected(n, &tg->bck, m->name))
			continue;
		if (out.len > 1)
			buf_char(&out, ',');
		api_bck_print(n, &out);
	}
	buf_char(&out, ']');
	bmd_put(bmd);
	api_reply_json(t, &out);
}

void buckets_head(struct api *a, struct http_txn *t, const struct api_target *tg)
{
	autobuf struct buf props = BUF_INIT;
	struct bmd_bucket b;

	if (!tg->bck.bucket[0]) {
		http_reply_error(t, 400, NULL, "HEAD: the path names no bucket");
		return;
	}
	if (api_bucket_pull(a, t, &tg->bck, BMD_ACE_BCK_HEAD, &b) < 0) {
		http_reply(t);
		return;
	}
	bmd_props_print(&b, &props);
	if (http_param(t, "bsumm_remote") || http_param(t, "uuid")) {
		http_header(t, "Ais-Bucket-Props", "%s", buf_cstr(&props));
		summary_head(a, t, tg, &b);
		return;
	}
	if (tg->object_len) {
		http_reply_error(t, 400, NULL,
				 "HEAD: \"%.300s\" behind the bucket is taken with a summary only",
				 tg->object);
		return;
	}
	http_header(t, "Ais-Bucket-Props", "%s", buf_cstr(&props));
	http_reply_status(t, 200);
}
