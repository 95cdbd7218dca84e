/* Newton's method reads the modes of contacts off the last point. Where friction makes the velocity
 * of a contact fall with its impulse, both of two modes may contradict themselves, and steps
 * alternate between them for ever; so does the rest of the problem, which would have arrived. With
 * all other contacts o in their modes, the contacts b in question see
 *
 *     u_b = W~ r_b + b~,    W~ = Y_b K^-1 Y_b',    K = I + Y_o' D Y_o                        (K.28)
 *
 * a problem of a few cones, with a matrix that is not symmetric, for sweeps and Newton's method. */
#include "solve/cone_knot.h"

#include <string.h>

#include "solve/nsgs.h"

enum { SWEEPS = 40 }; /* of the small problem */

/* Measure of the answer of the small problem: wanted, and good enough [1]. b~ is large beside the
 * velocities of the whole problem, so that more digits are wanted than there. */
#define SMALL_BEST 1e-13
#define SMALL_TOL  1e-9

typedef struct knot {
    const int *contact;
    int n;
    double *dr, *du; /*                                                        (k->n) each */
    double *W, *q;   /*                                                  (9 n^2), (3 n)    */
    double *mu, *z;  /*                                                      (n), (3 n)    */
} knot;

static int take_memory(knot *x, int n, rb_arena *scratch)
{
    size_t rows = 3 * (size_t)x->n;
    x->dr = rb_push(scratch, double, n);
    x->du = rb_push(scratch, double, n);
    x->W = rb_push(scratch, double, rows *rows);
    x->q = rb_push(scratch, double, rows);
    x->z = rb_push(scratch, double, rows);
    x->mu = rb_push(scratch, double, x->n);
    return x->dr && x->du && x->W && x->q && x->z && x->mu;
}

/* The system of all others, factored. */
static int factor_others(rb_newton *s, const knot *x, const double *r)
{
    rb_newton_evaluate(s, r);
    for (int i = 0; i < x->n; i++) {
        s->mode[x->contact[i]] = RB_MODE_OPEN;
        memset(s->F + 3 * (ptrdiff_t)x->contact[i], 0, 3 * sizeof *s->F);
    }
    rb_newton_linearise(s, r);
    return rb_newton_factor(s);
}

/* The step of all others for a change z - r of the knot, NULL: none. */
static void step_others(rb_newton *s, knot *x, const double *r, const double *z)
{
    const rb_bodies *b = s->bodies;
    for (int c = 0; c < s->k->nc; c++) {
        const double *C = b->C + 9 * (ptrdiff_t)c, *F = s->F + 3 * (ptrdiff_t)c;
        for (int i = 0; i < 3; i++)
            x->dr[3 * c + i] = -(C[3 * i] * F[0] + C[3 * i + 1] * F[1] + C[3 * i + 2] * F[2]);
    }
    for (int i = 0; i < 3 * x->n && z; i++) {
        ptrdiff_t row = 3 * (ptrdiff_t)x->contact[i / 3] + i % 3;
        x->dr[row] = z[i] - r[row];
    }
    rb_bodies_solve(s->bodies, x->dr, x->du);
}

/* (K.28) around r. */
static void write_problem(rb_newton *s, knot *x, const double *r)
{
    int rows = 3 * x->n;
    step_others(s, x, r, NULL);
    for (int i = 0; i < rows; i++) {
        ptrdiff_t row = 3 * (ptrdiff_t)x->contact[i / 3] + i % 3;
        x->q[i] = s->u[row] + x->du[row];
        x->z[i] = r[row];
        x->mu[i / 3] = s->k->mu[x->contact[i / 3]];
    }
    for (int j = 0; j < rows; j++) {
        memset(x->dr, 0, (size_t)s->k->n * sizeof *x->dr);
        x->dr[3 * (ptrdiff_t)x->contact[j / 3] + j % 3] = 1.0;
        rb_bodies_solve(s->bodies, x->dr, x->du);
        for (int i = 0; i < rows; i++) {
            ptrdiff_t row = 3 * (ptrdiff_t)x->contact[i / 3] + i % 3;
            x->W[(ptrdiff_t)i * rows + j] = x->du[row];
        }
    }
    for (int i = 0; i < rows; i++) {
        for (int j = 0; j < rows; j++) x->q[i] -= x->W[(ptrdiff_t)i * rows + j] * x->z[j];
    }
}

/* Sweeps, then Newton around what they found, since several answers are possible: the other
 * methods cost more than other contacts would. */
static rb_status solve_small(knot *x, rb_arena *scratch, int *done)
{
    rb_problem p = { .kind = RB_CONE, .n = 3 * x->n, .nc = x->n, .dim = 3, .q = x->q };
    rb_cones k;
    rb_newton newton;
    p.mu = x->mu;
    p.W = (rb_matrix){ .form = RB_DENSE, .dense = x->W };
    rb_status status = rb_cones_make(&p, scratch, &k);
    if (status == RB_OK) status = rb_newton_make(&k, scratch, &newton);
    if (status != RB_OK) return status;
    for (int i = 0; i < SWEEPS; i++) rb_nsgs_sweep(&k, NULL, x->z, i & 1);
    rb_newton_compliance(&newton, RB_COMPLIANCE_UNIFORM, RB_UNIFORM_EPS);
    *done = rb_newton_polish(&newton, x->z, SMALL_BEST) <= SMALL_TOL;
    return RB_OK;
}

rb_status rb_cone_knot(rb_newton *s, const int *contact, int n, rb_arena *scratch, double *r,
                       int *done)
{
    rb_mark mark = rb_arena_mark(scratch);
    rb_status status = RB_OK;
    knot x = { .contact = contact, .n = n };
    *done = 0;
    if (!take_memory(&x, s->k->n, scratch)) return RB_NOMEM;
    if (factor_others(s, &x, r)) {
        write_problem(s, &x, r);
        status = solve_small(&x, scratch, done);
    }
    if (*done) {
        step_others(s, &x, r, x.z);
        for (int i = 0; i < s->k->n; i++) r[i] += x.dr[i];
        s->steps++;
    }
    rb_arena_reset(scratch, mark);
    return status;
}
