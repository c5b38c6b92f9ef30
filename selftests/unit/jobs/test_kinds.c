/* SPDX-License-Identifier: BSD-2-Clause */
/* Names of job kinds: both of each, and which are known but not run. */
#include "selftests/unit/unit.h"

#include "jobs/jobs.h"

static void test_names(void)
{
	ASSERT_STR(job_kind_name(JOB_DELETE_OBJECTS), "delete-listrange");
	ASSERT_STR(job_kind_display(JOB_DELETE_OBJECTS), "delete-objects");
	ASSERT_STR(job_kind_name(JOB_RENAME_BUCKET), "move-bck");
	ASSERT_STR(job_kind_display(JOB_RENAME_BUCKET), "rename-bucket");
	ASSERT_STR(job_kind_name(JOB_SUMMARY), "summary-bck");
	ASSERT_STR(job_kind_name(JOB_LIST), "list");
	ASSERT_STR(job_kind_name(JOB_NONE), "");
}

static void test_parse(void)
{
	bool known = false;

	ASSERT_EQ(job_kind_parse("delete-objects", &known), JOB_DELETE_OBJECTS);
	ASSERT_TRUE(known);
	ASSERT_EQ(job_kind_parse("move-bck", &known), JOB_RENAME_BUCKET);
	ASSERT_EQ(job_kind_parse("rebalance", &known), JOB_NONE);
	ASSERT_TRUE(known);
	ASSERT_EQ(job_kind_parse("lru-eviction", &known), JOB_NONE);
	ASSERT_TRUE(known);
	ASSERT_EQ(job_kind_parse("no-such-kind", &known), JOB_NONE);
	ASSERT_TRUE(!known);
}

UNIT_MAIN("kinds", {"names", test_names}, {"parse", test_parse})
