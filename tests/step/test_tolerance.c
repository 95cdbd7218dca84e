/* A step honours its tolerance: a looser one costs less, its residual is as large as it is said to
 * be, and gaps are as if it had been strict. */
#include "step_support.h"

/* Overlap that steps may leave, in units of the extent of the boxes, which are all the same [m]. */
static double deepest(const scene *s)
{
    return rb_accuracy_overlap(s->o.accuracy) * s->m->link_extent[1];
}

/* Energy that all steps of that time took off [J]. */
static double run_and_lose(scene *s, double time)
{
    double lost = 0.0;
    while (s->d->time < time) {
        scene_step(s);
        lost -= s->info.energy_created;
    }
    return lost;
}

/* Of a pile that lands: residual of every step within tol, no overlap. What contact makes in a step
 * is at most 4e-5 of what the landing loses, and less where answers are exact. */
static void check_pile(const char *name, double tol, double time)
{
    scene s = scene_file(name);
    s.o.tol = tol;
    CHECK_INT(rb_data_reserve(s.m, &s.d, 8000), RB_OK);
    double lost = run_and_lose(&s, time);
    printf("%s, tol %g: residual %.2e, overlap %.2e m, made %.2e of %.3g J\n", name, tol,
           s.worst.residual, s.worst.penetration, s.worst.energy_created, lost);
    CHECK(s.worst.residual <= tol);
    CHECK(s.worst.penetration <= deepest(&s));
    CHECK(s.worst.energy_created <= 1e-4 * lost);
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

/* Newton's method ends with all digits, whatever it is asked for. */
TEST(small_islands_are_as_exact_as_ever)
{
    scene s = scene_file("peers/stack_1000.xml");
    s.o.tol = 1e-2;
    for (int i = 0; i < 20; i++) scene_step(&s);
    CHECK(s.info.active > 0);
    CHECK(s.worst.residual <= 1e-9);
    CHECK(s.worst.penetration <= deepest(&s));
    scene_free(&s);
}

/* Steps until friction of a large island took too long, in how many of its problems; 0: it never
 * did. */
static int find_loose_step(scene *s, double time)
{
    while (s->d->time < time && s->info.below_accuracy == 0) scene_step(s);
    return s->info.below_accuracy;
}

/* A step that was taken at `loose` says so, in the count and in its residual, and has no overlap.
 */
TEST(what_is_loose_is_told)
{
#ifdef RB_SANITIZED
    SKIP("too long under the sanitizers");
#endif
    scene s = scene_file("peers/pile_1000.xml");
    CHECK_INT(rb_data_reserve(s.m, &s.d, 8000), RB_OK);
    s.o.tol = 3e-2;
    scene_run(&s, 0.47);
    CHECK_INT(s.info.below_accuracy, 0);
    s.o.tol = 1e-9;
    s.o.loose = 3e-2;
    CHECK(find_loose_step(&s, 0.55) >= 1);
    CHECK(s.info.residual > 1e-9 && s.info.residual <= 3e-2);
    CHECK(s.info.penetration <= deepest(&s));
    CHECK(s.info.energy_created <= 0.0);
    CHECK(strstr(s.info.path, "loose") != NULL);
    scene_free(&s);
}

TEST_MAIN(RUN(a_pile_of_a_hundred_within_each_tolerance), RUN(a_pile_of_a_thousand_lands),
          RUN(what_is_loose_is_told), RUN(small_islands_are_as_exact_as_ever))
