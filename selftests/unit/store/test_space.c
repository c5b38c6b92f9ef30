/* SPDX-License-Identifier: BSD-2-Clause */
/* Watermarks: puts are refused while the disk still has room, and taken again. */
#include "fixture.h"

#include <sys/statfs.h>

#include "store/paths.h"

/* Used percent of the file system, as df(1) counts, rounded down. */
static unsigned int used_pct(const char *path)
{
	struct statfs st;
	uint64_t used;

	ASSERT_EQ(statfs(path, &st), 0);
	used = st.f_blocks - st.f_bfree;
	return (unsigned int)(used * 100 / (used + st.f_bavail));
}

static void limit(struct fix *f, unsigned int out, unsigned int high)
{
	struct store_limits l = {.out_of_space = out, .high = high};
	size_t i;

	store_set_limits(f->s, &l);
	for (i = 0; i < f->n; i++)
		space_look(&f->s->paths[i]);
}

static void test_watermark(void)
{
	struct fix f = {};
	unsigned int used;
	struct store_path p;

	fix_open(&f, 2);
	used = used_pct(f.dir);
	if (used < 2) { /* an empty disk can not be over a watermark */
		fix_close(&f);
		printf("skipped: the file system of %s is less than 2%% full ", f.dir);
		return;
	}
	ASSERT_EQ(fix_put(&f, "o", "one"), 0);
	limit(&f, used - 1, 0);
	ASSERT_EQ(fix_put(&f, "o", "two"), -ENOSPC);
	ASSERT_EQ(fix_put(&f, "p", "x"), -ENOSPC);
	ASSERT_EQ(store_alerts(f.s), STORE_ALERT_SPACE);
	ASSERT_EQ(store_path_info(f.s, 0, &p), 0);
	ASSERT_TRUE(p.full && !p.low);
	ASSERT_CONTENT(&f, "o", "one");
	ASSERT_EQ(fix_delete(&f, "o"), 0); /* that makes room */
	limit(&f, MIN(used + 10, 100U), used - 1);
	ASSERT_EQ(store_alerts(f.s), STORE_ALERT_LOW);
	ASSERT_EQ(fix_put(&f, "o", "three"), 0);
	limit(&f, 0, 0);
	ASSERT_EQ(store_alerts(f.s), 0);
	fix_close(&f);
}

/* What is promised counts before it is written. */
static void test_promised(void)
{
	struct fix f = {};
	struct mpath *mp;
	int64_t left;

	fix_open(&f, 1);
	mp = &f.s->paths[0];
	limit(&f, 100, 0);
	left = atomic_load(&mp->left);
	ASSERT_TRUE(left > 16 << 20);
	ASSERT_EQ(space_ask(mp, left - (8 << 20)), 0);
	ASSERT_EQ(space_ask(mp, INT64_MAX / 4), -ENOSPC);
	space_look(mp); /* it was never written */
	ASSERT_TRUE(atomic_load(&mp->left) > 16 << 20);
	ASSERT_EQ(space_ask(mp, -1), 0);
	fix_close(&f);
}

UNIT_MAIN("store/space", {"watermark", test_watermark}, {"promised", test_promised})
