/* SPDX-License-Identifier: BSD-2-Clause */
/* The body of a PUT, read from an open file. */
#ifndef PAGEWIRE_UPLOAD_H
#define PAGEWIRE_UPLOAD_H

#include <curl/curl.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "client.h"

struct progress;

struct upload {
	int fd;
	off_t base; /* where in the file the body starts */
	bool regular; /* any part can be read again */
	bool sized; /* regular, and its size is known */
	uint64_t size; /* if sized */
	uint64_t sent; /* so far, of the present attempt */
	int err; /* 0, or the negative errno of a read; -ESTALE: the file became shorter */
	struct progress *progress; /* NULL: none */
	const char *label;
};

/**
 * upload_init() - Read from an open file
 * @up:		filled
 * @fd:		the file; stays the caller's
 *
 * A regular file is read from its present offset to its present end, anything else to its end; so
 * is a file that has bytes though its size is 0, as below /proc.
 *
 * Return: 0, or the negative errno of fstat(2) or of the first read.
 */
int upload_init(struct upload *up, int fd);

/**
 * upload_prepare() - Set a handle up for a PUT of this body
 * @c:		the client
 * @easy:	the handle
 * @path:	of the object, with its query
 * @up:		the body; must stay until the transfer has ended
 * @r:		the answer; must stay as long
 *
 * The body is held back until the node that stores it has asked for it; only a small one is sent
 * with the request, as keeping the connection is then worth more.
 *
 * Return: 0 or -ENOMEM.
 */
int upload_prepare(struct client *c, CURL *easy, const char *path, struct upload *up,
		   struct resp *r);

/* Why the transfer failed on our side, NULL if it did not. Static, or valid until the next call. */
const char *upload_error(const struct upload *up);

#endif
