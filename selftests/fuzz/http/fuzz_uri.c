/* SPDX-License-Identifier: BSD-2-Clause */
/* Percent-encoding: a round trip changes nothing; decoding never grows, never yields NUL. */
#include <stdlib.h>
#include <string.h>

#include "http/http.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void round_trip(const char *p, size_t n, bool form)
{
	struct buf b = BUF_INIT;
	ssize_t len;

	if (form)
		http_uri_encode_query(&b, p, n);
	else
		http_uri_encode_path(&b, p, n);
	if (b.len) {
		len = http_uri_decode(b.data, b.len, form);
		if (memchr(p, 0, n) ? len != -EINVAL : len != (ssize_t)n || memcmp(b.data, p, n))
			abort();
	}
	buf_free(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *p = (const char *)data;
	char *s = malloc(size + 1);
	ssize_t len;
	int form;

	round_trip(p, size, false);
	round_trip(p, size, true);
	for (form = 0; form < 2; form++) {
		memcpy(s, p, size);
		len = http_uri_decode(s, size, form);
		if (len > (ssize_t)size || (len > 0 && memchr(s, 0, (size_t)len)))
			abort();
	}
	if (http_utf8_ok(p, size) != (http_utf8_span(p, size) == size))
		abort();
	free(s);
	return 0;
}
