/* SPDX-License-Identifier: BSD-2-Clause */
/* Names of buckets and objects as users type them, and their forms in requests. */
#ifndef PAGEWIRE_URI_H
#define PAGEWIRE_URI_H

struct buf;

struct uri {
	const char *provider; /* as the API spells it */
	char *ns; /* "@uuid#name", NULL: the global namespace */
	char *bucket;
	char *object; /* NULL: only a bucket was named */
};

#define URI_INIT                                                                                   \
	{                                                                                          \
	}
/* A name freed at the end of its scope. */
#define autouri __attribute__((cleanup(uri_deinit)))

enum {
	URI_E_SYNTAX = 1, /* not a name of this form; the reason is given */
};

/**
 * uri_parse() - Read PROVIDER://[@UUID][#NAMESPACE/]BUCKET[/OBJECT], or a bare BUCKET
 * @text:	what the user typed
 * @ret:	the name, written on success only; end it with uri_deinit()
 * @ret_why:	what is wrong with it, written on URI_E_SYNTAX only; static
 *
 * The object is taken byte for byte, inner and trailing slashes included.
 *
 * Return: 0, URI_E_SYNTAX, -ENOMEM.
 */
int uri_parse(const char *text, struct uri *ret, const char **ret_why);

/* Free what uri_parse() filled; safe for a never-filled one, and twice. */
void uri_deinit(struct uri *u);

/**
 * uri_request() - The path of a request, with the query that names the bucket
 * @b:		appended to; more of the query may follow, each part starting with '&'
 * @area:	"buckets" or "objects"
 * @u:		the name
 */
void uri_request(struct buf *b, const char *area, const struct uri *u);

/**
 * uri_query_uname() - A query part whose value is the unique name of a bucket or object
 * @b:		appended to
 * @key:	"bck_to" or "object_to"
 * @u:		the name
 */
void uri_query_uname(struct buf *b, const char *key, const struct uri *u);

/* The name as users type it, appended to @b. */
void uri_text(struct buf *b, const struct uri *u);

/* @s percent-encoded, '/' kept, appended to @b. */
void uri_escape_path(struct buf *b, const char *s);

/* @s percent-encoded for a query, appended to @b. */
void uri_escape_query(struct buf *b, const char *s);

#endif
