#include "math/vec3.h"

#include <stddef.h>

enum { JACOBI_MAX_SWEEPS = 30 }; /* 6 are usual, convergence is quadratic */

/* Rotates rows and columns p, q of A (full 3x3) so that A_pq = 0 [Golub, Van Loan 2013, 8.5.2];
 * the columns of V follow. */
static void annihilate(double A[9], double V[9], int p, int q)
{
    double a_pq = A[3 * p + q];
    if (a_pq == 0.0) return;

    /* t = tan of the smaller angle; for huge theta 1/(2 theta), which may be 0 */
    double theta = (A[4 * q] - A[4 * p]) / (2.0 * a_pq);
    double t = copysign(1.0, theta) / (fabs(theta) + sqrt(1.0 + theta * theta));
    double c = 1.0 / sqrt(1.0 + t * t), s = t * c;

    int r = 3 - p - q;
    double a_rp = A[3 * r + p], a_rq = A[3 * r + q];
    A[4 * p] -= t * a_pq;
    A[4 * q] += t * a_pq;
    A[3 * p + q] = A[3 * q + p] = 0.0;
    A[3 * r + p] = A[3 * p + r] = c * a_rp - s * a_rq;
    A[3 * r + q] = A[3 * q + r] = s * a_rp + c * a_rq;
    for (int i = 0; i < 3; i++) {
        double v_p = V[3 * i + p], v_q = V[3 * i + q];
        V[3 * i + p] = c * v_p - s * v_q;
        V[3 * i + q] = s * v_p + c * v_q;
    }
}

/* Swaps columns p < q and flips the second, so that V remains a rotation. */
static void order_pair(double w[3], double V[9], int p, int q)
{
    if (w[p] <= w[q]) return;
    double w_p = w[p];
    w[p] = w[q];
    w[q] = w_p;
    for (int i = 0; i < 3; i++) {
        double v_p = V[3 * i + p];
        V[3 * i + p] = V[3 * i + q];
        V[3 * i + q] = -v_p;
    }
}

void rb_sym3_eigen(const double S[6], double w[3], double V_out[9])
{
    double A[9] = { S[0], S[3], S[4], S[3], S[1], S[5], S[4], S[5], S[2] };
    double V[9] = { 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0 };
    for (int sweep = 0; sweep < JACOBI_MAX_SWEEPS; sweep++) {
        if (A[1] == 0.0 && A[2] == 0.0 && A[5] == 0.0) break;
        annihilate(A, V, 0, 1);
        annihilate(A, V, 0, 2);
        annihilate(A, V, 1, 2);
    }
    for (int i = 0; i < 3; i++) w[i] = A[4 * i];
    order_pair(w, V, 0, 1);
    order_pair(w, V, 1, 2);
    order_pair(w, V, 0, 1);
    if (V_out) {
        for (int i = 0; i < 9; i++) V_out[i] = V[i];
    }
}
