/* SPDX-License-Identifier: BSD-2-Clause */
/* The request target: its form, the path decoded once, the query's parameters. */
#include <string.h>
#include <strings.h>

#include "http/parse.h"
#include "http/uri.h"

static int fault(struct http_fault *ret, const char *why)
{
	*ret = (struct http_fault){400, why};
	return 1;
}

/* Start of the path in any form of target, NULL when there is none. */
static const char *path_start(const struct http_req *req)
{
	const char *t = req->target;

	if (*t == '/')
		return t;
	if (!strcmp(t, "*"))
		return req->method == HTTP_OPTIONS ? t : NULL;
	if (strncasecmp(t, "http://", 7) != 0)
		return NULL;
	t += 7;
	if (*t == '/' || *t == '?' || !*t)
		return NULL; /* no authority */
	return t + strcspn(t, "/?");
}

static int param_add(struct http_req *req, char *text, size_t n, struct http_fault *ret)
{
	struct http_field *f = &req->params[req->n_params];
	char *eq = memchr(text, '=', n);
	size_t n_name = eq ? (size_t)(eq - text) : n;
	size_t n_value = eq ? n - n_name - 1 : 0;
	char *value = text + n_name + (eq ? 1 : 0);
	ssize_t name_len, value_len;

	if (req->n_params == HTTP_PARAMS_MAX)
		return fault(ret, "too many query parameters");
	name_len = http_uri_decode(text, n_name, true);
	value_len = http_uri_decode(value, n_value, true);
	if (name_len < 0 || value_len < 0)
		return fault(ret, "invalid escape in query");
	value[value_len] = 0; /* first: without '=' both ends are one byte */
	text[name_len] = 0;
	f->name = text;
	f->value = value_len ? value : "";
	req->n_params++;
	return 0;
}

/* @q is cut up: each '&' and '=' makes room for a NUL. */
static int query_parse(struct http_req *req, char *q, struct http_fault *ret)
{
	int r = 0;

	while (r == 0 && *q) {
		size_t n = strcspn(q, "&");
		char *next = q + n + (q[n] ? 1 : 0);

		if (n)
			r = param_add(req, q, n, ret);
		q = next;
	}
	return r;
}

int http_target_parse(struct http_req *req, char *room, struct http_fault *ret)
{
	const char *start = path_start(req), *mark;
	ssize_t len;
	size_t n;

	req->path = "";
	req->query = "";
	if (!start)
		return fault(ret, "invalid request URI");
	n = strcspn(start, "?");
	mark = start + n;
	memcpy(room, n ? start : "/", n ? n : 1);
	len = http_uri_decode(room, n ? n : 1, false);
	if (len < 0 || !http_utf8_ok(room, (size_t)len))
		return fault(ret, "invalid request URI");
	room[len] = 0;
	req->path = room;
	req->path_len = (size_t)len;
	if (room[0] == '/' && room[1] == '/')
		return fault(ret, "invalid request URI");
	if (!*mark)
		return 0;
	req->query = mark + 1;
	room += n + 2;
	memcpy(room, mark + 1, strlen(mark + 1) + 1);
	return query_parse(req, room, ret);
}
