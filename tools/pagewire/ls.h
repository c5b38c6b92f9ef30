/* SPDX-License-Identifier: BSD-2-Clause */
/* Listing of objects, page by page. */
#ifndef PAGEWIRE_LS_H
#define PAGEWIRE_LS_H

struct cmd;
struct cmd_opt;
struct uri;

extern const struct cmd_opt ls_opts[];

/**
 * ls_objects() - Print the objects of a bucket
 * @c:	the command, with the options of ls_opts
 * @u:	the bucket; an object part is a prefix
 *
 * One page at a time is held, however long the list is.
 *
 * Return: as a verb's run().
 */
int ls_objects(struct cmd *c, const struct uri *u);

#endif
