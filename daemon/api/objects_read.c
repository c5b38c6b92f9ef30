/* SPDX-License-Identifier: BSD-2-Clause */
/* GET and HEAD of an object, on the io pool. */
#include <inttypes.h>
#include <unistd.h>

#include "api/objects.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "steer/steer.h"
#include "store/admin.h"

#define READ_RANGE_MAX (4U << 20) /* ranges whose checksum is made from one read */

static void count_get(struct obj *o, uint64_t bytes)
{
	metrics_add(o->a->metrics, METRIC_GET_N, 1);
	metrics_add(o->a->metrics, METRIC_GET_SIZE, bytes);
	metrics_add(o->a->metrics, METRIC_GET_NS_TOTAL, (uint64_t)(mono_ns() - o->t->req.start_ns));
}

/* True when the conditions of the request end it here. */
static bool conditions_end(struct obj *o)
{
	struct http_txn *t = o->t;
	autobuf struct buf tag = BUF_INIT;

	switch (obj_conditions(t, &o->rec)) {
	case OBJ_COND_NOT_MODIFIED:
		t->resp.status = 304;
		obj_etag(&o->rec, &tag);
		http_header(t, "ETag", "%s", buf_cstr(&tag));
		http_reply(t);
		return true;
	case OBJ_COND_FAILED:
		http_reply_error(t, 412, NULL, "%s: precondition failed", o->tg.object);
		return true;
	default:
		return false;
	}
}

/* The range asked for, or all. Return: 0; -EINVAL after a 416. */
static int pick_range(struct obj *o, uint64_t *off, uint64_t *len, bool *partial)
{
	const char *range = http_header_get(o->t, "range");
	int r;

	*off = 0;
	*len = o->rec.size;
	*partial = false;
	if (!range || !obj_if_range(o->t, &o->rec))
		return 0;
	r = http_range(range, o->rec.size, off, len);
	*partial = !r;
	if (!r)
		return 0;
	http_error(o->t, 416, "ErrRangeNotSatisfiable", "size=%" PRIu64 ": invalid range \"%s\"",
		   o->rec.size, range);
	if (r == HTTP_RANGE_E_BEYOND)
		http_header(o->t, "Content-Range", "bytes */%" PRIu64, o->rec.size);
	return -EINVAL;
}

/* Read [off, +len) into @c, and into @keep unless NULL. Return: 0 or a negative errno. */
static int hash_range(int fd, uint64_t off, uint64_t len, struct cksum *c, struct buf *keep)
{
	autofree char *piece = malloc(256 << 10);

	if (!piece)
		return -ENOMEM;
	while (len) {
		ssize_t n = pread(fd, piece, MIN(len, UINT64_C(256) << 10), (off_t)off);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		cksum_update(c, piece, (size_t)n);
		if (keep)
			buf_append(keep, piece, (size_t)n);
		off += (uint64_t)n;
		len -= (uint64_t)n;
	}
	return keep ? keep->err : 0;
}

/* The checksum of the range into o->range_cksum. Return: 1 the bytes are kept; 0; negative. */
static int checksummed_range(struct obj *o, int fd, uint64_t off, uint64_t len)
{
	bool keep = len <= READ_RANGE_MAX;
	struct cksum *c;
	int r = cksum_new(o->rec.ctype, &c);

	if (r < 0)
		return r;
	r = hash_range(fd, off, len, c, keep ? &o->t->resp.bytes : NULL);
	cksum_final(c, o->range_cksum);
	if (r < 0)
		return r;
	return keep;
}

/* Return: 0 with the body set; negative errno. */
static int make_body(struct obj *o, int fd, uint64_t off, uint64_t len, bool partial)
{
	autofd own = fd;
	struct config *cfg;
	int r;

	if (partial && o->b.read_range && o->rec.ctype != CKSUM_NONE && len < o->rec.size) {
		r = checksummed_range(o, own, off, len);
		if (r < 0)
			return r;
		if (r > 0) {
			o->t->resp.body = HTTP_BODY_BYTES;
			steer_bytes(o->t, STEER_REASON_CHECKSUMMED);
			return 0;
		}
	}
	cfg = cluster_config(o->a->cluster);
	r = steer_blob(o->t, cfg, take_fd(&own), off, len);
	config_put(cfg);
	return r;
}

static void get_failed(struct obj *o, int r)
{
	metrics_add(o->a->metrics, METRIC_ERR_GET_N, 1);
	obj_store_error(o, r);
	http_reply(o->t);
}

/* The bytes are not what was stored: an error, then it does not exist. */
static void reply_corrupt(struct obj *o, bool first)
{
	autobuf struct buf name = BUF_INIT;

	api_object_text(&o->tg.bck, o->tg.object, &name);
	metrics_add(o->a->metrics, METRIC_ERR_GET_N, 1);
	if (first)
		http_reply_error(
			o->t, 500, "ErrObjCorrupt",
			"%s: %s is corrupt: its bytes differ from its checksum; it is moved "
			"to quarantine and not served again",
			cluster_node_name(o->a->cluster), buf_cstr(&name));
	else
		http_reply_error(o->t, 404, "ErrObjQuarantined",
				 "%s: %s does not exist: it was corrupt and is in quarantine",
				 cluster_node_name(o->a->cluster), buf_cstr(&name));
}

/* What is not there may have been put into quarantine. */
static void reply_missing(struct obj *o, int r)
{
	enum store_bad_state bad = STORE_BAD_NONE;

	if (r == -ENOENT)
		bad = store_quarantine_ask(o->a->store, &o->sb, o->tg.object);
	if (bad == STORE_BAD_NONE)
		get_failed(o, r);
	else
		reply_corrupt(o, bad == STORE_BAD_NEW);
}

/* Compare before a byte is sent, where the bucket wants that. Return: false after a reply. */
static bool is_sound(struct obj *o, int fd)
{
	struct store_name n = {&o->sb, o->tg.object};
	int r = o->b.warm_get ? store_verify(o->a->store, fd, &o->rec) : 0;

	if (r == 0)
		return true;
	if (r < 0) {
		get_failed(o, r);
		return false;
	}
	store_quarantine(o->a->store, n, &o->rec);
	store_quarantine_ask(o->a->store, &o->sb, o->tg.object); /* it is told now */
	reply_corrupt(o, true);
	return false;
}

static void send_object(struct obj *o, int fd)
{
	autofd own = fd;
	struct http_txn *t = o->t;
	uint64_t off, len;
	bool partial;
	int r;

	if (pick_range(o, &off, &len, &partial) < 0) {
		metrics_add(o->a->metrics, METRIC_ERR_GET_N, 1);
		http_reply(t);
		return;
	}
	r = make_body(o, take_fd(&own), off, len, partial);
	if (r < 0) {
		get_failed(o, r);
		return;
	}
	t->resp.status = partial ? 206 : 200;
	http_header(t, "Content-Type", "application/octet-stream");
	http_header(t, "Accept-Ranges", "bytes");
	if (partial)
		http_header(t, "Content-Range", "bytes %" PRIu64 "-%" PRIu64 "/%" PRIu64, off,
			    off + len - 1, o->rec.size);
	obj_headers(o, &o->rec);
	count_get(o, len);
	http_reply(t);
}

void obj_get(struct http_txn *t)
{
	struct obj *o = obj_of(t);
	int fd, r = store_open_blob(o->a->store, &o->sb, o->tg.object, &o->rec, &fd);

	if (r < 0) {
		reply_missing(o, r);
		return;
	}
	if (conditions_end(o) || !is_sound(o, fd)) {
		close(fd);
		return;
	}
	send_object(o, fd);
}

/* presence: 0 and unknown numbers: exists; 1, 3: status only; 5: outside of the cluster. */
static bool presence_ends(struct obj *o)
{
	const char *p = http_param(o->t, "presence");

	if (p && !strcmp(p, "5")) {
		http_reply_error(o->t, 400, NULL, "%s: object is present in the cluster",
				 o->tg.object);
		return true;
	}
	if (p && (!strcmp(p, "1") || !strcmp(p, "3"))) {
		http_reply_status(o->t, 200);
		return true;
	}
	return false;
}

void obj_head(struct http_txn *t)
{
	struct obj *o = obj_of(t);
	const char *props = http_param(t, "props");
	int r = store_stat(o->a->store, &o->sb, o->tg.object, &o->rec);

	if (r < 0) {
		metrics_add(o->a->metrics, METRIC_ERR_HEAD_N, 1);
		obj_store_error(o, r);
		http_reply(t);
		return;
	}
	metrics_add(o->a->metrics, METRIC_HEAD_N, 1);
	metrics_add(o->a->metrics, METRIC_HEAD_NS_TOTAL, (uint64_t)(mono_ns() - t->req.start_ns));
	if (conditions_end(o) || presence_ends(o))
		return;
	r = props ? obj_head_v2(o, props) : obj_head_v1(o);
	if (!r) {
		t->resp.status = 200;
		http_header(t, "Content-Type", "application/octet-stream");
		http_header(t, "Accept-Ranges", "bytes");
		t->resp.length = o->rec.size;
		t->resp.has_length = true;
	}
	http_reply(t);
}
