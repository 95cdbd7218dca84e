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

#include "solve/cone_knot.h"
#include "solve/cone_part.h"
#include "solve/interior.h"
#include "solve/nsgs.h"

enum {
    GUESS_STEPS = 6,     /* of Newton from the guess                                       */
    FIRST_SWEEPS = 30,   /* before Newton is tried again, then twice as many, ...          */
    SWEEP_ROUNDS = 5,    /* that many times                                                */
    CROSS_SWEEPS = 3,    /* from an interior point to the modes of Newton                  */
    MOST_KNOT = 8,       /* contacts that are solved by themselves within a step           */
    CROSS_IDLE = 5,      /* steps in a row that do not help and end it                     */
    INTERIOR_STEPS = 30, /* from one start                                                 */
    STUCK = 3,           /* short steps in a row that end a run                            */
    PROXIMAL_ROUNDS = 40,
    PROXIMAL_STEPS = 20,
    PROXIMAL_SWEEPS = 10, /* where Newton fails                                             */
    ENTER_SWEEPS = 63,    /* to end within the cones                                        */
    LOOK_SWEEPS = 20,     /* over all contacts, to see which of them matter                 */
    ROUNDS = 12           /* of ever more of them                                           */
};

/* Speed at which a contact that pushes nothing leaves too slowly to be left out, relative to the
 * mean of the speeds without impulses [1]. Larger: more unknowns. Smaller: more rounds. */
#define SLOW 0.02

/* Compliance around the point that Newton starts from, relative to the contact [1]: what holds each
 * other yields by this much in the first step, and by a tenth of it after a step that helped, down
 * to what rounding allows; and the measure that a step must leave of the least so far to have. */
#define CROSS_EPS   1e-4
#define CROSS_FALL  0.1
#define CROSS_LEAST 1e-9
#define CROSS_GAIN  0.5

/* Part of the squared measure from which on a contact keeps others from arriving [1]. */
#define KNOT_SHARE 0.02

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

/* The contacts that matter. */
typedef struct large {
    const rb_cones *k;
    rb_newton *newton;
    double tol, error;  /* wanted; of best                                       */
    double *best;       /*                                                   (n) */
    double *u;          /*                                                   (n) */
    double *x, *center; /*                                                  (n) */
    int *sweeps;
    rb_arena *scratch;
    rb_status status; /* of memory */
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

/* What contact c adds to the measure, squared and not scaled. */
static double share_of(const rb_cones *k, const double *r, const double *u, int c)
{
    const double *r_c = r + 3 * (ptrdiff_t)c, *u_c = u + 3 * (ptrdiff_t)c;
    double x[3], sum = 0.0;
    for (int i = 0; i < 3; i++) x[i] = r_c[i] - u_c[i];
    x[0] -= k->mu[c] * rb_cone_tangent(u_c, 3);
    rb_cone_project(x, k->mu[c], 3);
    for (int i = 0; i < 3; i++) sum += (r_c[i] - x[i]) * (r_c[i] - x[i]);
    return sum;
}

/* The contacts with most of the measure of x, whose velocities are in s->u; more than MOST_KNOT of
 * them: too many. */
static int find_knot(const large *s, const double *x, int *knot)
{
    double all = s->k->q_norm * rb_cones_error(s->k, x, s->u), least = KNOT_SHARE * all * all;
    int n = 0;
    for (int c = 0; c < s->k->nc && n <= MOST_KNOT; c++) {
        if (share_of(s->k, x, s->u, c) <= least) continue;
        if (n < MOST_KNOT) knot[n] = c;
        n++;
    }
    return n;
}

/* A step with the contacts that keep the others from arriving solved by themselves; where they are
 * many, sweeps. *error: of s->x. */
static rb_status untie(large *s, double *error)
{
    int knot[MOST_KNOT], n = find_knot(s, s->x, knot), done = 0;
    rb_status status = RB_OK;
    if (n <= MOST_KNOT) status = rb_cone_knot(s->newton, knot, n, s->scratch, s->x, &done);
    if (!done) sweep(s, s->x, CROSS_SWEEPS);
    *error = measure(s, s->x);
    return status;
}

/* Whole steps of Newton from r, with compliance that falls as the measure does. */
static int cross(large *s, const double *r)
{
    memcpy(s->x, r, (size_t)s->k->n * sizeof *r);
    sweep(s, s->x, CROSS_SWEEPS);
    double eps = CROSS_EPS, least = measure(s, s->x);
    for (int idle = 0; idle < CROSS_IDLE;) {
        rb_newton_compliance(s->newton, RB_COMPLIANCE_SCALED, eps);
        if (!rb_newton_leap(s->newton, s->x)) return 0;
        double error = measure(s, s->x);
        if (keep(s, s->x)) return 1;
        idle = error <= CROSS_GAIN * least ? 0 : idle + 1;
        if (idle > 0) s->status = untie(s, &error);
        if (s->status != RB_OK) return 0;
        if (idle > 0 && keep(s, s->x)) return 1;
        if (error <= CROSS_GAIN * least) idle = 0;
        least = fmin(least, error);
        if (idle == 0) eps = fmax(CROSS_FALL * eps, CROSS_LEAST);
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

/* s->x put into the cones becomes the best, where it still is good enough. */
static int take_inside(large *s)
{
    for (int c = 0; c < s->k->nc; c++) rb_cone_project(s->x + 3 * (ptrdiff_t)c, s->k->mu[c], 3);
    double error = measure(s, s->x);
    if (error > s->tol) return 0;
    s->error = error;
    memcpy(s->best, s->x, (size_t)s->k->n * sizeof *s->x);
    return 1;
}

/* An answer may be outside of its cones by the tolerance: it is put into them. Where that alone
 * makes it too bad, sweeps do it, each of which ends inside. */
static void enter_cones(large *s)
{
    size_t bytes = (size_t)s->k->n * sizeof *s->x;
    if (s->error > s->tol) return;
    for (int count = 0; count <= ENTER_SWEEPS; count = 2 * count + 1) {
        memcpy(s->x, s->best, bytes);
        sweep(s, s->x, count);
        if (take_inside(s)) return;
    }
}

static rb_status climb(large *s, rb_arena *scratch, double *r, rb_rung *rung)
{
    const rb_cones *k = s->k;
    double *guess = rb_push(scratch, double, k->n);
    s->best = rb_push(scratch, double, k->n);
    s->u = rb_push(scratch, double, k->n);
    s->x = rb_push(scratch, double, k->n);
    s->center = rb_push(scratch, double, k->n);
    if (!guess || !s->best || !s->u || !s->x || !s->center) return RB_NOMEM;
    rb_status status = RB_OK;
    memcpy(guess, r, (size_t)k->n * sizeof *r);
    *rung = RB_RUNG_NEWTON;
    int done = try_guess(s, r);
    if (!done) {
        *rung = RB_RUNG_NSGS;
        done = try_sweeps(s, r);
    }
    if (!done && rb_interior_takes(k)) {
        *rung = RB_RUNG_INTERIOR;
        status = try_interior(s, scratch, guess, r, &done);
    }
    if (!done && status == RB_OK) {
        *rung = RB_RUNG_PATH;
        try_proximal(s, r);
    }
    if (status == RB_OK) enter_cones(s);
    memcpy(r, s->best, (size_t)k->n * sizeof *r);
    return status == RB_OK ? s->status : status;
}

/* ---- contacts that matter ---------------------------------------------------------------------
 */

typedef struct whole {
    const rb_cones *k;
    double tol;
    int limit;
    rb_arena *scratch;
    double *r, *u;       /*                                                          (n)  */
    unsigned char *near; /* the contact is part of the problem that is solved        (nc) */
    int *contact;        /* those contacts                                           (nc) */
    int *local;          /* their places, -1: it is not one                          (nc) */
    rb_large *out;
} whole;

static int take_memory(whole *w)
{
    const rb_cones *k = w->k;
    w->u = rb_push(w->scratch, double, k->n);
    w->near = rb_push(w->scratch, unsigned char, k->nc);
    w->contact = rb_push(w->scratch, int, k->nc);
    w->local = rb_push(w->scratch, int, k->nc);
    if (!w->u || !w->near || !w->contact || !w->local) return 0;
    memset(w->near, 0, (size_t)k->nc);
    return 1;
}

/* Measure of w->r, with its velocities. */
static double look(whole *w)
{
    rb_cones_velocity(w->k, w->r, w->u);
    return w->out->error = rb_cones_error(w->k, w->r, w->u);
}

/* What pushes, approaches, or leaves slowly becomes part of the problem. Returns how many more. */
static int add_near(whole *w)
{
    const rb_cones *k = w->k;
    double slow = SLOW * k->q_norm / sqrt((double)k->nc);
    int added = 0;
    for (int c = 0; c < k->nc; c++) {
        if (w->near[c] || !(w->r[3 * c] > 0.0 || w->u[3 * c] < slow)) continue;
        w->near[c] = 1;
        added++;
    }
    return added;
}

static int list_near(whole *w)
{
    int n = 0;
    for (int c = 0; c < w->k->nc; c++) {
        w->local[c] = -1;
        if (w->near[c]) w->contact[n++] = c;
    }
    return n;
}

/* The problem of the contacts that are near, from w->r and back. *ok = 0: its bodies cannot be the
 * unknowns. */
static rb_status solve_near(whole *w, int *ok)
{
    rb_cone_part part;
    rb_newton newton;
    large s = { .newton = &newton,
                .tol = w->tol,
                .error = INFINITY,
                .sweeps = &w->out->sweeps,
                .scratch = w->scratch };
    int n = list_near(w);
    rb_status status = rb_cone_part_make(w->k, n, w->contact, w->local, w->scratch, w->r, &part);
    part.k.many = 1;
    if (status == RB_OK) status = rb_newton_make(&part.k, w->scratch, &newton);
    if (status != RB_OK) return status;
    *ok = newton.bodies != NULL;
    if (!*ok) return RB_OK;
    s.k = &part.k;
    newton.limit = w->limit - w->out->steps;
    status = climb(&s, w->scratch, part.r, &w->out->rung);
    memset(w->r, 0, (size_t)w->k->n * sizeof *w->r);
    for (int i = 0; i < n; i++)
        memcpy(w->r + 3 * (ptrdiff_t)w->contact[i], part.r + 3 * (ptrdiff_t)i, 3 * sizeof *w->r);
    w->out->steps += newton.steps;
    w->out->factorisations += newton.factorisations;
    w->out->pivot_ratio = newton.pivot_ratio;
    return status;
}

rb_status rb_cone_large(const rb_cones *k, double tol, int limit, rb_arena *scratch, double *r,
                        rb_large *out)
{
    whole w = { .k = k, .tol = tol, .limit = limit, .scratch = scratch, .r = r, .out = out };
    *out = (rb_large){ .rung = RB_RUNG_NEWTON, .pivot_ratio = 1.0 };
    if (!take_memory(&w)) return RB_NOMEM;
    if (look(&w) <= tol) return RB_OK;
    if (out->error > NEAR) {
        for (int i = 0; i < LOOK_SWEEPS; i++) rb_nsgs_sweep(k, NULL, r, i & 1);
        out->sweeps += LOOK_SWEEPS;
        look(&w);
    }
    rb_status status = RB_OK;
    for (int round = 0, ok = 1; round < ROUNDS && ok && status == RB_OK; round++) {
        if (out->error <= tol || add_near(&w) == 0) break;
        rb_mark mark = rb_arena_mark(scratch);
        status = solve_near(&w, &ok);
        rb_arena_reset(scratch, mark);
        if (status == RB_OK) look(&w);
    }
    return status;
}
