/* SPDX-License-Identifier: BSD-2-Clause */
/* `object put`: one file or standard input; a folder is put_tree.c's. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/json.h"
#include "cmd.h"
#include "object.h"
#include "progress.h"
#include "upload.h"

const struct cmd_opt put_opts[] = {
	{0, "jobs", "N", "files of a folder put at the same time (default: 8)"},
	{},
};

/* Complete the object's name where only a bucket or a folder in it was given. */
static int name_object(struct cmd *c, struct uri *u, const char *file)
{
	autobuf struct buf b = BUF_INIT;
	size_t n = u->object ? strlen(u->object) : 0;

	if (n && u->object[n - 1] != '/')
		return 0;
	if (!file)
		return cmd_usage(c, "\"%s\": name the object that standard input becomes",
				 c->args[1]);
	buf_fmt(&b, "%s%s", u->object ? u->object : "", object_base(file));
	free(u->object);
	u->object = buf_take(&b);
	return u->object ? 0 : -ENOMEM;
}

static int report(struct cmd *c, const struct uri *u, const struct upload *up, const struct resp *r)
{
	autojson struct json_object *doc = json_object_new_object();
	autofree char *type = resp_header(r, "Ais-Checksum-Type", 0);
	autofree char *sum = resp_header(r, "Ais-Checksum-Value", 0);
	autobuf struct buf full = BUF_INIT;
	autofree char *name = NULL;
	char size[32];

	uri_text(&full, u);
	name = out_utf8(buf_cstr(&full));
	json_object_object_add(doc, "object", json_object_new_string(name ? name : ""));
	json_object_object_add(doc, "bytes", json_object_new_uint64(up->sent));
	if (type)
		json_object_object_add(doc, "checksum_type", json_object_new_string(type));
	if (sum)
		json_object_object_add(doc, "checksum", json_object_new_string(sum));
	out_done(&c->out, doc, "%s: %s", buf_cstr(&full), out_bytes(up->sent, size));
	return CMD_DONE;
}

static int put_fd(struct cmd *c, int fd, const struct uri *u, const char *label)
{
	autobuf struct buf path = BUF_INIT;
	autoresp struct resp r = RESP_INIT;
	struct progress progress;
	struct client *client;
	struct upload up;
	int rc = upload_init(&up, fd);

	if (rc == 0)
		rc = cmd_client(c, &client);
	if (rc)
		return rc;
	progress_start(&progress, c->out.json);
	up.progress = &progress;
	up.label = label;
	uri_request(&path, "objects", u);
	rc = path.err ? path.err : upload_prepare(client, client_easy(client), path.data, &up, &r);
	if (rc < 0)
		return rc;
	client_finish(&r, curl_easy_perform(client_easy(client)));
	progress_wipe(&progress);
	if (up.err)
		return cmd_fail(c, "%s: %s", label, upload_error(&up));
	return resp_ok(&r) ? report(c, u, &up, &r) : cmd_refused(c, &r);
}

int object_put(struct cmd *c)
{
	const char *file = strcmp(c->args[0], "-") ? c->args[0] : NULL;
	autouri struct uri u = URI_INIT;
	struct stat st;
	int rc = cmd_place(c, 1, &u);

	if (rc)
		return rc;
	if (file && stat(file, &st) < 0)
		return cmd_fail(c, "%s: %s", file, strerror(errno));
	if (file && S_ISDIR(st.st_mode))
		return object_put_tree(c, file, &u);
	if (cmd_opt(c, "jobs"))
		return cmd_usage(c, "--jobs is for folders; \"%s\" is none", c->args[0]);
	rc = name_object(c, &u, file);
	if (rc)
		return rc;
	if (file) {
		autofd fd = open(file, O_RDONLY | O_CLOEXEC);

		if (fd < 0)
			return cmd_fail(c, "%s: %s", file, strerror(errno));
		return put_fd(c, fd, &u, file);
	}
	return put_fd(c, STDIN_FILENO, &u, "standard input");
}
