/* SPDX-License-Identifier: BSD-2-Clause */
/* Keepalive: a member says what it holds, the primary answers with what is newer. */
#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "base/text.h"
#include "cluster/impl.h"
#include "log.h"

#define PATH "/v1/cluster/keepalive/"
#define PULL_MS 2000

/* ---- the member ---- */

static int ask(struct cluster *c, struct http_call *call, const struct buf *body,
	       int64_t timeout_ms)
{
	autobuf struct buf url = BUF_INIT;
	int r;

	buf_fmt(&url, "%s%s%s", c->primary_url, PATH, c->self.id);
	if (url.err)
		return url.err;
	r = http_call_init(call, "POST", url.data, timeout_ms);
	if (r < 0)
		return r;
	call->body = body->data;
	call->body_len = body->len;
	call->resp_max = DOC_MAX;
	r = http_call_header(call, "Content-Type", "application/json");
	if (!r)
		r = cluster_call_sign(c, call);
	return r ? r : http_call_all(call, 1);
}

static int take_answer(struct cluster *c, const struct http_call *call)
{
	struct doc d;
	int r;

	if (call->err)
		return call->err;
	if (call->status == 401) {
		/* our key or record is gone: a primary that lost its last version */
		log_warn("keepalive.unknown", "primary=%s next=\"joining again\"", c->primary_url);
		c->joined = false;
		cluster_kick(c);
		return -EACCES;
	}
	if (call->status != 200)
		return -EIO;
	r = proof_take_doc(c, call, &d);
	if (r < 0)
		return r;
	r = snap_adopt(c, &d);
	doc_deinit(&d);
	return r;
}

int keepalive_once(struct cluster *c, int64_t timeout_ms)
{
	autobuf struct buf body = BUF_INIT;
	struct http_call call = {};
	struct doc_versions v;
	int r;

	snap_versions(c, &v);
	buf_char(&body, '{');
	doc_versions_print(&v, &body);
	buf_char(&body, '}');
	if (body.err)
		return body.err;
	r = ask(c, &call, &body, timeout_ms);
	if (!r)
		r = take_answer(c, &call);
	if (r < 0)
		metrics_add(c->o.metrics, METRIC_ERR_KALIVE_N, 1);
	http_call_deinit(&call);
	return r;
}

/* Wait for the pull that runs. c->lock is held. */
static int pull_join(struct cluster *c)
{
	uint64_t gen = c->pull_gen;
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += PULL_MS / 1000;
	while (c->pull_gen == gen) {
		if (pthread_cond_timedwait(&c->cond, &c->lock, &until) == ETIMEDOUT)
			return -ETIMEDOUT;
	}
	return c->pull_result;
}

int cluster_pull(struct cluster *c)
{
	int r;

	if (c->primary)
		return 0;
	if (!c->joined)
		return -EAGAIN;
	pthread_mutex_lock(&c->lock);
	if (c->pulling) {
		r = pull_join(c);
		pthread_mutex_unlock(&c->lock);
		return r;
	}
	c->pulling = true;
	pthread_mutex_unlock(&c->lock);
	r = keepalive_once(c, PULL_MS);
	pthread_mutex_lock(&c->lock);
	c->pulling = false;
	c->pull_result = r;
	c->pull_gen++;
	c->pulled_ns = mono_ns();
	pthread_cond_broadcast(&c->cond);
	pthread_mutex_unlock(&c->lock);
	return r;
}

struct pull_job {
	struct pool_job job;
	struct cluster *c;
};

static void pull_run(struct pool_job *j)
{
	struct pull_job *p = container_of(j, struct pull_job, job);

	cluster_pull(p->c);
	p->c->pull_asked = false;
	free(p);
}

void keepalive_pull_soon(struct cluster *c)
{
	struct pull_job *p;

	if (c->primary || atomic_exchange(&c->pull_asked, true))
		return;
	p = calloc(1, sizeof(*p));
	if (p) {
		p->job.fn = pull_run;
		p->c = c;
		if (!pool_submit(c->o.call, &p->job))
			return;
		free(p);
	}
	c->pull_asked = false;
}

/* ---- the primary ---- */

static void keepalive_received(struct http_txn *t)
{
	struct cluster *c = t->user;
	struct buf body = BUF_INIT;
	struct doc_versions have;
	struct smap *m;
	struct doc d;

	if (doc_versions_parse(buf_cstr(&t->body), t->body.len, &have) < 0) {
		http_reply_error(t, 400, NULL, "%s: keepalive: smap, bmd and conf are wanted",
				 c->name);
		return;
	}
	snap_newer(c, &have, &d);
	m = cluster_smap(c);
	if (have.smap > smap_version(m))
		log_error("keepalive.newer",
			  "node=%s smap=%lld own=%lld why=\"metadata was lost here\"", t->caller,
			  (long long)have.smap, (long long)smap_version(m));
	if (!peers_silent(c, m, &d))
		doc_print(&d, &body);
	else
		body.err = -ENOMEM;
	smap_put(m);
	doc_deinit(&d);
	proof_reply(c, t, &body);
}

void keepalive_handle(struct http_txn *t)
{
	struct cluster *c = t->user;
	const char *id = t->req.path + strlen(PATH);
	char name[CLUSTER_NAME_SIZE];

	if (!c->primary || !c->joined) {
		http_error(t, 503, NULL, "%s: not the primary, or not ready yet", c->name);
		http_header(t, "Retry-After", "1");
		http_reply(t);
		return;
	}
	snprintf(name, sizeof(name), "%c[%s]", t->caller ? *t->caller : '?', id);
	if (!t->caller || strcmp(name, t->caller)) {
		http_reply_error(t, 403, NULL, "%s: keepalive of %s signed by %s", c->name, id,
				 t->caller ? t->caller : "nobody");
		return;
	}
	/* no pool: this must stay prompt under any load, and blocks on nothing */
	http_collect(t, 4096, NULL, keepalive_received);
}
