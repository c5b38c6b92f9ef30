/* SPDX-License-Identifier: BSD-2-Clause */
/* Any bytes as the value of "list": what passes is printed for the targets and read back alike. */
#include <stdlib.h>
#include <string.h>

#include "api/list_msg.h"
#include "base/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void again(const struct list_msg *m)
{
	struct json_object *o = NULL;
	struct buf b = BUF_INIT;
	struct api_fault f = {};
	struct list_msg back;

	list_msg_print(m, list_msg_after(m), m->page, &b);
	if (b.err || json_parse(b.data, b.len, &o) < 0)
		abort();
	if (list_msg_parse(json_member(o, "value"), &back, &f) < 0 ||
	    strcmp(back.prefix, m->prefix))
		abort();
	if (back.page != m->page || back.props != m->props ||
	    strcmp(list_msg_after(&back), list_msg_after(m)))
		abort();
	json_object_put(o);
	buf_free(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct json_object *o = NULL;
	struct api_fault f = {};
	struct list_msg m;

	if (json_parse((const char *)data, size, &o) < 0)
		return 0;
	if (!list_msg_parse(o, &m, &f))
		again(&m);
	else if (f.status != 400 && f.status != 501)
		abort();
	json_object_put(o);
	return 0;
}
