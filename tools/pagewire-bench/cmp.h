/* SPDX-License-Identifier: BSD-2-Clause */
/* Groups of cases that have a file of their own. */
#ifndef BENCH_CMP_H
#define BENCH_CMP_H

#include "lab.h"

/* Listing, the target and the gateway and the peer run. Return: an exit code. */
int cmp_list(struct lab *lab, unsigned int objects);
/* PUT beside bare loops; starts and ends its own clusters. Return: an exit code. */
int cmp_put(struct lab *lab);
/* Redirects and their checks beside bare signatures; its own cluster. Return: an exit code. */
int cmp_sign(struct lab *lab);

/* Small GETs beside a reader of what is on the disk only; its own cluster. Return: an exit code. */
int cmp_cold(struct lab *lab);

struct list_pages {
	const struct endpoint *to;
	const char *bucket, *prefix; /* prefix: NULL for none */
	unsigned int page; /* names asked for at once */
	uint64_t names, pages, bytes; /* counted */
	struct buf last_token; /* with which the last full page was asked for */
};

/**
 * list_all() - List a bucket, page by page, names with sizes, as JSON
 * @c:		a client of p->to
 * @p:		counted up; last_token set; free it
 * @why:	appended to on failure
 *
 * Return: 0 or a negative errno.
 */
int list_all(struct client *c, struct list_pages *p, struct buf *why);
/* Ask for one page, behind @token. Return: 0 or -errno, with @why; the answer is the caller's. */
int list_page(struct client *c, const struct list_pages *p, const char *token, struct answer *ret,
	      struct buf *why);

#endif
