/* SPDX-License-Identifier: BSD-2-Clause */
/* Reading: access times, one whole version under overwrites, files without a name at first. */
#include "fixture.h"

#include <pthread.h>
#include <stdatomic.h>

#include "base/text.h"
#include "store/impl.h"

static int atime_of(void *arg, const struct store_entry *e)
{
	*(int64_t *)arg = e->rec->atime_ns;
	return 0;
}

static void test_access_time(void)
{
	struct store_list_opts o = {.prefix = "o", .after = ""};
	struct fix f = {};
	struct store_rec rec;
	int64_t put, got, listed = 0;

	fix_open(&f, 1);
	ASSERT_EQ(fix_put(&f, "o", "x"), 0);
	ASSERT_EQ(store_stat(f.s, &fix_bck, "o", &rec), 0);
	put = rec.atime_ns;
	ASSERT_CONTENT(&f, "o", "x");
	ASSERT_EQ(store_stat(f.s, &fix_bck, "o", &rec), 0);
	got = rec.atime_ns;
	ASSERT_TRUE(got > put);
	ASSERT_EQ(store_list(f.s, &fix_bck, &o, atime_of, &listed), 0);
	ASSERT_EQ(listed, got);
	fix_restart(&f); /* written at the end */
	ASSERT_EQ(store_stat(f.s, &fix_bck, "o", &rec), 0);
	ASSERT_EQ(rec.atime_ns, got);
	ASSERT_EQ(rec.version, 1);
	fix_close(&f);
}

static atomic_bool stop;

static void *overwriter(void *arg)
{
	static const char digits[] = "0123456789";
	struct fix *f = arg;
	char text[4097];
	int i;

	for (i = 0; i < 400; i++) {
		memset(text, digits[i % 10], 100 + i);
		text[100 + i] = 0;
		if (fix_put(f, "o", text) != 0)
			break;
	}
	atomic_store(&stop, true);
	return (void *)(intptr_t)(i != 400);
}

static void test_overwritten(void)
{
	struct fix f = {};
	pthread_t t;
	void *failed;
	int reads;

	fix_open(&f, 1);
	ASSERT_EQ(fix_put(&f, "o", "0"), 0);
	atomic_store(&stop, false);
	ASSERT_EQ(pthread_create(&t, NULL, overwriter, &f), 0);
	for (reads = 0; !atomic_load(&stop); reads++) {
		struct store_rec rec;
		char text[4097];
		autofd fd = -1;
		ssize_t n;

		ASSERT_EQ(store_open_blob(f.s, &fix_bck, "o", &rec, &fd), 0);
		n = pread(fd, text, sizeof(text), 0);
		ASSERT_EQ(n, rec.size);
		text[n] = 0;
		ASSERT_EQ(strspn(text, (char[]){text[0], 0}), n);
	}
	pthread_join(t, &failed);
	ASSERT_TRUE(!failed && reads > 0);
	fix_close(&f);
}

/* A file system without O_TMPFILE: files in blob/tmp/, renamed. */
static void test_named(void)
{
	struct store_put_opts o = {.size = -1};
	struct fix f = {.sync = true};
	struct store_put *p;

	fix_open(&f, 1);
	f.s->paths[0].named_tmp = true;
	ASSERT_EQ(fix_put(&f, "o", "1"), 0);
	ASSERT_EQ(fix_put(&f, "o", "2"), 0);
	ASSERT_CONTENT(&f, "o", "2");
	ASSERT_EQ(store_put_begin(f.s, &fix_bck, "x", &o, &p), 0);
	ASSERT_EQ(fix_files(&f, "blob/tmp"), 1);
	store_put_abort(p);
	ASSERT_EQ(fix_files(&f, "blob"), 1);
	fix_close(&f);
}

UNIT_MAIN("store/get", {"access time", test_access_time}, {"overwritten", test_overwritten},
	  {"named files", test_named})
