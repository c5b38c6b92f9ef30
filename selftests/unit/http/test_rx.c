/* SPDX-License-Identifier: BSD-2-Clause */
/* Bodies streamed into sinks: pieces, order, back-pressure, and every way to break off. */
#include "live.h"

struct upload {
	uint64_t bytes, sum;
	unsigned int writes;
	size_t largest;
	bool fail;
};

static atomic_int begun, ended, aborted, freed, busy;

static void upload_free(void *p)
{
	free(p);
	atomic_fetch_add(&freed, 1);
}

static int sink_write(struct http_txn *t, const void *p, size_t n)
{
	struct upload *u = t->user;
	const unsigned char *b = p;
	size_t i;

	ASSERT_EQ(atomic_fetch_add(&busy, 1), 0); /* tests run one upload at a time */
	for (i = 0; i < n; i++)
		u->sum = u->sum * 31 + b[i];
	u->bytes += n;
	u->writes++;
	u->largest = MAX(u->largest, n);
	atomic_fetch_sub(&busy, 1);
	if (!u->fail)
		return 0;
	http_error(t, 507, NULL, "no space");
	return -ENOSPC;
}

static void sink_end(struct http_txn *t)
{
	struct upload *u = t->user;
	struct buf b = BUF_INIT;

	atomic_fetch_add(&ended, 1);
	buf_fmt(&b, "%llu %llx %u %zu", (unsigned long long)u->bytes, (unsigned long long)u->sum,
		u->writes, u->largest);
	http_reply_buf(t, "text/plain", &b);
}

static void sink_abort(struct http_txn *t)
{
	ASSERT_TRUE(t->user != NULL);
	atomic_fetch_add(&aborted, 1);
}

static const struct http_sink sink = {sink_write, sink_end, sink_abort};

static void put(struct http_txn *t)
{
	struct upload *u = calloc(1, sizeof(*u));

	u->fail = http_param_true(t, "fail");
	t->user = u;
	t->user_free = upload_free;
	atomic_fetch_add(&begun, 1);
	http_receive(t, 64 << 20, &sink);
}

static void put_later(struct http_txn *t)
{
	http_run(t, t->ctx, put);
}

static void collected(struct http_txn *t)
{
	http_reply_text(t, 200, buf_cstr(&t->body));
}

static void collect_from_pool(struct http_txn *t)
{
	http_collect(t, 1000, t->ctx, collected);
}

static void collect_later(struct http_txn *t)
{
	http_run(t, t->ctx, collect_from_pool);
}

static void hello(struct http_txn *t)
{
	http_reply_text(t, 200, "hello");
}

static void start(struct live *s)
{
	static struct http_route routes[] = {
		{"/put-later", BIT(SMAP_NET_PUBLIC), BIT(HTTP_PUT), put_later, NULL},
		{"/collect-later", BIT(SMAP_NET_PUBLIC), BIT(HTTP_PUT), collect_later, NULL},
		{"/put", BIT(SMAP_NET_PUBLIC), BIT(HTTP_PUT), put, NULL},
		{"/hello", BIT(SMAP_NET_PUBLIC), BIT(HTTP_GET), hello, NULL},
	};

	atomic_store(&begun, 0);
	atomic_store(&ended, 0);
	atomic_store(&aborted, 0);
	atomic_store(&freed, 0);
	live_init(s, routes, ARRAY_SIZE(routes));
}

static char *body_make(size_t n, uint64_t *ret_sum)
{
	char *b = malloc(n ? n : 1);
	uint64_t sum = 0, x = 88172645463325252U;
	size_t i;

	for (i = 0; i < n; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		b[i] = (char)x;
		sum = sum * 31 + (unsigned char)b[i];
	}
	*ret_sum = sum;
	return b;
}

static void put_head(int fd, size_t n, const char *query, const char *more)
{
	char head[256];

	snprintf(head, sizeof(head),
		 "PUT /put%s HTTP/1.1\r\nHost: a\r\n%sContent-Length: %zu\r\n\r\n", query, more, n);
	raw_str(fd, head);
}

static void body_is(const struct raw_resp *r, size_t n, uint64_t sum)
{
	unsigned long long bytes, got;
	unsigned int writes;
	size_t largest;

	ASSERT_EQ(r->status, 200);
	ASSERT_EQ(sscanf(r->body.data, "%llu %llx %u %zu", &bytes, &got, &writes, &largest), 4);
	ASSERT_EQ(bytes, n);
	ASSERT_HEX(got, sum);
	ASSERT_EQ(writes, (n + (1 << 20) - 1) >> 20);
	ASSERT_TRUE(largest <= 1 << 20);
}

static void test_sizes(void)
{
	static const size_t sizes[] = {0, 1, 16384, 1048575, 1048576, 1048577, 2097152, 10000000};
	struct raw_resp r = {};
	struct live s;
	size_t i;
	int fd;

	start(&s);
	live_start(&s);
	fd = raw_open(&s);
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		uint64_t sum;
		char *b = body_make(sizes[i], &sum);

		put_head(fd, sizes[i], "", "");
		ASSERT_EQ(raw_send(fd, b, sizes[i]), sizes[i]);
		raw_str(fd, "GET /hello HTTP/1.1\r\nHost: a\r\n\r\n");
		ASSERT_EQ(raw_read(fd, &r, false), 0);
		body_is(&r, sizes[i], sum);
		ASSERT_EQ(raw_read(fd, &r, false), 0);
		ASSERT_STR(r.body.data, "hello");
		if (sizes[i]) {
			put_head(fd, sizes[i], "", "Expect: 100-continue\r\n");
			ASSERT_EQ(raw_read(fd, &r, false), 0);
			ASSERT_EQ(r.status, 100);
			ASSERT_EQ(raw_send(fd, b, sizes[i]), sizes[i]);
			ASSERT_EQ(raw_read(fd, &r, false), 0);
			body_is(&r, sizes[i], sum);
		}
		free(b);
	}
	close(fd);
	raw_free(&r);
	live_stop(&s);
	ASSERT_EQ(atomic_load(&ended), 15);
	ASSERT_EQ(atomic_load(&aborted), 0);
	ASSERT_EQ(atomic_load(&freed), 15);
}

static void test_chunked(void)
{
	struct raw_resp r = {};
	size_t n = 5000000, off, step;
	struct live s;
	uint64_t sum;
	char *b = body_make(n, &sum);
	int fd;

	start(&s);
	live_start(&s);
	fd = raw_open(&s);
	for (step = 777; step < n; step *= 30) {
		raw_str(fd, "PUT /put HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n");
		for (off = 0; off < n; off += step) {
			char line[32];
			size_t len = MIN(step, n - off);

			snprintf(line, sizeof(line), "%zX\r\n", len);
			raw_str(fd, line);
			ASSERT_EQ(raw_send(fd, b + off, len), len);
			raw_str(fd, "\r\n");
		}
		raw_str(fd, "0\r\n\r\nGET /hello HTTP/1.1\r\nHost: a\r\n\r\n");
		ASSERT_EQ(raw_read(fd, &r, false), 0);
		body_is(&r, n, sum);
		ASSERT_EQ(raw_read(fd, &r, false), 0);
		ASSERT_STR(r.body.data, "hello");
	}
	close(fd);
	free(b);
	raw_free(&r);
	live_stop(&s);
}

/* The decision to take the body may come from a pool thread. */
static void test_later(void)
{
	struct raw_resp r = {};
	struct live s;
	uint64_t sum;
	char *b = body_make(3000000, &sum);
	struct pool *pool = NULL;
	int fd, i;

	start(&s);
	ASSERT_EQ(pool_new("later", 1, 10, &pool), 0);
	for (i = 0; i < 2; i++)
		((struct http_route *)s.opts.routes)[i].ctx = pool;
	live_start(&s);
	fd = raw_open(&s);
	raw_str(fd, "PUT /put-later HTTP/1.1\r\nHost: a\r\nContent-Length: 3000000\r\n"
		    "Expect: 100-continue\r\n\r\n");
	ASSERT_EQ(raw_read(fd, &r, false), 0);
	ASSERT_EQ(r.status, 100);
	ASSERT_EQ(raw_send(fd, b, 3000000), 3000000);
	ASSERT_EQ(raw_read(fd, &r, false), 0);
	body_is(&r, 3000000, sum);
	raw_str(fd, "PUT /collect-later HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc");
	ASSERT_EQ(raw_read(fd, &r, false), 0);
	ASSERT_STR(r.body.data, "abc");
	for (i = 0; i < 20; i++) { /* the peer goes about when the decision is made */
		int gone = raw_open(&s);

		raw_str(gone,
			i % 2 ? "PUT /put-later HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\n"
			      : "PUT /collect-later HTTP/1.1\r\nHost: a\r\n"
				"Content-Length: 3\r\n\r\n");
		raw_reset(gone);
	}
	close(fd);
	live_stop(&s);
	pool_free(pool);
	free(b);
	raw_free(&r);
	ASSERT_EQ(atomic_load(&begun), atomic_load(&ended) + atomic_load(&aborted));
	ASSERT_EQ(atomic_load(&begun), atomic_load(&freed));
}

/* Cut anywhere, by FIN or RST: the sink is told, once, and everything is freed. */
static void test_cut(void)
{
	static const size_t cuts[] = {0, 1, 1000000, 1048576, 1048577, 2500000, 4999999};
	uint64_t sum;
	char *b = body_make(5000000, &sum);
	struct live s;
	size_t i;

	start(&s);
	live_start(&s);
	for (i = 0; i < ARRAY_SIZE(cuts) * 4; i++) {
		int fd = raw_open(&s);
		size_t cut = cuts[i / 4];

		if (i % 2)
			put_head(fd, 5000000, "", "");
		else
			raw_str(fd, "PUT /put HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n"
				    "\r\n4c4b40\r\n");
		ASSERT_EQ(raw_send(fd, b, cut), cut);
		ASSERT_TRUE(live_reaches(&begun, (int)i + 1));
		if (i % 4 < 2)
			raw_reset(fd);
		else
			close(fd);
		ASSERT_TRUE(live_reaches(&freed, (int)i + 1));
	}
	live_stop(&s);
	free(b);
	ASSERT_EQ(atomic_load(&aborted), (int)ARRAY_SIZE(cuts) * 4);
	ASSERT_EQ(atomic_load(&ended), 0);
}

/* A sink that fails, a body too long, malformed chunks: answered, and abort came first. */
static void test_refused(void)
{
	struct raw_resp r = {};
	struct live s;
	uint64_t sum;
	char *b = body_make(5000000, &sum);
	int fd;

	start(&s);
	live_start(&s);
	fd = raw_open(&s);
	put_head(fd, 5000000, "?fail=true", "");
	ASSERT_EQ(raw_send(fd, b, 5000000), 5000000);
	ASSERT_EQ(raw_read(fd, &r, false), 0);
	ASSERT_EQ(r.status, 507);
	ASSERT_EQ(atomic_load(&aborted), 1);
	put_head(fd, 3, "?fail=true", "");
	raw_str(fd, "abc");
	ASSERT_EQ(raw_read(fd, &r, false), 0);
	ASSERT_EQ(r.status, 507);
	raw_str(fd, "GET /hello HTTP/1.1\r\nHost: a\r\n\r\n");
	ASSERT_EQ(raw_read(fd, &r, false), 0);
	ASSERT_STR(r.body.data, "hello");
	put_head(fd, (64 << 20) + 1, "", "Expect: 100-continue\r\n");
	ASSERT_EQ(raw_read(fd, &r, false), 0);
	ASSERT_EQ(r.status, 413);
	ASSERT_TRUE(raw_eof(fd));
	close(fd);
	ASSERT_EQ(atomic_load(&aborted), 3);
	fd = raw_open(&s);
	raw_str(fd, "PUT /put HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
		    "3\r\nabc\r\nxyz\r\n");
	ASSERT_EQ(raw_read(fd, &r, false), 0);
	ASSERT_EQ(r.status, 400);
	ASSERT_TRUE(raw_eof(fd));
	close(fd);
	ASSERT_EQ(atomic_load(&aborted), 4);
	raw_free(&r);
	free(b);
	live_stop(&s);
	ASSERT_EQ(atomic_load(&freed), 4);
}

/* A body that stops is given up after its time, with an answer. */
static void test_late(void)
{
	struct raw_resp r = {};
	struct live s;
	int fd;

	start(&s);
	s.opts.limits.body_ms = 50;
	live_start(&s);
	fd = raw_open(&s);
	put_head(fd, 10, "", "");
	raw_str(fd, "12345");
	ASSERT_EQ(raw_read(fd, &r, false), 0);
	ASSERT_EQ(r.status, 408);
	ASSERT_TRUE(raw_eof(fd));
	close(fd);
	raw_free(&r);
	live_stop(&s);
	ASSERT_EQ(atomic_load(&aborted), 1);
}

UNIT_MAIN("http/rx", {"sizes", test_sizes}, {"chunked", test_chunked},
	  {"decided later", test_later}, {"cut off", test_cut}, {"refused", test_refused},
	  {"late", test_late})
