/* SPDX-License-Identifier: BSD-2-Clause */
/* Names of buckets and objects: parsing, percent-encoding, unique names. */
#include <errno.h>
#include <stdbool.h>
#include <stdbool.h>

#include "base/bits.h"
#include "base/buf.h"
#include "uri.h"

static const struct {
	const char *typed, *api;
} providers[] = {
	{"ais", "ais"},	    {"aws", "aws"},  {"s3", "aws"},  {"gcp", "gcp"}, {"gs", "gcp"},
	{"azure", "azure"}, {"az", "azure"}, {"oci", "oci"}, {"oc", "oci"},
};

static const char *provider_of(const char *s, size_t n)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(providers); i++) {
		if (strlen(providers[i].typed) == n && !memcmp(providers[i].typed, s, n))
			return providers[i].api;
	}
	return NULL;
}

void uri_deinit(struct uri *u)
{
	free(u->ns);
	free(u->bucket);
	free(u->object);
	*u = (struct uri)URI_INIT;
}

/* The part of @s before the next '/', and @s moved behind that. */
static char *take_part(const char **s)
{
	size_t n = strcspn(*s, "/");
	char *ret = strndup(*s, n);

	*s += n + ((*s)[n] == '/');
	return ret;
}

static int parse_namespace(struct uri *u, const char **s)
{
	autobuf struct buf b = BUF_INIT;
	char *part;

	if (**s != '@' && **s != '#')
		return 0;
	part = take_part(s);
	if (!part)
		return -ENOMEM;
	buf_fmt(&b, "%s%s%s", *part == '@' ? "" : "@", part, strchr(part, '#') ? "" : "#");
	free(part);
	u->ns = buf_take(&b);
	return u->ns ? 0 : -ENOMEM;
}

static int parse_parts(struct uri *u, const char *s, const char **ret_why)
{
	const char *sep = strstr(s, "://");

	u->provider = sep ? provider_of(s, (size_t)(sep - s)) : "ais";
	if (!u->provider) {
		*ret_why = "the provider is one of ais, aws, gcp, azure, oci";
		return URI_E_SYNTAX;
	}
	if (!sep && strchr(s, '/')) {
		*ret_why = "write it as ais://BUCKET/OBJECT";
		return URI_E_SYNTAX;
	}
	if (sep)
		s = sep + 3;
	if (parse_namespace(u, &s) < 0)
		return -ENOMEM;
	u->bucket = take_part(&s);
	if (*s)
		u->object = strdup(s);
	if (!u->bucket || (*s && !u->object))
		return -ENOMEM;
	if (!*u->bucket) {
		*ret_why = "the bucket's name is missing";
		return URI_E_SYNTAX;
	}
	return 0;
}

int uri_parse(const char *text, struct uri *ret, const char **ret_why)
{
	struct uri u = URI_INIT;
	int r = parse_parts(&u, text, ret_why);

	if (r)
		uri_deinit(&u);
	else
		*ret = u;
	return r;
}

static void escape(struct buf *b, const char *s, const char *keep)
{
	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;

		if ((c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
		    strchr(keep, c))
			buf_char(b, (char)c);
		else
			buf_fmt(b, "%%%02X", c);
	}
}

void uri_escape_path(struct buf *b, const char *s)
{
	escape(b, s, "-._~/");
}

void uri_escape_query(struct buf *b, const char *s)
{
	escape(b, s, "-._~");
}

void uri_request(struct buf *b, const char *area, const struct uri *u)
{
	buf_fmt(b, "/v1/%s/", area);
	uri_escape_query(b, u->bucket);
	if (u->object) {
		buf_char(b, '/');
		uri_escape_path(b, u->object);
	}
	buf_fmt(b, "?provider=%s", u->provider);
	if (u->ns) {
		buf_str(b, "&namespace=");
		uri_escape_query(b, u->ns);
	}
}

void uri_text(struct buf *b, const struct uri *u)
{
	buf_fmt(b, "%s://", u->provider);
	if (u->ns) {
		size_t n = strlen(u->ns);
		bool local = u->ns[0] == '@' && u->ns[1] == '#';
		bool unnamed = n > 1 && u->ns[n - 1] == '#';

		buf_fmt(b, "%.*s/", (int)(n - local - unnamed), u->ns + local);
	}
	buf_str(b, u->bucket);
	if (u->object)
		buf_fmt(b, "/%s", u->object);
}

void uri_query_uname(struct buf *b, const char *key, const struct uri *u)
{
	autobuf struct buf name = BUF_INIT;

	buf_fmt(&name, "%s/%s/%s/%s", u->provider, u->ns ? u->ns : "@#", u->bucket,
		u->object ? u->object : "");
	buf_fmt(b, "&%s=", key);
	uri_escape_query(b, buf_cstr(&name));
	if (name.err)
		b->err = name.err;
}
