/* SPDX-License-Identifier: BSD-2-Clause */
/* A put on its way, shared by put.c, copy.c and append.c. */
#ifndef STORE_PUT_IMPL_H
#define STORE_PUT_IMPL_H

#include "store/blob.h"
#include "store/commit.h"
#include "store/keylock.h"

struct store_put {
	struct mpath *mp; /* held */
	struct mpath *stale; /* held: has an older version, which goes when this one is there */
	uint64_t digest; /* of the name, for placement */
	char *name;
	struct keylock_hold hold; /* its key is the object's */
	struct blob blob;
	enum cksum_type type; /* of the bucket */
	bool versioned;
	bool rehash; /* the bytes did not all pass here: hash the file at the end */
	bool known; /* rec.cksum is set already */
	bool resumed; /* an append that goes on: aborted, it returns to base */
	uint64_t base; /* its size before this step */
	struct cksum *sum, *want_sum; /* want_sum: the client's type, when it is another */
	enum cksum_type want_type;
	char want[CKSUM_TEXT_MAX];
	int64_t expect; /* bytes, -1 unknown */
	uint64_t size; /* bytes so far */
	bool reset_version;
	uint64_t base_version;
	int64_t mtime_ns;
	struct store_rec rec, old; /* old: the newest there is */
	char replaced[48]; /* blob of the older version on mp, "" for none */
	uint32_t replaced_flags;
	bool admitted; /* by the committer of mp */
	struct commit_op op;
	store_done_fn done;
	void *arg;
};

/* A put without a file yet. Return: 0; -EINVAL; -ENAMETOOLONG; -EMSGSIZE; -ENOMEM. */
int put_new(struct store *s, const struct store_bck *b, const char *name,
	    const struct store_put_opts *o, struct store_put **ret);
/* End it with a result: tidy up, tell, free. */
void put_end(struct store_put *p, int err);
/* Custom metadata: whole pairs, within the limits? Return: 0; -EINVAL; -EMSGSIZE. */
int put_check_custom(const char *packed, size_t len);

#endif
