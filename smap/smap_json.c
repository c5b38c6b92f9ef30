/* SPDX-License-Identifier: BSD-2-Clause */
/* The map and its records as JSON: in with limits checked, out in the protocol's order. */
#include <inttypes.h>
#include <sodium.h>
#include <stdarg.h>

#include "base/bits.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "base/text.h"
#include "smap/smap_impl.h"

#define KEY_TEXT sodium_base64_ENCODED_LEN(SMAP_KEY_BYTES, sodium_base64_VARIANT_ORIGINAL)

/* In the order of the wire, which is not that of enum smap_netid. */
static const struct {
	enum smap_netid net;
	const char *key;
} net_keys[] = {
	{SMAP_NET_PUBLIC, "public_net"},
	{SMAP_NET_DATA, "intra_data_net"},
	{SMAP_NET_CONTROL, "intra_control_net"},
};

static const struct {
	const char *type, *map_key;
} roles[SMAP_ROLE_NR] = {
	[SMAP_ROLE_GATEWAY] = {"proxy", "pmap"},
	[SMAP_ROLE_TARGET] = {"target", "tmap"},
};

/* Where the sentence of an error goes. */
struct why {
	char *text;
	size_t size;
};

__attribute__((format(printf, 2, 3))) static int bad(const struct why *why, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	if (why->text && why->size)
		vsnprintf(why->text, why->size, fmt, ap);
	va_end(ap);
	return -EINVAL;
}

static int too_big(const struct why *why, const char *what)
{
	bad(why, "%s has more than %d nodes", what, SMAP_NODES_MAX);
	return -E2BIG;
}

static void put_edit(struct smap_edit **e)
{
	smap_edit_free(*e);
}

/* ---- in ---- */

/* A string member without NUL inside; "" when absent or null. */
static int text_member(struct json_object *o, const char *key, const char **ret,
		       const struct why *why)
{
	struct json_object *v = json_member(o, key);

	*ret = "";
	if (!v)
		return 0;
	if (!json_object_is_type(v, json_type_string))
		return bad(why, "%s must be a string", key);
	*ret = json_object_get_string(v);
	if (strlen(*ret) != (size_t)json_object_get_string_len(v))
		return bad(why, "%s contains a NUL character", key);
	return 0;
}

/* A whole number of at most @max, bare or as decimal text; "" and absence are 0. */
static int number_member(struct json_object *o, const char *key, uint64_t max, uint64_t *ret,
			 const struct why *why)
{
	struct json_object *v = json_member(o, key);
	uint64_t n = 0;
	const char *s;
	int r;

	if (json_object_is_type(v, json_type_int)) {
		if (json_object_get_int64(v) < 0)
			return bad(why, "%s must not be negative", key);
		n = json_object_get_uint64(v);
	} else if (v) {
		r = text_member(o, key, &s, why);
		if (r < 0)
			return bad(why, "%s must be a whole number", key);
		if (*s && parse_u64(s, &n) < 0)
			return bad(why, "%s must be a whole number", key);
	}
	if (n > max)
		return bad(why, "%s must be at most %" PRIu64, key, max);
	*ret = n;
	return 0;
}

static int net_parse(struct json_object *o, enum smap_netid net, struct smap_node *n,
		     const struct why *why)
{
	const char *host, *url, *scheme;
	uint64_t port;
	int r;

	r = text_member(o, "node_ip_addr", &host, why);
	if (r < 0)
		return r;
	r = text_member(o, "direct_url", &url, why);
	if (r < 0)
		return r;
	r = number_member(o, "daemon_port", UINT16_MAX, &port, why);
	if (r < 0)
		return r;
	if (!*host || !port)
		return 0;
	scheme = strncmp(url, "https://", 8) ? "http" : "https";
	if (smap_node_set_net(n, net, scheme, host, (uint16_t)port) < 0)
		return bad(why, "node_ip_addr is not a host name or address");
	if (*url && strcmp(url, n->net[net].url))
		return bad(why, "direct_url must be %s", n->net[net].url);
	return 0;
}

static int nets_parse(struct json_object *o, struct smap_node *n, const struct why *why)
{
	char text[SMAP_URL_MAX + 64] = "";
	const struct why inner = {text, sizeof(text)};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(net_keys); i++) {
		struct json_object *net = json_member(o, net_keys[i].key);

		if (net && !json_object_is_type(net, json_type_object))
			return bad(why, "%s of %s must be an object", net_keys[i].key, n->id);
		if (net && net_parse(net, net_keys[i].net, n, &inner) < 0)
			return bad(why, "%s of %s: %s", net_keys[i].key, n->id, text);
	}
	if (!n->net[SMAP_NET_PUBLIC].port)
		return bad(why, "public_net of %s has no address", n->id);
	n->net[SMAP_NET_DATA] = *smap_net_of(n, SMAP_NET_DATA);
	return 0;
}

static int key_parse(struct json_object *o, struct smap_node *n, const struct why *why)
{
	const char *s, *end;
	size_t len = 0;
	int r;

	r = text_member(o, "verifying_key", &s, why);
	if (r < 0)
		return r;
	if (!*s)
		return 0;
	if (strlen(s) != KEY_TEXT - 1 ||
	    sodium_base642bin(n->key, sizeof(n->key), s, strlen(s), NULL, &len, &end,
			      sodium_base64_VARIANT_ORIGINAL) ||
	    *end || len != sizeof(n->key))
		return bad(why, "verifying_key of %s is not the base64 of 32 bytes", n->id);
	n->has_key = true;
	return 0;
}

static enum smap_role role_of(const char *type)
{
	int role;

	for (role = SMAP_ROLE_GATEWAY; role < SMAP_ROLE_NR; role++)
		if (!strcmp(type, roles[role].type))
			return role;
	return SMAP_ROLE_NONE;
}

static int node_parse(struct json_object *o, struct smap_node *ret, const struct why *why)
{
	const char *id, *type;
	struct smap_node n;
	uint64_t ignored;
	int r;

	if (!json_object_is_type(o, json_type_object))
		return bad(why, "a node record must be an object");
	r = text_member(o, "daemon_id", &id, why);
	if (r < 0)
		return r;
	if (!smap_node_id_ok(id))
		return bad(why, "daemon_id must be %d to %d letters, digits, inner '-' or '_'",
			   SMAP_ID_MIN, SMAP_ID_MAX);
	r = text_member(o, "daemon_type", &type, why);
	if (r < 0)
		return r;
	if (smap_node_init(&n, id, role_of(type)) < 0)
		return bad(why, "daemon_type of %s must be \"proxy\" or \"target\"", id);
	r = nets_parse(o, &n, why);
	if (r < 0)
		return r;
	r = number_member(o, "flags", UINT64_MAX, &n.flags, why);
	if (r < 0)
		return r;
	r = number_member(o, "id_digest", UINT64_MAX, &ignored, why);
	if (r < 0)
		return r;
	r = key_parse(o, &n, why);
	if (r < 0)
		return r;
	*ret = n;
	return 0;
}

int smap_node_parse(struct json_object *o, struct smap_node *ret, char *err, size_t err_size)
{
	const struct why why = {err, err_size};

	return node_parse(o, ret, &why);
}

/* Why smap_edit_put_node() said @r about @n. */
static int put_failed(int r, const struct smap_node *n, const struct why *why)
{
	if (r == -EEXIST)
		bad(why, "%s has a host and port that another node has too", n->id);
	else if (r == -EINVAL)
		bad(why, "%s has the public host and port on an intra net too", n->id);
	else if (r == -E2BIG)
		too_big(why, "the cluster map");
	return r == -EEXIST ? -EINVAL : r;
}

/* One of the two objects of node records. @seen: the other role's, whose IDs may not recur. */
static int nodes_parse(struct json_object *o, enum smap_role role, struct json_object *seen,
		       struct smap_edit *e, const struct why *why)
{
	const char *name = roles[role].map_key;
	struct smap_node n;
	int r;

	if (!o)
		return 0;
	if (!json_object_is_type(o, json_type_object))
		return bad(why, "%s must be an object", name);
	if (json_object_object_length(o) > SMAP_NODES_MAX)
		return too_big(why, name);
	json_object_object_foreach (o, id, record) {
		r = node_parse(record, &n, why);
		if (r < 0)
			return r;
		if (strcmp(id, n.id))
			return bad(why, "%s has %s under another ID", name, n.id);
		if (n.role != role)
			return bad(why, "%s has %s, which is a %s", name, n.id, roles[n.role].type);
		if (json_object_is_type(seen, json_type_object) &&
		    json_object_object_get_ex(seen, id, NULL))
			return bad(why, "%s is both in pmap and in tmap", n.id);
		r = smap_edit_put_node(e, &n);
		if (r < 0)
			return put_failed(r, &n, why);
	}
	return 0;
}

static int primary_parse(struct json_object *map, struct json_object *pmap, struct smap_edit *e,
			 const struct why *why)
{
	struct json_object *o = json_member(map, "proxy_si"), *member = NULL;
	struct smap_node n, m;
	int r;

	if (!o)
		return 0;
	r = node_parse(o, &n, why);
	if (r < 0)
		return r;
	if (smap_edit_set_primary(e, n.id) < 0 || !json_object_object_get_ex(pmap, n.id, &member))
		return bad(why, "proxy_si %s is not in pmap", n.id);
	r = node_parse(member, &m, why);
	if (r < 0)
		return r;
	if (n.role != m.role || !smap_node_same_net(&n, &m) || !smap_node_same_key(&n, &m))
		return bad(why, "proxy_si %s differs from its record in pmap", n.id);
	return 0;
}

static int identity_parse(struct json_object *o, struct smap_edit *e, const struct why *why)
{
	const char *uuid, *created;
	uint64_t version;
	int r;

	r = text_member(o, "uuid", &uuid, why);
	if (r < 0)
		return r;
	r = text_member(o, "creation_time", &created, why);
	if (r < 0)
		return r;
	if (*uuid && smap_edit_set_identity(e, uuid, created) < 0)
		return bad(why,
			   "uuid must be at most %d letters, digits, '-' or '_', and "
			   "creation_time at most %d printable characters",
			   SMAP_UUID_MAX, SMAP_TIME_MAX);
	if (!json_member(o, "version"))
		return bad(why, "version is missing");
	r = number_member(o, "version", SMAP_VERSION_MAX, &version, why);
	if (r < 0)
		return r;
	smap_edit_set_version(e, (int64_t)version);
	return 0;
}

int smap_from_json(struct json_object *o, struct smap **ret, char *err, size_t err_size)
{
	autoclean(put_edit) struct smap_edit *e = NULL;
	const struct why why = {err, err_size};
	struct json_object *pmap;
	int r;

	if (!json_object_is_type(o, json_type_object))
		return bad(&why, "a cluster map must be a JSON object");
	r = smap_edit_new(NULL, &e);
	if (r < 0)
		return r;
	r = identity_parse(o, e, &why);
	if (r < 0)
		return r;
	pmap = json_member(o, "pmap");
	r = nodes_parse(pmap, SMAP_ROLE_GATEWAY, NULL, e, &why);
	if (r < 0)
		return r;
	r = nodes_parse(json_member(o, "tmap"), SMAP_ROLE_TARGET, pmap, e, &why);
	if (r < 0)
		return r;
	r = primary_parse(o, pmap, e, &why);
	if (r < 0)
		return r;
	return smap_edit_freeze(take_ptr(e), ret);
}

/* Members of all objects in a parsed document, whose depth json_parse() has bounded. */
static size_t count_members(struct json_object *o)
{
	size_t n = 0, i;

	if (json_object_is_type(o, json_type_object)) {
		json_object_object_foreach (o, key, val) {
			(void)key;
			n += 1 + count_members(val);
		}
	} else if (json_object_is_type(o, json_type_array)) {
		for (i = 0; i < json_object_array_length(o); i++)
			n += count_members(json_object_array_get_idx(o, i));
	}
	return n;
}

/* Colons outside strings: as many as members were written. */
static size_t count_colons(const char *text, size_t len)
{
	size_t n = 0, i;
	char quote = 0;

	for (i = 0; i < len; i++) {
		if (quote && text[i] == '\\')
			i++;
		else if (quote)
			quote = text[i] == quote ? 0 : quote;
		else if (text[i] == '"' || text[i] == '\'')
			quote = text[i];
		else if (text[i] == ':')
			n++;
	}
	return n;
}

int smap_parse(const char *text, size_t len, struct smap **ret, char *err, size_t err_size)
{
	autojson struct json_object *o = NULL;
	const struct why why = {err, err_size};
	int r;

	if (len > SMAP_TEXT_MAX) {
		bad(&why, "a cluster map must be at most %u bytes", SMAP_TEXT_MAX);
		return -E2BIG;
	}
	r = json_parse(text, len, &o);
	if (r == -EINVAL)
		return bad(&why, "a cluster map must be one JSON document");
	if (r < 0)
		return r;
	/* json-c lets the last of equal keys win, which would hide a second node of one ID */
	if (count_members(o) != count_colons(text, len))
		return bad(&why, "a cluster map must not have a key twice");
	return smap_from_json(o, ret, err, err_size);
}

/* ---- out ---- */

static void net_print(const struct smap_net *net, const char *key, struct buf *out)
{
	buf_fmt(out, "\"%s\":{\"node_ip_addr\":", key);
	buf_json_str(out, net->host);
	buf_str(out, ",\"daemon_port\":\"");
	if (net->port)
		buf_fmt(out, "%u", net->port);
	buf_str(out, "\",\"direct_url\":");
	buf_json_str(out, net->url);
	buf_str(out, "},");
}

void smap_node_print(const struct smap_node *n, struct buf *out)
{
	char key[KEY_TEXT];
	size_t i;

	buf_char(out, '{');
	for (i = 0; i < ARRAY_SIZE(net_keys); i++)
		net_print(smap_net_of(n, net_keys[i].net), net_keys[i].key, out);
	buf_fmt(out,
		"\"daemon_type\":\"%s\",\"daemon_id\":\"%s\",\"flags\":%" PRIu64
		",\"id_digest\":%" PRIu64,
		roles[n->role].type ?: "", n->id, n->flags, n->digest);
	if (n->has_key) {
		sodium_bin2base64(key, sizeof(key), n->key, sizeof(n->key),
				  sodium_base64_VARIANT_ORIGINAL);
		buf_fmt(out, ",\"verifying_key\":\"%s\"", key);
	}
	buf_char(out, '}');
}

static void nodes_print(const struct smap *m, enum smap_role role, struct buf *out)
{
	const struct smap_list *l = &m->list[role];
	size_t i;

	buf_fmt(out, "\"%s\":{", roles[role].map_key);
	for (i = 0; i < l->n; i++) {
		buf_fmt(out, "%s\"%s\":", i ? "," : "", l->v[i]->node.id);
		smap_node_print(&l->v[i]->node, out);
	}
	buf_char(out, '}');
}

void smap_print(const struct smap *m, struct buf *out)
{
	buf_char(out, '{');
	nodes_print(m, SMAP_ROLE_GATEWAY, out);
	buf_str(out, ",\"proxy_si\":");
	if (m->primary)
		smap_node_print(m->primary, out);
	else
		buf_str(out, "null");
	buf_char(out, ',');
	nodes_print(m, SMAP_ROLE_TARGET, out);
	buf_fmt(out, ",\"uuid\":\"%s\",\"creation_time\":", m->uuid);
	buf_json_str(out, m->creation_time);
	buf_fmt(out, ",\"version\":\"%" PRId64 "\"}", m->version);
}
