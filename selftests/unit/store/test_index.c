/* SPDX-License-Identifier: BSD-2-Clause */
/* The index: keys around the limit of 503 bytes, walks, seeks, transactions. */
#include "fixture.h"

#include "store/index.h"

static struct index *ix;
static struct fix f;

static void open_index(void)
{
	f = (struct fix){};
	fix_dirs(&f, 1);
	ASSERT_EQ(index_open(f.path[0], 16 << 20, true, &ix), 0);
}

static void close_index(void)
{
	index_close(ix);
	fix_close(&f);
}

static struct store_rec record(uint64_t size)
{
	return (struct store_rec){.size = size, .blob = "00/0123456789abcdef-fedcba9876543210"};
}

static void put(uint64_t bid, const char *name, uint64_t size)
{
	struct objkey k = {bid, name, strlen(name)};
	struct store_rec rec = record(size);
	struct MDB_txn *txn;

	ASSERT_EQ(index_begin(ix, &txn), 0);
	ASSERT_EQ(index_put(ix, txn, &k, &rec), 0);
	ASSERT_EQ(index_commit(ix, txn), 0);
}

static int get(uint64_t bid, const char *name)
{
	struct objkey k = {bid, name, strlen(name)};
	struct store_rec rec;
	int r = index_get(ix, &k, &rec);

	return r < 0 ? r : (int)rec.size;
}

static int del(uint64_t bid, const char *name)
{
	struct objkey k = {bid, name, strlen(name)};
	struct MDB_txn *txn;
	int r;

	ASSERT_EQ(index_begin(ix, &txn), 0);
	r = index_del(ix, txn, &k);
	if (r < 0)
		index_abort(ix, txn);
	else
		ASSERT_EQ(index_commit(ix, txn), 0);
	return r;
}

static void test_lengths(void)
{
	char name[STORE_NAME_MAX + 1];
	int n;

	open_index();
	for (n = 500; n <= 510; n++) { /* each the prefix of the next */
		memset(name, 'n', sizeof(name));
		name[n] = 0;
		put(1, name, (uint64_t)n);
	}
	for (n = 500; n <= 510; n++) {
		memset(name, 'n', sizeof(name));
		name[n] = 0;
		ASSERT_EQ(get(1, name), n);
		ASSERT_EQ(get(2, name), -ENOENT);
	}
	ASSERT_EQ(index_count(ix), 4); /* 500, 501, 502, and one key for the others */
	name[503] = 0;
	ASSERT_EQ(del(1, name), 0);
	ASSERT_EQ(del(1, name), -ENOENT);
	ASSERT_EQ(get(1, name), -ENOENT);
	name[503] = 'n';
	name[504] = 0;
	ASSERT_EQ(get(1, name), 504);
	close_index();
}

static void test_abort(void)
{
	struct store_rec rec = record(1);
	struct objkey k = {1, "a", 1};
	struct MDB_txn *txn;

	open_index();
	ASSERT_EQ(index_begin(ix, &txn), 0);
	ASSERT_EQ(index_put(ix, txn, &k, &rec), 0);
	ASSERT_EQ(get(1, "a"), -ENOENT); /* a reader sees what is committed */
	index_abort(ix, txn);
	ASSERT_EQ(get(1, "a"), -ENOENT);
	close_index();
}

struct seen {
	struct buf text;
	const char *seek; /* after the first */
	int stop_after;
};

static enum index_step see(void *arg, const struct index_item *it, struct objkey *seek)
{
	struct seen *s = arg;

	buf_fmt(&s->text, "%llu:%.*s ", (unsigned long long)it->key.bid, (int)it->key.len,
		it->key.name);
	if (--s->stop_after == 0)
		return INDEX_STOP;
	if (!s->seek)
		return INDEX_NEXT;
	*seek = (struct objkey){it->key.bid, s->seek, strlen(s->seek)};
	s->seek = NULL;
	return INDEX_SEEK;
}

static void walk(uint64_t bid, const char *from, const char *seek, int stop, const char *want)
{
	struct seen s = {.seek = seek, .stop_after = stop};
	struct objkey k = {bid, from, strlen(from)};

	ASSERT_EQ(index_walk(ix, NULL, &k, see, &s), 0);
	ASSERT_STR(buf_cstr(&s.text), want);
	buf_free(&s.text);
}

static void test_walk(void)
{
	open_index();
	put(1, "b", 1);
	put(1, "a", 1);
	put(2, "a", 1);
	put(1, "a/b", 1);
	put(UINT64_MAX, "z", 1);
	walk(0, "", NULL, 0, "1:a 1:a/b 1:b 2:a 18446744073709551615:z ");
	walk(1, "a/", NULL, 2, "1:a/b 1:b ");
	walk(1, "", "b", 0, "1:a 1:b 2:a 18446744073709551615:z ");
	walk(3, "", NULL, 1, "18446744073709551615:z ");
	close_index();
}

static void test_uuid(void)
{
	char uuid[INDEX_UUID_MAX];

	open_index();
	ASSERT_EQ(index_uuid(ix, uuid), 0);
	ASSERT_STR(uuid, "");
	ASSERT_EQ(index_set_uuid(ix, "00000000-0000-4000-8000-000000000001"), 0);
	index_close(ix);
	ASSERT_EQ(index_open(f.path[0], 16 << 20, false, &ix), 0);
	ASSERT_EQ(index_uuid(ix, uuid), 0);
	ASSERT_STR(uuid, "00000000-0000-4000-8000-000000000001");
	close_index();
}

UNIT_MAIN("store/index", {"lengths", test_lengths}, {"abort", test_abort}, {"walk", test_walk},
	  {"uuid", test_uuid})
