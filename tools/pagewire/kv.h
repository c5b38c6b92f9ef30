/* SPDX-License-Identifier: BSD-2-Clause */
/* KEY=VALUE arguments as JSON. */
#ifndef PAGEWIRE_KV_H
#define PAGEWIRE_KV_H

struct cmd;
struct json_object;

/**
 * kv_custom() - Arguments KEY=VALUE from the @first on, as one flat object of strings
 * @c:		the command
 * @first:	index of the first
 * @ret:	written on success only; the caller's reference
 *
 * Return: 0, or CMD_USAGE after saying what is wrong.
 */
int kv_custom(struct cmd *c, int first, struct json_object **ret);

/**
 * kv_props() - Arguments A.B=VALUE from the @first on, as nested objects with typed values
 * @c:		the command
 * @first:	index of the first
 * @like:	the present values, whose names and types are followed, borrowed; NULL: types are
 *		told from the values (true, false, whole numbers, else strings)
 * @ret:	written on success only; the caller's reference
 *
 * Return: 0; CMD_USAGE or CMD_FAILED (no such name) after saying what is wrong.
 */
int kv_props(struct cmd *c, int first, struct json_object *like, struct json_object **ret);

/**
 * kv_unknown() - Find an argument KEY=VALUE whose key is no property
 * @c:		the command
 * @first:	index of the first
 * @like:	the properties there are, borrowed
 *
 * Return: the index of the first such argument, 0: there is none.
 */
int kv_unknown(const struct cmd *c, int first, struct json_object *like);

#endif
