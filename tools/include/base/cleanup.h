/* SPDX-License-Identifier: BSD-2-Clause */
/* Resources released by scope: declare where you acquire, hand over explicitly with take_*(). */
#ifndef BASE_CLEANUP_H
#define BASE_CLEANUP_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Of autofd. */
static inline void base_close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* Of autofree. */
static inline void base_free_ptr(void *p)
{
	free(*(void **)p);
}

/* Of autofile. */
static inline void base_close_file(FILE **f)
{
	if (*f)
		fclose(*f);
}

/* An fd that is closed at the end of its scope; initialise it, with -1 if nothing is open. */
#define autofd __attribute__((cleanup(base_close_fd))) int
/* A heap pointer that is freed at the end of its scope: `autofree char *s = NULL;` */
#define autofree __attribute__((cleanup(base_free_ptr)))
/* A stdio stream that is closed at the end of its scope. */
#define autofile __attribute__((cleanup(base_close_file)))
/* Any type with a destructor that takes a pointer to the variable. */
#define autoclean(fn) __attribute__((cleanup(fn)))

/* The value of *@fd, which becomes -1: ownership moves to the caller. */
static inline int take_fd(int *fd)
{
	int ret = *fd;

	*fd = -1;
	return ret;
}

/* The value of pointer variable @p, which becomes NULL: ownership moves to the caller. */
#define take_ptr(p)                                                                                \
	({                                                                                         \
		__typeof__(p) taken_ = (p);                                                        \
		(p) = NULL;                                                                        \
		taken_;                                                                            \
	})

#endif
