/* The mass matrix and its factor. */
#include "flow_support.h"

static double largest(const double *x, int n)
{
    double most = 0.0;
    for (int i = 0; i < n; i++) most = fmax(most, fabs(x[i]));
    return most;
}

/* Column i is what unit acceleration of dof i takes, at rest and without gravity. */
TEST(columns_are_forces_of_unit_accelerations)
{
    for (uint64_t seed = 1; seed <= 1000; seed++) {
        TEST_SEED(seed);
        tree t = tree_open(seed, tree_any(seed));
        int nv = t.m->nv;
        double *M = tree_numbers(&t.rng, nv * nv, 1.0), *unit = tree_numbers(&t.rng, nv, 0.0);
        double *tau = tree_numbers(&t.rng, nv, 0.0);
        for (int i = 0; i < nv; i++) t.d->v[i] = 0.0;
        for (int i = 0; i < 3; i++) t.m->option.gravity[i] = 0.0;
        rb_kinematics(t.m, t.d);
        rb_velocity(t.m, t.d);
        rb_mass(t.m, t.d);
        rb_mass_dense(t.m, t.d, M);
        double tol = 1e-14 * largest(M, nv * nv);
        for (int i = 0; i < nv; i += 1 + nv / 40) {
            unit[i] = 1.0;
            rb_inverse(t.m, t.d, unit, tau);
            unit[i] = 0.0;
            for (int k = 0; k < nv; k++) {
                CHECK_NEAR(M[k * nv + i], tau[k], tol);
                CHECK(M[k * nv + i] == M[i * nv + k]);
            }
        }
        free(M);
        free(unit);
        free(tau);
        tree_close(&t);
    }
}

/* L' D L, multiplied out from the stored rows, is M again. */
TEST(factor_multiplies_back_to_the_matrix)
{
    for (uint64_t seed = 1; seed <= 200; seed++) {
        TEST_SEED(seed);
        tree t = tree_open(seed, tree_any(seed));
        int nv = t.m->nv;
        double *M = tree_numbers(&t.rng, nv * nv, 0.0), *L = tree_numbers(&t.rng, nv * nv, 0.0);
        rb_kinematics(t.m, t.d);
        rb_mass(t.m, t.d);
        rb_mass_dense(t.m, t.d, M);
        CHECK_INT(rb_mass_factor(t.m, t.d), RB_OK);
        for (int k = 0; k < nv; k++) {
            const double *row = t.d->L + t.m->dof_Madr[k];
            for (int i = k; i >= 0; i = t.m->dof_parent[i]) L[k * nv + i] = *row++;
        }
        double tol = 1e-14 * largest(M, nv * nv);
        for (int i = 0; i < nv; i++) {
            for (int j = 0; j <= i; j++) {
                double sum = 0.0;
                for (int k = i; k < nv; k++) {
                    double L_ki = k == i ? 1.0 : L[k * nv + i], L_kj = k == j ? 1.0 : L[k * nv + j];
                    sum += L_ki * L[k * nv + k] * L_kj;
                }
                CHECK_NEAR(sum, M[i * nv + j], tol);
            }
        }
        free(M);
        free(L);
        tree_close(&t);
    }
}

/* M (M^-1 x) = x: the residual of the solve, small whatever the condition. */
TEST(solve_and_multiply_are_inverse)
{
    for (uint64_t seed = 1; seed <= 300; seed++) {
        TEST_SEED(seed);
        tree t = tree_open(seed, tree_any(seed));
        int nv = t.m->nv;
        double *b = tree_numbers(&t.rng, nv, 1.0), *x = tree_numbers(&t.rng, nv, 0.0);
        double *back = tree_numbers(&t.rng, nv, 0.0);
        rb_kinematics(t.m, t.d);
        rb_mass(t.m, t.d);
        CHECK_INT(rb_mass_factor(t.m, t.d), RB_OK);
        memcpy(x, b, (size_t)nv * sizeof *x);
        rb_mass_solve(t.m, t.d, x);
        rb_mass_multiply(t.m, t.d, x, back);
        double tol = 1e-14 * largest(t.d->M, t.m->nM) * largest(x, nv);
        for (int i = 0; i < nv; i++) CHECK_NEAR(back[i], b[i], tol);
        free(b);
        free(x);
        free(back);
        tree_close(&t);
    }
}

/* Dofs on different branches and in different trees do not feel each other. */
TEST(entries_are_those_of_ancestors)
{
    tree_options o = tree_any(7);
    o.nlink = 60;
    o.ntree = 3;
    o.branching = 40;
    tree t = tree_open(7, o);
    CHECK(t.m->ntree > 1);
    int entries = 0;
    for (int i = 0; i < t.m->nv; i++) {
        CHECK_INT(t.m->dof_Madr[i], entries);
        for (int j = i; j >= 0; j = t.m->dof_parent[j]) {
            CHECK_INT(t.m->link_tree[t.m->dof_link[j]], t.m->link_tree[t.m->dof_link[i]]);
            entries++;
        }
    }
    CHECK_INT(t.m->nM, entries);
    tree_close(&t);
}

/* A hinge along the axis of a needle without thickness has nothing to turn. */
TEST(a_dof_without_inertia_is_singular)
{
    rb_spec *spec = rb_spec_new(NULL);
    rb_error err = { 0 };
    rb_body_def body = rb_body_default();
    body.inertia_source = RB_INERTIA_GIVEN;
    body.mass = 1.0;
    body.com[2] = 0.3;
    body.inertia[0] = body.inertia[1] = 0.1;
    int b = rb_spec_add_body(spec, &body, &err);
    rb_joint_def joint = rb_joint_default();
    joint.body = b;
    rb_spec_add_joint(spec, &joint, &err);
    rb_model *m = rb_spec_compile(spec, NULL, &err);
    if (m) {
        rb_data *d = rb_data_new(m, NULL);
        rb_kinematics(m, d);
        rb_mass(m, d);
        CHECK_INT(rb_mass_factor(m, d), RB_SINGULAR);
        int bad = -1;
        CHECK_INT(rb_aba_factor(m, d, NULL, &bad), RB_SINGULAR);
        CHECK_INT(bad, 0);
        double tau = 1.0, qdd = 0.0;
        CHECK_INT(rb_forward(m, d, &tau, &qdd), RB_SINGULAR);

        /* added inertia cures it */
        const double extra = 0.25;
        CHECK_INT(rb_aba_factor(m, d, &extra, &bad), RB_OK);
        CHECK_INT(bad, -1);
        rb_aba_apply(m, d, &tau);
        CHECK_NEAR(tau, 4.0, 1e-15);
        rb_data_free(d);
    } else {
        CHECK_CONTAINS(err.text, "inertia"); /* the compiler may refuse it first */
    }
    rb_model_free(m, NULL);
    rb_spec_free(spec);
}

TEST_MAIN(RUN(columns_are_forces_of_unit_accelerations), RUN(factor_multiplies_back_to_the_matrix),
          RUN(solve_and_multiply_are_inverse), RUN(entries_are_those_of_ancestors),
          RUN(a_dof_without_inertia_is_singular))
