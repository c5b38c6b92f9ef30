/* SPDX-License-Identifier: BSD-2-Clause */
/* DELETE, PATCH and POST of an object. */
#include "api/objects.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "loop/pool.h"

/* ---- DELETE ---- */

static void delete_done(void *arg, int err, const struct store_rec *rec)
{
	struct obj *o = arg;
	autobuf struct buf name = BUF_INIT;

	if (!err) {
		metrics_add(o->a->metrics, METRIC_DEL_N, 1);
		http_reply_status(o->t, 200);
		return;
	}
	metrics_add(o->a->metrics, METRIC_ERR_DEL_N, 1);
	api_object_text(&o->tg.bck, o->tg.object, &name);
	if (err == -ENOENT)
		http_error(o->t, 404, NULL, "%s doesn't exist", buf_cstr(&name));
	else
		obj_store_error(o, err);
	http_reply(o->t);
}

static void delete_known(struct http_txn *t)
{
	struct obj *o = obj_of(t);

	if (obj_bucket(o, BMD_ACE_OBJ_DELETE) < 0) {
		http_reply(t);
		return;
	}
	store_delete(o->a->store, &o->sb, o->tg.object, delete_done, o);
}

void obj_delete(struct http_txn *t)
{
	struct obj *o = obj_of(t);
	struct api_msg msg;
	bool abort_upload;

	if (api_msg_parse(t, &msg) < 0) {
		http_reply(t);
		return;
	}
	abort_upload = msg.action && !strcmp(msg.action, "mpt-abort");
	api_msg_free(&msg);
	if (abort_upload)
		api_not_built(t, "multipart upload");
	else
		api_known(o->a, t, &o->tg.bck, delete_known);
}

/* ---- PATCH ---- */

static void patch_done(void *arg, int err, const struct store_rec *rec)
{
	struct obj *o = arg;

	if (!err) {
		http_reply_status(o->t, 200);
		return;
	}
	if (err == -EMSGSIZE)
		http_error(o->t, 400, NULL, "custom metadata: total size exceeds max %d bytes",
			   STORE_CUSTOM_MAX);
	else
		obj_store_error(o, err);
	http_reply(o->t);
}

static int patch_pairs(struct obj *o, struct json_object *value)
{
	int r;

	if (value && !json_object_is_type(value, json_type_object)) {
		http_error(o->t, 400, NULL,
			   "failed to unmarshal: \"value\" must be an object of strings");
		return -EINVAL;
	}
	if (!value)
		return 0;
	json_object_object_foreach (value, key, v) {
		r = -EINVAL;
		if (!v || api_json_text(v))
			r = store_custom_add(&o->custom, key, v ? json_object_get_string(v) : "");
		if (r == -EMSGSIZE)
			http_error(o->t, 400, NULL,
				   "custom metadata: total size exceeds max %d bytes",
				   STORE_CUSTOM_MAX);
		else if (r < 0)
			http_error(o->t, 400, NULL,
				   "custom metadata: key \"%s\": want a key that is not empty and "
				   "a string, without control characters",
				   key);
		if (r < 0)
			return r;
	}
	return 0;
}

static void patch_known(struct http_txn *t)
{
	struct obj *o = obj_of(t);
	struct store_custom c = {.replace = http_param_true(t, "set-new-custom")};

	if (obj_bucket(o, BMD_ACE_OBJ_UPDATE) < 0) {
		http_reply(t);
		return;
	}
	c.pairs = o->custom.data;
	c.len = o->custom.len;
	store_set_custom(o->a->store, &o->sb, o->tg.object, &c, patch_done, o);
}

void obj_patch(struct http_txn *t)
{
	struct obj *o = obj_of(t);
	struct api_msg msg;
	int r = api_msg_parse(t, &msg);

	if (!r)
		r = patch_pairs(o, msg.value);
	if (!r && !msg.root) {
		http_error(t, 400, NULL, "PATCH of an object needs a body {\"value\":{...}}");
		r = -EINVAL;
	}
	api_msg_free(&msg);
	if (r < 0)
		http_reply(t);
	else
		api_known(o->a, t, &o->tg.bck, patch_known);
}

/* ---- POST ---- */

static void begin_rename(struct obj *o, const char *name)
{
	struct http_txn *t = o->t;
	const char *why = smap_object_name_check(name ? name : "", name ? strlen(name) : 0);

	if (why) {
		http_reply_error(t, 400, NULL, "rename-obj: invalid object name \"%s\": %s",
				 name ? name : "", why);
		return;
	}
	if (!strcmp(name, o->tg.object)) {
		http_reply_error(t, 400, NULL, "rename-obj: \"%s\" onto itself", name);
		return;
	}
	o->to_text = strdup(name);
	if (!o->to_text) {
		http_reply_error(t, 500, NULL, "out of memory");
		return;
	}
	o->to_object = o->to_text;
	obj_rename(t); /* on the call pool, as this is */
}

static void post_action(struct obj *o, const struct api_msg *msg)
{
	static const char *const known[] = {"promote", "blob-download", "mpt-upload",
					    "mpt-complete", "mpt-abort"};
	const char *action = msg->action ? msg->action : "";
	size_t i;

	for (i = 0; i < ARRAY_SIZE(known); i++) {
		if (!strcmp(action, known[i])) {
			api_not_built(o->t, known[i]);
			return;
		}
	}
	if (!o->tg.object_len)
		http_reply_error(o->t, 400, NULL, "POST %s: object name is missing",
				 o->t->req.path);
	else if (!strcmp(action, "rename-obj"))
		begin_rename(o, msg->name);
	else if (!strcmp(action, "check-lock"))
		http_reply_status(o->t, 200); /* blobs are immutable: nobody waits for a lock */
	else
		http_reply_error(o->t, 400, NULL, "invalid action \"%s\"", action);
}

void obj_post(struct http_txn *t)
{
	struct api_msg msg;

	if (api_msg_parse(t, &msg) < 0)
		http_reply(t);
	else
		post_action(obj_of(t), &msg);
	api_msg_free(&msg);
}
