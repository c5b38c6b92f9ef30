/* SPDX-License-Identifier: BSD-2-Clause */
/* Multi-object delete: a job on every target, each for the names it owns. */
#include <pthread.h>

#include "api/impl.h"
#include "api/template.h"

#define IN_FLIGHT 256 /* deletes on their way to the committer at one time */
#define SLICE 1000 /* names of one scan of the index */

/* What is to be deleted: a list, a template's names, or what begins with a prefix. */
struct selection {
	struct json_object *names; /* an array, or NULL */
	struct template tmpl;
	bool by_prefix; /* template.text up to prefix_len */
	bool no_recursion;
};

struct work {
	struct api *a;
	struct bmd_bucket bucket;
	struct store_bck sb;
	struct selection sel;
	struct json_object *root; /* owns sel.names */
	struct job *job;
	pthread_mutex_t lock;
	pthread_cond_t less;
	size_t flying;
};

static int refuse(struct http_txn *t, const char *tcode, const char *why)
{
	http_error(t, 400, tcode, "delete-listrange: %s", why);
	return -EINVAL;
}

/* A selection says one of the two, be it null or empty: a misspelt key must not mean everything. */
static bool says_what(struct json_object *value)
{
	if (!value)
		return false;
	json_object_object_foreach (value, key, v) {
		(void)v;
		if (!strcasecmp(key, "objnames") || !strcasecmp(key, "template"))
			return true;
	}
	return false;
}

/* Names win over the template; both empty is the whole bucket. */
static int select_parse(struct http_txn *t, struct json_object *value, struct selection *ret)
{
	struct json_object *names = json_member(value, "objnames");
	struct json_object *tmpl = json_member(value, "template");
	struct selection s = {};
	char err[300];
	size_t i;

	if (value && !json_object_is_type(value, json_type_object))
		return refuse(t, NULL, "failed to unmarshal: the value must be an object");
	if (!says_what(value))
		return refuse(t, NULL,
			      "the value names no objects: want \"objnames\" or \"template\" (both "
			      "empty: the whole bucket)");
	if (names && !json_object_is_type(names, json_type_array))
		return refuse(t, NULL, "failed to unmarshal: \"objnames\" must be a list");
	if (tmpl && !api_json_text(tmpl))
		return refuse(t, NULL, "failed to unmarshal: \"template\" must be a string");
	for (i = 0; names && i < json_object_array_length(names); i++)
		if (!api_json_text(json_object_array_get_idx(names, i)))
			return refuse(t, NULL,
				      "failed to unmarshal: \"objnames\" must hold strings");
	if (names && json_object_array_length(names)) {
		s.names = names;
	} else {
		if (template_parse(tmpl ? json_object_get_string(tmpl) : "", &s.tmpl, err,
				   sizeof(err)) < 0)
			return refuse(t, "errTemplateInvalid", err);
		s.by_prefix = !s.tmpl.n_ranges;
	}
	s.no_recursion = json_member_bool(value, "non-recurs", false);
	*ret = s;
	return 0;
}

void delete_gateway(struct api *a, struct http_txn *t, const struct bmd_name *n,
		    const struct api_msg *m)
{
	autofree struct selection *sel = calloc(1, sizeof(*sel));
	autobuf struct buf path = BUF_INIT;
	struct cast_spec spec = {
		.method = "DELETE",
		.body = &t->body,
		.resp_max = 64 << 10,
		.timeout = "client.client_timeout",
	};
	struct cast c = {};
	struct bmd_bucket b;
	char xid[16];
	int r = sel ? 0 : -ENOMEM;

	if (!r)
		r = api_bucket(a, t, n, BMD_ACE_OBJ_DELETE, &b);
	if (!r)
		r = select_parse(t, m->value, sel);
	if (r < 0) {
		http_reply(t);
		return;
	}
	cluster_make_id(xid);
	api_bck_path("/v1/buckets", n, &path);
	buf_fmt(&path, "&uuid=%s", xid);
	spec.path = buf_cstr(&path);
	r = path.err ? path.err : cast_targets(a, &spec, &c);
	if (r < 0)
		http_error(t, 500, NULL, "delete-listrange: out of memory");
	else
		r = cast_check(a, t, &c, "delete-listrange");
	cast_free(&c);
	if (r < 0)
		http_reply(t);
	else
		http_reply_text(t, 200, xid);
}

/* ---- on a target ---- */

static void deleted(void *arg, int err, const struct store_rec *rec)
{
	struct work *w = arg;

	if (!err)
		job_count(w->job, 1, rec ? rec->size : 0);
	else if (err != -ENOENT)
		job_error(w->job, "%s", strerror(err < 0 ? -err : EIO));
	pthread_mutex_lock(&w->lock);
	w->flying--;
	pthread_cond_signal(&w->less);
	pthread_mutex_unlock(&w->lock);
}

static void fly(struct work *w, const char *name)
{
	pthread_mutex_lock(&w->lock);
	while (w->flying >= IN_FLIGHT)
		pthread_cond_wait(&w->less, &w->lock);
	w->flying++;
	pthread_mutex_unlock(&w->lock);
	store_delete(w->a->store, &w->sb, name, deleted, w);
}

static void land(struct work *w)
{
	pthread_mutex_lock(&w->lock);
	while (w->flying)
		pthread_cond_wait(&w->less, &w->lock);
	pthread_mutex_unlock(&w->lock);
}

static void delete_owned(struct work *w, struct smap *map, const char *name)
{
	const struct smap_node *owner;

	if (smap_object_name_check(name, strlen(name)))
		return;
	owner = cluster_owner(w->a->cluster, map, &w->bucket, name);
	if (owner && !strcmp(owner->id, cluster_node_id(w->a->cluster)))
		fly(w, name);
}

static void run_names(struct work *w, struct smap *map)
{
	size_t i, n = json_object_array_length(w->sel.names);

	for (i = 0; i < n && !job_aborted(w->job); i++)
		delete_owned(w, map,
			     json_object_get_string(json_object_array_get_idx(w->sel.names, i)));
}

static void run_template(struct work *w, struct smap *map)
{
	char name[TEMPLATE_LEN_MAX + 1];

	while (!job_aborted(w->job) && template_next(&w->sel.tmpl, name))
		delete_owned(w, map, name);
}

struct slice {
	struct buf names; /* each with its NUL */
	size_t n;
	struct buf last;
};

static int slice_add(void *arg, const struct store_entry *e)
{
	struct slice *s = arg;

	s->n++;
	buf_reset(&s->last);
	buf_append(&s->last, e->name, e->name_len);
	if (e->is_dir)
		return s->last.err;
	buf_append(&s->names, e->name, e->name_len);
	buf_char(&s->names, 0);
	return s->names.err ? s->names.err : s->last.err;
}

/* What is here goes, owned or left over from another map. */
static int run_slice(struct work *w, struct slice *s)
{
	autofree char *after = strdup(buf_cstr(&s->last));
	struct store_list_opts o = {
		.prefix = w->sel.tmpl.text,
		.after = after,
		.max = SLICE,
		.no_recursion = w->sel.no_recursion,
	};
	const char *p;
	int r;

	if (!after)
		return -ENOMEM;
	s->n = 0;
	buf_reset(&s->names);
	r = store_list(w->a->store, &w->sb, &o, slice_add, s);
	for (p = buf_cstr(&s->names); r >= 0 && p < buf_cstr(&s->names) + s->names.len;
	     p += strlen(p) + 1)
		fly(w, p);
	land(w);
	/* a directory that comes again and again is no progress */
	return r < 0 ? r : s->n && strcmp(after, buf_cstr(&s->last));
}

static int run_prefix(struct work *w)
{
	struct slice s = {};
	int r = 1;

	while (r > 0 && !job_aborted(w->job))
		r = run_slice(w, &s);
	buf_free(&s.names);
	buf_free(&s.last);
	return r < 0 ? r : 0;
}

static int run(struct job *job, void *arg)
{
	struct work *w = arg;
	struct smap *map = cluster_smap(w->a->cluster);
	int r = 0;

	w->job = job;
	if (w->sel.by_prefix)
		r = run_prefix(w);
	else if (w->sel.names)
		run_names(w, map);
	else
		run_template(w, map);
	land(w);
	smap_put(map);
	return r;
}

static void work_free(void *arg)
{
	struct work *w = arg;

	json_object_put(w->root);
	pthread_mutex_destroy(&w->lock);
	pthread_cond_destroy(&w->less);
	free(w);
}

static struct work *work_new(struct api *a, struct http_txn *t, const struct bmd_bucket *b,
			     const struct api_msg *m)
{
	struct work *w = calloc(1, sizeof(*w));

	if (!w) {
		http_error(t, 500, NULL, "delete-listrange: out of memory");
		return NULL;
	}
	pthread_mutex_init(&w->lock, NULL);
	pthread_cond_init(&w->less, NULL);
	w->a = a;
	w->bucket = *b;
	api_store_bck(&w->bucket, &w->sb);
	if (select_parse(t, m->value, &w->sel) < 0) {
		work_free(w);
		return NULL;
	}
	w->root = json_object_get(m->root);
	return w;
}

void delete_target(struct api *a, struct http_txn *t, const struct bmd_bucket *b,
		   const struct api_msg *m)
{
	struct work *w = work_new(a, t, b, m);
	struct job_spec spec = {
		.id = http_param(t, "uuid"),
		.kind = JOB_DELETE_OBJECTS,
		.bck = b->name,
		.run = run,
		.arg = w,
		.arg_free = work_free,
	};
	int r;

	if (!w) {
		http_reply(t);
		return;
	}
	r = jobs_start(a->jobs, &spec, NULL);
	if (r && r != -EEXIST)
		http_reply_error(t, 503, NULL, "delete-listrange: can not start the job: %s",
				 strerror(-r));
	else
		http_reply_status(t, 200);
}
