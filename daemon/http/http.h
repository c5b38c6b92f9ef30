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
 * A continuation ends by http_reply(), at once or later, from any thread, exactly once. Until then
 * the transaction belongs to the handler; it stays valid even if the peer goes away.
 */
#ifndef HTTP_H
#define HTTP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/bits.h"
#include "smap/smap.h"

struct loop;
struct pool;
struct metrics;
struct http_server;
struct http_conn;
struct http_txn;

enum http_method {
	HTTP_NONE,
	HTTP_GET,
	HTTP_HEAD,
	HTTP_PUT,
	HTTP_POST,
	HTTP_DELETE,
	HTTP_PATCH,
	HTTP_OPTIONS,
	HTTP_OTHER, /* well-formed, but nobody's: 405 */
	HTTP_METHOD_NR,
};

#define HTTP_PARAMS_MAX 99 /* query parameters; one more is 400 */

struct http_field { /* a header line or a query parameter; texts live as long as the request */
	const char *name, *value;
};

struct http_req {
	enum http_method method;
	const char *method_text;
	const char *target; /* as sent */
	const char *path; /* percent-decoded once; valid UTF-8 without NUL; '+' stays */
	size_t path_len;
	const char *query; /* as sent, without '?'; "" if none */
	struct http_field params[HTTP_PARAMS_MAX];
	size_t n_params;
	struct http_field *headers; /* names in lower case */
	size_t n_headers;
	int64_t length; /* Content-Length; 0 without a body; -1 chunked */
	bool expect; /* Expect: 100-continue */
	bool keep_alive;
	enum smap_netid net; /* the listener that accepted: never from the request */
	char peer[64]; /* "10.0.0.9:51122" */
	int64_t start_ns; /* CLOCK_MONOTONIC when the head was complete */
};

enum http_body {
	HTTP_BODY_NONE, /* resp.length may be set for HEAD: what GET would carry */
	HTTP_BODY_BYTES, /* resp.bytes */
	HTTP_BODY_STREAM, /* resp.length bytes by resp.stream */
};

/* A body that is sent by somebody else: daemon/steer's paths. */
struct http_stream {
	/*
	 * Move up to @max bytes to @sock on the loop's thread. Return: bytes moved; -EAGAIN: the
	 * socket is full; another negative errno, or 0 (the source ended early): close at once.
	 */
	ssize_t (*send)(struct http_stream *s, int sock, size_t max);
	void (*free)(struct http_stream *s);
};

struct http_resp {
	int status; /* 0 until set */
	struct buf head; /* header lines, by http_header() */
	enum http_body body;
	struct buf bytes;
	struct http_stream *stream; /* owned */
	uint64_t length; /* of the stream, or for HEAD */
	bool has_length; /* HEAD: send Content-Length: length */
	bool close; /* Connection: close after it */
	uint8_t path, reason; /* daemon/steer: 0 until steered */
};

struct http_txn {
	struct http_req req;
	struct http_resp resp;
	struct buf body; /* http_collect() */
	void *ctx; /* the route's */
	void *user; /* the handler's; user_free is called when the transaction ends */
	void (*user_free)(void *user);
	const char *caller; /* "p[ID]" when a member signed it: set by opts.admit */
	uint32_t admitted; /* opts.admit's own flags */
	struct http_conn *conn; /* private */
	struct http_server *server; /* private */
};

struct http_route {
	const char *path; /* "/v1/objects": matches itself and everything below */
	uint32_t nets; /* BIT(SMAP_NET_*) where it exists; elsewhere opts.fallback */
	uint32_t methods; /* BIT(HTTP_*); others are 405 with Allow. HEAD is its own bit */
	void (*handle)(struct http_txn *t);
	void *ctx;
};

struct http_limits {
	size_t max_head; /* request line and headers, bytes: 431, or 414 when the line alone */
	size_t max_headers;
	uint64_t head_ms; /* first byte of a request to the end of its head */
	uint64_t body_ms; /* without progress of a body, either way */
	uint64_t idle_ms; /* between requests */
	uint64_t drain_bytes, drain_ms; /* discarding a body nobody wants */
	size_t max_conns; /* a listener */
};

struct http_server_opts {
	size_t sz; /* sizeof(struct http_server_opts) */
	const char *node_name; /* "t[ID]", in error documents */
	bool gateway; /* texts of wrong areas differ */
	const struct http_route *routes;
	size_t n_routes;
	struct http_limits limits;
	struct metrics *metrics;
	struct pool *io; /* runs sinks */
	/* Before any handler, on the loop: false when it has replied (refused). May be NULL. */
	bool (*admit)(void *ctx, struct http_txn *t);
	/* On the loop, right before a response head is made: steering's last word. May be NULL. */
	void (*before_head)(void *ctx, struct http_txn *t);
	/* After the last byte of a response, or when it broke off (@err < 0). May be NULL. */
	void (*after)(void *ctx, struct http_txn *t, int err);
	/* No route for this path on this listener; must reply. */
	void (*fallback)(struct http_txn *t);
	void *ctx;
};

/* ---- server ---- */

/**
 * http_server_new() - Make a server; it listens on nothing yet
 * @opts:	copied; routes and what they point to must outlive the server
 * @ret:	the server, written on success only
 *
 * Return: 0; -EINVAL for a wrong @opts->sz or no fallback; -ENOMEM.
 */
int http_server_new(const struct http_server_opts *opts, struct http_server **ret);
/* After all its loops have ended. NULL is fine. */
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
 * @limit_ms:	what is left then is closed
 * @done:	called on the loop when none is left
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
 * A full pool is answered 503 with Retry-After.
 */
void http_run(struct http_txn *t, struct pool *p, void (*fn)(struct http_txn *t));

/**
 * http_collect() - Take the whole request body into t->body, then continue
 * @t:		the transaction
 * @max:	bytes; a longer body is answered 413
 * @p:		pool for @fn; NULL: the loop
 * @fn:		the continuation
 *
 * Also right for requests without a body. Sends 100 Continue if asked for.
 */
void http_collect(struct http_txn *t, size_t max, struct pool *p, void (*fn)(struct http_txn *t));

/* Where a streamed request body goes. All called on the io pool, one at a time. */
struct http_sink {
	/* Return: 0; negative: stop, t->resp is filled in (http_error()) and will be sent. */
	int (*write)(struct http_txn *t, const void *p, size_t n);
	/* The body is whole; leads to http_reply(), now or later. */
	void (*end)(struct http_txn *t);
	/* The body broke off, or write failed: undo. No reply from here. */
	void (*abort)(struct http_txn *t);
};

/**
 * http_receive() - Stream the request body into a sink
 * @t:		the transaction
 * @max:	bytes; more is 413 and abort
 * @sink:	static
 *
 * At most two pieces of 1 MiB are in memory; the socket waits for the sink. Sends 100 Continue.
 */
void http_receive(struct http_txn *t, uint64_t max, const struct http_sink *sink);

/* Whether the peer has gone: work for it may stop. Any thread. */
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

/* ---- URIs (uri.c) ---- */

/* Percent-encode a path: '/' and RFC 3986 unreserved stay, also "!$&'()*,:=@;" do not: %XX. */
void http_uri_encode_path(struct buf *out, const char *p, size_t n);
/* Percent-encode one query name or value: only unreserved stays, '/' becomes %2F. */
void http_uri_encode_query(struct buf *out, const char *p, size_t n);
/* Decode in place; '+' is a blank if @form. Return: new length, -EINVAL for a bad escape or NUL. */
ssize_t http_uri_decode(char *s, size_t n, bool form);
/* Well-formed UTF-8 (RFC 3629), no NUL. */
bool http_utf8_ok(const char *s, size_t n);
/* @t as an IMF-fixdate (RFC 9110 5.6.7); @out of 30 bytes. */
void http_date_format(int64_t unix_s, char out[30]);
/* Any of the three forms of RFC 9110 5.6.7. Return: 0 or -EINVAL. */
int http_date_parse(const char *s, int64_t *ret_unix_s);

/**
 * http_range() - One byte range against a size (RFC 9110 14.1.2)
 * @text:	the Range header's value
 * @size:	of the representation
 * @ret_off:	first byte
 * @ret_len:	bytes, clamped to the size
 *
 * Return: 0; HTTP_RANGE_E_SYNTAX malformed or several ranges; HTTP_RANGE_E_BEYOND starts at or
 * past the end (answer Content-Range: bytes * /size).
 */
int http_range(const char *text, uint64_t size, uint64_t *ret_off, uint64_t *ret_len);
#define HTTP_RANGE_E_SYNTAX 1
#define HTTP_RANGE_E_BEYOND 2

#endif
