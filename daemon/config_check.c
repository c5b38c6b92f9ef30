/* SPDX-License-Identifier: BSD-2-Clause */
/* Whether the keys of one node fit together: what no range of a single key can tell. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/bits.h"
#include "config.h"
#include "config_priv.h"

#define NODE_ID_MAX 32
#define NAME_CHARS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

struct finding {
	const char *key;
	char *why;
	size_t size;
};

__attribute__((format(printf, 3, 4))) static int found(struct finding *f, const char *key,
						       const char *fmt, ...)
{
	va_list ap;

	f->key = key;
	va_start(ap, fmt);
	vsnprintf(f->why, f->size, fmt, ap);
	va_end(ap);
	return -EINVAL;
}

static int check_identity(const struct config *c, struct finding *f)
{
	const char *id = config_text(c, "node_id"), *dir = config_text(c, "state_dir");

	if (!*config_text(c, "role"))
		return found(f, "role", "missing: \"gateway\" or \"target\"");
	if (*dir != '/')
		return found(f, "state_dir", "missing or not absolute: name a folder of this node");
	if (strlen(id) > NODE_ID_MAX || id[strspn(id, NAME_CHARS "-_")])
		return found(f, "node_id", "expected at most %d letters, digits, \"-\" and \"_\"",
			     NODE_ID_MAX);
	if (!*config_text(c, "auth.intra_cluster.node_join_secret_path"))
		return found(f, "auth.intra_cluster.node_join_secret_path",
			     "missing: name the file with the cluster's secret");
	return 0;
}

static bool url_ok(const char *url)
{
	const char *host = strstr(url, "://");

	if (strncmp(url, "http://", 7) && strncmp(url, "https://", 8))
		return false;
	host += 3;
	return *host && !host[strspn(host, NAME_CHARS "-._:[]")];
}

static int check_role(const struct config *c, struct finding *f)
{
	static const char *const urls[] = {"proxy.primary_url", "proxy.original_url",
					   "proxy.discovery_url"};
	bool target = !strcmp(config_text(c, "role"), "target"), any = false;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(urls); i++) {
		const char *url = config_text(c, urls[i]);

		if (!*url)
			continue;
		any = true;
		if (!url_ok(url))
			return found(f, urls[i], "expected a URL such as http://10.0.0.1:9080");
	}
	if (target && !any)
		return found(f, urls[0],
			     "missing: a target needs the intra-control URL of the "
			     "primary");
	if (target && !config_paths(c))
		return found(f, "fspaths", "missing: a target needs at least one mountpath");
	return 0;
}

/* ---- listeners ---- */

struct address {
	char host[256];
	int64_t port;
};

static bool host_is(const char *host, size_t len, const char *name)
{
	return len == strlen(name) && !strncasecmp(host, name, len);
}

static bool host_is_any(const char *host, size_t len)
{
	return host_is(host, len, "0.0.0.0") || host_is(host, len, "::") ||
	       host_is(host, len, "[::]");
}

static bool host_is_local(const char *host, size_t len)
{
	return host_is(host, len, "localhost") || host_is(host, len, "127.0.0.1");
}

static bool hosts_equal(const char *a, size_t a_len, const char *b, size_t b_len)
{
	return host_is_any(a, a_len) || host_is_any(b, b_len) ||
	       (host_is_local(a, a_len) && host_is_local(b, b_len)) ||
	       (a_len == b_len && !strncasecmp(a, b, a_len));
}

/* Whether two listeners, each with a comma list of hosts, claim the same address and port. */
static bool addresses_meet(const struct address *a, const struct address *b)
{
	const char *p, *q;
	size_t n, m;

	if (a->port != b->port)
		return false;
	for (p = a->host; *p; p += n + (p[n] == ',')) {
		n = strcspn(p, ",");
		for (q = b->host; *q; q += m + (q[m] == ',')) {
			m = strcspn(q, ",");
			if (hosts_equal(p, n, q, m))
				return true;
		}
	}
	return false;
}

static int check_hosts(const struct config *c, struct finding *f)
{
	static const char *const keys[] = {"host_net.hostname", "host_net.hostname_intra_control",
					   "host_net.hostname_intra_data"};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(keys); i++) {
		const char *host = config_text(c, keys[i]);

		if (strlen(host) > 255 || host[strspn(host, NAME_CHARS "-._:[],")] ||
		    strstr(host, ",,") || *host == ',' || (*host && host[strlen(host) - 1] == ','))
			return found(f, keys[i], "expected a host name or address");
		if (i && strchr(host, ','))
			return found(f, keys[i],
				     "expected one host: only the public listener "
				     "may have several");
	}
	if (!*config_text(c, keys[0]))
		return found(f, keys[0], "missing: name the address that clients use");
	return 0;
}

/* Address of a listener; an empty host or port 0 takes @fallback's. */
static void address_get(const struct config *c, const char *host_key, const char *port_key,
			const struct address *fallback, struct address *a)
{
	const char *host = config_text(c, host_key);

	if (*host || !fallback)
		snprintf(a->host, sizeof(a->host), "%s", host);
	else
		snprintf(a->host, sizeof(a->host), "%.*s", (int)strcspn(fallback->host, ","),
			 fallback->host);
	a->port = config_int(c, port_key);
	if (!a->port && fallback)
		a->port = fallback->port;
}

static int check_listeners(const struct config *c, struct finding *f)
{
	struct address pub, control, data;
	int r = check_hosts(c, f);

	if (r < 0)
		return r;
	address_get(c, "host_net.hostname", "host_net.port", NULL, &pub);
	address_get(c, "host_net.hostname_intra_control", "host_net.port_intra_control", &pub,
		    &control);
	address_get(c, "host_net.hostname_intra_data", "host_net.port_intra_data", &control, &data);
	if (addresses_meet(&pub, &control))
		return found(f, "host_net.port_intra_control",
			     "the public and the intra-control listener are both %s:%lld: give "
			     "intra-control an address or port of its own",
			     control.host, (long long)control.port);
	if (addresses_meet(&pub, &data))
		return found(f, "host_net.port_intra_data",
			     "the public and the intra-data listener are both %s:%lld: give "
			     "intra-data an address or port of its own, or 0 to use intra-control",
			     data.host, (long long)data.port);
	return 0;
}

int config_check(const struct config *c, const char **ret_key, char *why, size_t size)
{
	struct finding f = {.why = why, .size = size};
	int r;

	r = check_identity(c, &f);
	if (r == 0)
		r = check_role(c, &f);
	if (r == 0)
		r = check_listeners(c, &f);
	if (r < 0)
		*ret_key = f.key;
	return r;
}
