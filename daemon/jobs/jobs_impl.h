/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of this room share. */
#ifndef JOBS_IMPL_H
#define JOBS_IMPL_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/list.h"
#include "jobs/jobs.h"

#define JOB_ID_MAX 32
#define JOB_TEXT_MAX 512

struct job {
	struct list node; /* jobs.all, in order of start */
	struct list wait; /* jobs.queue, until a thread takes it */
	struct jobs *owner;
	char id[JOB_ID_MAX + 1];
	enum job_kind kind;
	struct bmd_name bck, to;
	char *ctlmsg;
	int (*run)(struct job *job, void *arg);
	void *arg;
	void (*arg_free)(void *arg);
	int64_t start_ns, end_ns; /* wall clock; end 0: not over */
	int64_t end_mono_ns;
	atomic_bool aborted;
	atomic_uint_fast64_t objects, bytes;
	char err[JOB_TEXT_MAX], abort_err[JOB_TEXT_MAX]; /* under the lock */
};

struct jobs {
	pthread_mutex_t lock;
	pthread_cond_t more;
	struct list all, queue;
	size_t count, max;
	int64_t keep_ns;
	bool stop;
	unsigned int n_threads;
	pthread_t *threads;
};

/* Under the lock: whether a query selects a job. */
bool job_matches(const struct job *job, const struct job_query *q);
/* Under the lock: append one snap. */
void job_print(const struct job *job, struct buf *out);

#endif
