/* Poses against a second method, velocities and accelerations against differences. */
#include "flow_support.h"
#include "rattleback/dynamics.h"

/* ---- by hand ----------------------------------------------------------------------------------
 */

/* Two links of 1 m in the x-z plane, hinges about y: the first raised by 30 degrees (a turn of -30
 * about y), the second bent back by 90. */
TEST(an_arm_of_two_links_by_hand)
{
    rb_spec *spec = rb_spec_new(NULL);
    rb_error err = { 0 };
    int last = 0;
    for (int i = 0; i < 2; i++) {
        rb_body_def body = rb_body_default();
        body.parent = last;
        body.pose.pos[0] = i;
        body.inertia_source = RB_INERTIA_GIVEN;
        body.mass = 1.0;
        body.com[0] = 1.0;
        body.inertia[0] = body.inertia[1] = body.inertia[2] = 0.1;
        last = rb_spec_add_body(spec, &body, &err);
        rb_joint_def joint = rb_joint_default();
        joint.body = last;
        joint.axis[1] = 2.0; /* made a unit vector */
        joint.axis[2] = 0.0;
        rb_spec_add_joint(spec, &joint, &err);
    }
    rb_model *m = rb_spec_compile(spec, NULL, &err);
    CHECK(m != NULL);
    rb_data *d = rb_data_new(m, NULL);
    const double pi = 3.14159265358979323846;
    d->q[0] = -pi / 6.0;
    d->q[1] = pi / 2.0;
    d->v[0] = 2.0;
    d->v[1] = -3.0;
    rb_kinematics(m, d);
    rb_velocity(m, d);

    /* elbow at (cos 30, 0, sin 30), the hand 1 m further at -60 degrees */
    CHECK_NEAR(d->link_p[6], sqrt(0.75), 1e-15);
    CHECK_NEAR(d->link_p[8], 0.5, 1e-15);
    CHECK_NEAR(d->link_p[6] + d->link_c[6], sqrt(0.75) + 0.5, 1e-15);
    CHECK_NEAR(d->link_p[8] + d->link_c[8], 0.5 - sqrt(0.75), 1e-15);

    /* 2 rad/s about y moves the elbow by w x l = (2 * 0.5, 0, -2 * cos 30), and it falls towards
     * the shoulder with w^2 */
    CHECK_NEAR(d->link_w[7], -1.0, 1e-15);
    CHECK_NEAR(d->link_v[6], 1.0, 1e-15);
    CHECK_NEAR(d->link_v[8], -2.0 * sqrt(0.75), 1e-15);
    CHECK_NEAR(d->link_a[12 + 3], -4.0 * sqrt(0.75), 1e-14);
    CHECK_NEAR(d->link_a[12 + 5], -4.0 * 0.5, 1e-14);
    rb_data_free(d);
    rb_model_free(m, NULL);
    rb_spec_free(spec);
}

/* ---- a second method --------------------------------------------------------------------------
 * Matrices, libm, one body after the other as the joints are defined; knows no links. */

typedef struct frame {
    double p[3], R[9];
} frame;

static void times(const double *A, const double *B, double *C)
{
    double X[9];
    for (int i = 0; i < 9; i++) {
        X[i] = 0.0;
        for (int k = 0; k < 3; k++) X[i] += A[3 * (i / 3) + k] * B[3 * k + i % 3];
    }
    memcpy(C, X, sizeof X);
}

static void times_vector(const double *A, const double *x, double *y)
{
    for (int i = 0; i < 3; i++) y[i] = A[3 * i] * x[0] + A[3 * i + 1] * x[1] + A[3 * i + 2] * x[2];
}

/* 1 + sin K + (1 - cos) K^2 */
static void rodrigues(const double axis[3], double angle, double R[9])
{
    double n = sqrt(axis[0] * axis[0] + axis[1] * axis[1] + axis[2] * axis[2]);
    double x = axis[0] / n, y = axis[1] / n, z = axis[2] / n;
    double K[9] = { 0.0, -z, y, z, 0.0, -x, -y, x, 0.0 }, KK[9];
    times(K, K, KK);
    for (int i = 0; i < 9; i++) {
        R[i] = (i % 4 == 0) + sin(angle) * K[i] + (1.0 - cos(angle)) * KK[i];
    }
}

static void from_quaternion(const double *q, double R[9])
{
    double n = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]), w = q[0] / n;
    double s = sqrt(fmax(0.0, 1.0 - w * w));
    double axis[3] = { q[1], q[2], q[3] };
    if (s < 1e-12) axis[2] = 1.0;
    rodrigues(axis, 2.0 * atan2(sqrt(q[1] * q[1] + q[2] * q[2] + q[3] * q[3]) / n, w), R);
}

static void slow_joint(const rb_joint_def *joint, const double *q, frame *f)
{
    double n = sqrt(joint->axis[0] * joint->axis[0] + joint->axis[1] * joint->axis[1] +
                    joint->axis[2] * joint->axis[2]);
    double turn[9], arm[3], along[3];
    if (joint->type == RB_JOINT_FREE) {
        memcpy(f->p, q, sizeof f->p);
        from_quaternion(q + 3, f->R);
        return;
    }
    if (joint->type == RB_JOINT_SLIDE) {
        times_vector(f->R, joint->axis, along);
        for (int i = 0; i < 3; i++) f->p[i] += along[i] / n * (q[0] - joint->ref);
        return;
    }
    if (joint->type == RB_JOINT_HINGE) {
        rodrigues(joint->axis, q[0] - joint->ref, turn);
    } else {
        from_quaternion(q, turn);
    }
    times_vector(f->R, joint->pos, arm);
    for (int i = 0; i < 3; i++) f->p[i] += arm[i];
    times(f->R, turn, f->R);
    times_vector(f->R, joint->pos, arm);
    for (int i = 0; i < 3; i++) f->p[i] -= arm[i];
}

static void slow_frames(rb_spec *spec, const double *q, frame *frames)
{
    static const int ncoord[] = { 7, 4, 1, 1 };
    int nbody = rb_spec_count(spec, RB_KIND_BODY), njoint = rb_spec_count(spec, RB_KIND_JOINT);
    frames[0] = (frame){ .R = { 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0 } };
    for (int b = 1; b < nbody; b++) {
        const rb_body_def *body = rb_spec_body(spec, b);
        const frame *parent = &frames[body->parent];
        frame *f = &frames[b];
        double own[9];
        times_vector(parent->R, body->pose.pos, f->p);
        for (int i = 0; i < 3; i++) f->p[i] += parent->p[i];
        from_quaternion(body->pose.quat, own);
        times(parent->R, own, f->R);
        const double *coord = q;
        for (int j = 0; j < njoint; j++) {
            const rb_joint_def *joint = rb_spec_joint(spec, j);
            if (joint->body == b) slow_joint(joint, coord, f);
            coord += ncoord[joint->type];
        }
    }
}

TEST(body_frames_agree_with_a_slow_second_method)
{
    for (uint64_t seed = 1; seed <= 200; seed++) {
        TEST_SEED(seed);
        tree t = tree_open(seed, tree_any(seed));
        frame *slow = malloc((size_t)t.m->nbody * sizeof *slow);
        CHECK(slow != NULL);
        slow_frames(t.spec, t.d->q, slow);
        rb_kinematics(t.m, t.d);
        rb_frames(t.m, t.d);
        for (int b = 0; b < t.m->nbody; b++) {
            /* positions add up over the depth: 0.4 m and rounding of the rotation for each body */
            double tol = 1e-14 * (4.0 + b);
            for (int i = 0; i < 3; i++) CHECK_NEAR(t.d->body_p[3 * b + i], slow[b].p[i], tol);
            for (int i = 0; i < 9; i++) CHECK_NEAR(t.d->body_R[9 * b + i], slow[b].R[i], tol);
        }
        free(slow);
        tree_close(&t);
    }
}

/* ---- frames of geoms and sites, mocap bodies --------------------------------------------------
 */

TEST(geoms_and_sites_move_with_their_body_and_mocap_with_the_caller)
{
    rb_spec *spec = rb_spec_new(NULL);
    rb_error err = { 0 };
    rb_body_def body = rb_body_default();
    body.mocap = 1;
    int hand = rb_spec_add_body(spec, &body, &err);
    body = rb_body_default();
    body.parent = hand;
    body.pose.pos[2] = 1.0;
    int held = rb_spec_add_body(spec, &body, &err);
    rb_geom_def geom = rb_geom_default();
    geom.body = held;
    geom.size[0] = 0.1;
    geom.pose.pos[0] = 0.5;
    geom.pose.quat[0] = 0.0;
    geom.pose.quat[3] = 1.0; /* half a turn about z */
    CHECK(rb_spec_add_geom(spec, &geom, &err) == 0);
    rb_site_def site = rb_site_default();
    site.body = held;
    site.pose.pos[1] = 0.25;
    CHECK(rb_spec_add_site(spec, &site, &err) == 0);
    rb_model *m = rb_spec_compile(spec, NULL, &err);
    CHECK(m != NULL);
    CHECK_INT(m->nmocap, 1);
    rb_data *d = rb_data_new(m, NULL);

    /* the hand at (1, 2, 3), turned by half about x; twice the unit length changes nothing */
    const double pose[7] = { 1.0, 2.0, 3.0, 0.0, 2.0, 0.0, 0.0 };
    memcpy(d->mocap, pose, sizeof pose);
    rb_kinematics(m, d);
    rb_velocity(m, d);
    rb_frames(m, d);
    CHECK_NEAR(d->body_p[3 * held + 2], 2.0, 1e-15); /* z points down now */
    CHECK_NEAR(d->geom_p[0], 1.5, 1e-15);
    CHECK_NEAR(d->geom_R[0], -1.0, 1e-15);
    CHECK_NEAR(d->geom_R[8], -1.0, 1e-15);
    CHECK_NEAR(d->site_p[1], 1.75, 1e-15);
    CHECK_NEAR(d->site_R[4], -1.0, 1e-15);
    rb_data_free(d);
    rb_model_free(m, NULL);
    rb_spec_free(spec);
}

/* ---- velocities and accelerations -------------------------------------------------------------
 */

static void read_positions(tree *t, void *context, double *out)
{
    (void)context;
    memcpy(out, t->d->link_p, (size_t)t->m->nlink * 3 * sizeof *out);
}

static void read_rotations(tree *t, void *context, double *out)
{
    (void)context;
    memcpy(out, t->d->link_R, (size_t)t->m->nlink * 9 * sizeof *out);
}

static void read_velocities(tree *t, void *context, double *out)
{
    (void)context;
    memcpy(out, t->d->link_w, (size_t)t->m->nlink * 3 * sizeof *out);
    memcpy(out + 3 * t->m->nlink, t->d->link_v, (size_t)t->m->nlink * 3 * sizeof *out);
}

static double largest(const double *x, int n)
{
    double most = 1.0;
    for (int i = 0; i < n; i++) most = fmax(most, fabs(x[i]));
    return most;
}

/* Trees whose velocities do not add up to more than differences can follow. */
static tree open_small(uint64_t seed)
{
    tree_options o = tree_any(seed);
    if (o.nlink > 12) o.nlink = 1 + o.nlink % 12;
    return tree_open(seed, o);
}

/* dR/dt = w~ R and dO/dt = v */
TEST(velocities_are_the_derivatives_of_the_poses)
{
    for (uint64_t seed = 1; seed <= 200; seed++) {
        TEST_SEED(seed);
        tree t = open_small(seed);
        int n = t.m->nlink;
        double *p_dot = tree_numbers(&t.rng, 3 * n, 0.0), *R_dot = tree_numbers(&t.rng, 9 * n, 0.0);
        flow f = flow_open(&t, NULL);
        flow_derivative(&f, &t, read_positions, NULL, 3 * n, p_dot);
        flow_derivative(&f, &t, read_rotations, NULL, 9 * n, R_dot);
        double tol = 1e-9 * largest(t.d->link_v, 3 * n) * largest(t.d->link_w, 3 * n);
        for (int i = 0; i < 3 * n; i++) CHECK_NEAR(p_dot[i], t.d->link_v[i], tol);
        for (int k = 0; k < n; k++) {
            const double *w = t.d->link_w + 3 * k, *R = t.d->link_R + 9 * k;
            for (int col = 0; col < 3; col++) {
                double x = R[col], y = R[3 + col], z = R[6 + col];
                CHECK_NEAR(R_dot[9 * k + col], w[1] * z - w[2] * y, tol);
                CHECK_NEAR(R_dot[9 * k + 3 + col], w[2] * x - w[0] * z, tol);
                CHECK_NEAR(R_dot[9 * k + 6 + col], w[0] * y - w[1] * x, tol);
            }
        }
        flow_close(&f);
        free(p_dot);
        free(R_dot);
        tree_close(&t);
    }
}

/* With the joint velocities held, (dw/dt; dv/dt) = phi'(that of the parent) + a. */
TEST(bias_accelerations_are_the_derivatives_of_the_velocities)
{
    for (uint64_t seed = 1; seed <= 200; seed++) {
        TEST_SEED(seed);
        tree t = open_small(seed);
        int n = t.m->nlink;
        double *V_dot = tree_numbers(&t.rng, 6 * n, 0.0), *alpha = tree_numbers(&t.rng, 6 * n, 0.0);
        flow f = flow_open(&t, NULL);
        flow_derivative(&f, &t, read_velocities, NULL, 6 * n, V_dot);
        for (int k = 1; k < n; k++) {
            const double *A = alpha + 6 * t.m->link_parent[k], *l = t.d->link_l + 3 * k;
            const double *a = t.d->link_a + 6 * k;
            double *out = alpha + 6 * k;
            for (int i = 0; i < 3; i++) {
                int y = (i + 1) % 3, z = (i + 2) % 3;
                out[i] = A[i] + a[i];
                out[3 + i] = A[3 + i] + (A[y] * l[z] - A[z] * l[y]) + a[3 + i];
            }
        }
        double speed = largest(t.d->link_w, 3 * n);
        double tol = 1e-9 * speed * speed * largest(t.d->link_v, 3 * n);
        for (int k = 0; k < n; k++) {
            for (int i = 0; i < 3; i++) {
                CHECK_NEAR(V_dot[3 * k + i], alpha[6 * k + i], tol);
                CHECK_NEAR(V_dot[3 * (n + k) + i], alpha[6 * k + 3 + i], tol);
            }
        }
        flow_close(&f);
        free(V_dot);
        free(alpha);
        tree_close(&t);
    }
}

/* ---- the manifold -----------------------------------------------------------------------------
 */

TEST(difference_undoes_integrate)
{
    for (uint64_t seed = 1; seed <= 200; seed++) {
        TEST_SEED(seed);
        tree t = open_small(seed);
        int nq = t.m->nq, nv = t.m->nv;
        double *q1 = tree_numbers(&t.rng, nq, 0.0), *back = tree_numbers(&t.rng, nv, 0.0);

        /* turns stay below half a turn: |v| < sqrt(12) */
        double h = seed % 2 ? 0.9 : 1e-9;
        rb_integrate(t.m, t.d->q, t.d->v, h, q1);
        rb_difference(t.m, t.d->q, q1, back);
        for (int i = 0; i < nv; i++) CHECK_NEAR(back[i], h * t.d->v[i], 2e-15);

        /* in place, and back to where it came from */
        rb_integrate(t.m, q1, t.d->v, -h, q1);
        for (int i = 0; i < nq; i++) CHECK_NEAR(q1[i], t.d->q[i], 2e-15);
        free(q1);
        free(back);
        tree_close(&t);
    }
}

TEST(normalize_touches_quaternions_only)
{
    tree t = tree_open(6, tree_any(6));
    double *q = tree_numbers(&t.rng, t.m->nq, 3.0);
    memcpy(t.d->q, q, (size_t)t.m->nq * sizeof *q);
    rb_normalize(t.m, t.d->q);
    int quaternions = 0;
    for (int j = 0; j < t.m->njnt; j++) {
        int type = t.m->jnt_type[j], a = t.m->jnt_qadr[j];
        int first = type == RB_JOINT_FREE ? 3 : 0;
        int is_quat = type == RB_JOINT_FREE || type == RB_JOINT_BALL;
        for (int i = 0; i < (is_quat ? first : 1); i++) CHECK(t.d->q[a + i] == q[a + i]);
        if (!is_quat) continue;
        const double *u = t.d->q + a + first;
        CHECK_NEAR(u[0] * u[0] + u[1] * u[1] + u[2] * u[2] + u[3] * u[3], 1.0, 1e-15);
        quaternions++;
    }
    CHECK(quaternions > 5);
    free(q);
    tree_close(&t);
}

/* The pose depends on the direction of a quaternion, not on its length. */
TEST(the_length_of_quaternions_does_not_matter)
{
    tree t = tree_open(14, tree_any(14));
    rb_kinematics(t.m, t.d);
    double *R = tree_numbers(&t.rng, 9 * t.m->nlink, 0.0);
    memcpy(R, t.d->link_R, (size_t)t.m->nlink * 9 * sizeof *R);
    for (int j = 0; j < t.m->njnt; j++) {
        int first = t.m->jnt_type[j] == RB_JOINT_FREE ? 3 : 0;
        if (t.m->jnt_type[j] != RB_JOINT_FREE && t.m->jnt_type[j] != RB_JOINT_BALL) continue;
        for (int i = 0; i < 4; i++) t.d->q[t.m->jnt_qadr[j] + first + i] *= 3.0;
    }
    rb_kinematics(t.m, t.d);
    for (int i = 0; i < 9 * t.m->nlink; i++) CHECK_NEAR(t.d->link_R[i], R[i], 1e-13);
    free(R);
    tree_close(&t);
}

TEST_MAIN(RUN(an_arm_of_two_links_by_hand), RUN(body_frames_agree_with_a_slow_second_method),
          RUN(geoms_and_sites_move_with_their_body_and_mocap_with_the_caller),
          RUN(velocities_are_the_derivatives_of_the_poses),
          RUN(bias_accelerations_are_the_derivatives_of_the_velocities),
          RUN(difference_undoes_integrate), RUN(normalize_touches_quaternions_only),
          RUN(the_length_of_quaternions_does_not_matter))
