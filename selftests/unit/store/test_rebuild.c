/* SPDX-License-Identifier: BSD-2-Clause */
/* The index made again from blobs: as it was but for access times; what is damaged is set aside. */
#include "fixture.h"

#include <sys/xattr.h>

#include "store/impl.h"
#include "store/rebuild.h"

#define SPECIAL 64 /* objects with long names, metadata, each type of checksum */

static struct buf said;

static void note(void *arg, const char *line)
{
	buf_str(&said, line);
	buf_char(&said, '\n');
}

static int rebuild(struct fix *f, struct rebuild_count *n)
{
	struct rebuild_opts o = {
		.paths = f->paths, .n_paths = f->n, .map_bytes = 256 << 20, .say = note};

	buf_reset(&said);
	return store_rebuild(&o, n);
}

static const char *below(struct fix *f, size_t i, const char *name)
{
	static char path[192];

	snprintf(path, sizeof(path), "%s/%s", f->path[i], name);
	return path;
}

/* ---- all records as text, without access times ---- */

static enum index_step dump_item(void *arg, const struct index_item *it, struct objkey *seek)
{
	struct buf *out = arg;
	struct store_rec rec;

	ASSERT_EQ(record_decode(&it->key, it->val, it->val_len, &rec), 0);
	rec.atime_ns = 0;
	buf_fmt(out, "%llu %.*s ", (unsigned long long)it->key.bid, (int)it->key.len, it->key.name);
	record_encode(&it->key, &rec, out);
	buf_char(out, '\n');
	return INDEX_NEXT;
}

/* Of all mountpaths of a store that is stopped, with the UUIDs. */
static struct buf dump(struct fix *f)
{
	struct objkey from = {0, "", 0};
	struct buf out = BUF_INIT;
	char uuid[INDEX_UUID_MAX];
	struct index *ix;
	size_t i;

	for (i = 0; i < f->n; i++) {
		ASSERT_EQ(index_open(below(f, i, "meta"), 256 << 20, false, &ix), 0);
		ASSERT_EQ(index_uuid(ix, uuid), 0);
		buf_fmt(&out, "%s\n", uuid);
		ASSERT_EQ(index_walk(ix, NULL, &from, dump_item, &out), 0);
		index_close(ix);
	}
	ASSERT_EQ(out.err, 0);
	return out;
}

static void same(struct buf *a, struct buf *b)
{
	ASSERT_TRUE(a->len > 0);
	ASSERT_EQ(a->len, b->len);
	ASSERT_TRUE(!memcmp(a->data, b->data, a->len));
	buf_free(a);
	buf_free(b);
}

/* ---- objects ---- */

/* Long names, several of which share a key; metadata up to the limit; xattrs and trailers. */
static void put_special(struct fix *f, unsigned int i)
{
	struct store_bck b = fix_bck;
	char name[STORE_NAME_MAX + 1], value[1000];
	autobuf struct buf custom = BUF_INIT;
	struct store_put_opts o = {.size = 4};
	unsigned int k;

	b.bid = 7 + i % 3;
	b.cksum = (enum cksum_type)(i % CKSUM_NR);
	memset(name, 'n', sizeof(name));
	snprintf(name + 480 + i * 8, sizeof(name) - 480 - i * 8, "-%u", i);
	memset(value, 'v', sizeof(value));
	value[i * 10] = 0;
	for (k = 0; k < i % 3; k++)
		ASSERT_EQ(store_custom_add(&custom, k ? "second" : "first", value), 0);
	o.custom = custom.data;
	o.custom_len = custom.len;
	f->s->paths[i % 2].no_xattr = i % 4 > 1;
	ASSERT_EQ(fix_put_opts(f, &b, name, "data", 4, &o, NULL), 0);
	f->s->paths[i % 2].no_xattr = false;
}

static int set_custom(struct fix *f, const char *name, const char *pairs, size_t n)
{
	struct store_custom c = {pairs, n, false};
	struct answer a = {};

	sem_init(&a.there, 0, 0);
	store_set_custom(f->s, &fix_bck, name, &c, answer_done, &a);
	return answer_wait(&a, NULL);
}

static void fill(struct fix *f, int n)
{
	char name[32];
	int i;

	for (i = 0; i < SPECIAL; i++)
		put_special(f, (unsigned int)i);
	for (i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "dir-%d/o-%d", i % 17, i);
		ASSERT_EQ(fix_put(f, name, "xyz"), 0);
		if (i % 10 == 1)
			ASSERT_EQ(fix_put(f, name, "again"), 0);
		if (i % 10 == 2)
			ASSERT_EQ(fix_delete(f, name), 0);
		if (i % 10 == 3)
			ASSERT_EQ(set_custom(f, name, "k\0v", 4), 0);
	}
}

static void overwrite(const char *path, off_t at)
{
	autofd fd = open(path, O_RDWR);
	char junk[4096];

	memset(junk, 0xa5, sizeof(junk));
	ASSERT_TRUE(fd >= 0);
	ASSERT_EQ(pwrite(fd, junk, sizeof(junk), at), sizeof(junk));
}

static void test_equal(void)
{
	int objects = getenv("LONG") ? 100000 : 5000;
	struct buf before, after;
	struct rebuild_count n;
	struct fix f = {};
	size_t files;

	fix_open(&f, 2);
	fill(&f, objects);
	fix_stop(&f);
	before = dump(&f);
	files = fix_files(&f, "blob");
	/* one index deleted, the other cut to a part; then both damaged */
	ASSERT_EQ(unlink(below(&f, 0, "meta/data.mdb")), 0);
	ASSERT_EQ(truncate(below(&f, 1, "meta/data.mdb"), 3 * 4096), 0);
	ASSERT_EQ(rebuild(&f, &n), 0);
	ASSERT_EQ(n.objects, objects - objects / 10 + SPECIAL);
	ASSERT_EQ(n.replaced + n.quarantined + n.foreign + n.failed, 0);
	ASSERT_EQ(n.bytes, objects / 10 * 5 + objects / 10 * 8 * 3 + SPECIAL * 4);
	after = dump(&f);
	same(&before, &after);
	before = dump(&f);
	overwrite(below(&f, 0, "meta/data.mdb"), 0);
	overwrite(below(&f, 1, "meta/data.mdb"), 5 * 4096);
	ASSERT_EQ(rebuild(&f, &n), 0);
	after = dump(&f);
	same(&before, &after);
	ASSERT_EQ(access(below(&f, 0, "meta/rebuild"), F_OK), -1);
	ASSERT_EQ(fix_start(&f), 0);
	ASSERT_EQ(fix_files(&f, "blob"), files);
	ASSERT_CONTENT(&f, "dir-1/o-1", "again");
	ASSERT_CONTENT(&f, "dir-0/o-0", "xyz");
	ASSERT_EQ(fix_put(&f, "dir-0/o-0", "new"), 0);
	ASSERT_CONTENT(&f, "dir-0/o-0", "new");
	fix_close(&f);
}

/* All of meta/ is lost: a new UUID, and the next start writes the format file. */
static void test_no_meta(void)
{
	struct rebuild_count n;
	struct fix f = {};

	fix_open(&f, 1);
	ASSERT_EQ(fix_put(&f, "o", "x"), 0);
	fix_stop(&f);
	nftw(below(&f, 0, "meta"), fix_rm_one, 16, FTW_DEPTH | FTW_PHYS);
	ASSERT_EQ(access(f.path[0], F_OK), 0);
	ASSERT_EQ(rebuild(&f, &n), 0);
	ASSERT_EQ(n.objects, 1);
	ASSERT_EQ(fix_start(&f), 0);
	ASSERT_CONTENT(&f, "o", "x");
	fix_restart(&f);
	ASSERT_CONTENT(&f, "o", "x");
	fix_close(&f);
}

/* A mountpath that is gone, one that is empty, one that is in use. */
static void test_paths(void)
{
	struct rebuild_count n;
	struct fix f = {};
	char aside[96];

	fix_open(&f, 2);
	fill(&f, 40);
	ASSERT_EQ(rebuild(&f, &n), -EBUSY);
	ASSERT_EQ(n.failed, 2);
	ASSERT_TRUE(strstr(said.data, "in use by a daemon; stop that first") != NULL);
	fix_stop(&f);
	snprintf(aside, sizeof(aside), "%s.aside", f.path[1]);
	ASSERT_EQ(rename(f.path[1], aside), 0);
	ASSERT_EQ(unlink(below(&f, 0, "meta/data.mdb")), 0);
	ASSERT_EQ(rebuild(&f, &n), -ENOENT);
	ASSERT_EQ(n.failed, 1);
	ASSERT_TRUE(n.objects > 20 && n.objects < 40 + SPECIAL);
	ASSERT_EQ(access(below(&f, 0, "meta/data.mdb"), F_OK), 0);
	ASSERT_EQ(mkdir(f.path[1], 0700), 0);
	ASSERT_EQ(rebuild(&f, &n), 0); /* a new disk: made at the next start */
	ASSERT_EQ(rmdir(f.path[1]), 0);
	ASSERT_EQ(rename(aside, f.path[1]), 0);
	ASSERT_EQ(fix_start(&f), 0);
	ASSERT_CONTENT(&f, "dir-1/o-1", "again");
	fix_close(&f);
}

static void blob_path(struct fix *f, const char *name, char out[192])
{
	struct store_rec rec;

	ASSERT_EQ(store_stat(f->s, &fix_bck, name, &rec), 0);
	snprintf(out, 192, "%s/blob/%s", f->path[0], rec.blob);
}

/* What a crash before the sweeper left: the old blob beside the new one. */
static void test_two_versions(void)
{
	char old[192], kept[192];
	struct rebuild_count n;
	struct fix f = {};

	fix_open(&f, 1);
	ASSERT_EQ(fix_put(&f, "o", "old"), 0);
	blob_path(&f, "o", old);
	snprintf(kept, sizeof(kept), "%s/kept", f.dir);
	ASSERT_EQ(link(old, kept), 0);
	ASSERT_EQ(fix_put(&f, "o", "new"), 0);
	fix_stop(&f);
	ASSERT_EQ(rename(kept, old), 0);
	ASSERT_EQ(mkdir(below(&f, 0, "meta/rebuild"), 0700), 0); /* of a run that was cut short */
	close(open(below(&f, 0, "meta/rebuild/data.mdb"), O_CREAT | O_WRONLY, 0600));
	ASSERT_EQ(rebuild(&f, &n), 0);
	ASSERT_EQ(n.objects, 1);
	ASSERT_EQ(n.replaced, 1);
	ASSERT_EQ(access(old, F_OK), -1);
	ASSERT_EQ(fix_start(&f), 0);
	ASSERT_CONTENT(&f, "o", "new");
	fix_close(&f);
}

/* Blobs that are not what they say: set aside, listed, nothing of them in the index. */
static void test_damaged(void)
{
	static const char *const names[] = {"ok", "bits", "none", "short", "meta"};
	char path[ARRAY_SIZE(names)][192], other[208], raw[4096];
	struct rebuild_count n;
	struct store_rec rec;
	struct fix f = {};
	ssize_t len;
	size_t i;

	fix_open(&f, 1);
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		f.s->paths[0].no_xattr = i == 4;
		ASSERT_EQ(fix_put(&f, names[i], "content"), 0);
		blob_path(&f, names[i], path[i]);
	}
	fix_stop(&f);
	len = getxattr(path[1], XATTR_NAME, raw, sizeof(raw));
	ASSERT_TRUE(len > 100);
	raw[60] ^= 4;
	ASSERT_EQ(setxattr(path[1], XATTR_NAME, raw, (size_t)len, 0), 0);
	ASSERT_EQ(removexattr(path[2], XATTR_NAME), 0);
	ASSERT_EQ(truncate(path[3], 3), 0);
	snprintf(other, sizeof(other), "%s.meta", path[4]);
	ASSERT_EQ(truncate(other, 40), 0);
	strcpy(other, path[0]); /* a file under another's name */
	other[strlen(other) - 1] ^= 8;
	ASSERT_EQ(link(path[0], other), 0);
	close(open(below(&f, 0, "blob/33/README"), O_CREAT | O_WRONLY, 0600));
	ASSERT_EQ(rebuild(&f, &n), 0);
	ASSERT_EQ(n.objects, 1);
	ASSERT_EQ(n.foreign, 1);
	ASSERT_EQ(n.quarantined, 5);
	ASSERT_EQ(fix_files(&f, QUARANTINE_DIR), n.quarantined + 1); /* and a trailer */
	ASSERT_TRUE(strstr(said.data, "its length is not that of its record; moved to") != NULL);
	ASSERT_TRUE(strstr(said.data, "it has no copy of its record; moved to") != NULL);
	ASSERT_TRUE(strstr(said.data, "the copy of its record is damaged; moved to") != NULL);
	ASSERT_EQ(fix_start(&f), 0);
	ASSERT_CONTENT(&f, "ok", "content");
	for (i = 1; i < ARRAY_SIZE(names); i++)
		ASSERT_EQ(store_stat(f.s, &fix_bck, names[i], &rec), -ENOENT);
	fix_close(&f);
	buf_free(&said);
}

UNIT_MAIN("store/rebuild", {"as it was", test_equal}, {"meta/ lost", test_no_meta},
	  {"mountpaths", test_paths}, {"two versions", test_two_versions},
	  {"damaged blobs", test_damaged})
