/* SPDX-License-Identifier: BSD-2-Clause */
/* Responses of a live server: bodies of all kinds, slow readers, resets, short sources. */
#include "live.h"

#define BIG (8U << 20)

struct pattern { /* a stream whose byte i is i * 7 + i / 256 */
	struct http_stream s;
	uint64_t at, at_hand; /* @at_hand: what needs no disk */
	uint64_t end; /* @end: where the source ends, whatever was promised */
	int err;
};

static atomic_int streams; /* alive */
static atomic_int fetches; /* begun */
static pthread_mutex_t disk = PTHREAD_MUTEX_INITIALIZER;

static unsigned char pattern_byte(uint64_t i)
{
	return (unsigned char)(i * 7 + i / 256);
}

static ssize_t pattern_send(struct http_stream *s, int sock, size_t max)
{
	struct pattern *p = container_of(s, struct pattern, s);
	unsigned char tmp[50000];
	size_t n = MIN(max, sizeof(tmp)), i;
	ssize_t r;

	n = (size_t)MIN((uint64_t)n, p->end - p->at);
	if (!n)
		return p->err;
	ASSERT_TRUE(!s->waits || p->at + max <= p->at_hand);
	for (i = 0; i < n; i++)
		tmp[i] = pattern_byte(p->at + i);
	r = send(sock, tmp, n, MSG_NOSIGNAL);
	if (r < 0)
		return -errno;
	p->at += (uint64_t)r;
	return r;
}

/* Every other 100,000 bytes are on the disk only. */
static bool pattern_waits(struct http_stream *s, size_t max)
{
	struct pattern *p = container_of(s, struct pattern, s);

	if (p->at / 100000 % 2)
		return true;
	p->at_hand = p->at + max;
	return false;
}

static void pattern_fetch(struct http_stream *s, size_t max)
{
	struct pattern *p = container_of(s, struct pattern, s);

	atomic_fetch_add(&fetches, 1);
	pthread_mutex_lock(&disk);
	p->at_hand = p->at + max;
	pthread_mutex_unlock(&disk);
}

static void pattern_free(struct http_stream *s)
{
	free(container_of(s, struct pattern, s));
	atomic_fetch_sub(&streams, 1);
}

static uint64_t number(struct http_txn *t, const char *name, uint64_t dflt)
{
	const char *v = http_param(t, name);
	uint64_t n = dflt;

	if (v)
		ASSERT_EQ(parse_u64(v, &n), 0);
	return n;
}

static void stream(struct http_txn *t)
{
	struct pattern *p = calloc(1, sizeof(*p));

	p->s.send = pattern_send;
	p->s.free = pattern_free;
	if (http_param(t, "cold")) {
		p->s.waits = pattern_waits;
		p->s.fetch = pattern_fetch;
		p->at = 100000 * number(t, "cold", 0);
	}
	atomic_fetch_add(&streams, 1);
	t->resp.status = 200;
	t->resp.body = HTTP_BODY_STREAM;
	t->resp.stream = &p->s;
	t->resp.length = number(t, "size", 0);
	p->end = p->at + number(t, "end", t->resp.length);
	p->err = http_param(t, "eio") ? -EIO : 0;
	http_reply(t);
}

static void bytes(struct http_txn *t)
{
	uint64_t n = number(t, "size", 0), i;
	struct buf b = BUF_INIT;

	for (i = 0; i < n; i++)
		buf_char(&b, (char)pattern_byte(i));
	http_reply_buf(t, "application/octet-stream", &b);
}

static void status(struct http_txn *t)
{
	t->resp.status = (int)number(t, "code", 200);
	t->resp.has_length = http_param(t, "length");
	t->resp.length = number(t, "length", 0);
	http_header(t, "X-A", "b");
	http_reply(t);
}

static void start(struct live *s)
{
	static const struct http_route routes[] = {
		{"/stream", BIT(SMAP_NET_PUBLIC), BIT(HTTP_GET) | BIT(HTTP_HEAD), stream, NULL},
		{"/bytes", BIT(SMAP_NET_PUBLIC), BIT(HTTP_GET) | BIT(HTTP_HEAD), bytes, NULL},
		{"/status", BIT(SMAP_NET_PUBLIC), BIT(HTTP_GET) | BIT(HTTP_HEAD), status, NULL},
	};

	live_init(s, routes, ARRAY_SIZE(routes));
	live_start(s);
}

static void ask(int fd, const char *method, const char *target)
{
	char req[256];

	snprintf(req, sizeof(req), "%s %s HTTP/1.1\r\nHost: a\r\n\r\n", method, target);
	raw_str(fd, req);
}

static bool pattern_ok(const struct buf *b, size_t want)
{
	size_t i;

	if (b->len != want)
		return false;
	for (i = 0; i < want; i++) {
		if ((unsigned char)b->data[i] != pattern_byte(i))
			return false;
	}
	return true;
}

/* Every size is exact, and the next response stands behind it (P-05). */
static void sizes(int rcvbuf)
{
	static const unsigned int row[] = {0,	  1,	 16383, 16384, 16385,  32767,  32768,
					   32769, 65535, 65536, 65537, 131071, 131073, 2097152};
	struct raw_resp r = {};
	struct live s;
	size_t i;
	int fd, kind;

	start(&s);
	fd = raw_connect(s.port, rcvbuf);
	for (i = 0; i < ARRAY_SIZE(row); i++) {
		for (kind = 0; kind < 2; kind++) {
			char target[64];

			snprintf(target, sizeof(target), "%s?size=%u", kind ? "/stream" : "/bytes",
				 row[i]);
			ask(fd, "GET", target);
			ASSERT_EQ(raw_read(fd, &r, false), 0);
			ASSERT_TRUE(pattern_ok(&r.body, row[i]));
		}
	}
	close(fd);
	raw_free(&r);
	live_stop(&s);
	ASSERT_EQ(atomic_load(&streams), 0);
}

static void test_sizes(void)
{
	sizes(0);
}

static void test_slow_reader(void)
{
	sizes(4096);
}

static void test_head(void)
{
	struct raw_resp r = {};
	struct live s;
	int fd;

	start(&s);
	fd = raw_open(&s);
	raw_str(fd, "HEAD /stream?size=123 HTTP/1.1\r\nHost: a\r\n\r\n"
		    "GET /bytes?size=3 HTTP/1.1\r\nHost: a\r\n\r\n"
		    "HEAD /nowhere HTTP/1.1\r\nHost: a\r\n\r\n"
		    "HEAD /status?length=5000000000 HTTP/1.1\r\nHost: a\r\n\r\n"
		    "GET /status?code=204 HTTP/1.1\r\nHost: a\r\n\r\n"
		    "GET /status?code=304 HTTP/1.1\r\nHost: a\r\n\r\n"
		    "GET /status HTTP/1.1\r\nHost: a\r\n\r\n"
		    "GET /status?code=0 HTTP/1.1\r\nHost: a\r\n\r\n");
	ASSERT_EQ(raw_read(fd, &r, true), 0);
	ASSERT_TRUE(raw_has(&r, "\r\nContent-Length: 123\r\n"));
	ASSERT_EQ(raw_read(fd, &r, false), 0);
	ASSERT_TRUE(pattern_ok(&r.body, 3));
	ASSERT_EQ(raw_read(fd, &r, true), 0);
	ASSERT_EQ(r.status, 404);
	ASSERT_EQ(raw_read(fd, &r, true), 0);
	ASSERT_TRUE(raw_has(&r, "\r\nContent-Length: 5000000000\r\n"));
	ASSERT_EQ(raw_read(fd, &r, false), 0);
	ASSERT_EQ(r.status, 204);
	ASSERT_TRUE(!raw_has(&r, "Content-Length"));
	ASSERT_EQ(raw_read(fd, &r, false), 0);
	ASSERT_EQ(r.status, 304);
	ASSERT_TRUE(!raw_has(&r, "Content-Length") && raw_has(&r, "\r\nX-A: b\r\n"));
	ASSERT_EQ(raw_read(fd, &r, false), 0);
	ASSERT_EQ(r.status, 200);
	ASSERT_TRUE(raw_has(&r, "\r\nContent-Length: 0\r\n"));
	ASSERT_EQ(raw_read(fd, &r, false), 0);
	ASSERT_EQ(r.status, 500); /* a handler that set no status */
	close(fd);
	raw_free(&r);
	live_stop(&s);
}

/* A source that ends early ends the connection at once (P-06). */
static void test_short_source(void)
{
	static const char *const targets[] = {"/stream?size=100000&end=99999",
					      "/stream?size=100000&end=70000&eio=1"};
	struct raw_resp r = {};
	struct live s;
	size_t i;

	start(&s);
	for (i = 0; i < ARRAY_SIZE(targets); i++) {
		int fd = raw_open(&s);

		ask(fd, "GET", targets[i]);
		ASSERT_EQ(raw_read(fd, &r, false), -1);
		ASSERT_EQ(r.body.len, i ? 70000 : 99999);
		close(fd);
	}
	ASSERT_TRUE(live_reaches(&s.after_bad, 2));
	live_stop(&s);
	raw_free(&r);
	ASSERT_EQ(atomic_load(&streams), 0);
}

/* Peers that vanish in the middle are a normal event (P-07). */
static void test_resets(void)
{
	struct live s;
	int i;

	start(&s);
	for (i = 0; i < 200; i++) {
		int fd = raw_open(&s);
		char tmp[4096];

		ask(fd, "GET", "/stream?size=100000000");
		while (i % 5 && recv(fd, tmp, (size_t)(1 + i * 20), MSG_WAITALL) < 0)
			;
		if (i % 3)
			raw_reset(fd);
		else
			close(fd);
	}
	/* one in five may be gone before its request was read */
	ASSERT_TRUE(live_reaches(&s.after_n, 160));
	live_stop(&s);
	ASSERT_EQ(atomic_load(&streams), 0);
	ASSERT_EQ(atomic_load(&s.after_n), atomic_load(&s.after_bad));
}

/* A disk that is waited for holds up its own response only (P-08). */
static void test_cold(void)
{
	struct raw_resp r = {};
	struct live s;
	int cold, warm, i;

	atomic_store(&fetches, 0);
	start(&s);
	pthread_mutex_lock(&disk);
	cold = raw_open(&s);
	ask(cold, "GET", "/stream?size=8388608&cold=1");
	ask(cold, "GET", "/bytes?size=5");
	ASSERT_TRUE(live_reaches(&fetches, 1));
	warm = raw_open(&s);
	for (i = 0; i < 3; i++) {
		ask(warm, "GET", "/stream?size=300000");
		ASSERT_EQ(raw_read(warm, &r, false), 0);
		ASSERT_TRUE(pattern_ok(&r.body, 300000));
	}
	pthread_mutex_unlock(&disk);
	ASSERT_EQ(raw_read(cold, &r, false), 0);
	ASSERT_EQ(r.body.len, BIG);
	for (i = 0; i < (int)BIG; i++) {
		if ((unsigned char)r.body.data[i] != pattern_byte(100000 + (uint64_t)i))
			break;
	}
	ASSERT_EQ(i, BIG);
	ASSERT_EQ(raw_read(cold, &r, false), 0);
	ASSERT_TRUE(pattern_ok(&r.body, 5));
	i = atomic_load(&fetches);
	ASSERT_TRUE(i > 1);
	pthread_mutex_lock(&disk); /* the peer goes while the disk is waited for */
	ask(cold, "GET", "/stream?size=8388608&cold=1");
	ASSERT_TRUE(live_reaches(&fetches, i + 1));
	raw_reset(cold);
	ask(warm, "GET", "/bytes?size=5");
	ASSERT_EQ(raw_read(warm, &r, false), 0);
	pthread_mutex_unlock(&disk);
	close(warm);
	raw_free(&r);
	live_stop(&s);
	ASSERT_EQ(atomic_load(&streams), 0);
}

/* One reader that stands still does not hold up another, and is ended when it takes too long. */
static void test_stuck_reader(void)
{
	struct raw_resp r = {};
	struct live s;
	int stuck, fd;

	live_init(&s, NULL, 0);
	start(&s);
	stuck = raw_connect(s.port, 4096);
	ask(stuck, "GET", "/stream?size=1000000000");
	fd = raw_open(&s);
	ask(fd, "GET", "/stream?size=8388608");
	ASSERT_EQ(raw_read(fd, &r, false), 0);
	ASSERT_TRUE(pattern_ok(&r.body, BIG));
	ASSERT_EQ(atomic_load(&s.after_n), 1);
	close(fd);
	s.drain_ms = 50;
	live_stop(&s); /* the drain's limit ends it */
	close(stuck);
	raw_free(&r);
	ASSERT_EQ(atomic_load(&s.after_bad), 1);
}

UNIT_MAIN("http/conn_out", {"exact sizes", test_sizes},
	  {"exact for a slow reader", test_slow_reader},
	  {"HEAD and bodiless statuses, pipelined", test_head},
	  {"a source that ends early", test_short_source}, {"resets", test_resets},
	  {"a cold source", test_cold}, {"a reader that stands still", test_stuck_reader})
