/* SPDX-License-Identifier: BSD-2-Clause */
/* Surrogate pairs in JSON text. */
#ifndef API_PAIRS_H
#define API_PAIRS_H

#include "base/buf.h"

/**
 * pairs_to_utf8() - Replace escaped surrogate pairs ("\ud83d\ude00") by their characters, in place
 * @b:		JSON text; gets shorter, never longer
 *
 * json-c takes some characters above U+FFFF, as U+1D800, for another surrogate when they are
 * escaped, and gives U+FFFD: two names would become one. Everything else is left alone.
 */
void pairs_to_utf8(struct buf *b);

#endif
