/* SPDX-License-Identifier: BSD-2-Clause */
/* Requests with the envelopes that a gateway signed for them. */
#include "envelopes.h"

#include <errno.h>

#include "base/cleanup.h"

#define CONNECTIONS 16

static void keep(void *arg, size_t req, const struct http_head *head)
{
	struct plan *p = arg;
	autobuf struct buf path = BUF_INIT;
	const char *slash;

	(void)req;
	if (!head->location || head->location_len < 8)
		return;
	buf_append(&path, head->location, head->location_len);
	slash = path.err ? NULL : strchr(path.data + 7, '/');
	if (slash)
		plan_add(p, slash, NULL);
}

int envelopes_collect(struct lab *lab, const struct plan *from, size_t n, struct plan *ret)
{
	autoclean(plan_deinit) struct plan asks = {};
	autofree struct load_result *res = malloc(sizeof(*res));
	struct load_opts o = {.plan = &asks,
			      .to = &lab->to_gateway,
			      .connections = CONNECTIONS,
			      .status = 307,
			      .on_head = keep,
			      .arg = ret};
	size_t i, len;
	int r;

	if (!res)
		return -ENOMEM;
	plan_init(ret, from->method, lab->to_target.host);
	ret->body = from->body;
	ret->body_len = from->body_len;
	/* the gateway answers before the body: none is sent to it */
	plan_init(&asks, from->method, lab->to_gateway.host);
	for (i = 0; i < n && !asks.err; i++) {
		const char *path = plan_path(from, i % from->n, &len);
		autobuf struct buf text = BUF_INIT;
		autobuf struct buf extra = BUF_INIT;

		buf_append(&text, path, len);
		if (from->body)
			buf_fmt(&extra, "Expect: 100-continue\r\nContent-Length: %llu\r\n",
				(unsigned long long)from->body_len);
		plan_add(&asks, buf_cstr(&text), buf_cstr(&extra));
	}
	r = load_run(&o, res, &lab->why);
	if (!r && ret->n != n) {
		buf_fmt(&lab->why, "%zu of %zu answers had no Location", n - ret->n, n);
		r = -EPROTO;
	}
	return r ? r : ret->err;
}
