/* SPDX-License-Identifier: BSD-2-Clause */
/* The servers under comparison: their configs, their start, when they are ready. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bits.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "lab.h"
#include "raw.h"

#define READY_NS (INT64_C(60) * 1000000000)
#define POLL_NS 20000000

static int write_file(struct lab *lab, const char *name, const char *text, mode_t mode)
{
	char path[LAB_PATH];
	autofd fd = -1;

	snprintf(path, sizeof(path), "%s/%s", lab->dir, name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text)) {
		buf_fmt(&lab->why, "%s: %s", path, strerror(errno));
		return -EIO;
	}
	return 0;
}

static int make_dir(struct lab *lab, const char *name)
{
	char path[LAB_PATH];

	snprintf(path, sizeof(path), "%s/%s", lab->dir, name);
	if (mkdir(path, 0755) < 0 && errno != EEXIST) {
		buf_fmt(&lab->why, "%s: %s", path, strerror(errno));
		return -errno;
	}
	return 0;
}

/* ---- ours ---- */

static void config(const struct lab *lab, const struct lab_cluster *c, bool target, struct buf *b)
{
	const char *role = target ? "target" : "gateway";
	unsigned int n = target;

	buf_fmt(b, "{\"role\":\"%s\",\"node_id\":\"%s\",\"state_dir\":\"%s/%s%u\",\n", role,
		target ? "tbenchmrk" : "pbenchmrk", lab->dir, role, lab->clusters);
	buf_fmt(b,
		"\"host_net\":{\"hostname\":\"127.0.0.1\",\"hostname_intra_control\":\"127.0.0.1\","
		"\"hostname_intra_data\":\"127.0.0.1\",\"port\":\"%u\","
		"\"port_intra_control\":\"%u\",\"port_intra_data\":\"%u\"},\n",
		LAB_PORT_GATEWAY + n, LAB_PORT_GATEWAY + 1000 + n, LAB_PORT_GATEWAY + 2000 + n);
	buf_fmt(b,
		"\"proxy\":{\"primary_url\":\"http://127.0.0.1:%u\"},\n"
		"\"auth\":{\"intra_cluster\":{\"node_join_secret_path\":\"%s/join.secret\","
		"\"request_auth\":%s}},\n",
		LAB_PORT_GATEWAY + 1000, lab->dir, c->request_auth ? "true" : "false");
	buf_fmt(b, "\"workers\":%u,\"congestion\":\"system\",\n", c->workers ? c->workers : 1);
	buf_fmt(b, "\"http\":{\"keepalive_idle\":\"1h\"},\"store\":{\"durability\":\"%s\"}",
		c->commit ? "commit" : "none");
	if (target)
		buf_fmt(b, ",\n\"fspaths\":{\"%s/mp%u\":\"\"}", lab->dir, lab->clusters);
	buf_str(b, "}\n");
}

static int start_node(struct lab *lab, struct proc *p, const struct lab_cluster *c)
{
	autobuf struct buf text = BUF_INIT;
	bool target = p == &lab->target;
	const char *role = target ? "target" : "gateway";
	char file[32], state[32], path[LAB_PATH];
	const char *argv[] = {lab->daemon, "--config", path, NULL};
	struct proc_opts o = {.name = role, .argv = argv, .in = -1};
	int r;

	snprintf(file, sizeof(file), "%s.json", role);
	snprintf(state, sizeof(state), "%s%u", role, lab->clusters);
	snprintf(path, sizeof(path), "%s/%s", lab->dir, file);
	config(lab, c, target, &text);
	r = text.err ? text.err : write_file(lab, file, text.data, 0644);
	r = r ? r : make_dir(lab, state);
	r = r ? r : proc_start(lab, p, &o);
	return r ? r : proc_wait_port(lab, p, target ? &lab->to_target : &lab->to_gateway);
}

/* Ask until the answer is 200. */
static int wait_for(struct lab *lab, const struct endpoint *e, const struct ask *ask)
{
	const struct timespec pause = {.tv_nsec = POLL_NS};
	int64_t until = mono_ns() + READY_NS;
	struct client c = CLIENT_INIT;
	struct answer a = {};
	int r = -ETIMEDOUT;

	client_init(&c, e);
	while (r && mono_ns() < until) {
		if (!client_ask(&c, ask, &a) && a.status == 200)
			r = 0;
		else
			nanosleep(&pause, NULL);
	}
	if (r)
		buf_fmt(&lab->why, "%s %s at %s: still %d after a minute: %.200s", ask->method,
			ask->path, e->host, a.status, buf_cstr(&a.body));
	answer_free(&a);
	client_deinit(&c);
	return r;
}

static int make_bucket(struct lab *lab)
{
	static const char body[] = "{\"action\":\"create-bck\"}";
	static const struct ask ready = {.method = "GET", .path = "/v1/health?prr=true"};
	static const struct ask here = {.method = "GET", .path = "/v1/health?readiness=true"};
	static const struct ask put = {.method = "PUT",
				       .path = "/v1/objects/" LAB_BUCKET "/first",
				       .body = "1",
				       .body_len = 1,
				       .follow = true};
	static const struct ask create = {.method = "POST",
					  .path = "/v1/buckets/" LAB_BUCKET,
					  .headers = "Content-Type: application/json\r\n",
					  .body = body,
					  .body_len = sizeof(body) - 1};
	int r;

	r = wait_for(lab, &lab->to_gateway, &ready);
	r = r ? r : wait_for(lab, &lab->to_target, &here);
	r = r ? r : wait_for(lab, &lab->to_gateway, &create);
	/* the first object shows that the target has joined and knows the bucket */
	return r ? r : wait_for(lab, &lab->to_gateway, &put);
}

int lab_cluster_start(struct lab *lab, const struct lab_cluster *c)
{
	char mountpath[32];
	int r;

	snprintf(mountpath, sizeof(mountpath), "mp%u", ++lab->clusters);
	r = write_file(lab, "join.secret",
		       "5f0c3a7e91b24d68a0f7c2d4e6b8190a5f0c3a7e91b24d68a0f7c2d4e6b8190a\n", 0600);
	r = r ? r : make_dir(lab, mountpath);
	r = r ? r : start_node(lab, &lab->gateway, c);
	r = r ? r : start_node(lab, &lab->target, c);
	r = r ? r : make_bucket(lab);
	if (r)
		proc_last_words(&lab->target, &lab->why);
	return r;
}

void lab_cluster_stop(struct lab *lab)
{
	proc_stop(&lab->target);
	proc_stop(&lab->gateway);
}

/* ---- peers ---- */

static int nginx_config(struct lab *lab)
{
	autobuf struct buf b = BUF_INIT;

	buf_fmt(&b,
		"daemon off;\nworker_processes 1;\nuser root;\npid %s/nginx.pid;\n"
		"error_log %s/nginx.err;\nevents { worker_connections 8192; }\n",
		lab->dir, lab->dir);
	buf_fmt(&b,
		"http {\n access_log off;\n sendfile on;\n tcp_nopush on;\n"
		" keepalive_requests 1000000000;\n keepalive_timeout 1h;\n"
		" open_file_cache max=100000 inactive=1h;\n open_file_cache_valid 1h;\n"
		" open_file_cache_min_uses 1;\n client_body_temp_path %s/nginx.tmp1;\n"
		" proxy_temp_path %s/nginx.tmp2;\n fastcgi_temp_path %s/nginx.tmp3;\n"
		" uwsgi_temp_path %s/nginx.tmp4;\n scgi_temp_path %s/nginx.tmp5;\n",
		lab->dir, lab->dir, lab->dir, lab->dir, lab->dir);
	buf_fmt(&b,
		" server {\n  listen 127.0.0.1:%u backlog=4096;\n  root %s/www;\n"
		"  autoindex on;\n  autoindex_format json;\n }\n}\n",
		LAB_PORT_PEER, lab->dir);
	return b.err ? b.err : write_file(lab, "nginx.conf", b.data, 0644);
}

/* nginx as told, on the PATH, or where Debian has it. */
static const char *find_nginx(struct lab *lab)
{
	static const char *const places[] = {"/usr/sbin/nginx", "/usr/local/sbin/nginx",
					     "/usr/bin/nginx"};
	size_t i;

	if (lab->o.nginx)
		return lab->o.nginx;
	for (i = 0; i < ARRAY_SIZE(places); i++)
		if (!access(places[i], X_OK))
			return places[i];
	return NULL;
}

static int start_nginx(struct lab *lab)
{
	const char *program = find_nginx(lab);
	char conf[LAB_PATH];
	const char *argv[] = {lab->nginx, "-p", lab->dir, "-c", conf, NULL};
	struct proc_opts o = {.name = "nginx", .argv = argv, .in = -1};
	int r;

	if (!program) {
		buf_str(&lab->why, "no nginx: apt-get install nginx-light, or give --nginx");
		return -ENOENT;
	}
	snprintf(lab->nginx, sizeof(lab->nginx), "%s", program);
	snprintf(conf, sizeof(conf), "%s/nginx.conf", lab->dir);
	r = nginx_config(lab);
	return r ? r : proc_start(lab, &lab->peer, &o);
}

static int start_other(struct lab *lab)
{
	char root[LAB_PATH], port[16];
	const char *argv[] = {"/bin/sh", "-c", lab->o.peer, NULL};
	struct proc_opts o = {.name = "peer", .argv = argv, .in = -1};

	snprintf(root, sizeof(root), "%s/www", lab->dir);
	snprintf(port, sizeof(port), "%d", LAB_PORT_PEER);
	setenv("PEER_ROOT", root, 1);
	setenv("PEER_PORT", port, 1);
	return proc_start(lab, &lab->peer, &o);
}

int lab_peer_start(struct lab *lab)
{
	int r = lab->o.peer ? start_other(lab) : start_nginx(lab);

	return r ? r : proc_wait_port(lab, &lab->peer, &lab->to_peer);
}

int lab_raw_start(struct lab *lab, const char *file)
{
	struct raw_splice raw = {.port = LAB_PORT_RAW};
	struct proc_opts o = {.name = "raw", .run = raw_splice_serve, .arg = &raw, .in = -1};
	int r;

	snprintf(raw.file, sizeof(raw.file), "%s/www/%s", lab->dir, file);
	r = proc_start(lab, &lab->raw, &o);
	return r ? r : proc_wait_port(lab, &lab->raw, &lab->to_raw);
}
