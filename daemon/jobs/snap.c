/* SPDX-License-Identifier: BSD-2-Clause */
/* A job as the API's JSON, and which jobs a query selects. */
#include <time.h>

#include "base/text.h"
#include "jobs/jobs_impl.h"

static bool same_bck(const struct bmd_name *a, const struct bmd_name *b)
{
	return !strcmp(a->bucket, b->bucket) && !strcmp(a->provider, b->provider) &&
	       !strcmp(a->ns_uuid, b->ns_uuid) && !strcmp(a->ns_name, b->ns_name);
}

/* Whether @id is one of the names joined by ','. */
static bool in_list(const char *list, const char *id)
{
	size_t len = strlen(id);

	while (*list) {
		size_t n = strcspn(list, ",");

		if (n == len && !memcmp(list, id, n))
			return true;
		list += n + (list[n] == ',');
	}
	return false;
}

bool job_matches(const struct job *job, const struct job_query *q)
{
	if (q->id && *q->id && !in_list(q->id, job->id))
		return false;
	if (q->by_kind && job->kind != q->kind)
		return false;
	if ((q->only_running && job->end_ns) || (q->only_finished && !job->end_ns))
		return false;
	return !q->bck || !q->bck->bucket[0] || same_bck(q->bck, &job->bck) ||
	       same_bck(q->bck, &job->to);
}

/* RFC 3339 with as many digits of the second as there are; 0 is the API's zero time. */
static void print_time(int64_t ns, struct buf *out)
{
	time_t s = (time_t)(ns / 1000000000);
	long frac = (long)(ns % 1000000000);
	char text[32], digits[16];
	struct tm tm;
	size_t n;

	if (!ns) {
		buf_str(out, "\"0001-01-01T00:00:00Z\"");
		return;
	}
	gmtime_r(&s, &tm);
	strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm);
	buf_fmt(out, "\"%s", text);
	if (frac) {
		snprintf(digits, sizeof(digits), "%09ld", frac);
		for (n = 9; digits[n - 1] == '0'; n--)
			digits[n - 1] = 0;
		buf_fmt(out, ".%s", digits);
	}
	buf_str(out, "Z\"");
}

static void print_bck(const char *key, const struct bmd_name *n, struct buf *out)
{
	static const struct bmd_name none;

	if (!n->bucket[0])
		n = &none;
	buf_fmt(out, ",\"%s\":{\"name\":", key);
	buf_json_str(out, n->bucket);
	buf_fmt(out, ",\"provider\":\"%s\",\"namespace\":{\"uuid\":", n->provider);
	buf_json_str(out, n->ns_uuid);
	buf_str(out, ",\"name\":");
	buf_json_str(out, n->ns_name);
	buf_str(out, "}}");
}

void job_print(const struct job *job, struct buf *out)
{
	static const struct bmd_name none;
	bool two = job->to.bucket[0];

	buf_str(out, "{\"ext\":null,\"start-time\":");
	print_time(job->start_ns, out);
	buf_str(out, ",\"end-time\":");
	print_time(job->end_ns, out);
	print_bck("bck", &job->bck, out);
	print_bck("src-bck", two ? &job->bck : &none, out);
	print_bck("dst-bck", &job->to, out);
	buf_str(out, ",\"id\":");
	buf_json_str(out, job->id);
	buf_fmt(out, ",\"kind\":\"%s\"", job_kind_name(job->kind));
	if (job->ctlmsg) {
		buf_str(out, ",\"ctlmsg\":");
		buf_json_str(out, job->ctlmsg);
	}
	buf_str(out, ",\"abort-err\":");
	buf_json_str(out, job->abort_err);
	buf_str(out, ",\"err\":");
	buf_json_str(out, job->err);
	buf_fmt(out,
		",\"glob.id\":\"1\",\"stats\":{\"loc-objs\":\"%llu\",\"loc-bytes\":\"%llu\","
		"\"out-objs\":\"0\",\"out-bytes\":\"0\",\"in-objs\":\"0\",\"in-bytes\":\"0\"}",
		(unsigned long long)atomic_load(&job->objects),
		(unsigned long long)atomic_load(&job->bytes));
	buf_fmt(out, ",\"aborted\":%s,\"is_idle\":%s}", job_aborted(job) ? "true" : "false",
		job->end_ns ? "true" : "false");
}
