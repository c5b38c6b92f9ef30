/* SPDX-License-Identifier: BSD-2-Clause */
/* What a connection's bytes run over: all its socket reads and writes go through here. */
#ifndef HTTP_LINK_H
#define HTTP_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <sys/uio.h>

struct http_link;

struct http_link_ops {
	/*
	 * Return: bytes, fewer than @n only if the descriptor will poll readable when more can be
	 * had; 0 at the end; -EAGAIN; another negative errno.
	 */
	ssize_t (*recv)(struct http_link *l, void *p, size_t n);
	/* @more: another send follows at once. Return: as recv, never 0 for a non-empty @iov. */
	ssize_t (*send)(struct http_link *l, const struct iovec *iov, size_t n_iov, bool more);
	/* No more will be sent; reading goes on. */
	void (*finish)(struct http_link *l);
	void (*close)(struct http_link *l);
};

struct http_link {
	const struct http_link_ops *ops;
	int fd;
};

/* A connected socket as it is; @fd is the link's. */
void http_link_plain(struct http_link *l, int fd);

#endif
