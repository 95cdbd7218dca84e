/* Forward dynamics with loops (D.21) against a dense elimination of
 *
 *     [ M  -J' ] [ qdd ]   [ tau - c ]
 *     [ J   0  ] [ lam ] = [ -bias   ]
 *
 * written here, and against a linkage whose motion is known. */
#include "memory_budget.h"
#include "test.h"
#include "tree_support.h"

/* ---- dense reference ------------------------------------------------------------------------ */

/* Gauss with complete pivoting; free unknowns of a singular but consistent system become zero. */
static void solve_dense(int n, double *A, double *b, double *x)
{
    int *column = calloc((size_t)n, sizeof *column), rank = n;
    for (int i = 0; i < n; i++) column[i] = i;
    double first = 0.0;
    for (int k = 0; k < n; k++) {
        int row = k, col = k;
        for (int i = k; i < n; i++) {
            for (int j = k; j < n; j++) {
                if (fabs(A[i * n + j]) > fabs(A[row * n + col])) row = i, col = j;
            }
        }
        double pivot = fabs(A[row * n + col]);
        if (k == 0) first = pivot;
        if (pivot <= 1e-11 * first) {
            rank = k;
            break;
        }
        for (int j = 0; j < n; j++) {
            double keep = A[k * n + j];
            A[k * n + j] = A[row * n + j];
            A[row * n + j] = keep;
        }
        double keep = b[k];
        b[k] = b[row];
        b[row] = keep;
        for (int i = 0; i < n; i++) {
            keep = A[i * n + k];
            A[i * n + k] = A[i * n + col];
            A[i * n + col] = keep;
        }
        int name = column[k];
        column[k] = column[col];
        column[col] = name;
        for (int i = k + 1; i < n; i++) {
            double l = A[i * n + k] / A[k * n + k];
            for (int j = k; j < n; j++) A[i * n + j] -= l * A[k * n + j];
            b[i] -= l * b[k];
        }
    }
    for (int i = 0; i < n; i++) x[i] = 0.0;
    for (int k = rank - 1; k >= 0; k--) {
        double sum = b[k];
        for (int j = k + 1; j < rank; j++) sum -= A[k * n + j] * x[column[j]];
        x[column[k]] = sum / A[k * n + k];
    }
    free(column);
}

/* qdd by the dense system, M from CRBA, c from RNEA. */
static void reference(tree *t, const double *tau, double *qdd)
{
    const rb_model *m = t->m;
    rb_data *d = t->d;
    rb_rows rows;
    CHECK_INT(rb_loop_rows(m, d, &rows), RB_OK);
    rb_mass(m, d);
    rb_bias(m, d);
    int nv = m->nv, n = nv + rows.n;
    double *M = calloc((size_t)nv * (size_t)nv, sizeof *M);
    double *A = calloc((size_t)n * (size_t)n, sizeof *A), *b = calloc((size_t)n, sizeof *b);
    double *x = calloc((size_t)n, sizeof *x);
    rb_mass_dense(m, d, M);
    for (int i = 0; i < nv; i++) {
        for (int j = 0; j < nv; j++) A[i * n + j] = M[i * nv + j];
        b[i] = tau[i] - d->c[i];
    }
    for (int i = 0; i < rows.n; i++) {
        for (int k = rows.start[i]; k < rows.start[i + 1]; k++) {
            A[(nv + i) * n + rows.dof[k]] = rows.J[k];
            A[rows.dof[k] * n + nv + i] = -rows.J[k];
        }
        b[nv + i] = -rows.bias[i];
    }
    solve_dense(n, A, b, x);
    memcpy(qdd, x, (size_t)nv * sizeof *qdd);
    free(x);
    free(b);
    free(A);
    free(M);
    rb_rows_release(d, &rows);
}

/* ---- models --------------------------------------------------------------------------------- */

/* A few connections and hinges between the last bodies of a random tree and others, closed at the
 * random configuration: constraint frames are drawn on one body and found on the other. */
static tree closed_tree(uint64_t seed, int copies)
{
    tree_options o = tree_any(seed);
    o.nlink = 10 + (int)(seed % 12);
    o.ntree = 1;
    o.fixed = 0;
    tree t = tree_open(seed, o);
    rb_error err = { 0 };
    int nbody = rb_spec_count(t.spec, RB_KIND_BODY);
    for (int i = 0; i < 2; i++) {
        rb_equality_def eq = rb_equality_default();
        eq.type = i == 0 ? RB_EQ_CONNECT : RB_EQ_HINGE;
        eq.obj1 = nbody - 1 - 3 * i;
        eq.obj2 = tree_below(&t.rng, nbody - 6);
        eq.derive2 = 1;
        tree_vector(&t.rng, 0.3, eq.pose1.pos);
        tree_quaternion(&t.rng, eq.pose1.quat);
        for (int c = 0; c < copies; c++) CHECK(rb_spec_add_equality(t.spec, &eq, &err) >= 0);
    }
    rb_data_free(t.d);
    rb_model_free(t.m, NULL);
    t.m = rb_spec_compile(t.spec, NULL, &err);
    if (!t.m) test_fail(__FILE__, __LINE__, "%s", err.text);
    t.d = rb_data_new(t.m, NULL);
    double *v = tree_numbers(&t.rng, t.m->nv, 1.0);
    memcpy(t.d->v, v, (size_t)t.m->nv * sizeof *v);
    free(v);
    rb_kinematics(t.m, t.d);
    rb_velocity(t.m, t.d);
    return t;
}

static double largest(const double *x, int n)
{
    double max = 0.0;
    for (int i = 0; i < n; i++) max = fmax(max, fabs(x[i]));
    return max;
}

/* ---- tests ---------------------------------------------------------------------------------- */

/* M qdd + c - tau - J' lam and J qdd + bias, each relative to its terms. */
static double equation_defect(tree *t, const double *tau, const double *qdd, const double *lam)
{
    const rb_model *m = t->m;
    rb_rows rows;
    CHECK_INT(rb_loop_rows(m, t->d, &rows), RB_OK);
    double *f = calloc((size_t)m->nv, sizeof *f), force = 0.0, worst = 0.0;
    rb_inverse(m, t->d, qdd, f);
    for (int i = 0; i < m->nv; i++) force = fmax(force, fabs(f[i]) + fabs(tau[i]));
    for (int i = 0; i < m->nv; i++) f[i] -= tau[i];
    for (int i = 0; i < rows.n; i++) {
        double sum = rows.bias[i], size = 1.0 + fabs(rows.bias[i]);
        for (int k = rows.start[i]; k < rows.start[i + 1]; k++) {
            f[rows.dof[k]] -= rows.J[k] * lam[i];
            force = fmax(force, fabs(rows.J[k] * lam[i]));
            sum += rows.J[k] * qdd[rows.dof[k]];
            size += fabs(rows.J[k] * qdd[rows.dof[k]]);
        }
        worst = fmax(worst, fabs(sum) / size);
    }
    for (int i = 0; i < m->nv; i++) worst = fmax(worst, fabs(f[i]) / force);
    free(f);
    rb_rows_release(t->d, &rows);
    return worst;
}

/* Velocities that break the loops are allowed here: the equations do not mind. Close to a singular
 * position accelerations are huge and two good solutions differ; their defects still do not. */
TEST(accelerations_equal_the_dense_solution)
{
    int regular = 0, moderate = 0;
    for (uint64_t seed = 1; seed <= 300; seed++) {
        TEST_SEED(seed);
        tree t = closed_tree(seed, 1);
        int nv = t.m->nv;
        double *tau = tree_numbers(&t.rng, nv, 3.0), *qdd = tree_numbers(&t.rng, nv, 1.0);
        double *exact = tree_numbers(&t.rng, nv, 1.0), lam[16];
        rb_loop_info info;
        CHECK_INT(rb_aba_factor(t.m, t.d, NULL, NULL), RB_OK);
        CHECK_INT(rb_forward_loops(t.m, t.d, tau, qdd, lam, &info), RB_OK);
        CHECK_INT(info.rows, 8);
        if (info.rank == info.rows) {
            regular++;
            CHECK(equation_defect(&t, tau, qdd, lam) < 1e-11);
            reference(&t, tau, exact);
            double scale = largest(exact, nv);
            if (scale < 1e3) {
                for (int i = 0; i < nv; i++) CHECK_NEAR(qdd[i], exact[i], 1e-9 * scale);
                moderate++;
            }
        }
        free(exact);
        free(qdd);
        free(tau);
        tree_close(&t);
    }
    CHECK(regular > 200);
    CHECK(moderate > 200);
}

/* Every equality three times: the same motion, a third of the rank. */
TEST(redundant_rows_change_nothing)
{
    int compared = 0;
    for (uint64_t seed = 1; seed <= 100; seed++) {
        TEST_SEED(seed);
        tree once = closed_tree(seed, 1), thrice = closed_tree(seed, 3);
        int nv = once.m->nv;
        double *tau = tree_numbers(&once.rng, nv, 3.0);
        double *a = tree_numbers(&once.rng, nv, 1.0), *b = tree_numbers(&once.rng, nv, 1.0);
        memcpy(thrice.d->v, once.d->v, (size_t)nv * sizeof *tau);
        rb_velocity(thrice.m, thrice.d);
        rb_loop_info one, three;
        CHECK_INT(rb_aba_factor(once.m, once.d, NULL, NULL), RB_OK);
        CHECK_INT(rb_aba_factor(thrice.m, thrice.d, NULL, NULL), RB_OK);
        CHECK_INT(rb_forward_loops(once.m, once.d, tau, a, NULL, &one), RB_OK);
        CHECK_INT(rb_forward_loops(thrice.m, thrice.d, tau, b, NULL, &three), RB_OK);
        CHECK_INT(three.rows, 3 * one.rows);
        CHECK_INT(three.rank, one.rank);
        if (one.rank == one.rows) {
            double scale = largest(a, nv);
            for (int i = 0; i < nv; i++) CHECK_NEAR(a[i], b[i], 1e-9 * scale);
            CHECK(three.residual < 1e-10);
            compared++;
        }
        free(b);
        free(a);
        free(tau);
        tree_close(&thrice);
        tree_close(&once);
    }
    CHECK(compared > 50);
}

static int add_rod(rb_spec *spec, int parent, const double pos[3], double com_x, double mass,
                   double inertia)
{
    rb_error err = { 0 };
    rb_body_def body = rb_body_default();
    body.parent = parent;
    memcpy(body.pose.pos, pos, sizeof body.pose.pos);
    body.inertia_source = RB_INERTIA_GIVEN;
    body.mass = mass;
    body.com[0] = com_x;
    for (int i = 0; i < 3; i++) body.inertia[i] = inertia;
    rb_joint_def joint = rb_joint_default();
    joint.body = rb_spec_add_body(spec, &body, &err);
    joint.axis[1] = 1.0;
    joint.axis[2] = 0.0;
    CHECK(joint.body > 0 && rb_spec_add_joint(spec, &joint, &err) >= 0);
    return joint.body;
}

/* A parallelogram: two cranks of length a = 0.5 (mass 1, centre at a/2, I = 0.02 about it) carry a
 * coupler (mass 3) that does not turn. Angle th below the horizontal, angular velocity w about y:
 *
 *     T = 1/2 (2 (I + m a^2/4) + m_c a^2) w^2,   U = -(2 m a/2 + m_c a) g sin th
 *     th'' = (m a + m_c a) g cos th / (2 I + m a^2/2 + m_c a^2)
 *
 * for any w. The loop lies in a plane, so of its three rows only two are independent. */
TEST(a_parallelogram_by_hand)
{
    static const double a = 0.5, width = 0.8, g = 10.0;
    rb_error err = { 0 };
    rb_spec *spec = rb_spec_new(NULL);
    rb_spec_option(spec)->gravity[2] = -g;
    int left = add_rod(spec, 0, (double[3]){ 0.0, 0.0, 0.0 }, a / 2.0, 1.0, 0.02);
    int coupler = add_rod(spec, left, (double[3]){ a, 0.0, 0.0 }, 0.3, 3.0, 0.1);
    int right = add_rod(spec, 0, (double[3]){ 0.0, 0.0, -width }, a / 2.0, 1.0, 0.02);
    rb_equality_def eq = rb_equality_default();
    eq.type = RB_EQ_CONNECT;
    eq.obj1 = right;
    eq.obj2 = coupler;
    eq.pose1.pos[0] = a;
    eq.derive2 = 1;
    CHECK(rb_spec_add_equality(spec, &eq, &err) >= 0);
    rb_model *m = rb_spec_compile(spec, NULL, &err);
    CHECK(m != NULL);
    rb_data *d = rb_data_new(m, NULL);

    for (double th = -1.2; th < 1.3; th += 0.3) {
        for (double w = -3.0; w < 4.0; w += 3.0) {
            d->q[0] = d->q[2] = th;
            d->q[1] = -th;
            d->v[0] = d->v[2] = w;
            d->v[1] = -w;
            rb_kinematics(m, d);
            rb_velocity(m, d);
            CHECK_INT(rb_aba_factor(m, d, NULL, NULL), RB_OK);
            double tau[3] = { 0.0 }, qdd[3], lam[3];
            rb_loop_info info;
            CHECK_INT(rb_forward_loops(m, d, tau, qdd, lam, &info), RB_OK);
            CHECK_INT(info.rank, 2);
            double inertia = 2.0 * 0.02 + a * a / 2.0 + 3.0 * a * a;
            double exact = (a + 3.0 * a) * g * cos(th) / inertia;
            CHECK_NEAR(qdd[0], exact, 1e-12 * 100.0);
            CHECK_NEAR(qdd[1], -exact, 1e-12 * 100.0);
            CHECK_NEAR(qdd[2], exact, 1e-12 * 100.0);
        }
    }
    rb_data_free(d);
    rb_model_free(m, NULL);
    rb_spec_free(spec);
}

/* Without active equalities the loops do nothing. */
TEST(without_rows_it_is_forward_dynamics)
{
    tree t = tree_open(4, tree_any(4));
    int nv = t.m->nv;
    double *a = tree_numbers(&t.rng, nv, 1.0), *b = tree_numbers(&t.rng, nv, 1.0);
    CHECK_INT(rb_forward(t.m, t.d, t.d->tau, a), RB_OK);
    CHECK_INT(rb_aba_factor(t.m, t.d, NULL, NULL), RB_OK);
    rb_loop_info info;
    CHECK_INT(rb_forward_loops(t.m, t.d, t.d->tau, b, NULL, &info), RB_OK);
    CHECK_INT(info.rows, 0);
    for (int i = 0; i < nv; i++) CHECK_NEAR(a[i], b[i], 1e-10 * largest(a, nv));
    free(b);
    free(a);
    tree_close(&t);
}

/* Two points of one rigid part, far from the origin: nothing to hold, no row of rounding. */
TEST(a_loop_within_a_rigid_part_has_no_effect)
{
    static const rb_equality_type types[] = { RB_EQ_CONNECT, RB_EQ_WELD, RB_EQ_HINGE, RB_EQ_SLIDE };
    for (uint64_t seed = 1; seed <= 100; seed++) {
        TEST_SEED(seed);
        rb_error err = { 0 };
        tree t = tree_open(seed, tree_any(seed % 16));
        int last = rb_spec_count(t.spec, RB_KIND_BODY) - 1;
        rb_spec_body(t.spec, 1)->pose.pos[0] = 50.0;
        rb_equality_def eq = rb_equality_default();
        eq.obj1 = last;
        eq.obj2 = tree_add_body(t.spec, &t.rng, last, 0); /* fixed to it */
        eq.type = types[seed % 4];
        eq.derive2 = 1;
        tree_vector(&t.rng, 0.3, eq.pose1.pos);
        tree_quaternion(&t.rng, eq.pose1.quat);
        CHECK(rb_spec_add_equality(t.spec, &eq, &err) >= 0);
        rb_data_free(t.d);
        rb_model_free(t.m, NULL);
        t.m = rb_spec_compile(t.spec, NULL, &err);
        CHECK(t.m != NULL);
        t.d = rb_data_new(t.m, NULL);
        tree_shake(t.m, t.d, &t.rng);
        int nv = t.m->nv;
        double *a = tree_numbers(&t.rng, nv, 1.0), *b = tree_numbers(&t.rng, nv, 1.0);
        rb_kinematics(t.m, t.d);
        rb_velocity(t.m, t.d);
        CHECK_INT(rb_aba_factor(t.m, t.d, NULL, NULL), RB_OK);
        rb_aba_solve(t.m, t.d, t.d->tau, a);
        rb_loop_info info;
        CHECK_INT(rb_forward_loops(t.m, t.d, t.d->tau, b, NULL, &info), RB_OK);
        CHECK_INT(info.rank, 0);
        CHECK(info.residual < 1e-10);
        for (int i = 0; i < nv; i++) CHECK(a[i] == b[i]);
        free(b);
        free(a);
        tree_close(&t);
    }
}

TEST(out_of_memory_is_reported)
{
    tree t = closed_tree(9, 40);
    int failures = 0, nv = t.m->nv;
    double *qdd = tree_numbers(&t.rng, nv, 1.0);
    rb_status status = RB_NOMEM;
    for (size_t bytes = 0; status != RB_OK; bytes += 4096) {
        test_budget budget = { .left = bytes };
        rb_alloc alloc = test_budget_alloc(&budget);
        rb_data *d = rb_data_new(t.m, &alloc);
        if (d) {
            rb_kinematics(t.m, d);
            rb_velocity(t.m, d);
            CHECK_INT(rb_aba_factor(t.m, d, NULL, NULL), RB_OK);
            status = rb_forward_loops(t.m, d, d->tau, qdd, NULL, NULL);
            CHECK(status == RB_OK || status == RB_NOMEM);
            failures += status != RB_OK;
        }
        rb_data_free(d);
        CHECK_INT(budget.memory.live, 0);
    }
    CHECK(failures > 0);
    free(qdd);
    tree_close(&t);
}

TEST_MAIN(RUN(accelerations_equal_the_dense_solution), RUN(redundant_rows_change_nothing),
          RUN(a_parallelogram_by_hand), RUN(without_rows_it_is_forward_dynamics),
          RUN(a_loop_within_a_rigid_part_has_no_effect), RUN(out_of_memory_is_reported))
