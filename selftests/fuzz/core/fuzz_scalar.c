/* SPDX-License-Identifier: BSD-2-Clause */
/* Durations, sizes and times: what parses prints to a text of the same value. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "config_priv.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char in[128], out[128];
	int64_t v, again;

	if (size >= sizeof(in))
		return 0;
	memcpy(in, data, size);
	in[size] = 0;
	if (config_parse_duration(in, &v) == 0) {
		config_format_duration(v, out, sizeof(out));
		if (v < 0 || config_parse_duration(out, &again) < 0 || again != v)
			abort();
	}
	if (config_parse_size(in, &v) == 0) {
		config_format_size(v, out, sizeof(out));
		if (v < 0 || config_parse_size(out, &again) < 0 || again != v)
			abort();
	}
	if (config_parse_time(in, &v) == 0) {
		config_format_time(v, out, sizeof(out));
		if (v < 0 || config_parse_time(out, &again) < 0 || again != v)
			abort();
	}
	return 0;
}
