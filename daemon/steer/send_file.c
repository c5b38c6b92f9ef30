/* SPDX-License-Identifier: BSD-2-Clause */
/* Path "sendfile": page cache to socket without a copy in user space. */
#include <errno.h>
#include <sys/sendfile.h>

#include "base/cleanup.h"
#include "steer/private.h"

struct send_file {
	struct http_stream stream;
	int fd;
	off_t off;
	uint64_t left;
};

static ssize_t file_send(struct http_stream *s, int sock, size_t max)
{
	struct send_file *f = container_of(s, struct send_file, stream);
	ssize_t n;

	do {
		n = sendfile(sock, f->fd, &f->off, MIN(f->left, (uint64_t)max));
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	f->left -= (uint64_t)n; /* 0: the file ended early, the server closes */
	return n;
}

static void file_free(struct http_stream *s)
{
	struct send_file *f = container_of(s, struct send_file, stream);

	close(f->fd);
	free(f);
}

int send_file_begin(struct http_txn *t, int fd, uint64_t off, uint64_t len)
{
	autofd own = fd;
	struct send_file *f = calloc(1, sizeof(*f));

	if (!f)
		return -ENOMEM;
	f->stream.send = file_send;
	f->stream.free = file_free;
	f->fd = take_fd(&own);
	f->off = (off_t)off;
	f->left = len;
	t->resp.body = HTTP_BODY_STREAM;
	t->resp.stream = &f->stream;
	t->resp.length = len;
	return 0;
}
