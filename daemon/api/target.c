/* SPDX-License-Identifier: BSD-2-Clause */
/* Which bucket and object a request names. */
#include <stdarg.h>
#include <stdio.h>

#include "api/target.h"

static const struct {
	const char *word, *provider, *title, *scheme;
} providers[] = {
	{"ais", "ais", "AIS", "ais"},	{"aws", "aws", "AWS", "s3"},
	{"s3", "aws", "AWS", "s3"},	{"gcp", "gcp", "GCP", "gs"},
	{"gs", "gcp", "GCP", "gs"},	{"azure", "azure", "Azure", "az"},
	{"az", "azure", "Azure", "az"}, {"oci", "oci", "OCI", "oc"},
	{"oc", "oci", "OCI", "oc"},
};

int api_fault_set(struct api_fault *f, int status, const char *tcode, const char *fmt, ...)
{
	va_list ap;

	f->status = status;
	f->tcode = tcode;
	va_start(ap, fmt);
	vsnprintf(f->text, sizeof(f->text), fmt, ap);
	va_end(ap);
	return -EINVAL;
}

const char *api_provider(const char *word)
{
	size_t i;

	if (!word || !*word)
		return "ais";
	for (i = 0; i < ARRAY_SIZE(providers); i++)
		if (!strcmp(word, providers[i].word))
			return providers[i].provider;
	return NULL;
}

const char *api_provider_title(const char *provider)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(providers); i++)
		if (!strcmp(provider, providers[i].provider))
			return providers[i].title;
	return provider;
}

static const char *scheme(const char *provider)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(providers); i++)
		if (!strcmp(provider, providers[i].provider))
			return providers[i].scheme;
	return provider;
}

static int ns_part(const char *s, size_t n, char out[SMAP_UUID_MAX + 1])
{
	if (n > SMAP_UUID_MAX)
		return -EINVAL;
	memcpy(out, s, n);
	out[n] = 0;
	return n && !smap_uuid_ok(out) ? -EINVAL : 0;
}

int api_ns_parse(const char *text, struct bmd_name *ret)
{
	char uuid[SMAP_UUID_MAX + 1] = "", name[SMAP_UUID_MAX + 1] = "";
	const char *hash;
	int r = 0;

	if (!text)
		text = "";
	hash = strchr(text, '#');
	if (*text == '@') {
		r = ns_part(text + 1, hash ? (size_t)(hash - text - 1) : strlen(text + 1), uuid);
		text = hash ? hash : "";
	}
	if (*text == '#')
		text++;
	if (!r)
		r = ns_part(text, strlen(text), name);
	if (r < 0)
		return r;
	memcpy(ret->ns_uuid, uuid, sizeof(uuid));
	memcpy(ret->ns_name, name, sizeof(name));
	return 0;
}

static int check_built(const struct api_target_text *in, const struct bmd_name *n,
		       struct api_fault *f)
{
	const char *title = api_provider_title(n->provider), *sch = scheme(n->provider);

	if (!strcmp(n->provider, "ais"))
		return 0;
	if (in->post)
		return api_fault_set(f, 501, "ErrRemoteBckNotFound",
				     "%s bucket \"%s://%s\" does not exist (%s backend is missing "
				     "in the cluster configuration)",
				     n->provider, sch, n->bucket, title);
	return api_fault_set(f, 404, "ErrFailedTo",
			     "failed to lookup bucket %s://%s, err: %s backend is missing in the "
			     "cluster configuration",
			     sch, n->bucket, title);
}

/* Where what follows the bucket is a name, not a prefix. */
static bool objects_area(const struct api_target_text *in)
{
	return !strcmp(in->area, "/v1/objects");
}

static int check_object(const struct api_target_text *in, const struct api_target *t,
			struct api_fault *f)
{
	size_t len = t->object_len;
	const char *why;

	if (!in->need_object && (!objects_area(in) || !len))
		return 0;
	if (!len)
		return api_fault_set(f, 400, NULL,
				     "path \"%.300s\" is too short: expected 4 items, got 3",
				     in->path);
	while (in->head && len > 1 && t->object[len - 1] == '/')
		len--;
	why = smap_object_name_check(t->object, len);
	if (!why && t->object[0] == '/')
		why = "begins with '/'";
	if (!why)
		return 0;
	return api_fault_set(f, 400, NULL, "invalid object name \"%.300s\": %s", t->object, why);
}

static int split(const struct api_target_text *in, struct api_target *ret, struct api_fault *f)
{
	const char *p = in->path + strlen(in->area), *end;
	size_t n;

	while (*p == '/')
		p++;
	end = strchrnul(p, '/');
	n = (size_t)(end - p);
	if (!n && in->need_object)
		return api_fault_set(f, 400, NULL,
				     "path \"%.300s\" is too short: expected 4 items, got 2",
				     in->path);
	if (n > SMAP_BUCKET_MAX)
		return api_fault_set(f, 400, NULL,
				     "bucket name \"%.100s...\" is invalid: over %d characters", p,
				     SMAP_BUCKET_MAX);
	memcpy(ret->bck.bucket, p, n);
	ret->bck.bucket[n] = 0;
	if (n && !smap_bucket_name_ok(ret->bck.bucket))
		return api_fault_set(f, 400, NULL,
				     "bucket name \"%s\" is invalid: may only contain letters, "
				     "numbers, dashes (-), underscores (_), and dots (.), not "
				     "begin with a dot, not have two in a row",
				     ret->bck.bucket);
	if (*end)
		end++;
	while (!objects_area(in) && *end == '/')
		end++;
	ret->object = end;
	ret->object_len = in->path_len - (size_t)(end - in->path);
	return 0;
}

int api_target_parse(const struct api_target_text *in, struct api_target *ret, struct api_fault *f)
{
	struct api_target out = {};
	const char *prov = api_provider(in->provider);
	int r;

	r = split(in, &out, f);
	if (r < 0)
		return r;
	if (!prov)
		return api_fault_set(f, 400, "ErrInvalidBackendProvider",
				     "invalid backend provider \"%.100s\": must be one of "
				     "[ais aws azure gcp oci]",
				     in->provider);
	snprintf(out.bck.provider, sizeof(out.bck.provider), "%s", prov);
	if (api_ns_parse(in->ns, &out.bck) < 0)
		return api_fault_set(f, 400, NULL,
				     "invalid namespace \"%.100s\": expected \"@uuid#name\" or "
				     "\"#name\"",
				     in->ns);
	r = check_object(in, &out, f);
	if (!r && out.bck.bucket[0])
		r = check_built(in, &out.bck, f);
	if (r < 0)
		return r;
	*ret = out;
	return 0;
}
