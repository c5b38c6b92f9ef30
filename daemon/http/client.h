/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Calls to other nodes, by libcurl: blocking, so on call-pool threads and threads of one's own
 * only, never on a loop. Connections are kept per thread.
 */
#ifndef HTTP_CLIENT_H
#define HTTP_CLIENT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

struct http_call {
	/* in */
	const char *method;
	char *url; /* heap, freed by http_call_deinit() */
	struct buf heads; /* request header lines "Name: value\r\n", by http_call_header() */
	const void *body; /* borrowed; sent with Content-Length */
	size_t body_len;
	int body_fd; /* -1, or a file whose bytes [body_off, +body_len) are the body; borrowed */
	uint64_t body_off;
	size_t resp_max; /* a longer answer is -E2BIG */
	int64_t timeout_ms;
	void *user; /* the caller's */
	/* out */
	int err; /* 0: status is valid; else -ETIMEDOUT, -ECONNREFUSED, -E2BIG, -EIO, ... */
	int status;
	struct buf resp; /* body */
	struct buf resp_heads; /* as received, NUL-terminated */
	char errtext[256]; /* libcurl's sentence when err */
};

/* Zero, method, url (copied), time limit; resp_max 64 KiB. Return: 0 or -ENOMEM. */
int http_call_init(struct http_call *c, const char *method, const char *url, int64_t timeout_ms);
/* May run twice, and on a zeroed one. */
void http_call_deinit(struct http_call *c);
/* Add a request header. Return: 0; -EINVAL for control bytes in the value; -ENOMEM. */
int http_call_header(struct http_call *c, const char *name, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Value of a response header into @out; false when absent or too long. Any case. */
bool http_call_resp_header(const struct http_call *c, const char *name, char *out, size_t size);

/**
 * http_call_all() - Do calls in parallel and wait for all
 * @calls:	their out members are filled in
 * @n:		how many
 *
 * Redirects are not followed; proxies of the environment are ignored; no signal is raised. The
 * error of one call is in that call only.
 *
 * Return: 0, or -ENOMEM when none was begun.
 */
int http_call_all(struct http_call *calls, size_t n);

/* Once a process, before threads; and at its end. Return: 0 or -EIO. */
int http_client_init(void);
void http_client_exit(void);

#endif
