/* SPDX-License-Identifier: BSD-2-Clause */
/* Hot small GETs while somebody reads a large object that is not in the page cache. */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/bits.h"
#include "base/cleanup.h"
#include "cmp.h"
#include "pair.h"

#define CONNECTIONS 16
#define RATE 5000 /* below what one core serves: latency, not throughput */
#define COLD_BYTES (UINT64_C(4) << 30)
#define COLD_QUICK (UINT64_C(512) << 20)
#define COLD_NAME "cold"

/* ---- the large object ---- */

static int drop_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	autofd fd = -1;

	(void)ftw;
	if (flag != FTW_F || st->st_size < (off_t)COLD_QUICK)
		return 0;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	(void)!fdatasync(fd);
	posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	return 0;
}

/* Large files below the mountpath leave the page cache. */
static void make_cold(struct lab *lab)
{
	char path[LAB_PATH];

	snprintf(path, sizeof(path), "%s/mp%u", lab->dir, lab->clusters);
	nftw(path, drop_one, 64, FTW_PHYS);
}

/* A PUT whose body is the content again and again. Return: 0 or a negative errno. */
static int put_large(struct lab *lab, uint64_t size)
{
	static const struct ask ask = {
		.method = "PUT", .path = "/v1/objects/" LAB_BUCKET "/" COLD_NAME, .body_len = 0};
	autobuf struct buf head = BUF_INIT;
	autofd fd = endpoint_connect(&lab->to_gateway);
	char text[4096];
	struct http_head h;
	uint64_t left = size;
	ssize_t n;

	buf_fmt(&head,
		"PUT %s HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: "
		"%llu\r\n\r\n",
		ask.path, (unsigned long long)size);
	if (fd < 0 || send(fd, head.data, head.len, MSG_NOSIGNAL) < 0)
		return -EIO;
	n = recv(fd, text, sizeof(text) - 1, 0);
	if (n <= 0 || http_head_parse(text, (size_t)n, &h) < 0 || h.status != 307 || !h.location)
		return -EPROTO;
	text[h.location - text + (ptrdiff_t)h.location_len] = 0;
	close(take_fd(&fd));
	fd = endpoint_connect(&lab->to_target);
	buf_reset(&head);
	buf_fmt(&head, "PUT %s HTTP/1.1\r\nHost: x\r\nContent-Length: %llu\r\n\r\n",
		strchr(h.location + 7, '/'), (unsigned long long)size);
	if (fd < 0 || send(fd, head.data, head.len, MSG_NOSIGNAL) < 0)
		return -EIO;
	while (left) {
		n = send(fd, lab->content, MIN(left, (uint64_t)LAB_CONTENT), MSG_NOSIGNAL);
		if (n < 0)
			return -errno;
		left -= (uint64_t)n;
	}
	n = recv(fd, text, sizeof(text) - 1, 0);
	return n > 12 && !memcmp(text + 9, "200", 3) ? 0 : -EREMOTEIO;
}

/* A child that reads the large object once, from the disk. */
static pid_t start_reader(struct lab *lab)
{
	static const char request[] =
		"GET /v1/objects/" LAB_BUCKET "/" COLD_NAME " HTTP/1.1\r\nHost: x\r\n"
		"Connection: close\r\n\r\n";
	pid_t pid = fork();
	int fd;

	if (pid)
		return pid;
	lab_pin(lab->cpu_other, lab->cpu_other);
	for (;;) {
		make_cold(lab);
		fd = endpoint_connect(&lab->to_target);
		if (fd < 0 || send(fd, request, sizeof(request) - 1, MSG_NOSIGNAL) < 0)
			_exit(1);
		while (recv(fd, NULL, 1U << 20, MSG_TRUNC) > 0)
			;
		close(fd);
	}
}

/* ---- rounds ---- */

struct cold_side {
	struct load_side load;
	bool beside;
};

static int cold_round(void *arg, struct sample *ret)
{
	struct cold_side *s = arg;
	pid_t reader = s->beside ? start_reader(s->load.lab) : 0;
	int r;

	if (reader < 0)
		return -errno;
	r = load_side_round(&s->load, ret);
	if (reader) {
		kill(reader, SIGKILL);
		waitpid(reader, NULL, 0);
	}
	return r;
}

static int run(struct lab *lab)
{
	autoclean(meter_deinit) struct meter meter = METER_INIT;
	autoclean(plan_deinit) struct plan plan = {};
	struct cold_side a = {.beside = true,
			      .load = {.lab = lab,
				       .cpu = lab->cpu_other,
				       .o = {.plan = &plan,
					     .to = &lab->to_target,
					     .connections = CONNECTIONS,
					     .limit_ns = lab->o.round_ns,
					     .warm_ns = 100000000,
					     .rate = RATE,
					     .status = 200,
					     .server = &meter}}},
			 b = a;
	struct pair_case pc = {.name = "hot-beside-cold",
			       .unit = "request",
			       .ours = {cold_round, &a},
			       .peer = {cold_round, &b}};
	char path[128];
	unsigned int i;

	b.beside = false;
	plan_init(&plan, "GET", lab->to_target.host);
	for (i = 0; i < 128; i++) {
		snprintf(path, sizeof(path), "/v1/objects/" LAB_BUCKET "/d4k/%03u", i);
		plan_add(&plan, path, NULL);
	}
	if (meter_add_session(&meter, lab->target.pid) < 0)
		return lab_failed(lab, pc.name);
	return pair_run(lab, &pc);
}

int cmp_cold(struct lab *lab)
{
	static const struct lab_cluster cluster = {};
	int r;

	if (!lab_wants(lab, "hot-beside-cold"))
		return BENCH_OK;
	r = lab_cluster_start(lab, &cluster);
	r = r ? r : lab_put(lab, "d4k/%03u", 128, 4096);
	r = r ? r : put_large(lab, lab->o.quick ? COLD_QUICK : COLD_BYTES);
	r = r ? lab_failed(lab, "hot-beside-cold") : run(lab);
	lab_cluster_stop(lab);
	return r;
}
