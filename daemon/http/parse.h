/* SPDX-License-Identifier: BSD-2-Clause */
/* The request head: scanned as it arrives, then taken apart. No I/O. */
#ifndef HTTP_PARSE_H
#define HTTP_PARSE_H

#include "http/txn.h"

struct http_scan { /* zeroed to start */
	size_t pos; /* bytes of the head known to be whole lines */
	size_t lines;
};

/* What is wrong with a request: an HTTP status and why. */
struct http_fault {
	int status;
	const char *why;
};

/**
 * http_head_scan() - Look for the end of a request head
 * @s:		where the last call left off; @p is the same head with more bytes
 * @p:		the bytes so far
 * @n:		how many
 * @lim:	max_head, max_headers
 * @ret:	the fault, when the return value is positive
 *
 * Return: 0, the head is @s->pos bytes long; -EAGAIN, not whole yet; 1, faulty.
 */
int http_head_scan(struct http_scan *s, const char *p, size_t n, const struct http_limits *lim,
		   struct http_fault *ret);

/**
 * http_head_parse() - Take a whole head apart
 * @p:		the head
 * @s:		what the scan found
 * @req:	zeroed; filled in as far as the head is good, texts point into @ret_text
 * @ret_text:	heap, written unless -ENOMEM
 * @ret:	the fault, when the return value is positive
 *
 * A fault here leaves unknown where the next request begins: the connection must close.
 *
 * Return: 0, -ENOMEM, or 1.
 */
int http_head_parse(const char *p, const struct http_scan *s, struct http_req *req, char **ret_text,
		    struct http_fault *ret);

/**
 * http_target_parse() - Take the target of a parsed head apart: path and query
 * @req:	target is set; path, query and params are filled in
 * @room:	for the decoded texts, 2 * (strlen(target) + 2) bytes
 * @ret:	the fault, when the return value is positive
 *
 * Return: 0 or 1; the connection can go on.
 */
int http_target_parse(struct http_req *req, char *room, struct http_fault *ret);

/* Bytes of http_head_parse()'s text that are for http_target_parse(). */
char *http_target_room(const struct http_req *req, char *text, const struct http_scan *s);
/* Whether @c may be in a method or a field name. */
bool http_token_char(unsigned char c);
/* Names of methods as sent, index = enum http_method; NULL for what has none. */
const char *http_method_name(enum http_method m);

#endif
