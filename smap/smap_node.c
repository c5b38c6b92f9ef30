/* SPDX-License-Identifier: BSD-2-Clause */
/* One record: ID, role, nets, key. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "smap/smap_impl.h"

int smap_node_init(struct smap_node *n, const char *id, enum smap_role role)
{
	if (!smap_node_id_ok(id) || (role != SMAP_ROLE_GATEWAY && role != SMAP_ROLE_TARGET))
		return -EINVAL;
	memset(n, 0, sizeof(*n));
	memcpy(n->id, id, strlen(id));
	n->role = role;
	n->digest = smap_digest(id, strlen(id));
	return 0;
}

static bool is_ipv6(const char *host)
{
	struct in6_addr a;

	return inet_pton(AF_INET6, host, &a) == 1;
}

/* A host name or IPv4 address: what needs no quoting in a URL, a Host header or JSON. */
static bool is_host_name(const char *host)
{
	static const char ok[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				 "0123456789-_.";
	size_t len = strnlen(host, SMAP_HOST_MAX + 1);

	return len && len <= SMAP_HOST_MAX && strspn(host, ok) == len && host[0] != '-' &&
	       host[0] != '.';
}

int smap_node_set_net(struct smap_node *n, enum smap_netid net, const char *scheme,
		      const char *host, uint16_t port)
{
	struct smap_net *to;
	bool v6;

	if (net < 0 || net >= SMAP_NET_NR || !port || !host || !scheme)
		return -EINVAL;
	if (strcmp(scheme, "http") && strcmp(scheme, "https"))
		return -EINVAL;
	v6 = is_ipv6(host);
	if (!v6 && !is_host_name(host))
		return -EINVAL;
	to = &n->net[net];
	memset(to, 0, sizeof(*to));
	memcpy(to->host, host, strlen(host));
	to->port = port;
	snprintf(to->url, sizeof(to->url), v6 ? "%s://[%s]:%u" : "%s://%s:%u", scheme, host, port);
	return 0;
}

const struct smap_net *smap_net_of(const struct smap_node *n, enum smap_netid net)
{
	if (net == SMAP_NET_DATA && !n->net[net].port)
		net = SMAP_NET_CONTROL;
	return &n->net[net];
}

bool smap_net_same(const struct smap_net *a, const struct smap_net *b)
{
	return a->port == b->port && (!a->port || !strcasecmp(a->host, b->host));
}

bool smap_node_same_net(const struct smap_node *a, const struct smap_node *b)
{
	int net;

	for (net = 0; net < SMAP_NET_NR; net++)
		if (!smap_net_same(smap_net_of(a, net), smap_net_of(b, net)))
			return false;
	return true;
}

bool smap_node_same_key(const struct smap_node *a, const struct smap_node *b)
{
	if (a->has_key != b->has_key)
		return false;
	return !a->has_key || !memcmp(a->key, b->key, sizeof(a->key));
}

const char *smap_node_name(const struct smap_node *n, char *out, size_t size)
{
	snprintf(out, size, "%c[%s]", n->role == SMAP_ROLE_TARGET ? 't' : 'p', n->id);
	return out;
}
