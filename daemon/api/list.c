/* SPDX-License-Identifier: BSD-2-Clause */
/* List objects on the primary: ask all targets for a page, merge, answer. */
#include "api/impl.h"
#include "api/list_msg.h"
#include "api/lso.h"

#define RESP_MAX ((size_t)64 << 20)

struct page { /* in the making */
	bool msgpack;
	uint32_t n;
	struct buf entries; /* encoded */
	struct buf last; /* name of the last entry */
};

static void page_free(struct page *p)
{
	buf_free(&p->entries);
	buf_free(&p->last);
}

static void page_add(void *arg, const struct lso_entry *e)
{
	struct page *p = arg;

	if (p->msgpack) {
		buf_append(&p->entries, e->raw, e->raw_len);
	} else {
		if (p->n)
			buf_char(&p->entries, ',');
		lso_json_entry(&p->entries, e);
	}
	p->n++;
	buf_reset(&p->last);
	buf_append(&p->last, e->name, e->name_len);
}

static void page_print(const struct page *p, const char *uuid, bool full, struct buf *out)
{
	const char *token = full ? buf_cstr(&p->last) : "";

	if (p->msgpack) {
		lso_put_head(out, uuid, token, strlen(token), p->n);
		buf_append(out, p->entries.data, p->entries.len);
		lso_put_tail(out);
		return;
	}
	buf_str(out, "{\"uuid\":");
	buf_json_str(out, uuid);
	buf_str(out, ",\"continuation_token\":");
	buf_json_str(out, token);
	buf_str(out, ",\"entries\":");
	if (p->n) {
		buf_char(out, '[');
		buf_append(out, p->entries.data, p->entries.len);
		buf_char(out, ']');
	} else {
		buf_str(out, "null");
	}
	buf_str(out, ",\"flags\":0}");
}

/* Open the pages that were answered. Return: how many, or -EINVAL for a malformed one. */
static ssize_t open_pages(const struct cast *c, const char *only, struct lso_page *pages)
{
	ssize_t n = 0;
	size_t i;

	for (i = 0; i < c->n; i++) {
		if (!cast_ok(c, i) || (*only && strcmp(only, cast_node(c, i)->id)))
			continue;
		if (lso_page_open(&pages[n++], c->calls[i].resp.data, c->calls[i].resp.len) < 0)
			return -EINVAL;
	}
	return n;
}

static int merge(struct http_txn *t, const struct cast *c, const struct list_msg *m, struct page *p)
{
	autofree struct lso_page *pages = calloc(c->n + 1, sizeof(*pages));
	ssize_t n = pages ? open_pages(c, m->target, pages) : -ENOMEM;
	int64_t r = n < 0 ? n : lso_merge(pages, (size_t)n, m->page, page_add, p);

	if (r < 0 || p->entries.err || p->last.err) {
		http_error(t, 500, NULL, "listing: %s",
			   r == -EINVAL ? "a target sent a malformed page" : "out of memory");
		return -EIO;
	}
	return 0;
}

static void reply_page(struct http_txn *t, const struct cast *c, const struct list_msg *m)
{
	const char *accept = http_header_get(t, "accept");
	struct page p = {.msgpack = accept && strstr(accept, "application/msgpack")};
	autobuf struct buf out = BUF_INIT;
	char id[16];

	if (merge(t, c, m, &p) < 0) {
		page_free(&p);
		http_reply(t);
		return;
	}
	if (!m->uuid[0])
		cluster_make_id(id);
	page_print(&p, m->uuid[0] ? m->uuid : id, p.n == m->page, &out);
	page_free(&p);
	if (out.err)
		http_reply_error(t, 500, NULL, "listing: out of memory");
	else if (p.msgpack)
		http_reply_buf(t, "application/msgpack", &out);
	else
		api_reply_json(t, &out);
}

/* The target a client names must exist; a silent one can not be listed, nor left out. */
static int check_targets(struct api *a, struct http_txn *t, const struct list_msg *m)
{
	struct smap *map = cluster_smap(a->cluster);
	const struct smap_node *node;
	size_t i, n = map ? smap_count(map, SMAP_ROLE_TARGET) : 0;
	int r = 0;

	if (!n || !smap_active_targets(map)) {
		http_error(t, 503, NULL, "listing: the cluster has no active targets");
		r = -EAGAIN;
	}
	node = !r && m->target[0] ? smap_find(map, m->target) : NULL;
	if (!r && m->target[0] && (!node || node->role != SMAP_ROLE_TARGET)) {
		http_error(t, 400, "errNodeNotFound", "listing: unknown target \"%s\"", m->target);
		r = -EINVAL;
	}
	for (i = 0; !r && i < n; i++) {
		node = smap_at(map, SMAP_ROLE_TARGET, i);
		if ((node->flags & SMAP_F_INACTIVE) || !cluster_silent(a->cluster, node->id))
			continue;
		http_error(t, 503, NULL, "listing: t[%s] is not heard", node->id);
		http_header(t, "Retry-After", "5");
		r = -EAGAIN;
	}
	smap_put(map);
	return r;
}

static int gather(struct api *a, struct http_txn *t, const struct bmd_name *n,
		  const struct list_msg *m, struct cast *c)
{
	autobuf struct buf path = BUF_INIT, body = BUF_INIT;
	struct cast_spec spec = {
		.method = "GET",
		.body = &body,
		.resp_max = RESP_MAX,
		.timeout = "client.client_timeout",
	};

	api_bck_path("/v1/buckets", n, &path);
	list_msg_print(m, list_msg_after(m), m->page, &body);
	spec.path = buf_cstr(&path);
	if (path.err || cast_targets(a, &spec, c) < 0) {
		http_error(t, 500, NULL, "listing: out of memory");
		return -ENOMEM;
	}
	return cast_check(a, t, c, "listing");
}

/* The most entries the config allows. */
static void clamp_page(struct api *a, struct list_msg *m)
{
	struct config *cfg = cluster_config(a->cluster);

	m->page = (uint32_t)MIN((int64_t)m->page, config_int(cfg, "list.page_max"));
	config_put(cfg);
}

void list_gateway(struct api *a, struct http_txn *t, const struct bmd_name *n,
		  const struct api_msg *m)
{
	struct cast c = {};
	struct bmd_bucket b;
	struct list_msg lm;
	struct api_fault f;
	int r;

	r = api_bucket(a, t, n, BMD_ACE_OBJ_LIST, &b);
	if (!r) {
		r = list_msg_parse(m->value, &lm, &f);
		if (r < 0)
			http_error(t, f.status, f.tcode, "%s", f.text);
	}
	if (!r) {
		clamp_page(a, &lm);
		r = check_targets(a, t, &lm);
	}
	if (!r)
		r = gather(a, t, n, &lm, &c);
	metrics_add(a->metrics, METRIC_LST_N, 1);
	if (r < 0) {
		metrics_add(a->metrics, METRIC_ERR_LST_N, 1);
		cast_free(&c);
		http_reply(t);
		return;
	}
	metrics_add(a->metrics, METRIC_LST_NS_TOTAL, (uint64_t)(mono_ns() - t->req.start_ns));
	reply_page(t, &c, &lm);
	cast_free(&c);
}
