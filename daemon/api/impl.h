/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of this room call of each other. */
#ifndef API_IMPL_H
#define API_IMPL_H

#include "api/api.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "base/text.h"
#include "log.h"

/* One call to every target that takes part, freed by cast_free(). */
struct cast {
	struct smap *map;
	struct http_call *calls;
	size_t n;
};

/* The body of a control call and how long it may take. */
struct cast_spec {
	const char *method, *path; /* percent-encoded, with query */
	const struct buf *body; /* or NULL */
	size_t resp_max;
	const char *timeout; /* config key of a duration */
};

/* Call all targets and wait [blocks]. Return: 0 or -ENOMEM. */
int cast_targets(struct api *a, const struct cast_spec *s, struct cast *ret);
void cast_free(struct cast *c);
/* The node of call @i. */
const struct smap_node *cast_node(const struct cast *c, size_t i);
/* Whether call @i was answered 200. */
bool cast_ok(const struct cast *c, size_t i);
/*
 * The first node that did not do its part, described in the error response (503, or the status
 * and sentence it sent). Nodes in maintenance do not count. Return: 0 when all did; -EIO.
 */
int cast_check(struct api *a, struct http_txn *t, const struct cast *c, const char *what);

/* ---- continuations; all on pool threads, all reply ---- */

/* list.c, on the primary [blocks] */
void list_gateway(struct api *a, struct http_txn *t, const struct bmd_name *n,
		  const struct api_msg *m);
/* list_target.c */
void list_target(struct api *a, struct http_txn *t, const struct bmd_bucket *b,
		 const struct api_msg *m);
/* buckets_read.c: list of buckets, HEAD */
void buckets_list(struct api *a, struct http_txn *t, const struct api_target *tg,
		  const struct api_msg *m);
void buckets_head(struct api *a, struct http_txn *t, const struct api_target *tg);
/* summary.c: GET and HEAD forms on the primary */
void summary_get(struct api *a, struct http_txn *t, const struct bmd_name *n,
		 const struct api_msg *m);
void summary_head(struct api *a, struct http_txn *t, const struct api_target *tg,
		  const struct bmd_bucket *b);
/* Objects in all buckets of all targets [blocks]. Return: 0; -EIO when a target is not heard. */
int summary_count(struct api *a, uint64_t *ret);
/* summary_target.c */
void summary_target(struct api *a, struct http_txn *t, const struct bmd_name *n,
		    const struct api_msg *m);

/* delete.c: start the job on every target; on a target, run its part */
void delete_gateway(struct api *a, struct http_txn *t, const struct bmd_name *n,
		    const struct api_msg *m);
void delete_target(struct api *a, struct http_txn *t, const struct bmd_bucket *b,
		   const struct api_msg *m);

/* cluster_jobs.c: what=qryxstats|status|status_all|running_all, start, stop [blocks] */
bool jobs_what(const char *what);
void jobs_get(struct api *a, struct http_txn *t, const char *what);
void jobs_action(struct api *a, struct http_txn *t, const struct api_msg *m, bool start);
/* xactions.c: /v1/xactions on a target's control */
void xactions_handle(struct http_txn *t);

/* cluster_put.c: PUT /v1/cluster and below [blocks] */
void cluster_put(struct api *a, struct http_txn *t, const struct api_msg *m);

/* daemon.c: @sub is what follows "/v1/daemon" in the path */
void daemon_answer(struct api *a, struct http_txn *t, const char *sub);
/* answers.c: what=smap|bmd|snode|remote; false when it is another. */
bool answer_common(struct api *a, struct http_txn *t, const char *what);
/* node_status.c, sysinfo.c */
void node_status_print(struct api *a, struct buf *out);
void node_stats_print(struct api *a, struct buf *out);
void sysinfo_print(struct api *a, bool whole, struct buf *out);
void sysinfo_print_fs(struct api *a, struct buf *out);

/* mountpaths.c: what=mountpaths, /v1/daemon/mountpaths [blocks] */
void mountpaths_print(struct api *a, struct buf *out);
void mountpaths_print_all(struct api *a, struct buf *out);
void mountpaths_handle(struct api *a, struct http_txn *t);
/* scrub.c: /v1/daemon/scrub [blocks] */
void scrub_handle(struct api *a, struct http_txn *t);

/* Rates of one disk. */
struct disk_rate {
	int64_t rbps, ravg, wbps, wavg, util; /* bytes a second, bytes a request, percent */
};

/* disks.c */
int disks_new(struct api_disks **ret);
void disks_free(struct api_disks *d);
/* The name of a device in /proc/diskstats. */
void disk_name(const char *device, char out[64]);
/* AllDiskStats of what=disk; with a comma before each, parts of the tracker and what=metrics. */
void disks_print(struct api *a, struct buf *out);
void disks_print_tracker(struct api *a, struct buf *out);
void disks_print_kinds(struct api *a, struct buf *out);
/* node_status.c: what=disk */
void disk_status_print(struct api *a, struct buf *out);

/* Answer errors of cluster_change_*(): 503 not the primary, 500 of the disk. */
void change_error(struct http_txn *t, int err, const char *what);
/* 400 for an action that does not exist. */
void action_error(struct http_txn *t, const char *action);

#endif
