/* SPDX-License-Identifier: BSD-2-Clause */
/* Connections to servers, and single exchanges with all of the answer kept. */
#include "net.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <strings.h>
#include <unistd.h>

#include "base/bits.h"
#include "base/cleanup.h"

#define TIMEOUT_S 60 /* a server that says nothing for so long is broken */
#define HOPS 4

int endpoint_parse(const char *url, struct endpoint *ret)
{
	static const char scheme[] = "http://";
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found;
	const char *host = url + sizeof(scheme) - 1, *port;
	char name[256];
	size_t n;

	if (strncmp(url, scheme, sizeof(scheme) - 1) != 0)
		return -EINVAL;
	n = strcspn(host, "/?");
	if (!n || n >= sizeof(name))
		return -EINVAL;
	memcpy(name, host, n);
	name[n] = 0;
	*ret = (struct endpoint){};
	snprintf(ret->host, sizeof(ret->host), "%s", name);
	port = strrchr(name, ':');
	if (port && !strchr(port, ']'))
		name[port++ - name] = 0;
	else
		port = "80";
	n = strlen(name);
	if (name[0] == '[' && n > 2 && name[n - 1] == ']') {
		memmove(name, name + 1, n - 2);
		name[n - 2] = 0;
	}
	if (getaddrinfo(name, port, &hints, &found) != 0)
		return -EADDRNOTAVAIL;
	memcpy(&ret->sa, found->ai_addr, found->ai_addrlen);
	ret->len = found->ai_addrlen;
	freeaddrinfo(found);
	return 0;
}

void endpoint_local(uint16_t port, struct endpoint *ret)
{
	struct sockaddr_in in = {.sin_family = AF_INET,
				 .sin_port = htons(port),
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};

	*ret = (struct endpoint){.len = sizeof(in)};
	memcpy(&ret->sa, &in, sizeof(in));
	snprintf(ret->host, sizeof(ret->host), "127.0.0.1:%u", port);
}

int endpoint_connect(const struct endpoint *e)
{
	autofd fd = socket(e->sa.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct timeval limit = {.tv_sec = TIMEOUT_S};
	int on = 1;

	if (fd < 0)
		return -errno;
	if (connect(fd, (const struct sockaddr *)&e->sa, e->len) < 0 ||
	    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)) < 0 ||
	    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)) < 0 ||
	    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit)) < 0)
		return -errno;
	return take_fd(&fd);
}

/* ---- heads ---- */

static uint64_t number(const char *p, const char *end)
{
	uint64_t v = 0;

	for (; p < end && *p >= '0' && *p <= '9'; p++)
		if (__builtin_mul_overflow(v, UINT64_C(10), &v) ||
		    __builtin_add_overflow(v, (uint64_t)(*p - '0'), &v))
			return UINT64_MAX;
	return v;
}

/* If the line begins with header @name: its value, else NULL. */
static const char *value_of(const char *line, const char *end, const char *name)
{
	size_t n = strlen(name);

	if ((size_t)(end - line) < n || strncasecmp(line, name, n) != 0)
		return NULL;
	for (line += n; line < end && *line == ' '; line++)
		;
	return line;
}

static void take_line(const char *line, const char *end, struct http_head *h)
{
	const char *v;

	if ((v = value_of(line, end, "content-length:"))) {
		h->length = number(v, end);
	} else if ((v = value_of(line, end, "transfer-encoding:"))) {
		h->chunked = true;
	} else if ((v = value_of(line, end, "connection:"))) {
		h->closes = value_of(v, end, "close") != NULL;
	} else if ((v = value_of(line, end, "location:"))) {
		h->location = v;
		h->location_len = (size_t)(end - v);
	}
}

int http_head_parse(const char *p, size_t n, struct http_head *ret)
{
	const char *end = memmem(p, n, "\r\n\r\n", 4), *line, *next;
	struct http_head h = {};

	if (!end)
		return n > 60000 ? -EPROTO : -EAGAIN;
	if (n < 13 || memcmp(p, "HTTP/1.", 7) != 0 || p[8] != ' ')
		return -EPROTO;
	h.status = (int)number(p + 9, p + 12);
	h.len = (size_t)(end - p) + 4;
	for (line = p; line < end; line = next + 2) {
		next = memmem(line, (size_t)(end - line) + 2, "\r\n", 2);
		/* of all names only four matter, and they begin so */
		if (*line && strchr("cCtTlL", *line))
			take_line(line, next, &h);
	}
	*ret = h;
	return 0;
}

/* ---- single exchanges ---- */

void client_init(struct client *c, const struct endpoint *to)
{
	c->to = *to;
	c->fd = -1;
}

void client_deinit(struct client *c)
{
	if (c->fd >= 0)
		close(c->fd);
	c->fd = -1;
}

void answer_free(struct answer *a)
{
	buf_free(&a->body);
	buf_free(&a->location);
}

static int send_all(int fd, const void *p, size_t n)
{
	while (n) {
		ssize_t r = send(fd, p, n, MSG_NOSIGNAL);

		if (r < 0 && errno == EINTR)
			continue;
		if (r < 0)
			return -errno;
		p = (const char *)p + r;
		n -= (size_t)r;
	}
	return 0;
}

/* More of what the server says. */
static int receive(int fd, struct buf *b, size_t room)
{
	ssize_t r;

	if (buf_reserve(b, room) < 0)
		return -ENOMEM;
	do {
		r = recv(fd, b->data + b->len, room, 0);
	} while (r < 0 && errno == EINTR);
	if (r <= 0)
		return r < 0 ? -errno : -ECONNRESET;
	b->len += (size_t)r;
	b->data[b->len] = 0;
	return 0;
}

static int receive_length(int fd, struct buf *b, uint64_t length)
{
	int r = length > SIZE_MAX / 4 ? -EPROTO : 0;

	while (!r && b->len < length)
		r = receive(fd, b, length - b->len);
	return r;
}

/* Takes the chunks of @raw, receiving what is missing. */
static int receive_chunks(int fd, struct buf *raw, struct buf *body)
{
	size_t at = 0;

	for (;;) {
		char *line = memmem(raw->data + at, raw->len - at, "\r\n", 2);
		size_t size;
		int r;

		if (!line) {
			r = receive(fd, raw, 256 << 10);
			if (r < 0)
				return r;
			continue;
		}
		size = strtoull(raw->data + at, NULL, 16);
		at = (size_t)(line - raw->data) + 2;
		if (size > SIZE_MAX / 4)
			return -EPROTO;
		while (raw->len < at + size + 2) {
			r = receive(fd, raw, MAX(at + size + 2 - raw->len, (size_t)256 << 10));
			if (r < 0)
				return r;
		}
		buf_append(body, raw->data + at, size);
		at += size + 2;
		if (!size)
			return body->err;
	}
}

static int receive_body(int fd, struct buf *raw, const struct http_head *h, struct answer *ret)
{
	int r;

	memmove(raw->data, raw->data + h->len, raw->len - h->len);
	raw->len -= h->len;
	if (h->chunked) {
		r = buf_reserve(raw, 0);
		r = r ? r : receive_chunks(fd, raw, &ret->body);
	} else {
		r = receive_length(fd, raw, h->length);
		if (!r) {
			buf_free(&ret->body);
			ret->body = *raw;
			*raw = (struct buf)BUF_INIT;
		}
	}
	ret->length = h->chunked ? ret->body.len : h->length;
	return r;
}

static int receive_answer(struct client *c, const struct ask *ask, struct answer *ret)
{
	autobuf struct buf raw = BUF_INIT;
	struct http_head h;
	int r;

	do {
		r = http_head_parse(buf_cstr(&raw), raw.len, &h);
		if (!r && h.status == 100) {
			memmove(raw.data, raw.data + h.len, raw.len - h.len);
			raw.len -= h.len;
			r = -EAGAIN;
		} else if (r == -EAGAIN) {
			r = receive(c->fd, &raw, 64 << 10);
			r = r ? r : -EAGAIN;
		}
	} while (r == -EAGAIN);
	if (r < 0)
		return r;
	ret->status = h.status;
	ret->length = h.length;
	if (h.location)
		buf_append(&ret->location, h.location, h.location_len);
	if (strcmp(ask->method, "HEAD") != 0 && h.status != 204 && h.status != 304)
		r = receive_body(c->fd, &raw, &h, ret);
	if (h.closes || r < 0)
		client_deinit(c);
	return r;
}

static int ask_once(struct client *c, const struct ask *ask, struct answer *ret)
{
	autobuf struct buf head = BUF_INIT;
	int r;

	answer_free(ret);
	if (c->fd < 0) {
		c->fd = endpoint_connect(&c->to);
		if (c->fd < 0)
			return c->fd;
	}
	buf_fmt(&head, "%s %s HTTP/1.1\r\nHost: %s\r\n%s", ask->method, ask->path, c->to.host,
		ask->headers ? ask->headers : "");
	if (ask->body || !strcmp(ask->method, "PUT"))
		buf_fmt(&head, "Content-Length: %zu\r\n", ask->body_len);
	buf_str(&head, "\r\n");
	if (head.err)
		return head.err;
	r = send_all(c->fd, head.data, head.len);
	r = r ? r : send_all(c->fd, ask->body, ask->body_len);
	return r ? r : receive_answer(c, ask, ret);
}

int client_ask(struct client *c, const struct ask *ask, struct answer *ret)
{
	struct client other = CLIENT_INIT;
	autobuf struct buf url = BUF_INIT;
	struct ask next = *ask;
	int hops, r;

	r = ask_once(c, ask, ret);
	for (hops = 0; !r && ask->follow && ret->status == 307; hops++) {
		buf_free(&url);
		url = ret->location;
		ret->location = (struct buf)BUF_INIT;
		client_deinit(&other);
		r = hops < HOPS ? endpoint_parse(buf_cstr(&url), &other.to) : -ELOOP;
		next.path = strchr(buf_cstr(&url) + MIN(url.len, (size_t)7), '/');
		if (!r && !next.path)
			r = -EPROTO;
		r = r ? r : ask_once(&other, &next, ret);
	}
	client_deinit(&other);
	return r;
}
