/* SPDX-License-Identifier: BSD-2-Clause */
/* Text and JSON from one call. */
#include <errno.h>
#include <stdarg.h>
#include <time.h>

#include "base/bits.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "out.h"

#define JSON_STYLE (JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE)

void out_init(struct out *o, bool json)
{
	*o = (struct out){.f = stdout, .json = json, .tty = isatty(STDOUT_FILENO)};
}

int out_close(struct out *o)
{
	errno = 0;
	if (fflush(o->f) == 0 && !ferror(o->f))
		return 0;
	if (errno && errno != EPIPE)
		fprintf(stderr, "pagewire: cannot write standard output: %s\n", strerror(errno));
	return -EIO;
}

void out_doc(struct out *o, struct json_object *doc)
{
	if (!o->json)
		return;
	fputs(doc ? json_object_to_json_string_ext(doc, JSON_STYLE) : "null", o->f);
	fputc('\n', o->f);
}

void out_name(struct out *o, const char *s)
{
	if (!o->tty) {
		fputs(s, o->f);
		return;
	}
	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;

		fputc(c < 0x20 || c == 0x7f ? '?' : c, o->f);
	}
}

const char *out_bytes(unsigned long long bytes, char buf[32])
{
	static const char *const unit[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
	double v = (double)bytes;
	size_t u = 0;

	while (v >= 1024 && u + 1 < ARRAY_SIZE(unit)) {
		v /= 1024;
		u++;
	}
	snprintf(buf, 32, u ? "%.1f %s" : "%.0f %s", v, unit[u]);
	return buf;
}

static struct json_object *value_at(struct json_object *doc, const char *path)
{
	while (doc && *path) {
		size_t n = strcspn(path, ".");
		char part[64];

		if (n >= sizeof(part))
			return NULL;
		memcpy(part, path, n);
		part[n] = 0;
		doc = json_member(doc, part);
		path += n + (path[n] == '.');
	}
	return doc;
}

static char *value_number(struct json_object *v, enum out_kind kind)
{
	int64_t n = json_object_get_int64(v);
	char text[64] = "-";
	struct tm tm;
	time_t t;

	if (kind == OUT_BYTES) {
		out_bytes(n < 0 ? 0 : (unsigned long long)n, text);
	} else if (n > 0) {
		t = (time_t)(n / 1000000000);
		if (gmtime_r(&t, &tm))
			strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm);
	}
	return strdup(text);
}

/* The API's zero time stands for none. */
static char *value_time(const char *s)
{
	static const char *const forms[] = {
		"%Y-%m-%dT%H:%M:%S",
		"%Y-%m-%d %H:%M:%S",
		"%a, %d %b %Y %H:%M:%S GMT",
	};
	char text[64];
	struct tm tm;
	size_t i;

	if (!strncmp(s, "0001-01-01", 10))
		return strdup("-");
	for (i = 0; i < ARRAY_SIZE(forms); i++) {
		const char *end;

		tm = (struct tm){};
		end = strptime(s, forms[i], &tm);
		if (!end)
			continue;
		if (*end == '.')
			end += 1 + strspn(end + 1, "0123456789");
		if (*end && strcmp(end, "Z"))
			break;
		strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm);
		return strdup(text);
	}
	return strdup(s);
}

char *out_value(struct json_object *doc, const char *path, enum out_kind kind)
{
	struct json_object *v = value_at(doc, path);

	if (!v)
		return NULL;
	if (kind == OUT_TIME && json_object_is_type(v, json_type_string))
		return value_time(json_object_get_string(v));
	if (kind == OUT_BYTES || kind == OUT_NS)
		return value_number(v, kind);
	if (json_object_is_type(v, json_type_string))
		return strdup(json_object_get_string(v));
	return strdup(json_object_to_json_string_ext(v, JSON_STYLE));
}

static size_t count_cols(const struct out_col *cols)
{
	size_t n = 0;

	while (cols[n].head)
		n++;
	return n;
}

static void print_cell(struct out *o, const char *s, size_t width, bool last)
{
	size_t n = strlen(s);

	out_name(o, s);
	if (last)
		fputc('\n', o->f);
	else
		fprintf(o->f, "%*s", (int)(width - n + 2), "");
}

static void print_table(struct out *o, char **cell, size_t nrows, const struct out_col *cols)
{
	size_t ncols = count_cols(cols), r, c;
	size_t width[16] = {};

	for (c = 0; c < ncols; c++) {
		width[c] = strlen(cols[c].head);
		for (r = 0; r < nrows; r++)
			width[c] = MAX(width[c], strlen(cell[r * ncols + c]));
	}
	for (c = 0; c < ncols; c++)
		print_cell(o, cols[c].head, width[c], c + 1 == ncols);
	for (r = 0; r < nrows; r++) {
		for (c = 0; c < ncols; c++)
			print_cell(o, cell[r * ncols + c], width[c], c + 1 == ncols);
	}
}

void out_table(struct out *o, struct json_object *doc, struct json_object *rows,
	       const struct out_col *cols)
{
	size_t ncols = count_cols(cols), nrows, i;
	autofree char **cell = NULL;

	if (o->json) {
		out_doc(o, doc);
		return;
	}
	nrows = json_object_is_type(rows, json_type_array) ? json_object_array_length(rows) : 0;
	if (!nrows || ncols > 16)
		return;
	cell = calloc(nrows * ncols, sizeof(*cell));
	for (i = 0; cell && i < nrows * ncols; i++) {
		struct json_object *row = json_object_array_get_idx(rows, i / ncols);

		cell[i] = out_value(row, cols[i % ncols].path, cols[i % ncols].kind);
		if (cell[i] && *cell[i])
			continue;
		free(cell[i]);
		cell[i] = strdup("-");
		if (!cell[i])
			break;
	}
	if (cell && i == nrows * ncols)
		print_table(o, cell, nrows, cols);
	else
		fputs("pagewire: out of memory\n", stderr);
	while (cell && i > 0)
		free(cell[--i]);
}

void out_fields(struct out *o, struct json_object *doc, const struct out_col *cols)
{
	size_t ncols = count_cols(cols), width = 0, c;

	if (o->json) {
		out_doc(o, doc);
		return;
	}
	for (c = 0; c < ncols; c++)
		width = MAX(width, strlen(cols[c].head));
	for (c = 0; c < ncols; c++) {
		autofree char *v = out_value(doc, cols[c].path, cols[c].kind);

		if (!v)
			continue;
		print_cell(o, cols[c].head, width, false);
		print_cell(o, v, 0, true);
	}
}

/* Whether @v is an object with members: a level of its own. */
static bool is_level(struct json_object *v)
{
	return json_object_is_type(v, json_type_object) && json_object_object_length(v);
}

/* Of all leaves below @v, the length of the longest path; that of @v itself is @len. */
static size_t flat_width(struct json_object *v, size_t len)
{
	size_t width = 0;

	if (!is_level(v))
		return len;
	json_object_object_foreach (v, k, val)
		width = MAX(width, flat_width(val, len + (len ? 1 : 0) + strlen(k)));
	return width;
}

static void flat(struct out *o, struct json_object *v, struct buf *path, size_t width)
{
	size_t len = path->len;
	const char *text;

	if (is_level(v)) {
		json_object_object_foreach (v, k, val) {
			buf_fmt(path, "%s%s", len ? "." : "", k);
			flat(o, val, path, width);
			path->len = len;
			if (path->data)
				path->data[len] = 0;
		}
		return;
	}
	if (json_object_is_type(v, json_type_string))
		text = json_object_get_string(v);
	else
		text = v ? json_object_to_json_string_ext(v, JSON_STYLE) : "null";
	out_name(o, buf_cstr(path));
	if (*text)
		fprintf(o->f, "%*s", (int)(width - len + 2), "");
	out_name(o, text);
	fputc('\n', o->f);
}

void out_flat(struct out *o, struct json_object *doc)
{
	autobuf struct buf path = BUF_INIT;

	if (o->json)
		out_doc(o, doc);
	else
		flat(o, doc, &path, flat_width(doc, 0));
}

/* A line on stderr; names and the server's words in it cannot steer a terminal. */
__attribute__((format(printf, 2, 0))) static void say(const char *before, const char *fmt,
						      va_list ap)
{
	autobuf struct buf text = BUF_INIT;
	size_t i;

	buf_str(&text, before);
	buf_vfmt(&text, fmt, ap);
	for (i = 0; i < text.len && isatty(STDERR_FILENO); i++) {
		if ((unsigned char)text.data[i] < 0x20 || text.data[i] == 0x7f)
			text.data[i] = '?';
	}
	fflush(stdout);
	fprintf(stderr, "%s\n", buf_cstr(&text));
}

void out_done(struct out *o, struct json_object *doc, const char *fmt, ...)
{
	va_list ap;

	if (o->json) {
		out_doc(o, doc);
		return;
	}
	va_start(ap, fmt);
	say("", fmt, ap);
	va_end(ap);
}

static void error_json(struct out *o, const char *message)
{
	autofree char *clean = out_utf8(message);
	autojson struct json_object *doc = json_object_new_object();

	json_object_object_add(doc, "message", json_object_new_string(clean ? clean : ""));
	json_object_object_add(doc, "status", json_object_new_int(0));
	out_doc(o, doc);
}

void out_error(struct out *o, struct json_object *doc, const char *fmt, ...)
{
	autobuf struct buf text = BUF_INIT;
	va_list ap;

	va_start(ap, fmt);
	if (!o->json) {
		say("pagewire: ", fmt, ap);
	} else if (doc) {
		out_doc(o, doc);
	} else {
		buf_vfmt(&text, fmt, ap);
		error_json(o, buf_cstr(&text));
	}
	va_end(ap);
}

void out_note(struct out *o, const char *fmt, ...)
{
	va_list ap;

	if (o->json)
		return;
	va_start(ap, fmt);
	say("", fmt, ap);
	va_end(ap);
}

/* Length of the valid UTF-8 sequence at @s, 0 if there is none. */
static size_t utf8_len(const unsigned char *s)
{
	size_t n = s[0] < 0x80			 ? 1
		   : s[0] >= 0xc2 && s[0] < 0xe0 ? 2
		   : s[0] >= 0xe0 && s[0] < 0xf0 ? 3
		   : s[0] >= 0xf0 && s[0] < 0xf5 ? 4
						 : 0;
	size_t i;

	for (i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	}
	if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
	    (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
		return 0;
	return n;
}

char *out_utf8(const char *s)
{
	autobuf struct buf b = BUF_INIT;

	while (*s) {
		size_t n = utf8_len((const unsigned char *)s);

		if (n)
			buf_append(&b, s, n);
		else
			buf_str(&b, "\xef\xbf\xbd");
		s += n ? n : 1;
	}
	return buf_take(&b);
}

void out_bucket(struct buf *b, struct json_object *bucket)
{
	struct json_object *ns = json_member(bucket, "namespace");
	const char *provider = json_member_str(bucket, "provider");
	const char *name = json_member_str(bucket, "name");
	const char *uuid = json_member_str(ns, "uuid"), *space = json_member_str(ns, "name");

	buf_fmt(b, "%s://", provider ? provider : "ais");
	if (uuid && *uuid)
		buf_fmt(b, "@%s", uuid);
	if (space && *space)
		buf_fmt(b, "#%s", space);
	if ((uuid && *uuid) || (space && *space))
		buf_char(b, '/');
	buf_str(b, name ? name : "");
}
