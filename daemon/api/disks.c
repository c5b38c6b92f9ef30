/* SPDX-License-Identifier: BSD-2-Clause */
/* What the disks below mountpaths do: rates between two looks at /proc/diskstats. */
#include <pthread.h>
#include <stdio.h>

#include "api/impl.h"

#define DISKS_MAX STORE_PATHS_MAX
#define FRESH_NS INT64_C(500000000) /* a look this young is not repeated */
#define SECTOR 512

/* Counters of one disk since the system started. */
struct disk_count {
	uint64_t reads, read_sectors, writes, write_sectors, busy_ms;
};

struct disk {
	char name[64];
	struct disk_count last;
	struct disk_rate rate;
};

struct api_disks {
	pthread_mutex_t lock;
	int64_t looked_ns;
	size_t n;
	struct disk all[DISKS_MAX];
};

int disks_new(struct api_disks **ret)
{
	struct api_disks *d = calloc(1, sizeof(*d));

	if (!d)
		return -ENOMEM;
	pthread_mutex_init(&d->lock, NULL);
	*ret = d;
	return 0;
}

void disks_free(struct api_disks *d)
{
	if (!d)
		return;
	pthread_mutex_destroy(&d->lock);
	free(d);
}

void disk_name(const char *device, char out[64])
{
	autofree char *real = device[0] == '/' ? realpath(device, NULL) : NULL;
	const char *s = real ? real : device, *slash = strrchr(s, '/');

	snprintf(out, 64, "%.63s", slash ? slash + 1 : s);
}

/* Find or add. NULL when there are too many. */
static struct disk *disk_of(struct api_disks *d, const char *name)
{
	size_t i;

	for (i = 0; i < d->n; i++) {
		if (!strcmp(d->all[i].name, name))
			return &d->all[i];
	}
	if (d->n == DISKS_MAX)
		return NULL;
	snprintf(d->all[d->n].name, sizeof(d->all[0].name), "%s", name);
	return &d->all[d->n++];
}

static void add_disks(struct api *a, struct api_disks *d)
{
	autofree struct store_space *s = calloc(1, sizeof(*s));
	char name[64];
	size_t i;

	for (i = 0; s && i < store_paths(a->store); i++) {
		if (store_space(a->store, i, s) < 0)
			continue;
		disk_name(s->device, name);
		disk_of(d, name);
	}
}

static void advance(struct disk *d, const struct disk_count *now, int64_t ns)
{
	uint64_t reads = now->reads - d->last.reads, writes = now->writes - d->last.writes;
	uint64_t rbytes = (now->read_sectors - d->last.read_sectors) * SECTOR;
	uint64_t wbytes = (now->write_sectors - d->last.write_sectors) * SECTOR;
	double s = (double)ns / 1e9;

	if (ns > 0 && now->reads >= d->last.reads && now->writes >= d->last.writes) {
		d->rate.rbps = (int64_t)((double)rbytes / s);
		d->rate.wbps = (int64_t)((double)wbytes / s);
		d->rate.ravg = reads ? (int64_t)(rbytes / reads) : 0;
		d->rate.wavg = writes ? (int64_t)(wbytes / writes) : 0;
		d->rate.util = (int64_t)((double)(now->busy_ms - d->last.busy_ms) / 10 / s);
		d->rate.util = MIN(d->rate.util, INT64_C(100));
	}
	d->last = *now;
}

/* Each line: major minor name reads merged sectors ms writes merged sectors ms now ms ... */
static void read_stats(struct api_disks *d, int64_t ns)
{
	autofile FILE *f = fopen("/proc/diskstats", "re");
	char line[512], name[64];
	size_t i;

	while (f && fgets(line, sizeof(line), f)) {
		unsigned long long v[10];
		struct disk_count c;

		if (sscanf(line, "%*u %*u %63s %llu %llu %llu %llu %llu %llu %llu %llu %llu %llu",
			   name, &v[0], &v[1], &v[2], &v[3], &v[4], &v[5], &v[6], &v[7], &v[8],
			   &v[9]) != 11)
			continue;
		c = (struct disk_count){v[0], v[2], v[4], v[6], v[9]};
		for (i = 0; i < d->n; i++) {
			if (!strcmp(d->all[i].name, name))
				advance(&d->all[i], &c, ns);
		}
	}
}

/* Under the lock. */
static void look(struct api *a, struct api_disks *d)
{
	int64_t now = mono_ns(), ns = d->looked_ns ? now - d->looked_ns : 0;

	if (d->looked_ns && ns < FRESH_NS)
		return;
	add_disks(a, d);
	d->looked_ns = now;
	read_stats(d, ns);
}

static void disks_each(struct api *a,
		       void (*fn)(struct buf *out, const char *name, const struct disk_rate *r),
		       struct buf *out)
{
	struct api_disks *d = a->disks;
	size_t i;

	if (!d || !a->store)
		return;
	pthread_mutex_lock(&d->lock);
	look(a, d);
	for (i = 0; i < d->n; i++)
		fn(out, d->all[i].name, &d->all[i].rate);
	pthread_mutex_unlock(&d->lock);
}

static void print_rates(struct buf *out, const char *name, const struct disk_rate *r)
{
	if (out->data[out->len - 1] != '{')
		buf_char(out, ',');
	buf_json_str(out, name);
	buf_fmt(out, ":{\"RBps\":%lld,\"Ravg\":%lld,\"WBps\":%lld,\"Wavg\":%lld,\"Util\":%lld}",
		(long long)r->rbps, (long long)r->ravg, (long long)r->wbps, (long long)r->wavg,
		(long long)r->util);
}

static void one(struct buf *out, const char *name, const char *what, int64_t v)
{
	autobuf struct buf key = BUF_INIT;

	buf_fmt(&key, "disk.%s.%s", name, what);
	buf_char(out, ',');
	buf_json_str(out, buf_cstr(&key));
	buf_fmt(out, ":%lld", (long long)v);
}

static void print_tracker(struct buf *out, const char *name, const struct disk_rate *r)
{
	one(out, name, "avg.rsize", r->ravg);
	one(out, name, "avg.wsize", r->wavg);
	one(out, name, "read.bps", r->rbps);
	one(out, name, "util", r->util);
	one(out, name, "write.bps", r->wbps);
}

static void print_kinds(struct buf *out, const char *name, const struct disk_rate *r)
{
	static const char *const rows[][2] = {{"avg.rsize", "gauge"},
					      {"avg.wsize", "gauge"},
					      {"read.bps", "compbw"},
					      {"util", "gauge"},
					      {"write.bps", "compbw"}};
	size_t i;

	(void)r;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		autobuf struct buf key = BUF_INIT;

		buf_fmt(&key, "disk.%s.%s", name, rows[i][0]);
		buf_char(out, ',');
		buf_json_str(out, buf_cstr(&key));
		buf_fmt(out, ":\"%s\"", rows[i][1]);
	}
}

void disks_print_tracker(struct api *a, struct buf *out)
{
	disks_each(a, print_tracker, out);
}

void disks_print_kinds(struct api *a, struct buf *out)
{
	disks_each(a, print_kinds, out);
}

void disks_print(struct api *a, struct buf *out)
{
	buf_char(out, '{');
	disks_each(a, print_rates, out);
	buf_char(out, '}');
}
