/* SPDX-License-Identifier: BSD-2-Clause */
/* Files of objects: made nameless, sealed, then linked; never changed afterwards. */
#include "store/blob.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/cleanup.h"

/*
 * Neighbours in time share a folder, so that a group of commits syncs one or two folders and not
 * one for each member.
 */
#define BLOBS_PER_TURN 64

void blob_name(struct mpath *mp, struct blob *b)
{
	uint64_t n = atomic_fetch_add(&mp->s->blobs, 1);

	snprintf(b->name, sizeof(b->name), "%02x/%016" PRIx64 "-%016" PRIx64,
		 (unsigned int)(n / BLOBS_PER_TURN % BLOB_DIRS), mp->s->epoch, n);
}

unsigned int blob_dir(const char *name)
{
	unsigned int hi = (unsigned int)(name[0] <= '9' ? name[0] - '0' : name[0] - 'a' + 10);
	unsigned int lo = (unsigned int)(name[1] <= '9' ? name[1] - '0' : name[1] - 'a' + 10);

	return (hi * 16 + lo) % BLOB_DIRS;
}

int blob_create(struct mpath *mp, struct blob *ret)
{
	struct blob b = {.mp = mp, .fd = -1};
	char dir[3];

	blob_name(mp, &b);
	snprintf(dir, sizeof(dir), "%.2s", b.name);
	if (!mp->named_tmp) {
		b.fd = openat(mp->blob_fd, dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	} else {
		snprintf(b.tmp, sizeof(b.tmp), "tmp/%.33s", b.name + 3);
		b.fd = openat(mp->blob_fd, b.tmp, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
	}
	if (b.fd < 0)
		return -errno;
	*ret = b;
	return 0;
}

int blob_write(int fd, const void *data, size_t n, uint64_t off)
{
	const char *p = data;

	while (n) {
		ssize_t w = pwrite(fd, p, MIN(n, (size_t)STORE_IO_STEP), (off_t)off);

		if (w < 0 && errno == EINTR)
			continue;
		if (w < 0)
			return -errno;
		if (w == 0)
			return -EIO;
		p += w;
		n -= (size_t)w;
		off += (uint64_t)w;
	}
	return 0;
}

/* The copy as a file <blob>.meta, written whole and renamed. */
static int trailer_write(struct blob *b, const struct buf *env)
{
	char tmp[64], final[64];
	autofd fd = -1;
	int r;

	snprintf(tmp, sizeof(tmp), "tmp/%.33s.meta", b->name + 3);
	snprintf(final, sizeof(final), "%.36s.meta", b->name);
	fd = openat(b->mp->blob_fd, tmp, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	r = blob_write(fd, env->data, env->len, 0);
	if (r == 0 && b->mp->s->sync && fsync(fd) < 0)
		r = -errno;
	if (r == 0 && renameat(b->mp->blob_fd, tmp, b->mp->blob_fd, final) < 0)
		r = -errno;
	if (r < 0) {
		unlinkat(b->mp->blob_fd, tmp, 0);
		return r;
	}
	b->trailer = true;
	return 0;
}

/* The copy as an xattr. Return: 1 done; 0 it does not fit here; or an errno. */
static int xattr_write(struct blob *b, const struct buf *env)
{
	if (b->mp->no_xattr)
		return 0;
	if (fsetxattr(b->fd, XATTR_NAME, env->data, env->len, 0) == 0)
		return 1;
	switch (errno) {
	case ENOSPC:
	case EDQUOT:
	case E2BIG:
	case ERANGE:
	case EOPNOTSUPP:
		return 0;
	default:
		return -errno;
	}
}

int blob_seal(struct blob *b, const struct objkey *k, struct store_rec *rec)
{
	autobuf struct buf env = BUF_INIT;
	int r;

	rec->flags &= ~STORE_F_TRAILER;
	envelope_encode(k, rec, &env);
	r = env.err ? env.err : xattr_write(b, &env);
	if (r == 0) {
		buf_reset(&env);
		rec->flags |= STORE_F_TRAILER;
		envelope_encode(k, rec, &env);
		r = env.err ? env.err : trailer_write(b, &env);
		if (r == 0)
			fremovexattr(b->fd, XATTR_NAME); /* an older copy, or none */
	}
	if (r < 0)
		return r;
	/* not fdatasync(2): the xattr is no part of what that has to keep */
	if (b->mp->s->sync && fsync(b->fd) < 0)
		return -errno;
	return 0;
}

int blob_link(struct blob *b)
{
	char proc[32];
	int from = b->work ? b->mp->work_fd : b->mp->blob_fd, r;

	if (b->tmp[0]) {
		r = renameat(from, b->tmp, b->mp->blob_fd, b->name);
	} else {
		snprintf(proc, sizeof(proc), "/proc/self/fd/%d", b->fd);
		r = linkat(AT_FDCWD, proc, b->mp->blob_fd, b->name, AT_SYMLINK_FOLLOW);
	}
	if (r < 0)
		return -errno;
	b->tmp[0] = 0;
	b->linked = true;
	return 0;
}

void blob_end(struct blob *b)
{
	if (b->fd < 0 || !b->mp)
		return;
	close(b->fd);
	b->fd = -1;
	if (b->keep)
		return;
	if (b->tmp[0])
		unlinkat(b->work ? b->mp->work_fd : b->mp->blob_fd, b->tmp, 0);
	if (b->linked || b->trailer)
		blob_unlink(b->mp, b->name, b->trailer ? STORE_F_TRAILER : 0);
}

int blob_open(struct mpath *mp, const char *name, int flags)
{
	int fd = openat(mp->blob_fd, name, flags | O_CLOEXEC | O_NOFOLLOW);

	return fd < 0 ? -errno : fd;
}

int blob_unlink(struct mpath *mp, const char *name, uint32_t flags)
{
	char meta[64];
	int r = 0;

	if (unlinkat(mp->blob_fd, name, 0) < 0 && errno != ENOENT)
		r = -errno;
	if (flags & STORE_F_TRAILER) {
		snprintf(meta, sizeof(meta), "%.36s.meta", name);
		if (unlinkat(mp->blob_fd, meta, 0) < 0 && errno != ENOENT)
			r = -errno;
	}
	return r;
}

int blob_sync_dir(struct mpath *mp, unsigned int dir)
{
	autofd fd = -1;
	char text[3];

	snprintf(text, sizeof(text), "%02x", dir & 0xff);
	fd = openat(mp->blob_fd, text, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 || fsync(fd) < 0)
		return -errno;
	return 0;
}
