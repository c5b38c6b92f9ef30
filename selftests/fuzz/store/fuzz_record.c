/* SPDX-License-Identifier: BSD-2-Clause */
/* Records and envelopes from any bytes; with checksums made right to reach the fields. */
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "store/codec.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct objkey key = {7, "dir/name", 8};

static uint64_t sum(const struct objkey *k, const void *p, size_t n)
{
	unsigned char bid[8];

	put_be64(bid, k->bid);
	return XXH64(p, n, XXH64(k->name, k->len, XXH64(bid, sizeof(bid), 0)));
}

/* What was understood is written back as the same bytes, and is safe to use. */
static void check(const struct objkey *k, const struct store_rec *rec, const void *p, size_t n)
{
	struct buf b = BUF_INIT;
	const char *name, *value;
	size_t pos = 0;

	record_encode(k, rec, &b);
	if (b.err || b.len != n || memcmp(b.data, p, n))
		abort();
	buf_free(&b);
	if (!record_blob_ok(rec->blob, strlen(rec->blob)) || strstr(rec->blob, ".."))
		abort();
	while (store_custom_next(rec->custom, rec->custom_len, &pos, &name, &value)) {
		if (!store_custom_find(rec, name))
			abort();
	}
}

static void record_as_is(const struct objkey *k, const uint8_t *data, size_t size)
{
	struct store_rec rec;

	if (record_decode(k, data, size, &rec) == 0)
		check(k, &rec, data, size);
}

static void record_summed(const uint8_t *data, size_t size)
{
	uint8_t *p = malloc(size + 8);

	memcpy(p, data, size);
	put_be64(p + size, sum(&key, p, size));
	record_as_is(&key, p, size + 8);
	free(p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct store_rec rec;
	struct objkey k;

	record_as_is(&key, data, size);
	record_summed(data, size);
	if (envelope_decode(data, size, &k, &rec) == 0)
		check(&k, &rec, k.name + k.len, size - 14 - k.len);
	return 0;
}
