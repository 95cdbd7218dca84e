/* Free bodies by the midpoint rule (D.36), each alone. With the origin in the centre of mass
 *
 *     m (v+ - v) = h (m g + f)
 *     I (w+ - w) = h (t - w_m x I w_m),     w_m = (w + w+) / 2,   axes of the body          (D.42)
 *
 * so that orientation does not enter; Newton's method on three equations takes the place of
 * iterations over the articulated tree. The rotation of Cayley's map, 2 atan(h |w_m| / 2) about
 * w_m, is the quaternion (1, h w_m / 2) made a unit one. */
#include "dynamics/smooth_free.h"

#include <math.h>

#include "base/constants.h"
#include "math/quat.h"
#include "math/spatial.h"

enum { MAX_STEPS = 20, MAX_SUBSTEPS = 4096 };

/* ---- which bodies -----------------------------------------------------------------------------
 */

static int is_zero(const double *x, int n)
{
    for (int i = 0; i < n; i++) {
        if (x[i] != 0.0) return 0;
    }
    return 1;
}

static int has_inertia(const rb_model *m, int k)
{
    const double *I = m->link_inertia_O + 6 * k;
    return m->link_mass[k] > 0.0 && I[0] > 0.0 && I[1] > 0.0 && I[2] > 0.0;
}

static int is_free_body(const rb_model *m, int k)
{
    int j = m->link_jntadr[k], dof = m->link_dofadr[k];
    return has_inertia(m, k) && m->link_jntnum[k] == 1 && m->jnt_type[j] == RB_JOINT_FREE &&
           m->link_parent[k] == 0 && m->jnt_stiffness[j] == 0.0 &&
           is_zero(m->link_com + 3 * k, 3) && is_zero(m->dof_damping + dof, 6) &&
           is_zero(m->dof_armature + dof, 6);
}

int rb_smooth_free_takes(const rb_model *m, const rb_data *d)
{
    if (m->plane || m->npoly > 0 || m->fluid || m->nsticky > 0 || m->nu > 0 || m->ntendon > 0 ||
        m->ngauge > 0 || d->slide)
        return 0;
    for (int k = 1; k < m->nlink; k++) {
        if (m->link_tree[k] >= 0 && !is_free_body(m, k)) return 0;
    }
    return is_zero(m->body_gravcomp, m->nbody) && is_zero(d->wrench, 6 * m->nbody);
}

/* ---- one body ---------------------------------------------------------------------------------
 */

/* x of A x = b by Cramer's rule; A = 2 I + h (..) is regular for h |w| < 1. */
static void solve3(const double A[9], const double b[3], double x[3])
{
    double a[3], c[3], n[3], columns[3][3];
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) columns[i][j] = A[3 * j + i];
    }
    rb_cross3(columns[1], columns[2], a);
    rb_cross3(columns[2], columns[0], c);
    rb_cross3(columns[0], columns[1], n);
    double inverse = 1.0 / rb_dot3(columns[0], a);
    x[0] = rb_dot3(b, a) * inverse;
    x[1] = rb_dot3(b, c) * inverse;
    x[2] = rb_dot3(b, n) * inverse;
}

/* f = 2 I (x - w) + h (x x I x) - h t, and its derivative 2 I + h (x~ I - (I x)~). */
static void spin_equation(const double I[6], double h, const double w[3], const double t[3],
                          const double x[3], double f[3], double A[9])
{
    double Ix[3], dw[3], gyro[3];
    rb_sym3_mul(I, x, Ix);
    rb_sub3(x, w, dw);
    rb_sym3_mul(I, dw, f);
    rb_cross3(x, Ix, gyro);
    for (int i = 0; i < 3; i++) f[i] = 2.0 * f[i] + h * (gyro[i] - t[i]);
    const double full[9] = { I[0], I[3], I[4], I[3], I[1], I[5], I[4], I[5], I[2] };
    for (int j = 0; j < 3; j++) {
        double column[3] = { full[j], full[3 + j], full[6 + j] }, e[3] = { j == 0, j == 1, j == 2 };
        double moved[3], turned[3];
        rb_cross3(x, column, moved);
        rb_cross3(Ix, e, turned);
        for (int i = 0; i < 3; i++) A[3 * i + j] = 2.0 * column[i] + h * (moved[i] - turned[i]);
    }
}

/* A ball does not feel its spin. */
static int is_ball(const double I[6])
{
    return I[0] == I[1] && I[1] == I[2] && is_zero(I + 3, 3);
}

/* w_m from w; returns what one more step would change, relative to |w_m|, INFINITY: no convergence.
 */
static double middle_spin(const double I[6], double h, const double w[3], const double t[3],
                          double w_m[3], rb_smooth_info *info)
{
    double change = INFINITY;
    rb_copy3(w, w_m);
    if (is_ball(I) && is_zero(t, 3)) return 0.0;
    for (int it = 0; it < MAX_STEPS; it++) {
        double f[3], A[9], dw[3];
        spin_equation(I, h, w, t, w_m, f, A);
        if (is_zero(f, 3)) return 0.0;
        solve3(A, f, dw);
        rb_sub3(w_m, dw, w_m);
        info->iterations++;
        double size = rb_norm3(w_m), now = size > 0.0 ? rb_norm3(dw) / size : 0.0;
        if (!(now < INFINITY)) return INFINITY;

        /* quadratic: the next change is about the square of this one */
        if (now * now <= RB_SMOOTH_TOL * RB_SMOOTH_RATE) return now * now;
        if (now >= 0.5 * change && now <= RB_SMOOTH_STALL) return now;
        change = now;
    }
    return INFINITY;
}

static void turn(const double w_m[3], double h, double q[4])
{
    double step[4] = { 1.0, 0.5 * h * w_m[0], 0.5 * h * w_m[1], 0.5 * h * w_m[2] };
    rb_quat_mul(q, step, q);
    rb_quat_normalize(q);
}

/* 1: moved. */
static int move_body(const rb_model *m, rb_data *d, int k, double h, rb_smooth_info *info)
{
    int dof = m->link_dofadr[k];
    double *q = d->q + m->jnt_qadr[m->link_jntadr[k]], *v = d->v + dof, *w = v + 3;
    const double *f = d->tau + dof, *t = f + 3, *I = m->link_inertia_O + 6 * k;
    double count = h * rb_norm3(w) / RB_SMOOTH_TURN;
    if (!(count < MAX_SUBSTEPS)) return 0;
    int substeps = 1 + (int)count;
    if (substeps > info->substeps) info->substeps = substeps;
    for (int i = 0; i < 3; i++) {
        double dv = h * (m->option.gravity[i] + f[i] / m->link_mass[k]);
        q[i] += h * (v[i] + 0.5 * dv);
        v[i] += dv;
    }
    for (int s = 0; s < substeps; s++) {
        double w_m[3], change = middle_spin(I, h / substeps, w, t, w_m, info);
        if (!(change <= RB_SMOOTH_STALL)) return 0;
        info->change = fmax(info->change, change);
        turn(w_m, h / substeps, q + 3);
        for (int i = 0; i < 3; i++) w[i] = 2.0 * w_m[i] - w[i];
    }
    return 1;
}

void rb_smooth_free_step(const rb_model *m, rb_data *d, double h, rb_smooth_info *info)
{
    int moved = 1;
    for (int k = 1; k < m->nlink && moved; k++) {
        if (m->link_tree[k] >= 0) moved = move_body(m, d, k, h, info);
    }
    for (int i = 0; i < m->nv; i++) moved = moved && d->v[i] * 0.0 == 0.0;
    info->converged = moved;
}
