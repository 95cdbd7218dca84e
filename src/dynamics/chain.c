/* A chain of joints as rows (D.51).
 *
 * In minimal coordinates joints connect a parent to a link. Here both bodies are free and the
 * coordinates of the chain are not among those of the model, except the ones with a rotor. They are
 * found from the two frames: rotations by the closed forms for one, two or three axes [Murray
 * 1994, 3.2], translations by least squares. With the coordinates a walk along the chain gives its
 * motion vectors S and its acceleration a at rest (D.2), (D.4). What the joints without rotor, T,
 * cannot do is forbidden:
 *
 *     N'T = 0,     N'(V - V_2 - S_r v_r) = 0,     N'(alpha - alpha_2 - S_r qdd_r - a) = 0 */
#include "dynamics/chain.h"

#include <math.h>
#include <string.h>

#include "base/constants.h"
#include "dynamics/gauge.h"
#include "dynamics/place.h"
#include "dynamics/span.h"
#include "math/spatial.h"
#include "math/trig.h"
#include "rattleback/dynamics.h"

enum { MAX_JOINTS = RB_CHAIN_JOINTS, MAX_DOFS = RB_CHAIN_DOFS };

/* The joints of one chain; turn and shift are its coordinates, measured from the reference. */
typedef struct joints {
    int n;
    const int *type;
    const double *pos, *axis;
    int jnt[MAX_JOINTS]; /* rotor, -1: none */
    double turn[MAX_JOINTS][4];
    double shift[MAX_JOINTS];
    int open[MAX_JOINTS];        /* rotations without rotor */
    double expected[MAX_JOINTS]; /* expected angle of a free rotation: the middle of its range, or
                                    where its spring rests; 0: not known                      */
    int nopen;
} joints;

/* ---- coordinates from frames ------------------------------------------------------------------
 */

/* Angle about the unit vector a that brings x to y, as far as a turn about a can. */
static double angle_about(const double a[3], const double x[3], const double y[3])
{
    double c[3];
    rb_cross3(x, y, c);
    return rb_atan2(rb_dot3(a, c), rb_dot3(x, y) - rb_dot3(a, x) * rb_dot3(a, y));
}

static void turn_about(const double a[3], double angle, double q[4])
{
    rb_quat_axis_angle(a, angle, q);
}

/* Turn about a that is closest to the rotation T. */
static void twist(const double a[3], const double T[4], double q[4])
{
    q[0] = T[0];
    rb_scale3(rb_dot3(T + 1, a), a, q + 1);
    rb_quat_normalize(q);
}

/* Product of the rotations of joints first .. last - 1. */
static void product(const joints *c, int first, int last, double q[4])
{
    q[0] = 1.0;
    rb_zero3(q + 1);
    for (int i = first; i < last; i++) rb_quat_mul(q, c->turn[i], q);
}

/* out = conj(A) T conj(B) */
static void peel(const double A[4], const double T[4], const double B[4], double out[4])
{
    double a[4], b[4];
    rb_quat_conj(A, a);
    rb_quat_conj(B, b);
    rb_quat_mul(a, T, out);
    rb_quat_mul(out, b, out);
}

/* Two free rotations about a1, a2 with the known K between them: T = Q1 K Q2. T a2 depends on Q1
 * alone. */
static void solve_two(joints *c, int first, int second, const double T[4])
{
    const double *a1 = c->axis + 3 * first, *a2 = c->axis + 3 * second;
    double K[4], x[3], y[3], rest[4];
    product(c, first + 1, second, K);
    rb_quat_rotate(K, a2, x);
    rb_quat_rotate(T, a2, y);
    turn_about(a1, angle_about(a1, x, y), c->turn[first]);
    product(c, first, second, K);
    rb_quat_conj(K, rest);
    rb_quat_mul(rest, T, rest);
    twist(a2, rest, c->turn[second]);
}

/* Three free rotations, T = Q1 K1 Q2 K2 Q3. The angle between a1 and T a3 depends on Q2 alone,
 * which has two solutions; `side` is +1 or -1. */
static void solve_three(joints *c, const double T[4], double side)
{
    int i1 = c->open[0], i2 = c->open[1], i3 = c->open[2];
    const double *a1 = c->axis + 3 * i1, *a2 = c->axis + 3 * i2, *a3 = c->axis + 3 * i3;
    double K1[4], K2[4], x[3], y[3], image[3], across[3], back[4], rest[4];
    product(c, i1 + 1, i2, K1);
    product(c, i2 + 1, i3, K2);
    rb_quat_rotate(K2, a3, x);
    rb_quat_conj(K1, back);
    rb_quat_rotate(back, a1, y);
    rb_quat_rotate(T, a3, image);

    /* y.Q2 x = base + A cos t + B sin t */
    double base = rb_dot3(a2, x) * rb_dot3(a2, y);
    rb_cross3(a2, x, across);
    double A = rb_dot3(x, y) - base, B = rb_dot3(y, across), want = rb_dot3(a1, image) - base;
    double open = sqrt(fmax(A * A + B * B - want * want, 0.0));
    turn_about(a2, rb_atan2(B, A) + side * rb_atan2(open, want), c->turn[i2]);

    product(c, i1 + 1, i3, K1);
    rb_quat_rotate(K1, a3, x);
    turn_about(a1, angle_about(a1, x, image), c->turn[i1]);
    product(c, i1, i3, K1);
    rb_quat_conj(K1, rest);
    rb_quat_mul(rest, T, rest);
    twist(a3, rest, c->turn[i3]);
}

/* All free rotations from the rotation of the whole chain. */
static void solve_turns(joints *c, const double whole[4], double side)
{
    if (c->nopen == 0) return;
    double before[4], behind[4], T[4];
    int first = c->open[0], last = c->open[c->nopen - 1];
    product(c, 0, first, before);
    product(c, last + 1, c->n, behind);
    peel(before, whole, behind, T);
    if (c->nopen == 3)
        solve_three(c, T, side);
    else if (c->nopen == 2)
        solve_two(c, first, last, T);
    else if (c->type[first] == RB_JOINT_BALL)
        memcpy(c->turn[first], T, sizeof c->turn[first]);
    else
        twist(c->axis + 3 * first, T, c->turn[first]);
}

/* Free translations from the end point of the chain, both in frame 2. Returns the squared residual.
 */
static double solve_shifts(joints *c, const double start[3], const double q_start[4],
                           const double target[3])
{
    double l[3], q[4], arm[3], x[3], open[MAX_JOINTS];
    int which[MAX_JOINTS];
    rb_span axes = { .rows = 3 };
    rb_copy3(start, l);
    memcpy(q, q_start, sizeof q);
    for (int i = 0; i < c->n; i++) {
        if (c->type[i] == RB_JOINT_SLIDE) {
            rb_quat_rotate(q, c->axis + 3 * i, arm);
            if (c->jnt[i] >= 0) {
                rb_axpy3(c->shift[i], arm, l);
            } else {
                which[axes.columns] = i;
                rb_span_add(&axes, arm);
            }
            continue;
        }
        rb_quat_rotate(q, c->pos + 3 * i, arm);
        rb_add3(l, arm, l);
        rb_quat_mul(q, c->turn[i], q);
        rb_quat_rotate(q, c->pos + 3 * i, arm);
        rb_sub3(l, arm, l);
    }
    rb_sub3(target, l, x);
    rb_span_solve(&axes, x, open);
    for (int k = 0; k < axes.columns; k++) c->shift[which[k]] = open[k];
    for (int i = 0; i < axes.rank; i++) rb_axpy3(-rb_dot3(axes.Q[i], x), axes.Q[i], x);
    return rb_dot3(x, x);
}

/* ---- along the chain --------------------------------------------------------------------------
 */

/* The chain in world axes, relative to the origin of body 2. Stage i is the frame in front of joint
 * i, the last stage is the end of the chain. */
typedef struct walk {
    double l[MAX_JOINTS + 1][3], q[MAX_JOINTS + 1][4];
    double anchor[MAX_JOINTS][3];
    int dofadr[MAX_JOINTS + 1];
    double S[MAX_DOFS][6];
    double v[MAX_DOFS];
} walk;

/* Stages, anchors and axes from the coordinates. The axes of a ball are those after it. */
static void place_stages(const joints *c, const double start[3], const double q_start[4], walk *w)
{
    rb_copy3(start, w->l[0]);
    memcpy(w->q[0], q_start, sizeof w->q[0]);
    for (int i = 0; i < c->n; i++) {
        double arm[3], *l = w->l[i + 1], *q = w->q[i + 1];
        int k = w->dofadr[i];
        memset(w->S[k], 0, sizeof w->S[k]);
        memcpy(q, w->q[i], sizeof w->q[i]);
        rb_copy3(w->l[i], l);
        if (c->type[i] == RB_JOINT_SLIDE) {
            rb_quat_rotate(q, c->axis + 3 * i, w->S[k] + 3);
            rb_axpy3(c->shift[i], w->S[k] + 3, l);
            w->dofadr[i + 1] = k + 1;
            continue;
        }
        rb_quat_rotate(q, c->pos + 3 * i, arm);
        rb_add3(l, arm, w->anchor[i]);
        rb_quat_mul(q, c->turn[i], q);
        rb_quat_rotate(q, c->pos + 3 * i, arm);
        rb_sub3(w->anchor[i], arm, l);
        w->dofadr[i + 1] = k + (c->type[i] == RB_JOINT_BALL ? 3 : 1);
        for (int n = 0; k + n < w->dofadr[i + 1]; n++) {
            double unit[3] = { n == 0, n == 1, n == 2 };
            rb_quat_rotate(q, c->type[i] == RB_JOINT_BALL ? unit : c->axis + 3 * i, w->S[k + n]);
        }
    }
}

/* Linear parts s x (O - A) of the rotations. */
static void finish_turns(const joints *c, walk *w)
{
    for (int i = 0; i < c->n; i++) {
        if (c->type[i] == RB_JOINT_SLIDE) continue;
        double r[3];
        rb_sub3(w->l[c->n], w->anchor[i], r);
        for (int k = w->dofadr[i]; k < w->dofadr[i + 1]; k++) rb_cross3(w->S[k], r, w->S[k] + 3);
    }
}

/* a += alpha x r + w x (w x r) */
static void carry(const double w[3], const double alpha[3], const double r[3], double a[3])
{
    double x[3];
    rb_cross3(alpha, r, x);
    rb_add3(a, x, a);
    rb_cross3(w, r, x);
    rb_cross3(w, x, x);
    rb_add3(a, x, a);
}

/* Acceleration (angular; of O) of the end of the chain while body 2 rotates at w2 without
 * accelerating and the rates of the joints are constant. */
static void rest_acceleration(const joints *c, const walk *w, const double w2[3], double a[6])
{
    double spin[3], r[3], x[3];
    rb_copy3(w2, spin);
    rb_zero6(a);
    carry(spin, a, w->l[0], a + 3);
    for (int i = 0; i < c->n; i++) {
        int k = w->dofadr[i];
        if (c->type[i] == RB_JOINT_SLIDE) {
            rb_sub3(w->l[i + 1], w->l[i], r);
            carry(spin, a, r, a + 3);
            rb_cross3(spin, w->S[k] + 3, x);
            rb_axpy3(2.0 * w->v[k], x, a + 3);
            continue;
        }

        /* to the anchor with the stage before, from it with the stage after */
        double turn[3] = { 0.0, 0.0, 0.0 };
        for (; k < w->dofadr[i + 1]; k++) rb_axpy3(w->v[k], w->S[k], turn);
        rb_sub3(w->anchor[i], w->l[i], r);
        carry(spin, a, r, a + 3);
        rb_cross3(spin, turn, x);
        rb_add3(a, x, a);
        rb_add3(spin, turn, spin);
        rb_sub3(w->l[i + 1], w->anchor[i], r);
        carry(spin, a, r, a + 3);
    }
}

/* ---- the rows ---------------------------------------------------------------------------------
 */

/* Everything about the two bodies. */
typedef struct ends {
    double p1[3], q1[4], V1[6], a1[6]; /* frame 1                                           */
    double p2[3], q2[4], V2[6], a2[6]; /* body 2                                            */
    double l[3];                       /* p1 - p2                                           */
    double start[3], q_start[4];       /* frame 2 from p2, world axes: where the chain begins */
} ends;

static void find_end(const rb_model *m, const rb_data *d, int body, const double *pos,
                     const double *quat, double p[3], double q[4], double V[6], double a[6])
{
    double R[9];
    rb_place(m, d, body, pos, quat, p, R);
    rb_quat_from_rot(R, q);
    rb_point_velocity(m, d, body, p, V);
    rb_jacobian_bias(m, d, body, p, a);
}

static void find_ends(const rb_model *m, const rb_data *d, int e, ends *x)
{
    static const double origin[3] = { 0.0, 0.0, 0.0 }, identity[4] = { 1.0, 0.0, 0.0, 0.0 };
    find_end(m, d, m->eq_obj1[e], m->eq_pos1 + 3 * e, m->eq_quat1 + 4 * e, x->p1, x->q1, x->V1,
             x->a1);
    find_end(m, d, m->eq_obj2[e], origin, identity, x->p2, x->q2, x->V2, x->a2);
    rb_sub3(x->p1, x->p2, x->l);
    rb_quat_rotate(x->q2, m->eq_pos2 + 3 * e, x->start);
    rb_quat_mul(x->q2, m->eq_quat2 + 4 * e, x->q_start);
}

/* Coordinates of the rotors; the rotations of the others are free. */
static void find_joints(const rb_model *m, const rb_data *d, int e, joints *c)
{
    int adr = m->eq_chainadr[e];
    *c = (joints){ .n = m->eq_chainnum[e],
                   .type = m->chain_type + adr,
                   .pos = m->chain_pos + 3 * adr,
                   .axis = m->chain_axis + 3 * adr };
    for (int i = 0; i < c->n; i++) {
        int j = m->chain_jnt[adr + i] < m->njnt ? m->chain_jnt[adr + i] : -1;
        c->jnt[i] = j;
        c->turn[i][0] = 1.0;
        if (j < 0) {
            if (c->type[i] != RB_JOINT_SLIDE) c->open[c->nopen++] = i;
            if (m->chain_jnt[adr + i] >= 0)
                c->expected[i] =
                    rb_gauge_expected(m, d, m->chain_jnt[adr + i]) - m->chain_ref[adr + i];
            continue;
        }
        const double *q = d->q + m->jnt_qadr[j];
        if (c->type[i] == RB_JOINT_SLIDE) {
            c->shift[i] = q[0] - m->chain_ref[adr + i];
        } else if (c->type[i] == RB_JOINT_HINGE) {
            rb_quat_axis_angle(c->axis + 3 * i, q[0] - m->chain_ref[adr + i], c->turn[i]);
        } else {
            memcpy(c->turn[i], q, sizeof c->turn[i]);
            rb_quat_normalize(c->turn[i]);
        }
    }
}

/* Sum of squared half angles between the free rotations and the expected ones. */
static double surprise(const joints *c)
{
    double sum = 0.0;
    for (int k = 0; k < c->nopen; k++) {
        int i = c->open[k];
        double expected[4], turn[4], r[3];
        turn_about(c->axis + 3 * i, -c->expected[i], expected);
        rb_quat_mul(expected, c->turn[i], turn);
        rb_quat_log(turn, r);
        sum += rb_dot3(r, r);
    }
    return sum;
}

/* The free coordinates; of the two solutions for three rotations, the one that ends nearer to the
 * target, and where both reach it, as with three axes through one point, the expected one. */
static void solve_open(joints *c, const ends *x)
{
    double whole[4], size = 1.0 + rb_dot3(x->l, x->l);
    rb_quat_conj(x->q_start, whole);
    rb_quat_mul(whole, x->q1, whole);
    solve_turns(c, whole, 1.0);
    double miss = solve_shifts(c, x->start, x->q_start, x->l);
    if (c->nopen < 3) return;
    joints other = *c;
    solve_turns(&other, whole, -1.0);
    double other_miss = solve_shifts(&other, x->start, x->q_start, x->l);
    double rounding = RB_CHAIN_MISS * RB_CHAIN_MISS * size;
    int both = miss <= rounding && other_miss <= rounding;
    if (both ? surprise(&other) < surprise(c) : other_miss < miss) *c = other;
}

/* Splits the dofs into rotors and the rest; their rates from the motion of the two bodies. */
static void find_rates(const rb_model *m, const rb_data *d, const joints *c, const double dV[6],
                       walk *w, rb_span *T, rb_chain *out)
{
    double rest[6];
    int column[MAX_DOFS];
    memcpy(rest, dV, sizeof rest);
    for (int i = 0; i < c->n; i++) {
        for (int k = w->dofadr[i]; k < w->dofadr[i + 1]; k++) {
            if (c->jnt[i] < 0) {
                column[T->columns] = k;
                out->open[T->columns] = i;
                rb_span_add(T, w->S[k]);
                continue;
            }
            int dof = m->jnt_dofadr[c->jnt[i]] + k - w->dofadr[i];
            w->v[k] = d->v[dof];
            rb_axpy6(-w->v[k], w->S[k], rest);
            out->dof[out->nrotor] = dof;
            rb_copy6(w->S[k], out->S[out->nrotor++]);
        }
    }
    out->nopen = T->columns;
    rb_span_solve(T, rest, out->rate);
    rb_span_dual(T, out->C);
    for (int k = 0; k < T->columns; k++) w->v[column[k]] = out->rate[k];
}

void rb_chain_place(const rb_model *m, const rb_data *d, int e, rb_chain *out)
{
    ends x;
    joints c;
    walk w = { 0 };
    rb_span T = { .rows = 6 };
    memset(out, 0, sizeof *out);
    find_ends(m, d, e, &x);
    find_joints(m, d, e, &c);
    solve_open(&c, &x);
    place_stages(&c, x.start, x.q_start, &w);
    finish_turns(&c, &w);

    /* motion and acceleration of frame 1 relative to the same point of body 2 */
    double dV[6], da[6], a[6], miss[6], turn[4];
    rb_shift_motion(x.l, x.V2, dV);
    rb_shift_motion(x.l, x.a2, da);
    for (int i = 0; i < 6; i++) dV[i] = x.V1[i] - dV[i];
    find_rates(m, d, &c, dV, &w, &T, out);
    rest_acceleration(&c, &w, x.V2, a);
    for (int i = 0; i < 6; i++) da[i] = x.a1[i] - da[i] - a[i];

    /* where frame 1 is, less where the chain ends */
    rb_quat_conj(w.q[c.n], turn);
    rb_quat_mul(x.q1, turn, turn);
    rb_quat_log(turn, miss);
    rb_sub3(x.l, w.l[c.n], miss + 3);

    out->n = rb_span_complement(&T, out->N);
    for (int i = 0; i < out->n; i++) {
        out->error[i] = rb_dot6(out->N[i], miss);
        out->bias[i] = rb_dot6(out->N[i], da);
    }
    for (int k = 0; k < out->nopen; k++) out->open_bias[k] = rb_dot6(out->C[k], da);
    memcpy(out->turn, c.turn, sizeof out->turn);
    memcpy(out->shift, c.shift, sizeof out->shift);
    rb_copy3(x.p1, out->p);
}
