/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * DOC: connections, inside
 *
 * A connection (struct http_conn) is in one state at a time; conn.c has the table. All of it
 * belongs to its loop's thread. It has at most one transaction (struct txn). Who works on the
 * transaction holds it: the engine, the handler (CONN_HANDLER), a sink (rx.writing, rx.ending), or
 * who fetches from a disk (CONN_FETCH).
 * What a handler decides comes back as x->act, by loop_post() when it was decided elsewhere.
 *
 * When the peer goes while somebody else holds the transaction, the socket is closed at once, and
 * the structs stay until the transaction comes back.
 */
#ifndef HTTP_CONN_H
#define HTTP_CONN_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/socket.h>

#include "base/list.h"
#include "http/bounds.h"
#include "http/chunked.h"
#include "http/http.h"
#include "http/link.h"
#include "http/parse.h"
#include "loop/loop.h"
#include "loop/pool.h"

#define CONN_TURN_BYTES (1U << 20) /* moved before others get a turn */
#define CONN_TURN_REQS 32 /* requests served from the buffer in a turn */
#define CONN_IN_SIZE 16384 /* first size of the read buffer */
#define CONN_PIECE (1U << 20) /* handed to a sink at once */
#define CONN_PIECE_MIN 16384 /* of a piece, whatever the others hold */
#define CONN_KEPT_MIN 65536 /* of a collected body and of an answer, likewise */
#define CONN_SQUEEZE_MS 100 /* between two looks for memory that is held and not used */
#define CONN_SCRATCH 65536 /* where unwanted bytes go */
#define CONN_MIN_BYTES 1024 /* of a body in limits.body_ms, or it counts as no progress */
#define CONN_LINGER_MS 2000 /* for the peer to close after a last response */

enum conn_state {
	CONN_NONE,
	CONN_IDLE, /* between requests */
	CONN_HEAD, /* the first byte of a request has come */
	CONN_HANDLER, /* somebody else has the transaction */
	CONN_COLLECT, /* body into t->body */
	CONN_RECEIVE, /* body into a sink */
	CONN_REPLY, /* response out */
	CONN_FETCH, /* the io pool waits for a disk, for the response */
	CONN_DISCARD, /* response is out, its request's body is not read yet */
	CONN_LINGER, /* half closed: read until the peer closes too */
	CONN_NR,
};

struct http_loop { /* a server's part on one loop */
	struct list node; /* in the server */
	struct http_server *server;
	struct loop *loop;
	struct list listeners, conns;
	char *spare_in; /* one idle read buffer of CONN_IN_SIZE */
	char *scratch; /* CONN_SCRATCH, made when first needed */
	int64_t squeezed_ns; /* when memory was last looked for */
	int64_t date_s;
	char date[30];
	bool draining;
	struct loop_timer drain_timer;
	void (*done)(void *arg);
	void *done_arg;
};

struct sinks { /* bodies that are written at once, and those that wait for their turn */
	pthread_mutex_t lock;
	size_t at_work;
	struct list waiting; /* of rx.turn */
};

struct http_server {
	struct http_server_opts opts;
	pthread_mutex_t lock; /* of loops */
	struct list loops;
	struct bounds bounds;
	struct sinks sinks;
};

struct listener {
	struct list node; /* in the http_loop */
	struct http_loop *hl;
	struct loop_fd fd;
	struct loop_timer pause; /* out of descriptors: accepting rests */
	enum smap_netid net;
	size_t n_conns;
	bool failing; /* accepting failed since the last success: one log line is enough */
};

struct conn_buf {
	char *data;
	size_t off, len, cap; /* [off, len) is not used yet */
};

struct http_conn {
	struct list node; /* in the http_loop */
	struct http_loop *hl;
	struct listener *from;
	struct bounds_peer *from_peer;
	struct loop_fd fd;
	struct loop_timer timer;
	struct http_link link;
	enum conn_state state;
	uint32_t wants; /* EPOLL* bits for this wait; 0: not for the peer */
	bool turn; /* conn_turn() is on the stack */
	bool lazy; /* waits for nothing, though the kernel was not told */
	bool readable; /* recv may have more */
	bool rearm; /* progress: the state's time starts anew */
	bool seen_crlf; /* the one empty line before a request line was taken */
	bool dead;
	atomic_bool gone; /* for http_gone(): closed, or the peer's half is */
	size_t budget, reqs; /* left of this turn */
	size_t moved; /* body bytes since the state's time began */
	uint64_t linger_ms, linger_bytes;
	struct conn_buf in;
	struct http_scan scan;
	struct txn *txn;
	char peer[64];
};

enum txn_act { ACT_NONE, ACT_REPLY, ACT_COLLECT, ACT_RECEIVE, ACT_NR };

struct body_in {
	bool done;
	uint64_t left; /* of a known length */
	uint64_t got, max;
	struct http_chunked dec;
};

struct piece {
	char *data;
	size_t len, cap;
	bool full; /* it is as large as it may be now */
};

struct rx { /* a body on its way into a sink */
	const struct http_sink *sink;
	struct piece fill; /* the loop's */
	struct piece busy; /* the sink's, while @writing */
	bool started, writing, last;
	bool ending; /* abort is on its way; a reply follows */
	struct list turn; /* in sinks.waiting */
	struct http_fault fault; /* why the engine gives up; status 0: it does not */
	struct pool_job job;
	struct loop_work idle;
};

struct txn {
	struct http_txn t; /* what handlers see */
	struct http_scan scan;
	char *text;
	enum txn_act act; /* the loop's */
	enum txn_act posted; /* what @work brings */
	struct loop_work work;
	struct pool_job job;
	struct pool *pool; /* where @fn runs */
	void (*fn)(struct http_txn *t);
	struct body_in body;
	struct rx rx;
	bool unread; /* 100 Continue was asked for and not given */
	bool broken; /* where the next request begins is unknown */
	bool begun; /* the head is made */
	bool closing; /* the head says Connection: close */
	bool told; /* opts.after was called */
	bool admitted; /* counted as in flight */
	size_t interim; /* bytes of 100 Continue yet to send */
	size_t kept_body, kept_answer; /* what t.body and t.resp.bytes took of the bounds */
	struct buf out; /* head */
	uint64_t sent; /* of head and body */
	size_t at_hand; /* of the stream: what send() moves without waiting */
	bool fetching; /* the io pool has the stream */
	uint64_t body_len;
};

/* What the engine keeps around a handler's view. */
static inline struct txn *txn_of(struct http_txn *t)
{
	return container_of(t, struct txn, t);
}

/* @n bytes of a body have moved, either way. */
static inline void conn_moved(struct http_conn *c, size_t n)
{
	c->moved += n;
	if (c->moved >= CONN_MIN_BYTES) {
		c->moved = 0;
		c->rearm = true;
	}
}

/* The bounds of all connections together. */
static inline struct bounds *conn_bounds(const struct http_conn *c)
{
	return &c->hl->server->bounds;
}

/* Whether the bounds are for others: members are few, and their calls keep the cluster alive. */
static inline bool conn_unbound(const struct http_conn *c)
{
	return c->from->net == SMAP_NET_CONTROL;
}

/* The limits of the server. */
static inline const struct http_limits *conn_limits(const struct http_conn *c)
{
	return &c->hl->server->opts.limits;
}

#endif
