/* SPDX-License-Identifier: BSD-2-Clause */
/* Addresses of a node's listeners, as its config gives them. */
#ifndef HTTP_ADDR_H
#define HTTP_ADDR_H

#include <stdbool.h>
#include <stddef.h>

#include "config.h"
#include "smap/smap.h"

/* An absent intra-data net falls back to control: it has no listener of its own. */
bool http_addr_absent(const struct config *cfg, enum smap_netid net);

/**
 * http_addr_open() - Open a listening socket on a net's address
 * @cfg:	the config: host_net.*, congestion
 * @net:	which
 * @reuseport:	SO_REUSEPORT, for one socket a worker
 * @ret_fd:	written on success only
 * @err:	a sentence that names key and address
 * @err_size:	room at @err
 *
 * Return: as http_socket().
 */
int http_addr_open(const struct config *cfg, enum smap_netid net, bool reuseport, int *ret_fd,
		   char *err, size_t err_size);

/**
 * http_addr_probe() - Bind each address once without SO_REUSEPORT, and let go of it
 * @cfg:	the config
 * @err:	a sentence that names key and address
 * @err_size:	room at @err
 *
 * Another process that holds an address is then an error instead of a partner that takes half of
 * the connections.
 *
 * Return: as http_socket().
 */
int http_addr_probe(const struct config *cfg, char *err, size_t err_size);

#endif
