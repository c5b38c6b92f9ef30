/* SPDX-License-Identifier: BSD-2-Clause */
/* What a start removes, and what it leaves alone. */
#include "fixture.h"

#include <sys/time.h>

#include "store/impl.h"

static void make(struct fix *f, const char *below)
{
	char path[192];
	autofd fd = -1;

	snprintf(path, sizeof(path), "%s/%s", f->path[0], below);
	fd = open(path, O_CREAT | O_WRONLY | O_EXCL, 0600);
	ASSERT_TRUE(fd >= 0);
}

static bool there(struct fix *f, const char *below)
{
	char path[192];

	snprintf(path, sizeof(path), "%s/%s", f->path[0], below);
	return access(path, F_OK) == 0;
}

static void test_leftovers(void)
{
	struct timeval old[2] = {{1000000000, 0}, {1000000000, 0}};
	struct fix f = {};
	char path[192];

	fix_open(&f, 1);
	ASSERT_EQ(fix_put(&f, "o", "x"), 0);
	fix_stop(&f);
	make(&f, "blob/00/00000000000000aa-0000000000000001");
	make(&f, "blob/ff/00000000000000aa-0000000000000002");
	make(&f, "blob/ff/00000000000000aa-0000000000000002.meta");
	make(&f, "blob/ff/00000000000000aa-0000000000000003.meta");
	make(&f, "blob/10/README"); /* not ours */
	make(&f, "blob/10/00000000000000AA-0000000000000002");
	make(&f, "blob/tmp/00000000000000aa-0000000000000004");
	make(&f, "work/00000000000000aa-0000000000000005");
	make(&f, "work/00000000000000aa-0000000000000006");
	snprintf(path, sizeof(path), "%s/work/00000000000000aa-0000000000000005", f.path[0]);
	ASSERT_EQ(utimes(path, old), 0);
	ASSERT_EQ(fix_start(&f), 0);
	ASSERT_EQ(fix_files(&f, "blob"), 3);
	ASSERT_TRUE(there(&f, "blob/10/README"));
	ASSERT_TRUE(there(&f, "blob/10/00000000000000AA-0000000000000002"));
	ASSERT_TRUE(!there(&f, "work/00000000000000aa-0000000000000005"));
	ASSERT_TRUE(there(&f, "work/00000000000000aa-0000000000000006"));
	ASSERT_CONTENT(&f, "o", "x");
	fix_close(&f);
}

static void test_missing_blob(void)
{
	struct fix f = {};
	struct store_rec rec;
	char path[192];
	int err;

	fix_open(&f, 1);
	ASSERT_EQ(fix_put(&f, "gone", "x"), 0);
	ASSERT_EQ(fix_put(&f, "short", "xyz"), 0);
	ASSERT_EQ(store_stat(f.s, &fix_bck, "gone", &rec), 0);
	snprintf(path, sizeof(path), "%s/blob/%s", f.path[0], rec.blob);
	ASSERT_EQ(unlink(path), 0);
	ASSERT_EQ(store_stat(f.s, &fix_bck, "short", &rec), 0);
	snprintf(path, sizeof(path), "%s/blob/%s", f.path[0], rec.blob);
	ASSERT_EQ(truncate(path, 2), 0);
	fix_restart(&f);
	ASSERT_TRUE(fix_get(&f, "gone", &err) == NULL);
	ASSERT_EQ(err, -EIO);
	ASSERT_TRUE(fix_get(&f, "short", &err) == NULL);
	ASSERT_EQ(err, -EIO);
	ASSERT_EQ(store_stat(f.s, &fix_bck, "gone", &rec), 0);
	ASSERT_EQ(fix_put(&f, "gone", "again"), 0); /* mended by a new version */
	ASSERT_CONTENT(&f, "gone", "again");
	ASSERT_EQ(fix_delete(&f, "short"), 0);
	fix_close(&f);
}

/* Records that can not be read may own any blob: nothing is reaped. */
static void test_damaged_record(void)
{
	struct objkey k = {7, "o", 1};
	struct index *ix;
	struct MDB_txn *txn;
	struct store_rec rec;
	struct fix f = {};
	char meta[160];
	int err;

	fix_open(&f, 1);
	ASSERT_EQ(fix_put(&f, "o", "x"), 0);
	ASSERT_EQ(fix_put(&f, "p", "y"), 0);
	ASSERT_EQ(store_stat(f.s, &fix_bck, "o", &rec), 0);
	fix_stop(&f);
	snprintf(meta, sizeof(meta), "%s/meta", f.path[0]);
	ASSERT_EQ(index_open(meta, 64 << 20, true, &ix), 0);
	ASSERT_EQ(index_begin(ix, &txn), 0);
	strcpy(rec.blob, "zz"); /* no name of a blob */
	ASSERT_EQ(index_put(ix, txn, &k, &rec), 0);
	ASSERT_EQ(index_commit(ix, txn), 0);
	index_close(ix);
	ASSERT_EQ(fix_start(&f), 0);
	ASSERT_EQ(fix_files(&f, "blob"), 2);
	ASSERT_EQ(store_stat(f.s, &fix_bck, "o", &rec), -EIO);
	ASSERT_TRUE(fix_get(&f, "o", &err) == NULL);
	ASSERT_EQ(err, -EIO);
	ASSERT_CONTENT(&f, "p", "y");
	ASSERT_EQ(fix_put(&f, "o", "new"), 0);
	ASSERT_CONTENT(&f, "o", "new");
	fix_restart(&f); /* and now the old blob is an orphan */
	ASSERT_EQ(fix_files(&f, "blob"), 2);
	fix_close(&f);
}

UNIT_MAIN("store/reap", {"leftovers", test_leftovers}, {"missing blob", test_missing_blob},
	  {"damaged record", test_damaged_record})
