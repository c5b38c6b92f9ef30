/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The scrub: one thread reads each blob again, slowly, and compares it with its record. What
 * differs goes into quarantine. It begins when it is asked to, or when the last one is long ago.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "log.h"
#include "store/blob.h"
#include "store/keylock.h"
#include "store/paths.h"

#define SLICE 128 /* names read from the index at a time */
#define IDLE_NS (INT64_C(60) * 1000000000) /* between two looks at the clock */

struct scrub {
	struct store *s;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	bool ending, asked, stop;
	struct store_scrub st;
	/* the thread's own */
	int64_t since_ns; /* monotonic, of the pace */
	uint64_t paced; /* bytes since then */
	char *page;
};

/* ---- reading a blob ---- */

/* Return: 0; STORE_E_CKSUM; an errno; -ECANCELED. @x NULL: at full speed. */
static int pace(struct scrub *x, uint64_t bytes);

static int read_all(struct scrub *x, int fd, const struct store_rec *rec, char *page,
		    struct cksum *c)
{
	uint64_t off = 0;

	for (;;) {
		ssize_t n = pread(fd, page, STORE_IO_STEP, (off_t)off);
		int r;

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			return off == rec->size ? 0 : STORE_E_CKSUM;
		if (c)
			cksum_update(c, page, (size_t)n);
		off += (uint64_t)n;
		r = x ? pace(x, (uint64_t)n) : 0;
		if (r < 0)
			return r;
	}
}

static int verify(struct scrub *x, int fd, const struct store_rec *rec, char *page)
{
	char sum[CKSUM_TEXT_MAX] = "";
	struct cksum *c = NULL;
	int r = cksum_new(rec->ctype, &c);

	if (r < 0)
		return r;
	r = read_all(x, fd, rec, page, c);
	cksum_final(c, sum);
	return r == 0 && strcmp(sum, rec->cksum) ? STORE_E_CKSUM : r;
}

int store_verify(struct store *s, int fd, const struct store_rec *rec)
{
	autofree char *page = malloc(STORE_IO_STEP);

	(void)s;
	return page ? verify(NULL, fd, rec, page) : -ENOMEM;
}

/* ---- the pace ---- */

static uint64_t rate_of(struct store *s)
{
	uint64_t rate;

	pthread_mutex_lock(&s->lock);
	rate = s->limits.scrub_rate;
	pthread_mutex_unlock(&s->lock);
	return rate;
}

static void wait_until(struct scrub *x, int64_t at)
{
	struct timespec ts = {at / 1000000000, at % 1000000000};

	while (!x->ending && !x->stop && pthread_cond_timedwait(&x->wake, &x->lock, &ts) == 0)
		;
}

/* Count what was read; wait when that was too fast. Return: 0; -ECANCELED: end now. */
static int pace(struct scrub *x, uint64_t bytes)
{
	uint64_t rate = rate_of(x->s);
	int64_t due = x->since_ns;
	int r;

	x->paced += bytes;
	if (rate)
		due += (int64_t)((double)x->paced * 1e9 / (double)rate);
	pthread_mutex_lock(&x->lock);
	x->st.bytes += bytes;
	if (due > mono_ns())
		wait_until(x, due);
	r = x->ending || x->stop ? -ECANCELED : 0;
	pthread_mutex_unlock(&x->lock);
	if (mono_ns() - due > 1000000000) { /* a late one does not catch up in a burst */
		x->since_ns = mono_ns();
		x->paced = 0;
	}
	return r;
}

/* ---- one object ---- */

static void count(struct scrub *x, uint64_t *what)
{
	pthread_mutex_lock(&x->lock);
	++*what;
	pthread_mutex_unlock(&x->lock);
}

/* @rec does not hold: unless it was replaced meanwhile, that is so. */
static int settle_bad(struct scrub *x, struct mpath *mp, const struct objkey *k,
		      const struct store_rec *rec, int bad)
{
	autofree struct store_rec *now = malloc(sizeof(*now));
	struct keylock_hold hold = {.key = *k};
	int r = 0;

	if (!now)
		return -ENOMEM;
	keylock_wait(x->s->locks, &hold);
	if (index_get(mp->ix, k, now) == 0 && !strcmp(now->blob, rec->blob)) {
		if (bad == STORE_E_CKSUM) {
			r = quarantine_put(mp, k, now);
			count(x, &x->st.corrupt);
		} else {
			log_error("store.missing",
				  "path=%s bid=%llx name=\"%.*s\" blob=%s err=\"%s\"", mp->path,
				  (unsigned long long)k->bid, (int)k->len, k->name, rec->blob,
				  strerror(-bad));
			count(x, &x->st.missing);
		}
	}
	keylock_release(x->s->locks, &hold);
	return r;
}

static int scrub_one(struct scrub *x, struct mpath *mp, const struct objkey *k)
{
	autofree struct store_rec *rec = malloc(sizeof(*rec));
	autofd fd = -1;
	int r;

	if (!rec)
		return -ENOMEM;
	r = index_get(mp->ix, k, rec);
	if (r < 0)
		return r == -ENOENT || r == -EUCLEAN ? 0 : r;
	fd = blob_open(mp, rec->blob, O_RDONLY);
	r = fd < 0 ? fd : verify(x, fd, rec, x->page);
	if (r == -ECANCELED || r == -ENOMEM || r == -EMFILE || r == -ENFILE)
		return r;
	count(x, &x->st.objects);
	return r ? settle_bad(x, mp, k, rec, r) : 0;
}

/* ---- a mountpath ---- */

struct names {
	struct buf b; /* bid, length, name */
	size_t n;
};

static enum index_step take(void *arg, const struct index_item *it, struct objkey *seek)
{
	struct names *w = arg;
	uint64_t h[2] = {it->key.bid, it->key.len};

	(void)seek;
	buf_append(&w->b, h, sizeof(h));
	buf_append(&w->b, it->key.name, it->key.len);
	return ++w->n == SLICE ? INDEX_STOP : INDEX_NEXT;
}

/* The names of a slice, one by one. @last: the last one, the start of the next slice. */
static int scrub_slice(struct scrub *x, struct mpath *mp, const struct names *w,
		       struct objkey *last)
{
	size_t pos = 0;
	int r = 0;

	while (r == 0 && pos < w->b.len) {
		struct objkey k = {};
		uint64_t h[2];

		memcpy(h, w->b.data + pos, sizeof(h));
		k = (struct objkey){h[0], w->b.data + pos + sizeof(h), (size_t)h[1]};
		pos += sizeof(h) + k.len;
		if (!mpath_ok(mp))
			return STORE_OUT;
		r = scrub_one(x, mp, &k);
		memcpy((char *)last->name, k.name, k.len);
		last->bid = k.bid;
		last->len = k.len;
	}
	return r;
}

static int scrub_path(struct scrub *x, size_t i)
{
	char at[STORE_NAME_MAX + 1];
	struct objkey from = {0, at, 0};
	struct names w;
	int r = 0;

	do {
		struct mpath *mp = store_hold_path(x->s, i);

		if (!mp)
			return 0;
		w = (struct names){};
		r = index_walk(mp->ix, NULL, &from, take, &w);
		r = r ? r : w.b.err;
		if (r == 0)
			r = scrub_slice(x, mp, &w, &from);
		buf_free(&w.b);
		mpath_drop(mp);
		at[from.len++] = 0; /* the first name after it */
	} while (r == 0 && w.n == SLICE && from.len <= STORE_NAME_MAX);
	return r == STORE_OUT ? 0 : r;
}

static void scrub_all(struct scrub *x)
{
	struct store_scrub st;
	int r = 0;
	size_t i;

	x->since_ns = mono_ns();
	x->paced = 0;
	for (i = 0; r == 0 && i < store_paths(x->s); i++)
		r = scrub_path(x, i);
	pthread_mutex_lock(&x->lock);
	x->st.running = x->stop = false;
	x->st.ended_ns = wall_ns();
	st = x->st;
	pthread_mutex_unlock(&x->lock);
	log_info("scrub.end", "objects=%llu bytes=%llu corrupt=%llu missing=%llu err=\"%s\"",
		 (unsigned long long)st.objects, (unsigned long long)st.bytes,
		 (unsigned long long)st.corrupt, (unsigned long long)st.missing,
		 r < 0 ? strerror(-r) : "");
	if (r < 0)
		return;
	atomic_store(&x->s->scrubbed_ns, st.ended_ns);
	pthread_mutex_lock(&x->s->save);
	path_states_write(x->s);
	pthread_mutex_unlock(&x->s->save);
}

/* ---- the thread ---- */

static bool is_due(struct scrub *x)
{
	struct store *s = x->s;
	int64_t every;

	pthread_mutex_lock(&s->lock);
	every = s->limits.scrub_interval_ns;
	pthread_mutex_unlock(&s->lock);
	return every > 0 && wall_ns() - atomic_load(&s->scrubbed_ns) >= every;
}

/* Return: false when the thread ends. */
static bool wait_turn(struct scrub *x)
{
	bool go_on;

	pthread_mutex_lock(&x->lock);
	while (!x->ending && !x->asked && !is_due(x)) {
		int64_t at = mono_ns() + IDLE_NS;
		struct timespec ts = {at / 1000000000, at % 1000000000};

		pthread_cond_timedwait(&x->wake, &x->lock, &ts);
	}
	go_on = !x->ending;
	x->asked = x->stop = false;
	if (go_on)
		x->st = (struct store_scrub){.running = true, .started_ns = wall_ns()};
	pthread_mutex_unlock(&x->lock);
	return go_on;
}

static void *scrub_thread(void *arg)
{
	struct scrub *x = arg;

	pthread_setname_np(pthread_self(), "scrub");
	while (wait_turn(x))
		scrub_all(x);
	return NULL;
}

int scrub_new(struct store *s, struct scrub **ret)
{
	struct scrub *x = calloc(1, sizeof(*x));
	int r = -ENOMEM;

	if (!x)
		return r;
	x->s = s;
	x->page = malloc(STORE_IO_STEP);
	pthread_mutex_init(&x->lock, NULL);
	store_cond_init(&x->wake);
	if (x->page)
		r = store_thread(&x->thread, scrub_thread, x);
	if (r < 0) {
		free(x->page);
		free(x);
		return r;
	}
	*ret = x;
	return 0;
}

void scrub_free(struct scrub *x)
{
	if (!x)
		return;
	pthread_mutex_lock(&x->lock);
	x->ending = true;
	pthread_cond_broadcast(&x->wake);
	pthread_mutex_unlock(&x->lock);
	pthread_join(x->thread, NULL);
	pthread_mutex_destroy(&x->lock);
	pthread_cond_destroy(&x->wake);
	free(x->page);
	free(x);
}

int store_scrub_start(struct store *s)
{
	struct scrub *x = s->scrub;
	int r = 0;

	pthread_mutex_lock(&x->lock);
	if (x->st.running || x->asked)
		r = -EALREADY;
	else
		x->asked = true;
	pthread_cond_broadcast(&x->wake);
	pthread_mutex_unlock(&x->lock);
	return r;
}

void store_scrub_stop(struct store *s)
{
	struct scrub *x = s->scrub;

	pthread_mutex_lock(&x->lock);
	x->stop = x->st.running;
	x->asked = false;
	pthread_cond_broadcast(&x->wake);
	pthread_mutex_unlock(&x->lock);
}

void store_scrub_status(struct store *s, struct store_scrub *ret)
{
	struct scrub *x = s->scrub;

	pthread_mutex_lock(&x->lock);
	*ret = x->st;
	ret->running |= x->asked;
	pthread_mutex_unlock(&x->lock);
}
