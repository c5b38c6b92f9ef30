/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory, load and processor time of this node, from /proc. */
#include <stdio.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>

#include "api/impl.h"

struct memory { /* bytes */
	uint64_t total, free, avail, buffers, cached, swap_total, swap_free;
};

static void read_memory(struct memory *m)
{
	static const struct {
		const char *key;
		size_t off;
	} keys[] = {
		{"MemTotal:", offsetof(struct memory, total)},
		{"MemFree:", offsetof(struct memory, free)},
		{"MemAvailable:", offsetof(struct memory, avail)},
		{"Buffers:", offsetof(struct memory, buffers)},
		{"Cached:", offsetof(struct memory, cached)},
		{"SwapTotal:", offsetof(struct memory, swap_total)},
		{"SwapFree:", offsetof(struct memory, swap_free)},
	};
	autofile FILE *f = fopen("/proc/meminfo", "re");
	char line[256], key[64];
	unsigned long long kib;
	size_t i;

	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%63s %llu", key, &kib) != 2)
			continue;
		for (i = 0; i < ARRAY_SIZE(keys); i++)
			if (!strcmp(key, keys[i].key))
				*(uint64_t *)(void *)((char *)m + keys[i].off) = kib << 10;
	}
}

struct process { /* bytes */
	uint64_t size, resident, shared;
};

static void read_process(struct process *p)
{
	autofile FILE *f = fopen("/proc/self/statm", "re");
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	unsigned long long size, resident, shared;

	if (!f || fscanf(f, "%llu %llu %llu", &size, &resident, &shared) != 3)
		return;
	p->size = size * page;
	p->resident = resident * page;
	p->shared = shared * page;
}

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? (double)part * 100 / (double)whole : 0;
}

static uint64_t ms(const struct timeval *t)
{
	return (uint64_t)t->tv_sec * 1000 + (uint64_t)t->tv_usec / 1000;
}

static void print_mem(const struct memory *m, struct buf *out)
{
	buf_fmt(out,
		",\"mem\":{\"Total\":%llu,\"Used\":%llu,\"Free\":%llu,\"BuffCache\":%llu,"
		"\"ActualFree\":%llu,\"ActualUsed\":%llu,\"SwapTotal\":%llu,\"SwapFree\":%llu,"
		"\"SwapUsed\":%llu}",
		(unsigned long long)m->total, (unsigned long long)(m->total - m->free),
		(unsigned long long)m->free, (unsigned long long)(m->buffers + m->cached),
		(unsigned long long)m->avail, (unsigned long long)(m->total - m->avail),
		(unsigned long long)m->swap_total, (unsigned long long)m->swap_free,
		(unsigned long long)(m->swap_total - m->swap_free));
}

static void print_proc(const struct process *p, const struct rusage *ru, double cpu,
		       struct buf *out)
{
	uint64_t user = ms(&ru->ru_utime), sys = ms(&ru->ru_stime);

	buf_fmt(out,
		",\"proc\":{\"CPU\":{\"User\":%llu,\"System\":%llu,\"Total\":%llu,\"LastTime\":0,"
		"\"Percent\":%.2f},\"Mem\":{\"Size\":%llu,\"Resident\":%llu,\"Share\":%llu}}",
		(unsigned long long)user, (unsigned long long)sys, (unsigned long long)(user + sys),
		cpu, (unsigned long long)p->size, (unsigned long long)p->resident,
		(unsigned long long)p->shared);
}

void sysinfo_print(struct api *a, bool whole, struct buf *out)
{
	int64_t up = MAX(cluster_uptime_ns(a->cluster) / 1000000, INT64_C(1));
	int cpus = MAX(get_nprocs(), 1);
	struct process p = {};
	struct memory m = {};
	double load[3] = {};
	struct rusage ru;
	double cpu;

	read_memory(&m);
	read_process(&p);
	getrusage(RUSAGE_SELF, &ru);
	(void)!getloadavg(load, 3);
	cpu = percent(ms(&ru.ru_utime) + ms(&ru.ru_stime), (uint64_t)up * (uint64_t)cpus);
	buf_fmt(out,
		"{\"mem_used\":%llu,\"mem_avail\":%llu,\"pct_mem_used\":%.2f,\"pct_cpu_used\":%.2f,"
		"\"load_avg\":{\"One\":%.2f,\"Five\":%.2f,\"Fifteen\":%.2f},\"cpu_util\":%d",
		(unsigned long long)p.resident, (unsigned long long)m.avail,
		percent(p.resident, m.total), cpu, load[0], load[1], load[2],
		(int)MIN(load[0] * 100 / cpus, 100.0));
	print_mem(&m, out);
	print_proc(&p, &ru, cpu, out);
	if (whole && a->store)
		sysinfo_print_fs(a, out);
	buf_char(out, '}');
}
