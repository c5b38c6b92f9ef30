/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * steer - the cheapest correct path for each response, one by one
 *
 * steer_decide() is one pure function; a path is one file. What was decided is counted and, when
 * the request asks with "Pagewire-Explain: 1", told in the header Pagewire-Path.
 */
#ifndef STEER_H
#define STEER_H

#include <stdbool.h>
#include <stdint.h>

#include "config.h"
#include "http/http.h"

enum steer_path {
	STEER_PATH_NONE,
	STEER_PATH_SMALL, /* read behind the head, one send */
	STEER_PATH_SENDFILE, /* plain HTTP, page cache to socket */
	STEER_PATH_PRODUCE, /* made, not stored */
	STEER_PATH_COPY, /* read and send: the fallback of all */
	STEER_PATH_NR,
};

enum steer_reason {
	STEER_REASON_NONE,
	STEER_REASON_SMALL_BODY, /* at most steer.small_max */
	STEER_REASON_LARGE_BODY, /* more than that */
	STEER_REASON_PRODUCED, /* no file behind it */
	STEER_REASON_CHECKSUMMED, /* the checksum of a range is computed on the way */
	STEER_REASON_POLICY, /* switched off by config */
	STEER_REASON_FORCED, /* no path fits but the fallback */
	STEER_REASON_NR,
};

extern const char *const steer_path_names[STEER_PATH_NR];
extern const char *const steer_reason_names[STEER_REASON_NR];
/* A sentence a reason, for the man page. */
extern const char *const steer_reason_help[STEER_REASON_NR];

enum steer_body {
	STEER_BODY_BYTES, /* made in memory */
	STEER_BODY_BLOB, /* a range of a blob */
};

struct steer_input {
	enum steer_body body;
	uint64_t size; /* bytes to send */
	bool checksummed; /* the bytes must be seen for a checksum */
	bool can_sendfile; /* the link is plain and the source a regular file */
	uint64_t small_max; /* steer.small_max */
	bool sendfile_on; /* steer.sendfile */
};

struct steer_choice {
	enum steer_path path;
	enum steer_reason reason;
};

/* The decision: pure, table-tested. */
struct steer_choice steer_decide(const struct steer_input *in);

/**
 * steer_blob() - Make a blob range the body of a response
 * @t:		the transaction; status and headers are the caller's
 * @cfg:	policy
 * @fd:		the blob, consumed in any case
 * @off:	first byte
 * @len:	bytes
 *
 * May read from the disk: io pool only. For HEAD only the length is set.
 *
 * Return: 0; -EIO when the file is shorter than promised; errno of pread(2); -ENOMEM.
 */
int steer_blob(struct http_txn *t, const struct config *cfg, int fd, uint64_t off, uint64_t len);

/**
 * steer_bytes() - A body made in memory that stands for a checksummed range (path produce)
 * @t:		the transaction; its resp.bytes are the body
 * @reason:	why it was made
 */
void steer_bytes(struct http_txn *t, enum steer_reason reason);

/* opts.before_head of the HTTP server: last word, Pagewire-Path. @metrics is struct metrics *. */
void steer_before_head(void *metrics, struct http_txn *t);
/* Count a finished response. */
void steer_after(struct metrics *m, struct http_txn *t, int err);

#endif
