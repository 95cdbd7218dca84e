/* Articulated bodies against RNEA and CRBA on 1,000 random trees.
 *
 * The error of M^-1 tau itself is bounded by cond(M) eps, and cond(M) of a chain grows with the
 * fourth power of its length: it is checked tightly where trees are small, and everywhere by the
 * residual |M qdd + c - tau|, which does not see the condition. */
#include "dynamics/forward.h"
#include "dynamics/smooth_tension.h"
#include "flow_support.h"

static double largest(const double *x, int n)
{
    double most = 0.0;
    for (int i = 0; i < n; i++) most = fmax(most, fabs(x[i]));
    return most;
}

static double distance(const double *x, const double *y, int n)
{
    double most = 0.0;
    for (int i = 0; i < n; i++) most = fmax(most, fabs(x[i] - y[i]));
    return most;
}

TEST(forward_undoes_inverse_on_a_thousand_trees)
{
    for (uint64_t seed = 1; seed <= 1000; seed++) {
        TEST_SEED(seed);
        tree t = tree_open(seed, tree_any(seed));
        int nv = t.m->nv;
        double *a = tree_numbers(&t.rng, nv, 5.0), *tau = tree_numbers(&t.rng, nv, 0.0);
        double *qdd = tree_numbers(&t.rng, nv, 0.0), *back = tree_numbers(&t.rng, nv, 0.0);
        rb_kinematics(t.m, t.d);
        rb_velocity(t.m, t.d);
        CHECK_INT(rb_aba_factor(t.m, t.d, NULL, NULL), RB_OK);

        /* ABA(RNEA(a)) = a */
        rb_inverse(t.m, t.d, a, tau);
        rb_aba_solve(t.m, t.d, tau, qdd);
        CHECK(distance(qdd, a, nv) <= (nv <= 40 ? 1e-11 : 1e-9) * largest(a, nv));

        /* RNEA(ABA(tau)) = tau, for these forces and for others */
        rb_inverse(t.m, t.d, qdd, back);
        CHECK(distance(back, tau, nv) <= 1e-13 * largest(tau, nv));
        rb_aba_solve(t.m, t.d, t.d->tau, qdd);
        rb_inverse(t.m, t.d, qdd, back);
        rb_bias(t.m, t.d);
        double scale = fmax(largest(t.d->tau, nv), largest(t.d->c, nv));
        CHECK(distance(back, t.d->tau, nv) <= 1e-12 * scale);
        free(a);
        free(tau);
        free(qdd);
        free(back);
        tree_close(&t);
    }
}

/* M^-1 x by L' D L and by articulated bodies, and the residual of the latter with M. */
TEST(both_inverses_of_the_mass_matrix_agree)
{
    for (uint64_t seed = 1; seed <= 1000; seed++) {
        TEST_SEED(seed);
        tree t = tree_open(seed, tree_any(seed));
        int nv = t.m->nv;
        double *x = tree_numbers(&t.rng, nv, 1.0), *y = tree_numbers(&t.rng, nv, 0.0);
        double *b = tree_numbers(&t.rng, nv, 0.0), *back = tree_numbers(&t.rng, nv, 0.0);
        memcpy(y, x, (size_t)nv * sizeof *y);
        memcpy(b, x, (size_t)nv * sizeof *b);
        rb_kinematics(t.m, t.d);
        rb_mass(t.m, t.d);
        CHECK_INT(rb_mass_factor(t.m, t.d), RB_OK);
        CHECK_INT(rb_aba_factor(t.m, t.d, NULL, NULL), RB_OK);
        rb_mass_solve(t.m, t.d, x);
        rb_aba_apply(t.m, t.d, y);
        CHECK(distance(x, y, nv) <= (nv <= 40 ? 1e-11 : 1e-9) * largest(x, nv));
        rb_mass_multiply(t.m, t.d, y, back);
        CHECK(distance(back, b, nv) <= 1e-14 * largest(t.d->M, t.m->nM) * largest(y, nv));
        free(x);
        free(y);
        free(b);
        free(back);
        tree_close(&t);
    }
}

/* The quick way gives the bits of the separate calls and leaves behind what they leave. */
TEST(forward_has_the_bits_of_the_separate_calls)
{
    for (uint64_t seed = 1; seed <= 300; seed++) {
        TEST_SEED(seed);
        tree t = tree_open(seed, tree_any(seed)), u = tree_open(seed, tree_any(seed));
        int nv = t.m->nv, nlink = t.m->nlink;
        double *fast = tree_numbers(&t.rng, nv, 0.0), *slow = tree_numbers(&t.rng, nv, 0.0);
        CHECK_INT(rb_forward(t.m, t.d, t.d->tau, fast), RB_OK);
        rb_kinematics_plain(u.m, u.d);
        rb_velocity(u.m, u.d);
        CHECK_INT(rb_aba_factor(u.m, u.d, NULL, NULL), RB_OK);
        rb_aba_solve(u.m, u.d, u.d->tau, slow);
        CHECK(memcmp(fast, slow, (size_t)nv * sizeof *fast) == 0);
        CHECK(memcmp(t.d->link_R, u.d->link_R, (size_t)nlink * 9 * sizeof *fast) == 0);
        CHECK(memcmp(t.d->link_a, u.d->link_a, (size_t)nlink * 6 * sizeof *fast) == 0);
        CHECK(memcmp(t.d->dof_U, u.d->dof_U, (size_t)nv * 6 * sizeof *fast) == 0);
        CHECK(memcmp(t.d->dof_D, u.d->dof_D, (size_t)nv * sizeof *fast) == 0);
        free(fast);
        free(slow);
        tree_close(&t);
        tree_close(&u);
    }
}

/* Rotational inertia that is added to links is in M and not in the bias (D.39), but for the couple
 * of the acceleration that velocities make. */
TEST(extra_inertia_of_links_is_no_bias)
{
    for (uint64_t seed = 1; seed <= 200; seed++) {
        TEST_SEED(seed);
        tree t = tree_open(seed, tree_any(seed));
        rb_model *m = t.m;
        rb_data *d = t.d;
        int nv = m->nv, n = 6 * m->nlink;
        double *K = tree_numbers(&t.rng, n, 0.1), *qdd = tree_numbers(&t.rng, nv, 0.0);
        double *slow = tree_numbers(&t.rng, nv, 0.0), *back = tree_numbers(&t.rng, nv, 0.0);
        for (int k = 0; k < m->nlink; k++) { /* u u' + 1/10 */
            double u[3] = { K[6 * k], K[6 * k + 1], K[6 * k + 2] };
            for (int i = 0; i < 3; i++) K[6 * k + i] = u[i] * u[i] + 0.1;
            K[6 * k + 3] = u[0] * u[1];
            K[6 * k + 4] = u[0] * u[2];
            K[6 * k + 5] = u[1] * u[2];
        }
        rb_forward_extra extra = { NULL, K };
        rb_forward_place(m, d);
        CHECK_INT(rb_forward_solve(m, d, &extra, d->tau, qdd), RB_OK);

        rb_kinematics(m, d);
        rb_velocity(m, d);
        rb_bias(m, d);
        for (int i = 0; i < n; i++) d->link_I[i] += K[i];
        rb_mass(m, d);
        rb_mass_multiply(m, d, qdd, back);

        memcpy(slow, d->c, (size_t)nv * sizeof *slow);
        double *without = tree_numbers(&t.rng, nv, 0.0), *zero = tree_numbers(&t.rng, nv, 0.0);
        for (int i = 0; i < nv; i++) zero[i] = 0.0;
        rb_tension couple = { .K = K, .alpha = tree_numbers(&t.rng, n, 0.0) };
        couple.force = tree_numbers(&t.rng, n, 0.0);
        for (int i = 0; i < nv; i++) without[i] = 0.0;
        rb_tension_force(m, d, 1.0, zero, &couple, without);
        double most = largest(d->M, m->nM) * largest(qdd, nv) + largest(slow, nv);
        for (int i = 0; i < nv; i++) {
            CHECK_NEAR(back[i] + slow[i] + without[i], d->tau[i], 1e-12 * most);
        }
        free(K);
        free(qdd);
        free(slow);
        free(back);
        free(without);
        free(zero);
        free(couple.alpha);
        free(couple.force);
        tree_close(&t);
    }
}

/* (M + diag(extra))^-1 x */
TEST(extra_inertia_is_added_to_the_diagonal)
{
    for (uint64_t seed = 1; seed <= 100; seed++) {
        TEST_SEED(seed);
        tree t = tree_open(seed, tree_any(seed));
        int nv = t.m->nv;
        double *x = tree_numbers(&t.rng, nv, 1.0), *extra = tree_numbers(&t.rng, nv, 0.5);
        double *b = tree_numbers(&t.rng, nv, 0.0), *back = tree_numbers(&t.rng, nv, 0.0);
        for (int i = 0; i < nv; i++) extra[i] = fabs(extra[i]);
        memcpy(b, x, (size_t)nv * sizeof *b);
        rb_kinematics(t.m, t.d);
        rb_mass(t.m, t.d);
        CHECK_INT(rb_aba_factor(t.m, t.d, extra, NULL), RB_OK);
        rb_aba_apply(t.m, t.d, x);
        rb_mass_multiply(t.m, t.d, x, back);
        for (int i = 0; i < nv; i++) back[i] += extra[i] * x[i];
        CHECK(distance(back, b, nv) <= 1e-14 * largest(t.d->M, t.m->nM) * largest(x, nv));
        free(x);
        free(extra);
        free(b);
        free(back);
        tree_close(&t);
    }
}

/* A thousand links in a row: the residual is still that of rounding. */
TEST(a_chain_of_a_thousand_links)
{
    tree t = tree_open(1, tree_chain(1000));
    int nv = t.m->nv;
    double *qdd = tree_numbers(&t.rng, nv, 0.0), *back = tree_numbers(&t.rng, nv, 0.0);
    CHECK_INT(nv, 1000);
    CHECK_INT(rb_forward(t.m, t.d, t.d->tau, qdd), RB_OK);
    rb_bias(t.m, t.d);
    rb_inverse(t.m, t.d, qdd, back);
    CHECK(distance(back, t.d->tau, nv) <= 1e-12 * largest(t.d->c, nv));
    free(qdd);
    free(back);
    tree_close(&t);
}

/* The com of a body in free fall accelerates by g, whatever its spin. */
TEST(a_free_body_falls_with_g)
{
    for (uint64_t seed = 1; seed <= 50; seed++) {
        TEST_SEED(seed);
        tree t = tree_open(seed, (tree_options){ .nlink = 1, .ntree = 1, .free_roots = 1 });
        double qdd[6], zero[6] = { 0.0 }, p[3], L[3], com[3];
        CHECK_INT(t.m->nv, 6);
        CHECK_INT(rb_forward(t.m, t.d, zero, qdd), RB_OK);

        /* acceleration of the com: O plus alpha x c plus w x (w x c) */
        const double *R = t.d->link_R + 9, *c = t.d->link_c + 3, *w = t.d->link_w + 3;
        double alpha[3], wc[3];
        for (int i = 0; i < 3; i++) {
            alpha[i] = R[3 * i] * qdd[3] + R[3 * i + 1] * qdd[4] + R[3 * i + 2] * qdd[5];
            int y = (i + 1) % 3, z = (i + 2) % 3;
            wc[i] = w[y] * c[z] - w[z] * c[y];
        }
        for (int i = 0; i < 3; i++) {
            int y = (i + 1) % 3, z = (i + 2) % 3;
            double a = qdd[i] + (alpha[y] * c[z] - alpha[z] * c[y]) + (w[y] * wc[z] - w[z] * wc[y]);
            CHECK_NEAR(a, t.m->option.gravity[i], 1e-12);
        }
        rb_momentum(t.m, t.d, com, p, L);
        for (int i = 0; i < 3; i++) CHECK_NEAR(com[i], t.d->link_p[3 + i] + c[i], 1e-14);
        tree_close(&t);
    }
}

/* Nothing here needs the arena, and so nothing can run out of memory. */
TEST(nothing_is_allocated)
{
    tree t = tree_open(7, tree_any(7));
    rb_alloc none = { 0 };
    rb_alloc held = t.d->alloc;
    t.d->alloc = none;
    int growths = rb_arena_growths(t.d->arena);
    double *x = tree_numbers(&t.rng, t.m->nv, 1.0);
    CHECK_INT(rb_forward(t.m, t.d, t.d->tau, x), RB_OK);
    rb_frames(t.m, t.d);
    rb_mass(t.m, t.d);
    CHECK_INT(rb_mass_factor(t.m, t.d), RB_OK);
    rb_bias(t.m, t.d);
    rb_aba_apply(t.m, t.d, x);
    CHECK_INT(rb_arena_growths(t.d->arena), growths);
    t.d->alloc = held;
    free(x);
    tree_close(&t);
}

/* The same bits with every compiler, optimisation and processor. A change of the order of
 * operations in the compiler of models, kinematics or articulated bodies moves it; nothing else
 * may. */
TEST(bits_are_those_of_every_machine)
{
    uint64_t hash = RB_HASH_INIT;
    for (uint64_t seed = 1; seed <= 64; seed++) {
        tree t = tree_open(seed, tree_any(seed));
        double *qdd = tree_numbers(&t.rng, t.m->nv, 0.0);
        CHECK_INT(rb_forward(t.m, t.d, t.d->tau, qdd), RB_OK);
        hash = rb_hash(hash, qdd, (size_t)t.m->nv * sizeof *qdd);
        free(qdd);
        tree_close(&t);
    }
    if (hash != UINT64_C(0xf80742908cd7c394)) {
        test_fail(__FILE__, __LINE__, "hash of the accelerations is 0x%016" PRIx64, hash);
    }
}

TEST_MAIN(RUN(forward_undoes_inverse_on_a_thousand_trees),
          RUN(both_inverses_of_the_mass_matrix_agree),
          RUN(forward_has_the_bits_of_the_separate_calls),
          RUN(extra_inertia_is_added_to_the_diagonal), RUN(extra_inertia_of_links_is_no_bias),
          RUN(a_chain_of_a_thousand_links), RUN(a_free_body_falls_with_g),
          RUN(nothing_is_allocated), RUN(bits_are_those_of_every_machine))
