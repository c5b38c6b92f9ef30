/* SPDX-License-Identifier: BSD-2-Clause */
/* One mountpath: its folders, its lock, its format file, its index. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/json.h"
#include "base/text.h"
#include "log.h"
#include "store/atime.h"
#include "store/blob.h"
#include "store/commit.h"
#include "store/sweep.h"

#define FORMAT_VERSION 1
#define FORMAT_FILE "pagewire.json"
#define FORMAT_MAX 4096

/* What the format file says. */
struct format {
	char uuid[INDEX_UUID_MAX];
};

__attribute__((format(printf, 3, 4))) static int fail(const struct errtext *err, int r,
						      const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(err->text, err->size, fmt, ap);
	va_end(ap);
	return r;
}

static int fail_sys(const struct errtext *err, const struct mpath *mp, const char *what, int r)
{
	return fail(err, r, "mountpath %s: %s: %s", mp->path, what, strerror(-r));
}

/* ---- folders ---- */

static int dir_make(int at, const char *name)
{
	return mkdirat(at, name, 0700) < 0 && errno != EEXIST ? -errno : 0;
}

static int dir_open(int at, const char *name)
{
	int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

static int dirs_make(struct mpath *mp, int root)
{
	unsigned int i;
	char name[8];
	int r;

	r = dir_make(root, "meta");
	r = r ? r : dir_make(root, "blob");
	r = r ? r : dir_make(root, "work");
	r = r ? r : dir_make(root, "quarantine");
	if (r < 0)
		return r;
	mp->blob_fd = dir_open(root, "blob");
	if (mp->blob_fd < 0)
		return mp->blob_fd;
	mp->work_fd = dir_open(root, "work");
	if (mp->work_fd < 0)
		return mp->work_fd;
	mp->bad_fd = dir_open(root, "quarantine");
	if (mp->bad_fd < 0)
		return mp->bad_fd;
	r = dir_make(mp->blob_fd, "tmp");
	for (i = 0; r == 0 && i < BLOB_DIRS; i++) {
		snprintf(name, sizeof(name), "%02x", i);
		r = dir_make(mp->blob_fd, name);
	}
	if (r == 0 && (fsync(mp->blob_fd) < 0 || fsync(root) < 0))
		r = -errno;
	return r;
}

/* Can files begin without a name here, and get one later? Do they take xattrs? */
static void probe(struct mpath *mp)
{
	autofd fd = openat(mp->blob_fd, "tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	char proc[32];

	mp->named_tmp = true;
	if (fd >= 0) {
		snprintf(proc, sizeof(proc), "/proc/self/fd/%d", fd);
		unlinkat(mp->blob_fd, "tmp/probe", 0);
		mp->named_tmp =
			linkat(AT_FDCWD, proc, mp->blob_fd, "tmp/probe", AT_SYMLINK_FOLLOW) < 0;
	} else {
		fd = openat(mp->blob_fd, "tmp/probe", O_CREAT | O_RDWR | O_CLOEXEC, 0600);
	}
	mp->no_xattr = fd >= 0 && fsetxattr(fd, XATTR_NAME, "x", 1, 0) < 0 && errno == EOPNOTSUPP;
	unlinkat(mp->blob_fd, "tmp/probe", 0);
}

static int lock(struct mpath *mp, int meta, const struct errtext *err)
{
	mp->lock_fd = openat(meta, "lock", O_CREAT | O_RDWR | O_CLOEXEC, 0600);
	if (mp->lock_fd < 0)
		return fail_sys(err, mp, "meta/lock", -errno);
	if (flock(mp->lock_fd, LOCK_EX | LOCK_NB) == 0)
		return 0;
	if (errno != EWOULDBLOCK)
		return fail_sys(err, mp, "meta/lock", -errno);
	return fail(err, -EBUSY,
		    "mountpath %s: in use by another daemon, or named twice; stop that one first",
		    mp->path);
}

/* ---- the format file ---- */

/* Return: 1 read; 0 there is none; -EUCLEAN and other errno with a sentence. */
static int format_read(struct mpath *mp, int meta, const char *node_id, struct format *f,
		       const struct errtext *err)
{
	autojson struct json_object *o = NULL;
	autofd fd = openat(meta, FORMAT_FILE, O_RDONLY | O_CLOEXEC);
	const char *id, *uuid;
	char text[FORMAT_MAX];
	int64_t version;
	ssize_t n;

	if (fd < 0)
		return errno == ENOENT ? 0 : fail_sys(err, mp, "meta/" FORMAT_FILE, -errno);
	n = pread(fd, text, sizeof(text), 0);
	if (n < 0)
		return fail_sys(err, mp, "meta/" FORMAT_FILE, -errno);
	if (json_parse(text, (size_t)n, &o) < 0 || json_member_int(o, "format", &version) < 0)
		return fail(err, -EUCLEAN,
			    "mountpath %s: meta/" FORMAT_FILE " is damaged; restore it, or use "
			    "another folder",
			    mp->path);
	if (version != FORMAT_VERSION)
		return fail(err, -EUCLEAN,
			    "mountpath %s: format %lld is not known to this version; install the "
			    "one that wrote it",
			    mp->path, (long long)version);
	id = json_member_str(o, "node_id");
	uuid = json_member_str(o, "uuid");
	if (!id || strcmp(id, node_id))
		return fail(err, -EUCLEAN,
			    "mountpath %s belongs to node %s, this is %s; set node_id or fspaths",
			    mp->path, id ? id : "(none)", node_id);
	if (!uuid || strlen(uuid) != INDEX_UUID_MAX - 1)
		return fail(err, -EUCLEAN, "mountpath %s: meta/" FORMAT_FILE " has no uuid",
			    mp->path);
	memcpy(f->uuid, uuid, INDEX_UUID_MAX);
	return 1;
}

static int format_write(int meta, const char *node_id, const struct format *f)
{
	autobuf struct buf b = BUF_INIT;
	autofd fd = -1;
	int r;

	buf_fmt(&b, "{\"format\":%d,\"node_id\":", FORMAT_VERSION);
	buf_json_str(&b, node_id);
	buf_fmt(&b, ",\"uuid\":\"%s\"}\n", f->uuid);
	if (b.err)
		return b.err;
	fd = openat(meta, FORMAT_FILE ".tmp", O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	r = blob_write(fd, b.data, b.len, 0);
	if (r < 0)
		return r;
	if (fsync(fd) < 0 || renameat(meta, FORMAT_FILE ".tmp", meta, FORMAT_FILE) < 0 ||
	    fsync(meta) < 0)
		return -errno;
	return 0;
}

static int uuid_make(char out[INDEX_UUID_MAX])
{
	unsigned char v[16];

	if (getrandom(v, sizeof(v), 0) != (ssize_t)sizeof(v))
		return -EIO;
	v[6] = (v[6] & 0x0f) | 0x40; /* RFC 9562 5.4 */
	v[8] = (v[8] & 0x3f) | 0x80;
	snprintf(out, INDEX_UUID_MAX,
		 "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", v[0], v[1],
		 v[2], v[3], v[4], v[5], v[6], v[7], v[8], v[9], v[10], v[11], v[12], v[13], v[14],
		 v[15]);
	return 0;
}

/* ---- the index ---- */

/*
 * An index that is gone must not come back empty: each blob would look like an orphan. So a known
 * mountpath needs its file, and inside the UUID of the format file.
 */
static int index_check(struct mpath *mp, const struct format *f, const struct errtext *err)
{
	char uuid[INDEX_UUID_MAX];
	int r = index_uuid(mp->ix, uuid);

	if (r < 0)
		return fail_sys(err, mp, "index", r);
	if (!strcmp(uuid, f->uuid))
		return 0;
	return fail(err, -EUCLEAN,
		    "mountpath %s: meta/data.mdb is not its index; run pagewired --rebuild-index",
		    mp->path);
}

static int index_there(struct mpath *mp, int meta, const struct errtext *err)
{
	struct stat st;

	if (fstatat(meta, "data.mdb", &st, 0) == 0 && st.st_size > 0)
		return 0;
	return fail(err, -EUCLEAN,
		    "mountpath %s: the index meta/data.mdb is missing or empty; run pagewired "
		    "--rebuild-index",
		    mp->path);
}

static bool has_blobs(struct mpath *mp)
{
	unsigned int i;
	char name[8];

	for (i = 0; i < BLOB_DIRS; i++) {
		snprintf(name, sizeof(name), "%02x", i);
		if (!mpath_dir_empty(mp->blob_fd, name))
			return true;
	}
	return false;
}

/* First use, or a first use that was cut short. */
static int format_make(struct mpath *mp, int meta, const char *node_id, struct format *f,
		       const struct errtext *err)
{
	int r = index_uuid(mp->ix, f->uuid);

	if (r == 0 && !f->uuid[0]) {
		if (has_blobs(mp))
			return fail(err, -EUCLEAN,
				    "mountpath %s holds blobs but no meta/" FORMAT_FILE
				    "; restore it, or use another folder",
				    mp->path);
		r = uuid_make(f->uuid);
		r = r ? r : index_set_uuid(mp->ix, f->uuid);
	}
	r = r ? r : format_write(meta, node_id, f);
	return r < 0 ? fail_sys(err, mp, "meta/" FORMAT_FILE, r) : 0;
}

static int index_start(struct mpath *mp, int meta, const struct store_opts *o,
		       const struct errtext *err)
{
	autofree char *dir = NULL;
	struct format f = {};
	int known, r;

	known = format_read(mp, meta, o->node_id, &f, err);
	if (known < 0)
		return known;
	r = known ? index_there(mp, meta, err) : 0;
	if (r < 0)
		return r;
	if (asprintf(&dir, "%s/meta", mp->path) < 0) {
		dir = NULL;
		return -ENOMEM;
	}
	r = index_open(dir, o->map_bytes, o->sync, &mp->ix);
	if (r < 0)
		return fail_sys(err, mp, "index meta/data.mdb", r);
	index_reserve(mp->ix);
	r = known ? index_check(mp, &f, err) : format_make(mp, meta, o->node_id, &f, err);
	if (r < 0)
		return r;
	if (mp->uuid[0] && strcmp(mp->uuid, f.uuid))
		return fail(err, -EUCLEAN,
			    "mountpath %s: another file system than before (uuid %s, was %s); "
			    "mount the "
			    "right one, or detach it and attach it anew",
			    mp->path, f.uuid, mp->uuid);
	memcpy(mp->uuid, f.uuid, sizeof(mp->uuid));
	return 0;
}

/* Remember which folder it is. A known one that is empty is not mounted. */
static int root_check(struct mpath *mp, int root, const struct errtext *err)
{
	struct stat st;

	if (mp->uuid[0] && faccessat(root, "meta", F_OK, 0) < 0 && errno == ENOENT)
		return fail(err, -ENODEV,
			    "mountpath %s: nothing of it is there; mount its file system",
			    mp->path);
	if (fstat(root, &st) < 0)
		return fail_sys(err, mp, "folder", -errno);
	mp->dev = st.st_dev;
	mp->ino = st.st_ino;
	return 0;
}

int mpath_open(struct mpath *mp, const struct store_opts *o, const struct errtext *err)
{
	autofd root = -1, meta = -1;
	int r;

	mp->open = true;
	mp->lock_fd = mp->blob_fd = mp->work_fd = mp->bad_fd = -1;
	root = dir_open(AT_FDCWD, mp->path);
	if (root < 0)
		return fail(err, root, "mountpath %s: %s; create or mount it, or mend fspaths",
			    mp->path, strerror(-root));
	r = root_check(mp, root, err);
	if (r < 0)
		return r;
	r = dir_make(root, "meta");
	if (r < 0)
		return fail_sys(err, mp, "meta", r);
	meta = dir_open(root, "meta");
	if (meta < 0)
		return fail_sys(err, mp, "meta", meta);
	r = lock(mp, meta, err);
	if (r < 0)
		return r;
	r = dirs_make(mp, root);
	if (r < 0)
		return fail_sys(err, mp, "folders", r);
	probe(mp);
	r = index_start(mp, meta, o, err);
	if (r < 0)
		return r;
	r = atimes_new(&mp->at);
	if (r < 0)
		return fail_sys(err, mp, "start", r);
	return 0;
}

/* ---- out of service ---- */

void mpath_fail(struct mpath *mp, int err, const char *where)
{
	int was = MPATH_AVAILABLE;

	if (!atomic_compare_exchange_strong(&mp->state, &was, MPATH_FAILED)) {
		was = MPATH_READONLY;
		if (!atomic_compare_exchange_strong(&mp->state, &was, MPATH_FAILED))
			return;
	}
	atomic_store(&mp->s->uneven, true);
	pthread_mutex_lock(&mp->s->lock);
	snprintf(mp->reason, sizeof(mp->reason), "%s: %s", where, strerror(err < 0 ? -err : err));
	mp->since_ns = wall_ns();
	pthread_mutex_unlock(&mp->s->lock);
	log_error(
		"mountpath.failed",
		"path=%s where=%s err=\"%s\" fix=\"mend it, then: pagewire node mountpath enable\"",
		mp->path, where, strerror(err < 0 ? -err : err));
}

int mpath_error(const struct errtext *err, const struct mpath *mp, const char *what, int r)
{
	return fail_sys(err, mp, what, r);
}

int mpath_probe(struct mpath *mp)
{
	struct statvfs v;
	struct stat st;

	if (stat(mp->path, &st) < 0)
		return -errno;
	if (st.st_dev != mp->dev || st.st_ino != mp->ino)
		return -ENODEV; /* another one: unmounted, or mounted over */
	if (fstatvfs(mp->blob_fd, &v) < 0)
		return -errno;
	return v.f_flag & ST_RDONLY ? -EROFS : 0;
}

bool mpath_ok(const struct mpath *mp)
{
	int state = mp ? atomic_load(&mp->state) : MPATH_NONE;

	return state == MPATH_AVAILABLE || state == MPATH_READONLY;
}

bool mpath_writable(const struct mpath *mp)
{
	return mp && atomic_load(&mp->state) == MPATH_AVAILABLE;
}

void mpath_suspect(struct mpath *mp, int err)
{
	switch (err) {
	case -EIO:
	case -EROFS:
	case -ENXIO:
	case -EUCLEAN: /* of a file system */
	case -ESHUTDOWN:
		atomic_store(&mp->suspect, true);
		break;
	default:
		break;
	}
}

void mpath_close(struct mpath *mp)
{
	if (!mp->open)
		return;
	committer_free(take_ptr(mp->com));
	sweeper_free(take_ptr(mp->sw));
	index_close(take_ptr(mp->ix));
	atimes_free(take_ptr(mp->at));
	base_close_fd(&mp->blob_fd);
	base_close_fd(&mp->work_fd);
	base_close_fd(&mp->bad_fd);
	base_close_fd(&mp->lock_fd);
	mp->open = false;
}
