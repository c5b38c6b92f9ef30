/* SPDX-License-Identifier: BSD-2-Clause */
/* What each unit test program has in common: a table of tests and a main made from it. */
#ifndef SELFTESTS_UNIT_H
#define SELFTESTS_UNIT_H

#include <CUnit/Basic.h>
#include <stdio.h>
#include <string.h>

/* Equal texts, and both printed when they are not. */
#define ASSERT_STR(got, want)                                                                      \
	do {                                                                                       \
		const char *got_ = (got), *want_ = (want);                                         \
		if (!got_ || strcmp(got_, want_))                                                  \
			fprintf(stderr, "%s:%d: got \"%s\", want \"%s\"\n", __FILE__, __LINE__,    \
				got_ ? got_ : "(null)", want_);                                    \
		CU_ASSERT_FATAL(got_ && !strcmp(got_, want_));                                     \
	} while (0)

/* Equal whole numbers, and both printed when they are not. */
#define ASSERT_EQ(got, want)                                                                       \
	do {                                                                                       \
		long long got_ = (long long)(got), want_ = (long long)(want);                      \
		if (got_ != want_)                                                                 \
			fprintf(stderr, "%s:%d: got %lld, want %lld\n", __FILE__, __LINE__, got_,  \
				want_);                                                            \
		CU_ASSERT_FATAL(got_ == want_);                                                    \
	} while (0)

/* Equal unsigned 64-bit numbers, in hex when they are not. */
#define ASSERT_HEX(got, want)                                                                      \
	do {                                                                                       \
		unsigned long long got_ = (got), want_ = (want);                                   \
		if (got_ != want_)                                                                 \
			fprintf(stderr, "%s:%d: got %llx, want %llx\n", __FILE__, __LINE__, got_,  \
				want_);                                                            \
		CU_ASSERT_FATAL(got_ == want_);                                                    \
	} while (0)

#define ASSERT_TRUE(x) CU_ASSERT_TRUE_FATAL(x)

struct unit_test {
	const char *name;
	void (*fn)(void);
};

/* main() of a test program: UNIT_MAIN("smap", { "parses", test_parses }, ...) */
#define UNIT_MAIN(suite_name, ...)                                                                 \
	int main(void)                                                                             \
	{                                                                                          \
		static const struct unit_test tests[] = {__VA_ARGS__};                             \
		CU_pSuite suite;                                                                   \
		unsigned int bad;                                                                  \
		size_t i;                                                                          \
		if (CU_initialize_registry() != CUE_SUCCESS)                                       \
			return 2;                                                                  \
		suite = CU_add_suite(suite_name, NULL, NULL);                                      \
		for (i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)                             \
			if (!suite || !CU_add_test(suite, tests[i].name, tests[i].fn))             \
				return 2;                                                          \
		CU_basic_set_mode(CU_BRM_VERBOSE);                                                 \
		CU_basic_run_tests();                                                              \
		bad = CU_get_number_of_failures() + CU_get_number_of_suites_failed();              \
		CU_cleanup_registry();                                                             \
		return bad ? 1 : 0;                                                                \
	}

#endif
