/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Mountpaths at run time: attached, detached, enabled, disabled, checked.
 *
 * One change at a time, under the admin lock. What is taken out of service is closed when its last
 * user has let go; put back, it is opened anew, so that what was mounted meanwhile counts.
 */
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "log.h"
#include "smap/smap.h"
#include "store/blob.h"
#include "store/commit.h"
#include "store/paths.h"
#include "store/sweep.h"

#define SETTLE_NS (INT64_C(5) * 1000000000) /* how long a change waits for the last user */
#define SETTLE_STEP_NS 5000000

__attribute__((format(printf, 3, 4))) static int refuse(const struct errtext *err, int r,
							const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(err->text, err->size, fmt, ap);
	va_end(ap);
	return r;
}

/* ---- states ---- */

static void set_reason(struct mpath *mp, const char *text)
{
	pthread_mutex_lock(&mp->s->lock);
	snprintf(mp->reason, sizeof(mp->reason), "%s", text);
	mp->since_ns = wall_ns();
	pthread_mutex_unlock(&mp->s->lock);
}

static void set_state(struct mpath *mp, enum mpath_state state, const char *reason)
{
	struct store *s = mp->s;

	set_reason(mp, reason);
	pthread_rwlock_wrlock(&s->set_lock);
	atomic_store(&mp->state, state);
	store_recount(s);
	pthread_rwlock_unlock(&s->set_lock);
}

static int save(struct store *s, const struct errtext *err)
{
	int r;

	pthread_mutex_lock(&s->save);
	r = path_states_write(s);
	pthread_mutex_unlock(&s->save);
	return r < 0 ? refuse(err, r, "%s: the state of mountpaths can not be kept: %s",
			      s->o.state_dir, strerror(-r))
		     : 0;
}

/* Open it and start its threads; nobody sees it yet. */
static int bring_up(struct mpath *mp, const struct errtext *err)
{
	int r = mpath_open(mp, &mp->s->o, err);

	if (r < 0) {
		mpath_close(mp);
		return r;
	}
	r = sweeper_new(mp, &mp->sw);
	if (r == 0)
		r = mpath_reap(mp);
	if (r == 0)
		r = committer_new(mp, &mp->com);
	if (r < 0) {
		mpath_close(mp);
		return mpath_error(err, mp, "start", r);
	}
	atomic_store(&mp->full, false);
	space_look(mp);
	quarantine_load(mp);
	return 0;
}

int mpath_start(struct mpath *mp, const struct errtext *err)
{
	int r = bring_up(mp, err);

	if (r == 0)
		set_state(mp, MPATH_AVAILABLE, "");
	return r;
}

bool mpath_settle(struct mpath *mp)
{
	struct store *s = mp->s;

	if (!mp->open)
		return true;
	if (mpath_ok(mp))
		return false;
	/* who has seen it in service has been counted once this lock was ours */
	pthread_rwlock_wrlock(&s->set_lock);
	pthread_rwlock_unlock(&s->set_lock);
	if (atomic_load(&mp->users))
		return false;
	log_info("mountpath.closed", "path=%s", mp->path);
	mpath_close(mp);
	return true;
}

/* Wait a while for the last user; the admin lock is let go in between. */
static bool settle_wait(struct mpath *mp)
{
	int64_t end = mono_ns() + SETTLE_NS;
	struct timespec step = {0, SETTLE_STEP_NS};

	while (!mpath_settle(mp)) {
		if (mono_ns() > end || mpath_ok(mp))
			return false;
		pthread_mutex_unlock(&mp->s->admin);
		nanosleep(&step, NULL);
		pthread_mutex_lock(&mp->s->admin);
	}
	return true;
}

/* ---- slots ---- */

static struct mpath *slot_find(struct store *s, const char *path)
{
	size_t i, n = atomic_load(&s->n_paths);

	for (i = 0; i < n; i++) {
		struct mpath *mp = &s->paths[i];

		if (atomic_load(&mp->state) != MPATH_NONE && !strcmp(mp->path, path))
			return mp;
	}
	return NULL;
}

static struct mpath *slot_new(struct store *s, const char *path)
{
	size_t i = atomic_load(&s->n_paths);
	struct mpath *mp = &s->paths[i];

	if (i == STORE_PATHS_MAX)
		return NULL;
	mp->path = strdup(path);
	if (!mp->path)
		return NULL;
	mp->s = s;
	mp->idx = (uint32_t)i;
	mp->digest = smap_digest(path, strlen(path));
	mp->lock_fd = mp->blob_fd = mp->work_fd = mp->bad_fd = -1;
	atomic_store(&s->n_paths, i + 1);
	return mp;
}

/* Take back the newest slot, which nobody has seen. */
static void slot_undo(struct mpath *mp)
{
	struct store *s = mp->s;

	atomic_store(&s->n_paths, (size_t)mp->idx);
	free(mp->path);
	mp->path = NULL;
}

/* ---- the start ---- */

/* May the node start without it? Not when that would hide a mistake. */
static bool may_miss(int r)
{
	return r != -EBUSY && r != -EUCLEAN && r != -ENOMEM && r != -EMFILE && r != -ENFILE;
}

static int path_first(struct store *s, const char *path, const struct path_state *known,
		      const struct errtext *err)
{
	struct mpath *mp = slot_new(s, path);
	int r;

	if (!mp)
		return refuse(err, -ENOMEM, "mountpath %s: too many of them, or out of memory",
			      path);
	if (known) {
		memcpy(mp->uuid, known->uuid, sizeof(mp->uuid));
		mp->attached = known->attached;
		atomic_store(&mp->strays, known->strays);
		atomic_store(&mp->strays_kept, known->strays);
	}
	if (known && known->state != MPATH_AVAILABLE) {
		set_state(mp, known->state, "by an operator");
		return 0;
	}
	r = mpath_start(mp, err);
	if (r == 0 || !known || !may_miss(r))
		return r;
	log_error("mountpath.failed", "path=%s err=\"%s\"", mp->path, err->text);
	set_state(mp, MPATH_FAILED, err->text);
	return 0;
}

static const struct path_state *row_of(const struct path_states *p, const char *path)
{
	size_t i;

	for (i = 0; i < p->n; i++) {
		if (!strcmp(p->rows[i].path, path))
			return &p->rows[i];
	}
	return NULL;
}

/* With another mountpath names have other owners: each of the others may hold strays. */
static void all_stray(struct store *s, const struct mpath *but)
{
	size_t i, n = atomic_load(&s->n_paths);

	for (i = 0; i < n; i++) {
		struct mpath *mp = &s->paths[i];
		int state = atomic_load(&mp->state);

		if (mp != but && state != MPATH_NONE && state != MPATH_DETACHED)
			atomic_store(&mp->strays, true);
	}
	atomic_store(&s->uneven, true);
}

static int open_all(struct store *s, const struct store_opts *o, const struct path_states *p,
		    const struct errtext *err)
{
	bool more = false;
	size_t i;
	int r = 0;

	for (i = 0; r == 0 && i < o->n_paths; i++) {
		const struct path_state *known = row_of(p, o->paths[i]);

		more |= !known;
		r = path_first(s, o->paths[i], known, err);
	}
	for (i = 0; r == 0 && i < p->n; i++) {
		if (p->rows[i].attached && !slot_find(s, p->rows[i].path))
			r = path_first(s, p->rows[i].path, &p->rows[i], err);
	}
	if (r == 0 && p->found && more)
		all_stray(s, NULL);
	return r ? r : save(s, err);
}

int store_open_paths(struct store *s, const struct store_opts *o, const struct errtext *err)
{
	struct path_states p;
	int r = path_states_read(o->state_dir, &p, err);

	if (r < 0)
		return r;
	/* a new node has nothing to scrub yet */
	atomic_store(&s->scrubbed_ns, p.found ? p.scrubbed_ns : wall_ns());
	pthread_mutex_lock(&s->admin);
	r = open_all(s, o, &p, err);
	pthread_mutex_unlock(&s->admin);
	path_states_free(&p);
	return r;
}

/* ---- changes; under the admin lock ---- */

static bool path_clean(const char *p)
{
	size_t n = strlen(p);

	if (p[0] != '/' || n < 2 || n >= sizeof(((struct path_state *)0)->path) ||
	    p[n - 1] == '/' || strstr(p, "//") || strstr(p, "/./") || strstr(p, "/../"))
		return false;
	return strcmp(p + n - 2, "/.") && (n < 3 || strcmp(p + n - 3, "/.."));
}

static int attach(struct store *s, const char *path, const struct errtext *err)
{
	struct mpath *mp = slot_find(s, path);
	bool known = mp;
	int r;

	if (mp && atomic_load(&mp->state) != MPATH_DETACHED)
		return refuse(err, -EEXIST, "mountpath %s is attached already", path);
	if (mp && !settle_wait(mp))
		return refuse(err, -EBUSY, "mountpath %s is still in use; try again", path);
	if (!mp)
		mp = slot_new(s, path);
	if (!mp)
		return refuse(err, -ENOSPC,
			      "mountpath %s: a node has at most %d; restart it to "
			      "count anew",
			      path, STORE_PATHS_MAX);
	mp->uuid[0] = 0;
	r = bring_up(mp, err);
	if (r < 0) {
		if (!known)
			slot_undo(mp);
		return r;
	}
	mp->attached = true;
	/* known to be so, even after a crash, before it takes part in placement */
	all_stray(s, mp);
	r = save(s, err);
	if (r < 0)
		log_warn("mountpath.save", "err=\"%s\"", err->text);
	set_state(mp, MPATH_AVAILABLE, "");
	return r < 0 ? r : save(s, err);
}

static int detach(struct mpath *mp, const struct errtext *err)
{
	uint64_t n = mpath_ok(mp) ? index_count(mp->ix) : 0;

	if (n)
		return refuse(err, -EBUSY,
			      "mountpath %s holds %llu objects; disable it first, then they are "
			      "given up",
			      mp->path, (unsigned long long)n);
	set_state(mp, MPATH_DETACHED, "by an operator");
	atomic_store(&mp->strays, false);
	atomic_store(&mp->strays_kept, false);
	settle_wait(mp);
	return save(mp->s, err);
}

static int disable(struct mpath *mp, const struct errtext *err)
{
	if (atomic_load(&mp->state) == MPATH_DISABLED)
		return 0;
	set_state(mp, MPATH_DISABLED, "by an operator");
	settle_wait(mp);
	return save(mp->s, err);
}

int mpath_try(struct mpath *mp)
{
	char data[4096], back[sizeof(data)];
	autofd fd = openat(mp->blob_fd, "tmp/check", O_CREAT | O_TRUNC | O_RDWR | O_CLOEXEC, 0600);
	int r;

	if (fd < 0)
		return -errno;
	memset(data, 0x5a, sizeof(data));
	r = blob_write(fd, data, sizeof(data), 0);
	if (r == 0 && fsync(fd) < 0)
		r = -errno;
	if (r == 0 && pread(fd, back, sizeof(back), 0) != (ssize_t)sizeof(back))
		r = -EIO;
	if (r == 0 && memcmp(data, back, sizeof(data)))
		r = -EIO;
	unlinkat(mp->blob_fd, "tmp/check", 0);
	return r;
}

bool mpath_broken(int err)
{
	return err < 0 && err != -ENOSPC && err != -EDQUOT && err != -ENOMEM && err != -EMFILE &&
	       err != -ENFILE;
}

void mpath_set_readonly(struct mpath *mp, int err)
{
	int was = err ? MPATH_AVAILABLE : MPATH_READONLY;
	struct store *s = mp->s;
	bool done;

	if (atomic_load(&mp->state) != was)
		return;
	pthread_rwlock_wrlock(&s->set_lock);
	done = atomic_compare_exchange_strong(&mp->state, &was,
					      err ? MPATH_READONLY : MPATH_AVAILABLE);
	store_recount(s);
	pthread_rwlock_unlock(&s->set_lock);
	if (!done)
		return;
	set_reason(mp, err ? strerror(-err) : "");
	if (err)
		log_error("mountpath.readonly",
			  "path=%s err=\"%s\" fix=\"mend the disk; it is tried "
			  "each second\"",
			  mp->path, strerror(-err));
	else
		log_info("mountpath.writable", "path=%s", mp->path);
	mover_kick(s->mover);
}

static int check(struct mpath *mp, const struct errtext *err)
{
	int r;

	if (!mpath_ok(mp))
		return refuse(err, -EBUSY, "mountpath %s is not in service; enable it", mp->path);
	mpath_hold(mp);
	r = mpath_probe(mp);
	if (r < 0 && r != -EROFS)
		mpath_fail(mp, r, "check");
	if (r == 0)
		r = mpath_try(mp);
	if (r == 0 || mpath_broken(r))
		mpath_set_readonly(mp, r);
	mpath_drop(mp);
	return r < 0 ? refuse(err, r, "mountpath %s: check: %s", mp->path, strerror(-r)) : 0;
}

static int enable(struct mpath *mp, const struct errtext *err)
{
	int r;

	if (mpath_writable(mp))
		return 0;
	if (mpath_ok(mp))
		return check(mp, err);
	if (!settle_wait(mp))
		return mpath_ok(mp) ? 0
				    : refuse(err, -EBUSY, "mountpath %s is still in use; try again",
					     mp->path);
	r = mpath_start(mp, err);
	if (r < 0 && atomic_load(&mp->state) == MPATH_FAILED)
		set_reason(mp, err->text);
	return r < 0 ? r : save(mp->s, err);
}

static int rescan(struct mpath *mp, const struct errtext *err)
{
	if (!mpath_ok(mp))
		return refuse(err, -EBUSY, "mountpath %s is not in service; enable it", mp->path);
	atomic_store(&mp->strays, true);
	atomic_store(&mp->s->uneven, true);
	return 0;
}

static int change(struct store *s, enum store_path_op op, const char *path,
		  const struct errtext *err)
{
	static int (*const ops[STORE_PATH_NR])(struct mpath * mp, const struct errtext *err) = {
		[STORE_PATH_DETACH] = detach,	[STORE_PATH_ENABLE] = enable,
		[STORE_PATH_DISABLE] = disable, [STORE_PATH_RESCAN] = rescan,
		[STORE_PATH_CHECK] = check,
	};
	struct mpath *mp;

	if (!path_clean(path))
		return refuse(err, -EINVAL, "mountpath \"%.200s\": not a clean absolute path",
			      path);
	if (op == STORE_PATH_ATTACH)
		return attach(s, path, err);
	mp = slot_find(s, path);
	if (!mp || atomic_load(&mp->state) == MPATH_DETACHED)
		return refuse(err, -ENOENT, "mountpath %s is not one of this node's", path);
	return op > STORE_PATH_NONE && op < STORE_PATH_NR && ops[op]
		       ? ops[op](mp, err)
		       : refuse(err, -EINVAL, "mountpath %s: unknown change", path);
}

int store_path_change(struct store *s, enum store_path_op op, const char *path, char *err,
		      size_t err_size)
{
	static const char *const words[STORE_PATH_NR] = {
		[STORE_PATH_ATTACH] = "attach", [STORE_PATH_DETACH] = "detach",
		[STORE_PATH_ENABLE] = "enable", [STORE_PATH_DISABLE] = "disable",
		[STORE_PATH_RESCAN] = "rescan", [STORE_PATH_CHECK] = "check",
	};
	struct errtext e = {err, err_size};
	int r;

	*err = 0;
	store_hold(s);
	pthread_mutex_lock(&s->admin);
	r = change(s, op, path, &e);
	pthread_mutex_unlock(&s->admin);
	log_info("mountpath.change", "path=%s op=%s err=\"%s\"", path,
		 op < STORE_PATH_NR && words[op] ? words[op] : "", r < 0 ? err : "");
	mover_kick(s->mover);
	if (r == 0 && s->o.path_back && (op == STORE_PATH_ENABLE || op == STORE_PATH_ATTACH))
		s->o.path_back(s->o.ctx);
	store_drop(s);
	return r;
}

/* ---- what there is ---- */

int store_path_info(struct store *s, size_t i, struct store_path *ret)
{
	static const char *const words[MPATH_STATE_NR] = {
		[MPATH_AVAILABLE] = "available", [MPATH_READONLY] = "read-only",
		[MPATH_DISABLED] = "disabled",	 [MPATH_FAILED] = "failed",
		[MPATH_DETACHED] = "detached",
	};
	struct store_path p = {};
	struct mpath *mp = &s->paths[i];
	int state;

	if (i >= atomic_load(&s->n_paths))
		return -ENOENT;
	state = atomic_load(&mp->state);
	if (state == MPATH_NONE)
		return -ENOENT;
	p.path = mp->path;
	p.state = words[state];
	p.attached = mp->attached;
	p.closing = state != MPATH_AVAILABLE && state != MPATH_READONLY && atomic_load(&mp->users);
	p.strays = atomic_load(&mp->strays);
	p.full = state == MPATH_AVAILABLE && atomic_load(&mp->full);
	p.low = state == MPATH_AVAILABLE && atomic_load(&mp->low);
	p.corrupt = quarantine_count(mp);
	pthread_mutex_lock(&s->lock);
	memcpy(p.reason, mp->reason, sizeof(p.reason));
	p.since_ns = mp->since_ns;
	pthread_mutex_unlock(&s->lock);
	*ret = p;
	return 0;
}

const char *store_path_text(struct store *s, size_t i)
{
	if (i >= atomic_load(&s->n_paths) || atomic_load(&s->paths[i].state) == MPATH_NONE)
		return "";
	return s->paths[i].path;
}

void store_set_limits(struct store *s, const struct store_limits *l)
{
	pthread_mutex_lock(&s->lock);
	s->limits = *l;
	pthread_mutex_unlock(&s->lock);
}
