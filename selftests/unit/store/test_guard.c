/* SPDX-License-Identifier: BSD-2-Clause */
/* Real SIGBUS: an index that loses pages behind a running store. */
#include "fixture.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "store/guard.h"
#include "store/impl.h"

/* What a guarded call held when it was ended stays for ever: that is the design. */
__attribute__((visibility("default"))) const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "detect_leaks=0";
}

/* A page behind the end of its file. */
static char *lost_page(void)
{
	char path[] = "/tmp/guard-XXXXXX";
	autofd fd = mkstemp(path);
	char *p;

	ASSERT_TRUE(fd >= 0);
	unlink(path);
	ASSERT_EQ(ftruncate(fd, 8192), 0);
	p = mmap(NULL, 8192, PROT_READ, MAP_SHARED, fd, 0);
	ASSERT_TRUE(p != MAP_FAILED);
	ASSERT_EQ(ftruncate(fd, 0), 0);
	return p;
}

static int touch(const char *p)
{
	return *(const volatile char *)p;
}

__attribute__((noinline)) static int touch_guarded(const struct guard_map *maps, const char *p)
{
	return guarded(maps, touch(p), -5);
}

static int touch_inside(const struct guard_map *maps, const char *p)
{
	struct guard_map none[GUARD_MAPS] = {};

	return guarded(none, touch(p), -7); /* not its map: the outer guard's */
}

static void test_guard(void)
{
	char *page = lost_page();
	struct guard_map maps[GUARD_MAPS] = {{NULL, 0}, {page, 8192}};
	char mine[16] = "m";
	int i;

	guard_start();
	guard_start();
	ASSERT_EQ(touch_guarded(maps, mine), 'm');
	for (i = 0; i < 3; i++) /* the signal is not left blocked */
		ASSERT_EQ(touch_guarded(maps, page + 4096 * (i % 2)), -5);
	ASSERT_EQ(guarded(maps, touch_inside(maps, page), -5), -5);
	ASSERT_EQ(guarded(maps, (guard_trip(), 1), -5), -5);
	guard_trip(); /* no guard: returns */
	munmap(page, 8192);
}

/* Outside of guards a fault ends the process, as it would without a handler. */
static void test_outside(void)
{
	char *page = lost_page();
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		signal(SIGBUS, SIG_DFL);
		guard_start();
		_exit(touch(page));
	}
	ASSERT_EQ(waitpid(pid, &status, 0), pid);
	ASSERT_TRUE((WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS) ||
		    (WIFEXITED(status) && WEXITSTATUS(status) != 0));
	munmap(page, 8192);
}

static void cut_index(struct fix *f, size_t i)
{
	char path[160];

	snprintf(path, sizeof(path), "%s/meta/data.mdb", f->path[i]);
	ASSERT_EQ(truncate(path, 0), 0);
}

/* Names of mountpath @i: "o-<number>". */
static size_t path_of(struct fix *f, const char *name)
{
	struct store_rec rec;

	ASSERT_EQ(store_stat(f->s, &fix_bck, name, &rec), 0);
	return rec.path;
}

static void test_store(void)
{
	struct fix f = {.sync = true};
	struct store_rec rec;
	bool on[40];
	char name[16];
	int i, err;

	fix_open(&f, 2);
	for (i = 0; i < 40; i++) {
		snprintf(name, sizeof(name), "o-%d", i);
		ASSERT_EQ(fix_put(&f, name, "x"), 0);
		on[i] = path_of(&f, name);
	}
	cut_index(&f, 0);
	for (i = 0; i < 40; i++) {
		snprintf(name, sizeof(name), "o-%d", i);
		if (on[i]) {
			ASSERT_CONTENT(&f, name, "x");
			continue;
		}
		ASSERT_TRUE(fix_get(&f, name, &err) == NULL);
		ASSERT_TRUE(err < 0 && err != -ENOENT);
		err = store_stat(f.s, &fix_bck, name, &rec);
		ASSERT_TRUE(err < 0 && err != -ENOENT);
		err = fix_delete(&f, name);
		ASSERT_TRUE(err < 0 && err != -ENOENT);
	}
	ASSERT_TRUE(index_is_lost(f.s->paths[0].ix));
	ASSERT_TRUE(!mpath_ok(&f.s->paths[0]));
	ASSERT_TRUE(mpath_ok(&f.s->paths[1]));
	fix_close(&f);
}

/* The first who meets the hole is the committer, in the middle of a transaction. */
static void test_committer(void)
{
	struct fix f = {.sync = true};
	struct index *ix;
	struct objkey k = {7, "o", 1};
	struct store_rec rec = {.blob = "00/0123456789abcdef-fedcba9876543210"};
	struct MDB_txn *txn;

	fix_dirs(&f, 1);
	ASSERT_EQ(mkdir(strcat(strcpy(f.err, f.path[0]), "/meta"), 0700), 0);
	ASSERT_EQ(index_open(f.err, 16 << 20, true, &ix), 0);
	ASSERT_EQ(index_begin(ix, &txn), 0);
	ASSERT_EQ(index_put(ix, txn, &k, &rec), 0);
	ASSERT_EQ(index_commit(ix, txn), 0);
	ASSERT_EQ(index_begin(ix, &txn), 0);
	cut_index(&f, 0);
	ASSERT_EQ(index_put(ix, txn, &k, &rec), -EIO);
	ASSERT_TRUE(index_is_lost(ix));
	ASSERT_EQ(index_commit(ix, txn), -EIO);
	index_abort(ix, txn);
	ASSERT_EQ(index_begin(ix, &txn), -EIO);
	ASSERT_EQ(index_get(ix, &k, &rec), -EIO);
	ASSERT_EQ(index_count(ix), 0);
	index_close(ix);
	fix_close(&f);
}

/* Of a store with one mountpath: puts fail, nothing ends, the end comes. */
static void test_puts(void)
{
	struct fix f = {.sync = true};
	int i, err;

	fix_open(&f, 1);
	ASSERT_EQ(fix_put(&f, "o", "x"), 0);
	cut_index(&f, 0);
	for (i = 0; i < 5; i++) {
		err = fix_put(&f, "o", "y");
		ASSERT_TRUE(err < 0 && err != -ENOENT);
	}
	fix_close(&f);
}

UNIT_MAIN("store/guard", {"guards", test_guard}, {"outside", test_outside},
	  {"index of a store", test_store}, {"in a transaction", test_committer},
	  {"puts", test_puts})
