/* SPDX-License-Identifier: BSD-2-Clause */
/* The limits of the server: from the config, and from what the host allows. */
#include <sys/resource.h>

#include "config.h"
#include "http/http.h"

/*
 * Each connection may need a second descriptor, of a blob, and some are left for the store: clients
 * never take the last one. What the host allows is used.
 */
static size_t conns_all(void)
{
	struct rlimit r;

	if (getrlimit(RLIMIT_NOFILE, &r) < 0)
		return 0;
	if (r.rlim_cur < r.rlim_max) {
		r.rlim_cur = r.rlim_max;
		if (setrlimit(RLIMIT_NOFILE, &r) < 0)
			getrlimit(RLIMIT_NOFILE, &r);
	}
	return r.rlim_cur > 256 ? (size_t)(r.rlim_cur - 128) / 2 : (size_t)r.rlim_cur / 4;
}

/* One thread in four of the io pool is left for reading, whatever is written. */
static size_t sinks(size_t threads)
{
	return threads - MIN(threads, MAX(threads / 4, (size_t)1));
}

struct http_limits http_limits_of(const struct config *c)
{
	return (struct http_limits){
		.max_head = (size_t)config_size(c, "http.max_head"),
		.max_headers = (size_t)config_int(c, "http.max_headers"),
		.head_ms = (uint64_t)config_ms(c, "http.head_timeout"),
		.body_ms = (uint64_t)config_ms(c, "http.body_timeout"),
		.idle_ms = (uint64_t)config_ms(c, "http.keepalive_idle"),
		.drain_bytes = (uint64_t)config_size(c, "http.drain_bytes"),
		.drain_ms = (uint64_t)config_ms(c, "http.drain_time"),
		.max_conns = (size_t)config_int(c, "http.max_connections"),
		.max_conns_all = conns_all(),
		.max_conns_peer = (size_t)config_int(c, "http.max_connections_peer"),
		.max_requests = (size_t)config_int(c, "http.max_requests"),
		.max_sinks = sinks((size_t)config_int(c, "pool.io_threads")),
		.max_memory = (size_t)config_size(c, "http.max_memory"),
	};
}
