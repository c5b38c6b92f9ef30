/* SPDX-License-Identifier: BSD-2-Clause */
/* One request in flight: send, read the head, follow it, let the kernel drop the body. */
#include "slot.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/bits.h"
#include "base/text.h"

#define DROP_MAX (16U << 20) /* bytes dropped by one call */

static int attach(struct slot *s, unsigned int side, const struct endpoint *to)
{
	struct epoll_event ev = {.events = EPOLLIN, .data.u64 = slot_tag(s, side)};
	int fd = endpoint_connect(to);

	if (fd < 0)
		return fd;
	s->fd[side] = fd;
	if (fcntl(fd, F_SETFL, O_NONBLOCK) < 0 ||
	    epoll_ctl(s->l->epoll, EPOLL_CTL_ADD, fd, &ev) < 0)
		return -errno;
	return 0;
}

static void detach(struct slot *s, unsigned int side)
{
	if (s->fd[side] >= 0)
		close(s->fd[side]);
	s->fd[side] = -1;
}

int slot_open(struct slot *s, struct load *l)
{
	unsigned int i;

	*s = (struct slot){.l = l};
	for (i = 0; i < SIDE_NR; i++)
		s->fd[i] = -1;
	return attach(s, SIDE_ENDPOINT, l->o->to);
}

void slot_close(struct slot *s)
{
	unsigned int i;

	for (i = 0; i < SIDE_NR; i++) {
		detach(s, i);
		free(s->to[i]);
	}
	buf_free(&s->own);
	buf_free(&s->early);
}

static int poll_out(struct slot *s, bool on)
{
	struct epoll_event ev = {.events = EPOLLIN | (on ? EPOLLOUT : 0),
				 .data.u64 = slot_tag(s, s->side)};

	if (s->polls_out == on)
		return 0;
	s->polls_out = on;
	return epoll_ctl(s->l->epoll, EPOLL_CTL_MOD, s->fd[s->side], &ev) < 0 ? -errno : 0;
}

/* ---- sending ---- */

static ssize_t send_some(struct slot *s)
{
	const struct plan *p = s->l->o->plan;
	struct iovec iov[2];
	struct msghdr m = {.msg_iov = iov};

	if (s->sent < s->out_len)
		iov[m.msg_iovlen++] =
			(struct iovec){(char *)s->out + s->sent, s->out_len - (size_t)s->sent};
	if (s->body_len && !s->held) {
		uint64_t done = s->sent > s->out_len ? s->sent - s->out_len : 0;

		iov[m.msg_iovlen++] = (struct iovec){(char *)p->body + done, s->body_len - done};
	}
	return sendmsg(s->fd[s->side], &m, MSG_NOSIGNAL);
}

static int go_on_sending(struct slot *s)
{
	uint64_t end = s->out_len + (s->held ? 0 : s->body_len);

	while (s->sent < end) {
		ssize_t n = send_some(s);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return poll_out(s, true);
		if (n < 0)
			return -errno;
		if (s->l->counting && s->sent + (size_t)n > s->out_len)
			s->l->bytes += s->sent + (size_t)n - MAX(s->sent, (uint64_t)s->out_len);
		s->sent += (size_t)n;
	}
	s->state = SLOT_HEAD;
	return poll_out(s, false);
}

static int send_head(struct slot *s, const char *head, size_t len, bool held)
{
	s->out = head;
	s->out_len = len;
	s->sent = 0;
	s->body_len = s->l->o->plan->body_len;
	s->held = held;
	s->state = SLOT_SEND;
	buf_reset(&s->early);
	return go_on_sending(s);
}

static int attach_host(struct slot *s, unsigned int side, const char *url)
{
	struct endpoint *to = s->to[side] ? s->to[side] : malloc(sizeof(*to));

	if (!to)
		return -ENOMEM;
	s->to[side] = to;
	return endpoint_parse(url, to);
}

/* The side that is, or is to be, connected to the host of @url. Return: side or -errno. */
static int side_of(struct slot *s, const char *url, const char *host, size_t len)
{
	unsigned int i, side = 0;
	int r;

	for (i = 1; i < SIDE_NR; i++) {
		if (s->to[i] && !strncmp(s->to[i]->host, host, len) && !s->to[i]->host[len])
			return (int)i;
		if (!s->to[i] && !side)
			side = i;
	}
	if (!side)
		side = 1 + s->evict++ % (SIDE_NR - 1);
	detach(s, side);
	r = attach_host(s, side, url);
	return r < 0 ? r : (int)side;
}

/* To where a 307 led; the connection stays for the next one that leads there. */
static int follow(struct slot *s, const char *url)
{
	const struct plan *p = s->l->o->plan;
	const char *host = url + MIN(strlen(url), (size_t)7), *path = strchr(host, '/');
	int r;

	r = path ? side_of(s, url, host, (size_t)(path - host)) : -EPROTO;
	if (r < 0)
		return r;
	s->side = (unsigned int)r;
	if (s->fd[s->side] < 0) {
		r = attach(s, s->side, s->to[s->side]);
		if (r < 0)
			return r;
	}
	buf_reset(&s->own);
	buf_fmt(&s->own, "%s %s HTTP/1.1\r\nHost: %s\r\n", p->method, path, s->to[s->side]->host);
	if (p->body)
		buf_fmt(&s->own, "Content-Length: %llu\r\n", (unsigned long long)p->body_len);
	buf_str(&s->own, "\r\n");
	return s->own.err ? s->own.err : send_head(s, s->own.data, s->own.len, false);
}

int slot_begin(struct slot *s, size_t req, int64_t begun_ns)
{
	const struct load_opts *o = s->l->o;
	const struct plan *p = o->plan;
	int r;

	s->req = req;
	s->begun_ns = begun_ns;
	s->side = SIDE_ENDPOINT;
	if (s->l->cached && s->l->cached[req])
		return follow(s, s->l->cached[req]);
	if (s->fd[SIDE_ENDPOINT] < 0) {
		r = attach(s, SIDE_ENDPOINT, o->to);
		if (r < 0)
			return r;
	}
	return send_head(s, p->text.data + p->begin[req], p->begin[req + 1] - p->begin[req],
			 o->follow && p->body);
}

/* ---- receiving ---- */

static int finish(struct slot *s)
{
	struct load *l = s->l;

	if (l->counting) {
		l->requests++;
		hist_add(l->latency, (uint64_t)(mono_ns() - s->begun_ns));
	}
	s->state = SLOT_IDLE;
	if (s->closes)
		detach(s, s->side);
	return 0;
}

static int wrong_status(struct slot *s, const struct http_head *h, const char *body, size_t n)
{
	size_t len;
	const char *path = plan_path(s->l->o->plan, s->req, &len);

	buf_fmt(s->l->why, "%s %.*s: status %d %.*s", s->l->o->plan->method, (int)MIN(len, 200U),
		path, h->status, (int)MIN(n, (size_t)300), body);
	return -EREMOTEIO;
}

static int led_elsewhere(struct slot *s, const struct http_head *h)
{
	autobuf struct buf url = BUF_INIT;
	const struct load_opts *o = s->l->o;

	buf_append(&url, h->location, h->location_len);
	if (url.err)
		return url.err;
	if (h->closes)
		detach(s, s->side);
	if (!o->plan->body && s->l->cached) {
		free(s->l->cached[s->req]);
		s->l->cached[s->req] = strdup(url.data);
	}
	return follow(s, buf_cstr(&url));
}

/* An envelope that has grown old: back to the endpoint, which makes a new one. */
static int ask_anew(struct slot *s)
{
	free(s->l->cached[s->req]);
	s->l->cached[s->req] = NULL;
	return slot_begin(s, s->req, s->begun_ns);
}

static int take_head(struct slot *s, const struct http_head *h, const char *p, size_t n)
{
	const struct load_opts *o = s->l->o;
	bool head = o->plan->method[0] == 'H';
	size_t body = n - h->len;

	if (h->status == 307 && o->follow && h->location)
		return led_elsewhere(s, h);
	if (h->status == 403 && s->l->cached && s->l->cached[s->req])
		return ask_anew(s);
	if (o->status ? h->status != o->status : h->status / 100 != 2)
		return wrong_status(s, h, p + h->len, body);
	if (h->chunked || s->state == SLOT_SEND || (head ? 0 : h->length) < body) {
		buf_str(s->l->why, "an answer that is chunked, early or too long");
		return -EPROTO;
	}
	if (o->on_head)
		o->on_head(o->arg, s->req, h);
	s->closes = h->closes;
	s->left = head ? 0 : h->length - body;
	if (s->l->counting && !o->plan->body)
		s->l->bytes += body;
	if (!s->left)
		return finish(s);
	s->state = SLOT_BODY;
	return 0;
}

static int receive_head(struct slot *s)
{
	struct load *l = s->l;
	size_t have = s->early.len;
	struct http_head h;
	ssize_t n;
	int r;

	if (have)
		memcpy(l->shared, s->early.data, have);
	n = recv(s->fd[s->side], l->shared + have, SLOT_SHARED - have, 0);
	if (n <= 0)
		return n < 0 ? (errno == EAGAIN || errno == EINTR ? 0 : -errno) : -ECONNRESET;
	have += (size_t)n;
	r = http_head_parse(l->shared, have, &h);
	if (!r && h.status == 100) {
		s->held = false;
		s->state = SLOT_SEND;
		buf_reset(&s->early);
		buf_append(&s->early, l->shared + h.len, have - h.len);
		return go_on_sending(s);
	}
	buf_reset(&s->early);
	if (r == -EAGAIN) {
		buf_append(&s->early, l->shared, have);
		return s->early.err;
	}
	return r ? r : take_head(s, &h, l->shared, have);
}

static int drop_body(struct slot *s)
{
	ssize_t n = recv(s->fd[s->side], NULL, MIN(s->left, (uint64_t)DROP_MAX), MSG_TRUNC);

	if (n <= 0)
		return n < 0 ? (errno == EAGAIN || errno == EINTR ? 0 : -errno) : -ECONNRESET;
	s->left -= (uint64_t)n;
	if (s->l->counting && !s->l->o->plan->body)
		s->l->bytes += (uint64_t)n;
	return s->left ? 0 : finish(s);
}

/* Nothing is awaited here: either the other side has closed, or it says what nobody asked for. */
static void look_at_idle(struct slot *s, unsigned int side)
{
	char c;

	if (s->fd[side] >= 0 && recv(s->fd[side], &c, 1, MSG_PEEK | MSG_DONTWAIT) >= 0)
		detach(s, side);
}

int slot_step(struct slot *s, unsigned int side, uint32_t events)
{
	if (s->state == SLOT_IDLE || side != s->side) {
		look_at_idle(s, side);
		return 0;
	}
	if (s->state == SLOT_SEND && (events & EPOLLOUT))
		return go_on_sending(s);
	if (s->state == SLOT_BODY)
		return drop_body(s);
	return receive_head(s);
}
