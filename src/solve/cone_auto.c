/* The methods for cones, one after the other. Contacts are split into islands; an island goes on to
 * the next method until the certificate's measure is met, and the method that finished it counts:
 *
 *     trivial  no contact approaches: r = 0
 *     sweep    one contact alone, solved exactly
 *     newton   from the guess, from some compliance, or from a few Gauss-Seidel sweeps
 *     path     Newton along decreasing compliance
 *     interior interior points: where that path jumps, and first of all where contacts crowd
 *              (cone_crowd.c)
 *     leaps    sweeps and whole steps of Newton, for many contacts of known bodies
 *     pyramid  Lemke with the cones as pyramids, ever closer, then Newton
 *     admm     alternating directions, then Newton
 *     nsgs     Gauss-Seidel to the end; earlier in this list where an island is large
 *
 * Where impulses are not unique and a contact slides, the choice of impulses is a choice of motion.
 * Then only the path that starts at large compliance, where there is one solution, counts as an
 * answer (K.22): it does not depend on the guess or on another solver's answer. Where that path
 * turns back, rounding would choose; so the island is solved from nothing and with its contacts in
 * an order of their own (canonical.c). */
#include <math.h>
#include <string.h>

#include "math/dense.h"
#include "solve/admm.h"
#include "solve/canonical.h"
#include "solve/cone_crowd.h"
#include "solve/cone_interior.h"
#include "solve/cone_large.h"
#include "solve/cone_part.h"
#include "solve/cone_root.h"
#include "solve/cone_small.h"
#include "solve/internal.h"
#include "solve/newton.h"
#include "solve/newton_twofold.h"
#include "solve/nsgs.h"
#include "solve/polyhedron.h"

enum {
    START_SWEEPS = 4,    /* before the first Newton step                              */
    START_STEPS = 5,     /* at the first compliance                                   */
    DIRECT_STEPS = 12,   /* Newton without path                                       */
    LESS_STEPS = 40,     /* at each compliance below the last one of the path         */
    PYRAMIDS = 16,       /* rounds of ever narrower fans                              */
    PATIENCE = 3,        /* rounds without a solution of the linear problem           */
    INTERIOR_LIMIT = 60, /* factorisations of a try                                   */
    INTERIOR_TRIES = 2,  /* from nothing, and from there                              */
    ADMM_ITERATIONS = 1000,
    MEDIUM = 130,        /* contacts beyond which pyramids are too large: sweeps      */
    LARGE = 1500,        /* contacts beyond which sweeps come first                   */
    LARGE_SWEEPS = 50,   /* before Newton is tried, then twice as many, ...           */
    LARGE_DOUBLED = 512, /* that many times LARGE_SWEEPS at most                      */
    LARGE_BRIEF = 8,     /* the same where there is another question to ask           */
    LARGE_STEPS = 60     /* of Newton at a time                                       */
};

/* Compliance at the start, relative to the diagonal of each contact [1]. */
#define START_EPS 1e-2

/* How the compliance at the end of the path shrinks where that is not enough, and where rounding
 * would be left of it, relative to the mean diagonal [1]. */
#define PATH_LESS  0.3
#define PATH_LEAST 0.9e-11

/* Growth of the largest impulse below the end of the path that is taken for a self-stress [1]. */
#define GROWN 10.0

/* Measure from which on Newton finds the last modes of a large island [1]. */
#define NEAR_ENOUGH 2e-5

/* Share of the tolerance at which an answer found so is taken without asking the path that has
 * twice the digits [1]. Larger: a million kilograms on one stand with a residual of 4e-10 instead
 * of 7e-11. Smaller: wedged links pay for the path in every step. */
#define NEAR_SURE 0.1

/* Share of the tolerance that the solver asks for, since the certificate rounds otherwise, and the
 * same beyond COARSE, where rounding is nothing beside it [1]. */
#define SHARE        0.5
#define SHARE_COARSE 0.99
#define COARSE       1e-7

/* Measure below which rounding of the product W r may be most of it [1]. */
#define DOUBTFUL 1e-5

/* ---- the methods ----------------------------------------------------------------------------- */

/* One contact that nothing else touches, in closed form. */
static int try_alone(const rb_cones *k, double tol, double *r)
{
    if (k->nc != 1) return 0;
    double u[3];
    rb_nsgs_sweep(k, NULL, r, 0);
    rb_cones_velocity(k, r, u);
    return rb_cones_error(k, r, u) <= tol;
}

/* What the first try leaves to the second. */
enum { FAR_FROM_ANY = 1, NEAR_AN_ANSWER = 2 };

typedef struct search {
    const rb_cones *k;
    const rb_solve_opts *o;
    rb_arena *scratch;
    rb_info *info;
    rb_newton newton;
    double tol;                /* of this island                            */
    double loose;              /* the one that will do, 0: none             */
    double error;              /* of best                                   */
    double *best, *start;      /* best impulses, those Newton started at  (k->n) */
    double *u, *spare;         /* scratch                                 (k->n) */
    double *unsure;            /* near the tolerance, where others may be sure   (k->n) */
    double unsure_error;       /* INFINITY: there is none                   */
    double tried;              /* error that Newton around best has left    */
    rb_newton_twofold twofold; /* .s.k = NULL until it is made              */
    rb_unique unique;
    int canonical; /* the order of the contacts is the problem's own            */
    int arrived;   /* the guess led to a solution with compliance                       */
    int stressed;  /* impulses grew along a self-stress at the end of the path          */
    int again;     /* that order is to decide: one of the two below, or 0               */
    int left;      /* best is good enough for `loose` alone                             */
    int inside;    /* interior points were tried                                        */
} search;

/* No contact approaches: without impulses nothing happens. */
static int try_trivial(const rb_cones *k, double *r)
{
    for (int c = 0; c < k->nc; c++) {
        if (k->q[c * k->dim] < 0.0) return 0;
    }
    memset(r, 0, (size_t)k->n * sizeof *r);
    return 1;
}

/* Keeps r if it is the best so far; true if that is good enough. */
static int keep(search *s, const double *r)
{
    rb_cones_velocity(s->k, r, s->u);
    double error = rb_cones_error(s->k, r, s->u);
    if (error > s->tol && error < DOUBTFUL && s->twofold.s.k) {
        error = rb_newton_twofold_error(&s->twofold, r);
    }
    if (error < s->error) {
        s->error = error;
        memcpy(s->best, r, (size_t)s->k->n * sizeof *r);
    }
    return s->error <= s->tol;
}

/* Less and less compliance from the solution r at the least one of the path, with proximal steps at
 * each, in s->spare. Impulses that grow as compliance shrinks only push against each other. */
static int continue_path(search *s, double *r)
{
    size_t bytes = (size_t)s->k->n * sizeof *r;
    double most = GROWN * rb_norm_inf(r, s->k->n);
    for (double eps = PATH_LESS * RB_UNIFORM_EPS; eps >= PATH_LEAST; eps *= PATH_LESS) {
        rb_newton_compliance(&s->newton, RB_COMPLIANCE_UNIFORM, eps);
        if (!rb_newton_run(&s->newton, NULL, r, LESS_STEPS)) break;
        s->stressed = rb_norm_inf(r, s->k->n) > most;
        if (s->stressed) break;
        memcpy(s->spare, r, bytes);
        double error = rb_newton_polish(&s->newton, s->spare, s->tol);
        if (error <= NEAR_SURE * s->tol) return 1;
        if (error > s->tol) {
            keep(s, s->spare);
        } else if (error < s->unsure_error) {
            s->unsure_error = error;
            memcpy(s->unsure, s->spare, bytes);
        }
    }
    return 0;
}

/* What is certified and was hoped to be better; true if there is an answer. */
static int take_unsure(search *s)
{
    return s->unsure_error <= s->tol ? keep(s, s->unsure) : s->error <= s->tol;
}

/* The last digits of r, a solution with compliance: proximal steps, and where modes change on the
 * way so that they lead nowhere, less compliance before them. 1: r is an answer. */
static int finish_path(search *s, double *r)
{
    memcpy(s->spare, r, (size_t)s->k->n * sizeof *r);
    int done = rb_newton_polish(&s->newton, s->spare, s->tol) <= s->tol;
    if (!done) {
        keep(s, s->spare);
        done = continue_path(s, r);
    }
    memcpy(r, s->spare, (size_t)s->k->n * sizeof *r);
    return done;
}

/* Where to start without a guess: the solution at some compliance, which does not depend on the
 * order of the contacts; or, for a few contacts and any answer, some sweeps, which cost less. */
static void start_cold(search *s, double *r)
{
    if (s->o->unique || s->newton.sparse) {
        rb_newton_compliance(&s->newton, RB_COMPLIANCE_SCALED, START_EPS);
        rb_newton_run(&s->newton, NULL, r, START_STEPS);
    } else {
        for (int i = 0; i < START_SWEEPS; i++) rb_nsgs_sweep(s->k, NULL, r, i & 1);
    }
}

/* The guess, or what takes its place, and the least compliance of the path. */
static void start_newton(search *s, double *r)
{
    if (!s->o->warm) start_cold(s, r);
    memcpy(s->start, r, (size_t)s->k->n * sizeof *r);
    rb_newton_compliance(&s->newton, RB_COMPLIANCE_UNIFORM, RB_UNIFORM_EPS);
}

/* Newton at that compliance, then without. */
static int try_newton(search *s, double *r)
{
    start_newton(s, r);
    if (rb_newton_run(&s->newton, NULL, r, DIRECT_STEPS) && !finish_path(s, r)) return 0;
    return keep(s, r);
}

/* From the one solution at large compliance, whatever the guess was. */
static int try_path(search *s, double *r)
{
    memset(r, 0, (size_t)s->k->n * sizeof *r);
    if (!rb_newton_path(&s->newton, RB_COMPLIANCE_UNIFORM, 1.0, r)) {
        if (s->newton.straight) return 0; /* interior points come next */
        rb_newton_polish(&s->newton, r, s->tol);
        keep(s, r);
        return 0;
    }
    if (!finish_path(s, r)) return 0;
    s->error = INFINITY; /* replaces even a better answer */
    return keep(s, r);
}

/* From the guess or the first sweeps, in the middle of the path: a solution, not the solution. */
static int try_short_path(search *s, double *r)
{
    memcpy(r, s->start, (size_t)s->k->n * sizeof *r);
    rb_newton_path(&s->newton, RB_COMPLIANCE_SCALED, 1e-2, r);
    rb_newton_polish(&s->newton, r, s->tol);
    return keep(s, r);
}

/* The last factorisation met a pivot of the size of the compliance: contacts are redundant. */
static int is_redundant(search *s)
{
    return rb_newton_pivots(&s->newton) < RB_REDUNDANT;
}

/* Redundant contacts of which one slides: which impulses are chosen decides how bodies move. */
static int is_ambiguous(search *s)
{
    int slides = 0;
    for (int c = 0; c < s->k->nc; c++) slides |= s->newton.mode[c] == RB_MODE_SLIDE;
    return slides && is_redundant(s);
}

/* Newton around r itself with more and less compliance in turn: any solution near r will do. Each
 * run starts where the last one has come to; the ill-conditioned end with the least. */
static int finish_near(search *s, const double *r)
{
    static const struct {
        rb_compliance kind;
        double eps;
    } tries[] = { { RB_COMPLIANCE_SCALED, 1e-7 },  { RB_COMPLIANCE_SCALED, 1e-10 },
                  { RB_COMPLIANCE_UNIFORM, 1e-7 }, { RB_COMPLIANCE_SCALED, 1e-12 },
                  { RB_COMPLIANCE_SCALED, 1e-4 },  { RB_COMPLIANCE_SCALED, 1e-6 },
                  { RB_COMPLIANCE_UNIFORM, 1e-6 }, { RB_COMPLIANCE_SCALED, 1e-8 },
                  { RB_COMPLIANCE_SCALED, 1e-10 }, { RB_COMPLIANCE_SCALED, 1e-12 } };
    if (keep(s, r)) return 1;
    memcpy(s->spare, r, (size_t)s->k->n * sizeof *r);
    for (int i = 0; i < (int)(sizeof tries / sizeof *tries); i++) {
        rb_newton_compliance(&s->newton, tries[i].kind, tries[i].eps);
        rb_newton_polish(&s->newton, s->spare, s->tol);
        if (keep(s, s->spare)) return 1;
    }
    return 0;
}

/* Where the methods before came near, the last digits: a contact between two modes stops Newton's
 * method at 1e-9 in one measure of compliance, and seldom in all of them. */
static int try_near(search *s, double *r)
{
    if (!(s->error <= NEAR_ENOUGH)) return 0;
    if (s->error < s->tried) {
        memcpy(r, s->best, (size_t)s->k->n * sizeof *r);
        finish_near(s, r);
        s->tried = s->error;
    }
    return s->error <= s->tol && (s->o->brief || s->tol > COARSE || s->error <= NEAR_SURE * s->tol);
}

/* ---- twice the digits ---- */

static rb_status make_twofold(search *s)
{
    if (s->twofold.s.k) return RB_OK;
    return rb_newton_twofold_make(&s->newton, s->scratch, &s->twofold);
}

/* Both paths: the uniform one, then the one that treats light and heavy bodies alike. */
static rb_status try_path_twofold(search *s, double *r, int *done)
{
    static const rb_compliance kinds[2] = { RB_COMPLIANCE_UNIFORM, RB_COMPLIANCE_SCALED };
    *done = 0;
    if (s->k->nc > MEDIUM) return RB_OK;
    rb_status status = make_twofold(s);
    for (int i = 0; i < 2 && status == RB_OK && !*done; i++) {
        int arrived;
        rb_newton_twofold_path(&s->twofold, kinds[i], s->tol, r, &arrived);
        *done = keep(s, r);
    }
    return status;
}

/* Newton around r, at first in double, then with twice the digits. */
static int finish_twofold(search *s, const double *r)
{
    if (finish_near(s, r)) return 1;
    if (!s->twofold.s.k) return 0;
    memcpy(s->spare, r, (size_t)s->k->n * sizeof *r);
    rb_newton_twofold_near(&s->twofold, s->tol, s->spare);
    return keep(s, s->spare);
}

/* ---- interior points ---- */

/* The last digits of the best that was met, at first in double. Interior points end where the
 * tolerance is met; Newton's method gains what is left of the digits in a step or two. */
static rb_status finish_interior(search *s, double *r, int *done)
{
    if (*done) {
        rb_newton_compliance(&s->newton, RB_COMPLIANCE_UNIFORM, RB_UNIFORM_EPS);
        rb_newton_polish(&s->newton, r, s->tol);
        keep(s, r);
        return RB_OK;
    }
    *done = try_near(s, r);
    if (*done || s->error > NEAR_ENOUGH || s->o->brief) return RB_OK;
    rb_status status = make_twofold(s);
    if (status != RB_OK) return status;
    memcpy(r, s->best, (size_t)s->k->n * sizeof *r);
    rb_newton_twofold_near(&s->twofold, s->tol, r);
    *done = keep(s, r);
    return RB_OK;
}

/* From nothing, and once more from there, with as many unknowns as W has rank: some tens of
 * factorisations, where a path that turns back takes hundreds and pyramids thousands. Where they do
 * not reach the tolerance, Newton's method around the best of them may. */
static rb_status try_interior(search *s, double *r, int *done)
{
    *done = 0;
    if (s->inside || s->k->nc > MEDIUM || s->k->dim != 3) return RB_OK;
    s->inside = 1;
    rb_mark mark = rb_arena_mark(s->scratch);
    rb_operator *parts;
    rb_status status = rb_root_operator(s->k, s->scratch, &parts);
    rb_cones k = *s->k;
    k.parts = parts;
    k.contact = NULL; /* parts has the contacts of this island, in this order */
    k.many = 1;
    for (int i = 0; i < INTERIOR_TRIES && status == RB_OK && parts && !*done; i++) {
        rb_interior found;
        rb_interior_opts opts = { .tol = s->tol, .limit = INTERIOR_LIMIT, .warm = i > 0 };
        if (i == 0) memset(r, 0, (size_t)k.n * sizeof *r);
        status = rb_cone_interior(&k, &opts, s->scratch, r, &found);
        s->info->iterations += found.factorisations;
        s->info->factorisations += found.factorisations;
        *done = status == RB_OK && keep(s, r);
    }
    rb_arena_reset(s->scratch, mark);
    if (status == RB_OK && parts) status = finish_interior(s, r, done);
    return status == RB_TOO_LARGE ? RB_OK : status;
}

/* ---- pyramids, and the rest ---- */

/* Each round has a fan of edges around the friction found before, narrower where it held. */
static rb_status try_pyramids(search *s, int around, int *done)
{
    rb_mark mark = rb_arena_mark(s->scratch);
    double *spread = rb_push(s->scratch, double, s->k->nc);
    double *before = rb_push(s->scratch, double, s->k->n);
    if (!spread || !before) return RB_NOMEM;
    for (int c = 0; c < s->k->nc; c++) spread[c] = RB_POLYHEDRON_SPREAD;
    memcpy(s->start, s->best, (size_t)s->k->n * sizeof *s->start);
    int failures = 0, limit = s->o->max_iter < PYRAMIDS ? s->o->max_iter : PYRAMIDS;
    for (int round = 0; round < limit && failures < PATIENCE && !*done; round++) {
        int solved;
        memcpy(before, s->start, (size_t)s->k->n * sizeof *before);
        rb_status status = rb_polyhedron_solve(s->k, around, round > 0 ? spread : NULL, s->scratch,
                                               s->start, &solved, &s->info->iterations);
        if (status != RB_OK) return status;
        *done = solved && finish_twofold(s, s->start);
        if (round > 0 && solved) rb_polyhedron_narrow(s->k, before, s->start, spread);

        /* where Lemke failed, another fan is another problem */
        for (int c = 0; c < s->k->nc && round > 0 && !solved; c++) spread[c] *= 0.25;
        failures = solved ? 0 : failures + 1;
    }
    rb_arena_reset(s->scratch, mark);
    return RB_OK;
}

/* Fewer edges are a smaller and better conditioned linear problem. */
static rb_status try_pyramid(search *s, int *done)
{
    *done = 0;
    rb_status status = try_pyramids(s, RB_POLYHEDRON_FINE, done);
    if (status != RB_OK || *done || s->k->dim == 2) return status;
    return try_pyramids(s, RB_POLYHEDRON_COARSE, done);
}

static rb_status try_admm(search *s, double *r, int *done)
{
    rb_mark mark = rb_arena_mark(s->scratch);
    memcpy(r, s->best, (size_t)s->k->n * sizeof *r);
    double error;
    int limit = s->o->max_iter < ADMM_ITERATIONS ? s->o->max_iter : ADMM_ITERATIONS;
    rb_status status = rb_admm_run(s->k, s->scratch, r, limit, s->tol, &s->info->iterations,
                                   &s->info->factorisations, &error);
    rb_arena_reset(s->scratch, mark);
    if (status != RB_OK) return status;
    *done = finish_near(s, r);
    return RB_OK;
}

/* Sweeps; whether they have come to an answer is asked each time their number has doubled. */
static void try_nsgs(search *s, double *r, int first, int most)
{
    if (s->error < INFINITY) memcpy(r, s->best, (size_t)s->k->n * sizeof *r);
    int limit = s->o->max_iter < most ? s->o->max_iter : most;
    for (int i = 1, next = first; i <= limit && !rb_meter_stopped(s->k->meter); i++) {
        rb_nsgs_sweep(s->k, NULL, r, i & 1);
        s->info->iterations++;
        if (i < next && i < limit) continue;
        next *= 2;
        if (keep(s, r)) return;
    }
}

/* Thousands of contacts: a sweep costs a thousandth of a Newton step, and Newton only helps once
 * the modes are nearly right. */
static void try_large(search *s, double *r)
{
    s->unique = RB_UNIQUE_NOT;
    if (!s->o->warm) memset(r, 0, (size_t)s->k->n * sizeof *r);
    int most = LARGE_SWEEPS * (s->o->brief ? LARGE_BRIEF : LARGE_DOUBLED);
    for (int sweeps = LARGE_SWEEPS; sweeps <= most; sweeps *= 2) {
        try_nsgs(s, r, sweeps, sweeps);
        if (s->error <= s->tol || s->info->iterations >= s->o->max_iter) return;
        if (rb_meter_stopped(s->k->meter)) return;
        if (s->error > NEAR_ENOUGH) continue;
        int limit = s->newton.steps + LARGE_STEPS;
        s->newton.limit = limit < s->o->max_iter ? limit : s->o->max_iter;
        memcpy(r, s->best, (size_t)s->k->n * sizeof *r);
        int done = finish_near(s, r);
        s->newton.limit = s->o->max_iter;
        if (done) return;
    }
}

/* Sweeps, and whole steps of Newton. */
static rb_status solve_by_leaps(search *s, double *r, rb_rung *rung, int *done)
{
    rb_large found;
    rb_mark mark = rb_arena_mark(s->scratch);
    rb_large_opts opts = {
        .tol = s->tol, .loose = s->loose, .limit = s->o->max_iter, .closing = s->o->closing
    };
    rb_status status = rb_cone_large(s->k, &opts, s->scratch, r, &found);
    rb_arena_reset(s->scratch, mark);
    s->info->iterations += found.sweeps + found.steps;
    s->info->factorisations += found.factorisations;
    s->newton = (rb_newton){ .pivot_ratio = found.pivot_ratio };
    *rung = found.rung;
    s->left = status == RB_OK && found.loose;
    *done = status != RB_OK || keep(s, r) || s->left;
    return status;
}

/* Many contacts of known bodies: a sequence of methods of their own. */
static rb_status solve_large(search *s, double *r, rb_rung *rung, int *done)
{
    s->unique = RB_UNIQUE_NOT;
    if (!s->o->warm) memset(r, 0, (size_t)s->k->n * sizeof *r);
    memcpy(s->start, r, (size_t)s->k->n * sizeof *r);
    return solve_by_leaps(s, r, rung, done);
}

/* Beyond RB_MOST_LEAPING it has sweeps alone, which end with exact normals where they may. */
static int is_for_large(const search *s)
{
    if (!s->k->parts || !s->k->many) return 0;
    return s->k->nc <= RB_MOST_LEAPING || s->tol > RB_LARGE_EXACT;
}

/* Where these found no answer, the other methods. */
static void try_other_methods(search *s, double *r, rb_rung *rung)
{
    *rung = RB_RUNG_PATH;
    if (s->k->nc <= LARGE && try_short_path(s, r)) return;
    *rung = RB_RUNG_NSGS;
    try_large(s, r);
}

static rb_unique how_unique(search *s)
{
    return is_ambiguous(s) ? RB_UNIQUE_NOT : is_redundant(s) ? RB_UNIQUE_CHOSEN : RB_UNIQUE_PLAIN;
}

/* Near a guess, or cold, any answer that Newton's method finds. */
static int try_any(search *s, double *r, rb_rung *rung)
{
    *rung = RB_RUNG_NEWTON;
    int solved = try_newton(s, r);
    if (!solved) {
        *rung = RB_RUNG_PATH;
        solved = try_short_path(s, r);
    }
    s->unique = how_unique(s);
    if (solved) return 1;
    s->unique = RB_UNIQUE_NOT;
    return try_path(s, r);
}

/* The same, where the guess is an answer that was chosen: its branch is followed (K.23). */
static rb_unique chosen(search *s)
{
    rb_unique unique = how_unique(s);
    return unique == RB_UNIQUE_NOT && s->o->follow ? RB_UNIQUE_CHOSEN : unique;
}

/* What is wanted where impulses are unique, or do not matter. Where they do, the last digits of an
 * answer near the guess are of no use. */
static int try_the_guess(search *s, double *r, rb_rung *rung)
{
    *rung = RB_RUNG_NEWTON;
    start_newton(s, r);
    s->arrived = rb_newton_run(&s->newton, NULL, r, DIRECT_STEPS);
    int solved = s->arrived && chosen(s) != RB_UNIQUE_NOT && finish_path(s, r);
    s->unique = chosen(s);
    return keep(s, r) && solved && s->unique != RB_UNIQUE_NOT;
}

/* Impulses that push against each other ever harder are found where there is no answer. A caller
 * that has another problem to try (S.20), (S.21) need not wait for the other methods. */
static int is_in_vain(const search *s)
{
    return s->o->brief && s->stressed;
}

/* The path as far as it is one: where it jumps it decides nothing any more. */
static int try_straight_path(search *s, double *r)
{
    s->newton.jumps = 0;
    s->newton.straight = 1;
    int solved = try_path(s, r);
    s->newton.straight = 0;
    return solved;
}

/* Where they do, and wherever a guess led nowhere: the path; interior points where it jumps; and
 * where they do not arrive, the path across its jumps, and any other. */
static rb_status try_the_path(search *s, double *r, rb_rung *rung, int *done)
{
    s->unique = RB_UNIQUE_NOT;
    *rung = RB_RUNG_PATH;
    *done = 1;
    if (try_straight_path(s, r)) {
        s->unique = is_redundant(s) ? RB_UNIQUE_CHOSEN : RB_UNIQUE_PLAIN;
        return RB_OK;
    }
    *done = 0;
    if (is_in_vain(s)) return RB_OK;
    *rung = RB_RUNG_INTERIOR;
    rb_status status = try_interior(s, r, done);
    if (status != RB_OK || *done) return status;
    *rung = RB_RUNG_PATH;
    *done = try_path(s, r);
    if (*done || is_in_vain(s)) return RB_OK;
    *done = try_near(s, r);
    if (*done) return RB_OK;
    start_newton(s, r);
    *done = try_short_path(s, r);
    return RB_OK;
}

static rb_status try_methods(search *s, double *r, rb_rung *rung)
{
    int done = 0;
    rb_status status = RB_OK;
    if (is_for_large(s)) status = solve_large(s, r, rung, &done);
    if (status != RB_OK || done) return status;
    status = rb_newton_make(s->k, s->scratch, &s->newton);
    if (status == RB_TOO_LARGE) {
        *rung = RB_RUNG_NSGS;
        try_nsgs(s, r, LARGE_SWEEPS, LARGE_DOUBLED * LARGE_SWEEPS);
        return RB_OK;
    }
    if (status != RB_OK) return status;
    s->newton.limit = s->o->max_iter;
    if (s->newton.bodies && s->k->nc <= RB_MOST_LEAPING) {
        try_other_methods(s, r, rung);
        return RB_OK;
    }
    if (s->k->nc > LARGE) {
        *rung = RB_RUNG_NSGS;
        try_large(s, r);
        return RB_OK;
    }
    if (s->o->unique) {
        if (s->canonical)
            status = try_the_path(s, r, rung, &done);
        else
            done = try_the_guess(s, r, rung);
        if (status != RB_OK || done) return status;
        s->again = s->canonical ? 0 : s->arrived ? NEAR_AN_ANSWER : FAR_FROM_ANY;
        if (s->again) return RB_OK;
    } else if (try_any(s, r, rung)) {
        return RB_OK;
    }
    *rung = RB_RUNG_PATH;
    if (is_in_vain(s)) return RB_OK;
    if (try_near(s, r)) return RB_OK;
    if (s->k->nc > MEDIUM && s->error > s->tol) {
        *rung = RB_RUNG_NSGS;
        try_large(s, r);
        if (s->error <= s->tol) return RB_OK;
    }
    if ((s->o->brief || s->tol > COARSE) && take_unsure(s)) return RB_OK;
    *rung = RB_RUNG_INTERIOR;
    status = try_interior(s, r, &done);
    if (status != RB_OK || done || s->o->brief) return status;
    *rung = RB_RUNG_PATH_TWOFOLD;
    status = try_path_twofold(s, r, &done);
    if (status != RB_OK || done || take_unsure(s)) return status;
    *rung = RB_RUNG_PYRAMID;
    status = try_pyramid(s, &done);
    if (status != RB_OK || done) return status;
    *rung = RB_RUNG_ADMM;
    return try_admm(s, r, &done);
}

static void report(const search *s, rb_rung rung)
{
    rb_info *info = s->info;
    if (s->error > s->tol) info->outcome = RB_FAILED;
    info->loose += s->left;
    if (s->error <= s->tol && !s->again) info->rungs[rung]++;
    info->iterations += s->newton.steps + s->twofold.s.steps;
    info->factorisations += s->newton.factorisations + s->twofold.s.factorisations;
    double ratio = s->newton.pivot_ratio >= 0.0 ? s->newton.pivot_ratio : 1.0;
    info->rcond = info->rcond > 0.0 && info->rcond < ratio ? info->rcond : ratio;
    if (s->o->unique && !s->again && s->unique > info->unique)
        info->unique = s->unique; /* the worst of the islands */
}

/* *again: the answer in r, if there is one, is not the one that is wanted; another order of the
 * contacts is to decide. */
static rb_status solve_island(const rb_cones *k, const rb_solve_opts *o, rb_arena *scratch,
                              double tol, double *r, unsigned char *mode, rb_info *info, int *again)
{
    rb_rung rung = RB_RUNG_TRIVIAL;
    int canonical = *again;
    *again = 0;
    if (try_trivial(k, r)) {
        memset(mode, RB_MODE_OPEN, (size_t)k->nc);
        info->rungs[rung]++;
        return RB_OK;
    }
    rung = RB_RUNG_SWEEP;
    if (try_alone(k, tol, r)) {
        double u[3];
        rb_cones_velocity(k, r, u);
        rb_cones_modes(k, r, u, mode);
        info->rungs[rung]++;
        info->iterations++;
        return RB_OK;
    }
    search s = { .k = k, .o = o, .scratch = scratch, .tol = tol, .error = INFINITY, .info = info };
    s.loose = SHARE_COARSE * o->loose / sqrt((double)info->islands);
    s.unsure_error = s.tried = INFINITY;
    s.canonical = canonical;
    s.best = rb_push(scratch, double, k->n);
    s.u = rb_push(scratch, double, k->n);
    s.spare = rb_push(scratch, double, k->n);
    s.start = rb_push(scratch, double, k->n);
    s.unsure = rb_push(scratch, double, k->n);
    if (!s.best || !s.u || !s.spare || !s.start || !s.unsure) return RB_NOMEM;
    rb_status status = try_methods(&s, r, &rung);
    if (status != RB_OK) return status;
    memcpy(r, s.best, (size_t)k->n * sizeof *r);
    rb_cones_velocity(k, r, s.u);
    rb_cones_modes(k, r, s.u, mode);
    report(&s, rung);
    *again = s.again;
    return RB_OK;
}

/* ---- all islands
 * --------------------------------------------------------------------------------------- */

/* What all islands share. */
typedef struct split {
    const rb_cones *all;
    rb_arena *scratch;
    double tol;
    double *r;
    rb_info *info;
    int *local; /* index of a contact in its island      (nc) */
} split;

/* Extracts, solves and scatters an island, its contacts in the order given. */
static rb_status solve_listed(const split *x, const rb_solve_opts *o, int count, int *contact,
                              rb_info *info, int *again)
{
    int dim = x->all->dim, canonical = *again;
    rb_cone_part part;
    rb_status status = rb_cone_part_make(x->all, count, contact, x->local, x->scratch, x->r, &part);
    if (status != RB_OK) return status;
    unsigned char *mode = rb_push(x->scratch, unsigned char, count);
    if (!mode) return RB_NOMEM;
    if (canonical) {
        memset(part.r, 0, (size_t)part.k.n * sizeof *part.r);
        part.k.q_norm = (double)(float)part.k.q_norm; /* a sum: its last digits have an order */
    }
    status = solve_island(&part.k, o, x->scratch, x->tol, part.r, mode, info, again);
    if (status != RB_OK || (canonical && info->outcome == RB_FAILED)) return status;
    for (int i = 0; i < count; i++) {
        info->mode[contact[i]] = mode[i];
        memcpy(x->r + (ptrdiff_t)contact[i] * dim, part.r + (ptrdiff_t)i * dim,
               (size_t)dim * sizeof *part.r);
    }
    return RB_OK;
}

/* Any answer near what the first try came to. */
static rb_status solve_anyhow(const split *x, const rb_solve_opts *o, int count, int *contact,
                              rb_outcome before)
{
    rb_solve_opts any = *o;
    int again = 0;
    any.unique = 0;
    any.warm = 1;
    any.brief = 1;
    x->info->outcome = RB_SOLVED;
    rb_status status = solve_listed(x, &any, count, contact, x->info, &again);
    x->info->unique = RB_UNIQUE_NOT;
    if (before == RB_FAILED) x->info->outcome = RB_FAILED;
    return status;
}

/* From nothing, in an order that the caller has not chosen: the answer does not depend on guesses,
 * on other solvers or on the order of the contacts. `before` is the outcome of islands
 * before this one, `first` what the first try left. */
static rb_status solve_canonical(const split *x, const rb_solve_opts *o, int count, int *contact,
                                 rb_outcome before, int first)
{
    rb_solve_opts cold = *o;
    rb_info own = *x->info;
    int again = 1;
    cold.warm = 0;
    own.outcome = RB_SOLVED;
    rb_status status = rb_canonical_contacts(x->all, x->scratch, count, contact);
    if (status == RB_OK) status = solve_listed(x, &cold, count, contact, &own, &again);
    if (status != RB_OK) return status;
    if (own.outcome == RB_FAILED && first == NEAR_AN_ANSWER && !o->brief)
        return solve_anyhow(x, o, count, contact, before);
    if (before == RB_FAILED) own.outcome = RB_FAILED;
    *x->info = own;
    return RB_OK;
}

/* One island: as it is given, then, where several answers are possible, in its own order. */
static rb_status solve_part(const split *x, const rb_solve_opts *o, int count, int *contact)
{
    rb_info *info = x->info;
    rb_outcome before = info->outcome;
    int again = 0;
    info->outcome = RB_SOLVED;
    rb_status status = count == x->all->nc ? solve_island(x->all, o, x->scratch, x->tol, x->r,
                                                          info->mode, info, &again)
                                           : solve_listed(x, o, count, contact, info, &again);
    if (status == RB_OK && again) return solve_canonical(x, o, count, contact, before, again);
    if (before == RB_FAILED) info->outcome = RB_FAILED;
    return status;
}

static rb_status solve_all(const rb_cones *k, const rb_solve_opts *o, rb_arena *scratch,
                           const int *label, double *r, rb_info *info)
{
    /* the squares of the islands' errors add up */
    split x = { .all = k, .scratch = scratch, .r = r, .info = info };
    x.tol = (o->tol > COARSE ? SHARE_COARSE : SHARE) * o->tol / sqrt((double)info->islands);
    x.local = rb_push(scratch, int, k->nc);
    int *contact = rb_push(scratch, int, k->nc);
    if (!x.local || !contact) return RB_NOMEM;
    for (int i = 0; i < info->islands; i++) {
        rb_mark mark = rb_arena_mark(scratch);
        int count = 0;
        for (int c = 0; c < k->nc; c++) {
            if (label[c] == i) contact[count++] = c;
        }
        rb_status status = solve_part(&x, o, count, contact);
        if (status != RB_OK) return status;
        rb_arena_reset(scratch, mark);
    }
    return RB_OK;
}

static void name_path(rb_info *info)
{
    for (int g = 0; g < RB_RUNG_COUNT; g++) {
        if (info->rungs[g] > 0) rb_path_add(info, rb_rung_name(g));
    }
}

/* What few contacts with a guess need in most steps; *done = 0: the other methods have to be tried.
 */
static rb_status try_small(const rb_problem *p, const rb_solve_opts *o, rb_arena *scratch,
                           double *r, rb_info *info, int *done)
{
    *done = 0;
    if (!rb_cone_small_takes(p, o)) return RB_OK;
    rb_mark mark = rb_arena_mark(scratch);
    rb_status status = rb_cone_small(p, o, scratch, 0.5 * o->tol, r, info, done);
    rb_arena_reset(scratch, mark);
    if (status != RB_OK || !*done) return status;
    info->outcome = RB_SOLVED;
    name_path(info);
    return RB_OK;
}

rb_status rb_cone_auto(const rb_problem *p, const rb_solve_opts *o, rb_arena *scratch, double *r,
                       rb_info *info)
{
    rb_cones k;
    int done;
    rb_status status = try_small(p, o, scratch, r, info, &done);
    if (status != RB_OK || done) return status;
    rb_meter_add(scratch->meter, RB_WORK_FACTOR, info->factorisations * rb_work_dense(p->n));
    status = rb_cone_crowd(p, o, scratch, r, info, &done);
    if (status != RB_OK || done) return status;
    status = rb_cones_make(p, scratch, &k);
    if (status != RB_OK) return status;
    if (o->unique) k.parts = NULL; /* bodies as unknowns do not see which contacts are redundant */
    int *label = rb_push(scratch, int, k.nc);
    if (!label) return RB_NOMEM;
    info->islands = rb_matrix_islands(&k.W, k.n, k.dim, scratch, label);
    if (info->islands < 0) return RB_NOMEM;
    info->outcome = RB_SOLVED;
    info->unique = o->unique ? RB_UNIQUE_PLAIN : RB_UNIQUE_OFF;
    status = solve_all(&k, o, scratch, label, r, info);
    if (status != RB_OK) return status;
    name_path(info);
    if (info->outcome != RB_SOLVED)
        rb_path_add(info, info->loose > 0 ? "loose" : "every solver of auto");
    return RB_OK;
}

/* Any solver's answer becomes the one auto finds by itself. */
rb_status rb_cone_uniform(const rb_problem *p, const rb_solve_opts *o, rb_arena *scratch, double *r,
                          rb_info *info)
{
    rb_solve_opts cold = *o;
    rb_info own = { .mode = info->mode, .ray = info->ray };
    cold.warm = 0;
    memset(r, 0, (size_t)p->n * sizeof *r);
    rb_status status = rb_cone_auto(p, &cold, scratch, r, &own);
    info->unique = own.outcome == RB_SOLVED ? own.unique : RB_UNIQUE_NOT;
    info->factorisations += own.factorisations;
    info->rcond = own.rcond;
    return status;
}
