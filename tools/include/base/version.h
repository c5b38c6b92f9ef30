/* SPDX-License-Identifier: BSD-2-Clause */
/* The version of pagewire that all its programs tell. */
#ifndef BASE_VERSION_H
#define BASE_VERSION_H

#define PAGEWIRE_VERSION "0.1"

#endif
