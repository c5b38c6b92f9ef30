/* SPDX-License-Identifier: BSD-2-Clause */
/* Types of the HTTP server: requests, responses, transactions, routes, options. Use http/http.h. */
#ifndef HTTP_TXN_H
#define HTTP_TXN_H

#include <stdbool.h>
#include <stdint.h>
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
	bool http10; /* spoke HTTP/1.0 */
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
	/*
	 * Whether sending the next @max bytes would wait for a disk. Then fetch() is called on the
	 * io pool, meanwhile the loop serves others, and send() follows for these bytes. Both NULL:
	 * never. The peer may go meanwhile; free() comes after fetch() has returned.
	 */
	bool (*waits)(struct http_stream *s, size_t max);
	void (*fetch)(struct http_stream *s, size_t max);
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

struct http_limits { /* a time of 0: no limit */
	size_t max_head; /* request line and headers, bytes: 431, or 414 when the line alone */
	size_t max_headers;
	uint64_t head_ms; /* first byte of a request to the end of its head */
	uint64_t body_ms; /* in which a body must move 1 KiB or end, either way */
	uint64_t idle_ms; /* between requests */
	uint64_t drain_bytes, drain_ms; /* discarding a body nobody wants */
	size_t max_conns; /* a listener */
	/* of the whole server; 0: no limit */
	size_t max_conns_all; /* public and data networks together */
	size_t max_conns_peer; /* of one address on one network */
	size_t max_requests; /* that wait for a pool or their body; control is not counted */
	size_t max_sinks; /* at work at once: the other threads of the io pool are for reading */
	size_t max_memory; /* bytes of request bodies; and as much again of produced answers */
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

#endif
