/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Counters: added to without locks by any thread, read by /metrics (Prometheus text) and by the
 * tracker of node_status. The names are one table in metrics.c.
 */
#ifndef METRICS_H
#define METRICS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

/* Tracker name in the comment; the table in metrics.c maps to Prometheus names. */
enum metric {
	METRIC_NONE,
	METRIC_GET_N, /* get.n */
	METRIC_GET_SIZE, /* get.size */
	METRIC_GET_NS_TOTAL, /* get.ns.total */
	METRIC_PUT_N, /* put.n */
	METRIC_PUT_SIZE, /* put.size */
	METRIC_PUT_NS_TOTAL, /* put.ns.total */
	METRIC_HEAD_N, /* head.n */
	METRIC_HEAD_NS_TOTAL, /* head.ns.total */
	METRIC_APPEND_N, /* append.n */
	METRIC_DEL_N, /* del.n */
	METRIC_REN_N, /* ren.n */
	METRIC_LST_N, /* lst.n */
	METRIC_LST_NS_TOTAL, /* lst.ns.total */
	METRIC_ERR_GET_N, /* err.get.n */
	METRIC_ERR_PUT_N, /* err.put.n */
	METRIC_ERR_HEAD_N, /* err.head.n */
	METRIC_ERR_APPEND_N, /* err.append.n */
	METRIC_ERR_DEL_N, /* err.del.n */
	METRIC_ERR_REN_N, /* err.ren.n */
	METRIC_ERR_LST_N, /* err.lst.n */
	METRIC_ERR_PUT_CKSUM_N, /* err.put.cksum.n */
	METRIC_ERR_KALIVE_N, /* err.kalive.n */
	METRIC_ERR_HTTP_WRITE_N, /* err.http.write.n */
	METRIC_REDIRECT_N, /* pagewire: redirects answered */
	METRIC_AUTH_DENIED_N, /* pagewire: requests refused by the perimeter */
	METRIC_CONN_N, /* pagewire: connections accepted */
	METRIC_CONN_REFUSED_N, /* pagewire: connections over a limit */
	METRIC_CONN_REFUSED_PEER_N, /* pagewire: those of them that their address has too many of */
	METRIC_HTTP_BAD_N, /* pagewire: malformed requests */
	METRIC_HTTP_ABORT_N, /* pagewire: requests whose peer went away */
	METRIC_HTTP_BUSY_N, /* pagewire: requests there was no room for */
	METRIC_BODY_SHORT_N, /* pagewire: responses whose source ended early */
	METRIC_COMMIT_GROUPS_N, /* pagewire: index commits */
	METRIC_COMMIT_OBJS_N, /* pagewire: objects in them */
	METRIC_ORPHANS_N, /* pagewire: orphan blobs reaped */
	METRIC_NR,
};

#define METRICS_PATHS_MAX 16 /* response paths of daemon/steer */
#define METRICS_REASONS_MAX 32 /* and their reasons */

struct metrics;

/**
 * metrics_new() - Make a set of counters
 * @node_id:	const label of each
 * @gateway:	names begin with ais_proxy_ instead of ais_target_
 * @ret:	the set, written on success only
 *
 * Return: 0 or -ENOMEM.
 */
int metrics_new(const char *node_id, bool gateway, struct metrics **ret);
/* Tell the node ID when it is known only later; before anything is printed. 0 or -ENOMEM. */
int metrics_name_node(struct metrics *m, const char *node_id);
void metrics_free(struct metrics *m);

/* Add @n to counter @id. Any thread, wait-free. NULL @m is fine. */
void metrics_add(struct metrics *m, enum metric id, uint64_t n);
/* The sum over all threads. */
uint64_t metrics_read(const struct metrics *m, enum metric id);

/**
 * metrics_name_paths() - Tell the label texts of response paths and reasons, before any thread
 * @m:		the set
 * @paths:	@n_paths static strings, index = path
 * @reasons:	@n_reasons static strings, index = reason
 */
void metrics_name_paths(struct metrics *m, const char *const *paths, size_t n_paths,
			const char *const *reasons, size_t n_reasons);
/* One response of @bytes on @path for @reason: pagewire_responses_total, _response_bytes_total. */
void metrics_add_response(struct metrics *m, unsigned int path, unsigned int reason,
			  uint64_t bytes);
/* Gauge state_flags. */
void metrics_set_state_flags(struct metrics *m, uint64_t flags);

/* Append all as Prometheus text exposition format 0.0.4. */
void metrics_print(const struct metrics *m, struct buf *out);
/* Append the inside of the tracker object of node_status: "get.n":1,... zeros left out. */
void metrics_print_tracker(const struct metrics *m, struct buf *out);
/* Append {"get.n":"counter",...}: what=metrics. */
void metrics_print_kinds(const struct metrics *m, struct buf *out);

#endif
