/* Actuators (D.30): transmissions against Jacobians and differences, laws and limits by hand. The
 * law of an actuator with gain 0 is force = b0 + b1 length + b2 rate, which shows both. */
#include "dynamics/actuation.h"
#include "rattleback/load.h"
#include "test.h"
#include "tree_support.h"

/* ---- models --------------------------------------------------------------------------------- */

static void recompile(tree *t)
{
    rb_error err = { 0 };
    rb_data_free(t->d);
    rb_model_free(t->m, NULL);
    t->m = rb_spec_compile(t->spec, NULL, &err);
    if (!t->m) test_fail(__FILE__, __LINE__, "%s", err.text);
    t->d = rb_data_new(t->m, NULL);
    tree_shake(t->m, t->d, &t->rng);
    rb_kinematics(t->m, t->d);
    rb_velocity(t->m, t->d);
    rb_frames(t->m, t->d);
}

static int add_actuator(tree *t, const rb_actuator_def *def)
{
    rb_error err = { 0 };
    int index = rb_spec_add_actuator(t->spec, def, &err);
    if (index < 0) test_fail(__FILE__, __LINE__, "%s", err.text);
    return index;
}

static int add_site(tree *t, int body)
{
    rb_error err = { 0 };
    rb_site_def site = rb_site_default();
    site.body = body;
    tree_vector(&t->rng, 0.3, site.pose.pos);
    tree_quaternion(&t->rng, site.pose.quat);
    int index = rb_spec_add_site(t->spec, &site, &err);
    if (index < 0) test_fail(__FILE__, __LINE__, "%s", err.text);
    return index;
}

/* Actuators of every transmission on a random tree; force = 1 each. */
static tree actuated_tree(uint64_t seed)
{
    tree_options o = tree_any(seed);
    o.nlink = 3 + (int)(seed % 10);
    tree t = tree_open(seed, o);
    rb_actuator_def act = rb_actuator_default();
    act.gain[0] = 0.0;
    act.bias[0] = 1.0;
    for (int j = 0; j < rb_spec_count(t.spec, RB_KIND_JOINT); j++) {
        act.target = j;
        act.transmission = tree_percent(&t.rng, 50) ? RB_TRN_JOINT : RB_TRN_JOINT_IN_PARENT;
        for (int i = 0; i < 6; i++) act.gear[i] = rb_rng_uniform(&t.rng, -2.0, 2.0);
        add_actuator(&t, &act);
    }
    int nbody = rb_spec_count(t.spec, RB_KIND_BODY);
    act.transmission = RB_TRN_SITE;
    for (int k = 0; k < 6; k++) {
        act.target = add_site(&t, tree_below(&t.rng, nbody));
        act.reference = k < 3 ? -1 : add_site(&t, tree_below(&t.rng, nbody));
        for (int i = 0; i < 6; i++) act.gear[i] = rb_rng_uniform(&t.rng, -2.0, 2.0);
        add_actuator(&t, &act);
    }
    recompile(&t);
    return t;
}

/* ---- moments -------------------------------------------------------------------------------- */

/* Moment arms of actuator i: all others are switched off. */
static void moments(tree *t, int i, double *out)
{
    for (int k = 0; k < t->m->nu; k++) t->m->act_bias[3 * k] = k == i;
    rb_actuation(t->m, t->d);
    for (int k = 0; k < t->m->nu; k++) CHECK(t->d->act_force[k] == (k == i));
    memcpy(out, t->d->actuation, (size_t)t->m->nv * sizeof *out);
}

static double rate(tree *t, int i)
{
    double *bias = t->m->act_bias + 3 * i, keep = bias[0];
    bias[0] = 0.0;
    bias[2] = 1.0;
    rb_actuation(t->m, t->d);
    bias[0] = keep;
    bias[2] = 0.0;
    return t->d->act_force[i];
}

/* Force times rate is the power of the forces on the dofs. */
TEST(moments_and_rates_belong_together)
{
    for (uint64_t seed = 1; seed <= 200; seed++) {
        TEST_SEED(seed);
        tree t = actuated_tree(seed);
        double *J = tree_numbers(&t.rng, t.m->nv, 1.0);
        for (int i = 0; i < t.m->nu; i++) {
            moments(&t, i, J);
            double power = 0.0, size = 1.0;
            for (int j = 0; j < t.m->nv; j++) {
                power += J[j] * t.d->v[j];
                size += fabs(J[j] * t.d->v[j]);
            }
            CHECK_NEAR(rate(&t, i), power, 1e-14 * size);
        }
        free(J);
        tree_close(&t);
    }
}

static int is_ancestor_dof(const rb_model *m, int dof, int body)
{
    int k = m->body_link[body];
    while (k > 0 && k != m->dof_link[dof]) k = m->link_parent[k];
    return k > 0;
}

/* A site drives with R gear; against a reference with its axes, and not what both hang on. */
TEST(sites_push_as_their_jacobians_say)
{
    for (uint64_t seed = 1; seed <= 200; seed++) {
        TEST_SEED(seed);
        tree t = actuated_tree(seed);
        const rb_model *m = t.m;
        const rb_data *d = t.d;
        int nv = m->nv;
        double *J = tree_numbers(&t.rng, nv, 1.0), *J_s = tree_numbers(&t.rng, 6 * nv, 1.0);
        double *J_r = tree_numbers(&t.rng, 6 * nv, 1.0);
        for (int i = 0; i < m->nu; i++) {
            if (m->act_transmission[i] != RB_TRN_SITE) continue;
            int site = m->act_target[i], ref = m->act_reference[i], axes = ref < 0 ? site : ref;
            const double *R = d->site_R + 9 * axes, *gear = m->act_gear + 6 * i;
            rb_jacobian(m, d, m->site_body[site], d->site_p + 3 * site, J_s);
            for (int k = 0; k < 6 * nv; k++) J_r[k] = 0.0;
            if (ref >= 0) rb_jacobian(m, d, m->site_body[ref], d->site_p + 3 * ref, J_r);
            moments(&t, i, J);
            for (int j = 0; j < nv; j++) {
                double exact = 0.0;
                int common = ref >= 0 && is_ancestor_dof(m, j, m->site_body[site]) &&
                             is_ancestor_dof(m, j, m->site_body[ref]);
                for (int a = 0; a < 3 && !common; a++) {
                    for (int b = 0; b < 3; b++) {
                        exact += R[3 * a + b] *
                                 (gear[b] * (J_s[(3 + a) * nv + j] - J_r[(3 + a) * nv + j]) +
                                  gear[3 + b] * (J_s[a * nv + j] - J_r[a * nv + j]));
                    }
                }
                CHECK_NEAR(J[j], exact, 1e-12);
            }
        }
        free(J_r);
        free(J_s);
        free(J);
        tree_close(&t);
    }
}

/* Gears of free joints and balls: (force in the world; torque in the body), or turned back from the
 * parent, R' gear. */
TEST(joints_are_driven_in_the_axes_asked_for)
{
    int seen[2][2] = { { 0 } };
    for (uint64_t seed = 1; seed <= 200; seed++) {
        TEST_SEED(seed);
        tree t = actuated_tree(seed);
        const rb_model *m = t.m;
        double *J = tree_numbers(&t.rng, m->nv, 1.0);
        for (int i = 0; i < m->nu; i++) {
            if (m->act_transmission[i] > RB_TRN_JOINT_IN_PARENT) continue;
            int j = m->act_target[i], type = m->jnt_type[j], dof = m->jnt_dofadr[j];
            const double *gear = m->act_gear + 6 * i, *q = t.d->q + m->jnt_qadr[j];
            moments(&t, i, J);
            if (type == RB_JOINT_HINGE || type == RB_JOINT_SLIDE) {
                CHECK(J[dof] == gear[0]);
                continue;
            }
            int is_free = type == RB_JOINT_FREE, parent = m->act_transmission[i] != RB_TRN_JOINT;
            if (is_free) {
                for (int a = 0; a < 3; a++) CHECK(J[dof + a] == gear[a]);
                gear += 3, q += 3, dof += 3;
            }

            /* q (0; x) q* of the answer is the gear again where the parent was asked for */
            const double *x = J + dof;
            double turned[3];
            for (int a = 0; a < 3; a++) {
                int b = (a + 1) % 3, c = (a + 2) % 3;
                const double *u = q + 1;
                double t_b = u[c] * x[a] - u[a] * x[c] + q[0] * x[b];
                double t_c = u[a] * x[b] - u[b] * x[a] + q[0] * x[c];
                turned[a] = x[a] + 2.0 * (u[b] * t_c - u[c] * t_b);
            }
            for (int a = 0; a < 3; a++)
                CHECK_NEAR(parent ? turned[a] : x[a], gear[a], 1e-14 * 10.0);
            seen[is_free][parent]++;
        }
        free(J);
        tree_close(&t);
    }
    for (int i = 0; i < 4; i++) CHECK(seen[i / 2][i % 2] > 20);
}

/* ---- lengths -------------------------------------------------------------------------------- */

static double length_after(tree *t, int i, double h)
{
    rb_data *d = rb_data_new(t->m, NULL);
    rb_integrate(t->m, t->d->q, t->d->v, h, d->q);
    rb_kinematics(t->m, d);
    rb_velocity(t->m, d);
    double *bias = t->m->act_bias + 3 * i, keep = bias[0];
    bias[0] = 0.0;
    bias[1] = 1.0;
    rb_actuation(t->m, d);
    double length = d->act_force[i];
    bias[0] = keep;
    bias[1] = 0.0;
    rb_data_free(d);
    return length;
}

/* Where the axes stand still the rate is the derivative of the length: scalar joints, tendons, and
 * shifts against a reference in the world. */
TEST(rates_are_the_derivatives_of_lengths)
{
    static const double h = 1e-5;
    int compared = 0;
    for (uint64_t seed = 1; seed <= 100; seed++) {
        TEST_SEED(seed);
        tree t = actuated_tree(seed);
        for (int i = 0; i < t.m->nu; i++) {
            int kind = t.m->act_transmission[i], ref = t.m->act_reference[i];
            int type = kind <= RB_TRN_JOINT_IN_PARENT ? t.m->jnt_type[t.m->act_target[i]] : -1;
            double *gear = t.m->act_gear + 6 * i;
            int site = kind == RB_TRN_SITE && ref >= 0 && t.m->body_link[t.m->site_body[ref]] == 0;
            if (site) gear[3] = gear[4] = gear[5] = 0.0;
            if (!site && type != RB_JOINT_HINGE && type != RB_JOINT_SLIDE) continue;
            double slope = (length_after(&t, i, h) - length_after(&t, i, -h)) / (2.0 * h);
            CHECK_NEAR(rate(&t, i), slope, 1e-8 * (10.0 + fabs(slope)));
            compared += site;
        }
        tree_close(&t);
    }
    CHECK(compared > 20);
}

/* ---- one joint, by hand --------------------------------------------------------------------- */

static tree one_joint(rb_joint_type type, const rb_actuator_def *act, const double *force_range)
{
    rb_error err = { 0 };
    tree t = { .spec = rb_spec_new(NULL), .rng = rb_rng_make(1) };
    rb_body_def body = rb_body_default();
    body.inertia_source = RB_INERTIA_GIVEN;
    body.mass = 1.0;
    body.inertia[0] = body.inertia[1] = body.inertia[2] = 0.1;
    rb_joint_def joint = rb_joint_default();
    joint.type = type;
    joint.body = rb_spec_add_body(t.spec, &body, &err);
    if (force_range) {
        joint.force_limited = 1;
        memcpy(joint.force_range, force_range, sizeof joint.force_range);
    }
    CHECK(rb_spec_add_joint(t.spec, &joint, &err) == 0);
    add_actuator(&t, act);
    t.m = rb_spec_compile(t.spec, NULL, &err);
    if (!t.m) test_fail(__FILE__, __LINE__, "%s", err.text);
    t.d = rb_data_new(t.m, NULL);
    return t;
}

static double drive(tree *t, double q, double v, double ctrl)
{
    t->d->q[0] = q;
    t->d->v[0] = v;
    t->d->ctrl[0] = ctrl;
    rb_kinematics(t->m, t->d);
    rb_velocity(t->m, t->d);
    rb_actuation(t->m, t->d);
    return t->d->actuation[0];
}

/* gear 2: length 2 q, rate 2 v; force (3 + 0.5 l - l') u + 1 - 4 l - 0.25 l'; on the dof twice */
TEST(the_affine_law_by_hand)
{
    rb_actuator_def act = rb_actuator_default();
    act.gear[0] = 2.0;
    memcpy(act.gain, (double[3]){ 3.0, 0.5, -1.0 }, sizeof act.gain);
    memcpy(act.bias, (double[3]){ 1.0, -4.0, -0.25 }, sizeof act.bias);
    tree t = one_joint(RB_JOINT_HINGE, &act, NULL);
    /* q = 0.5, v = 2, u = 3: l = 1, l' = 4: (3 + 0.5 - 4) 3 + 1 - 4 - 1 = -5.5 */
    CHECK_NEAR(drive(&t, 0.5, 2.0, 3.0), -11.0, 0.0);
    CHECK_NEAR(t.d->act_force[0], -5.5, 0.0);
    tree_close(&t);
}

TEST(controls_forces_and_joints_are_limited)
{
    rb_actuator_def act = rb_actuator_default();
    act.gear[0] = 2.0;
    act.gain[0] = 10.0;
    act.ctrl_limited = act.force_limited = 1;
    memcpy(act.ctrl_range, (double[2]){ -1.0, 0.8 }, sizeof act.ctrl_range);
    memcpy(act.force_range, (double[2]){ -6.0, 7.0 }, sizeof act.force_range);
    tree t = one_joint(RB_JOINT_HINGE, &act, (double[2]){ -11.0, 100.0 });
    CHECK_NEAR(drive(&t, 0.0, 0.0, 0.5), 10.0, 0.0);
    CHECK_NEAR(drive(&t, 0.0, 0.0, 5.0), 14.0, 0.0);   /* 0.8 -> 8 -> 7 */
    CHECK_NEAR(drive(&t, 0.0, 0.0, -5.0), -11.0, 0.0); /* -1 -> -10 -> -6 -> -12 -> -11 */
    tree_close(&t);
}

/* A set point a full turn away is the same set point. */
TEST(servos_of_balls_take_the_nearest_turn)
{
    rb_actuator_def act = rb_actuator_default();
    memcpy(act.gear, (double[6]){ 0.0, 0.0, 2.0 }, sizeof act.gear);
    act.gain[0] = 5.0;
    act.bias[1] = -5.0;
    tree t = one_joint(RB_JOINT_BALL, &act, NULL);
    t.d->q[0] = cos(0.4); /* 0.8 rad about z: length 1.6 */
    t.d->q[3] = sin(0.4);
    for (int turn = -3; turn <= 3; turn++) {
        t.d->ctrl[0] = 2.0 + turn * 2.0 * 6.283185307179586;
        rb_kinematics(t.m, t.d);
        rb_velocity(t.m, t.d);
        rb_actuation(t.m, t.d);
        CHECK_NEAR(t.d->act_force[0], 5.0 * 0.4, 1e-12);
        CHECK_NEAR(t.d->actuation[2], 2.0 * 5.0 * 0.4, 1e-12);
    }
    tree_close(&t);
}

/* ---- activations ---------------------------------------------------------------------------- */

TEST(activations_follow_their_law)
{
    static const rb_activation kinds[] = { RB_ACT_INTEGRATOR, RB_ACT_FILTER, RB_ACT_FILTER_EXACT };
    for (int k = 0; k < 3; k++) {
        rb_actuator_def act = rb_actuator_default();
        act.gain[0] = 3.0;
        act.activation = kinds[k];
        act.time_constant = 0.2;
        act.act_limited = 1;
        memcpy(act.act_range, (double[2]){ -1.0, 1.5 }, sizeof act.act_range);
        tree t = one_joint(RB_JOINT_HINGE, &act, NULL);
        CHECK_INT(t.m->na, 1);
        t.d->act[0] = 0.5;

        /* the force is that of the activation, not of the control */
        CHECK_NEAR(drive(&t, 0.0, 0.0, 2.0), 1.5, 0.0);
        CHECK_NEAR(t.d->act_dot[0], k == 0 ? 2.0 : 1.5 / 0.2, 1e-15);
        double next, exact = k == 0 ? 0.5 + 0.1 * 2.0 : 2.0 - 1.5 * exp(-0.1 / 0.2);
        rb_activation_step(t.m, t.d, 0.1, &next);
        CHECK_NEAR(next, exact, 1e-15);
        rb_activation_step(t.m, t.d, 50.0, &next);
        CHECK(next == 1.5);

        /* a step moves it, and the force of the step is that of its middle: v+ = h 3 u_m / I */
        t.m->option.gravity[2] = 0.0;
        CHECK_INT(rb_smooth_step(t.m, t.d, 0.1, NULL), RB_OK);
        CHECK_NEAR(t.d->act[0], exact, 1e-15);
        CHECK_NEAR(t.d->v[0], 0.1 * 3.0 * 0.5 * (0.5 + exact) / 0.1, 1e-12);
        tree_close(&t);
    }
}

/* A rod of 1 kg, its centre 0.25 m from a hinge that bears its weight: actuatorgravcomp and
 * actuatorfrcrange, with and without an actuator that pushes 0.2 N m. */
static void compensated(const char *attributes, const char *actuators, double *passive,
                        double *actuation)
{
    char text[1024];
    rb_error err = { 0 };
    rb_load_opts o = rb_load_opts_default();
    snprintf(text, sizeof text,
             "<mujoco><option gravity='0 0 -10'>%s</option><worldbody><body gravcomp='1'><joint "
             "name='j' axis='0 1 0' damping='0.1' %s/><inertial pos='0.25 0 0' mass='1' "
             "diaginertia='1 1 1'/></body></worldbody>%s</mujoco>",
             strstr(actuators, "off") ? "<flag actuation='disable'/>" : "", attributes,
             *actuators ? "<actuator><motor joint='j'/></actuator>" : "");
    rb_spec *spec = rb_spec_read_memory(text, strlen(text), NULL, &o, NULL, &err);
    if (!spec) test_fail(__FILE__, __LINE__, "%s", err.text);
    rb_model *m = rb_spec_compile(spec, NULL, &err);
    CHECK(m != NULL);
    rb_data *d = rb_data_new(m, NULL);
    d->v[0] = 0.3;
    if (m->nu) d->ctrl[0] = 0.2;
    rb_kinematics(m, d);
    rb_velocity(m, d);
    rb_frames(m, d);
    rb_passive(m, d);
    rb_actuation(m, d);
    *passive = d->passive[0];
    *actuation = d->actuation[0];
    rb_data_free(d);
    rb_model_free(m, NULL);
    rb_spec_free(spec);
}

TEST(gravity_compensation_may_be_one_of_the_actuators)
{
    const struct {
        const char *attributes, *actuators;
        double passive, actuation;
    } cases[] = {
        { "", "on", -2.53, 0.2 },
        { "actuatorfrcrange='-1 1'", "on", -2.53, 0.2 },
        { "actuatorgravcomp='true'", "on", -0.03, -2.3 },
        { "actuatorgravcomp='true' actuatorfrcrange='-1 1'", "on", -0.03, -1.0 },
        { "actuatorgravcomp='true'", "", -0.03, 0.0 }, /* nobody is there to do it */
        { "actuatorgravcomp='true'", "off", -0.03, 0.0 },
        { "", "off", -2.53, 0.0 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double passive, actuation;
        TEST_SEED(i);
        compensated(cases[i].attributes, cases[i].actuators, &passive, &actuation);
        CHECK_NEAR(passive, cases[i].passive, 1e-14);
        CHECK_NEAR(actuation, cases[i].actuation, 1e-14);
    }
}

TEST_MAIN(RUN(gravity_compensation_may_be_one_of_the_actuators),
          RUN(moments_and_rates_belong_together), RUN(sites_push_as_their_jacobians_say),
          RUN(joints_are_driven_in_the_axes_asked_for), RUN(rates_are_the_derivatives_of_lengths),
          RUN(the_affine_law_by_hand), RUN(controls_forces_and_joints_are_limited),
          RUN(servos_of_balls_take_the_nearest_turn), RUN(activations_follow_their_law))
