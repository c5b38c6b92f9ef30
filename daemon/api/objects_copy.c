/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Copy and rename of an object, on the call pool: here when this target owns the new name too,
 * else by a signed PUT to the new owner over intra-data; a rename then removes the source.
 */
#include <unistd.h>

#include "api/objects.h"
#include "api/target.h"
#include "base/cleanup.h"
#include "base/json.h"

/* The rename's last step, unless the source has been overwritten since: then both stay. */
static void source_deleted(void *arg, int err, const struct store_rec *rec)
{
	struct obj *o = arg;

	if (err && err != -ENOENT) {
		metrics_add(o->a->metrics, METRIC_ERR_REN_N, 1);
		obj_store_error(o, err);
		http_reply(o->t);
		return;
	}
	metrics_add(o->a->metrics, METRIC_REN_N, 1);
	http_reply_status(o->t, 200);
}

static void copied(struct obj *o)
{
	struct store_name source = {&o->sb, o->tg.object};

	if (o->rename)
		store_delete_version(o->a->store, source, o->rec.seq, source_deleted, o);
	else
		http_reply_status(o->t, 200);
}

static void copy_done(void *arg, int err, const struct store_rec *rec)
{
	struct obj *o = arg;

	if (err) {
		obj_store_error(o, err);
		http_reply(o->t);
		return;
	}
	copied(o);
}

/* ---- to another target ---- */

static int remote_heads(struct obj *o, struct http_call *c)
{
	const char *key, *value;
	size_t pos = 0;
	int r = 0;

	if (o->rec.ctype != CKSUM_NONE) {
		r = http_call_header(c, "Ais-Checksum-Type", "%s", cksum_name(o->rec.ctype));
		if (!r)
			r = http_call_header(c, "Ais-Checksum-Value", "%s", o->rec.cksum);
	}
	while (!r && store_custom_next(o->rec.custom, o->rec.custom_len, &pos, &key, &value))
		r = http_call_header(c, "Ais-Custom-Md", "%s=%s", key, value);
	return r;
}

static void remote_path(struct obj *o, struct buf *path)
{
	const struct bmd_name *n = &o->to_b.name;

	buf_str(path, "/v1/objects/");
	http_uri_encode_path(path, n->bucket, strlen(n->bucket));
	buf_char(path, '/');
	http_uri_encode_path(path, o->to_object, strlen(o->to_object));
	buf_fmt(path, "?provider=%s", n->provider);
	if (n->ns_uuid[0] || n->ns_name[0])
		buf_fmt(path, "&namespace=%%40%s%%23%s", n->ns_uuid, n->ns_name);
}

/* Answer with what the other target said. */
static void remote_failed(struct obj *o, const struct smap_node *to, const struct http_call *c)
{
	autojson struct json_object *doc = NULL;
	const char *msg = NULL;
	bool theirs = !c->err && c->status >= 400 && c->status < 600;

	if (theirs && !json_parse(buf_cstr(&c->resp), c->resp.len, &doc))
		msg = json_member_str(doc, "message");
	if (o->rename)
		metrics_add(o->a->metrics, METRIC_ERR_REN_N, 1);
	http_error(o->t, theirs ? c->status : 503, json_member_str(doc, "tcode"),
		   "%s to t[%s] failed: %s", o->rename ? "rename" : "copy", to->id,
		   msg	    ? msg
		   : c->err ? c->errtext
			    : "unexpected answer");
	http_reply(o->t);
}

static int remote_call(struct obj *o, const struct smap_node *to, int fd, struct http_call *c)
{
	autobuf struct buf path = BUF_INIT;
	struct config *cfg = cluster_config(o->a->cluster);
	int64_t ms = config_ms(cfg, "timeout.send_file_time");
	int r;

	config_put(cfg);
	remote_path(o, &path);
	if (path.err)
		return path.err;
	r = cluster_call_init(o->a->cluster, to, SMAP_NET_DATA, "PUT", path.data, c);
	if (r < 0)
		return r;
	c->timeout_ms = ms;
	c->body_fd = fd;
	c->body_len = o->rec.size;
	r = remote_heads(o, c);
	if (!r)
		r = cluster_call_sign(o->a->cluster, c);
	return r ? r : http_call_all(c, 1);
}

static void copy_remote(struct obj *o, const struct smap_node *to)
{
	autoclean(http_call_deinit) struct http_call c = {.body_fd = -1};
	autofd fd = -1;
	int r = store_open_blob(o->a->store, &o->sb, o->tg.object, &o->rec, &fd);

	if (!r)
		r = remote_call(o, to, fd, &c);
	if (r < 0) {
		obj_store_error(o, r);
		http_reply(o->t);
		return;
	}
	if (c.err || c.status != 200)
		remote_failed(o, to, &c);
	else
		copied(o);
}

static void copy_here(struct obj *o)
{
	struct store_name from = {&o->sb, o->tg.object}, to = {&o->to_sb, o->to_object};
	int r = store_stat(o->a->store, &o->sb, o->tg.object, &o->rec);

	if (r < 0) {
		obj_store_error(o, r);
		http_reply(o->t);
		return;
	}
	store_copy(o->a->store, from, to, copy_done, o);
}

/* Buckets are known: place the new name. */
static void place(struct obj *o)
{
	struct smap *m = cluster_smap(o->a->cluster);
	const struct smap_node *to = NULL;

	if (m)
		to = cluster_owner(o->a->cluster, m, &o->to_b, o->to_object);
	if (!to) {
		http_header(o->t, "Retry-After", "1");
		http_reply_error(o->t, 503, NULL, "no active targets in the cluster map");
	} else if (!strcmp(to->id, cluster_node_id(o->a->cluster))) {
		copy_here(o);
	} else {
		copy_remote(o, to);
	}
	smap_put(m);
}

static int parse_to(struct obj *o)
{
	const char *uname = http_param(o->t, "object_to");
	const char *why;

	if (bmd_uname_parse(uname, &o->to_name, &o->to_object) < 0) {
		http_error(o->t, 400, NULL,
			   "invalid object_to \"%s\" (want provider/@uuid#ns/bucket/object)",
			   uname);
		return -EINVAL;
	}
	if (!api_provider(o->to_name.provider)) {
		http_error(o->t, 400, "ErrInvalidBackendProvider",
			   "invalid backend provider \"%s\" in object_to \"%s\"",
			   o->to_name.provider, uname);
		return -EINVAL;
	}
	why = smap_object_name_check(o->to_object, strlen(o->to_object));
	if (why) {
		http_error(o->t, 400, NULL, "invalid object name \"%s\": %s", o->to_object, why);
		return -EINVAL;
	}
	return 0;
}

static int find_to_bucket(struct obj *o)
{
	int r = api_bucket_pull(o->a, o->t, &o->to_name, BMD_ACE_PUT, &o->to_b);

	if (!r)
		api_store_bck(&o->to_b, &o->to_sb);
	return r;
}

void obj_copy(struct http_txn *t)
{
	struct obj *o = obj_of(t);

	if (parse_to(o) < 0 || obj_bucket_for_write(o, BMD_ACE_GET) < 0 || find_to_bucket(o) < 0)
		http_reply(t);
	else if (o->b.bid == o->to_b.bid && !strcmp(o->tg.object, o->to_object))
		http_reply_status(t, 200);
	else
		place(o);
}

void obj_rename(struct http_txn *t)
{
	struct obj *o = obj_of(t);

	o->rename = true;
	o->to_name = o->tg.bck;
	if (obj_bucket_for_write(o, BMD_ACE_OBJ_MOVE) < 0) {
		http_reply(t);
		return;
	}
	o->to_b = o->b;
	o->to_sb = o->sb;
	o->to_sb.uname = o->to_b.placement;
	place(o);
}
