/* SPDX-License-Identifier: BSD-2-Clause */
/* The sweeper: order of answers, what is not urgent, what an end leaves. */
#include "fixture.h"

#include "store/commit.h"

static struct fix f;
static struct sweeper *sw;

static void make(const char *name)
{
	char path[192];
	autofd fd = -1;

	snprintf(path, sizeof(path), "%s/blob/%s", f.path[0], name);
	fd = open(path, O_CREAT | O_WRONLY | O_EXCL, 0600);
	ASSERT_TRUE(fd >= 0);
}

static bool there(const char *name)
{
	char path[192];

	snprintf(path, sizeof(path), "%s/blob/%s", f.path[0], name);
	return access(path, F_OK) == 0;
}

#define A "00/00000000000000aa-0000000000000001"
#define B "01/00000000000000aa-0000000000000002"

struct waited {
	struct commit_op op;
	sem_t done;
	bool gone; /* the blobs were, when it was answered */
};

static void waited_done(struct commit_op *op)
{
	struct waited *w = container_of(op, struct waited, op);

	w->gone = !there(A) && !there(A ".meta") && !there(B) && op->err == 0;
	sem_post(&w->done);
}

static void test_answered_after(void)
{
	struct waited w = {.op = {.done = waited_done}};
	struct buf victims = BUF_INIT;
	struct list ops = LIST_INIT(ops);

	f = (struct fix){.sync = true};
	fix_open(&f, 1);
	sw = f.s->paths[0].sw;
	make(A);
	make(A ".meta");
	make(B);
	sem_init(&w.done, 0, 0);
	victim_add(&victims, A, victim_of(STORE_F_TRAILER));
	victim_add(&victims, B, victim_of(0));
	list_add_tail(&ops, &w.op.link);
	sweep_add(sw, &victims, &ops);
	ASSERT_EQ(victims.len, 0);
	ASSERT_TRUE(list_empty(&ops));
	sem_wait(&w.done);
	ASSERT_TRUE(w.gone);
	buf_free(&victims);
	fix_close(&f);
}

static void test_trailer_only(void)
{
	struct buf victims = BUF_INIT;

	f = (struct fix){};
	fix_open(&f, 1);
	sw = f.s->paths[0].sw;
	make(A);
	make(A ".meta");
	victim_add(&victims, A, VICTIM_TRAILER);
	victim_add(&victims, B, VICTIM_BOTH); /* gone already: fine */
	sweep_later(sw, &victims);
	sweep_wait(sw, 0);
	ASSERT_TRUE(there(A));
	ASSERT_TRUE(!there(A ".meta"));
	buf_free(&victims);
	fix_close(&f);
}

/* More orphans than a start removes itself: the sweeper takes the rest. */
static void test_many_orphans(void)
{
	char name[48];
	int i;

	f = (struct fix){};
	fix_open(&f, 1);
	ASSERT_EQ(fix_put(&f, "o", "x"), 0);
	fix_stop(&f);
	for (i = 0; i < 1500; i++) {
		snprintf(name, sizeof(name), "%02x/00000000000000aa-%016x", i % 256, i);
		make(name);
	}
	ASSERT_EQ(fix_start(&f), 0);
	ASSERT_EQ(fix_files(&f, "blob"), 1);
	ASSERT_CONTENT(&f, "o", "x");
	fix_close(&f);
}

UNIT_MAIN("store/sweep", {"answered after", test_answered_after},
	  {"trailer only", test_trailer_only}, {"many orphans", test_many_orphans})
