/* SPDX-License-Identifier: BSD-2-Clause */
/* identity - this process's key pair, the cluster's join secret, this node's ID */
#ifndef CLUSTER_IDENTITY_H
#define CLUSTER_IDENTITY_H

#include <stddef.h>
#include <stdint.h>

#include "smap/smap.h"

#define IDENTITY_SECRET_MAX 4096 /* bytes of a join secret */

/* Secrets live in guarded, locked memory that is never written to disk. */
struct identity {
	uint8_t *sign_key; /* Ed25519 secret key, 64 bytes; of this process only */
	uint8_t verify_key[SMAP_KEY_BYTES];
	uint8_t *secret; /* join secret */
	size_t secret_len;
};

/**
 * identity_init() - Make the key pair and read the join secret
 * @id:		filled in on success
 * @secret_path: file whose first line is the secret; without group and other bits
 * @err:	a sentence that names file and fix
 * @err_size:	room at @err
 *
 * Return: 0; -EINVAL no usable secret; -ENOMEM; -EIO no randomness.
 */
int identity_init(struct identity *id, const char *secret_path, char *err, size_t err_size);
/* Wipes and frees; may run twice. */
void identity_deinit(struct identity *id);

/**
 * identity_node_id() - The node's ID: as configured, else of the file, else made and kept there
 * @configured:	"" if none
 * @state_dir:	where node_id lies
 * @role:	first letter of a made one: p or t
 * @ret:	written on success only
 * @err:	a sentence that names file and fix
 * @err_size:	room at @err
 *
 * Return: 0; -EINVAL for an ID that is none; or an errno of the file.
 */
int identity_node_id(const char *configured, const char *state_dir, enum smap_role role,
		     char ret[SMAP_ID_MAX + 1], char *err, size_t err_size);

/* @n random letters and digits and a NUL. */
void identity_random(char *out, size_t n);

#endif
