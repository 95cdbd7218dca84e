/* Energy and momentum: their values, and their balance along the motion of forward dynamics. */
#include "flow_support.h"

static tree open_small(uint64_t seed, int free_roots, int armature)
{
    tree_options o = tree_any(seed);
    if (o.nlink > 12) o.nlink = 1 + o.nlink % 12;
    o.free_roots = free_roots;
    o.armature = armature;
    if (free_roots > 0) o.fixed = 0;
    return tree_open(seed, o);
}

TEST(kinetic_energy_is_that_of_the_mass_matrix)
{
    for (uint64_t seed = 1; seed <= 1000; seed++) {
        TEST_SEED(seed);
        tree t = tree_open(seed, tree_any(seed));
        int nv = t.m->nv;
        double *Mv = tree_numbers(&t.rng, nv, 0.0), T = 0.0;
        rb_kinematics(t.m, t.d);
        rb_velocity(t.m, t.d);
        rb_mass(t.m, t.d);
        rb_mass_multiply(t.m, t.d, t.d->v, Mv);
        for (int i = 0; i < nv; i++) T += 0.5 * t.d->v[i] * Mv[i];
        CHECK_NEAR(rb_energy_kinetic(t.m, t.d), T, 1e-13 * T);
        free(Mv);
        tree_close(&t);
    }
}

/* 3 kg at 2 m above the origin, spring of 40 N/m stretched by 0.25 m. */
TEST(potential_energy_by_hand)
{
    rb_spec *spec = rb_spec_new(NULL);
    rb_error err = { 0 };
    rb_body_def body = rb_body_default();
    body.inertia_source = RB_INERTIA_GIVEN;
    body.mass = 3.0;
    body.inertia[0] = body.inertia[1] = body.inertia[2] = 1.0;
    body.pose.pos[2] = 1.5;
    int b = rb_spec_add_body(spec, &body, &err);
    rb_joint_def joint = rb_joint_default();
    joint.body = b;
    joint.type = RB_JOINT_SLIDE;
    joint.stiffness = 40.0;
    joint.springref = 0.25;
    int slide = rb_spec_add_joint(spec, &joint, &err);
    rb_tendon_def tendon = rb_tendon_default();
    const double coef = 2.0;
    tendon.njoint = 1;
    tendon.joint = &slide;
    tendon.coef = &coef;
    tendon.stiffness = 10.0;
    tendon.springlength[0] = 0.0;
    tendon.springlength[1] = 0.4;
    CHECK(rb_spec_add_tendon(spec, &tendon, &err) == 0);
    rb_model *m = rb_spec_compile(spec, NULL, &err);
    CHECK(m != NULL);
    rb_data *d = rb_data_new(m, NULL);
    d->q[0] = 0.5;
    rb_kinematics(m, d);

    /* tendon: length 1.0, 0.6 beyond its dead band */
    double V = 3.0 * 9.81 * 2.0 + 0.5 * 40.0 * 0.0625 + 0.5 * 10.0 * 0.36;
    CHECK_NEAR(rb_energy_potential(m, d), V, 1e-13);
    d->q[0] = 0.1; /* inside the band */
    rb_kinematics(m, d);
    V = 3.0 * 9.81 * 1.6 + 0.5 * 40.0 * 0.0225;
    CHECK_NEAR(rb_energy_potential(m, d), V, 1e-13);
    rb_data_free(d);
    rb_model_free(m, NULL);
    rb_spec_free(spec);
}

/* A ball with a spring of 5 N m/rad turned by 0.8 rad about some axis: 1/2 5 0.64. */
TEST(spring_of_a_ball_by_hand)
{
    rb_spec *spec = rb_spec_new(NULL);
    rb_error err = { 0 };
    rb_body_def body = rb_body_default();
    body.inertia_source = RB_INERTIA_GIVEN;
    body.mass = 1.0;
    body.inertia[0] = body.inertia[1] = body.inertia[2] = 1.0;
    rb_joint_def joint = rb_joint_default();
    joint.body = rb_spec_add_body(spec, &body, &err);
    joint.type = RB_JOINT_BALL;
    joint.stiffness = 5.0;
    rb_spec_add_joint(spec, &joint, &err);
    rb_model *m = rb_spec_compile(spec, NULL, &err);
    CHECK(m != NULL);
    rb_data *d = rb_data_new(m, NULL);
    const double w[3] = { 0.48, 0.0, 0.64 };
    rb_integrate(m, d->q, w, 1.0, d->q);
    rb_kinematics(m, d);
    CHECK_NEAR(rb_energy_potential(m, d), 1.6, 1e-14);
    rb_data_free(d);
    rb_model_free(m, NULL);
    rb_spec_free(spec);
}

static void read_energy(tree *t, void *context, double *out)
{
    (void)context;
    out[0] = rb_energy_kinetic(t->m, t->d) + rb_energy_potential(t->m, t->d);
}

/* d(T + V)/dt = tau . v */
TEST(the_rate_of_energy_is_the_power_of_the_forces)
{
    for (uint64_t seed = 1; seed <= 200; seed++) {
        TEST_SEED(seed);
        tree t = open_small(seed, -1, (int)(seed % 2));
        int nv = t.m->nv;
        double *qdd = tree_numbers(&t.rng, nv, 0.0), rate, power = 0.0, scale = 1.0;
        CHECK_INT(rb_forward(t.m, t.d, t.d->tau, qdd), RB_OK);
        for (int i = 0; i < nv; i++) power += t.d->tau[i] * t.d->v[i];

        /* the terms that cancel have the size of energy times the fastest rate */
        for (int i = 0; i < nv; i++) scale = fmax(scale, fabs(qdd[i]));
        for (int i = 0; i < 3 * t.m->nlink; i++) scale = fmax(scale, fabs(t.d->link_w[i]));
        scale *= 1.0 + rb_energy_kinetic(t.m, t.d);
        flow f = flow_open(&t, qdd);
        flow_derivative(&f, &t, read_energy, NULL, 1, &rate);
        CHECK_NEAR(rate, power, 1e-9 * scale);
        flow_close(&f);
        free(qdd);
        tree_close(&t);
    }
}

static void read_momentum(tree *t, void *context, double *out)
{
    (void)context;
    double com[3];
    rb_momentum(t->m, t->d, com, out, out + 3);
}

/* What floats and pushes only on itself gains m g in momentum and no spin about its com. */
TEST(only_gravity_changes_the_momentum_of_what_floats)
{
    int regular = 0;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        TEST_SEED(seed);
        tree t = open_small(seed, 1, 0);
        int nv = t.m->nv;
        double *qdd = tree_numbers(&t.rng, nv, 0.0), rate[6], mass = 0.0;
        for (int j = 0; j < t.m->njnt; j++) {
            /* armature acts on the joint from outside, forces on free joints as well */
            int i = t.m->jnt_dofadr[j];
            if (t.m->jnt_type[j] != RB_JOINT_FREE) continue;
            for (int k = 0; k < 6; k++) t.d->tau[i + k] = 0.0;
        }
        for (int i = 0; i < nv; i++) t.m->dof_armature[i] = 0.0;
        for (int k = 1; k < t.m->nlink; k++) mass += t.m->link_mass[k];
        rb_status status = rb_forward(t.m, t.d, t.d->tau, qdd);
        if (status == RB_OK) {
            double speed = 1.0, p[3], L[3], com[3], most = 1.0;
            rb_momentum(t.m, t.d, com, p, L);
            for (int i = 0; i < nv; i++) speed = fmax(speed, fabs(qdd[i]));
            for (int i = 0; i < 3 * t.m->nlink; i++) speed = fmax(speed, fabs(t.d->link_w[i]));
            for (int i = 0; i < 3; i++) most = fmax(most, fmax(fabs(p[i]), fabs(L[i])));
            flow f = flow_open(&t, qdd);
            flow_derivative(&f, &t, read_momentum, NULL, 6, rate);
            for (int i = 0; i < 3; i++) {
                CHECK_NEAR(rate[i], mass * t.m->option.gravity[i], 1e-9 * most * speed);
                CHECK_NEAR(rate[3 + i], 0.0, 1e-9 * most * speed);
            }
            flow_close(&f);
            regular++;
        } else {
            /* four turns of one body about one point: regular by their armature only */
            CHECK_INT(status, RB_SINGULAR);
        }
        free(qdd);
        tree_close(&t);
    }
    CHECK(regular > 100);
}

TEST(the_centre_of_mass_is_that_of_all_bodies)
{
    for (uint64_t seed = 1; seed <= 100; seed++) {
        TEST_SEED(seed);
        tree t = tree_open(seed, tree_any(seed));
        double com[3], sum[4] = { 0.0 };
        rb_kinematics(t.m, t.d);
        rb_frames(t.m, t.d);
        rb_center_of_mass(t.m, t.d, com);
        for (int b = 1; b < t.m->nbody; b++) {
            const double *R = t.d->body_R + 9 * b, *c = t.m->body_com + 3 * b;
            for (int i = 0; i < 3; i++) {
                double x = t.d->body_p[3 * b + i] + R[3 * i] * c[0] + R[3 * i + 1] * c[1] +
                           R[3 * i + 2] * c[2];
                sum[i] += t.m->body_mass[b] * x;
            }
            sum[3] += t.m->body_mass[b];
        }
        for (int i = 0; i < 3; i++) CHECK_NEAR(com[i], sum[i] / sum[3], 1e-13);
        tree_close(&t);
    }
}

TEST_MAIN(RUN(kinetic_energy_is_that_of_the_mass_matrix), RUN(potential_energy_by_hand),
          RUN(spring_of_a_ball_by_hand), RUN(the_rate_of_energy_is_the_power_of_the_forces),
          RUN(only_gravity_changes_the_momentum_of_what_floats),
          RUN(the_centre_of_mass_is_that_of_all_bodies))
