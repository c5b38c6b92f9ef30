/* SPDX-License-Identifier: BSD-2-Clause */
/* A raw client on a blocking socket: what it sends is exactly what a test says. */
#ifndef SELFTESTS_HTTP_RAW_H
#define SELFTESTS_HTTP_RAW_H

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../unit.h"
#include "base/bits.h"
#include "base/buf.h"

#define RAW_WAIT_S 20 /* no event may take longer */

/* Connect to a port of this host; @rcvbuf 0: the system's. */
static inline int raw_connect(uint16_t port, int rcvbuf)
{
	struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons(port)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;
	struct timeval tv = {.tv_sec = RAW_WAIT_S};

	in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (rcvbuf)
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &rcvbuf, sizeof(rcvbuf));
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &tv, sizeof(tv));
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	ASSERT_EQ(connect(fd, (struct sockaddr *)&in, sizeof(in)), 0);
	return fd;
}

/* Send all, as long as the peer takes it. Return: bytes sent. */
static inline size_t raw_send(int fd, const void *p, size_t n)
{
	size_t done = 0;

	while (done < n) {
		ssize_t r = send(fd, (const char *)p + done, n - done, MSG_NOSIGNAL);

		if (r <= 0)
			break;
		done += (size_t)r;
	}
	return done;
}

static inline void raw_str(int fd, const char *s)
{
	ASSERT_EQ(raw_send(fd, s, strlen(s)), strlen(s));
}

/* Close with a reset. */
static inline void raw_reset(int fd)
{
	struct linger l = {.l_onoff = 1};

	setsockopt(fd, SOL_SOCKET, SO_LINGER, &l, sizeof(l));
	close(fd);
}

struct raw_resp {
	int status;
	struct buf head; /* up to the empty line */
	struct buf body;
};

/* Read up to the end of a head. Return: 0; -1 at the end of the stream. */
static inline int raw_head(int fd, struct buf *head)
{
	char c;

	buf_reset(head);
	while (head->len < 4 || memcmp(head->data + head->len - 4, "\r\n\r\n", 4) != 0) {
		if (recv(fd, &c, 1, 0) != 1)
			return -1;
		buf_char(head, c);
	}
	return 0;
}

static inline bool raw_has(const struct raw_resp *r, const char *line)
{
	return strstr(buf_cstr(&r->head), line);
}

/* Read a response; @no_body for HEAD. Return: 0, -1 at the end of the stream. */
static inline int raw_read(int fd, struct raw_resp *r, bool no_body)
{
	const char *cl;
	size_t left = 0;
	char tmp[65536];

	buf_reset(&r->body);
	r->status = 0;
	if (raw_head(fd, &r->head) < 0)
		return -1;
	ASSERT_EQ(sscanf(r->head.data, "HTTP/1.1 %d ", &r->status), 1);
	cl = strcasestr(r->head.data, "\r\nContent-Length: ");
	if (cl && !no_body && r->status >= 200 && r->status != 204 && r->status != 304)
		left = strtoull(cl + 18, NULL, 10);
	while (left) {
		ssize_t n = recv(fd, tmp, MIN(left, sizeof(tmp)), 0);

		if (n <= 0)
			return -1;
		buf_append(&r->body, tmp, (size_t)n);
		left -= (size_t)n;
	}
	return 0;
}

static inline void raw_free(struct raw_resp *r)
{
	buf_free(&r->head);
	buf_free(&r->body);
}

/* Whether the stream ends here, without a reset. */
static inline bool raw_eof(int fd)
{
	char c;

	return recv(fd, &c, 1, 0) == 0;
}

#endif
