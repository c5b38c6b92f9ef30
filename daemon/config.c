/* SPDX-License-Identifier: BSD-2-Clause */
/* The life of a config, and its values by name. */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "base/cleanup.h"
#include "config_priv.h"

static uint32_t name_hash(const char *name)
{
	uint32_t h = 2166136261u;

	for (; *name; name++)
		h = (h ^ (unsigned char)*name) * 16777619u;
	return h ^ h >> 15;
}

static void index_fill(struct config *c)
{
	size_t i, at;

	for (i = 0; i < c->n_keys; i++) {
		at = name_hash(config_keys[i].name) % CONFIG_INDEX_SIZE;
		while (c->index[at])
			at = (at + 1) % CONFIG_INDEX_SIZE;
		c->index[at] = (uint16_t)(i + 1);
	}
}

int config_index(const struct config *c, const char *name)
{
	size_t at = name_hash(name) % CONFIG_INDEX_SIZE;

	for (; c->index[at]; at = (at + 1) % CONFIG_INDEX_SIZE) {
		if (!strcmp(config_keys[c->index[at] - 1].name, name))
			return c->index[at] - 1;
	}
	return -1;
}

const struct config_key *config_key_find(const char *name)
{
	const struct config_key *k;

	for (k = config_keys; k->name; k++) {
		if (!strcmp(k->name, name))
			return k;
	}
	return NULL;
}

static void config_drop(struct config **c)
{
	config_put(*c);
}

/* A config with its index and no values. */
static struct config *config_blank(void)
{
	struct config *c;
	size_t n = 0;

	while (config_keys[n].name)
		n++;
	c = calloc(1, sizeof(*c) + n * sizeof(c->values[0]));
	if (!c)
		return NULL;
	atomic_init(&c->refs, 1);
	c->n_keys = n;
	index_fill(c);
	return c;
}

int config_default(struct config **ret)
{
	autoclean(config_drop) struct config *c = config_blank();
	char why[256];
	size_t i;
	int r;

	if (!c)
		return -ENOMEM;
	for (i = 0; i < c->n_keys; i++) {
		r = config_value_set(c, i, config_keys[i].dflt, why, sizeof(why));
		if (r == -ENOMEM)
			return r;
	}
	*ret = take_ptr(c);
	return 0;
}

struct config *config_get(struct config *c)
{
	atomic_fetch_add_explicit(&c->refs, 1, memory_order_relaxed);
	return c;
}

void config_put(struct config *c)
{
	size_t i;

	if (!c || atomic_fetch_sub(&c->refs, 1) != 1)
		return;
	for (i = 0; i < c->n_keys; i++)
		free(c->values[i].text);
	config_paths_clear(c);
	free(c);
}

int config_value_copy(struct config *to, const struct config *from, size_t i)
{
	char *text = NULL;

	if (from->values[i].text) {
		text = strdup(from->values[i].text);
		if (!text)
			return -ENOMEM;
	}
	free(to->values[i].text);
	to->values[i] = (struct config_value){.num = from->values[i].num, .text = text};
	return 0;
}

int config_copy(const struct config *c, struct config **ret)
{
	autoclean(config_drop) struct config *to = config_blank();
	char why[256];
	size_t i;
	int r;

	if (!to)
		return -ENOMEM;
	for (i = 0; i < c->n_keys; i++) {
		r = config_value_copy(to, c, i);
		if (r < 0)
			return r;
	}
	for (i = 0; i < c->n_paths; i++) {
		r = config_path_add(to, c->paths[i].path, c->paths[i].label, why, sizeof(why));
		if (r < 0)
			return r;
	}
	config_stamp(to, c->version, c->uuid, c->time_ns);
	*ret = take_ptr(to);
	return 0;
}

int config_with(const struct config *c, const char *name, const char *value, struct config **ret,
		char *err, size_t err_size)
{
	autoclean(config_drop) struct config *to = NULL;
	int i = config_index(c, name), r;
	char why[512];

	if (i < 0) {
		snprintf(err, err_size, "unknown property \"%s\"", name);
		return -ENOENT;
	}
	if (config_keys[i].type == CONFIG_PATHS || config_keys[i].flags & CONFIG_F_STAMP) {
		snprintf(err, err_size, "\"%s\" cannot be set", name);
		return -EINVAL;
	}
	r = config_copy(c, &to);
	if (r < 0)
		return r;
	r = config_value_set(to, (size_t)i, value, why, sizeof(why));
	if (r < 0) {
		if (r != -ENOMEM)
			snprintf(err, err_size, "\"%s\": %s", name, why);
		return r;
	}
	*ret = take_ptr(to);
	return 0;
}

int config_adopt(const struct config *c, const struct config *from, struct config **ret)
{
	autoclean(config_drop) struct config *to = NULL;
	size_t i;
	int r;

	r = config_copy(c, &to);
	for (i = 0; r == 0 && i < c->n_keys; i++) {
		if (config_keys[i].flags & CONFIG_F_CLUSTER)
			r = config_value_copy(to, from, i);
	}
	if (r < 0)
		return r;
	config_stamp(to, from->version, from->uuid, from->time_ns);
	*ret = take_ptr(to);
	return 0;
}

int64_t config_version(const struct config *c)
{
	return c->version;
}

const char *config_uuid(const struct config *c)
{
	return c->uuid;
}

int64_t config_time_ns(const struct config *c)
{
	return c->time_ns;
}

void config_stamp(struct config *c, int64_t version, const char *uuid, int64_t time_ns)
{
	c->version = version;
	if (uuid != c->uuid)
		snprintf(c->uuid, sizeof(c->uuid), "%s", uuid);
	c->time_ns = time_ns;
}

/* The value of a key that the program itself names, and so must exist. */
static const struct config_value *value_of(const struct config *c, const char *name,
					   unsigned int types)
{
	int i = config_index(c, name);

	if (i < 0 || !(types & BIT(config_keys[i].type))) {
		fprintf(stderr, "config: no key \"%s\" of the type asked for\n", name);
		abort();
	}
	return &c->values[i];
}

bool config_bool(const struct config *c, const char *name)
{
	return value_of(c, name, BIT(CONFIG_BOOL))->num;
}

int64_t config_int(const struct config *c, const char *name)
{
	return value_of(c, name, BIT(CONFIG_INT) | BIT(CONFIG_INT_TEXT))->num;
}

int64_t config_size(const struct config *c, const char *name)
{
	return value_of(c, name, BIT(CONFIG_SIZE))->num;
}

int64_t config_ns(const struct config *c, const char *name)
{
	return value_of(c, name, BIT(CONFIG_DURATION))->num;
}

int64_t config_ms(const struct config *c, const char *name)
{
	return config_ns(c, name) / 1000000;
}

const char *config_text(const struct config *c, const char *name)
{
	return value_of(c, name, BIT(CONFIG_TEXT) | BIT(CONFIG_ENUM))->text;
}

size_t config_paths(const struct config *c)
{
	return c->n_paths;
}

const char *config_path(const struct config *c, size_t i, const char **label)
{
	if (label)
		*label = c->paths[i].label;
	return c->paths[i].path;
}
