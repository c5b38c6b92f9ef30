/* SPDX-License-Identifier: BSD-2-Clause */
/* What looks after mountpaths: their list, room, faults, strays, corrupt blobs. */
#ifndef STORE_PATHS_H
#define STORE_PATHS_H

#include "store/admin.h"
#include "store/impl.h"

/* ---- path_state.c: what a restart keeps, in the state folder ---- */

/* One mountpath of the file. */
struct path_state {
	char path[4096];
	char uuid[INDEX_UUID_MAX];
	enum mpath_state state; /* available, disabled or detached */
	bool attached; /* at run time */
	bool strays;
};

struct path_states {
	bool found; /* there is a file */
	int64_t scrubbed_ns;
	size_t n;
	struct path_state *rows;
};

/* Read the file; none is no error. Return: 0; -EUCLEAN with a sentence; or an errno. */
int path_states_read(const char *dir, struct path_states *ret, const struct errtext *err);
void path_states_free(struct path_states *p);
/* The text of the file. Return: 0; -EUCLEAN; -ENOMEM. @ret is written on success only. */
int path_states_parse(const char *text, size_t len, struct path_states *ret);
/* Write it anew from the store, durably. Under save. Return: 0 (also without a folder), errno. */
int path_states_write(struct store *s);

/* ---- path_admin.c, space.c, watch.c, mover.c, scrub.c, quarantine.c ---- */

/* Open the mountpaths of the options and of the state file. Return: as store_open(). */
int store_open_paths(struct store *s, const struct store_opts *o, const struct errtext *err);
/* Write a file, read it back, remove it. Return: 0 or an errno. */
int mpath_try(struct mpath *mp);
/* Is that error of a try one of the disk? */
bool mpath_broken(int err);
/* It can not be written (@err), or can be again (0): unless it is out of service. Any thread. */
void mpath_set_readonly(struct mpath *mp, int err);
/* Look at the room of a mountpath that is held. */
void space_look(struct mpath *mp);
/* May @bytes more (-1: unknown) be written? Return: 0; -ENOSPC. */
int space_ask(struct mpath *mp, int64_t bytes);
/* A thread without signals, and a condition on the monotonic clock, for the three below. */
int store_thread(pthread_t *t, void *(*fn)(void *arg), void *arg);
void store_cond_init(pthread_cond_t *c);
/* The thread that looks after mountpaths each second. Return: 0 or errno. */
int watch_new(struct store *s, struct watch **ret);
void watch_free(struct watch *w);
/* The thread that brings strays home. Return: 0 or errno. */
int mover_new(struct store *s, struct mover **ret);
void mover_free(struct mover *m);
/* Look for strays now. */
void mover_kick(struct mover *m);
/* Is it at work? */
bool mover_busy(struct mover *m);
/* The thread that reads all blobs again. Return: 0 or errno. */
int scrub_new(struct store *s, struct scrub **ret);
void scrub_free(struct scrub *x);
/* The list of what was found corrupt. Return: 0 or -ENOMEM. */
int quarantine_new(struct quarantine **ret);
void quarantine_free(struct quarantine *q);
/* Blobs that are known in a mountpath's. */
uint64_t quarantine_count(const struct mpath *mp);
/*
 * Put a version into it, for who holds the lock of its key. Waits for the commit. Return: 0, errno.
 */
int quarantine_put(struct mpath *mp, const struct objkey *k, const struct store_rec *rec);
/* Note what lies in a mountpath's folder; forget what was noted of it. */
void quarantine_load(struct mpath *mp);

/* The lock of a key, waited for: not on a thread the io pool needs. */
void keylock_wait(struct keylock *t, struct keylock_hold *h);

#endif
