/* Tests that must fail, to show that the checks of test.h can. CTest expects exactly this many
 * failures, see tests/CMakeLists.txt. */
#include "test.h"

TEST(check_fails)
{
    CHECK(1 + 1 == 3);
}

TEST(check_int_fails)
{
    CHECK_INT(RB_NOMEM, RB_OK);
}

TEST(check_near_fails_with_its_seed)
{
    TEST_SEED(4711);
    CHECK_NEAR(1.0, 1.0 + 1e-6, 1e-7);
}

TEST(nan_is_near_nothing)
{
    CHECK_NEAR(NAN, NAN, INFINITY);
}

TEST(check_str_fails)
{
    CHECK_STR("a", NULL);
}

TEST(check_contains_fails)
{
    CHECK_CONTAINS("row 3", "row 4");
}

TEST(what_is_right_passes)
{
    CHECK(1);
    CHECK_INT(RB_OK, 0);
    CHECK_NEAR(INFINITY, INFINITY, 0.0);
    CHECK_NEAR(1.0, 1.0 + 1e-8, 1e-7);
    CHECK_STR("a", "a");
    CHECK_CONTAINS("row 3", "row");
}

TEST_MAIN(RUN(check_fails), RUN(check_int_fails), RUN(check_near_fails_with_its_seed),
          RUN(nan_is_near_nothing), RUN(check_str_fails), RUN(check_contains_fails),
          RUN(what_is_right_passes))
