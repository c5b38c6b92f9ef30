/* SPDX-License-Identifier: BSD-2-Clause */
/* Files of the embedded metadata store. */
#include <stdlib.h>

#include "cluster/meta.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int64_t version = 0;
	size_t off = 0;

	if (!meta_unwrap("smap", (const char *)data, size, &off, &version) &&
	    (off > size || version < 0))
		abort();
	return 0;
}
