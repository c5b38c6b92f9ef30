/* SPDX-License-Identifier: BSD-2-Clause */
/* From a request to its route's handler. */
#include <string.h>

#include "http/parts.h"

/* Whether @path is @prefix or below it. */
static bool below(const char *path, const char *prefix, size_t n)
{
	return !strncmp(path, prefix, n) && (!path[n] || path[n] == '/' || prefix[n - 1] == '/');
}

/* The longest route that fits; of equal ones the first that takes the method. */
static const struct http_route *route_find(const struct http_server_opts *o,
					   const struct http_req *req, uint32_t *ret_methods)
{
	const struct http_route *best = NULL;
	size_t i, best_len = 0;
	uint32_t methods = 0;

	for (i = 0; i < o->n_routes; i++) {
		const struct http_route *r = &o->routes[i];
		size_t n = strlen(r->path);

		if (!n || n < best_len || !(r->nets & BIT(req->net)) ||
		    !below(req->path, r->path, n))
			continue;
		if (n > best_len) {
			best = NULL;
			methods = 0;
		}
		if (!best ||
		    (!(best->methods & BIT(req->method)) && (r->methods & BIT(req->method))))
			best = r;
		best_len = n;
		methods |= r->methods;
	}
	*ret_methods = methods;
	return best;
}

static void allow_header(struct http_txn *t, uint32_t methods)
{
	static const enum http_method by_name[] = {HTTP_DELETE, HTTP_GET,  HTTP_HEAD, HTTP_OPTIONS,
						   HTTP_PATCH,	HTTP_POST, HTTP_PUT};
	struct buf list = BUF_INIT;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(by_name); i++) {
		if (methods & BIT(by_name[i]))
			buf_fmt(&list, "%s%s", list.len ? ", " : "", http_method_name(by_name[i]));
	}
	http_header(t, "Allow", "%s", buf_cstr(&list));
	buf_free(&list);
}

static void not_allowed(struct http_txn *t, uint32_t methods)
{
	allow_header(t, methods);
	http_reply_text(t, 405, "Method Not Allowed\n");
}

static void options(struct http_txn *t, uint32_t methods)
{
	allow_header(t, methods);
	http_reply_status(t, 200);
}

void http_dispatch(struct http_txn *t)
{
	const struct http_server_opts *o = &t->server->opts;
	const struct http_route *r;
	uint32_t methods;

	if (t->req.method == HTTP_OTHER) {
		not_allowed(t, 0);
		return;
	}
	r = route_find(o, &t->req, &methods);
	t->ctx = r ? r->ctx : o->ctx;
	if (o->admit && !o->admit(o->ctx, t))
		return;
	if (r && (r->methods & BIT(t->req.method)))
		r->handle(t);
	else if (t->req.method == HTTP_OPTIONS && (r || !strcmp(t->req.path, "*")))
		options(t, methods);
	else if (r)
		not_allowed(t, methods);
	else
		o->fallback(t);
}
