/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `object put DIR`: the tree is walked while its files are put, several at a time, so that memory
 * does not grow with the tree. A file that fails is told and counted, the others go on.
 */
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <string.h>
#include <sys/stat.h>

#include "base/bits.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "cmd.h"
#include "object.h"
#include "progress.h"
#include "upload.h"

#define JOBS_DEFAULT 8
#define JOBS_MAX 256
#define ERRORS_MAX 10000 /* kept for the JSON document; all are counted */
#define POLL_MS 1000

struct slot {
	CURL *easy;
	bool busy;
	int fd;
	char *name; /* of the object */
	struct upload up;
	struct resp r;
};

struct tree {
	struct cmd *c;
	struct client *client;
	const struct uri *to;
	FTS *fts;
	size_t root; /* length of the path of the folder itself */
	bool walked;
	CURLM *multi;
	struct slot *slots;
	size_t nslots, nbusy;
	uint64_t put, failed, skipped, bytes;
	struct json_object *errors;
	struct progress progress;
};

static void slot_clear(struct slot *s)
{
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
	free(s->name);
	s->name = NULL;
	resp_deinit(&s->r);
	s->busy = false;
}

static void tree_deinit(struct tree *t)
{
	size_t i;

	for (i = 0; i < t->nslots; i++) {
		if (t->slots[i].busy)
			curl_multi_remove_handle(t->multi, t->slots[i].easy);
		curl_easy_cleanup(t->slots[i].easy);
		slot_clear(&t->slots[i]);
	}
	free(t->slots);
	if (t->multi)
		curl_multi_cleanup(t->multi);
	if (t->fts)
		fts_close(t->fts);
	json_object_put(t->errors);
	*t = (struct tree){};
}

static int tree_init(struct tree *t, const char *dir)
{
	char *const roots[] = {(char *)dir, NULL};
	uint64_t jobs = JOBS_DEFAULT;
	size_t i;
	int rc = cmd_opt_u64(t->c, "jobs", JOBS_MAX, &jobs);

	if (rc == 0)
		rc = cmd_client(t->c, &t->client);
	if (rc)
		return rc;
	t->errors = json_object_new_array();
	t->multi = curl_multi_init();
	t->slots = calloc(jobs, sizeof(*t->slots));
	if (!t->errors || !t->multi || !t->slots)
		return -ENOMEM;
	/* each transfer keeps one connection to the gateway and a few to targets */
	curl_multi_setopt(t->multi, CURLMOPT_MAXCONNECTS, (long)(jobs * 8));
	for (i = 0; i < jobs; i++) {
		t->slots[i].fd = -1;
		t->slots[i].easy = curl_easy_init();
		t->nslots++;
		if (!t->slots[i].easy)
			return -ENOMEM;
	}
	t->fts = fts_open(roots, FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR, NULL);
	if (!t->fts)
		return -errno;
	progress_start(&t->progress, t->c->out.json);
	return 0;
}

/* Tell one failure and count it. @api: the server's document, borrowed, NULL: none. */
static void fail_one(struct tree *t, const char *name, const char *why)
{
	struct json_object *e;
	autofree char *clean = out_utf8(name), *text = out_utf8(why);

	t->failed++;
	progress_wipe(&t->progress);
	out_note(&t->c->out, "pagewire: %s: %s", name, why);
	if (!t->c->out.json || json_object_array_length(t->errors) >= ERRORS_MAX)
		return;
	e = json_object_new_object();
	json_object_object_add(e, "name", json_object_new_string(clean ? clean : ""));
	json_object_object_add(e, "error", json_object_new_string(text ? text : ""));
	json_object_array_add(t->errors, e);
}

/* The object's name: the prefix, and the path below the folder. */
static char *object_name(const struct tree *t, const char *path)
{
	const char *prefix = t->to->object ? t->to->object : "";
	size_t n = strlen(prefix);
	autobuf struct buf b = BUF_INIT;

	path += t->root;
	while (*path == '/')
		path++;
	buf_fmt(&b, "%s%s%s", prefix, n && prefix[n - 1] != '/' ? "/" : "", path);
	return buf_take(&b);
}

/* Begin to put a file. A file that cannot be read fails alone. */
static int slot_start(struct tree *t, struct slot *s, const char *path)
{
	struct uri u = *t->to;
	autobuf struct buf req = BUF_INIT;
	autofree char *clean = NULL;
	int rc;

	s->name = object_name(t, path);
	clean = s->name ? out_utf8(s->name) : NULL;
	if (!clean)
		return -ENOMEM;
	if (strcmp(clean, s->name)) {
		fail_one(t, clean, "the name is not valid UTF-8");
		slot_clear(s);
		return 0;
	}
	s->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	rc = s->fd < 0 ? -errno : upload_init(&s->up, s->fd);
	if (rc == 0 && !s->up.regular)
		rc = -ESTALE; /* it was a file a moment ago */
	if (rc < 0) {
		fail_one(t, s->name, strerror(-rc));
		slot_clear(s);
		return 0;
	}
	u.object = s->name;
	uri_request(&req, "objects", &u);
	rc = req.err ? req.err : upload_prepare(t->client, s->easy, req.data, &s->up, &s->r);
	if (rc < 0)
		return rc;
	curl_easy_setopt(s->easy, CURLOPT_PRIVATE, s);
	if (curl_multi_add_handle(t->multi, s->easy) != CURLM_OK)
		return -ENOMEM;
	s->busy = true;
	t->nbusy++;
	return 0;
}

static void slot_done(struct tree *t, struct slot *s, CURLcode code)
{
	autobuf struct buf why = BUF_INIT;

	curl_multi_remove_handle(t->multi, s->easy);
	t->nbusy--;
	client_finish(&s->r, code);
	if (s->up.err) {
		fail_one(t, s->name, upload_error(&s->up));
	} else if (!resp_ok(&s->r)) {
		json_object_put(resp_error(&s->r, &why));
		fail_one(t, s->name, buf_cstr(&why));
	} else {
		t->put++;
		t->bytes += s->up.sent;
	}
	slot_clear(s);
}

/* Whether a symbolic link leads to a file. */
static bool links_to_file(const FTSENT *e)
{
	struct stat st;

	return stat(e->fts_accpath, &st) == 0 && S_ISREG(st.st_mode);
}

/* The next file of the tree, NULL at its end. What is no file is counted on the way. */
static const char *next_file(struct tree *t)
{
	FTSENT *e;

	for (;;) {
		errno = 0;
		e = fts_read(t->fts);
		if (!e) {
			if (errno)
				fail_one(t, "the walk of the folder ended early", strerror(errno));
			t->walked = true;
			return NULL;
		}
		switch (e->fts_info) {
		case FTS_F:
			return e->fts_path;
		case FTS_SL:
		case FTS_SLNONE:
			if (links_to_file(e))
				return e->fts_path;
			t->skipped++;
			break;
		case FTS_D:
		case FTS_DP:
		case FTS_DOT:
			break;
		case FTS_DNR:
		case FTS_ERR:
		case FTS_NS:
			fail_one(t, e->fts_path, strerror(e->fts_errno));
			break;
		default:
			t->skipped++;
			break;
		}
	}
}

/* Give each idle slot a file. */
static int fill(struct tree *t)
{
	size_t i;

	for (i = 0; i < t->nslots && !t->walked; i++) {
		while (!t->slots[i].busy) {
			const char *path = next_file(t);
			int rc;

			if (!path)
				break;
			rc = slot_start(t, &t->slots[i], path);
			if (rc < 0)
				return rc;
		}
	}
	return 0;
}

static void show(struct tree *t)
{
	uint64_t bytes = t->bytes;
	char label[40];
	size_t i;

	for (i = 0; i < t->nslots; i++)
		bytes += t->slots[i].busy ? t->slots[i].up.sent : 0;
	snprintf(label, sizeof(label), "%llu files", (unsigned long long)t->put);
	progress_show(&t->progress, label, bytes, 0);
}

static int run(struct tree *t)
{
	int running, left, rc = fill(t);
	CURLMsg *m;

	while (rc == 0 && t->nbusy) {
		if (curl_multi_perform(t->multi, &running) != CURLM_OK)
			return -EIO;
		while ((m = curl_multi_info_read(t->multi, &left))) {
			struct slot *s = NULL;
			CURLcode code = m->data.result;

			curl_easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, &s);
			if (m->msg == CURLMSG_DONE && s)
				slot_done(t, s, code);
		}
		show(t);
		rc = fill(t);
		if (rc == 0 && t->nbusy &&
		    curl_multi_poll(t->multi, NULL, 0, POLL_MS, NULL) != CURLM_OK)
			return -EIO;
	}
	return rc;
}

static int report(struct tree *t)
{
	autojson struct json_object *doc = json_object_new_object();
	char size[32], skipped[64] = "";

	if (t->skipped)
		snprintf(skipped, sizeof(skipped), ", %llu skipped (special files)",
			 (unsigned long long)t->skipped);
	json_object_object_add(doc, "put", json_object_new_uint64(t->put));
	json_object_object_add(doc, "failed", json_object_new_uint64(t->failed));
	json_object_object_add(doc, "skipped", json_object_new_uint64(t->skipped));
	json_object_object_add(doc, "bytes", json_object_new_uint64(t->bytes));
	json_object_object_add(doc, "errors", json_object_get(t->errors));
	out_done(&t->c->out, doc, "%llu put, %llu failed%s, %s", (unsigned long long)t->put,
		 (unsigned long long)t->failed, skipped, out_bytes(t->bytes, size));
	return t->failed ? CMD_FAILED : CMD_DONE;
}

int object_put_tree(struct cmd *c, const char *dir, const struct uri *to)
{
	autoclean(tree_deinit) struct tree t = {.c = c, .to = to, .root = strlen(dir)};
	int rc = tree_init(&t, dir);

	if (rc == 0)
		rc = run(&t);
	progress_wipe(&t.progress);
	return rc ? rc : report(&t);
}
