/* SPDX-License-Identifier: BSD-2-Clause */
/* What connections may have together: a peer's share, requests in flight, memory. */
#include "http/conn.h"
#include "live.h"

/* ---- counting ---- */

static struct sockaddr_storage addr(const char *text, uint16_t port)
{
	struct sockaddr_storage ss = {};
	struct sockaddr_in *in = (struct sockaddr_in *)&ss;
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)&ss;

	if (inet_pton(AF_INET, text, &in->sin_addr) == 1) {
		in->sin_family = AF_INET;
		in->sin_port = htons(port);
	} else {
		ASSERT_EQ(inet_pton(AF_INET6, text, &in6->sin6_addr), 1);
		in6->sin6_family = AF_INET6;
		in6->sin6_port = htons(port);
	}
	return ss;
}

/* Whether two addresses share what is counted. */
static bool same_peer(const char *a, enum smap_netid net_a, const char *b, enum smap_netid net_b)
{
	struct sockaddr_storage sa = addr(a, 1), sb = addr(b, 2);
	struct bounds_peer *pa = NULL, *pb = NULL;
	static struct bounds all;
	int r;

	bounds_init(&all);
	ASSERT_EQ(bounds_peer_take(&all, (struct sockaddr *)&sa, net_a, 1, &pa), 0);
	r = bounds_peer_take(&all, (struct sockaddr *)&sb, net_b, 1, &pb);
	ASSERT_TRUE(r == 0 || r == -EAGAIN);
	bounds_peer_give(&all, pa);
	bounds_peer_give(&all, pb);
	pa = pb = NULL;
	ASSERT_EQ(bounds_peer_take(&all, (struct sockaddr *)&sb, net_b, 1, &pb), 0);
	bounds_peer_give(&all, pb);
	bounds_peer_give(&all, NULL);
	bounds_deinit(&all);
	return r == -EAGAIN;
}

static void test_peers(void)
{
	enum smap_netid pub = SMAP_NET_PUBLIC;

	ASSERT_TRUE(same_peer("10.0.0.1", pub, "10.0.0.1", pub));
	ASSERT_TRUE(!same_peer("10.0.0.1", pub, "10.0.0.2", pub));
	ASSERT_TRUE(!same_peer("10.0.0.1", pub, "10.0.0.1", SMAP_NET_CONTROL));
	ASSERT_TRUE(same_peer("::ffff:10.0.0.1", pub, "10.0.0.1", pub));
	ASSERT_TRUE(same_peer("2001:db8::1", pub, "2001:db8::ffff:1:2:3", pub));
	ASSERT_TRUE(!same_peer("2001:db8::1", pub, "2001:db8:0:1::1", pub));
	ASSERT_TRUE(!same_peer("a00:1::", pub, "10.0.0.1", pub));
}

static void test_amounts(void)
{
	atomic_size_t used = 0;

	ASSERT_TRUE(bound_take(&used, 60, 100));
	ASSERT_TRUE(bound_tight(&used, 100) && !bound_tight(&used, 120) && !bound_tight(&used, 0));
	ASSERT_TRUE(!bound_take(&used, 41, 100) && !bound_take(&used, SIZE_MAX, 100));
	ASSERT_TRUE(bound_take(&used, 40, 100));
	ASSERT_TRUE(bound_take(&used, 1000, 0));
	bound_give(&used, 1100);
	ASSERT_EQ(atomic_load(&used), 0);
}

/* ---- a live server ---- */

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static atomic_int begun, freed, told_gone;

static void fast(struct http_txn *t)
{
	http_reply_text(t, 200, "fast");
}

static void held_on_pool(struct http_txn *t)
{
	atomic_fetch_add(&begun, 1);
	pthread_mutex_lock(&gate);
	pthread_mutex_unlock(&gate);
	fast(t);
}

static void held(struct http_txn *t)
{
	http_run(t, ((struct live *)t->ctx)->io, held_on_pool);
}

static void gone_on_pool(struct http_txn *t)
{
	int64_t until = mono_ns() + LIVE_WAIT_MS * INT64_C(1000000);

	atomic_fetch_add(&begun, 1);
	while (!http_gone(t) && mono_ns() < until)
		sched_yield();
	atomic_fetch_add(&told_gone, http_gone(t));
	fast(t);
}

static void gone(struct http_txn *t)
{
	http_run(t, ((struct live *)t->ctx)->io, gone_on_pool);
}

static void count_body(struct http_txn *t)
{
	struct buf b = BUF_INIT;

	buf_fmt(&b, "%zu", t->body.len);
	http_reply_buf(t, "text/plain", &b);
}

static void collect(struct http_txn *t)
{
	http_collect(t, 16 << 20, NULL, count_body);
}

static void large(struct http_txn *t)
{
	struct buf b = BUF_INIT;

	ASSERT_EQ(buf_reserve(&b, 8 << 20), 0);
	memset(b.data, 'x', 8 << 20);
	b.len = 8 << 20;
	http_reply_buf(t, "text/plain", &b);
}

struct upload {
	uint64_t bytes, sum;
	size_t largest;
};

static void upload_free(void *p)
{
	free(p);
	atomic_fetch_add(&freed, 1);
}

static atomic_int writing; /* sinks at work */

static int sink_write(struct http_txn *t, const void *p, size_t n)
{
	struct upload *u = t->user;
	const unsigned char *b = p;
	size_t i;

	atomic_fetch_add(&writing, 1);
	pthread_mutex_lock(&gate);
	pthread_mutex_unlock(&gate);
	atomic_fetch_sub(&writing, 1);

	for (i = 0; i < n; i++)
		u->sum = u->sum * 31 + b[i];
	u->bytes += n;
	u->largest = MAX(u->largest, n);
	return 0;
}

static void sink_end(struct http_txn *t)
{
	struct upload *u = t->user;
	struct buf b = BUF_INIT;

	buf_fmt(&b, "%llu %llx %zu", (unsigned long long)u->bytes, (unsigned long long)u->sum,
		u->largest);
	http_reply_buf(t, "text/plain", &b);
}

static void sink_abort(struct http_txn *t)
{
	(void)t;
}

static void put(struct http_txn *t)
{
	static const struct http_sink sink = {sink_write, sink_end, sink_abort};

	t->user = calloc(1, sizeof(struct upload));
	t->user_free = upload_free;
	atomic_fetch_add(&begun, 1);
	http_receive(t, 1 << 30, &sink);
}

static void start(struct live *s)
{
	static struct http_route routes[] = {
		{"/fast", BIT(SMAP_NET_PUBLIC), BIT(HTTP_GET), fast, NULL},
		{"/held", BIT(SMAP_NET_PUBLIC), BIT(HTTP_GET), held, NULL},
		{"/gone", BIT(SMAP_NET_PUBLIC), BIT(HTTP_GET), gone, NULL},
		{"/large", BIT(SMAP_NET_PUBLIC), BIT(HTTP_GET), large, NULL},
		{"/collect", BIT(SMAP_NET_PUBLIC), BIT(HTTP_PUT), collect, NULL},
		{"/put", BIT(SMAP_NET_PUBLIC), BIT(HTTP_PUT), put, NULL},
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(routes); i++)
		routes[i].ctx = s;
	atomic_store(&begun, 0);
	atomic_store(&freed, 0);
	atomic_store(&told_gone, 0);
	s->opts.routes = routes;
	s->opts.n_routes = ARRAY_SIZE(routes);
	live_start(s);
}

static int get(int fd, const char *path, struct raw_resp *r)
{
	char head[128];

	snprintf(head, sizeof(head), "GET %s HTTP/1.1\r\nHost: a\r\n\r\n", path);
	raw_str(fd, head);
	return raw_read(fd, r, false);
}

static int connect_from(const struct live *s, const char *source)
{
	struct sockaddr_storage from = addr(source, 0), to = addr("127.0.0.1", s->port);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct timeval tv = {.tv_sec = RAW_WAIT_S};

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv));
	ASSERT_EQ(bind(fd, (struct sockaddr *)&from, sizeof(struct sockaddr_in)), 0);
	ASSERT_EQ(connect(fd, (struct sockaddr *)&to, sizeof(struct sockaddr_in)), 0);
	return fd;
}

/* One address has its share of connections, another address still gets in. */
static void test_conns_of_a_peer(void)
{
	struct raw_resp r = {};
	struct live s;
	int fd[4], i;

	live_init(&s, NULL, 0);
	s.opts.limits.max_conns_peer = 2;
	s.opts.limits.max_conns_all = 3;
	start(&s);
	for (i = 0; i < 2; i++) {
		fd[i] = connect_from(&s, "127.0.0.2");
		ASSERT_EQ(get(fd[i], "/fast", &r), 0);
		ASSERT_EQ(r.status, 200);
	}
	fd[2] = connect_from(&s, "127.0.0.2");
	ASSERT_EQ(raw_read(fd[2], &r, false), 0);
	ASSERT_EQ(r.status, 503);
	ASSERT_TRUE(raw_eof(fd[2]));
	close(fd[2]);
	ASSERT_EQ(metrics_read(s.metrics, METRIC_CONN_REFUSED_PEER_N), 1);
	fd[2] = connect_from(&s, "127.0.0.3");
	ASSERT_EQ(get(fd[2], "/fast", &r), 0);
	ASSERT_EQ(r.status, 200);
	fd[3] = connect_from(&s, "127.0.0.4"); /* one too many of all */
	ASSERT_EQ(raw_read(fd[3], &r, false), 0);
	ASSERT_EQ(r.status, 503);
	ASSERT_EQ(metrics_read(s.metrics, METRIC_CONN_REFUSED_PEER_N), 1);
	ASSERT_EQ(metrics_read(s.metrics, METRIC_CONN_REFUSED_N), 2);
	for (i = 0; i < 4; i++)
		close(fd[i]);
	raw_free(&r);
	live_stop(&s);
}

/* Over the bound what needs a pool or a body is 503; what is answered at once is not. */
static void test_in_flight(void)
{
	static const char put_head[] = "PUT /put HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\n";
	struct raw_resp r = {};
	struct live s;
	int busy, fd;

	live_init(&s, NULL, 0);
	s.opts.limits.max_requests = 1;
	start(&s);
	pthread_mutex_lock(&gate);
	busy = raw_open(&s);
	raw_str(busy, "GET /held HTTP/1.1\r\nHost: a\r\n\r\n");
	ASSERT_TRUE(live_reaches(&begun, 1));
	fd = raw_open(&s);
	ASSERT_EQ(get(fd, "/held", &r), 0);
	ASSERT_EQ(r.status, 503);
	ASSERT_TRUE(raw_has(&r, "\r\nRetry-After: 1\r\n"));
	raw_str(fd, put_head);
	raw_str(fd, "abc");
	ASSERT_EQ(raw_read(fd, &r, false), 0);
	ASSERT_EQ(r.status, 503);
	ASSERT_TRUE(raw_has(&r, "\r\nRetry-After: 1\r\n"));
	ASSERT_EQ(get(fd, "/fast", &r), 0);
	ASSERT_EQ(r.status, 200);
	raw_str(fd, "PUT /collect HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc");
	ASSERT_EQ(raw_read(fd, &r, false), 0);
	ASSERT_EQ(r.status, 503);
	ASSERT_EQ(metrics_read(s.metrics, METRIC_HTTP_BUSY_N), 3);
	pthread_mutex_unlock(&gate);
	ASSERT_EQ(raw_read(busy, &r, false), 0);
	ASSERT_EQ(r.status, 200);
	ASSERT_EQ(get(busy, "/fast", &r), 0); /* its predecessor has ended */
	raw_str(fd, put_head);
	raw_str(fd, "abc");
	ASSERT_EQ(raw_read(fd, &r, false), 0);
	ASSERT_EQ(r.status, 200);
	close(busy);
	close(fd);
	raw_free(&r);
	live_stop(&s);
	ASSERT_EQ(atomic_load(&freed), 2);
}

/* A peer that closed its half counts as gone, and still gets its answer. */
static void test_half_closed(void)
{
	struct raw_resp r = {};
	struct live s;
	int fd;

	live_init(&s, NULL, 0);
	start(&s);
	fd = raw_open(&s);
	raw_str(fd, "GET /gone HTTP/1.1\r\nHost: a\r\n\r\n");
	ASSERT_TRUE(live_reaches(&begun, 1));
	ASSERT_EQ(shutdown(fd, SHUT_WR), 0);
	ASSERT_EQ(raw_read(fd, &r, false), 0);
	ASSERT_EQ(r.status, 200);
	close(fd);
	fd = raw_open(&s); /* the end comes behind a request that waits */
	raw_str(fd, "GET /gone HTTP/1.1\r\nHost: a\r\n\r\n");
	ASSERT_TRUE(live_reaches(&begun, 2));
	raw_str(fd, "GET /fast HTTP/1.1\r\nHost: a\r\n\r\n");
	ASSERT_EQ(shutdown(fd, SHUT_WR), 0);
	ASSERT_EQ(raw_read(fd, &r, false), 0);
	ASSERT_EQ(raw_read(fd, &r, false), 0);
	ASSERT_EQ(r.status, 200);
	close(fd);
	raw_free(&r);
	live_stop(&s);
	ASSERT_EQ(atomic_load(&told_gone), 2);
}

static void send_body(int fd, const char *head, size_t n, uint64_t *ret_sum)
{
	char *b = malloc(n);
	uint64_t sum = 0, x = 88172645463325252U;
	size_t i;

	for (i = 0; i < n; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		b[i] = (char)x;
		sum = sum * 31 + (unsigned char)b[i];
	}
	raw_str(fd, head);
	ASSERT_EQ(raw_send(fd, b, n), n);
	free(b);
	*ret_sum = sum;
}

/* Without memory for more, bodies go on in small pieces, whole bodies and answers are 503. */
static void test_memory(void)
{
	struct raw_resp r = {};
	unsigned long long bytes, got;
	struct live s;
	size_t largest;
	uint64_t sum;
	int fd;

	live_init(&s, NULL, 0);
	s.opts.limits.max_memory = 1;
	start(&s);
	fd = raw_open(&s);
	send_body(fd, "PUT /put HTTP/1.1\r\nHost: a\r\nContent-Length: 3000000\r\n\r\n", 3000000,
		  &sum);
	ASSERT_EQ(raw_read(fd, &r, false), 0);
	ASSERT_EQ(sscanf(r.body.data, "%llu %llx %zu", &bytes, &got, &largest), 3);
	ASSERT_EQ(bytes, 3000000);
	ASSERT_HEX(got, sum);
	ASSERT_EQ(largest, 16384);
	send_body(fd,
		  "PUT /put HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2dc6c0\r\n",
		  3000000, &sum);
	raw_str(fd, "\r\n0\r\n\r\n");
	ASSERT_EQ(raw_read(fd, &r, false), 0);
	ASSERT_EQ(sscanf(r.body.data, "%llu %llx %zu", &bytes, &got, &largest), 3);
	ASSERT_EQ(bytes, 3000000);
	ASSERT_HEX(got, sum);
	ASSERT_EQ(largest, 16384);
	ASSERT_EQ(get(fd, "/large", &r), 0);
	ASSERT_EQ(r.status, 503);
	ASSERT_TRUE(raw_has(&r, "\r\nRetry-After: 1\r\n"));
	send_body(fd, "PUT /collect HTTP/1.1\r\nHost: a\r\nContent-Length: 60000\r\n\r\n", 60000,
		  &sum);
	ASSERT_EQ(raw_read(fd, &r, false), 0);
	ASSERT_STR(r.body.data, "60000");
	send_body(fd, "PUT /collect HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n",
		  1000000, &sum);
	ASSERT_EQ(raw_read(fd, &r, false), 0);
	ASSERT_EQ(r.status, 503);
	ASSERT_EQ(get(fd, "/fast", &r), 0);
	ASSERT_EQ(r.status, 200);
	close(fd);
	raw_free(&r);
	live_stop(&s);
}

/* Peers that stall in the middle of a piece do not keep the memory from those that send. */
static void test_stalled(void)
{
	enum { STALLED = 8 };
	struct raw_resp r = {};
	unsigned long long bytes, got;
	struct live s;
	uint64_t sum, before;
	size_t largest = 0;
	int fd, stalled[STALLED], i;
	int64_t until = mono_ns() + LIVE_WAIT_MS * INT64_C(1000000);

	live_init(&s, NULL, 0);
	s.opts.limits.max_memory = 4 << 20;
	start(&s);
	for (i = 0; i < STALLED; i++) {
		stalled[i] = raw_open(&s);
		send_body(stalled[i],
			  "PUT /put HTTP/1.1\r\nHost: a\r\nContent-Length: 9000000\r\n\r\n", 100000,
			  &sum);
	}
	ASSERT_TRUE(live_reaches(&begun, STALLED));
	fd = raw_open(&s);
	do { /* their pieces go one by one, as the server looks for them */
		send_body(fd, "PUT /put HTTP/1.1\r\nHost: a\r\nContent-Length: 3000000\r\n\r\n",
			  3000000, &before);
		ASSERT_EQ(raw_read(fd, &r, false), 0);
		ASSERT_EQ(sscanf(r.body.data, "%llu %llx %zu", &bytes, &got, &largest), 3);
		ASSERT_EQ(bytes, 3000000);
		ASSERT_HEX(got, before);
	} while (largest < CONN_PIECE && mono_ns() < until);
	ASSERT_EQ(largest, CONN_PIECE);
	for (i = 0; i < STALLED; i++)
		close(stalled[i]);
	close(fd);
	raw_free(&r);
	live_stop(&s);
}

/* However much is written, a thread is left for others. */
static void test_sinks(void)
{
	enum { UPLOADS = 8 };
	struct raw_resp r = {};
	struct live s;
	int fd[UPLOADS], other, i;

	live_init(&s, NULL, 0);
	s.opts.limits.max_sinks = 1; /* of two threads */
	start(&s);
	pthread_mutex_lock(&gate);
	for (i = 0; i < UPLOADS; i++) {
		fd[i] = raw_open(&s);
		raw_str(fd[i], "PUT /put HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc");
	}
	ASSERT_TRUE(live_reaches(&begun, UPLOADS));
	ASSERT_TRUE(live_reaches(&writing, 1));
	raw_reset(fd[1]); /* while it waits for its turn */
	other = raw_open(&s);
	raw_str(other, "GET /gone HTTP/1.1\r\nHost: a\r\n\r\n"); /* the pool takes it */
	ASSERT_TRUE(live_reaches(&begun, UPLOADS + 1));
	ASSERT_EQ(atomic_load(&writing), 1);
	close(other);
	pthread_mutex_unlock(&gate);
	for (i = 0; i < UPLOADS; i++) {
		if (i == 1)
			continue;
		ASSERT_EQ(raw_read(fd[i], &r, false), 0);
		ASSERT_EQ(r.status, 200);
		close(fd[i]);
	}
	raw_free(&r);
	live_stop(&s);
	ASSERT_EQ(atomic_load(&freed), UPLOADS);
}

UNIT_MAIN("bounds", {"peers", test_peers}, {"amounts", test_amounts},
	  {"connections of a peer", test_conns_of_a_peer}, {"requests in flight", test_in_flight},
	  {"half closed", test_half_closed}, {"memory", test_memory},
	  {"stalled uploads", test_stalled}, {"uploads and others", test_sinks})
