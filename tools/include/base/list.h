/* SPDX-License-Identifier: BSD-2-Clause */
/* Intrusive doubly linked list with a head node. */
#ifndef BASE_LIST_H
#define BASE_LIST_H

#include <stdbool.h>

#include "base/bits.h"

struct list {
	struct list *next, *prev;
};

#define LIST_INIT(name)                                                                            \
	{                                                                                          \
		.next = &(name), .prev = &(name)                                                   \
	}

/* Make @l an empty head, or a node that is in no list. */
static inline void list_init(struct list *l)
{
	l->next = l->prev = l;
}

/* Whether a head has no nodes. */
static inline bool list_empty(const struct list *l)
{
	return l->next == l;
}

/* Link @n between two neighbours. */
static inline void list_insert_(struct list *n, struct list *prev, struct list *next)
{
	n->prev = prev;
	n->next = next;
	prev->next = n;
	next->prev = n;
}

/* Add @n as the last of @head. */
static inline void list_add_tail(struct list *head, struct list *n)
{
	list_insert_(n, head->prev, head);
}

/* Add @n as the first of @head. */
static inline void list_add(struct list *head, struct list *n)
{
	list_insert_(n, head, head->next);
}

/* Unlink @n; it may be unlinked again (a no-op) or added anew. */
static inline void list_del(struct list *n)
{
	n->prev->next = n->next;
	n->next->prev = n->prev;
	list_init(n);
}

/* Move all of @from to the end of @to. */
static inline void list_splice_tail(struct list *to, struct list *from)
{
	if (list_empty(from))
		return;
	from->next->prev = to->prev;
	to->prev->next = from->next;
	from->prev->next = to;
	to->prev = from->prev;
	list_init(from);
}

#define list_entry(l, type, member) container_of(l, type, member)

#define list_for_each(pos, head) for ((pos) = (head)->next; (pos) != (head); (pos) = (pos)->next)

/* Safe against removal of @pos. */
#define list_for_each_safe(pos, tmp, head)                                                         \
	for ((pos) = (head)->next, (tmp) = (pos)->next; (pos) != (head);                           \
	     (pos) = (tmp), (tmp) = (pos)->next)

#endif
