/* Smooth motion (D.36): what the rule promises, on models whose motion is known. */
#include "dynamics/actuation.h"
#include "dynamics/gauge.h"
#include "dynamics/passive.h"
#include "math/dense.h"
#include "math/vec3.h"
#include "memory_budget.h"
#include "test.h"
#include "tree_support.h"

/* ---- models --------------------------------------------------------------------------------- */

static int add_body(rb_spec *spec, int parent, double mass, const double com[3],
                    const double inertia[3])
{
    rb_error err = { 0 };
    rb_body_def body = rb_body_default();
    body.parent = parent;
    body.inertia_source = RB_INERTIA_GIVEN;
    body.mass = mass;
    memcpy(body.com, com, sizeof body.com);
    memcpy(body.inertia, inertia, 3 * sizeof *inertia);
    int index = rb_spec_add_body(spec, &body, &err);
    if (index < 0) test_fail(__FILE__, __LINE__, "%s", err.text);
    return index;
}

static int add_joint(rb_spec *spec, const rb_joint_def *joint)
{
    rb_error err = { 0 };
    int index = rb_spec_add_joint(spec, joint, &err);
    if (index < 0) test_fail(__FILE__, __LINE__, "%s", err.text);
    return index;
}

static rb_model *compile(rb_spec *spec)
{
    rb_error err = { 0 };
    rb_model *m = rb_spec_compile(spec, NULL, &err);
    if (!m) test_fail(__FILE__, __LINE__, "%s", err.text);
    rb_spec_free(spec);
    return m;
}

/* One body of the given principal inertia, free, without gravity. */
static rb_model *free_body(const double com[3], const double inertia[3])
{
    rb_spec *spec = rb_spec_new(NULL);
    memset(rb_spec_option(spec)->gravity, 0, 3 * sizeof(double));
    rb_joint_def joint = rb_joint_default();
    joint.type = RB_JOINT_FREE;
    joint.body = add_body(spec, 0, 2.0, com, inertia);
    add_joint(spec, &joint);
    return compile(spec);
}

/* A body of inertia 0.5 kg m^2 about a vertical hinge: gravity does nothing. */
static rb_model *flywheel(double stiffness, double damping)
{
    rb_spec *spec = rb_spec_new(NULL);
    rb_joint_def joint = rb_joint_default();
    joint.body = add_body(spec, 0, 1.0, (double[3]){ 0.0 }, (double[3]){ 0.5, 0.5, 0.5 });
    joint.stiffness = stiffness;
    joint.damping = damping;
    add_joint(spec, &joint);
    return compile(spec);
}

/* Three links that swing about different axes, the second on a ball. */
static rb_model *swing(void)
{
    static const double com[3] = { 0.1, 0.05, -0.25 }, inertia[3] = { 0.03, 0.02, 0.04 };
    rb_spec *spec = rb_spec_new(NULL);
    int parent = 0;
    for (int i = 0; i < 3; i++) {
        parent = add_body(spec, parent, 1.0 + i, com, inertia);
        if (i > 0) rb_spec_body(spec, parent)->pose.pos[2] = -0.5;
        rb_joint_def joint = rb_joint_default();
        joint.body = parent;
        joint.type = i == 1 ? RB_JOINT_BALL : RB_JOINT_HINGE;
        joint.axis[i == 0 ? 0 : 1] = 1.0;
        joint.axis[2] = 0.3;
        add_joint(spec, &joint);
    }
    return compile(spec);
}

static void swing_start(rb_data *d)
{
    static const double v[5] = { 1.0, -2.0, 0.5, 3.0, -1.0 };
    memcpy(d->v, v, sizeof v);
    d->q[0] = 1.2;
    d->q[5] = -0.7;
}

static double energy(const rb_model *m, rb_data *d)
{
    rb_kinematics(m, d);
    rb_velocity(m, d);
    return rb_energy_kinetic(m, d) + rb_energy_potential(m, d);
}

static rb_smooth_info step(const rb_model *m, rb_data *d, double h)
{
    rb_smooth_info info;
    CHECK_INT(rb_smooth_step(m, d, h, &info), RB_OK);
    CHECK(info.converged);
    CHECK(info.change <= 1e-12);
    return info;
}

/* ---- free bodies ---------------------------------------------------------------------------- */

/* Bodies of any inertia thrown with any spin; with `hinge` something else swings far from them, so
 * that the step goes through the tree. */
static rb_model *thrown_bodies(uint64_t seed, int hinge)
{
    rb_rng rng = rb_rng_make(seed);
    rb_spec *spec = rb_spec_new(NULL);
    for (int i = 0; i < 3; i++) {
        double a = rb_rng_uniform(&rng, 0.01, 1.0), b = rb_rng_uniform(&rng, 0.01, 1.0);
        double c = rb_rng_uniform(&rng, fabs(a - b), a + b);
        double inertia[3] = { a, i == 0 ? a : b, i == 0 ? a : c };
        rb_joint_def joint = rb_joint_default();
        joint.type = RB_JOINT_FREE;
        joint.body =
            add_body(spec, 0, rb_rng_uniform(&rng, 0.1, 10.0), (double[3]){ 0.0 }, inertia);
        add_joint(spec, &joint);
    }
    if (hinge) {
        rb_joint_def joint = rb_joint_default();
        joint.body = add_body(spec, 0, 1.0, (double[3]){ 0.0 }, (double[3]){ 0.5, 0.5, 0.5 });
        add_joint(spec, &joint);
    }
    return compile(spec);
}

/* The way without a tree against the one through it: the same rule, so the same motion. */
TEST(free_bodies_move_as_through_the_tree)
{
    for (uint64_t seed = 1; seed <= 40; seed++) {
        TEST_SEED(seed);
        rb_model *m = thrown_bodies(seed, 0), *n = thrown_bodies(seed, 1);
        rb_data *d = rb_data_new(m, NULL), *e = rb_data_new(n, NULL);
        CHECK(d && e);
        rb_rng rng = rb_rng_make(seed + 1000);
        double spin = seed % 4 == 0 ? 120.0 : 5.0; /* the fast ones take substeps, all the same */
        for (int i = 0; i < m->nv; i++) d->v[i] = rb_rng_uniform(&rng, -spin, spin);
        for (int b = 0; b < 3; b++) {
            rb_normalize3(d->v + 6 * b + 3);
            rb_scale3(spin, d->v + 6 * b + 3, d->v + 6 * b + 3);
        }
        for (int i = 0; i < m->nv; i++) {
            e->v[i] = d->v[i];
            d->tau[i] = e->tau[i] = seed % 2 ? rb_rng_uniform(&rng, -1.0, 1.0) : 0.0;
        }
        double ball[3] = { d->v[3], d->v[4], d->v[5] }; /* the first one keeps its spin */
        for (int k = 0; k < 20; k++) {
            step(m, d, 0.01);
            step(n, e, 0.01);
        }
        for (int i = 0; i < m->nq; i++) CHECK_NEAR(d->q[i], e->q[i], 1e-9 * (1.0 + spin));
        for (int i = 0; i < m->nv; i++) CHECK_NEAR(d->v[i], e->v[i], 1e-9 * (1.0 + spin));
        CHECK(seed % 2 || memcmp(d->v + 3, ball, sizeof ball) == 0);
        rb_data_free(d);
        rb_data_free(e);
        rb_model_free(m, NULL);
        rb_model_free(n, NULL);
    }
}

/* Spun about the middle axis a body turns over again and again. */
TEST(dzhanibekov_keeps_energy_and_angular_momentum)
{
    rb_model *m = free_body((double[3]){ 0.0 }, (double[3]){ 1.0, 2.0, 2.8 });
    rb_data *d = rb_data_new(m, NULL);
    d->v[4] = 6.0;
    d->v[3] = 1e-3;
    double com[3], p[3], L_start[3], L[3], E_start = energy(m, d);
    rb_momentum(m, d, com, p, L_start);
    double lowest = 6.0;
    for (int i = 0; i < 20000; i++) {
        step(m, d, 1e-3);
        lowest = fmin(lowest, d->v[4]);
        if (i % 100) continue;
        CHECK_NEAR(energy(m, d), E_start, 1e-9 * E_start);
        rb_momentum(m, d, com, p, L);
        for (int a = 0; a < 3; a++) CHECK_NEAR(L[a], L_start[a], 1e-9 * L_start[1]);
    }
    CHECK(lowest < -5.9); /* it did turn over */
    rb_data_free(d);
    rb_model_free(m, NULL);
}

/* The centre of mass of a body held elsewhere flies straight; the error is of second order. */
TEST(a_thrown_body_keeps_its_momentum)
{
    rb_model *m = free_body((double[3]){ 0.3, -0.1, 0.2 }, (double[3]){ 0.1, 0.2, 0.25 });
    double drift[2];
    for (int k = 0; k < 2; k++) {
        rb_data *d = rb_data_new(m, NULL);
        static const double v[6] = { 1.0, 2.0, 3.0, 2.0, 5.0, -1.0 };
        memcpy(d->v, v, sizeof v);
        double com[3], p_start[3], p[3], L[3], E = energy(m, d);
        rb_momentum(m, d, com, p_start, L);
        for (int i = 0; i < 500 << k; i++) step(m, d, 2e-3 / (1 << k));
        CHECK_NEAR(energy(m, d), E, 1e-3 * E);
        rb_momentum(m, d, com, p, L);
        drift[k] = 0.0;
        for (int a = 0; a < 3; a++) drift[k] = fmax(drift[k], fabs(p[a] - p_start[a]));
        rb_data_free(d);
    }
    CHECK(drift[0] < 1e-3);
    CHECK(drift[1] < 0.3 * drift[0]);
    rb_model_free(m, NULL);
}

/* ---- order ---------------------------------------------------------------------------------- */

/* State after 0.4 s. */
static void swing_for(const rb_model *m, double h, int steps, double q[6], double *drift)
{
    rb_data *d = rb_data_new(m, NULL);
    swing_start(d);
    double E = energy(m, d);
    for (int i = 0; i < steps; i++) step(m, d, h);
    memcpy(q, d->q, 6 * sizeof *q);
    *drift = energy(m, d) - E;
    rb_data_free(d);
}

TEST(halving_the_step_divides_the_error_by_four)
{
    rb_model *m = swing();
    CHECK_INT(m->nq, 6);
    double q[4][6], exact[6], error[4], drift[4], ignored;
    swing_for(m, 0.4 / 6400, 6400, exact, &ignored);
    for (int k = 0; k < 4; k++) {
        swing_for(m, 0.4 / (50 << k), 50 << k, q[k], &drift[k]);
        error[k] = 0.0;
        for (int i = 0; i < 6; i++) error[k] = fmax(error[k], fabs(q[k][i] - exact[i]));
    }
    for (int k = 0; k < 3; k++) {
        CHECK_NEAR(error[k] / error[k + 1], 4.0, 0.25);
        CHECK_NEAR(drift[k] / drift[k + 1], 4.0, 0.25);
    }
    rb_model_free(m, NULL);
}

/* Random trees of all joints: 40 ms in steps of h, h/2, h/4. Differences of positions and the drift
 * of the energy, both summed over the trees, fall by four each time. */
TEST(random_trees_move_with_second_order)
{
    double apart[2] = { 0.0 }, drift[3] = { 0.0 };
    int trees = 0;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        TEST_SEED(seed);
        tree_options o = tree_any(seed);
        if (o.nlink > 20) o.nlink = 20;
        o.several = 0; /* joints of one body may lose a direction, where velocities have no bound */
        tree t = tree_open(seed, o);
        memset(t.d->tau, 0, (size_t)t.m->nv * sizeof *t.d->tau);
        rb_data *run[3];
        double change[3];
        int converged = 1;
        for (int k = 0; k < 3; k++) {
            run[k] = rb_data_new(t.m, NULL);
            rb_data_copy(t.m, run[k], t.d);
            double E = energy(t.m, run[k]);
            for (int i = 0; i < 40 << k; i++) {
                rb_smooth_info info = step(t.m, run[k], 1e-3 / (1 << k));
                converged = converged && info.substeps == 1;
            }
            change[k] = fabs(energy(t.m, run[k]) - E);
        }
        double *v = tree_numbers(&t.rng, t.m->nv, 1.0);
        for (int k = 0; k < 2 && converged; k++) {
            rb_difference(t.m, run[k]->q, run[k + 1]->q, v);
            for (int j = 0; j < t.m->nv; j++) apart[k] += fabs(v[j]);
        }
        for (int k = 0; k < 3 && converged; k++) drift[k] += change[k];
        trees += converged;
        free(v);
        for (int k = 0; k < 3; k++) rb_data_free(run[k]);
        tree_close(&t);
    }
    CHECK(trees > 190);
    CHECK_NEAR(apart[0] / apart[1], 4.0, 0.2);
    CHECK_NEAR(drift[0] / drift[1], 4.0, 0.2);
    CHECK_NEAR(drift[1] / drift[2], 4.0, 0.2);
}

/* ---- stiff joints --------------------------------------------------------------------------- */

/* I v' = -d v has the exact midpoint step v+ = v (1 - x) / (1 + x), x = h d / (2 I), which would be
 * thrown back from x = 1 on (D.38). */
TEST(stiff_dampers_are_solved_exactly)
{
    for (double damping = 1.0; damping < 1e9; damping *= 100.0) {
        rb_model *m = flywheel(0.0, damping);
        rb_data *d = rb_data_new(m, NULL);
        d->v[0] = 3.0;
        rb_smooth_info info = step(m, d, 0.01);
        double x = 0.01 * damping / (2.0 * 0.5);
        CHECK_NEAR(d->v[0], x < 1.0 ? 3.0 * (1.0 - x) / (1.0 + x) : 0.0, 1e-11);
        CHECK(info.iterations <= 4);
        rb_data_free(d);
        rb_model_free(m, NULL);
    }
}

/* A torque against much friction: from the second step on the joint creeps at tau / d. */
TEST(joints_creep)
{
    for (double damping = 1e3; damping < 1e10; damping *= 100.0) {
        rb_model *m = flywheel(0.0, damping);
        rb_data *d = rb_data_new(m, NULL);
        d->v[0] = 3.0;
        d->tau[0] = 2.0;
        for (int i = 0; i < 4; i++) {
            step(m, d, 0.01);
            if (i > 1) CHECK_NEAR(d->v[0] * damping, 2.0, 0.01);
        }
        rb_data_free(d);
        rb_model_free(m, NULL);
    }
}

/* A flywheel with a servo of stiffness 1000, damping 1000 and at most 10. */
static rb_model *servo(void)
{
    rb_error err = { 0 };
    rb_spec *spec = rb_spec_new(NULL);
    rb_joint_def joint = rb_joint_default();
    joint.body = add_body(spec, 0, 1.0, (double[3]){ 0 }, (double[3]){ 0.5, 0.5, 0.5 });
    rb_actuator_def servo = rb_actuator_default();
    servo.target = add_joint(spec, &joint);
    servo.gain[0] = 1000.0;
    servo.bias[1] = servo.bias[2] = -1000.0;
    servo.force_limited = 1;
    servo.force_range[0] = -10.0;
    servo.force_range[1] = 10.0;
    if (rb_spec_add_actuator(spec, &servo, &err) < 0) test_fail(__FILE__, __LINE__, "%s", err.text);
    return compile(spec);
}

/* Its damping would hold the joint ten times as much as its inertia. At its bound it is a force and
 * nothing else; where a step leads from one bound beyond the other one, (D.38) has an answer. */
TEST(servos_at_their_bound_hold_nothing)
{
    rb_model *m = servo();
    rb_data *d = rb_data_new(m, NULL);
    d->ctrl[0] = 100.0;
    rb_smooth_info info = step(m, d, 0.01);
    CHECK_NEAR(d->v[0], 0.01 * 10.0 / 0.5, 1e-12);
    CHECK(info.iterations <= 2);

    for (double goal = 0.011; goal < 1.0; goal *= 1.3) {
        d->q[0] = d->v[0] = 0.0;
        d->ctrl[0] = goal;
        info = step(m, d, 0.01);
        double v = d->v[0], force = 1000.0 * (goal - 0.25 * 0.01 * v - 0.5 * v);
        double inertia = goal > 0.1105 ? 0.5 : 5.0; /* at the bound in all of the step */
        CHECK(info.iterations <= 6);
        CHECK_NEAR(inertia * v, 0.01 * rb_clamp(force, -10.0, 10.0), 1e-12);
    }
    rb_data_free(d);
    rb_model_free(m, NULL);
}

/* The midpoint rule keeps the energy of a linear oscillator, here up to h omega = 200. */
TEST(stiff_springs_keep_their_energy)
{
    for (double stiffness = 1.0; stiffness < 1e9; stiffness *= 100.0) {
        rb_model *m = flywheel(stiffness, 0.0);
        rb_data *d = rb_data_new(m, NULL);
        d->q[0] = 0.3;
        d->v[0] = 0.7;
        double E = energy(m, d);
        for (int i = 0; i < 200; i++) {
            rb_smooth_info info = step(m, d, 0.01);
            CHECK(info.iterations <= 4 * info.substeps);
        }
        CHECK_NEAR(energy(m, d), E, 1e-9 * E);
        rb_data_free(d);
        rb_model_free(m, NULL);
    }
}

/* An arm held by stiff servos comes to rest, where only rounding moves it: no step may fail. */
TEST(rest_is_reached_and_kept)
{
    for (int k = 0; k < 3; k++) {
        rb_spec *spec = rb_spec_new(NULL);
        rb_error err = { 0 };
        int parent = 0;
        for (int i = 0; i < 4; i++) {
            parent = add_body(spec, parent, 1.0, (double[3]){ 0.2, 0.0, 0.0 },
                              (double[3]){ 0.01, 0.02, 0.02 });
            rb_spec_body(spec, parent)->pose.pos[0] = i == 0 ? 100.0 * k : 0.4;
            rb_joint_def joint = rb_joint_default();
            joint.body = parent;
            joint.type = i == 0 ? RB_JOINT_SLIDE : RB_JOINT_HINGE;
            joint.axis[i == 0 ? 0 : 1] = 1.0;
            joint.axis[2] = 0.0;
            rb_actuator_def servo = rb_actuator_default();
            servo.target = add_joint(spec, &joint);
            servo.gain[0] = k == 2 ? 1e8 : 1e4;
            servo.bias[1] = -servo.gain[0];
            servo.bias[2] = k == 2 ? -2e3 : -200.0;
            CHECK(rb_spec_add_actuator(spec, &servo, &err) >= 0);
        }
        rb_model *m = compile(spec);
        rb_data *d = rb_data_new(m, NULL);
        for (int i = 0; i < 4; i++) d->ctrl[i] = i == 0 ? 5.0 : 0.3;
        for (int i = 0; i < 4; i++) d->q[i] = d->ctrl[i] + 0.02;
        for (int i = 0; i < 5000; i++) {
            rb_smooth_info info;
            CHECK_INT(rb_smooth_step(m, d, 1e-3, &info), RB_OK);
            CHECK(info.converged);
        }
        for (int i = 0; i < 4; i++) {
            CHECK_NEAR(d->v[i], 0.0, 1e-9);
            CHECK_NEAR(d->q[i], d->ctrl[i], 2e-2);
        }
        rb_data_free(d);
        rb_model_free(m, NULL);
    }
}

/* ---- the equation itself -------------------------------------------------------------------- */

/* Tendons between random scalar joints, stiff and damped; servos, filters and motors on top. */
static void add_tendons_and_actuators(tree *t)
{
    rb_error err = { 0 };
    int joint[2], found = 0;
    for (int j = 0; j < rb_spec_count(t->spec, RB_KIND_JOINT) && found < 2; j++) {
        int type = (int)rb_spec_joint(t->spec, j)->type;
        if (type == RB_JOINT_HINGE || type == RB_JOINT_SLIDE) joint[found++] = j;
    }
    if (found < 2) return;
    static const double coef[2] = { 1.5, -0.7 };
    rb_tendon_def tendon = rb_tendon_default();
    tendon.njoint = 2;
    tendon.joint = joint;
    tendon.coef = coef;
    tendon.stiffness = 5e3;
    tendon.damping = 20.0;
    rb_actuator_def servo = rb_actuator_default();
    servo.target = joint[0];
    servo.gain[0] = 2e4;
    servo.bias[1] = -2e4;
    servo.bias[2] = -100.0;
    rb_actuator_def filter = rb_actuator_default();
    filter.transmission = RB_TRN_TENDON;
    filter.target = 0;
    filter.activation = RB_ACT_FILTER;
    filter.time_constant = 0.02;
    CHECK(rb_spec_add_tendon(t->spec, &tendon, &err) >= 0);
    CHECK(rb_spec_add_actuator(t->spec, &servo, &err) >= 0);
    CHECK(rb_spec_add_actuator(t->spec, &filter, &err) >= 0);
    rb_data_free(t->d);
    rb_model_free(t->m, NULL);
    t->m = rb_spec_compile(t->spec, NULL, &err);
    CHECK(t->m != NULL);
    t->d = rb_data_new(t->m, NULL);
    tree_shake(t->m, t->d, &t->rng);
    for (int i = 0; i < t->m->nu; i++) t->d->ctrl[i] = rb_rng_uniform(&t->rng, -1.0, 1.0);
}

/* The rotation of quaternion joints over the step, written out: 2 atan(h |w| / 2) about w. */
static void rotate_by_cayley(const rb_model *m, double h, double *v)
{
    for (int j = 0; j < m->njnt; j++) {
        int type = m->jnt_type[j];
        if (type != RB_JOINT_BALL && type != RB_JOINT_FREE) continue;
        double *w = v + m->jnt_dofadr[j] + (type == RB_JOINT_FREE ? 3 : 0);
        double angle = h * sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2]);
        for (int i = 0; i < 3; i++) w[i] *= 2.0 * atan(angle / 2.0) / angle;
    }
}

/* M (v+ - v) - h (tau + passive + actuation - c) at the midpoint, by CRBA and RNEA; and q+. What is
 * left may be -A (v+ - v) of (D.38), 0 <= A <= h d / 2. Returns the number of such dofs. */
static int check_midpoint(const rb_model *m, const rb_data *before, const rb_data *after, double h)
{
    rb_data *mid = rb_data_new(m, NULL);
    size_t nv = (size_t)m->nv;
    double *along = calloc(nv, sizeof *along), *dv = calloc(nv, sizeof *dv);
    double *Mdv = calloc(nv, sizeof *Mdv), *q = calloc((size_t)m->nq, sizeof *q);
    rb_data_copy(m, mid, before);
    for (int j = 0; j < m->nv; j++) {
        dv[j] = after->v[j] - before->v[j];
        mid->v[j] = along[j] = 0.5 * (after->v[j] + before->v[j]);
    }
    for (int a = 0; a < m->na; a++) mid->act[a] = 0.5 * (before->act[a] + after->act[a]);
    rotate_by_cayley(m, h, along);
    rb_integrate(m, before->q, along, 0.5 * h, mid->q);
    rb_integrate(m, before->q, along, h, q);
    for (int i = 0; i < m->nq; i++) CHECK_NEAR(after->q[i], q[i], 1e-12 * (1.0 + fabs(q[i])));

    rb_kinematics(m, mid);
    rb_velocity(m, mid);
    rb_mass(m, mid);
    rb_bias(m, mid);
    rb_passive(m, mid);
    rb_actuation(m, mid);
    rb_mass_multiply(m, mid, dv, Mdv);
    double scale = 0.0;
    double *k = calloc((size_t)m->nv_all, sizeof *k), *b = calloc((size_t)m->nv_all, sizeof *b);
    int creep = 0;
    rb_passive_stiffness_apart(m, mid, k, b, NULL);
    rb_actuation_stiffness_of(m, mid, NULL, k, b, NULL);
    rb_gauge_spread_bound(m, mid, b);
    for (int j = 0; j < m->nv; j++) {
        scale = fmax(scale, fabs(Mdv[j]) + h * (fabs(mid->passive[j]) + fabs(mid->c[j])));
    }
    for (int j = 0; j < m->nv; j++) {
        double force = mid->tau[j] + mid->passive[j] + mid->actuation[j] - mid->c[j];
        double left = h * force - Mdv[j];
        if (fabs(left) <= 1e-9 * scale) continue;
        creep++;
        CHECK(left / dv[j] > 0.0 && left / dv[j] < 0.5 * h * b[j]);
    }
    free(b);
    free(k);
    free(q);
    free(Mdv);
    free(dv);
    free(along);
    rb_data_free(mid);
    return creep;
}

TEST(a_step_satisfies_the_midpoint_equation_on_random_trees)
{
    int whole = 0, creep = 0, dofs = 0;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        TEST_SEED(seed);
        tree_options o = tree_any(seed);
        o.springs = 1;
        if (o.nlink > 60) o.nlink = 60;
        tree t = tree_open(seed, o);
        add_tendons_and_actuators(&t);
        rb_data *before = rb_data_new(t.m, NULL);
        rb_data_copy(t.m, before, t.d);
        rb_smooth_info info = step(t.m, t.d, 1e-3);
        if (info.substeps == 1) creep += check_midpoint(t.m, before, t.d, 1e-3);
        dofs += t.m->nv;
        whole += info.substeps == 1;
        rb_data_free(before);
        tree_close(&t);
    }
    CHECK(whole >= 190);
    CHECK(100 * creep < dofs);
}

/* ---- substeps, failures, memory ------------------------------------------------------------- */

TEST(fast_rotations_are_divided)
{
    rb_model *m = flywheel(0.0, 0.0);
    rb_data *d = rb_data_new(m, NULL);
    d->v[0] = 2250.0;
    rb_smooth_info info = step(m, d, 1e-3);
    CHECK_INT(info.substeps, 5);
    CHECK_NEAR(d->q[0], 2.25, 1e-12);
    CHECK_NEAR(d->time, 1e-3, 0.0);
    rb_data_free(d);
    rb_model_free(m, NULL);
}

/* Bits of the state, time and the rest of the block's state included. */
static uint64_t state_bits(const rb_model *m, const rb_data *d)
{
    uint64_t hash = rb_hash(RB_HASH_INIT, d->q, (size_t)m->nq * sizeof *d->q);
    hash = rb_hash(hash, d->v, (size_t)m->nv * sizeof *d->v);
    hash = rb_hash(hash, d->act, (size_t)m->na * sizeof *d->act);
    return rb_hash(hash, &d->time, sizeof d->time);
}

TEST(a_step_that_fails_changes_nothing)
{
    rb_model *m = swing();
    rb_data *d = rb_data_new(m, NULL);
    static const double bad[] = { NAN, INFINITY, 1e200 };
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        rb_data_reset(m, d);
        swing_start(d);
        d->v[1] = bad[k];
        uint64_t before = state_bits(m, d);
        rb_smooth_info info;
        CHECK_INT(rb_smooth_step(m, d, 1e-3, &info), RB_OK);
        CHECK(!info.converged);
        CHECK(state_bits(m, d) == before);

        /* a force that is no number shows only in the iteration */
        rb_data_reset(m, d);
        swing_start(d);
        d->tau[2] = bad[k];
        before = state_bits(m, d);
        CHECK_INT(rb_smooth_step(m, d, 1e-3, &info), RB_OK);
        CHECK(!info.converged);
        CHECK(state_bits(m, d) == before);
    }
    rb_data_free(d);
    rb_model_free(m, NULL);
}

TEST(out_of_memory_changes_nothing)
{
    tree t = tree_open(3, tree_chain(400)); /* more than the first block of an arena holds */
    int failures = 0;
    rb_status status = RB_NOMEM;
    for (size_t bytes = 0; status != RB_OK; bytes += 4096) {
        test_budget budget = { .left = bytes };
        rb_alloc alloc = test_budget_alloc(&budget);
        rb_data *d = rb_data_new(t.m, &alloc);
        if (d) {
            rb_data_copy(t.m, d, t.d);
            uint64_t before = state_bits(t.m, d);
            status = rb_smooth_step(t.m, d, 1e-5, NULL);
            CHECK(status == RB_OK || status == RB_NOMEM);
            CHECK((state_bits(t.m, d) == before) == (status != RB_OK));
            failures += status != RB_OK;
        }
        rb_data_free(d);
        CHECK_INT(budget.memory.live, 0);
    }
    CHECK(failures > 0);
    tree_close(&t);
}

TEST(a_warm_step_allocates_nothing_and_repeats_its_bits)
{
    rb_model *m = swing();
    rb_data *d = rb_data_new(m, NULL), *again = rb_data_new(m, NULL);
    swing_start(d);
    step(m, d, 1e-3);
    int growths = rb_arena_growths(d->arena);
    rb_data_copy(m, again, d);
    for (int i = 0; i < 100; i++) step(m, d, 1e-3);
    CHECK_INT(rb_arena_growths(d->arena), growths);
    for (int i = 0; i < 100; i++) step(m, again, 1e-3);
    CHECK(rb_data_hash(d) == rb_data_hash(again));
    rb_data_free(again);
    rb_data_free(d);
    rb_model_free(m, NULL);
}

TEST_MAIN(RUN(free_bodies_move_as_through_the_tree),
          RUN(dzhanibekov_keeps_energy_and_angular_momentum), RUN(a_thrown_body_keeps_its_momentum),
          RUN(halving_the_step_divides_the_error_by_four), RUN(random_trees_move_with_second_order),
          RUN(stiff_dampers_are_solved_exactly), RUN(joints_creep),
          RUN(servos_at_their_bound_hold_nothing), RUN(stiff_springs_keep_their_energy),
          RUN(rest_is_reached_and_kept),
          RUN(a_step_satisfies_the_midpoint_equation_on_random_trees),
          RUN(fast_rotations_are_divided), RUN(a_step_that_fails_changes_nothing),
          RUN(out_of_memory_changes_nothing),
          RUN(a_warm_step_allocates_nothing_and_repeats_its_bits))
