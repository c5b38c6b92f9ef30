/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The state file of mountpaths, mountpaths.json in the node's state folder: which there are beside
 * those of the configuration, which are disabled or detached, which may have strays.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/json.h"
#include "store/blob.h"
#include "store/paths.h"

#define FILE_NAME "mountpaths.json"
#define FILE_MAX (512 << 10)

static const char *const words[MPATH_STATE_NR] = {
	[MPATH_AVAILABLE] = "available",
	[MPATH_DISABLED] = "disabled",
	[MPATH_DETACHED] = "detached",
};

static enum mpath_state word_state(const char *w)
{
	int i;

	for (i = 0; w && i < MPATH_STATE_NR; i++) {
		if (words[i] && !strcmp(words[i], w))
			return (enum mpath_state)i;
	}
	return MPATH_NONE;
}

static int row_read(struct json_object *o, struct path_state *row)
{
	const char *path = json_member_str(o, "path"), *uuid = json_member_str(o, "uuid");

	*row = (struct path_state){.state = word_state(json_member_str(o, "state"))};
	if (!path || path[0] != '/' || strlen(path) >= sizeof(row->path) || !uuid ||
	    (*uuid && strlen(uuid) != INDEX_UUID_MAX - 1) || row->state == MPATH_NONE)
		return -EUCLEAN;
	memcpy(row->path, path, strlen(path));
	memcpy(row->uuid, uuid, strlen(uuid));
	row->attached = json_object_get_boolean(json_member(o, "attached"));
	row->strays = json_object_get_boolean(json_member(o, "strays"));
	return 0;
}

static int rows_read(struct json_object *root, struct path_states *ret)
{
	struct json_object *a = json_member(root, "mountpaths");
	size_t i, n;
	int r = 0;

	if (!json_object_is_type(a, json_type_array) ||
	    json_member_int(root, "scrubbed_ns", &ret->scrubbed_ns) < 0)
		return -EUCLEAN;
	n = json_object_array_length(a);
	if (n > STORE_PATHS_MAX)
		return -EUCLEAN;
	ret->rows = calloc(n ? n : 1, sizeof(*ret->rows));
	if (!ret->rows)
		return -ENOMEM;
	for (i = 0; r == 0 && i < n; i++)
		r = row_read(json_object_array_get_idx(a, i), &ret->rows[i]);
	ret->n = n;
	ret->found = true;
	return r;
}

static int file_read(const char *dir, struct buf *out)
{
	autofree char *path = NULL;
	autofd fd = -1;
	ssize_t n;

	if (asprintf(&path, "%s/" FILE_NAME, dir) < 0) {
		path = NULL;
		return -ENOMEM;
	}
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	while (out->len < FILE_MAX) {
		char page[4096];

		n = read(fd, page, sizeof(page));
		if (n < 0)
			return -errno;
		if (n == 0)
			return out->err;
		buf_append(out, page, (size_t)n);
	}
	return -EUCLEAN;
}

int path_states_parse(const char *text, size_t len, struct path_states *ret)
{
	autojson struct json_object *root = NULL;
	struct path_states p = {};
	int r = json_parse(text, len, &root) < 0 ? -EUCLEAN : rows_read(root, &p);

	if (r < 0)
		path_states_free(&p);
	else
		*ret = p;
	return r;
}

int path_states_read(const char *dir, struct path_states *ret, const struct errtext *err)
{
	autobuf struct buf text = BUF_INIT;
	struct path_states p = {};
	int r;

	*ret = p;
	if (!dir)
		return 0;
	r = file_read(dir, &text);
	if (r == -ENOENT)
		return 0;
	if (r == 0)
		r = path_states_parse(text.data, text.len, &p);
	if (r < 0) {
		snprintf(err->text, err->size, "%s/" FILE_NAME ": %s; restore or remove it", dir,
			 r == -EUCLEAN ? "damaged" : strerror(-r));
		return r;
	}
	*ret = p;
	return 0;
}

void path_states_free(struct path_states *p)
{
	free(p->rows);
	*p = (struct path_states){};
}

/* ---- writing ---- */

/* A failed or read-only one is tried again at the next start. */
static const char *word_kept(int state)
{
	return state == MPATH_FAILED || state == MPATH_READONLY ? words[MPATH_AVAILABLE]
								: words[state];
}

static void print(struct store *s, struct buf *out)
{
	size_t i, n = atomic_load(&s->n_paths), shown = 0;

	buf_fmt(out, "{\"scrubbed_ns\":%lld,\"mountpaths\":[",
		(long long)atomic_load(&s->scrubbed_ns));
	for (i = 0; i < n; i++) {
		struct mpath *mp = &s->paths[i];
		int state = atomic_load(&mp->state);

		if (state == MPATH_NONE)
			continue;
		buf_fmt(out, "%s\n{\"path\":", shown++ ? "," : "");
		buf_json_str(out, mp->path);
		buf_fmt(out, ",\"uuid\":\"%s\",\"state\":\"%s\",\"attached\":%s,\"strays\":%s}",
			mp->uuid, word_kept(state), mp->attached ? "true" : "false",
			atomic_load(&mp->strays) ? "true" : "false");
	}
	buf_str(out, "]}\n");
}

static int file_write(int dir, const struct buf *text)
{
	autofd fd = openat(dir, FILE_NAME ".tmp", O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
	int r;

	if (fd < 0)
		return -errno;
	r = blob_write(fd, text->data, text->len, 0);
	if (r < 0)
		return r;
	if (fsync(fd) < 0 || renameat(dir, FILE_NAME ".tmp", dir, FILE_NAME) < 0 || fsync(dir) < 0)
		return -errno;
	return 0;
}

int path_states_write(struct store *s)
{
	autobuf struct buf text = BUF_INIT;
	autofd dir = -1;

	if (!s->o.state_dir)
		return 0;
	print(s, &text);
	if (text.err)
		return text.err;
	dir = open(s->o.state_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return dir < 0 ? -errno : file_write(dir, &text);
}
