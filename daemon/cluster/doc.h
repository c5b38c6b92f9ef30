/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * doc - the JSON that nodes exchange about metadata: documents with Smap, BMD and config, versions
 * held, join requests. Parsers are strict about types and bounded by the smap and bmd rooms.
 */
#ifndef CLUSTER_DOC_H
#define CLUSTER_DOC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "cluster/bmd.h"
#include "config.h"
#include "smap/smap.h"

#define DOC_MAX (192u << 20) /* bytes of a document */
#define DOC_JOIN_MAX (64u << 10) /* bytes of a join request */

struct doc_versions {
	int64_t smap, bmd, conf;
};

/* Metadata of one message; what it does not carry is NULL. */
struct doc {
	struct smap *smap;
	struct bmd *bmd;
	struct config *conf;
	bool has_silent;
	char (*silent)[SMAP_ID_MAX + 1]; /* node IDs in byte order */
	size_t n_silent;
};

/**
 * doc_parse() - Read {"Smap":…,"BMD":…,"Conf":…,"silent":[…]}; each member may be absent
 * @node:	the node's own config, whose node-wide keys the read one takes
 * @text:	the document
 * @len:	its length
 * @ret:	written on success only; end with doc_deinit()
 * @err:	a sentence on -EINVAL and -E2BIG
 * @err_size:	room at @err
 *
 * Return: 0; -EINVAL; -E2BIG; -ENOMEM.
 */
int doc_parse(const struct config *node, const char *text, size_t len, struct doc *ret, char *err,
	      size_t err_size);
/* May run twice. */
void doc_deinit(struct doc *d);
/* Append @d as JSON. */
void doc_print(const struct doc *d, struct buf *out);

/* Read {"smap":"7","bmd":"2","conf":"1"}; absent is 0. Return: 0, -EINVAL, -ENOMEM. */
int doc_versions_parse(const char *text, size_t len, struct doc_versions *ret);
/* Append the members without braces. */
void doc_versions_print(const struct doc_versions *v, struct buf *out);

/* What a node sends to join. */
struct doc_join {
	struct smap_node si;
	char uuid[SMAP_UUID_MAX + 1]; /* of the cluster it was in, "" if none */
	struct doc_versions have;
	bool skip_rebalance;
};

/* Read a join request. Return: 0; -EINVAL with a sentence; -ENOMEM. */
int doc_join_parse(const char *text, size_t len, struct doc_join *ret, char *err, size_t err_size);
/* Append a join request. */
void doc_join_print(const struct doc_join *j, struct buf *out);

#endif
