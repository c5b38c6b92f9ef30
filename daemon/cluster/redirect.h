/* SPDX-License-Identifier: BSD-2-Clause */
/* redirect - the Location of a signed redirect; no I/O, no state */
#ifndef CLUSTER_REDIRECT_H
#define CLUSTER_REDIRECT_H

#include "base/buf.h"
#include "cluster/sign.h"

struct redirect { /* texts are borrowed */
	struct sign_env env;
	const char *url; /* of the node: scheme, host, port */
	const char *query; /* the client's, as sent */
	uint64_t time_ns; /* Unix */
	const uint8_t *sign_key;
};

/* Append the Location. Return: 0 or -ENOMEM. */
int redirect_location(const struct redirect *r, struct buf *out);
/* Append a query as it was sent; bytes that may not stand in one are percent-encoded. */
void redirect_query(struct buf *out, const char *query);

#endif
