/* SPDX-License-Identifier: BSD-2-Clause */
/* This process's key pair, the cluster's join secret, this node's ID. */
#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "cluster/identity.h"

__attribute__((format(printf, 4, 5))) static int fail(int r, char *err, size_t err_size,
						      const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(err, err_size, fmt, ap);
	va_end(ap);
	return r;
}

/* The open secret file, checked: a file others can read is no secret. */
static int secret_open(const char *path, int *ret_fd, char *err, size_t err_size)
{
	autofd fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return fail(-EINVAL, err, err_size, "join secret %s: %s; create it with mode 0600",
			    path, strerror(errno));
	if (!S_ISREG(st.st_mode))
		return fail(-EINVAL, err, err_size, "join secret %s: not a regular file", path);
	if (st.st_mode & 077)
		return fail(-EINVAL, err, err_size,
			    "join secret %s: mode %04o lets others read it; chmod 600 %s", path,
			    (unsigned int)(st.st_mode & 07777), path);
	*ret_fd = take_fd(&fd);
	return 0;
}

static int secret_read(struct identity *id, int fd, const char *path, char *err, size_t err_size)
{
	uint8_t *end;
	size_t n = 0;
	ssize_t r;

	id->secret = sodium_malloc(IDENTITY_SECRET_MAX);
	if (!id->secret)
		return fail(-ENOMEM, err, err_size, "join secret %s: out of locked memory", path);
	do {
		r = read(fd, id->secret + n, IDENTITY_SECRET_MAX - n);
		if (r < 0)
			return fail(-EINVAL, err, err_size, "join secret %s: %s", path,
				    strerror(errno));
		n += (size_t)r;
	} while (r > 0 && n < IDENTITY_SECRET_MAX);
	end = memchr(id->secret, '\n', n);
	if (!end && n == IDENTITY_SECRET_MAX)
		return fail(-EINVAL, err, err_size, "join secret %s: longer than %d bytes", path,
			    IDENTITY_SECRET_MAX - 1);
	id->secret_len = end ? (size_t)(end - id->secret) : n;
	if (!id->secret_len)
		return fail(-EINVAL, err, err_size, "join secret %s: its first line is empty",
			    path);
	sodium_mprotect_readonly(id->secret);
	return 0;
}

static int make_keys(struct identity *id)
{
	if (sodium_init() < 0)
		return -EIO;
	id->sign_key = sodium_malloc(crypto_sign_SECRETKEYBYTES);
	if (!id->sign_key)
		return -ENOMEM;
	crypto_sign_keypair(id->verify_key, id->sign_key);
	sodium_mprotect_readonly(id->sign_key);
	return 0;
}

int identity_init(struct identity *id, const char *secret_path, char *err, size_t err_size)
{
	struct identity made = {};
	autofd fd = -1;
	int r;

	if (!*secret_path)
		return fail(-EINVAL, err, err_size,
			    "auth.intra_cluster.node_join_secret_path is not set; name a file "
			    "(mode 0600) that all nodes of the cluster share");
	r = secret_open(secret_path, &fd, err, err_size);
	if (r < 0)
		return r;
	r = make_keys(&made);
	if (r < 0)
		fail(r, err, err_size, "key pair: %s", strerror(-r));
	else
		r = secret_read(&made, fd, secret_path, err, err_size);
	if (r < 0) {
		identity_deinit(&made);
		return r;
	}
	*id = made;
	return 0;
}

void identity_deinit(struct identity *id)
{
	sodium_free(id->sign_key);
	sodium_free(id->secret);
	*id = (struct identity){};
}

void identity_random(char *out, size_t n)
{
	static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				       "0123456789";
	size_t i;

	for (i = 0; i < n; i++)
		out[i] = alphabet[randombytes_uniform(sizeof(alphabet) - 1)];
	out[n] = 0;
}

static int id_read(const char *path, char ret[SMAP_ID_MAX + 1], char *err, size_t err_size)
{
	char text[SMAP_ID_MAX + 3];
	autofd fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = read(fd, text, sizeof(text) - 1);
	if (n < 0)
		return fail(-errno, err, err_size, "%s: %s", path, strerror(errno));
	text[n] = 0;
	text[strcspn(text, "\n")] = 0;
	if (!smap_node_id_ok(text))
		return fail(-EINVAL, err, err_size,
			    "%s: \"%s\" is no node ID; write the node's ID there", path, text);
	strcpy(ret, text);
	return 0;
}

static int id_write(const char *dir, const char *path, const char *id)
{
	autofd dfd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	autofd fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	size_t n = strlen(id);

	if (dfd < 0 || fd < 0)
		return -errno;
	if (write(fd, id, n) != (ssize_t)n || fsync(fd) < 0 || fsync(dfd) < 0) {
		int r = errno ? -errno : -EIO;

		unlink(path);
		return r;
	}
	return 0;
}

int identity_node_id(const char *configured, const char *state_dir, enum smap_role role,
		     char ret[SMAP_ID_MAX + 1], char *err, size_t err_size)
{
	autobuf struct buf path = BUF_INIT;
	char id[SMAP_ID_MAX + 1];
	int r;

	if (*configured) {
		if (!smap_node_id_ok(configured))
			return fail(-EINVAL, err, err_size,
				    "node_id \"%s\": 8 to 64 letters, digits, inner - and _",
				    configured);
		strcpy(ret, configured);
		return 0;
	}
	buf_fmt(&path, "%s/node_id", state_dir);
	if (path.err)
		return path.err;
	r = id_read(path.data, ret, err, err_size);
	if (r != -ENOENT)
		return r;
	id[0] = role == SMAP_ROLE_GATEWAY ? 'p' : 't';
	identity_random(id + 1, 8);
	r = id_write(state_dir, path.data, id);
	if (r < 0)
		return fail(r, err, err_size, "%s: %s", path.data, strerror(-r));
	strcpy(ret, id);
	return 0;
}
