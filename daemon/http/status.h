/* SPDX-License-Identifier: BSD-2-Clause */
/* Reason phrases of status codes. */
#ifndef HTTP_STATUS_H
#define HTTP_STATUS_H

/* The phrase of RFC 9110 (and 6585, 4918); "Unknown" for a code without one. */
const char *http_status_reason(int status);

#endif
