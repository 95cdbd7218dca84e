/* Elementary functions of our own: the bits of libm differ from one machine to the next, these do
 * not. Sums, products, quotients and integers only; no fused multiply-add, rounding to nearest.
 * Largest errors seen: docs/design/math.md. NaN and infinite angles give NaN. */
#ifndef RB_MATH_TRIG_H
#define RB_MATH_TRIG_H

/* Below 1 ulp for every finite x [rad]: large arguments are reduced with as many digits of 2/pi as
 * they need [Payne, Hanek 1983]. */
void rb_sincos(double x, double *s, double *c);
double rb_sin(double x);
double rb_cos(double x);

/* The same bits for n angles, several at a time. */
void rb_sincos_n(int n, const double *x, double *s, double *c);

/* Angle of the point (x, y), -pi .. pi; signs of zeros and infinities as in C17 F.10.1.4. */
double rb_atan2(double y, double x);

double rb_exp(double x);

#endif
