/* SPDX-License-Identifier: BSD-2-Clause */
/* `object get`: into a file that appears whole or not at all, or to standard output. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/json.h"
#include "cmd.h"
#include "object.h"
#include "progress.h"

const struct cmd_opt get_opts[] = {
	{0, "explain", NULL, "say which path the bytes took, and why"},
	{},
};

/* Where the bytes go. A regular file gets its name only when they are all there. */
struct dest {
	int fd;
	char *path; /* NULL: standard output */
	char *real; /* where its symbolic links lead; NULL: the path itself */
	char *temp; /* in the same folder; NULL: none has a name yet */
	bool unnamed;
	bool in_place; /* a device or a pipe */
	uint64_t got, total;
	bool begun;
	struct progress progress;
	const char *label;
};

static void dest_deinit(struct dest *d)
{
	if (d->temp)
		unlink(d->temp);
	if (d->path && d->fd >= 0)
		close(d->fd);
	d->fd = -1;
	free(d->path);
	free(d->real);
	free(d->temp);
	d->path = d->real = d->temp = NULL;
}

const char *object_base(const char *name)
{
	const char *slash = strrchr(name, '/');

	return slash ? slash + 1 : name;
}

/* A name in the folder of @path that nothing has. */
static char *temp_name(const char *path)
{
	const char *base = object_base(path);
	autobuf struct buf b = BUF_INIT;
	uint64_t r;

	if (getrandom(&r, sizeof(r), 0) != sizeof(r))
		return NULL;
	buf_append(&b, path, (size_t)(base - path));
	buf_fmt(&b, ".pagewire-%016" PRIx64, r);
	return buf_take(&b);
}

static const char *final_path(const struct dest *d)
{
	return d->real ? d->real : d->path;
}

static int open_unnamed(struct dest *d)
{
	const char *path = final_path(d);
	autofree char *dir = strndup(path, (size_t)(object_base(path) - path));

	if (!dir)
		return -ENOMEM;
	d->fd = open(*dir ? dir : ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
	d->unnamed = d->fd >= 0;
	return d->fd < 0 ? -errno : 0;
}

static int open_temp(struct dest *d)
{
	int r = open_unnamed(d);

	/* not every file system has files without a name */
	if (r != -EOPNOTSUPP && r != -EISDIR && r != -EINVAL)
		return r;
	d->temp = temp_name(final_path(d));
	if (!d->temp)
		return -ENOMEM;
	d->fd = open(d->temp, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666);
	if (d->fd < 0) {
		r = -errno;
		free(d->temp);
		d->temp = NULL;
		return r;
	}
	return 0;
}

/* In place of a file that stands: the end of its symbolic links, with its permissions. */
static int open_instead(struct dest *d, mode_t mode)
{
	int r;

	d->real = realpath(d->path, NULL);
	if (!d->real)
		return -errno;
	r = open_temp(d);
	if (r == 0 && fchmod(d->fd, mode & 0777) < 0)
		r = -errno;
	return r;
}

static int dest_open(struct dest *d, const char *arg, const char *object)
{
	autobuf struct buf path = BUF_INIT;
	struct stat st;

	if (arg && !strcmp(arg, "-")) {
		d->fd = STDOUT_FILENO;
		return 0;
	}
	buf_str(&path, arg ? arg : object_base(object));
	if (arg && stat(arg, &st) == 0 && S_ISDIR(st.st_mode))
		buf_fmt(&path, "%s%s", *object_base(arg) ? "/" : "", object_base(object));
	d->path = buf_take(&path);
	if (!d->path)
		return -ENOMEM;
	if (stat(d->path, &st) < 0)
		return open_temp(d);
	if (S_ISREG(st.st_mode))
		return open_instead(d, st.st_mode);
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	d->in_place = true;
	d->fd = open(d->path, O_WRONLY | O_CLOEXEC);
	return d->fd < 0 ? -errno : 0;
}

/* All bytes are there: give them their name. */
static int dest_commit(struct dest *d)
{
	char self[64];

	if (!d->path || d->in_place)
		return 0;
	if (d->unnamed) {
		d->temp = temp_name(final_path(d));
		if (!d->temp)
			return -ENOMEM;
		snprintf(self, sizeof(self), "/proc/self/fd/%d", d->fd);
		if (linkat(AT_FDCWD, self, AT_FDCWD, d->temp, AT_SYMLINK_FOLLOW) < 0) {
			int r = -errno;

			free(d->temp);
			d->temp = NULL;
			return r;
		}
	}
	if (rename(d->temp, final_path(d)) < 0)
		return -errno;
	free(d->temp);
	d->temp = NULL;
	return 0;
}

static int on_data(void *arg, struct resp *r, const char *data, size_t n)
{
	struct dest *d = arg;

	if (!d->begun)
		resp_header_u64(r, "Content-Length", &d->total);
	d->begun = true;
	while (n) {
		ssize_t w = write(d->fd, data, n);

		if (w < 0 && errno == EINTR)
			continue;
		if (w < 0)
			return -errno;
		data += w;
		n -= (size_t)w;
		d->got += (uint64_t)w;
	}
	progress_show(&d->progress, d->label, d->got, d->total);
	return 0;
}

static int fetch(struct cmd *c, const struct uri *u, struct dest *d, struct resp *r)
{
	autobuf struct buf path = BUF_INIT;
	struct call call = {.method = "GET"};
	struct client *client;
	int rc = cmd_client(c, &client);

	if (rc)
		return rc;
	uri_request(&path, "objects", u);
	if (path.err)
		return -ENOMEM;
	call.path = path.data;
	if (cmd_opt(c, "explain"))
		call.headers[0] = "Pagewire-Explain: 1";
	r->sink = on_data;
	r->sink_arg = d;
	rc = client_call(client, &call, r);
	progress_wipe(&d->progress);
	return rc;
}

/* What is wrong with what came, if anything. */
static int check(struct cmd *c, const struct dest *d, const struct resp *r)
{
	uint64_t length;

	if (r->sink_err == -EPIPE && !d->path)
		return CMD_FAILED;
	if (r->sink_err)
		return cmd_fail(c, "cannot write %s: %s", d->path ? d->path : "standard output",
				strerror(-r->sink_err));
	if (!resp_ok(r))
		return cmd_refused(c, r);
	if (resp_header_u64(r, "Content-Length", &length) == 0 && length != d->got)
		return cmd_fail(c, "%s: %" PRIu64 " bytes came of %" PRIu64, c->args[0], d->got,
				length);
	return 0;
}

static void add_header(struct json_object *doc, const struct resp *r, const char *key,
		       const char *header)
{
	autofree char *v = resp_header(r, header, 0);

	if (v)
		json_object_object_add(doc, key, json_object_new_string(v));
}

static void report(struct cmd *c, const struct dest *d, const struct resp *r)
{
	autojson struct json_object *doc = json_object_new_object();
	autofree char *name = out_utf8(c->args[0]), *file = out_utf8(d->path ? d->path : "-");
	autofree char *path = resp_header(r, "Pagewire-Path", 0);
	char size[32];

	json_object_object_add(doc, "object", json_object_new_string(name ? name : ""));
	json_object_object_add(doc, "file", json_object_new_string(file ? file : ""));
	json_object_object_add(doc, "bytes", json_object_new_uint64(d->got));
	add_header(doc, r, "checksum_type", "Ais-Checksum-Type");
	add_header(doc, r, "checksum", "Ais-Checksum-Value");
	add_header(doc, r, "version", "Ais-Version");
	add_header(doc, r, "path", "Pagewire-Path");
	if (cmd_opt(c, "explain"))
		out_note(&c->out, "path: %s", path ? path : "the server does not say");
	if (d->path)
		out_done(&c->out, doc, "%s: %s", d->path, out_bytes(d->got, size));
}

int object_get(struct cmd *c)
{
	autoclean(dest_deinit) struct dest d = {.fd = -1};
	autouri struct uri u = URI_INIT;
	autoresp struct resp r = RESP_INIT;
	const char *to = c->nargs > 1 ? c->args[1] : NULL;
	int rc;

	if (c->out.json && to && !strcmp(to, "-"))
		return cmd_usage(c, "-j and \"-\" both want standard output");
	rc = cmd_object(c, 0, &u);
	if (rc)
		return rc;
	if (!to && !*object_base(u.object))
		return cmd_usage(c, "\"%s\" ends in a slash: name the file", c->args[0]);
	rc = dest_open(&d, to, u.object);
	if (rc < 0)
		return cmd_fail(c, "cannot write %s: %s", d.path ? d.path : "the file",
				strerror(-rc));
	progress_start(&d.progress, c->out.json || (!d.path && c->out.tty));
	d.label = u.object;
	rc = fetch(c, &u, &d, &r);
	if (rc == 0)
		rc = check(c, &d, &r);
	if (rc)
		return rc;
	rc = dest_commit(&d);
	if (rc < 0)
		return cmd_fail(c, "cannot write %s: %s", d.path, strerror(-rc));
	report(c, &d, &r);
	return CMD_DONE;
}
