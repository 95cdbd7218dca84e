/* Inverse dynamics by hand, its linearity, its gravity, and what must not change it. */
#include "flow_support.h"

/* A rod of 2 kg, com 0.5 m from a hinge about y, inertia 0.3 about y: at 30 degrees below the
 * horizontal with 4 rad/s and 3 rad/s^2,
 *     tau = (0.3 + 2 * 0.25) * 3 - 2 * 9.81 * 0.5 * cos 30      (a turn about y lowers the tip) */
TEST(a_pendulum_by_hand)
{
    rb_spec *spec = rb_spec_new(NULL);
    rb_error err = { 0 };
    rb_body_def body = rb_body_default();
    body.inertia_source = RB_INERTIA_GIVEN;
    body.mass = 2.0;
    body.com[0] = 0.5;
    body.inertia[0] = 0.2;
    body.inertia[1] = body.inertia[2] = 0.3;
    int b = rb_spec_add_body(spec, &body, &err);
    rb_joint_def joint = rb_joint_default();
    joint.body = b;
    joint.axis[1] = 1.0;
    joint.axis[2] = 0.0;
    joint.armature = 0.05;
    rb_spec_add_joint(spec, &joint, &err);
    rb_model *m = rb_spec_compile(spec, NULL, &err);
    CHECK(m != NULL);
    rb_data *d = rb_data_new(m, NULL);
    d->q[0] = 3.14159265358979323846 / 6.0;
    d->v[0] = 4.0;
    rb_kinematics(m, d);
    rb_velocity(m, d);
    const double qdd = 3.0;
    double tau;
    rb_inverse(m, d, &qdd, &tau);
    CHECK_NEAR(tau, 0.85 * 3.0 - 9.81 * sqrt(0.75), 1e-14);
    rb_bias(m, d);
    CHECK_NEAR(d->c[0], -9.81 * sqrt(0.75), 1e-14);
    rb_data_free(d);
    rb_model_free(m, NULL);
    rb_spec_free(spec);
}

/* Size of the moments and forces that cancel in a generalised force. */
static double force_scale(const double *x, int n)
{
    double most = 1.0;
    for (int i = 0; i < n; i++) most = fmax(most, fabs(x[i]));
    return most;
}

/* tau(a + b) - tau(b) = tau(a) - tau(0) */
TEST(accelerations_enter_linearly)
{
    for (uint64_t seed = 1; seed <= 300; seed++) {
        TEST_SEED(seed);
        tree t = tree_open(seed, tree_any(seed));
        int nv = t.m->nv;
        double *a = tree_numbers(&t.rng, nv, 3.0), *b = tree_numbers(&t.rng, nv, 3.0);
        double *tau[4];
        for (int i = 0; i < 4; i++) tau[i] = tree_numbers(&t.rng, nv, 0.0);
        rb_kinematics(t.m, t.d);
        rb_velocity(t.m, t.d);
        rb_inverse(t.m, t.d, NULL, tau[0]);
        rb_inverse(t.m, t.d, a, tau[1]);
        rb_inverse(t.m, t.d, b, tau[2]);
        for (int i = 0; i < nv; i++) a[i] += b[i];
        rb_inverse(t.m, t.d, a, tau[3]);
        double tol = 1e-14 * force_scale(tau[3], nv) * 4.0;
        for (int i = 0; i < nv; i++) CHECK_NEAR(tau[3][i] + tau[0][i], tau[1][i] + tau[2][i], tol);
        for (int i = 0; i < 4; i++) free(tau[i]);
        free(a);
        free(b);
        tree_close(&t);
    }
}

static void read_potential(tree *t, void *context, double *out)
{
    (void)context;
    out[0] = rb_energy_potential(t->m, t->d);
}

/* At rest the bias is the gradient of the potential of gravity. */
TEST(gravity_is_the_gradient_of_the_potential)
{
    for (uint64_t seed = 1; seed <= 100; seed++) {
        TEST_SEED(seed);
        tree_options o = tree_any(seed);
        if (o.nlink > 12) o.nlink = 1 + o.nlink % 12;
        tree t = tree_open(seed, o);
        int nv = t.m->nv;
        for (int i = 0; i < nv; i++) t.d->v[i] = 0.0;
        rb_kinematics(t.m, t.d);
        rb_velocity(t.m, t.d);
        rb_bias(t.m, t.d);
        double tol = 1e-10 * 9.81 * t.m->mass;
        for (int i = 0; i < nv; i++) {
            for (int k = 0; k < nv; k++) t.d->v[k] = k == i;
            flow f = flow_open(&t, NULL);
            double slope;
            flow_derivative(&f, &t, read_potential, NULL, 1, &slope);
            CHECK_NEAR(slope, t.d->c[i], tol);
            flow_close(&f);
        }
        tree_close(&t);
    }
}

/* Everything that floats may be 1e8 m away and move at 1e8 m/s: not one bit of the forces changes.
 */
TEST(no_bit_depends_on_where_free_bodies_are_or_how_fast_they_go)
{
    for (uint64_t seed = 1; seed <= 100; seed++) {
        TEST_SEED(seed);
        tree_options o = tree_any(seed);
        o.free_roots = 1;
        o.fixed = 0;
        tree t = tree_open(seed, o);
        int nv = t.m->nv;
        double *a = tree_numbers(&t.rng, nv, 3.0), *here = tree_numbers(&t.rng, nv, 0.0);
        double *there = tree_numbers(&t.rng, nv, 0.0);
        rb_kinematics(t.m, t.d);
        rb_velocity(t.m, t.d);
        rb_inverse(t.m, t.d, a, here);

        int moved = 0;
        for (int j = 0; j < t.m->njnt; j++) {
            if (t.m->jnt_type[j] != RB_JOINT_FREE) continue;
            for (int i = 0; i < 3; i++) t.d->q[t.m->jnt_qadr[j] + i] += 1e8 * (i + 1);
            for (int i = 0; i < 3; i++) t.d->v[t.m->jnt_dofadr[j] + i] -= 1e8 * (i + 1);
            moved++;
        }
        CHECK(moved > 0);
        rb_kinematics(t.m, t.d);
        rb_velocity(t.m, t.d);
        rb_inverse(t.m, t.d, a, there);
        CHECK(memcmp(here, there, (size_t)nv * sizeof *here) == 0);
        free(a);
        free(here);
        free(there);
        tree_close(&t);
    }
}

TEST_MAIN(RUN(a_pendulum_by_hand), RUN(accelerations_enter_linearly),
          RUN(gravity_is_the_gradient_of_the_potential),
          RUN(no_bit_depends_on_where_free_bodies_are_or_how_fast_they_go))
