/* Time of impact: against dense looking and bisection, by hand, plates and near misses. */
#include "toi_cases.h"

#include "collide/ballistic.h"
#include "math/top.h"
#include "rattleback/dynamics.h"
#include "rattleback/impact.h"
#include "tree_support.h"

/* ---- random pairs ------------------------------------------------------------------------------
 */

TEST(never_late_and_at_most_a_nanosecond_early)
{
    rb_model *hulls = toi_hulls();
    CHECK(hulls != NULL);
    int hits = 0, misses = 0, steps = 0;
    for (uint64_t seed = 1; seed <= 400; seed++) {
        TEST_SEED(seed);
        toi_case c;
        rb_toi toi;
        toi_case_make(hulls, seed, &c);
        CHECK_INT(rb_toi_shapes(&c.shape[0], &c.flight[0], &c.shape[1], &c.flight[1], 1.0, &toi),
                  RB_OK);
        double slow = toi_case_slow(&c, 1.0, 300);
        if (toi.outcome == RB_TOI_OVERLAP) {
            CHECK(toi_case_gap(&c, 0.0) <= 1e-12);
            continue;
        }
        steps += toi.steps;
        CHECK(toi.outcome != RB_TOI_GRAZES);
        CHECK(toi.time <= slow);
        if (toi.outcome == RB_TOI_NONE) {
            misses++;
            CHECK(isinf(slow));
            continue;
        }
        hits++;
        CHECK(toi.late - toi.time <= 1.01e-9);
        CHECK(toi_case_gap(&c, toi.late) <= 1e-12);
        if (isfinite(slow)) CHECK_NEAR(toi.time, slow, 1.01e-9);
    }
    CHECK(hits > 100 && misses > 100);
    CHECK(steps < 400 * 15);
    rb_model_free(hulls, NULL);
}

/* ---- by hand ----------------------------------------------------------------------------------
 */

static const double upright[9] = { 1, 0, 0, 0, 1, 0, 0, 0, 1 };
static const rb_ballistic still = { .v = { 0, 0, 0 } };

static rb_shape make(int type, const double size[3], const double p[3])
{
    return (rb_shape){ .type = type, .size = size, .p = p, .R = upright, .asset = -1 };
}

static rb_toi meet(const rb_shape *a, const rb_ballistic *fa, const rb_shape *b,
                   const rb_ballistic *fb, double horizon)
{
    rb_toi toi;
    CHECK_INT(rb_toi_shapes(a, fa, b, fb, horizon, &toi), RB_OK);
    return toi;
}

TEST(a_stone_falls)
{
    double ball[3] = { 0.1, 0, 0 }, ground[3] = { 0, 0, 0 }, at[3] = { 1, 2, 5 }, zero[3] = { 0 };
    rb_shape stone = make(RB_GEOM_SPHERE, ball, at), plane = make(RB_GEOM_PLANE, ground, zero);
    rb_ballistic f = { .c = { 1, 2, 5 }, .v = { 3, 0, 2 }, .a = { 0, 0, -9.81 }, .w = { 4, 5, 6 } };
    rb_toi toi = meet(&stone, &f, &plane, &still, 10.0);
    double t = (2.0 + sqrt(4.0 + 2.0 * 9.81 * 4.9)) / 9.81;
    CHECK_INT(toi.outcome, RB_TOI_HIT);
    CHECK(toi.time <= t);
    CHECK_NEAR(toi.time, t, 1e-9);
    CHECK_NEAR(toi.at.normal[2], -1.0, 1e-15); /* from the stone to the ground */
    toi = meet(&stone, &f, &plane, &still, 1.0);
    CHECK_INT(toi.outcome, RB_TOI_NONE);
    CHECK(isinf(toi.time));
}

/* 100 m/s, 1 cm, a plate of 1 um: straight at it, askew, and 1 mm beside its edge. */
TEST(thin_plates_stop_fast_spheres)
{
    double ball[3] = { 0.005, 0, 0 }, plate[3] = { 0.2, 0.2, 0.5e-6 }, zero[3] = { 0, 0, 0 };
    for (int k = 0; k < 200; k++) {
        double x = -0.19 + 0.38 * k / 199.0, at[3] = { x, 0.01 * (k % 7), 1.0 };
        rb_shape a = make(RB_GEOM_SPHERE, ball, at), b = make(RB_GEOM_BOX, plate, zero);
        rb_ballistic f = { .c = { at[0], at[1], at[2] }, .v = { 0, 0, -100.0 } };
        rb_toi toi = meet(&a, &f, &b, &still, 0.05);
        CHECK_INT(toi.outcome, RB_TOI_HIT);
        CHECK_NEAR(toi.time, (1.0 - 0.005 - 0.5e-6) / 100.0, 1e-9);
    }
    double past[3] = { 0.2 + 0.005 + 1e-3, 0, 1.0 };
    rb_shape a = make(RB_GEOM_SPHERE, ball, past), b = make(RB_GEOM_BOX, plate, zero);
    rb_ballistic f = { .c = { past[0], past[1], past[2] }, .v = { 0, 0, -100.0 } };
    rb_toi toi = meet(&a, &f, &b, &still, 0.05);
    CHECK_INT(toi.outcome, RB_TOI_NONE);
    CHECK(toi.steps < 40);
}

/* A rod of half length 1 turns about its centre above a table at distance d: sin(w t) = d. */
TEST(a_rod_turns_into_a_table)
{
    double rod[3] = { 0.01, 1.0, 0 }, zero[3] = { 0 }, below[3] = { 0, 0, -0.51 };
    const double lying[9] = { 0, 0, 1, 0, 1, 0, -1, 0, 0 };
    rb_shape a = make(RB_GEOM_CAPSULE, rod, zero), b = make(RB_GEOM_PLANE, zero, below);
    a.R = lying;
    for (int k = 1; k <= 20; k++) {
        rb_ballistic f = { .w = { 0, 0.5 * k, 0 } };
        rb_toi toi = meet(&a, &f, &b, &still, 10.0);
        CHECK_INT(toi.outcome, RB_TOI_HIT);
        CHECK_NEAR(toi.time, asin(0.5) / (0.5 * k), 1e-9);
    }
}

TEST(overlap_touch_and_bad_numbers)
{
    double ball[3] = { 0.5, 0, 0 }, zero[3] = { 0 }, near[3] = { 0.9, 0, 0 };
    rb_shape a = make(RB_GEOM_SPHERE, ball, zero), b = make(RB_GEOM_SPHERE, ball, near);
    rb_ballistic f = { .v = { 1, 0, 0 } };
    rb_toi toi = meet(&a, &f, &b, &still, 1.0);
    CHECK_INT(toi.outcome, RB_TOI_OVERLAP);
    CHECK_NEAR(toi.time, 0.0, 0.0);

    f.v[1] = NAN;
    CHECK_INT(rb_toi_shapes(&a, &f, &b, &still, 1.0, &toi), RB_BAD_INPUT);
    f.v[1] = 0.0;
    CHECK_INT(rb_toi_shapes(&a, &f, &b, &still, INFINITY, &toi), RB_BAD_INPUT);
    CHECK_INT(rb_toi_shapes(&a, &f, &b, &still, -1.0, &toi), RB_BAD_INPUT);
    double far[3] = { 1e300, 0, 0 }, half[3] = { 0.5, 0.5, 0.5 }; /* its square is no number */
    rb_shape lost = make(RB_GEOM_BOX, half, far), can = make(RB_GEOM_CYLINDER, half, zero);
    CHECK_INT(rb_toi_shapes(&can, &f, &lost, &still, 1.0, &toi), RB_BAD_INPUT);
    b.type = RB_GEOM_PLANE;
    rb_ballistic turning = { .w = { 0, 0, 1 } };
    CHECK_INT(rb_toi_shapes(&a, &f, &b, &turning, 1.0, &toi), RB_UNSUPPORTED);
    b.type = RB_GEOM_MESH;
    b.surface = 1; /* its hull would be hit too early */
    CHECK_INT(rb_toi_shapes(&a, &f, &b, &still, 1.0, &toi), RB_UNSUPPORTED);
}

/* Two spheres that pass at a distance of exactly the sum of their radii: no endless search. */
TEST(grazing_ends)
{
    double ball[3] = { 0.5, 0, 0 }, zero[3] = { 0 }, far[3] = { 3, 1, 0 };
    for (int k = -3; k <= 3; k++) {
        far[1] = 1.0 + 1e-9 * k;
        rb_shape a = make(RB_GEOM_SPHERE, ball, zero), b = make(RB_GEOM_SPHERE, ball, far);
        rb_ballistic f = { .v = { 1, 0, 0 } };
        rb_toi toi = meet(&a, &f, &b, &still, 10.0);
        if (k < 0) CHECK_INT(toi.outcome, RB_TOI_HIT);
        if (k > 0) CHECK_INT(toi.outcome, RB_TOI_NONE);
        CHECK(k > 0 || toi.time <= 3.0 + 1e-9);
    }
}

/* Spins do not matter to a ball, nor to a rod that is farther away than it is long; one that
 * sweeps past something ends, and says that it did not get to the end. */
TEST(fast_spins)
{
    double ball[3] = { 0.1, 0, 0 }, rod[3] = { 0.01, 1, 0 }, zero[3] = { 0 }, high[3] = { 0, 0, 1 };
    double clear[3] = { 0, 0, 1.02 }, near[3] = { 1.005, 0, 0 };
    rb_shape floor = make(RB_GEOM_PLANE, zero, zero), a = make(RB_GEOM_SPHERE, ball, high);
    rb_ballistic f = { .c = { 0, 0, 1 }, .v = { 0, 0, -1 }, .w = { 1e4, 1e4, 0 } };
    rb_toi toi = meet(&floor, &still, &a, &f, 2.0);
    CHECK_INT(toi.outcome, RB_TOI_HIT);
    CHECK_NEAR(toi.time, 0.9, 1e-8);
    CHECK(toi.steps < 20);
    a = make(RB_GEOM_CAPSULE, rod, clear);
    f = (rb_ballistic){ .c = { 0, 0, 1.02 }, .w = { 1e3, 0, 0 } };
    CHECK_INT(meet(&floor, &still, &a, &f, 1.0).outcome, RB_TOI_NONE);
    a = make(RB_GEOM_CAPSULE, rod, zero);
    f = (rb_ballistic){ .w = { 1e4, 0, 0 } };
    rb_shape peg = make(RB_GEOM_SPHERE, ball, near);
    toi = meet(&peg, &still, &a, &f, 1.0);
    CHECK(toi.outcome == RB_TOI_NONE || toi.outcome == RB_TOI_UNFINISHED);
    CHECK(toi.outcome == RB_TOI_NONE || toi.at.gap > 0.01);
}

/* ---- models ------------------------------------------------------------------------------------
 */

/* Least gap between any two geoms that rb_collide lets meet, joints carried on to time t. */
static double model_gap(const rb_model *m, rb_data *d, const double *q0, double t)
{
    static rb_contact contacts[4096];
    int n = 0;
    double least = INFINITY;
    rb_integrate(m, q0, d->v, t, d->q);
    rb_kinematics(m, d);
    rb_velocity(m, d);
    rb_frames(m, d);
    rb_error err = { 0 };
    CHECK_INT(rb_collide(m, d, 1e-3, INFINITY, 4096, contacts, &n, &err), RB_OK);
    for (int i = 0; i < n; i++) least = fmin(least, contacts[i].at.gap);
    return least;
}

/* A chain of capsules above a plane, all joints turning: against dense looking. */
TEST(links_meet_the_ground)
{
    int hits = 0;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        TEST_SEED(seed);
        rb_rng rng = rb_rng_make(seed);
        rb_spec *spec = rb_spec_new(NULL);
        rb_error err = { 0 };
        rb_geom_def floor = rb_geom_default();
        floor.type = RB_GEOM_PLANE;
        CHECK(rb_spec_add_geom(spec, &floor, &err) >= 0);
        int parent = 0;
        for (int k = 0; k < 4; k++) {
            rb_body_def b = rb_body_default();
            rb_joint_def j = rb_joint_default();
            rb_geom_def g = rb_geom_default();
            b.parent = parent;
            b.pose.pos[0] = k ? 0.4 : 0.0;
            b.pose.pos[2] = k ? 0.0 : 1.0;
            parent = rb_spec_add_body(spec, &b, &err);
            j.body = parent;
            j.type = k == 2 ? RB_JOINT_SLIDE : RB_JOINT_HINGE;
            tree_direction(&rng, j.axis);
            for (int i = 0; i < 3; i++) j.pos[i] = rb_rng_uniform(&rng, -0.05, 0.05);
            CHECK(rb_spec_add_joint(spec, &j, &err) >= 0);
            g.body = parent;
            g.type = k % 2 ? RB_GEOM_BOX : RB_GEOM_CAPSULE;
            g.size[0] = 0.05;
            g.size[1] = 0.1;
            g.size[2] = 0.05;
            g.pose.pos[0] = 0.2;
            CHECK(rb_spec_add_geom(spec, &g, &err) >= 0);
        }
        rb_model *m = rb_spec_compile(spec, NULL, &err);
        CHECK(m != NULL);
        rb_data *d = rb_data_new(m, NULL);
        double q0[4];
        memcpy(q0, d->q, sizeof q0);
        for (int i = 0; i < 4; i++) d->v[i] = rb_rng_uniform(&rng, -4.0, 4.0);
        rb_kinematics(m, d);
        rb_velocity(m, d);
        rb_frames(m, d);
        rb_impact_time next;
        CHECK_INT(rb_impact_predict(m, d, 1.0, &next, &err), RB_OK);
        CHECK(memcmp(d->q, q0, sizeof q0) == 0);
        CHECK(next.pairs > 3);

        double lo = 0.0, hit = INFINITY;
        if (next.overlaps == 0) {
            for (int k = 0; k <= 1000 && isinf(hit); k++) {
                double t = 1e-3 * k;
                if (model_gap(m, d, q0, t) > 0.0)
                    lo = t;
                else
                    hit = t;
            }
            for (int i = 0; i < 50 && isfinite(hit); i++) {
                double t = 0.5 * (lo + hit);
                if (model_gap(m, d, q0, t) > 0.0)
                    lo = t;
                else
                    hit = t;
            }
            CHECK(next.toi.time <= hit);
            if (isfinite(hit)) CHECK_NEAR(next.toi.time, hit, 1.01e-9);
            hits += isfinite(hit);
        }
        rb_data_free(d);
        rb_model_free(m, NULL);
        rb_spec_free(spec);
    }
    CHECK(hits > 10);
}

static int add_body(rb_spec *spec, rb_geom_type type, const double size[3], const double pos[3])
{
    rb_error err = { 0 };
    rb_body_def b = rb_body_default();
    rb_joint_def j = rb_joint_default();
    rb_geom_def g = rb_geom_default();
    for (int k = 0; k < 3; k++) {
        b.pose.pos[k] = pos[k];
        g.size[k] = size[k];
    }
    g.type = type;
    j.type = RB_JOINT_FREE;
    j.body = g.body = rb_spec_add_body(spec, &b, &err);
    CHECK(rb_spec_add_joint(spec, &j, &err) >= 0);
    CHECK(rb_spec_add_geom(spec, &g, &err) >= 0);
    return j.body;
}

/* A rod that spins past a ball: what is not known to the end is told; what cannot be measured is
 * refused. */
TEST(models_tell_what_is_not_known)
{
    static const double rod[3] = { 0.01, 1 }, ball[3] = { 0.1 }, zero[3],
                        near[3] = { 0.1105, 0, 1 };
    rb_spec *spec = rb_spec_new(NULL);
    rb_error err = { 0 };
    add_body(spec, RB_GEOM_CAPSULE, rod, zero);
    add_body(spec, RB_GEOM_SPHERE, ball, near);
    rb_model *m = rb_spec_compile(spec, NULL, &err);
    rb_data *d = rb_data_new(m, NULL);
    rb_impact_time next;
    d->v[3] = 1e5;
    rb_kinematics(m, d);
    rb_velocity(m, d);
    rb_frames(m, d);
    CHECK_INT(rb_impact_predict(m, d, 1.0, &next, &err), RB_OK);
    CHECK_INT(next.toi.outcome, RB_TOI_UNFINISHED);
    CHECK(next.toi.time > 0.0 && next.toi.time < 1.0);
    CHECK(next.geom1 >= 0 && next.geom2 >= 0);

    d->q[0] = 1e200;
    rb_kinematics(m, d);
    rb_velocity(m, d);
    rb_frames(m, d);
    CHECK_INT(rb_impact_predict(m, d, 1.0, &next, &err), RB_BAD_INPUT);
    CHECK(strstr(err.text, "too far away"));
    rb_data_free(d);
    rb_model_free(m, NULL);
    rb_spec_free(spec);
}

/* ---- bounds of flight --------------------------------------------------------------------------
 */

/* Euler's equations J w' = J w x w by small steps of the classical Runge-Kutta rule. */
static void spin_rate(const double J[3], const double w[3], double out[3])
{
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        out[i] = (J[j] - J[k]) * w[j] * w[k] / J[i];
    }
}

static void spin_step(const double J[3], double h, double w[3])
{
    double k[4][3], at[3];
    static const double share[4] = { 0.0, 0.5, 0.5, 1.0 };
    for (int s = 0; s < 4; s++) {
        for (int i = 0; i < 3; i++) at[i] = w[i] + (s ? share[s] * h * k[s - 1][i] : 0.0);
        spin_rate(J, at, k[s]);
    }
    for (int i = 0; i < 3; i++)
        w[i] += h / 6.0 * (k[0][i] + 2.0 * k[1][i] + 2.0 * k[2][i] + k[3][i]);
}

/* Never exceeded by a tumbling body, and nearly attained. */
TEST(spin_stays_below_its_bound)
{
    double tight = 0.0;
    for (uint64_t seed = 1; seed <= 100; seed++) {
        TEST_SEED(seed);
        rb_rng rng = rb_rng_make(seed);
        double J[3], w[3], most = 0.0;
        for (int i = 0; i < 3; i++) {
            J[i] = rb_rng_uniform(&rng, 1.0, 1.9); /* no moment exceeds the sum of the others */
            w[i] = rb_rng_uniform(&rng, -4.0, 4.0);
        }
        if (seed % 10 == 0) J[1] = J[0];
        rb_top top;
        CHECK(rb_top_make((double[6]){ J[0], J[1], J[2], 0.0, 0.0, 0.0 }, &top));
        double bound = rb_top_spin(&top, w);
        for (int k = 0; k < 20000; k++) {
            most = fmax(most, sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2]));
            spin_step(J, 2e-3, w);
        }
        CHECK(most <= bound * (1.0 + 1e-9));
        tight += most / bound;
    }
    CHECK(tight > 0.99 * 100.0);
}

TEST(roots_of_flight)
{
    CHECK_NEAR(rb_ballistic_bound(2.0, 4.0, 0.0), 0.5, 1e-15);
    CHECK(isinf(rb_ballistic_bound(2.0, -4.0, 0.0)));
    CHECK_NEAR(rb_ballistic_bound(1.0, 0.0, 9.81), sqrt(2.0 / 9.81), 1e-15);
    CHECK(isinf(rb_ballistic_bound(1.0, 1.0, -9.81))); /* turns back before it is there */
    CHECK_NEAR(rb_ballistic_bound(1e-12, 1.0, 9.81), 1e-12, 1e-22);
    double t = rb_ballistic_bound(1.0, -3.0, 9.81); /* thrown upwards, comes down */
    CHECK_NEAR(0.5 * 9.81 * t * t - 3.0 * t, 1.0, 1e-14);
}

TEST_MAIN(RUN(never_late_and_at_most_a_nanosecond_early), RUN(a_stone_falls),
          RUN(thin_plates_stop_fast_spheres), RUN(a_rod_turns_into_a_table),
          RUN(overlap_touch_and_bad_numbers), RUN(grazing_ends), RUN(fast_spins),
          RUN(links_meet_the_ground), RUN(models_tell_what_is_not_known),
          RUN(spin_stays_below_its_bound), RUN(roots_of_flight))
