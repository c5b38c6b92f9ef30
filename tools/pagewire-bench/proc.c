/* SPDX-License-Identifier: BSD-2-Clause */
/* Children of the laboratory: started, awaited, ended. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/bits.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "lab.h"

#define STOP_MS 20000
#define START_NS (INT64_C(60) * 1000000000)
#define POLL_NS 20000000

static _Noreturn void child(const struct lab *lab, const struct proc *p, const struct proc_opts *o)
{
	int in = o->in >= 0 ? o->in : open("/dev/null", O_RDONLY);
	int log = open(p->log, O_WRONLY | O_CREAT | O_APPEND, 0644);

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setsid();
	lab_pin(lab->cpu_server, lab->spread ? lab->cpu_other : lab->cpu_server);
	if (in < 0 || log < 0 || dup2(in, 0) < 0 || dup2(log, 1) < 0 || dup2(log, 2) < 0)
		_exit(126);
	if (!o->argv)
		_exit(o->run(o->arg));
	signal(SIGPIPE, SIG_DFL);
	unsetenv("NOTIFY_SOCKET");
	execv(o->argv[0], (char *const *)o->argv);
	dprintf(2, "%s: %s\n", o->argv[0], strerror(errno));
	_exit(127);
}

int proc_start(struct lab *lab, struct proc *p, const struct proc_opts *o)
{
	snprintf(p->log, sizeof(p->log), "%s/%s.log", lab->dir, o->name);
	p->pid = fork();
	if (p->pid < 0) {
		int e = errno;

		p->pid = 0;
		buf_fmt(&lab->why, "cannot start %s: %s", o->name, strerror(e));
		return -e;
	}
	if (!p->pid)
		child(lab, p, o);
	return 0;
}

void proc_stop(struct proc *p)
{
	autofd fd = -1;
	struct pollfd pfd = {.events = POLLIN};

	if (p->pid <= 0)
		return;
	fd = (int)syscall(SYS_pidfd_open, p->pid, 0);
	pfd.fd = fd;
	kill(p->pid, SIGTERM);
	if (fd < 0 || poll(&pfd, 1, STOP_MS) <= 0)
		kill(p->pid, SIGKILL);
	waitpid(p->pid, NULL, 0);
	p->pid = 0;
}

void proc_last_words(const struct proc *p, struct buf *why)
{
	autofd fd = open(p->log, O_RDONLY | O_CLOEXEC);
	char text[800];
	struct stat st;
	ssize_t n;

	if (fd < 0 || fstat(fd, &st) < 0)
		return;
	n = pread(fd, text, sizeof(text), MAX(st.st_size - (off_t)sizeof(text), (off_t)0));
	if (n > 0)
		buf_fmt(why, "; %s ends with: %.*s", p->log, (int)n, text);
}

int proc_wait_port(struct lab *lab, struct proc *p, const struct endpoint *e)
{
	const struct timespec pause = {.tv_nsec = POLL_NS};
	int64_t until = mono_ns() + START_NS;

	while (mono_ns() < until) {
		int fd = endpoint_connect(e);

		if (fd >= 0) {
			close(fd);
			return 0;
		}
		if (waitpid(p->pid, NULL, WNOHANG) == p->pid) {
			p->pid = 0;
			break;
		}
		nanosleep(&pause, NULL);
	}
	buf_fmt(&lab->why, "nobody listens at %s", e->host);
	proc_last_words(p, &lab->why);
	return -ECONNREFUSED;
}
