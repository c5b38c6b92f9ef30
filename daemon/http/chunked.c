/* SPDX-License-Identifier: BSD-2-Clause */
/* The chunked coding, a byte at a time but for the data. */
#include "http/chunked.h"

#include <errno.h>
#include <string.h>

#include "base/bits.h"

static int hex_digit(unsigned char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* A byte of an extension or a trailer line. */
static bool text_ok(unsigned char c)
{
	return c == '\t' || (c >= 0x20 && c != 0x7f);
}

static int size_byte(struct http_chunked *d, unsigned char c)
{
	int v = hex_digit(c);

	if (v >= 0) {
		if (d->left > (uint64_t)INT64_MAX >> 4)
			return -EBADMSG;
		d->left = d->left << 4 | (unsigned int)v;
		d->digits++;
		return 0;
	}
	if (!d->digits)
		return -EBADMSG;
	if (c == '\r')
		d->state = CHUNK_SIZE_LF;
	else if (c == ';')
		d->state = CHUNK_EXT;
	else
		return -EBADMSG;
	return 0;
}

static int expect_byte(struct http_chunked *d, unsigned char c, unsigned char want,
		       enum http_chunk_state next)
{
	if (c != want)
		return -EBADMSG;
	d->state = next;
	return 0;
}

static int line_byte(struct http_chunked *d, unsigned char c, enum http_chunk_state next)
{
	if (c == '\r')
		d->state = next;
	else if (!text_ok(c))
		return -EBADMSG;
	return 0;
}

static void data_begin(struct http_chunked *d)
{
	d->state = d->left ? CHUNK_DATA : CHUNK_TRAILER;
	d->digits = 0;
	d->line = 0;
}

/* The first byte of a trailer line: a field name's, or the CR of the empty line. */
static int trailer_first(struct http_chunked *d, unsigned char c)
{
	if (c == '\r')
		d->state = CHUNK_END_LF;
	else if (c > 0x20 && c < 0x7f && c != ':')
		d->state = CHUNK_TRAILER_LINE;
	else
		return -EBADMSG;
	return 0;
}

static int frame_byte(struct http_chunked *d, unsigned char c)
{
	int r;

	if (++d->line > (d->state >= CHUNK_TRAILER ? HTTP_TRAILERS_MAX : HTTP_CHUNK_LINE_MAX))
		return -EBADMSG;
	switch (d->state) {
	case CHUNK_SIZE:
		return size_byte(d, c);
	case CHUNK_EXT:
		return line_byte(d, c, CHUNK_SIZE_LF);
	case CHUNK_SIZE_LF:
		r = expect_byte(d, c, '\n', CHUNK_DATA);
		if (r == 0)
			data_begin(d);
		return r;
	case CHUNK_DATA_CR:
		return expect_byte(d, c, '\r', CHUNK_DATA_LF);
	case CHUNK_DATA_LF:
		d->line = 0;
		return expect_byte(d, c, '\n', CHUNK_SIZE);
	case CHUNK_TRAILER:
		return trailer_first(d, c);
	case CHUNK_TRAILER_LINE:
		return line_byte(d, c, CHUNK_TRAILER_LF);
	case CHUNK_TRAILER_LF:
		return expect_byte(d, c, '\n', CHUNK_TRAILER);
	case CHUNK_END_LF:
		return expect_byte(d, c, '\n', CHUNK_DONE);
	case CHUNK_DATA:
	case CHUNK_DONE:
		break;
	}
	return -EBADMSG;
}

void http_chunked_skip(struct http_chunked *d, uint64_t n)
{
	d->left -= n;
	if (!d->left)
		d->state = CHUNK_DATA_CR;
}

int http_chunked_decode(struct http_chunked *d, const char *in, size_t *n_in, char *out,
			size_t *n_out)
{
	size_t i = 0, o = 0;

	while (i < *n_in && d->state != CHUNK_DONE) {
		size_t n;

		if (d->state != CHUNK_DATA) {
			int r = frame_byte(d, (unsigned char)in[i++]);

			if (r < 0)
				return r;
			continue;
		}
		n = MIN(*n_in - i, *n_out - o);
		n = (size_t)MIN((uint64_t)n, d->left);
		if (!n)
			break;
		if (out)
			memcpy(out + o, in + i, n);
		http_chunked_skip(d, n);
		i += n;
		o += n;
	}
	*n_in = i;
	*n_out = o;
	return 0;
}
