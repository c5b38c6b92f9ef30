/* SPDX-License-Identifier: BSD-2-Clause */
/* Blobs: immutable files with names of their own, and the copy of the record they carry. */
#ifndef STORE_BLOB_H
#define STORE_BLOB_H

#include "store/impl.h"

/* A blob in the making. */
struct blob {
	struct mpath *mp;
	int fd; /* -1: none */
	char name[48]; /* final, below blob/ */
	char tmp[64]; /* name of the file now, below blob/ or work/; "": it has none */
	bool work; /* tmp is below work/ */
	bool linked; /* has its final name */
	bool trailer; /* has a trailer */
	bool keep; /* is an object, or may be one: never unlink */
};

/* A new name, and an open file without it. Return: 0 or errno of open(2). */
int blob_create(struct mpath *mp, struct blob *ret);
/* A new name for @b, unique for ever. */
void blob_name(struct mpath *mp, struct blob *b);
/* Write the copy of key and record beside the data, set rec->flags, sync. Return: 0 or errno. */
int blob_seal(struct blob *b, const struct objkey *k, struct store_rec *rec);
/* Give it its final name; the folder is not synced. Return: 0 or errno. */
int blob_link(struct blob *b);
/* Close; unless kept, remove. A never-created or ended one is fine. */
void blob_end(struct blob *b);

/* An existing blob. Return: fd or errno. */
int blob_open(struct mpath *mp, const char *name, int flags);
/* Remove a blob and its trailer. Return: 0 (also when gone already) or errno. */
int blob_unlink(struct mpath *mp, const char *name, uint32_t flags);
/* Make names in a folder durable. Return: 0 or errno of fsync(2). */
int blob_sync_dir(struct mpath *mp, unsigned int dir);
/* Folder of a blob by its name. */
unsigned int blob_dir(const char *name);
/* Write all of it at @off. Return: 0 or errno of pwrite(2). */
int blob_write(int fd, const void *data, size_t n, uint64_t off);

#endif
