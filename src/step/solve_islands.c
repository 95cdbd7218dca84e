/* Each island is written by the formulation, solved, certified, read back. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/constants.h"
#include "base/error.h"
#include "base/pieces.h"
#include "base/team.h"
#include "math/dense.h"
#include "math/vec3.h"
#include "solve/cone_crowd.h"
#include "solve/internal.h"
#include "step/gaps.h"
#include "step/motion.h"
#include "step/problems.h"
#include "step/rest/rest.h"
#include "step/touch.h"

/* Rows up to which W of a chain is kept: below those from which on it is stored in blocks. */
enum { KEPT_ROWS = 120 };

/* Least tolerance at which islands are solved with a trace of compliance [1]. */
#define ACTIVE_TOL 1e-7

/* Approach that coarse answers may leave, as a share of the overlap that steps may make [1]. More:
 * repairs that find the same answer again. */
#define CLOSING 0.25

/* Rows from which on, and up to which, a dense system pays. */
enum { ACTIVE_LEAST = 1, ACTIVE_MOST = 400 };

/* The same where there are so many rows to each freedom that its side is factored. */
enum { CROWDED_MOST = 6000, CROWDED = 4 };

/* Components along t1, t2 of a vector that had them along the tangents of the step before. */
static void turn(const double *before, const double *now, double x[2])
{
    double y[2] = { 0.0, 0.0 };
    for (int a = 0; a < 2; a++) {
        for (int b = 0; b < 2; b++) y[a] += rb_dot3(now + 3 + 3 * a, before + 3 + 3 * b) * x[b];
    }
    x[0] = y[0];
    x[1] = y[1];
}

/* Impulse and mode one step before, where the constraint was there. */
void rb_stage_recall(const rb_stage *s, const rb_constraint *c, double *p, unsigned char *mode)
{
    const rb_touch *touch = rb_touch_find(s->d, &c->id);
    if (!touch || touch->nrow != c->nrow) return;
    memcpy(p, touch->p, (size_t)c->nrow * sizeof *p);
    *mode = (unsigned char)touch->mode;
    if (c->kind != RB_CONSTRAINT_CONTACT) return;
    const double *now = s->set.frame + 9 * c->object;
    if (c->nrow >= 3) turn(touch->frame, now, p + 1);
    if (c->nrow >= 6) turn(touch->frame, now, p + 4);
}

/* The answer of the round before a repair is closer than that of the step before. */
void rb_stage_recall_round(const rb_stage *s, const rb_constraint *c, double *guess)
{
    const rb_constraint *before =
        s->attempt.last_p ? rb_stage_find(&s->attempt.last, &c->id) : NULL;
    if (!before || before->nrow != c->nrow) return;
    memcpy(guess, s->attempt.last_p + before->row, (size_t)c->nrow * sizeof *guess);
    if (c->kind != RB_CONSTRAINT_CONTACT) return;
    const double *then = s->attempt.last.frame + 9 * before->object,
                 *now = s->set.frame + 9 * c->object;
    if (c->nrow >= 3) turn(then, now, guess + 1);
    if (c->nrow >= 6) turn(then, now, guess + 4);
}

/* What the island starts from: free velocities, and the answer of the step before. Bristles, bounds
 * that lag and static friction remember it as well: a cold start is the solver's business only. */
void rb_stage_fill(const rb_stage *s, rb_island *island)
{
    for (int i = 0; i < island->n; i++) {
        const rb_constraint *c = island->c[i];
        int row = island->row[i];
        size_t bytes = (size_t)c->nrow * sizeof *island->u;
        memcpy(island->u + row, s->problem.u + c->row, bytes);
        memcpy(island->bias + row, s->problem.bias + c->row, bytes);
        memcpy(island->u_before + row, s->problem.u_before + c->row, bytes);
        rb_stage_recall(s, c, island->p_prev + row, &island->mode_prev[i]);
        memcpy(island->guess + row, island->p_prev + row, bytes);
        rb_stage_recall_round(s, c, island->guess + row);
    }
}

/* Mass of the links of each island [kg]; NULL: out of memory. */
static double *island_masses(const rb_stage *s)
{
    double *mass = rb_push(s->d->arena, double, s->set.nisland);
    if (!mass) return NULL;
    for (int i = 0; i < s->set.nisland; i++) mass[i] = 0.0;
    for (int k = 1; k < s->m->nlink; k++) {
        int tree = s->m->link_tree[k], island = tree >= 0 ? s->set.tree_island[tree] : -1;
        if (island >= 0) mass[island] += s->m->link_mass[k];
    }
    return mass;
}

static void take(rb_stage *s, const rb_island *island)
{
    for (int i = 0; i < island->n; i++) {
        const rb_constraint *c = island->c[i];
        memcpy(s->answer.p + c->row, island->p + island->row[i],
               (size_t)c->nrow * sizeof *s->answer.p);
        s->answer.mode[c - s->set.c] = island->mode[i];
    }
}

/* What solving an island told; noted in the order of islands, so that threads change nothing. */
typedef struct outcome {
    rb_status status;
    int rows; /* of the problem; 0: there was none */
    rb_info solved;
    rb_meter meter;
    rb_error err;
} outcome;

/* The best answer that was found misses what was asked for. */
static int is_below(const rb_stage *s, const rb_info *solved)
{
    return solved->outcome != RB_SOLVED && solved->cert.relative > s->attempt.tol;
}

static void note(rb_stage *s, int island, const outcome *x)
{
    rb_step_info *info = s->info;
    const rb_info *solved = &x->solved;
    if (s->answer.work) s->answer.work[island] = fmax(s->answer.work[island], x->meter.all);
    if (x->rows == 0) return;
    if (s->answer.residual &&
        x->status == RB_OK) /* others are not taken, whatever becomes of the step */
        s->answer.residual[island] = fmax(s->answer.residual[island], solved->cert.relative);
    info->solves++;
    info->rows += x->rows;
    if (x->rows > info->rows_max) info->rows_max = x->rows;
    s->attempt.ambiguous |= s->o->formulation->kind == RB_CONE && solved->unique == RB_UNIQUE_NOT;
    s->attempt.near_miss |= x->status == RB_UNSOLVED && solved->cert.relative <= s->o->loose;
    info->below_accuracy += x->status == RB_OK && is_below(s, solved);
    info->fallbacks += solved->outcome == RB_SOLVED && solved->tried > 1;
    for (int k = 0; k < RB_RUNG_COUNT; k++) info->rungs[k] += solved->rungs[k];
    info->velocity_residual = fmax(info->velocity_residual, solved->cert.velocity);
    if (solved->cert.relative < info->residual) return;
    info->residual = solved->cert.relative;
    memcpy(info->path, solved->path, sizeof info->path);
}

int rb_stage_is_near(const rb_stage *s)
{
    return s->attempt.near_miss && s->o->loose > s->attempt.tol && s->attempt.tol > RB_TOL_STRICT;
}

/* The whole ladder is for the last try: a shorter step asks for less, rows are relaxed (S.21), or a
 * looser answer is taken. Where rows hold a link from two sides, or tons stand on grams, that finds
 * an answer long before the ladder says that there is none. */
static int is_brief(const rb_stage *s)
{
    return !s->attempt.final || (s->attempt.may_relax && !s->attempt.relaxed) ||
           rb_stage_is_near(s);
}

static int most_unique(const rb_stage *s)
{
    int often = s->o->stepper == RB_STEPPER_IMPULSE || s->o->stepper == RB_STEPPER_HYBRID;
    return often ? RB_UNIQUE_OFTEN : RB_UNIQUE_CONTACTS;
}

/* Crowds are solved without (rb_island_open_crowd). */
static int is_unique(const rb_stage *s, const rb_problem *p)
{
    if (p->kind != RB_CONE) return 1;
    return p->nc <= most_unique(s) && p->W.form != RB_OPERATOR;
}

/* Large islands may be left at opts.loose at once, others in the last try of a step only. */
static int is_taken(const rb_stage *s, const rb_info *solved)
{
    double most = solved->loose > 0 ? fmax(s->attempt.loose, s->o->loose) : s->attempt.loose;
    return solved->outcome == RB_SOLVED || solved->cert.relative <= most;
}

/* Approach that is seen as a part of the overlap that steps may make [m/s]; 0 where the tolerance
 * leaves less by itself. */
static double closing_of(const rb_stage *s, const rb_island *is)
{
    double deep = INFINITY;
    if (s->attempt.tol <= RB_TOL_STANDARD || s->attempt.reports) return 0.0;
    for (int i = 0; i < is->n; i++) deep = fmin(deep, rb_stage_deep(s, &is->c[i]->id));
    return CLOSING * deep / s->h;
}

static rb_status solve_problem(const rb_stage *s, const rb_island *is, rb_written *written,
                               int brief, rb_arena *arena, outcome *x)
{
    rb_solve_opts opts = rb_solve_opts_default();
    opts.solver = s->o->solver;
    opts.tol = s->attempt.tol;
    opts.loose = s->o->loose;
    opts.closing = closing_of(s, is);
    opts.warm = !s->o->cold;
    opts.unique = is_unique(s, &written->problem);
    opts.follow = opts.warm && s->attempt.last_p; /* turns and repairs */
    opts.brief = brief;
    opts.arena = arena;
    x->solved.mode = written->mode;
    rb_status status = rb_solve(&written->problem, &opts, written->z, &x->solved);
    if (status != RB_OK)
        return rb_fail(&x->err, status, "%s with a problem of %d rows: %s", s->o->solver->name,
                       written->problem.n, rb_status_text(status));
    x->rows = written->problem.n;
    if (x->solved.outcome == RB_SOLVED && rb_step_opts_tol(s->o) <= RB_TOL_STRICT)
        return rb_sharpen(&written->problem, &opts, written->z, &x->solved);
    if (is_taken(s, &x->solved)) return RB_OK;
    return rb_fail(&x->err, RB_UNSOLVED,
                   "a problem of %d rows has no answer within %.1e (best %.1e; tried: %s): shorten "
                   "the step, or accept less (--accuracy, --tol)",
                   x->rows, opts.tol, x->solved.cert.relative, x->solved.path);
}

static rb_status hand_over(const rb_stage *s, int index, int turn, const rb_problem *problem,
                           rb_error *err)
{
    char name[64];
    if (!s->o->sink.take || problem->n == 0) return RB_OK;
    rb_stage_name(s, index, name, sizeof name);
    size_t end = strlen(name);
    while (end > 0 && name[end] != '-') end--;
    if (turn > 0) snprintf(name + end, sizeof name - end, "-c%d-%d", turn, index);
    if (s->o->sink.take(s->o->sink.ctx, name, problem) == 0) return RB_OK;
    return rb_fail(err, RB_FILE, "the sink refused the problem %s", name);
}

/* Nobody looks at the blocks of W, and the tolerance is one that interior points reach. */
static int may_be_crowd(const rb_stage *s)
{
    if (s->o->formulation->kind != RB_CONE || s->o->solver != &rb_solver_auto || s->o->sink.take)
        return 0;
    return rb_cone_crowd_takes(s->attempt.tol);
}

/* W of an island that is solved again and again with other velocities is made once. */
static rb_status open_island(const rb_stage *s, int index, rb_arena *arena, rb_island *island)
{
    rb_kept *kept = s->problem.kept ? &s->problem.kept[index] : NULL;
    if (kept && kept->known && !kept->some)
        return rb_island_open_with(&s->set, index, s->h, kept->W, arena, island);
    double *W = kept ? kept->W : NULL;
    if (!W && may_be_crowd(s))
        return rb_island_open_crowd(s->m, s->d, &s->set, index, s->h,
                                    rb_cone_crowd_least(s->attempt.tol), arena, island);
    rb_status status = rb_island_open_in(s->m, s->d, &s->set, index, s->h, W, arena, island);
    if (status == RB_OK && W) kept->known = 1, kept->some = kept->nG = 0;
    return status;
}

/* ---- rows that stay open ----------------------------------------------------------------------
 */

/* Overlap of a mechanism with itself is tens of rows, of which a few push. Those that are open and
 * did not push before stay out of the problem; where impulses of the others would close one it
 * joins, and the problem is solved again (S.29). */
static rb_status leave_open(const rb_stage *s, rb_arena *arena, rb_island *is)
{
    int any = 0;
    for (int i = 0; i < is->n; i++) any |= is->c[i]->inner;
    if (!any || s->o->formulation->kind != RB_CONE || is->W.form != RB_DENSE) return RB_OK;
    is->left = rb_push(arena, unsigned char, is->n);
    if (!is->left) return RB_NOMEM;
    for (int i = 0; i < is->n; i++) {
        int row = is->row[i];
        is->left[i] = is->c[i]->inner && is->u[row] >= 0.0 && is->guess[row] == 0.0;
    }
    return RB_OK;
}

/* Those that the answer closes join; how many there are. */
static int call_in(rb_island *is)
{
    int called = 0;
    for (int i = 0; is->left && i < is->n; i++) {
        if (!is->left[i]) continue;
        const double *W = is->W.dense + (ptrdiff_t)is->row[i] * is->nrow;
        if (is->u[is->row[i]] + rb_dot(W, is->p, is->nrow) >= 0.0) continue;
        is->left[i] = 0;
        called++;
    }
    if (called > 0) memcpy(is->guess, is->p, (size_t)is->nrow * sizeof *is->guess);
    return called;
}

/* The problem as the formulation writes it, solved and read back. */
static rb_status solve_written(const rb_stage *s, int index, int turn, int brief, rb_island *is,
                               rb_arena *arena, outcome *x)
{
    rb_written written;
    rb_status status = s->o->formulation->write(is, s->o, arena, &written);
    if (status == RB_UNSUPPORTED)
        return rb_fail(
            &x->err, status,
            "%s does not take what a contact asks for: friction polygons need "
            "stewart-trinkle, anitescu-potra, dart or jain; a grain does without phantom "
            "and hybrid-friction",
            s->o->formulation->name);
    if (status == RB_OK) status = hand_over(s, index, turn, &written.problem, &x->err);
    if (status == RB_OK && written.problem.n > 0)
        status = solve_problem(s, is, &written, brief, arena, x);
    if (status == RB_OK) s->o->formulation->read(&written, is);
    return status;
}

static int island_rows(const rb_constraints *set, int island)
{
    int rows = 0;
    for (int i = set->island_start[island]; i < set->island_start[island + 1]; i++) {
        rows += set->c[set->island_order[i]].nrow;
    }
    return rows;
}

/* Rows as what they are (F.21), where the tolerance leaves room for a trace of compliance, for
 * mechanisms: free bodies have nothing but plain contacts. Who wants to see problems, or another
 * solver, gets cones. */
static int may_be_active(const rb_stage *s, int island)
{
    const rb_constraints *set = &s->set;
    int chain = 0, rows = island_rows(set, island);
    if (s->o->formulation->kind != RB_CONE || s->o->solver != &rb_solver_auto || s->o->sink.take)
        return 0;
    int most = rows > CROWDED * s->m->nv ? CROWDED_MOST : ACTIVE_MOST;
    if (s->attempt.tol < ACTIVE_TOL || rows < ACTIVE_LEAST || rows > most) return 0;
    for (int i = set->island_start[island]; i < set->island_start[island + 1] && !chain; i++) {
        const rb_constraint *c = &set->c[set->island_order[i]];
        for (int k = 0; k < c->ndof && !chain; k++)
            chain = !rb_stage_is_single(s->m, s->m->dof_link[set->dof[c->dof + k]]);
    }
    return chain;
}

/* Writes p and mode of its own constraints, and its W where that is kept, nothing else of the
 * stage. */
static rb_status solve_island(rb_stage *s, int index, double mass, rb_arena *arena, outcome *x)
{
    rb_island island;
    int done = 0;
    rb_status status = RB_OK;
    if (may_be_active(s, index))
        status = rb_stage_solve_active(s, index, arena, &x->solved, &x->rows, &done);
    if (status != RB_OK || done) return status;
    status = open_island(s, index, arena, &island);
    if (status != RB_OK) return status;
    rb_stage_fill(s, &island);
    island.weight = s->h * s->given->gravity * mass;
    island.again = s->attempt.last_p != NULL;
    if (s->o->formulation->kind != RB_CONE) status = rb_island_drop_immovable(&island, arena);
    if (status != RB_OK) return status;
    status = leave_open(s, arena, &island);
    int brief = is_brief(s), turn = 0;
    if (status == RB_OK) status = solve_written(s, index, turn, brief, &island, arena, x);
    while (status == RB_OK && call_in(&island) > 0)
        status = solve_written(s, index, ++turn, brief, &island, arena, x);
    if (status != RB_OK) return status;
    take(s, &island);
    return RB_OK;
}

/* ---- one after the other, or shared out -------------------------------------------------------
 */

typedef struct work {
    rb_stage *s;
    const unsigned char *skip;
    const double *mass; /* of each island [kg]                                          (nisland) */
    outcome *x;         /*                                                              (nisland) */
    double left;        /* work that each of them may take                                        */
} work;

static void solve_one(const work *w, int i, rb_arena *arena)
{
    rb_mark mark = rb_arena_mark(arena);
    w->x[i].rows = 0;
    w->x[i].solved = (rb_info){ .mode = NULL };
    w->x[i].err.status = RB_OK;
    w->x[i].meter = rb_meter_make(w->left, w->s->o->cancel, w->s->o->cancel_ctx);
    rb_meter *before = arena->meter;
    arena->meter = &w->x[i].meter;
    w->x[i].status = solve_island(w->s, i, w->mass[i], arena, &w->x[i]);
    arena->meter = before;
    rb_arena_reset(arena, mark);
}

/* Contacts from which on the threads of the caller help each other with one island; they share out
 * the others. Fewer: pauses take longer than what is shared. */
enum { TEAM_CONTACTS = 500 };

static int is_for_all(const rb_stage *s, int island)
{
    const int *start = s->set.island_start;
    return start[island + 1] - start[island] >= TEAM_CONTACTS;
}

static void solve_together(const work *w, int i, rb_arena *arena)
{
    const rb_parallel *parallel = w->s->o->parallel;
    rb_team team = { 0 };
    if (parallel) team = (rb_team){ parallel->workers, parallel->run, parallel->ctx };
    if (is_for_all(w->s, i)) arena->team = &team;
    solve_one(w, i, arena);
    arena->team = NULL;
}

/* Islands k, k + workers, ...: who solves what does not depend on time. */
static void solve_share(void *argument, int k)
{
    const work *w = argument;
    const rb_parallel *parallel = w->s->o->parallel;
    for (int i = k; i < w->s->set.nisland; i += parallel->workers) {
        if (!w->skip[i] && !is_for_all(w->s, i)) solve_one(w, i, parallel->arena[k]);
    }
}

static int is_shared(const rb_stage *s)
{
    const rb_parallel *parallel = s->o->parallel;
    return parallel && parallel->workers > 1 && s->set.nisland > 1 && !s->o->sink.take;
}

/* A single problem that takes so much is one that methods do not find an answer of: a shorter step
 * asks for another one. */
static int is_endless(const rb_stage *s, outcome *x, double most)
{
    if (x->meter.stopped != RB_BUDGET || x->meter.all <= most) return 0;
    if (x->meter.all > rb_meter_left(s->meter)) return 0;
    x->meter.stopped = RB_OK;
    rb_fail(&x->err, RB_UNSOLVED,
            "a problem of %d rows has no answer in %.3g units: shorten the step", x->rows, most);
    return 1;
}

rb_status rb_stage_solve_others(rb_stage *s, const unsigned char *skip)
{
    rb_arena *arena = s->d->arena;
    rb_mark all = rb_arena_mark(arena);
    int n = s->set.nisland, shared = is_shared(s);
    double most = s->attempt.final ? INFINITY : rb_stage_problem_most(s);
    work w = { .s = s, .skip = skip, .mass = island_masses(s) };
    w.left = fmin(most, rb_meter_left(s->meter));
    w.x = rb_push(arena, outcome, n);
    rb_status status = w.mass && w.x ? RB_OK : RB_NOMEM;
    if (status == RB_OK && shared) s->o->parallel->run(s->o->parallel->ctx, solve_share, &w);
    for (int i = 0; i < n && status == RB_OK; i++) {
        if (skip[i]) continue;
        if (!shared || is_for_all(s, i)) solve_together(&w, i, arena);
        note(s, i, &w.x[i]);
        s->attempt.unsolved = i;
        status = w.x[i].status;
        if (is_endless(s, &w.x[i], most)) status = RB_UNSOLVED;
        if (!rb_meter_take(s->meter, &w.x[i].meter)) status = s->meter->stopped;
        if (status != RB_OK && s->err && w.x[i].err.status != RB_OK) *s->err = w.x[i].err;
    }
    rb_arena_reset(arena, all);
    return status;
}

/* Room for W of the islands of chains, which carry.c solves by turns. */
static rb_status keep_chains(rb_stage *s)
{
    const rb_model *m = s->m;
    rb_kept *kept = rb_push(s->d->arena, rb_kept, s->set.nisland);
    if (!kept) return RB_NOMEM;
    memset(kept, 0, (size_t)s->set.nisland * sizeof *kept);
    for (int k = 1; k < m->nlink; k++) {
        int tree = m->link_tree[k], above = m->link_parent[k];
        if (tree < 0 || above == 0 || m->link_tree[above] != tree) continue;
        int island = s->set.tree_island[tree];
        if (island < 0 || kept[island].W) continue;
        size_t rows = (size_t)island_rows(&s->set, island);
        if (rows > KEPT_ROWS) continue;
        int n = s->set.island_start[island + 1] - s->set.island_start[island];
        kept[island].W = rb_push(s->d->arena, double, rows *rows);
        kept[island].left = rb_push(s->d->arena, unsigned char, n);
        if (!kept[island].W || !kept[island].left) return RB_NOMEM;
    }
    s->problem.kept = kept;
    return RB_OK;
}

rb_status rb_stage_solve_begin(rb_stage *s)
{
    rb_status status = s->set.nisland > 0 ? keep_chains(s) : RB_OK;
    s->info->islands = s->set.nisland;
    s->answer.residual_before = s->info->residual;
    double **of_island[] = { &s->answer.residual, &s->answer.work };
    if (status == RB_OK && !rb_push_zeros(s->d->arena, of_island, 2, s->set.nisland))
        status = RB_NOMEM;
    if (status != RB_OK) return status;
    return RB_OK;
}

rb_status rb_stage_solve(rb_stage *s)
{
    rb_status status = rb_stage_rest_on(s);
    if (status == RB_OK) status = rb_stage_solve_begin(s);
    return status == RB_OK ? rb_stage_solve_others(s, s->answer.still) : status;
}
