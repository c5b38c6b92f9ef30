/* SPDX-License-Identifier: BSD-2-Clause */
/* The JSON that nodes exchange about metadata. */
#include <errno.h>
#include <stdlib.h>

#include "base/json.h"
#include "cluster/doc.h"

static int need_object(struct json_object *o, const char *what, char *err, size_t err_size)
{
	if (!o || json_object_is_type(o, json_type_object))
		return 0;
	snprintf(err, err_size, "%s: an object is wanted", what);
	return -EINVAL;
}

static int id_order(const void *a, const void *b)
{
	return strcmp(a, b);
}

static int parse_silent(struct json_object *o, struct doc *d, char *err, size_t err_size)
{
	size_t i, n;

	if (!o)
		return 0;
	if (!json_object_is_type(o, json_type_array)) {
		snprintf(err, err_size, "silent: a list is wanted");
		return -EINVAL;
	}
	n = json_object_array_length(o);
	if (n > SMAP_NODES_MAX)
		return -E2BIG;
	d->silent = calloc(n ? n : 1, sizeof(*d->silent));
	if (!d->silent)
		return -ENOMEM;
	for (i = 0; i < n; i++) {
		struct json_object *v = json_object_array_get_idx(o, i);
		const char *id =
			json_object_is_type(v, json_type_string) ? json_object_get_string(v) : "";

		if (!smap_node_id_ok(id)) {
			snprintf(err, err_size, "silent: a node ID is wanted");
			return -EINVAL;
		}
		strcpy(d->silent[i], id);
	}
	qsort(d->silent, n, sizeof(*d->silent), id_order);
	d->n_silent = n;
	d->has_silent = true;
	return 0;
}

static int parse_members(const struct config *node, struct json_object *root, struct doc *d,
			 char *err, size_t err_size)
{
	struct json_object *smap = json_member(root, "Smap");
	struct json_object *bmd = json_member(root, "BMD");
	struct json_object *conf = json_member(root, "Conf");
	const char *text;
	int r;

	r = need_object(smap, "Smap", err, err_size);
	if (!r)
		r = need_object(bmd, "BMD", err, err_size);
	if (!r)
		r = need_object(conf, "Conf", err, err_size);
	if (!r && smap)
		r = smap_from_json(smap, &d->smap, err, err_size);
	if (!r && bmd) {
		text = json_object_to_json_string_ext(bmd, JSON_C_TO_STRING_PLAIN);
		r = bmd_parse(text, strlen(text), &d->bmd, err, err_size);
	}
	if (!r && conf) {
		text = json_object_to_json_string_ext(conf, JSON_C_TO_STRING_PLAIN);
		r = config_parse_cluster(node, text, strlen(text), &d->conf, err, err_size);
	}
	if (!r)
		r = parse_silent(json_member(root, "silent"), d, err, err_size);
	return r;
}

int doc_parse(const struct config *node, const char *text, size_t len, struct doc *ret, char *err,
	      size_t err_size)
{
	autojson struct json_object *root = NULL;
	struct doc d = {};
	int r;

	snprintf(err, err_size, "not a JSON object");
	r = json_parse(text, len, &root);
	if (!r && !json_object_is_type(root, json_type_object))
		r = -EINVAL;
	if (r < 0)
		return r;
	r = parse_members(node, root, &d, err, err_size);
	if (r < 0) {
		doc_deinit(&d);
		return r;
	}
	*ret = d;
	return 0;
}

void doc_deinit(struct doc *d)
{
	smap_put(d->smap);
	if (d->bmd)
		bmd_put(d->bmd);
	if (d->conf)
		config_put(d->conf);
	free(d->silent);
	*d = (struct doc){};
}

static void key(struct buf *out, bool *first, const char *name)
{
	buf_fmt(out, "%s\"%s\":", *first ? "" : ",", name);
	*first = false;
}

void doc_print(const struct doc *d, struct buf *out)
{
	bool first = true;
	size_t i;

	buf_char(out, '{');
	if (d->smap) {
		key(out, &first, "Smap");
		smap_print(d->smap, out);
	}
	if (d->bmd) {
		key(out, &first, "BMD");
		bmd_print(d->bmd, true, out);
	}
	if (d->conf) {
		key(out, &first, "Conf");
		config_print_cluster(d->conf, true, out);
	}
	if (d->has_silent) {
		key(out, &first, "silent");
		buf_char(out, '[');
		for (i = 0; i < d->n_silent; i++) {
			buf_str(out, i ? "," : "");
			buf_json_str(out, d->silent[i]);
		}
		buf_char(out, ']');
	}
	buf_char(out, '}');
}

static int version_member(struct json_object *o, const char *name, int64_t *ret)
{
	int r = json_member_int(o, name, ret);

	if (r == -ENOENT) {
		*ret = 0;
		return 0;
	}
	return r < 0 || *ret < 0 || *ret > SMAP_VERSION_MAX ? -EINVAL : 0;
}

static int versions_from(struct json_object *o, struct doc_versions *ret)
{
	if (version_member(o, "smap", &ret->smap) < 0 || version_member(o, "bmd", &ret->bmd) < 0 ||
	    version_member(o, "conf", &ret->conf) < 0)
		return -EINVAL;
	return 0;
}

int doc_versions_parse(const char *text, size_t len, struct doc_versions *ret)
{
	autojson struct json_object *root = NULL;
	struct doc_versions v;
	int r;

	r = json_parse(text, len, &root);
	if (!r && !json_object_is_type(root, json_type_object))
		r = -EINVAL;
	if (!r)
		r = versions_from(root, &v);
	if (!r)
		*ret = v;
	return r;
}

void doc_versions_print(const struct doc_versions *v, struct buf *out)
{
	buf_fmt(out, "\"smap\":\"%lld\",\"bmd\":\"%lld\",\"conf\":\"%lld\"", (long long)v->smap,
		(long long)v->bmd, (long long)v->conf);
}

int doc_join_parse(const char *text, size_t len, struct doc_join *ret, char *err, size_t err_size)
{
	autojson struct json_object *root = NULL;
	struct doc_join j = {};
	struct json_object *si;
	const char *uuid;
	int r;

	snprintf(err, err_size, "join request: not a JSON object");
	r = json_parse(text, len, &root);
	if (!r && !json_object_is_type(root, json_type_object))
		r = -EINVAL;
	if (r < 0)
		return r;
	si = json_member(root, "si");
	uuid = json_member_str(root, "uuid");
	if (!si || versions_from(root, &j.have) < 0 || (uuid && *uuid && !smap_uuid_ok(uuid))) {
		snprintf(err, err_size, "join request: si, uuid or a version is missing or wrong");
		return -EINVAL;
	}
	r = smap_node_parse(si, &j.si, err, err_size);
	if (r < 0)
		return r == -ENOMEM ? r : -EINVAL;
	if (!j.si.has_key) {
		snprintf(err, err_size, "join request: %s has no verifying_key", j.si.id);
		return -EINVAL;
	}
	strcpy(j.uuid, uuid ? uuid : "");
	j.skip_rebalance = json_member_bool(root, "skip_rebalance", false);
	*ret = j;
	return 0;
}

void doc_join_print(const struct doc_join *j, struct buf *out)
{
	buf_str(out, "{\"si\":");
	smap_node_print(&j->si, out);
	buf_str(out, ",\"uuid\":");
	buf_json_str(out, j->uuid);
	buf_char(out, ',');
	doc_versions_print(&j->have, out);
	buf_fmt(out, ",\"skip_rebalance\":%s}", j->skip_rebalance ? "true" : "false");
}
