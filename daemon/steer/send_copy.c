/* SPDX-License-Identifier: BSD-2-Clause */
/* Path "copy": read a piece, send it; the fallback for every link and file. */
#include <errno.h>
#include <sys/socket.h>

#include "base/cleanup.h"
#include "steer/private.h"

#define COPY_PIECE (256U << 10) /* stays in the second-level cache */

struct send_copy {
	struct http_stream stream;
	int fd;
	uint64_t off, left;
	size_t from, to; /* the part of piece that is read and unsent */
	char piece[COPY_PIECE];
};

static ssize_t piece_fill(struct send_copy *c)
{
	ssize_t n;

	if (c->from < c->to)
		return 1;
	do {
		n = pread(c->fd, c->piece, MIN(c->left, (uint64_t)COPY_PIECE), (off_t)c->off);
	} while (n < 0 && errno == EINTR);
	if (n <= 0)
		return n < 0 ? -errno : 0;
	c->from = 0;
	c->to = (size_t)n;
	c->off += (uint64_t)n;
	return 1;
}

static ssize_t copy_send(struct http_stream *s, int sock, size_t max)
{
	struct send_copy *c = container_of(s, struct send_copy, stream);
	ssize_t n = piece_fill(c);

	if (n <= 0)
		return n;
	do {
		n = send(sock, c->piece + c->from, MIN(c->to - c->from, max), MSG_NOSIGNAL);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	c->from += (size_t)n;
	c->left -= (uint64_t)n;
	return n;
}

static void copy_free(struct http_stream *s)
{
	struct send_copy *c = container_of(s, struct send_copy, stream);

	close(c->fd);
	free(c);
}

int send_copy_begin(struct http_txn *t, int fd, uint64_t off, uint64_t len)
{
	autofd own = fd;
	struct send_copy *c = malloc(sizeof(*c));

	if (!c)
		return -ENOMEM;
	/* the piece need not be zero, the rest must: what the stream does not have is NULL */
	c->stream = (struct http_stream){.send = copy_send, .free = copy_free};
	c->fd = take_fd(&own);
	c->off = off;
	c->left = len;
	c->from = c->to = 0;
	t->resp.body = HTTP_BODY_STREAM;
	t->resp.stream = &c->stream;
	t->resp.length = len;
	return 0;
}
