/* Rotation without torque beside a second method: Runge-Kutta of order four in long double. */
#include "math/quat.h"
#include "math/top.h"
#include "test.h"

typedef long double real;

typedef struct motion {
    real q[4], w[3];
} motion;

static void multiply(const double J[6], const real w[3], real out[3])
{
    out[0] = J[0] * w[0] + J[3] * w[1] + J[4] * w[2];
    out[1] = J[3] * w[0] + J[1] * w[1] + J[5] * w[2];
    out[2] = J[4] * w[0] + J[5] * w[1] + J[2] * w[2];
}

/* x of J x = b by Cramer's rule */
static void divide(const double J[6], const real b[3], real x[3])
{
    const real A[3][3] = { { J[0], J[3], J[4] }, { J[3], J[1], J[5] }, { J[4], J[5], J[2] } };
    real c[3][3], det = 0.0L;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            int a = (i + 1) % 3, d = (i + 2) % 3, e = (j + 1) % 3, f = (j + 2) % 3;
            c[i][j] = A[a][e] * A[d][f] - A[a][f] * A[d][e];
        }
    for (int j = 0; j < 3; j++) det += A[0][j] * c[0][j];
    for (int i = 0; i < 3; i++) x[i] = (c[0][i] * b[0] + c[1][i] * b[1] + c[2][i] * b[2]) / det;
}

static motion rate(const double J[6], const motion *s)
{
    motion d;
    real L[3], t[3];
    const real *q = s->q, *w = s->w;
    multiply(J, w, L);
    for (int i = 0; i < 3; i++) {
        int a = (i + 1) % 3, b = (i + 2) % 3;
        t[i] = L[a] * w[b] - L[b] * w[a];
    }
    divide(J, t, d.w);
    d.q[0] = 0.5L * (-q[1] * w[0] - q[2] * w[1] - q[3] * w[2]);
    d.q[1] = 0.5L * (q[0] * w[0] + q[2] * w[2] - q[3] * w[1]);
    d.q[2] = 0.5L * (q[0] * w[1] + q[3] * w[0] - q[1] * w[2]);
    d.q[3] = 0.5L * (q[0] * w[2] + q[1] * w[1] - q[2] * w[0]);
    return d;
}

static motion along(const motion *s, real h, const motion *d)
{
    motion out;
    for (int i = 0; i < 4; i++) out.q[i] = s->q[i] + h * d->q[i];
    for (int i = 0; i < 3; i++) out.w[i] = s->w[i] + h * d->w[i];
    return out;
}

static void slow_turn(const double J[6], double t, int steps, double q[4], double w[3])
{
    motion s;
    real h = (real)t / steps;
    for (int i = 0; i < 4; i++) s.q[i] = q[i];
    for (int i = 0; i < 3; i++) s.w[i] = w[i];
    for (int n = 0; n < steps; n++) {
        motion k1 = rate(J, &s), m = along(&s, 0.5L * h, &k1);
        motion k2 = rate(J, &m), k = along(&s, 0.5L * h, &k2);
        motion k3 = rate(J, &k), e = along(&s, h, &k3);
        motion k4 = rate(J, &e);
        for (int i = 0; i < 4; i++)
            s.q[i] += h / 6.0L * (k1.q[i] + 2.0L * (k2.q[i] + k3.q[i]) + k4.q[i]);
        for (int i = 0; i < 3; i++)
            s.w[i] += h / 6.0L * (k1.w[i] + 2.0L * (k2.w[i] + k3.w[i]) + k4.w[i]);
    }
    for (int i = 0; i < 4; i++) q[i] = (double)s.q[i];
    for (int i = 0; i < 3; i++) w[i] = (double)s.w[i];
}

typedef struct top_case {
    const char *name;
    double J[6], w[3];
    double tol; /* after ten seconds */
} top_case;

static const top_case cases[] = {
    { "ball", { 2, 2, 2, 0, 0, 0 }, { 1, -2, 3 }, 1e-13 },
    { "prolate", { 1, 3, 3, 0, 0, 0 }, { 4, 1, -2 }, 1e-12 },
    { "oblate", { 2, 3.9, 2, 0, 0, 0 }, { 1, 5, 0.5 }, 1e-12 },
    { "plate", { 1, 2, 3, 0, 0, 0 }, { 2, 3, 4 }, 1e-12 },
    { "any axes", { 1, 2, 2.5, 0.1, 0.2, -0.3 }, { 1, 5, -2 }, 1e-12 },
    { "nearly equal moments", { 1, 2, 2.0 * (1 + 1e-9), 0, 0, 0 }, { 3, 2, 1 }, 1e-12 },
    { "nearly a ball", { 1, 1 + 1e-12, 1 - 1e-12, 0, 0, 0 }, { 3, 2, 1 }, 1e-12 },
    { "middle axis, pushed by 1e-3", { 1, 2, 3, 0, 0, 0 }, { 1e-3, 2, 0 }, 1e-10 },
    { "separatrix", { 1, 2, 3, 0, 0, 0 }, { 1.7320508075688772, 0, 1 }, 1e-9 },
    { "thin rod", { 1e-3, 1, 1.0002, 0, 0, 0 }, { 30, 0.3, -0.2 }, 1e-11 },
};
enum { NCASE = sizeof cases / sizeof *cases };

TEST(turns_as_the_second_method_does)
{
    for (int i = 0; i < NCASE; i++) {
        const top_case *c = &cases[i];
        double q[4] = { 0.5, -0.5, 0.5, 0.5 }, w[3], p[4], u[3];
        rb_top top;
        memcpy(p, q, sizeof p);
        memcpy(w, c->w, sizeof w);
        memcpy(u, c->w, sizeof u);
        CHECK(rb_top_make(c->J, &top));
        rb_top_turn(&top, 10.0, q, w);
        slow_turn(c->J, 10.0, c->J[0] < 0.01 ? 400000 : 100000, p, u);
        double speed = sqrt(u[0] * u[0] + u[1] * u[1] + u[2] * u[2]);
        for (int k = 0; k < 4; k++)
            if (!(fabs(q[k] - p[k]) <= c->tol))
                test_fail(__FILE__, __LINE__, "%s: q[%d] off by %.1e", c->name, k, q[k] - p[k]);
        for (int k = 0; k < 3; k++)
            if (!(fabs(w[k] - u[k]) <= c->tol * speed))
                test_fail(__FILE__, __LINE__, "%s: w[%d] off by %.1e", c->name, k, w[k] - u[k]);
    }
}

static void momentum(const double J[6], const double q[4], const double w[3], double L_w[3],
                     double *T2)
{
    double L[3];
    rb_sym3_mul(J, w, L);
    *T2 = rb_dot3(L, w);
    rb_quat_rotate(q, L, L_w);
}

/* One flight of ten thousand revolutions, and ten thousand of one. */
TEST(keeps_energy_and_momentum_for_ten_thousand_revolutions)
{
    for (int i = 0; i < NCASE; i++) {
        const top_case *c = &cases[i];
        rb_top top;
        CHECK(rb_top_make(c->J, &top));
        double turn = 2.0 * 3.141592653589793 / rb_norm3(c->w);
        for (int many = 0; many < 2; many++) {
            double q[4] = { 0.5, -0.5, 0.5, 0.5 }, w[3], before[3], after[3], T0, T1;
            int flights = many ? 1000 : 1;
            memcpy(w, c->w, sizeof w);
            momentum(c->J, q, w, before, &T0);
            for (int k = 0; k < flights; k++) rb_top_turn(&top, (many ? 1.0 : 1e4) * turn, q, w);
            momentum(c->J, q, w, after, &T1);
            rb_sub3(after, before, after);
            if (!(fabs(T1 / T0 - 1.0) <= 1e-13))
                test_fail(__FILE__, __LINE__, "%s: energy off by %.1e", c->name, T1 / T0 - 1.0);
            CHECK_NEAR(rb_norm3(after) / rb_norm3(before), 0.0, 1e-13);
        }
    }
}

TEST(turns_back)
{
    for (int i = 0; i < NCASE; i++) {
        const top_case *c = &cases[i];
        double q[4] = { 1, 0, 0, 0 }, w[3];
        rb_top top;
        CHECK(rb_top_make(c->J, &top));
        memcpy(w, c->w, sizeof w);
        rb_top_turn(&top, 5.0, q, w);
        rb_top_turn(&top, -5.0, q, w);
        for (int k = 0; k < 3; k++) CHECK_NEAR(w[k], c->w[k], 10.0 * c->tol * rb_norm3(c->w));
        CHECK_NEAR(q[0], 1.0, 10.0 * c->tol);
    }
}

/* The bounds of |w| and |dw/dt| hold at all times, and that of |w| is met. */
TEST(bounds_hold)
{
    for (int i = 0; i < NCASE; i++) {
        const top_case *c = &cases[i];
        double q[4] = { 1, 0, 0, 0 }, w[3], rate_now[3], most = 0.0;
        rb_top top;
        CHECK(rb_top_make(c->J, &top));
        memcpy(w, c->w, sizeof w);
        double spin = rb_top_spin(&top, w), bend = rb_top_bend(&top, w);
        for (int k = 0; k < 3000; k++) {
            rb_top_turn(&top, 0.01, q, w);
            rb_top_rate(&top, w, rate_now);
            most = fmax(most, rb_norm3(w));
            CHECK(rb_norm3(w) <= spin * (1.0 + 1e-12));
            CHECK(rb_norm3(rate_now) <= bend * (1.0 + 1e-9) + 1e-11);
        }
        if (top.axis >= 0) CHECK_NEAR(spin / most, 1.0, 1e-12);
    }
}

/* Velocities that rounding leaves of each other. */
TEST(the_slowest_turn_is_a_number)
{
    const double J[6] = { 1e-9, 2e-9, 2.5e-9, 1e-10, 0, 0 };
    rb_top top;
    CHECK(rb_top_make(J, &top));
    for (double size = 1e-10; size > 1e-320; size *= 1e-3) {
        double q[4] = { 1, 0, 0, 0 }, w[3] = { size, -0.5 * size, size };
        rb_top_turn(&top, 1e-3, q, w);
        CHECK_NEAR(q[0], 1.0, 1e-15);
        CHECK(fabs(w[0]) <= 2.0 * size);
    }
}

TEST(refuses_what_has_no_inertia)
{
    rb_top top;
    const double none[6] = { 1, 1, 0, 0, 0, 0 }, negative[6] = { 1, -1, 1, 0, 0, 0 };
    CHECK(!rb_top_make(none, &top));
    CHECK(!rb_top_make(negative, &top));
}

TEST_MAIN(RUN(turns_as_the_second_method_does),
          RUN(keeps_energy_and_momentum_for_ten_thousand_revolutions), RUN(turns_back),
          RUN(bounds_hold), RUN(the_slowest_turn_is_a_number), RUN(refuses_what_has_no_inertia))
