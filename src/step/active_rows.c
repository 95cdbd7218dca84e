/* Solves an island with rows of their own kind: a contact has its normal and tangents, a limit one
 * row, dry friction one bounded row. Rows whose answer can be predicted from the step before are
 * left out of the system (S.30):
 *
 *     dry friction that slid in the step before, and still moves that way:   p = -+ bound
 *     limits and contacts that did not push and would open:                  p = 0
 *
 * Their impulses are a known change of the velocity of the others,
 *
 *     dv = M^-1 J_left' p_left,    u := u + J dv
 *
 * The prediction is checked afterwards. Rows that reverse or would close are added, and the
 * problem is solved again. The answer is that of all rows. */
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "contact/formulations/mixed.h"
#include "math/dense.h"
#include "step/motion.h"
#include "step/problems.h"

enum {
    ROUNDS = 4,   /* after which all rows are in the system                                    */
    FEW_ROWS = 9, /* up to which none is left out                                              */
    FEW_TREES = 8 /* in a model, beyond which products with M cost more than rows              */
};

typedef enum leaving { IN = 0, SLIDES, STAYS_OPEN } leaving;

typedef struct active {
    rb_stage *s;
    const int *order; /* constraints of the island                                  (n)         */
    int n, nrow;
    unsigned char *left; /* leaving                                                 (n)         */
    double *p;           /* impulses of the rows, the island's one after the other  (nrow)      */
    int *row;            /* first row of a constraint in p                          (n)         */
    double *dv;          /* velocity by the impulses that count                     (nv)        */
    double size;         /* |u| of all rows without impulses                                    */
} active;

static const rb_constraint *constraint(const active *x, int i)
{
    return &x->s->set.c[x->order[i]];
}

static rb_status begin(rb_stage *s, int island, rb_arena *arena, active *x)
{
    const rb_constraints *set = &s->set;
    *x = (active){ .s = s, .order = set->island_order + set->island_start[island] };
    x->n = set->island_start[island + 1] - set->island_start[island];
    x->left = rb_push(arena, unsigned char, x->n);
    x->row = rb_push(arena, int, x->n);
    x->dv = rb_push(arena, double, s->m->nv);
    if (!x->left || !x->row || !x->dv) return RB_NOMEM;
    for (int i = 0; i < x->n; i++) {
        x->row[i] = x->nrow;
        x->nrow += constraint(x, i)->nrow;
    }
    size_t rows = (size_t)x->nrow;
    x->p = rb_push(arena, double, rows);
    if (!x->p) return RB_NOMEM;
    double square = 0.0;
    for (int i = 0; i < x->n; i++) {
        const double *u = s->problem.u + constraint(x, i)->row;
        for (int r = 0; r < constraint(x, i)->nrow; r++) square += u[r] * u[r];
    }
    x->size = square > 0.0 ? sqrt(square) : 1.0;
    for (size_t i = 0; i < rows; i++) x->p[i] = 0.0;
    for (int i = 0; i < x->n; i++) x->left[i] = IN;
    return RB_OK;
}

/* ---- products -------------------------------------------------------------------------------- */

/* J_r v of a row of c. */
static double row_velocity(const rb_constraints *set, const rb_constraint *c, int r,
                           const double *v)
{
    const int *dof = set->dof + c->dof;
    const double *J = set->J + c->block + (ptrdiff_t)r * c->ndof;
    double sum = 0.0;
    for (int k = 0; k < c->ndof; k++) sum += J[k] * v[dof[k]];
    return sum;
}

/* dv of the impulses of the constraints that are left, or of all. */
static void push(active *x, int all)
{
    const rb_constraints *set = &x->s->set;
    memset(x->dv, 0, (size_t)x->s->m->nv * sizeof *x->dv);
    for (int i = 0; i < x->n; i++) {
        const rb_constraint *c = constraint(x, i);
        const int *dof = set->dof + c->dof;
        const double *J = set->J + c->block, *p = x->p + x->row[i];
        for (int r = 0; r < c->nrow && (all || x->left[i]); r++, J += c->ndof) {
            if (p[r] == 0.0) continue;
            for (int k = 0; k < c->ndof; k++) x->dv[dof[k]] += J[k] * p[r];
        }
    }
    rb_mass_solve(x->s->m, x->s->d, x->dv);
}

/* ---- who is left out ------------------------------------------------------------------------- */

/* Dry friction goes on as it did. */
static void leave_sliding(active *x)
{
    const rb_stage *s = x->s;
    for (int i = 0; i < x->n; i++) {
        const rb_constraint *c = constraint(x, i);
        unsigned char mode = RB_MODE_UNKNOWN;
        double *p = x->p + x->row[i], u = s->problem.u_before[c->row];
        rb_stage_recall(s, c, p, &mode);
        rb_stage_recall_round(s, c, p);
        if (c->kind != RB_CONSTRAINT_DRY || mode != RB_MODE_SLIDE || !(u * p[0] < 0.0)) continue;
        x->left[i] = SLIDES;
        p[0] = u > 0.0 ? -c->bound : c->bound;
    }
}

/* Limits and contacts that did not push stay open. */
static void leave_open(active *x)
{
    for (int i = 0; i < x->n; i++) {
        const rb_constraint *c = constraint(x, i);
        if (c->kind > RB_CONSTRAINT_LIMIT || x->p[x->row[i]] != 0.0) continue;
        if (x->s->problem.u[c->row] + row_velocity(&x->s->set, c, 0, x->dv) < 0.0) continue;
        x->left[i] = STAYS_OPEN;
        memset(x->p + x->row[i], 0, (size_t)c->nrow * sizeof *x->p);
    }
}

static int may_leave(const active *x)
{
    return x->nrow > FEW_ROWS && x->s->m->ntree <= FEW_TREES;
}

/* Those of the left that the answer contradicts join; how many. */
static int add_violated(active *x)
{
    int called = 0;
    push(x, 1);
    for (int i = 0; i < x->n; i++) {
        const rb_constraint *c = constraint(x, i);
        if (x->left[i] == IN) continue;
        double u = x->s->problem.u[c->row] + row_velocity(&x->s->set, c, 0, x->dv);
        int wrong = x->left[i] == SLIDES ? u * x->p[x->row[i]] > 0.0 : u < 0.0;
        if (!wrong) continue;
        x->left[i] = IN;
        called++;
    }
    return called;
}

/* ---- the system ------------------------------------------------------------------------------ */

/* W of the rows that are in, kept where a chain is solved again and again with the same ones. */
static rb_status open_rows(active *x, int index, rb_arena *arena, rb_island *island)
{
    rb_stage *s = x->s;
    rb_kept *kept = s->problem.kept ? &s->problem.kept[index] : NULL;
    rb_some some = { .W = NULL };
    if (kept && kept->W) {
        size_t n = (size_t)x->n;
        some.W = kept->W;
        some.known = kept->known && kept->some && memcmp(kept->left, x->left, n) == 0;
        memcpy(kept->left, x->left, n);
    }
    rb_status status =
        rb_island_open_some(s->m, s->d, &s->set, index, x->left, s->h, &some, arena, island);
    if (status != RB_OK || !some.W) return status;
    kept->known = kept->some = 1;
    kept->nG = island->nG;
    return status;
}

static void fill(const active *x, rb_island *island)
{
    rb_stage_fill(x->s, island);
    for (int i = 0, at = 0; i < x->n; i++) {
        const rb_constraint *c = constraint(x, i);
        if (x->left[i]) continue;
        double *u = island->u + island->row[at], *guess = island->guess + island->row[at];
        for (int r = 0; r < c->nrow; r++) {
            u[r] += row_velocity(&x->s->set, c, r, x->dv);
            guess[r] = x->p[x->row[i] + r];
        }
        at++;
    }
}

static void read(const active *x, const rb_island *island)
{
    for (int i = 0, at = 0; i < x->n; i++) {
        int nrow = constraint(x, i)->nrow;
        unsigned char *mode = &x->s->answer.mode[x->order[i]];
        if (x->left[i]) {
            *mode = x->left[i] == SLIDES ? RB_MODE_SLIDE : RB_MODE_OPEN;
            continue;
        }
        *mode = island->mode[at];
        memcpy(x->p + x->row[i], island->p + island->row[at], (size_t)nrow * sizeof *x->p);
        at++;
    }
}

/* One answer with the rows that are in. */
static rb_status solve_in(active *x, int index, rb_arena *arena, rb_info *info, int *done)
{
    rb_island island;
    rb_mark mark = rb_arena_mark(arena);
    rb_status status = open_rows(x, index, arena, &island);
    if (status != RB_OK) return status;
    *done = island.nrow == 0;
    if (island.nrow > 0) {
        fill(x, &island);
        island.rough = rb_stage_is_driven(x->s);
        if (rb_mixed_takes(&island))
            status = rb_island_solve_mixed(&island, x->s->attempt.tol, x->size, arena, info, done);
    }
    if (status == RB_OK && *done) read(x, &island);
    rb_arena_reset(arena, mark);
    return status;
}

static void take(const active *x)
{
    for (int i = 0; i < x->n; i++) {
        const rb_constraint *c = constraint(x, i);
        memcpy(x->s->answer.p + c->row, x->p + x->row[i], (size_t)c->nrow * sizeof *x->p);
    }
}

rb_status rb_stage_solve_active(rb_stage *s, int island, rb_arena *arena, rb_info *info, int *rows,
                                int *done)
{
    active x;
    *done = 0;
    rb_mark mark = rb_arena_mark(arena);
    rb_status status = begin(s, island, arena, &x);
    if (status != RB_OK) return status;
    leave_sliding(&x);
    int may = may_leave(&x);
    if (!may) memset(x.left, IN, (size_t)x.n);
    for (int round = 0, again = 1; again && status == RB_OK; round++) {
        memset(x.dv, 0, (size_t)s->m->nv * sizeof *x.dv);
        if (may) push(&x, 0);
        if (may && round == 0) leave_open(&x);
        status = solve_in(&x, island, arena, info, done);
        again = may && status == RB_OK && *done && add_violated(&x) > 0;
        if (again && round >= ROUNDS) {
            memset(x.left, IN, (size_t)x.n);
            may = 0;
        }
    }
    if (status == RB_OK && *done) {
        take(&x);
        *rows = x.nrow;
    }
    rb_arena_reset(arena, mark);
    if (!*done) *info = (rb_info){ .mode = NULL };
    return status;
}
