/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * http - the HTTP/1.1 server: parser, connections, routing, bodies in and out
 *
 * A request is a transaction (struct http_txn). Its route's handler is called on the loop's thread
 * when the head is complete, must not block, and ends by exactly one of
 *   http_run()      continue on a pool; a request body is discarded by the engine
 *   http_collect()  take the whole body (bounded) into t->body, then continue
 *   http_receive()  stream the body into a sink
 *   http_reply()    answer (or one of its short forms below); a body is discarded as P-09 says
 * A continuation ends by http_reply(), at once or later, from any thread, exactly once (or it may
 * decide only now to http_run() elsewhere, http_collect() or http_receive()). Until then the
 * transaction belongs to the handler; it stays valid even if the peer goes away.
 */
#ifndef HTTP_H
#define HTTP_H

#include <stdbool.h>
#include <stdint.h>

#include "http/txn.h"
#include "http/uri.h"

struct config;

/* ---- server ---- */

/* The limits that a config asks for. Raises the process's limit of descriptors to what it may. */
struct http_limits http_limits_of(const struct config *c);

/**
 * http_server_new() - Make a server; it listens on nothing yet
 * @opts:	copied; routes and what they point to must outlive the server
 * @ret:	the server, written on success only
 *
 * Return: 0; -EINVAL for a wrong @opts->sz or no fallback; -ENOMEM.
 */
int http_server_new(const struct http_server_opts *opts, struct http_server **ret);
/* After its loops have ended, before loop_free(). Ends what is left. NULL is fine. */
void http_server_free(struct http_server *s);

/**
 * http_listen() - Serve a listening socket on a loop
 * @s:		the server
 * @l:		the loop: all its connections stay on its thread
 * @net:	arrival network, stamped on each connection
 * @fd:		a listening, non-blocking socket; the server's from here on, on success
 *
 * Before the loop runs, or on its thread. Return: 0, -ENOMEM, or a negative errno.
 */
int http_listen(struct http_server *s, struct loop *l, enum smap_netid net, int fd);

/**
 * http_socket() - Open a listening socket
 * @host:	address or name
 * @port:	TCP port
 * @reuseport:	SO_REUSEPORT, for one socket a worker
 * @congestion:	TCP_CONGESTION name, or NULL for the system's
 * @ret_fd:	written on success only
 *
 * Return: 0, or a negative errno of getaddrinfo (-EINVAL), socket(2), bind(2), listen(2).
 */
int http_socket(const char *host, uint16_t port, bool reuseport, const char *congestion,
		int *ret_fd);

/**
 * http_drain() - Stop accepting on a loop and let its connections end
 * @s:		the server
 * @l:		the loop, on its own thread
 * @limit_ms:	sockets that are left then are closed
 * @done:	called on the loop when no connection is left and every transaction was answered
 * @arg:	for @done
 */
void http_drain(struct http_server *s, struct loop *l, uint64_t limit_ms, void (*done)(void *arg),
		void *arg);

/* ---- what a handler does with a request ---- */

/* Header by lower-case name: the first of that name, or NULL. */
const char *http_header_get(const struct http_txn *t, const char *name);
/* Query parameter; NULL when absent or empty. The last one of a name counts. */
const char *http_param(const struct http_txn *t, const char *name);
/* The same, but an empty one is "". */
const char *http_param_raw(const struct http_txn *t, const char *name);
/* A boolean parameter in the API's spelling. */
bool http_param_true(const struct http_txn *t, const char *name);

/**
 * http_run() - Continue on a pool thread
 * @t:		the transaction
 * @p:		the pool; NULL: at once, on the loop
 * @fn:		the continuation
 *
 * A full pool is answered 503 with Retry-After, and so is one request too many of a node, unless
 * it came on the control network. What is answered without a pool and a body is never refused.
 */
void http_run(struct http_txn *t, struct pool *p, void (*fn)(struct http_txn *t));

/**
 * http_collect() - Take the whole request body into t->body, then continue
 * @t:		the transaction
 * @max:	bytes; a longer body is answered 413
 * @p:		pool for @fn; NULL: the loop
 * @fn:		the continuation
 *
 * Also right for requests without a body. Sends 100 Continue if asked for. When bodies take all the
 * memory they may, it is answered 503 with Retry-After.
 */
void http_collect(struct http_txn *t, size_t max, struct pool *p, void (*fn)(struct http_txn *t));

/* Where a streamed request body goes. All called on the io pool, one at a time. */
struct http_sink {
	/* Return: 0; negative: stop, t->resp is filled in (http_error()) and will be sent. */
	int (*write)(struct http_txn *t, const void *p, size_t n);
	/* The body is whole; leads to http_reply(), now or later. */
	void (*end)(struct http_txn *t);
	/*
	 * The body broke off, or write failed: undo. No reply from here. Each http_receive() leads
	 * to exactly one of end and abort, even if nothing was written.
	 */
	void (*abort)(struct http_txn *t);
};

/**
 * http_receive() - Stream the request body into a sink
 * @t:		the transaction
 * @max:	bytes; more is 413 and abort
 * @sink:	static
 *
 * At most two pieces of 1 MiB are in memory; the socket waits for the sink. When bodies take all
 * the memory they may, pieces are small, but the body goes on. Sends 100 Continue.
 * Needs opts.io. A body whose chunks are malformed or that stops is answered 400 or 408.
 */
void http_receive(struct http_txn *t, uint64_t max, const struct http_sink *sink);

/*
 * Whether the peer has gone, or has closed its half: work for it may stop. An answer to half a
 * connection is still sent. Any thread.
 */
bool http_gone(const struct http_txn *t);

/* ---- answers ---- */

/**
 * http_header() - Add a response header
 * @t:		the transaction
 * @name:	header name
 * @fmt:	its value, printf
 *
 * Return: 0; -EINVAL when the value has CR, LF, NUL or another control byte: then it is left out.
 */
int http_header(struct http_txn *t, const char *name, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Send t->resp. Any thread, exactly once. */
void http_reply(struct http_txn *t);
/* Status, no body. */
void http_reply_status(struct http_txn *t, int status);
/* 200 with @b moved into the body; type e.g. "application/json; charset=utf-8". */
void http_reply_buf(struct http_txn *t, const char *type, struct buf *b);
/* @status and a text/plain body. */
void http_reply_text(struct http_txn *t, int status, const char *text);

/**
 * http_error() - Fill t->resp with the API's error document, without sending
 * @t:		the transaction; headers set before are dropped
 * @status:	HTTP status
 * @tcode:	type name, or NULL
 * @fmt:	message
 *
 * For HEAD the document goes to the header Hdr-Error.
 */
void http_error(struct http_txn *t, int status, const char *tcode, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* http_error() and http_reply(). */
#define http_reply_error(t, ...)                                                                   \
	do {                                                                                       \
		http_error(t, __VA_ARGS__);                                                        \
		http_reply(t);                                                                     \
	} while (0)

#endif
