/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Preload shim: fails, delays or ends a process at chosen system calls, and keeps what a power cut
 * would take back.
 *
 * PAGEWIRE_SHIM_CONTROL names a mapped file with rules, which a test writes while the process runs
 * (faults.py has the same layout). PAGEWIRE_SHIM_JOURNAL names a file: each change below
 * PAGEWIRE_SHIM_UNDER is noted there before it is made, with what undoes it; each sync is noted
 * after it. Files that lose their last name get another one in PAGEWIRE_SHIM_SHADOW.
 */
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <linux/fs.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/xattr.h>
#include <unistd.h>

#define RULES 24
#define PATTERN 224

enum call {
	CALL_NONE,
	CALL_OPEN,
	CALL_WRITE,
	CALL_READ,
	CALL_FSYNC,
	CALL_FDATASYNC,
	CALL_FALLOCATE,
	CALL_FTRUNCATE,
	CALL_LINK,
	CALL_RENAME,
	CALL_UNLINK,
	CALL_SETXATTR,
	CALL_COPY,
	CALL_ACCEPT,
	CALL_NR
};

enum action { ACTION_NONE, ACTION_FAIL, ACTION_KILL_BEFORE, ACTION_KILL_AFTER, ACTION_DELAY };

struct rule {
	uint32_t action; /* enum action; written last */
	uint32_t call;
	uint32_t value; /* errno, or milliseconds */
	uint32_t skip; /* calls that match and pass first */
	uint32_t times; /* then this many are hit; 0: all */
	atomic_uint seen, hits;
	uint32_t reserved;
	char path[PATTERN]; /* fnmatch(3) */
};

struct control {
	uint32_t rules; /* in use */
	uint32_t reserved[63];
	struct rule rule[RULES];
};

/* What the journal holds. */
enum note {
	NOTE_WRITE = 1, /* off, size before, payload: bytes before */
	NOTE_XATTR, /* other: name; payload: value before, size UINT64_MAX when there was none */
	NOTE_SYNC, /* ino: file or folder; off: 1 with the xattrs */
	NOTE_NAME, /* path appeared */
	NOTE_RENAME, /* path from other; a shadow has what path was before, if off */
	NOTE_UNLINK, /* path is gone; the shadow has it */
};

struct note_head {
	uint32_t note, path_len, other_len, shadow;
	uint64_t ino; /* of the file, of the folder for names */
	uint64_t off, size, payload;
};

static struct control *control;
static int journal = -1;
static const char *under, *shadows;
static uint32_t shadow_count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *control_map(const char *path)
{
	long fd = syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC, 0);
	void *p = fd < 0 ? MAP_FAILED
			 : mmap(NULL, sizeof(struct control), PROT_READ | PROT_WRITE, MAP_SHARED,
				(int)fd, 0);

	if (p == MAP_FAILED) {
		fprintf(stderr, "shim: %s: %s\n", path, strerror(errno));
		abort();
	}
	close((int)fd);
	return p;
}

__attribute__((constructor)) static void shim_start(void)
{
	const char *path = getenv("PAGEWIRE_SHIM_CONTROL");

	if (path)
		control = control_map(path);
	path = getenv("PAGEWIRE_SHIM_JOURNAL");
	under = getenv("PAGEWIRE_SHIM_UNDER");
	shadows = getenv("PAGEWIRE_SHIM_SHADOW");
	if (!path || !under || !shadows)
		return;
	journal = (int)syscall(SYS_openat, AT_FDCWD, path,
			       O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
	if (journal < 0)
		abort();
}

/* ---- one call */

struct event {
	enum call call;
	char path[PATH_MAX + NAME_MAX + 16];
	bool watched, noted, die;
};

static void fd_path(int fd, char *out, size_t size)
{
	char proc[32];
	ssize_t n;

	snprintf(proc, sizeof(proc), "/proc/self/fd/%d", fd);
	n = readlink(proc, out, size - 1);
	out[n < 0 ? 0 : n] = 0;
}

static void at_path(int fd, const char *name, char *out, size_t size)
{
	size_t n;

	if (name[0] == '/' || fd == AT_FDCWD) {
		snprintf(out, size, "%s", name);
		return;
	}
	fd_path(fd, out, PATH_MAX);
	n = strlen(out);
	snprintf(out + n, size - n, "/%s", name);
}

static void end_here(void)
{
	syscall(SYS_kill, getpid(), SIGKILL);
	for (;;)
		pause();
}

/* Return: false when the call is to fail, errno set. */
static bool rule_apply(struct rule *r, struct event *e)
{
	uint32_t n;

	if (!r->action || r->call != (uint32_t)e->call || fnmatch(r->path, e->path, 0))
		return true;
	n = atomic_fetch_add(&r->seen, 1);
	if (n < r->skip || (r->times && n - r->skip >= r->times))
		return true;
	atomic_fetch_add(&r->hits, 1);
	switch (r->action) {
	case ACTION_FAIL:
		errno = (int)r->value;
		return false;
	case ACTION_KILL_BEFORE:
		end_here();
		break;
	case ACTION_KILL_AFTER:
		e->die = true;
		break;
	case ACTION_DELAY:
		usleep(r->value * 1000);
		break;
	default:
		break;
	}
	return true;
}

/* @name: below the folder @fd, or NULL for @fd itself. Return: false to fail with errno. */
static bool enter(struct event *e, enum call call, int fd, const char *name)
{
	uint32_t i, n = control ? control->rules : 0;

	e->call = call;
	e->watched = e->noted = e->die = false;
	if (!n && journal < 0)
		return true;
	if (name)
		at_path(fd, name, e->path, sizeof(e->path));
	else
		fd_path(fd, e->path, sizeof(e->path));
	if (call == CALL_WRITE && fcntl(fd, F_GETFL) & O_DSYNC)
		strcat(e->path, "#synced"); /* LMDB: the page that makes a commit count */
	for (i = 0; i < n && i < RULES; i++) {
		if (!rule_apply(&control->rule[i], e))
			return false;
	}
	e->watched = journal >= 0 && !strncmp(e->path, under, strlen(under));
	if (e->watched)
		pthread_mutex_lock(&lock);
	return true;
}

static long leave(struct event *e, long r)
{
	int err = errno;

	if (e->watched)
		pthread_mutex_unlock(&lock);
	if (e->die)
		end_here();
	errno = err;
	return r;
}

/* ---- the journal */

static void note(struct note_head *h, const char *path, const char *other, const void *payload)
{
	struct iovec v[4] = {{h, sizeof(*h)},
			     {(void *)path, strlen(path)},
			     {(void *)other, other ? strlen(other) : 0},
			     {(void *)payload, h->payload}};
	size_t want;

	h->path_len = (uint32_t)v[1].iov_len;
	h->other_len = (uint32_t)v[2].iov_len;
	want = sizeof(*h) + h->path_len + h->other_len + h->payload;
	if (syscall(SYS_writev, journal, v, 4) != (long)want)
		abort(); /* a journal with a hole proves nothing */
}

static bool same_fs_file(int fd, struct stat *st)
{
	return fstat(fd, st) == 0 && S_ISREG(st->st_mode);
}

/* Before @n bytes at @off change. */
static void note_write(struct event *e, int fd, uint64_t off, uint64_t n)
{
	struct note_head h = {.note = NOTE_WRITE};
	char *before = NULL;
	struct stat st;

	if (!e->watched || !same_fs_file(fd, &st))
		return;
	if (fcntl(fd, F_GETFL) & O_DSYNC)
		return;
	h.ino = st.st_ino;
	h.off = off;
	h.size = (uint64_t)st.st_size;
	/* what has no name yet is never read back */
	if (st.st_nlink && off < h.size) {
		n = n < h.size - off ? n : h.size - off;
		before = malloc(n);
		if (!before || syscall(SYS_pread64, fd, before, n, off) != (long)n)
			abort();
		h.payload = n;
	}
	note(&h, e->path, NULL, before);
	free(before);
}

static void note_sync(struct event *e, int fd, bool all)
{
	struct note_head h = {.note = NOTE_SYNC, .off = all};
	struct stat st;

	if (!e->watched || fstat(fd, &st) < 0)
		return;
	h.ino = st.st_ino;
	note(&h, e->path, NULL, NULL);
}

static uint64_t folder_ino(const char *path)
{
	char dir[PATH_MAX + NAME_MAX + 2];
	struct stat st;
	char *slash;

	snprintf(dir, sizeof(dir), "%s", path);
	slash = strrchr(dir, '/');
	if (!slash)
		return 0;
	*slash = 0;
	return stat(dir, &st) < 0 ? 0 : (uint64_t)st.st_ino;
}

/* Another name for what @path is now. Return: its number; 0 when there is nothing. */
static uint32_t shadow(const char *path)
{
	char name[PATH_MAX];

	snprintf(name, sizeof(name), "%s/%d-%u", shadows, (int)getpid(), ++shadow_count);
	if (syscall(SYS_linkat, AT_FDCWD, path, AT_FDCWD, name, 0) < 0)
		return 0;
	return shadow_count;
}

static void note_name(struct event *e, enum note what, const char *other)
{
	struct note_head h = {.note = what, .size = (uint64_t)getpid()};

	if (!e->watched)
		return;
	h.ino = folder_ino(e->path);
	if (what != NOTE_NAME)
		h.shadow = shadow(e->path);
	if (what == NOTE_UNLINK && !h.shadow)
		return; /* nothing there, or a folder */
	note(&h, e->path, other, NULL);
}

static void note_xattr(struct event *e, int fd, const char *name)
{
	struct note_head h = {.note = NOTE_XATTR};
	char value[65536];
	struct stat st;
	ssize_t n;

	if (!e->watched || !same_fs_file(fd, &st))
		return;
	n = fgetxattr(fd, name, value, sizeof(value));
	h.ino = st.st_ino;
	h.size = n < 0 ? UINT64_MAX : (uint64_t)n;
	h.payload = n < 0 ? 0 : (uint64_t)n;
	note(&h, e->path, name, value);
}

/* ---- opening */

static int open_at(int fd, const char *name, int flags, mode_t mode)
{
	struct event e;
	struct stat st;
	bool tmp = (flags & O_TMPFILE) == O_TMPFILE;

	if (!enter(&e, CALL_OPEN, fd, name))
		return -1;
	if (e.watched && flags & O_CREAT && !tmp && stat(e.path, &st) < 0)
		note_name(&e, NOTE_NAME, NULL);
	if (e.watched && flags & O_TRUNC && stat(e.path, &st) == 0 && st.st_size) {
		int old = (int)syscall(SYS_openat, AT_FDCWD, e.path, O_RDWR | O_CLOEXEC, 0);

		if (old >= 0) {
			note_write(&e, old, 0, (uint64_t)st.st_size);
			close(old);
		}
	}
	return (int)leave(&e, syscall(SYS_openat, fd, name, flags, mode));
}

static mode_t mode_of(int flags, va_list ap)
{
	return flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(ap, mode_t) : 0;
}

int open(const char *name, int flags, ...)
{
	va_list ap;
	mode_t mode;

	va_start(ap, flags);
	mode = mode_of(flags, ap);
	va_end(ap);
	return open_at(AT_FDCWD, name, flags, mode);
}

int openat(int fd, const char *name, int flags, ...)
{
	va_list ap;
	mode_t mode;

	va_start(ap, flags);
	mode = mode_of(flags, ap);
	va_end(ap);
	return open_at(fd, name, flags, mode);
}

int __openat_2(int fd, const char *name, int flags);
int __openat_2(int fd, const char *name, int flags)
{
	return open_at(fd, name, flags, 0);
}

int accept4(int fd, struct sockaddr *sa, socklen_t *len, int flags)
{
	struct event e;

	if (!enter(&e, CALL_ACCEPT, fd, NULL))
		return -1;
	return (int)leave(&e, syscall(SYS_accept4, fd, sa, len, flags));
}

/* ---- bytes */

ssize_t pwrite(int fd, const void *data, size_t n, off_t off)
{
	struct event e;

	if (!enter(&e, CALL_WRITE, fd, NULL))
		return -1;
	note_write(&e, fd, (uint64_t)off, n);
	return leave(&e, syscall(SYS_pwrite64, fd, data, n, off));
}

static uint64_t position(int fd)
{
	off_t at = lseek(fd, 0, fcntl(fd, F_GETFL) & O_APPEND ? SEEK_END : SEEK_CUR);

	return at < 0 ? 0 : (uint64_t)at;
}

ssize_t write(int fd, const void *data, size_t n)
{
	struct event e;

	if (!enter(&e, CALL_WRITE, fd, NULL))
		return -1;
	if (e.watched)
		note_write(&e, fd, position(fd), n);
	return leave(&e, syscall(SYS_write, fd, data, n));
}

ssize_t writev(int fd, const struct iovec *v, int count)
{
	struct event e;
	size_t n = 0;
	int i;

	if (!enter(&e, CALL_WRITE, fd, NULL))
		return -1;
	for (i = 0; i < count; i++)
		n += v[i].iov_len;
	if (e.watched)
		note_write(&e, fd, position(fd), n);
	return leave(&e, syscall(SYS_writev, fd, v, count));
}

ssize_t pread(int fd, void *data, size_t n, off_t off)
{
	struct event e;

	if (!enter(&e, CALL_READ, fd, NULL))
		return -1;
	return leave(&e, syscall(SYS_pread64, fd, data, n, off));
}

int fallocate(int fd, int mode, off_t off, off_t n)
{
	struct event e;

	if (!enter(&e, CALL_FALLOCATE, fd, NULL))
		return -1;
	if (!(mode & FALLOC_FL_KEEP_SIZE))
		note_write(&e, fd, (uint64_t)off, (uint64_t)n);
	return (int)leave(&e, syscall(SYS_fallocate, fd, mode, off, n));
}

int ftruncate(int fd, off_t n)
{
	struct event e;

	if (!enter(&e, CALL_FTRUNCATE, fd, NULL))
		return -1;
	note_write(&e, fd, (uint64_t)n, UINT64_MAX / 2);
	return (int)leave(&e, syscall(SYS_ftruncate, fd, n));
}

ssize_t copy_file_range(int from, off64_t *in, int to, off64_t *out, size_t n, unsigned int flags)
{
	struct event e;

	if (!enter(&e, CALL_COPY, to, NULL))
		return -1;
	note_write(&e, to, out ? (uint64_t)*out : position(to), n);
	return leave(&e, syscall(SYS_copy_file_range, from, in, to, out, n, flags));
}

int ioctl(int fd, unsigned long request, ...)
{
	struct event e;
	va_list ap;
	void *arg;

	va_start(ap, request);
	arg = va_arg(ap, void *);
	va_end(ap);
	if (request != FICLONE)
		return (int)syscall(SYS_ioctl, fd, request, arg);
	if (!enter(&e, CALL_COPY, fd, NULL))
		return -1;
	note_write(&e, fd, 0, UINT64_MAX / 2);
	return (int)leave(&e, syscall(SYS_ioctl, fd, request, arg));
}

/* ---- syncs */

static int sync_fd(int fd, bool all)
{
	struct event e;
	long r;

	if (!enter(&e, all ? CALL_FSYNC : CALL_FDATASYNC, fd, NULL))
		return -1;
	r = syscall(all ? SYS_fsync : SYS_fdatasync, fd);
	if (r == 0)
		note_sync(&e, fd, all);
	return (int)leave(&e, r);
}

int fsync(int fd)
{
	return sync_fd(fd, true);
}

int fdatasync(int fd)
{
	return sync_fd(fd, false);
}

/* ---- names */

int linkat(int from, const char *old, int to, const char *name, int flags)
{
	struct event e;

	if (!enter(&e, CALL_LINK, to, name))
		return -1;
	note_name(&e, NOTE_NAME, NULL);
	return (int)leave(&e, syscall(SYS_linkat, from, old, to, name, flags));
}

int renameat(int from, const char *old, int to, const char *name)
{
	char before[PATH_MAX + NAME_MAX + 2];
	struct event e;

	if (!enter(&e, CALL_RENAME, to, name))
		return -1;
	at_path(from, old, before, sizeof(before));
	note_name(&e, NOTE_RENAME, before);
	return (int)leave(&e, syscall(SYS_renameat, from, old, to, name));
}

int unlinkat(int fd, const char *name, int flags)
{
	struct event e;

	if (!enter(&e, CALL_UNLINK, fd, name))
		return -1;
	note_name(&e, NOTE_UNLINK, NULL);
	return (int)leave(&e, syscall(SYS_unlinkat, fd, name, flags));
}

int unlink(const char *name)
{
	return unlinkat(AT_FDCWD, name, 0);
}

int fsetxattr(int fd, const char *name, const void *value, size_t n, int flags)
{
	struct event e;

	if (!enter(&e, CALL_SETXATTR, fd, NULL))
		return -1;
	note_xattr(&e, fd, name);
	return (int)leave(&e, syscall(SYS_fsetxattr, fd, name, value, n, flags));
}

int fremovexattr(int fd, const char *name)
{
	struct event e;

	if (!enter(&e, CALL_SETXATTR, fd, NULL))
		return -1;
	note_xattr(&e, fd, name);
	return (int)leave(&e, syscall(SYS_fremovexattr, fd, name));
}
