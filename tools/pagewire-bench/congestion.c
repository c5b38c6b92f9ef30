/* SPDX-License-Identifier: BSD-2-Clause */
/* Congestion control of sockets, both ends, as the kernel's socket monitor tells it. */
#include "congestion.h"

#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "base/bits.h"
#include "base/cleanup.h"

#define ESTABLISHED 1 /* of the kernel's TCP states */
#define BUFFER 32768

struct look {
	const char *name;
	char *ret;
	size_t size;
	unsigned int seen;
	int result;
};

static int ask(int fd, int family)
{
	struct {
		struct nlmsghdr h;
		struct inet_diag_req_v2 r;
	} q = {.h = {.nlmsg_len = sizeof(q),
		     .nlmsg_type = SOCK_DIAG_BY_FAMILY,
		     .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP},
	       .r = {.sdiag_family = (uint8_t)family,
		     .sdiag_protocol = IPPROTO_TCP,
		     .idiag_ext = 1 << (INET_DIAG_CONG - 1),
		     .idiag_states = BIT(ESTABLISHED)}};

	return send(fd, &q, sizeof(q), 0) < 0 ? -errno : 0;
}

static void look_at(struct look *l, const struct nlmsghdr *h)
{
	const struct inet_diag_msg *m = NLMSG_DATA(h);
	const struct rtattr *a = (const struct rtattr *)(m + 1);
	int left = (int)h->nlmsg_len - (int)NLMSG_LENGTH(sizeof(*m));

	for (; left > 0 && RTA_OK(a, left); a = RTA_NEXT(a, left)) {
		if (a->rta_type != INET_DIAG_CONG)
			continue;
		l->seen++;
		if (strncmp(RTA_DATA(a), l->name, RTA_PAYLOAD(a)) != 0) {
			snprintf(l->ret, l->size, "%.*s", (int)RTA_PAYLOAD(a),
				 (const char *)RTA_DATA(a));
			l->result = 1;
		}
	}
}

/* Return: 1 when there is more to come, 0 at the end, or a negative errno. */
static int take(struct look *l, const char *p, int n)
{
	const struct nlmsghdr *h = (const struct nlmsghdr *)p;

	for (; n > 0 && NLMSG_OK(h, (unsigned int)n); h = NLMSG_NEXT(h, n)) {
		if (h->nlmsg_type == NLMSG_DONE)
			return 0;
		if (h->nlmsg_type == NLMSG_ERROR)
			return ((const struct nlmsgerr *)NLMSG_DATA(h))->error;
		look_at(l, h);
	}
	return n < 0 ? -EPROTO : 1;
}

static int dump(struct look *l, int family)
{
	autofd fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
	char buf[BUFFER] __attribute__((aligned(8)));
	int r;

	if (fd < 0)
		return -errno;
	r = ask(fd, family);
	if (r < 0)
		return r;
	do {
		ssize_t n = recv(fd, buf, sizeof(buf), 0);

		r = n < 0 ? -errno : take(l, buf, (int)n);
	} while (r > 0);
	return r;
}

int congestion_other(const char *name, char *ret, size_t size)
{
	struct look l = {.name = name, .ret = ret, .size = size};
	int r = dump(&l, AF_INET);

	r = r ? r : dump(&l, AF_INET6);
	if (r < 0)
		return r;
	return l.seen ? l.result : -ENOENT;
}
