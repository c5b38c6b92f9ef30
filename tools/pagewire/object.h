/* SPDX-License-Identifier: BSD-2-Clause */
/* Verbs of the noun object that fill a file each, and the names they share. */
#ifndef PAGEWIRE_OBJECT_H
#define PAGEWIRE_OBJECT_H

struct cmd;
struct cmd_opt;
struct uri;

extern const struct cmd_opt get_opts[], put_opts[];

/* `object get`: as a verb's run(). */
int object_get(struct cmd *c);

/* `object put`: as a verb's run(). */
int object_put(struct cmd *c);

/**
 * object_put_tree() - Put a folder's tree, several files at a time
 * @c:		the command, with the options of put_opts
 * @dir:	the folder
 * @to:		the bucket; an object part is a prefix
 *
 * Return: as a verb's run().
 */
int object_put_tree(struct cmd *c, const char *dir, const struct uri *to);

/* The part of @name behind its last '/'. */
const char *object_base(const char *name);

#endif
