/* SPDX-License-Identifier: BSD-2-Clause */
/* The bare server: one file, page cache to pipe to socket, as many connections as come. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bits.h"
#include "base/cleanup.h"
#include "net.h"
#include "raw.h"

#define PIPE_BYTES (1 << 20)
#define EVENTS 64

struct raw_conn {
	int fd, pipe[2];
	size_t in_pipe;
	off_t off;
	bool polls_out;
};

struct raw_server {
	int epoll, listener, file;
	off_t size;
	char head[128];
	size_t head_len;
};

static int watch(struct raw_server *s, struct raw_conn *c, bool out)
{
	struct epoll_event ev = {.events = EPOLLIN | (out ? EPOLLOUT : 0), .data.ptr = c};

	if (c->polls_out == out)
		return 0;
	c->polls_out = out;
	return epoll_ctl(s->epoll, EPOLL_CTL_MOD, c->fd, &ev) < 0 ? -errno : 0;
}

static void end(struct raw_conn *c)
{
	int all[] = {c->fd, c->pipe[0], c->pipe[1]};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(all); i++)
		if (all[i] >= 0)
			close(all[i]);
	free(c);
}

/* File to pipe to socket until the socket is full. Return: 0, or a negative errno. */
static int push(struct raw_server *s, struct raw_conn *c)
{
	while (c->off < s->size || c->in_pipe) {
		ssize_t n;

		if (!c->in_pipe) {
			n = splice(s->file, &c->off, c->pipe[1], NULL,
				   MIN((size_t)(s->size - c->off), (size_t)PIPE_BYTES),
				   SPLICE_F_MOVE);
			if (n <= 0)
				return n < 0 ? -errno : -EIO;
			c->in_pipe = (size_t)n;
		}
		n = splice(c->pipe[0], NULL, c->fd, NULL, c->in_pipe,
			   SPLICE_F_MOVE | SPLICE_F_NONBLOCK |
				   (c->off < s->size ? SPLICE_F_MORE : 0));
		if (n < 0 && errno == EAGAIN)
			return watch(s, c, true);
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		c->in_pipe -= (size_t)n;
	}
	return watch(s, c, false);
}

static int serve(struct raw_server *s, struct raw_conn *c, uint32_t events)
{
	char request[4096];
	ssize_t n;

	if (c->off < s->size || c->in_pipe)
		return events & EPOLLOUT ? push(s, c) : 0;
	n = recv(c->fd, request, sizeof(request), 0);
	if (n <= 0)
		return n < 0 && errno == EAGAIN ? 0 : -ECONNRESET;
	if (!memmem(request, (size_t)n, "\r\n\r\n", 4))
		return -EPROTO;
	c->off = 0;
	if (send(c->fd, s->head, s->head_len, MSG_NOSIGNAL | MSG_MORE) != (ssize_t)s->head_len)
		return -EIO;
	return push(s, c);
}

static int welcome(struct raw_server *s)
{
	struct epoll_event ev = {.events = EPOLLIN};
	struct raw_conn *c = calloc(1, sizeof(*c));
	int r = 0;

	if (!c)
		return -ENOMEM;
	c->pipe[0] = c->pipe[1] = -1;
	c->fd = accept4(s->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	if (c->fd < 0 || pipe2(c->pipe, O_CLOEXEC) < 0)
		r = -errno;
	fcntl(c->pipe[1], F_SETPIPE_SZ, PIPE_BYTES);
	c->off = s->size;
	ev.data.ptr = c;
	if (!r && epoll_ctl(s->epoll, EPOLL_CTL_ADD, c->fd, &ev) < 0)
		r = -errno;
	if (r < 0)
		end(c);
	return r;
}

static int set_up(struct raw_server *s, const struct raw_splice *o)
{
	struct epoll_event ev = {.events = EPOLLIN};
	struct endpoint here;
	struct stat st;
	int on = 1;

	endpoint_local(o->port, &here);
	s->epoll = epoll_create1(EPOLL_CLOEXEC);
	s->file = open(o->file, O_RDONLY | O_CLOEXEC);
	s->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (s->epoll < 0 || s->file < 0 || s->listener < 0 || fstat(s->file, &st) < 0)
		return -errno;
	setsockopt(s->listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(s->listener, (const struct sockaddr *)&here.sa, here.len) < 0 ||
	    listen(s->listener, 4096) < 0 ||
	    epoll_ctl(s->epoll, EPOLL_CTL_ADD, s->listener, &ev) < 0)
		return -errno;
	s->size = st.st_size;
	s->head_len = (size_t)snprintf(s->head, sizeof(s->head),
				       "HTTP/1.1 200 OK\r\nContent-Length: %lld\r\n\r\n",
				       (long long)s->size);
	return 0;
}

int raw_splice_serve(void *arg)
{
	struct raw_server s = {};
	struct epoll_event ev[EVENTS];
	int r = set_up(&s, arg), i, n;

	while (!r) {
		n = epoll_wait(s.epoll, ev, EVENTS, -1);
		for (i = 0; !r && i < n; i++) {
			if (!ev[i].data.ptr)
				r = welcome(&s);
			else if (serve(&s, ev[i].data.ptr, ev[i].events) < 0)
				end(ev[i].data.ptr);
		}
	}
	fprintf(stderr, "raw loop: %s\n", strerror(-r));
	return 1;
}
