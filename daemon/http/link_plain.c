/* SPDX-License-Identifier: BSD-2-Clause */
/* Plain TCP. */
#include "http/link.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

static ssize_t plain_recv(struct http_link *l, void *p, size_t n)
{
	ssize_t r;

	do
		r = recv(l->fd, p, n, 0);
	while (r < 0 && errno == EINTR);
	return r < 0 ? -errno : r;
}

static ssize_t plain_send(struct http_link *l, const struct iovec *iov, size_t n_iov, bool more)
{
	struct msghdr m = {.msg_iov = (struct iovec *)iov, .msg_iovlen = n_iov};
	ssize_t r;

	do
		r = sendmsg(l->fd, &m, MSG_NOSIGNAL | (more ? MSG_MORE : 0));
	while (r < 0 && errno == EINTR);
	return r < 0 ? -errno : r;
}

static void plain_finish(struct http_link *l)
{
	shutdown(l->fd, SHUT_WR);
}

static void plain_close(struct http_link *l)
{
	if (l->fd >= 0)
		close(l->fd);
	l->fd = -1;
}

void http_link_plain(struct http_link *l, int fd)
{
	static const struct http_link_ops ops = {
		.recv = plain_recv,
		.send = plain_send,
		.finish = plain_finish,
		.close = plain_close,
	};

	l->ops = &ops;
	l->fd = fd;
}
