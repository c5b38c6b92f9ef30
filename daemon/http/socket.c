/* SPDX-License-Identifier: BSD-2-Clause */
/* Listening sockets. */
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "base/cleanup.h"
#include "http/http.h"

static void addrinfo_put(struct addrinfo **ai)
{
	if (*ai)
		freeaddrinfo(*ai);
}

static int resolve(const char *host, uint16_t port, struct addrinfo **ret)
{
	struct addrinfo hints = {
		.ai_socktype = SOCK_STREAM,
		.ai_flags = AI_PASSIVE | AI_NUMERICSERV,
	};
	char service[8];
	int r;

	snprintf(service, sizeof(service), "%u", port);
	r = getaddrinfo(host && *host ? host : NULL, service, &hints, ret);
	if (r == 0)
		return 0;
	if (r == EAI_MEMORY)
		return -ENOMEM;
	return r == EAI_SYSTEM && errno ? -errno : -EINVAL;
}

static int listen_on(const struct addrinfo *ai, bool reuseport, const char *congestion, int *ret_fd)
{
	autofd fd = socket(ai->ai_family, ai->ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	int one = 1;

	if (fd < 0)
		return -errno;
	if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) < 0)
		return -errno;
	if (reuseport && setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &one, sizeof(one)) < 0)
		return -errno;
	if (congestion && setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, congestion,
				     (socklen_t)strlen(congestion)) < 0)
		return -errno;
	if (bind(fd, ai->ai_addr, ai->ai_addrlen) < 0 || listen(fd, SOMAXCONN) < 0)
		return -errno;
	*ret_fd = take_fd(&fd);
	return 0;
}

int http_socket(const char *host, uint16_t port, bool reuseport, const char *congestion,
		int *ret_fd)
{
	__attribute__((cleanup(addrinfo_put))) struct addrinfo *list = NULL;
	int r = resolve(host, port, &list);

	if (r < 0)
		return r;
	return listen_on(list, reuseport, congestion, ret_fd);
}
