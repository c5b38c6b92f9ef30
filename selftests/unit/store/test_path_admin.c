/* SPDX-License-Identifier: BSD-2-Clause */
/* Mountpaths at run time: out and back, attached, detached, lost; what a restart keeps. */
#include "fixture.h"

#include "base/text.h"
#include "store/paths.h"

#define NAMES 60

/* As wire.c answers: the only bucket of the fixture. */
static int bucket(void *ctx, uint64_t bid, char *uname, size_t size)
{
	if (bid != fix_bck.bid)
		return -ENOENT;
	snprintf(uname, size, "%s", fix_bck.uname);
	return 0;
}

static void back(void *ctx)
{
	++*(int *)ctx;
}

static int returns; /* calls of path_back */

static int start(struct fix *f)
{
	struct store_opts o = {.sz = sizeof(o),
			       .paths = f->paths,
			       .n_paths = f->n,
			       .node_id = "t1",
			       .map_bytes = 64 << 20,
			       .io = f->io,
			       .state_dir = f->dir,
			       .bucket = bucket,
			       .path_back = back,
			       .ctx = &returns};

	return store_open(&o, &f->s, f->err, sizeof(f->err));
}

static void begin(struct fix *f, size_t n)
{
	fix_dirs(f, n);
	returns = 0;
	ASSERT_EQ(pool_new("io", 4, 100000, &f->io), 0);
	ASSERT_EQ(start(f), 0);
}

static int change(struct fix *f, enum store_path_op op, size_t i)
{
	int r = store_path_change(f->s, op, f->path[i], f->err, sizeof(f->err));

	ASSERT_TRUE(r == 0 || strstr(f->err, f->path[i]));
	return r;
}

static const char *state(struct fix *f, size_t i, struct store_path *p)
{
	ASSERT_EQ(store_path_info(f->s, i, p), 0);
	return p->state;
}

static const char *name_of(int i)
{
	static _Thread_local char name[16];

	snprintf(name, sizeof(name), "o%02d", i);
	return name;
}

static void put_all(struct fix *f, const char *text)
{
	int i;

	for (i = 0; i < NAMES; i++)
		ASSERT_EQ(fix_put(f, name_of(i), text), 0);
}

/* The mountpath that owns a name. */
static size_t owner(struct fix *f, int i)
{
	return store_owner(f->s, store_digest(&fix_bck, name_of(i)))->idx;
}

/* Wait until all is at home. */
static void settle(struct fix *f)
{
	int64_t end = mono_ns() + INT64_C(20) * 1000000000;
	struct timespec step = {0, 2000000};

	while (atomic_load(&f->s->uneven) && mono_ns() < end)
		nanosleep(&step, NULL);
	ASSERT_TRUE(!atomic_load(&f->s->uneven));
}

/* Where the record of a name is, in which mountpaths; a sum of bits. */
static unsigned int where(struct fix *f, int i)
{
	struct objkey k = {fix_bck.bid, name_of(i), 3};
	struct store_rec rec;
	unsigned int bits = 0;
	size_t p;

	for (p = 0; p < f->n; p++) {
		if (f->s->paths[p].open && index_get(f->s->paths[p].ix, &k, &rec) == 0)
			bits |= 1U << p;
	}
	return bits;
}

static int count_one(void *arg, const struct store_entry *e)
{
	++*(int *)arg;
	return 0;
}

static int list(struct fix *f, int *n)
{
	struct store_list_opts o = {.prefix = "", .after = ""};

	*n = 0;
	return store_list(f->s, &fix_bck, &o, count_one, n);
}

static void test_out_and_back(void)
{
	struct fix f = {};
	struct store_path p;
	struct store_rec rec;
	int i, n;

	begin(&f, 3);
	put_all(&f, "one");
	ASSERT_EQ(change(&f, STORE_PATH_DISABLE, 1), 0);
	ASSERT_STR(state(&f, 1, &p), "disabled");
	ASSERT_TRUE(!f.s->paths[1].open); /* it could be unmounted now */
	for (i = 0; i < NAMES; i++) {
		bool out = owner(&f, i) == 1;

		ASSERT_EQ(store_stat(f.s, &fix_bck, name_of(i), &rec), out ? STORE_OUT : 0);
		ASSERT_EQ(fix_delete(&f, name_of(i)), out ? STORE_OUT : 0);
		if (!out)
			ASSERT_EQ(fix_put(&f, name_of(i), "two"), 0);
	}
	ASSERT_EQ(list(&f, &n), STORE_OUT);
	ASSERT_EQ(change(&f, STORE_PATH_ENABLE, 1), 0);
	ASSERT_EQ(returns, 1);
	ASSERT_EQ(change(&f, STORE_PATH_ENABLE, 1), 0); /* nothing to do */
	for (i = 0; i < NAMES; i++)
		ASSERT_CONTENT(&f, name_of(i), owner(&f, i) == 1 ? "one" : "two");
	ASSERT_EQ(list(&f, &n), 0);
	ASSERT_EQ(n, NAMES);
	fix_close(&f);
}

/* New versions go to the next in the order, win over older ones, and come home. */
static void test_strays(void)
{
	struct fix f = {};
	struct store_path p;
	int i, n;

	begin(&f, 3);
	put_all(&f, "one");
	ASSERT_EQ(change(&f, STORE_PATH_DISABLE, 0), 0);
	put_all(&f, "two");
	for (i = 0; i < NAMES; i++) {
		ASSERT_CONTENT(&f, name_of(i), "two");
		if (owner(&f, i) == 0)
			ASSERT_EQ(fix_delete(&f, name_of(i)), STORE_OUT);
	}
	ASSERT_EQ(change(&f, STORE_PATH_ENABLE, 0), 0);
	for (i = 0; i < NAMES; i++)
		ASSERT_CONTENT(&f, name_of(i), "two");
	ASSERT_EQ(list(&f, &n), 0);
	ASSERT_EQ(n, NAMES);
	settle(&f);
	for (i = 0; i < NAMES; i++) {
		ASSERT_EQ(where(&f, i), 1U << owner(&f, i));
		ASSERT_CONTENT(&f, name_of(i), "two");
	}
	ASSERT_TRUE(strcmp(state(&f, 1, &p), "available") == 0 && !p.strays);
	ASSERT_EQ(fix_files(&f, "blob"), NAMES);
	ASSERT_EQ(list(&f, &n), 0);
	ASSERT_EQ(n, NAMES);
	fix_close(&f);
}

/* What holds strays and is out may have a newer version of anything. */
static void test_stray_out(void)
{
	struct fix f = {};
	struct store_rec rec;
	int i;

	begin(&f, 2);
	ASSERT_EQ(change(&f, STORE_PATH_DISABLE, 0), 0);
	put_all(&f, "two");
	ASSERT_EQ(change(&f, STORE_PATH_DISABLE, 1), 0);
	ASSERT_EQ(store_stat(f.s, &fix_bck, "o00", &rec), STORE_OUT);
	ASSERT_EQ(fix_put(&f, "o00", "x"), STORE_OUT);
	ASSERT_EQ(change(&f, STORE_PATH_ENABLE, 0), 0);
	for (i = 0; i < NAMES; i++)
		ASSERT_EQ(store_stat(f.s, &fix_bck, name_of(i), &rec), STORE_OUT);
	ASSERT_EQ(fix_put(&f, "o00", "three"), 0);
	ASSERT_EQ(change(&f, STORE_PATH_ENABLE, 1), 0);
	settle(&f);
	ASSERT_CONTENT(&f, "o00", "three");
	for (i = 1; i < NAMES; i++)
		ASSERT_CONTENT(&f, name_of(i), "two");
	ASSERT_EQ(fix_files(&f, "blob"), NAMES);
	fix_close(&f);
}

/* Removal while one of two versions is on another mountpath removes both. */
static void test_delete_both(void)
{
	struct fix f = {};
	struct store_rec rec;
	int i, n;

	begin(&f, 2);
	f.s->o.bucket = NULL; /* the mover knows no bucket and leaves all where it is */
	put_all(&f, "one");
	ASSERT_EQ(change(&f, STORE_PATH_DISABLE, 0), 0);
	put_all(&f, "two");
	ASSERT_EQ(change(&f, STORE_PATH_ENABLE, 0), 0);
	for (i = 0; i < NAMES; i++) {
		ASSERT_EQ(where(&f, i), owner(&f, i) == 0 ? 3U : 2U);
		ASSERT_EQ(fix_delete(&f, name_of(i)), 0);
		ASSERT_EQ(where(&f, i), 0);
		ASSERT_EQ(store_stat(f.s, &fix_bck, name_of(i), &rec), -ENOENT);
	}
	ASSERT_EQ(list(&f, &n), 0);
	ASSERT_EQ(n, 0);
	ASSERT_EQ(fix_files(&f, "blob"), 0);
	fix_close(&f);
}

/* A new version at home removes the older stray; versions go on counting. */
static void test_overwrite_stray(void)
{
	struct fix f = {};
	struct store_rec rec;
	int i;

	begin(&f, 2);
	f.s->o.bucket = NULL;
	ASSERT_EQ(change(&f, STORE_PATH_DISABLE, 0), 0);
	put_all(&f, "one");
	ASSERT_EQ(change(&f, STORE_PATH_ENABLE, 0), 0);
	put_all(&f, "two");
	for (i = 0; i < NAMES; i++) {
		ASSERT_EQ(where(&f, i), 1U << owner(&f, i));
		ASSERT_EQ(store_stat(f.s, &fix_bck, name_of(i), &rec), 0);
		ASSERT_EQ(rec.version, 2);
	}
	ASSERT_EQ(fix_files(&f, "blob"), NAMES);
	fix_close(&f);
}

static void test_attach_detach(void)
{
	struct fix f = {};
	struct store_path p;
	struct store_rec rec;
	int i, moved = 0, n;

	fix_dirs(&f, 3);
	f.n = 2; /* the third is no mountpath yet */
	ASSERT_EQ(pool_new("io", 4, 100000, &f.io), 0);
	ASSERT_EQ(start(&f), 0);
	put_all(&f, "one");
	f.n = 3;
	ASSERT_EQ(change(&f, STORE_PATH_ATTACH, 0), -EEXIST);
	ASSERT_EQ(change(&f, STORE_PATH_ENABLE, 2), -ENOENT);
	ASSERT_EQ(change(&f, STORE_PATH_ATTACH, 2), 0);
	for (i = 0; i < NAMES; i++)
		ASSERT_CONTENT(&f, name_of(i), "one");
	settle(&f);
	for (i = 0; i < NAMES; i++) {
		ASSERT_EQ(where(&f, i), 1U << owner(&f, i));
		moved += owner(&f, i) == 2;
	}
	ASSERT_TRUE(moved > 0 && moved < NAMES);
	ASSERT_EQ(change(&f, STORE_PATH_DETACH, 2), -EBUSY); /* it holds objects */
	f.n = 2; /* of the configuration */
	fix_stop(&f);
	ASSERT_EQ(start(&f), 0); /* kept */
	ASSERT_STR(state(&f, 2, &p), "available");
	ASSERT_TRUE(p.attached);
	f.n = 3;
	ASSERT_EQ(change(&f, STORE_PATH_DISABLE, 2), 0);
	ASSERT_EQ(list(&f, &n), STORE_OUT);
	ASSERT_EQ(change(&f, STORE_PATH_DETACH, 2), 0);
	ASSERT_EQ(list(&f, &n), 0);
	ASSERT_EQ(n, NAMES - moved);
	ASSERT_EQ(change(&f, STORE_PATH_ATTACH, 2), 0);
	settle(&f);
	ASSERT_EQ(list(&f, &n), 0);
	ASSERT_EQ(n, NAMES);
	ASSERT_EQ(store_stat(f.s, &fix_bck, "o00", &rec), 0);
	fix_close(&f);
}

static void test_restart(void)
{
	struct fix f = {};
	struct store_path p;
	char gone[100];

	begin(&f, 3);
	put_all(&f, "one");
	ASSERT_EQ(change(&f, STORE_PATH_DISABLE, 1), 0);
	put_all(&f, "two");
	fix_stop(&f);
	snprintf(gone, sizeof(gone), "%s.gone", f.path[2]);
	ASSERT_EQ(rename(f.path[2], gone), 0);
	ASSERT_EQ(start(&f), 0);
	ASSERT_STR(state(&f, 0, &p), "available");
	ASSERT_TRUE(p.strays); /* of those of the second */
	ASSERT_STR(state(&f, 1, &p), "disabled");
	ASSERT_STR(state(&f, 2, &p), "failed");
	ASSERT_TRUE(strstr(p.reason, "No such file") != NULL);
	ASSERT_TRUE(store_alerts(f.s) & STORE_ALERT_DISK);
	ASSERT_EQ(mkdir(f.path[2], 0700), 0); /* the empty folder below a mount */
	ASSERT_EQ(change(&f, STORE_PATH_ENABLE, 2), -ENODEV);
	ASSERT_EQ(rmdir(f.path[2]), 0);
	ASSERT_EQ(rename(gone, f.path[2]), 0);
	ASSERT_EQ(change(&f, STORE_PATH_ENABLE, 2), 0);
	ASSERT_EQ(change(&f, STORE_PATH_ENABLE, 1), 0);
	settle(&f);
	ASSERT_EQ(store_alerts(f.s) & ~STORE_ALERT_RESILVER, 0);
	ASSERT_CONTENT(&f, "o00", "two");
	ASSERT_EQ(fix_files(&f, "blob"), NAMES);
	fix_close(&f);
}

/* A folder that goes away is noticed, and its objects are served again with it. */
static void test_lost(void)
{
	int64_t end = mono_ns() + INT64_C(10) * 1000000000;
	struct timespec step = {0, 10000000};
	autobuf struct buf text = BUF_INIT;
	struct fix f = {};
	struct store_path p;
	struct store_rec rec;
	char gone[100];
	int i;

	begin(&f, 2);
	put_all(&f, "one");
	snprintf(gone, sizeof(gone), "%s.gone", f.path[0]);
	ASSERT_EQ(rename(f.path[0], gone), 0);
	while (strcmp(state(&f, 0, &p), "failed") && mono_ns() < end)
		nanosleep(&step, NULL);
	ASSERT_STR(p.state, "failed");
	for (i = 0; i < NAMES; i++)
		ASSERT_EQ(store_stat(f.s, &fix_bck, name_of(i), &rec),
			  owner(&f, i) == 0 ? STORE_OUT : 0);
	ASSERT_EQ(store_alerts(f.s), STORE_ALERT_DISK);
	store_alerts_print(f.s, &text);
	ASSERT_TRUE(strstr(buf_cstr(&text), "has failed: folder: No such file") != NULL);
	ASSERT_EQ(fix_put(&f, "new", "x"), 0);
	ASSERT_EQ(rename(gone, f.path[0]), 0);
	ASSERT_EQ(change(&f, STORE_PATH_ENABLE, 0), 0);
	for (i = 0; i < NAMES; i++)
		ASSERT_CONTENT(&f, name_of(i), "one");
	ASSERT_CONTENT(&f, "new", "x");
	fix_close(&f);
}

static void wait_state(struct fix *f, const char *want)
{
	int64_t end = mono_ns() + INT64_C(15) * 1000000000;
	struct timespec step = {0, 5000000};
	struct store_path p;

	while (strcmp(state(f, 0, &p), want) && mono_ns() < end)
		nanosleep(&step, NULL);
	ASSERT_STR(p.state, want);
}

/* What can not be written is read; new versions go elsewhere until it can be written again. */
static void test_readonly(void)
{
	autobuf struct buf text = BUF_INIT;
	struct fix f = {};
	char tmp[100];
	int i, n;

	begin(&f, 2);
	put_all(&f, "one");
	mpath_suspect(&f.s->paths[0], -ENOSPC); /* is no error of the disk */
	ASSERT_TRUE(!atomic_load(&f.s->paths[0].suspect));
	snprintf(tmp, sizeof(tmp), "%s/blob/tmp", f.path[0]);
	ASSERT_EQ(rmdir(tmp), 0);
	ASSERT_EQ(close(open(tmp, O_CREAT | O_WRONLY, 0600)), 0); /* the try fails on it */
	mpath_suspect(&f.s->paths[0], -EIO);
	wait_state(&f, "read-only");
	ASSERT_EQ(store_alerts(f.s), STORE_ALERT_DISK);
	store_alerts_print(f.s, &text);
	ASSERT_TRUE(strstr(buf_cstr(&text), "can not be written: Not a directory") != NULL);
	for (i = 0; i < NAMES; i++)
		ASSERT_CONTENT(&f, name_of(i), "one");
	ASSERT_EQ(list(&f, &n), 0);
	ASSERT_EQ(n, NAMES);
	for (i = 0; i < NAMES; i += 2) {
		ASSERT_EQ(fix_put(&f, name_of(i), "two"), 0);
		ASSERT_EQ(where(&f, i) & 2U, 2U);
		ASSERT_EQ(fix_delete(&f, name_of(i)), owner(&f, i) == 0 ? STORE_OUT : 0);
		ASSERT_EQ(fix_put(&f, name_of(i), "two"), 0);
	}
	for (i = 1; i < NAMES; i += 2) {
		if (owner(&f, i) == 0)
			ASSERT_EQ(fix_delete(&f, name_of(i)), STORE_OUT);
	}
	ASSERT_EQ(list(&f, &n), 0);
	ASSERT_EQ(n, NAMES);
	ASSERT_EQ(change(&f, STORE_PATH_ENABLE, 0), -ENOTDIR);
	ASSERT_EQ(unlink(tmp), 0);
	ASSERT_EQ(mkdir(tmp, 0700), 0);
	wait_state(&f, "available");
	settle(&f);
	for (i = 0; i < NAMES; i++) {
		ASSERT_CONTENT(&f, name_of(i), i % 2 ? "one" : "two");
		ASSERT_EQ(where(&f, i), 1U << owner(&f, i));
	}
	ASSERT_EQ(fix_files(&f, "blob"), NAMES);
	fix_close(&f);
}

static void test_wrong(void)
{
	static const char *const bad[] = {"",	    "relative", "/",	 "/a/", "/a//b",
					  "/a/./b", "/a/../b",	"/a/..", "/a/."};
	struct fix f = {};
	size_t i;

	begin(&f, 1);
	for (i = 0; i < ARRAY_SIZE(bad); i++)
		ASSERT_EQ(store_path_change(f.s, STORE_PATH_ATTACH, bad[i], f.err, sizeof(f.err)),
			  -EINVAL);
	ASSERT_EQ(store_path_change(f.s, STORE_PATH_ATTACH, "/nowhere/at/all", f.err,
				    sizeof(f.err)),
		  -ENOENT);
	ASSERT_EQ(store_paths(f.s), 1);
	ASSERT_EQ(store_path_change(f.s, STORE_PATH_DISABLE, "/nowhere/at/all", f.err,
				    sizeof(f.err)),
		  -ENOENT);
	ASSERT_EQ(change(&f, STORE_PATH_CHECK, 0), 0);
	ASSERT_EQ(change(&f, STORE_PATH_RESCAN, 0), 0);
	settle(&f);
	mpath_fail(&f.s->paths[0], -EIO, "test");
	mpath_fail(&f.s->paths[0], -EROFS, "again");
	ASSERT_EQ(change(&f, STORE_PATH_CHECK, 0), -EBUSY);
	ASSERT_EQ(change(&f, STORE_PATH_ENABLE, 0), 0);
	ASSERT_EQ(fix_put(&f, "o", "x"), 0);
	fix_close(&f);
}

UNIT_MAIN("store/path_admin", {"out and back", test_out_and_back}, {"strays", test_strays},
	  {"strays out", test_stray_out}, {"delete both", test_delete_both},
	  {"overwrite a stray", test_overwrite_stray}, {"attach and detach", test_attach_detach},
	  {"restart", test_restart}, {"lost", test_lost}, {"read-only", test_readonly},
	  {"wrong use", test_wrong})
