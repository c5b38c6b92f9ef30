/* SPDX-License-Identifier: BSD-2-Clause */
/* The load: one thread, one epoll, many connections, requests rendered beforehand. */
#ifndef BENCH_LOAD_H
#define BENCH_LOAD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "hist.h"
#include "net.h"

struct meter;

/* Requests to be made in turn. */
struct plan {
	struct buf text; /* whole heads, one behind the other */
	uint32_t *begin; /* where each begins; one more than there are */
	size_t n, cap;
	const char *method; /* the same for all */
	char host[280];
	const void *body; /* the same for all, borrowed; NULL: none */
	uint64_t body_len;
	int err; /* 0 or -ENOMEM, sticky */
};

/* An empty plan of requests to @host, each with the body given (NULL: without). */
void plan_init(struct plan *p, const char *method, const char *host);
/* Forget all requests. */
void plan_deinit(struct plan *p);
/* Add one; @headers are whole lines, NULL: none. @path carries its query. */
void plan_add(struct plan *p, const char *path, const char *headers);
/* The path of request @i, not terminated; *@len gets its length. */
const char *plan_path(const struct plan *p, size_t i, size_t *len);

struct load_opts {
	const struct plan *plan;
	const struct endpoint *to;
	unsigned int connections;
	int64_t warm_ns; /* not counted, at the beginning */
	int64_t limit_ns; /* 0: until each request was made once */
	uint64_t rate; /* requests a second, 0: as many as go */
	bool follow; /* 307; a body is sent only to whom takes it */
	int status; /* what a good answer has; 0: any 2xx */
	struct meter *server; /* whose processor time counts, NULL: nobody's */
	/* The head of each good answer, valid during the call; NULL: nobody looks. */
	void (*on_head)(void *arg, size_t req, const struct http_head *head);
	void *arg;
};

struct load_result {
	uint64_t requests; /* complete answers */
	uint64_t bytes; /* of bodies, in the direction in which they go, parts included */
	int64_t wall_ns, cpu_ns;
	struct hist latency; /* ns */
};

/**
 * load_run() - Make requests and measure them
 * @o:		what to ask, how, how long
 * @ret:	written on success only
 * @why:	appended to on failure: a sentence
 *
 * With a rate latencies count from the time a request was due, else from its sending.
 *
 * Return: 0 or a negative errno; -EREMOTEIO for an answer of another status.
 */
int load_run(const struct load_opts *o, struct load_result *ret, struct buf *why);

#endif
