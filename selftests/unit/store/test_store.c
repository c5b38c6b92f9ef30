/* SPDX-License-Identifier: BSD-2-Clause */
/* The store as a whole: killed at any moment it keeps what it acknowledged and nothing else. */
#include "fixture.h"

#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "base/text.h"

#define ROUNDS 30
#define NAMES 40
#define WRITERS 4

/* One name: what was begun and what was acknowledged. Shared with the child. */
struct promise {
	uint32_t begun, acked; /* content numbers; 0: absent */
	bool deleting; /* begun is a removal */
};

struct ledger {
	uint32_t next; /* content numbers given */
	struct promise p[WRITERS][NAMES];
};

struct child {
	struct fix *f;
	struct ledger *l;
	int id;
};

/* Content by its number: 10 to 20 KiB that only it has. */
static size_t content(uint32_t n, char *out)
{
	size_t len = 10240 + n * 37 % 10240, i;

	for (i = 0; i + 4 <= len; i += 4) {
		uint32_t v = n * 2654435761u + (uint32_t)i;

		memcpy(out + i, &v, 4);
	}
	memset(out + i, 0, len - i);
	return len;
}

static void one_step(struct child *c, uint32_t i)
{
	struct promise *p = &c->l->p[c->id][i % NAMES];
	struct store_put_opts o = {};
	char name[32], data[20480];
	uint32_t n;

	snprintf(name, sizeof(name), "w%d/%u", c->id, i % NAMES);
	if (p->acked && i % 5 == 0) {
		__atomic_store_n(&p->deleting, true, __ATOMIC_SEQ_CST);
		if (fix_delete(c->f, name) != 0)
			abort();
		__atomic_store_n(&p->acked, 0, __ATOMIC_SEQ_CST);
		__atomic_store_n(&p->deleting, false, __ATOMIC_SEQ_CST);
		return;
	}
	n = __atomic_add_fetch(&c->l->next, 1, __ATOMIC_SEQ_CST);
	__atomic_store_n(&p->begun, n, __ATOMIC_SEQ_CST);
	o.size = (int64_t)content(n, data);
	if (fix_put_opts(c->f, &fix_bck, name, data, (size_t)o.size, &o, NULL) != 0)
		abort();
	__atomic_store_n(&p->acked, n, __ATOMIC_SEQ_CST);
}

static void *child_writer(void *arg)
{
	uint32_t i;

	for (i = 0;; i++)
		one_step(arg, i * 7 + i / NAMES);
	return NULL;
}

static void child_run(struct fix *f, struct ledger *l)
{
	struct child c[WRITERS];
	pthread_t t;
	int i;

	if (pool_new("io", 4, 1000, &f->io) != 0 || fix_start(f) != 0)
		_exit(3);
	for (i = 0; i < WRITERS; i++) {
		c[i] = (struct child){f, l, i};
		if (pthread_create(&t, NULL, child_writer, &c[i]))
			_exit(4);
	}
	for (;;)
		pause();
}

/* Kill a child once @steps more contents were begun: a moment nobody chose. */
static void kill_one(struct fix *f, struct ledger *l, uint32_t steps)
{
	uint32_t stop = l->next + steps;
	int64_t limit = mono_ns() + INT64_C(60) * 1000000000;
	int status;
	pid_t pid = fork();

	if (pid == 0)
		child_run(f, l);
	while (__atomic_load_n(&l->next, __ATOMIC_SEQ_CST) < stop) {
		ASSERT_TRUE(mono_ns() < limit);
		ASSERT_EQ(waitpid(pid, &status, WNOHANG), 0);
	}
	kill(pid, SIGKILL);
	ASSERT_EQ(waitpid(pid, &status, 0), pid);
}

/* Which content does the name have? 0: none. It is a whole one. */
static uint32_t content_of(struct fix *f, const char *name)
{
	char data[20480], want[20480];
	struct store_rec rec;
	autofd fd = -1;
	uint32_t first, n;
	int r;

	r = store_open_blob(f->s, &fix_bck, name, &rec, &fd);
	if (r == -ENOENT)
		return 0;
	ASSERT_EQ(r, 0);
	ASSERT_EQ(pread(fd, data, sizeof(data), 0), rec.size);
	memcpy(&first, data, 4);
	n = first * 244002641u; /* the inverse of 2654435761 modulo 2^32 */
	ASSERT_EQ(content(n, want), rec.size);
	ASSERT_EQ(memcmp(data, want, rec.size), 0);
	return n;
}

static int count_one(void *arg, const struct store_entry *e)
{
	++*(size_t *)arg;
	return 0;
}

static void settle(struct fix *f, struct ledger *l)
{
	struct store_list_opts o = {.prefix = "", .after = ""};
	size_t there = 0, listed = 0;
	char name[32];
	int w, i;

	for (w = 0; w < WRITERS; w++) {
		for (i = 0; i < NAMES; i++) {
			struct promise *p = &l->p[w][i];
			uint32_t n;

			snprintf(name, sizeof(name), "w%d/%d", w, i);
			n = content_of(f, name);
			ASSERT_TRUE(n == p->acked || n == p->begun || (n == 0 && p->deleting));
			if (p->acked == p->begun && !p->deleting)
				ASSERT_EQ(n, p->acked);
			there += n != 0;
			*p = (struct promise){.begun = n, .acked = n};
		}
	}
	ASSERT_EQ(store_list(f->s, &fix_bck, &o, count_one, &listed), 0);
	ASSERT_EQ(listed, there);
	ASSERT_EQ(fix_files(f, "blob"), there);
}

static void test_killed(void)
{
	struct ledger *l =
		mmap(NULL, sizeof(*l), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct fix f = {.sync = true};
	int i;

	ASSERT_TRUE(l != MAP_FAILED);
	fix_dirs(&f, 2);
	for (i = 0; i < ROUNDS; i++) {
		f.sync = i % 2;
		kill_one(&f, l, 5 + (uint32_t)i * 37 % 200);
		ASSERT_EQ(pool_new("io", 2, 1000, &f.io), 0);
		ASSERT_EQ(fix_start(&f), 0);
		settle(&f, l);
		fix_stop(&f);
		pool_free(take_ptr(f.io));
	}
	munmap(l, sizeof(*l));
	fix_close(&f);
}

static void test_wrong_options(void)
{
	struct fix f = {};

	fix_dirs(&f, 1);
	ASSERT_EQ(fix_start(&f), -EINVAL); /* no pool */
	ASSERT_EQ(pool_new("io", 1, 10, &f.io), 0);
	f.paths[0] = "relative";
	ASSERT_EQ(fix_start(&f), -EINVAL);
	ASSERT_TRUE(strstr(f.err, "relative") != NULL);
	f.n = 0;
	ASSERT_EQ(fix_start(&f), -EINVAL);
	ASSERT_TRUE(strstr(f.err, "fspaths") != NULL);
	store_close(NULL);
	fix_close(&f);
}

UNIT_MAIN("store/store", {"killed at any moment", test_killed},
	  {"wrong options", test_wrong_options})
