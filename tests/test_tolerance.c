/* A step honours its tolerance: a looser one costs less, its residual is as large as it is said to
 * be, and gaps are as if it had been strict. */
#include "step_support.h"

/* Overlap that a step may leave, in units of the extent of the model [1]: RB_GAP_DEEP. */
#define DEEP 1e-9

/* Of a pile that lands: residual of every step within tol, no overlap, no energy. */
static void check_pile(const char *name, double tol, double time)
{
    scene s = scene_file(name);
    s.o.tol = tol;
    CHECK_INT(rb_data_reserve(s.m, &s.d, 8000), RB_OK);
    scene_run(&s, time);
    printf("%s, tol %g: residual %.2e, overlap %.2e m\n", name, tol, s.worst.residual,
           s.worst.penetration);
    CHECK(s.worst.residual <= tol);
    CHECK(s.worst.penetration <= DEEP * s.m->extent);
    CHECK(s.worst.energy_created <= 0.0);
    if (tol > 1e-6) CHECK(s.worst.residual > 1e-6); /* it was made use of */
    scene_free(&s);
}

TEST(a_pile_of_a_hundred_within_each_tolerance)
{
#ifdef RB_SANITIZED
    SKIP("too long under the sanitizers");
#endif
    const double tols[] = { 3e-2, 1e-2, 1e-3, 1e-5, 1e-9 };
    for (int k = 0; k < 5; k++) check_pile("peers/pile_100.xml", tols[k], 1.0);
}

TEST(a_pile_of_a_thousand_lands)
{
#ifdef RB_SANITIZED
    SKIP("too long under the sanitizers");
#endif
    check_pile("peers/pile_1000.xml", 3e-2, 0.35);
}

/* Islands that are not large are asked for the usual tolerance. */
TEST(small_islands_are_as_exact_as_ever)
{
    scene s = scene_file("peers/stack_1000.xml");
    s.o.tol = 1e-2;
    for (int i = 0; i < 20; i++) scene_step(&s);
    CHECK(s.info.active > 0);
    CHECK(s.worst.residual <= 1e-9);
    CHECK(s.worst.penetration <= DEEP * s.m->extent);
    scene_free(&s);
}

TEST_MAIN(RUN(a_pile_of_a_hundred_within_each_tolerance), RUN(a_pile_of_a_thousand_lands),
          RUN(small_islands_are_as_exact_as_ever))
