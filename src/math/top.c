/* The free top. In axes of the body, with the angular momentum L = J w,
 *
 *     L' = L x w,      q' = 1/2 q (0, w)                                                    (B.1)
 *
 * A ball rotates with constant w. Where two moments are equal, J along the axis e and J_3 about it,
 *
 *     q(t) = q(0) exp(t L / J) exp(t lambda e),   lambda = (1 - J_3 / J) w_3                (B.2)
 *
 * and w rotates about e by -lambda t. All other bodies: the power series of (B.1), whose terms
 * follow from each other,
 *
 *     (n + 1) L_{n+1} = sum_k L_k x w_{n-k},   (n + 1) q_{n+1} = 1/2 sum_k q_k w_{n-k}      (B.3)
 *
 * over parts of the time that are short against the radius of convergence, which is at least
 * J_min / |L|; each part ends where the terms vanish in rounding. The sum of rounding is corrected
 * after each part: |L| and the energy of the start by the least change of L, then the direction
 * of L in the world by the least rotation (B.4). */
#include "math/top.h"

#include <math.h>
#include <stddef.h>

#include "base/constants.h"
#include "math/quat.h"
#include "math/vec3.h"

/* Length of a part, in units of J_min / |L| [1]. Larger: more terms than MOST_TERMS. Smaller: more
 * parts. */
#define PART 0.4

enum { MOST_TERMS = 40 };

/* ---- making ------------------------------------------------------------------------------------
 */

static int equal_moments(const double J[6])
{
    if (J[3] != 0.0 || J[4] != 0.0 || J[5] != 0.0) return -1;
    if (J[0] == J[1] && J[1] == J[2]) return 3;
    for (int k = 0; k < 3; k++)
        if (J[(k + 1) % 3] == J[(k + 2) % 3]) return k;
    return -1;
}

/* Inverse of a symmetric matrix by its minors. */
static void invert(const double A[6], double out[6])
{
    double a = A[1] * A[2] - A[5] * A[5], b = A[4] * A[5] - A[3] * A[2];
    double c = A[3] * A[5] - A[4] * A[1], det = A[0] * a + A[3] * b + A[4] * c;
    out[0] = a / det;
    out[3] = b / det;
    out[4] = c / det;
    out[1] = (A[0] * A[2] - A[4] * A[4]) / det;
    out[5] = (A[3] * A[4] - A[0] * A[5]) / det;
    out[2] = (A[0] * A[1] - A[3] * A[3]) / det;
}

int rb_top_make(const double J[6], rb_top *top)
{
    for (int i = 0; i < 6; i++) top->J[i] = J[i];
    rb_sym3_eigen(J, top->moment, NULL);
    top->axis = equal_moments(J);
    if (!(top->moment[0] > 0.0) || !isfinite(top->moment[2])) return 0;
    invert(J, top->iJ);
    return 1;
}

/* ---- bounds ------------------------------------------------------------------------------------
 */

void rb_top_rate(const rb_top *top, const double w[3], double rate[3])
{
    double L[3], torque[3];
    rb_zero3(rate);
    if (top->axis == 3) return;
    rb_sym3_mul(top->J, w, L);
    rb_cross3(L, w, torque);
    rb_sym3_mul(top->iJ, torque, rate);
}

/* |w|^2 = sum x_i over the sum of J_i x_i = 2T and J_i^2 x_i = L^2 is a linear program, greatest
 * where the middle moment does not turn: (T.8) in one formula. */
double rb_top_spin(const rb_top *top, const double w[3])
{
    double now = rb_dot3(w, w), L[3], lo = top->moment[0], hi = top->moment[2];
    if (top->axis >= 0) return sqrt(now);
    rb_sym3_mul(top->J, w, L);
    double T2 = rb_dot3(L, w), L2 = rb_dot3(L, L);
    double most = (T2 * (lo + hi) - L2) / (lo * hi);
    return sqrt(fmax(now, most * (1.0 + 16.0 * RB_EPS)));
}

double rb_top_bend(const rb_top *top, const double w[3])
{
    if (top->axis == 3) return 0.0;
    double L[3];
    rb_sym3_mul(top->J, w, L);
    double spread = (top->moment[2] - top->moment[0]) / top->moment[0];
    return spread * rb_norm3(L) / top->moment[0] * rb_top_spin(top, w);
}

/* ---- equal moments -----------------------------------------------------------------------------
 */

static void turn_by(const double axis[3], double t, double q[4])
{
    double r[3], turn[4];
    rb_scale3(t, axis, r);
    rb_quat_exp(r, turn);
    rb_quat_mul(q, turn, q);
}

static void turn_symmetric(const rb_top *top, double t, double q[4], double w[3])
{
    int e = top->axis, i = (e + 1) % 3, k = (e + 2) % 3;
    double L[3], axis[3] = { 0.0, 0.0, 0.0 }, swing[4];
    rb_sym3_mul(top->J, w, L);
    rb_scale3(1.0 / top->J[i], L, L);
    double lambda = (1.0 - top->J[e] / top->J[i]) * w[e];
    axis[e] = lambda;
    turn_by(L, t, q);
    turn_by(axis, t, q);
    axis[e] = -lambda * t;
    rb_quat_exp(axis, swing);
    double angle_c = swing[0] * swing[0] - swing[1 + e] * swing[1 + e];
    double angle_s = 2.0 * swing[0] * swing[1 + e];
    double w_i = w[i], w_k = w[k], across = sqrt(w_i * w_i + w_k * w_k);
    w[i] = angle_c * w_i - angle_s * w_k;
    w[k] = angle_s * w_i + angle_c * w_k;

    /* the same rounding of sine and cosine in every flight would add up */
    double now = sqrt(w[i] * w[i] + w[k] * w[k]), scale = now > 0.0 ? across / now : 1.0;
    w[i] *= scale;
    w[k] *= scale;
}

/* ---- power series ------------------------------------------------------------------------------
 */

typedef struct series {
    double L[MOST_TERMS + 1][3], w[MOST_TERMS + 1][3], q[MOST_TERMS + 1][4];
} series;

/* Term n + 1 from those before. */
static void next_term(const rb_top *top, series *x, int n)
{
    double L[3] = { 0.0, 0.0, 0.0 }, q[4] = { 0.0, 0.0, 0.0, 0.0 }, scale = 1.0 / (n + 1);
    for (int k = 0; k <= n; k++) {
        double turn[3], part[4], spin[4] = { 0.0, x->w[n - k][0], x->w[n - k][1], x->w[n - k][2] };
        rb_cross3(x->L[k], x->w[n - k], turn);
        rb_add3(L, turn, L);
        rb_quat_mul(x->q[k], spin, part);
        for (int i = 0; i < 4; i++) q[i] += part[i];
    }
    rb_scale3(scale, L, x->L[n + 1]);
    rb_sym3_mul(top->iJ, x->L[n + 1], x->w[n + 1]);
    for (int i = 0; i < 4; i++) x->q[n + 1][i] = 0.5 * scale * q[i];
}

/* Size of a term beside the first, in L and q. */
static double term_size(const series *x, int n, double power)
{
    double L = rb_norm3(x->L[n]) / rb_norm3(x->L[0]), q = 0.0;
    for (int i = 0; i < 4; i++) q = fmax(q, fabs(x->q[n][i]));
    return power * fmax(L, q);
}

/* q and L after t, |t| <= PART J_min / |L|. The sums run from the smallest term up. */
static void turn_part(const rb_top *top, double t, double q[4], double L[3])
{
    series x;
    int n = 0, small = 0;
    double power = 1.0;
    rb_copy3(L, x.L[0]);
    rb_sym3_mul(top->iJ, L, x.w[0]);
    for (int i = 0; i < 4; i++) x.q[0][i] = q[i];
    while (n < MOST_TERMS && small < 2) {
        next_term(top, &x, n++);
        power *= fabs(t);
        small = term_size(&x, n, power) < 0.25 * RB_EPS ? small + 1 : 0;
    }
    rb_zero3(L);
    for (int i = 0; i < 4; i++) q[i] = 0.0;
    for (; n >= 0; n--) {
        for (int i = 0; i < 3; i++) L[i] = L[i] * t + x.L[n][i];
        for (int i = 0; i < 4; i++) q[i] = q[i] * t + x.q[n][i];
    }
}

/* w of J w = L; the inverse alone would be off by the same rounding in every flight. */
static void spin_of(const rb_top *top, const double L[3], double w[3])
{
    double missing[3], dw[3];
    rb_sym3_mul(top->iJ, L, w);
    rb_sym3_mul(top->J, w, missing);
    rb_sub3(L, missing, missing);
    rb_sym3_mul(top->iJ, missing, dw);
    rb_add3(w, dw, w);
}

/* (B.4): L gets back |L|^2 = L2 and L.w = T2. Where w is along L, length and energy are one. */
static void keep_invariants(const rb_top *top, double L2, double T2, double L[3])
{
    double w[3];
    spin_of(top, L, w);
    double LL = rb_dot3(L, L), Lw = rb_dot3(L, w), ww = rb_dot3(w, w);
    double r1 = 0.5 * (L2 - LL), r2 = 0.5 * (T2 - Lw), det = LL * ww - Lw * Lw;
    if (det > 1e-6 * LL * ww) {
        rb_axpy3((ww * r1 - Lw * r2) / det, L, L);
        rb_axpy3((LL * r2 - Lw * r1) / det, w, L);
    } else {
        rb_axpy3(r1 / LL, L, L);
    }
}

/* Rotates q so that L keeps its direction in the world. */
static void keep_direction(const double L_w[3], const double L[3], double q[4])
{
    double now[3], r[3], turn[4];
    rb_quat_normalize(q);
    rb_quat_rotate(q, L, now);
    rb_cross3(now, L_w, r);
    rb_scale3(1.0 / rb_dot3(L_w, L_w), r, r);
    rb_quat_exp(r, turn);
    rb_quat_mul(turn, q, q);
    rb_quat_normalize(q);
}

static void turn_general(const rb_top *top, double t, double q[4], double w[3])
{
    double L[3], L_w[3];
    rb_sym3_mul(top->J, w, L);
    double L2 = rb_dot3(L, L), T2 = rb_dot3(L, w);
    rb_quat_rotate(q, L, L_w);
    double parts = ceil(fabs(t) * sqrt(L2) / (PART * top->moment[0]));
    if (!(parts >= 1.0)) parts = 1.0;
    double part = t / parts;
    for (double i = 0.0; i < parts; i += 1.0) {
        turn_part(top, part, q, L);
        keep_invariants(top, L2, T2, L);
        keep_direction(L_w, L, q);
    }
    spin_of(top, L, w);
}

void rb_top_turn(const rb_top *top, double t, double q[4], double w[3])
{
    double angle = fabs(t) * fmax(fabs(w[0]), fmax(fabs(w[1]), fabs(w[2])));
    if (angle < RB_EPS * RB_EPS) return; /* nothing of it shows; squares would vanish */
    if (top->axis == 3)
        turn_by(w, t, q);
    else if (top->axis >= 0)
        turn_symmetric(top, t, q, w);
    else
        turn_general(top, t, q, w);
    if (top->axis >= 0) rb_quat_normalize(q);
}
