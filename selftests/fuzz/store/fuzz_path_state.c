/* SPDX-License-Identifier: BSD-2-Clause */
/* The state file of mountpaths from any bytes. */
#include <stdlib.h>
#include <string.h>

#include "store/paths.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct path_states p = {};
	size_t i;

	if (path_states_parse((const char *)data, size, &p) < 0)
		return 0;
	for (i = 0; i < p.n; i++) {
		const struct path_state *row = &p.rows[i];

		if (row->path[0] != '/' || strlen(row->path) >= sizeof(row->path) ||
		    (row->uuid[0] && strlen(row->uuid) != INDEX_UUID_MAX - 1) ||
		    row->state <= MPATH_NONE || row->state >= MPATH_STATE_NR)
			abort();
	}
	path_states_free(&p);
	return 0;
}
