/* SPDX-License-Identifier: BSD-2-Clause */
/* What the paths offer to steer.c; one file each. All consume the descriptor. */
#ifndef STEER_PRIVATE_H
#define STEER_PRIVATE_H

#include "http/http.h"

/* Read the range behind the head: one send. Return: 0, -EIO if short, errno, -ENOMEM. */
int send_small_begin(struct http_txn *t, int fd, uint64_t off, uint64_t len);
/* sendfile(2) from the page cache. Return: 0 or -ENOMEM. */
int send_file_begin(struct http_txn *t, int fd, uint64_t off, uint64_t len);
/* pread(2) and send(2): the fallback of all. Return: 0 or -ENOMEM. */
int send_copy_begin(struct http_txn *t, int fd, uint64_t off, uint64_t len);

#endif
