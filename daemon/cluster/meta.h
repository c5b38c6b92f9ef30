/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * meta - where versioned metadata objects are kept: an interface, and the engine that keeps them in
 * a directory of this node
 */
#ifndef CLUSTER_META_H
#define CLUSTER_META_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

struct meta;

#define META_NAME_MAX 32
#define META_SIZE_MAX (64u << 20) /* bytes of one object */

/* One object to be saved; borrowed. */
struct meta_object {
	const char *name; /* lower-case letters: "smap" */
	int64_t version;
	const void *data;
	size_t len;
};

/* An engine. */
struct meta_ops {
	int (*load)(struct meta *m, const char *name, struct buf *ret, int64_t *ret_version);
	int (*save)(struct meta *m, const struct meta_object *objs, size_t n);
	void (*free)(struct meta *m);
};

struct meta { /* first member of an engine's own */
	const struct meta_ops *ops;
};

/**
 * meta_load() - The newest whole version of an object [blocks]
 * @m:		the store
 * @name:	which
 * @ret:	appended to, on success only
 * @ret_version: on success only
 *
 * Return: 0; META_E_PREV the newest is damaged or missing, this is the version before it; -ENOENT
 * never saved; -EUCLEAN saved, but every copy is damaged; or an errno.
 */
int meta_load(struct meta *m, const char *name, struct buf *ret, int64_t *ret_version);
#define META_E_PREV 1

/**
 * meta_save() - Keep new versions of objects; durable on return [blocks]
 * @m:		the store
 * @objs:	the objects
 * @n:		how many
 *
 * After a failure or a crash each object is its old or its new version, whole; none is replaced
 * unless all of the new ones are on disk. One caller at a time.
 *
 * Return: 0; or an errno.
 */
int meta_save(struct meta *m, const struct meta_object *objs, size_t n);

/* NULL is fine. */
void meta_free(struct meta *m);

/**
 * meta_open_embedded() - The engine that keeps files in a directory
 * @dir:	made if missing (its parent must exist)
 * @ret:	written on success only
 *
 * An object is DIR/NAME.json: a line "pagewire-meta-v1 NAME VERSION LENGTH SHA256", then the
 * object. The version before it stays as DIR/NAME.json.prev and is used when the file is damaged.
 *
 * Return: 0, -ENOMEM, or an errno of mkdir(2), open(2).
 */
int meta_open_embedded(const char *dir, struct meta **ret);

/**
 * meta_unwrap() - Check a file of the embedded engine
 * @name:	object it must hold
 * @text:	the file
 * @len:	its length
 * @ret_off:	where the object begins; it ends with the file. On success only
 * @ret_version: on success only
 *
 * Return: 0; -EUCLEAN damaged.
 */
int meta_unwrap(const char *name, const char *text, size_t len, size_t *ret_off,
		int64_t *ret_version);

#endif
