/* Newton's method for rows as what they are (K.29).
 *
 *     normal    p = max(0, y),        y = p - rho u
 *     friction  p = P(y),             P: onto the disc of radius r = mu max(0, y_normal) + bound
 *     u = W p + q + E (p - p_ref)     E: a trace of compliance
 *
 * With the modes of y the equations are linear but for the direction d = y/|y| of discs that slide.
 * A disc that slides moves with its normal, p = r d, and across d it has a row of its own,
 *
 *     u_c + k p_c = 0,    k = (|y| - r) / (r rho)                                        (K.32)
 *
 * so that a step is one system over rows that hold, W in them, unsymmetric where something slides.
 * E decides how redundant rows share their load, as a uniform compliance does; p_ref = p takes its
 * error off at the end (K.24). Steps that make the equations worse are shortened. Contacts that
 * slide may have no answer near the last one at the smallest E: then a larger E is tried, whose
 * error (K.24) takes off, too, and in the end E begins so large that there is one answer,
 * and shrinks (K.22). */
#include "base/meter.h"
#include "solve/mixed.h"

#include <math.h>
#include <string.h>

#include "math/dense.h"
#include "solve/mixed_freedoms.h"

enum {
    STEPS = 15,       /* from the guess                                                   */
    LEVEL_STEPS = 10, /* at one compliance                                              */
    SHORTENED = 3,    /* times that a step is halved                                      */
    PATIENCE = 3,     /* steps without a better answer                                    */
    ROUNDS = 8        /* of taking the error of the compliance off                        */
};

/* Equations over |q| at which they are solved, as a share of the tolerance [1]. */
#define SOLVED 1e-3

/* How much more will do where Newton's method stops short of that [1]. */
#define NEAR 100.0

/* Residual without compliance that is worth another solve, as a share of the tolerance [1]. Larger:
 * gaps end by that much off, and steps that nearly rest are solved once more. ENOUGH: where that
 * does not count; a robot that moves saves 2 to 10 % of its instructions. */
#define SHARP  1e-4
#define ENOUGH 1e-2

/* Step after which the equations are no better is halved; what they may gain and still pass [1]. */
#define PASSES 0.99

/* Largest compliance along the path, and the equations at which its next level begins [1]. */
#define LARGEST 1.0
#define ROUGH   1e-7

/* Compliance that the guess is tried with; 0: that of the problem [1]. A car on eight points that
 * slide needed the path in 34 % of its problems with the first alone, in 1 % with the others. */
static const double GUESS_SHARE[] = { 0.0, 1e-6, 1e-4, 1e-2 };

/* Where the compliance of the problem takes over [1]. */
#define LEAST_SHARE 1e-8

/* Diagonal below which a row has the unit of the others, relative to their mean [1]: it is rounding
 * where nothing can move the row. */
#define LEAST 1e-9

enum { OPEN = RB_MODE_OPEN, HOLDS = RB_MODE_STICK, SLIDES = RB_MODE_SLIDE };

/* The problem in units that make the diagonal of W one: p = S p', u = u' / S (K.30). */
typedef struct scaled {
    int n, ld, ndisc;
    double *S;     /*                                                   (n)        */
    double *W, *q; /*                                                   (n x ld), (n) */
    double *G;     /* W = G G', where W is NULL                         (n x pad)  */
    int r, pad;    /* columns of G, from row to row                               */
    double *least; /* compliance                                        (n)        */
    rb_disc *disc; /*                                                   (ndisc)    */
    const unsigned char *kind;
} scaled;

/* A disc that slides, as rows of the system meet it. */
typedef struct slider {
    int row, dim;
    int normal, across; /* unknowns that press it, and of its own row; -1: none */
    double mu;
    double d[2];
} slider;

typedef struct newton {
    const scaled *x;
    double *E;               /* compliance in force                               (n)        */
    double *p_ref;           /*                                                   (n)        */
    double *p, *u;           /* iterate and its velocity, compliance included     (n)        */
    double *F;               /* p - P(y) over rho, velocities                     (n)        */
    double *p_try;           /*                                                   (n)        */
    double *best;            /* result of the whole step                          (n)        */
    double *last;            /* answer before it is sharpened                     (n)        */
    double *guess;           /* as it came                                        (n)        */
    unsigned char *factored; /* modes that the factors are of              (n)        */
    int symmetric;           /* LDL', else LU                                         */
    unsigned char *mode;     /* of rows                                       (n)        */
    double *d;               /* direction of discs that slide                     (ndisc x 2) */
    double *k;               /* compliance across it, < 0: no row                 (ndisc)    */
    int *col;                /* unknown of a row that holds, or across a disc     (n)        */
    int *hold;               /* rows that hold                                    (nhold)    */
    int *slide;              /* discs that slide                                  (nslide)   */
    slider *slider;          /* those of them that depend on unknowns             (nslider)  */
    int nhold, nslide, nslider;
    int m;     /* unknowns                                                     */
    double *A; /* NULL: the side of freedoms is factored                   (n x pad)  */
    rb_freedoms side;
    double *t;    /* G'p                                               (pad of G) */
    double *z;    /*                                                   (pad)      */
    int *perm;    /*                                                   (n)        */
    double sharp; /* SHARP or ENOUGH                                              */
    double size;  /* |q|, 1 where q = 0                                            */
    int factorisations, iterations;
    rb_meter *meter; /* NULL: work is not counted                                */
} newton;

static rb_status take_memory(const scaled *x, rb_arena *arena, newton *s)
{
    size_t n = (size_t)x->n, pad = (size_t)x->ld;
    double **rows[] = { &s->E,     &s->p_ref, &s->p,    &s->u,    &s->F,
                        &s->p_try, &s->best,  &s->last, &s->guess };
    *s = (newton){ .x = x, .meter = arena->meter };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        *rows[i] = rb_push(arena, double, n);
        if (!*rows[i]) return RB_NOMEM;
    }
    s->mode = rb_push(arena, unsigned char, 2 * n);
    s->d = rb_push(arena, double, 3 * (size_t)x->ndisc + 1);
    s->col = rb_push(arena, int, 3 * n + (size_t)x->ndisc + 1);
    s->A = x->G ? NULL : rb_push(arena, double, n *pad + 1);
    s->slider = rb_push(arena, slider, x->ndisc + 1);
    s->z = rb_push(arena, double, pad + 1);
    s->t = rb_push(arena, double, x->pad + 1);
    int ok = x->G ? rb_freedoms_push(arena, x->n, x->r, &s->side) : s->A != NULL;
    if (!s->mode || !s->d || !s->col || !ok || !s->slider || !s->z || !s->t) return RB_NOMEM;
    s->factored = s->mode + n;
    s->k = s->d + 2 * (size_t)x->ndisc;
    s->perm = s->col + n;
    s->hold = s->perm + n;
    s->slide = s->hold + n;
    s->size = rb_norm2(x->q, x->n);
    if (!(s->size > 0.0)) s->size = 1.0;
    return RB_OK;
}

static double diagonal(const rb_mixed *x, int i)
{
    if (x->W) return x->W[(ptrdiff_t)i * (x->ld + 1)];
    const double *G = x->G + (ptrdiff_t)i * x->r;
    return rb_dot(G, G, x->r);
}

/* S of each row; rows of a disc share that of their mean. What nothing can move has the unit of the
 * others: so has a disc of a planar mechanism, which moves along one of its two directions. */
static void find_units(const rb_mixed *x, double *S)
{
    double mean = 0.0;
    for (int i = 0; i < x->n; i++) mean += (S[i] = diagonal(x, i)) / x->n;
    if (!(mean > 0.0)) mean = 1.0;
    for (int g = 0; g < x->ndisc; g++) {
        double *own = S + x->disc[g].row;
        if (x->disc[g].dim == 2) own[0] = own[1] = 0.5 * (own[0] + own[1]);
    }
    for (int i = 0; i < x->n; i++) S[i] = 1.0 / sqrt(S[i] > LEAST * mean ? S[i] : LEAST * mean);
}

static rb_status scale_matrix(const rb_mixed *x, rb_arena *arena, scaled *to)
{
    size_t n = (size_t)x->n, pad = (size_t)to->ld;
    to->W = rb_push(arena, double, n *pad);
    if (!to->W) return RB_NOMEM;
    for (int i = 0; i < x->n; i++) {
        const double *from = x->W + (ptrdiff_t)i * x->ld;
        double *row = to->W + (size_t)i * pad;
        for (int j = 0; j < x->n; j++) row[j] = to->S[i] * from[j] * to->S[j];
    }
    return RB_OK;
}

static rb_status scale_factor(const rb_mixed *x, rb_arena *arena, scaled *to)
{
    to->r = x->r;
    to->pad = rb_padded(x->r);
    size_t n = (size_t)x->n, pad = (size_t)to->pad;
    to->G = rb_push(arena, double, n *pad);
    if (!to->G) return RB_NOMEM;
    memset(to->G, 0, n * pad * sizeof *to->G);
    for (int i = 0; i < x->n; i++) {
        const double *from = x->G + (ptrdiff_t)i * x->r;
        double *row = to->G + (size_t)i * pad;
        for (int j = 0; j < x->r; j++) row[j] = to->S[i] * from[j];
    }
    return RB_OK;
}

static rb_status scale(const rb_mixed *x, rb_arena *arena, scaled *to)
{
    size_t n = (size_t)x->n, pad = (size_t)rb_padded(x->n);
    *to = (scaled){ .n = x->n, .ld = (int)pad, .ndisc = x->ndisc, .kind = x->kind };
    to->S = rb_push(arena, double, 3 * n);
    to->disc = rb_push(arena, rb_disc, x->ndisc + 1);
    if (!to->S || !to->disc) return RB_NOMEM;
    to->q = to->S + n;
    to->least = to->q + n;
    find_units(x, to->S);
    rb_status status = x->W ? scale_matrix(x, arena, to) : scale_factor(x, arena, to);
    if (status != RB_OK) return status;
    for (int i = 0; i < x->n; i++) {
        to->q[i] = to->S[i] * x->q[i];
        to->least[i] = to->S[i] * x->compliance[i] * to->S[i];
    }
    for (int g = 0; g < x->ndisc; g++) {
        rb_disc disc = x->disc[g];
        disc.bound /= to->S[disc.row];
        if (disc.normal >= 0) disc.mu *= to->S[disc.normal] / to->S[disc.row];
        to->disc[g] = disc;
    }
    return RB_OK;
}

/* ---- the equations ----------------------------------------------------------------------------
 */

/* u = W p */
static void multiply(const newton *s, const double *p, double *u)
{
    const scaled *x = s->x;
    if (!x->G) {
        rb_gemv(x->W, x->ld, x->n, x->n, p, u);
        return;
    }
    memset(s->t, 0, (size_t)x->pad * sizeof *s->t);
    for (int i = 0; i < x->n; i++) {
        if (p[i] != 0.0) rb_axpy(p[i], x->G + (ptrdiff_t)i * x->pad, s->t, x->r);
    }
    rb_gemv(x->G, x->pad, x->n, x->r, s->t, u);
}

static void velocity(const newton *s, const double *p, double *u)
{
    const scaled *x = s->x;
    multiply(s, p, u);
    for (int i = 0; i < x->n; i++) u[i] += x->q[i] + s->E[i] * (p[i] - s->p_ref[i]);
}

static double radius(const newton *s, const rb_disc *disc, const double *p, const double *u)
{
    if (disc->normal < 0) return disc->bound;
    double y = p[disc->normal] - u[disc->normal];
    (void)s;
    return disc->mu * (y > 0.0 ? y : 0.0) + disc->bound;
}

/* Mode, direction and F of a disc. */
static void see_disc(newton *s, int g, const double *p, const double *u)
{
    const rb_disc *disc = &s->x->disc[g];
    double r = radius(s, disc, p, u), y[2] = { 0.0, 0.0 }, square = 0.0;
    for (int a = 0; a < disc->dim; a++) {
        y[a] = p[disc->row + a] - u[disc->row + a];
        square += y[a] * y[a];
    }
    double length = sqrt(square), *d = s->d + 2 * g;
    int slides = length > r;
    for (int a = 0; a < disc->dim; a++) {
        d[a] = length > 0.0 ? y[a] / length : 0.0;
        double onto = slides ? r * d[a] : y[a];
        s->F[disc->row + a] = p[disc->row + a] - onto;
        s->mode[disc->row + a] = slides ? SLIDES : HOLDS;
    }
    s->k[g] = slides && disc->dim == 2 && r > 0.0 ? (length - r) / r : -1.0;
}

/* Modes and F at p with velocity u; |F|. */
static double see(newton *s, const double *p, const double *u)
{
    const scaled *x = s->x;
    for (int i = 0; i < x->n; i++) {
        if (x->kind[i] == RB_ROW_FRICTION) continue;
        double y = p[i] - u[i];
        int holds = x->kind[i] == RB_ROW_BILATERAL || y > 0.0;
        s->mode[i] = holds ? HOLDS : OPEN;
        s->F[i] = holds ? u[i] : p[i];
    }
    for (int g = 0; g < x->ndisc; g++) see_disc(s, g, p, u);
    return rb_norm2(s->F, x->n);
}

/* ---- one step ---------------------------------------------------------------------------------
 */

/* Unknowns: rows that hold, then the directions across the slip. */
static void number(newton *s)
{
    const scaled *x = s->x;
    s->nhold = s->nslide = 0;
    for (int i = 0; i < x->n; i++) {
        if (s->mode[i] != HOLDS) continue;
        s->col[i] = s->nhold;
        s->hold[s->nhold++] = i;
    }
    s->m = s->nhold;
    for (int g = 0; g < x->ndisc; g++) {
        if (s->mode[x->disc[g].row] != SLIDES) continue;
        s->slide[s->nslide++] = g;
        if (s->k[g] >= 0.0) s->col[x->disc[g].row] = s->m++;
    }
}

/* Row of the system: W_i of the unknowns, with the discs that slide in proportion to their normals;
 * times `part`. */
static void add_row(const newton *s, int i, double part, double *to)
{
    const scaled *x = s->x;
    const double *W = x->W + (ptrdiff_t)i * x->ld;
    for (int j = 0; j < s->nhold; j++) to[j] += part * W[s->hold[j]];
    for (const slider *k = s->slider; k < s->slider + s->nslider; k++) {
        const double *d = k->d, *w = W + k->row;
        if (k->normal >= 0) {
            double along = k->dim == 2 ? w[0] * d[0] + w[1] * d[1] : w[0] * d[0];
            to[k->normal] += part * k->mu * along;
        }
        if (k->across >= 0) to[k->across] += part * (w[1] * d[0] - w[0] * d[1]);
    }
}

/* Friction of joints that slides depends on no unknown, and is not among them. */
static void list_sliders(newton *s)
{
    s->nslider = 0;
    for (int k = 0; k < s->nslide; k++) {
        const int g = s->slide[k];
        const rb_disc *disc = &s->x->disc[g];
        int pressed = disc->normal >= 0 && s->mode[disc->normal] == HOLDS;
        slider it = { .row = disc->row, .dim = disc->dim, .mu = disc->mu };
        it.normal = pressed ? s->col[disc->normal] : -1;
        it.across = s->k[g] >= 0.0 ? s->col[disc->row] : -1;
        memcpy(it.d, s->d + 2 * (ptrdiff_t)g, sizeof it.d);
        if (it.normal >= 0 || it.across >= 0) s->slider[s->nslider++] = it;
    }
}

/* Impulses that do not depend on unknowns: bounds of discs that slide. */
static void fixed_impulses(const newton *s, double *p)
{
    const scaled *x = s->x;
    memset(p, 0, (size_t)x->n * sizeof *p);
    for (int k = 0; k < s->nslide; k++) {
        const int g = s->slide[k];
        const rb_disc *disc = &x->disc[g];
        for (int a = 0; a < disc->dim; a++) p[disc->row + a] = disc->bound * s->d[2 * g + a];
    }
}

/* Right side of the system: -u of the fixed impulses. */
static void fill_right_side(newton *s)
{
    const scaled *x = s->x;
    for (int i = 0; i < rb_padded(s->m); i++) s->z[i] = 0.0;
    fixed_impulses(s, s->p_try);
    velocity(s, s->p_try, s->F);
    for (int j = 0; j < s->nhold; j++) s->z[j] = -s->F[s->hold[j]];
    for (int k = 0; k < s->nslide; k++) {
        const int g = s->slide[k];
        const double *d = s->d + 2 * g, *F = s->F + x->disc[g].row;
        if (s->k[g] >= 0.0) s->z[s->col[x->disc[g].row]] = -(F[1] * d[0] - F[0] * d[1]);
    }
}

/* The system of the modes. */
static void fill_matrix(newton *s)
{
    const scaled *x = s->x;
    int pad = rb_padded(s->m);
    list_sliders(s);
    memset(s->A, 0, (size_t)s->m * (size_t)pad * sizeof *s->A);
    for (int j = 0; j < s->nhold; j++) {
        double *row = s->A + (ptrdiff_t)j * pad;
        add_row(s, s->hold[j], 1.0, row);
        row[j] += s->E[s->hold[j]];
    }
    for (int k = 0; k < s->nslide; k++) {
        const int g = s->slide[k], first = x->disc[g].row, at = s->col[first];
        if (s->k[g] < 0.0) continue;
        const double *d = s->d + 2 * g;
        double *row = s->A + (ptrdiff_t)at * pad;
        add_row(s, first + 1, d[0], row);
        add_row(s, first, -d[1], row);
        row[at] += s->k[g] + 0.5 * (s->E[first] + s->E[first + 1]);
    }
}

/* Nothing that slides is pressed by an unknown. */
static int is_symmetric(const newton *s)
{
    for (int k = 0; k < s->nslide; k++) {
        const rb_disc *disc = &s->x->disc[s->slide[k]];
        if (disc->normal >= 0 && disc->mu != 0.0 && s->mode[disc->normal] == HOLDS) return 0;
    }
    return 1;
}

/* The same for the side of freedoms: rows of equations and of unknowns. */
static void fill_freedoms(newton *s)
{
    const scaled *x = s->x;
    rb_freedoms *t = &s->side;
    size_t bytes = (size_t)t->pad * sizeof *t->B;
    t->m = s->m;
    for (int j = 0; j < s->nhold; j++) {
        const double *G = x->G + (ptrdiff_t)s->hold[j] * x->pad;
        memcpy(t->B + (ptrdiff_t)j * t->pad, G, bytes);
        memcpy(t->C + (ptrdiff_t)j * t->pad, G, bytes);
        t->lam[j] = s->E[s->hold[j]];
    }
    for (int k = 0; k < s->nslide; k++) {
        const int g = s->slide[k];
        const rb_disc *disc = &x->disc[g];
        const double *d = s->d + 2 * g, *G = x->G + (ptrdiff_t)disc->row * x->pad, *H = G + x->pad;
        if (disc->normal >= 0 && s->mode[disc->normal] == HOLDS) {
            double *C = t->C + (ptrdiff_t)s->col[disc->normal] * t->pad;
            rb_axpy(disc->mu * d[0], G, C, x->r);
            if (disc->dim == 2) rb_axpy(disc->mu * d[1], H, C, x->r);
        }
        if (s->k[g] < 0.0) continue;
        int at = s->col[disc->row];
        double *B = t->B + (ptrdiff_t)at * t->pad;
        for (int i = 0; i < t->pad; i++) B[i] = d[0] * H[i] - d[1] * G[i];
        memcpy(t->C + (ptrdiff_t)at * t->pad, B, bytes);
        t->lam[at] = s->k[g] + 0.5 * (s->E[disc->row] + s->E[disc->row + 1]);
    }
}

/* In `factored`: no factors are there. */
enum { NOTHING_FACTORED = 0xff };

static double work_of(const newton *s)
{
    if (!s->x->G) return rb_work_dense(s->m);
    return rb_work_dense(s->x->r) * (1.0 + 3.0 * s->m / (1.0 + s->x->r));
}

static int try_to_factor(newton *s)
{
    s->factorisations++;
    number(s);
    if (!rb_meter_add(s->meter, RB_WORK_FACTOR, work_of(s))) return 0;
    memcpy(s->factored, s->mode, (size_t)s->x->n);
    s->symmetric = is_symmetric(s);
    if (s->x->G) {
        fill_freedoms(s);
        return s->m == 0 || rb_freedoms_factor(&s->side, s->symmetric);
    }
    fill_matrix(s);
    if (s->m == 0 || (s->symmetric && rb_ldl_positive(s->A, s->m))) return 1;
    if (s->symmetric) fill_matrix(s); /* the factorisation wrote over it */
    s->symmetric = 0;
    return rb_lu_factor_padded(s->A, s->m, s->perm) == s->m;
}

/* Factors of the modes there are; 0: there are none, nor those of other modes. */
static int factor(newton *s)
{
    int done = try_to_factor(s);
    if (!done && s->x->n > 0) s->factored[0] = NOTHING_FACTORED;
    return done;
}

static void solve_system(newton *s)
{
    if (s->m == 0) return;
    if (s->x->G)
        rb_freedoms_solve(&s->side, s->z);
    else if (s->symmetric)
        rb_ldl_positive_solve(s->A, s->m, s->z);
    else
        rb_lu_solve_padded(s->A, s->m, s->perm, s->z);
}

/* Impulses of the unknowns, into p_try. */
static void expand(newton *s)
{
    const scaled *x = s->x;
    fixed_impulses(s, s->p_try);
    for (int j = 0; j < s->nhold; j++) s->p_try[s->hold[j]] = s->z[j];
    for (int k = 0; k < s->nslide; k++) {
        const int g = s->slide[k];
        const rb_disc *disc = &x->disc[g];
        const double *d = s->d + 2 * g;
        double *p = s->p_try + disc->row, n = disc->normal < 0 ? 0.0 : s->p_try[disc->normal];
        for (int a = 0; a < disc->dim; a++) p[a] += disc->mu * n * d[a];
        if (s->k[g] < 0.0) continue;
        double across = s->z[s->col[disc->row]];
        p[0] -= across * d[1];
        p[1] += across * d[0];
    }
}

/* From p with |F| = error to the next iterate; |F| there, or INFINITY. */
static double step(newton *s, double error)
{
    int n = s->x->n;
    double best = INFINITY;
    if (!factor(s)) return INFINITY;
    fill_right_side(s);
    solve_system(s);
    expand(s);
    memcpy(s->best, s->p_try, (size_t)n * sizeof *s->best);
    double share = 1.0, taken = 1.0;
    for (int i = 0; i <= SHORTENED; i++, share *= 0.5) {
        for (int j = 0; j < n; j++) s->p_try[j] = s->p[j] + share * (s->best[j] - s->p[j]);
        velocity(s, s->p_try, s->u);
        double found = see(s, s->p_try, s->u);
        if (found < best) best = found, taken = share;
        if (found > PASSES * error) continue;
        memcpy(s->p, s->p_try, (size_t)n * sizeof *s->p);
        return found;
    }
    for (int j = 0; j < n; j++) s->p[j] += taken * (s->best[j] - s->p[j]);
    velocity(s, s->p, s->u);
    return see(s, s->p, s->u);
}

/* Newton at the compliance in force, given up where it goes in circles; |F| at its end. */
static double iterate(newton *s, int most, double goal)
{
    velocity(s, s->p, s->u);
    double error = see(s, s->p, s->u), best = error;
    for (int i = 0, idle = 0; i < most && error > goal && idle < PATIENCE; i++) {
        error = step(s, error);
        s->iterations++;
        if (!(error < INFINITY)) return error;
        idle = error < PASSES * best ? 0 : idle + 1;
        best = fmin(best, error);
    }
    return error;
}

/* ---- solve ------------------------------------------------------------------------------------
 */

/* At least that of the problem; share: of the diagonal. */
static void set_compliance(newton *s, double share)
{
    for (int i = 0; i < s->x->n; i++) s->E[i] = fmax(s->x->least[i], share);
}

/* From nothing, along compliance that shrinks by `ratio`, as far as each level has an answer near
 * the one before it: where contacts slide and share their load, W has no inverse in the direction
 * of that share, and below some compliance the path turns back. s->p: the last level's answer. */
static int follow_path(newton *s, double ratio, double goal)
{
    size_t bytes = (size_t)s->x->n * sizeof *s->p;
    double good = 0.0;
    memset(s->p, 0, bytes);
    memset(s->p_ref, 0, bytes);
    for (double share = LARGEST; share > LEAST_SHARE; share *= ratio) {
        set_compliance(s, share);
        if (iterate(s, LEVEL_STEPS, ROUGH * s->size) <= ROUGH * s->size) {
            good = share;
            memcpy(s->last, s->p, bytes);
        } else if (good > 0.0) {
            break;
        }
    }
    set_compliance(s, 0.0);
    if (iterate(s, STEPS, goal) <= NEAR * goal) return 1;
    if (!(good > 0.0)) return 0;
    memcpy(s->p, s->last, bytes);
    set_compliance(s, good);
    return iterate(s, STEPS, goal) <= NEAR * goal;
}

/* |F| of p without compliance, as a share of |q|. */
static double error_without(newton *s)
{
    multiply(s, s->p, s->u);
    for (int i = 0; i < s->x->n; i++) s->u[i] += s->x->q[i];
    return see(s, s->p, s->u) / s->size;
}

/* Takes the error of the compliance off, with the factors there are where they fit; |F|. */
static double sharpen(newton *s, double goal)
{
    size_t bytes = (size_t)s->x->n * sizeof *s->p;
    memcpy(s->p_ref, s->p, bytes);
    velocity(s, s->p, s->u);
    see(s, s->p, s->u);
    if (s->factorisations > 0 && memcmp(s->mode, s->factored, (size_t)s->x->n) == 0) {
        fill_right_side(s);
        solve_system(s);
        expand(s);
        memcpy(s->p, s->p_try, bytes);
    }
    return iterate(s, LEVEL_STEPS, goal);
}

/* Takes the error of the compliance off until it is below `sharp`, or for as long as that helps;
 * 1: it is below `tol`. */
static int settle(newton *s, double tol, double goal)
{
    size_t bytes = (size_t)s->x->n * sizeof *s->p;
    double error = error_without(s);
    for (int round = 0; round < ROUNDS && error > s->sharp * tol; round++) {
        memcpy(s->last, s->p, bytes);
        sharpen(s, goal);
        double now = error_without(s);
        if (!(now < error)) { /* modes on an edge: what was there will do */
            memcpy(s->p, s->last, bytes);
            error_without(s);
            break;
        }
        error = now;
    }
    return error <= tol;
}

/* From the guess, at the compliance of the problem or at a larger one. */
static int from_guess(newton *s, double tol, double goal)
{
    size_t bytes = (size_t)s->x->n * sizeof *s->p;
    for (int i = 0; i < (int)(sizeof GUESS_SHARE / sizeof *GUESS_SHARE); i++) {
        memcpy(s->p, s->guess, bytes);
        memset(s->p_ref, 0, bytes);
        set_compliance(s, GUESS_SHARE[i]);
        if (iterate(s, STEPS, goal) <= NEAR * goal && settle(s, tol, goal)) return 1;
    }
    return 0;
}

/* Along paths with long steps at first; others where these miss the answer. */
static int along_paths(newton *s, double tol, double goal)
{
    static const double ratio[] = { 0.1, 0.3, 0.03, 0.55 };
    for (int i = 0; i < (int)(sizeof ratio / sizeof *ratio); i++) {
        if (follow_path(s, ratio[i], goal) && settle(s, tol, goal)) return 1;
    }
    return 0;
}

rb_status rb_mixed_solve(const rb_mixed *x, double tol, rb_arena *scratch, double *p,
                         unsigned char *mode, rb_mixed_result *result)
{
    scaled own;
    newton s;
    *result = (rb_mixed_result){ .solved = 0 };
    rb_status status = scale(x, scratch, &own);
    if (status == RB_OK) status = take_memory(&own, scratch, &s);
    if (status != RB_OK) return status;
    for (int i = 0; i < x->n; i++) s.guess[i] = p[i] / own.S[i];
    s.sharp = x->rough ? ENOUGH : SHARP;
    double goal = SOLVED * tol * s.size;
    result->solved = from_guess(&s, tol, goal) || along_paths(&s, tol, goal);
    for (int i = 0; i < x->n; i++) p[i] = own.S[i] * s.p[i];
    memcpy(mode, s.mode, (size_t)x->n);
    result->iterations = s.iterations;
    result->factorisations = s.factorisations;
    return RB_OK;
}
