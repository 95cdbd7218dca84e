/* Gaps of an answer that is not exact. Of an error in all of (K.3) friction can take its part
 * without anybody seeing it; bodies that come closer are seen, and the steps after it add to that.
 * With friction as it was found, the normals are a problem of their own, convex and with one answer
 * for the velocities:
 *
 *     min 1/2 x'A x + b'x,  x >= 0,    A = S W_nn S,  b = S (q_n + W_nt r_t),  r_n = S x    (K.21)
 *
 * S makes the diagonal of A one. It is solved by conjugate gradients within the contacts that push,
 * which end where one of them would pull, and steps down the gradient that let others begin to
 * push, in proportion [Dostal & Schoberl 2005]: no factorisation, one product with A a step. */
#include "solve/cone_normals.h"

#include <math.h>
#include <string.h>

#include "math/dense.h"

enum { MOST_STEPS = 2000 }; /* a pile of 1,000 spheres takes some 100 */

typedef struct normals {
    const rb_cones *k;
    double *A;     /* entries in the order of k->W                              (blocks) */
    double *S;     /*                                                           (nc)     */
    double *b;     /*                                                           (nc)     */
    double *x, *g; /* the point and its gradient A x + b                        (nc)     */
    double *p;     /* direction                                                 (nc)     */
    double *Ap;    /*                                                           (nc)     */
    double length; /* of a step down the gradient, 1 / |A|                               */
    int follows;   /* p is conjugate to the step before                                  */
} normals;

static int take_memory(normals *s, rb_arena *scratch)
{
    int n = s->k->nc;
    s->A = rb_push(scratch, double, s->k->W.ptr[n]);
    s->S = rb_push(scratch, double, n);
    s->b = rb_push(scratch, double, n);
    s->x = rb_push(scratch, double, n);
    s->g = rb_push(scratch, double, n);
    s->p = rb_push(scratch, double, n);
    s->Ap = rb_push(scratch, double, n);
    return s->A && s->S && s->b && s->x && s->g && s->p && s->Ap;
}

/* (K.21) for the friction of r, which is where x begins. */
static void write_problem(normals *s, const double *r)
{
    const rb_cones *k = s->k;
    int dim = k->dim, bb = dim * dim;
    double largest = 0.0;
    for (int c = 0; c < k->nc; c++) {
        double W_nn = k->W.val[(ptrdiff_t)k->diag[c] * bb];
        s->S[c] = W_nn > 0.0 ? 1.0 / sqrt(W_nn) : 0.0;
    }
    for (int c = 0; c < k->nc; c++) {
        double b = k->q[(ptrdiff_t)c * dim], sum = 0.0;
        for (int e = k->W.ptr[c]; e < k->W.ptr[c + 1]; e++) {
            const double *B = k->W.val + (ptrdiff_t)e * bb;
            const double *r_e = r + (ptrdiff_t)k->W.col[e] * dim;
            for (int i = 1; i < dim; i++) b += B[i] * r_e[i];
            s->A[e] = s->S[c] * B[0] * s->S[k->W.col[e]];
            sum += fabs(s->A[e]);
        }
        s->b[c] = s->S[c] * b;
        s->x[c] = s->S[c] > 0.0 ? fmax(0.0, r[(ptrdiff_t)c * dim] / s->S[c]) : 0.0;
        largest = fmax(largest, sum);
    }
    s->length = largest > 0.0 ? 1.0 / largest : 1.0;
}

static void multiply(const normals *s, const double *x, double *y)
{
    const rb_matrix *W = &s->k->W;
    for (int c = 0; c < s->k->nc; c++) {
        double sum = 0.0;
        for (int e = W->ptr[c]; e < W->ptr[c + 1]; e++) sum += s->A[e] * x[W->col[e]];
        y[c] = sum;
    }
}

static void find_gradient(normals *s)
{
    multiply(s, s->x, s->g);
    for (int c = 0; c < s->k->nc; c++) s->g[c] += s->b[c];
}

/* Gradient of a contact that pushes, and of one that should begin to. */
static double free_part(const normals *s, int c)
{
    return s->x[c] > 0.0 ? s->g[c] : 0.0;
}

static double chopped_part(const normals *s, int c)
{
    return s->x[c] > 0.0 ? 0.0 : fmin(0.0, s->g[c]);
}

/* Largest velocity that is wrong [m/s]; *release: contacts that should push weigh more than what
 * those that do have left. */
static double look(const normals *s, int *release)
{
    double worst = 0.0, chopped = 0.0, left = 0.0;
    for (int c = 0; c < s->k->nc; c++) {
        double f = free_part(s, c), d = chopped_part(s, c);
        if (s->S[c] > 0.0) worst = fmax(worst, fmax(fabs(f), -d) / s->S[c]);
        chopped += d * d;
        left += fmin(f, s->x[c] / s->length) * f;
    }
    *release = chopped > left;
    return worst;
}

/* The longest step along -p on which no contact pulls. */
static double room_along(const normals *s)
{
    double room = INFINITY;
    for (int c = 0; c < s->k->nc; c++) {
        if (s->p[c] > 0.0) room = fmin(room, s->x[c] / s->p[c]);
    }
    return room;
}

static void move(normals *s, double step)
{
    rb_axpy(-step, s->p, s->x, s->k->nc);
    rb_axpy(-step, s->Ap, s->g, s->k->nc);
}

/* Who would pull lets go, and a step down the gradient of the others. */
static void let_go(normals *s)
{
    for (int c = 0; c < s->k->nc; c++) {
        s->x[c] = fmax(0.0, s->x[c]);
        s->x[c] = fmax(0.0, s->x[c] - s->length * free_part(s, c));
    }
    find_gradient(s);
    s->follows = 0;
}

/* 0: there is no step, the gradient is rounding. */
static int step_within(normals *s)
{
    int n = s->k->nc;
    for (int c = 0; c < n && !s->follows; c++) s->p[c] = free_part(s, c);
    multiply(s, s->p, s->Ap);
    double pAp = rb_dot(s->p, s->Ap, n);
    if (!(pAp > 0.0)) return 0;
    double best = rb_dot(s->p, s->g, n) / pAp, room = room_along(s), slope = 0.0;
    move(s, fmin(best, room));
    if (best > room) {
        let_go(s);
        return 1;
    }
    for (int c = 0; c < n; c++) slope += s->Ap[c] * free_part(s, c);
    for (int c = 0; c < n; c++) s->p[c] = free_part(s, c) - slope / pAp * s->p[c];
    s->follows = 1;
    return 1;
}

/* Contacts that should push begin to. */
static int step_out(normals *s)
{
    int n = s->k->nc;
    for (int c = 0; c < n; c++) s->p[c] = chopped_part(s, c);
    multiply(s, s->p, s->Ap);
    double pAp = rb_dot(s->p, s->Ap, n);
    if (!(pAp > 0.0)) return 0;
    move(s, rb_dot(s->p, s->g, n) / pAp);
    s->follows = 0;
    return 1;
}

rb_status rb_cone_normals(const rb_cones *k, double tol, rb_arena *scratch, double *r, int *steps)
{
    rb_mark mark = rb_arena_mark(scratch);
    normals s = { .k = k };
    *steps = 0;
    if (!take_memory(&s, scratch)) return RB_NOMEM;
    write_problem(&s, r);
    find_gradient(&s);
    for (int release, ok = 1; ok && *steps < MOST_STEPS; ++*steps) {
        if (look(&s, &release) <= tol) break;
        ok = release ? step_out(&s) : step_within(&s);
    }
    for (int c = 0; c < k->nc; c++) r[(ptrdiff_t)c * k->dim] = s.S[c] * fmax(0.0, s.x[c]);
    rb_arena_reset(scratch, mark);
    return RB_OK;
}
