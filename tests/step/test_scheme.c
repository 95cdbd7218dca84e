/* How positions follow velocities: order and energy of the schemes. */
#include "step_support.h"

/* ---- contact-free: a quadratic energy is kept ---------------------------------------------------
 */

#define SPRINGS                                                                                    \
    "<mujoco><option timestep='0.01' gravity='0 0 0'/><worldbody>"                                 \
    "<body><joint type='slide' axis='1 0 0' stiffness='50'/><geom type='sphere' size='0.1' "       \
    "mass='1'/><body pos='1 0 0'><joint type='slide' axis='1 0 0' stiffness='20'/>"                \
    "<geom type='sphere' size='0.1' mass='2'/></body></body></worldbody></mujoco>"

static double energy(scene *s)
{
    rb_kinematics(s->m, s->d);
    rb_velocity(s->m, s->d);
    return rb_energy_kinetic(s->m, s->d) + rb_energy_potential(s->m, s->d);
}

TEST(a_quadratic_energy_stays_without_contact)
{
    const rb_scheme schemes[] = { RB_SCHEME_MOREAU_JEAN, RB_SCHEME_NODE };
    for (int k = 0; k < 2; k++) {
        scene s = scene_text(SPRINGS);
        s.o.scheme = schemes[k];
        s.d->q[0] = 0.3;
        s.d->v[1] = -1.0;
        double start = energy(&s);
        for (int i = 0; i < 2000; i++) {
            scene_step(&s);
            CHECK_NEAR(energy(&s), start, 1e-10 * start);
        }
        scene_free(&s);
    }
}

/* ---- sliding contact: order ---------------------------------------------------------------------
 */

/* A ball slides down a sphere without friction: (R + r) a'' = g sin a. */
#define HILL                                                                                       \
    "<mujoco><option timestep='0.01'/><worldbody><geom type='sphere' size='1' friction='0'/>"      \
    "<body pos='0 0 1.1'><freejoint/><geom type='sphere' size='0.1' friction='0'/></body>"         \
    "</worldbody></mujoco>"

static double angle_exact(double a, double time)
{
    enum { N = 20000 };
    double h = time / N, w = 0.0, k = 9.81 / 1.1;
    for (int i = 0; i < N; i++) { /* classical Runge-Kutta */
        double a1 = w, w1 = k * sin(a), a2 = w + 0.5 * h * w1, w2 = k * sin(a + 0.5 * h * a1);
        double a3 = w + 0.5 * h * w2, w3 = k * sin(a + 0.5 * h * a2);
        double a4 = w + h * w3, w4 = k * sin(a + h * a3);
        a += h / 6.0 * (a1 + 2.0 * a2 + 2.0 * a3 + a4);
        w += h / 6.0 * (w1 + 2.0 * w2 + 2.0 * w3 + w4);
    }
    return a;
}

/* Error of the angle after 0.3 s. */
static double slide_error(rb_scheme scheme, double h)
{
    scene s = scene_text(HILL);
    double a = 0.4;
    s.o.scheme = scheme;
    s.o.h = h;
    s.d->q[0] = 1.1 * sin(a);
    s.d->q[2] = 1.1 * cos(a);
    scene_run(&s, 0.3);
    double error = fabs(atan2(s.d->q[0], s.d->q[2]) - angle_exact(a, 0.3));
    CHECK(s.worst.penetration <= (scheme == RB_SCHEME_NODE ? scene_deep(&s) : 10.0 * h * h));
    scene_free(&s);
    return error;
}

/* Velocities of contact are those of the end of a step, normals those of its start: first order,
 * with a ninth of the error of q + h v+. The node rule is of second order. */
TEST(order_of_sliding_contact)
{
    double coarse = slide_error(RB_SCHEME_MOREAU_JEAN, 0.005);
    double fine = slide_error(RB_SCHEME_MOREAU_JEAN, 0.0025);
    CHECK(log2(coarse / fine) > 0.9 && log2(coarse / fine) < 1.1);
    CHECK(coarse < 4e-4);
    double printed = slide_error(RB_SCHEME_SEMI_IMPLICIT, 0.005);
    double half = slide_error(RB_SCHEME_SEMI_IMPLICIT, 0.0025);
    CHECK(log2(printed / half) > 0.9 && log2(printed / half) < 1.1);
    CHECK(coarse < printed / 8.0);
    double node = slide_error(RB_SCHEME_NODE, 0.005);
    CHECK_NEAR(log2(node / slide_error(RB_SCHEME_NODE, 0.0025)), 2.0, 0.2);
    CHECK(node < 0.1 * coarse);
}

/* ---- free motion: order -------------------------------------------------------------------------
 */

/* Angle of a pendulum after 1 s; it starts level. */
static double swing(rb_scheme scheme, double h)
{
    scene s = scene_text("<mujoco><worldbody><body><joint type='hinge' axis='0 1 0'/>"
                         "<geom type='sphere' size='0.01' mass='1' pos='0.5 0 0'/></body>"
                         "</worldbody></mujoco>");
    s.o.scheme = scheme;
    s.o.h = h;
    scene_run(&s, 1.0);
    double angle = s.d->q[0];
    scene_free(&s);
    return angle;
}

TEST(free_motion_is_of_second_order)
{
    const rb_scheme schemes[] = { RB_SCHEME_NODE, RB_SCHEME_MOREAU_JEAN, RB_SCHEME_SEMI_IMPLICIT };
    const double order[] = { 2.0, 2.0, 1.0 };
    for (int k = 0; k < 3; k++) {
        double a = swing(schemes[k], 0.01), b = swing(schemes[k], 0.005);
        double c = swing(schemes[k], 0.0025);
        CHECK_NEAR(log2(fabs((a - b) / (b - c))), order[k], 0.1);
    }
}

/* ---- impacts ------------------------------------------------------------------------------------
 */

/* A ball that lands sinks in by at most half of its way in a step, rests there, and is not pushed
 * out; with located impacts it does not sink in. */
TEST(moreau_jean_sinks_in_by_half_a_step_unless_located)
{
    const double h = 0.003, v = sqrt(2.0 * 9.81 * 1.0);
    for (int located = 0; located < 2; located++) {
        scene s = scene_text("<mujoco><worldbody><geom type='plane' size='5 5 1'/>"
                             "<body pos='0 0 1.1'><freejoint/><geom type='sphere' size='0.1'/>"
                             "</body></worldbody></mujoco>");
        s.o.scheme = RB_SCHEME_MOREAU_JEAN;
        s.o.stepper = located ? RB_STEPPER_LOCATED : RB_STEPPER_FIXED;
        s.o.h = h;
        scene_run(&s, 1.0);
        CHECK(s.d->v[2] == 0.0);
        CHECK(s.worst.penetration <= (located ? 1e-11 : 0.5 * h * v));
        CHECK_NEAR(s.d->q[2], 0.1, located ? 1e-11 : 0.5 * h * v);
        CHECK(s.worst.energy_created <= 1e-14);
        scene_free(&s);
    }
}

TEST_MAIN(RUN(a_quadratic_energy_stays_without_contact), RUN(order_of_sliding_contact),
          RUN(free_motion_is_of_second_order),
          RUN(moreau_jean_sinks_in_by_half_a_step_unless_located))
