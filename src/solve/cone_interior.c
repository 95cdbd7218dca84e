/* Interior points on Coulomb's law itself. Normals and friction are complementarities of their own,
 *
 *     v = Y'r,   u = Y v + q
 *     s = u_n >= 0,  r_n >= 0,                        s r_n = t                             (K.40)
 *     x = (l, u_t) in Q,  z = (mu r_n, r_t) in Q,     x o z = (t, 0, 0),   l free           (K.41)
 *
 * with Q the cone |x_t| <= x_0 and o its product; at t = 0 this is (K.1): l is the speed of slip.
 * The shift of De Saxce, which makes one monotone looking problem of both, does not appear. A step
 * of Newton, scaled by Nesterov and Todd's W (W z = W^-1 x), eliminates l within its contact:
 *
 *     dr = D (h - du),    D = [ d  0;  mu d b  S ],   d = r_n / s,   M = W^-2               (K.42)
 *     b = M_t0 / M_00,    S = M_tt - M_t0 M_0t / M_00
 *
 * and the bodies are the unknowns that are left, as in (K.15). Proximal compliance e = eps / rho of
 * the step alone, (I + e D)^-1 D in place of D, keeps it short where forces are not unique and does
 * not move the solution; eps grows where steps are cut short and shrinks where they are not.
 * Predictor and corrector [Mehrotra 1992], then a corrector of centrality [Gondzio 1996]. */
#include "solve/cone_interior.h"

#include <math.h>
#include <string.h>

#include "solve/newton_bodies.h"

enum { LEAST_STEPS = 3 }; /* before eps is changed */

/* Share of the way to the boundary that a step takes, and that from which on a corrector of
 * centrality has nothing to gain [1]. */
#define SHARE 0.98
#define LONG  0.95

/* Compliance of a step in units of the diagonal of its contact: first, least, most; what it is
 * multiplied by after steps shorter and longer than these [1]. */
#define EPS_FIRST 1e-6
#define EPS_LEAST 1e-8
#define EPS_MOST  1e-2
#define SHORT     0.5
#define FULL      0.8
#define EPS_GROW  3.0
#define EPS_FALL  0.1

/* Least share of t that a step aims at, and the same for what velocities still miss [1]. */
#define CENTRE_LEAST 1e-4
#define CENTRE_MISS  1e-3

/* Gondzio's corrector: how much longer the trial step is, the range of products it leaves alone, in
 * units of the goal, and what it must gain to be asked again [1]. */
#define TRIAL_MORE 0.3
#define PRODUCT_LO 0.1
#define PRODUCT_HI 10.0

/* Least friction, so that the disc has an inside [1]. */
#define LEAST_MU 1e-6

/* How far from the guess it begins, in units of the scales [1]. */
#define AWAY 1.0

/* Share of the way to the boundary that impulses may go on by themselves, and how far they try at
 * first and at most, in units of the step [1]. */
#define EXTEND_SHARE 0.5
#define EXTEND_FIRST 0.5
#define EXTEND_MOST  256.0

/* Steps shorter than this, and so many without a tenth less of the measure, end the search. */
#define SHORTEST 1e-6
enum { STALL = 15 };

typedef struct interior {
    const rb_cones *k;
    rb_bodies *b;
    int nc, n, m;
    double *mu;        /* at least LEAST_MU                                   (nc)   */
    double *r, *x, *s; /* impulses, (l, slip), normal velocities              (n) (n) (nc) */
    double *v;         /* of the bodies                                       (m)    */
    double *dr, *dx, *ds, *dv;
    double *miss_u, *miss_v; /* u - (s, x_t), v - Y'r                             (n) (m) */
    double *w, *eta;         /* scaling: W = eta H(w)                               (n) (nc) */
    double *lam;             /* W z                                                 (n)    */
    double *goal_x;          /* right sides of (K.41) and (K.40)                    (n)    */
    double *goal_s;          /*                                                     (nc)   */
    double *h, *h0;          /* of (K.42)                                           (n) (nc) */
    double *e;               /* compliance of the step                              (nc)   */
    double *u;               /*                                                     (n)    */
    double *kept_r, *kept_x, *kept_s, *kept_v;
    double gap;            /* mean of the products                                       */
    double speed, impulse; /* scales                                                     */
} interior;

/* ---- one cone ---------------------------------------------------------------------------------
 */

static double length2(double a, double b)
{
    return sqrt(a * a + b * b);
}

static double dot3(const double *a, const double *b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* a_0 b_0 - a_t.b_t: positive within the cone for a = b. */
static double lorentz(const double *a, const double *b)
{
    return a[0] * b[0] - a[1] * b[1] - a[2] * b[2];
}

/* a o b = (a.b, a_0 b_t + b_0 a_t) */
static void product(const double *a, const double *b, double *out)
{
    double first = dot3(a, b), t1 = a[0] * b[1] + b[0] * a[1], t2 = a[0] * b[2] + b[0] * a[2];
    out[0] = first;
    out[1] = t1;
    out[2] = t2;
}

/* out with l o out = b */
static void divide(const double *l, const double *b, double *out)
{
    double det = lorentz(l, l), lb = l[1] * b[1] + l[2] * b[2];
    double b0 = b[0], b1 = b[1], b2 = b[2];
    out[0] = (l[0] * b0 - lb) / det;
    out[1] = (-l[1] * b0 + (det * b1 + l[1] * lb) / l[0]) / det;
    out[2] = (-l[2] * b0 + (det * b2 + l[2] * lb) / l[0]) / det;
}

/* out = H(w) a, of w_0^2 - |w_t|^2 = 1; sign = -1: its inverse. */
static void scale(const double *w, double sign, const double *a, double *out)
{
    double wa = sign * (w[1] * a[1] + w[2] * a[2]), more = sign * (a[0] + wa / (1.0 + w[0]));
    double a1 = a[1], a2 = a[2];
    out[0] = w[0] * a[0] + wa;
    out[1] = a1 + more * w[1];
    out[2] = a2 + more * w[2];
}

/* Largest a with x + a d in the cone, x within it. */
static double cone_step(const double *x, const double *d)
{
    if (d[0] >= length2(d[1], d[2])) return INFINITY;
    double A = lorentz(d, d), B = lorentz(x, d), C = fmax(lorentz(x, x), 0.0);
    double root = sqrt(fmax(B * B - A * C, 0.0));
    double tries[3] = { A != 0.0 ? (-B - root) / A : INFINITY,
                        A != 0.0 ? (-B + root) / A : INFINITY,
                        -B + root > 0.0 ? C / (-B + root) : INFINITY };
    double a = d[0] < 0.0 ? -x[0] / d[0] : INFINITY;
    for (int i = 0; i < 3; i++) {
        if (tries[i] > 0.0 && tries[i] < a) a = tries[i];
    }
    return a;
}

static double ray_step(double x, double d)
{
    return d < 0.0 ? -x / d : INFINITY;
}

/* ---- products with Y --------------------------------------------------------------------------
 */

/* u = Y v */
static void times_Y(const rb_bodies *b, const double *v, double *u)
{
    for (int c = 0; c < b->nc; c++) {
        double *u_c = u + 3 * (ptrdiff_t)c;
        u_c[0] = u_c[1] = u_c[2] = 0.0;
        for (int e = b->first[c]; e < b->first[c + 1]; e++) {
            const double *Y = b->Y + 18 * (ptrdiff_t)e, *v_e = v + 6 * (ptrdiff_t)b->block[e];
            for (int i = 0; i < 3; i++) {
                for (int l = 0; l < 6; l++) u_c[i] += Y[6 * i + l] * v_e[l];
            }
        }
    }
}

/* v += Y'r */
static void add_Yt(const rb_bodies *b, const double *r, double *v)
{
    for (int c = 0; c < b->nc; c++) {
        const double *r_c = r + 3 * (ptrdiff_t)c;
        for (int e = b->first[c]; e < b->first[c + 1]; e++) {
            const double *Y = b->Y + 18 * (ptrdiff_t)e;
            double *v_e = v + 6 * (ptrdiff_t)b->block[e];
            for (int l = 0; l < 6; l++)
                v_e[l] += Y[l] * r_c[0] + Y[6 + l] * r_c[1] + Y[12 + l] * r_c[2];
        }
    }
}

/* ---- where it begins --------------------------------------------------------------------------
 */

static int take_memory(interior *s, rb_arena *scratch)
{
    double **of_n[] = { &s->r,   &s->x,      &s->dr, &s->dx, &s->miss_u, &s->w,
                        &s->lam, &s->goal_x, &s->h,  &s->u,  &s->kept_r, &s->kept_x };
    double **of_c[] = { &s->mu, &s->s, &s->ds, &s->eta, &s->goal_s, &s->h0, &s->e, &s->kept_s };
    double **of_m[] = { &s->v, &s->dv, &s->miss_v, &s->kept_v };
    int ok = 1;
    for (int i = 0; i < 12 && ok; i++) ok = (*of_n[i] = rb_push(scratch, double, s->n)) != NULL;
    for (int i = 0; i < 8 && ok; i++) ok = (*of_c[i] = rb_push(scratch, double, s->nc)) != NULL;
    for (int i = 0; i < 4 && ok; i++) ok = (*of_m[i] = rb_push(scratch, double, s->m)) != NULL;
    return ok;
}

/* Inside all cones, at a distance of `away` times the scales from the guess. */
static void start(interior *s, const double *r, double away)
{
    const rb_cones *k = s->k;
    memset(s->v, 0, (size_t)s->m * sizeof *s->v);
    add_Yt(s->b, r, s->v);
    times_Y(s->b, s->v, s->u);
    for (int c = 0; c < s->nc; c++) {
        double mu = s->mu[c], *r_c = s->r + 3 * (ptrdiff_t)c, *x = s->x + 3 * (ptrdiff_t)c;
        const double *guess = r + 3 * (ptrdiff_t)c;
        double u[3];
        for (int i = 0; i < 3; i++) u[i] = s->u[3 * c + i] + k->q[3 * c + i];
        r_c[1] = guess[1];
        r_c[2] = guess[2];
        r_c[0] = fmax(guess[0], length2(r_c[1], r_c[2]) / mu) + away * s->speed * k->rho[c];
        s->s[c] = fmax(u[0], 0.0) + away * s->speed;
        x[1] = u[1];
        x[2] = u[2];
        x[0] = length2(u[1], u[2]) + away * s->speed * fmin(1.0, 1.0 / mu);
    }
}

/* The same without a guess. */
static void start_cold(interior *s)
{
    memset(s->v, 0, (size_t)s->m * sizeof *s->v);
    for (int c = 0; c < s->nc; c++) {
        double *r = s->r + 3 * (ptrdiff_t)c, *x = s->x + 3 * (ptrdiff_t)c;
        r[0] = s->speed * s->k->rho[c];
        s->s[c] = s->speed;
        x[0] = fmin(s->speed / s->mu[c], 1e3 * s->speed);
        r[1] = r[2] = x[1] = x[2] = 0.0;
    }
}

/* Measure of the guess, whose velocities start() has left in s->u. */
static double guess_error(interior *s, const double *r)
{
    for (int i = 0; i < s->n; i++) s->u[i] += s->k->q[i];
    return rb_cones_error(s->k, r, s->u);
}

static void make_scales(interior *s)
{
    const rb_cones *k = s->k;
    double sum = 0.0;
    for (int i = 0; i < s->n; i++) sum += k->q[i] * k->q[i];
    s->speed = sum > 0.0 ? sqrt(sum / k->nc) : 1.0;
    s->impulse = 0.0;
    for (int c = 0; c < s->nc; c++) {
        s->mu[c] = fmax(k->mu[c], LEAST_MU);
        s->impulse += s->speed * k->rho[c] / s->nc;
    }
}

/* ---- one step ---------------------------------------------------------------------------------
 */

/* Velocities in s->u, what equations miss, the mean product; returns the measure of s->r. */
static double look(interior *s)
{
    const rb_cones *k = s->k;
    double sum = 0.0;
    memset(s->miss_v, 0, (size_t)s->m * sizeof *s->v);
    add_Yt(s->b, s->r, s->miss_v);
    times_Y(s->b, s->miss_v, s->u);
    for (int i = 0; i < s->n; i++) s->u[i] += k->q[i];
    double error = rb_cones_error(k, s->r, s->u);
    for (int i = 0; i < s->m; i++) s->miss_v[i] = s->v[i] - s->miss_v[i];
    times_Y(s->b, s->v, s->u);
    for (int c = 0; c < s->nc; c++) {
        const double *r = s->r + 3 * (ptrdiff_t)c, *x = s->x + 3 * (ptrdiff_t)c;
        double *miss = s->miss_u + 3 * (ptrdiff_t)c;
        for (int i = 0; i < 3; i++) miss[i] = s->u[3 * c + i] + k->q[3 * c + i];
        miss[0] -= s->s[c];
        miss[1] -= x[1];
        miss[2] -= x[2];
        sum += s->s[c] * r[0] + s->mu[c] * r[0] * x[0] + r[1] * x[1] + r[2] * x[2];
    }
    s->gap = sum / (2 * s->nc);
    return error;
}

static void take_z(const interior *s, int c, const double *r, double *z)
{
    z[0] = s->mu[c] * r[3 * c];
    z[1] = r[3 * c + 1];
    z[2] = r[3 * c + 2];
}

/* b and S of (K.42) in closed form: M = (2 y y' - J) / eta^2 with y = (w_0, -w_t). */
static void friction_block(const double *w, double eta, double *b, double *S)
{
    double over = 1.0 / (1.0 + 2.0 * (w[1] * w[1] + w[2] * w[2])), i2 = 1.0 / (eta * eta);
    b[0] = -2.0 * w[0] * w[1] * over;
    b[1] = -2.0 * w[0] * w[2] * over;
    S[0] = i2 * (1.0 + 2.0 * w[2] * w[2]) * over;
    S[1] = -i2 * 2.0 * w[1] * w[2] * over;
    S[2] = i2 * (1.0 + 2.0 * w[1] * w[1]) * over;
}

/* out = (I + e D)^-1 D for D = [ d 0; f S ]: block triangular as D is. */
static void with_compliance(double d, const double *f, const double *S, double e, double *out)
{
    double n = 1.0 / (1.0 + e * d);
    double a11 = 1.0 + e * S[0], a12 = e * S[1], a22 = 1.0 + e * S[2];
    double over = 1.0 / (a11 * a22 - a12 * a12);
    out[0] = n * d;
    out[1] = out[2] = 0.0;
    out[3] = n * over * (a22 * f[0] - a12 * f[1]);
    out[6] = n * over * (a11 * f[1] - a12 * f[0]);
    out[4] = over * (a22 * S[0] - a12 * S[1]);
    out[5] = out[7] = over * (a22 * S[1] - a12 * S[2]);
    out[8] = over * (a11 * S[2] - a12 * S[1]);
}

/* Scaling and D of contact c; 0: rounding has left the cone. */
static int scale_contact(interior *s, int c, double eps)
{
    double z[3], b[2], S[3], *x = s->x + 3 * (ptrdiff_t)c, *w = s->w + 3 * (ptrdiff_t)c;
    take_z(s, c, s->r, z);
    double xx = lorentz(x, x), zz = lorentz(z, z);
    if (!(xx > 0.0) || !(zz > 0.0)) return 0;
    double sx = sqrt(xx), sz = sqrt(zz), g = sqrt(0.5 * (1.0 + dot3(x, z) / (sx * sz)));
    double eta = s->eta[c] = sqrt(sx / sz);
    w[0] = (x[0] / sx + z[0] / sz) / (2.0 * g);
    w[1] = (x[1] / sx - z[1] / sz) / (2.0 * g);
    w[2] = (x[2] / sx - z[2] / sz) / (2.0 * g);
    scale(w, 1.0, z, s->lam + 3 * (ptrdiff_t)c);
    for (int i = 0; i < 3; i++) s->lam[3 * c + i] *= eta;
    friction_block(w, eta, b, S);
    double d = s->r[3 * c] / s->s[c], f[2] = { s->mu[c] * d * b[0], s->mu[c] * d * b[1] };
    s->e[c] = eps / s->k->rho[c];
    with_compliance(d, f, S, s->e[c], s->b->D + 9 * (ptrdiff_t)c);
    return 1;
}

static int scale_all(interior *s, double eps)
{
    for (int c = 0; c < s->nc; c++) {
        if (!scale_contact(s, c, eps)) return 0;
    }
    return 1;
}

static void times_D(const double *D, const double *a, double *out)
{
    for (int i = 0; i < 3; i++)
        out[i] = D[3 * i] * a[0] + D[3 * i + 1] * a[1] + D[3 * i + 2] * a[2];
}

/* The change that goal_s and goal_x ask for. */
static void solve_direction(interior *s)
{
    for (int c = 0; c < s->nc; c++) {
        double a[3], *h = s->h + 3 * (ptrdiff_t)c;
        const double *miss = s->miss_u + 3 * (ptrdiff_t)c;
        divide(s->lam + 3 * (ptrdiff_t)c, s->goal_x + 3 * (ptrdiff_t)c, a);
        scale(s->w + 3 * (ptrdiff_t)c, 1.0, a, a);
        h[0] = s->goal_s[c] / s->r[3 * c] - miss[0];
        h[1] = s->eta[c] * a[1] - miss[1];
        h[2] = s->eta[c] * a[2] - miss[2];
        s->h0[c] = s->eta[c] * a[0];
        times_D(s->b->D + 9 * (ptrdiff_t)c, h, s->dr + 3 * (ptrdiff_t)c);
    }
    for (int i = 0; i < s->m; i++) s->dv[i] = -s->miss_v[i];
    add_Yt(s->b, s->dr, s->dv);
    rb_block_lu_solve(&s->b->lu, s->dv, s->b->work);
}

/* dr, dx, ds from dv. */
static void direction(interior *s)
{
    solve_direction(s);
    times_Y(s->b, s->dv, s->u);
    for (int c = 0; c < s->nc; c++) {
        double *du = s->u + 3 * (ptrdiff_t)c, *dr = s->dr + 3 * (ptrdiff_t)c, t[3];
        double *dx = s->dx + 3 * (ptrdiff_t)c, e = s->e[c];
        const double *h = s->h + 3 * (ptrdiff_t)c, *miss = s->miss_u + 3 * (ptrdiff_t)c;
        const double *w = s->w + 3 * (ptrdiff_t)c;
        for (int i = 0; i < 3; i++) t[i] = h[i] - du[i];
        times_D(s->b->D + 9 * (ptrdiff_t)c, t, dr);
        for (int i = 0; i < 3; i++) t[i] -= e * dr[i];
        /* M_00 dx_0 = M_00 h_0 - mu dr_n + M_0t t */
        double i2 = 1.0 / (s->eta[c] * s->eta[c]), M00 = i2 * (2.0 * w[0] * w[0] - 1.0);
        double M0t = -2.0 * i2 * w[0] * (w[1] * t[1] + w[2] * t[2]);
        dx[0] = s->h0[c] - (s->mu[c] * dr[0] - M0t) / M00;
        dx[1] = du[1] + e * dr[1] + miss[1];
        dx[2] = du[2] + e * dr[2] + miss[2];
        s->ds[c] = du[0] + e * dr[0] + miss[0];
    }
}

/* Largest step that stays inside. */
static double most(const interior *s)
{
    double a = INFINITY;
    for (int c = 0; c < s->nc; c++) {
        double z[3], dz[3];
        take_z(s, c, s->r, z);
        take_z(s, c, s->dr, dz);
        a = fmin(a, cone_step(s->x + 3 * (ptrdiff_t)c, s->dx + 3 * (ptrdiff_t)c));
        a = fmin(a, cone_step(z, dz));
        a = fmin(a, ray_step(s->s[c], s->ds[c]));
        a = fmin(a, ray_step(s->r[3 * c], s->dr[3 * c]));
    }
    return a;
}

/* Mean product after a step of length a. */
static double gap_after(const interior *s, double a)
{
    double sum = 0.0;
    for (int c = 0; c < s->nc; c++) {
        double z[3], dz[3];
        const double *x = s->x + 3 * (ptrdiff_t)c, *dx = s->dx + 3 * (ptrdiff_t)c;
        take_z(s, c, s->r, z);
        take_z(s, c, s->dr, dz);
        sum += (s->s[c] + a * s->ds[c]) * (s->r[3 * c] + a * s->dr[3 * c]);
        for (int i = 0; i < 3; i++) sum += (x[i] + a * dx[i]) * (z[i] + a * dz[i]);
    }
    return sum / (2 * s->nc);
}

static void predict(interior *s)
{
    for (int c = 0; c < s->nc; c++) {
        double *goal = s->goal_x + 3 * (ptrdiff_t)c, *lam = s->lam + 3 * (ptrdiff_t)c;
        product(lam, lam, goal);
        for (int i = 0; i < 3; i++) goal[i] = -goal[i];
        s->goal_s[c] = -s->s[c] * s->r[3 * c];
    }
    direction(s);
}

/* dx and dz of contact c in scaled variables. */
static void scaled_step(const interior *s, int c, double *dx, double *dz)
{
    const double *w = s->w + 3 * (ptrdiff_t)c;
    double z[3];
    take_z(s, c, s->dr, z);
    scale(w, -1.0, s->dx + 3 * (ptrdiff_t)c, dx);
    scale(w, 1.0, z, dz);
    for (int i = 0; i < 3; i++) {
        dx[i] /= s->eta[c];
        dz[i] *= s->eta[c];
    }
}

/* Towards products of `aim`, second order of the prediction taken off. */
static void correct(interior *s, double aim)
{
    for (int c = 0; c < s->nc; c++) {
        double dx[3], dz[3], cross[3], *goal = s->goal_x + 3 * (ptrdiff_t)c;
        const double *lam = s->lam + 3 * (ptrdiff_t)c;
        scaled_step(s, c, dx, dz);
        product(dx, dz, cross);
        product(lam, lam, goal);
        for (int i = 0; i < 3; i++) goal[i] = -goal[i] - cross[i];
        goal[0] += aim;
        s->goal_s[c] = aim - s->s[c] * s->r[3 * c] - s->ds[c] * s->dr[3 * c];
    }
    direction(s);
}

/* What brings a product into the range around `aim`. */
static double pull(double value, double aim)
{
    double to = fmin(fmax(value, PRODUCT_LO * aim), PRODUCT_HI * aim) - value;
    return fmax(to, -PRODUCT_HI * aim);
}

/* Products after a step of length a are pulled into the range around `aim`. */
static void centre(interior *s, double a, double aim)
{
    for (int c = 0; c < s->nc; c++) {
        double dx[3], dz[3], p[3], *goal = s->goal_x + 3 * (ptrdiff_t)c;
        const double *lam = s->lam + 3 * (ptrdiff_t)c;
        scaled_step(s, c, dx, dz);
        for (int i = 0; i < 3; i++) {
            dx[i] = lam[i] + a * dx[i];
            dz[i] = lam[i] + a * dz[i];
        }
        product(dx, dz, p);
        double t = length2(p[1], p[2]), up = pull(p[0] + t, aim), down = pull(p[0] - t, aim);
        goal[0] += 0.5 * (up + down);
        goal[1] += t > 0.0 ? 0.5 * (up - down) * p[1] / t : 0.5 * (up - down);
        goal[2] += t > 0.0 ? 0.5 * (up - down) * p[2] / t : 0.0;
        s->goal_s[c] += pull((s->s[c] + a * s->ds[c]) * (s->r[3 * c] + a * s->dr[3 * c]), aim);
    }
    direction(s);
}

static void swap(double **a, double **b)
{
    double *t = *a;
    *a = *b;
    *b = t;
}

/* The direction is put aside, or taken back. */
static void exchange(interior *s)
{
    swap(&s->dr, &s->kept_r);
    swap(&s->dx, &s->kept_x);
    swap(&s->ds, &s->kept_s);
    swap(&s->dv, &s->kept_v);
}

static void keep_direction(interior *s)
{
    memcpy(s->kept_r, s->dr, (size_t)s->n * sizeof *s->dr);
    memcpy(s->kept_x, s->dx, (size_t)s->n * sizeof *s->dx);
    memcpy(s->kept_s, s->ds, (size_t)s->nc * sizeof *s->ds);
    memcpy(s->kept_v, s->dv, (size_t)s->m * sizeof *s->dv);
}

/* Share of the mean product to aim at: by what the prediction leaves of it, and enough for what
 * velocities still miss. */
static double aim_at(const interior *s, double a)
{
    double left = fmin(fmax(gap_after(s, a) / s->gap, 0.0), 1.0), sum = 0.0;
    for (int i = 0; i < s->n; i++) sum += s->miss_u[i] * s->miss_u[i];
    double miss = CENTRE_MISS * sqrt(sum / s->nc) * s->impulse / s->gap;
    return fmin(1.0, fmax(fmax(left * left * left, CENTRE_LEAST), miss));
}

/* Direction and length of the step. */
static double find_step(interior *s)
{
    predict(s);
    double aim = aim_at(s, fmin(1.0, most(s))) * s->gap;
    correct(s, aim);
    double a = fmin(1.0, SHARE * most(s));
    if (a >= LONG) return a;
    keep_direction(s);
    centre(s, fmin(1.0, fmax(1.1 * a, a + TRIAL_MORE)), aim);
    double longer = fmin(1.0, SHARE * most(s));
    if (longer >= a) return longer;
    exchange(s);
    return a;
}

static void go(interior *s, double a)
{
    for (int i = 0; i < s->n; i++) {
        s->r[i] += a * s->dr[i];
        s->x[i] += a * s->dx[i];
    }
    for (int c = 0; c < s->nc; c++) s->s[c] += a * s->ds[c];
    for (int i = 0; i < s->m; i++) s->v[i] += a * s->dv[i];
}

/* Largest share of dr that the impulses alone can go. */
static double most_impulse(const interior *s)
{
    double a = INFINITY;
    for (int c = 0; c < s->nc; c++) {
        double z[3], dz[3];
        take_z(s, c, s->r, z);
        take_z(s, c, s->dr, dz);
        a = fmin(a, fmin(cone_step(z, dz), ray_step(s->r[3 * c], s->dr[3 * c])));
    }
    return a;
}

static void move_impulses(interior *s, double a)
{
    for (int i = 0; i < s->n; i++) s->r[i] += a * s->dr[i];
}

/* Compliance keeps impulses that drift along a self-stress to the same short way in every step,
 * while velocities stand. Impulses alone go on in their direction while the measure falls. */
static void extend(interior *s)
{
    double limit = EXTEND_SHARE * most_impulse(s), best = look(s), now = 0.0, at = 0.0;
    for (double to = EXTEND_FIRST; now < limit && to <= EXTEND_MOST; to *= 2.0) {
        double next = fmin(to, limit);
        move_impulses(s, next - now);
        now = next;
        double error = look(s);
        if (!(error < best)) break;
        best = error;
        at = now;
    }
    if (at != now) move_impulses(s, at - now);
}

static double next_eps(double eps, double a)
{
    if (a < SHORT) eps *= EPS_GROW;
    if (a > FULL) eps *= EPS_FALL;
    return fmin(fmax(eps, EPS_LEAST), EPS_MOST);
}

/* ---- all of it --------------------------------------------------------------------------------
 */

static void iterate(interior *s, const rb_interior_opts *o, double *r, rb_interior *out)
{
    double eps = EPS_FIRST, a = 1.0;
    for (int i = 0, since = 0;; i++) {
        double error = look(s);
        if (!(error < INFINITY)) return;
        since = error < 0.9 * out->error ? 0 : since + 1;
        if (error < out->error) {
            out->error = error;
            memcpy(r, s->r, (size_t)s->n * sizeof *r);
        }
        if (error <= o->tol || since > STALL || i >= o->limit) return;
        if (i >= LEAST_STEPS) eps = next_eps(eps, a);
        if (!scale_all(s, eps)) return;
        if (!rb_meter_add(s->k->meter, RB_WORK_FACTOR, rb_bodies_work(s->b))) return;
        rb_bodies_factor(s->b, NULL);
        out->factorisations++;
        out->pivot_ratio = s->b->lu.pivot_ratio;
        a = find_step(s);
        if (!(a > SHORTEST)) return;
        go(s, a);
        extend(s);
    }
}

rb_status rb_cone_interior(const rb_cones *k, const rb_interior_opts *opts, rb_arena *scratch,
                           double *r, rb_interior *out)
{
    interior s = { .k = k, .nc = k->nc, .n = k->n };
    *out = (rb_interior){ .error = INFINITY, .pivot_ratio = 1.0 };
    rb_mark mark = rb_arena_mark(scratch);
    rb_status status = rb_bodies_make(k, scratch, &s.b);
    if (status == RB_OK && s.b) {
        s.m = 6 * s.b->nb;
        status = take_memory(&s, scratch) ? RB_OK : RB_NOMEM;
    }
    if (status == RB_OK && s.b) {
        make_scales(&s);
        if (opts->warm)
            start(&s, r, AWAY);
        else
            start_cold(&s);
        if (opts->warm) out->error = guess_error(&s, r);
        if (out->error > opts->tol) iterate(&s, opts, r, out);
        for (int c = 0; c < k->nc; c++) rb_cone_project(r + 3 * (ptrdiff_t)c, k->mu[c], 3);
    }
    rb_arena_reset(scratch, mark);
    return status;
}
