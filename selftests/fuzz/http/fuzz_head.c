/* SPDX-License-Identifier: BSD-2-Clause */
/* The request head: scanned in pieces, parsed, and checked against what a handler relies on. */
#include <stdlib.h>
#include <string.h>

#include "http/http.h"
#include "http/parse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct http_req *req)
{
	size_t i;

	if (strlen(req->path) != req->path_len || !http_utf8_ok(req->path, req->path_len))
		abort();
	if (req->n_params > HTTP_PARAMS_MAX || req->length < -1)
		abort();
	for (i = 0; i < req->n_params; i++) {
		if (!req->params[i].name || !req->params[i].value)
			abort();
	}
	for (i = 0; i < req->n_headers; i++) {
		if (strpbrk(req->headers[i].name, "\r\n :ABCDEFGHIJKLMNOPQRSTUVWXYZ") ||
		    strpbrk(req->headers[i].value, "\r\n"))
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct http_limits lim = {.max_head = 4096, .max_headers = 32};
	struct http_scan whole = {}, parts = {};
	struct http_req req = {};
	struct http_fault f = {}, f2 = {};
	const char *p = (const char *)data;
	char *text = NULL;
	int r = http_head_scan(&whole, p, size, &lim, &f), r2 = -EAGAIN;
	size_t n;

	for (n = 1; n <= size && r2 == -EAGAIN; n += 1 + n / 16)
		r2 = http_head_scan(&parts, p, n, &lim, &f2);
	if (r2 == -EAGAIN)
		r2 = http_head_scan(&parts, p, size, &lim, &f2);
	if (r != r2 || (r == 0 && (whole.pos != parts.pos || whole.lines != parts.lines)))
		abort(); /* how it arrives changes nothing */
	if (r > 0 && (f.status < 400 || f.status > 505 || !f.why))
		abort();
	if (r != 0)
		return 0;
	r = http_head_parse(p, &whole, &req, &text, &f);
	if (r == 0)
		r = http_target_parse(&req, http_target_room(&req, text, &whole), &f);
	if (r == 0)
		check(&req);
	else if (r > 0 && (f.status < 400 || f.status > 505 || !f.why))
		abort();
	free(text);
	return 0;
}
