/* Interior points on Coulomb's law itself. Normals and friction are complementarities of their own,
 *
 *     v = Y'r,   u = Y v + q
 *     s = u_n >= 0,  r_n >= 0,                        s r_n = t                             (K.13)
 *     x = (l, u_t) in Q,  z = (mu r_n, r_t) in Q,     x o z = (t, 0, 0),   l free           (K.14)
 *
 * with Q the cone |x_t| <= x_0 and o its product; at t = 0 this is (K.1): l is the speed of slip.
 * The shift of De Saxce, which makes one monotone looking problem of both, does not appear. A step
 * of Newton, scaled by Nesterov and Todd's W (W z = W^-1 x), eliminates l within its contact:
 *
 *     dr = D (h - du),    D = [ d  0;  mu d b  S ],   d = r_n / s,   M = W^-2               (K.15)
 *     b = M_t0 / M_00,    S = M_tt - M_t0 M_0t / M_00
 *
 * and the bodies are the unknowns that are left, as in (K.10). Compliance e = eps / rho,
 * (I + e D)^-1 D in place of D, keeps steps short where forces are not unique and where friction
 * makes velocities fall with them. It is proximal, of the step alone, and does not move the
 * solution: it grows where steps are cut short and shrinks where they are not, or where it is what
 * keeps velocities off.
 * Predictor and corrector [Mehrotra 1992], then a corrector of centrality [Gondzio 1996]. */
#include "solve/cone_interior.h"

#include <math.h>
#include <string.h>

#include "math/vector.h"
#include "solve/body_products.h"

enum { LEAST_STEPS = 3 }; /* before eps is changed */

/* Share of the way to the boundary that a step takes, the same at coarse tolerances, and that from
 * which on a corrector of centrality has nothing to gain [1]. Larger: contacts whose slip turns
 * around are pinned, which is seen in the last digits. */
#define SHARE       0.9
#define SHARE_ROUGH 0.98
#define LONG        0.95

/* Compliance of a step in units of the diagonal of its contact: first, least, most; what it is
 * multiplied by after steps shorter and longer than these [1]. */
#define EPS_FIRST 1e-8
#define EPS_WARM  1e-4 /* first from a guess, at coarse tolerances */
#define EPS_LEAST 1e-8
#define EPS_MOST  1e-2
#define SHORT     0.3
#define FULL      0.9
#define EPS_GROW  3.0
#define EPS_FALL  0.1
#define EPS_LESS  0.3 /* after others, where velocities miss more than the measure */

/* A step shorter than this is not taken: it is looked for again with so much more compliance, so
 * often at most [1]. */
#define CUT      0.05
#define EPS_LEAP 10.0
enum { LEAPS = 2 };

/* Share of the measure that velocities may miss before compliance of the step shrinks [1]. */
#define MISSED 0.5

/* Products that fall ahead of what velocities miss lead into a corner: least mean product that a
 * step aims at, for each of what they miss beyond this share of the tolerance, in units of the
 * scales; measure down to which this holds [1]. Less: what is missed is compliance of the step,
 * which would hold the products where they are. */
#define AHEAD      0.1
#define BEHIND     0.05
#define AHEAD_UPTO 2e-4
#define CAREFUL    10.0 /* times as much, to the end, where another way was in vain */

/* Least coarse tolerance [1], and how many steps are taken where its answer closes contacts faster
 * than it should. */
#define COARSE 1e-4
enum { MORE_CLOSING = 6 };

/* Least share of t that a step aims at; the most far from the solution and near to it [1]. More:
 * where friction cuts the prediction short t would stand still. */
#define CENTRE_LEAST 1e-4
#define CENTRE_FAR   0.1
#define CENTRE_NEAR  0.5
#define NEAR         1e-3

/* Gondzio's correctors: how many at most, how much longer the trial step is, what it must gain to
 * be asked again, and the range of products it leaves alone, in units of the goal [1]. */
enum { CENTRINGS = 3 };
#define TRIAL_MORE 0.3
#define TRIAL_GAIN 0.03
#define PRODUCT_LO 0.1
#define PRODUCT_HI 10.0

/* Least friction, so that the disc has an inside [1]. */
#define LEAST_MU 1e-6

/* Measure from which on a guess is worth nothing [1]: without impulses it is one. */
#define WORTH 1.0

/* How far from the guess it begins, in units of the scales [1]. */
#define AWAY 0.3

/* Share of the way to the boundary that impulses may go on by themselves, and how far they try at
 * first and at most, in units of the step [1]. */
#define EXTEND_SHARE 0.5
#define EXTEND_FIRST 0.5
#define EXTEND_MOST  256.0

/* Least distance of (l, u_t) from the boundary after a step, in units of what its linear part
 * leaves and of what there was [1]. */
#define LEAST_OF_STEP 0.5
#define LEAST_OF_LAST 0.1

/* Steps shorter than this, and so many without a tenth less of the measure, end the search; so many
 * short ones do where another way is left. */
#define SHORTEST 1e-9
#define PINNED   0.1
enum { STALL = 25, PINS = 4 };

/* Numbers of contacts by component, so that loops over contacts take several at once: v[i][c]. */
typedef struct triple {
    double *v[3];
} triple;

typedef struct interior {
    const rb_cones *k;
    rb_products y;
    int nc, m;
    double *mu, *rho; /* mu at least LEAST_MU                                        */
    triple q;         /* velocities without impulses                                 */
    triple r, x;      /* impulses, (l, slip)                                         */
    double *s;        /* normal velocities                                           */
    double *v;        /* of the bodies                                       (m)     */
    triple dr, dx;
    double *ds, *dv;
    triple miss_u;  /* u - (s, x_t)                                                */
    double *miss_v; /* v - Y'r                                             (m)     */
    triple w;       /* scaling: W = eta H(w)                                       */
    double *eta;
    triple lam;    /* W z                                                         */
    triple goal_x; /* right sides of (K.14) and (K.13)                            */
    double *goal_s;
    triple h; /* of (K.15)                                                   */
    double *h0;
    double *e;            /* compliance of the step                                      */
    rb_friction_blocks D; /* of (K.15) with it                                           */
    triple u;
    double *term; /* what contacts add to a sum, or allow of a step              */
    triple kept_r, kept_x;
    double *kept_s, *kept_v;
    double gap;     /* mean of the products                                       */
    double error;   /* measure                                                    */
    double missed;  /* what velocities miss, in units of the measure              */
    double closing; /* fastest approach that the impulses leave                   */
    double tol;     /* measure that is wanted                                     */
    double share;   /* of the way to the boundary that a step takes               */
    int careful;    /* opts.careful                                               */
    double speed;   /* scale of velocities                                        */
    double unit;    /* scale of products                                          */
} interior;

/* ---- one cone ---------------------------------------------------------------------------------
 */

RB_INLINE double smaller(double a, double b)
{
    return a < b ? a : b;
}

RB_INLINE double larger(double a, double b)
{
    return a > b ? a : b;
}

RB_INLINE double length2(double a, double b)
{
    return sqrt(a * a + b * b);
}

/* a_0 b_0 - a_t.b_t: positive within the cone for a = b. */
RB_INLINE double lorentz(const double *a, const double *b)
{
    return a[0] * b[0] - a[1] * b[1] - a[2] * b[2];
}

/* a o b = (a.b, a_0 b_t + b_0 a_t) */
RB_INLINE void product(const double *a, const double *b, double *out)
{
    out[0] = a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    out[1] = a[0] * b[1] + b[0] * a[1];
    out[2] = a[0] * b[2] + b[0] * a[2];
}

/* out with l o out = b */
RB_INLINE void divide(const double *l, const double *b, double *out)
{
    double det = lorentz(l, l), lb = l[1] * b[1] + l[2] * b[2];
    double over = 1.0 / det, first = 1.0 / l[0];
    out[0] = (l[0] * b[0] - lb) * over;
    out[1] = (-l[1] * b[0] + (det * b[1] + l[1] * lb) * first) * over;
    out[2] = (-l[2] * b[0] + (det * b[2] + l[2] * lb) * first) * over;
}

/* out = H(w) a, of w_0^2 - |w_t|^2 = 1; sign = -1: its inverse. */
RB_INLINE void scale(const double *w, double sign, const double *a, double *out)
{
    double wa = sign * (w[1] * a[1] + w[2] * a[2]), more = sign * (a[0] + wa / (1.0 + w[0]));
    out[0] = w[0] * a[0] + wa;
    out[1] = a[1] + more * w[1];
    out[2] = a[2] + more * w[2];
}

/* Largest a with x + a d in the cone, x within it: the one root of lorentz(x + a d, x + a d) that
 * is ahead. */
RB_INLINE double cone_step(const double *x, const double *d)
{
    double A = lorentz(d, d), B = lorentz(x, d), C = larger(lorentz(x, x), 0.0);
    double way = sqrt(larger(B * B - A * C, 0.0)) - B;
    double a = C / way;
    return way > 0.0 ? a : INFINITY;
}

RB_INLINE double ray_step(double x, double d)
{
    double a = -x / d;
    return d < 0.0 ? a : INFINITY;
}

RB_INLINE void take(const triple *from, int c, double *out)
{
    out[0] = from->v[0][c];
    out[1] = from->v[1][c];
    out[2] = from->v[2][c];
}

RB_INLINE void put(const double *x, int c, const triple *to)
{
    to->v[0][c] = x[0];
    to->v[1][c] = x[1];
    to->v[2][c] = x[2];
}

/* z = (mu r_n, r_t) */
RB_INLINE void take_z(const interior *s, int c, const triple *r, double *z)
{
    z[0] = s->mu[c] * r->v[0][c];
    z[1] = r->v[1][c];
    z[2] = r->v[2][c];
}

/* Sum of the terms, in an order that vectors do not change. */
static double sum_terms(const interior *s)
{
    double sum[8] = { 0.0 };
    for (int c = 0; c < s->nc; c++) sum[c % 8] += s->term[c];
    return ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
}

static double least_term(const interior *s)
{
    double least = INFINITY;
    for (int c = 0; c < s->nc; c++) least = smaller(s->term[c], least);
    return least;
}

/* ---- where it begins --------------------------------------------------------------------------
 */

static int push_triple(rb_arena *scratch, int nc, triple *t)
{
    t->v[0] = rb_push(scratch, double, 3 * (size_t)nc);
    if (!t->v[0]) return 0;
    t->v[1] = t->v[0] + nc;
    t->v[2] = t->v[1] + nc;
    return 1;
}

static int take_memory(interior *s, rb_arena *scratch)
{
    triple *triples[] = { &s->q,   &s->r,      &s->x, &s->dr, &s->dx,     &s->miss_u, &s->w,
                          &s->lam, &s->goal_x, &s->h, &s->u,  &s->kept_r, &s->kept_x };
    double **of_c[] = { &s->mu, &s->rho, &s->s,    &s->ds,     &s->eta,
                        &s->h0, &s->e,   &s->term, &s->kept_s, &s->goal_s };
    double **of_m[] = { &s->v, &s->dv, &s->miss_v, &s->kept_v };
    int ok = 1;
    for (int i = 0; i < 13 && ok; i++) ok = push_triple(scratch, s->nc, triples[i]);
    for (int i = 0; i < 10 && ok; i++) ok = (*of_c[i] = rb_push(scratch, double, s->nc)) != NULL;
    for (int i = 0; i < 6 && ok; i++) ok = (s->D.d[i] = rb_push(scratch, double, s->nc)) != NULL;
    for (int i = 0; i < 4 && ok; i++) ok = (*of_m[i] = rb_push(scratch, double, s->m)) != NULL;
    return ok;
}

static void spread(const double *from, int nc, const triple *to)
{
    for (int c = 0; c < nc; c++) put(from + 3 * (ptrdiff_t)c, c, to);
}

static void collect(const triple *from, int nc, double *to)
{
    for (int c = 0; c < nc; c++) take(from, c, to + 3 * (ptrdiff_t)c);
}

/* Work on the contacts begin .. end - 1, each by itself. */
typedef struct shares shares;
typedef void kernel(const shares *of, int begin, int end);

struct shares {
    const interior *s;
    kernel *then;
    double a, aim;    /* length of a step, goal of products: where they are asked for */
    const double *v;  /* NULL: velocities are there                                   */
    const triple *to; /* Y v                                                          */
};

static void take_share(void *work, int k)
{
    const shares *x = work;
    const rb_products *y = &x->s->y;
    if (k >= y->members) return;
    if (x->v) rb_products_to_contacts(y, x->v, x->to->v, k);
    if (x->then) x->then(x, y->contacts[k], y->contacts[k + 1]);
}

static void for_contacts(const interior *s, kernel *what, double a, double aim)
{
    shares x = { .s = s, .then = what, .a = a, .aim = aim };
    rb_team_run(s->y.team, take_share, &x);
}

/* to = Y v, then what follows from it. */
static void find_changes(const interior *s, const double *v, const triple *to, kernel *then)
{
    shares x = { .s = s, .then = then, .v = v, .to = to };
    rb_team_run(s->y.team, take_share, &x);
}

RB_VECTOR static void add_free(const shares *of, int begin, int end)
{
    const interior *s = of->s;
    for (int i = 0; i < 3; i++) {
        for (int c = begin; c < end; c++) s->u.v[i][c] += s->q.v[i][c];
    }
}

/* s->u = Y v + q */
static void find_velocities(interior *s, const double *v)
{
    find_changes(s, v, &s->u, add_free);
}

/* Inside all cones, at a distance of AWAY times the scales from the guess r. */
static void start(interior *s, const double *r)
{
    spread(r, s->nc, &s->r);
    rb_products_to_bodies(&s->y, s->r.v, s->v);
    find_velocities(s, s->v);
    for (int c = 0; c < s->nc; c++) {
        double mu = s->mu[c], u[3];
        take(&s->u, c, u);
        double bound = length2(s->r.v[1][c], s->r.v[2][c]) / mu;
        s->r.v[0][c] = fmax(s->r.v[0][c], bound) + AWAY * s->speed * s->rho[c];
        s->s[c] = fmax(u[0], 0.0) + AWAY * s->speed;
        s->x.v[0][c] = length2(u[1], u[2]) + AWAY * s->speed * fmin(1.0, 1.0 / mu);
        s->x.v[1][c] = u[1];
        s->x.v[2][c] = u[2];
    }
}

/* The same without a guess. */
static void start_cold(interior *s)
{
    memset(s->v, 0, (size_t)s->m * sizeof *s->v);
    for (int c = 0; c < s->nc; c++) {
        s->r.v[0][c] = s->speed * s->rho[c];
        s->s[c] = s->speed;
        s->x.v[0][c] = fmin(s->speed / s->mu[c], 1e3 * s->speed);
        s->r.v[1][c] = s->r.v[2][c] = s->x.v[1][c] = s->x.v[2][c] = 0.0;
    }
}

static void make_scales(interior *s)
{
    const rb_cones *k = s->k;
    double sum = 0.0;
    for (int i = 0; i < k->n; i++) sum += k->q[i] * k->q[i];
    s->speed = sum > 0.0 ? sqrt(sum / k->nc) : 1.0;
    spread(k->q, s->nc, &s->q);
    for (int c = 0; c < s->nc; c++) {
        s->mu[c] = fmax(k->mu[c], LEAST_MU);
        s->rho[c] = k->rho[c];
        s->unit += k->rho[c] * s->speed * s->speed / s->nc;
    }
}

/* ---- where it is ------------------------------------------------------------------------------
 */

/* |r - P_K(r - (u + mu |u_t| n))|^2 of each contact. */
RB_VECTOR static void measure_contacts(const shares *of, int begin, int end)
{
    const interior *s = of->s;
    const double *restrict mu = s->k->mu;
    double *restrict term = s->term;
    for (int c = begin; c < end; c++) {
        double r[3], u[3], m = mu[c];
        take(&s->r, c, r);
        take(&s->u, c, u);
        double n = r[0] - u[0] - m * length2(u[1], u[2]), a = r[1] - u[1], b = r[2] - u[2];
        double t = length2(a, b), top = (n + m * t) / (1.0 + m * m);
        int inside = (n >= 0.0) & (t <= m * n);
        double shrink = m * top / larger(t, 1e-300);
        shrink = inside ? 1.0 : top > 0.0 ? shrink : 0.0;
        n = inside ? n : larger(top, 0.0);
        a = r[1] - shrink * a;
        b = r[2] - shrink * b;
        term[c] = (r[0] - n) * (r[0] - n) + a * a + b * b;
    }
}

/* Fastest approach among the velocities s->u. */
static double find_closing(const interior *s)
{
    double least = 0.0;
    for (int c = 0; c < s->nc; c++) least = smaller(s->u.v[0][c], least);
    return -least;
}

/* Measure of the impulses s->r, and closing. */
static double measure(interior *s)
{
    rb_products_to_bodies(&s->y, s->r.v, s->miss_v);
    find_velocities(s, s->miss_v);
    s->closing = find_closing(s);
    for_contacts(s, measure_contacts, 0.0, 0.0);
    return sqrt(sum_terms(s)) / s->k->q_norm;
}

RB_VECTOR static void miss_contacts(const shares *of, int begin, int end)
{
    const interior *s = of->s;
    double *restrict term = s->term;
    for (int c = begin; c < end; c++) {
        double r[3], x[3], u[3];
        take(&s->r, c, r);
        take(&s->x, c, x);
        take(&s->u, c, u);
        double miss[3] = { u[0] - s->s[c], u[1] - x[1], u[2] - x[2] };
        put(miss, c, &s->miss_u);
        term[c] = s->s[c] * r[0] + s->mu[c] * r[0] * x[0] + r[1] * x[1] + r[2] * x[2];
    }
}

/* Norm of what velocities miss, in units of the measure. */
static double find_missed(const interior *s)
{
    double sum = 0.0;
    for (int i = 0; i < 3; i++) {
        for (int c = 0; c < s->nc; c++) sum += s->miss_u.v[i][c] * s->miss_u.v[i][c];
    }
    return sqrt(sum) / s->k->q_norm;
}

/* What equations miss and the mean product, after measure(). */
static void look(interior *s)
{
    for (int i = 0; i < s->m; i++) s->miss_v[i] = s->v[i] - s->miss_v[i];
    find_velocities(s, s->v);
    for_contacts(s, miss_contacts, 0.0, 0.0);
    s->gap = sum_terms(s) / (2 * s->nc);
    s->missed = find_missed(s);
}

/* ---- one step ---------------------------------------------------------------------------------
 */

/* b and S of (K.15) in closed form: M = (2 y y' - J) / eta^2 with y = (w_0, -w_t). */
RB_INLINE void friction_block(const double *w, double eta, double *b, double *S)
{
    double over = 1.0 / (1.0 + 2.0 * (w[1] * w[1] + w[2] * w[2])), i2 = 1.0 / (eta * eta);
    b[0] = -2.0 * w[0] * w[1] * over;
    b[1] = -2.0 * w[0] * w[2] * over;
    S[0] = i2 * (1.0 + 2.0 * w[2] * w[2]) * over;
    S[1] = -i2 * 2.0 * w[1] * w[2] * over;
    S[2] = i2 * (1.0 + 2.0 * w[1] * w[1]) * over;
}

/* out = (I + e D)^-1 D for D = [ d 0; f S ]: block triangular as D is. */
RB_INLINE void with_compliance(double d, const double *f, const double *S, double e, double *out)
{
    double n = 1.0 / (1.0 + e * d);
    double a11 = 1.0 + e * S[0], a12 = e * S[1], a22 = 1.0 + e * S[2];
    double over = 1.0 / (a11 * a22 - a12 * a12);
    out[0] = n * d;
    out[1] = n * over * (a22 * f[0] - a12 * f[1]);
    out[2] = n * over * (a11 * f[1] - a12 * f[0]);
    out[3] = over * (a22 * S[0] - a12 * S[1]);
    out[4] = over * (a22 * S[1] - a12 * S[2]);
    out[5] = over * (a11 * S[2] - a12 * S[1]);
}

/* Scaling and D; terms: not positive where rounding has left a cone. */
RB_VECTOR static void scale_contacts(const shares *of, int begin, int end)
{
    const interior *s = of->s;
    double *restrict term = s->term;
    double eps = of->a;
    for (int c = begin; c < end; c++) {
        double x[3], z[3], w[3], lam[3], b[2], S[3], D[6];
        take(&s->x, c, x);
        take_z(s, c, &s->r, z);
        double xx = lorentz(x, x), zz = lorentz(z, z);
        term[c] = smaller(xx, zz);
        double sx = sqrt(xx), sz = sqrt(zz), dot = x[0] * z[0] + x[1] * z[1] + x[2] * z[2];
        double g = sqrt(0.5 * (1.0 + dot / (sx * sz))), eta = sqrt(sx / sz);
        double over = 0.5 / g, ix = over / sx, iz = over / sz;
        w[0] = x[0] * ix + z[0] * iz;
        w[1] = x[1] * ix - z[1] * iz;
        w[2] = x[2] * ix - z[2] * iz;
        scale(w, 1.0, z, lam);
        for (int i = 0; i < 3; i++) lam[i] *= eta;
        friction_block(w, eta, b, S);
        double d = s->r.v[0][c] / s->s[c], f[2] = { s->mu[c] * d * b[0], s->mu[c] * d * b[1] };
        double e = eps / s->rho[c];
        with_compliance(d, f, S, e, D);
        s->eta[c] = eta;
        s->e[c] = e;
        put(w, c, &s->w);
        put(lam, c, &s->lam);
        for (int i = 0; i < 6; i++) s->D.d[i][c] = D[i];
    }
}

/* out = D a */
RB_INLINE void times_D(const interior *s, int c, const double *a, double *out)
{
    double D[6];
    for (int i = 0; i < 6; i++) D[i] = s->D.d[i][c];
    out[0] = D[0] * a[0];
    out[1] = D[1] * a[0] + D[3] * a[1] + D[4] * a[2];
    out[2] = D[2] * a[0] + D[4] * a[1] + D[5] * a[2];
}

/* h and h_0 of (K.15), D h in dr. */
RB_VECTOR static void right_sides(const shares *of, int begin, int end)
{
    const interior *s = of->s;
    for (int c = begin; c < end; c++) {
        double lam[3], goal[3], w[3], miss[3], a[3], b[3], h[3], dr[3], eta = s->eta[c];
        take(&s->lam, c, lam);
        take(&s->goal_x, c, goal);
        take(&s->w, c, w);
        take(&s->miss_u, c, miss);
        divide(lam, goal, a);
        scale(w, 1.0, a, b);
        h[0] = s->goal_s[c] / s->r.v[0][c] - miss[0];
        h[1] = eta * b[1] - miss[1];
        h[2] = eta * b[2] - miss[2];
        s->h0[c] = eta * b[0];
        times_D(s, c, h, dr);
        put(h, c, &s->h);
        put(dr, c, &s->dr);
    }
}

/* dr, dx, ds from du in s->u. */
RB_VECTOR static void left_sides(const shares *of, int begin, int end)
{
    const interior *s = of->s;
    for (int c = begin; c < end; c++) {
        double du[3], h[3], miss[3], w[3], t[3], dr[3], dx[3], e = s->e[c];
        take(&s->u, c, du);
        take(&s->h, c, h);
        take(&s->miss_u, c, miss);
        take(&s->w, c, w);
        for (int i = 0; i < 3; i++) t[i] = h[i] - du[i];
        times_D(s, c, t, dr);
        for (int i = 0; i < 3; i++) t[i] -= e * dr[i];
        /* M_00 dx_0 = M_00 h_0 - mu dr_n + M_0t t, both sides times eta^2 */
        double M00 = 2.0 * w[0] * w[0] - 1.0, M0t = -2.0 * w[0] * (w[1] * t[1] + w[2] * t[2]);
        dx[0] = s->h0[c] - (s->eta[c] * s->eta[c] * s->mu[c] * dr[0] - M0t) / M00;
        dx[1] = du[1] + e * dr[1] + miss[1];
        dx[2] = du[2] + e * dr[2] + miss[2];
        s->ds[c] = du[0] + e * dr[0] + miss[0];
        put(dr, c, &s->dr);
        put(dx, c, &s->dx);
    }
}

/* The change that goal_s and goal_x ask for. */
static void direction(interior *s)
{
    for_contacts(s, right_sides, 0.0, 0.0);
    rb_products_to_bodies(&s->y, s->dr.v, s->dv);
    for (int i = 0; i < s->m; i++) s->dv[i] -= s->miss_v[i];
    rb_block_lu_solve(&s->y.b->lu, s->dv, s->y.b->work);
    find_changes(s, s->dv, &s->u, left_sides);
}

RB_VECTOR static void step_contacts(const shares *of, int begin, int end)
{
    const interior *s = of->s;
    double *restrict term = s->term;
    for (int c = begin; c < end; c++) {
        double z[3], dz[3];
        take_z(s, c, &s->r, z);
        take_z(s, c, &s->dr, dz);
        term[c] = smaller(cone_step(z, dz), ray_step(s->s[c], s->ds[c]));
    }
}

/* Largest step that stays inside. (l, u_t) always can: l is in no other equation. */
static double most(interior *s)
{
    for_contacts(s, step_contacts, 0.0, 0.0);
    return least_term(s);
}

RB_VECTOR static void products_after(const shares *of, int begin, int end)
{
    const interior *s = of->s;
    double *restrict term = s->term;
    double a = of->a;
    for (int c = begin; c < end; c++) {
        double x[3], dx[3], z[3], dz[3];
        take(&s->x, c, x);
        take(&s->dx, c, dx);
        take_z(s, c, &s->r, z);
        take_z(s, c, &s->dr, dz);
        double sum = (s->s[c] + a * s->ds[c]) * (s->r.v[0][c] + a * s->dr.v[0][c]);
        for (int i = 0; i < 3; i++) sum += (x[i] + a * dx[i]) * (z[i] + a * dz[i]);
        term[c] = sum;
    }
}

/* Mean product after a step of length a. */
static double gap_after(interior *s, double a)
{
    for_contacts(s, products_after, a, 0.0);
    return sum_terms(s) / (2 * s->nc);
}

RB_VECTOR static void predict(const shares *of, int begin, int end)
{
    const interior *s = of->s;
    for (int c = begin; c < end; c++) {
        double lam[3], goal[3];
        take(&s->lam, c, lam);
        product(lam, lam, goal);
        for (int i = 0; i < 3; i++) goal[i] = -goal[i];
        put(goal, c, &s->goal_x);
        s->goal_s[c] = -s->s[c] * s->r.v[0][c];
    }
}

/* dx and dz of contact c in scaled variables. */
RB_INLINE void scaled_step(const interior *s, int c, double *dx, double *dz)
{
    double w[3], x[3], z[3], eta = s->eta[c], over = 1.0 / eta;
    take(&s->w, c, w);
    take(&s->dx, c, x);
    take_z(s, c, &s->dr, z);
    scale(w, -1.0, x, dx);
    scale(w, 1.0, z, dz);
    for (int i = 0; i < 3; i++) {
        dx[i] *= over;
        dz[i] *= eta;
    }
}

/* Towards products of `aim`, second order of the prediction taken off. */
RB_VECTOR static void correct(const shares *of, int begin, int end)
{
    const interior *s = of->s;
    double aim = of->aim;
    for (int c = begin; c < end; c++) {
        double dx[3], dz[3], lam[3], cross[3], goal[3];
        take(&s->lam, c, lam);
        scaled_step(s, c, dx, dz);
        product(dx, dz, cross);
        product(lam, lam, goal);
        for (int i = 0; i < 3; i++) goal[i] = -goal[i] - cross[i];
        goal[0] += aim;
        put(goal, c, &s->goal_x);
        s->goal_s[c] = aim - s->s[c] * s->r.v[0][c] - s->ds[c] * s->dr.v[0][c];
    }
}

/* What brings a product into the range around `aim`. */
RB_INLINE double pull(double value, double aim)
{
    double to = smaller(larger(value, PRODUCT_LO * aim), PRODUCT_HI * aim) - value;
    return larger(to, -PRODUCT_HI * aim);
}

/* Products after a step of length a are pulled into the range around `aim`. */
RB_VECTOR static void centre(const shares *of, int begin, int end)
{
    const interior *s = of->s;
    double a = of->a, aim = of->aim;
    for (int c = begin; c < end; c++) {
        double dx[3], dz[3], lam[3], p[3], goal[3];
        take(&s->lam, c, lam);
        take(&s->goal_x, c, goal);
        scaled_step(s, c, dx, dz);
        for (int i = 0; i < 3; i++) {
            dx[i] = lam[i] + a * dx[i];
            dz[i] = lam[i] + a * dz[i];
        }
        product(dx, dz, p);
        double t = length2(p[1], p[2]), up = pull(p[0] + t, aim), down = pull(p[0] - t, aim);
        double over = 0.5 * (up - down) / larger(t, 1e-300);
        goal[0] += 0.5 * (up + down);
        goal[1] += over * p[1];
        goal[2] += over * p[2];
        put(goal, c, &s->goal_x);
        double after = (s->s[c] + a * s->ds[c]) * (s->r.v[0][c] + a * s->dr.v[0][c]);
        s->goal_s[c] += pull(after, aim);
    }
}

static void swap(double **a, double **b)
{
    double *t = *a;
    *a = *b;
    *b = t;
}

static void swap_triples(triple *a, triple *b)
{
    for (int i = 0; i < 3; i++) swap(&a->v[i], &b->v[i]);
}

/* The direction is put aside, or taken back. */
static void exchange(interior *s)
{
    swap_triples(&s->dr, &s->kept_r);
    swap_triples(&s->dx, &s->kept_x);
    swap(&s->ds, &s->kept_s);
    swap(&s->dv, &s->kept_v);
}

static void copy_triple(const triple *from, int nc, const triple *to)
{
    for (int i = 0; i < 3; i++) memcpy(to->v[i], from->v[i], (size_t)nc * sizeof *to->v[i]);
}

static void keep_direction(interior *s)
{
    copy_triple(&s->dr, s->nc, &s->kept_r);
    copy_triple(&s->dx, s->nc, &s->kept_x);
    memcpy(s->kept_s, s->ds, (size_t)s->nc * sizeof *s->ds);
    memcpy(s->kept_v, s->dv, (size_t)s->m * sizeof *s->dv);
}

/* Share of the mean product to aim at, by what the prediction leaves of it. */
static double aim_at(interior *s, double a)
{
    double left = fmin(fmax(gap_after(s, a) / s->gap, 0.0), 1.0);
    double most_of = s->error > NEAR ? CENTRE_FAR : CENTRE_NEAR;
    double least =
        (s->careful ? CAREFUL : 1.0) * AHEAD * s->unit * (s->missed - BEHIND * s->tol) / s->gap;
    double share = fmin(most_of, fmax(left * left * left, CENTRE_LEAST));
    return s->careful || s->error > AHEAD_UPTO ? fmax(share, fmin(least, 1.0)) : share;
}

/* Direction and length of the step. */
static double find_step(interior *s)
{
    for_contacts(s, predict, 0.0, 0.0);
    direction(s);
    double aim = aim_at(s, fmin(1.0, most(s))) * s->gap;
    for_contacts(s, correct, 0.0, aim);
    direction(s);
    double a = fmin(1.0, s->share * most(s));
    for (int i = 0; i < CENTRINGS && a < LONG; i++) {
        keep_direction(s);
        for_contacts(s, centre, fmin(1.0, fmax(1.1 * a, a + TRIAL_MORE)), aim);
        direction(s);
        double longer = fmin(1.0, s->share * most(s));
        if (longer < a) {
            exchange(s);
            return a;
        }
        if (longer < a + TRIAL_GAIN) return longer;
        a = longer;
    }
    return a;
}

static void add_triple(const triple *d, int nc, double a, const triple *to)
{
    for (int i = 0; i < 3; i++) {
        for (int c = 0; c < nc; c++) to->v[i][c] += a * d->v[i][c];
    }
}

/* (l, u_t) after a step of length a; where that leaves the cone, l follows the curved boundary. */
RB_VECTOR static void move_slips(const shares *of, int begin, int end)
{
    const interior *s = of->s;
    double a = of->a;
    for (int c = begin; c < end; c++) {
        double x[3], dx[3];
        take(&s->x, c, x);
        take(&s->dx, c, dx);
        double t = length2(x[1], x[2]), before = x[0] - t;
        double along = (x[1] * dx[1] + x[2] * dx[2]) / larger(t, 1e-300);
        double linear = before + a * (dx[0] - along);
        for (int i = 0; i < 3; i++) x[i] += a * dx[i];
        double least = larger(LEAST_OF_STEP * linear, LEAST_OF_LAST * before);
        x[0] = larger(x[0], length2(x[1], x[2]) + least);
        put(x, c, &s->x);
    }
}

static void go(interior *s, double a)
{
    for_contacts(s, move_slips, a, 0.0);
    add_triple(&s->dr, s->nc, a, &s->r);
    for (int c = 0; c < s->nc; c++) s->s[c] += a * s->ds[c];
    for (int i = 0; i < s->m; i++) s->v[i] += a * s->dv[i];
}

RB_VECTOR static void impulse_contacts(const shares *of, int begin, int end)
{
    const interior *s = of->s;
    double *restrict term = s->term;
    for (int c = begin; c < end; c++) {
        double z[3], dz[3];
        take_z(s, c, &s->r, z);
        take_z(s, c, &s->dr, dz);
        term[c] = cone_step(z, dz);
    }
}

/* Impulses and their velocities a further along dr, dx = W dr. */
static void drift(interior *s, double a)
{
    add_triple(&s->dr, s->nc, a, &s->r);
    add_triple(&s->dx, s->nc, a, &s->u);
}

static double measure_here(interior *s)
{
    for_contacts(s, measure_contacts, 0.0, 0.0);
    return sqrt(sum_terms(s)) / s->k->q_norm;
}

/* Compliance keeps impulses that drift along a self-stress to the same short way in every step,
 * while velocities stand. Impulses alone go on in their direction while the measure falls. Returns
 * the measure. The step is done: dv and dx are free. */
static double extend(interior *s)
{
    for_contacts(s, impulse_contacts, 0.0, 0.0);
    double limit = EXTEND_SHARE * least_term(s), best = measure(s), now = 0.0, at = 0.0;
    if (!(limit > 0.0)) return best;
    rb_products_to_bodies(&s->y, s->dr.v, s->dv);
    find_changes(s, s->dv, &s->dx, NULL);
    for (double to = EXTEND_FIRST; now < limit && to <= EXTEND_MOST; to *= 2.0) {
        double next = fmin(to, limit);
        drift(s, next - now);
        now = next;
        double error = measure_here(s);
        if (!(error < best)) break;
        best = error;
        at = now;
    }
    if (at != now) add_triple(&s->dr, s->nc, at - now, &s->r);
    return measure(s);
}

/* Steps may be made longer by compliance. At fine tolerances not while velocities miss more than
 * the measure: what they miss is compliance of the steps before. */
static int may_yield(const interior *s)
{
    return s->tol >= COARSE || s->missed <= MISSED * s->error;
}

/* Compliance of the next step after one of length a. */
static double next_eps(const interior *s, double eps, double a)
{
    if (!may_yield(s)) return fmax(EPS_FALL * eps, EPS_LEAST);
    if (s->missed > MISSED * s->error && a >= SHORT && a <= FULL) eps *= EPS_LESS;
    if (a < SHORT) eps *= EPS_GROW;
    if (a > FULL) eps *= EPS_FALL;
    return fmin(fmax(eps, EPS_LEAST), EPS_MOST);
}

/* ---- all of it --------------------------------------------------------------------------------
 */

/* 0: the budget is spent, or a point has left its cone. */
static int factor(interior *s, double eps, rb_interior *out)
{
    for_contacts(s, scale_contacts, eps, 0.0);
    if (!(least_term(s) > 0.0)) return 0;
    if (!rb_meter_add(s->k->meter, RB_WORK_FACTOR, rb_bodies_units(s->y.b))) return 0;
    rb_products_factor(&s->y, &s->D);
    out->factorisations++;
    out->pivot_ratio = s->y.b->lu.pivot_ratio;
    return 1;
}

/* Direction and length of a step; 0: none. Compliance grows where the step would be cut short. */
static double find_long_step(interior *s, int leaps, int limit, double *eps, rb_interior *out)
{
    for (;; leaps--) {
        if (!factor(s, *eps, out)) return 0.0;
        double a = find_step(s);
        if (a > CUT || (leaps <= 0 && a > SHORTEST) || *eps >= EPS_MOST ||
            out->factorisations >= limit)
            return a;
        *eps = fmin(EPS_LEAP * *eps, EPS_MOST);
    }
}

/* The best impulses so far; among those well within the tolerance, the last. */
static void keep_best(const interior *s, double tol, double *r, rb_interior *out)
{
    if (s->error > 0.5 * tol && !(s->error < out->error)) return;
    out->error = s->error;
    collect(&s->r, s->nc, r);
}

static void iterate(interior *s, const rb_interior_opts *o, double *r, rb_interior *out)
{
    double eps = o->warm && o->tol >= COARSE ? EPS_WARM : EPS_FIRST, a = 1.0;
    s->error = measure(s);
    for (int i = 0, since = 0, more = 0, pinned = 0;; i++) {
        if (!(s->error < INFINITY)) return;
        since = s->error < 0.9 * out->error ? 0 : since + 1;
        pinned = since > 0 ? pinned + (a < PINNED) : 0;
        keep_best(s, o->tol, r, out);
        if (since > STALL || out->factorisations >= o->limit) return;
        if (o->impatient && pinned > PINS) return;
        look(s);
        more += out->error <= o->tol;
        int closes = o->closing > 0.0 && s->closing > o->closing;
        if (more > MORE_CLOSING || (more > 0 && !closes)) return;
        int settled = i >= LEAST_STEPS;
        if (settled) eps = next_eps(s, eps, a);
        int leaps = settled && may_yield(s) ? LEAPS : 0;
        a = find_long_step(s, leaps, o->limit, &eps, out);
        if (!(a > SHORTEST)) return;
        go(s, a);
        s->error = extend(s);
    }
}

/* Measure of the guess, whose velocities start() has left in s->u. */
static double guess_error(interior *s, const double *r)
{
    triple own = s->r;
    s->r = s->kept_r;
    spread(r, s->nc, &s->r);
    for_contacts(s, measure_contacts, 0.0, 0.0);
    s->closing = find_closing(s);
    s->r = own;
    return sqrt(sum_terms(s)) / s->k->q_norm;
}

static rb_status prepare(interior *s, rb_arena *scratch)
{
    rb_bodies *b = NULL;
    rb_status status = rb_bodies_make(s->k, scratch, &b);
    if (status != RB_OK || !b) return status;
    status = rb_products_make(b, scratch, &s->y);
    s->m = 6 * b->nb;
    return status == RB_OK && !take_memory(s, scratch) ? RB_NOMEM : status;
}

rb_status rb_cone_interior(const rb_cones *k, const rb_interior_opts *opts, rb_arena *scratch,
                           double *r, rb_interior *out)
{
    interior s = { .k = k, .nc = k->nc, .tol = opts->tol, .careful = opts->careful };
    *out = (rb_interior){ .error = INFINITY, .pivot_ratio = 1.0 };
    rb_mark mark = rb_arena_mark(scratch);
    rb_status status = prepare(&s, scratch);
    if (status == RB_OK && s.y.b) {
        make_scales(&s);
        s.share = s.tol >= COARSE ? SHARE_ROUGH : SHARE;
        out->work = rb_bodies_work(s.y.b);
        if (opts->warm)
            start(&s, r);
        else
            start_cold(&s);
        if (opts->warm) out->error = guess_error(&s, r);
        if (opts->warm && !(out->error < WORTH)) start_cold(&s);
        if (opts->warm && opts->closing > 0.0 && s.closing > opts->closing) out->error = INFINITY;
        if (out->error > opts->tol) iterate(&s, opts, r, out);
        for (int c = 0; c < k->nc; c++) rb_cone_project(r + 3 * (ptrdiff_t)c, k->mu[c], 3);
    }
    rb_arena_reset(scratch, mark);
    return status;
}
