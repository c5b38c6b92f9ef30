/* SPDX-License-Identifier: BSD-2-Clause */
/* Inside of the load: a slot is one request in flight and the connections it needs. */
#ifndef BENCH_SLOT_H
#define BENCH_SLOT_H

#include "load.h"

#define SLOT_SHARED (64U << 10) /* heads and small bodies are received here */

enum slot_state {
	SLOT_IDLE,
	SLOT_SEND, /* head or body is not all sent */
	SLOT_HEAD, /* an answer is awaited */
	SLOT_BODY, /* of which a part is to come */
	SLOT_NR,
};

#define SIDE_ENDPOINT 0
#define SIDE_NR 8 /* the others: hosts to which a 307 led */

struct load {
	const struct load_opts *o;
	int epoll;
	bool counting; /* warm-up is over */
	uint64_t requests, bytes;
	size_t next; /* request of the plan */
	uint64_t taken; /* requests begun */
	char **cached; /* where each request was led to, GET and HEAD only */
	struct hist *latency;
	struct buf *why;
	char shared[SLOT_SHARED];
};

struct slot {
	struct load *l;
	int fd[SIDE_NR]; /* -1: none */
	struct endpoint *to[SIDE_NR]; /* whom they are connected to; NULL for the endpoint */
	unsigned int side, evict; /* in use now; to be replaced next when all are taken */
	enum slot_state state;
	bool polls_out;
	bool held; /* the body waits for 100 or 307 */
	bool closes; /* the connection ends with this answer */
	bool warm; /* has had an answer */
	size_t req;
	int64_t begun_ns;
	const char *out; /* the head that is being sent */
	size_t out_len;
	uint64_t body_len, sent; /* sent: of head and body together */
	uint64_t left; /* of the answer's body */
	struct buf own; /* a head made for this slot */
	struct buf early; /* the first bytes of a head that came in parts */
};

_Static_assert(_Alignof(struct slot) >= SIDE_NR, "slot_tag()");

/* Connect to the endpoint. Return: 0 or a negative errno. */
int slot_open(struct slot *s, struct load *l);
/* Close and free what it holds. */
void slot_close(struct slot *s);
/* Begin request @req, which was due at @begun_ns. Return: 0 or a negative errno. */
int slot_begin(struct slot *s, size_t req, int64_t begun_ns);
/* Go on after an event. Return: 0; -errno. The request is over when the state is SLOT_IDLE. */
int slot_step(struct slot *s, unsigned int side, uint32_t events);

/* What epoll keeps of a connection: slots are aligned, the lowest bits are free for the side. */
static inline uint64_t slot_tag(struct slot *s, unsigned int side)
{
	return (uint64_t)(uintptr_t)s | side;
}

#endif
