/* SPDX-License-Identifier: BSD-2-Clause */
/* Kinds of jobs: the API's names, those of this build and those it only knows of. */
#include "base/bits.h"
#include "jobs/jobs.h"

static const struct {
	const char *name, *display;
	enum job_kind kind;
} kinds[] = {
	{"delete-listrange", "delete-objects", JOB_DELETE_OBJECTS},
	{"move-bck", "rename-bucket", JOB_RENAME_BUCKET},
	{"summary-bck", "summary", JOB_SUMMARY},
	{"list", "list", JOB_LIST},
	{"rebalance", "rebalance", JOB_NONE},
	{"lru", "lru-eviction", JOB_NONE},
	{"cleanup-store", "cleanup", JOB_NONE},
	{"resilver", "resilver", JOB_NONE},
	{"load-lom-cache", "warm-up-metadata", JOB_NONE},
	{"ec-get", "ec-get", JOB_NONE},
	{"ec-put", "ec-put", JOB_NONE},
	{"ec-resp", "ec-resp", JOB_NONE},
	{"put-copies", "put-copies", JOB_NONE},
	{"ec-encode", "ec-bucket", JOB_NONE},
	{"make-n-copies", "mirror", JOB_NONE},
	{"rechunk", "rechunk", JOB_NONE},
	{"index-shard", "shard-index", JOB_NONE},
	{"copy-listrange", "copy-objects", JOB_NONE},
	{"etl-listrange", "etl-objects", JOB_NONE},
	{"archive", "archive", JOB_NONE},
	{"get-batch", "get-batch", JOB_NONE},
	{"download", "download", JOB_NONE},
	{"copy-bck", "copy-bucket", JOB_NONE},
	{"etl-bck", "etl-bucket", JOB_NONE},
	{"evict-listrange", "evict-objects", JOB_NONE},
	{"prefetch-listrange", "prefetch-objects", JOB_NONE},
	{"evict-remote-bck", "evict-remote-bucket", JOB_NONE},
	{"blob-download", "blob-download", JOB_NONE},
	{"promote", "promote-files", JOB_NONE},
	{"create-inventory", "create-inventory", JOB_NONE},
	{"summary-shard", "summary-shard", JOB_NONE},
	{"etl-inline", "etl-inline", JOB_NONE},
	{"dsort", "dsort", JOB_NONE},
	{"election", "election", JOB_NONE},
};

const char *job_kind_name(enum job_kind k)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		if (k != JOB_NONE && kinds[i].kind == k)
			return kinds[i].name;
	return "";
}

const char *job_kind_display(enum job_kind k)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		if (k != JOB_NONE && kinds[i].kind == k)
			return kinds[i].display;
	return "";
}

enum job_kind job_kind_parse(const char *name, bool *known)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (strcmp(name, kinds[i].name) && strcmp(name, kinds[i].display))
			continue;
		*known = true;
		return kinds[i].kind;
	}
	*known = false;
	return JOB_NONE;
}
