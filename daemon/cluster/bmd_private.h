/* SPDX-License-Identifier: BSD-2-Clause */
/* What bmd.c and bmd_json.c share. */
#ifndef BMD_PRIVATE_H
#define BMD_PRIVATE_H

#include <stdatomic.h>

#include "cluster/bmd.h"

#define BMD_BID_AIS (UINT64_C(1) << 63) /* set in the ID of every ais bucket */

struct bmd {
	atomic_int refs;
	char uuid[SMAP_UUID_MAX + 1];
	int64_t version;
	uint64_t last_serial; /* of all bucket IDs ever given */
	size_t n_gone;
	uint64_t *gone; /* IDs of destroyed buckets, in order; owned */
	size_t n;
	struct bmd_bucket buckets[]; /* by name */
};

/* A BMD with one reference and room for buckets. Return: 0, -EINVAL, -E2BIG, -ENOMEM. */
int bmd_alloc(const char *uuid, int64_t version, size_t room, struct bmd **ret);
/* Note that a bucket was destroyed; the oldest is forgotten. Return: 0 or -ENOMEM. */
int bmd_add_gone(struct bmd *b, uint64_t bid);
/* Sort; -EEXIST when two buckets have one name. */
int bmd_seal(struct bmd *b);
/* A checksum type that a bucket may have. */
bool bmd_cksum_type_ok(const char *s);
/* Namespace in its uname form "@uuid#name". Return: 0 or -EINVAL. */
int bmd_ns_parse(const char *text, size_t len, struct bmd_name *ret);

#endif
