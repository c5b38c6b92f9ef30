/* SPDX-License-Identifier: BSD-2-Clause */
/* The scrub and the quarantine: what is changed on disk is found, moved aside, never served. */
#include "fixture.h"

#include "base/text.h"
#include "store/paths.h"

/* Change one byte of an object's blob, as a bad disk would. */
static void spoil(struct fix *f, const char *name)
{
	struct store_rec rec;
	char path[200], c;
	autofd fd = -1;

	ASSERT_EQ(store_stat(f->s, &fix_bck, name, &rec), 0);
	snprintf(path, sizeof(path), "%s/blob/%s", f->path[rec.path], rec.blob);
	fd = open(path, O_RDWR);
	ASSERT_TRUE(fd >= 0 && pread(fd, &c, 1, 0) == 1);
	c ^= 1;
	ASSERT_EQ(pwrite(fd, &c, 1, 0), 1);
}

static void scrub(struct fix *f, struct store_scrub *st)
{
	int64_t end = mono_ns() + INT64_C(20) * 1000000000;
	struct timespec step = {0, 1000000};

	ASSERT_EQ(store_scrub_start(f->s), 0);
	do {
		nanosleep(&step, NULL);
		store_scrub_status(f->s, st);
	} while (st->running && mono_ns() < end);
	ASSERT_TRUE(!st->running && st->ended_ns >= st->started_ns);
}

struct seen {
	int n;
	char name[64];
	uint64_t size;
};

static void see(void *arg, const struct store_bad *b)
{
	struct seen *s = arg;

	s->n++;
	snprintf(s->name, sizeof(s->name), "%s", b->name);
	s->size = b->size;
	ASSERT_EQ(b->bid, fix_bck.bid);
}

static void test_finds(void)
{
	struct store_scrub st;
	struct store_rec rec;
	struct seen seen = {};
	struct fix f = {};
	char name[16];
	int i;

	fix_open(&f, 2);
	for (i = 0; i < 300; i++) {
		snprintf(name, sizeof(name), "o%03d", i);
		ASSERT_EQ(fix_put(&f, name, "0123456789"), 0);
	}
	scrub(&f, &st);
	ASSERT_EQ(st.objects, 300);
	ASSERT_EQ(st.bytes, 3000);
	ASSERT_EQ(st.corrupt, 0);
	ASSERT_EQ(store_alerts(f.s), 0);
	spoil(&f, "o123");
	ASSERT_CONTENT(&f, "o123", "1123456789"); /* nobody has looked */
	scrub(&f, &st);
	ASSERT_EQ(st.objects, 300);
	ASSERT_EQ(st.corrupt, 1);
	ASSERT_EQ(store_alerts(f.s), STORE_ALERT_DISK);
	ASSERT_EQ(store_stat(f.s, &fix_bck, "o123", &rec), -ENOENT);
	ASSERT_EQ(fix_files(&f, "blob"), 299);
	ASSERT_EQ(fix_files(&f, "quarantine"), 1);
	store_quarantine_each(f.s, see, &seen);
	ASSERT_EQ(seen.n, 1);
	ASSERT_STR(seen.name, "o123");
	ASSERT_EQ(seen.size, 10);
	ASSERT_EQ(store_quarantine_ask(f.s, &fix_bck, "o124"), STORE_BAD_NONE);
	ASSERT_EQ(store_quarantine_ask(f.s, &fix_bck, "o123"), STORE_BAD_NEW);
	ASSERT_EQ(store_quarantine_ask(f.s, &fix_bck, "o123"), STORE_BAD_TOLD);
	fix_restart(&f); /* the list is made from the folder */
	ASSERT_EQ(store_quarantine_ask(f.s, &fix_bck, "o123"), STORE_BAD_NEW);
	ASSERT_EQ(fix_put(&f, "o123", "new"), 0);
	ASSERT_CONTENT(&f, "o123", "new");
	ASSERT_EQ(store_quarantine_purge(f.s), 0);
	ASSERT_EQ(fix_files(&f, "quarantine"), 0);
	ASSERT_EQ(store_alerts(f.s), 0);
	ASSERT_EQ(store_quarantine_ask(f.s, &fix_bck, "o123"), STORE_BAD_NONE);
	fix_close(&f);
}

/* Found by a reader: only that version, and its trailer too where there are no xattrs. */
static void test_by_reader(void)
{
	struct store_name n = {&fix_bck, "o"};
	struct store_rec rec, now;
	struct fix f = {};
	autofd fd = -1;

	fix_open(&f, 1);
	f.s->paths[0].no_xattr = true;
	ASSERT_EQ(fix_put(&f, "o", "one"), 0);
	ASSERT_EQ(store_open_blob(f.s, &fix_bck, "o", &rec, &fd), 0);
	ASSERT_EQ(store_verify(f.s, fd, &rec), 0);
	spoil(&f, "o");
	ASSERT_EQ(store_verify(f.s, fd, &rec), STORE_E_CKSUM);
	ASSERT_EQ(fix_put(&f, "o", "two"), 0);
	ASSERT_EQ(store_quarantine(f.s, n, &rec), -ENOENT); /* it is not that one any more */
	ASSERT_CONTENT(&f, "o", "two");
	ASSERT_EQ(store_stat(f.s, &fix_bck, "o", &now), 0);
	spoil(&f, "o");
	ASSERT_EQ(store_quarantine(f.s, n, &now), 0);
	ASSERT_EQ(store_stat(f.s, &fix_bck, "o", &rec), -ENOENT);
	ASSERT_EQ(fix_files(&f, "quarantine"), 2);
	ASSERT_EQ(fix_files(&f, "blob"), 0);
	fix_restart(&f);
	ASSERT_EQ(store_quarantine_ask(f.s, &fix_bck, "o"), STORE_BAD_NEW);
	fix_close(&f);
}

static void test_cut_and_gone(void)
{
	struct store_scrub st;
	struct store_rec rec;
	struct fix f = {};
	char path[200];

	fix_open(&f, 1);
	ASSERT_EQ(fix_put(&f, "cut", "0123456789"), 0);
	ASSERT_EQ(fix_put(&f, "gone", "0123456789"), 0);
	ASSERT_EQ(store_stat(f.s, &fix_bck, "cut", &rec), 0);
	snprintf(path, sizeof(path), "%s/blob/%s", f.path[0], rec.blob);
	ASSERT_EQ(truncate(path, 5), 0);
	ASSERT_EQ(store_stat(f.s, &fix_bck, "gone", &rec), 0);
	snprintf(path, sizeof(path), "%s/blob/%s", f.path[0], rec.blob);
	ASSERT_EQ(unlink(path), 0);
	scrub(&f, &st);
	ASSERT_EQ(st.corrupt, 1);
	ASSERT_EQ(st.missing, 1);
	ASSERT_EQ(store_stat(f.s, &fix_bck, "cut", &rec), -ENOENT);
	ASSERT_EQ(store_stat(f.s, &fix_bck, "gone", &rec), 0); /* an error for readers */
	fix_close(&f);
}

/* 10 KiB at 20 KiB a second take half a second, and can be stopped. */
static void test_pace(void)
{
	struct store_limits l = {.scrub_rate = 20 << 10};
	char text[1025];
	struct store_scrub st;
	struct fix f = {};
	int64_t begun;
	char name[4];
	int i;

	fix_open(&f, 1);
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = 0;
	for (i = 0; i < 10; i++) {
		snprintf(name, sizeof(name), "%d", i);
		ASSERT_EQ(fix_put(&f, name, text), 0);
	}
	store_set_limits(f.s, &l);
	begun = mono_ns();
	scrub(&f, &st);
	ASSERT_EQ(st.bytes, 10240);
	ASSERT_TRUE(mono_ns() - begun >= 490000000);
	l.scrub_rate = 1;
	store_set_limits(f.s, &l);
	ASSERT_EQ(store_scrub_start(f.s), 0);
	do {
		store_scrub_status(f.s, &st);
	} while (!st.bytes || st.bytes == 10240);
	ASSERT_EQ(store_scrub_start(f.s), -EALREADY);
	store_scrub_stop(f.s);
	do {
		store_scrub_status(f.s, &st);
	} while (st.running);
	ASSERT_TRUE(st.bytes < 10240);
	fix_close(&f); /* would end one that runs, too */
}

UNIT_MAIN("store/scrub", {"finds", test_finds}, {"by a reader", test_by_reader},
	  {"cut and gone", test_cut_and_gone}, {"pace", test_pace})
