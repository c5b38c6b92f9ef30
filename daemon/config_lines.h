/* SPDX-License-Identifier: BSD-2-Clause */
/* On which line of a JSON text each key stands; private to the config. */
#ifndef CONFIG_LINES_H
#define CONFIG_LINES_H

#include <stddef.h>

struct config_lines;

/**
 * config_lines_new() - Find all keys of a JSON document that has been parsed before
 * @text:	the document
 * @len:	its length
 * @ret:	the lines, written on success only
 *
 * Return: 0; -E2BIG for more keys than a config can have; -ENOMEM.
 */
int config_lines_new(const char *text, size_t len, struct config_lines **ret);
void config_lines_free(struct config_lines *l);
/* Line of a dotted key, or of the nearest section around it; 1 for none. NULL @l is fine. */
size_t config_lines_of(const struct config_lines *l, const char *key);
/* A key that stands twice in the document, nested or dotted, or NULL. @line: the second place. */
const char *config_lines_double(const struct config_lines *l, size_t *line);

#endif
