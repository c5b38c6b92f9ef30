/* SPDX-License-Identifier: BSD-2-Clause */
/* Client of the public HTTP API, over libcurl. One thread. */
#ifndef PAGEWIRE_CLIENT_H
#define PAGEWIRE_CLIENT_H

#include <curl/curl.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

struct client;
struct json_object;

struct client_opts {
	const char *endpoint; /* NULL: from the environment, else http://localhost:8080 */
	const char *token_file; /* NULL: from the environment, else no token */
	const char *ca_cert; /* NULL: the system's */
	bool insecure; /* take any certificate */
};

struct call {
	const char *method;
	const char *path; /* from the root, percent-encoded, with its query */
	const char *body; /* JSON, NULL: none */
	const char *headers[4]; /* more header lines, ended by NULL */
};

/* One answer. Start it as RESP_INIT; sink and sink_arg are the caller's to set before the call. */
struct resp {
	long status; /* 0: there was no answer, error says why */
	struct buf body; /* what the sink did not get */
	struct buf head; /* header lines of the last answer, each ended by '\n' */
	struct buf url;
	/* Gets the body of a 2xx. Return: 0, or a negative errno, which ends the transfer. */
	int (*sink)(void *arg, struct resp *r, const char *data, size_t n);
	void *sink_arg;
	int sink_err; /* what the sink returned, if that was not 0 */
	CURL *easy;
	struct curl_slist *headers;
	char error[CURL_ERROR_SIZE];
};

#define RESP_INIT                                                                                  \
	{                                                                                          \
	}
/* An answer freed at the end of its scope. */
#define autoresp __attribute__((cleanup(resp_deinit)))

/**
 * client_new() - Make a client; nothing is sent yet
 * @ret:	the client, written on success only; end it with client_free()
 * @opts:	where and how, copied
 * @why:	gets a sentence on failure
 *
 * Return: 0; -EINVAL for an endpoint that is none; -EBADMSG for a file without a token; -ENOMEM;
 * or what reading the file gave.
 */
int client_new(struct client **ret, const struct client_opts *opts, struct buf *why);

/* End a client and its connections; NULL is fine. */
void client_free(struct client *c);

/* Take @c's address and free what it holds: for autoclean(). */
void client_freep(struct client **c);

/**
 * client_prepare() - Set a handle up for a call, without making it
 * @c:		the client
 * @easy:	the handle; its earlier options are dropped, its connections kept
 * @call:	the call, copied
 * @r:		where the answer goes; must stay until client_finish()
 *
 * Return: 0 or -ENOMEM.
 */
int client_prepare(struct client *c, CURL *easy, const struct call *call, struct resp *r);

/**
 * client_finish() - Take over what a transfer on a prepared handle gave
 * @r:		the answer: status, and error when there is none
 * @code:	libcurl's result
 */
void client_finish(struct resp *r, CURLcode code);

/* The client's own handle, for one transfer at a time. */
CURL *client_easy(struct client *c);

/**
 * client_call() - Make one call and wait for its answer
 * @c:		the client
 * @call:	the call
 * @r:		the answer; no answer at all is status 0
 *
 * Return: 0 or -ENOMEM.
 */
int client_call(struct client *c, const struct call *call, struct resp *r);

/**
 * client_call_all() - Make calls at the same time and wait for all answers
 * @c:		the client
 * @calls:	the calls
 * @n:		how many
 * @limit_ms:	each that takes longer has no answer
 * @r:		their answers, in order
 *
 * Return: 0 or -ENOMEM.
 */
int client_call_all(struct client *c, const struct call *calls, size_t n, long limit_ms,
		    struct resp *r);

/* Free what an answer holds; it may be used for another call afterwards. */
void resp_deinit(struct resp *r);

/**
 * resp_header() - A header of the answer
 * @r:		the answer
 * @name:	its name, any case
 * @nth:	0 for the first of that name
 *
 * Return: a heap string, or NULL when absent (or out of memory).
 */
char *resp_header(const struct resp *r, const char *name, unsigned int nth);

/**
 * resp_header_u64() - A header that is a number
 * @r:		the answer
 * @name:	its name, any case
 * @ret:	the number, written on success only
 *
 * Return: 0; -ENOENT when absent; -EINVAL for anything but decimal digits.
 */
int resp_header_u64(const struct resp *r, const char *name, uint64_t *ret);

/**
 * resp_error() - What a failed call says
 * @r:		an answer that is not 2xx, or no answer
 * @text:	appended to: one sentence for people
 *
 * Return: the API's error document or one made in its form, a new reference; NULL: no memory.
 */
struct json_object *resp_error(const struct resp *r, struct buf *text);

/* Whether the call did what was asked: 2xx and a whole body. */
bool resp_ok(const struct resp *r);

#endif
