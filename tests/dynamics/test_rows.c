/* Rows of equalities (D.19), (D.20): errors, Jacobians and biases against differences along
 * rb_integrate, on random trees with equalities of every type between random partners. */
#include "test.h"
#include "tree_support.h"

/* ---- models --------------------------------------------------------------------------------- */

static void draw_pose(rb_rng *rng, rb_pose *pose)
{
    tree_vector(rng, 0.3, pose->pos);
    tree_quaternion(rng, pose->quat);
}

/* Scalar joints of the spec; returns how many, at most 8. */
static int scalar_joints(rb_spec *spec, int joints[8])
{
    int found = 0;
    for (int j = 0; j < rb_spec_count(spec, RB_KIND_JOINT) && found < 8; j++) {
        rb_joint_type type = rb_spec_joint(spec, j)->type;
        if (type == RB_JOINT_HINGE || type == RB_JOINT_SLIDE) joints[found++] = j;
    }
    return found;
}

static void add_body_equalities(tree *t)
{
    static const rb_equality_type types[] = { RB_EQ_CONNECT, RB_EQ_WELD, RB_EQ_HINGE, RB_EQ_SLIDE };
    rb_error err = { 0 };
    int nbody = rb_spec_count(t->spec, RB_KIND_BODY);
    for (int i = 0; i < 8; i++) {
        rb_equality_def eq = rb_equality_default();
        eq.type = types[i % 4];
        eq.obj1 = tree_below(&t->rng, nbody);
        do {
            eq.obj2 = tree_below(&t->rng, nbody);
        } while (eq.obj2 == eq.obj1);
        draw_pose(&t->rng, &eq.pose1);
        draw_pose(&t->rng, &eq.pose2);
        if (rb_spec_add_equality(t->spec, &eq, &err) < 0) {
            test_fail(__FILE__, __LINE__, "%s", err.text);
        }
    }
}

static void add_coordinate_equalities(tree *t)
{
    rb_error err = { 0 };
    int joints[8], n = scalar_joints(t->spec, joints);
    if (n < 2) return;
    double coef[8];
    for (int i = 0; i < n; i++) coef[i] = rb_rng_uniform(&t->rng, -2.0, 2.0);
    for (int k = 0; k < 2; k++) {
        rb_tendon_def tendon = rb_tendon_default();
        tendon.njoint = k == 0 ? n : 2; /* the two share joints */
        tendon.joint = joints;
        tendon.coef = coef;
        CHECK(rb_spec_add_tendon(t->spec, &tendon, &err) >= 0);
    }
    for (int k = 0; k < 4; k++) {
        rb_equality_def eq = rb_equality_default();
        eq.type = k < 2 ? RB_EQ_JOINT : RB_EQ_TENDON;
        eq.obj1 = k < 2 ? joints[n - 1] : 1;
        eq.obj2 = k % 2 ? -1 : k < 2 ? joints[0] : 0;
        for (int i = 0; i < 5; i++) eq.poly[i] = rb_rng_uniform(&t->rng, -1.0, 1.0);
        if (rb_spec_add_equality(t->spec, &eq, &err) < 0) {
            test_fail(__FILE__, __LINE__, "%s", err.text);
        }
    }
}

static tree looped_tree(uint64_t seed)
{
    tree_options o = tree_any(seed);
    o.nlink = 2 + (int)(seed % 9);
    tree t = tree_open(seed, o);
    add_body_equalities(&t);
    add_coordinate_equalities(&t);
    rb_data_free(t.d);
    rb_model_free(t.m, NULL);
    rb_error err = { 0 };
    t.m = rb_spec_compile(t.spec, NULL, &err);
    if (!t.m) test_fail(__FILE__, __LINE__, "%s", err.text);
    t.d = rb_data_new(t.m, NULL);
    tree_shake(t.m, t.d, &t.rng);
    return t;
}

/* ---- rows at a place ------------------------------------------------------------------------ */

enum { MAX_ROWS = 64 };

typedef struct sample {
    int n;
    int type[MAX_ROWS], within[MAX_ROWS]; /* of the equality; row of it */
    double error[MAX_ROWS], Jv[MAX_ROWS], bias[MAX_ROWS];
} sample;

/* Rows at q (+) h v. */
static sample sample_at(const tree *t, double h)
{
    rb_data *d = rb_data_new(t->m, NULL);
    rb_data_copy(t->m, d, t->d);
    rb_integrate(t->m, t->d->q, t->d->v, h, d->q);
    rb_kinematics(t->m, d);
    rb_velocity(t->m, d);
    rb_rows rows;
    CHECK_INT(rb_loop_rows(t->m, d, &rows), RB_OK);
    CHECK(rows.n <= MAX_ROWS);
    sample s = { .n = rows.n };
    for (int i = 0; i < rows.n; i++) {
        s.type[i] = t->m->eq_type[rows.eq[i]];
        s.within[i] = i > 0 && rows.eq[i] == rows.eq[i - 1] ? s.within[i - 1] + 1 : 0;
        s.error[i] = rows.error[i];
        s.bias[i] = rows.bias[i];
        for (int k = rows.start[i]; k < rows.start[i + 1]; k++) {
            if (k > rows.start[i]) CHECK(rows.dof[k] > rows.dof[k - 1]);
            s.Jv[i] += rows.J[k] * d->v[rows.dof[k]];
        }
    }
    rb_rows_release(d, &rows);
    rb_data_free(d);
    return s;
}

/* Rows that compare orientations: their J is that of the angular velocities, not of the error. */
static int is_rotation(const sample *s, int i)
{
    return (s->type[i] == RB_EQ_WELD && s->within[i] >= 3) ||
           (s->type[i] == RB_EQ_SLIDE && s->within[i] >= 2);
}

/* The error of central differences is about 1e-10 of the third derivative. */
TEST(rows_are_the_derivatives_of_their_errors)
{
    static const double h = 1e-5;
    int seen[8] = { 0 };
    for (uint64_t seed = 1; seed <= 300; seed++) {
        TEST_SEED(seed);
        tree t = looped_tree(seed);
        sample now = sample_at(&t, 0.0), before = sample_at(&t, -h), after = sample_at(&t, h);
        for (int i = 0; i < now.n; i++) {
            double rate = (after.error[i] - before.error[i]) / (2.0 * h);
            double change = (after.Jv[i] - before.Jv[i]) / (2.0 * h);
            if (!is_rotation(&now, i)) CHECK_NEAR(now.Jv[i], rate, 1e-7 * (10.0 + fabs(rate)));
            CHECK_NEAR(now.bias[i], change, 1e-6 * (10.0 + fabs(change)));
            seen[now.type[i]]++;
        }
        tree_close(&t);
    }
    for (int type = RB_EQ_CONNECT; type <= RB_EQ_SLIDE; type++) CHECK(seen[type] > 100);
}

/* exp of a rotation vector, by the formula of Rodrigues */
static void rotation(const double r[3], double R[9])
{
    double angle = sqrt(r[0] * r[0] + r[1] * r[1] + r[2] * r[2]);
    double a = angle > 0.0 ? sin(angle) / angle : 1.0;
    double b = angle > 0.0 ? (1.0 - cos(angle)) / (angle * angle) : 0.5;
    double K[9] = { 0.0, -r[2], r[1], r[2], 0.0, -r[0], -r[1], r[0], 0.0 };
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            double K2 = 0.0;
            for (int k = 0; k < 3; k++) K2 += K[3 * i + k] * K[3 * k + j];
            R[3 * i + j] = (i == j) + a * K[3 * i + j] + b * K2;
        }
    }
}

static void frame_of(const rb_data *d, int body, const double *quat, double R[9])
{
    double w = quat[0], x = quat[1], y = quat[2], z = quat[3];
    double F[9] = { 1 - 2 * (y * y + z * z), 2 * (x * y - w * z),     2 * (x * z + w * y),
                    2 * (x * y + w * z),     1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
                    2 * (x * z - w * y),     2 * (y * z + w * x),     1 - 2 * (x * x + y * y) };
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            R[3 * i + j] = 0.0;
            for (int k = 0; k < 3; k++) {
                R[3 * i + j] += d->body_R[9 * body + 3 * i + k] * F[3 * k + j];
            }
        }
    }
}

/* R1 = exp(error) R2, and the rows are those of w1 - w2. */
static void check_rotation_rows(const tree *t, const rb_rows *rows, int first, int e)
{
    const rb_model *m = t->m;
    const rb_data *d = t->d;
    double R1[9], R2[9], turn[9];
    frame_of(d, m->eq_obj1[e], m->eq_quat1 + 4 * e, R1);
    frame_of(d, m->eq_obj2[e], m->eq_quat2 + 4 * e, R2);
    rotation(rows->error + first, turn);
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            double sum = 0.0;
            for (int k = 0; k < 3; k++) sum += turn[3 * i + k] * R2[3 * k + j];
            CHECK_NEAR(R1[3 * i + j], sum, 1e-13);
        }
    }

    size_t nv = (size_t)m->nv;
    double *J1 = calloc(6 * nv, sizeof *J1), *J2 = calloc(6 * nv, sizeof *J2);
    rb_jacobian(m, d, m->eq_obj1[e], d->body_p, J1);
    rb_jacobian(m, d, m->eq_obj2[e], d->body_p, J2);
    for (int i = 0; i < 3; i++) {
        for (int k = rows->start[first + i]; k < rows->start[first + i + 1]; k++) {
            size_t at = (size_t)i * nv + (size_t)rows->dof[k];
            CHECK_NEAR(rows->J[k], J1[at] - J2[at], 1e-13);
            J1[at] = J2[at] = 0.0;
        }
    }
    for (size_t at = 0; at < 3 * nv; at++) CHECK(J1[at] == J2[at]); /* what the rows left out */
    free(J2);
    free(J1);
}

TEST(rows_of_orientations_are_angular_velocities)
{
    for (uint64_t seed = 1; seed <= 100; seed++) {
        TEST_SEED(seed);
        tree t = looped_tree(seed);
        rb_kinematics(t.m, t.d);
        rb_velocity(t.m, t.d);
        rb_frames(t.m, t.d);
        rb_rows rows;
        CHECK_INT(rb_loop_rows(t.m, t.d, &rows), RB_OK);
        for (int i = 0; i < rows.n; i++) {
            int e = rows.eq[i];
            if (i > 0 && rows.eq[i - 1] == e) continue;
            if (t.m->eq_type[e] == RB_EQ_WELD) check_rotation_rows(&t, &rows, i + 3, e);
            if (t.m->eq_type[e] == RB_EQ_SLIDE) check_rotation_rows(&t, &rows, i + 2, e);
        }
        rb_rows_release(t.d, &rows);
        tree_close(&t);
    }
}

/* ---- small things --------------------------------------------------------------------------- */

static int is_ancestor_dof(const rb_model *m, int dof, int body)
{
    int k = m->body_link[body];
    while (k > 0 && k != m->dof_link[dof]) k = m->link_parent[k];
    return k > 0;
}

TEST(what_derive2_says_holds_at_the_reference)
{
    int shared = 0;
    for (uint64_t seed = 1; seed <= 50; seed++) {
        TEST_SEED(seed);
        tree t = looped_tree(seed);
        for (int e = 0; e < rb_spec_count(t.spec, RB_KIND_EQUALITY); e++) {
            rb_spec_equality(t.spec, e)->derive2 = 1;
        }
        rb_error err = { 0 };
        rb_model *m = rb_spec_compile(t.spec, NULL, &err);
        CHECK(m != NULL);
        rb_data *d = rb_data_new(m, NULL);
        rb_kinematics(m, d);
        rb_velocity(m, d);
        rb_rows rows;
        CHECK_INT(rb_loop_rows(m, d, &rows), RB_OK);
        for (int i = 0; i < rows.n; i++) {
            int type = m->eq_type[rows.eq[i]];
            if (type == RB_EQ_JOINT || type == RB_EQ_TENDON) continue;
            CHECK_NEAR(rows.error[i], 0.0, 1e-12);

            /* what moves both bodies does not move the loop: not even by rounding */
            for (int k = rows.start[i]; k < rows.start[i + 1]; k++) {
                int common = is_ancestor_dof(m, rows.dof[k], m->eq_obj1[rows.eq[i]]) &&
                             is_ancestor_dof(m, rows.dof[k], m->eq_obj2[rows.eq[i]]);
                if (common) CHECK(rows.J[k] == 0.0);
                shared += common;
            }
        }
        rb_rows_release(d, &rows);
        rb_data_free(d);
        rb_model_free(m, NULL);
        tree_close(&t);
    }
    CHECK(shared > 1000);
}

TEST(inactive_equalities_have_no_rows)
{
    tree t = looped_tree(5);
    for (int e = 0; e < rb_spec_count(t.spec, RB_KIND_EQUALITY); e++) {
        rb_spec_equality(t.spec, e)->active = e == 1;
    }
    rb_error err = { 0 };
    rb_model *m = rb_spec_compile(t.spec, NULL, &err);
    rb_data *d = rb_data_new(m, NULL);
    rb_kinematics(m, d);
    rb_velocity(m, d);
    rb_rows rows;
    CHECK_INT(rb_loop_rows(m, d, &rows), RB_OK);
    CHECK_INT(rows.n, 6);
    for (int i = 0; i < rows.n; i++) CHECK_INT(rows.eq[i], 1);
    rb_rows_release(d, &rows);
    CHECK_INT(rows.n, 0);
    rb_rows_release(d, &rows); /* twice is fine */
    rb_data_free(d);
    rb_model_free(m, NULL);
    tree_close(&t);
}

TEST(released_rows_give_the_memory_back)
{
    tree t = looped_tree(8);
    rb_kinematics(t.m, t.d);
    rb_velocity(t.m, t.d);
    rb_rows rows;
    CHECK_INT(rb_loop_rows(t.m, t.d, &rows), RB_OK);
    rb_rows_release(t.d, &rows);
    int growths = rb_arena_growths(t.d->arena);
    for (int i = 0; i < 1000; i++) {
        CHECK_INT(rb_loop_rows(t.m, t.d, &rows), RB_OK);
        rb_rows_release(t.d, &rows);
    }
    CHECK_INT(rb_arena_growths(t.d->arena), growths);
    tree_close(&t);
}

TEST_MAIN(RUN(rows_are_the_derivatives_of_their_errors),
          RUN(rows_of_orientations_are_angular_velocities),
          RUN(what_derive2_says_holds_at_the_reference), RUN(inactive_equalities_have_no_rows),
          RUN(released_rows_give_the_memory_back))
