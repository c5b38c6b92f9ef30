/* SPDX-License-Identifier: BSD-2-Clause */
/* Records as bytes: fixed part, variable part, checksum over both and the key. */
#include <errno.h>
#include <string.h>
#include <xxhash.h>

#include "base/cleanup.h"
#include "store/codec.h"

#define RECORD_FORMAT 1
#define ENVELOPE_FORMAT 1

/* Offsets of the fixed part; see Documentation/disk-format.rst. */
enum {
	OFF_FORMAT = 0,
	OFF_CTYPE = 1,
	OFF_FLAGS = 2,
	OFF_CUSTOM_LEN = 4,
	OFF_BLOB_LEN = 6,
	OFF_CKSUM_LEN = 7,
	OFF_SIZE = 8,
	OFF_VERSION = 16,
	OFF_SEQ = 24,
	OFF_MTIME = 32,
	OFF_ATIME = 40,
};

_Static_assert(OFF_ATIME + 8 == RECORD_FIXED, "the fixed part ends with the access time");
_Static_assert(CKSUM_XXHASH == 1 && CKSUM_XXHASH2 == 2 && CKSUM_MD5 == 3 && CKSUM_CRC32C == 4 &&
		       CKSUM_SHA256 == 5 && CKSUM_SHA512 == 6,
	       "types of checksums are numbers on disk");

/* Bytes of a checksum by type. */
static const uint8_t cksum_bytes[CKSUM_NR] = {
	[CKSUM_XXHASH] = 8, [CKSUM_XXHASH2] = 8, [CKSUM_MD5] = 16,
	[CKSUM_CRC32C] = 4, [CKSUM_SHA256] = 32, [CKSUM_SHA512] = 64,
};

static void put_be16(unsigned char *p, unsigned int v)
{
	p[0] = (unsigned char)(v >> 8);
	p[1] = (unsigned char)v;
}

static unsigned int get_be16(const unsigned char *p)
{
	return (unsigned int)p[0] << 8 | p[1];
}

static uint64_t sum_with_key(const struct objkey *k, const void *p, size_t n)
{
	unsigned char bid[8];

	put_be64(bid, k->bid);
	return XXH64(p, n, XXH64(k->name, k->len, XXH64(bid, sizeof(bid), 0)));
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return -1;
}

bool record_blob_ok(const char *s, size_t n)
{
	size_t i;

	if (n != RECORD_BLOB_LEN || s[2] != '/' || s[19] != '-')
		return false;
	for (i = 0; i < n; i++) {
		if (i != 2 && i != 19 && hex_digit(s[i]) < 0)
			return false;
	}
	return true;
}

bool record_custom_ok(const char *p, size_t n)
{
	size_t pos = 0, pairs = 0, nuls = 0, i;
	const char *k, *v;

	if (n && p[n - 1])
		return false;
	for (i = 0; i < n; i++)
		nuls += !p[i];
	if (nuls % 2)
		return false;
	while (store_custom_next(p, n, &pos, &k, &v)) {
		if (!*k)
			return false;
		pairs++;
	}
	return pairs * 2 == nuls;
}

void record_encode(const struct objkey *k, const struct store_rec *rec, struct buf *out)
{
	size_t start = out->len, blob_len = strlen(rec->blob), i;
	unsigned char h[RECORD_FIXED], sum[8], c[64];
	uint8_t n = cksum_bytes[rec->ctype];

	h[OFF_FORMAT] = RECORD_FORMAT;
	h[OFF_CTYPE] = (uint8_t)rec->ctype;
	put_be16(h + OFF_FLAGS, rec->flags);
	put_be16(h + OFF_CUSTOM_LEN, rec->custom_len);
	h[OFF_BLOB_LEN] = (uint8_t)blob_len;
	h[OFF_CKSUM_LEN] = n;
	put_be64(h + OFF_SIZE, rec->size);
	put_be64(h + OFF_VERSION, rec->version);
	put_be64(h + OFF_SEQ, rec->seq);
	put_be64(h + OFF_MTIME, (uint64_t)rec->mtime_ns);
	put_be64(h + OFF_ATIME, (uint64_t)rec->atime_ns);
	for (i = 0; i < n; i++)
		c[i] = (unsigned char)(hex_digit(rec->cksum[2 * i]) << 4 |
				       hex_digit(rec->cksum[2 * i + 1]));
	buf_append(out, h, sizeof(h));
	buf_append(out, c, n);
	buf_append(out, rec->blob, blob_len);
	buf_append(out, rec->custom, rec->custom_len);
	if (out->err)
		return;
	put_be64(sum, sum_with_key(k, out->data + start, out->len - start));
	buf_append(out, sum, sizeof(sum));
}

/* The variable part behind @h, lengths known to fit. Return: 0 or -EUCLEAN. */
static int decode_tail(const unsigned char *h, struct store_rec *r)
{
	const unsigned char *c = h + RECORD_FIXED;
	size_t n = h[OFF_CKSUM_LEN], blob_len = h[OFF_BLOB_LEN], i;
	const char *blob = (const char *)c + n, *custom = blob + blob_len;

	if (!record_blob_ok(blob, blob_len) || !record_custom_ok(custom, r->custom_len))
		return -EUCLEAN;
	for (i = 0; i < n; i++) {
		r->cksum[2 * i] = "0123456789abcdef"[c[i] >> 4];
		r->cksum[2 * i + 1] = "0123456789abcdef"[c[i] & 15];
	}
	r->cksum[2 * n] = 0;
	memcpy(r->blob, blob, blob_len);
	r->blob[blob_len] = 0;
	memcpy(r->custom, custom, r->custom_len);
	return 0;
}

int record_decode(const struct objkey *k, const void *p, size_t n, struct store_rec *rec)
{
	const unsigned char *h = p;
	size_t custom_len, body;
	int r;

	if (n < RECORD_FIXED + 8 || n > RECORD_MAX || h[OFF_FORMAT] != RECORD_FORMAT)
		return -EUCLEAN;
	custom_len = get_be16(h + OFF_CUSTOM_LEN);
	body = RECORD_FIXED + h[OFF_CKSUM_LEN] + h[OFF_BLOB_LEN] + custom_len;
	if (body + 8 != n || sum_with_key(k, h, body) != get_be64(h + body))
		return -EUCLEAN;
	if (h[OFF_CTYPE] >= CKSUM_NR || h[OFF_CKSUM_LEN] != cksum_bytes[h[OFF_CTYPE]] ||
	    custom_len > sizeof(rec->custom))
		return -EUCLEAN;
	rec->ctype = (enum cksum_type)h[OFF_CTYPE];
	rec->flags = get_be16(h + OFF_FLAGS);
	rec->custom_len = (uint16_t)custom_len;
	rec->size = get_be64(h + OFF_SIZE);
	rec->version = get_be64(h + OFF_VERSION);
	rec->seq = get_be64(h + OFF_SEQ);
	rec->mtime_ns = (int64_t)get_be64(h + OFF_MTIME);
	rec->atime_ns = (int64_t)get_be64(h + OFF_ATIME);
	rec->path = 0;
	r = decode_tail(h, rec);
	return r;
}

void envelope_encode(const struct objkey *k, const struct store_rec *rec, struct buf *out)
{
	unsigned char h[14] = {'P', 'W', 'B', ENVELOPE_FORMAT};

	put_be64(h + 4, k->bid);
	put_be16(h + 12, (unsigned int)k->len);
	buf_append(out, h, sizeof(h));
	buf_append(out, k->name, k->len);
	record_encode(k, rec, out);
}

int envelope_decode(const void *p, size_t n, struct objkey *k, struct store_rec *rec)
{
	const unsigned char *h = p;
	struct objkey key;

	if (n < 14 || memcmp(h, "PWB", 3) || h[3] != ENVELOPE_FORMAT)
		return -EUCLEAN;
	key.bid = get_be64(h + 4);
	key.len = get_be16(h + 12);
	key.name = (const char *)h + 14;
	if (key.len > n - 14 || !key.len || key.len > STORE_NAME_MAX ||
	    memchr(key.name, 0, key.len) ||
	    record_decode(&key, key.name + key.len, n - 14 - key.len, rec) < 0)
		return -EUCLEAN;
	*k = key;
	return 0;
}

int store_custom_add(struct buf *b, const char *key, const char *value)
{
	size_t k = strlen(key), v = strlen(value);
	const char *s;

	if (!k)
		return -EINVAL;
	for (s = key; *s; s++) {
		if ((unsigned char)*s < 0x20 || *s == 0x7f)
			return -EINVAL;
	}
	for (s = value; *s; s++) {
		if ((unsigned char)*s < 0x20 || *s == 0x7f)
			return -EINVAL;
	}
	if (k > STORE_CUSTOM_MAX || v > STORE_CUSTOM_MAX ||
	    b->len + k + v + 2 > sizeof(((struct store_rec *)0)->custom))
		return -EMSGSIZE;
	buf_append(b, key, k + 1);
	buf_append(b, value, v + 1);
	return b->err;
}

bool store_custom_next(const char *packed, size_t len, size_t *pos, const char **key,
		       const char **value)
{
	const char *k = packed + *pos, *k_end, *v_end;

	if (*pos >= len)
		return false;
	k_end = memchr(k, 0, len - *pos);
	if (!k_end)
		return false;
	v_end = memchr(k_end + 1, 0, (size_t)(packed + len - (k_end + 1)));
	if (!v_end)
		return false;
	*key = k;
	*value = k_end + 1;
	*pos = (size_t)(v_end + 1 - packed);
	return true;
}

const char *store_custom_find(const struct store_rec *rec, const char *key)
{
	const char *k, *v;
	size_t pos = 0;

	while (store_custom_next(rec->custom, rec->custom_len, &pos, &k, &v)) {
		if (!strcmp(k, key))
			return v;
	}
	return NULL;
}
