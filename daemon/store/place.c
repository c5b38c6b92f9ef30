/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which mountpaths a name is on. A new version goes to the first in service in the name's order of
 * weights. While all are in service and none has strays, that is the owner, and nothing else is
 * looked at.
 *
 * Else each that is in service is asked, and the newest version counts. One that is out of service
 * may have the name if it is the owner, or has strays: then an answer that it could contradict is
 * STORE_OUT, not "does not exist" and not an older version. The owner's own is older than what
 * others have: that was put while the owner was out.
 */
#include <errno.h>
#include <string.h>
#define XXH_STATIC_LINKING_ONLY /* a state on the stack */
#include <xxhash.h>

#include "smap/smap.h"
#include "store/paths.h"

#define FIND_TRIES 64 /* times an object moves while it is looked for */

/* What was taken to look for a name, in its order. */
struct places {
	struct mpath *mp[STORE_PATHS_MAX];
	size_t n;
	bool owner_out; /* the first of the order */
	bool strays_out;
};

uint64_t store_digest(const struct store_bck *b, const char *name)
{
	XXH64_state_t st;

	XXH64_reset(&st, SMAP_SEED);
	XXH64_update(&st, b->uname, strlen(b->uname));
	XXH64_update(&st, name, strlen(name));
	return XXH64_digest(&st);
}

/* Under set_lock. */
static struct mpath *owner(struct store *s, uint64_t digest)
{
	if (!s->set.n)
		return NULL;
	return &s->paths[s->set.slot[smap_owner_path(s->set.digests, s->set.n, digest)]];
}

struct mpath *store_owner(struct store *s, uint64_t digest)
{
	struct mpath *mp;

	pthread_rwlock_rdlock(&s->set_lock);
	mp = owner(s, digest);
	pthread_rwlock_unlock(&s->set_lock);
	return mp;
}

void mpath_hold(struct mpath *mp)
{
	atomic_fetch_add(&mp->users, 1);
}

void mpath_drop(struct mpath *mp)
{
	if (mp)
		atomic_fetch_sub(&mp->users, 1);
}

struct mpath *store_hold_path(struct store *s, size_t i)
{
	struct mpath *mp = NULL;

	pthread_rwlock_rdlock(&s->set_lock);
	if (i < atomic_load(&s->n_paths) && mpath_ok(&s->paths[i])) {
		mp = &s->paths[i];
		mpath_hold(mp);
	}
	pthread_rwlock_unlock(&s->set_lock);
	return mp;
}

bool store_whole(struct store *s)
{
	bool whole = true;
	size_t i;

	pthread_rwlock_rdlock(&s->set_lock);
	for (i = 0; i < s->set.n; i++)
		whole &= mpath_ok(&s->paths[s->set.slot[i]]);
	pthread_rwlock_unlock(&s->set_lock);
	return whole;
}

bool store_sound(struct store *s)
{
	bool sound = true;
	size_t i;

	pthread_rwlock_rdlock(&s->set_lock);
	for (i = 0; i < s->set.n; i++)
		sound &= mpath_writable(&s->paths[s->set.slot[i]]);
	pthread_rwlock_unlock(&s->set_lock);
	return sound;
}

void store_recount(struct store *s)
{
	size_t i, n = atomic_load(&s->n_paths);
	bool uneven = false;

	s->set.n = 0;
	for (i = 0; i < n; i++) {
		struct mpath *mp = &s->paths[i];
		int state = atomic_load(&mp->state);

		if (state == MPATH_NONE || state == MPATH_DETACHED)
			continue;
		s->set.digests[s->set.n] = mp->digest;
		s->set.slot[s->set.n++] = (uint8_t)i;
		uneven |= state != MPATH_AVAILABLE || atomic_load(&mp->strays);
	}
	atomic_store(&s->uneven, uneven);
	/* what has changed meanwhile without the lock has set it before, or is seen here */
	for (i = 0; i < n; i++) {
		int state = atomic_load(&s->paths[i].state);

		if (state == MPATH_FAILED || state == MPATH_READONLY ||
		    atomic_load(&s->paths[i].strays))
			atomic_store(&s->uneven, true);
	}
}

/* ---- the order of a name ---- */

/* Slots by weight, the heaviest first; ties go to the lower slot, as smap_owner_path() has it. */
static size_t order(const struct mpath_set *set, uint64_t digest, uint8_t *slots)
{
	uint64_t w[STORE_PATHS_MAX];
	size_t i, j;

	for (i = 0; i < set->n; i++) {
		uint64_t x = smap_xhash(set->digests[i] ^ digest);

		for (j = i; j > 0 && w[j - 1] < x; j--) {
			w[j] = w[j - 1];
			slots[j] = slots[j - 1];
		}
		w[j] = x;
		slots[j] = set->slot[i];
	}
	return set->n;
}

static void note_out(struct places *p, const struct mpath *mp, bool first)
{
	p->owner_out |= first;
	p->strays_out |= atomic_load(&mp->strays);
}

static void take_all(struct store *s, uint64_t digest, struct places *p)
{
	uint8_t slots[STORE_PATHS_MAX];
	size_t i, n;

	memset(p, 0, sizeof(*p));
	pthread_rwlock_rdlock(&s->set_lock);
	n = order(&s->set, digest, slots);
	for (i = 0; i < n; i++) {
		struct mpath *mp = &s->paths[slots[i]];

		if (mpath_ok(mp)) {
			mpath_hold(mp);
			p->mp[p->n++] = mp;
		} else {
			note_out(p, mp, i == 0);
		}
	}
	pthread_rwlock_unlock(&s->set_lock);
	p->strays_out |= !n;
}

static void drop_all(struct places *p)
{
	while (p->n)
		mpath_drop(p->mp[--p->n]);
}

int store_place(struct store *s, uint64_t digest, struct mpath **ret)
{
	struct mpath *mp = NULL;
	struct places p;
	size_t i;

	pthread_rwlock_rdlock(&s->set_lock);
	if (!atomic_load(&s->uneven)) {
		mp = owner(s, digest);
		if (mp)
			mpath_hold(mp);
	}
	pthread_rwlock_unlock(&s->set_lock);
	if (!mp) {
		take_all(s, digest, &p);
		for (i = 0; i < p.n && !mpath_writable(p.mp[i]); i++)
			;
		mp = i < p.n ? p.mp[i] : NULL;
		if (mp)
			mpath_hold(mp);
		drop_all(&p);
	}
	if (!mp)
		return STORE_OUT;
	*ret = mp;
	return 0;
}

/* ---- looking for a name ---- */

/* What is on one mountpath. One that fails while it is asked is out. */
static int ask(struct places *p, size_t i, const struct objkey *k, struct store_rec *rec)
{
	int r = index_get(p->mp[i]->ix, k, rec);

	if (r == 0 || r == -ENOENT || r == -EUCLEAN || mpath_ok(p->mp[i]))
		return r;
	note_out(p, p->mp[i], i == 0 && !p->owner_out);
	return -ENOENT;
}

/* The newest of what was taken. Return: 0 or -EUCLEAN, @ret held; -ENOENT; or an errno. */
static int find_newest(struct places *p, const struct objkey *k, struct store_rec *rec,
		       struct mpath **ret)
{
	struct store_rec other;
	struct mpath *best = NULL;
	int r = -ENOENT;
	size_t i;

	for (i = 0; i < p->n; i++) {
		int e = ask(p, i, k, best ? &other : rec);

		if (e == -ENOENT)
			continue;
		if (e < 0 && e != -EUCLEAN)
			return e;
		if (best && (e < 0 || (r == 0 && other.seq <= rec->seq)))
			continue;
		if (best)
			*rec = other;
		best = p->mp[i];
		r = e;
	}
	if (best) {
		mpath_hold(best);
		*ret = best;
	}
	return r;
}

static int find_anywhere(struct store *s, uint64_t digest, const struct objkey *k,
			 struct store_rec *rec, struct mpath **ret)
{
	uint64_t moves = atomic_load(&s->moves), now;
	struct places p;
	int r, i;

	for (i = 0; i < FIND_TRIES; i++) {
		take_all(s, digest, &p);
		r = find_newest(&p, k, rec, ret);
		drop_all(&p);
		if (p.strays_out || (p.owner_out && r == -ENOENT)) {
			if (r == 0 || r == -EUCLEAN)
				mpath_drop(*ret);
			return STORE_OUT;
		}
		now = atomic_load(&s->moves);
		if (r != -ENOENT || now == moves)
			return r;
		moves = now;
	}
	return -EAGAIN;
}

int store_find(struct store *s, uint64_t digest, const struct objkey *k, struct store_rec *rec,
	       struct mpath **ret)
{
	struct mpath *mp = NULL;
	int r;

	pthread_rwlock_rdlock(&s->set_lock);
	if (!atomic_load(&s->uneven)) {
		mp = owner(s, digest);
		if (mp)
			mpath_hold(mp);
	}
	pthread_rwlock_unlock(&s->set_lock);
	if (!mp)
		return find_anywhere(s, digest, k, rec, ret);
	r = index_get(mp->ix, k, rec);
	if (r == 0 || r == -EUCLEAN) {
		*ret = mp;
		return r;
	}
	if (r != -ENOENT && !mpath_ok(mp))
		r = STORE_OUT;
	mpath_drop(mp);
	return r;
}

int store_find_other(struct store *s, const struct mpath *but, const struct objkey *k,
		     struct store_rec *rec, struct mpath **ret)
{
	struct places p;
	size_t i;
	int r;

	if (!atomic_load(&s->uneven))
		return -ENOENT;
	take_all(s, 0, &p);
	for (i = 0; i < p.n && p.mp[i] != but; i++)
		;
	if (i < p.n) {
		mpath_drop(p.mp[i]);
		p.mp[i] = p.mp[--p.n];
	}
	r = find_newest(&p, k, rec, ret);
	drop_all(&p);
	return r;
}

int mpath_note_stray(struct mpath *mp)
{
	struct store *s = mp->s;
	int r = 0;

	/* counted first: the mover clears the mark only when none has come since it began */
	atomic_fetch_add(&mp->strays_seen, 1);
	if (atomic_load(&mp->strays_kept))
		return 0;
	pthread_mutex_lock(&s->save);
	atomic_store(&mp->strays, true);
	atomic_store(&s->uneven, true);
	if (!atomic_load(&mp->strays_kept))
		r = path_states_write(s);
	if (r == 0)
		atomic_store(&mp->strays_kept, true);
	pthread_mutex_unlock(&s->save);
	return r;
}
