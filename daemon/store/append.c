/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Appends: a put whose file has a name in work/ between its steps. The token is that name: random
 * digits, then a hash of the key, so that it opens no other object's file. Who works on it holds
 * flock(2).
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/cleanup.h"
#include "store/copy.h"
#include "store/paths.h"

#define TOKEN_LEN 33 /* two numbers of 16 hex digits, '-' between */

static uint64_t key_hash(const struct objkey *k)
{
	return XXH64(k->name, k->len, k->bid);
}

/* Return: 0; -EINVAL not a token; -ENOENT of another object. */
static int token_check(const char *t, const struct objkey *k)
{
	char want[TOKEN_LEN + 1];

	if (strlen(t) != TOKEN_LEN || strspn(t, "0123456789abcdef") != 16 || t[16] != '-' ||
	    strspn(t + 17, "0123456789abcdef") != 16)
		return -EINVAL;
	snprintf(want, sizeof(want), "%.16s-%016" PRIx64, t, key_hash(k));
	return strcmp(t, want) ? -ENOENT : 0;
}

/* The content so far, from the object. */
static int start_content(struct store_put *p, const struct store_bck *b)
{
	autofree struct store_rec *rec = malloc(sizeof(*rec));
	autofd fd = -1;
	int r;

	if (!rec)
		return -ENOMEM;
	r = store_open_blob(p->mp->s, b, p->name, rec, &fd);
	if (r < 0)
		return r == -ENOENT ? 0 : r;
	p->size = rec->size;
	return copy_bytes(fd, p->blob.fd, rec->size);
}

static int work_create(struct store_put *p, const struct store_bck *b)
{
	uint64_t id;

	if (getrandom(&id, sizeof(id), 0) != (ssize_t)sizeof(id))
		return -EIO;
	snprintf(p->blob.tmp, sizeof(p->blob.tmp), "%016" PRIx64 "-%016" PRIx64, id,
		 key_hash(&p->hold.key));
	p->blob.fd =
		openat(p->mp->work_fd, p->blob.tmp, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
	if (p->blob.fd < 0 || flock(p->blob.fd, LOCK_EX | LOCK_NB) < 0)
		return -errno;
	return start_content(p, b);
}

static int work_resume(struct store_put *p, const char *token)
{
	struct stat mine, named;
	autofd fd = -1;
	int r = token_check(token, &p->hold.key);

	if (r < 0)
		return r;
	fd = openat(p->mp->work_fd, token, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return -errno;
	if (flock(fd, LOCK_EX | LOCK_NB) < 0)
		return errno == EWOULDBLOCK ? -EBUSY : -errno;
	/* it may have become an object between open and lock */
	if (fstat(fd, &mine) < 0)
		return -errno;
	if (fstatat(p->mp->work_fd, token, &named, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	if (mine.st_ino != named.st_ino || !S_ISREG(mine.st_mode))
		return -ENOENT;
	snprintf(p->blob.tmp, sizeof(p->blob.tmp), "%s", token);
	p->blob.fd = take_fd(&fd);
	p->size = p->base = (uint64_t)mine.st_size;
	p->resumed = true;
	return 0;
}

int store_append(struct store *s, const struct store_bck *b, const char *name, const char *work,
		 struct store_put **ret)
{
	struct store_put_opts o = {.size = -1};
	struct store_put *p;
	int r;

	r = put_new(s, b, name, &o, &p);
	if (r < 0)
		return r;
	p->blob.mp = p->mp;
	p->blob.work = true;
	p->rehash = true;
	blob_name(p->mp, &p->blob);
	r = space_ask(p->mp, -1);
	if (r == 0)
		r = *work ? work_resume(p, work) : work_create(p, b);
	if (r < 0) {
		store_put_abort(p);
		return r;
	}
	*ret = p;
	return 0;
}

int store_append_park(struct store_put *p, char token[64])
{
	struct store *s = p->mp->s;
	int r = 0;

	if (s->sync && (fdatasync(p->blob.fd) < 0 || (!p->resumed && fsync(p->mp->work_fd) < 0)))
		r = -errno;
	if (r == 0) {
		snprintf(token, 64, "%s", p->blob.tmp);
		p->blob.keep = true;
	}
	store_put_abort(p);
	return r;
}

void store_append_expect(struct store_put *p, enum cksum_type type, const char *value)
{
	p->want_type = type;
	snprintf(p->want, sizeof(p->want), "%s", value);
}
