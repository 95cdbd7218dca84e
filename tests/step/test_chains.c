/* Chains in contact: what the node rule makes of their energy, and that it is told. */
#include "step_support.h"
#include "test.h"

#include "base/constants.h"
#include "contact/contact.h"
#include "math/vec3.h"
#include "rattleback/dynamics.h"

static double energy(const rb_model *m, rb_data *d)
{
    rb_kinematics(m, d);
    rb_velocity(m, d);
    return rb_energy_kinetic(m, d) + rb_energy_potential(m, d);
}

/* ---- energy -----------------------------------------------------------------------------------
 */

typedef struct fall {
    double made;   /* largest rise of the energy above its least value so far      */
    double lost;   /* before the first contact; both relative to n m g 3 m         */
    double untold; /* largest change in a step that its info does not tell         */
    int touching;  /* steps with contact                                           */
} fall;

/* The measure of bench/peers: a chain of n spheres of 1 kg, 6 m long, falls from the horizontal. */
static fall drop(const char *name, int n, double time)
{
    fall x = { 0 };
    scene s = scene_file(name);
    double scale = n * 9.8 * 3.0, start, least, before;
    start = least = before = energy(s.m, s.d);
    while (s.d->time < time - 5e-4) {
        scene_step(&s);
        const rb_step_info *info = &s.info;
        double now = energy(s.m, s.d), told = info->energy_created + info->energy_smooth;
        x.untold = fmax(x.untold, fabs(now - before - told) / scale);
        before = now;
        least = fmin(least, now);
        x.made = fmax(x.made, (now - least) / scale);
        x.touching += info->active > 0;
        if (x.touching == 0) x.lost = fmax(x.lost, (start - now) / scale);
        CHECK(info->penetration <= scene_deep(&s));
    }
    printf("%s: made %.4f %%, lost %.4f %%, untold %.4f %%, %d steps with contact\n", name,
           100.0 * x.made, 100.0 * x.lost, 100.0 * x.untold, x.touching);
    scene_free(&s);
    return x;
}

/* Moved by h v+ while an impulse acts, 30 links made 1.2 % and 60 links 37 %. Where a repair ended
 * without the impulses of the round before but with what they had done to the velocity, 240 links
 * made 0.84 % in a step that nothing told.
 *
 * Which impacts there are is decided by rounding: before those in slow steps and in parts of
 * divided ones were told, six starts of 60 links from 10 m that differ by 1e-7 missed 0.03
 * to 0.47 % in a step.
 *
 * Made at 2, 1 and 0.5 ms, in the order of the list: 0.027, 0.004, 0.001 %; 0.059, 0.062, 0.060 %;
 * 0.24, 0.042, 0.044 %; 0.147, 0.149, 0.120 %. */
TEST(chains_on_floor_and_wall_make_little_energy)
{
    static const struct {
        const char *name;
        int n;
        double time, untold;
    } falls[] = { { "peers/pendulum_30_10.xml", 30, 2.0, 2e-4 },
                  { "peers/pendulum_30_5.xml", 30, 1.5, 2e-4 },
                  { "peers/pendulum_60_10.xml", 60, 1.5, 5e-5 },
                  { "peers/pendulum_60_5.xml", 60, 1.2, 3e-4 } };
    int touching = 0;
    for (size_t k = 0; k < sizeof falls / sizeof *falls; k++) {
        fall x = drop(falls[k].name, falls[k].n, falls[k].time);
        CHECK(x.made < 2.5e-3);
        CHECK(x.lost < 1e-4);
        CHECK(x.untold < falls[k].untold);
        CHECK(x.touching >= 5);
        touching += x.touching;
    }
    CHECK(touching >= 100); /* after its first impact a chain is chaos: rounding decides on each */
}

TEST_MAIN(RUN(chains_on_floor_and_wall_make_little_energy))
