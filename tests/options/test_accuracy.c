/* Accuracies of a step: their names and what they promise. */
#include "base/constants.h"
#include "step_support.h"

TEST(each_has_a_name_and_is_found_by_it)
{
    static const char *const names[] = { "standard", "strict", "fast" };
    for (int k = 0; k < 3; k++) {
        rb_accuracy found;
        CHECK_INT(rb_accuracy_find(names[k], &found), 1);
        CHECK_INT(strcmp(rb_accuracy_name(found), names[k]), 0);
    }
    rb_accuracy kept = RB_ACCURACY_FAST;
    CHECK_INT(rb_accuracy_find("exact", &kept), 0);
    CHECK_INT(kept, RB_ACCURACY_FAST);
}

TEST(strict_promises_more_than_standard_and_that_more_than_fast)
{
    CHECK(rb_accuracy_tol(RB_ACCURACY_STANDARD) == 1e-6);
    CHECK(rb_accuracy_tol(RB_ACCURACY_STRICT) == 1e-9);
    CHECK(rb_accuracy_tol(RB_ACCURACY_FAST) == 1e-3);
    CHECK(rb_accuracy_overlap(RB_ACCURACY_STANDARD) == 1e-6);
    CHECK(rb_accuracy_overlap(RB_ACCURACY_STRICT) == 1e-9);
    CHECK(rb_accuracy_overlap(RB_ACCURACY_FAST) == 1e-4);
}

/* `tol` of the options replaces that of the accuracy. */
TEST(a_tolerance_replaces_that_of_the_accuracy)
{
    rb_step_opts o = rb_step_opts_default();
    CHECK(rb_step_opts_tol(&o) == rb_accuracy_tol(RB_ACCURACY_STANDARD));
    o.accuracy = RB_ACCURACY_STRICT;
    CHECK(rb_step_opts_tol(&o) == rb_accuracy_tol(RB_ACCURACY_STRICT));
    o.tol = 1e-5;
    CHECK(rb_step_opts_tol(&o) == 1e-5);
}

TEST_MAIN(RUN(each_has_a_name_and_is_found_by_it),
          RUN(strict_promises_more_than_standard_and_that_more_than_fast),
          RUN(a_tolerance_replaces_that_of_the_accuracy))
