/* SPDX-License-Identifier: BSD-2-Clause */
/* Connections to servers, and single exchanges with all of the answer kept. */
#ifndef BENCH_NET_H
#define BENCH_NET_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "base/buf.h"

/* Where a server listens. */
struct endpoint {
	struct sockaddr_storage sa;
	socklen_t len;
	char host[280]; /* as in a Host header */
};

/**
 * endpoint_parse() - Find the address of a URL
 * @url:	"http://HOST[:PORT]", more of it is ignored
 * @ret:	written on success only
 *
 * Return: 0; -EINVAL for no such URL; -EADDRNOTAVAIL when the name is not known.
 */
int endpoint_parse(const char *url, struct endpoint *ret);
/* 127.0.0.1 and a port. */
void endpoint_local(uint16_t port, struct endpoint *ret);
/* Connect. Return: a blocking socket, or a negative errno. */
int endpoint_connect(const struct endpoint *e);

/* What a server said. */
struct http_head {
	int status;
	size_t len; /* of the head, its empty line included */
	uint64_t length; /* of the body */
	bool chunked, closes;
	const char *location; /* into the head, NULL: none */
	size_t location_len;
};

/**
 * http_head_parse() - Read the head of an answer
 * @p:		what has come so far
 * @n:		how much
 * @ret:	written on success only
 *
 * Return: 0; -EAGAIN when it is not all there; -EPROTO for what is no answer.
 */
int http_head_parse(const char *p, size_t n, struct http_head *ret);

/* One exchange at a time on a connection that stays. */
struct client {
	struct endpoint to;
	int fd; /* -1: none yet */
};

#define CLIENT_INIT                                                                                \
	{                                                                                          \
		.fd = -1                                                                           \
	}

struct ask {
	const char *method, *path; /* path with its query */
	const char *headers; /* whole lines, NULL: none */
	const void *body; /* NULL: none */
	size_t body_len;
	bool follow; /* 307, to the end */
};

struct answer {
	int status;
	uint64_t length; /* of the body, told or counted */
	struct buf body; /* NUL-terminated */
	struct buf location;
};

/* A client of @to, not connected yet. */
void client_init(struct client *c, const struct endpoint *to);
/* Close. Twice is fine. */
void client_deinit(struct client *c);
/* Forget an answer. */
void answer_free(struct answer *a);

/**
 * client_ask() - Make a request and read all of its answer
 * @c:		the client, connected when it is not
 * @ask:	the request
 * @ret:	the answer, of any status; emptied first; free with answer_free()
 *
 * Return: 0 or a negative errno: the connection failed, or -EPROTO.
 */
int client_ask(struct client *c, const struct ask *ask, struct answer *ret);

#endif
