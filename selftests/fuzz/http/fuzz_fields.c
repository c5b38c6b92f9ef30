/* SPDX-License-Identifier: BSD-2-Clause */
/* Values of header fields: dates print back to themselves, ranges stay inside the size. */
#include <stdlib.h>
#include <string.h>

#include "http/http.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void date(const char *s)
{
	int64_t t, again;
	char out[30];

	if (http_date_parse(s, &t) < 0 || t < 0)
		return;
	http_date_format(t, out);
	if (strlen(out) != 29 || http_date_parse(out, &again) < 0 || again != t)
		abort();
}

static void range(const char *s, uint64_t whole)
{
	uint64_t off = 0, len = 0;
	int r = http_range(s, whole, &off, &len);

	if (r < 0 || r > 2)
		abort();
	if (r == 0 && (!len || off >= whole || len > whole - off))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *s = malloc(size + 1);

	memcpy(s, data, size);
	s[size] = 0;
	date(s);
	range(s, 0);
	range(s, 1);
	range(s, 100);
	range(s, UINT64_MAX);
	free(s);
	return 0;
}
