/* SPDX-License-Identifier: BSD-2-Clause */
/* The value of the "list" control body, in and out. */
#include "api/list_msg.h"
#include "base/json.h"
#include "base/text.h"

static const struct {
	const char *word;
	uint32_t bit;
} words[] = {
	{"name", 0},
	{"size", LIST_P_SIZE},
	{"checksum", LIST_P_CKSUM},
	{"atime", LIST_P_ATIME},
	{"version", LIST_P_VERSION},
	{"location", LIST_P_LOCATION},
	{"custom", LIST_P_CUSTOM},
	{"copies", LIST_P_COPIES},
};

/* Unknown words are ignored, as are blanks around commas. */
static uint32_t parse_props(const char *s)
{
	uint32_t props = 0;
	size_t i, n;

	while (*s) {
		s += strspn(s, ", ");
		n = strcspn(s, ", ");
		for (i = 0; i < ARRAY_SIZE(words); i++)
			if (n == strlen(words[i].word) && !memcmp(s, words[i].word, n))
				props |= words[i].bit;
		s += n;
	}
	return props;
}

/* A text member into @out; absent and null leave it alone. */
static int text(struct json_object *o, const char *key, char *out, size_t size, struct api_fault *f)
{
	struct json_object *v = json_member(o, key);
	size_t len;

	if (!v)
		return 0;
	if (!json_object_is_type(v, json_type_string))
		return api_fault_set(f, 400, NULL, "failed to unmarshal: \"%s\" must be a string",
				     key);
	len = (size_t)json_object_get_string_len(v);
	if (len >= size || strlen(json_object_get_string(v)) != len)
		return api_fault_set(f, 400, NULL, "invalid \"%s\": over %zu bytes, or a NUL", key,
				     size - 1);
	memcpy(out, json_object_get_string(v), len + 1);
	return 0;
}

static int check_uuid(const char *uuid, struct api_fault *f)
{
	size_t len = strlen(uuid);

	if (!len || (len >= 8 && smap_uuid_ok(uuid) && uuid[0] != '-' && uuid[0] != '_' &&
		     uuid[len - 1] != '-' && uuid[len - 1] != '_'))
		return 0;
	return api_fault_set(f, 400, NULL, "invalid listing uuid \"%s\"", uuid);
}

static bool starts(const char *s, const char *with)
{
	return !strncmp(s, with, strlen(with));
}

/* A trailing '*' is nothing; elements "." and ".." can not be in a name. */
static int check_prefix(char *p, struct api_fault *f)
{
	size_t len = strlen(p);

	if (len && p[len - 1] == '*')
		p[--len] = 0;
	if (len > SMAP_OBJECT_MAX)
		return api_fault_set(f, 400, NULL, "invalid \"prefix\": over %d bytes",
				     SMAP_OBJECT_MAX);
	if (starts(p, "~/") || starts(p, "./") || starts(p, "../") || strstr(p, "/./") ||
	    strstr(p, "/../"))
		return api_fault_set(f, 400, NULL,
				     "invalid prefix \"%.300s\": has \"./\", \"../\" or \"~/\"", p);
	return 0;
}

static int check_flags(uint64_t flags, struct api_fault *f)
{
	if (flags & LIST_F_INVENTORY)
		return api_fault_set(f, 400, NULL, "the bucket has no inventories (flag 15)");
	if (flags & (LIST_F_NOT_CACHED | LIST_F_DIFF))
		return api_fault_set(f, 400, "ErrNotRemoteBck",
				     "list flags 9 and 12 require a remote bucket");
	if (flags & LIST_F_ARCHIVES)
		return api_fault_set(f, 501, "ErrUnsupp",
				     "listing the inside of archives is not supported by this "
				     "build");
	return 0;
}

static uint32_t effective_props(const char *props, uint64_t flags)
{
	if (flags & LIST_F_NAME_ONLY)
		return 0;
	if (props[strspn(props, ", ")])
		return parse_props(props);
	if ((flags & LIST_F_CACHED) && !(flags & LIST_F_NAME_SIZE))
		return LIST_P_SIZE | LIST_P_CKSUM | LIST_P_ATIME;
	return LIST_P_SIZE;
}

static int texts(struct json_object *v, struct list_msg *m, char *props, size_t props_size,
		 struct api_fault *f)
{
	if (text(v, "uuid", m->uuid, sizeof(m->uuid), f) < 0 ||
	    text(v, "prefix", m->prefix, sizeof(m->prefix), f) < 0 ||
	    text(v, "continuation_token", m->token, sizeof(m->token), f) < 0 ||
	    text(v, "start_after", m->after, sizeof(m->after), f) < 0 ||
	    text(v, "target", m->target, sizeof(m->target), f) < 0 ||
	    text(v, "time_format", m->layout, sizeof(m->layout), f) < 0 ||
	    text(v, "props", props, props_size, f) < 0)
		return -EINVAL;
	return check_uuid(m->uuid, f);
}

/* The API's types are strict here: flags in quotes, the page size bare. */
static int numbers(struct json_object *value, uint64_t *flags, int64_t *page, struct api_fault *f)
{
	struct json_object *v = json_member(value, "flags");

	if (v && (!json_object_is_type(v, json_type_string) ||
		  parse_u64(json_object_get_string(v), flags) < 0))
		return api_fault_set(f, 400, NULL,
				     "failed to unmarshal: \"flags\" must be a number in quotes");
	v = json_member(value, "pagesize");
	if (v && json_object_is_type(v, json_type_int))
		*page = json_object_get_int64(v);
	if (v && (!json_object_is_type(v, json_type_int) || *page < 0))
		return api_fault_set(f, 400, NULL,
				     "invalid \"pagesize\": must be a bare number, 0 or more");
	return 0;
}

int list_msg_parse(struct json_object *value, struct list_msg *ret, struct api_fault *f)
{
	struct list_msg m = {};
	char props[512] = "";
	int64_t page = 0;

	if (value && !json_object_is_type(value, json_type_object))
		return api_fault_set(
			f, 400, NULL,
			"failed to unmarshal: \"value\" of \"list\" must be an object");
	if (texts(value, &m, props, sizeof(props), f) < 0 || check_prefix(m.prefix, f) < 0)
		return -EINVAL;
	if (numbers(value, &m.flags, &page, f) < 0)
		return -EINVAL;
	if (check_flags(m.flags, f) < 0)
		return -EINVAL;
	m.page = page ? (uint32_t)MIN(page, (int64_t)LIST_PAGE_MAX) : LIST_PAGE_DEFAULT;
	m.props = effective_props(props, m.flags);
	*ret = m;
	return 0;
}

const char *list_msg_after(const struct list_msg *m)
{
	return m->token[0] ? m->token : m->after;
}

void list_msg_print(const struct list_msg *m, const char *after, uint32_t max, struct buf *out)
{
	size_t i;

	buf_str(out, "{\"action\":\"list\",\"name\":\"\",\"value\":{\"props\":\"name");
	for (i = 0; i < ARRAY_SIZE(words); i++)
		if (m->props & words[i].bit)
			buf_fmt(out, ",%s", words[i].word);
	buf_str(out, "\",\"prefix\":");
	buf_char(out, '"');
	buf_json_escape(out, m->prefix, strlen(m->prefix));
	/* an own '*' at its end must survive the second reading */
	buf_fmt(out, "*\",\"pagesize\":%u,\"continuation_token\":", max);
	buf_json_str(out, after);
	buf_str(out, ",\"time_format\":");
	buf_json_str(out, m->layout);
	buf_fmt(out, ",\"flags\":\"%llu\"}}",
		(unsigned long long)(m->flags & (LIST_F_NO_RECURSION | LIST_F_NAME_ONLY)));
}
