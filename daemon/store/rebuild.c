/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rebuilding an index: each blob's copy of its record is read, checked against the blob, and put
 * into a new index, unless a higher sequence number is there already. Memory does not grow with the
 * number of blobs.
 */
#include "store/rebuild.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/json.h"
#include "base/text.h"
#include "store/impl.h"

#define BUILD_DIR "rebuild" /* below meta/ */
#define BATCH 4096 /* records a transaction */
#define LATE_MAX (UINT32_C(1) << 20) /* files to remove at the end; more are left to the reaper */
#define SAY_NS (INT64_C(5) * 1000000000)
#define FORMAT_MAX 4096

/* A copy of key and record, from the xattr or the trailer. */
struct copy {
	unsigned char raw[ENVELOPE_MAX + 1];
	struct objkey key;
	struct store_rec rec;
	const char *wrong; /* NULL: it is valid; "": there is none */
};

struct late {
	char name[RECORD_BLOB_LEN + 6]; /* below blob/ */
};

struct rebuild {
	const struct rebuild_opts *o;
	const char *path;
	int root, meta, blob, bad;
	struct index *ix;
	struct MDB_txn *txn;
	unsigned int in_txn;
	struct rebuild_count n;
	uint64_t seen;
	int64_t say_at;
	struct buf late; /* struct late: to remove when the new index is there */
	struct copy xattr, trailer;
};

__attribute__((format(printf, 2, 3))) static void say(const struct rebuild *b, const char *fmt, ...)
{
	char line[4096 + 512];
	int n = snprintf(line, sizeof(line), "%s: ", b->path);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line + n, sizeof(line) - (size_t)n, fmt, ap);
	va_end(ap);
	b->o->say(b->o->arg, line);
}

static int fail(const struct rebuild *b, const char *what, int r)
{
	say(b, "%s: %s", what, strerror(-r));
	return r;
}

/* ---- one blob ---- */

/* Is the copy that of the blob @name of @size bytes? */
static void copy_check(struct copy *c, ssize_t n, bool trailer, const char *name, uint64_t size)
{
	if (n < 0) {
		c->wrong = "";
		return;
	}
	c->wrong = "the copy of its record is damaged";
	if (n > ENVELOPE_MAX || envelope_decode(c->raw, (size_t)n, &c->key, &c->rec) < 0)
		return;
	if (strcmp(c->rec.blob, name) || !(c->rec.flags & STORE_F_TRAILER) == trailer)
		c->wrong = "the copy of its record is another blob's";
	else if (c->rec.size != size)
		c->wrong = "its length is not that of its record";
	else
		c->wrong = NULL;
}

static ssize_t trailer_read(const struct rebuild *b, const char *name, struct copy *c)
{
	char meta[RECORD_BLOB_LEN + 6];
	autofd fd = -1;

	snprintf(meta, sizeof(meta), "%.36s.meta", name);
	fd = openat(b->blob, meta, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	return fd < 0 ? -1 : pread(fd, c->raw, sizeof(c->raw), 0);
}

/* The copy that counts. Return: NULL and @why without one. */
static struct copy *copy_best(struct rebuild *b, const char **why)
{
	struct copy *x = &b->xattr, *t = &b->trailer;

	if (x->wrong && t->wrong) {
		*why = *x->wrong ? x->wrong : t->wrong;
		*why = **why ? *why : "it has no copy of its record";
		return NULL;
	}
	if (x->wrong || t->wrong)
		return x->wrong ? t : x;
	return x->rec.seq >= t->rec.seq ? x : t;
}

/* Return: 0 with the copy, or NULL and @why; or an errno that is not the blob's fault. */
static int blob_read(struct rebuild *b, const char *name, struct copy **ret, const char **why)
{
	autofd fd = openat(b->blob, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat st;
	ssize_t n;

	*ret = NULL;
	*why = "it can not be read";
	if (fd < 0)
		return errno == EMFILE || errno == ENFILE || errno == ENOMEM ? -errno : 0;
	if (fstat(fd, &st) < 0)
		return 0;
	*why = "it is not a file";
	if (!S_ISREG(st.st_mode))
		return 0;
	n = fgetxattr(fd, XATTR_NAME, b->xattr.raw, ENVELOPE_MAX);
	if (n < 0 && errno == ERANGE)
		n = sizeof(b->xattr.raw);
	copy_check(&b->xattr, n, false, name, (uint64_t)st.st_size);
	n = trailer_read(b, name, &b->trailer);
	copy_check(&b->trailer, n, true, name, (uint64_t)st.st_size);
	*ret = copy_best(b, why);
	return 0;
}

static int bad_open(struct rebuild *b)
{
	if (b->bad >= 0)
		return 0;
	if (mkdirat(b->root, QUARANTINE_DIR, 0700) < 0 && errno != EEXIST)
		return -errno;
	b->bad = openat(b->root, QUARANTINE_DIR, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return b->bad < 0 || fsync(b->root) < 0 ? -errno : 0;
}

/* Move a file out of the way; its name is unique without its folder's. */
static int bad_move(struct rebuild *b, const char *name, const char *end)
{
	char from[64], to[64];

	snprintf(from, sizeof(from), "%.36s%s", name, end);
	snprintf(to, sizeof(to), "%.33s%s", name + 3, end);
	return renameat(b->blob, from, b->bad, to) < 0 && errno != ENOENT ? -errno : 0;
}

static int quarantine(struct rebuild *b, const char *name, const char *why)
{
	int r = bad_open(b);

	r = r ? r : bad_move(b, name, ".meta");
	r = r ? r : bad_move(b, name, "");
	if (r < 0)
		return fail(b, QUARANTINE_DIR, r);
	b->n.quarantined++;
	say(b, "blob/%s: %s; moved to %s/%s", name, why, QUARANTINE_DIR, name + 3);
	return 0;
}

static void remove_late(struct rebuild *b, const char *blob, const char *end)
{
	struct late l = {};

	snprintf(l.name, sizeof(l.name), "%.36s%s", blob, end);
	if (b->late.len < LATE_MAX * sizeof(l))
		buf_append(&b->late, &l, sizeof(l));
}

static void blob_replaced(struct rebuild *b, const struct store_rec *rec)
{
	b->n.replaced++;
	remove_late(b, rec->blob, "");
	if (rec->flags & STORE_F_TRAILER)
		remove_late(b, rec->blob, ".meta");
}

static int txn_next(struct rebuild *b)
{
	int r;

	if (b->in_txn++ < BATCH)
		return 0;
	b->in_txn = 0;
	r = index_commit(b->ix, take_ptr(b->txn));
	return r ? r : index_begin(b->ix, &b->txn);
}

/* Into the index, unless a newer one is there. */
static int blob_add(struct rebuild *b, const struct copy *c)
{
	struct store_rec other;
	int r = txn_next(b);

	r = r ? r : index_find(b->ix, b->txn, &c->key, &other);
	if (r == 0 && (other.seq > c->rec.seq ||
		       (other.seq == c->rec.seq && strcmp(other.blob, c->rec.blob) > 0))) {
		blob_replaced(b, &c->rec);
		return 0;
	}
	if (r == 0) {
		blob_replaced(b, &other);
		b->n.bytes -= other.size;
		b->n.objects--;
	} else if (r != -ENOENT) {
		return r;
	}
	b->n.bytes += c->rec.size;
	b->n.objects++;
	return index_put(b->ix, b->txn, &c->key, &c->rec);
}

static int take_blob(struct rebuild *b, const char *name)
{
	const char *why;
	struct copy *c;
	int r = blob_read(b, name, &c, &why);

	b->seen++;
	if (r < 0)
		return fail(b, "blobs", r);
	if (!c)
		return quarantine(b, name, why);
	if (c == &b->xattr && (!b->trailer.wrong || *b->trailer.wrong))
		remove_late(b, name, ".meta");
	r = blob_add(b, c);
	if (r == -ENOSPC)
		say(b, "no room for the new index: free some of the disk, or raise store.mdb_size");
	return r < 0 ? fail(b, "meta/" BUILD_DIR, r) : 0;
}

/* ---- all blobs ---- */

static void close_dir(DIR **d)
{
	if (*d)
		closedir(*d);
}

static void say_progress(struct rebuild *b, unsigned int dir)
{
	if (mono_ns() < b->say_at)
		return;
	say(b, "folder %u of %u, %" PRIu64 " blobs", dir + 1, BLOB_DIRS, b->seen);
	b->say_at = mono_ns() + SAY_NS;
}

static int take_name(struct rebuild *b, unsigned int dir, const char *file)
{
	char name[RECORD_BLOB_LEN + 6 + 4];
	size_t n = strlen(file);

	say_progress(b, dir);
	if (n == 33 || n == 33 + 5) {
		snprintf(name, sizeof(name), "%02x/%.33s", dir & 0xff, file);
		if (record_blob_ok(name, strlen(name))) {
			if (n == 33)
				return take_blob(b, name);
			if (!strcmp(file + 33, ".meta"))
				return 0; /* comes with its blob, or is the reaper's */
		}
	}
	b->n.foreign += strcmp(file, ".") && strcmp(file, "..");
	return 0;
}

/* A name that was moved since readdir(3) read it is gone: nothing else changes the folder. */
static int take_dir(struct rebuild *b, unsigned int dir)
{
	autoclean(close_dir) DIR *d = NULL;
	struct dirent *e;
	char name[8];
	int r = 0, fd;

	snprintf(name, sizeof(name), "%02x", dir);
	fd = openat(b->blob, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? 0 : fail(b, "blob", -errno);
	d = fdopendir(fd);
	if (!d) {
		r = -errno;
		close(fd);
		return fail(b, "blob", r);
	}
	while (r == 0 && (errno = 0, e = readdir(d)))
		r = take_name(b, dir, e->d_name);
	return r || !errno ? r : fail(b, "blob", -errno);
}

static int fill(struct rebuild *b)
{
	unsigned int dir;
	int r = index_begin(b->ix, &b->txn);

	if (r < 0)
		return fail(b, "meta/" BUILD_DIR, r);
	for (dir = 0; r == 0 && dir < BLOB_DIRS; dir++)
		r = take_dir(b, dir);
	if (!b->txn)
		return r;
	if (r < 0) {
		index_abort(b->ix, b->txn);
		return r;
	}
	r = index_commit(b->ix, b->txn);
	return r < 0 ? fail(b, "meta/" BUILD_DIR, r) : 0;
}

/* ---- the new index ---- */

/* The UUID of the format file; a new one where there is none: the next start writes it then. */
static int uuid_read(struct rebuild *b, char uuid[INDEX_UUID_MAX])
{
	autojson struct json_object *o = NULL;
	autofd fd = openat(b->meta, "pagewire.json", O_RDONLY | O_CLOEXEC);
	char text[FORMAT_MAX];
	const char *s = text;
	bool known = fd >= 0;
	ssize_t n;

	if (fd < 0 && errno != ENOENT)
		return -errno;
	if (!known)
		fd = open("/proc/sys/kernel/random/uuid", O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (n < INDEX_UUID_MAX - 1)
		return n < 0 ? -errno : -EUCLEAN;
	text[n] = 0;
	if (known) {
		s = json_parse(text, (size_t)n, &o) < 0 ? NULL : json_member_str(o, "uuid");
		if (!s || strlen(s) != INDEX_UUID_MAX - 1)
			return -EUCLEAN;
	}
	memcpy(uuid, s, INDEX_UUID_MAX - 1);
	uuid[INDEX_UUID_MAX - 1] = 0;
	return 0;
}

/* What a run that was cut short left. */
static int build_clear(struct rebuild *b)
{
	if ((unlinkat(b->meta, BUILD_DIR "/data.mdb", 0) < 0 && errno != ENOENT) ||
	    (unlinkat(b->meta, BUILD_DIR "/lock.mdb", 0) < 0 && errno != ENOENT) ||
	    (unlinkat(b->meta, BUILD_DIR, AT_REMOVEDIR) < 0 && errno != ENOENT))
		return -errno;
	return 0;
}

static int build(struct rebuild *b)
{
	autofree char *dir = NULL;
	char uuid[INDEX_UUID_MAX];
	int r = uuid_read(b, uuid);

	if (r < 0)
		return fail(b, "meta/pagewire.json", r);
	if (asprintf(&dir, "%s/meta/" BUILD_DIR, b->path) < 0) {
		dir = NULL;
		return -ENOMEM;
	}
	/* twice the room: an index filled in another order takes some more */
	r = build_clear(b);
	if (r == 0 && mkdirat(b->meta, BUILD_DIR, 0700) < 0)
		r = -errno;
	r = r ? r : index_open(dir, b->o->map_bytes * 2, false, &b->ix);
	if (r < 0)
		return fail(b, "meta/" BUILD_DIR, r);
	r = fill(b);
	if (r < 0)
		return r;
	r = index_set_uuid(b->ix, uuid);
	return r < 0 ? fail(b, "meta/" BUILD_DIR, r) : 0;
}

/* The new index takes the place of the old one, durably. */
static int install(struct rebuild *b)
{
	index_close(take_ptr(b->ix));
	if ((b->bad >= 0 && fsync(b->bad) < 0) ||
	    renameat(b->meta, BUILD_DIR "/data.mdb", b->meta, "data.mdb") < 0 || fsync(b->meta) < 0)
		return fail(b, "meta/data.mdb", -errno);
	unlinkat(b->meta, "lock.mdb", 0);
	return 0;
}

static void remove_all(struct rebuild *b)
{
	struct late l;
	size_t pos;

	for (pos = 0; pos + sizeof(l) <= b->late.len; pos += sizeof(l)) {
		memcpy(&l, b->late.data + pos, sizeof(l));
		unlinkat(b->blob, l.name, 0);
	}
}

/* ---- one mountpath ---- */

/* Return: 1 go on; 0 there is nothing; or an errno. */
static int path_open(struct rebuild *b)
{
	b->root = open(b->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (b->root < 0)
		return fail(b, "mount it, or take it out of fspaths", -errno);
	b->blob = openat(b->root, "blob", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (b->blob < 0 && errno != ENOENT)
		return fail(b, "blob", -errno);
	if (b->blob < 0) {
		say(b, "no blobs, nothing to rebuild");
		return 0;
	}
	if (mkdirat(b->root, "meta", 0700) < 0 && errno != EEXIST)
		return fail(b, "meta", -errno);
	b->meta = openat(b->root, "meta", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return b->meta < 0 ? fail(b, "meta", -errno) : 1;
}

/* Return: the descriptor that holds it, or an errno. */
static int path_lock(struct rebuild *b)
{
	autofd fd = openat(b->meta, "lock", O_CREAT | O_RDWR | O_CLOEXEC, 0600);

	if (fd < 0)
		return fail(b, "meta/lock", -errno);
	if (flock(fd, LOCK_EX | LOCK_NB) == 0)
		return take_fd(&fd);
	if (errno != EWOULDBLOCK)
		return fail(b, "meta/lock", -errno);
	say(b, "in use by a daemon; stop that first");
	return -EBUSY;
}

static int path_run(struct rebuild *b)
{
	autofd lock = -1;
	int r = path_open(b);

	if (r <= 0)
		return r;
	lock = path_lock(b);
	if (lock < 0)
		return lock;
	r = build(b);
	r = r ? r : install(b);
	index_close(take_ptr(b->ix));
	build_clear(b);
	if (r < 0)
		return r;
	remove_all(b);
	say(b,
	    "objects=%" PRIu64 " bytes=%" PRIu64 " replaced=%" PRIu64 " quarantined=%" PRIu64
	    " foreign=%" PRIu64,
	    b->n.objects, b->n.bytes, b->n.replaced, b->n.quarantined, b->n.foreign);
	return 0;
}

static int path_rebuild(const struct rebuild_opts *o, const char *path, struct rebuild_count *sum)
{
	struct rebuild *b = calloc(1, sizeof(*b));
	int r;

	if (!b)
		return -ENOMEM;
	b->o = o;
	b->path = path;
	b->root = b->meta = b->blob = b->bad = -1;
	b->say_at = mono_ns() + SAY_NS;
	r = path_run(b);
	sum->objects += b->n.objects;
	sum->bytes += b->n.bytes;
	sum->replaced += b->n.replaced;
	sum->quarantined += b->n.quarantined;
	sum->foreign += b->n.foreign;
	sum->failed += r < 0;
	buf_free(&b->late);
	base_close_fd(&b->root);
	base_close_fd(&b->meta);
	base_close_fd(&b->blob);
	base_close_fd(&b->bad);
	free(b);
	return r;
}

int store_rebuild(const struct rebuild_opts *o, struct rebuild_count *ret)
{
	int first = 0, r;
	size_t i;

	*ret = (struct rebuild_count){};
	for (i = 0; i < o->n_paths; i++) {
		r = path_rebuild(o, o->paths[i], ret);
		first = first ? first : r;
	}
	return first;
}
