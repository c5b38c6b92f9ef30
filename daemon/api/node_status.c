/* SPDX-License-Identifier: BSD-2-Clause */
/* node_status and its parts: record, counters, capacity, system. */
#include "api/impl.h"
#include "store/admin.h"

struct capacity {
	uint64_t used, avail, total; /* each file system once */
	unsigned int n, pct_sum, pct_max, pct_min;
	uint64_t seen[STORE_PATHS_MAX][2];
};

static unsigned int pct(uint64_t used, uint64_t avail)
{
	uint64_t whole = used + avail;

	return whole ? (unsigned int)((unsigned __int128)used * 100 / whole) : 0;
}

static void account(struct capacity *c, const struct store_space *s)
{
	unsigned int p = pct(s->used, s->avail), i;

	for (i = 0; i < c->n; i++)
		if (!memcmp(c->seen[i], s->fsid, sizeof(c->seen[i])))
			return;
	if (c->n == STORE_PATHS_MAX)
		return;
	memcpy(c->seen[c->n++], s->fsid, sizeof(c->seen[0]));
	c->used += s->used;
	c->avail += s->avail;
	c->total += s->total;
	c->pct_sum += p;
	c->pct_max = MAX(c->pct_max, p);
	c->pct_min = c->n == 1 ? p : MIN(c->pct_min, p);
}

static void print_path(const struct store_space *s, struct buf *out)
{
	char disk[64];

	disk_name(s->device, disk);
	buf_json_str(out, s->path);
	buf_str(out, ":{\"mountpath_label\":\"\",\"fs\":{\"Fs\":");
	buf_json_str(out, s->device);
	buf_str(out, ",\"FsType\":");
	buf_json_str(out, s->fs_type);
	buf_fmt(out, ",\"FsID\":\"%llu,%llu\"},\"disks\":[", (unsigned long long)s->fsid[0],
		(unsigned long long)s->fsid[1]);
	buf_json_str(out, disk);
	buf_fmt(out, "],\"used\":\"%llu\",\"avail\":\"%llu\",\"pct_used\":%u}",
		(unsigned long long)s->used, (unsigned long long)s->avail, pct(s->used, s->avail));
}

/* The mountpaths and their error, without braces. Sums go to @c. */
static void print_paths(struct api *a, struct capacity *c, struct buf *out)
{
	autofree struct store_space *s = calloc(1, sizeof(*s));
	size_t i, n = a->store ? store_paths(a->store) : 0, shown = 0;
	struct store_path p;
	const char *bad = NULL;

	if (!s) {
		out->err = -ENOMEM;
		return;
	}
	buf_fmt(out, "\"mountpaths\":%s", a->store ? "{" : "null");
	for (i = 0; i < n; i++) {
		if (store_path_info(a->store, i, &p) == 0 &&
		    (!strcmp(p.state, "failed") || !strcmp(p.state, "read-only")))
			bad = p.path;
		if (store_space(a->store, i, s) < 0)
			continue;
		account(c, s);
		if (shown++)
			buf_char(out, ',');
		print_path(s, out);
	}
	if (a->store)
		buf_char(out, '}');
	buf_str(out, ",\"cs_err\":");
	if (bad)
		snprintf(s->path, sizeof(s->path), "mountpath %.3900s has an I/O error", bad);
	buf_json_str(out, bad ? s->path : "");
}

void disk_status_print(struct api *a, struct buf *out)
{
	autofree struct capacity *c = calloc(1, sizeof(*c));

	if (!c) {
		out->err = -ENOMEM;
		return;
	}
	buf_str(out, "{\"AllDiskStats\":");
	disks_print(a, out);
	buf_char(out, ',');
	print_paths(a, c, out);
	buf_str(out, ",\"total_used\":\"0\",\"total_avail\":\"0\",\"pct_max\":0,\"pct_avg\":0,"
		     "\"pct_min\":0}");
}

static void print_capacity(struct api *a, struct buf *out)
{
	autofree struct capacity *c = calloc(1, sizeof(*c));

	if (!c) {
		out->err = -ENOMEM;
		return;
	}
	buf_char(out, '{');
	print_paths(a, c, out);
	buf_fmt(out,
		",\"total_used\":\"%llu\",\"total_avail\":\"%llu\",\"pct_max\":%u,"
		"\"pct_avg\":%u,\"pct_min\":%u}",
		(unsigned long long)c->used, (unsigned long long)c->avail, c->pct_max,
		c->n ? c->pct_sum / c->n : 0, c->pct_min);
}

void sysinfo_print_fs(struct api *a, struct buf *out)
{
	autofree struct store_space *s = calloc(1, sizeof(*s));
	autofree struct capacity *c = calloc(1, sizeof(*c));
	size_t i;

	for (i = 0; s && c && i < store_paths(a->store); i++)
		if (!store_space(a->store, i, s))
			account(c, s);
	if (c)
		buf_fmt(out, ",\"fs_used\":\"%llu\",\"fs_capacity\":\"%llu\",\"pct_fs_used\":%u",
			(unsigned long long)c->used, (unsigned long long)c->total,
			pct(c->used, c->avail));
}

/* The three fields of node_stats, without braces. */
static void print_stats(struct api *a, struct buf *out)
{
	buf_str(out, "\"snode\":");
	smap_node_print(cluster_self(a->cluster), out);
	buf_str(out, ",\"tracker\":{");
	metrics_set_state_flags(a->metrics, cluster_state_flags(a->cluster));
	metrics_print_tracker(a->metrics, out);
	disks_print_tracker(a, out);
	buf_str(out, "},\"capacity\":");
	print_capacity(a, out);
}

void node_stats_print(struct api *a, struct buf *out)
{
	buf_char(out, '{');
	print_stats(a, out);
	buf_char(out, '}');
}

/* What the map says of this node. */
static const char *map_status(struct smap *m, const char *id)
{
	const struct smap_node *n = m ? smap_find(m, id) : NULL;

	if (!n || !(n->flags & SMAP_F_INACTIVE))
		return "";
	return n->flags & SMAP_F_DECOMMISSION ? "decommission" : "maintenance";
}

void node_status_print(struct api *a, struct buf *out)
{
	struct smap *m = cluster_smap(a->cluster);

	buf_fmt(out,
		"{\"status\":\"%s\",\"deployment\":\"dev\",\"ais_version\":\"5.0.1\","
		"\"build_time\":\"\",\"k8s_pod_name\":\"\",",
		map_status(m, cluster_node_id(a->cluster)));
	print_stats(a, out);
	buf_str(out, ",\"cluster\":");
	cluster_print_info(a->cluster, out);
	buf_str(out, ",\"sys_info\":");
	sysinfo_print(a, false, out);
	if (a->store) {
		buf_str(out, ",\"alerts\":");
		store_alerts_print(a->store, out);
	}
	buf_fmt(out, ",\"smap_version\":\"%lld\"}", m ? (long long)smap_version(m) : 0LL);
	smap_put(m);
}
