/* SPDX-License-Identifier: BSD-2-Clause */
/* Addresses of a node's listeners: config keys by net, the choice of congestion control. */
#include "http/addr.h"

#include <string.h>

#include "base/cleanup.h"
#include "http/http.h"

static const struct {
	const char *host, *port;
} keys[SMAP_NET_NR] = {
	[SMAP_NET_PUBLIC] = {"host_net.hostname", "host_net.port"},
	[SMAP_NET_CONTROL] = {"host_net.hostname_intra_control", "host_net.port_intra_control"},
	[SMAP_NET_DATA] = {"host_net.hostname_intra_data", "host_net.port_intra_data"},
};

bool http_addr_absent(const struct config *cfg, enum smap_netid net)
{
	int64_t port = config_int(cfg, keys[net].port);

	if (net != SMAP_NET_DATA)
		return false;
	return !port || (port == config_int(cfg, keys[SMAP_NET_CONTROL].port) &&
			 !strcmp(config_text(cfg, keys[net].host),
				 config_text(cfg, keys[SMAP_NET_CONTROL].host)));
}

/*
 * "auto" is cubic on loopback and on the intra networks: what paces by the round trip there (as
 * BBR does) costs more than it saves.
 */
static const char *congestion(const struct config *cfg, enum smap_netid net)
{
	const char *c = config_text(cfg, "congestion");
	const char *host = config_text(cfg, keys[net].host);

	if (!strcmp(c, "system"))
		return NULL;
	if (strcmp(c, "auto"))
		return c;
	if (net != SMAP_NET_PUBLIC || !strncmp(host, "127.", 4) || !strcmp(host, "::1"))
		return "cubic";
	return NULL;
}

int http_addr_open(const struct config *cfg, enum smap_netid net, bool reuseport, int *ret_fd,
		   char *err, size_t err_size)
{
	const char *host = config_text(cfg, keys[net].host);
	int64_t port = config_int(cfg, keys[net].port);
	const char *cc = congestion(cfg, net);
	int r = http_socket(host, (uint16_t)port, reuseport, cc, ret_fd);

	/* our own choice is a wish: a child network namespace may not allow it */
	if (r < 0 && cc && !strcmp(config_text(cfg, "congestion"), "auto"))
		r = http_socket(host, (uint16_t)port, reuseport, NULL, ret_fd);
	if (r < 0)
		snprintf(err, err_size, "%s %s:%lld: %s", keys[net].host, host, (long long)port,
			 strerror(-r));
	return r;
}

int http_addr_probe(const struct config *cfg, char *err, size_t err_size)
{
	enum smap_netid net;
	int r;

	for (net = 0; net < SMAP_NET_NR; net++) {
		autofd fd = -1;

		if (http_addr_absent(cfg, net))
			continue;
		r = http_addr_open(cfg, net, false, &fd, err, err_size);
		if (r < 0)
			return r;
	}
	return 0;
}
