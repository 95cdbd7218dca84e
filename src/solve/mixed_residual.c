/* The certificate of rows as what they are. Shares nothing with the solver. */
#include <math.h>

#include "solve/mixed.h"

/* |p - onto| of a scalar row: p moved by -u, clamped to lo .. hi (C.8). */
static double scalar_miss(double p, double u, double lo, double hi)
{
    double y = p - u;
    return y < lo ? p - lo : y > hi ? p - hi : u;
}

/* Square of |r - P_K(r - rho (u + mu |u_t| n))| of a Coulomb contact (C.10), rho = 1 / w. */
static double contact_square(const double r[3], const double u[3], double mu, double w)
{
    double slip = sqrt(u[1] * u[1] + u[2] * u[2]);
    double d[3] = { (u[0] + mu * slip) / w, u[1] / w, u[2] / w };
    double x[3] = { r[0] - d[0], r[1] - d[1], r[2] - d[2] };
    double t = sqrt(x[1] * x[1] + x[2] * x[2]);
    if (x[0] >= 0.0 && t <= mu * x[0]) return d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
    if (x[0] + mu * t <= 0.0) return r[0] * r[0] + r[1] * r[1] + r[2] * r[2];
    double out = (t - mu * x[0]) / (1.0 + mu * mu); /* x = P_K(x) + out (-mu, x_t / t) */
    double miss[3] = { d[0] - mu * out, d[1] + out * x[1] / t, d[2] + out * x[2] / t };
    return miss[0] * miss[0] + miss[1] * miss[1] + miss[2] * miss[2];
}

/* The same of a disc of fixed radius. */
static double disc_square(const double *p, const double *u, int dim, double radius, double w)
{
    double y[2] = { 0.0, 0.0 }, length = 0.0, sum = 0.0;
    for (int a = 0; a < dim; a++) {
        y[a] = p[a] - u[a] / w;
        length += y[a] * y[a];
    }
    length = sqrt(length);
    for (int a = 0; a < dim; a++) {
        double miss = length > radius ? p[a] - radius * y[a] / length : u[a] / w;
        sum += miss * miss;
    }
    return sum;
}

static void add(rb_certificate *cert, double square, double local, double w)
{
    cert->residual += square;
    cert->velocity = fmax(cert->velocity, w * sqrt(local));
}

static double unit(double w)
{
    return w > 0.0 ? w : 1.0;
}

/* A normal together with its disc of two rows, or by itself. */
static void grade_normal(const rb_mixed *x, int i, const rb_disc *disc, const double *diagonal,
                         const double *p, const double *u, rb_certificate *cert)
{
    if (!disc) {
        double w = unit(diagonal[i]), miss = scalar_miss(p[i], u[i], 0.0, INFINITY);
        double local = scalar_miss(p[i], u[i] / w, 0.0, INFINITY);
        add(cert, miss * miss, local * local, w);
        cert->min_z = fmin(cert->min_z, p[i]);
        cert->min_w = fmin(cert->min_w, u[i]);
        cert->gap += fabs(p[i] * u[i]);
        return;
    }
    const int t = disc->row;
    double r[3] = { p[i], p[t], p[t + 1] }, v[3] = { u[i], u[t], u[t + 1] };
    double w = unit((diagonal[i] + diagonal[t] + diagonal[t + 1]) / 3.0);
    add(cert, contact_square(r, v, disc->mu, 1.0), contact_square(r, v, disc->mu, w), w);
    double slip = sqrt(v[1] * v[1] + v[2] * v[2]), force = sqrt(r[1] * r[1] + r[2] * r[2]);
    cert->min_z = fmin(cert->min_z, fmin(r[0], disc->mu * r[0] - force));
    cert->min_w = fmin(cert->min_w, v[0]);
    cert->gap += fabs(r[0] * v[0] + r[1] * v[1] + r[2] * v[2] + disc->mu * r[0] * slip);
    (void)x;
}

/* A disc of two rows on a normal, without more than Coulomb's friction, is graded with it. */
static int is_coulomb(const rb_disc *disc)
{
    return disc->dim == 2 && disc->normal >= 0 && disc->bound == 0.0 &&
           disc->row == disc->normal + 1;
}

static void grade_disc(const rb_disc *disc, const double *diagonal, const double *p,
                       const double *u, rb_certificate *cert)
{
    double radius = disc->bound + (disc->normal >= 0 ? disc->mu * p[disc->normal] : 0.0);
    double w = 0.0, force = 0.0, slip = 0.0, work = 0.0;
    for (int a = 0; a < disc->dim; a++) {
        const int i = disc->row + a;
        w += diagonal[i] / disc->dim;
        force += p[i] * p[i];
        slip += u[i] * u[i];
        work += p[i] * u[i];
    }
    w = unit(w);
    add(cert, disc_square(p + disc->row, u + disc->row, disc->dim, radius, 1.0),
        disc_square(p + disc->row, u + disc->row, disc->dim, radius, w), w);
    cert->min_z = fmin(cert->min_z, radius - sqrt(force));
    cert->gap += fabs(work + radius * sqrt(slip));
}

void rb_mixed_residual(const rb_mixed *x, const double *diagonal, const double *p, const double *u,
                       rb_certificate *cert)
{
    double q_square = 0.0;
    *cert = (rb_certificate){ .min_z = INFINITY, .min_w = INFINITY };
    for (int i = 0, g = 0; i < x->n; i++) {
        q_square += x->q[i] * x->q[i];
        if (x->kind[i] == RB_ROW_FRICTION) continue;
        while (g < x->ndisc && x->disc[g].row < i) g++;
        const rb_disc *disc = g < x->ndisc && x->disc[g].row == i + 1 ? &x->disc[g] : NULL;
        if (x->kind[i] == RB_ROW_BILATERAL) {
            add(cert, u[i] * u[i], u[i] * u[i], 1.0);
            cert->min_w = fmin(cert->min_w, -fabs(u[i]));
        } else {
            grade_normal(x, i, disc && is_coulomb(disc) ? disc : NULL, diagonal, p, u, cert);
        }
    }
    for (int g = 0; g < x->ndisc; g++) {
        if (!is_coulomb(&x->disc[g])) grade_disc(&x->disc[g], diagonal, p, u, cert);
    }
    cert->residual = sqrt(cert->residual);
    cert->scale = q_square > 0.0 ? sqrt(q_square) : 1.0;
    if (!(cert->residual < INFINITY)) cert->residual = INFINITY;
    cert->relative = cert->scale < INFINITY ? cert->residual / cert->scale : INFINITY;
}
