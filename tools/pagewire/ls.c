/* SPDX-License-Identifier: BSD-2-Clause */
/* Listing of objects: pages are asked for and printed one by one. */
#include "base/bits.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "cmd.h"
#include "ls.h"

#define LIMIT_DEFAULT 1000
#define PAGE_MAX 10000
#define FLAG_NAME_ONLY "16"
#define FLAG_CACHED 64 /* of an entry */
#define FLAG_STATUS 31 /* of an entry: 0 is in its place */
#define STYLE (JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE)

const struct cmd_opt ls_opts[] = {
	{0, "prefix", "P", "only names that begin with P"},
	{0, "start-after", "NAME", "only names after NAME, in byte order"},
	{0, "props", "LIST",
	 "show these before the name: size, checksum, version, atime, cached, status, copies, "
	 "custom, location; joined by commas"},
	{0, "limit", "N", "stop after N names (default: 1000)"},
	{0, "all", NULL, "list all names"},
	{},
};

/* How a word of --props is found in an entry; all but the name come in this order. */
static const struct prop {
	const char *word, *member;
	int width;
} props[] = {
	{"size", "size", 12},	 {"checksum", "checksum", 16}, {"version", "version", 7},
	{"atime", "atime", 24},	 {"cached", NULL, 6},	       {"status", NULL, 6},
	{"copies", "copies", 6}, {"custom", "custom-md", 10},  {"location", "location", 20},
};

struct ls {
	struct cmd *c;
	const struct uri *u;
	const char *prefix;
	const char *words; /* --props, NULL: names only */
	uint64_t limit; /* 0: none */
	uint64_t shown;
	bool want[ARRAY_SIZE(props)];
	char *token, *uuid;
};

static int parse_props(struct ls *l)
{
	const char *s = l->words;

	while (s && *s) {
		size_t n = strcspn(s, ","), i;
		bool known = n == 4 && !memcmp(s, "name", 4);

		for (i = 0; i < ARRAY_SIZE(props); i++) {
			if (strlen(props[i].word) == n && !memcmp(props[i].word, s, n))
				known = l->want[i] = true;
		}
		if (!known)
			return cmd_usage(l->c, "option --props: unknown property \"%.*s\"", (int)n,
					 s);
		s += n + (s[n] == ',');
	}
	return 0;
}

static void add(struct json_object *o, const char *key, const char *value)
{
	json_object_object_add(o, key, json_object_new_string(value ? value : ""));
}

/* The body that asks for the next page. */
static void ask(struct ls *l, struct buf *b)
{
	autojson struct json_object *v = json_object_new_object();
	autobuf struct buf words = BUF_INIT;
	uint64_t left = l->limit ? l->limit - l->shown : 0;

	buf_fmt(&words, "name%s%s", l->words ? "," : "", l->words ? l->words : "");
	add(v, "uuid", l->uuid);
	add(v, "props", buf_cstr(&words));
	add(v, "prefix", l->prefix);
	if (!l->c->out.json)
		add(v, "time_format", "2006-01-02T15:04:05Z");
	json_object_object_add(v, "pagesize",
			       json_object_new_int64(left && left < PAGE_MAX ? (int64_t)left : 0));
	add(v, "continuation_token", l->token);
	add(v, "start_after", l->token ? "" : cmd_opt(l->c, "start-after"));
	add(v, "flags", l->words ? "0" : FLAG_NAME_ONLY);
	cmd_action(b, "list", NULL, v);
}

/* A heap string, or NULL when the entry does not have it. */
static char *prop_text(const struct prop *p, struct json_object *e)
{
	int64_t flags = 0;

	if (p->member)
		return out_value(e, p->member, OUT_PLAIN);
	json_member_int(e, "flags", &flags);
	if (!strcmp(p->word, "cached"))
		return strdup(flags & FLAG_CACHED ? "yes" : "no");
	return strdup(flags & FLAG_STATUS ? "misplaced" : "ok");
}

static void print_prop(struct out *o, const struct prop *p, struct json_object *e)
{
	autofree char *v = prop_text(p, e);
	bool size = !strcmp(p->word, "size");
	const char *text = v ? v : size ? "0" : "-";
	int pad = MAX(0, p->width - (int)MIN(strlen(text), (size_t)p->width));

	if (size)
		fprintf(o->f, "%*s", pad, "");
	out_name(o, text);
	fprintf(o->f, "%*s", size ? 2 : pad + 2, "");
}

static void print_entry(struct ls *l, struct json_object *e)
{
	struct out *o = &l->c->out;
	const char *name = json_member_str(e, "name");
	size_t i;

	if (o->json) {
		fprintf(o->f, "%s%s", l->shown ? "," : "",
			json_object_to_json_string_ext(e, STYLE));
		return;
	}
	for (i = 0; i < ARRAY_SIZE(props); i++) {
		if (l->want[i])
			print_prop(o, &props[i], e);
	}
	out_name(o, name ? name : "");
	fputc('\n', o->f);
}

static void keep(char **slot, const char *value)
{
	char *v = value && *value ? strdup(value) : NULL;

	free(*slot);
	*slot = v;
}

/* Print one page and note how to go on. */
static int show_page(struct ls *l, struct json_object *doc)
{
	struct json_object *entries = json_member(doc, "entries");
	bool array = json_object_is_type(entries, json_type_array);
	size_t n = array ? json_object_array_length(entries) : 0, i;

	for (i = 0; i < n && (!l->limit || l->shown < l->limit); i++) {
		print_entry(l, json_object_array_get_idx(entries, i));
		l->shown++;
	}
	keep(&l->token, json_member_str(doc, "continuation_token"));
	keep(&l->uuid, json_member_str(doc, "uuid"));
	return ferror(l->c->out.f) ? -EPIPE : 0;
}

static int next_page(struct ls *l, struct resp *r, struct json_object **ret)
{
	autobuf struct buf path = BUF_INIT, body = BUF_INIT;
	struct uri bucket = *l->u;
	struct client *client;
	struct call call;
	int rc = cmd_client(l->c, &client);

	if (rc)
		return rc;
	bucket.object = NULL;
	uri_request(&path, "buckets", &bucket);
	ask(l, &body);
	if (path.err || body.err)
		return -ENOMEM;
	call = (struct call){.method = "GET", .path = path.data, .body = body.data};
	rc = client_call(client, &call, r);
	if (rc < 0)
		return rc;
	if (!resp_ok(r))
		return CMD_FAILED;
	if (json_parse(buf_cstr(&r->body), r->body.len, ret) < 0) {
		snprintf(r->error, sizeof(r->error), "the server's list is not JSON");
		r->status = 0;
		return CMD_FAILED;
	}
	return 0;
}

/* The end of the document; after a failure it carries the error, as stdout holds one document. */
static void close_json(struct ls *l, const struct resp *failed)
{
	autobuf struct buf text = BUF_INIT, b = BUF_INIT;
	autojson struct json_object *err = failed ? resp_error(failed, &text) : NULL;

	buf_str(&b, "],\"uuid\":");
	buf_json_str(&b, l->uuid ? l->uuid : "");
	buf_str(&b, ",\"continuation_token\":");
	buf_json_str(&b, l->token ? l->token : "");
	buf_str(&b, ",\"flags\":0");
	if (err)
		buf_fmt(&b, ",\"error\":%s", json_object_to_json_string_ext(err, STYLE));
	fprintf(l->c->out.f, "%s}\n", buf_cstr(&b));
}

static int list(struct ls *l)
{
	struct out *o = &l->c->out;
	bool first = true;
	int rc;

	do {
		autojson struct json_object *doc = NULL;
		autoresp struct resp r = RESP_INIT;

		rc = next_page(l, &r, &doc);
		if (rc == CMD_FAILED && (first || !o->json))
			return cmd_refused(l->c, &r);
		if (rc == CMD_FAILED)
			close_json(l, &r);
		if (rc)
			return rc;
		if (first && o->json)
			fputs("{\"entries\":[", o->f);
		first = false;
		rc = show_page(l, doc);
		if (rc < 0)
			return CMD_FAILED; /* the reader has gone */
	} while (l->token && (!l->limit || l->shown < l->limit));
	if (o->json)
		close_json(l, NULL);
	else if (l->token && !cmd_opt(l->c, "limit"))
		out_note(o, "more names follow: --all lists them");
	return CMD_DONE;
}

int ls_objects(struct cmd *c, const struct uri *u)
{
	struct ls l = {.c = c, .u = u, .words = cmd_opt(c, "props"), .limit = LIMIT_DEFAULT};
	int r = cmd_opt_u64(c, "limit", INT64_MAX, &l.limit);

	if (r)
		return r;
	if (cmd_opt(c, "all") && cmd_opt(c, "limit"))
		return cmd_usage(c, "--all and --limit exclude each other");
	if (cmd_opt(c, "prefix") && u->object)
		return cmd_usage(c, "the prefix is given twice: in the name and by --prefix");
	if (cmd_opt(c, "all"))
		l.limit = 0;
	if (l.words && !*l.words)
		l.words = NULL;
	l.prefix = u->object ? u->object : cmd_opt(c, "prefix");
	r = parse_props(&l);
	if (r == 0)
		r = list(&l);
	free(l.token);
	free(l.uuid);
	return r;
}
