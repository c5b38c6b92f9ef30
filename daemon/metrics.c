/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Each thread adds to a shard of its own cache lines; reading sums all shards. More threads than
 * shards share some of them, which costs time, not correctness.
 */
#include "metrics.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/bits.h"
#include "base/cleanup.h"
#include "base/text.h"

#define SHARDS 64

enum kind {
	KIND_COUNTER,
	KIND_SIZE,
	KIND_TOTAL,
};

static const char *const kind_names[] = {"counter", "size", "total"};

#define ROW_F_TARGET 1 /* targets only */
#define ROW_F_OWN 2 /* not the original's: its whole name is given, the tracker has none */

static const struct row {
	const char *tracker, *prom, *help;
	enum kind kind;
	unsigned int flags;
} rows[METRIC_NR] = {
	[METRIC_GET_N] = {"get.n", "get_count", "GET object requests", KIND_COUNTER, 0},
	[METRIC_GET_SIZE] = {"get.size", "get_bytes", "bytes of objects sent", KIND_SIZE,
			     ROW_F_TARGET},
	[METRIC_GET_NS_TOTAL] = {"get.ns.total", "get_ns_total", "time in GET, nanoseconds",
				 KIND_TOTAL, ROW_F_TARGET},
	[METRIC_PUT_N] = {"put.n", "put_count", "PUT object requests", KIND_COUNTER, 0},
	[METRIC_PUT_SIZE] = {"put.size", "put_bytes", "bytes of objects stored", KIND_SIZE,
			     ROW_F_TARGET},
	[METRIC_PUT_NS_TOTAL] = {"put.ns.total", "put_ns_total", "time in PUT, nanoseconds",
				 KIND_TOTAL, ROW_F_TARGET},
	[METRIC_HEAD_N] = {"head.n", "head_count", "HEAD object requests", KIND_COUNTER, 0},
	[METRIC_HEAD_NS_TOTAL] = {"head.ns.total", "head_ns_total", "time in HEAD, nanoseconds",
				  KIND_TOTAL, ROW_F_TARGET},
	[METRIC_APPEND_N] = {"append.n", "append_count", "append requests", KIND_COUNTER, 0},
	[METRIC_DEL_N] = {"del.n", "del_count", "objects deleted", KIND_COUNTER, 0},
	[METRIC_REN_N] = {"ren.n", "ren_count", "objects renamed", KIND_COUNTER, 0},
	[METRIC_LST_N] = {"lst.n", "lst_count", "pages of object lists", KIND_COUNTER, 0},
	[METRIC_LST_NS_TOTAL] = {"lst.ns.total", "lst_ns_total", "time in lists, nanoseconds",
				 KIND_TOTAL, ROW_F_TARGET},
	[METRIC_ERR_GET_N] = {"err.get.n", "err_get_count", "GET errors", KIND_COUNTER, 0},
	[METRIC_ERR_PUT_N] = {"err.put.n", "err_put_count", "PUT errors", KIND_COUNTER, 0},
	[METRIC_ERR_HEAD_N] = {"err.head.n", "err_head_count", "HEAD errors", KIND_COUNTER, 0},
	[METRIC_ERR_APPEND_N] = {"err.append.n", "err_append_count", "append errors", KIND_COUNTER,
				 0},
	[METRIC_ERR_DEL_N] = {"err.del.n", "err_del_count", "DELETE errors", KIND_COUNTER, 0},
	[METRIC_ERR_REN_N] = {"err.ren.n", "err_ren_count", "rename errors", KIND_COUNTER, 0},
	[METRIC_ERR_LST_N] = {"err.lst.n", "err_lst_count", "list errors", KIND_COUNTER, 0},
	[METRIC_ERR_PUT_CKSUM_N] = {"err.put.cksum.n", "err_put_cksum_count",
				    "PUT refused for a wrong checksum", KIND_COUNTER, ROW_F_TARGET},
	[METRIC_ERR_KALIVE_N] = {"err.kalive.n", "err_kalive_count", "failed keepalives",
				 KIND_COUNTER, 0},
	[METRIC_ERR_HTTP_WRITE_N] = {"err.http.write.n", "err_http_write_count",
				     "responses broken off by the peer or the network",
				     KIND_COUNTER, 0},
	[METRIC_REDIRECT_N] = {NULL, "pagewire_redirects_total", "redirects answered", KIND_COUNTER,
			       ROW_F_OWN},
	[METRIC_AUTH_DENIED_N] = {NULL, "pagewire_auth_denied_total",
				  "requests refused by the perimeter", KIND_COUNTER, ROW_F_OWN},
	[METRIC_CONN_N] = {NULL, "pagewire_connections_total", "connections accepted", KIND_COUNTER,
			   ROW_F_OWN},
	[METRIC_CONN_REFUSED_N] = {NULL, "pagewire_connections_refused_total",
				   "connections over a limit", KIND_COUNTER, ROW_F_OWN},
	[METRIC_CONN_REFUSED_PEER_N] = {NULL, "pagewire_connections_refused_peer_total",
					"connections over the limit of their peer's address",
					KIND_COUNTER, ROW_F_OWN},
	[METRIC_HTTP_BAD_N] = {NULL, "pagewire_malformed_requests_total", "malformed requests",
			       KIND_COUNTER, ROW_F_OWN},
	[METRIC_HTTP_ABORT_N] = {NULL, "pagewire_aborted_requests_total",
				 "requests whose peer went away, or was too slow, before their end",
				 KIND_COUNTER, ROW_F_OWN},
	[METRIC_HTTP_BUSY_N] = {NULL, "pagewire_refused_requests_total",
				"requests answered 503 because there was no room for them",
				KIND_COUNTER, ROW_F_OWN},
	[METRIC_BODY_SHORT_N] = {NULL, "pagewire_short_bodies_total",
				 "responses broken off because their source ended early",
				 KIND_COUNTER, ROW_F_OWN},
	[METRIC_COMMIT_GROUPS_N] = {NULL, "pagewire_index_commits_total", "index commits",
				    KIND_COUNTER, ROW_F_OWN},
	[METRIC_COMMIT_OBJS_N] = {NULL, "pagewire_index_commit_objects_total",
				  "objects in index commits", KIND_COUNTER, ROW_F_OWN},
	[METRIC_ORPHANS_N] = {NULL, "pagewire_orphans_reaped_total", "orphan blobs removed",
			      KIND_COUNTER, ROW_F_OWN},
};

struct shard {
	_Atomic uint64_t counts[METRIC_NR];
	_Atomic uint64_t responses[METRICS_PATHS_MAX][METRICS_REASONS_MAX];
	_Atomic uint64_t bytes[METRICS_PATHS_MAX][METRICS_REASONS_MAX];
} __attribute__((aligned(64)));

struct metrics {
	struct shard *shards;
	const char *prefix; /* "ais_target_" */
	char *label; /* node_id="t1", escaped */
	bool gateway;
	int64_t start_ns;
	_Atomic uint64_t state_flags;
	const char *const *paths, *const *reasons;
	size_t n_paths, n_reasons;
};

/*
 * Shard of the calling thread, from the address of its control block: nothing is kept, and threads
 * that meet in one shard lose time only.
 */
static unsigned int my_shard(void)
{
	uint64_t h = (uint64_t)pthread_self() * UINT64_C(0x9e3779b97f4a7c15);

	return (unsigned int)(h >> 58) % SHARDS;
}

static char *label_make(const char *node_id)
{
	autobuf struct buf b = BUF_INIT;

	buf_str(&b, "node_id=\"");
	for (; *node_id; node_id++) {
		if (*node_id == '\n')
			buf_str(&b, "\\n");
		else if (*node_id == '"' || *node_id == '\\')
			buf_fmt(&b, "\\%c", *node_id);
		else
			buf_char(&b, *node_id);
	}
	buf_char(&b, '"');
	return buf_take(&b);
}

int metrics_name_node(struct metrics *m, const char *node_id)
{
	char *label = label_make(node_id);

	if (!label)
		return -ENOMEM;
	free(m->label);
	m->label = label;
	return 0;
}

int metrics_new(const char *node_id, bool gateway, struct metrics **ret)
{
	struct metrics *m = calloc(1, sizeof(*m));

	if (!m)
		return -ENOMEM;
	m->shards = aligned_alloc(64, SHARDS * sizeof(*m->shards));
	m->label = label_make(node_id);
	if (!m->shards || !m->label) {
		metrics_free(m);
		return -ENOMEM;
	}
	memset(m->shards, 0, SHARDS * sizeof(*m->shards));
	m->prefix = gateway ? "ais_proxy_" : "ais_target_";
	m->gateway = gateway;
	m->start_ns = mono_ns();
	*ret = m;
	return 0;
}

void metrics_free(struct metrics *m)
{
	if (!m)
		return;
	free(m->shards);
	free(m->label);
	free(m);
}

static void add(_Atomic uint64_t *to, uint64_t n)
{
	atomic_fetch_add_explicit(to, n, memory_order_relaxed);
}

static uint64_t get(const _Atomic uint64_t *from)
{
	return atomic_load_explicit(from, memory_order_relaxed);
}

void metrics_add(struct metrics *m, enum metric id, uint64_t n)
{
	if (m && id > METRIC_NONE && id < METRIC_NR)
		add(&m->shards[my_shard()].counts[id], n);
}

uint64_t metrics_read(const struct metrics *m, enum metric id)
{
	uint64_t sum = 0;
	unsigned int i;

	if (!m || id <= METRIC_NONE || id >= METRIC_NR)
		return 0;
	for (i = 0; i < SHARDS; i++)
		sum += get(&m->shards[i].counts[id]);
	return sum;
}

void metrics_name_paths(struct metrics *m, const char *const *paths, size_t n_paths,
			const char *const *reasons, size_t n_reasons)
{
	m->paths = paths;
	m->n_paths = MIN(n_paths, (size_t)METRICS_PATHS_MAX);
	m->reasons = reasons;
	m->n_reasons = MIN(n_reasons, (size_t)METRICS_REASONS_MAX);
}

void metrics_add_response(struct metrics *m, unsigned int path, unsigned int reason, uint64_t bytes)
{
	struct shard *s;

	if (!m || path >= METRICS_PATHS_MAX || reason >= METRICS_REASONS_MAX)
		return;
	s = &m->shards[my_shard()];
	add(&s->responses[path][reason], 1);
	add(&s->bytes[path][reason], bytes);
}

void metrics_set_state_flags(struct metrics *m, uint64_t flags)
{
	atomic_store_explicit(&m->state_flags, flags, memory_order_relaxed);
}

static bool row_shown(const struct metrics *m, const struct row *r)
{
	return r->prom && !(m->gateway && (r->flags & ROW_F_TARGET));
}

static void print_head(struct buf *out, const char *prefix, const char *name, const char *help,
		       const char *type)
{
	buf_fmt(out, "# HELP %s%s %s\n# TYPE %s%s %s\n", prefix, name, help, prefix, name, type);
}

static void print_value(const struct metrics *m, struct buf *out, const char *prefix,
			const char *name, uint64_t v)
{
	buf_fmt(out, "%s%s{%s} %llu\n", prefix, name, m->label, (unsigned long long)v);
}

/* The responses of each path and reason that happened; @bytes: their bytes instead. */
static void print_responses(const struct metrics *m, struct buf *out, bool bytes)
{
	const char *name = bytes ? "pagewire_response_bytes_total" : "pagewire_responses_total";
	size_t p, r, i;

	print_head(out, "", name,
		   bytes ? "body bytes of responses by path and reason"
			 : "responses by path and reason",
		   "counter");
	for (p = 0; p < m->n_paths; p++) {
		for (r = 0; r < m->n_reasons; r++) {
			uint64_t n = 0, b = 0;

			for (i = 0; i < SHARDS; i++) {
				n += get(&m->shards[i].responses[p][r]);
				b += get(&m->shards[i].bytes[p][r]);
			}
			if (n && m->paths[p] && m->reasons[r])
				buf_fmt(out, "%s{%s,path=\"%s\",reason=\"%s\"} %llu\n", name,
					m->label, m->paths[p], m->reasons[r],
					(unsigned long long)(bytes ? b : n));
		}
	}
}

void metrics_print(const struct metrics *m, struct buf *out)
{
	int id;

	for (id = METRIC_NONE + 1; id < METRIC_NR; id++) {
		const struct row *r = &rows[id];
		const char *prefix = r->flags & ROW_F_OWN ? "" : m->prefix;

		if (!row_shown(m, r))
			continue;
		print_head(out, prefix, r->prom, r->help, "counter");
		print_value(m, out, prefix, r->prom, metrics_read(m, (enum metric)id));
	}
	print_head(out, m->prefix, "uptime", "seconds since the start of the node", "gauge");
	print_value(m, out, m->prefix, "uptime", (uint64_t)(mono_ns() - m->start_ns) / 1000000000);
	print_head(out, m->prefix, "state_flags", "alerts and state bits of the node", "gauge");
	print_value(m, out, m->prefix, "state_flags", get(&m->state_flags));
	print_responses(m, out, false);
	print_responses(m, out, true);
}

void metrics_print_tracker(const struct metrics *m, struct buf *out)
{
	uint64_t v;
	int id;

	for (id = METRIC_NONE + 1; id < METRIC_NR; id++) {
		v = metrics_read(m, (enum metric)id);
		if (rows[id].tracker && v)
			buf_fmt(out, "\"%s\":%llu,", rows[id].tracker, (unsigned long long)v);
	}
	v = get(&m->state_flags);
	if (v)
		buf_fmt(out, "\"state.flags\":%llu,", (unsigned long long)v);
	buf_fmt(out, "\"up.ns.time\":%lld", (long long)(mono_ns() - m->start_ns));
}

void metrics_print_kinds(const struct metrics *m, struct buf *out)
{
	int id;

	buf_char(out, '{');
	for (id = METRIC_NONE + 1; id < METRIC_NR; id++) {
		if (rows[id].tracker && row_shown(m, &rows[id]))
			buf_fmt(out, "\"%s\":\"%s\",", rows[id].tracker, kind_names[rows[id].kind]);
	}
	buf_str(out, "\"state.flags\":\"gauge\",\"up.ns.time\":\"special\"}");
}
