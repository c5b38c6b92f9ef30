/* SPDX-License-Identifier: BSD-2-Clause */
/* Copies of objects on this node, the bytes moved by the kernel. */
#include <errno.h>
#include <linux/fs.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "store/copy.h"

#define COPY_STEP (UINT64_C(64) << 20) /* bytes a call; between two the thread can be stopped */

/* Where copy_file_range(2) can not go: another file system, or none that supports it. */
static int copy_by_hand(int from, int to, uint64_t off, uint64_t end)
{
	autofree char *page = malloc(STORE_IO_STEP);
	int r = 0;

	if (!page)
		return -ENOMEM;
	while (r == 0 && off < end) {
		ssize_t n = pread(from, page, MIN(end - off, (uint64_t)STORE_IO_STEP), (off_t)off);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		r = blob_write(to, page, (size_t)n, off);
		off += (uint64_t)n;
	}
	return r;
}

static bool not_here(int e)
{
	return e == EXDEV || e == EOPNOTSUPP || e == ENOSYS || e == EINVAL || e == EBADF;
}

int copy_bytes(int from, int to, uint64_t size)
{
	uint64_t off = 0;

	if (size && ioctl(to, FICLONE, from) == 0)
		return 0;
	while (off < size) {
		off_t in = (off_t)off, out = (off_t)off;
		ssize_t n = copy_file_range(from, &in, to, &out, MIN(size - off, COPY_STEP), 0);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && !not_here(errno))
			return -errno;
		if (n <= 0)
			return copy_by_hand(from, to, off, size);
		off += (uint64_t)n;
	}
	return 0;
}

static int copy_begin(struct store *s, struct store_name from, struct store_name to,
		      struct store_put **ret)
{
	autofree struct store_rec *rec = malloc(sizeof(*rec));
	struct store_put_opts o = {};
	struct store_put *p;
	autofd fd = -1;
	int r;

	if (!rec)
		return -ENOMEM;
	r = store_open_blob(s, from.bck, from.name, rec, &fd);
	if (r < 0)
		return r;
	o.size = (int64_t)rec->size;
	o.custom = rec->custom;
	o.custom_len = rec->custom_len;
	r = store_put_begin(s, to.bck, to.name, &o, &p);
	if (r < 0)
		return r;
	r = copy_bytes(fd, p->blob.fd, rec->size);
	if (r < 0) {
		store_put_abort(p);
		return r;
	}
	p->size = rec->size;
	p->known = rec->ctype == p->type;
	if (p->known)
		memcpy(p->rec.cksum, rec->cksum, sizeof(p->rec.cksum));
	cksum_free(take_ptr(p->sum)); /* it has seen nothing */
	p->rehash = !p->known;
	*ret = p;
	return 0;
}

void store_copy(struct store *s, struct store_name from, struct store_name to, store_done_fn done,
		void *arg)
{
	struct store_put *p;
	int r = copy_begin(s, from, to, &p);

	if (r < 0)
		done(arg, r, NULL);
	else
		store_put_commit(p, done, arg);
}
