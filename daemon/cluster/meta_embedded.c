/* SPDX-License-Identifier: BSD-2-Clause */
/* Metadata objects as files of a directory: written whole, renamed, the previous one kept. */
#include <fcntl.h>
#include <sodium.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bits.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "cluster/meta.h"
#include "log.h"

#define MAGIC "pagewire-meta-v1"
#define HEAD_MAX 256 /* longest first line */
#define HASH_TEXT (2 * crypto_hash_sha256_BYTES)

struct embedded {
	struct meta meta;
	int dir;
	char path[]; /* for messages */
};

int meta_load(struct meta *m, const char *name, struct buf *ret, int64_t *ret_version)
{
	return m->ops->load(m, name, ret, ret_version);
}

int meta_save(struct meta *m, const struct meta_object *objs, size_t n)
{
	return m->ops->save(m, objs, n);
}

void meta_free(struct meta *m)
{
	if (m)
		m->ops->free(m);
}

static void hash_text(const void *p, size_t n, char out[HASH_TEXT + 1])
{
	uint8_t hash[crypto_hash_sha256_BYTES];

	crypto_hash_sha256(hash, p, n);
	sodium_bin2hex(out, HASH_TEXT + 1, hash, sizeof(hash));
}

int meta_unwrap(const char *name, const char *text, size_t len, size_t *ret_off,
		int64_t *ret_version)
{
	const char *nl = memchr(text, '\n', MIN(len, (size_t)HEAD_MAX - 1));
	char head[HEAD_MAX], hash[HASH_TEXT + 1];
	char *word[5], *save = NULL;
	uint64_t version, size;
	size_t i, off;

	if (!nl)
		return -EUCLEAN;
	off = (size_t)(nl - text);
	memcpy(head, text, off);
	head[off++] = 0;
	for (i = 0; i < ARRAY_SIZE(word); i++) {
		word[i] = strtok_r(i ? NULL : head, " ", &save);
		if (!word[i])
			return -EUCLEAN;
	}
	if (strtok_r(NULL, " ", &save) || strcmp(word[0], MAGIC) || strcmp(word[1], name) ||
	    parse_u64(word[2], &version) < 0 || version > INT64_MAX ||
	    parse_u64(word[3], &size) < 0 || size != len - off)
		return -EUCLEAN;
	hash_text(text + off, len - off, hash);
	if (strcmp(word[4], hash))
		return -EUCLEAN;
	*ret_off = off;
	*ret_version = (int64_t)version;
	return 0;
}

static int read_file(int dir, const char *file, struct buf *out)
{
	autofd fd = openat(dir, file, O_RDONLY | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	if (st.st_size < 0 || (uint64_t)st.st_size > META_SIZE_MAX + HEAD_MAX)
		return -EUCLEAN;
	if (buf_reserve(out, (size_t)st.st_size) < 0)
		return -ENOMEM;
	while (out->len < (size_t)st.st_size) {
		ssize_t n = read(fd, out->data + out->len, (size_t)st.st_size - out->len);

		if (n < 0)
			return -errno;
		if (!n)
			return -EUCLEAN;
		out->len += (size_t)n;
	}
	return 0;
}

static int load_file(struct embedded *e, const char *file, const char *name, struct buf *ret,
		     int64_t *ret_version)
{
	autobuf struct buf text = BUF_INIT;
	int64_t version;
	size_t off;
	int r;

	r = read_file(e->dir, file, &text);
	if (!r)
		r = meta_unwrap(name, buf_cstr(&text), text.len, &off, &version);
	if (r < 0)
		return r;
	buf_append(ret, text.data + off, text.len - off);
	if (ret->err)
		return ret->err;
	*ret_version = version;
	return 0;
}

/* A damaged file must not become the .prev of the next save. */
static void set_aside(struct embedded *e, const char *file)
{
	char bad[META_NAME_MAX + 32];

	snprintf(bad, sizeof(bad), "%s.bad", file);
	if (renameat(e->dir, file, e->dir, bad) < 0)
		log_warn("meta.set_aside", "file=%s/%s err=\"%s\"", e->path, file, strerror(errno));
}

static int embedded_load(struct meta *m, const char *name, struct buf *ret, int64_t *ret_version)
{
	struct embedded *e = container_of(m, struct embedded, meta);
	char file[META_NAME_MAX + 16], prev[META_NAME_MAX + 16];
	int r, r2;

	snprintf(file, sizeof(file), "%s.json", name);
	snprintf(prev, sizeof(prev), "%s.json.prev", name);
	r = load_file(e, file, name, ret, ret_version);
	if (r != -ENOENT && r != -EUCLEAN)
		return r;
	r2 = load_file(e, prev, name, ret, ret_version);
	if (r == -ENOENT && r2 == -ENOENT)
		return -ENOENT;
	if (r == -EUCLEAN && !r2)
		set_aside(e, file);
	if (r2 < 0) {
		log_error("meta.damaged",
			  "file=%s/%s why=\"it and its .prev are damaged\" fix=\"restore one from "
			  "a backup\"",
			  e->path, file);
		return r2 == -ENOENT ? -EUCLEAN : r2;
	}
	log_warn("meta.fallback", "file=%s/%s why=\"damaged or missing\" used=.prev version=%lld",
		 e->path, file, (long long)*ret_version);
	return META_E_PREV;
}

static int write_all(int fd, const void *p, size_t n)
{
	const char *at = p;

	while (n) {
		ssize_t w = write(fd, at, n);

		if (w < 0 && errno == EINTR)
			continue;
		if (w < 0)
			return -errno;
		at += w;
		n -= (size_t)w;
	}
	return 0;
}

static int write_new(struct embedded *e, const struct meta_object *o)
{
	char hash[HASH_TEXT + 1], file[META_NAME_MAX + 16], head[HEAD_MAX];
	autofd fd = -1;
	int n, r;

	if (o->len > META_SIZE_MAX)
		return -E2BIG;
	snprintf(file, sizeof(file), "%s.json.new", o->name);
	hash_text(o->data, o->len, hash);
	n = snprintf(head, sizeof(head), "%s %s %lld %zu %s\n", MAGIC, o->name,
		     (long long)o->version, o->len, hash);
	fd = openat(e->dir, file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	r = write_all(fd, head, (size_t)n);
	if (!r)
		r = write_all(fd, o->data, o->len);
	if (!r && fsync(fd) < 0)
		r = -errno;
	return r;
}

/* The old file stays reachable as .prev before the new one takes its name. */
static int replace(struct embedded *e, const char *name)
{
	char file[META_NAME_MAX + 16], prev[META_NAME_MAX + 16], new[META_NAME_MAX + 16];
	char tmp[META_NAME_MAX + 32];

	snprintf(file, sizeof(file), "%s.json", name);
	snprintf(prev, sizeof(prev), "%s.json.prev", name);
	snprintf(new, sizeof(new), "%s.json.new", name);
	snprintf(tmp, sizeof(tmp), "%s.json.prev.new", name);
	if (unlinkat(e->dir, tmp, 0) < 0 && errno != ENOENT)
		return -errno;
	/* at no moment is there no file: one that is missing was lost */
	if (linkat(e->dir, file, e->dir, tmp, 0) == 0) {
		if (renameat(e->dir, tmp, e->dir, prev) < 0)
			return -errno;
	} else if (errno != ENOENT) {
		return -errno;
	}
	if (renameat(e->dir, new, e->dir, file) < 0)
		return -errno;
	return 0;
}

static int embedded_save(struct meta *m, const struct meta_object *objs, size_t n)
{
	struct embedded *e = container_of(m, struct embedded, meta);
	size_t i;
	int r = 0;

	for (i = 0; i < n && !r; i++)
		r = write_new(e, &objs[i]);
	for (i = 0; i < n && !r; i++)
		r = replace(e, objs[i].name);
	if (!r && fsync(e->dir) < 0)
		r = -errno;
	if (r < 0)
		log_error("meta.save", "dir=%s err=\"%s\" effect=\"nothing was changed\"", e->path,
			  strerror(-r));
	return r;
}

static void embedded_free(struct meta *m)
{
	struct embedded *e = container_of(m, struct embedded, meta);

	close(e->dir);
	free(e);
}

static const struct meta_ops embedded_ops = {
	.load = embedded_load,
	.save = embedded_save,
	.free = embedded_free,
};

int meta_open_embedded(const char *dir, struct meta **ret)
{
	struct embedded *e;
	autofd fd = -1;

	if (mkdir(dir, 0700) < 0 && errno != EEXIST)
		return -errno;
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	e = calloc(1, sizeof(*e) + strlen(dir) + 1);
	if (!e)
		return -ENOMEM;
	e->meta.ops = &embedded_ops;
	strcpy(e->path, dir);
	e->dir = take_fd(&fd);
	*ret = &e->meta;
	return 0;
}
