/* SPDX-License-Identifier: BSD-2-Clause */
/* The index made again from the blobs alone: pagewired --rebuild-index. */
#ifndef STORE_REBUILD_H
#define STORE_REBUILD_H

#include <stddef.h>
#include <stdint.h>

#define QUARANTINE_DIR "quarantine" /* below the mountpath: blobs that are not what they say */

struct rebuild_opts {
	const char *const *paths; /* clean absolute mountpaths */
	size_t n_paths;
	uint64_t map_bytes; /* as in struct store_opts */
	void (*say)(void *arg, const char *line); /* progress, findings, results; no newline */
	void *arg;
};

/* What was found, all mountpaths together. */
struct rebuild_count {
	uint64_t objects; /* records of the new index */
	uint64_t bytes; /* of these objects */
	uint64_t replaced; /* blobs of older versions, removed */
	uint64_t quarantined; /* blobs that are not what they say, moved to QUARANTINE_DIR */
	uint64_t foreign; /* files that are no blobs, left alone */
	size_t failed; /* mountpaths */
};

/**
 * store_rebuild() - Make the index of each mountpath anew
 * @o:		what and where
 * @ret:	always written
 *
 * Of two blobs with one key that of the higher sequence number counts. The new index is made in
 * meta/rebuild/ and renamed when it is whole; until then the old one stays, and a run that was cut
 * short is begun anew by the next. A mountpath that fails does not keep the others from being done.
 *
 * Return: 0; -EBUSY a daemon runs; -ENOSPC; or the first error.
 */
int store_rebuild(const struct rebuild_opts *o, struct rebuild_count *ret);

#endif
