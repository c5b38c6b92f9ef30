/* SPDX-License-Identifier: BSD-2-Clause */
/* Copying the bytes of blobs. */
#ifndef STORE_COPY_H
#define STORE_COPY_H

#include "store/put_impl.h"

/* Bytes of one open file into an empty one, extents shared where possible. Return: 0 or errno. */
int copy_bytes(int from, int to, uint64_t size);

#endif
