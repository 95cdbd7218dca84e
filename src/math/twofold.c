#include "math/twofold.h"

#include "math/vector.h"

/* The products of rb_two_mul and the sum of rb_two_add, written out so that the loop has no call
 * and no branch; a is split once. The last carry of rb_two_add is left out: an error of 2^-104 of
 * the larger operand, as everywhere. */
RB_VECTOR void rb_two_axpy(rb_two a, const double *restrict x_hi, const double *restrict x_lo,
                           double *restrict y_hi, double *restrict y_lo, int n)
{
    const double split = 134217729.0; /* 2^27 + 1 */
    double ca = split * a.hi, ah = ca - (ca - a.hi), al = a.hi - ah;
    for (int i = 0; i < n; i++) {
        double x = x_hi[i], y = y_hi[i], cx = split * x;
        double xh = cx - (cx - x), xl = x - xh, p = a.hi * x;
        double e = ((ah * xh - p) + ah * xl + al * xh) + al * xl;
        e += a.hi * x_lo[i] + a.lo * x;
        double s = y + p, from_p = s - y;
        double t = ((y - (s - from_p)) + (p - from_p)) + (y_lo[i] + e);
        double sum = s + t;
        y_hi[i] = sum;
        y_lo[i] = t - (sum - s);
    }
}

rb_two rb_two_dot(const double *a, const double *x_hi, const double *x_lo, int n, rb_two b)
{
    rb_two sum = b;
    for (int i = 0; i < n; i++) {
        rb_two p = rb_two_product(x_hi[i], a[i]);
        sum = rb_two_add(sum, (rb_two){ p.hi, p.lo + x_lo[i] * a[i] });
    }
    return sum;
}
