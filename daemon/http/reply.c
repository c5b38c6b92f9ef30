/* SPDX-License-Identifier: BSD-2-Clause */
/* Short forms of answers, response headers, the error document. */
#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "http/parts.h"

/* printf into one header value, checked. */
int http_header(struct http_txn *t, const char *name, const char *fmt, ...)
{
	struct buf *b = &t->resp.head;
	size_t before = b->len, start, i;
	va_list ap;

	for (i = 0; name[i]; i++) {
		if (!http_token_char((unsigned char)name[i]))
			return -EINVAL;
	}
	buf_str(b, name);
	buf_str(b, ": ");
	start = b->len;
	va_start(ap, fmt);
	buf_vfmt(b, fmt, ap);
	va_end(ap);
	if (b->err)
		return 0; /* noticed when the head is made */
	for (i = start; i < b->len; i++) {
		unsigned char c = (unsigned char)b->data[i];

		if (c < 0x20 || c == 0x7f) {
			b->len = before;
			b->data[before] = 0;
			return -EINVAL;
		}
	}
	buf_str(b, "\r\n");
	return 0;
}

static void resp_reset(struct http_txn *t, int status)
{
	struct http_resp *r = &t->resp;

	if (r->stream && r->stream->free)
		r->stream->free(r->stream);
	r->stream = NULL;
	buf_free(&r->head);
	buf_free(&r->bytes);
	r->status = status;
	r->body = HTTP_BODY_NONE;
	r->has_length = false;
	r->length = 0;
}

void http_reply_status(struct http_txn *t, int status)
{
	t->resp.status = status;
	t->resp.body = HTTP_BODY_NONE;
	http_reply(t);
}

void http_reply_buf(struct http_txn *t, const char *type, struct buf *b)
{
	t->resp.status = 200;
	t->resp.body = HTTP_BODY_BYTES;
	buf_free(&t->resp.bytes);
	t->resp.bytes = *b;
	*b = (struct buf){};
	http_header(t, "Content-Type", "%s", type);
	http_reply(t);
}

void http_reply_text(struct http_txn *t, int status, const char *text)
{
	t->resp.status = status;
	t->resp.body = HTTP_BODY_BYTES;
	buf_reset(&t->resp.bytes);
	buf_str(&t->resp.bytes, text);
	http_header(t, "Content-Type", "text/plain; charset=utf-8");
	http_header(t, "X-Content-Type-Options", "nosniff");
	http_reply(t);
}

#define HEADER_TEXT_MAX 4096 /* a text in Hdr-Error: clients bound header lines */

/* @s, or its first @max bytes, as a JSON string; bytes that are not UTF-8 become U+FFFD. */
static void json_text(struct buf *b, const char *s, size_t max)
{
	size_t n = strnlen(s, max);

	buf_char(b, '"');
	while (n) {
		size_t good = http_utf8_span(s, n);

		buf_json_escape(b, s, good);
		s += good;
		n -= good;
		if (n) {
			buf_str(b, "\\ufffd");
			s++;
			n--;
		}
	}
	buf_char(b, '"');
}

static void member(struct buf *b, const char *name, const char *value, size_t max)
{
	buf_fmt(b, "\"%s\":", name);
	json_text(b, value, max);
	buf_char(b, ',');
}

static void error_document(struct http_txn *t, const char *tcode, const char *message,
			   struct buf *out)
{
	size_t max = t->req.method == HTTP_HEAD ? HEADER_TEXT_MAX : SIZE_MAX;
	const char *node = t->server->opts.node_name;

	buf_char(out, '{');
	if (tcode)
		member(out, "tcode", tcode, max);
	member(out, "message", message, max);
	member(out, "method", t->req.method_text, max);
	member(out, "url_path", t->req.path, max);
	member(out, "remote_addr", t->req.peer, max);
	member(out, "caller", t->caller ? t->caller : "", max);
	member(out, "node", node ? node : "", max);
	buf_fmt(out, "\"status\":%d}", t->resp.status);
}

void http_error(struct http_txn *t, int status, const char *tcode, const char *fmt, ...)
{
	struct buf message = BUF_INIT, doc = BUF_INIT;
	va_list ap;

	va_start(ap, fmt);
	buf_vfmt(&message, fmt, ap); /* before the reset: arguments may point into the response */
	va_end(ap);
	resp_reset(t, status);
	error_document(t, tcode, message.err ? "out of memory" : buf_cstr(&message), &doc);
	buf_free(&message);
	if (t->req.method == HTTP_HEAD) {
		http_header(t, "Hdr-Error", "%s", buf_cstr(&doc));
		buf_free(&doc);
		return;
	}
	buf_char(&doc, '\n');
	http_header(t, "Content-Type", "application/json");
	http_header(t, "X-Content-Type-Options", "nosniff");
	t->resp.body = HTTP_BODY_BYTES;
	t->resp.bytes = doc;
}
