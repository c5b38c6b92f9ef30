/* SPDX-License-Identifier: BSD-2-Clause */
/* The load: hands requests of the plan to slots, keeps the time. */
#include "load.h"

#include <errno.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/bits.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "meter.h"
#include "slot.h"

#define EVENTS 256
#define STALL_NS (INT64_C(30) * 1000000000) /* no event for so long: the server hangs */
#define PATIENCE_NS (INT64_C(10) * 1000000000) /* for what a round cannot be without */

/* ---- plans ---- */

void plan_init(struct plan *p, const char *method, const char *host)
{
	*p = (struct plan){.method = method};
	snprintf(p->host, sizeof(p->host), "%s", host);
}

void plan_deinit(struct plan *p)
{
	buf_free(&p->text);
	free(p->begin);
	p->begin = NULL;
	p->n = p->cap = 0;
}

void plan_add(struct plan *p, const char *path, const char *headers)
{
	if (p->n + 2 > p->cap) {
		size_t cap = p->cap ? 2 * p->cap : 64;
		uint32_t *more = realloc(p->begin, cap * sizeof(*more));

		if (!more) {
			p->err = -ENOMEM;
			return;
		}
		p->begin = more;
		p->cap = cap;
	}
	p->begin[p->n] = (uint32_t)p->text.len;
	buf_fmt(&p->text, "%s %s HTTP/1.1\r\nHost: %s\r\n%s", p->method, path, p->host,
		headers ? headers : "");
	if (p->body)
		buf_fmt(&p->text, "Content-Length: %llu\r\n", (unsigned long long)p->body_len);
	buf_str(&p->text, "\r\n");
	p->begin[++p->n] = (uint32_t)p->text.len;
	if (p->text.err || p->text.len > UINT32_MAX)
		p->err = -ENOMEM;
}

const char *plan_path(const struct plan *p, size_t i, size_t *len)
{
	const char *path = p->text.data + p->begin[i] + strlen(p->method) + 1;

	*len = strcspn(path, " ");
	return path;
}

/* ---- the run ---- */

struct run {
	struct load load;
	struct slot *slots;
	struct slot **idle; /* those without a request */
	unsigned int n, n_idle, n_warm; /* n_warm: slots that have had an answer */
	int64_t began_ns, counted_ns, due_ns;
	struct load_result *ret;
};

static void run_deinit(struct run *r)
{
	unsigned int i;
	size_t k;

	if (!r->load.o)
		return;
	for (i = 0; i < r->n; i++)
		slot_close(&r->slots[i]);
	if (r->load.cached)
		for (k = 0; k < r->load.o->plan->n; k++)
			free(r->load.cached[k]);
	free(r->load.cached);
	free(r->slots);
	free(r->idle);
	if (r->load.epoll >= 0)
		close(r->load.epoll);
}

static void run_free(struct run **r)
{
	if (!*r)
		return;
	run_deinit(*r);
	free(*r);
}

static int run_init(struct run *r, const struct load_opts *o, struct buf *why)
{
	int e;

	r->load.o = o;
	r->load.why = why;
	r->load.latency = &r->ret->latency;
	r->load.epoll = epoll_create1(EPOLL_CLOEXEC);
	r->slots = calloc(o->connections, sizeof(*r->slots));
	r->idle = calloc(o->connections, sizeof(struct slot *));
	if (r->load.epoll < 0 || !r->slots || !r->idle)
		return -ENOMEM;
	if (o->follow && !o->plan->body) {
		r->load.cached = calloc(o->plan->n, sizeof(char *));
		if (!r->load.cached)
			return -ENOMEM;
	}
	while (r->n < o->connections) {
		e = slot_open(&r->slots[r->n], &r->load);
		r->idle[r->n_idle++] = &r->slots[r->n++];
		if (e < 0)
			return e;
	}
	return 0;
}

static bool plan_used_up(const struct run *r)
{
	return !r->load.o->limit_ns && r->load.taken >= r->load.o->plan->n;
}

/* Gives requests to idle slots, with a rate only those that are due. */
static int begin_due(struct run *r)
{
	const struct load_opts *o = r->load.o;
	int64_t now = o->rate ? mono_ns() : 0;

	while (r->n_idle && !plan_used_up(r)) {
		int64_t begun = o->rate ? r->due_ns : mono_ns();
		struct slot *s;
		int e;

		if (o->rate && r->due_ns > now)
			break;
		r->due_ns += o->rate ? (int64_t)(1000000000 / o->rate) : 0;
		s = r->idle[--r->n_idle];
		e = slot_begin(s, r->load.next, begun);
		if (e < 0)
			return e;
		r->load.next = (r->load.next + 1) % o->plan->n;
		r->load.taken++;
	}
	return 0;
}

static int begin_counting(struct run *r)
{
	int e = r->load.o->server ? meter_read(r->load.o->server, &r->ret->cpu_ns) : 0;

	r->load.counting = true;
	r->counted_ns = mono_ns();
	return e;
}

static int end_counting(struct run *r)
{
	int64_t cpu = 0;
	int e = 0;

	r->ret->wall_ns = mono_ns() - r->counted_ns;
	if (r->load.o->server)
		e = meter_read(r->load.o->server, &cpu);
	r->ret->cpu_ns = cpu - r->ret->cpu_ns;
	r->ret->requests = r->load.requests;
	r->ret->bytes = r->load.bytes;
	return e;
}

/*
 * Has everything been used once? The first answer on a connection may wait for its window to
 * open, up to 200 ms: that is no part of a round.
 */
static bool is_warm(const struct run *r, int64_t now)
{
	int64_t end = r->began_ns + r->load.o->warm_ns;

	return now >= end && (r->n_warm == r->n || !r->load.o->warm_ns || r->load.o->rate ||
			      now >= end + PATIENCE_NS);
}

/* How long to wait for events, at most. */
static struct timespec wait_limit(const struct run *r, int64_t now)
{
	int64_t warm = r->began_ns + r->load.o->warm_ns - now;
	int64_t left = r->counted_ns + r->load.o->limit_ns - now, ns = STALL_NS;

	if (!r->load.counting)
		ns = warm > 0 ? warm : PATIENCE_NS;
	else if (r->load.o->limit_ns)
		ns = left > 0 ? left : PATIENCE_NS;
	if (r->load.o->rate && r->n_idle)
		ns = MIN(ns, r->due_ns - now);
	ns = MAX(ns, INT64_C(0));
	return (struct timespec){.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};
}

static int handle_events(struct run *r, const struct epoll_event *ev, int n)
{
	int i, e;

	for (i = 0; i < n; i++) {
		uint64_t tag = ev[i].data.u64;
		struct slot *s = (struct slot *)(uintptr_t)(tag & ~(uint64_t)(SIDE_NR - 1));
		bool was_idle = s->state == SLOT_IDLE;

		e = slot_step(s, tag % SIDE_NR, ev[i].events);
		if (e < 0)
			return e;
		if (s->state == SLOT_IDLE && !was_idle) {
			r->n_warm += !s->warm;
			s->warm = true;
			r->idle[r->n_idle++] = s;
			/* at once: the next request leaves while others are looked at */
			e = begin_due(r);
			if (e < 0)
				return e;
		}
	}
	return 0;
}

static bool is_over(const struct run *r, int64_t now)
{
	if (plan_used_up(r))
		return r->n_idle == r->n;
	if (!r->load.o->limit_ns || !r->load.counting)
		return false;
	now -= r->counted_ns + r->load.o->limit_ns;
	return now >= 0 && (r->load.requests || r->load.bytes || now >= PATIENCE_NS);
}

static int run_all(struct run *r)
{
	struct epoll_event ev[EVENTS];
	int64_t now = mono_ns();
	int e = 0, n;

	r->began_ns = r->due_ns = now;
	while (!e) {
		struct timespec limit;

		if (!r->load.counting && is_warm(r, now))
			e = begin_counting(r);
		if (!e)
			e = begin_due(r);
		if (e || is_over(r, now))
			break;
		limit = wait_limit(r, now);
		n = epoll_pwait2(r->load.epoll, ev, EVENTS, &limit, NULL);
		if (n < 0 && errno != EINTR)
			return -errno;
		if (!n && limit.tv_sec >= STALL_NS / 1000000000)
			return -ETIMEDOUT;
		e = handle_events(r, ev, n);
		now = mono_ns();
	}
	if (!e)
		e = end_counting(r);
	if (!e && !r->load.requests && !r->load.bytes) {
		buf_fmt(r->load.why, "%s at %s: not a byte in %lld ms", r->load.o->plan->method,
			r->load.o->to->host, (long long)r->ret->wall_ns / 1000000);
		e = -ETIMEDOUT;
	}
	return e;
}

static int run_measured(struct run *r, const struct load_opts *o, struct load_result *ret,
			struct buf *why)
{
	autofree struct load_result *res = calloc(1, sizeof(*res));
	int e;

	if (!res)
		return -ENOMEM;
	r->load.epoll = -1;
	r->ret = res;
	e = run_init(r, o, why);
	e = e ? e : run_all(r);
	if (!e)
		*ret = *res;
	return e;
}

int load_run(const struct load_opts *o, struct load_result *ret, struct buf *why)
{
	autoclean(run_free) struct run *r = calloc(1, sizeof(*r));
	size_t said = why->len;
	int e = o->plan->err;

	if (!e && !o->plan->n)
		e = -EINVAL;
	if (!e)
		e = r ? run_measured(r, o, ret, why) : -ENOMEM;
	if (e && why->len == said)
		buf_fmt(why, "%s at %s: %s", o->plan->method, o->to->host, strerror(-e));
	return e;
}
