/* Islands of many contacts. What a few hundred contacts make difficult is not their number but that
 * some of them hold each other: gaps of 1e-8 of a length ask for velocities that a rigid ring of
 * bodies cannot have, and impulses grow along a self-stress until one of its contacts slips or
 * opens. Newton's method leaps over that point, Gauss-Seidel creeps towards it. Interior points
 * pass it as they pass everything else. So, in this order:
 *
 *     newton     from the guess, at the least uniform compliance: nothing has changed much
 *     sweeps     few, then Newton: modes change where bodies meet
 *     interior   some fifteen steps from three starts, with Newton for the last digits
 *     proximal   Newton around the last point with compliance that falls where it succeeds (K.12)
 *
 * All of it costs factorisations of the bodies alone. Which of several answers is found depends on
 * the guess. */
#include "solve/cone_large.h"

#include <math.h>
#include <string.h>

#include "solve/interior.h"
#include "solve/nsgs.h"

enum {
    GUESS_STEPS = 6,     /* of Newton from the guess                                       */
    FIRST_SWEEPS = 30,   /* before Newton is tried again, then twice as many, ...          */
    SWEEP_ROUNDS = 3,    /* that many times                                                */
    CROSS_SWEEPS = 3,    /* from an interior point to the modes of Newton                  */
    CROSS_ROUNDS = 5,    /* of ever less compliance                                        */
    CROSS_STEPS = 12,    /* of Newton in each                                              */
    INTERIOR_STEPS = 30, /* from one start                                                 */
    STUCK = 3,           /* short steps in a row that end a run                            */
    PROXIMAL_ROUNDS = 40,
    PROXIMAL_STEPS = 20,
    PROXIMAL_SWEEPS = 10 /* where Newton fails                                             */
};

/* Compliance around the point that Newton starts from, relative to the contact [1]: what holds each
 * other yields by this much in the first round, and by a tenth in each further one. */
#define CROSS_EPS  1e-4
#define CROSS_FALL 0.1

/* Measure of an interior point from which on Newton is tried, and its fall until it is again [1].
 */
#define CROSS_BELOW 1e-4
#define CROSS_AGAIN 0.3

/* Measure from which on Newton is tried from a guess or after sweeps [1]: farther away it finds
 * other modes than those of the answer. */
#define NEAR 1e-3

/* Length of a step that is short [1]; growth of the measure that means that the path is lost, and,
 * below CROSS_BELOW, that rounding has taken over [1]. */
#define SHORT_STEP 0.05
#define LOST       100.0
#define ROUNDED    3.0

/* Compliance of the first proximal step, and its largest [1]. */
#define PROXIMAL_EPS  1e-4
#define PROXIMAL_MOST 1.0

typedef struct large {
    const rb_cones *k;
    rb_newton *newton;
    double tol, error;  /* wanted; of best                                       */
    double *best;       /*                                                   (n) */
    double *u;          /*                                                   (n) */
    double *x, *center; /*                                                  (n) */
    int *sweeps;
} large;

static double measure(large *s, const double *r)
{
    rb_cones_velocity(s->k, r, s->u);
    return rb_cones_error(s->k, r, s->u);
}

/* Keeps r where it is the best so far; true if that is good enough. */
static int keep(large *s, const double *r)
{
    double error = measure(s, r);
    if (error < s->error) {
        s->error = error;
        memcpy(s->best, r, (size_t)s->k->n * sizeof *r);
    }
    return s->error <= s->tol;
}

static void sweep(large *s, double *r, int count)
{
    for (int i = 0; i < count; i++) rb_nsgs_sweep(s->k, NULL, r, i & 1);
    *s->sweeps += count;
}

/* Newton at the least compliance from a guess that is near, then without compliance. */
static int try_guess(large *s, const double *r)
{
    if (keep(s, r)) return 1;
    if (s->error > NEAR) return 0;
    memcpy(s->x, r, (size_t)s->k->n * sizeof *r);
    rb_newton_compliance(s->newton, RB_COMPLIANCE_UNIFORM, RB_UNIFORM_EPS);
    if (rb_newton_run(s->newton, NULL, s->x, GUESS_STEPS))
        rb_newton_polish(s->newton, s->x, s->tol);
    return keep(s, s->x);
}

/* Newton around r, again around what it finds while it succeeds. */
static int cross(large *s, const double *r)
{
    size_t bytes = (size_t)s->k->n * sizeof *r;
    memcpy(s->x, r, bytes);
    sweep(s, s->x, CROSS_SWEEPS);
    double eps = CROSS_EPS;
    for (int round = 0; round < CROSS_ROUNDS; round++, eps *= CROSS_FALL) {
        rb_newton_compliance(s->newton, RB_COMPLIANCE_SCALED, eps);
        memcpy(s->center, s->x, bytes);
        int solved = rb_newton_run(s->newton, s->center, s->x, CROSS_STEPS);
        if (keep(s, s->x)) return 1;
        if (!solved) return 0;
    }
    return 0;
}

static int try_sweeps(large *s, double *r)
{
    for (int round = 0, count = FIRST_SWEEPS; round < SWEEP_ROUNDS; round++, count *= 2) {
        sweep(s, r, count);
        if (keep(s, r)) return 1;
        if (measure(s, r) <= NEAR && cross(s, r)) return 1;
    }
    return 0;
}

/* One run from the guess r, which becomes the best interior point. */
static int run_interior(large *s, rb_interior *x, const rb_interior_plan *plan, double *r,
                        double *point)
{
    double least = INFINITY, again = CROSS_BELOW;
    int shorts = 0, crossed = 0;
    rb_interior_start(x, plan, r);
    for (int i = 0; i < INTERIOR_STEPS && shorts < STUCK; i++) {
        s->newton->steps++;
        s->newton->factorisations++;
        if (!rb_interior_step(x, point)) break;
        double error = measure(s, point);
        if (error < least) {
            least = error;
            memcpy(r, point, (size_t)s->k->n * sizeof *r);
            crossed = 0;
        }
        if (keep(s, point)) return 1;
        if (!(error < (least < CROSS_BELOW ? ROUNDED : LOST) * least)) break;
        shorts = x->length < SHORT_STEP ? shorts + 1 : 0;
        if (error > again) continue;
        again = CROSS_AGAIN * error;
        crossed = 1;
        if (cross(s, point)) return 1;
    }
    return !crossed && cross(s, r);
}

static rb_status try_interior(large *s, rb_arena *scratch, const double *guess, double *r,
                              int *done)
{
    static const rb_interior_plan plans[] = {
        { .margin = 1.0, .soft = 0.5, .sigma = 0.01 },
        { .margin = 1.0, .soft = 0.1, .sigma = 0.1 },
        { .margin = 10.0, .cold = 1, .soft = 0.1, .sigma = 0.1 }
    };
    rb_interior x;
    double *point = rb_push(scratch, double, s->k->n);
    *done = 0;
    if (!point) return RB_NOMEM;
    rb_status status = rb_interior_make(s->k, s->newton->bodies, scratch, &x);
    for (size_t i = 0; i < sizeof plans / sizeof *plans && status == RB_OK && !*done; i++) {
        memcpy(r, guess, (size_t)s->k->n * sizeof *r);
        *done = run_interior(s, &x, &plans[i], r, point);
    }
    return status;
}

/* From the best point so far. */
static int try_proximal(large *s, double *r)
{
    size_t bytes = (size_t)s->k->n * sizeof *r;
    double eps = PROXIMAL_EPS;
    memcpy(r, s->best, bytes);
    for (int round = 0; round < PROXIMAL_ROUNDS; round++) {
        memcpy(s->center, r, bytes);
        memcpy(s->x, r, bytes);
        rb_newton_compliance(s->newton, RB_COMPLIANCE_SCALED, eps);
        int solved = rb_newton_run(s->newton, s->center, s->x, PROXIMAL_STEPS);
        if (keep(s, s->x)) return 1;
        if (solved) {
            memcpy(r, s->x, bytes);
            eps *= 0.1;
        } else {
            eps = fmin(10.0 * eps, PROXIMAL_MOST);
            sweep(s, r, PROXIMAL_SWEEPS);
        }
    }
    return 0;
}

rb_status rb_cone_large(const rb_cones *k, rb_newton *newton, double tol, rb_arena *scratch,
                        double *r, double *error, rb_rung *rung, int *sweeps)
{
    large s = { .k = k, .newton = newton, .tol = tol, .error = INFINITY, .sweeps = sweeps };
    double *guess = rb_push(scratch, double, k->n);
    s.best = rb_push(scratch, double, k->n);
    s.u = rb_push(scratch, double, k->n);
    s.x = rb_push(scratch, double, k->n);
    s.center = rb_push(scratch, double, k->n);
    if (!guess || !s.best || !s.u || !s.x || !s.center) return RB_NOMEM;
    rb_status status = RB_OK;
    memcpy(guess, r, (size_t)k->n * sizeof *r);
    *rung = RB_RUNG_NEWTON;
    int done = try_guess(&s, r);
    if (!done) {
        *rung = RB_RUNG_NSGS;
        done = try_sweeps(&s, r);
    }
    if (!done && rb_interior_takes(k)) {
        *rung = RB_RUNG_INTERIOR;
        status = try_interior(&s, scratch, guess, r, &done);
    }
    if (!done && status == RB_OK) {
        *rung = RB_RUNG_PATH;
        try_proximal(&s, r);
    }
    memcpy(r, s.best, (size_t)k->n * sizeof *r);
    *error = s.error;
    return status;
}
