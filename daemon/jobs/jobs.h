/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * jobs - long work of this node, and what is remembered of it
 *
 * A target runs jobs on a thread of their own, a few at a time; a gateway gathers. Finished jobs
 * stay known for jobs.keep. All functions are for any thread.
 */
#ifndef JOBS_H
#define JOBS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "cluster/bmd.h"

struct jobs;
struct job;

enum job_kind {
	JOB_NONE,
	JOB_DELETE_OBJECTS, /* delete-listrange */
	JOB_RENAME_BUCKET, /* move-bck */
	JOB_SUMMARY, /* summary-bck */
	JOB_LIST, /* list */
	JOB_KIND_NR,
};

/* "delete-listrange"; and the display name "delete-objects". Static. */
const char *job_kind_name(enum job_kind k);
const char *job_kind_display(enum job_kind k);
/* By either name; JOB_NONE for kinds of the API that this build does not run; *known tells. */
enum job_kind job_kind_parse(const char *name, bool *known);

struct jobs_opts {
	size_t sz; /* sizeof(struct jobs_opts) */
	unsigned int threads; /* jobs at one time */
	int64_t keep_ns;
	size_t max; /* remembered at most; the oldest finished go first */
};

/* Return: 0 or -ENOMEM, errno of pthread_create. */
int jobs_new(const struct jobs_opts *o, struct jobs **ret);
/* Abort what runs, wait, free. NULL is fine. */
void jobs_free(struct jobs *j);

struct job_spec {
	const char *id; /* given by the gateway; NULL: a new one */
	enum job_kind kind;
	struct bmd_name bck, to; /* to: "" if none */
	const char *ctlmsg; /* or NULL */
	/* The work, on a job thread; polls job_aborted(); NULL: a job that is over at once. */
	int (*run)(struct job *job, void *arg);
	void *arg;
	void (*arg_free)(void *arg);
};

/**
 * jobs_start() - Register a job and queue its work
 * @j:		the jobs
 * @spec:	what; @spec->arg is consumed in any case
 * @ret_id:	its ID, of 33 bytes, on success only; may be NULL
 *
 * Return: 0; -EEXIST the ID is known; -EAGAIN too many; -ENOMEM.
 */
int jobs_start(struct jobs *j, const struct job_spec *spec, char ret_id[33]);

/* Inside run(). */
bool job_aborted(const struct job *job);
void job_count(struct job *job, uint64_t objects, uint64_t bytes);
/* The first error is kept. */
void job_error(struct job *job, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
const char *job_id(const struct job *job);

/* What a query selects; zeroed: all. */
struct job_query {
	const char *id; /* several joined by ',' */
	bool by_kind;
	enum job_kind kind;
	bool only_running, only_finished;
	const struct bmd_name *bck;
};

/**
 * jobs_print_snaps() - Append the array of snaps of this node (http-api 4.5)
 * Return: how many.
 */
size_t jobs_print_snaps(struct jobs *j, const struct job_query *q, struct buf *out);
/* Abort what matches; running jobs of destroyed buckets too (@reason in abort-err). */
size_t jobs_abort(struct jobs *j, const struct job_query *q, const char *reason);

#endif
