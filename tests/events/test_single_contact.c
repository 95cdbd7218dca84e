/* Impacts at one point within `located` steps: the same as the impact alone (S.46), also where the
 * slip turns or stops on the way; several points at once are left to the problem of two stages. */
#include "step_support.h"

#include "rattleback/impact.h"

#include <math.h>

#define SIDE 0.1  /* [m] half side of the cube              */
#define STEP 1e-7 /* [s] short: nothing turns before it hits */

static const char cube[] =
    "<mujoco><option gravity='0 0 0'/><worldbody><geom type='plane' size='0 0 1' friction='%s'/>"
    "<body pos='0 0 1'><freejoint/><geom type='box' size='.1 .1 .1' mass='2' friction='%s'/></body>"
    "</worldbody></mujoco>";

static scene make(const char *friction)
{
    static char text[512];
    snprintf(text, sizeof text, cube, friction, friction);
    scene s = scene_text(text);
    s.o.stepper = RB_STEPPER_LOCATED;
    s.o.h = STEP;
    return s;
}

/* Turns the cube at random, one corner clearly the lowest, and throws it down; the height is such
 * that the corner meets the ground within the step. Returns the corner from the centre. */
static void throw_cube(scene *s, rb_rng *rng, double r[3])
{
    double *q = s->d->q, *v = s->d->v, low[2];
    do {
        double length = 0.0;
        for (int i = 3; i < 7; i++) q[i] = rb_rng_uniform(rng, -1.0, 1.0);
        for (int i = 3; i < 7; i++) length += q[i] * q[i];
        for (int i = 3; i < 7; i++) q[i] /= sqrt(length);
        q[0] = q[1] = q[2] = 0.0;
        rb_kinematics(s->m, s->d);
        low[0] = low[1] = INFINITY;
        for (int k = 0; k < 8; k++) {
            const double *R = s->d->link_R + 9;
            double x[3] = { k & 1 ? SIDE : -SIDE, k & 2 ? SIDE : -SIDE, k & 4 ? SIDE : -SIDE },
                   y[3];
            for (int i = 0; i < 3; i++)
                y[i] = R[3 * i] * x[0] + R[3 * i + 1] * x[1] + R[3 * i + 2] * x[2];
            if (y[2] < low[0]) {
                low[1] = low[0];
                low[0] = y[2];
                memcpy(r, y, sizeof y);
            } else {
                low[1] = fmin(low[1], y[2]);
            }
        }
    } while (low[1] - low[0] < 0.02);
    for (int i = 0; i < 6; i++) v[i] = rb_rng_uniform(rng, i < 3 ? -1.0 : -5.0, i < 3 ? 1.0 : 5.0);
    v[2] -= 3.0;
    rb_kinematics(s->m, s->d);
    rb_velocity(s->m, s->d);
    const double *w = s->d->link_w + 3;
    double down = v[2] + w[0] * r[1] - w[1] * r[0];
    q[2] = -low[0] - 0.3 * STEP * down;
}

/* The cube after the impact alone: v, then w in world axes. */
static rb_impact_result alone(const scene *s, const double r[3], double mu, double e,
                              rb_impact_body *b)
{
    const double n[3] = { 0.0, 0.0, 1.0 }, iI = 1.0 / (2.0 * 2.0 / 3.0 * SIDE * SIDE);
    rb_impact_body ground = { .im = 0.0 };
    rb_impact in = { .mu = mu, .e = e, .law = s->o.law };
    rb_impact_result out;
    double R[9], p[3];
    *b = (rb_impact_body){ .im = 0.5 };
    for (int i = 0; i < 3; i++) {
        b->r[i] = r[i];
        b->v[i] = s->d->v[i];
        b->w[i] = s->d->link_w[3 + i];
        b->iI[4 * i] = iI;
    }
    rb_impact_frame(n, R);
    rb_impact_bodies(&ground, b, R, &in);
    CHECK(rb_impact_solve(&in, &out) == RB_OK);
    for (int i = 0; i < 3; i++) p[i] = R[i] * out.p[0] + R[3 + i] * out.p[1] + R[6 + i] * out.p[2];
    rb_impact_push(b, p);
    return out;
}

TEST(a_corner_that_hits_is_the_impact_alone)
{
    static const rb_restitution_law laws[] = { RB_POISSON, RB_NEWTON, RB_STRONGE };
    scene s = make("0.4");
    rb_rng rng = rb_rng_make(5);
    int changes = 0;
    s.o.restitution = 0.4;
    for (int k = 0; k < 300; k++) {
        double r[3] = { 0.0, 0.0, 0.0 };
        rb_impact_body b;
        rb_step_info info;
        rb_error err = { 0 };
        rb_data_reset(s.m, s.d);
        s.o.law = laws[k % 3];
        throw_cube(&s, &rng, r);
        rb_impact_result out = alone(&s, r, 0.4, 0.4, &b);
        changes += out.nphase > 2;
        CHECK_INT(rb_step(s.m, s.d, &s.o, &info, &err), RB_OK);
        rb_kinematics(s.m, s.d);
        rb_velocity(s.m, s.d);
        CHECK(info.impacts == 1 && info.residual < 1e-9);
        for (int i = 0; i < 3; i++) {
            CHECK_NEAR(s.d->v[i], b.v[i], 1e-5);
            CHECK_NEAR(s.d->link_w[3 + i], b.w[i], 1e-4);
        }
    }
    CHECK(changes > 60); /* stops, sticks or turns back on the way */
    scene_free(&s);
}

/* Two corners at once are no impact at one point: both of them end their approach. */
TEST(an_edge_that_hits_is_left_to_the_two_stages)
{
    scene s = make("0.4");
    rb_error err = { 0 };
    const double c = cos(0.15), n = sin(0.15), low = -SIDE * (cos(0.3) + sin(0.3));
    const double q[7] = { 0.0, 0.0, -low + 0.5 * STEP, c, n, 0.0, 0.0 };
    s.o.restitution = 0.4;
    memcpy(s.d->q, q, sizeof q);
    s.d->v[2] = -1.0;
    s.d->v[0] = 0.3;
    CHECK_INT(rb_step(s.m, s.d, &s.o, NULL, &err), RB_OK);
    rb_kinematics(s.m, s.d);
    rb_velocity(s.m, s.d);
    const double *R = s.d->link_R + 9;
    for (int side = -1; side <= 1; side += 2) {
        double x[3] = { side * SIDE, -SIDE, -SIDE }, at[3], v[6];
        for (int i = 0; i < 3; i++)
            at[i] = q[i] + R[3 * i] * x[0] + R[3 * i + 1] * x[1] + R[3 * i + 2] * x[2];
        rb_point_velocity(s.m, s.d, 1, at, v);
        CHECK(v[5] > 0.0);
    }
    scene_free(&s);
}

TEST_MAIN(RUN(a_corner_that_hits_is_the_impact_alone),
          RUN(an_edge_that_hits_is_left_to_the_two_stages))
