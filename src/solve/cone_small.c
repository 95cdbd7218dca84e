/* Newton's method (K.7) on few contacts, from the answer of the step before: whole steps, no merit,
 * no path, W as it is. It finds what the method `newton` of cone_auto.c would find, with the
 * same compliance, or nothing:
 *
 *     1. modes off the guess; where they change, again, at most STEPS times
 *     2. proximal steps (K.24) with the last factors, until the compliance is gone
 *
 * While no contact slides the system W_aa + eps is symmetric and positive, and an LDL' of half the
 * cost takes the place of the LU; F is that of W itself, so that a W which is not symmetric is left
 * to cone_auto.c. Several answers with a sliding contact are left to the path, unless the guess is
 * one that was chosen (K.23). Rows that hardly move have a compliance of their own (K.27). */
#include "solve/cone_small.h"

#include <math.h>
#include <string.h>

#include "math/dense.h"
#include "math/vec3.h"
#include "solve/newton.h"

enum {
    ROWS = 96,  /* beyond, the sparse LU of newton.c is quicker                                   */
    STEPS = 12, /* a guess that needs more is not near the answer                                 */
    POLISH = 6
};

/* |F| relative to the velocities at r below which the problem with compliance is solved [1]. */
#define SOLVED 1e-13

/* Least over largest pivot below which sliding contacts are left to cone_auto.c, which decides
 * whether they are redundant [1]. */
#define DOUBTFUL (10.0 * RB_REDUNDANT)

/* Compliance of a row, relative to the mean, below which it is stiff, and least one that it is
 * given the credit for [1]: normals of chains that are all but stretched have 1e-7 and less. STIFF
 * larger: other answers among redundant contacts than those of cone_auto.c. Smaller: proximal steps
 * do not end. STIFFEST smaller: rounding of W counts as compliance. */
#define STIFF    1e-3
#define STIFFEST 1e-10

/* The measure of the certificate, relative to tol, at which proximal steps end [1]. */
#define POLISHED 1e-3

typedef struct small {
    const rb_problem *p;
    int n, nc;
    double mean;   /* of the diagonal of W, 1 where that is zero [m/s per N s]             */
    double q_norm; /* |q|_2, 1 where q = 0                                                 */
    double *rho;   /* 1 / mean diagonal of a contact                      (nc)             */
    double *own;   /* compliance that a row is compared with: the mean, but for stiff ones (n) */
    int stiff;     /* there are some                                                       */
    double *r, *u; /* impulses; W r + q, with compliance where said       (n)              */
    double *w;     /* W r + q without compliance                          (n)              */
    double *F;     /* (K.7)                                               (n)              */
    double *dr;    /*                                                     (n)              */
    double *B;     /* dF/du of sliding contacts, 3 x 3                    (nc x 9)         */
    double *A;     /* dF/dr                                               (nc x 9)         */
    unsigned char *mode, *factored; /* at r; of the factors               (nc)             */
    unsigned char *null;            /* nothing moves the row, nor does it move  (n)        */
    int *active;                    /* contacts that are not open         (nc)             */
    int nactive, slides;
    double *G;  /* factors of the active rows                  (3 nactive x stride) */
    int stride; /* from row to row of it                                                   */
    int *perm;
    double ratio; /* least pivot over the largest                                          */
} small;

/* ---- the problem ------------------------------------------------------------------------------
 */

int rb_cone_small_takes(const rb_problem *p, const rb_solve_opts *o)
{
    int known = o->warm || p->nc == 1;
    return known && p->dim == 3 && p->n <= ROWS && p->W.form == RB_DENSE;
}

static int is_null(const rb_problem *p, int i)
{
    if (i % 3 == 0 || p->q[i] != 0.0) return 0;
    for (int j = 0; j < p->n; j++) {
        if (p->W.dense[(ptrdiff_t)i * p->n + j] != 0.0) return 0;
        if (p->W.dense[(ptrdiff_t)j * p->n + i] != 0.0) return 0;
    }
    return 1;
}

/* Tangents across the plane of a mechanism: impulses there change nothing, and least ones are zero.
 * In the system such a row stands for itself, so that its pivot is not taken for redundancy. */
static void find_null(small *s)
{
    for (int i = 0; i < s->n; i++) {
        double W_ii = s->p->W.dense[(ptrdiff_t)i * (s->n + 1)];
        s->null[i] = (unsigned char)(W_ii == 0.0 && is_null(s->p, i));
        if (s->null[i]) s->r[i] = 0.0;
    }
}

/* Rows that hardly move are compared with what they have, not with the mean: the compliance of
 * Newton's method would outweigh their own. */
static void find_stiff(small *s)
{
    for (int i = 0; i < s->n; i++) {
        double W_ii = s->p->W.dense[(ptrdiff_t)i * (s->n + 1)];
        int stiff = W_ii > 0.0 && W_ii < STIFF * s->mean;
        s->own[i] = stiff ? fmax(W_ii, STIFFEST * s->mean) : s->mean;
        s->stiff |= stiff;
    }
}

/* rho, mean and q_norm. */
static void scale_contacts(small *s)
{
    const rb_problem *p = s->p;
    double mean = 0.0;
    for (int c = 0; c < s->nc; c++) {
        const double *D = p->W.dense + (ptrdiff_t)3 * c * (p->n + 1);
        s->rho[c] = (D[0] + D[p->n + 1] + D[2 * (p->n + 1)]) / 3.0;
        mean += s->rho[c] / s->nc;
    }
    if (!(mean > 0.0)) mean = 1.0;
    for (int c = 0; c < s->nc; c++) {
        s->rho[c] = 1.0 / (s->rho[c] > 1e-12 * mean ? s->rho[c] : mean);
    }
    s->mean = mean;
    s->q_norm = rb_norm2(p->q, p->n);
    if (!(s->q_norm > 0.0)) s->q_norm = 1.0;
}

static rb_status prepare(const rb_problem *p, rb_arena *scratch, const double *guess, small *s)
{
    size_t n = (size_t)p->n, nc = (size_t)p->nc;
    *s = (small){ .p = p, .n = p->n, .nc = p->nc };
    size_t room = (size_t)rb_padded(p->n);
    double *x = rb_push(scratch, double, 5 * n + room + 19 * nc + n * room);
    int *index = rb_push(scratch, int, n + nc);
    unsigned char *mode = rb_push(scratch, unsigned char, 2 * nc + n);
    if (!x || !index || !mode) return RB_NOMEM;
    s->r = x;
    s->u = s->r + n;
    s->w = s->u + n;
    s->F = s->w + n;
    s->own = s->F + n;
    s->dr = s->own + n;
    s->rho = s->dr + room;
    s->A = s->rho + nc;
    s->B = s->A + 9 * nc;
    s->G = s->B + 9 * nc;
    s->perm = index;
    s->active = index + n;
    s->mode = mode;
    s->factored = mode + nc;
    s->null = s->factored + nc;
    memcpy(s->r, guess, n * sizeof *guess);
    memset(s->factored, RB_MODE_UNKNOWN, nc);

    scale_contacts(s);
    find_stiff(s);
    find_null(s);
    return RB_OK;
}

static void velocity(const small *s)
{
    rb_gemv(s->p->W.dense, s->n, s->n, s->n, s->r, s->u);
    for (int i = 0; i < s->n; i++) s->u[i] += s->p->q[i];
}

/* What the certificate will say of r; u is that of r without compliance. */
static double measure(const small *s)
{
    double sum = 0.0;
    for (int c = 0; c < s->nc; c++) {
        const double *r = s->r + 3 * c, *u = s->u + 3 * c;
        double mu = s->p->mu[c],
               x[3] = { r[0] - u[0] - mu * rb_cone_tangent(u, 3), r[1] - u[1], r[2] - u[2] };
        rb_cone_project(x, mu, 3);
        for (int i = 0; i < 3; i++) sum += (r[i] - x[i]) * (r[i] - x[i]);
    }
    return sqrt(sum) / s->q_norm;
}

/* ---- equations --------------------------------------------------------------------------------
 */

/* F and mode of contact c at r, u (K.7). */
static void contact_equations(small *s, int c)
{
    const double *r = s->r + 3 * c, *u = s->u + 3 * c;
    double *F = s->F + 3 * c, rho = s->rho[c];
    double y[3] = { r[0] - rho * u[0], r[1] - rho * u[1], r[2] - rho * u[2] };
    if (y[0] <= 0.0) {
        s->mode[c] = RB_MODE_OPEN;
        for (int i = 0; i < 3; i++) F[i] = r[i] / rho;
        return;
    }
    double radius = s->p->mu[c] * y[0], t = sqrt(y[1] * y[1] + y[2] * y[2]);
    for (int i = 0; i < 3; i++) F[i] = u[i];
    s->mode[c] = t < radius ? RB_MODE_STICK : RB_MODE_SLIDE;
    if (t < radius) return;
    double shrink = t > 0.0 ? radius / t : 0.0;
    F[1] = (r[1] - shrink * y[1]) / rho;
    F[2] = (r[2] - shrink * y[2]) / rho;
}

/* Returns |F|. */
static double equations(small *s)
{
    double sum = 0.0;
    for (int c = 0; c < s->nc; c++) contact_equations(s, c);
    for (int i = 0; i < s->n; i++) sum += s->F[i] * s->F[i];
    return sqrt(sum);
}

/* A = dF/dr, B = dF/du of a sliding contact (K.8). */
static void slide_derivatives(small *s, int c)
{
    const double *r = s->r + 3 * c, *u = s->u + 3 * c;
    double *A = s->A + 9 * c, *B = s->B + 9 * c, mu = s->p->mu[c], rho = s->rho[c];
    double y[3] = { r[0] - rho * u[0], r[1] - rho * u[1], r[2] - rho * u[2] };
    double t = sqrt(y[1] * y[1] + y[2] * y[2]), e[2] = { 0.0, 0.0 }, g = 0.0;
    if (t > 0.0) {
        e[0] = y[1] / t;
        e[1] = y[2] / t;
        g = mu * y[0] / t;
    }
    memset(A, 0, 9 * sizeof *A);
    memset(B, 0, 9 * sizeof *B);
    B[0] = 1.0;
    for (int i = 0; i < 2; i++) {
        A[3 * (i + 1)] = -mu * e[i] / rho;
        B[3 * (i + 1)] = mu * e[i];
        for (int j = 0; j < 2; j++) {
            double one = i == j ? 1.0 : 0.0, G = g * (one - e[i] * e[j]);
            A[3 * (i + 1) + j + 1] = (one - G) / rho;
            B[3 * (i + 1) + j + 1] = G;
        }
    }
}

/* ---- the linear system ------------------------------------------------------------------------
 */

/* Rows of the active contact a: W + eps where it sticks, A + B (W + eps) where it slides. */
static void fill_rows(const small *s, int a)
{
    int n = s->n, m = s->stride, c = s->active[a];
    double *G = s->G + (ptrdiff_t)3 * a * m;
    const double *W = s->p->W.dense + (ptrdiff_t)3 * c * n;
    for (int i = 0; i < 3; i++) {
        double *G_i = G + i * m;
        for (int b = 0; b < s->nactive && s->nactive < s->nc; b++)
            rb_copy3(W + i * n + 3 * s->active[b], G_i + 3 * b);
        if (s->nactive == s->nc) memcpy(G_i, W + i * n, (size_t)n * sizeof *G_i);
        for (int j = 3 * s->nactive; j < m; j++) G_i[j] = 0.0;
        G_i[3 * a + i] += s->null[3 * c + i] ? s->mean : RB_UNIFORM_EPS * s->own[3 * c + i];
    }
    if (s->mode[c] != RB_MODE_SLIDE) return;
    const double *A = s->A + 9 * c, *B = s->B + 9 * c;
    for (int j = 0; j < m; j++) {
        double x = G[j], y = G[m + j], z = G[2 * m + j];
        G[m + j] = B[3] * x + B[4] * y + B[5] * z;
        G[2 * m + j] = B[6] * x + B[7] * y + B[8] * z;
    }
    for (int i = 1; i < 3; i++) {
        for (int j = 0; j < 3; j++) G[i * m + 3 * a + j] += A[3 * i + j];
    }
}

/* Least over largest pivot, rows and columns in units of their own (K.27). swapped: rows, as perm
 * says. */
static double pivot_ratio(small *s, int swapped)
{
    int m = 3 * s->nactive;
    double *unit = s->dr, least = INFINITY, largest = 0.0;
    for (int i = 0; i < m && s->stiff; i++) unit[i] = s->own[3 * s->active[i / 3] + i % 3];
    for (int i = 0; i < m; i++) {
        double pivot = fabs(s->G[(ptrdiff_t)i * (s->stride + 1)]);
        if (s->stiff) {
            int from = swapped ? s->perm[i] : i;
            double of_row = unit[from], of_column = s->own[3 * s->active[i / 3] + i % 3];
            unit[from] = unit[i];
            pivot *= s->mean / sqrt(of_row * of_column);
        }
        least = pivot < least ? pivot : least;
        largest = pivot > largest ? pivot : largest;
    }
    return m > 0 ? least / largest : 1.0;
}

static int factor(small *s)
{
    s->nactive = s->slides = 0;
    for (int c = 0; c < s->nc; c++) {
        if (s->mode[c] != RB_MODE_OPEN) s->active[s->nactive++] = c;
        if (s->mode[c] != RB_MODE_SLIDE) continue;
        s->slides = 1;
        slide_derivatives(s, c);
    }
    int m = 3 * s->nactive, plain = !s->slides;
    s->stride = rb_padded(m);
    for (int a = 0; a < s->nactive; a++) fill_rows(s, a);
    int regular = plain ? rb_ldl_positive(s->G, m) : rb_lu_factor_padded(s->G, m, s->perm) == m;
    if (!regular) return 0;
    s->ratio = pivot_ratio(s, !plain);
    memcpy(s->factored, s->mode, (size_t)s->nc);
    return 1;
}

/* -F of an active contact less what the open ones, which go to zero, change there. */
static void right_side(const small *s, int c, double side[3])
{
    double du[3] = { 0.0, 0.0, 0.0 };
    for (int j = 0; j < s->nc; j++) {
        if (s->mode[j] != RB_MODE_OPEN) continue;
        const double *r = s->r + 3 * j;
        if (r[0] == 0.0 && r[1] == 0.0 && r[2] == 0.0) continue;
        const double *W = s->p->W.dense + (ptrdiff_t)3 * c * s->n + 3 * j;
        for (int i = 0; i < 3; i++, W += s->n) du[i] -= W[0] * r[0] + W[1] * r[1] + W[2] * r[2];
    }
    const double *F = s->F + 3 * c, *B = s->B + 9 * c;
    int slides = s->mode[c] == RB_MODE_SLIDE;
    for (int i = 0; i < 3; i++) {
        double moved =
            slides ? B[3 * i] * du[0] + B[3 * i + 1] * du[1] + B[3 * i + 2] * du[2] : du[i];
        side[i] = -F[i] - moved;
    }
}

/* r += dr with the factors at hand; 0: not finite. */
static int move(small *s)
{
    int m = 3 * s->nactive;
    for (int a = 0; a < s->nactive; a++) right_side(s, s->active[a], s->dr + 3 * a);
    for (int i = m; i < s->stride; i++) s->dr[i] = 0.0;
    if (!s->slides)
        rb_ldl_positive_solve(s->G, m, s->dr);
    else
        rb_lu_solve_padded(s->G, m, s->perm, s->dr);
    double sum = 0.0;
    for (int c = 0; c < s->nc; c++) {
        if (s->mode[c] != RB_MODE_OPEN) continue;
        for (int i = 0; i < 3; i++) s->r[3 * c + i] = 0.0;
    }
    for (int a = 0; a < s->nactive; a++) {
        double *r = s->r + 3 * s->active[a];
        for (int i = 0; i < 3; i++) {
            r[i] += s->dr[3 * a + i];
            sum += r[i] * 0.0;
        }
    }
    return sum == 0.0;
}

/* ---- the iteration ----------------------------------------------------------------------------
 */

/* How large velocities are at r [m/s]. */
static double speed(const small *s)
{
    double most = s->q_norm;
    for (int c = 0; c < s->nc; c++) {
        for (int i = 0; i < 3; i++) {
            double x = fabs(s->r[3 * c + i]) / s->rho[c];
            most = x > most ? x : most;
        }
    }
    return most;
}

static int modes_are_kept(const small *s)
{
    return memcmp(s->mode, s->factored, (size_t)s->nc) == 0;
}

/* Newton with compliance. 1: solved, and u, F, mode are those of r. */
static int iterate(small *s, rb_info *info)
{
    double before = INFINITY;
    for (int it = 0; it <= STEPS; it++) {
        velocity(s);
        memcpy(s->w, s->u, (size_t)s->n * sizeof *s->w);
        for (int i = 0; i < s->n; i++) s->u[i] += RB_UNIFORM_EPS * s->own[i] * s->r[i];
        double F = equations(s), scale = speed(s);
        int solved = F <= SOLVED * scale;
        if (it > 0 && solved && modes_are_kept(s)) return 1;
        /* rounding is all that is left of F */
        if (it > 0 && modes_are_kept(s) && F <= 100.0 * SOLVED * scale && F >= 0.25 * before)
            return 1;
        if (it == STEPS) return 0;
        before = F;
        info->iterations++;
        if (!s->slides && modes_are_kept(s)) { /* the factors are those of these modes */
            if (!move(s)) return 0;
            continue;
        }
        info->factorisations++;
        if (!factor(s) || !move(s)) return 0;
    }
    return 0;
}

/* From the answer with compliance to the one without; w is that of r. Returns the measure of r. */
static double polish(small *s, double tol)
{
    memcpy(s->u, s->w, (size_t)s->n * sizeof *s->u);
    double best = measure(s);
    for (int it = 0; it < POLISH && best > POLISHED * tol; it++) {
        double r[ROWS];
        memcpy(r, s->r, (size_t)s->n * sizeof *r);
        equations(s);
        if (!modes_are_kept(s) || !move(s)) break;
        velocity(s);
        double next = measure(s);
        if (next < best) {
            best = next;
            continue;
        }
        memcpy(s->r, r, (size_t)s->n * sizeof *r);
        velocity(s);
        break;
    }
    return best;
}

/* No contact approaches: without impulses nothing happens. */
static int try_trivial(small *s, rb_info *info)
{
    for (int c = 0; c < s->nc; c++) {
        if (s->p->q[3 * c] < 0.0) return 0;
    }
    memset(s->r, 0, (size_t)s->n * sizeof *s->r);
    memset(s->mode, RB_MODE_OPEN, (size_t)s->nc);
    info->rungs[RB_RUNG_TRIVIAL]++;
    return 1;
}

/* One contact, in closed form. In the plane of a mechanism it has two rows: W of all three is
 * singular, and a contact that sticks would be sought among the sliding ones. */
static void solve_alone(small *s)
{
    const double *W = s->p->W.dense, *q = s->p->q;
    double mu = s->null[1] && s->null[2] ? 0.0 : s->p->mu[0];
    if (!s->null[1] && !s->null[2]) {
        rb_cone_local(W, q, mu, 3, s->r);
        return;
    }
    int t = s->null[1] ? 2 : 1;
    double W_t[4] = { W[0], W[t], W[3 * t], W[4 * t] }, q_t[2] = { q[0], q[t] };
    double r_t[2] = { s->r[0], s->r[t] };
    rb_cone_local(W_t, q_t, mu, 2, r_t);
    s->r[0] = r_t[0];
    s->r[t] = r_t[1];
}

static int try_alone(small *s, double tol, rb_info *info)
{
    info->iterations++;
    solve_alone(s);
    velocity(s);
    if (!(measure(s) <= tol)) return 0;
    contact_equations(s, 0);
    info->rungs[RB_RUNG_SWEEP]++;
    return 1;
}

/* One contact needs no system, and no more memory than this. 1: r is the answer. */
static int solve_one(const rb_problem *p, double tol, double *r, rb_info *info)
{
    double of_row[9], rho;
    unsigned char mode, null[3];
    small s = { .p = p, .n = 3, .nc = 1, .r = of_row, .u = of_row + 3, .F = of_row + 6 };
    s.rho = &rho;
    s.mode = &mode;
    s.null = null;
    memcpy(s.r, r, 3 * sizeof *r);
    scale_contacts(&s);
    find_null(&s);
    if (!try_trivial(&s, info) && !try_alone(&s, tol, info)) return 0;
    memcpy(r, s.r, 3 * sizeof *r);
    info->mode[0] = mode;
    return 1;
}

/* 1: s->r and s->mode are the answer. */
static int try_newton(small *s, const rb_solve_opts *o, double tol, rb_info *info)
{
    if (!iterate(s, info)) return 0;
    int redundant = s->ratio < RB_REDUNDANT;
    if (o->unique && (s->slides || s->stiff) && s->ratio < DOUBTFUL && !o->follow) return 0;
    if (!(polish(s, tol) <= tol)) return 0;
    equations(s);
    info->rungs[RB_RUNG_NEWTON]++;
    info->rcond = s->ratio;
    if (redundant && o->unique) info->unique = RB_UNIQUE_CHOSEN;
    return 1;
}

rb_status rb_cone_small(const rb_problem *p, const rb_solve_opts *o, rb_arena *scratch, double tol,
                        double *r, rb_info *info, int *done)
{
    small s;
    info->unique = o->unique ? RB_UNIQUE_PLAIN : RB_UNIQUE_OFF;
    *done = p->nc == 1 && solve_one(p, tol, r, info);
    if (*done) return RB_OK;
    rb_status status = prepare(p, scratch, r, &s);
    if (status != RB_OK) return status;
    *done = (p->nc > 1 && try_trivial(&s, info)) || (o->warm && try_newton(&s, o, tol, info));
    if (!*done) return RB_OK;
    memcpy(r, s.r, (size_t)s.n * sizeof *r);
    memcpy(info->mode, s.mode, (size_t)s.nc);
    return RB_OK;
}
