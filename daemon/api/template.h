/* SPDX-License-Identifier: BSD-2-Clause */
/* Name templates of multi-object jobs: "pfx-{0001..0100..2}-sfx", "pfx@100", "pfx-%04d". */
#ifndef API_TEMPLATE_H
#define API_TEMPLATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TEMPLATE_RANGES_MAX 8
#define TEMPLATE_NAMES_MAX 10000000
#define TEMPLATE_LEN_MAX 1024 /* of the template, and of each name */

struct template_range {
	uint64_t start, end, step;
	unsigned int width; /* zeros in front up to this many digits */
	uint64_t now; /* of the iteration */
	size_t gap, gap_len; /* text behind it, in template.text */
};

struct template
{
	char text[TEMPLATE_LEN_MAX + 1];
	size_t prefix_len; /* text before the first range; all of it without ranges */
	struct template_range range[TEMPLATE_RANGES_MAX];
	size_t n_ranges; /* 0: a prefix, not a set of names */
	uint64_t count; /* names */
	bool done; /* of the iteration */
};

/**
 * template_parse() - Read a template
 * @text:	the template
 * @ret:	it, before its first name, on success only
 * @err:	a sentence, on -EINVAL
 * @err_size:	room at @err
 *
 * Return: 0; -EINVAL unbalanced braces, bad numbers, over TEMPLATE_NAMES_MAX names, too long.
 */
int template_parse(const char *text, struct template *ret, char *err, size_t err_size);
/* The next name, the last range fastest. False after the last one, and for a mere prefix. */
bool template_next(struct template *t, char out[TEMPLATE_LEN_MAX + 1]);

#endif
