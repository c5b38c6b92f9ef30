/* SPDX-License-Identifier: BSD-2-Clause */
/* The chunked decoder: the same bytes come out, however the input and the room are cut. */
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "base/buf.h"
#include "http/chunked.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Return: 0 done, 1 unfinished, negative refused. */
static int run(const char *in, size_t n, size_t step, size_t room, struct buf *out,
	       size_t *ret_used)
{
	struct http_chunked d = {};
	char *tmp = malloc(room); /* its own block: an overrun is seen */
	size_t off = 0;
	int r = 0;

	while (r == 0 && off < n && d.state != CHUNK_DONE) {
		size_t n_in = MIN(step, n - off), n_out = room;

		r = http_chunked_decode(&d, in + off, &n_in, tmp, &n_out);
		if (r == 0) {
			if (n_out > room || n_in > n - off || (!n_in && !n_out))
				abort();
			buf_append(out, tmp, n_out);
			off += n_in;
		}
	}
	free(tmp);
	*ret_used = off;
	return r < 0 ? r : d.state != CHUNK_DONE;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf a = BUF_INIT, b = BUF_INIT;
	size_t used_a, used_b, step, room;
	int ra, rb;

	if (size < 2)
		return 0;
	step = 1 + data[0] % 64;
	room = 1 + data[1] % 64;
	ra = run((const char *)data + 2, size - 2, size, size, &a, &used_a);
	rb = run((const char *)data + 2, size - 2, step, room, &b, &used_b);
	if (ra != rb || (ra == 0 && used_a != used_b))
		abort();
	if (ra >= 0 && (a.len != b.len || memcmp(buf_cstr(&a), buf_cstr(&b), a.len) != 0))
		abort();
	buf_free(&a);
	buf_free(&b);
	return 0;
}
