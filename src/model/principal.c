#include "model/principal.h"

#include <math.h>

#include "math/quat.h"

/* Share of the largest element at which the iteration ends [1]; MuJoCo's, see the header. */
#define ROUGH_PRODUCT 1e-7

/* Jacobi's iteration converges quadratically: ten iterations are many. */
enum { MAX_TURNS = 500 };

/* Which two axes an element xx yy zz xy xz yz couples, and the one that is left. */
static const int first[6] = { 0, 1, 2, 0, 0, 1 }, second[6] = { 0, 1, 2, 1, 2, 2 },
                 third[6] = { 0, 1, 2, 2, 1, 0 };

/* The largest element off the diagonal; later ones win ties. */
static int largest_product(const double D[6])
{
    double xy = fabs(D[3]), xz = fabs(D[4]), yz = fabs(D[5]);
    if (xy > xz && xy > yz) return 3;
    return xz > yz ? 4 : 5;
}

/* Moments in the axes q. */
static void turn_into(const double q[4], const double I[6], double D[6])
{
    double back[4], R[9];
    rb_quat_conj(q, back);
    rb_quat_to_rot(back, R);
    rb_sym3_rotate(R, I, D);
}

/* The turn of the axes that removes element e of D, by the angle with
 * tan = t, t^2 + 2 tau t - 1 = 0, |t| <= 1. */
static void removing_turn(const double D[6], int e, double turn[4])
{
    double tau = (D[second[e]] - D[first[e]]) / (2.0 * D[e]), root = sqrt(1.0 + tau * tau);
    double t = tau >= 0.0 ? 1.0 / (tau + root) : -1.0 / (root - tau);
    double c = 1.0 / sqrt(1.0 + t * t), s = t * c;
    double half_c = sqrt(0.5 * (1.0 + c)), half_s = 0.5 * s / half_c;
    turn[0] = half_c;
    rb_zero3(turn + 1);
    turn[1 + third[e]] = third[e] == 1 ? half_s : -half_s;
}

/* Axes q in which the products of I are below a share of its largest element, and what is left
 * there. */
static void find_axes(const double I[6], double share, double q[4], double D[6])
{
    double turn[4], most = 0.0;
    for (int i = 0; i < 6; i++) most = fmax(most, fabs(I[i]));
    q[0] = 1.0;
    rb_zero3(q + 1);
    turn_into(q, I, D);
    for (int i = 0; i < MAX_TURNS; i++) {
        int e = largest_product(D);
        if (!(fabs(D[e]) >= share * most) || D[e] == 0.0) break;
        removing_turn(D, e, turn);
        rb_quat_mul(q, turn, q);
        rb_quat_normalize(q);
        turn_into(q, I, D);
    }
}

/* A quarter of a turn about the third axis makes the second of two axes the first. */
void rb_inertia_axes(const double I[6], double q[4])
{
    const double half = sqrt(0.5);
    double D[6];
    find_axes(I, 1e-14, q, D);
    for (int i = 0; i < 3; i++) {
        int a = i % 2;
        double w = D[a], turn[4] = { half, 0.0, 0.0, 0.0 };
        if (!(w < D[a + 1])) continue;
        D[a] = D[a + 1];
        D[a + 1] = w;
        turn[1 + (a + 2) % 3] = half;
        rb_quat_mul(q, turn, q);
    }
    rb_quat_normalize(q);
}

void rb_inertia_rough(double I[6])
{
    double q[4], D[6], R[9];
    find_axes(I, ROUGH_PRODUCT, q, D);
    D[3] = D[4] = D[5] = 0.0;
    rb_quat_to_rot(q, R);
    rb_sym3_rotate(R, D, I);
}
