/* SPDX-License-Identifier: BSD-2-Clause */
/* Lists of long names from any bytes: walked, searched, edited. */
#include <stdlib.h>
#include <string.h>

#include "store/codec.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile uint8_t sink;

/* Sum of all borrowed bytes: each is read, so none is out of bounds. Return: items, or -1. */
static long walk(const void *list, size_t n)
{
	uint8_t sum = 0;
	struct longname_item it;
	size_t pos = 0, i;
	long items = 0;
	int r;

	while ((r = longname_next(list, n, &pos, &it)) > 0) {
		for (i = 0; i < it.name_len; i++)
			sum ^= (uint8_t)it.name[i];
		for (i = 0; i < it.val_len; i++)
			sum ^= (uint8_t)it.val[i];
		items++;
	}
	sink = sum;
	return r < 0 ? -1 : items;
}

static void edit(const uint8_t *list, size_t size, const struct objkey *k)
{
	struct buf val = {.data = (char *)"v", .len = 1}, set = BUF_INIT, gone = BUF_INIT;
	struct longname_item it;
	long before = walk(list, size);

	if (longname_edit(list, size, k, &val, &set) == 0) {
		if (before < 0 || walk(set.data, set.len) < 0)
			abort();
		if (longname_edit(set.data, set.len, k, NULL, &gone) != 0 ||
		    walk(gone.data, gone.len) > before ||
		    longname_find(gone.data, gone.len, k, &it) == 0)
			abort();
	} else if (before >= 0) {
		abort();
	}
	buf_free(&set);
	buf_free(&gone);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct objkey k = {1, "m", 1};
	struct longname_item it;

	if (size > 1 && data[0] % 2) { /* look for a name of the input itself */
		k.len = 1 + data[0] % 32;
		if (k.len > size - 1)
			k.len = size - 1;
		k.name = (const char *)data + 1;
		data += 1;
		size -= 1;
	}
	walk(data, size);
	longname_find(data, size, &k, &it);
	edit(data, size, &k);
	return 0;
}
