/* Passive forces (D.22) and forces on bodies: as gradients of the energy, against Jacobians, and by
 * hand. */
#include "test.h"
#include "tree_support.h"

#include "rattleback/load.h"
#include "rattleback/step.h"

static void refresh(const rb_model *m, rb_data *d)
{
    rb_kinematics(m, d);
    rb_velocity(m, d);
}

/* Trees with springs, dampers and, between the first scalar joints, a tendon with a dead band. */
static tree springy_tree(uint64_t seed)
{
    tree_options o = tree_any(seed);
    o.springs = 1;
    if (o.nlink > 40) o.nlink = 40;
    tree t = tree_open(seed, o);
    int joint[3], n = 0;
    for (int j = 0; j < rb_spec_count(t.spec, RB_KIND_JOINT); j++) {
        rb_joint_def *def = rb_spec_joint(t.spec, j);
        if (def->type == RB_JOINT_FREE) def->stiffness = 9.0;
        if (n < 3 && (def->type == RB_JOINT_HINGE || def->type == RB_JOINT_SLIDE)) joint[n++] = j;
    }
    if (n == 0) return t;
    static const double coef[3] = { 1.0, -2.0, 0.5 };
    rb_error err = { 0 };
    rb_tendon_def tendon = rb_tendon_default();
    tendon.njoint = n;
    tendon.joint = joint;
    tendon.coef = coef;
    tendon.stiffness = 7.0;
    tendon.damping = 3.0;
    tendon.springlength[0] = -0.2;
    tendon.springlength[1] = 0.4;
    CHECK(rb_spec_add_tendon(t.spec, &tendon, &err) >= 0);
    rb_data_free(t.d);
    rb_model_free(t.m, NULL);
    t.m = rb_spec_compile(t.spec, NULL, &err);
    CHECK(t.m != NULL);
    t.d = rb_data_new(t.m, NULL);
    tree_shake(t.m, t.d, &t.rng);
    return t;
}

static double energy_at(const tree *t, rb_data *work, const double *direction, double h)
{
    rb_integrate(t->m, t->d->q, direction, h, work->q);
    rb_kinematics(t->m, work);
    return rb_energy_potential(t->m, work);
}

/* Springs are the gradient of their energy: the power along any direction is its change. */
TEST(springs_are_the_gradient_of_their_energy)
{
    static const double h = 1e-5;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        TEST_SEED(seed);
        tree t = springy_tree(seed);
        rb_data *work = rb_data_new(t.m, NULL);
        int nv = t.m->nv;
        double *direction = tree_numbers(&t.rng, nv, 1.0);

        /* the bias at rest is gravity; what the energy has beside it are springs */
        memset(t.d->v, 0, (size_t)nv * sizeof *t.d->v);
        refresh(t.m, t.d);
        rb_passive(t.m, t.d);
        rb_bias(t.m, t.d);
        double power = 0.0, size = 1.0;
        for (int i = 0; i < nv; i++) {
            power += (t.d->passive[i] - t.d->c[i]) * direction[i];
            size += fabs(t.d->passive[i]) + fabs(t.d->c[i]);
        }
        double up = energy_at(&t, work, direction, h), down = energy_at(&t, work, direction, -h);
        CHECK_NEAR(power, -(up - down) / (2.0 * h), 1e-7 * size);
        free(direction);
        rb_data_free(work);
        tree_close(&t);
    }
}

/* Dampers: the difference to the forces at rest is linear in v and takes energy away. */
TEST(dampers_brake)
{
    for (uint64_t seed = 1; seed <= 200; seed++) {
        TEST_SEED(seed);
        tree t = springy_tree(seed);
        int nv = t.m->nv;
        double *v = tree_numbers(&t.rng, nv, 2.0), *rest = tree_numbers(&t.rng, nv, 1.0);
        for (int i = 0; i < nv; i++) t.d->v[i] = 0.0;
        refresh(t.m, t.d);
        rb_passive(t.m, t.d);
        memcpy(rest, t.d->passive, (size_t)nv * sizeof *rest);
        memcpy(t.d->v, v, (size_t)nv * sizeof *v);
        refresh(t.m, t.d);
        rb_passive(t.m, t.d);

        double rate = 0.0; /* of the tendon */
        for (int i = 0; i < t.m->nwrap; i++) {
            rate += t.m->wrap_coef[i] * v[t.m->jnt_dofadr[t.m->wrap_jnt[i]]];
        }
        for (int i = 0; i < nv; i++) {
            double exact = -t.m->dof_damping[i] * v[i];
            for (int k = 0; k < t.m->nwrap; k++) {
                if (t.m->jnt_dofadr[t.m->wrap_jnt[k]] == i) {
                    exact -= t.m->wrap_coef[k] * 3.0 * rate;
                }
            }
            CHECK_NEAR(t.d->passive[i] - rest[i], exact, 1e-12 * (10.0 + fabs(rest[i])));
        }
        free(rest);
        free(v);
        tree_close(&t);
    }
}

/* With all of the weight compensated, passive forces are what holds the tree at rest. */
TEST(gravity_compensation_holds_the_weight)
{
    int heavy = 0;
    for (uint64_t seed = 1; seed <= 100; seed++) {
        TEST_SEED(seed);
        tree t = tree_open(seed, tree_any(seed));
        for (int b = 1; b < rb_spec_count(t.spec, RB_KIND_BODY); b++) {
            rb_spec_body(t.spec, b)->gravcomp = 1.0;
        }
        rb_error err = { 0 };
        rb_model *m = rb_spec_compile(t.spec, NULL, &err);
        CHECK(m != NULL);
        rb_data *d = rb_data_new(m, NULL);
        tree_shake(m, d, &t.rng);
        memset(d->v, 0, (size_t)m->nv * sizeof *d->v);
        refresh(m, d);
        rb_bias(m, d);
        rb_passive(m, d);
        double size = 1.0;
        for (int i = 0; i < m->nv; i++) size = fmax(size, fabs(d->c[i]));
        heavy += size > 1.0;
        for (int i = 0; i < m->nv; i++) CHECK_NEAR(d->passive[i], d->c[i], 1e-12 * size);
        rb_data_free(d);
        rb_model_free(m, NULL);
        tree_close(&t);
    }
    CHECK(heavy > 80);
}

/* tau = J_com' (torque; force), with the Jacobian of the centre of mass. */
TEST(wrenches_act_at_the_centre_of_mass)
{
    for (uint64_t seed = 1; seed <= 100; seed++) {
        TEST_SEED(seed);
        tree t = tree_open(seed, tree_any(seed));
        const rb_model *m = t.m;
        int nv = m->nv;
        double *tau = tree_numbers(&t.rng, nv, 1.0), *exact = tree_numbers(&t.rng, nv, 1.0);
        double *J = tree_numbers(&t.rng, 6 * nv, 1.0), size = 1.0;
        memcpy(exact, tau, (size_t)nv * sizeof *tau);
        refresh(m, t.d);
        rb_frames(m, t.d);
        for (int b = 0; b < m->nbody; b++) {
            if (!tree_percent(&t.rng, 60)) continue;
            double *w = t.d->wrench + 6 * b, com[3];
            tree_vector(&t.rng, 2.0, w);
            tree_vector(&t.rng, 2.0, w + 3);
            for (int i = 0; i < 3; i++) {
                const double *row = t.d->body_R + 9 * b + 3 * i, *c = m->body_com + 3 * b;
                com[i] = t.d->body_p[3 * b + i] + row[0] * c[0] + row[1] * c[1] + row[2] * c[2];
            }
            rb_jacobian(m, t.d, b, com, J);
            for (int j = 0; j < nv; j++) {
                for (int i = 0; i < 3; i++) {
                    exact[j] += J[i * nv + j] * w[3 + i] + J[(3 + i) * nv + j] * w[i];
                }
                size = fmax(size, fabs(exact[j]));
            }
        }
        rb_wrench_force(m, t.d, tau);
        for (int j = 0; j < nv; j++) CHECK_NEAR(tau[j], exact[j], 1e-12 * size);
        free(J);
        free(exact);
        free(tau);
        tree_close(&t);
    }
}

/* ---- by hand -------------------------------------------------------------------------------- */

static rb_model *one_joint(rb_joint_def joint)
{
    rb_error err = { 0 };
    rb_spec *spec = rb_spec_new(NULL);
    rb_body_def body = rb_body_default();
    body.inertia_source = RB_INERTIA_GIVEN;
    body.mass = 1.0;
    body.inertia[0] = body.inertia[1] = body.inertia[2] = 0.1;
    joint.body = rb_spec_add_body(spec, &body, &err);
    CHECK(joint.body == 1 && rb_spec_add_joint(spec, &joint, &err) == 0);
    rb_model *m = rb_spec_compile(spec, NULL, &err);
    CHECK(m != NULL);
    rb_spec_free(spec);
    return m;
}

/* k = 4, at rest at 0.5, d = 2: at q = 1.25, v = -3 the force is -4 * 0.75 + 6 = 3. */
TEST(a_hinge_by_hand)
{
    rb_joint_def joint = rb_joint_default();
    joint.stiffness = 4.0;
    joint.damping = 2.0;
    joint.springref = 0.5;
    joint.ref = 0.25;
    rb_model *m = one_joint(joint);
    rb_data *d = rb_data_new(m, NULL);
    d->q[0] = 1.25;
    d->v[0] = -3.0;
    refresh(m, d);
    rb_passive(m, d);
    CHECK_NEAR(d->passive[0], 3.0, 0.0);
    rb_data_free(d);
    rb_model_free(m, NULL);
}

/* A ball turned by 0.8 rad about (0, 0.6, 0.8) is pulled back by k 0.8 about the same axis; past
 * half a turn it goes on the shorter way; the length of the quaternion does not matter. */
TEST(a_ball_by_hand)
{
    rb_joint_def joint = rb_joint_default();
    joint.type = RB_JOINT_BALL;
    joint.stiffness = 10.0;
    rb_model *m = one_joint(joint);
    rb_data *d = rb_data_new(m, NULL);
    static const double angle[] = { 0.8, 4.0 },
                        force[] = { -8.0, 10.0 * (6.283185307179586 - 4.0) };
    for (int k = 0; k < 2; k++) {
        d->q[0] = 3.0 * cos(angle[k] / 2.0);
        d->q[1] = 0.0;
        d->q[2] = 3.0 * 0.6 * sin(angle[k] / 2.0);
        d->q[3] = 3.0 * 0.8 * sin(angle[k] / 2.0);
        rb_passive(m, d);
        CHECK_NEAR(d->passive[0], 0.0, 1e-14);
        CHECK_NEAR(d->passive[1], 0.6 * force[k], 1e-13);
        CHECK_NEAR(d->passive[2], 0.8 * force[k], 1e-13);
    }
    rb_data_free(d);
    rb_model_free(m, NULL);
}

static const char STRING[] =
    "<mujoco><option timestep='0.001'/><worldbody><site name='top' pos='0.2 0 0.8'/>"
    "<body><joint axis='0 1 0'/><geom type='capsule' fromto='0 0 0 0.4 0 0' size='0.03'/>"
    "<body pos='0.4 0 0'><joint axis='0 1 0'/><geom type='capsule' fromto='0 0 0 0.3 0 0' "
    "size='0.03'/><site name='end' pos='0.3 0 0'/></body></body></worldbody>"
    "<tendon><spatial armature='0.8'><site site='top'/><site site='end'/></spatial></tendon>"
    "</mujoco>";

/* ---- armature of tendons -------------------------------------------------------------------- */

/* 0.3 on a tendon of coefficient 2 is 1.2 on its joint; of two joints it is J' a J (D.24). */
TEST(armature_of_tendons_is_inertia_of_their_joints)
{
    rb_error err = { 0 };
    rb_spec *spec = rb_spec_new(NULL);
    int joint[2], parent = 0;
    for (int i = 0; i < 2; i++) {
        rb_body_def body = rb_body_default();
        body.parent = parent;
        body.inertia_source = RB_INERTIA_GIVEN;
        body.mass = 1.0;
        body.inertia[0] = body.inertia[1] = body.inertia[2] = 0.1;
        rb_joint_def hinge = rb_joint_default();
        hinge.body = parent = rb_spec_add_body(spec, &body, &err);
        hinge.armature = 0.05;
        joint[i] = rb_spec_add_joint(spec, &hinge, &err);
    }
    static const double coef[2] = { 2.0, 1.0 };
    rb_tendon_def tendon = rb_tendon_default();
    tendon.njoint = 1;
    tendon.joint = joint;
    tendon.coef = coef;
    tendon.armature = 0.3;
    CHECK_INT(rb_spec_add_tendon(spec, &tendon, &err), 0);
    rb_model *m = rb_spec_compile(spec, NULL, &err);
    CHECK(m != NULL);
    CHECK_NEAR(m->dof_armature[0], 0.05 + 1.2, 1e-16);
    CHECK_NEAR(m->dof_armature[1], 0.05, 0.0);
    rb_model_free(m, NULL);

    tendon.njoint = 2;
    tendon.name = "pull";
    CHECK_INT(rb_spec_add_tendon(spec, &tendon, &err), 1);
    rb_model *both = rb_spec_compile(spec, NULL, &err);
    CHECK(both != NULL);
    rb_data *d = rb_data_new(both, NULL);
    rb_kinematics(both, d);
    rb_velocity(both, d);
    rb_mass(both, d);
    CHECK_NEAR(d->M[both->dof_Madr[0]], 0.2 + 0.05 + 1.2 + 1.2, 1e-15);
    CHECK_NEAR(d->M[both->dof_Madr[1]], 0.1 + 0.05 + 0.3, 1e-15);
    CHECK_NEAR(d->M[both->dof_Madr[1] + 1], 0.1 + 0.6, 1e-15);

    /* (M + A) qdd = tau, and back */
    const double tau[2] = { 1.0, -2.0 };
    double qdd[2], again[2];
    CHECK_INT(rb_forward(both, d, tau, qdd), RB_OK);
    rb_inverse(both, d, qdd, again);
    for (int i = 0; i < 2; i++) CHECK_NEAR(again[i], tau[i], 1e-14);
    rb_data_free(d);
    rb_model_free(both, NULL);
    rb_spec_free(spec);
}

static double energy(const rb_model *m, rb_data *d)
{
    rb_kinematics(m, d);
    rb_velocity(m, d);
    return rb_energy_kinetic(m, d) + rb_energy_potential(m, d);
}

/* How far the energy goes away within two seconds. */
static double energy_error(const rb_model *m, double h)
{
    rb_error err = { 0 };
    rb_data *d = rb_data_new(m, NULL);
    rb_step_opts o = rb_step_opts_default();
    o.h = h;
    d->v[0] = 2.0;
    d->v[1] = 3.0;
    double start = energy(m, d), most = 0.0;
    while (d->time < 2.0) {
        CHECK_INT(rb_step(m, d, &o, NULL, &err), RB_OK);
        most = fmax(most, fabs(energy(m, d) - start));
    }
    rb_data_free(d);
    return most / start;
}

/* A string with inertia from the ceiling to the end of two links that swing: its share of the
 * energy, and all of it stays, to second order. */
TEST(a_string_with_armature_keeps_its_energy)
{
    rb_error err = { 0 };
    rb_spec *spec = rb_spec_read_memory(STRING, sizeof STRING - 1, NULL, NULL, NULL, &err);
    rb_model *m = spec ? rb_spec_compile(spec, NULL, &err) : NULL;
    CHECK_STR(err.text, "");
    rb_data *d = rb_data_new(m, NULL);
    d->v[0] = 2.0;
    d->v[1] = 3.0;
    double heavy = energy(m, d), rate = d->ten_J[0] * d->v[0] + d->ten_J[1] * d->v[1];
    m->tendon_armature[0] = 0.0;
    CHECK_NEAR(heavy - energy(m, d), 0.4 * rate * rate, 1e-14);
    CHECK(fabs(rate) > 1.0);
    m->tendon_armature[0] = 0.8;
    double whole = energy_error(m, 0.001), half = energy_error(m, 0.0005);
    CHECK(whole < 3e-3);
    CHECK(half < 0.27 * whole);
    rb_data_free(d);
    rb_model_free(m, NULL);
    rb_spec_free(spec);
}

TEST_MAIN(RUN(springs_are_the_gradient_of_their_energy), RUN(dampers_brake),
          RUN(gravity_compensation_holds_the_weight), RUN(wrenches_act_at_the_centre_of_mass),
          RUN(a_hinge_by_hand), RUN(a_ball_by_hand),
          RUN(armature_of_tendons_is_inertia_of_their_joints),
          RUN(a_string_with_armature_keeps_its_energy))
