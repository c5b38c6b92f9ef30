/* SPDX-License-Identifier: BSD-2-Clause */
/* Mountpaths: whose they are, locks, an index that is gone, placement. */
#include "fixture.h"

#include "smap/smap.h"
#include "store/impl.h"

static int start_as(struct fix *f, const char *node_id, struct store **ret)
{
	struct store_opts o = {.sz = sizeof(o),
			       .paths = f->paths,
			       .n_paths = f->n,
			       .node_id = node_id,
			       .map_bytes = 64 << 20,
			       .io = f->io};

	return store_open(&o, ret, f->err, sizeof(f->err));
}

static void test_owner(void)
{
	struct fix f = {};
	struct store *s;

	fix_open(&f, 2);
	ASSERT_EQ(start_as(&f, "t1", &s), -EBUSY);
	ASSERT_TRUE(strstr(f.err, f.path[0]) != NULL);
	fix_stop(&f);
	ASSERT_EQ(start_as(&f, "t2", &s), -EUCLEAN);
	ASSERT_TRUE(strstr(f.err, "t1") && strstr(f.err, "t2"));
	ASSERT_EQ(fix_start(&f), 0);
	fix_stop(&f);
	f.paths[1] = f.path[0]; /* named twice */
	ASSERT_EQ(fix_start(&f), -EBUSY);
	f.paths[1] = "/nowhere/at/all";
	ASSERT_EQ(fix_start(&f), -ENOENT);
	ASSERT_TRUE(strstr(f.err, "/nowhere/at/all") != NULL);
	fix_close(&f);
}

static void spoil(struct fix *f, const char *file, const char *text)
{
	char path[160];
	FILE *o;

	snprintf(path, sizeof(path), "%s/meta/%s", f->path[0], file);
	if (!text) {
		ASSERT_EQ(unlink(path), 0);
		return;
	}
	o = fopen(path, "we");
	fputs(text, o);
	fclose(o);
}

static void test_lost_index(void)
{
	struct fix f = {};
	struct store *s;

	fix_open(&f, 1);
	ASSERT_EQ(fix_put(&f, "o", "x"), 0);
	fix_stop(&f);
	spoil(&f, "data.mdb", NULL);
	ASSERT_EQ(fix_start(&f), -EUCLEAN);
	ASSERT_TRUE(strstr(f.err, "--rebuild-index") != NULL);
	spoil(&f, "data.mdb", "");
	ASSERT_EQ(fix_start(&f), -EUCLEAN);
	ASSERT_EQ(fix_files(&f, "blob"), 1); /* nothing was reaped */
	spoil(&f, "data.mdb", NULL);
	spoil(&f, "pagewire.json", NULL); /* neither format nor index, but blobs */
	ASSERT_EQ(start_as(&f, "t1", &s), -EUCLEAN);
	ASSERT_EQ(fix_files(&f, "blob"), 1);
	fix_close(&f);
}

static void test_format_file(void)
{
	struct fix f = {};

	fix_open(&f, 1);
	fix_stop(&f);
	spoil(&f, "pagewire.json", "{");
	ASSERT_EQ(fix_start(&f), -EUCLEAN);
	spoil(&f, "pagewire.json", "{\"format\":2,\"node_id\":\"t1\"}");
	ASSERT_EQ(fix_start(&f), -EUCLEAN);
	ASSERT_TRUE(strstr(f.err, "format 2") != NULL);
	spoil(&f, "pagewire.json",
	      "{\"format\":1,\"node_id\":\"t1\",\"uuid\":\"00000000-0000-4000-8000-"
	      "000000000000\"}");
	ASSERT_EQ(fix_start(&f), -EUCLEAN); /* the index is another's */
	spoil(&f, "pagewire.json", NULL); /* a first use cut short: the index is there, empty */
	ASSERT_EQ(fix_start(&f), 0);
	fix_restart(&f);
	fix_close(&f);
}

/* spec: /mnt/d0 with weight e17e7cef221f9b07 beats /mnt/d1 with 60a9bad712886232. */
static void test_placement(void)
{
	struct store_bck b = {.uname = "ais/@#/bck/"};
	struct store *s = calloc(1, sizeof(*s));

	pthread_rwlock_init(&s->set_lock, NULL);
	s->set = (struct mpath_set){.n = 2, .slot = {4, 1}};
	s->set.digests[0] = smap_digest("/mnt/d1", 7);
	s->set.digests[1] = smap_digest("/mnt/d0", 7);
	ASSERT_HEX(smap_xhash(s->set.digests[1] ^ smap_digest("ais/@#/bck/obj", 14)),
		   0xe17e7cef221f9b07);
	ASSERT_HEX(store_digest(&b, "obj"), smap_digest("ais/@#/bck/obj", 14));
	ASSERT_TRUE(store_owner(s, store_digest(&b, "obj")) == &s->paths[1]);
	free(s);
}

UNIT_MAIN("store/mountpath", {"owner", test_owner}, {"lost index", test_lost_index},
	  {"format file", test_format_file}, {"placement", test_placement})
