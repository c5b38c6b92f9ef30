/* SPDX-License-Identifier: BSD-2-Clause */
/* PUT of an object: the body streams into a new version, which the commit makes the object. */
#include "api/objects.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "loop/pool.h"

static uint64_t max_body(struct obj *o)
{
	struct config *c = cluster_config(o->a->cluster);
	uint64_t n = (uint64_t)config_size(c, "http.max_body");

	config_put(c);
	return n;
}

int obj_want_checksum(struct obj *o)
{
	const char *type = http_header_get(o->t, "ais-checksum-type");
	const char *value = http_header_get(o->t, "ais-checksum-value");

	if (!type || !*type)
		return 0;
	if (cksum_type_parse(type, &o->want_type) < 0) {
		http_error(o->t, 400, NULL, "invalid checksum type \"%s\"", type);
		return -EINVAL;
	}
	if (!value || !*value)
		o->want_type = CKSUM_NONE; /* a type alone asks for nothing */
	else
		o->want_value = value;
	return 0;
}

static int custom_error(struct obj *o, int r, const char *line)
{
	if (r == -EMSGSIZE)
		http_error(o->t, 400, NULL, "custom metadata: total size exceeds max %d bytes",
			   STORE_CUSTOM_MAX);
	else
		http_error(o->t, 400, NULL,
			   "custom metadata \"%s\": want key=value without control characters",
			   line);
	return -EINVAL;
}

/* One Ais-Custom-Md line. */
static int add_custom(struct obj *o, const char *line)
{
	const char *eq = strchr(line, '=');
	autofree char *key = NULL;
	int r;

	if (!eq || eq == line)
		return custom_error(o, -EINVAL, line);
	key = strndup(line, (size_t)(eq - line));
	if (!key)
		return custom_error(o, -EMSGSIZE, line);
	r = store_custom_add(&o->custom, key, eq + 1);
	return r < 0 ? custom_error(o, r, line) : 0;
}

static int read_custom(struct obj *o)
{
	size_t i;
	int r;

	for (i = 0; i < o->t->req.n_headers; i++) {
		if (strcmp(o->t->req.headers[i].name, "ais-custom-md"))
			continue;
		r = add_custom(o, o->t->req.headers[i].value);
		if (r < 0)
			return r;
	}
	return 0;
}

int obj_bucket_for_write(struct obj *o, enum bmd_access need)
{
	struct bmd *bmd = cluster_bmd(o->a->cluster);
	bool known = bmd && bmd_find(bmd, &o->tg.bck);
	int r;

	bmd_put(bmd);
	/*
	 * The only call to another node on the io pool: bounded at 2 s, and what the primary does
	 * to answer it needs none of our pools.
	 */
	if (known)
		r = api_bucket(o->a, o->t, &o->tg.bck, need, &o->b);
	else
		r = api_bucket_pull(o->a, o->t, &o->tg.bck, need, &o->b);
	if (!r)
		api_store_bck(&o->b, &o->sb);
	return r;
}

int obj_bucket_still(struct obj *o)
{
	struct bmd_bucket now;
	int r = api_bucket(o->a, o->t, &o->b.name, BMD_ACE_NR, &now);

	if (!r && now.bid != o->b.bid) {
		http_error(o->t, 404, "ErrBckNotFound",
			   "bucket \"%s://%s\" does not exist any more", o->b.name.provider,
			   o->b.name.bucket);
		r = -ENOENT;
	}
	return r;
}

static int base_version(struct obj *o, uint64_t *ret)
{
	const char *v = http_header_get(o->t, "ais-version");

	*ret = 0;
	if (!v || !*v)
		return 0;
	if (parse_u64(v, ret) < 0 || *ret >= INT64_MAX) {
		http_error(o->t, 400, NULL, "invalid Ais-Version \"%s\"", v);
		return -EINVAL;
	}
	return 0;
}

static int put_start(struct obj *o)
{
	struct store_put_opts po = {
		.size = o->t->req.length,
		.reset_version = http_param_true(o->t, "skip_vc"),
	};
	int r = obj_bucket_for_write(o, BMD_ACE_PUT);

	if (r < 0)
		return r;
	r = obj_want_checksum(o);
	if (!r)
		r = read_custom(o);
	if (!r)
		r = base_version(o, &po.base_version);
	if (r < 0)
		return r;
	po.custom = o->custom.data;
	po.custom_len = o->custom.len;
	po.want_type = o->want_type;
	po.want_value = o->want_value;
	r = store_put_begin(o->a->store, &o->sb, o->tg.object, &po, &o->put);
	if (r == -EMSGSIZE)
		return custom_error(o, r, "");
	if (r < 0)
		obj_store_error(o, r);
	return r;
}

/* The next bytes of a put or an append, which the first ones begin. */
static int body_write(struct obj *o, int (*start)(struct obj *o), const void *p, size_t n)
{
	int r = o->put ? 0 : start(o);

	if (r < 0)
		return r;
	r = store_put_write(o->put, p, n);
	if (r < 0)
		obj_store_error(o, r);
	return r;
}

static void put_abort(struct http_txn *t)
{
	struct obj *o = obj_of(t);

	metrics_add(o->a->metrics, METRIC_ERR_PUT_N, 1);
	if (o->put)
		store_put_abort(o->put);
	o->put = NULL;
}

static void bad_checksum(struct obj *o, const struct store_rec *rec)
{
	autobuf struct buf name = BUF_INIT;

	metrics_add(o->a->metrics, METRIC_ERR_PUT_CKSUM_N, 1);
	api_object_text(&o->tg.bck, o->tg.object, &name);
	http_error(o->t, 400, "ErrBadCksum", "BAD DATA CHECKSUM: %s(%s != %s) (context: %s)",
		   cksum_name(o->want_type), o->want_value, rec->cksum, buf_cstr(&name));
}

void obj_put_done(void *arg, int err, const struct store_rec *rec)
{
	struct obj *o = arg;
	struct metrics *m = o->a->metrics;

	if (!err) {
		metrics_add(m, METRIC_PUT_N, 1);
		metrics_add(m, METRIC_PUT_SIZE, rec->size);
		metrics_add(m, METRIC_PUT_NS_TOTAL, (uint64_t)(mono_ns() - o->t->req.start_ns));
		o->t->resp.status = 200;
		obj_headers(o, rec);
		http_reply(o->t);
		return;
	}
	metrics_add(m, METRIC_ERR_PUT_N, 1);
	if (err == STORE_E_CKSUM)
		bad_checksum(o, rec);
	else
		obj_store_error(o, err);
	http_reply(o->t);
}

static void put_end(struct http_txn *t)
{
	struct obj *o = obj_of(t);
	struct store_put *p;

	if ((!o->put && put_start(o) < 0) || obj_bucket_still(o) < 0) {
		put_abort(t);
		http_reply(t);
		return;
	}
	p = take_ptr(o->put);
	store_put_commit(p, obj_put_done, o);
}

static int put_write(struct http_txn *t, const void *p, size_t n)
{
	return body_write(obj_of(t), put_start, p, n);
}

static const struct http_sink put_sink = {put_write, put_end, put_abort};

void obj_put(struct http_txn *t)
{
	http_receive(t, max_body(obj_of(t)), &put_sink);
}

/* ---- append ---- */

/* The token inside a handle "<target>|<token>|<checksum type>|<state>" of ours. */
static int read_handle(struct obj *o, const char *handle)
{
	const char *id = cluster_node_id(o->a->cluster);
	size_t n = strlen(id);
	const char *token = NULL, *end = NULL;

	if (!strncmp(handle, id, n) && handle[n] == '|') {
		token = handle + n + 1;
		end = strchr(token, '|');
	}
	if (!end || end == token || (size_t)(end - token) >= sizeof(o->work)) {
		http_error(o->t, 400, NULL, "invalid append handle \"%.200s\"", handle);
		return -EINVAL;
	}
	memcpy(o->work, token, (size_t)(end - token));
	o->work[end - token] = 0;
	return 0;
}

static int append_start(struct obj *o)
{
	const char *handle = http_param(o->t, "append_handle");
	int r = obj_bucket_for_write(o, BMD_ACE_APPEND);

	if (!r)
		r = obj_want_checksum(o);
	if (!r && handle)
		r = read_handle(o, handle);
	if (r < 0)
		return r;
	r = store_append(o->a->store, &o->sb, o->tg.object, o->work, &o->put);
	if (r == -ENOENT || r == -EINVAL)
		http_error(o->t, r == -ENOENT ? 404 : 400, NULL,
			   "append handle \"%.200s\" is not known here", handle ? handle : "");
	else if (r == -EBUSY)
		http_error(o->t, 409, "ErrBusy", "append to \"%s\" is under way, please try again",
			   o->tg.object);
	else if (r < 0)
		obj_store_error(o, r);
	return r;
}

static void append_park(struct obj *o)
{
	struct store_put *p = take_ptr(o->put);
	char token[64];
	int r = store_append_park(p, token);

	if (r < 0) {
		metrics_add(o->a->metrics, METRIC_ERR_APPEND_N, 1);
		obj_store_error(o, r);
		http_reply(o->t);
		return;
	}
	metrics_add(o->a->metrics, METRIC_APPEND_N, 1);
	http_header(o->t, "Ais-Append-Handle", "%s|%s|%s|", cluster_node_id(o->a->cluster), token,
		    cksum_name(o->sb.cksum));
	http_reply_status(o->t, 200);
}

static void append_end(struct http_txn *t)
{
	struct obj *o = obj_of(t);
	bool flush = !strcmp(http_param(t, "append_type"), "flush");

	if ((!o->put && append_start(o) < 0) || obj_bucket_still(o) < 0) {
		put_abort(t);
		http_reply(t);
		return;
	}
	if (!flush) {
		append_park(o);
		return;
	}
	if (o->want_type != CKSUM_NONE)
		store_append_expect(o->put, o->want_type, o->want_value);
	store_put_commit(take_ptr(o->put), obj_put_done, o);
}

static int append_write(struct http_txn *t, const void *p, size_t n)
{
	return body_write(obj_of(t), append_start, p, n);
}

static const struct http_sink append_sink = {append_write, append_end, put_abort};

void obj_append(struct http_txn *t)
{
	const char *type = http_param(t, "append_type");
	bool flush = !strcmp(type, "flush");

	if (!flush && strcmp(type, "append")) {
		http_reply_error(t, 400, NULL, "invalid append_type \"%s\" (want append or flush)",
				 type);
		return;
	}
	if (flush && !http_param(t, "append_handle")) {
		http_reply_error(t, 400, NULL, "append flush needs append_handle");
		return;
	}
	http_receive(t, max_body(obj_of(t)), &append_sink);
}
