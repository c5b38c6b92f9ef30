/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * config - one table of keys (config_table.c): name, type, default, range, scope, help
 *
 * The table checks the file, prints cluster_config and config, takes set-config, and makes the man
 * page. A struct config is immutable and counted once made; a change makes a new one.
 */
#ifndef CONFIG_H
#define CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

struct json_object;
struct config;

enum config_type {
	CONFIG_NONE,
	CONFIG_BOOL,
	CONFIG_INT, /* bare number */
	CONFIG_INT_TEXT, /* number that JSON writes in quotes: ports, features */
	CONFIG_DURATION, /* "10s", kept in ns */
	CONFIG_SIZE, /* "32KiB", kept in bytes */
	CONFIG_TEXT,
	CONFIG_ENUM, /* one of a "a|b|c" list */
	CONFIG_PATHS, /* fspaths: an object path -> label, or a list of paths */
	CONFIG_EMPTY, /* an object of which nothing is built: {} */
	CONFIG_NR,
};

/* Flags of a key. */
#define CONFIG_F_CLUSTER (1U << 0) /* cluster-wide: the primary's stored value wins */
#define CONFIG_F_RUNTIME (1U << 1) /* can be set on a running cluster */
#define CONFIG_F_UNBUILT (1U << 2) /* reported with its default; another value is refused (501) */
#define CONFIG_F_HIDDEN (1U << 3) /* our own key: not printed in cluster_config */
#define CONFIG_F_SECRET (1U << 4) /* never printed */
#define CONFIG_F_SHOWN (1U << 5) /* node-wide, though the API prints it among the cluster's */
#define CONFIG_F_STAMP (1U << 6) /* kept by the cluster (config_stamp()): not in the file */

struct config_key {
	const char *name; /* "keepalivetracker.target.interval" */
	enum config_type type;
	const char *dflt; /* as it is written in the file */
	int64_t min, max; /* of numbers, sizes (bytes), durations (ns) */
	const char *words; /* CONFIG_ENUM: "auto|off|require" */
	unsigned int flags;
	const char *help; /* one sentence, man page and --help */
};

/* All keys, ends with a NULL name; the index of a key is stable within one build. */
extern const struct config_key config_keys[];

/**
 * config_load() - Read and check a config file
 * @path:	the file
 * @ret:	the config with one reference, written on success only
 * @err:	"FILE:LINE: key: what is wrong and what would be right", on -EINVAL and I/O errors
 * @err_size:	room at @err
 *
 * Return: 0; -EINVAL for an unknown key, a wrong type or a value out of range, malformed JSON, or
 * keys that contradict each other (public and intra-control on one address and port, ...);
 * -ENOMEM; or the error of open(2), read(2).
 */
int config_load(const char *path, struct config **ret, char *err, size_t err_size);

/* As config_load(), but @role ("gateway", "target"; NULL: none) replaces the file's. */
int config_load_as(const char *path, const char *role, struct config **ret, char *err,
		   size_t err_size);

/* As config_load(), from text; @name stands in messages for the file. */
int config_parse(const char *name, const char *text, size_t len, struct config **ret, char *err,
		 size_t err_size);

/* All defaults. Return: 0 or -ENOMEM. */
int config_default(struct config **ret);

/* One more reference to @c, which is returned. */
struct config *config_get(struct config *c);
/* Drop a reference; the last one frees. NULL is fine. */
void config_put(struct config *c);

/**
 * config_with() - A copy of a config with one key changed
 * @c:		the source, not changed
 * @name:	key
 * @value:	as in the file, but strings without quotes
 * @ret:	the new config with one reference, written on success only
 * @err:	a sentence, `unknown property "x.y"` for an unknown key
 * @err_size:	room at @err
 *
 * Return: 0; -ENOENT unknown key; -EINVAL bad value; -ENOTSUP a key that is not built
 * (CONFIG_F_UNBUILT) set to something else than its default; -ENOMEM. Does not look at
 * CONFIG_F_RUNTIME: the caller does.
 */
int config_with(const struct config *c, const char *name, const char *value, struct config **ret,
		char *err, size_t err_size);

/* The table row of a key, or NULL. */
const struct config_key *config_key_find(const char *name);

/*
 * Values. A name that is not in the table, or not of this type, is a programming error and aborts:
 * a unit test walks all names used. Texts are owned by the config. Durations in ns or ms.
 */
bool config_bool(const struct config *c, const char *name);
int64_t config_int(const struct config *c, const char *name);
int64_t config_size(const struct config *c, const char *name);
int64_t config_ns(const struct config *c, const char *name);
int64_t config_ms(const struct config *c, const char *name);
const char *config_text(const struct config *c, const char *name); /* "" when unset */
/* Number of mountpaths, and mountpath @i: its clean absolute path; label may be "". */
size_t config_paths(const struct config *c);
const char *config_path(const struct config *c, size_t i, const char **label);

/* Values of the cluster-wide keys of @from put into a copy of @c: what a node adopts. */
int config_adopt(const struct config *c, const struct config *from, struct config **ret);

/* Cluster config: version, UUID and time of the last change travel with it. */
int64_t config_version(const struct config *c);
const char *config_uuid(const struct config *c); /* "" before the first stamp */
int64_t config_time_ns(const struct config *c);
void config_stamp(struct config *c, int64_t version, const char *uuid, int64_t time_ns);

/**
 * config_print_cluster() - Append the cluster-wide config as JSON, in the API's sections and types
 * @c:		the config
 * @own:	with our own keys too (CONFIG_F_HIDDEN): the form that nodes store and send
 * @out:	appended to
 */
void config_print_cluster(const struct config *c, bool own, struct buf *out);
/* Append what=config: the same preceded by the node's own keys. */
void config_print_node(const struct config *c, struct buf *out);
/* Read back what config_print_cluster(own) printed, over the node-wide keys of @node. */
int config_parse_cluster(const struct config *node, const char *text, size_t len,
			 struct config **ret, char *err, size_t err_size);
/* Append the table as reStructuredText (the man page) or as --help text. */
void config_print_table(bool rst, struct buf *out);

/* ---- scalars, used by bucket properties too ---- */

/* Go duration ("1h30m", "500ms", "1.5s") to ns. Return: 0 or -EINVAL. */
int config_parse_duration(const char *s, int64_t *ret_ns);
/* ns to the API's normal form ("2h0m", "1m", "20s", "100ms", "0s"). */
void config_format_duration(int64_t ns, char *out, size_t size);
/* IEC or SI size ("32KiB", "2gb", "10") to bytes. Return: 0 or -EINVAL. */
int config_parse_size(const char *s, int64_t *ret);
/* Bytes to the shortest exact IEC form ("64KiB", "0B"). */
void config_format_size(int64_t n, char *out, size_t size);
/* The API's spelling of booleans in queries: 1 t T true True TRUE y yes on. */
bool config_query_true(const char *s);

#endif
