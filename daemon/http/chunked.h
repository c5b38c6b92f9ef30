/* SPDX-License-Identifier: BSD-2-Clause */
/* Decoder of the chunked transfer coding (RFC 9112 7.1). No I/O. */
#ifndef HTTP_CHUNKED_H
#define HTTP_CHUNKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HTTP_CHUNK_LINE_MAX 1024 /* size and extensions of one chunk */
#define HTTP_TRAILERS_MAX 16384 /* all trailer lines together */

enum http_chunk_state {
	CHUNK_SIZE, /* hex digits */
	CHUNK_EXT, /* up to the CR of the size line */
	CHUNK_SIZE_LF,
	CHUNK_DATA,
	CHUNK_DATA_CR,
	CHUNK_DATA_LF,
	CHUNK_TRAILER, /* at the start of a trailer line */
	CHUNK_TRAILER_LINE,
	CHUNK_TRAILER_LF,
	CHUNK_END_LF,
	CHUNK_DONE,
};

struct http_chunked { /* zeroed to start */
	enum http_chunk_state state;
	uint64_t left; /* of the chunk's data, in CHUNK_DATA */
	unsigned int digits;
	size_t line; /* bytes of this size line, or of all trailers */
};

/**
 * http_chunked_decode() - Decode what is there
 * @d:		the decoder
 * @in:		encoded bytes
 * @n_in:	how many; the number used is written back
 * @out:	where data goes; NULL: it is dropped
 * @n_out:	room there; the number written (or dropped) is written back
 *
 * Stops at the end of the body (@d->state is CHUNK_DONE), of @in or of @out, whichever is first.
 *
 * Return: 0; -EBADMSG for what is not chunked coding or is over a limit.
 */
int http_chunked_decode(struct http_chunked *d, const char *in, size_t *n_in, char *out,
			size_t *n_out);
/* @n bytes of the current chunk's data, at most @d->left, were taken from elsewhere. */
void http_chunked_skip(struct http_chunked *d, uint64_t n);

#endif
