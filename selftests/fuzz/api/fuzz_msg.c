/* SPDX-License-Identifier: BSD-2-Clause */
/* Any bytes as a control body, and as a Bck object: refused as documented, or read. */
#include <stdlib.h>
#include <string.h>

#include "api/api.h"
#include "base/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void none(struct http_txn *t)
{
}

static struct http_server *server(void)
{
	static struct http_server *s;
	struct http_server_opts o = {.sz = sizeof(o), .node_name = "t[fuzz1234]", .fallback = none};

	if (!s && http_server_new(&o, &s) < 0)
		abort();
	return s;
}

/* A bucket that was read is printed and read back. */
static void check_bck(struct json_object *o)
{
	struct json_object *again = NULL;
	struct buf b = BUF_INIT;
	struct bmd_name n, back;

	if (api_bck_parse(o, &n) < 0)
		return;
	api_bck_print(&n, &b);
	if (json_parse(b.data, b.len, &again) < 0 || api_bck_parse(again, &back) < 0)
		abort();
	if (strcmp(n.bucket, back.bucket) || strcmp(n.ns_uuid, back.ns_uuid) ||
	    strcmp(n.ns_name, back.ns_name))
		abort();
	json_object_put(again);
	buf_free(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct http_txn t = {
		.req = {.method = HTTP_PUT, .method_text = "PUT", .path = "/v1/cluster"},
		.server = server(),
	};
	struct api_msg m;

	buf_append(&t.body, data, size);
	if (!api_msg_parse(&t, &m)) {
		if (m.root)
			check_bck(m.root);
		if (m.value)
			check_bck(m.value);
	} else if (t.resp.status != 400) {
		abort();
	}
	api_msg_free(&m);
	buf_free(&t.body);
	buf_free(&t.resp.bytes);
	buf_free(&t.resp.head);
	return 0;
}
