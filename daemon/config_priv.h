/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of the config share; private to them. */
#ifndef CONFIG_PRIV_H
#define CONFIG_PRIV_H

#include <stdatomic.h>

#include "config.h"

#define CONFIG_INDEX_SIZE 1024 /* a power of two, several times the number of keys */
#define CONFIG_UUID_SIZE 64
#define CONFIG_TEXT_MAX 4096
#define CONFIG_PATHS_MAX 256 /* mountpaths */

struct config_value {
	int64_t num; /* of every type but texts and lists */
	char *text; /* CONFIG_TEXT, CONFIG_ENUM */
};

struct config_mountpath {
	char *path, *label;
};

struct config {
	atomic_uint refs;
	size_t n_keys;
	uint16_t index[CONFIG_INDEX_SIZE]; /* hash of name to number of key + 1 */
	struct config_mountpath *paths;
	size_t n_paths;
	int64_t version, time_ns;
	char uuid[CONFIG_UUID_SIZE];
	struct config_value values[];
};

/* Number of a key in config_keys, -1 for an unknown one. */
int config_index(const struct config *c, const char *name);
/* A deep copy with one reference. Return: 0 or -ENOMEM. */
int config_copy(const struct config *c, struct config **ret);
/* Value @i of @from into @to. Return: 0 or -ENOMEM. */
int config_value_copy(struct config *to, const struct config *from, size_t i);

/**
 * config_value_set() - Set a value from its text
 * @c:		a config that nobody else has yet
 * @i:		number of the key
 * @text:	the value, strings without quotes
 * @why:	what would be right, a sentence without the key, on -EINVAL and -ENOTSUP
 * @size:	room at @why
 *
 * Return: 0; -EINVAL; -ENOTSUP for CONFIG_F_UNBUILT and another value than the default; -ENOMEM.
 */
int config_value_set(struct config *c, size_t i, const char *text, char *why, size_t size);
/* Value @i as JSON. */
void config_value_print(const struct config *c, size_t i, struct buf *out);

/* One more mountpath. Return: 0; -EINVAL with @why; -ENOMEM. */
int config_path_add(struct config *c, const char *path, const char *label, char *why, size_t size);
void config_paths_clear(struct config *c);

/**
 * config_check() - Whether the keys of a node fit together
 * @c:		a whole config
 * @ret_key:	the key to mend, written on -EINVAL
 * @why:	what is wrong, a sentence without the key
 * @size:	room at @why
 *
 * Return: 0 or -EINVAL.
 */
int config_check(const struct config *c, const char **ret_key, char *why, size_t size);

/* The time of the last change as the API prints it, and back. Return: 0 or -EINVAL. */
void config_format_time(int64_t ns, char *out, size_t size);
int config_parse_time(const char *s, int64_t *ret_ns);

#endif
