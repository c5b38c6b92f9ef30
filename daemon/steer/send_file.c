/* SPDX-License-Identifier: BSD-2-Clause */
/* Path "sendfile": page cache to socket without a copy in user space. */
#include <errno.h>
#include <fcntl.h>
#include <sys/sendfile.h>

#include "base/cleanup.h"
#include "steer/private.h"
#include "steer/resident.h"

#define FILE_AHEAD (8U << 20) /* asked of the disk at once */

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

static bool file_waits(struct http_stream *s, size_t max)
{
	struct send_file *f = container_of(s, struct send_file, stream);

	return !resident(f->fd, (uint64_t)f->off, MIN(f->left, (uint64_t)max));
}

/* On the io pool: bring in what the next send needs, and let the disk go on behind it. */
static void file_fetch(struct http_stream *s, size_t max)
{
	struct send_file *f = container_of(s, struct send_file, stream);

	posix_fadvise(f->fd, f->off, (off_t)MIN(f->left, (uint64_t)FILE_AHEAD),
		      POSIX_FADV_WILLNEED);
	resident_fetch(f->fd, (uint64_t)f->off, MIN(f->left, (uint64_t)max));
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
	f->stream.waits = file_waits;
	f->stream.fetch = file_fetch;
	f->stream.free = file_free;
	f->fd = take_fd(&own);
	f->off = (off_t)off;
	f->left = len;
	t->resp.body = HTTP_BODY_STREAM;
	t->resp.stream = &f->stream;
	t->resp.length = len;
	return 0;
}
