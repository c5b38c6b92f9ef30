/* SPDX-License-Identifier: BSD-2-Clause */
/* Any bytes as a cluster map: refused with a sentence, or taken such that print and parse agree. */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "smap/smap.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_lookup(const struct smap *m)
{
	int role;
	size_t i;

	for (role = SMAP_ROLE_GATEWAY; role < SMAP_ROLE_NR; role++)
		for (i = 0; i < smap_count(m, role); i++)
			if (smap_find(m, smap_at(m, role, i)->id) != smap_at(m, role, i))
				abort();
	if (!smap_owner(m, 42) != !smap_active_targets(m))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	autobuf struct buf first = BUF_INIT, second = BUF_INIT;
	struct smap *m, *again;
	char err[64] = "";
	int r;

	r = smap_parse((const char *)data, size, &m, err, sizeof(err));
	if (r) {
		if (!*err || !memchr(err, 0, sizeof(err)))
			abort();
		return 0;
	}
	check_lookup(m);
	smap_print(m, &first);
	if (smap_parse(first.data, first.len, &again, NULL, 0))
		abort();
	smap_print(again, &second);
	if (first.len != second.len || memcmp(first.data, second.data, first.len))
		abort();
	if (smap_count(m, SMAP_ROLE_TARGET) != smap_count(again, SMAP_ROLE_TARGET) ||
	    !smap_primary(m) != !smap_primary(again))
		abort();
	smap_put(m);
	smap_put(again);
	return 0;
}
