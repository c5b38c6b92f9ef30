/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * System calls of this program that fail when told to: definitions here are found before those of
 * the C library, by the store and by LMDB alike. What syncs does nothing, so that it is fast.
 */
#ifndef SELFTESTS_STORE_FAULTS_H
#define SELFTESTS_STORE_FAULTS_H

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/xattr.h>
#include <unistd.h>

enum fault_call {
	FAULT_NONE,
	FAULT_OPENAT,
	FAULT_PWRITE,
	FAULT_WRITEV,
	FAULT_FSYNC,
	FAULT_FDATASYNC,
	FAULT_LINKAT,
	FAULT_RENAMEAT,
	FAULT_UNLINKAT,
	FAULT_FSETXATTR,
	FAULT_FALLOCATE,
	FAULT_FTRUNCATE,
	FAULT_COPY,
	FAULT_NR,
};

static const char *const fault_names[FAULT_NR] = {
	[FAULT_OPENAT] = "openat",	 [FAULT_PWRITE] = "pwrite",
	[FAULT_WRITEV] = "writev",	 [FAULT_FSYNC] = "fsync",
	[FAULT_FDATASYNC] = "fdatasync", [FAULT_LINKAT] = "linkat",
	[FAULT_RENAMEAT] = "renameat",	 [FAULT_UNLINKAT] = "unlinkat",
	[FAULT_FSETXATTR] = "fsetxattr", [FAULT_FALLOCATE] = "fallocate",
	[FAULT_FTRUNCATE] = "ftruncate", [FAULT_COPY] = "copy_file_range",
};

static atomic_int fault_call, fault_left, fault_errno, fault_hits;

/* The call @n (from 1) of @call fails, once. */
static inline void fault_arm(enum fault_call call, int n, int err)
{
	atomic_store(&fault_hits, 0);
	atomic_store(&fault_errno, err);
	atomic_store(&fault_left, n);
	atomic_store(&fault_call, (int)call);
}

/* Return: did it fail? */
static inline bool fault_disarm(void)
{
	atomic_store(&fault_call, FAULT_NONE);
	return atomic_load(&fault_hits) > 0;
}

/* Threads that look after the store on their own are left alone: when they do is not known. */
static inline bool fault_of_operation(void)
{
	char name[16] = "";

	prctl(PR_GET_NAME, name);
	return !strncmp(name, "test_", 5) || !strncmp(name, "io", 2) || !strcmp(name, "commit") ||
	       !strcmp(name, "sweep");
}

static inline bool fault(enum fault_call call)
{
	if (atomic_load(&fault_call) != (int)call || !fault_of_operation() ||
	    atomic_fetch_sub(&fault_left, 1) != 1)
		return false;
	atomic_fetch_add(&fault_hits, 1);
	errno = atomic_load(&fault_errno);
	return true;
}

#define FAULTY(call, ...) (fault(call) ? -1 : syscall(__VA_ARGS__))

int openat(int at, const char *path, int flags, ...)
{
	va_list ap;
	mode_t mode;

	va_start(ap, flags);
	mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(ap, mode_t) : 0;
	va_end(ap);
	return (int)FAULTY(FAULT_OPENAT, SYS_openat, at, path, flags, mode);
}

ssize_t pwrite(int fd, const void *p, size_t n, off_t off)
{
	return FAULTY(FAULT_PWRITE, SYS_pwrite64, fd, p, n, off);
}

ssize_t writev(int fd, const struct iovec *v, int n)
{
	return FAULTY(FAULT_WRITEV, SYS_writev, fd, v, n);
}

int fsync(int fd)
{
	return fault(FAULT_FSYNC) ? -1 : 0;
}

int fdatasync(int fd)
{
	return fault(FAULT_FDATASYNC) ? -1 : 0;
}

int linkat(int from, const char *old, int to, const char *new, int flags)
{
	return (int)FAULTY(FAULT_LINKAT, SYS_linkat, from, old, to, new, flags);
}

int renameat(int from, const char *old, int to, const char *new)
{
	return (int)FAULTY(FAULT_RENAMEAT, SYS_renameat, from, old, to, new);
}

int unlinkat(int at, const char *path, int flags)
{
	return (int)FAULTY(FAULT_UNLINKAT, SYS_unlinkat, at, path, flags);
}

int fsetxattr(int fd, const char *name, const void *p, size_t n, int flags)
{
	return (int)FAULTY(FAULT_FSETXATTR, SYS_fsetxattr, fd, name, p, n, flags);
}

int fallocate(int fd, int mode, off_t off, off_t len)
{
	return (int)FAULTY(FAULT_FALLOCATE, SYS_fallocate, fd, mode, off, len);
}

int ftruncate(int fd, off_t len)
{
	return (int)FAULTY(FAULT_FTRUNCATE, SYS_ftruncate, fd, len);
}

ssize_t copy_file_range(int in, off_t *in_off, int out, off_t *out_off, size_t n,
			unsigned int flags)
{
	return FAULTY(FAULT_COPY, SYS_copy_file_range, in, in_off, out, out_off, n, flags);
}

#endif
