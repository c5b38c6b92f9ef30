/* SPDX-License-Identifier: BSD-2-Clause */
/* Processor time and memory of servers, from /proc. */
#include "meter.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"

static void close_dir(DIR **d)
{
	if (*d)
		closedir(*d);
}

static int add_fd(struct meter *m, int fd)
{
	if (m->n == m->cap) {
		size_t cap = m->cap ? 2 * m->cap : 64;
		int *more = realloc(m->fds, cap * sizeof(*more));

		if (!more) {
			close(fd);
			return -ENOMEM;
		}
		m->fds = more;
		m->cap = cap;
	}
	m->fds[m->n++] = fd;
	return 0;
}

int meter_add_process(struct meter *m, pid_t pid)
{
	char path[300];
	autoclean(close_dir) DIR *d = NULL;
	struct dirent *e;
	int fd, r;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	d = opendir(path);
	if (!d)
		return -errno;
	while ((e = readdir(d))) {
		if (e->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "/proc/%d/task/%s/schedstat", pid, e->d_name);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			continue; /* the thread has ended meanwhile */
		r = add_fd(m, fd);
		if (r < 0)
			return r;
	}
	return 0;
}

/* The session of a process, 0 when it is gone. */
static pid_t session_of(const char *pid)
{
	char path[300], text[1024], *p;
	autofile FILE *f = NULL;
	size_t n;
	int sid;

	snprintf(path, sizeof(path), "/proc/%s/stat", pid);
	f = fopen(path, "re");
	if (!f)
		return 0;
	n = fread(text, 1, sizeof(text) - 1, f);
	text[n] = 0;
	p = strrchr(text, ')'); /* the name may hold anything */
	return p && sscanf(p, ") %*c %*d %*d %d", &sid) == 1 ? sid : 0;
}

int meter_add_session(struct meter *m, pid_t sid)
{
	autoclean(close_dir) DIR *d = opendir("/proc");
	struct dirent *e;
	int r = 0;

	if (!d)
		return -errno;
	while (!r && (e = readdir(d)))
		if (e->d_name[0] >= '1' && e->d_name[0] <= '9' && session_of(e->d_name) == sid)
			r = meter_add_process(m, (pid_t)atoi(e->d_name));
	return r == -ENOENT ? 0 : r;
}

void meter_deinit(struct meter *m)
{
	while (m->n)
		close(m->fds[--m->n]);
	free(m->fds);
	*m = (struct meter)METER_INIT;
}

int meter_read(struct meter *m, int64_t *ret_ns)
{
	int64_t sum = 0;
	char text[128];
	size_t i;

	for (i = 0; i < m->n; i++) {
		ssize_t n = pread(m->fds[i], text, sizeof(text) - 1, 0);

		if (n < 0 && errno == ESRCH)
			continue; /* a thread that ended takes its time along */
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		text[n] = 0;
		sum += strtoll(text, NULL, 10);
	}
	*ret_ns = sum;
	return 0;
}

uint64_t meter_rss(pid_t pid)
{
	unsigned long long total, resident;
	autofile FILE *f = NULL;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/statm", pid);
	f = fopen(path, "re");
	if (!f || fscanf(f, "%llu %llu", &total, &resident) != 2)
		return 0;
	return resident * (uint64_t)sysconf(_SC_PAGESIZE);
}
