/* SPDX-License-Identifier: BSD-2-Clause */
/* The request head, strictly by RFC 9112: what two readers could read differently is refused. */
#include "http/parse.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char *const methods[HTTP_METHOD_NR] = {
	[HTTP_GET] = "GET",	    [HTTP_HEAD] = "HEAD",     [HTTP_PUT] = "PUT",
	[HTTP_POST] = "POST",	    [HTTP_DELETE] = "DELETE", [HTTP_PATCH] = "PATCH",
	[HTTP_OPTIONS] = "OPTIONS",
};

const char *http_method_name(enum http_method m)
{
	return m < HTTP_METHOD_NR ? methods[m] : NULL;
}

bool http_token_char(unsigned char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c && strchr("!#$%&'*+-.^_`|~", c));
}

static int fault(struct http_fault *ret, int status, const char *why)
{
	*ret = (struct http_fault){status, why};
	return 1;
}

/* ---- scanning ---- */

static int scan_line(struct http_scan *s, const char *line, size_t n, const struct http_limits *lim,
		     struct http_fault *ret)
{
	if (n < 2 || line[n - 2] != '\r')
		return fault(ret, 400, "line ends without CR");
	if (memchr(line, '\r', n - 2) || memchr(line, 0, n))
		return fault(ret, 400, "control byte in request head");
	s->pos += n;
	if (n == 2)
		return 0;
	if (s->lines++ > lim->max_headers)
		return fault(ret, 431, "too many header lines");
	return -EAGAIN;
}

int http_head_scan(struct http_scan *s, const char *p, size_t n, const struct http_limits *lim,
		   struct http_fault *ret)
{
	size_t max = MIN(n, lim->max_head);
	int r = -EAGAIN;

	if (n && !http_token_char((unsigned char)p[0]))
		return fault(ret, 400, "malformed request line");
	while (r == -EAGAIN) {
		const char *line = p + s->pos;
		const char *lf = memchr(line, '\n', max - s->pos);

		if (!lf)
			break;
		r = scan_line(s, line, (size_t)(lf - line) + 1, lim, ret);
	}
	if (r == -EAGAIN && n >= lim->max_head) {
		if (!s->lines)
			return fault(ret, 414, "request line too long");
		return fault(ret, 431, "request head too large");
	}
	return r;
}

/* ---- request line ---- */

static enum http_method method_find(const char *text)
{
	int i;

	for (i = 0; i < HTTP_METHOD_NR; i++) {
		if (methods[i] && !strcmp(methods[i], text))
			return (enum http_method)i;
	}
	return HTTP_OTHER;
}

/* HTTP/1.0 or 1.1; 505 for another version of it. */
static int version_parse(const char *v, int *ret_minor, struct http_fault *ret)
{
	if (!strcmp(v, "HTTP/1.1") || !strcmp(v, "HTTP/1.0")) {
		*ret_minor = v[7] - '0';
		return 0;
	}
	if (strncmp(v, "HTTP/", 5) != 0 || v[5] < '0' || v[5] > '9')
		return fault(ret, 400, "malformed HTTP version");
	return fault(ret, 505, "HTTP version not supported");
}

static bool target_chars_ok(const char *s)
{
	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;

		if (c <= 0x20 || c == 0x7f || c == '#')
			return false;
	}
	return true;
}

/* @line is NUL-terminated and is cut in three. */
static int request_line_parse(char *line, struct http_req *req, int *ret_minor,
			      struct http_fault *ret)
{
	char *target = strchr(line, ' '), *version, *c;
	int r;

	version = target ? strchr(target + 1, ' ') : NULL;
	if (!version || target == line || version == target + 1)
		return fault(ret, 400, "malformed request line");
	*target++ = 0;
	*version++ = 0;
	for (c = line; *c; c++) {
		if (!http_token_char((unsigned char)*c))
			return fault(ret, 400, "malformed method");
	}
	req->method = method_find(line);
	req->method_text = line;
	r = version_parse(version, ret_minor, ret);
	if (r)
		return r;
	if (!target_chars_ok(target))
		return fault(ret, 400, "invalid request URI");
	req->target = target;
	return 0;
}

/* ---- header lines ---- */

static int field_parse(char *line, struct http_field *f, struct http_fault *ret)
{
	char *c = line, *value, *end;

	for (; *c && *c != ':'; c++) {
		if (!http_token_char((unsigned char)*c))
			return fault(ret, 400, "malformed header name");
		if (*c >= 'A' && *c <= 'Z')
			*c = (char)(*c | 0x20);
	}
	if (c == line || !*c)
		return fault(ret, 400, "malformed header line");
	*c = 0;
	value = c + 1 + strspn(c + 1, " \t");
	end = value + strlen(value);
	while (end > value && (end[-1] == ' ' || end[-1] == '\t'))
		end--;
	*end = 0;
	for (c = value; *c; c++) {
		if (((unsigned char)*c < 0x20 && *c != '\t') || *c == 0x7f)
			return fault(ret, 400, "control byte in header value");
	}
	f->name = line;
	f->value = value;
	return 0;
}

struct framing { /* what header lines say about the message */
	int minor;
	unsigned int hosts, lengths, codings;
	bool chunked, close, keep;
};

static int length_parse(const char *v, int64_t *ret_length, struct http_fault *ret)
{
	int64_t n = 0;

	if (!*v)
		return fault(ret, 400, "invalid Content-Length");
	for (; *v; v++) {
		if (*v < '0' || *v > '9' || __builtin_mul_overflow(n, INT64_C(10), &n) ||
		    __builtin_add_overflow(n, (int64_t)(*v - '0'), &n))
			return fault(ret, 400, "invalid Content-Length");
	}
	*ret_length = n;
	return 0;
}

static int host_check(const char *v, struct http_fault *ret)
{
	for (; *v; v++) {
		if (!((*v >= '0' && *v <= '9') || (*v >= 'a' && *v <= 'z') ||
		      (*v >= 'A' && *v <= 'Z') || strchr("-._~%!$&'()*+;=:[]", *v)))
			return fault(ret, 400, "invalid Host");
	}
	return 0;
}

static void connection_parse(const char *v, struct framing *f)
{
	while (*v) {
		size_t n;

		v += strspn(v, " \t,");
		n = strcspn(v, " \t,");
		if (n == 5 && !strncasecmp(v, "close", n))
			f->close = true;
		else if (n == 10 && !strncasecmp(v, "keep-alive", n))
			f->keep = true;
		v += n;
	}
}

static int field_apply(const struct http_field *h, struct http_req *req, struct framing *f,
		       struct http_fault *ret)
{
	if (!strcmp(h->name, "host")) {
		f->hosts++;
		return host_check(h->value, ret);
	}
	if (!strcmp(h->name, "content-length")) {
		if (f->lengths++)
			return fault(ret, 400, "more than one Content-Length");
		return length_parse(h->value, &req->length, ret);
	}
	if (!strcmp(h->name, "transfer-encoding")) {
		f->chunked = !strcasecmp(h->value, "chunked");
		if (f->codings++ || !f->chunked)
			return fault(ret, 400, "unsupported Transfer-Encoding");
	} else if (!strcmp(h->name, "connection")) {
		connection_parse(h->value, f);
	} else if (!strcmp(h->name, "expect") && f->minor) {
		if (strcasecmp(h->value, "100-continue") != 0)
			return fault(ret, 417, "unknown expectation");
		req->expect = true;
	}
	return 0;
}

static int framing_finish(struct http_req *req, const struct framing *f, struct http_fault *ret)
{
	if (f->hosts > 1 || (f->minor && !f->hosts))
		return fault(ret, 400, f->hosts ? "more than one Host" : "missing Host");
	if (f->codings && f->lengths)
		return fault(ret, 400, "both Content-Length and Transfer-Encoding");
	if (f->codings && !f->minor)
		return fault(ret, 400, "Transfer-Encoding in HTTP/1.0");
	if (f->chunked)
		req->length = -1;
	if (!req->length)
		req->expect = false;
	req->http10 = !f->minor;
	req->keep_alive = !f->close && (f->minor || f->keep);
	return 0;
}

/* The lines after the first, up to the empty one. */
static int fields_parse(char *line, struct http_req *req, struct framing *f, struct http_fault *ret)
{
	char *next;
	int r = 0;

	for (; r == 0 && *line != '\r'; line = next) {
		struct http_field *h = &req->headers[req->n_headers];
		char *end = strchr(line, '\r'); /* the scan saw to it that CR is before LF only */

		*end = 0;
		next = end + 2;
		r = field_parse(line, h, ret);
		if (r)
			break;
		req->n_headers++;
		r = field_apply(h, req, f, ret);
	}
	return r;
}

int http_head_parse(const char *p, const struct http_scan *s, struct http_req *req, char **ret_text,
		    struct http_fault *ret)
{
	size_t fields = s->lines * sizeof(struct http_field);
	struct framing f = {};
	char *text, *end;
	int r;

	/* one block: the fields, the head, and room for path and parameters decoded */
	text = malloc(fields + 3 * (s->pos + 2));
	if (!text)
		return -ENOMEM;
	*ret_text = text;
	req->headers = (struct http_field *)text;
	text += fields;
	memcpy(text, p, s->pos);
	text[s->pos] = 0;
	end = strchr(text, '\r');
	*end = 0;
	r = request_line_parse(text, req, &f.minor, ret);
	if (r == 0)
		r = fields_parse(end + 2, req, &f, ret);
	if (r == 0)
		r = framing_finish(req, &f, ret);
	return r;
}

char *http_target_room(const struct http_req *req, char *text, const struct http_scan *s)
{
	return text + s->lines * sizeof(struct http_field) + s->pos + 1;
}
