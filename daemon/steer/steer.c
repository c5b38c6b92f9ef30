/* SPDX-License-Identifier: BSD-2-Clause */
/* The decision, its names, and what the HTTP server asks before and after a response. */
#include "steer/steer.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "metrics.h"
#include "steer/private.h"

const char *const steer_path_names[STEER_PATH_NR] = {
	[STEER_PATH_NONE] = "none",	    [STEER_PATH_SMALL] = "small",
	[STEER_PATH_SENDFILE] = "sendfile", [STEER_PATH_PRODUCE] = "produce",
	[STEER_PATH_COPY] = "copy",
};

const char *const steer_reason_names[STEER_REASON_NR] = {
	[STEER_REASON_NONE] = "none",
	[STEER_REASON_SMALL_BODY] = "small-body",
	[STEER_REASON_LARGE_BODY] = "large-body",
	[STEER_REASON_PRODUCED] = "produced",
	[STEER_REASON_CHECKSUMMED] = "checksummed",
	[STEER_REASON_POLICY] = "policy",
	[STEER_REASON_FORCED] = "forced",
};

const char *const steer_reason_help[STEER_REASON_NR] = {
	[STEER_REASON_NONE] = "not steered",
	[STEER_REASON_SMALL_BODY] = "the body is at most steer.small_max: read behind the head",
	[STEER_REASON_LARGE_BODY] = "the body is larger than steer.small_max",
	[STEER_REASON_PRODUCED] = "the body is made, not stored",
	[STEER_REASON_CHECKSUMMED] = "the bytes were read to compute the checksum of the range",
	[STEER_REASON_POLICY] = "the cheaper path is switched off by configuration",
	[STEER_REASON_FORCED] = "no cheaper path fits the link or the file",
};

struct steer_choice steer_decide(const struct steer_input *in)
{
	if (in->body == STEER_BODY_BYTES)
		return (struct steer_choice){STEER_PATH_PRODUCE, STEER_REASON_PRODUCED};
	if (in->checksummed)
		return (struct steer_choice){STEER_PATH_PRODUCE, STEER_REASON_CHECKSUMMED};
	if (in->size <= in->small_max)
		return (struct steer_choice){STEER_PATH_SMALL, STEER_REASON_SMALL_BODY};
	if (!in->can_sendfile)
		return (struct steer_choice){STEER_PATH_COPY, STEER_REASON_FORCED};
	if (!in->sendfile_on)
		return (struct steer_choice){STEER_PATH_COPY, STEER_REASON_POLICY};
	return (struct steer_choice){STEER_PATH_SENDFILE, STEER_REASON_LARGE_BODY};
}

static void choose(struct http_txn *t, struct steer_choice c)
{
	t->resp.path = (uint8_t)c.path;
	t->resp.reason = (uint8_t)c.reason;
}

int steer_blob(struct http_txn *t, const struct config *cfg, int fd, uint64_t off, uint64_t len)
{
	autofd own = fd;
	struct steer_input in = {.body = STEER_BODY_BLOB, .size = len};
	struct steer_choice c;
	struct stat st;

	if (fstat(own, &st) < 0)
		return -errno;
	if (off > (uint64_t)st.st_size || len > (uint64_t)st.st_size - off)
		return -EIO;
	if (t->req.method == HTTP_HEAD) {
		t->resp.length = len;
		t->resp.has_length = true;
		return 0;
	}
	in.can_sendfile = S_ISREG(st.st_mode);
	in.small_max = (uint64_t)config_size(cfg, "steer.small_max");
	in.sendfile_on = config_bool(cfg, "steer.sendfile");
	c = steer_decide(&in);
	choose(t, c);
	if (c.path == STEER_PATH_SMALL)
		return send_small_begin(t, take_fd(&own), off, len);
	if (c.path == STEER_PATH_SENDFILE)
		return send_file_begin(t, take_fd(&own), off, len);
	return send_copy_begin(t, take_fd(&own), off, len);
}

void steer_bytes(struct http_txn *t, enum steer_reason reason)
{
	choose(t, (struct steer_choice){STEER_PATH_PRODUCE, reason});
}

void steer_before_head(void *metrics, struct http_txn *t)
{
	const char *explain = http_header_get(t, "pagewire-explain");

	(void)metrics;
	if (t->resp.path == STEER_PATH_NONE && t->resp.body == HTTP_BODY_BYTES &&
	    t->resp.status < 300) {
		struct steer_input in = {.body = STEER_BODY_BYTES, .size = t->resp.bytes.len};

		choose(t, steer_decide(&in));
	}
	if (t->resp.path != STEER_PATH_NONE && explain && !strcmp(explain, "1"))
		http_header(t, "Pagewire-Path", "%s; reason=%s", steer_path_names[t->resp.path],
			    steer_reason_names[t->resp.reason]);
}

void steer_after(struct metrics *m, struct http_txn *t, int err)
{
	uint64_t bytes = t->resp.body == HTTP_BODY_STREAM ? t->resp.length : t->resp.bytes.len;

	if (t->resp.path != STEER_PATH_NONE && err >= 0)
		metrics_add_response(m, t->resp.path, t->resp.reason, bytes);
}
