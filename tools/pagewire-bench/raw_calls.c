/* SPDX-License-Identifier: BSD-2-Clause */
/* Bare loops beside which PUT and signatures are measured. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sodium.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/bits.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "raw.h"

#define THREADS_MAX 64
#define SIGNED_BYTES 200 /* about an envelope */
#define BATCH 64

/* ---- files ---- */

struct store_run {
	const struct raw_store *o;
	int dir;
	int64_t until_ns;
	atomic_uint_fast64_t names, done;
	atomic_int err;
};

static int store_one(struct store_run *s)
{
	autofd fd = openat(s->dir, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0644);
	char from[32], to[32];

	if (fd < 0 || write(fd, s->o->body, s->o->len) != (ssize_t)s->o->len)
		return -errno;
	if (s->o->durable && fdatasync(fd) < 0)
		return -errno;
	snprintf(from, sizeof(from), "/proc/self/fd/%d", fd);
	snprintf(to, sizeof(to), "%llu", (unsigned long long)atomic_fetch_add(&s->names, 1));
	if (linkat(AT_FDCWD, from, s->dir, to, AT_SYMLINK_FOLLOW) < 0)
		return -errno;
	return s->o->durable && fsync(s->dir) < 0 ? -errno : 0;
}

static void *store_thread(void *arg)
{
	struct store_run *s = arg;

	while (!atomic_load(&s->err) && mono_ns() < s->until_ns) {
		int r = store_one(s);

		if (r < 0)
			atomic_store(&s->err, r);
		else
			atomic_fetch_add(&s->done, 1);
	}
	return NULL;
}

static int64_t process_cpu_ns(int who)
{
	struct rusage u;

	getrusage(who, &u);
	return ((int64_t)u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1000000000 +
	       ((int64_t)u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1000;
}

int raw_store_run(const struct raw_store *o, struct raw_result *ret)
{
	struct store_run s = {.o = o};
	pthread_t threads[THREADS_MAX];
	unsigned int n = 0;
	int64_t begin, cpu;
	int r;

	mkdir(o->dir, 0755);
	s.dir = open(o->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (s.dir < 0)
		return -errno;
	cpu = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	begin = mono_ns();
	s.until_ns = begin + o->limit_ns;
	while (n < MIN(o->threads, (unsigned int)THREADS_MAX) &&
	       !pthread_create(&threads[n], NULL, store_thread, &s))
		n++;
	while (n)
		pthread_join(threads[--n], NULL);
	ret->wall_ns = mono_ns() - begin;
	ret->cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu;
	ret->n = atomic_load(&s.done);
	close(s.dir);
	r = atomic_load(&s.err);
	return r ? r : ret->n ? 0 : -EIO;
}

static _Noreturn void exec_dd(int in, const char *path)
{
	char of[600];

	snprintf(of, sizeof(of), "of=%s", path);
	if (dup2(in, 0) >= 0)
		execlp("dd", "dd", of, "bs=1M", "iflag=fullblock", "status=none", (char *)NULL);
	_exit(127);
}

int raw_dd(const char *path, const void *body, size_t len, struct raw_result *ret)
{
	int64_t begin = mono_ns(), cpu = process_cpu_ns(RUSAGE_CHILDREN);
	size_t done = 0;
	int ends[2], status = 0, err = 0;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	pid = fork();
	if (!pid)
		exec_dd(ends[0], path);
	close(ends[0]);
	while (pid > 0 && done < len && !err) {
		ssize_t n = write(ends[1], (const char *)body + done, len - done);

		if (n < 0)
			err = -errno;
		else
			done += (size_t)n;
	}
	close(ends[1]);
	if (pid < 0 || waitpid(pid, &status, 0) < 0 || status)
		return err ? err : -ECHILD;
	ret->n = len;
	ret->wall_ns = mono_ns() - begin;
	ret->cpu_ns = process_cpu_ns(RUSAGE_CHILDREN) - cpu;
	return err;
}

/* ---- signatures ---- */

struct signing {
	unsigned char pub[crypto_sign_PUBLICKEYBYTES], key[crypto_sign_SECRETKEYBYTES];
	unsigned char text[BATCH][SIGNED_BYTES], sig[BATCH][crypto_sign_BYTES];
};

static int sign_batch(struct signing *s)
{
	unsigned int i;

	for (i = 0; i < BATCH; i++)
		if (crypto_sign_detached(s->sig[i], NULL, s->text[i], SIGNED_BYTES, s->key) != 0)
			return -EINVAL;
	return 0;
}

static int verify_batch(struct signing *s)
{
	unsigned int i;

	for (i = 0; i < BATCH; i++)
		if (crypto_sign_verify_detached(s->sig[i], s->text[i], SIGNED_BYTES, s->pub) != 0)
			return -EBADMSG;
	return 0;
}

static int run_signing(int64_t limit_ns, int (*batch)(struct signing *s), struct raw_result *ret)
{
	struct signing s;
	int64_t begin, cpu;
	int r;

	if (sodium_init() < 0 || crypto_sign_keypair(s.pub, s.key) != 0)
		return -EIO;
	randombytes_buf(s.text, sizeof(s.text));
	r = sign_batch(&s);
	*ret = (struct raw_result){};
	begin = mono_ns();
	cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	while (!r && ret->wall_ns < limit_ns) {
		r = batch(&s);
		ret->n += BATCH;
		ret->wall_ns = mono_ns() - begin;
	}
	ret->cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu;
	return r;
}

int raw_sign(int64_t limit_ns, struct raw_result *ret)
{
	return run_signing(limit_ns, sign_batch, ret);
}

int raw_verify(int64_t limit_ns, struct raw_result *ret)
{
	return run_signing(limit_ns, verify_batch, ret);
}
