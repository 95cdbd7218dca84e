/* Three articulated systems with four contacts between them, the example of the DART note on
 * contact in generalised coordinates:
 *
 *     contact 1 between systems 1 and 3, contact 2 between 1 and 2, contacts 3 and 4 between 2 and
 * 3 M v = tau* + dt (N f_n + B f_d)
 *
 *     A = [ dt N'M^-1 N   dt N'M^-1 B   0 ]      q = [ N'M^-1 tau* ]
 *         [ dt B'M^-1 N   dt B'M^-1 B   E ]          [ B'M^-1 tau* ]
 *         [ mu            -E'           0 ]          [ 0           ]
 *
 * M, N, B from the library are compared with an assembly from scratch: own forward kinematics with
 * rotation matrices, geometric Jacobians, M as the sum over bodies. Then A and q by way of the
 * compliance recursion and the articulated-body algorithm are compared with the dense products. */
#include "test.h"
#include "tree_support.h"

enum {
    SYSTEMS = 3,
    CONTACTS = 4,
    DIRECTIONS = 8,
    MAX_BODIES = 12,
    MAX_DOFS = 20,
    FRICTION = CONTACTS * DIRECTIONS,
    ROWS = CONTACTS + FRICTION + CONTACTS
};

static const double dt = 0.01;

/* ---- the scene ------------------------------------------------------------------------------ */

/* What the test knows about the model without asking the library. */
typedef struct scene {
    rb_model *m;
    rb_data *d;
    int nbody, nv;
    rb_body_def body[MAX_BODIES];   /* [0] is the world                    */
    rb_joint_def joint[MAX_BODIES]; /* every body has one, a hinge or free */
    int system[MAX_BODIES], dof[MAX_BODIES], q[MAX_BODIES];
    double p[MAX_BODIES][3], R[MAX_BODIES][9]; /* own forward kinematics   */
    double axis[MAX_BODIES][3], anchor[MAX_BODIES][3];
} scene;

typedef struct contact {
    int body_a, body_b; /* force acts on a, its opposite on b */
    double point[3], n[3], D[DIRECTIONS][3], mu;
} contact;

static void add_link(scene *s, rb_spec *spec, rb_rng *rng, int parent, int system)
{
    rb_error err = { 0 };
    int b = s->nbody++, is_free = system == 1 && parent == 0;
    rb_body_def body = rb_body_default();
    rb_joint_def joint = rb_joint_default();
    body.parent = parent;
    tree_vector(rng, 0.5, body.pose.pos);
    tree_quaternion(rng, body.pose.quat);
    tree_inertia(rng, &body);
    joint.type = is_free ? RB_JOINT_FREE : RB_JOINT_HINGE;
    tree_direction(rng, joint.axis);
    if (!is_free) tree_vector(rng, 0.2, joint.pos);
    CHECK_INT(rb_spec_add_body(spec, &body, &err), b);
    joint.body = b;
    CHECK(rb_spec_add_joint(spec, &joint, &err) >= 0);
    s->body[b] = body;
    s->joint[b] = joint;
    s->system[b] = system;
    s->dof[b] = s->nv;
    s->q[b] = b == 1 ? 0 : s->q[b - 1] + (s->joint[b - 1].type == RB_JOINT_FREE ? 7 : 1);
    s->nv += is_free ? 6 : 1;
}

/* An arm of three hinges, a floating body with two arms, an arm of four with a branch. */
static scene make_scene(rb_rng *rng)
{
    static const int parent[] = { 0, 1, 2, /**/ 0, 4, 4, /**/ 0, 7, 8, 8 };
    static const int system[] = { 0, 0, 0, /**/ 1, 1, 1, /**/ 2, 2, 2, 2 };
    rb_error err = { 0 };
    rb_spec *spec = rb_spec_new(NULL);
    scene s = { .nbody = 1 };
    for (size_t i = 0; i < sizeof parent / sizeof *parent; i++) {
        add_link(&s, spec, rng, parent[i], system[i]);
    }
    s.m = rb_spec_compile(spec, NULL, &err);
    if (!s.m) test_fail(__FILE__, __LINE__, "%s", err.text);
    rb_spec_free(spec);
    s.d = rb_data_new(s.m, NULL);
    CHECK_INT(s.m->nv, s.nv);
    CHECK_INT(s.m->ntree, SYSTEMS);
    tree_shake(s.m, s.d, rng);
    return s;
}

static void make_contacts(rb_rng *rng, contact *c)
{
    static const int pair[CONTACTS][2] = { { 3, 10 }, { 2, 5 }, { 6, 9 }, { 4, 10 } };
    for (int k = 0; k < CONTACTS; k++) {
        double t1[3], t2[3], along;
        c[k].body_a = pair[k][0];
        c[k].body_b = pair[k][1];
        c[k].mu = 0.3 + 0.1 * k;
        tree_vector(rng, 1.0, c[k].point);
        tree_direction(rng, c[k].n);
        do {
            tree_direction(rng, t1);
            along = t1[0] * c[k].n[0] + t1[1] * c[k].n[1] + t1[2] * c[k].n[2];
        } while (fabs(along) > 0.7);
        for (int i = 0; i < 3; i++) t1[i] = (t1[i] - along * c[k].n[i]) / sqrt(1.0 - along * along);
        for (int i = 0; i < 3; i++) {
            int x = (i + 1) % 3, y = (i + 2) % 3;
            t2[i] = c[k].n[x] * t1[y] - c[k].n[y] * t1[x];
        }
        for (int j = 0; j < DIRECTIONS; j++) {
            double angle = 6.283185307179586 * j / DIRECTIONS;
            for (int i = 0; i < 3; i++) {
                c[k].D[j][i] = cos(angle) * t1[i] + sin(angle) * t2[i];
            }
        }
    }
}

/* ---- from scratch: kinematics and Jacobians ------------------------------------------------- */

static void matrix_of(const double q[4], double R[9])
{
    double w = q[0], x = q[1], y = q[2], z = q[3];
    double M[9] = { w * w + x * x - y * y - z * z, 2 * (x * y - w * z),
                    2 * (x * z + w * y),           2 * (x * y + w * z),
                    w * w - x * x + y * y - z * z, 2 * (y * z - w * x),
                    2 * (x * z - w * y),           2 * (y * z + w * x),
                    w * w - x * x - y * y + z * z };
    memcpy(R, M, sizeof M);
}

static void multiply(const double A[9], const double B[9], double C[9])
{
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            C[3 * i + j] = 0.0;
            for (int k = 0; k < 3; k++) C[3 * i + j] += A[3 * i + k] * B[3 * k + j];
        }
    }
}

static void apply(const double A[9], const double x[3], double y[3])
{
    for (int i = 0; i < 3; i++) y[i] = A[3 * i] * x[0] + A[3 * i + 1] * x[1] + A[3 * i + 2] * x[2];
}

static void cross(const double a[3], const double b[3], double c[3])
{
    for (int i = 0; i < 3; i++) {
        int x = (i + 1) % 3, y = (i + 2) % 3;
        c[i] = a[x] * b[y] - a[y] * b[x];
    }
}

/* Rotation by the formula of Rodrigues. */
static void turn(const double axis[3], double angle, double R[9])
{
    double s = sin(angle), c = cos(angle);
    double K[9] = { 0.0, -axis[2], axis[1], axis[2], 0.0, -axis[0], -axis[1], axis[0], 0.0 };
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            R[3 * i + j] = c * (i == j) + (1.0 - c) * axis[i] * axis[j] + s * K[3 * i + j];
        }
    }
}

static void own_kinematics(scene *s)
{
    for (int i = 0; i < 9; i++) s->R[0][i] = i % 4 == 0;
    for (int b = 1; b < s->nbody; b++) {
        const double *q = s->d->q + s->q[b];
        if (s->joint[b].type == RB_JOINT_FREE) {
            memcpy(s->p[b], q, sizeof s->p[b]);
            matrix_of(q + 3, s->R[b]);
            continue;
        }
        int up = s->body[b].parent;
        double offset[3], local[9], rest[9], about[9], arm[3];
        apply(s->R[up], s->body[b].pose.pos, offset);
        matrix_of(s->body[b].pose.quat, local);
        multiply(s->R[up], local, rest);
        turn(s->joint[b].axis, q[0], about);
        multiply(rest, about, s->R[b]);

        /* the anchor stays where it is, the origin turns about it */
        apply(rest, s->joint[b].axis, s->axis[b]);
        apply(rest, s->joint[b].pos, arm);
        for (int i = 0; i < 3; i++) s->anchor[b][i] = s->p[up][i] + offset[i] + arm[i];
        apply(s->R[b], s->joint[b].pos, arm);
        for (int i = 0; i < 3; i++) s->p[b][i] = s->anchor[b][i] - arm[i];
    }
}

/* Columns of the angular (J_w) and linear (J_v) Jacobian of a point of body b, 3 x nv each. */
static void own_jacobian(const scene *s, int b, const double point[3], double J_w[3 * MAX_DOFS],
                         double J_v[3 * MAX_DOFS])
{
    int nv = s->nv;
    for (int i = 0; i < 3 * nv; i++) J_w[i] = J_v[i] = 0.0;
    for (; b > 0; b = s->body[b].parent) {
        int dof = s->dof[b], is_free = s->joint[b].type == RB_JOINT_FREE;
        for (int k = 0; k < (is_free ? 3 : 1); k++) {
            double axis[3], arm[3], v[3];
            int column = dof + (is_free ? 3 + k : 0);
            for (int i = 0; i < 3; i++) {
                axis[i] = is_free ? s->R[b][3 * i + k] : s->axis[b][i];
                arm[i] = point[i] - (is_free ? s->p[b][i] : s->anchor[b][i]);
            }
            cross(axis, arm, v);
            for (int i = 0; i < 3; i++) {
                J_w[i * nv + column] = axis[i];
                J_v[i * nv + column] = v[i];
                if (is_free) J_v[i * nv + dof + k] = i == k;
            }
        }
    }
}

/* M = sum over bodies of m J_v'J_v + J_w' I J_w at the centres of mass */
static void own_mass(const scene *s, double M[MAX_DOFS * MAX_DOFS])
{
    int nv = s->nv;
    memset(M, 0, sizeof(double) * MAX_DOFS * MAX_DOFS);
    for (int b = 1; b < s->nbody; b++) {
        const double *I = s->body[b].inertia;
        double com[3], J_w[3 * MAX_DOFS], J_v[3 * MAX_DOFS], full[9], turned[9], world[9], R_t[9];
        double body[9] = { I[0], I[3], I[4], I[3], I[1], I[5], I[4], I[5], I[2] };
        memcpy(full, body, sizeof full);
        apply(s->R[b], s->body[b].com, com);
        for (int i = 0; i < 3; i++) com[i] += s->p[b][i];
        for (int i = 0; i < 9; i++) R_t[i] = s->R[b][3 * (i % 3) + i / 3];
        multiply(s->R[b], full, turned);
        multiply(turned, R_t, world);
        own_jacobian(s, b, com, J_w, J_v);
        for (int x = 0; x < nv; x++) {
            for (int y = 0; y < nv; y++) {
                double sum = 0.0;
                for (int i = 0; i < 3; i++) {
                    sum += s->body[b].mass * J_v[i * nv + x] * J_v[i * nv + y];
                    for (int j = 0; j < 3; j++) {
                        sum += J_w[i * nv + x] * world[3 * i + j] * J_w[j * nv + y];
                    }
                }
                M[x * nv + y] += sum;
            }
        }
    }
}

/* ---- stacking ------------------------------------------------------------------------------- */

/* Column of N or B: J_a' dir - J_b' dir, with the linear Jacobians given (3 x nv). */
static void stack_column(int nv, const double *J_a, const double *J_b, const double dir[3],
                         double *out)
{
    for (int x = 0; x < nv; x++) {
        out[x] = 0.0;
        for (int i = 0; i < 3; i++) out[x] += (J_a[i * nv + x] - J_b[i * nv + x]) * dir[i];
    }
}

typedef struct stacked {
    double M[MAX_DOFS * MAX_DOFS];
    double G[(CONTACTS + FRICTION) * MAX_DOFS]; /* rows: N' then B' */
} stacked;

static void stack_contact(const contact *c, int k, int nv, const double *J_a, const double *J_b,
                          stacked *out)
{
    stack_column(nv, J_a, J_b, c->n, out->G + k * nv);
    for (int j = 0; j < DIRECTIONS; j++) {
        stack_column(nv, J_a, J_b, c->D[j], out->G + (CONTACTS + k * DIRECTIONS + j) * nv);
    }
}

static void stack_own(const scene *s, const contact *c, stacked *out)
{
    own_mass(s, out->M);
    for (int k = 0; k < CONTACTS; k++) {
        double ignored[3 * MAX_DOFS], J_a[3 * MAX_DOFS], J_b[3 * MAX_DOFS];
        own_jacobian(s, c[k].body_a, c[k].point, ignored, J_a);
        own_jacobian(s, c[k].body_b, c[k].point, ignored, J_b);
        stack_contact(&c[k], k, s->nv, J_a, J_b, out);
    }
}

static void stack_library(const scene *s, const contact *c, stacked *out)
{
    rb_kinematics(s->m, s->d);
    rb_velocity(s->m, s->d);
    rb_mass(s->m, s->d);
    rb_mass_dense(s->m, s->d, out->M);
    for (int k = 0; k < CONTACTS; k++) {
        double J_a[6 * MAX_DOFS], J_b[6 * MAX_DOFS];
        rb_jacobian(s->m, s->d, c[k].body_a, c[k].point, J_a);
        rb_jacobian(s->m, s->d, c[k].body_b, c[k].point, J_b);
        stack_contact(&c[k], k, s->nv, J_a + 3 * s->nv, J_b + 3 * s->nv, out);
    }
}

/* ---- the LCP of (14) and (15) --------------------------------------------------------------- */

/* x = M^-1 x by elimination without pivoting: M is positive definite. */
static void solve_mass(int n, const double *M, double *x)
{
    double A[MAX_DOFS * MAX_DOFS];
    memcpy(A, M, sizeof(double) * (size_t)(n * n));
    for (int k = 0; k < n; k++) {
        for (int i = k + 1; i < n; i++) {
            double l = A[i * n + k] / A[k * n + k];
            for (int j = k; j < n; j++) A[i * n + j] -= l * A[k * n + j];
            x[i] -= l * x[k];
        }
    }
    for (int k = n - 1; k >= 0; k--) {
        for (int j = k + 1; j < n; j++) x[k] -= A[k * n + j] * x[j];
        x[k] /= A[k * n + k];
    }
}

typedef struct lcp {
    double A[ROWS * ROWS], q[ROWS];
} lcp;

/* The rows that know no dynamics. */
static void fill_cone(const contact *c, lcp *out)
{
    int lam = CONTACTS + FRICTION;
    for (int k = 0; k < CONTACTS; k++) {
        out->A[(lam + k) * ROWS + k] = c[k].mu;
        for (int j = 0; j < DIRECTIONS; j++) {
            int row = CONTACTS + k * DIRECTIONS + j;
            out->A[row * ROWS + lam + k] = 1.0;
            out->A[(lam + k) * ROWS + row] = -1.0;
        }
    }
}

/* Dense: G M^-1 G', G M^-1 tau*, from the assembly of this file; c from the library's RNEA. */
static void dense_lcp(const scene *s, const contact *c, const stacked *own, lcp *out)
{
    int nv = s->nv, rows = CONTACTS + FRICTION;
    double x[MAX_DOFS];
    memset(out, 0, sizeof *out);
    fill_cone(c, out);
    for (int j = 0; j <= rows; j++) {
        for (int i = 0; i < nv; i++) {
            double Mv = 0.0;
            for (int k = 0; k < nv; k++) Mv += own->M[i * nv + k] * s->d->v[k];
            double tau_star = Mv - dt * (s->d->c[i] - s->d->tau[i]);
            x[i] = j < rows ? own->G[j * nv + i] : tau_star;
        }
        solve_mass(nv, own->M, x);
        for (int i = 0; i < rows; i++) {
            double sum = 0.0;
            for (int k = 0; k < nv; k++) sum += own->G[i * nv + k] * x[k];
            if (j < rows)
                out->A[i * ROWS + j] = dt * sum;
            else
                out->q[i] = sum;
        }
    }
}

/* The same by the recursion: W of the eight points, relative in pairs, along n and D. M^-1 tau* is
 * the velocity that the bodies have without contacts, v + dt qdd. */
static void recursive_lcp(const scene *s, const contact *c, lcp *out)
{
    const int np = 2 * CONTACTS, ld = 3 * np;
    rb_point points[2 * CONTACTS];
    double W[9 * 4 * CONTACTS * CONTACTS], qdd[MAX_DOFS], free_v[MAX_DOFS];
    for (int k = 0; k < CONTACTS; k++) {
        points[2 * k].body = c[k].body_a;
        points[2 * k + 1].body = c[k].body_b;
        memcpy(points[2 * k].pos, c[k].point, sizeof c[k].point);
        memcpy(points[2 * k + 1].pos, c[k].point, sizeof c[k].point);
    }
    CHECK_INT(rb_aba_factor(s->m, s->d, NULL, NULL), RB_OK);
    rb_upsilon(s->m, s->d);
    CHECK_INT(rb_compliance(s->m, s->d, np, points, W), RB_OK);
    rb_aba_solve(s->m, s->d, s->d->tau, qdd);
    for (int i = 0; i < s->nv; i++) free_v[i] = s->d->v[i] + dt * qdd[i];

    memset(out, 0, sizeof *out);
    fill_cone(c, out);
    memcpy(s->d->v, free_v, sizeof(double) * (size_t)s->nv);
    rb_velocity(s->m, s->d);
    for (int i = 0; i < CONTACTS + FRICTION; i++) {
        int k = i < CONTACTS ? i : (i - CONTACTS) / DIRECTIONS;
        const double *dir = i < CONTACTS ? c[k].n : c[k].D[(i - CONTACTS) % DIRECTIONS];
        double V_a[6], V_b[6];
        rb_point_velocity(s->m, s->d, c[k].body_a, c[k].point, V_a);
        rb_point_velocity(s->m, s->d, c[k].body_b, c[k].point, V_b);
        for (int x = 0; x < 3; x++) out->q[i] += dir[x] * (V_a[3 + x] - V_b[3 + x]);

        for (int j = 0; j < CONTACTS + FRICTION; j++) {
            int l = j < CONTACTS ? j : (j - CONTACTS) / DIRECTIONS;
            const double *to = j < CONTACTS ? c[l].n : c[l].D[(j - CONTACTS) % DIRECTIONS];
            double sum = 0.0;
            for (int x = 0; x < 3; x++) {
                for (int y = 0; y < 3; y++) {
                    const double *at = W + (6 * k + x) * ld + 6 * l + y;
                    double relative = at[0] - at[3] - at[3 * ld] + at[3 * ld + 3];
                    sum += dir[x] * relative * to[y];
                }
            }
            out->A[i * ROWS + j] = dt * sum;
        }
    }
}

/* ---- tests ---------------------------------------------------------------------------------- */

static void close_scene(scene *s)
{
    rb_data_free(s->d);
    rb_model_free(s->m, NULL);
}

TEST(stacked_M_N_B_equal_the_assembly_from_scratch)
{
    for (uint64_t seed = 1; seed <= 50; seed++) {
        TEST_SEED(seed);
        rb_rng rng = rb_rng_make(seed);
        scene s = make_scene(&rng);
        contact c[CONTACTS];
        static stacked own, library;
        make_contacts(&rng, c);
        own_kinematics(&s);
        stack_own(&s, c, &own);
        stack_library(&s, c, &library);
        for (int i = 0; i < s.nv * s.nv; i++) CHECK_NEAR(library.M[i], own.M[i], 1e-12 * 10.0);
        for (int i = 0; i < (CONTACTS + FRICTION) * s.nv; i++) {
            CHECK_NEAR(library.G[i], own.G[i], 1e-13 * 10.0);
        }
        close_scene(&s);
    }
}

/* The zeros of the stacked matrices: systems do not share mass, contacts touch two of three. */
TEST(blocks_that_have_to_be_zero_are)
{
    static const int pair[CONTACTS][2] = { { 0, 2 }, { 0, 1 }, { 1, 2 }, { 1, 2 } };
    rb_rng rng = rb_rng_make(3);
    scene s = make_scene(&rng);
    contact c[CONTACTS];
    static stacked library;
    make_contacts(&rng, c);
    stack_library(&s, c, &library);
    for (int i = 0; i < s.nv; i++) {
        for (int j = 0; j < s.nv; j++) {
            int a = s.m->link_tree[s.m->dof_link[i]], b = s.m->link_tree[s.m->dof_link[j]];
            if (a != b) CHECK(library.M[i * s.nv + j] == 0.0);
        }
        for (int row = 0; row < CONTACTS + FRICTION; row++) {
            int k = row < CONTACTS ? row : (row - CONTACTS) / DIRECTIONS;
            int system = s.m->link_tree[s.m->dof_link[i]];
            int touched = system == pair[k][0] || system == pair[k][1];
            if (!touched) CHECK(library.G[row * s.nv + i] == 0.0);
        }
    }
    for (int k = 0; k < CONTACTS; k++) { /* and the pairs are what the test says */
        CHECK_INT(s.system[c[k].body_a], pair[k][0]);
        CHECK_INT(s.system[c[k].body_b], pair[k][1]);
    }
    close_scene(&s);
}

TEST(the_lcp_by_recursion_equals_the_dense_one)
{
    for (uint64_t seed = 1; seed <= 50; seed++) {
        TEST_SEED(seed);
        rb_rng rng = rb_rng_make(seed);
        scene s = make_scene(&rng);
        contact c[CONTACTS];
        static stacked own;
        static lcp dense, recursive;
        make_contacts(&rng, c);
        own_kinematics(&s);
        stack_own(&s, c, &own);
        rb_kinematics(s.m, s.d);
        rb_velocity(s.m, s.d);
        rb_bias(s.m, s.d);
        dense_lcp(&s, c, &own, &dense);
        recursive_lcp(&s, c, &recursive);
        double size_A = 0.0, size_q = 1.0;
        int rows = CONTACTS + FRICTION;
        for (int i = 0; i < rows * rows; i++) {
            size_A = fmax(size_A, fabs(dense.A[i / rows * ROWS + i % rows]));
        }
        for (int i = 0; i < ROWS; i++) size_q = fmax(size_q, fabs(dense.q[i]));
        for (int i = 0; i < ROWS * ROWS; i++) {
            CHECK_NEAR(recursive.A[i], dense.A[i], 1e-11 * size_A);
        }
        for (int i = 0; i < ROWS; i++) CHECK_NEAR(recursive.q[i], dense.q[i], 1e-11 * size_q);
        close_scene(&s);
    }
}

TEST_MAIN(RUN(stacked_M_N_B_equal_the_assembly_from_scratch), RUN(blocks_that_have_to_be_zero_are),
          RUN(the_lcp_by_recursion_equals_the_dense_one))
