/* SPDX-License-Identifier: BSD-2-Clause */
/* Which bucket and object a request names: pure text work, no transaction. */
#ifndef API_TARGET_H
#define API_TARGET_H

#include <stdbool.h>
#include <stddef.h>

#include "api/api.h"

/* A refusal before it becomes a response. */
struct api_fault {
	int status;
	const char *tcode; /* or NULL */
	char text[512];
};

/* Fill @f; returns -EINVAL. */
int api_fault_set(struct api_fault *f, int status, const char *tcode, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* What a request says of its target. */
struct api_target_text {
	const char *area; /* "/v1/objects" */
	const char *path; /* decoded, begins with @area */
	size_t path_len;
	const char *provider, *ns; /* query; NULL: absent */
	bool need_object;
	bool head; /* an object name may end in '/' */
	bool post; /* a bucket of a provider that is not built is 501, not 404 */
};

/**
 * api_target_parse() - Split a path into bucket and object
 * @in:		what the request says
 * @ret:	written on success only; texts point into @in
 * @f:		why not, on -EINVAL
 *
 * In the bucket part slashes vanish, in the object part each one counts. A request without a bucket
 * gives an empty name, with the provider normalised, built or not.
 *
 * Return: 0 or -EINVAL.
 */
int api_target_parse(const struct api_target_text *in, struct api_target *ret, struct api_fault *f);

/* Normal form of a provider word: "ais", "aws", ...; NULL for an unknown one. */
const char *api_provider(const char *word);
/* "AWS" of "aws", for messages. */
const char *api_provider_title(const char *provider);
/* "@uuid#name", "#name". Return: 0 or -EINVAL. */
int api_ns_parse(const char *text, struct bmd_name *ret);

#endif
