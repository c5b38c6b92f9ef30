/* SPDX-License-Identifier: BSD-2-Clause */
/* The laboratory: namespace, congestion control, processors, scratch folder, content. */
#include "lab.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <linux/magic.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "base/bits.h"
#include "base/cleanup.h"

#define CONGESTION_FILE "/proc/sys/net/ipv4/tcp_congestion_control"
/* Linux's own limits: many times as much on 16 connections brings all of TCP under pressure. */
#define RMEM_FILE "/proc/sys/net/ipv4/tcp_rmem"
#define RMEM "4096 131072 6291456"
#define WMEM_FILE "/proc/sys/net/ipv4/tcp_wmem"
#define WMEM "4096 16384 4194304"
#define ROUND_NS INT64_C(1000000000)
#define ROUND_QUICK_NS INT64_C(200000000)

/* ---- namespace ---- */

static int loopback_up(void)
{
	autofd fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct ifreq ifr = {.ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING};

	if (fd < 0 || ioctl(fd, SIOCSIFFLAGS, &ifr) < 0)
		return -errno;
	return 0;
}

static int write_text(const char *path, const char *text)
{
	autofd fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		return -errno;
	return 0;
}

static int read_congestion(char *ret, size_t size)
{
	autofile FILE *f = fopen(CONGESTION_FILE, "re");

	if (!f || !fgets(ret, (int)size, f))
		return -EIO;
	ret[strcspn(ret, "\n")] = 0;
	return 0;
}

static int enter_namespace(struct lab *lab)
{
	if (unshare(CLONE_NEWNET) < 0)
		return bench_error(lab->out, BENCH_FAILED,
				   "no network namespace of its own (%s): run as root",
				   strerror(errno));
	if (loopback_up() < 0)
		return bench_error(lab->out, BENCH_FAILED, "cannot bring up lo: %s",
				   strerror(errno));
	if (write_text(RMEM_FILE, RMEM) < 0 || write_text(WMEM_FILE, WMEM) < 0)
		return bench_error(lab->out, BENCH_FAILED, "cannot set %s and %s: %s", RMEM_FILE,
				   WMEM_FILE, strerror(errno));
	if (write_text(CONGESTION_FILE, lab->o.congestion) < 0)
		return bench_error(lab->out, BENCH_FAILED, "congestion control %s: %s",
				   lab->o.congestion, strerror(errno));
	if (read_congestion(lab->congestion, sizeof(lab->congestion)) < 0 ||
	    strcmp(lab->congestion, lab->o.congestion) != 0)
		return bench_error(lab->out, BENCH_FAILED, "%s is not %s after it was set",
				   CONGESTION_FILE, lab->o.congestion);
	return BENCH_OK;
}

/* ---- processors and limits ---- */

void lab_pin(int cpu, int other)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((unsigned int)cpu, &set);
	CPU_SET((unsigned int)other, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

/* Servers get the last processor: the first one has most of the interrupts. */
static void choose_processors(struct lab *lab)
{
	cpu_set_t set;
	int i;

	lab->cpu_server = lab->cpu_other = -1;
	if (sched_getaffinity(0, sizeof(set), &set) < 0)
		CPU_SET(0, &set);
	for (i = 0; i < CPU_SETSIZE; i++) {
		if (!CPU_ISSET((unsigned int)i, &set))
			continue;
		if (lab->cpu_other < 0)
			lab->cpu_other = i;
		lab->cpu_server = i;
	}
}

static void raise_limits(void)
{
	struct rlimit r;

	signal(SIGPIPE, SIG_IGN); /* what is written to may end: write() says so */
	if (!getrlimit(RLIMIT_NOFILE, &r)) {
		r.rlim_cur = r.rlim_max;
		setrlimit(RLIMIT_NOFILE, &r);
	}
}

/* ---- files ---- */

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	(void)st;
	(void)flag;
	(void)ftw;
	return remove(path) < 0 && errno != ENOENT ? -1 : 0;
}

void lab_remove_tree(const char *path)
{
	nftw(path, remove_one, 64, FTW_DEPTH | FTW_PHYS);
}

static const char *fs_name(const char *dir)
{
	static const struct {
		unsigned long magic;
		const char *name;
	} known[] = {{EXT4_SUPER_MAGIC, "ext4"},
		     {XFS_SUPER_MAGIC, "xfs"},
		     {BTRFS_SUPER_MAGIC, "btrfs"},
		     {TMPFS_MAGIC, "tmpfs"},
		     {OVERLAYFS_SUPER_MAGIC, "overlayfs"}};
	struct statfs st;
	size_t i;

	if (!statfs(dir, &st))
		for (i = 0; i < ARRAY_SIZE(known); i++)
			if ((unsigned long)st.f_type == known[i].magic)
				return known[i].name;
	return "unknown";
}

static int make_folder(struct lab *lab)
{
	const char *base = lab->o.dir ? lab->o.dir : "/var/tmp";
	char www[LAB_PATH];
	int n;

	n = snprintf(lab->dir, sizeof(lab->dir), "%s/pagewire-bench.XXXXXX", base);
	if (n >= (int)sizeof(lab->dir))
		return bench_error(lab->out, BENCH_USAGE, "--dir is too long");
	if (!mkdtemp(lab->dir)) {
		lab->dir[0] = 0;
		return bench_error(lab->out, BENCH_FAILED, "scratch folder in %s: %s", base,
				   strerror(errno));
	}
	snprintf(www, sizeof(www), "%s/www", lab->dir);
	if (chmod(lab->dir, 0755) < 0 || mkdir(www, 0755) < 0)
		return bench_error(lab->out, BENCH_FAILED, "%s: %s", www, strerror(errno));
	snprintf(lab->fs, sizeof(lab->fs), "%s", fs_name(lab->dir));
	return BENCH_OK;
}

/* pagewired as told, or beside this program. */
static int find_daemon(struct lab *lab)
{
	char *slash;
	ssize_t n;

	if (lab->o.daemon) {
		if (!realpath(lab->o.daemon, lab->daemon))
			return bench_error(lab->out, BENCH_FAILED, "--daemon %s: %s", lab->o.daemon,
					   strerror(errno));
		return BENCH_OK;
	}
	n = readlink("/proc/self/exe", lab->daemon, sizeof(lab->daemon) - sizeof("pagewired"));
	lab->daemon[n < 0 ? 0 : n] = 0;
	slash = strrchr(lab->daemon, '/');
	strcpy(slash ? slash + 1 : lab->daemon, "pagewired");
	if (access(lab->daemon, X_OK) < 0)
		return bench_error(lab->out, BENCH_FAILED, "no %s: build it, or give --daemon",
				   lab->daemon);
	return BENCH_OK;
}

/* Different at each word, the same at each run. */
static void fill_content(unsigned char *p)
{
	uint64_t state = 1, z;
	size_t i;

	for (i = 0; i < LAB_CONTENT; i += sizeof(z)) {
		state += 0x9e3779b97f4a7c15U;
		z = (state ^ (state >> 30)) * 0xbf58476d1ce4e5b9U;
		z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
		z ^= z >> 31;
		memcpy(p + i, &z, sizeof(z));
	}
}

/* ---- the whole ---- */

static void defaults(struct lab_opts *o)
{
	if (!o->pairs)
		o->pairs = 5;
	if (!o->round_ns)
		o->round_ns = o->quick ? ROUND_QUICK_NS : ROUND_NS;
	if (!o->congestion)
		o->congestion = "reno";
}

static int set_up(struct lab *lab)
{
	int r;

	if (strstr(lab->o.congestion, "bbr"))
		return bench_error(lab->out, BENCH_USAGE,
				   "no comparison under bbr: it measures its pacing timers");
	r = enter_namespace(lab);
	r = r ? r : find_daemon(lab);
	r = r ? r : make_folder(lab);
	if (r)
		return r;
	lab->content = malloc(LAB_CONTENT);
	if (!lab->content)
		return bench_error(lab->out, BENCH_FAILED, "no memory");
	fill_content(lab->content);
	choose_processors(lab);
	raise_limits();
	endpoint_local(LAB_PORT_GATEWAY, &lab->to_gateway);
	endpoint_local(LAB_PORT_TARGET, &lab->to_target);
	endpoint_local(LAB_PORT_PEER, &lab->to_peer);
	endpoint_local(LAB_PORT_RAW, &lab->to_raw);
	return BENCH_OK;
}

int lab_new(struct bench_out *out, const struct lab_opts *o, struct lab **ret)
{
	autoclean(lab_free) struct lab *lab = calloc(1, sizeof(*lab));
	int r;

	if (!lab)
		return bench_error(out, BENCH_FAILED, "no memory");
	lab->out = out;
	lab->o = *o;
	defaults(&lab->o);
	r = set_up(lab);
	if (!r)
		*ret = take_ptr(lab);
	return r;
}

void lab_free(struct lab **ref)
{
	struct lab *lab = *ref;

	if (!lab)
		return;
	proc_stop(&lab->peer);
	proc_stop(&lab->raw);
	proc_stop(&lab->target);
	proc_stop(&lab->gateway);
	if (lab->dir[0] && !lab->o.keep)
		lab_remove_tree(lab->dir);
	buf_free(&lab->why);
	free(lab->content);
	free(lab);
	*ref = NULL;
}

int lab_failed(struct lab *lab, const char *what)
{
	return bench_error(lab->out, BENCH_FAILED, "%s: %s", what,
			   lab->why.len ? buf_cstr(&lab->why) : "no memory");
}

bool lab_wants(struct lab *lab, const char *name)
{
	bool yes = !lab->o.only || !strncmp(name, lab->o.only, strlen(lab->o.only));

	lab->ran += yes;
	return yes;
}
