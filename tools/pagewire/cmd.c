/* SPDX-License-Identifier: BSD-2-Clause */
/* What every verb needs: its options and names, calls that must succeed, complaints. */
#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/json.h"
#include "base/text.h"
#include "cmd.h"

const char *cmd_opt(const struct cmd *c, const char *name)
{
	const char *ret = NULL;
	size_t i;

	for (i = 0; i < c->nvals; i++) {
		if (!strcmp(c->vals[i].opt->name, name))
			ret = c->vals[i].value;
	}
	return ret;
}

int cmd_opt_u64(struct cmd *c, const char *name, uint64_t max, uint64_t *ret)
{
	const char *text = cmd_opt(c, name);
	uint64_t v;

	if (!text)
		return 0;
	if (parse_u64(text, &v) < 0 || v < 1 || v > max)
		return cmd_usage(c, "option --%s: expected a number from 1 to %llu, not \"%s\"",
				 name, (unsigned long long)max, text);
	*ret = v;
	return 0;
}

int cmd_usage(struct cmd *c, const char *fmt, ...)
{
	autobuf struct buf text = BUF_INIT;
	va_list ap;

	va_start(ap, fmt);
	buf_vfmt(&text, fmt, ap);
	va_end(ap);
	out_error(&c->out, NULL, "%s", buf_cstr(&text));
	return CMD_USAGE;
}

int cmd_fail(struct cmd *c, const char *fmt, ...)
{
	autobuf struct buf text = BUF_INIT;
	va_list ap;

	va_start(ap, fmt);
	buf_vfmt(&text, fmt, ap);
	va_end(ap);
	out_error(&c->out, NULL, "%s", buf_cstr(&text));
	return CMD_FAILED;
}

static int parse_uri(struct cmd *c, int i, struct uri *ret)
{
	const char *why = NULL;
	int r = uri_parse(c->args[i], ret, &why);

	autofree char *clean = out_utf8(c->args[i]);

	if (r == URI_E_SYNTAX)
		return cmd_usage(c, "\"%s\": %s", c->args[i], why);
	if (r == 0 && (!clean || strcmp(clean, c->args[i]))) {
		uri_deinit(ret);
		return clean ? cmd_usage(c, "\"%s\": the name is not valid UTF-8", clean) : -ENOMEM;
	}
	return r;
}

int cmd_bucket(struct cmd *c, int i, struct uri *ret)
{
	int r = parse_uri(c, i, ret);

	if (r == 0 && ret->object) {
		uri_deinit(ret);
		return cmd_usage(c, "\"%s\" names an object; a bucket is expected, as ais://BUCKET",
				 c->args[i]);
	}
	return r;
}

int cmd_place(struct cmd *c, int i, struct uri *ret)
{
	if (!strstr(c->args[i], "://"))
		return cmd_usage(c, "\"%s\": expected ais://BUCKET/OBJECT", c->args[i]);
	return parse_uri(c, i, ret);
}

int cmd_object(struct cmd *c, int i, struct uri *ret)
{
	int r = cmd_place(c, i, ret);

	if (r == 0 && !ret->object) {
		uri_deinit(ret);
		return cmd_usage(c, "\"%s\" names a bucket; expected ais://BUCKET/OBJECT",
				 c->args[i]);
	}
	return r;
}

int cmd_client(struct cmd *c, struct client **ret)
{
	struct client_opts opts = {
		.endpoint = cmd_opt(c, "endpoint"),
		.token_file = cmd_opt(c, "token-file"),
		.ca_cert = cmd_opt(c, "ca-cert"),
		.insecure = cmd_opt(c, "insecure"),
	};
	autobuf struct buf why = BUF_INIT;
	int r = 0;

	if (!c->client)
		r = client_new(&c->client, &opts, &why);
	if (r == -EINVAL)
		return cmd_usage(c, "%s", buf_cstr(&why));
	if (r < 0)
		return cmd_fail(c, "%s", buf_cstr(&why));
	*ret = c->client;
	return 0;
}

int cmd_refused(struct cmd *c, const struct resp *r)
{
	autobuf struct buf text = BUF_INIT;
	autojson struct json_object *doc = resp_error(r, &text);

	out_error(&c->out, doc, "%s", buf_cstr(&text));
	return CMD_FAILED;
}

int cmd_call(struct cmd *c, const struct call *call, struct resp *r)
{
	struct client *client;
	int rc = cmd_client(c, &client);

	if (rc)
		return rc;
	rc = client_call(client, call, r);
	if (rc < 0)
		return rc;
	return resp_ok(r) ? 0 : cmd_refused(c, r);
}

int cmd_json(struct cmd *c, const struct resp *r, struct json_object **ret)
{
	if (json_parse(buf_cstr(&r->body), r->body.len, ret) < 0)
		return cmd_fail(c, "the server's answer is not JSON: %.80s", buf_cstr(&r->body));
	return 0;
}

void cmd_action(struct buf *b, const char *action, const char *name, struct json_object *value)
{
	buf_str(b, "{\"action\":");
	buf_json_str(b, action);
	buf_str(b, ",\"name\":");
	buf_json_str(b, name ? name : "");
	buf_fmt(b, ",\"value\":%s}",
		value ? json_object_to_json_string_ext(
				value, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE)
		      : "null");
}
