/* SPDX-License-Identifier: BSD-2-Clause */
/* Looking up objects and opening their blobs. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "store/atime.h"
#include "store/blob.h"

#define OPEN_TRIES 16 /* overwrites in a row that one open follows */

int store_lookup(struct store *s, uint64_t digest, const struct objkey *k, struct store_rec *rec,
		 struct mpath **ret)
{
	int r = store_find(s, digest, k, rec, ret);
	int64_t at;

	if (r == -EUCLEAN)
		mpath_drop(*ret);
	if (r < 0)
		return r == -EUCLEAN ? -EIO : r;
	rec->path = (*ret)->idx;
	at = atimes_get((*ret)->at, k);
	rec->atime_ns = MAX(rec->atime_ns, at);
	return 0;
}

int store_stat(struct store *s, const struct store_bck *b, const char *name, struct store_rec *rec)
{
	struct mpath *mp;
	struct objkey k;
	int r = store_key(b, name, &k);

	if (r == 0)
		r = store_lookup(s, store_digest(b, name), &k, rec, &mp);
	if (r == 0)
		mpath_drop(mp);
	return r;
}

/* Open the blob of @rec. Return: 0; -ENOENT when it is gone; -EIO of another size; or errno. */
static int open_exact(struct mpath *mp, const struct store_rec *rec, int *ret_fd)
{
	autofd fd = blob_open(mp, rec->blob, O_RDONLY);
	struct stat st;

	if (fd < 0)
		return fd;
	if (fstat(fd, &st) < 0)
		return -errno;
	if ((uint64_t)st.st_size != rec->size)
		return -EIO;
	*ret_fd = take_fd(&fd);
	return 0;
}

int store_open_blob(struct store *s, const struct store_bck *b, const char *name,
		    struct store_rec *rec, int *ret_fd)
{
	uint64_t digest = store_digest(b, name);
	struct mpath *mp;
	char gone[sizeof(rec->blob)] = "";
	struct objkey k;
	int r, i;

	r = store_key(b, name, &k);
	for (i = 0; r == 0 && i < OPEN_TRIES; i++) {
		r = store_lookup(s, digest, &k, rec, &mp);
		if (r < 0)
			return r;
		r = open_exact(mp, rec, ret_fd);
		if (r == 0)
			atimes_note(mp->at, &k, wall_ns());
		else if (r != -ENOENT && !mpath_ok(mp))
			r = STORE_OUT;
		mpath_drop(mp);
		if (r != -ENOENT)
			return r;
		/* replaced between the two, or lost if the record still says the same */
		if (!strcmp(gone, rec->blob))
			return -EIO;
		memcpy(gone, rec->blob, sizeof(gone));
		r = 0;
	}
	return r < 0 ? r : -EIO;
}
