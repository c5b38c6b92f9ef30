/* SPDX-License-Identifier: BSD-2-Clause */
/* Calls over libcurl: redirects followed, the token kept to the host it was meant for. */
#include <errno.h>
#include <fcntl.h>
#include <strings.h>

#include "base/bits.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "base/text.h"
#include "client.h"

#define BODY_MAX (256u << 20)
#define HEAD_MAX (1u << 20)
#define TOKEN_MAX (64u << 10)
#define REDIRECTS_MAX 5L
#define CONNECT_MS 10000L
#define STALL_S 300L /* no byte either way for so long: the node is lost */
#define EXPECT_MS 5000L /* then a body is sent unasked: not every proxy knows Expect */
#define POLL_MS 1000
#define BUFFER_SIZE 524288L

struct client {
	char *endpoint;
	char *token;
	char *ca_cert;
	bool insecure;
	CURL *easy;
};

static const char *env_or(const char *value, const char *env)
{
	const char *e = value ? NULL : getenv(env);

	return value ? value : e && *e ? e : NULL;
}

/* AIStore's own login writes {"token":"…"}; a bare token is taken as well. */
static char *token_of(struct buf *text)
{
	autojson struct json_object *doc = NULL;
	const char *s;
	char *t;
	size_t n;

	if (json_parse(buf_cstr(text), text->len, &doc) == 0) {
		s = json_member_str(doc, "token");
		return s ? strdup(s) : NULL;
	}
	s = buf_cstr(text) + strspn(buf_cstr(text), " \t\r\n");
	n = strlen(s);
	while (n && strchr(" \t\r\n", s[n - 1]))
		n--;
	t = strndup(s, n);
	return t;
}

static int token_check(const char *t)
{
	if (!t || !*t)
		return -EINVAL;
	for (; *t; t++) {
		if (*t <= ' ' || *t >= 0x7f)
			return -EINVAL;
	}
	return 0;
}

static int token_load(struct client *c, const char *path, struct buf *why)
{
	autofd fd = open(path, O_RDONLY | O_CLOEXEC);
	autobuf struct buf text = BUF_INIT;
	char part[4096];
	ssize_t n = -1;

	while (fd >= 0 && text.len < TOKEN_MAX && (n = read(fd, part, sizeof(part))) > 0)
		buf_append(&text, part, (size_t)n);
	if (fd < 0 || n < 0) {
		n = -errno;
		buf_fmt(why, "cannot read the token file %s: %s", path, strerror(errno));
		return (int)n;
	}
	c->token = token_of(&text);
	if (token_check(c->token) < 0) {
		buf_fmt(why, "%s holds no token: expected {\"token\":\"…\"} or the bare token",
			path);
		return -EBADMSG;
	}
	return 0;
}

static bool names_host(const char *url)
{
	size_t skip = !strncasecmp(url, "http://", 7)	 ? 7
		      : !strncasecmp(url, "https://", 8) ? 8
							 : 0;

	return skip && url[skip] && !strchr("/:?#", url[skip]);
}

static int client_fill(struct client *c, const struct client_opts *opts, struct buf *why)
{
	const char *url = env_or(env_or(opts->endpoint, "PAGEWIRE_ENDPOINT"), "AIS_ENDPOINT");
	const char *token = env_or(opts->token_file, "AIS_AUTHN_TOKEN_FILE");
	size_t n;

	if (!url)
		url = "http://localhost:8080";
	if (!names_host(url)) {
		buf_fmt(why, "endpoint \"%s\": expected http://HOST:PORT or https://HOST:PORT",
			url);
		return -EINVAL;
	}
	n = strlen(url);
	while (url[n - 1] == '/')
		n--;
	c->endpoint = strndup(url, n);
	c->ca_cert = opts->ca_cert ? strdup(opts->ca_cert) : NULL;
	c->insecure = opts->insecure;
	c->easy = curl_easy_init();
	if (!c->endpoint || !c->easy || (opts->ca_cert && !c->ca_cert)) {
		buf_str(why, "out of memory");
		return -ENOMEM;
	}
	return token ? token_load(c, token, why) : 0;
}

int client_new(struct client **ret, const struct client_opts *opts, struct buf *why)
{
	autoclean(client_freep) struct client *c = calloc(1, sizeof(*c));
	int r;

	if (!c) {
		buf_str(why, "out of memory");
		return -ENOMEM;
	}
	r = client_fill(c, opts, why);
	if (r < 0)
		return r;
	*ret = take_ptr(c);
	return 0;
}

void client_free(struct client *c)
{
	if (!c)
		return;
	curl_easy_cleanup(c->easy);
	free(c->endpoint);
	free(c->token);
	free(c->ca_cert);
	free(c);
}

void client_freep(struct client **c)
{
	client_free(*c);
}

CURL *client_easy(struct client *c)
{
	return c->easy;
}

static size_t on_body(char *data, size_t one, size_t n, void *arg)
{
	struct resp *r = arg;
	long status = 0;

	curl_easy_getinfo(r->easy, CURLINFO_RESPONSE_CODE, &status);
	if (r->sink && status >= 200 && status < 300) {
		r->sink_err = r->sink(r->sink_arg, r, data, one * n);
		return r->sink_err ? CURL_WRITEFUNC_ERROR : one * n;
	}
	if (r->body.len + one * n > BODY_MAX)
		return CURL_WRITEFUNC_ERROR;
	buf_append(&r->body, data, one * n);
	return r->body.err ? CURL_WRITEFUNC_ERROR : one * n;
}

/* Header lines of the last answer only: each status line starts anew. */
static size_t on_head(char *data, size_t one, size_t n, void *arg)
{
	struct resp *r = arg;
	size_t len = one * n;

	if (len >= 5 && !memcmp(data, "HTTP/", 5))
		buf_reset(&r->head);
	while (len && strchr("\r\n", data[len - 1]))
		len--;
	if (r->head.len + len > HEAD_MAX)
		return 0;
	buf_append(&r->head, data, len);
	buf_char(&r->head, '\n');
	return r->head.err ? 0 : one * n;
}

static int add_header(struct resp *r, const char *line)
{
	struct curl_slist *l = curl_slist_append(r->headers, line);

	if (!l)
		return -ENOMEM;
	r->headers = l;
	return 0;
}

static int add_headers(struct client *c, const struct call *call, struct resp *r)
{
	autobuf struct buf line = BUF_INIT;
	size_t i;

	for (i = 0; i < 4 && call->headers[i]; i++) {
		if (add_header(r, call->headers[i]) < 0)
			return -ENOMEM;
	}
	if (call->body && add_header(r, "Content-Type: application/json") < 0)
		return -ENOMEM;
	if (!c->token)
		return 0;
	buf_fmt(&line, "Authorization: Bearer %s", c->token);
	return line.err ? line.err : add_header(r, buf_cstr(&line));
}

static void set_transport(struct client *c, CURL *e)
{
	bool tls = !strncasecmp(c->endpoint, "https", 5);

	curl_easy_setopt(e, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(e, CURLOPT_REDIR_PROTOCOLS_STR, tls ? "https" : "http,https");
	curl_easy_setopt(e, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	curl_easy_setopt(e, CURLOPT_PATH_AS_IS, 1L);
	curl_easy_setopt(e, CURLOPT_FOLLOWLOCATION, 1L);
	curl_easy_setopt(e, CURLOPT_MAXREDIRS, REDIRECTS_MAX);
	curl_easy_setopt(e, CURLOPT_CONNECTTIMEOUT_MS, CONNECT_MS);
	curl_easy_setopt(e, CURLOPT_EXPECT_100_TIMEOUT_MS, EXPECT_MS);
	curl_easy_setopt(e, CURLOPT_LOW_SPEED_LIMIT, 1L);
	curl_easy_setopt(e, CURLOPT_LOW_SPEED_TIME, STALL_S);
	curl_easy_setopt(e, CURLOPT_TCP_KEEPALIVE, 1L);
	curl_easy_setopt(e, CURLOPT_BUFFERSIZE, BUFFER_SIZE);
	curl_easy_setopt(e, CURLOPT_UPLOAD_BUFFERSIZE, BUFFER_SIZE);
	curl_easy_setopt(e, CURLOPT_USERAGENT, "pagewire");
	if (c->ca_cert)
		curl_easy_setopt(e, CURLOPT_CAINFO, c->ca_cert);
	if (c->insecure) {
		curl_easy_setopt(e, CURLOPT_SSL_VERIFYPEER, 0L);
		curl_easy_setopt(e, CURLOPT_SSL_VERIFYHOST, 0L);
	}
}

int client_prepare(struct client *c, CURL *easy, const struct call *call, struct resp *r)
{
	resp_deinit(r);
	r->easy = easy;
	curl_easy_reset(easy);
	set_transport(c, easy);
	buf_fmt(&r->url, "%s%s", c->endpoint, call->path);
	if (r->url.err || add_headers(c, call, r) < 0)
		return -ENOMEM;
	curl_easy_setopt(easy, CURLOPT_URL, buf_cstr(&r->url));
	curl_easy_setopt(easy, CURLOPT_HTTPHEADER, r->headers);
	curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, r->error);
	curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
	curl_easy_setopt(easy, CURLOPT_WRITEDATA, r);
	curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_head);
	curl_easy_setopt(easy, CURLOPT_HEADERDATA, r);
	curl_easy_setopt(easy, CURLOPT_PRIVATE, r);
	if (call->body)
		curl_easy_setopt(easy, CURLOPT_COPYPOSTFIELDS, call->body);
	if (!strcmp(call->method, "HEAD"))
		curl_easy_setopt(easy, CURLOPT_NOBODY, 1L);
	else
		curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, call->method);
	return 0;
}

void client_finish(struct resp *r, CURLcode code)
{
	long status = 0;

	curl_easy_getinfo(r->easy, CURLINFO_RESPONSE_CODE, &status);
	/* an error answer is worth more than the complaint that the upload was cut short by it */
	if (code == CURLE_OK || (status >= 400 && r->body.len))
		r->status = status;
	if (code != CURLE_OK && !*r->error)
		snprintf(r->error, sizeof(r->error), "%s", curl_easy_strerror(code));
	curl_slist_free_all(r->headers);
	r->headers = NULL;
}

int client_call(struct client *c, const struct call *call, struct resp *r)
{
	int rc = client_prepare(c, c->easy, call, r);

	if (rc < 0)
		return rc;
	client_finish(r, curl_easy_perform(c->easy));
	return 0;
}

/* Wait for all transfers of @multi; each finds its answer by CURLOPT_PRIVATE. */
static int perform_all(CURLM *multi)
{
	int running = 1, left;
	CURLMsg *m;

	while (running) {
		if (curl_multi_perform(multi, &running) != CURLM_OK ||
		    (running && curl_multi_poll(multi, NULL, 0, POLL_MS, NULL) != CURLM_OK))
			return -ENOMEM;
	}
	while ((m = curl_multi_info_read(multi, &left))) {
		struct resp *r = NULL;

		curl_easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, &r);
		if (m->msg == CURLMSG_DONE && r)
			client_finish(r, m->data.result);
	}
	return 0;
}

int client_call_all(struct client *c, const struct call *calls, size_t n, long limit_ms,
		    struct resp *r)
{
	CURL **easy = calloc(n + 1, sizeof(*easy));
	CURLM *multi = curl_multi_init();
	int rc = easy && multi ? 0 : -ENOMEM;
	size_t i;

	for (i = 0; i < n && rc == 0; i++) {
		easy[i] = curl_easy_init();
		rc = easy[i] ? client_prepare(c, easy[i], &calls[i], &r[i]) : -ENOMEM;
		if (rc == 0) {
			curl_easy_setopt(easy[i], CURLOPT_TIMEOUT_MS, limit_ms);
			rc = curl_multi_add_handle(multi, easy[i]) == CURLM_OK ? 0 : -ENOMEM;
		}
	}
	if (rc == 0)
		rc = perform_all(multi);
	for (i = 0; i < n && easy && easy[i]; i++) {
		curl_multi_remove_handle(multi, easy[i]);
		curl_easy_cleanup(easy[i]);
	}
	curl_multi_cleanup(multi);
	free(easy);
	return rc;
}

void resp_deinit(struct resp *r)
{
	buf_free(&r->body);
	buf_free(&r->head);
	buf_free(&r->url);
	curl_slist_free_all(r->headers);
	*r = (struct resp){.sink = r->sink, .sink_arg = r->sink_arg};
}

char *resp_header(const struct resp *r, const char *name, unsigned int nth)
{
	const char *line = buf_cstr(&r->head);
	size_t n = strlen(name);

	while (*line) {
		size_t len = strcspn(line, "\n");

		if (len > n && line[n] == ':' && !strncasecmp(line, name, n) && nth-- == 0) {
			size_t skip = n + 1;

			while (skip < len && (line[skip] == ' ' || line[skip] == '\t'))
				skip++;
			return strndup(line + skip, len - skip);
		}
		line += len + (line[len] == '\n');
	}
	return NULL;
}

int resp_header_u64(const struct resp *r, const char *name, uint64_t *ret)
{
	autofree char *v = resp_header(r, name, 0);

	if (!v)
		return -ENOENT;
	return parse_u64(v, ret);
}

bool resp_ok(const struct resp *r)
{
	return r->status >= 200 && r->status < 300;
}

/* An answer without the API's error document, as from a proxy in between: its first line. */
static void error_plain(const struct resp *r, struct buf *text)
{
	size_t n = MIN(strcspn(buf_cstr(&r->body), "\r\n"), (size_t)200);

	buf_fmt(text, "the server answered %ld", r->status);
	if (n)
		buf_fmt(text, ": %.*s", (int)n, buf_cstr(&r->body));
	else if (r->status == 503)
		buf_str(text, ": it is starting, try again in a moment");
}

struct json_object *resp_error(const struct resp *r, struct buf *text)
{
	autofree char *head = resp_header(r, "Hdr-Error", 0);
	const char *src = head ? head : buf_cstr(&r->body);
	struct json_object *doc = NULL;
	const char *msg;

	if (r->status && json_parse(src, strlen(src), &doc) == 0) {
		msg = json_member_str(doc, "message");
		if (msg) {
			buf_str(text, msg);
			return doc;
		}
		json_object_put(doc);
	}
	if (r->status)
		error_plain(r, text);
	else
		buf_fmt(text, "%.*s: %s", (int)strcspn(buf_cstr(&r->url), "?"), buf_cstr(&r->url),
			r->error);
	doc = json_object_new_object();
	json_object_object_add(doc, "message", json_object_new_string(buf_cstr(text)));
	json_object_object_add(doc, "status", json_object_new_int64(r->status));
	return doc;
}
