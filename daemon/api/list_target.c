/* SPDX-License-Identifier: BSD-2-Clause */
/* A target's page of a listing. */
#include "api/gotime.h"
#include "api/impl.h"
#include "api/list_msg.h"
#include "api/lso.h"

struct walk {
	struct api *a;
	struct smap *map;
	const struct smap_node *self;
	const struct bmd_bucket *bucket;
	const struct list_msg *msg;
	const char *after; /* names up to this one are left out */
	const char *until; /* and those from this one on; NULL: none */
	uint32_t n, max;
	struct buf entries;
	char *location[STORE_PATHS_MAX]; /* made when first needed */
};

/* "t[ID]:mp[/path, disk]" */
static const char *location(struct walk *w, uint32_t path)
{
	autobuf struct buf b = BUF_INIT;
	autofree struct store_space *s = NULL;
	const char *disk;

	if (path >= STORE_PATHS_MAX)
		return NULL;
	if (w->location[path])
		return w->location[path];
	s = malloc(sizeof(*s));
	if (!s || store_space(w->a->store, path, s) < 0)
		return NULL;
	disk = strrchr(s->device, '/');
	buf_fmt(&b, "%s:mp[%s, %s]", cluster_node_name(w->a->cluster), s->path,
		disk ? disk + 1 : s->device);
	w->location[path] = buf_take(&b);
	return w->location[path];
}

/* "[k:v k2:v2]" */
static void custom_text(const struct store_rec *rec, struct buf *out)
{
	const char *key, *value;
	size_t pos = 0, n = 0;

	while (store_custom_next(rec->custom, rec->custom_len, &pos, &key, &value))
		buf_fmt(out, "%c%s:%s", n++ ? ' ' : '[', key, value);
	if (n)
		buf_char(out, ']');
}

/* Scratch texts of one entry. */
struct texts {
	struct buf atime, version, custom;
};

static void set(const char **text, size_t *len, const char *s)
{
	*text = s;
	*len = s ? strlen(s) : 0;
}

static void fill_props(struct walk *w, const struct store_rec *rec, struct texts *x,
		       struct lso_entry *e)
{
	uint32_t p = w->msg->props;

	if (p & LIST_P_SIZE)
		e->size = (int64_t)rec->size;
	if (p & LIST_P_CKSUM)
		set(&e->cksum, &e->cksum_len, rec->cksum);
	if (p & LIST_P_ATIME) {
		gotime_format(rec->atime_ns, w->msg->layout[0] ? w->msg->layout : GOTIME_RFC822,
			      &x->atime);
		set(&e->atime, &e->atime_len, buf_cstr(&x->atime));
	}
	if ((p & LIST_P_VERSION) && rec->version) {
		buf_fmt(&x->version, "%llu", (unsigned long long)rec->version);
		set(&e->version, &e->version_len, buf_cstr(&x->version));
	}
	if (p & LIST_P_LOCATION)
		set(&e->location, &e->location_len, location(w, rec->path));
	if (p & LIST_P_CUSTOM) {
		custom_text(rec, &x->custom);
		set(&e->custom, &e->custom_len, buf_cstr(&x->custom));
	}
	if (p & LIST_P_COPIES)
		e->copies = 1;
}

static int64_t entry_flags(const struct walk *w, const struct store_entry *se)
{
	char name[SMAP_OBJECT_MAX + 1];
	int64_t flags = LSO_CACHED;

	if (se->is_dir)
		return LSO_DIR;
	if (se->name_len < sizeof(name) && smap_active_targets(w->map) > 1) {
		memcpy(name, se->name, se->name_len);
		name[se->name_len] = 0;
		if (cluster_owner(w->a->cluster, w->map, w->bucket, name) != w->self)
			flags |= LSO_WRONG_NODE;
	}
	return flags;
}

static int compare(const struct store_entry *e, const char *with)
{
	size_t n = strlen(with);
	int r = memcmp(e->name, with, MIN(n, e->name_len));

	return r ? r : (e->name_len > n) - (e->name_len < n);
}

static int add(void *arg, const struct store_entry *se)
{
	struct lso_entry e = {.name = se->name, .name_len = se->name_len};
	struct walk *w = arg;
	struct texts x = {};

	if (compare(se, w->after) <= 0)
		return 0;
	if (w->n == w->max || (w->until && compare(se, w->until) >= 0))
		return 1;
	if (se->rec)
		fill_props(w, se->rec, &x, &e);
	e.flags = entry_flags(w, se);
	lso_put_entry(&w->entries, &e);
	buf_free(&x.atime);
	buf_free(&x.version);
	buf_free(&x.custom);
	w->n++;
	return w->entries.err;
}

/* Names that begin with @prefix, behind @after. */
static int walk_part(struct walk *w, const struct store_bck *b, const char *prefix,
		     const char *after)
{
	struct store_list_opts o = {
		.prefix = prefix,
		.after = after,
		.max = w->max - w->n + 1, /* one may be the directory that @after lies in */
		.no_recursion = w->msg->flags & LIST_F_NO_RECURSION,
	};
	int r;

	if (w->n == w->max)
		return 0;
	w->after = after;
	r = store_list(w->a->store, b, &o, add, w);
	return r < 0 ? r : 0;
}

/*
 * Without recursion a prefix "b" also means the directory "b/", whose children stand in its
 * place: what sorts before "b/", the children, what sorts behind them.
 */
static int walk_around(struct walk *w, const struct store_bck *b)
{
	const char *prefix = w->msg->prefix, *after = w->msg->token;
	autobuf struct buf dir = BUF_INIT, end = BUF_INIT;
	int r = 0;

	buf_fmt(&dir, "%s/", prefix);
	buf_fmt(&end, "%s/\xff", prefix); /* no name has such a byte */
	if (dir.err || end.err)
		return -ENOMEM;
	w->until = dir.data;
	if (strcmp(after, dir.data) < 0)
		r = walk_part(w, b, prefix, after);
	w->until = NULL;
	if (!r && strcmp(after, end.data) < 0)
		r = walk_part(w, b, dir.data, after);
	if (!r)
		r = walk_part(w, b, prefix, strcmp(after, end.data) < 0 ? end.data : after);
	return r;
}

static int walk_all(struct walk *w, const struct store_bck *b)
{
	size_t len = strlen(w->msg->prefix);

	if ((w->msg->flags & LIST_F_NO_RECURSION) && len && w->msg->prefix[len - 1] != '/')
		return walk_around(w, b);
	return walk_part(w, b, w->msg->prefix, list_msg_after(w->msg));
}

static void walk_end(struct walk *w)
{
	size_t i;

	for (i = 0; i < STORE_PATHS_MAX; i++)
		free(w->location[i]);
	buf_free(&w->entries);
	smap_put(w->map);
}

static void reply(struct http_txn *t, struct walk *w, int err)
{
	autobuf struct buf out = BUF_INIT;

	if (err == STORE_OUT) {
		http_header(t, "Retry-After", "10");
		http_reply_error(t, 503, "ErrMpathOut",
				 "listing: a mountpath is out of service: the list would have "
				 "holes; see pagewire node mountpath");
		return;
	}
	if (err < 0) {
		http_reply_error(t, 500, NULL, "listing: %s", strerror(-err));
		return;
	}
	lso_put_head(&out, "", "", 0, w->n);
	buf_append(&out, w->entries.data, w->entries.len);
	lso_put_tail(&out);
	if (out.err)
		http_reply_error(t, 500, NULL, "listing: out of memory");
	else
		http_reply_buf(t, "application/msgpack", &out);
}

void list_target(struct api *a, struct http_txn *t, const struct bmd_bucket *b,
		 const struct api_msg *m)
{
	struct walk w = {.a = a, .bucket = b};
	struct list_msg lm;
	struct store_bck sb;
	struct api_fault f;
	int r;

	if (list_msg_parse(m->value, &lm, &f) < 0) {
		http_reply_error(t, f.status, f.tcode, "%s", f.text);
		return;
	}
	w.msg = &lm;
	w.max = lm.page;
	w.map = cluster_smap(a->cluster);
	w.self = smap_find(w.map, cluster_node_id(a->cluster));
	api_store_bck(b, &sb);
	r = walk_all(&w, &sb);
	metrics_add(a->metrics, METRIC_LST_N, 1);
	if (r < 0)
		metrics_add(a->metrics, METRIC_ERR_LST_N, 1);
	else
		metrics_add(a->metrics, METRIC_LST_NS_TOTAL,
			    (uint64_t)(mono_ns() - t->req.start_ns));
	reply(t, &w, r);
	walk_end(&w);
}
