/* SPDX-License-Identifier: BSD-2-Clause */
/* get, put, head, redirect, list: a load on any endpoint. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/bits.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "cmp.h"
#include "load.h"
#include "meter.h"
#include "options.h"

#define OBJECTS_MAX 1000000
#define SECONDS_DEFAULT 5
#define RANGES_MAX 64 /* different ranges of one object */

struct load_verb {
	const char *name, *method;
	const char *endpoint, *bucket, *object;
	uint64_t objects, connections, size, range, rate, pid;
	int64_t limit_ns; /* 0: until each request was made once */
	struct endpoint to;
};

/* Letters that a path may hold as they are; the rest is encoded. */
static void encode(struct buf *b, const char *s)
{
	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;

		if ((c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z') ||
		    strchr("-._~/", c))
			buf_char(b, (char)c);
		else
			buf_fmt(b, "%%%02X", c);
	}
}

static void object_path(const struct load_verb *v, uint64_t i, struct buf *b)
{
	buf_str(b, "/v1/objects/");
	encode(b, v->bucket);
	buf_char(b, '/');
	encode(b, v->object);
	if (v->objects)
		buf_fmt(b, "%" PRIu64, i);
}

/* The size of the first object, to choose ranges of it. */
static int object_size(const struct load_verb *v, uint64_t *ret, struct buf *why)
{
	autobuf struct buf path = BUF_INIT;
	struct client c = CLIENT_INIT;
	struct answer a = {};
	struct ask ask = {.method = "HEAD", .follow = true};
	int r;

	object_path(v, 0, &path);
	ask.path = buf_cstr(&path);
	client_init(&c, &v->to);
	r = client_ask(&c, &ask, &a);
	if (!r && a.status != 200) {
		buf_fmt(why, "HEAD %s: status %d", ask.path, a.status);
		r = -EREMOTEIO;
	}
	*ret = a.length;
	answer_free(&a);
	client_deinit(&c);
	return r;
}

static void add_ranges(struct plan *p, const char *path, uint64_t size, uint64_t range)
{
	uint64_t n = MAX(size / range, UINT64_C(1)), i;
	char header[80];

	for (i = 0; i < MIN(n, (uint64_t)RANGES_MAX); i++) {
		uint64_t off = i * n / MIN(n, (uint64_t)RANGES_MAX) * range;

		snprintf(header, sizeof(header), "Range: bytes=%" PRIu64 "-%" PRIu64 "\r\n", off,
			 off + range - 1);
		plan_add(p, path, header);
	}
}

static int make_plan(const struct load_verb *v, struct plan *p, struct buf *why)
{
	autobuf struct buf path = BUF_INIT;
	uint64_t i, size = 0;
	int r = v->range ? object_size(v, &size, why) : 0;

	for (i = 0; !r && i < MAX(v->objects, UINT64_C(1)); i++) {
		buf_reset(&path);
		object_path(v, i, &path);
		r = path.err;
		if (!r && v->range)
			add_ranges(p, path.data, size, v->range);
		else if (!r)
			plan_add(p, path.data, p->body ? "Expect: 100-continue\r\n" : NULL);
	}
	return r ? r : p->err;
}

static void print(struct bench_out *out, const struct load_verb *v, const struct load_result *res)
{
	double s = (double)res->wall_ns / 1e9;

	bench_case(out, v->name);
	bench_u64(out, "connections", v->connections);
	bench_u64(out, "requests", res->requests);
	bench_tenths(out, "requests_per_s", (double)res->requests / s);
	bench_ratio(out, "gib_per_s", (double)res->bytes / s / (double)(1U << 30));
	bench_tenths(out, "p50_us", (double)hist_quantile(&res->latency, 0.5) / 1e3);
	bench_tenths(out, "p99_us", (double)hist_quantile(&res->latency, 0.99) / 1e3);
	bench_tenths(out, "p999_us", (double)hist_quantile(&res->latency, 0.999) / 1e3);
	if (v->pid && res->requests)
		bench_ratio(out, "server_cpu_us",
			    (double)res->cpu_ns / 1e3 / (double)res->requests);
	bench_case_end(out);
}

static int run(struct bench_out *out, const struct load_verb *v, struct plan *p)
{
	autoclean(meter_deinit) struct meter meter = METER_INIT;
	autofree struct load_result *res = malloc(sizeof(*res));
	autobuf struct buf why = BUF_INIT;
	struct load_opts o = {.plan = p,
			      .to = &v->to,
			      .connections = (unsigned int)v->connections,
			      .limit_ns = v->limit_ns,
			      .rate = v->rate,
			      .follow = strcmp(v->name, "redirect") != 0,
			      .status = strcmp(v->name, "redirect") != 0 ? 0 : 307,
			      .server = v->pid ? &meter : NULL};
	int r;

	r = res ? 0 : -ENOMEM;
	if (!r && v->pid && meter_add_process(&meter, (pid_t)v->pid) < 0) {
		buf_fmt(&why, "--server-pid: no process %" PRIu64, v->pid);
		r = -ESRCH;
	}
	r = r ? r : make_plan(v, p, &why);
	r = r ? r : load_run(&o, res, &why);
	if (r < 0)
		return bench_error(out, BENCH_FAILED, "%s",
				   why.len ? buf_cstr(&why) : strerror(-r));
	print(out, v, res);
	return BENCH_OK;
}

static const char *default_endpoint(void)
{
	const char *e = getenv("PAGEWIRE_ENDPOINT");

	e = e ? e : getenv("AIS_ENDPOINT");
	return e ? e : "http://localhost:8080";
}

static int parse(struct bench_out *out, struct load_verb *v, int argc, char **argv)
{
	const struct option_row rows[] = {
		{"--endpoint", OPTION_TEXT, &v->endpoint, 0, 0},
		{"--bucket", OPTION_TEXT, &v->bucket, 0, 0},
		{"--object", OPTION_TEXT, &v->object, 0, 0},
		{"--objects", OPTION_COUNT, &v->objects, 1, OBJECTS_MAX},
		{"--connections", OPTION_COUNT, &v->connections, 1, 65536},
		{"--seconds", OPTION_SECONDS, &v->limit_ns, 0, 0},
		{"--size", OPTION_SIZE, &v->size, 0, UINT64_C(1) << 36},
		{"--range", OPTION_SIZE, &v->range, 1, UINT64_C(1) << 40},
		{"--rate", OPTION_COUNT, &v->rate, 1, 100000000},
		{"--server-pid", OPTION_COUNT, &v->pid, 1, 1U << 22},
		{},
	};
	int r = options_parse(out, rows, argc, argv);

	if (r)
		return r;
	if (!v->bucket)
		return bench_error(out, BENCH_USAGE, "%s: --bucket is missing", v->name);
	r = endpoint_parse(v->endpoint, &v->to);
	if (r < 0)
		return bench_error(out, BENCH_USAGE,
				   "--endpoint %s: not http://HOST:PORT of a "
				   "known host",
				   v->endpoint);
	return BENCH_OK;
}

static int run_verb(struct bench_out *out, struct load_verb *v, int argc, char **argv)
{
	autoclean(plan_deinit) struct plan p = {};
	autofree char *body = NULL;
	bool put = !strcmp(v->method, "PUT");
	int r;

	v->endpoint = default_endpoint();
	v->object = "bench-";
	v->connections = 16;
	v->size = 1 << 20;
	r = parse(out, v, argc, argv);
	if (r)
		return r;
	if (!v->limit_ns && !(put && v->objects))
		v->limit_ns = SECONDS_DEFAULT * INT64_C(1000000000);
	if (v->range && strcmp(v->name, "get") != 0)
		return bench_error(out, BENCH_USAGE, "--range goes with get only");
	plan_init(&p, v->method, v->to.host);
	if (put) {
		body = malloc(v->size + 1);
		if (!body)
			return bench_error(out, BENCH_FAILED, "no memory for --size");
		memset(body, 'x', v->size);
		p.body = body;
		p.body_len = v->size;
	}
	return run(out, v, &p);
}

int bench_get(struct bench_out *out, int argc, char **argv)
{
	return run_verb(out, &(struct load_verb){.name = "get", .method = "GET"}, argc, argv);
}

int bench_put(struct bench_out *out, int argc, char **argv)
{
	return run_verb(out, &(struct load_verb){.name = "put", .method = "PUT"}, argc, argv);
}

int bench_head(struct bench_out *out, int argc, char **argv)
{
	return run_verb(out, &(struct load_verb){.name = "head", .method = "HEAD"}, argc, argv);
}

int bench_redirect(struct bench_out *out, int argc, char **argv)
{
	return run_verb(out, &(struct load_verb){.name = "redirect", .method = "GET"}, argc, argv);
}

int bench_list(struct bench_out *out, int argc, char **argv)
{
	autobuf struct buf why = BUF_INIT;
	struct list_pages p = {.page = 10000};
	struct client c = CLIENT_INIT;
	const char *url = default_endpoint();
	uint64_t page = 10000;
	struct endpoint to;
	const struct option_row rows[] = {
		{"--endpoint", OPTION_TEXT, &url, 0, 0},
		{"--bucket", OPTION_TEXT, &p.bucket, 0, 0},
		{"--prefix", OPTION_TEXT, &p.prefix, 0, 0},
		{"--page", OPTION_COUNT, &page, 1, 100000},
		{},
	};
	int64_t begin;
	int r = options_parse(out, rows, argc, argv);

	if (r)
		return r;
	if (!p.bucket || endpoint_parse(url, &to) < 0)
		return bench_error(out, BENCH_USAGE,
				   "list: --bucket, or a good --endpoint, is missing");
	p.page = (unsigned int)page;
	p.to = &to;
	client_init(&c, &to);
	begin = mono_ns();
	r = list_all(&c, &p, &why);
	client_deinit(&c);
	buf_free(&p.last_token);
	if (r < 0)
		return bench_error(out, BENCH_FAILED, "%s", buf_cstr(&why));
	bench_case(out, "list");
	bench_u64(out, "names", p.names);
	bench_u64(out, "pages", p.pages);
	bench_u64(out, "bytes", p.bytes);
	bench_tenths(out, "names_per_s", (double)p.names / ((double)(mono_ns() - begin) / 1e9));
	bench_case_end(out);
	return BENCH_OK;
}
