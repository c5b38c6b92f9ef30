/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Bucket summaries on the primary: the first call starts the gathering and is answered 202 with
 * an ID, later ones with that ID 202 until all targets have counted, then 200.
 */
#include <pthread.h>

#include "api/impl.h"
#include "base/list.h"
#include "loop/pool.h"

#define KEEP_NS (INT64_C(600) * 1000000000)
#define KEEP_MAX 1024

struct summary {
	struct list node;
	struct pool_job job;
	struct api *api;
	char id[16];
	struct bmd_name bck; /* no name: all buckets */
	char prefix[SMAP_OBJECT_MAX + 1];
	int64_t born_ns;
	bool done, failed;
	struct buf get; /* answer of the GET form: an array */
	struct buf head; /* of the HEAD form: one object; or why it failed */
};

struct api_summaries {
	pthread_mutex_t lock;
	pthread_cond_t idle;
	struct list all;
	size_t count, busy;
};

/* Numbers of one bucket over all targets. */
struct total {
	struct bmd_name bck;
	uint64_t objects, bytes, min, max;
};

struct totals {
	struct total *t;
	size_t n;
	size_t next; /* where the next search begins: targets send buckets in the same order */
	uint64_t disks; /* bytes of all file systems */
};

int api_init(struct api *a)
{
	struct api_summaries *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->idle, NULL);
	list_init(&s->all);
	a->summaries = s;
	return a->store ? disks_new(&a->disks) : 0;
}

static void summary_free(struct summary *s)
{
	list_del(&s->node);
	buf_free(&s->get);
	buf_free(&s->head);
	free(s);
}

void api_deinit(struct api *a)
{
	struct api_summaries *s = a->summaries;
	struct list *pos, *tmp;

	disks_free(take_ptr(a->disks));
	if (!s)
		return;
	pthread_mutex_lock(&s->lock);
	while (s->busy)
		pthread_cond_wait(&s->idle, &s->lock);
	pthread_mutex_unlock(&s->lock);
	list_for_each_safe (pos, tmp, &s->all)
		summary_free(list_entry(pos, struct summary, node));
	pthread_cond_destroy(&s->idle);
	pthread_mutex_destroy(&s->lock);
	free(s);
	a->summaries = NULL;
}

/* ---- gathering ---- */

static uint64_t num(struct json_object *o, const char *key)
{
	uint64_t v = 0;

	(void)json_member_u64(o, key, &v);
	return v;
}

static struct total *total_of(struct totals *all, const struct bmd_name *n)
{
	size_t i;

	for (i = 0; i < all->n; i++) {
		size_t k = (all->next + i) % all->n;

		if (memcmp(&all->t[k].bck, n, sizeof(*n)))
			continue;
		all->next = k + 1;
		return &all->t[k];
	}
	return NULL;
}

static void add_bucket(struct totals *all, struct json_object *o)
{
	struct json_object *bck = json_member(o, "bck");
	struct bmd_name n = {};
	struct total *t;
	uint64_t objects = num(o, "objects"), min = num(o, "min"), max = num(o, "max");

	if (!bck || api_bck_parse(bck, &n) < 0)
		return;
	t = total_of(all, &n);
	if (!t || !objects)
		return;
	t->min = t->objects ? MIN(t->min, min) : min;
	t->max = MAX(t->max, max);
	t->objects += objects;
	t->bytes += num(o, "bytes");
}

static int add_target(struct totals *all, const struct http_call *call)
{
	autojson struct json_object *doc = NULL;
	struct json_object *list;
	size_t i;

	if (json_parse(call->resp.data, call->resp.len, &doc) < 0)
		return -EINVAL;
	all->disks += num(doc, "disks");
	list = json_member(doc, "buckets");
	if (!json_object_is_type(list, json_type_array))
		return -EINVAL;
	for (i = 0; i < json_object_array_length(list); i++)
		add_bucket(all, json_object_array_get_idx(list, i));
	return 0;
}

/* The buckets that are asked for, with zeros. Names are copied field by field: no padding lies. */
static int totals_init(struct api *a, const struct bmd_name *only, struct totals *all)
{
	struct bmd *bmd = cluster_bmd(a->cluster);
	size_t i, n = bmd ? bmd_count(bmd) : 0;

	*all = (struct totals){.t = calloc(n + 1, sizeof(*all->t))};
	for (i = 0; all->t && i < n; i++) {
		const struct bmd_name *name = &bmd_at(bmd, i)->name;
		struct bmd_name *to = &all->t[all->n].bck;

		snprintf(to->bucket, sizeof(to->bucket), "%s", name->bucket);
		snprintf(to->provider, sizeof(to->provider), "%s", name->provider);
		snprintf(to->ns_uuid, sizeof(to->ns_uuid), "%s", name->ns_uuid);
		snprintf(to->ns_name, sizeof(to->ns_name), "%s", name->ns_name);
		if (!only->bucket[0] ||
		    (!strcmp(only->bucket, to->bucket) && !strcmp(only->ns_name, to->ns_name) &&
		     !strcmp(only->ns_uuid, to->ns_uuid)))
			all->n++;
		else
			*to = (struct bmd_name){};
	}
	bmd_put(bmd);
	return all->t ? 0 : -ENOMEM;
}

static int ask_targets(struct api *a, const struct bmd_name *n, const char *prefix,
		       struct cast *ret)
{
	autobuf struct buf path = BUF_INIT, body = BUF_INIT;
	struct cast_spec spec = {
		.method = "GET",
		.body = &body,
		.resp_max = (size_t)64 << 20,
		.timeout = "client.list_timeout",
	};

	if (n->bucket[0])
		api_bck_path("/v1/buckets", n, &path);
	else
		buf_str(&path, "/v1/buckets");
	buf_str(&body, "{\"action\":\"summary-bck\",\"name\":\"\",\"value\":{\"prefix\":");
	buf_json_str(&body, prefix);
	buf_str(&body, "}}");
	spec.path = buf_cstr(&path);
	return path.err ? path.err : cast_targets(a, &spec, ret);
}

static int collect(struct api *a, const struct bmd_name *n, const char *prefix, struct totals *all,
		   struct buf *why)
{
	struct cast c = {};
	size_t i;
	int r = totals_init(a, n, all);

	if (!r)
		r = ask_targets(a, n, prefix, &c);
	for (i = 0; !r && i < c.n; i++) {
		if (cast_node(&c, i)->flags & SMAP_F_INACTIVE)
			continue;
		if (!cast_ok(&c, i) || add_target(all, &c.calls[i]) < 0) {
			buf_fmt(why, "summary: t[%s] did not count: %s", cast_node(&c, i)->id,
				c.calls[i].err ? c.calls[i].errtext : "unexpected answer");
			r = -EIO;
		}
	}
	cast_free(&c);
	return r;
}

int summary_count(struct api *a, uint64_t *ret)
{
	autobuf struct buf why = BUF_INIT;
	struct totals all = {};
	uint64_t sum = 0;
	size_t i;
	int r = collect(a, &(struct bmd_name){}, "", &all, &why);

	for (i = 0; i < all.n; i++)
		sum += all.t[i].objects;
	free(all.t);
	if (r < 0)
		return -EIO;
	*ret = sum;
	return 0;
}

static void print_one(const struct total *t, uint64_t disks, bool present, struct buf *out)
{
	buf_str(out, "{\"name\":");
	buf_json_str(out, t->bck.bucket);
	buf_fmt(out, ",\"provider\":\"%s\",\"namespace\":{\"uuid\":\"%s\",\"name\":\"%s\"}",
		t->bck.provider, t->bck.ns_uuid, t->bck.ns_name);
	buf_fmt(out, ",\"ObjCount\":{\"obj_count_present\":\"%llu\",\"obj_count_remote\":\"0\"}",
		(unsigned long long)t->objects);
	buf_fmt(out,
		",\"ObjSize\":{\"obj_min_size\":%llu,\"obj_avg_size\":%llu,\"obj_max_size\":%llu}",
		(unsigned long long)t->min,
		(unsigned long long)(t->objects ? t->bytes / t->objects : 0),
		(unsigned long long)t->max);
	buf_fmt(out,
		",\"TotalSize\":{\"size_on_disk\":\"%llu\",\"size_all_present_objs\":\"%llu\","
		"\"size_all_remote_objs\":\"0\",\"total_disks_size\":\"%llu\"}",
		(unsigned long long)t->bytes, (unsigned long long)t->bytes,
		(unsigned long long)disks);
	buf_fmt(out, ",\"used_pct\":%llu,\"is_present\":%s}",
		(unsigned long long)(disks ? (unsigned __int128)t->bytes * 100 / disks : 0),
		present ? "true" : "false");
}

static void print_all(const struct totals *all, struct buf *get, struct buf *head)
{
	size_t i;

	buf_char(get, '[');
	for (i = 0; i < all->n; i++) {
		if (i)
			buf_char(get, ',');
		print_one(&all->t[i], all->disks, false, get);
	}
	buf_char(get, ']');
	if (all->n == 1)
		print_one(&all->t[0], all->disks, true, head);
}

static void gather(struct pool_job *j)
{
	struct summary *s = container_of(j, struct summary, job);
	struct api_summaries *all = s->api->summaries;
	struct buf get = BUF_INIT, head = BUF_INIT;
	struct totals totals = {};
	int r;

	r = collect(s->api, &s->bck, s->prefix, &totals, &head);
	if (!r)
		print_all(&totals, &get, &head);
	else if (!head.len)
		buf_fmt(&head, "summary: %s", strerror(-r));
	free(totals.t);
	pthread_mutex_lock(&all->lock);
	s->get = get;
	s->head = head;
	s->failed = r < 0 || get.err || head.err;
	s->done = true;
	all->busy--;
	pthread_cond_broadcast(&all->idle);
	pthread_mutex_unlock(&all->lock);
}

/* ---- the register ---- */

/* Under the lock: forget what is old, and the oldest above the limit. */
static void sweep(struct api_summaries *all)
{
	int64_t now = mono_ns();
	struct list *pos, *tmp;

	list_for_each_safe (pos, tmp, &all->all) {
		struct summary *s = list_entry(pos, struct summary, node);

		if (!s->done || (now - s->born_ns < KEEP_NS && all->count < KEEP_MAX))
			continue;
		summary_free(s);
		all->count--;
	}
}

/* Register and begin. Return: 0 with the ID; -EAGAIN too many; -ENOMEM. */
static int begin(struct api *a, const struct bmd_name *n, const char *prefix, char id[16])
{
	struct api_summaries *all = a->summaries;
	struct summary *s = calloc(1, sizeof(*s));
	int r = 0;

	if (!s)
		return -ENOMEM;
	list_init(&s->node);
	s->api = a;
	s->bck = *n;
	s->born_ns = mono_ns();
	s->job.fn = gather;
	snprintf(s->prefix, sizeof(s->prefix), "%s", prefix);
	cluster_make_id(s->id);
	memcpy(id, s->id, sizeof(s->id));
	pthread_mutex_lock(&all->lock);
	sweep(all);
	if (all->count >= KEEP_MAX || pool_submit(a->call, &s->job) < 0) {
		r = -EAGAIN;
	} else {
		list_add_tail(&all->all, &s->node);
		all->count++;
		all->busy++;
	}
	pthread_mutex_unlock(&all->lock);
	if (r < 0)
		free(s);
	return r;
}

/* Under the lock, or NULL. */
static struct summary *find(struct api_summaries *all, const char *id)
{
	struct list *pos;

	list_for_each (pos, &all->all)
		if (!strcmp(list_entry(pos, struct summary, node)->id, id))
			return list_entry(pos, struct summary, node);
	return NULL;
}

/* State of a summary: 202; 200 with @text; 404; 503 with the reason in @text. */
static int look(struct api *a, const char *id, bool head, struct buf *text)
{
	struct api_summaries *all = a->summaries;
	struct summary *s;
	int status;

	pthread_mutex_lock(&all->lock);
	s = find(all, id);
	status = !s ? 404 : !s->done ? 202 : s->failed ? 503 : 200;
	if (status == 200 || status == 503)
		buf_str(text, buf_cstr(head || s->failed ? &s->head : &s->get));
	pthread_mutex_unlock(&all->lock);
	return status;
}

static void started(struct http_txn *t, int r, const char *id)
{
	if (r == -EAGAIN) {
		http_error(t, 503, NULL, "summary: too many at one time, try again");
		http_header(t, "Retry-After", "1");
		http_reply(t);
	} else if (r < 0) {
		http_reply_error(t, 500, NULL, "summary: out of memory");
	} else {
		http_header(t, "Ais-Xaction-Id", "%s", id);
		http_reply_text(t, 202, id);
	}
}

void summary_get(struct api *a, struct http_txn *t, const struct bmd_name *n,
		 const struct api_msg *m)
{
	const char *id = json_member_str(m->value, "uuid");
	const char *prefix = json_member_str(m->value, "prefix");
	autobuf struct buf text = BUF_INIT;
	char made[16] = "";
	struct bmd_bucket b;
	int status;

	if (n->bucket[0] && api_bucket(a, t, n, BMD_ACE_OBJ_LIST, &b) < 0) {
		http_reply(t);
	} else if (prefix && strlen(prefix) > SMAP_OBJECT_MAX) {
		http_reply_error(t, 400, NULL, "summary: prefix over %d bytes", SMAP_OBJECT_MAX);
	} else if (!id || !*id) {
		int r = begin(a, n, prefix ? prefix : "", made);

		started(t, r, made);
	} else {
		status = look(a, id, false, &text);
		if (status == 404)
			http_reply_error(t, 404, NULL, "summary: job \"%.40s\" does not exist", id);
		else if (status == 503)
			http_reply_error(t, 503, NULL, "%s", buf_cstr(&text));
		else
			http_reply_text(t, status, status == 202 ? id : buf_cstr(&text));
	}
}

void summary_head(struct api *a, struct http_txn *t, const struct api_target *tg,
		  const struct bmd_bucket *b)
{
	const char *id = http_param(t, "uuid");
	autobuf struct buf text = BUF_INIT;
	char made[16] = "";
	int status;

	if (tg->object_len > SMAP_OBJECT_MAX) {
		http_reply_error(t, 400, NULL, "summary: prefix over %d bytes", SMAP_OBJECT_MAX);
		return;
	}
	if (!id) {
		int r = begin(a, &b->name, tg->object, made);

		started(t, r, made);
		return;
	}
	status = look(a, id, true, &text);
	if (status == 404) {
		http_reply_error(t, 404, NULL, "summary: job \"%.40s\" does not exist", id);
	} else if (status == 503) {
		http_reply_error(t, 503, NULL, "%s", buf_cstr(&text));
	} else {
		if (status == 202)
			http_header(t, "Ais-Xaction-Id", "%s", id);
		else
			http_header(t, "Ais-Bucket-Summ", "%s", buf_cstr(&text));
		http_reply_status(t, status);
	}
}
