/* SPDX-License-Identifier: BSD-2-Clause */
/* What is served: the same bytes as objects of ours and as files of the peer. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bits.h"
#include "base/cleanup.h"
#include "congestion.h"
#include "lab.h"
#include "load.h"

#define PUT_CONNECTIONS 16
#define PIECE (1U << 20)

/* Formats are literals of the tables of cases. */
#pragma GCC diagnostic ignored "-Wformat-nonliteral"

int lab_put(struct lab *lab, const char *format, unsigned int n, uint64_t size)
{
	autoclean(plan_deinit) struct plan p = {};
	struct load_opts o = {.plan = &p, .to = &lab->to_gateway, .follow = true};
	autofree struct load_result *res = malloc(sizeof(*res));
	char name[256], path[300];
	unsigned int i;

	if (!res)
		return -ENOMEM;
	plan_init(&p, "PUT", lab->to_gateway.host);
	p.body = lab->content;
	p.body_len = size;
	for (i = 0; i < n; i++) {
		snprintf(name, sizeof(name), format, i);
		snprintf(path, sizeof(path), "/v1/objects/" LAB_BUCKET "/%s", name);
		plan_add(&p, path, "Expect: 100-continue\r\n");
	}
	o.connections = MIN(n, (unsigned int)PUT_CONNECTIONS);
	return load_run(&o, res, &lab->why);
}

/* In the pieces in which a target writes, so that the page cache holds folios of the same size. */
static int write_one(struct lab *lab, const char *path, uint64_t size)
{
	autofd fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	uint64_t done = 0;

	if (fd >= 0 && size)
		(void)!posix_fallocate(fd, 0, (off_t)size);
	while (fd >= 0 && done < size) {
		ssize_t n = write(fd, lab->content + done, MIN(size - done, (uint64_t)PIECE));

		if (n < 0)
			break;
		done += (uint64_t)n;
	}
	if (fd >= 0 && done == size)
		return 0;
	buf_fmt(&lab->why, "%s: %s", path, strerror(errno));
	return -EIO;
}

int lab_write(struct lab *lab, const char *format, unsigned int n, uint64_t size)
{
	char name[256], path[LAB_PATH + 256];
	unsigned int i;
	int r = 0;

	for (i = 0; !r && i < n; i++) {
		char *slash;

		snprintf(name, sizeof(name), format, i);
		snprintf(path, sizeof(path), "%s/www/%s", lab->dir, name);
		slash = strrchr(path, '/');
		*slash = 0;
		if (!i && mkdir(path, 0755) < 0 && errno != EEXIST)
			return -errno;
		*slash = '/';
		r = write_one(lab, path, size);
	}
	return r;
}

/* Both ends of all connections: a server could have chosen another algorithm for its own. */
static int check_congestion(struct lab *lab)
{
	char other[32];
	int r = congestion_other(lab->congestion, other, sizeof(other));

	if (r == 1) {
		buf_fmt(&lab->why, "a socket runs %s, not %s", other, lab->congestion);
		return -EINVAL;
	}
	if (r < 0)
		buf_fmt(&lab->why, "congestion control of sockets is not known: %s", strerror(-r));
	return r;
}

int lab_check(struct lab *lab, const struct endpoint *e, const struct ask *ask, uint64_t off,
	      uint64_t len)
{
	struct client c = CLIENT_INIT;
	struct answer a = {};
	int r;

	client_init(&c, e);
	r = client_ask(&c, ask, &a);
	if (r < 0)
		buf_fmt(&lab->why, "%s at %s: %s", ask->path, e->host, strerror(-r));
	else if (a.status / 100 != 2 || a.body.len != len ||
		 memcmp(a.body.data, lab->content + off, len) != 0)
		r = -EBADMSG;
	if (r == -EBADMSG)
		buf_fmt(&lab->why, "%s at %s: status %d, %zu bytes, not those that were stored",
			ask->path, e->host, a.status, a.body.len);
	r = r ? r : check_congestion(lab);
	answer_free(&a);
	client_deinit(&c);
	return r;
}
