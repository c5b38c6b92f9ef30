/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What an operator does with a running store: mountpaths, alerts, scrub, quarantine
 *
 * Any thread; functions that change something may block on a disk. Sentences name the mountpath
 * and the fix.
 */
#ifndef STORE_ADMIN_H
#define STORE_ADMIN_H

#include "base/bits.h"
#include "store/store.h"

/* ---- mountpaths ---- */

struct store_path {
	const char *path; /* lives as long as the store */
	const char *state; /* "available", "read-only", "disabled", "failed", "detached" */
	char reason[192]; /* why it is not available */
	int64_t since_ns; /* wall clock of the last change; 0: since the start */
	bool attached; /* at run time: not of the configuration */
	bool closing; /* out of service, but still in use */
	bool strays; /* may hold names that another mountpath owns */
	bool full, low; /* of room */
	uint64_t corrupt; /* blobs in its quarantine */
};

/* Describe mountpath @i of store_paths(). Return: 0; -ENOENT: there is none. */
int store_path_info(struct store *s, size_t i, struct store_path *ret);
/* The path of a record's mountpath, "" for none; lives as long as the store. */
const char *store_path_text(struct store *s, size_t i);

enum store_path_op {
	STORE_PATH_NONE,
	STORE_PATH_ATTACH, /* a folder that is not in use yet, or was detached */
	STORE_PATH_DETACH, /* forget it; one in service must be empty */
	STORE_PATH_ENABLE, /* back into service, its objects too */
	STORE_PATH_DISABLE, /* out of service; its objects wait */
	STORE_PATH_RESCAN, /* bring home what lies on another than its own mountpath */
	STORE_PATH_CHECK, /* write and read a file; failed when that does not work */
	STORE_PATH_NR,
};

/**
 * store_path_change() - Change one mountpath, lastingly
 * @s:		the store
 * @op:		what
 * @path:	clean absolute path
 * @err:	a sentence on failure
 * @err_size:	room at @err
 *
 * Return: 0; -ENOENT not a mountpath of this node; -EEXIST attached already; -EINVAL; -EBUSY still
 * in use, or holds objects; -ENOSPC too many; or an errno of opening it.
 */
int store_path_change(struct store *s, enum store_path_op op, const char *path, char *err,
		      size_t err_size);

/* Put other limits into force. */
void store_set_limits(struct store *s, const struct store_limits *l);

/* ---- alerts ---- */

/* State flags of health and metrics. */
#define STORE_ALERT_RESILVER BIT(5) /* strays are brought home */
#define STORE_ALERT_SPACE BIT(8) /* a mountpath is out of space */
#define STORE_ALERT_LOW BIT(11) /* one is low on space */
#define STORE_ALERT_DISK BIT(13) /* one has failed, or holds corrupt objects */

/* The flags that are up. Wait-free but for a mutex. */
uint64_t store_alerts(struct store *s);
/* Append the alerts as a JSON list of sentences. */
void store_alerts_print(struct store *s, struct buf *out);
/* Append gauges and counters as Prometheus text; @label is put in front of each one's own. */
void store_metrics_print(struct store *s, const char *label, struct buf *out);

/* ---- scrub ---- */

struct store_scrub {
	bool running;
	int64_t started_ns, ended_ns; /* wall clock, of the last one; 0: never */
	uint64_t objects, bytes; /* read by it */
	uint64_t corrupt; /* found and put into quarantine by it */
	uint64_t missing; /* records whose blob is not there or can not be read */
};

/* Read all again now. Return: 0; -EALREADY when that is under way. */
int store_scrub_start(struct store *s);
/* Stop that. */
void store_scrub_stop(struct store *s);
void store_scrub_status(struct store *s, struct store_scrub *ret);

/**
 * store_verify() - Read a blob and compare with its record
 * @s:		the store
 * @fd:		the blob
 * @rec:	its record
 *
 * Return: 0; STORE_E_CKSUM it differs; or an errno of pread(2).
 */
int store_verify(struct store *s, int fd, const struct store_rec *rec);

/* ---- quarantine: corrupt blobs, out of the way but not gone ---- */

/**
 * store_quarantine() - Never serve a version again: its blob is moved aside, its record removed
 * @s:		the store
 * @n:		object
 * @rec:	the version that was found corrupt
 *
 * Waits for the commit; when the name is locked, it is done once that lock is free.
 *
 * Return: 0 done, or to be done; -ENOENT when it has been replaced or removed; or an errno.
 */
int store_quarantine(struct store *s, struct store_name n, const struct store_rec *rec);

struct store_bad {
	uint64_t bid;
	const char *name;
	uint64_t size;
	int64_t found_ns; /* wall clock */
	const char *path; /* mountpath */
	const char *file; /* below its folder quarantine/ */
};

/* Remove all that is in quarantine, for ever. Return: 0 or an errno. */
int store_quarantine_purge(struct store *s);
/* Call @fn for each that is known. */
void store_quarantine_each(struct store *s, void (*fn)(void *arg, const struct store_bad *b),
			   void *arg);

enum store_bad_state {
	STORE_BAD_NONE, /* nothing in quarantine has this name */
	STORE_BAD_NEW, /* and nobody has been told: answer with an error */
	STORE_BAD_TOLD,
};

/* For a name that does not exist: was it put into quarantine? Tells once that nobody was told. */
enum store_bad_state store_quarantine_ask(struct store *s, const struct store_bck *b,
					  const char *name);

#endif
