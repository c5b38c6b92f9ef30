/* SPDX-License-Identifier: BSD-2-Clause */
/* Calls by libcurl: a multi handle a thread keeps the thread's connections. */
#include "http/client.h"

#include <curl/curl.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/bits.h"

#define CONNECT_MS_MAX 2000
#define CONNS_KEPT 64 /* a thread */
#define HEADS_MAX 65536 /* bytes of response headers */
#define POLL_MS 1000

static pthread_key_t multi_key; /* written by http_client_init() only */

struct run { /* one call under way */
	struct http_call *call;
	CURL *easy;
	struct curl_slist *heads;
	size_t sent; /* of the body */
	bool again; /* on a fresh connection now */
	bool too_long;
};

static void multi_free(void *m)
{
	curl_multi_cleanup(m);
}

int http_client_init(void)
{
	if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
		return -EIO;
	if (pthread_key_create(&multi_key, multi_free) != 0) {
		curl_global_cleanup();
		return -EIO;
	}
	return 0;
}

void http_client_exit(void)
{
	CURLM *m = pthread_getspecific(multi_key);

	if (m)
		curl_multi_cleanup(m);
	pthread_key_delete(multi_key);
	curl_global_cleanup();
}

static CURLM *multi_get(void)
{
	CURLM *m = pthread_getspecific(multi_key);

	if (m)
		return m;
	m = curl_multi_init();
	if (!m)
		return NULL;
	curl_multi_setopt(m, CURLMOPT_MAXCONNECTS, (long)CONNS_KEPT);
	curl_multi_setopt(m, CURLMOPT_PIPELINING, (long)CURLPIPE_NOTHING);
	if (pthread_setspecific(multi_key, m) != 0) {
		curl_multi_cleanup(m);
		return NULL;
	}
	return m;
}

/* ---- the caller's side ---- */

int http_call_init(struct http_call *c, const char *method, const char *url, int64_t timeout_ms)
{
	*c = (struct http_call){
		.method = method,
		.url = strdup(url),
		.body_fd = -1,
		.resp_max = 65536,
		.timeout_ms = timeout_ms,
	};
	return c->url ? 0 : -ENOMEM;
}

void http_call_deinit(struct http_call *c)
{
	free(c->url);
	c->url = NULL;
	buf_free(&c->heads);
	buf_free(&c->resp);
	buf_free(&c->resp_heads);
}

int http_call_header(struct http_call *c, const char *name, const char *fmt, ...)
{
	struct buf *b = &c->heads;
	size_t before = b->len, start, i;
	va_list ap;

	buf_fmt(b, "%s: ", name);
	start = b->len;
	va_start(ap, fmt);
	buf_vfmt(b, fmt, ap);
	va_end(ap);
	if (b->err)
		return b->err;
	for (i = start; i < b->len; i++) {
		unsigned char ch = (unsigned char)b->data[i];

		if (ch < 0x20 || ch == 0x7f) {
			b->len = before;
			b->data[before] = 0;
			return -EINVAL;
		}
	}
	buf_str(b, "\r\n");
	return b->err;
}

bool http_call_resp_header(const struct http_call *c, const char *name, char *out, size_t size)
{
	const char *line = buf_cstr(&c->resp_heads), *end;
	size_t n_name = strlen(name), n;

	for (; (end = strstr(line, "\r\n")); line = end + 2) {
		if (strncasecmp(line, name, n_name) != 0 || line[n_name] != ':')
			continue;
		line += n_name + 1;
		line += strspn(line, " \t");
		n = (size_t)(end - line);
		while (n && (line[n - 1] == ' ' || line[n - 1] == '\t'))
			n--;
		if (n >= size)
			return false;
		memcpy(out, line, n);
		out[n] = 0;
		return true;
	}
	return false;
}

/* ---- libcurl's callbacks ---- */

static size_t on_body(char *p, size_t size, size_t n, void *arg)
{
	struct run *r = arg;
	struct buf *b = &r->call->resp;

	n *= size;
	if (n > r->call->resp_max - MIN(b->len, r->call->resp_max)) {
		r->too_long = true;
		return 0;
	}
	buf_append(b, p, n);
	return b->err ? 0 : n;
}

static size_t on_header(char *p, size_t size, size_t n, void *arg)
{
	struct run *r = arg;
	struct buf *b = &r->call->resp_heads;

	n *= size;
	if (n >= 5 && !strncasecmp(p, "HTTP/", 5))
		buf_reset(b); /* the final response's only, not those of 100 Continue */
	if (n > HEADS_MAX - MIN(b->len, (size_t)HEADS_MAX)) {
		r->too_long = true;
		return 0;
	}
	buf_append(b, p, n);
	return b->err ? 0 : n;
}

static size_t on_read(char *p, size_t size, size_t n, void *arg)
{
	struct run *r = arg;
	struct http_call *c = r->call;
	ssize_t got;

	n = MIN(size * n, c->body_len - r->sent);
	if (!n)
		return 0;
	if (c->body_fd < 0) {
		memcpy(p, (const char *)c->body + r->sent, n);
		r->sent += n;
		return n;
	}
	do
		got = pread(c->body_fd, p, n, (off_t)(c->body_off + r->sent));
	while (got < 0 && errno == EINTR);
	if (got <= 0)
		return CURL_READFUNC_ABORT; /* shorter than promised, or unreadable */
	r->sent += (size_t)got;
	return (size_t)got;
}

/* A connection kept too long is found closed: the body is sent again on a fresh one. */
static int on_seek(void *arg, curl_off_t off, int origin)
{
	struct run *r = arg;

	if (origin != SEEK_SET || off < 0 || (size_t)off > r->call->body_len)
		return CURL_SEEKFUNC_FAIL;
	r->sent = (size_t)off;
	return CURL_SEEKFUNC_OK;
}

/* ---- set-up ---- */

static int head_add(struct run *r, const char *line)
{
	struct curl_slist *l = curl_slist_append(r->heads, line);

	if (!l)
		return -ENOMEM;
	r->heads = l;
	return 0;
}

/* A Content-Type of the caller's must not be taken out again by our own empty one. */
static bool has_type(const struct http_call *c)
{
	const char *h = buf_cstr(&c->heads);

	return !strncasecmp(h, "content-type:", 13) || strcasestr(h, "\ncontent-type:");
}

/* The lines of call->heads; "Name: " without a value is "Name;" to libcurl. */
static int heads_make(struct run *r)
{
	const char *line = buf_cstr(&r->call->heads), *end;
	int e = head_add(r, "Expect:"); /* never wait for 100 Continue */

	if (e == 0 && !has_type(r->call))
		e = head_add(r, "Content-Type:"); /* none of libcurl's choice */
	for (; e == 0 && (end = strstr(line, "\r\n")); line = end + 2) {
		struct buf one = BUF_INIT;
		size_t n = (size_t)(end - line);

		if (n >= 2 && line[n - 2] == ':' && line[n - 1] == ' ') {
			buf_append(&one, line, n - 2);
			buf_char(&one, ';');
		} else {
			buf_append(&one, line, n);
		}
		e = one.err ? one.err : head_add(r, one.data);
		buf_free(&one);
	}
	return e;
}

static void method_set(struct run *r)
{
	struct http_call *c = r->call;
	CURL *e = r->easy;

	if (c->body_len) {
		curl_easy_setopt(e, CURLOPT_UPLOAD, 1L);
		curl_easy_setopt(e, CURLOPT_INFILESIZE_LARGE, (curl_off_t)c->body_len);
		curl_easy_setopt(e, CURLOPT_UPLOAD_BUFFERSIZE, 512L * 1024);
		curl_easy_setopt(e, CURLOPT_READFUNCTION, on_read);
		curl_easy_setopt(e, CURLOPT_READDATA, r);
		curl_easy_setopt(e, CURLOPT_SEEKFUNCTION, on_seek);
		curl_easy_setopt(e, CURLOPT_SEEKDATA, r);
	} else if (!strcmp(c->method, "PUT") || !strcmp(c->method, "POST")) {
		curl_easy_setopt(e, CURLOPT_POSTFIELDS, ""); /* Content-Length: 0 */
		curl_easy_setopt(e, CURLOPT_POSTFIELDSIZE, 0L);
	} else if (!strcmp(c->method, "HEAD")) {
		curl_easy_setopt(e, CURLOPT_NOBODY, 1L);
	}
	if (strcmp(c->method, "HEAD") != 0)
		curl_easy_setopt(e, CURLOPT_CUSTOMREQUEST, c->method);
}

static void options_set(struct run *r)
{
	struct http_call *c = r->call;
	CURL *e = r->easy;

	curl_easy_setopt(e, CURLOPT_URL, c->url);
	curl_easy_setopt(e, CURLOPT_PRIVATE, r);
	curl_easy_setopt(e, CURLOPT_ERRORBUFFER, c->errtext);
	curl_easy_setopt(e, CURLOPT_HTTPHEADER, r->heads);
	curl_easy_setopt(e, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(e, CURLOPT_NOPROXY, "*");
	curl_easy_setopt(e, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(e, CURLOPT_FOLLOWLOCATION, 0L);
	curl_easy_setopt(e, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	curl_easy_setopt(e, CURLOPT_PATH_AS_IS, 1L);
	curl_easy_setopt(e, CURLOPT_TCP_NODELAY, 1L);
	curl_easy_setopt(e, CURLOPT_BUFFERSIZE, 128L * 1024);
	curl_easy_setopt(e, CURLOPT_TIMEOUT_MS, (long)c->timeout_ms);
	curl_easy_setopt(e, CURLOPT_CONNECTTIMEOUT_MS,
			 (long)MIN(c->timeout_ms, (int64_t)CONNECT_MS_MAX));
	curl_easy_setopt(e, CURLOPT_WRITEFUNCTION, on_body);
	curl_easy_setopt(e, CURLOPT_WRITEDATA, r);
	curl_easy_setopt(e, CURLOPT_HEADERFUNCTION, on_header);
	curl_easy_setopt(e, CURLOPT_HEADERDATA, r);
	method_set(r);
}

static int run_begin(struct run *r, struct http_call *c, CURLM *m)
{
	r->call = c;
	c->err = -EINPROGRESS;
	c->status = 0;
	c->errtext[0] = 0;
	buf_reset(&c->resp);
	buf_reset(&c->resp_heads);
	r->easy = curl_easy_init();
	if (!r->easy || heads_make(r) < 0)
		return -ENOMEM;
	options_set(r);
	return curl_multi_add_handle(m, r->easy) == CURLM_OK ? 0 : -ENOMEM;
}

/* ---- running ---- */

static int err_connect(CURL *easy)
{
	long os = 0;

	curl_easy_getinfo(easy, CURLINFO_OS_ERRNO, &os);
	return os > 0 && os < 4096 ? -(int)os : -ECONNREFUSED;
}

static int err_of(const struct run *r, CURLcode code)
{
	switch (code) {
	case CURLE_OK:
		return 0;
	case CURLE_OPERATION_TIMEDOUT:
		return -ETIMEDOUT;
	case CURLE_COULDNT_CONNECT:
		return err_connect(r->easy);
	case CURLE_COULDNT_RESOLVE_HOST:
		return -EHOSTUNREACH;
	case CURLE_OUT_OF_MEMORY:
		return -ENOMEM;
	case CURLE_WRITE_ERROR:
		return r->too_long ? -E2BIG : -ENOMEM;
	case CURLE_GOT_NOTHING:
	case CURLE_SEND_ERROR:
	case CURLE_RECV_ERROR:
		return -ECONNRESET;
	case CURLE_URL_MALFORMAT:
	case CURLE_UNSUPPORTED_PROTOCOL:
		return -EINVAL;
	case CURLE_SSL_CONNECT_ERROR:
	case CURLE_PEER_FAILED_VERIFICATION:
		return -EPROTO;
	default:
		return -EIO;
	}
}

static void run_end(struct run *r, CURLcode code)
{
	struct http_call *c = r->call;
	long status = 0;

	curl_easy_getinfo(r->easy, CURLINFO_RESPONSE_CODE, &status);
	c->err = err_of(r, code);
	c->status = c->err ? 0 : (int)status;
	if (c->err && !c->errtext[0])
		snprintf(c->errtext, sizeof(c->errtext), "%s", curl_easy_strerror(code));
}

/*
 * A kept connection may be closed by the peer just as it is used. libcurl tries again by itself
 * unless a body was on its way; then the peer can not have acted on the request either.
 */
static bool run_again(struct run *r, CURLcode code, CURLM *m)
{
	long connects = 1;

	curl_easy_getinfo(r->easy, CURLINFO_NUM_CONNECTS, &connects);
	if (code != CURLE_SEND_ERROR || connects > 0 || r->again || r->call->resp_heads.len)
		return false;
	r->again = true;
	r->sent = 0;
	r->call->errtext[0] = 0;
	curl_multi_remove_handle(m, r->easy);
	curl_easy_setopt(r->easy, CURLOPT_FRESH_CONNECT, 1L);
	return curl_multi_add_handle(m, r->easy) == CURLM_OK;
}

/* Return: whether one was begun anew. */
static bool runs_collect(CURLM *m)
{
	bool again = false;
	CURLMsg *msg;
	int left;

	while ((msg = curl_multi_info_read(m, &left))) {
		CURLcode code = msg->data.result;
		struct run *r = NULL;

		if (msg->msg != CURLMSG_DONE)
			continue;
		curl_easy_getinfo(msg->easy_handle, CURLINFO_PRIVATE, (char **)&r);
		if (run_again(r, code, m))
			again = true;
		else
			run_end(r, code);
	}
	return again;
}

static void run_free(struct run *r, CURLM *m)
{
	if (r->easy) {
		curl_multi_remove_handle(m, r->easy);
		curl_easy_cleanup(r->easy);
	}
	curl_slist_free_all(r->heads);
	if (r->call && r->call->err == -EINPROGRESS)
		r->call->err = -ENOMEM;
}

int http_call_all(struct http_call *calls, size_t n)
{
	CURLM *m = multi_get();
	struct run *runs = m ? calloc(n ? n : 1, sizeof(*runs)) : NULL;
	CURLMcode mc = CURLM_OK;
	int running = 1;
	size_t i;

	if (!runs)
		return -ENOMEM;
	for (i = 0; i < n; i++) {
		if (run_begin(&runs[i], &calls[i], m) < 0)
			calls[i].err = -ENOMEM;
	}
	while (mc == CURLM_OK) {
		mc = curl_multi_perform(m, &running);
		if (runs_collect(m))
			continue;
		if (!running)
			break;
		if (mc == CURLM_OK)
			mc = curl_multi_poll(m, NULL, 0, POLL_MS, NULL);
	}
	for (i = 0; i < n; i++)
		run_free(&runs[i], m);
	free(runs);
	return 0;
}
