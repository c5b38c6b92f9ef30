/* SPDX-License-Identifier: BSD-2-Clause */
/* What an operator should know: flags, sentences, gauges. */
#include "store/paths.h"

uint64_t store_alerts(struct store *s)
{
	uint64_t flags = mover_busy(s->mover) ? STORE_ALERT_RESILVER : 0;
	struct store_path p;
	size_t i;

	for (i = 0; i < store_paths(s); i++) {
		if (store_path_info(s, i, &p) < 0)
			continue;
		flags |= p.full ? STORE_ALERT_SPACE : 0;
		flags |= p.low ? STORE_ALERT_LOW : 0;
		flags |= p.corrupt || !strcmp(p.state, "failed") || !strcmp(p.state, "read-only")
				 ? STORE_ALERT_DISK
				 : 0;
	}
	return flags;
}

static void say(struct buf *out, const char *path, const char *what, const char *why)
{
	struct buf line = BUF_INIT;

	buf_fmt(&line, "mountpath %s %s%s%s", path, what, *why ? ": " : "", why);
	if (out->data[out->len - 1] != '[')
		buf_char(out, ',');
	buf_json_str(out, buf_cstr(&line));
	buf_free(&line);
}

void store_alerts_print(struct store *s, struct buf *out)
{
	struct store_scrub st;
	struct store_path p;
	char text[64];
	size_t i;

	buf_char(out, '[');
	for (i = 0; !out->err && i < store_paths(s); i++) {
		if (store_path_info(s, i, &p) < 0)
			continue;
		if (!strcmp(p.state, "failed"))
			say(out, p.path, "has failed", p.reason);
		if (!strcmp(p.state, "read-only"))
			say(out, p.path, "can not be written", p.reason);
		if (!strcmp(p.state, "disabled"))
			say(out, p.path, "is disabled", "its objects are not served");
		if (p.full)
			say(out, p.path, "is out of space", "puts are refused");
		else if (p.low)
			say(out, p.path, "is low on space", "");
		snprintf(text, sizeof(text), "%llu corrupt objects", (unsigned long long)p.corrupt);
		if (p.corrupt)
			say(out, p.path, "has a quarantine", text);
	}
	store_scrub_status(s, &st);
	if (st.missing && !out->err)
		buf_fmt(out, "%s\"scrub: %llu objects can not be read\"",
			out->data[out->len - 1] == '[' ? "" : ",", (unsigned long long)st.missing);
	buf_char(out, ']');
}

static void type(struct buf *out, const char *name, const char *kind, const char *help)
{
	buf_fmt(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind);
}

/* A label's value: '\\', '"' and line feeds escaped. */
static void label_value(struct buf *out, const char *s)
{
	for (; *s; s++) {
		if (*s == '\\' || *s == '"')
			buf_char(out, '\\');
		if (*s == '\n')
			buf_str(out, "\\n");
		else
			buf_char(out, *s);
	}
}

static void gauge(struct buf *out, const char *name, const char *label, const char *path,
		  uint64_t v)
{
	buf_fmt(out, "%s{%s%smountpath=\"", name, label, *label ? "," : "");
	label_value(out, path);
	buf_fmt(out, "\"} %llu\n", (unsigned long long)v);
}

static uint64_t is_up(const struct store_path *p)
{
	return !strcmp(p->state, "available");
}

static uint64_t is_full(const struct store_path *p)
{
	return p->full;
}

static uint64_t is_low(const struct store_path *p)
{
	return p->low;
}

static uint64_t has_strays(const struct store_path *p)
{
	return p->strays;
}

static uint64_t corrupt(const struct store_path *p)
{
	return p->corrupt;
}

void store_metrics_print(struct store *s, const char *label, struct buf *out)
{
	static const struct {
		const char *name, *help;
		uint64_t (*of)(const struct store_path *p);
	} rows[] = {
		{"pagewire_mountpath_up", "1: in service", is_up},
		{"pagewire_mountpath_out_of_space", "1: puts are refused", is_full},
		{"pagewire_mountpath_low_space", "1: over the high watermark", is_low},
		{"pagewire_mountpath_strays", "1: may hold objects of another mountpath",
		 has_strays},
		{"pagewire_mountpath_quarantine", "corrupt objects moved aside", corrupt},
	};
	struct store_scrub st;
	struct store_path p;
	size_t i, r;

	for (r = 0; r < ARRAY_SIZE(rows); r++) {
		type(out, rows[r].name, "gauge", rows[r].help);
		for (i = 0; i < store_paths(s); i++) {
			if (store_path_info(s, i, &p) == 0 && strcmp(p.state, "detached"))
				gauge(out, rows[r].name, label, p.path, rows[r].of(&p));
		}
	}
	store_scrub_status(s, &st);
	type(out, "pagewire_scrub_running", "gauge", "1: a scrub is under way");
	buf_fmt(out, "pagewire_scrub_running{%s} %d\n", label, st.running);
	type(out, "pagewire_scrub_objects", "gauge", "objects read by the last scrub");
	buf_fmt(out, "pagewire_scrub_objects{%s} %llu\n", label, (unsigned long long)st.objects);
}
