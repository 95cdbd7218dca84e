/* What materials can say of friction, in motion: coefficients that depend on the speed against the
 * integrals of their equations, polygons against their support function, pairs against their geoms.
 */
#include "contact/contact.h"
#include "step_support.h"

#define G 9.81

/* A box of 8 kg on the floor, `custom` in its file. */
static scene sliding_box(const char *custom)
{
    char text[2048];
    snprintf(text, sizeof text,
             "<mujoco><option timestep='0.001'/><worldbody>"
             "<geom name='floor' type='plane' size='5 5 1' friction='0.3'/>"
             "<body pos='0 0 0.1'><freejoint/><geom name='box' type='box' size='0.1 0.1 0.1' "
             "friction='0.3'/></body></worldbody><custom>%s</custom></mujoco>",
             custom);
    return scene_text(text);
}

/* ---- by speed -----------------------------------------------------------------------------------
 */

/* dv/dt = -g (mu + c v): t = ln(1 + c v0/mu)/(g c), x = v0/(g c) - mu/(g c^2) ln(1 + c v0/mu) */
TEST(viscous_friction_stops_where_its_integral_says)
{
    const char *const names[] = { "cone", "anitescu-potra", "box", "hybrid-friction" };
    double mu = 0.3, c = 0.15, v0 = 3.0, w = log(1.0 + c * v0 / mu);
    double x = v0 / (G * c) - mu / (G * c * c) * w, t = w / (G * c);
    for (int k = 0; k < 4; k++) {
        double error[2] = { 0.0 };
        for (int half = 0; half < 2; half++) {
            scene s = sliding_box("<numeric name='rb.friction_viscous' data='0.15'/>");
            s.o.formulation = rb_formulation_find(names[k]);
            s.o.h = half ? 0.0005 : 0.001;
            s.d->v[0] = v0;
            double stopped = 0.0;
            while (s.d->time < t + 0.05) {
                scene_step(&s);
                if (stopped == 0.0 && fabs(s.d->v[0]) < 1e-6) stopped = s.d->time;
            }
            error[half] = fabs(s.d->q[0] - x);
            CHECK_NEAR(stopped, t, 3.0 * s.o.h);
            CHECK(error[half] <= v0 * s.o.h);
            CHECK_NEAR(s.d->q[2], 0.1, 1e-9);
            scene_free(&s);
        }
        CHECK(error[1] < 0.6 * error[0]); /* first order */
    }
}

/* The curve of Stribeck by quadrature: x = int v dv / (g mu(v)). */
TEST(stribeck_friction_stops_where_its_integral_says)
{
    double v0 = 1.5, x = 0.0;
    enum { N = 20000 };
    for (int i = 0; i < N; i++) {
        double v = v0 * (i + 0.5) / N, mu = 0.3 + 0.6 * exp(-pow(v / 0.5, 2.0));
        x += v * (v0 / N) / (G * mu);
    }
    for (int half = 0; half < 2; half++) {
        scene s = sliding_box("<numeric name='rb.friction_static' data='0.9'/>"
                              "<numeric name='rb.stribeck_speed' data='0.5'/>");
        s.o.h = half ? 0.0005 : 0.001;
        s.d->v[0] = v0;
        scene_run(&s, 0.6);
        CHECK(s.d->v[0] == 0.0);
        CHECK_NEAR(s.d->q[0], x, v0 * s.o.h);
        scene_free(&s);
    }
}

/* At rest the static coefficient holds to the last millionth, with a curve as without. */
TEST(stribeck_friction_holds_at_rest)
{
    for (int k = 0; k < 2; k++) {
        scene s = sliding_box("<numeric name='rb.friction_static' data='0.9'/>"
                              "<numeric name='rb.stribeck_speed' data='0.01'/>"
                              "<numeric name='rb.friction_viscous' data='2'/>");
        double slope = 0.9 * (k ? 1.0 + 1e-6 : 1.0 - 1e-6);
        s.m->option.gravity[0] = slope * G;
        scene_run(&s, 0.05);
        CHECK(k ? s.d->v[0] > 0.0 : s.d->v[0] == 0.0 && s.d->q[0] == 0.0);
        scene_free(&s);
    }
}

/* Without a curve too, also where the load is so uneven that single corners are at their limits,
 * and under every formulation that knows a static coefficient and is exact about rest. */
TEST(static_friction_holds_at_rest)
{
    const char *const names[] = { "cone", "stewart-trinkle", "anitescu-potra", "jain" };
    const double slopes[] = { 0.5, 0.85, 0.9 * (1.0 - 1e-6), 0.9 * (1.0 + 1e-6) };
    for (int k = 0; k < 16; k++) {
        scene s = sliding_box("<numeric name='rb.friction_static' data='0.9'/>");
        s.o.formulation = rb_formulation_find(names[k % 4]);
        s.m->option.gravity[0] = slopes[k / 4] * G;
        scene_run(&s, 0.05);
        CHECK(slopes[k / 4] > 0.9 ? s.d->v[0] > 0.1 : s.d->v[0] == 0.0 && s.d->q[0] == 0.0);
        scene_free(&s);
    }
}

/* Below the minimum of the curve a pulled block creeps evenly, where the curve falls it does not:
 * with a viscous share the steady speed under a force is where mu(v) = force / weight. */
TEST(a_pull_and_viscous_friction_have_a_steady_speed)
{
    scene s = sliding_box("<numeric name='rb.friction_viscous' data='0.25'/>");
    s.d->tau[0] = 0.5 * 8.0 * G; /* mu(v) = 0.3 + v/4 = 0.5 */
    s.d->v[0] = 0.1;
    scene_run(&s, 6.0);
    CHECK_NEAR(s.d->v[0], 0.8, 1e-5);
    scene_free(&s);
}

/* ---- polygons ----------------------------------------------------------------------------------
 */

#define ASYMMETRIC "<numeric name='rb.friction_polygon/floor' data='0.2 0 0 0.4 -0.6 0 0 -0.1'/>"

/* Sliding along +x the floor may answer with -0.6 p_n, along -x with 0.2, along y with 0.1 and 0.4:
 * like the pile of a carpet. */
TEST(a_carpet_brakes_by_direction)
{
    const double along[4][2] = { { 1, 0 }, { -1, 0 }, { 0, 1 }, { 0, -1 } };
    const double mu[4] = { 0.6, 0.2, 0.1, 0.4 };
    for (int k = 0; k < 4; k++) {
        scene s = sliding_box(ASYMMETRIC);
        s.o.formulation = rb_formulation_find(k % 2 ? "stewart-trinkle" : "anitescu-potra");
        s.d->v[0] = 2.0 * along[k][0];
        s.d->v[1] = 2.0 * along[k][1];
        scene_run(&s, 0.1);
        double v = s.d->v[0] * along[k][0] + s.d->v[1] * along[k][1];
        CHECK_NEAR(v, 2.0 - mu[k] * G * 0.1, 1e-9);
        CHECK(s.worst.energy_created <= 1e-9 && s.worst.residual <= 1e-9);
        scene_free(&s);
    }
}

/* The same carpet glued below the box and not on the floor: the box is geom 2, and what its surface
 * exerts on the floor is 0.6 along -x at most, so the box may be pushed along +x with 0.6. */
TEST(a_carpet_on_the_other_body_is_its_mirror_image)
{
    scene s =
        sliding_box("<numeric name='rb.friction_polygon/box' data='0.2 0 0 0.4 -0.6 0 0 -0.1'/>");
    s.o.formulation = rb_formulation_find("anitescu-potra");
    s.d->v[0] = -2.0;
    scene_run(&s, 0.1);
    CHECK_NEAR(s.d->v[0], -2.0 + 0.6 * G * 0.1, 1e-9);
    scene_free(&s);
}

TEST(only_polyhedral_formulations_take_polygons)
{
    const char *const names[] = { "cone", "box", "phantom", "hybrid-friction" };
    for (int k = 0; k < 4; k++) {
        scene s = sliding_box(ASYMMETRIC);
        rb_error err = { 0 };
        s.o.formulation = rb_formulation_find(names[k]);
        CHECK_INT(rb_step(s.m, s.d, &s.o, NULL, &err), RB_UNSUPPORTED);
        CHECK_CONTAINS(err.text, "friction polygons need stewart-trinkle");
        s.o.friction = 0.5; /* which replaces it */
        CHECK_INT(rb_step(s.m, s.d, &s.o, NULL, &err), RB_OK);
        scene_free(&s);
    }
}

/* ---- pairs --------------------------------------------------------------------------------------
 */

/* Two boxes on one floor, alike but for what is said of one of them and the floor. */
TEST(a_pair_has_a_friction_of_its_own)
{
    scene s = scene_text(
        "<mujoco><option timestep='0.001'/><worldbody>"
        "<geom name='the/floor' type='plane' size='5 5 1' friction='0.3'/>"
        "<body pos='0 0 0.1'><freejoint/><geom name='a' type='box' size='0.1 0.1 0.1'/></body>"
        "<body pos='0 1 0.1'><freejoint/><geom name='b/2' type='box' size='0.1 0.1 0.1' "
        "friction='0.3'/></body></worldbody><custom>"
        "<numeric name='rb.friction' data='0.5'/>"
        "<numeric name='rb.friction/b/2/the/floor' data='0.2'/>"
        "<numeric name='rb.restitution/a/the/floor' data='0.25'/></custom></mujoco>");
    s.d->v[0] = s.d->v[6] = 2.0;
    scene_run(&s, 0.1);
    CHECK_NEAR(s.d->v[0], 2.0 - 0.5 * G * 0.1, 1e-9);
    CHECK_NEAR(s.d->v[6], 2.0 - 0.2 * G * 0.1, 1e-9);
    scene_free(&s);
}

/* What is said of a pair neither makes it meet nor changes its condim. */
TEST(a_material_of_a_pair_is_no_contact_pair)
{
    scene s = scene_text(
        "<mujoco><option timestep='0.001'/><worldbody>"
        "<geom name='f' type='plane' size='5 5 1'/>"
        "<body pos='0 0 0.1'><freejoint/><geom name='a' type='sphere' size='0.1' contype='0' "
        "conaffinity='0'/></body><body pos='1 0 0.1'><freejoint/><geom name='b' type='sphere' "
        "size='0.1' condim='6'/></body></worldbody><custom>"
        "<numeric name='rb.friction/a/f' data='0.2'/>"
        "<numeric name='rb.friction_roll/b/f' data='0.05'/></custom></mujoco>");
    rb_material x;
    int owner, b = rb_model_find(s.m, RB_KIND_GEOM, "b"), f = rb_model_find(s.m, RB_KIND_GEOM, "f");
    CHECK_INT(rb_pair_material(s.m, f, b, &s.o, &x, &owner), 6);
    CHECK(x.friction_roll == 0.05 && x.friction == 1.0);
    scene_run(&s, 0.1);
    CHECK(s.d->q[2] < 0.1 - 0.04); /* falls through */
    CHECK_NEAR(s.d->q[9], 0.1, 1e-12);
    scene_free(&s);
}

/* An explicit pair, then what is said of the two; the grain of a pair is in the frame of the geom
 * it names first. */
TEST(the_order_of_what_is_said_of_a_pair)
{
    scene s = scene_text(
        "<mujoco><worldbody><geom name='f' type='plane' size='5 5 1' friction='0.3'/>"
        "<body pos='0 0 0.1'><freejoint/><geom name='a' type='sphere' size='0.1'/></body>"
        "</worldbody><contact><pair geom1='a' geom2='f' friction='0.7 0.7 0.1' condim='4'/>"
        "</contact><custom><numeric name='rb.friction_static/f/a' data='0.9'/>"
        "<numeric name='rb.friction_across/a/f' data='0.1'/>"
        "<numeric name='rb.grain/a/f' data='0 1 0'/>"
        "<numeric name='rb.relax_stiffness/a/f' data='1e6'/></custom></mujoco>");
    rb_material x;
    int owner, a = rb_model_find(s.m, RB_KIND_GEOM, "a"), f = rb_model_find(s.m, RB_KIND_GEOM, "f");
    CHECK_INT(rb_pair_material(s.m, f, a, &s.o, &x, &owner), 4);
    CHECK(x.friction == 0.7 && x.friction_static == 0.9 && x.friction_torsion == 0.1);
    CHECK(x.friction_across == 0.1 && x.grain[1] == 1.0 && x.relax_stiffness == 1e6);
    CHECK_INT(owner, a);
    CHECK_INT(s.m->npair, 2);
    scene_free(&s);
}

TEST_MAIN(RUN(viscous_friction_stops_where_its_integral_says),
          RUN(stribeck_friction_stops_where_its_integral_says),
          RUN(stribeck_friction_holds_at_rest), RUN(static_friction_holds_at_rest),
          RUN(a_pull_and_viscous_friction_have_a_steady_speed), RUN(a_carpet_brakes_by_direction),
          RUN(a_carpet_on_the_other_body_is_its_mirror_image),
          RUN(only_polyhedral_formulations_take_polygons), RUN(a_pair_has_a_friction_of_its_own),
          RUN(a_material_of_a_pair_is_no_contact_pair), RUN(the_order_of_what_is_said_of_a_pair))
