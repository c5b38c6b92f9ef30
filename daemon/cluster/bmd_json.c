/* SPDX-License-Identifier: BSD-2-Clause */
/* Bucket metadata and bucket properties as JSON, in the API's order and types. */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>

#include "base/cleanup.h"
#include "base/json.h"
#include "base/text.h"
#include "cluster/bmd.h"
#include "cluster/bmd_private.h"

__attribute__((format(printf, 3, 4))) static int refuse(char *err, size_t size, const char *fmt,
							...)
{
	va_list ap;

	if (err && size) {
		va_start(ap, fmt);
		vsnprintf(err, size, fmt, ap);
		va_end(ap);
	}
	return -EINVAL;
}

static const char *text_bool(bool b)
{
	return b ? "true" : "false";
}

/* Properties up to the point where the node-only members would follow, without the last '}'. */
static void print_props_open(const struct bmd_bucket *b, struct buf *out)
{
	buf_str(out, "{\"backend_bck\":{\"name\":\"\",\"provider\":\"\",\"namespace\":"
		     "{\"uuid\":\"\",\"name\":\"\"}},"
		     "\"write_policy\":{\"data\":\"immediate\",\"md\":\"immediate\"},");
	buf_fmt(out, "\"provider\":\"%s\",\"Renamed\":\"\",", b->name.provider);
	buf_fmt(out,
		"\"checksum\":{\"type\":\"%s\",\"validate_cold_get\":false,"
		"\"validate_warm_get\":%s,\"validate_obj_move\":false,\"enable_read_range\":%s}"
		",",
		b->cksum_type, text_bool(b->warm_get), text_bool(b->read_range));
	buf_str(out, "\"extra\":{\"aws\":{},\"gcp\":{},\"oci\":{}},"
		     "\"rate_limit\":{\"backend\":{\"interval\":\"1m\",\"max_tokens\":1000,"
		     "\"enabled\":false,\"num_retries\":3},\"frontend\":{\"interval\":\"1m\","
		     "\"max_tokens\":1000,\"enabled\":false,\"burst_size\":375}},"
		     "\"ec\":{\"compression\":\"never\",\"bundle_multiplier\":2,"
		     "\"burst_buffer\":512,\"objsize_limit\":262144,\"data_slices\":2,"
		     "\"parity_slices\":2,\"enabled\":false,\"disk_only\":false},"
		     "\"chunks\":{\"objsize_limit\":\"0B\",\"max_monolithic_size\":\"1TiB\","
		     "\"chunk_size\":\"1GiB\"},"
		     "\"mirror\":{\"copies\":2,\"burst_buffer\":512,\"enabled\":false},"
		     "\"lru\":{\"dont_evict_time\":\"2h0m\",\"capacity_upd_time\":\"10m\","
		     "\"batch_size\":32768,\"enabled\":false},");
	buf_fmt(out, "\"access\":\"%" PRIu64 "\",\"features\":\"%" PRIu64 "\",", b->access,
		b->features);
	buf_fmt(out, "\"bid\":\"%" PRIu64 "\",\"created\":\"%" PRId64 "\",", b->bid, b->created_ns);
	buf_fmt(out,
		"\"versioning\":{\"enabled\":%s,\"validate_warm_get\":false,"
		"\"synchronize\":false}",
		text_bool(b->versioning));
}

void bmd_props_print(const struct bmd_bucket *b, struct buf *out)
{
	print_props_open(b, out);
	buf_char(out, '}');
}

/* What only nodes need. */
static void print_own(const struct bmd *b, struct buf *out)
{
	size_t i;

	buf_fmt(out, ",\"last_serial\":\"%" PRIu64 "\",\"gone\":[", b->last_serial);
	for (i = 0; i < b->n_gone; i++)
		buf_fmt(out, "%s\"%" PRIu64 "\"", i ? "," : "", b->gone[i]);
	buf_char(out, ']');
}

void bmd_print(const struct bmd *b, bool own, struct buf *out)
{
	const struct bmd_name *last = NULL;
	size_t i;

	buf_str(out, "{\"providers\":{");
	for (i = 0; i < b->n; i++) {
		const struct bmd_bucket *k = &b->buckets[i];
		bool new_prov = !last || strcmp(last->provider, k->name.provider);
		bool new_ns = new_prov || strcmp(last->ns_uuid, k->name.ns_uuid) ||
			      strcmp(last->ns_name, k->name.ns_name);

		if (last && new_ns)
			buf_str(out, new_prov ? "}}," : "},");
		else if (last)
			buf_char(out, ',');
		if (new_prov)
			buf_fmt(out, "\"%s\":{", k->name.provider);
		if (new_ns)
			buf_fmt(out, "\"@%s#%s\":{", k->name.ns_uuid, k->name.ns_name);
		buf_fmt(out, "\"%s\":", k->name.bucket);
		print_props_open(k, out);
		if (own)
			buf_fmt(out, ",\"placement\":\"%s\"", k->placement);
		buf_char(out, '}');
		last = &k->name;
	}
	buf_fmt(out, "%s},\"uuid\":\"%s\",\"version\":\"%" PRId64 "\"", last ? "}}" : "", b->uuid,
		b->version);
	if (own)
		print_own(b, out);
	buf_char(out, '}');
}

/* ---- reading a BMD ---- */

static int read_bucket(struct bmd_bucket *b, struct json_object *o, char *err, size_t size)
{
	struct json_object *ck = json_member(o, "checksum"), *ver = json_member(o, "versioning");
	const char *type = json_member_str(ck, "type"), *place = json_member_str(o, "placement");
	autobuf struct buf uname = BUF_INIT;
	const char *object;
	struct bmd_name pn;

	bmd_name_uname(&b->name, &uname);
	if (uname.err)
		return uname.err;
	if (!place)
		place = uname.data;
	if (!type || !bmd_cksum_type_ok(type))
		return refuse(err, size, "bucket \"%s\": no known checksum.type", b->name.bucket);
	if (strlen(place) >= sizeof(b->placement) || bmd_uname_parse(place, &pn, &object) < 0 ||
	    *object)
		return refuse(err, size, "bucket \"%s\": bad placement", b->name.bucket);
	if (json_member_u64(o, "bid", &b->bid) < 0 || !(b->bid & BMD_BID_AIS) ||
	    json_member_u64(o, "access", &b->access) < 0 ||
	    json_member_int(o, "created", &b->created_ns) < 0)
		return refuse(err, size, "bucket \"%s\": bid, access or created missing or bad",
			      b->name.bucket);
	if (json_member_u64(o, "features", &b->features) == -EINVAL)
		return refuse(err, size, "bucket \"%s\": bad features", b->name.bucket);
	snprintf(b->cksum_type, sizeof(b->cksum_type), "%s", type);
	strcpy(b->placement, place);
	b->read_range = json_member_bool(ck, "enable_read_range", false);
	b->warm_get = json_member_bool(ck, "validate_warm_get", false);
	b->versioning = json_member_bool(ver, "enabled", true);
	return 0;
}

static int read_namespace(struct bmd *b, const struct bmd_name *base, struct json_object *o,
			  char *err, size_t size)
{
	int r;

	json_object_object_foreach (o, key, val) {
		struct bmd_bucket *k = &b->buckets[b->n];

		if (!smap_bucket_name_ok(key))
			return refuse(err, size, "bad bucket name");
		k->name = *base;
		strcpy(k->name.bucket, key);
		r = read_bucket(k, val, err, size);
		if (r < 0)
			return r;
		b->n++;
	}
	return 0;
}

static size_t count_buckets(struct json_object *provs)
{
	size_t n = 0;

	json_object_object_foreach (provs, prov, spaces) {
		(void)prov;
		if (!json_object_is_type(spaces, json_type_object))
			continue;
		json_object_object_foreach (spaces, ns, buckets) {
			(void)ns;
			if (json_object_is_type(buckets, json_type_object))
				n += (size_t)json_object_object_length(buckets);
		}
	}
	return n;
}

static int read_providers(struct bmd *b, struct json_object *provs, char *err, size_t size)
{
	int r;

	json_object_object_foreach (provs, prov, spaces) {
		if (strcmp(prov, "ais") || !json_object_is_type(spaces, json_type_object))
			return refuse(err, size, "provider \"%.16s\" is not known here", prov);
		json_object_object_foreach (spaces, ns, buckets) {
			struct bmd_name base = {.provider = "ais"};

			if (bmd_ns_parse(ns, strlen(ns), &base) < 0 ||
			    !json_object_is_type(buckets, json_type_object))
				return refuse(err, size, "bad namespace \"%.40s\"", ns);
			r = read_namespace(b, &base, buckets, err, size);
			if (r < 0)
				return r;
		}
	}
	return 0;
}

static int read_gone(struct bmd *b, struct json_object *gone, char *err, size_t size)
{
	size_t i, n;

	if (!gone)
		return 0;
	if (!json_object_is_type(gone, json_type_array))
		return refuse(err, size, "gone is not a list");
	n = json_object_array_length(gone);
	if (n > BMD_GONE_MAX)
		return -E2BIG;
	b->gone = calloc(n + 1, sizeof(*b->gone));
	if (!b->gone)
		return -ENOMEM;
	for (i = 0; i < n; i++) {
		struct json_object *v = json_object_array_get_idx(gone, i);

		if (!json_object_is_type(v, json_type_string) ||
		    parse_u64(json_object_get_string(v), &b->gone[i]) < 0)
			return refuse(err, size, "gone: not a bucket ID");
	}
	b->n_gone = n;
	return 0;
}

int bmd_parse(const char *text, size_t len, struct bmd **ret, char *err, size_t err_size)
{
	autojson struct json_object *o = NULL;
	struct json_object *provs;
	const char *uuid;
	uint64_t serial = 0;
	int64_t version;
	struct bmd *b;
	int r = json_parse(text, len, &o);

	if (r == -EINVAL)
		return refuse(err, err_size, "not a JSON document");
	if (r < 0)
		return r;
	uuid = json_member_str(o, "uuid");
	provs = json_member(o, "providers");
	if (!uuid || strlen(uuid) > SMAP_UUID_MAX ||
	    strspn(uuid, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") !=
		    strlen(uuid))
		return refuse(err, err_size, "no valid uuid");
	if (json_member_int(o, "version", &version) < 0 || version < 0)
		return refuse(err, err_size, "no valid version");
	if (provs && !json_object_is_type(provs, json_type_object))
		return refuse(err, err_size, "providers is not an object");
	if (json_member_u64(o, "last_serial", &serial) == -EINVAL || serial >= BMD_BID_AIS)
		return refuse(err, err_size, "no valid last_serial");
	r = bmd_alloc(uuid, version, provs ? count_buckets(provs) : 0, &b);
	if (r < 0)
		return r;
	b->last_serial = serial;
	r = read_gone(b, json_member(o, "gone"), err, err_size);
	if (!r && provs)
		r = read_providers(b, provs, err, err_size);
	if (!r && bmd_seal(b) < 0)
		r = refuse(err, err_size, "two buckets of one name");
	if (r < 0) {
		bmd_put(b);
		return r;
	}
	*ret = b;
	return 0;
}
