/* SPDX-License-Identifier: BSD-2-Clause */
/* Any path, provider and namespace: what passes names a bucket and object that may exist. */
#include <stdlib.h>
#include <string.h>

#include "api/target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct api_target_text *in)
{
	struct api_target t;
	struct api_fault f = {};

	if (api_target_parse(in, &t, &f) < 0) {
		if (f.status < 400 || f.status > 501 || !f.text[0])
			abort();
		return;
	}
	if (t.bck.bucket[0] && !smap_bucket_name_ok(t.bck.bucket))
		abort();
	if (t.object_len != strlen(t.object))
		abort();
	if (in->need_object && !in->head && smap_object_name_check(t.object, t.object_len))
		abort();
}

/* The input: flags, then path, provider and namespace, each ended by a NUL. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char area[] = "/v1/objects";
	char *text = malloc(size + sizeof(area) + 4), *path, *provider;
	const char *ns;
	struct api_target_text in = {.area = area};

	if (!text || !size) {
		free(text);
		return 0;
	}
	memcpy(text, area, sizeof(area) - 1);
	text[sizeof(area) - 1] = '/';
	memcpy(text + sizeof(area), data + 1, size - 1);
	memset(text + sizeof(area) + size - 1, 0, 3);
	path = text;
	provider = path + strlen(path) + 1;
	ns = provider < text + sizeof(area) + size - 1 ? provider + strlen(provider) + 1 : "";
	in.path = path;
	in.path_len = strlen(path);
	in.provider = provider < text + sizeof(area) + size - 1 ? provider : NULL;
	in.ns = ns;
	in.need_object = data[0] & 1;
	in.head = data[0] & 2;
	in.post = data[0] & 4;
	check(&in);
	free(text);
	return 0;
}
