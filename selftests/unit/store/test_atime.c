/* SPDX-License-Identifier: BSD-2-Clause */
/* Access times in memory: the newer counts, the table is bounded, a flush writes them all. */
#include "fixture.h"

#include "store/atime.h"

static void test_table(void)
{
	struct objkey k = {1, "name", 4}, other = {2, "name", 4};
	struct atimes *a;
	char name[16];
	int i;

	ASSERT_EQ(atimes_new(&a), 0);
	ASSERT_EQ(atimes_get(a, &k), 0);
	atimes_note(a, &k, 5);
	atimes_note(a, &k, 3);
	ASSERT_EQ(atimes_get(a, &k), 5);
	ASSERT_EQ(atimes_get(a, &other), 0);
	ASSERT_EQ(atimes_count(a), 1);
	for (i = 0; i < 200000; i++) {
		snprintf(name, sizeof(name), "%d", i);
		atimes_note(a, &(struct objkey){1, name, strlen(name)}, 1);
	}
	ASSERT_EQ(atimes_count(a), 65536);
	atimes_free(a);
}

static void test_flush(void)
{
	struct store_rec rec = {.atime_ns = 10, .blob = "00/0123456789abcdef-fedcba9876543210"};
	struct fix f = {};
	struct atimes *a;
	struct index *ix;
	struct MDB_txn *txn;
	char name[16];
	int i;

	fix_dirs(&f, 1);
	ASSERT_EQ(index_open(f.path[0], 16 << 20, false, &ix), 0);
	ASSERT_EQ(atimes_new(&a), 0);
	ASSERT_EQ(index_begin(ix, &txn), 0);
	for (i = 0; i < 1000; i++) {
		struct objkey k = {1, name, 0};

		k.len = (size_t)snprintf(name, sizeof(name), "%d", i);
		ASSERT_EQ(index_put(ix, txn, &k, &rec), 0);
		atimes_note(a, &k, i % 2 ? 1000 + i : 1); /* the even ones are older */
	}
	ASSERT_EQ(index_commit(ix, txn), 0);
	atimes_note(a, &(struct objkey){1, "removed since", 13}, 7);
	ASSERT_EQ(atimes_flush(a, ix, 7), 0);
	ASSERT_EQ(atimes_count(a), 0);
	for (i = 0; i < 1000; i++) {
		struct objkey k = {1, name, 0};

		k.len = (size_t)snprintf(name, sizeof(name), "%d", i);
		ASSERT_EQ(index_get(ix, &k, &rec), 0);
		ASSERT_EQ(rec.atime_ns, i % 2 ? 1000 + i : 10);
	}
	ASSERT_EQ(index_count(ix), 1000);
	atimes_free(a);
	index_close(ix);
	fix_close(&f);
}

UNIT_MAIN("store/atime", {"table", test_table}, {"flush", test_flush})
