/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of the HTTP server offer each other; steps return as struct conn_step says. */
#ifndef HTTP_PARTS_H
#define HTTP_PARTS_H

#include "http/conn.h"

/* ---- conn.c: life and turns ---- */

/* Take over accepted socket @fd. Return: 0, or negative: the caller closes it. */
int http_conn_new(struct listener *from, int fd, const struct sockaddr *sa);
/* Run until it has to wait. Not when dead. May free the connection. */
void http_conn_turn(struct http_conn *c);
/* Close; the struct goes too unless somebody holds the transaction. @err is for opts.after. */
void http_conn_die(struct http_conn *c, int err);
/* Whether it waits for a request, with nothing begun. */
bool http_conn_idle(const struct http_conn *c);

/* ---- conn_in.c: what is read ---- */

/* Wait for a first byte. */
int http_conn_idle_step(struct http_conn *c);
/* Read a head and call the handler. */
int http_conn_head_step(struct http_conn *c);
/* Read a body into t->body. */
int http_conn_collect_step(struct http_conn *c);
/* Read what is left of a body nobody wants. */
int http_conn_discard_step(struct http_conn *c);
/* Read until the peer closes. */
int http_conn_linger_step(struct http_conn *c);
/* Answer @f and close afterwards. Return: CONN_REPLY. */
int http_conn_bad(struct http_conn *c, const struct http_fault *f);
/* Half-close, end the transaction, then read on within limits. Return: CONN_LINGER. */
int http_conn_linger(struct http_conn *c, uint64_t ms, uint64_t bytes);
/* Send 100 Continue if it is due. Return: 0, -EAGAIN, or another negative errno. */
int http_conn_interim(struct http_conn *c);
/* Body bytes to @dst (NULL: nowhere). Return: bytes; 0: done; -EAGAIN; -EBADMSG; -EFBIG; ... */
ssize_t http_body_read(struct http_conn *c, char *dst, size_t room);
/* Give the read buffer back when nothing is in it. */
void http_conn_in_release(struct http_conn *c);

/* ---- conn_out.c: what is sent ---- */

/* Send the response, then decide how the connection goes on. */
int http_conn_reply_step(struct http_conn *c);
/* Wait for a disk, then go on with the response. */
int http_conn_fetch_step(struct http_conn *c);

/* ---- rx.c: bodies into sinks ---- */

/* Read a body into pieces and hand them on. */
int http_conn_receive_step(struct http_conn *c);
/* The engine gives up on the body: abort, then reply with @f. */
void http_rx_fail(struct txn *x, const struct http_fault *f);
/* Free the pieces. */
void http_rx_free(struct txn *x);

/* ---- txn.c: transactions ---- */

/* For connection @c. Return: NULL without memory. */
struct txn *http_txn_new(struct http_conn *c);
/* Tell opts.after, once. */
void http_txn_told(struct txn *x, int err);
/* Free it, told or not. */
void http_txn_end(struct txn *x, int err);
/* What the handler decided, from any thread. */
void http_txn_act(struct txn *x, enum txn_act act);
/* Fill in 503 with Retry-After. */
void http_busy(struct http_txn *t, const char *why);
/* Free t->body, and give back what it took. */
void http_txn_body_drop(struct txn *x);
/* Count it as in flight, if not yet. Return: false when there are too many. */
bool http_txn_admit(struct txn *x);
/* Call x->fn where it belongs; on the loop's thread. */
void http_txn_continue(struct txn *x);

/* ---- dispatch.c ---- */

/* Find the route and call its handler. */
void http_dispatch(struct http_txn *t);

/* ---- server.c ---- */

/* The connection has left @hl: the drain may be over. */
void http_loop_left(struct http_loop *hl);
/* Date header's value, good for this second. */
const char *http_loop_date(struct http_loop *hl);

#endif
