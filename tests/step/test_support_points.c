/* Cylinders and prisms with many sides stand to their last degree, whichever way they lean, and tip
 * beyond it (S.6). */
#include "step_support.h"

enum { SIDES = 100 };

static void write_prism(char *text, size_t size)
{
    size_t at = 0;
    for (int i = 0; i < 2 * SIDES; i++) {
        double angle = 6.283185307179586 * (i / 2) / SIDES;
        at += (size_t)snprintf(text + at, size - at, "%.9g %.9g %g ", 0.1 * cos(angle),
                               0.1 * sin(angle), i % 2 ? 0.2 : -0.2);
    }
}

/* Gravity leans by the tangent `lean` to the azimuth. */
static scene leaning_scene(int prism, int plane, double lean, double azimuth)
{
    static char mesh[16384], text[20000];
    double g = 9.81 / sqrt(1.0 + lean * lean);
    write_prism(mesh, sizeof mesh);
    snprintf(text, sizeof text,
             "<mujoco><option timestep='0.002' gravity='%.17g %.17g %.17g'/><asset>"
             "<mesh name='prism' vertex='%s'/></asset><worldbody><geom %s friction='1'/>"
             "<body pos='0 0 0.2'><freejoint/><geom %s friction='1'/></body></worldbody></mujoco>",
             g * lean * cos(azimuth), g * lean * sin(azimuth), -g, mesh,
             plane ? "type='plane' size='1 1 1'" : "type='box' size='1 1 0.1' pos='0 0 -0.1'",
             prism ? "type='mesh' mesh='prism'" : "type='cylinder' size='0.1 0.2'");
    return scene_hulls(text);
}

TEST(stands_to_the_last_degree)
{
    int still = 0, stand = 0;
    for (int i = 0; i < 64; i++) {
        TEST_SEED(i);
        double q[7], lean = i % 16 < 8 ? 0.4 : 0.499;
        scene s = leaning_scene(i % 2, i / 2 % 2, lean, 0.1 + 0.37 * i);
        s.o.accuracy = RB_ACCURACY_STRICT;
        memcpy(q, s.d->q, sizeof q);
        scene_run(&s, 0.1);
        int exact = 1, stands = 1;
        for (int k = 0; k < 6; k++) stands = stands && fabs(s.d->v[k]) <= 1e-11;
        for (int k = 0; k < 7; k++) stands = stands && fabs(s.d->q[k] - q[k]) <= 1e-12;
        stand += stands;
        for (int k = 0; k < 6; k++) exact = exact && s.d->v[k] == 0.0;
        still += exact;
        scene_free(&s);
    }
    CHECK(stand >= 62); /* two cylinders at 0.998 of their last angle tremble by 4 mm/s */
    CHECK(still >= 48); /* where the weight passes next to a border, rounding is left */
}

TEST(tips_beyond_it)
{
    for (int i = 0; i < 16; i++) {
        TEST_SEED(i);
        scene s = leaning_scene(i % 2, i / 2 % 2, 0.505, 0.1 + 0.37 * i);
        scene_run(&s, 1.0);
        CHECK(fabs(s.d->q[3]) < 0.999);
        scene_free(&s);
    }
}

/* What was set down softly comes to rest, not to a tremble. */
TEST(settles)
{
    for (int i = 0; i < 16; i++) {
        TEST_SEED(i);
        scene s = leaning_scene(i % 2, i / 2 % 2, 0.4, 0.2 + 0.41 * i);
        s.d->q[2] += 1e-4;
        scene_run(&s, 1.0);
        for (int k = 0; k < 6; k++) CHECK_NEAR(s.d->v[k], 0.0, 1e-11);
        scene_free(&s);
    }
}

TEST_MAIN(RUN(stands_to_the_last_degree), RUN(tips_beyond_it), RUN(settles))
