/* Finds the least displacement that takes off errors of positions:
 *
 *     min 1/2 dq'M dq,     J_n dq >= goal - gap,     J_b dq = goal - error                   (S.36)
 *
 * over contacts and limits within reach, and loops, without friction. Goals belong to the place
 * where the iteration begins: overlap ends a share nearer to zero (S.35), open gaps stay open.
 * Rows are linear and positions are not. So rows are taken again where dq leads, with the same
 * goals, until all goals are met, as in Newton's method.
 *
 * A trace of compliance makes every problem regular. Rows that take off an error have more of it,
 * so that an error which other rows hold is kept. A second row keeps it from growing:
 *
 *     W_ii := (1 + e_i) W_ii,     e_i = 1e-5 for errors of the start, 1e-11 for all else     (S.39)
 *
 * Islands whose bodies would get deeper into anything are not moved. */
#include "correct/displace.h"

#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/constants.h"
#include "contact/build.h"
#include "contact/slip.h"
#include "solve/internal.h"
#include "solve/mixed.h"

/* More of any takes longer. An island that is not solved keeps its errors for this step, and the
 * next step tries again. */
enum {
    DIRECT_ROWS = 240, /* rows up to which a problem is solved by pivoting, beyond by sweeps */
    MOST_ROWS = 2000,  /* rows of an island, beyond which its errors are kept  */
    SWEEPS = 60, /* of projected Gauss-Seidel                                                   */
    EXCHANGES = 60, /* of block pivoting */
    KEEP_ROUNDS = 3 /* after which nothing is moved if islands still get deeper */
};

#define LOOP_OPEN 1e-11 /* closure error that is none, in units of the extent [1] */

#define IMMOVABLE 1e-6 /* lever arm of a row that moves nothing, in units of the extent [1] */

/* Compliance of rows that ask for less of an error, and of all others, in units of their own [1].
 * SOFT larger: errors are taken off later. HARD larger: other rows give way by that share. */
#define SOFT 1e-5
#define HARD 1e-11

/* Where a constraint was at the beginning. */
typedef struct origin {
    rb_touch_id id;
    double gap;  /* contacts: the deepest of the pair                                            */
    double goal; /* contacts and limits                                                          */
} origin;

typedef struct work {
    rb_displace *x;
    double *q;            /* where it began                                         (nq)        */
    double *dq;           /*                                                        (nv)        */
    rb_contact *contacts; /*                                                        (touch_max) */
    origin *at;           /* by id                                                  (n)         */
    int n;
    double *error; /* of loops at the beginning                              (nerror)    */
    int nerror;
    int has_moved; /* 1: trees that stay have moved before */
    double reach;
    unsigned char *fixed; /* trees that are not moved                               (ntree)     */
    rb_constraints set;   /* at the present place: normals, limits, loops                       */
    double *need;         /* J dq >= need, equalities J dq = need                   (set.nrow)  */
    double *p;            /*                                                        (set.nrow)  */
    double worst, hard;   /* largest need; of those that are no errors of the start             */
} work;

/* Rows from which on Newton's method is tried first, its tolerance, and the trace of compliance
 * that rows which repeat others are shared by [1]. */
enum { NEWTON_ROWS = 40 };
#define NEWTON_TOL 1e-8
#define TRACE      1e-10

static void look(work *w)
{
    rb_kinematics(w->x->m, w->x->d);
    rb_velocity(w->x->m, w->x->d);
    rb_frames(w->x->m, w->x->d);
}

/* ---- goals ------------------------------------------------------------------------------------
 */

/* What an error is measured by: pi for angles, else the extent. */
static double scale_of(const work *w, const rb_constraint *c)
{
    const rb_model *m = w->x->m;
    if (c->kind != RB_CONSTRAINT_LIMIT) return w->x->size;
    if (c->object >= m->njnt_all) return fmax(RB_PI, w->x->size);
    return m->jnt_type[c->object] == RB_JOINT_SLIDE ? w->x->size : RB_PI;
}

/* (S.35) */
static double goal_of(const work *w, const rb_constraint *c, double gap)
{
    const rb_displace *x = w->x;
    if (gap >= 0.0) return 0.0;
    if (x->only_loops) return gap;
    return gap + fmin(-x->share * gap, x->most * scale_of(w, c));
}

static int same_pair(const rb_touch_id *a, const rb_touch_id *b)
{
    return a->kind == b->kind && a->a == b->a && a->b == b->b;
}

static int before(const rb_touch_id *a, const rb_touch_id *b)
{
    if (a->kind != b->kind) return a->kind < b->kind;
    return a->a != b->a ? a->a < b->a : a->b < b->b;
}

static const origin *find(const work *w, const rb_touch_id *id)
{
    int lo = 0, hi = w->n;
    while (lo < hi) {
        int middle = lo + (hi - lo) / 2;
        if (before(&w->at[middle].id, id))
            lo = middle + 1;
        else
            hi = middle;
    }
    return lo < w->n && same_pair(&w->at[lo].id, id) ? &w->at[lo] : NULL;
}

static double gap_of(const rb_constraint *c)
{
    return c->gap + c->floor;
}

/* Where everything begins, from the first set, and how far rows are looked for. */
static rb_status note_origins(work *w)
{
    rb_arena *arena = w->x->d->arena;
    w->at = rb_push(arena, origin, w->set.n);
    w->error = rb_push(arena, double, w->set.nrow);
    if (!w->at || !w->error) return RB_NOMEM;
    w->n = w->nerror = 0;
    for (int i = 0; i < w->set.n; i++) {
        const rb_constraint *c = &w->set.c[i];
        if (c->kind == RB_CONSTRAINT_EQUALITY) {
            for (int r = 0; r < c->nrow; r++) w->error[w->nerror++] = w->set.error[c->row + r];
            continue;
        }
        origin *last = w->n > 0 ? &w->at[w->n - 1] : NULL;
        if (!last || !same_pair(&last->id, &c->id)) {
            last = &w->at[w->n++];
            *last = (origin){ .id = c->id, .gap = gap_of(c) };
        }
        last->gap = fmin(last->gap, gap_of(c));
        last->goal = goal_of(w, c, last->gap);
    }
    return RB_OK;
}

/* ---- rows -------------------------------------------------------------------------------------
 */

/* Normals, limits and loops of a set; tangents and dry friction go. */
static rb_status keep_rows(work *w)
{
    rb_constraints *set = &w->set;
    int n = 0, nrow = 0;
    for (int i = 0; i < set->n; i++) {
        rb_constraint c = set->c[i];
        if (c.kind == RB_CONSTRAINT_DRY) continue;
        if (c.kind == RB_CONSTRAINT_CONTACT) c.nrow = 1;
        for (int r = 0; r < c.nrow; r++) set->error[nrow + r] = set->error[c.row + r];
        c.row = nrow;
        nrow += c.nrow;
        set->c[n++] = c;
    }
    set->n = n;
    set->nisland = 0;
    set->nrow = nrow;
    return rb_constraint_islands(w->x->m, w->x->d->arena, set);
}

static double need_of(const work *w, const rb_constraint *c, int r, int *loop)
{
    const rb_displace *x = w->x;
    if (c->kind == RB_CONSTRAINT_EQUALITY) {
        double goal = x->close_loops || *loop >= w->nerror ? 0.0 : w->error[*loop];
        ++*loop;
        return goal - w->set.error[c->row + r];
    }
    const origin *at = find(w, &c->id);
    return (at ? at->goal : 0.0) - gap_of(c);
}

/* Rows at the present place, and what is asked of them. */
static rb_status take_rows(work *w, int first)
{
    rb_displace *x = w->x;
    rb_data *d = x->d;
    int n = 0, loop = 0;
    rb_status status = rb_collide(x->m, d, 1.0, w->reach, d->touch_max, w->contacts, &n, x->err);
    x->contacts = n;
    if (status == RB_OK)
        status = rb_constraints_build(x->m, d, x->o, 1.0, w->reach, w->contacts, n, NULL, &w->set);
    if (status == RB_OK) status = keep_rows(w);
    if (status == RB_OK && first) status = note_origins(w);
    if (status != RB_OK) return status;
    w->need = rb_push(d->arena, double, w->set.nrow);
    w->p = rb_push(d->arena, double, w->set.nrow);
    if (!w->need || !w->p) return RB_NOMEM;
    w->worst = w->hard = x->after = x->loop_error = 0.0;
    for (int i = 0; i < w->set.n; i++) {
        const rb_constraint *c = &w->set.c[i];
        int equality = c->kind == RB_CONSTRAINT_EQUALITY;
        for (int r = 0; r < c->nrow; r++) {
            double need = need_of(w, c, r, &loop);
            w->need[c->row + r] = need;
            const origin *at = equality ? NULL : find(w, &c->id);
            double left = at && at->gap < 0.0 ? at->gap - gap_of(c) : equality ? fabs(need) : need;
            w->worst = fmax(w->worst, equality ? fabs(need) : need);
            w->hard = fmax(w->hard, left);
            if (equality) x->loop_error = fmax(x->loop_error, fabs(w->set.error[c->row + r]));
        }
        if (c->kind == RB_CONSTRAINT_CONTACT) x->after = fmax(x->after, -gap_of(c));
    }
    if (first) x->before = x->after;
    return RB_OK;
}

/* ---- the problem ------------------------------------------------------------------------------
 */

/* The problem of an island: its rows, and once more those with an error of the start. */
typedef struct system {
    int n;
    int *row;     /* in the island                                                        (n)   */
    double *need; /*                                                                      (n)   */
    double *more; /* compliance                                                           (n)   */
    double *W, *q, *lo, *hi, *z;
} problem;

static int is_wanted(const work *w, const rb_island *is)
{
    for (int i = 0; i < is->n; i++) {
        const rb_constraint *c = is->c[i];
        for (int r = 0; r < c->nrow; r++) {
            double need = w->need[c->row + r];
            if (c->kind == RB_CONSTRAINT_EQUALITY ? fabs(need) > 0.25 * LOOP_OPEN * w->x->size
                                                  : need > 0.01 * w->x->deep)
                return 1;
        }
    }
    return 0;
}

static int is_linear(const rb_model *m, int dof)
{
    int j = m->dof_jnt[dof], type = m->jnt_type[j];
    return type == RB_JOINT_SLIDE || (type == RB_JOINT_FREE && dof < m->jnt_dofadr[j] + 3);
}

/* A contact along whose normal the links cannot move: what is left of its row is rounding. */
static int is_immovable(const work *w, const rb_constraint *c)
{
    const double *J = w->set.J + c->block;
    if (c->kind != RB_CONSTRAINT_CONTACT) return 0;
    for (int k = 0; k < c->ndof; k++) {
        double unit = is_linear(w->x->m, w->set.dof[c->dof + k]) ? 1.0 : w->x->size;
        if (fabs(J[k]) > IMMOVABLE * unit) return 0;
    }
    return 1;
}

static void add_row(problem *y, int row, double need, double more, int is_free)
{
    int i = y->n++;
    y->row[i] = row;
    y->need[i] = need;
    y->more[i] = more;
    y->lo[i] = is_free ? -INFINITY : 0.0;
    y->hi[i] = INFINITY;
    y->z[i] = 0.0;
    y->q[i] = -need;
}

/* An error is to end at its goal, and must not grow (S.39). */
static void list_rows(const work *w, const rb_island *is, problem *y)
{
    y->n = 0;
    for (int k = 0; k < is->n; k++) {
        const rb_constraint *c = is->c[k];
        int equality = c->kind == RB_CONSTRAINT_EQUALITY;
        const origin *at = equality ? NULL : find(w, &c->id);
        int error = at && at->gap < 0.0;
        if (is_immovable(w, c)) continue;
        for (int r = 0; r < c->nrow; r++)
            add_row(y, is->row[k] + r, w->need[c->row + r], error ? SOFT : HARD, equality);
        if (error) add_row(y, is->row[k], at->gap - gap_of(c), HARD, 0);
    }
}

static rb_status fill(const work *w, const rb_island *is, problem *y)
{
    rb_arena *arena = w->x->d->arena;
    size_t most = 2 * (size_t)is->nrow;
    y->row = rb_push(arena, int, most);
    y->need = rb_push(arena, double, 6 * most);
    if (!y->row || !y->need) return RB_NOMEM;
    y->more = y->need + most;
    y->q = y->more + most;
    y->lo = y->q + most;
    y->hi = y->lo + most;
    y->z = y->hi + most;
    list_rows(w, is, y);
    size_t n = (size_t)y->n;
    y->W = rb_push(arena, double, n *n);
    if (!y->W) return RB_NOMEM;
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++) y->W[i * n + j] = rb_island_entry(is, y->row[i], y->row[j]);
        double *W_ii = &y->W[i * (n + 1)];
        *W_ii = *W_ii > 0.0 ? *W_ii * (1.0 + y->more[i]) : 1.0;
    }
    return RB_OK;
}

static rb_status solve_by(const work *w, const problem *y, const rb_solver *solver, int most,
                          int *solved)
{
    rb_problem p = { .kind = RB_BOX,
                     .n = y->n,
                     .q = y->q,
                     .lo = y->lo,
                     .hi = y->hi,
                     .W = { .form = RB_DENSE, .dense = y->W } };
    rb_solve_opts opts = rb_solve_opts_default();
    rb_info info = { 0 };
    opts.solver = solver;
    opts.max_iter = most;
    opts.unique = 0;
    opts.arena = w->x->d->arena;
    rb_status status = rb_solve(&p, &opts, y->z, &info);
    *solved = status == RB_OK && info.outcome == RB_SOLVED;
    return status;
}

/* Newton's method takes many rows at once, where exchanges would take them one by one. */
static rb_status solve_by_newton(const work *w, const problem *y, int *solved)
{
    rb_arena *arena = w->x->d->arena;
    rb_mixed_result result;
    unsigned char *kind = rb_push(arena, unsigned char, 2 * (size_t)y->n);
    double *trace = rb_push(arena, double, y->n);
    if (!kind || !trace) return RB_NOMEM;
    for (int i = 0; i < y->n; i++) {
        kind[i] = y->lo[i] < 0.0 ? RB_ROW_BILATERAL : RB_ROW_NORMAL;
        trace[i] = TRACE * y->W[(ptrdiff_t)i * (y->n + 1)];
    }
    rb_mixed p = { .n = y->n, .ld = y->n, .W = y->W, .q = y->q, .kind = kind, .compliance = trace };
    rb_status status = rb_mixed_solve(&p, NEWTON_TOL, arena, y->z, kind + y->n, &result);
    *solved = status == RB_OK && result.solved;
    return status;
}

/* Impulses of both rows of an error add up. */
static void take_answer(work *w, const rb_island *is, const problem *y)
{
    for (int i = 0, k = 0; i < y->n; i++) {
        while (k + 1 < is->n && is->row[k + 1] <= y->row[i]) k++;
        w->p[is->c[k]->row + y->row[i] - is->row[k]] += y->z[i];
    }
}

/* p of an island; zero where nothing is asked for, or where a tree of it stays. */
static rb_status solve_island(work *w, int index)
{
    rb_island is;
    problem y;
    int solved = 0;
    rb_arena *arena = w->x->d->arena;
    rb_status status = rb_island_open_with(&w->set, index, 1.0, NULL, arena, &is);
    if (status != RB_OK || !is_wanted(w, &is) || is.nrow > MOST_ROWS) return status;
    status = rb_island_open(w->x->m, w->x->d, &w->set, index, 1.0, arena, &is);
    if (status == RB_OK) status = fill(w, &is, &y);
    if (status != RB_OK || y.n == 0) return status;
    if (y.n > NEWTON_ROWS) status = solve_by_newton(w, &y, &solved);
    if (status == RB_OK && !solved && is.nrow <= DIRECT_ROWS)
        status = solve_by(w, &y, &rb_solver_judice_pires, EXCHANGES, &solved);
    if (status == RB_OK && !solved) {
        memset(y.z, 0, (size_t)y.n * sizeof *y.z);
        status = solve_by(w, &y, &rb_solver_pgs, SWEEPS, &solved);
    }
    if (status == RB_OK) take_answer(w, &is, &y);
    return status;
}

/* dq of all islands. */
static rb_status solve(work *w)
{
    rb_displace *x = w->x;
    memset(w->p, 0, (size_t)w->set.nrow * sizeof *w->p);
    rb_mass(x->m, x->d);
    rb_status status = rb_mass_factor(x->m, x->d);
    for (int i = 0; i < w->set.nisland && status == RB_OK; i++) {
        rb_mark mark = rb_arena_mark(x->d->arena);
        status = solve_island(w, i);
        rb_arena_reset(x->d->arena, mark);
    }
    if (status != RB_OK) return status;
    memset(w->dq, 0, (size_t)x->m->nv * sizeof *w->dq);
    rb_constraints_force(&w->set, w->p, w->dq);
    rb_mass_solve(x->m, x->d, w->dq);
    return RB_OK;
}

/* ---- the place --------------------------------------------------------------------------------
 */

static int tree_of_dof(const rb_model *m, int dof)
{
    return m->link_tree[m->dof_link[dof]];
}

static void move(work *w)
{
    const rb_model *m = w->x->m;
    for (int j = 0; j < m->nv; j++) {
        double most = is_linear(m, j) ? w->x->size : 1.0;
        if (fabs(w->dq[j]) <= most) continue;
        w->fixed[tree_of_dof(m, j)] = 1; /* rows say nothing there */
        w->has_moved = 1;
    }
    for (int j = 0; j < m->nv; j++) {
        if (w->fixed[tree_of_dof(m, j)]) w->dq[j] = 0.0;
    }
    rb_integrate(m, w->x->d->q, w->dq, 1.0, w->x->d->q);
    look(w);
}

/* Coordinates of trees that stay are those of the beginning. */
static void take_back(work *w)
{
    const rb_model *m = w->x->m;
    for (int j = 0; j < m->njnt; j++) {
        int from = m->jnt_qadr[j], to = j + 1 < m->njnt ? m->jnt_qadr[j + 1] : m->nq;
        if (!w->fixed[m->link_tree[m->jnt_link[j]]]) continue;
        memcpy(w->x->d->q + from, w->q + from, (size_t)(to - from) * sizeof *w->q);
    }
    look(w);
}

/* Trees of a constraint that came deeper than it was, or of a loop that opened. */
static int is_worse(const work *w, const rb_constraint *c)
{
    const rb_displace *x = w->x;
    if (c->kind == RB_CONSTRAINT_EQUALITY) {
        double allowed = 2.0 * LOOP_OPEN * x->size;
        for (int r = 0; r < c->nrow && !x->close_loops; r++) {
            if (fabs(w->need[c->row + r]) > allowed) return 1;
        }
        return 0;
    }
    const origin *at = find(w, &c->id);
    if (at && at->gap < 0.0) return gap_of(c) < at->gap - 0.05 * x->deep;
    return gap_of(c) < -x->deep;
}

static int mark_deepened(work *w)
{
    const rb_model *m = w->x->m;
    int any = 0;
    for (int i = 0; i < w->set.n; i++) {
        const rb_constraint *c = &w->set.c[i];
        if (!is_worse(w, c)) continue;
        for (int k = 0; k < c->ndof; k++) {
            int tree = tree_of_dof(m, w->set.dof[c->dof + k]);
            any |= !w->fixed[tree];
            w->fixed[tree] = 1;
        }
    }
    return any;
}

/* Where trees stay, others may come deeper because of that: at last all stay. */
static rb_status hold_deepened(work *w)
{
    rb_status status = RB_OK;
    if (w->has_moved) {
        take_back(w);
        status = take_rows(w, 0);
    }
    for (int k = 0; k <= KEEP_ROUNDS && status == RB_OK && mark_deepened(w); k++) {
        if (k == KEEP_ROUNDS) memset(w->fixed, 1, (size_t)w->x->m->ntree);
        take_back(w);
        status = take_rows(w, 0);
    }
    return status;
}

/* Nothing is left to do, or nothing is gained where nothing got worse. */
static int ends(const work *w, double last)
{
    double done = 0.01 * w->x->deep;
    return w->worst <= done || (w->hard <= done && w->worst > 0.9 * last);
}

static rb_status run(work *w)
{
    rb_displace *x = w->x;
    double last = INFINITY;
    look(w);
    w->reach = x->reach;
    rb_status status = take_rows(w, 1);
    for (x->rounds = 0; status == RB_OK && x->rounds < x->max_rounds && !ends(w, last);
         x->rounds++) {
        last = w->worst;
        status = solve(w);
        if (status != RB_OK) break;
        move(w);
        status = take_rows(w, 0);
    }
    if (status == RB_OK) status = hold_deepened(w);
    x->moved = memcmp(w->q, x->d->q, (size_t)x->m->nq * sizeof *w->q) != 0;
    return status;
}

rb_status rb_displace_run(rb_displace *x)
{
    rb_arena *arena = x->d->arena;
    rb_mark mark = rb_arena_mark(arena);
    work w = { .x = x };
    w.q = rb_push(arena, double, x->m->nq);
    w.dq = rb_push(arena, double, x->m->nv);
    w.contacts = rb_push(arena, rb_contact, x->d->touch_max);
    w.fixed = rb_push(arena, unsigned char, x->m->ntree);
    rb_status status = RB_NOMEM;
    if (w.q && w.dq && w.contacts && w.fixed) {
        memcpy(w.q, x->d->q, (size_t)x->m->nq * sizeof *w.q);
        memset(w.fixed, 0, (size_t)x->m->ntree);
        status = run(&w);
        if (status != RB_OK) memcpy(x->d->q, w.q, (size_t)x->m->nq * sizeof *w.q);
    }
    rb_arena_reset(arena, mark);
    return status;
}
