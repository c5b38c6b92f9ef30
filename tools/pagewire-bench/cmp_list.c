/* SPDX-License-Identifier: BSD-2-Clause */
/* Listing at the gateway beside the folder listing of the peer, and how its pages compare. */
#include "cmp.h"

#include <errno.h>

#include "base/bits.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "load.h"
#include "pair.h"

#define FORMAT "list/n%07u.jpg"
#define OBJECT_BYTES 10
#define PAGE 10000
#define SMALL_PAGE 1000
#define SMALL_ROUNDS 21

/* ---- pages ---- */

int list_page(struct client *c, const struct list_pages *p, const char *token, struct answer *ret,
	      struct buf *why)
{
	autobuf struct buf body = BUF_INIT, path = BUF_INIT;
	struct ask ask = {.method = "GET", .headers = "Content-Type: application/json\r\n"};
	int r;

	buf_fmt(&path, "/v1/buckets/%s", p->bucket);
	buf_fmt(&body,
		"{\"action\":\"list\",\"value\":{\"props\":\"name,size\",\"pagesize\":%u,"
		"\"prefix\":",
		p->page);
	buf_json_str(&body, p->prefix ? p->prefix : "");
	buf_str(&body, ",\"continuation_token\":");
	buf_json_str(&body, token);
	buf_str(&body, "}}");
	if (body.err || path.err)
		return -ENOMEM;
	ask.path = path.data;
	ask.body = body.data;
	ask.body_len = body.len;
	r = client_ask(c, &ask, ret);
	if (!r && ret->status != 200) {
		buf_fmt(why, "list of %s: status %d: %.300s", p->bucket, ret->status,
			buf_cstr(&ret->body));
		r = -EREMOTEIO;
	} else if (r) {
		buf_fmt(why, "list of %s at %s: %s", p->bucket, p->to->host, strerror(-r));
	}
	return r;
}

/* The token for the next page, which names no character that JSON escapes; empty: the end. */
static int next_token(const struct answer *a, struct buf *token)
{
	static const char key[] = "\"continuation_token\":\"";
	const char *p = memmem(a->body.data, a->body.len, key, sizeof(key) - 1);
	const char *end = p ? strchr(p + sizeof(key) - 1, '"') : NULL;

	if (!end)
		return -EPROTO;
	p += sizeof(key) - 1;
	buf_reset(token);
	buf_append(token, p, (size_t)(end - p));
	return token->err;
}

/* Entries of a page, each of which has a name. */
static uint64_t count_names(const struct answer *a)
{
	static const char key[] = "{\"name\":";
	const char *p = a->body.data, *end = p + a->body.len;
	uint64_t n = 0;

	while ((p = memmem(p, (size_t)(end - p), key, sizeof(key) - 1))) {
		p += sizeof(key) - 1;
		n++;
	}
	return n;
}

int list_all(struct client *c, struct list_pages *p, struct buf *why)
{
	autobuf struct buf token = BUF_INIT;
	struct answer a = {};
	int r;

	do {
		r = list_page(c, p, buf_cstr(&token), &a, why);
		if (!r) {
			uint64_t n = count_names(&a);

			p->pages++;
			p->bytes += a.body.len;
			p->names += n;
			if (n == p->page) {
				buf_reset(&p->last_token);
				buf_append(&p->last_token, buf_cstr(&token), token.len);
			}
			r = next_token(&a, &token);
			if (r < 0)
				buf_str(why, "a page without a continuation_token");
		}
	} while (!r && token.len);
	answer_free(&a);
	return r;
}

/* ---- against the peer ---- */

struct list_side {
	struct lab *lab;
	struct client client;
	struct meter *server;
	unsigned int objects;
	bool ours;
};

static int list_peer(struct list_side *s)
{
	struct ask ask = {.method = "GET", .path = "/list/"};
	struct answer a = {};
	int r = client_ask(&s->client, &ask, &a);

	if (!r && (a.status != 200 || a.body.len < (uint64_t)s->objects * 20)) {
		buf_fmt(&s->lab->why, "folder listing: status %d, %zu bytes", a.status, a.body.len);
		r = -EREMOTEIO;
	}
	answer_free(&a);
	return r;
}

static int list_ours(struct list_side *s)
{
	struct list_pages p = {
		.to = &s->lab->to_gateway, .bucket = LAB_BUCKET, .prefix = "list/", .page = PAGE};
	int r = list_all(&s->client, &p, &s->lab->why);

	buf_free(&p.last_token);
	if (!r && p.names != s->objects) {
		buf_fmt(&s->lab->why, "%llu names listed of %u", (unsigned long long)p.names,
			s->objects);
		r = -EBADMSG;
	}
	return r;
}

/* Whole listings until the time of a round is over. */
static int list_round(void *arg, struct sample *ret)
{
	struct list_side *s = arg;
	int64_t begin, cpu = 0, cpu_end = 0;
	int r;

	lab_pin(s->lab->cpu_server, s->lab->cpu_server);
	r = meter_read(s->server, &cpu);
	begin = mono_ns();
	while (!r && ret->wall_ns < s->lab->o.round_ns) {
		r = s->ours ? list_ours(s) : list_peer(s);
		ret->units += s->objects;
		ret->wall_ns = mono_ns() - begin;
	}
	r = r ? r : meter_read(s->server, &cpu_end);
	ret->cpu_ns = cpu_end - cpu;
	return r;
}

static int run_list(struct lab *lab, unsigned int objects)
{
	autoclean(meter_deinit) struct meter ours = METER_INIT, peer = METER_INIT;
	struct list_side a = {.lab = lab, .server = &ours, .objects = objects, .ours = true},
			 b = {.lab = lab, .server = &peer, .objects = objects};
	struct pair_case pc = {
		.name = "list", .unit = "name", .ours = {list_round, &a}, .peer = {list_round, &b}};
	int r;

	client_init(&a.client, &lab->to_gateway);
	client_init(&b.client, &lab->to_peer);
	r = meter_add_session(&ours, lab->target.pid);
	r = r ? r : meter_add_session(&ours, lab->gateway.pid);
	r = r ? r : meter_add_session(&peer, lab->peer.pid);
	r = r ? lab_failed(lab, "list") : pair_run(lab, &pc);
	client_deinit(&a.client);
	client_deinit(&b.client);
	return r;
}

/* ---- the last page against the first ---- */

static int time_page(struct client *c, const struct list_pages *p, const char *token,
		     struct buf *why)
{
	struct answer a = {};
	int64_t begin = mono_ns();
	int r = list_page(c, p, token, &a, why);

	answer_free(&a);
	return r ? r : (int)MIN((mono_ns() - begin) / 1000, INT64_C(1) << 30);
}

static int run_pages(struct lab *lab)
{
	autoclean(client_deinit) struct client c = CLIENT_INIT;
	struct list_pages p = {.to = &lab->to_gateway,
			       .bucket = LAB_BUCKET,
			       .prefix = "list/",
			       .page = SMALL_PAGE};
	double first[SMALL_ROUNDS], last[SMALL_ROUNDS];
	int i, us = 0;

	lab_pin(lab->cpu_server, lab->cpu_server);
	client_init(&c, &lab->to_gateway);
	us = list_all(&c, &p, &lab->why);
	for (i = 0; us >= 0 && i < SMALL_ROUNDS; i++) {
		us = time_page(&c, &p, "", &lab->why);
		first[i] = us;
		if (us >= 0)
			us = time_page(&c, &p, buf_cstr(&p.last_token), &lab->why);
		last[i] = us;
	}
	buf_free(&p.last_token);
	if (us < 0)
		return lab_failed(lab, "list-pages");
	bench_case(lab->out, "list-pages");
	bench_u64(lab->out, "names", p.names);
	bench_u64(lab->out, "page", SMALL_PAGE);
	bench_tenths(lab->out, "first_us", median(first, SMALL_ROUNDS));
	bench_tenths(lab->out, "last_us", median(last, SMALL_ROUNDS));
	bench_ratio(lab->out, "last_over_first",
		    median(last, SMALL_ROUNDS) / median(first, SMALL_ROUNDS));
	bench_text(lab->out, "congestion", lab->congestion);
	bench_case_end(lab->out);
	return BENCH_OK;
}

int cmp_list(struct lab *lab, unsigned int objects)
{
	bool all = lab_wants(lab, "list"), pages = lab_wants(lab, "list-pages");
	int r;

	if (!all && !pages)
		return BENCH_OK;
	r = lab_put(lab, FORMAT, objects, OBJECT_BYTES);
	r = r ? r : lab_write(lab, FORMAT, objects, OBJECT_BYTES);
	if (r < 0)
		return lab_failed(lab, "list");
	r = all ? run_list(lab, objects) : BENCH_OK;
	return r || !pages ? r : run_pages(lab);
}
