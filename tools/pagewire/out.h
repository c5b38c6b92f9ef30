/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the user sees: one call feeds text and JSON. With -j stdout carries exactly one JSON
 * document; without it, text. Prose, notes and progress always go to stderr.
 */
#ifndef PAGEWIRE_OUT_H
#define PAGEWIRE_OUT_H

#include <stdbool.h>
#include <stdio.h>

struct buf;
struct json_object;

struct out {
	FILE *f;
	bool json;
	bool tty; /* f is a terminal: control characters of names are not sent to it */
};

enum out_kind {
	OUT_PLAIN,
	OUT_BYTES, /* 1536 as "1.5 KiB" */
	OUT_NS, /* nanoseconds since the epoch as a UTC time */
	OUT_TIME, /* a time in any of the API's forms, all of them UTC, in the form of OUT_NS */
	OUT_KIND_NR,
};

/* A column of a table, or a line of a list of fields; a table of them ends with {}. */
struct out_col {
	const char *head; /* as text shows it */
	const char *path; /* where it stands in the document, parts joined by dots */
	enum out_kind kind;
};

/* Write to stdout, as JSON if @json. */
void out_init(struct out *o, bool json);

/**
 * out_close() - Flush
 * @o:	the output
 *
 * Return: 0, or -EIO when something could not be written; nothing is said about a closed pipe.
 */
int out_close(struct out *o);

/**
 * out_doc() - A document as JSON; nothing as text
 * @o:		the output
 * @doc:	borrowed; NULL prints `null`
 */
void out_doc(struct out *o, struct json_object *doc);

/**
 * out_table() - A document as JSON, or its rows as a table
 * @o:		the output
 * @doc:	the document, borrowed
 * @rows:	an array inside @doc or beside it, borrowed; anything else has no rows
 * @cols:	columns, ended by {}; paths start at the row
 */
void out_table(struct out *o, struct json_object *doc, struct json_object *rows,
	       const struct out_col *cols);

/**
 * out_fields() - A document as JSON, or chosen fields of it, one a line
 * @o:		the output
 * @doc:	the document, borrowed
 * @cols:	the fields, ended by {}; an absent one is left out
 */
void out_fields(struct out *o, struct json_object *doc, const struct out_col *cols);

/**
 * out_flat() - A document as JSON, or each leaf as "a.b.c  value", one a line, values aligned
 * @o:		the output
 * @doc:	the document, borrowed
 */
void out_flat(struct out *o, struct json_object *doc);

/**
 * out_done() - What was done: the document as JSON, or a sentence on stderr
 * @o:		the output
 * @doc:	the document, borrowed
 * @fmt:	the sentence, no newline
 */
void out_done(struct out *o, struct json_object *doc, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/**
 * out_error() - What went wrong: the document as JSON, or a sentence on stderr
 * @o:		the output
 * @doc:	the API's error document, borrowed; NULL makes one of the sentence
 * @fmt:	the sentence, no newline
 */
void out_error(struct out *o, struct json_object *doc, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* A line on stderr in text mode; nothing with -j. */
void out_note(struct out *o, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* A string in text mode, as it is, control characters replaced on a terminal; no newline. */
void out_name(struct out *o, const char *s);

/**
 * out_value() - A value of a document as text
 * @doc:	a document, borrowed
 * @path:	where it stands, parts joined by dots
 * @kind:	how it is shown
 *
 * Return: a heap string, or NULL when absent or out of memory.
 */
char *out_value(struct json_object *doc, const char *path, enum out_kind kind);

/* @s with each byte that is not part of valid UTF-8 replaced. A heap string, NULL: no memory. */
char *out_utf8(const char *s);

/* The name of a bucket of the API's, as users type it, appended to @b. */
void out_bucket(struct buf *b, struct json_object *bucket);

/* @bytes as "1.5 KiB" into @buf. Return: @buf. */
const char *out_bytes(unsigned long long bytes, char buf[32]);

#endif
