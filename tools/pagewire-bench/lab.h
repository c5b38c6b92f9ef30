/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The laboratory: a network namespace of its own, servers that the program starts itself, all on
 * one processor, a scratch folder, and content that can be checked.
 */
#ifndef BENCH_LAB_H
#define BENCH_LAB_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/buf.h"
#include "meter.h"
#include "net.h"
#include "options.h"

#define LAB_PATH 512 /* room for a path below the scratch folder */
#define LAB_CONTENT (64U << 20) /* bytes of the content that all objects begin with */
#define LAB_BUCKET "bench"

/* Ports inside the namespace, where nobody else is. */
enum lab_port {
	LAB_PORT_NONE,
	LAB_PORT_GATEWAY = 8080,
	LAB_PORT_TARGET = 8081,
	LAB_PORT_PEER = 8082,
	LAB_PORT_RAW = 8083,
};

/* A server that runs. */
struct proc {
	pid_t pid; /* leads a session; 0: none */
	char log[LAB_PATH];
};

/* What every comparison takes from the command line. */
struct lab_opts {
	const char *dir, *daemon, *nginx, *peer, *only, *congestion;
	uint64_t pairs;
	int64_t round_ns;
	bool quick, keep;
};

struct lab {
	struct bench_out *out;
	struct lab_opts o;
	char dir[LAB_PATH - 64]; /* the scratch folder */
	char daemon[PATH_MAX], nginx[LAB_PATH];
	char congestion[16]; /* of the namespace, read back */
	char fs[16]; /* of the scratch folder */
	int cpu_server, cpu_other; /* equal on a machine with one */
	bool spread; /* servers may use both */
	unsigned char *content;
	struct proc gateway, target, peer, raw;
	struct endpoint to_gateway, to_target, to_peer, to_raw;
	struct buf why; /* what went wrong */
	unsigned int ran; /* cases */
	unsigned int round; /* for names that are new */
	unsigned int clusters; /* started so far: each has folders of its own */
};

/* Rows of the options of struct lab_opts, for a table of a verb. */
#define LAB_ROWS(o)                                                                                \
	{"--dir", OPTION_TEXT, &(o).dir, 0, 0}, {"--daemon", OPTION_TEXT, &(o).daemon, 0, 0},      \
		{"--case", OPTION_TEXT, &(o).only, 0, 0},                                          \
		{"--congestion", OPTION_TEXT, &(o).congestion, 0, 0},                              \
		{"--pairs", OPTION_COUNT, &(o).pairs, 1, 99},                                      \
		{"--seconds", OPTION_SECONDS, &(o).round_ns, 0, 0},                                \
		{"--quick", OPTION_FLAG, &(o).quick, 0, 0},                                        \
	{                                                                                          \
		"--keep", OPTION_FLAG, &(o).keep, 0, 0                                             \
	}

/**
 * lab_new() - Enter a namespace, make the scratch folder and the content
 * @out:	where results and errors go
 * @o:		options; defaults are filled in
 * @ret:	written on success only; lab_free() ends all servers and removes the folder
 *
 * Return: BENCH_OK, BENCH_FAILED, BENCH_USAGE; told already.
 */
int lab_new(struct bench_out *out, const struct lab_opts *o, struct lab **ret);
/* End of all. For autoclean. */
void lab_free(struct lab **lab);
/* Tell what went wrong: the text of @lab->why. Return: BENCH_FAILED. */
int lab_failed(struct lab *lab, const char *what);
/* Is this case to be run? */
bool lab_wants(struct lab *lab, const char *name);
/* Stay on one processor from here on, or on two, with all threads and children to come. */
void lab_pin(int cpu, int other);

/* ---- servers ---- */

struct lab_cluster {
	bool request_auth, commit; /* commit: store.durability, else none */
	unsigned int workers; /* 0: one */
};

/**
 * lab_cluster_start() - Start a gateway and a target of ours, empty, with the bucket
 * @lab:	the laboratory
 * @c:		what is special about them
 *
 * Return: 0 or a negative errno, with @lab->why.
 */
int lab_cluster_start(struct lab *lab, const struct lab_cluster *c);
/* End them. What they stored stays until the end: see fill_plan() of PUTs. */
void lab_cluster_stop(struct lab *lab);
/* Start nginx, or the other peer, on the folder www. Return: as lab_cluster_start(). */
int lab_peer_start(struct lab *lab);
/* Start the bare loop that serves one file of www. Return: as lab_cluster_start(). */
int lab_raw_start(struct lab *lab, const char *file);

/* What a child does: @run returns its exit code. */
struct proc_opts {
	const char *name; /* of the log */
	const char *const *argv; /* a program, or NULL: */
	int (*run)(void *arg);
	void *arg;
	int in; /* its stdin, -1: /dev/null */
};

/* Start a child that ends with this program. Return: 0 or a negative errno, with @lab->why. */
int proc_start(struct lab *lab, struct proc *p, const struct proc_opts *o);
/* SIGTERM, later SIGKILL, wait. Twice is fine. */
void proc_stop(struct proc *p);
/* Wait until the port answers a connection, and the process lives. Return: as proc_start(). */
int proc_wait_port(struct lab *lab, struct proc *p, const struct endpoint *e);
/* Append the last lines of its log. */
void proc_last_words(const struct proc *p, struct buf *why);

/* ---- what is served ---- */

/**
 * lab_put() - Store objects of one size in the bucket
 * @lab:	the laboratory
 * @format:	of their names, with one %u
 * @n:		how many
 * @size:	bytes of each, the first of the content
 *
 * Return: 0 or a negative errno, with @lab->why.
 */
int lab_put(struct lab *lab, const char *format, unsigned int n, uint64_t size);
/* The same as files of the peer, below www. */
int lab_write(struct lab *lab, const char *format, unsigned int n, uint64_t size);
/* Is the body at @path what @off and @len of the content are? Return: 0, -EBADMSG, -errno. */
int lab_check(struct lab *lab, const struct endpoint *e, const struct ask *ask, uint64_t off,
	      uint64_t len);
/* Remove a tree. */
void lab_remove_tree(const char *path);

#endif
