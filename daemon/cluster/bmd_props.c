/* SPDX-License-Identifier: BSD-2-Clause */
/* Partial sets of bucket properties: what may change changes, what is not built is refused. */
#include <errno.h>
#include <stdarg.h>

#include "base/bits.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "cluster/bmd.h"
#include "cluster/bmd_private.h"
#include "config.h"

struct apply {
	struct bmd_bucket *b; /* a copy, until all is known to be good */
	char *err;
	size_t err_size;
};

__attribute__((format(printf, 3, 4))) static int refuse(struct apply *a, int code, const char *fmt,
							...)
{
	va_list ap;

	if (a->err && a->err_size) {
		va_start(ap, fmt);
		vsnprintf(a->err, a->err_size, fmt, ap);
		va_end(ap);
	}
	return code;
}

static int set_bool(struct apply *a, const char *name, struct json_object *v, bool *ret)
{
	if (!json_object_is_type(v, json_type_boolean))
		return refuse(a, -EINVAL, "property \"%s\": want true or false", name);
	*ret = json_object_get_boolean(v);
	return 0;
}

static int set_cksum(struct apply *a, const char *name, struct json_object *v)
{
	const char *s = json_object_is_type(v, json_type_string) ? json_object_get_string(v) : "";

	if (bmd_cksum_type_ok(s)) {
		snprintf(a->b->cksum_type, sizeof(a->b->cksum_type), "%s", s);
		return 0;
	}
	return refuse(a, -EINVAL,
		      "property \"%s\": invalid checksum type \"%.32s\" (want none, xxhash, "
		      "xxhash2, md5, crc32c, sha256 or sha512)",
		      name, s);
}

static int set_access(struct apply *a, struct json_object *root)
{
	uint64_t v;

	if (!json_member_str(root, "access") || json_member_u64(root, "access", &v) < 0)
		return refuse(a, -EINVAL, "property \"access\": want a decimal number in quotes");
	a->b->access = v;
	return 0;
}

/* "2h" and "2h0m", "1GiB" and "1073741824" are the same value. */
static bool same_text(const char *x, const char *y)
{
	int64_t a, b;

	if (!strcmp(x, y))
		return true;
	if (!config_parse_duration(x, &a) && !config_parse_duration(y, &b))
		return a == b;
	return !config_parse_size(x, &a) && !config_parse_size(y, &b) && a == b;
}

static bool same_value(struct json_object *x, struct json_object *dflt)
{
	const char *xs = json_object_get_string(x), *ds = json_object_get_string(dflt);

	if (json_object_is_type(x, json_type_boolean) !=
	    json_object_is_type(dflt, json_type_boolean))
		return false;
	return xs && ds && same_text(xs, ds);
}

/* Properties that do something in this build. Return: 0 done; 1 not one of them; negative. */
static int apply_live(struct apply *a, const char *name, struct json_object *v,
		      struct json_object *root)
{
	if (!strcmp(name, "checksum.type"))
		return set_cksum(a, name, v);
	if (!strcmp(name, "checksum.enable_read_range"))
		return set_bool(a, name, v, &a->b->read_range);
	if (!strcmp(name, "checksum.validate_warm_get"))
		return set_bool(a, name, v, &a->b->warm_get);
	if (!strcmp(name, "versioning.enabled"))
		return set_bool(a, name, v, &a->b->versioning);
	if (!strcmp(name, "access"))
		return set_access(a, root);
	return 1;
}

static int apply_tree(struct apply *a, const char *prefix, struct json_object *given,
		      struct json_object *dflt);

static int apply_one(struct apply *a, const char *name, struct json_object *v,
		     struct json_object *dflt, struct json_object *root)
{
	int r;

	if (json_object_is_type(dflt, json_type_object)) {
		if (!json_object_is_type(v, json_type_object))
			return refuse(a, -EINVAL, "property \"%s\": want an object", name);
		return apply_tree(a, name, v, dflt);
	}
	if (json_object_is_type(v, json_type_object) || json_object_is_type(v, json_type_array))
		return refuse(a, -EINVAL, "property \"%s\": want a plain value", name);
	r = apply_live(a, name, v, root);
	if (r <= 0)
		return r;
	if (same_value(v, dflt))
		return 0;
	if (!strcmp(name, "bid") || !strcmp(name, "created") || !strcmp(name, "provider") ||
	    !strcmp(name, "Renamed"))
		return refuse(a, -EINVAL, "property \"%s\" can not be changed", name);
	return refuse(a, -ENOTSUP, "property \"%s\" is not built: only %s is supported", name,
		      json_object_get_string(dflt));
}

/* Walk what was given beside the full set, in which every known name stands. */
static int apply_tree(struct apply *a, const char *prefix, struct json_object *given,
		      struct json_object *dflt)
{
	char name[128];
	int r;

	json_object_object_foreach (dflt, key, d) {
		struct json_object *v = json_member(given, key);

		if (!v)
			continue;
		snprintf(name, sizeof(name), "%s%s%s", prefix, *prefix ? "." : "", key);
		r = apply_one(a, name, v, d, given);
		if (r < 0)
			return r;
	}
	return 0;
}

int bmd_props_apply(struct bmd_bucket *b, struct json_object *o, char *err, size_t err_size)
{
	autojson struct json_object *dflt = NULL;
	autobuf struct buf text = BUF_INIT;
	struct bmd_bucket next = *b;
	struct apply a = {.b = &next, .err = err, .err_size = err_size};
	int r;

	if (!o)
		return 0;
	if (!json_object_is_type(o, json_type_object))
		return refuse(&a, -EINVAL, "bucket properties: want an object");
	bmd_props_print(b, &text);
	if (text.err)
		return text.err;
	r = json_parse(text.data, text.len, &dflt);
	if (r < 0)
		return r;
	r = apply_tree(&a, "", o, dflt);
	if (r < 0)
		return r;
	*b = next;
	return 0;
}
