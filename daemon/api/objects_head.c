/* SPDX-License-Identifier: BSD-2-Clause */
/* Response headers of an object: entity tag, metadata, HEAD in both forms, conditions. */
#include <inttypes.h>

#include "api/objects.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "store/admin.h"

void obj_etag(const struct store_rec *rec, struct buf *out)
{
	const char *own = store_custom_find(rec, "ETag");
	char mtime[BASE36_MAX];

	if (own && *own) {
		bool quoted = own[0] == '"';

		buf_fmt(out, quoted ? "%s" : "\"%s\"", own);
	} else if (rec->ctype == CKSUM_MD5) {
		buf_fmt(out, "\"%s\"", rec->cksum);
	} else if (rec->ctype != CKSUM_NONE) {
		base36_encode((uint64_t)rec->mtime_ns, mtime);
		buf_fmt(out, "\"v1-%s-%s\"", rec->cksum, mtime);
	} else {
		buf_fmt(out, "\"v1-%s\"", rec->blob);
	}
}

static void validators(struct obj *o, const struct store_rec *rec)
{
	autobuf struct buf tag = BUF_INIT;
	char date[30];

	obj_etag(rec, &tag);
	http_header(o->t, "ETag", "%s", buf_cstr(&tag));
	http_date_format(rec->mtime_ns / 1000000000, date);
	http_header(o->t, "Last-Modified", "%s", date);
}

static void checksum_lines(struct obj *o, const struct store_rec *rec)
{
	if (rec->ctype == CKSUM_NONE)
		return;
	http_header(o->t, "Ais-Checksum-Type", "%s", cksum_name(rec->ctype));
	http_header(o->t, "Ais-Checksum-Value", "%s",
		    o->range_cksum[0] ? o->range_cksum : rec->cksum);
}

static void version_line(struct obj *o, const struct store_rec *rec)
{
	if (rec->version)
		http_header(o->t, "Ais-Version", "%" PRIu64, rec->version);
}

static void custom_lines(struct obj *o, const struct store_rec *rec)
{
	const char *key, *value;
	size_t pos = 0;

	while (store_custom_next(rec->custom, rec->custom_len, &pos, &key, &value))
		http_header(o->t, "Ais-Custom-Md", "%s=%s", key, value);
}

void obj_headers(struct obj *o, const struct store_rec *rec)
{
	checksum_lines(o, rec);
	http_header(o->t, "Ais-Atime", "%" PRId64, rec->atime_ns);
	version_line(o, rec);
	custom_lines(o, rec);
	validators(o, rec);
}

/* The mountpath of a record. */
static const char *mountpath(const struct obj *o)
{
	return store_path_text(o->a->store, o->rec.path);
}

static void location_line(struct obj *o, const char *mp)
{
	http_header(o->t, "Ais-Location", "%s:mp[%s]", cluster_node_name(o->a->cluster), mp);
}

int obj_head_v1(struct obj *o)
{
	const char *mp = mountpath(o);

	obj_headers(o, &o->rec);
	if (obj_header_safe(o->tg.object, o->tg.object_len))
		http_header(o->t, "Ais-Name", "%s", o->tg.object);
	http_header(o->t, "Ais-Bucket-Name", "%s", o->tg.bck.bucket);
	http_header(o->t, "Ais-Bucket-Provider", "%s", o->tg.bck.provider);
	if (o->tg.bck.ns_uuid[0])
		http_header(o->t, "Ais-Bucket-Namespace-Uuid", "%s", o->tg.bck.ns_uuid);
	if (o->tg.bck.ns_name[0])
		http_header(o->t, "Ais-Bucket-Namespace-Name", "%s", o->tg.bck.ns_name);
	location_line(o, mp);
	http_header(o->t, "Ais-Mirror-Copies", "1");
	http_header(o->t, "Ais-Mirror-Paths", "[%s]", mp);
	http_header(o->t, "Ais-Present", "true");
	return 0;
}

enum v2_prop {
	V2_NAME,
	V2_SIZE,
	V2_CHECKSUM,
	V2_ATIME,
	V2_VERSION,
	V2_CUSTOM,
	V2_LOCATION,
	V2_COPIES,
	V2_EC,
	V2_CHUNKED,
	V2_LAST_MODIFIED,
	V2_ETAG,
	V2_NR,
};

static const char *const v2_words[V2_NR] = {
	"name",	    "size",   "checksum", "atime",   "version",	      "custom",
	"location", "copies", "ec",	  "chunked", "last-modified", "etag",
};

static int v2_parse(struct http_txn *t, const char *props, uint32_t *ret)
{
	const char *p = props;
	uint32_t set = 0;

	while (*p) {
		size_t n, i;

		p += strspn(p, ", ");
		n = strcspn(p, ", ");
		for (i = 0; i < V2_NR; i++) {
			if (strlen(v2_words[i]) == n && !memcmp(v2_words[i], p, n))
				break;
		}
		if (n && i == V2_NR) {
			http_error(t, 400, NULL, "invalid property \"%.*s\" in props list", (int)n,
				   p);
			return -EINVAL;
		}
		if (n)
			set |= BIT(i);
		p += n;
	}
	*ret = set;
	return 0;
}

int obj_head_v2(struct obj *o, const char *props)
{
	uint32_t set;

	if (v2_parse(o->t, props, &set) < 0)
		return -EINVAL;
	if (set & BIT(V2_CHECKSUM))
		checksum_lines(o, &o->rec);
	if (set & BIT(V2_ATIME))
		http_header(o->t, "Ais-Atime", "%" PRId64, o->rec.atime_ns);
	if (set & BIT(V2_VERSION))
		version_line(o, &o->rec);
	if (set & BIT(V2_CUSTOM))
		custom_lines(o, &o->rec);
	if (set & BIT(V2_LOCATION))
		location_line(o, mountpath(o));
	if (set & BIT(V2_COPIES)) {
		http_header(o->t, "Ais-Mirror-Copies", "1");
		http_header(o->t, "Ais-Mirror-Paths", "%s", mountpath(o));
	}
	validators(o, &o->rec);
	http_header(o->t, "Ais-Present", "true");
	return 0;
}

/* ---- conditions ---- */

/*
 * Whether a list of entity tags (RFC 9110 13.1.1) names @tag. The comparison is weak where @weak:
 * our own tags are always strong, so only the prefix W/ of the given one matters.
 */
static bool tag_listed(const char *list, const char *tag, bool weak)
{
	size_t len = strlen(tag);

	while (*list) {
		bool is_weak;
		const char *end;

		list += strspn(list, ", \t");
		if (*list == '*')
			return true;
		is_weak = list[0] == 'W' && list[1] == '/';
		if (is_weak)
			list += 2;
		if (*list != '"') { /* not a tag: some clients send it bare */
			size_t n = strcspn(list, ", \t");

			if (n && n + 2 == len && !memcmp(tag + 1, list, n) && (weak || !is_weak))
				return true;
			list += n;
			continue;
		}
		end = strchr(list + 1, '"');
		if (!end)
			return false;
		if ((size_t)(end + 1 - list) == len && !memcmp(list, tag, len) &&
		    (weak || !is_weak))
			return true;
		list = end + 1;
	}
	return false;
}

/* A valid date of header @name; dates that are not are ignored (RFC 9110 13.1.3). */
static bool date_of(const struct http_txn *t, const char *name, int64_t *ret)
{
	const char *v = http_header_get(t, name);

	return v && !http_date_parse(v, ret);
}

enum obj_cond obj_conditions(const struct http_txn *t, const struct store_rec *rec)
{
	autobuf struct buf tag = BUF_INIT;
	const char *match = http_header_get(t, "if-match");
	const char *none = http_header_get(t, "if-none-match");
	int64_t when, mtime = rec->mtime_ns / 1000000000;

	obj_etag(rec, &tag);
	if (match) {
		if (!tag_listed(match, buf_cstr(&tag), false))
			return OBJ_COND_FAILED;
	} else if (date_of(t, "if-unmodified-since", &when) && mtime > when) {
		return OBJ_COND_FAILED;
	}
	if (none)
		return tag_listed(none, buf_cstr(&tag), true) ? OBJ_COND_NOT_MODIFIED : OBJ_COND_GO;
	if (date_of(t, "if-modified-since", &when) && mtime <= when)
		return OBJ_COND_NOT_MODIFIED;
	return OBJ_COND_GO;
}

bool obj_if_range(const struct http_txn *t, const struct store_rec *rec)
{
	autobuf struct buf tag = BUF_INIT;
	const char *v = http_header_get(t, "if-range");
	int64_t when;

	if (!v)
		return true;
	obj_etag(rec, &tag);
	if (v[0] == '"')
		return !strcmp(v, buf_cstr(&tag));
	return !http_date_parse(v, &when) && when == rec->mtime_ns / 1000000000;
}
