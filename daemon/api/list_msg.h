/* SPDX-License-Identifier: BSD-2-Clause */
/* What a client asks of a listing: the value of the "list" control body. */
#ifndef API_LIST_MSG_H
#define API_LIST_MSG_H

#include "api/target.h"

#define LIST_PAGE_MAX 100000 /* the config sets the limit that counts: list.page_max */
#define LIST_PAGE_DEFAULT 10000
#define LIST_LAYOUT_MAX 64

/* Bits of "flags". */
#define LIST_F_CACHED BIT64(0)
#define LIST_F_ARCHIVES BIT64(3)
#define LIST_F_NAME_ONLY BIT64(4)
#define LIST_F_NAME_SIZE BIT64(5)
#define LIST_F_NOT_CACHED BIT64(9)
#define LIST_F_NO_RECURSION BIT64(11)
#define LIST_F_DIFF BIT64(12)
#define LIST_F_INVENTORY BIT64(15)

/* What an entry carries beside its name. */
#define LIST_P_SIZE BIT(0)
#define LIST_P_CKSUM BIT(1)
#define LIST_P_ATIME BIT(2)
#define LIST_P_VERSION BIT(3)
#define LIST_P_LOCATION BIT(4)
#define LIST_P_CUSTOM BIT(5)
#define LIST_P_COPIES BIT(6)

struct list_msg {
	char uuid[33];
	char prefix[SMAP_OBJECT_MAX + 2]; /* one '*' at the end is dropped */
	char token[SMAP_OBJECT_MAX + 2]; /* a directory's has a '/' more */
	char after[SMAP_OBJECT_MAX + 2];
	char target[SMAP_ID_MAX + 1];
	char layout[LIST_LAYOUT_MAX + 1];
	uint32_t props; /* LIST_P_* */
	uint64_t flags; /* LIST_F_* */
	uint32_t page; /* 1 to LIST_PAGE_MAX */
};

/**
 * list_msg_parse() - Read the value of a "list" body
 * @value:	the value, an object; NULL stands for all defaults
 * @ret:	written on success only
 * @f:		the refusal, on -EINVAL
 *
 * Return: 0 or -EINVAL.
 */
int list_msg_parse(struct json_object *value, struct list_msg *ret, struct api_fault *f);
/* Append the whole body for the targets: names after @after, at most @max. */
void list_msg_print(const struct list_msg *m, const char *after, uint32_t max, struct buf *out);
/* Where the page begins: the token, on the first page start_after. */
const char *list_msg_after(const struct list_msg *m);

#endif
