/* SPDX-License-Identifier: BSD-2-Clause */
/* The registry of jobs and the threads that run them. */
#include <stdarg.h>

#include "base/text.h"
#include "cluster/cluster.h"
#include "jobs/jobs_impl.h"

static void job_free(struct job *job)
{
	list_del(&job->node);
	list_del(&job->wait);
	if (job->arg_free)
		job->arg_free(job->arg);
	free(job->ctlmsg);
	free(job);
}

/* The work's memory goes when the work ends; what is remembered is small. */
static void job_drop_arg(struct job *job)
{
	void (*fn)(void *) = job->arg_free;
	void *arg = job->arg;

	job->arg_free = NULL;
	job->arg = NULL;
	if (fn)
		fn(arg);
}

static void job_end(struct job *job)
{
	job->end_ns = wall_ns();
	job->end_mono_ns = mono_ns();
}

static void run_one(struct jobs *j, struct job *job)
{
	int r = 0;

	pthread_mutex_unlock(&j->lock);
	if (!job_aborted(job))
		r = job->run(job, job->arg);
	if (r < 0)
		job_error(job, "%s", strerror(-r));
	job_drop_arg(job);
	pthread_mutex_lock(&j->lock);
	job_end(job);
}

static void *thread(void *arg)
{
	struct jobs *j = arg;

	pthread_setname_np(pthread_self(), "job");
	pthread_mutex_lock(&j->lock);
	for (;;) {
		struct job *job;

		while (list_empty(&j->queue) && !j->stop)
			pthread_cond_wait(&j->more, &j->lock);
		if (list_empty(&j->queue))
			break;
		job = list_entry(j->queue.next, struct job, wait);
		list_del(&job->wait);
		run_one(j, job);
	}
	pthread_mutex_unlock(&j->lock);
	return NULL;
}

int jobs_new(const struct jobs_opts *o, struct jobs **ret)
{
	struct jobs *j;
	unsigned int i;
	int r = 0;

	if (o->sz != sizeof(*o) || !o->max)
		return -EINVAL;
	j = calloc(1, sizeof(*j));
	if (!j)
		return -ENOMEM;
	pthread_mutex_init(&j->lock, NULL);
	pthread_cond_init(&j->more, NULL);
	list_init(&j->all);
	list_init(&j->queue);
	j->max = o->max;
	j->keep_ns = o->keep_ns;
	j->threads = calloc(o->threads + 1, sizeof(*j->threads));
	if (!j->threads)
		r = -ENOMEM;
	for (i = 0; !r && i < o->threads; i++) {
		r = -pthread_create(&j->threads[i], NULL, thread, j);
		j->n_threads += !r;
	}
	if (r < 0) {
		jobs_free(j);
		return r;
	}
	*ret = j;
	return 0;
}

void jobs_free(struct jobs *j)
{
	struct list *pos, *tmp;
	unsigned int i;

	if (!j)
		return;
	jobs_abort(j, &(struct job_query){}, "node is stopping");
	pthread_mutex_lock(&j->lock);
	j->stop = true;
	pthread_cond_broadcast(&j->more);
	pthread_mutex_unlock(&j->lock);
	for (i = 0; i < j->n_threads; i++)
		pthread_join(j->threads[i], NULL);
	list_for_each_safe (pos, tmp, &j->all)
		job_free(list_entry(pos, struct job, node));
	pthread_cond_destroy(&j->more);
	pthread_mutex_destroy(&j->lock);
	free(j->threads);
	free(j);
}

/* Under the lock: forget what is over for long, and the oldest finished ones above the limit. */
static void sweep(struct jobs *j, size_t max)
{
	int64_t now = mono_ns();
	struct list *pos, *tmp;

	list_for_each_safe (pos, tmp, &j->all) {
		struct job *job = list_entry(pos, struct job, node);

		if (!job->end_ns || (now - job->end_mono_ns < j->keep_ns && j->count <= max))
			continue;
		job_free(job);
		j->count--;
	}
}

static struct job *job_make(struct jobs *j, const struct job_spec *spec)
{
	struct job *job = calloc(1, sizeof(*job));

	if (!job)
		return NULL;
	list_init(&job->node);
	list_init(&job->wait);
	job->owner = j;
	job->kind = spec->kind;
	job->bck = spec->bck;
	job->to = spec->to;
	job->run = spec->run;
	job->arg = spec->arg;
	job->start_ns = wall_ns();
	if (spec->ctlmsg && *spec->ctlmsg)
		job->ctlmsg = strdup(spec->ctlmsg);
	if (spec->id)
		snprintf(job->id, sizeof(job->id), "%s", spec->id);
	else
		cluster_make_id(job->id);
	return job;
}

/* Under the lock. */
static int job_add(struct jobs *j, struct job *job)
{
	struct list *pos;

	sweep(j, j->max - 1);
	if (j->count >= j->max)
		return -EAGAIN;
	list_for_each (pos, &j->all)
		if (!strcmp(list_entry(pos, struct job, node)->id, job->id))
			return -EEXIST;
	list_add_tail(&j->all, &job->node);
	j->count++;
	if (job->run) {
		list_add_tail(&j->queue, &job->wait);
		pthread_cond_signal(&j->more);
	} else {
		job_end(job);
	}
	return 0;
}

int jobs_start(struct jobs *j, const struct job_spec *spec, char ret_id[33])
{
	struct job *job = job_make(j, spec);
	char id[JOB_ID_MAX + 1];
	int r;

	if (!job) {
		if (spec->arg_free)
			spec->arg_free(spec->arg);
		return -ENOMEM;
	}
	job->arg_free = spec->arg_free;
	memcpy(id, job->id, sizeof(id));
	pthread_mutex_lock(&j->lock);
	r = job_add(j, job);
	pthread_mutex_unlock(&j->lock);
	if (r < 0)
		job_free(job);
	else if (ret_id)
		memcpy(ret_id, id, sizeof(id));
	return r;
}

bool job_aborted(const struct job *job)
{
	return atomic_load_explicit(&job->aborted, memory_order_relaxed);
}

void job_count(struct job *job, uint64_t objects, uint64_t bytes)
{
	atomic_fetch_add_explicit(&job->objects, objects, memory_order_relaxed);
	atomic_fetch_add_explicit(&job->bytes, bytes, memory_order_relaxed);
}

void job_error(struct job *job, const char *fmt, ...)
{
	va_list ap;

	pthread_mutex_lock(&job->owner->lock);
	if (!job->err[0]) {
		va_start(ap, fmt);
		vsnprintf(job->err, sizeof(job->err), fmt, ap);
		va_end(ap);
	}
	pthread_mutex_unlock(&job->owner->lock);
}

const char *job_id(const struct job *job)
{
	return job->id;
}

size_t jobs_print_snaps(struct jobs *j, const struct job_query *q, struct buf *out)
{
	struct list *pos;
	size_t n = 0;

	buf_char(out, '[');
	pthread_mutex_lock(&j->lock);
	sweep(j, j->max);
	list_for_each (pos, &j->all) {
		const struct job *job = list_entry(pos, struct job, node);

		if (!job_matches(job, q))
			continue;
		if (n++)
			buf_char(out, ',');
		job_print(job, out);
	}
	pthread_mutex_unlock(&j->lock);
	buf_char(out, ']');
	return n;
}

size_t jobs_abort(struct jobs *j, const struct job_query *q, const char *reason)
{
	struct list *pos;
	size_t n = 0;

	pthread_mutex_lock(&j->lock);
	list_for_each (pos, &j->all) {
		struct job *job = list_entry(pos, struct job, node);

		if (job->end_ns || job_aborted(job) || !job_matches(job, q))
			continue;
		snprintf(job->abort_err, sizeof(job->abort_err), "%s", reason);
		atomic_store(&job->aborted, true);
		n++;
	}
	pthread_mutex_unlock(&j->lock);
	return n;
}
