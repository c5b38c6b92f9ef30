/* SPDX-License-Identifier: BSD-2-Clause */
/* Path "small": the range is read behind the head, and both leave in one send. */
#include <errno.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "steer/private.h"

int send_small_begin(struct http_txn *t, int fd, uint64_t off, uint64_t len)
{
	autofd own = fd;
	struct buf *b = &t->resp.bytes;
	size_t done = 0;
	ssize_t n;

	buf_reset(b);
	if (buf_reserve(b, len) < 0)
		return -ENOMEM;
	while (done < len) {
		n = pread(own, b->data + done, len - done, (off_t)(off + done));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (!n)
			return -EIO; /* shorter than its record says */
		done += (size_t)n;
	}
	b->len = len;
	b->data[len] = 0;
	t->resp.body = HTTP_BODY_BYTES;
	return 0;
}
