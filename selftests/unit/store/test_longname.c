/* SPDX-License-Identifier: BSD-2-Clause */
/* Lists of long names: order, change, removal, damage. */
#include "selftests/unit/unit.h"

#include <errno.h>

#include "store/codec.h"

static struct objkey key(const char *name)
{
	return (struct objkey){1, name, strlen(name)};
}

static void set(struct buf *list, const char *name, const char *val)
{
	struct buf v = {.data = (char *)val, .len = strlen(val)}, out = BUF_INIT;
	struct objkey k = key(name);

	ASSERT_EQ(longname_edit(list->data, list->len, &k, &v, &out), 0);
	buf_free(list);
	*list = out;
}

static int drop(struct buf *list, const char *name)
{
	struct buf out = BUF_INIT;
	struct objkey k = key(name);
	int r = longname_edit(list->data, list->len, &k, NULL, &out);

	buf_free(r ? &out : list);
	if (r == 0)
		*list = out;
	return r;
}

static void check(const struct buf *list, const char *want)
{
	autobuf struct buf got = BUF_INIT;
	struct longname_item it;
	size_t pos = 0;
	int r;

	while ((r = longname_next(list->data, list->len, &pos, &it)) > 0)
		buf_fmt(&got, "%.*s=%.*s ", (int)it.name_len, it.name, (int)it.val_len, it.val);
	ASSERT_EQ(r, 0);
	ASSERT_STR(buf_cstr(&got), want);
}

static void test_order(void)
{
	autobuf struct buf list = BUF_INIT;
	struct objkey k = key("bb"), none = key("bbb");
	struct longname_item it;

	set(&list, "b", "1");
	set(&list, "c", "2");
	set(&list, "a", "3");
	set(&list, "bb", "4");
	set(&list, "b\xc3\xa9", "5");
	check(&list, "a=3 b=1 bb=4 b\xc3\xa9=5 c=2 ");
	set(&list, "b", "six");
	check(&list, "a=3 b=six bb=4 b\xc3\xa9=5 c=2 ");
	ASSERT_EQ(longname_find(list.data, list.len, &k, &it), 0);
	ASSERT_EQ(*it.val, '4');
	ASSERT_EQ(longname_find(list.data, list.len, &none, &it), -ENOENT);
	ASSERT_EQ(drop(&list, "bbb"), -ENOENT);
	ASSERT_EQ(drop(&list, "a"), 0);
	ASSERT_EQ(drop(&list, "c"), 0);
	check(&list, "b=six bb=4 b\xc3\xa9=5 ");
	ASSERT_EQ(drop(&list, "b"), 0);
	ASSERT_EQ(drop(&list, "bb"), 0);
	ASSERT_EQ(drop(&list, "b\xc3\xa9"), 0);
	ASSERT_EQ(list.len, 0);
}

static void test_damage(void)
{
	autobuf struct buf list = BUF_INIT;
	struct objkey k = key("zzz");
	struct longname_item it;
	size_t n;

	set(&list, "a", "1");
	set(&list, "bb", "22");
	/* format, then 6 + 1 + 1 and 6 + 2 + 2 bytes */
	ASSERT_EQ(list.len, 19);
	for (n = 1; n < list.len; n++) {
		int r = longname_find(list.data, n, &k, &it);

		ASSERT_EQ(r, n == 1 || n == 9 ? -ENOENT : -EUCLEAN);
	}
	list.data[0] = 9;
	ASSERT_EQ(longname_find(list.data, list.len, &k, &it), -EUCLEAN);
}

UNIT_MAIN("store/longname", {"order", test_order}, {"damage", test_damage})
