/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Each errno at each call of each operation: the object is the old one or the new one, whole, also
 * after a restart; success means the new one; no file is left over; the store works on.
 */
#include "fixture.h"

#include "faults.h"
#include "store/commit.h"
#include "store/impl.h"

#define OLD "the old content"
#define NEW "new"
#define STEPS_MAX 200

static const int errnos[] = {ENOSPC, EIO, EROFS, EDQUOT, EMFILE};

/* Content of the object as of now: OLD, NEW, OLD "+", "" for none, NULL for an error. */
static const char *content(struct fix *f, const char *name)
{
	static const char *const known[] = {OLD, NEW, OLD "+"};
	int err = 0;
	autofree char *text = fix_get(f, name, &err);
	size_t i;

	if (!text)
		return err == -ENOENT ? "" : NULL;
	for (i = 0; i < ARRAY_SIZE(known); i++) {
		if (!strcmp(text, known[i]))
			return known[i];
	}
	return "half of something";
}

/* ---- operations ---- */

static int op_put(struct fix *f)
{
	return fix_put(f, "o", NEW);
}

static int op_put_first(struct fix *f)
{
	return fix_put(f, "fresh", NEW);
}

/* Its copy of the record is a trailer. */
static int op_put_trailer(struct fix *f)
{
	f->s->paths[0].no_xattr = true;
	return fix_put(f, "o", NEW);
}

/* The blob begins with a name in blob/tmp/. */
static int op_put_named(struct fix *f)
{
	f->s->paths[0].named_tmp = true;
	return fix_put(f, "o", NEW);
}

static int op_delete(struct fix *f)
{
	return fix_delete(f, "o");
}

static int op_change(struct fix *f)
{
	struct store_custom c = {"k\0v", 4, false};
	struct answer a = {};

	sem_init(&a.there, 0, 0);
	store_set_custom(f->s, &fix_bck, "o", &c, answer_done, &a);
	return answer_wait(&a, NULL);
}

static int op_change_trailer(struct fix *f)
{
	f->s->paths[0].no_xattr = true;
	return op_change(f);
}

static int op_copy(struct fix *f)
{
	struct answer a = {};

	sem_init(&a.there, 0, 0);
	store_copy(f->s, (struct store_name){&fix_bck, "source"},
		   (struct store_name){&fix_bck, "o"}, answer_done, &a);
	return answer_wait(&a, NULL);
}

/* Begun, parked, taken up again, made the object. */
static int op_append(struct fix *f)
{
	struct answer a = {};
	struct store_put *p;
	char token[64];
	int r;

	r = store_append(f->s, &fix_bck, "o", "", &p);
	if (r < 0)
		return r;
	r = store_append_park(p, token);
	if (r == 0)
		r = store_append(f->s, &fix_bck, "o", token, &p);
	if (r < 0)
		return r;
	r = store_put_write(p, "+", 1);
	if (r < 0) {
		store_put_abort(p);
		return r;
	}
	sem_init(&a.there, 0, 0);
	store_put_commit(p, answer_done, &a);
	return answer_wait(&a, NULL);
}

static int op_destroy(struct fix *f)
{
	return store_bucket_destroy(f->s, fix_bck.bid);
}

static const struct op {
	const char *name;
	int (*run)(struct fix *f);
	const char *object, *before, *after;
} ops[] = {
	{"put", op_put, "o", OLD, NEW},
	{"put of a new name", op_put_first, "fresh", "", NEW},
	{"put with a trailer", op_put_trailer, "o", OLD, NEW},
	{"put without O_TMPFILE", op_put_named, "o", OLD, NEW},
	{"delete", op_delete, "o", OLD, ""},
	{"change", op_change, "o", OLD, OLD},
	{"change with a trailer", op_change_trailer, "o", OLD, OLD},
	{"copy", op_copy, "o", OLD, NEW},
	{"append", op_append, "o", OLD, OLD "+"},
	{"destroy", op_destroy, "o", OLD, ""},
};

/* ---- the table ---- */

struct point {
	const struct op *op;
	enum fault_call call;
	int n, err; /* the errno */
};

static void wrong(const struct point *p, const char *what, const char *got)
{
	fprintf(stderr, "%s, call %d of %s fails with %s: %s, got \"%s\"\n", p->op->name, p->n,
		fault_names[p->call], strerror(p->err), what, got ? got : "(error)");
	CU_FAIL_FATAL("see above");
}

static void check_content(const struct point *p, struct fix *f, int r, bool restarted)
{
	const char *got = content(f, p->op->object);

	/* an index that LMDB gave up is out of service until it is opened anew */
	if (!got && !restarted && !mpath_ok(&f->s->paths[0]))
		return;
	if (!got || (strcmp(got, p->op->before) && strcmp(got, p->op->after)))
		wrong(p, "neither old nor new", got);
	else if (r == 0 && strcmp(got, p->op->after))
		wrong(p, "success, but not the new one", got);
}

static int count_files(void *arg, const struct store_entry *e)
{
	*(size_t *)arg += e->rec->flags & STORE_F_TRAILER ? 2 : 1;
	return 0;
}

static void check_files(const struct point *p, struct fix *f)
{
	struct store_list_opts o = {.prefix = "", .after = ""};
	size_t n = fix_files(f, "blob"), want = 0;

	ASSERT_EQ(store_list(f->s, &fix_bck, &o, count_files, &want), 0);
	/* a change that failed half way may leave the copy of what it wanted beside the blob */
	if (n != want && (p->op->run != op_change_trailer || n != want + 1))
		wrong(p, "files left over", "");
}

static void reset(struct fix *f)
{
	struct commit_op last = {};
	int r = fix_delete(f, "fresh");

	ASSERT_TRUE(r == 0 || r == -ENOENT);
	ASSERT_EQ(fix_put(f, "o", OLD), 0);
	ASSERT_EQ(fix_put(f, "source", NEW), 0);
	ASSERT_EQ(commit_wait(&f->s->paths[0], &last), 0);
}

/* Return: was the call reached? */
static bool run_point(const struct point *p, struct fix *f)
{
	bool hit;
	int r;

	reset(f);
	fault_arm(p->call, p->n, p->err);
	r = p->op->run(f);
	sweep_wait(f->s->paths[0].sw, 0);
	hit = fault_disarm();
	if (r != 0 && (!hit || (r != -p->err && r != -EIO)))
		wrong(p, "another error", strerror(-r));
	check_content(p, f, r, false);
	if (mpath_ok(&f->s->paths[0]) && fix_put(f, "next", "x") != 0)
		wrong(p, "the next put fails", "");
	fix_restart(f);
	check_content(p, f, r, true);
	check_files(p, f);
	ASSERT_EQ(fix_put(f, "last", "x"), 0);
	ASSERT_CONTENT(f, "last", "x");
	return hit;
}

static void test_table(void)
{
	size_t o, e, step = getenv("LONG") ? 1 : 2;
	struct fix f = {.sync = true};
	unsigned int points = 0;
	struct point p;
	int call;

	fix_open(&f, 1);
	for (o = 0; o < ARRAY_SIZE(ops); o++) {
		for (call = FAULT_NONE + 1; call < FAULT_NR; call++) {
			/* every errno in a long run, else one after the other */
			for (e = (o + (size_t)call) % step; e < ARRAY_SIZE(errnos); e += step) {
				p = (struct point){&ops[o], (enum fault_call)call, 1, errnos[e]};
				while (p.n < STEPS_MAX && run_point(&p, &f)) {
					points++;
					p.n++;
				}
				ASSERT_TRUE(p.n < STEPS_MAX);
			}
		}
	}
	fix_close(&f);
	fprintf(stderr, "\n    %u points\n", points);
	ASSERT_TRUE(points > 100);
}

/* Errors that only mean "not here": there is another way. */
static void test_other_way(void)
{
	static const struct {
		enum fault_call call;
		int err;
		int (*run)(struct fix *f);
	} ways[] = {
		{FAULT_FSETXATTR, ENOSPC, op_put},    {FAULT_FSETXATTR, E2BIG, op_put},
		{FAULT_FSETXATTR, ERANGE, op_put},    {FAULT_FSETXATTR, EOPNOTSUPP, op_put},
		{FAULT_FSETXATTR, ENOSPC, op_change}, {FAULT_COPY, EXDEV, op_copy},
		{FAULT_COPY, EOPNOTSUPP, op_copy},    {FAULT_COPY, EINTR, op_copy},
		{FAULT_PWRITE, EINTR, op_put},	      {FAULT_COPY, EXDEV, op_append},
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(ways); i++) {
		struct fix f = {.sync = true};

		fix_open(&f, 1);
		ASSERT_EQ(fix_put(&f, "o", OLD), 0);
		ASSERT_EQ(fix_put(&f, "source", NEW), 0);
		fault_arm(ways[i].call, 1, ways[i].err);
		ASSERT_EQ(ways[i].run(&f), 0);
		fault_disarm();
		fix_restart(&f);
		ASSERT_STR(content(&f, "o"), ways[i].run == op_change	? OLD
					     : ways[i].run == op_append ? OLD "+"
									: NEW);
		fix_close(&f);
	}
}

UNIT_MAIN("store/faults", {"each errno at each call", test_table},
	  {"not here, but elsewhere", test_other_way})
