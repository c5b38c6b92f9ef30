/* SPDX-License-Identifier: BSD-2-Clause */
/* Any bytes as an object name: what passes has no way out of its bucket and a bounded length. */
#include <stdlib.h>
#include <string.h>

#include "smap/smap_name.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Walks the parts of "/NAME/", so that each part has a slash on either side. */
static void check_parts(const char *name, size_t size)
{
	char path[SMAP_OBJECT_MAX + 3];

	path[0] = '/';
	memcpy(path + 1, name, size);
	path[size + 1] = '/';
	path[size + 2] = 0;
	if (strlen(path) != size + 2 || strstr(path, "/../") || strstr(path, "/./"))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* a copy of exactly this size, so that reading beyond it is seen */
	char *name = malloc(size ? size : 1);

	if (!name)
		return 0;
	memcpy(name, data, size);
	if (!smap_object_name_check(name, size)) {
		if (!size || size > SMAP_OBJECT_MAX || name[0] == '/' || name[size - 1] == '/')
			abort();
		check_parts(name, size);
	}
	free(name);
	return 0;
}
