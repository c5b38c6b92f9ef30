/* SPDX-License-Identifier: BSD-2-Clause */
/* The body of a PUT: read by position, so that a redirect can start it again. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bits.h"
#include "progress.h"
#include "upload.h"

#define SMALL_BODY 32768
#define PIPE_EXPECT_MS 60000L

int upload_init(struct upload *up, int fd)
{
	struct stat st;
	ssize_t got;
	off_t at;
	char c;

	if (fstat(fd, &st) < 0)
		return -errno;
	*up = (struct upload){.fd = fd, .regular = S_ISREG(st.st_mode)};
	if (!up->regular)
		return 0;
	at = lseek(fd, 0, SEEK_CUR);
	up->base = MAX(at, (off_t)0);
	up->size = st.st_size > up->base ? (uint64_t)(st.st_size - up->base) : 0;
	if (!st.st_size) {
		got = pread(fd, &c, 1, up->base);
		if (got < 0)
			return -errno;
		up->sized = got == 0;
		return 0;
	}
	up->sized = true;
	return 0;
}

static size_t on_read(char *data, size_t one, size_t n, void *arg)
{
	struct upload *up = arg;
	size_t want = one * n;
	ssize_t got;

	if (up->sized)
		want = MIN(want, up->size - up->sent);
	if (!want)
		return 0;
	do {
		if (up->regular)
			got = pread(up->fd, data, want, up->base + (off_t)up->sent);
		else
			got = read(up->fd, data, want);
	} while (got < 0 && errno == EINTR);
	if (got < 0 || (got == 0 && up->sized)) {
		up->err = got < 0 ? -errno : -ESTALE;
		return CURL_READFUNC_ABORT;
	}
	up->sent += (uint64_t)got;
	if (up->progress)
		progress_show(up->progress, up->label, up->sent, up->size);
	return (size_t)got;
}

/* A redirect starts the body again. What came through a pipe is gone once it was read. */
static int on_seek(void *arg, curl_off_t offset, int origin)
{
	struct upload *up = arg;

	if (origin != SEEK_SET || offset < 0)
		return CURL_SEEKFUNC_FAIL;
	if (!up->regular)
		return offset == 0 && up->sent == 0 ? CURL_SEEKFUNC_OK : CURL_SEEKFUNC_FAIL;
	if (up->sized && (uint64_t)offset > up->size)
		return CURL_SEEKFUNC_FAIL;
	up->sent = (uint64_t)offset;
	return CURL_SEEKFUNC_OK;
}

int upload_prepare(struct client *c, CURL *easy, const char *path, struct upload *up,
		   struct resp *r)
{
	bool small = up->sized && up->size <= SMALL_BODY;
	struct call call = {
		.method = "PUT",
		.path = path,
		.headers = {small ? "Expect:" : "Expect: 100-continue"},
	};
	int rc = client_prepare(c, easy, &call, r);

	if (rc < 0)
		return rc;
	curl_easy_setopt(easy, CURLOPT_UPLOAD, 1L);
	curl_easy_setopt(easy, CURLOPT_READFUNCTION, on_read);
	curl_easy_setopt(easy, CURLOPT_READDATA, up);
	curl_easy_setopt(easy, CURLOPT_SEEKFUNCTION, on_seek);
	curl_easy_setopt(easy, CURLOPT_SEEKDATA, up);
	if (up->sized) {
		curl_easy_setopt(easy, CURLOPT_INFILESIZE_LARGE, (curl_off_t)up->size);
		return 0;
	}
	/* the writer may take long; and what is sent too early cannot be sent again */
	curl_easy_setopt(easy, CURLOPT_LOW_SPEED_TIME, 0L);
	curl_easy_setopt(easy, CURLOPT_EXPECT_100_TIMEOUT_MS, PIPE_EXPECT_MS);
	return 0;
}

const char *upload_error(const struct upload *up)
{
	if (up->err == -ESTALE)
		return "the file became shorter while it was read";
	return up->err ? strerror(-up->err) : NULL;
}
