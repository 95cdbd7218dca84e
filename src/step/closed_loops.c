/* Closes loops within smooth motion. A mechanism that nothing pushes moves by the midpoint rule
 * between two impulses of its loops, one at each end of the step:
 *
 *     v_a = v + M(q)^-1 J(q)' l,      (q+, v_b) = midpoint(q, v_a, h),   error(q+) = g error(q)
 *     v+ = v_b + M(q+)^-1 J(q+)' r,   J(q+) v+ + drive = 0                                   (S.43)
 *
 * with g of (S.38). The rule is the same backwards in time, so that energy neither grows nor
 * shrinks from step to step. Rows that lead to h v+ (S.38) lose some energy in each step. l is
 * found by
 *
 *     l := l - (h W)^-1 (error(q+) - g error(q)),      W = J (M + E)^-1 J' at q              (S.44)
 *
 * with Anderson's acceleration. The step is halved (S.27) where the motion makes or loses more
 * energy than the midpoint rule may:
 *
 *     |1/2 l.(u + u_a) + 1/2 r.(u_b + u+) + 1/2 u'W^-1 u| <= 1e-4 T,     u = J v + drive     (S.46)
 *
 * The last term is energy of velocities that the loops did not allow to begin with. Loops for
 * which the iteration does not converge become rows; loop_rows.c chooses the others. Friction of
 * joints that slide is a force of the motion: joint_friction.c. */
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/constants.h"
#include "base/error.h"
#include "dynamics/forward.h"
#include "dynamics/placed.h"
#include "dynamics/smooth_anderson.h"
#include "step/closure.h"
#include "step/joint_friction.h"
#include "step/stage.h"

/* Velocity left to a row of a loop that is closed, relative to those of its parts [1]. */
#define LOOP_MOVES 1e-10

/* Change of dry friction, of its bound, that is left where a joint reverses, and the share of the
 * change before that it may be (S.50) [1]. GAIN larger: a joint that hardly moves after its
 * reversal costs tens of motions. Smaller: it is left to rows, of first order. */
#define SLIDE_STANDS 1e-9
/* The same where actuators drive the model and accuracy is not strict: that of its rows [1]. */
#define SLIDE_STANDS_DRIVEN 1e-6
#define SLIDE_GAIN          0.25

enum {
    ROUNDS = 16,    /* of (S.44); 3 are usual                   */
    PATIENCE = 5,   /* of them that do not halve what is missed */
    ENOUGH = 2,     /* the same where that may be rounding      */
    REFINEMENTS = 1 /* of the impulse at the end                */
};

typedef struct loops {
    rb_stage *s;
    rb_closure start, end;  /* at q and q+                                                  */
    double *goal, *miss;    /* error(q+): wanted, and beyond that           (start.set.nrow) */
    double *l, *l_step;     /* impulse at the start; its last change        (start.set.nrow) */
    double *u, *u_a;        /* velocity of rows before and after it         (start.set.nrow) */
    double *r, *r_step;     /* impulse at the end; its last change          (end.set.nrow)   */
    double *u_b, *u_new;    /* velocity of rows before and after it         (end.set.nrow)   */
    double *v_a, *v_b, *dv; /* dv = v_b - v_a                               (nv)             */
    double *f, *Mv;         /* scratch                                      (nv)             */
    double *v_before;       /* v_a of the motion that dv is of              (nv)             */
    double *L_stiff;        /* factor of M + E at q                         (nM)             */
    int moved;              /* dv is known                                                  */
    unsigned char *sticks;  /* dry friction holds                           (start.set.n)    */
    double *p;              /* dry friction that slides                     (start.set.nrow) */
    double *slide;          /* the same as a force                          (nv_all)         */
    double *change;         /* of p in the last round, of its bound [1]      (start.set.nisland) */
    int nclosed;            /* rows that are closed; 0: friction that slides is all there is */
    double tol, rough;    /* of a motion: the last one [1]; for what the one before missed [1/m] */
    double least, stands; /* missed closure [m]; change of friction that is left [1]       */
    rb_anderson mixing;
} loops;

static int take_of_rows(rb_arena *arena, const rb_closure *x, double ***of, size_t n)
{
    int ok = 1;
    for (size_t i = 0; i < n; i++) ok = ok && (*of[i] = rb_push(arena, double, x->set.nrow));
    return ok;
}

/* ---- the start --------------------------------------------------------------------------------
 */

/* Nothing of the island moves before the step. */
static int rested_before(const loops *x, int island)
{
    const rb_model *m = x->s->m;
    for (int j = 0; j < m->nv; j++) {
        int tree = m->link_tree[m->dof_link[j]];
        if (x->start.set.tree_island[tree] == island && x->s->v0[j] != 0.0) return 0;
    }
    return 1;
}

/* The island stands, and its loops were rows in the step before, by which it may rest. */
static int rests_by_rows(const loops *x, int island)
{
    const rb_constraints *set = &x->start.set;
    int rows = 0;
    for (int i = set->island_start[island]; i < set->island_start[island + 1]; i++) {
        const rb_constraint *c = &set->c[set->island_order[i]];
        const rb_touch *touch = rb_touch_find(x->s->d, &c->id);
        rows |= c->kind == RB_CONSTRAINT_EQUALITY && touch && touch->frame[RB_LOOP_ROWS] == 0.0;
    }
    return rows && rested_before(x, island);
}

/* Friction holds a body at rest by the rows, and a free body that sticks. */
static int sticks_by_rows(const loops *x, int island)
{
    const rb_constraints *set = &x->start.set;
    int stands = rested_before(x, island);
    for (int i = set->island_start[island]; i < set->island_start[island + 1]; i++) {
        int at = set->island_order[i];
        if (x->sticks[at] && (stands || !rb_joint_friction_may_hold(x->s, &set->c[at]))) return 1;
    }
    return 0;
}

/* Loops that are open are closed by rows. */
static int is_wanted(const loops *x, int island)
{
    const rb_stage *s = x->s;
    const rb_constraints *set = &x->start.set;
    int closes = 0;
    if (rests_by_rows(x, island) || sticks_by_rows(x, island)) return 0;
    for (int i = set->island_start[island]; i < set->island_start[island + 1]; i++) {
        const rb_constraint *c = &set->c[set->island_order[i]];
        for (int k = 0; k < c->ndof; k++) {
            int link = s->m->dof_link[set->dof[c->dof + k]];
            if (s->loop_rows[s->m->link_tree[link]]) return 0;
        }
        closes |= c->kind == RB_CONSTRAINT_EQUALITY || c->kind == RB_CONSTRAINT_DRY;
        for (int r = c->row; r < c->row + c->nrow; r++) {
            if (!(fabs(set->error[r]) <= fmax(RB_LOOP_CLOSED * s->size, 10.0 * s->open_most)))
                return 0;
        }
    }
    return closes;
}

static void mark_trees(const loops *x, int island, unsigned char *mark, unsigned char value)
{
    for (int tree = 0; tree < x->s->m->ntree; tree++) {
        if (x->start.set.tree_island[tree] == island) mark[tree] = value;
    }
}

/* What it was in the step before, if that was as long and closed it; NULL: not known. */
static const rb_touch *touch_before(const rb_stage *s, const rb_constraint *c)
{
    const rb_touch *touch = s->o->cold ? NULL : rb_touch_find(s->d, &c->id);
    int known = touch && touch->nrow == c->nrow && touch->frame[RB_LOOP_ROWS] == s->h;
    return known ? touch : NULL;
}

/* goal, and l as the steps before lead to. */
static void guess(loops *x)
{
    const rb_constraints *set = &x->start.set;
    memset(x->l, 0, (size_t)set->nrow * sizeof *x->l);
    for (int i = 0; i < set->n; i++) {
        const rb_constraint *c = &set->c[i];
        if (!rb_closure_is_closed(&x->start, c)) continue;
        for (int r = c->row; r < c->row + c->nrow; r++)
            x->goal[r] = (1.0 - rb_stage_loop_share(x->s)) * set->error[r];
        if (c->kind == RB_CONSTRAINT_DRY) x->goal[c->row] = rb_joint_friction_goal(x->s, c);
        const rb_touch *touch = touch_before(x->s, c);
        if (touch) memcpy(x->l + c->row, touch->frame, (size_t)c->nrow * sizeof *x->l);
    }
}

static rb_status keep_factor(loops *x)
{
    const rb_data *d = x->s->d;
    size_t n = (size_t)x->s->m->nM;
    x->L_stiff = rb_push(d->arena, double, n);
    if (!x->L_stiff) return RB_NOMEM;
    memcpy(x->L_stiff, d->L, n * sizeof *d->L);
    return RB_OK;
}

/* Factors the wanted islands, with what is stiff in M; the factor of M alone is left. Friction that
 * slides needs neither. */
static rb_status close_islands(loops *x, int *any)
{
    rb_stage *s = x->s;
    rb_status status = RB_OK;
    *any = 0;
    for (int i = 0; i < x->start.set.nisland && status == RB_OK; i++) {
        if (!is_wanted(x, i)) continue;
        rb_joint_friction_begin(&x->start.set, x->sticks, i, x->u, x->p);
        int rows = rb_closure_row_count(&x->start, i);
        if (rows > 0 && x->nclosed == 0) status = rb_stage_factor(s, NULL);
        if (status == RB_OK) status = rb_closure_factor(s, &x->start, i, RB_LOOP_RANK_TOL);
        if (status == RB_OK && rows > 0 && x->nclosed == 0) status = keep_factor(x);
        x->nclosed += rows;
        mark_trees(x, i, s->closed, RB_CLOSED);
        *any = 1;
    }
    return status == RB_OK && x->nclosed > 0 ? rb_mass_factor(s->m, s->d) : status;
}

/* Which joints stick. Sliding joints have no friction yet. */
static int take_friction(loops *x)
{
    const rb_constraints *set = &x->start.set;
    rb_arena *arena = x->s->d->arena;
    double **of_row[] = { &x->u, &x->p };
    x->slide = rb_push(arena, double, x->s->m->nv_all);
    x->change = rb_push(arena, double, set->nisland);
    x->start.sticks = x->sticks = rb_push(arena, unsigned char, set->n);
    if (!take_of_rows(arena, &x->start, of_row, 2) || !x->slide || !x->change || !x->sticks)
        return 0;
    for (int i = 0; i < set->n; i++) {
        const rb_constraint *c = &set->c[i];
        x->sticks[i] = c->kind == RB_CONSTRAINT_DRY && rb_joint_friction_sticks(x->s, c);
    }
    memset(x->p, 0, (size_t)set->nrow * sizeof *x->p);
    for (int i = 0; i < set->nisland; i++) x->change[i] = INFINITY;
    rb_constraints_velocity(set, x->s->v0, x->u);
    return 1;
}

/* any: there is an island to close. */
static rb_status begin(loops *x, int *any)
{
    rb_stage *s = x->s;
    rb_arena *arena = s->d->arena;
    *any = 0;
    rb_placed_links(s->m, s->d);
    rb_status status = rb_closure_open(s, &x->start);
    if (status == RB_OK && !take_friction(x)) status = RB_NOMEM;
    if (status == RB_OK) status = close_islands(x, any);
    if (status != RB_OK || !*any) return status;
    double **of_row[] = { &x->goal, &x->miss, &x->l, &x->l_step, &x->u_a };
    double **of_v[] = { &x->v_a, &x->v_b, &x->dv, &x->f, &x->Mv, &x->v_before };
    int ok = take_of_rows(arena, &x->start, of_row, sizeof of_row / sizeof *of_row);
    for (size_t i = 0; i < sizeof of_v / sizeof *of_v; i++)
        ok = ok && (*of_v[i] = rb_push(arena, double, s->m->nv));
    if (!ok || !rb_anderson_push(arena, x->start.set.nrow, &x->mixing)) return RB_NOMEM;
    guess(x);
    return RB_OK;
}

/* ---- the position -----------------------------------------------------------------------------
 */

/* dv as it will be at v_a, to first order of what is stiff,
 *
 *     dv := dv + 2 ((M + E)^-1 M - 1) (v_a - v_before)                                     (S.45)
 */
static void extrapolate(loops *x)
{
    rb_data *d = x->s->d;
    int nv = x->s->m->nv;
    double *L = d->L;
    for (int j = 0; j < nv; j++) x->v_before[j] = x->v_a[j] - x->v_before[j];
    rb_mass_multiply(x->s->m, d, x->v_before, x->f);
    d->L = x->L_stiff;
    rb_mass_solve(x->s->m, d, x->f);
    d->L = L;
    for (int j = 0; j < nv; j++) x->dv[j] += 2.0 * (x->f[j] - x->v_before[j]);
}

/* From q0 with v_a to q+, v_b. */
static rb_status go(loops *x, double tol)
{
    rb_stage *s = x->s;
    size_t bytes = (size_t)s->m->nv * sizeof(double);
    memcpy(x->v_a, s->v0, bytes);
    if (x->nclosed > 0) rb_closure_push(s, &x->start, x->l, x->f, x->v_a);
    rb_stage_restore(s);
    if (x->moved && x->nclosed > 0) extrapolate(x);
    rb_status status = rb_stage_motion_from(s, x->v_a, x->moved ? x->dv : NULL, NULL, tol);
    if (status != RB_OK) return status;
    rb_stage_kinematic_pose(s, s->h);
    memcpy(x->v_before, x->v_a, bytes);
    x->moved = 1;
    memcpy(x->v_b, s->d->v, bytes);
    for (int j = 0; j < s->m->nv; j++) x->dv[j] = x->v_b[j] - x->v_a[j];
    return RB_OK;
}

/* miss at q+, where d is placed, and the largest of it. */
static rb_status look(loops *x, double *worst)
{
    rb_stage *s = x->s;
    rb_rows rows;
    rb_forward_place(s->m, s->d);
    rb_status status = rb_loop_rows(s->m, s->d, &rows);
    if (status != RB_OK) return status;
    *worst = 0.0;
    memset(x->miss, 0, (size_t)x->start.set.nrow * sizeof *x->miss);
    for (int i = 0, at = 0; i < x->start.set.n; i++) {
        const rb_constraint *c = &x->start.set.c[i];
        if (!rb_closure_is_closed(&x->start, c)) continue;
        int dry = c->kind == RB_CONSTRAINT_DRY;
        while (!dry && rows.eq[at] < c->object) at++;
        for (int r = 0; r < c->nrow; r++) {
            double now = dry ? rb_joint_friction_place(s, c, s->d->q) : rows.error[at + r];
            double miss = now - x->goal[c->row + r];
            x->miss[c->row + r] = miss;
            if (!(fabs(miss) <= *worst)) *worst = fabs(miss); /* NaN too */
        }
    }
    rb_rows_release(s->d, &rows);
    return RB_OK;
}

/* RB_UNSOLVED: it does not get there from l. */
static rb_status find_positions(loops *x)
{
    const rb_stage *s = x->s;
    double best = INFINITY, worst = 0.0;
    int stalls = 0, nrow = x->start.set.nrow;
    rb_anderson_reset(&x->mixing);
    for (int round = 0;; round++) {
        rb_status status = go(x, fmax(x->tol, x->rough * worst));
        worst = 0.0;
        if (status == RB_OK && x->nclosed > 0) status = look(x, &worst);
        if (status != RB_OK || worst <= x->least) return status;
        if (round >= ROUNDS || !(worst < INFINITY)) return RB_UNSOLVED;
        int tiny = worst <= RB_LOOP_TINY * s->size;
        if (worst > 0.5 * best && ++stalls > (tiny ? ENOUGH : PATIENCE))
            return tiny ? RB_OK : RB_UNSOLVED; /* rounding, or no way */
        best = fmin(best, worst);
        rb_closure_solve(&x->start, x->miss, x->l_step);
        for (int i = 0; i < nrow; i++) x->l_step[i] /= s->h;
        for (int i = 0; i < nrow; i++) x->l[i] += x->l_step[i];
        rb_anderson_mix(&x->mixing, x->l_step, x->l);
    }
}

/* l: half of the impulse of the step before, found here or by the rows. */
static void recall(loops *x)
{
    const rb_constraints *set = &x->start.set;
    memset(x->l, 0, (size_t)set->nrow * sizeof *x->l);
    for (int i = 0; i < set->n; i++) {
        const rb_constraint *c = &set->c[i];
        const rb_touch *touch = x->s->o->cold ? NULL : rb_touch_find(x->s->d, &c->id);
        if (!touch || touch->nrow != c->nrow || !rb_closure_is_closed(&x->start, c)) continue;
        for (int r = 0; r < c->nrow; r++) x->l[c->row + r] = 0.5 * touch->p[r];
    }
}

/* RB_UNSOLVED: it does not get there. What the steps before lead to may be far off, where the axes
 * of rows are others than before; behind rows nothing is known of them. */
static rb_status close_positions(loops *x)
{
    rb_status status = find_positions(x);
    if (status != RB_UNSOLVED) return status;
    recall(x);
    x->moved = 0;
    return find_positions(x);
}

/* ---- the velocity -----------------------------------------------------------------------------
 */

/* What sticks at the start does so at the end. */
static int find_sticking(loops *x)
{
    unsigned char *sticks = rb_push(x->s->d->arena, unsigned char, x->end.set.n);
    if (!sticks) return 0;
    for (int i = 0; i < x->end.set.n; i++) {
        const rb_constraint *at = rb_stage_find(&x->start.set, &x->end.set.c[i].id);
        sticks[i] = at && x->sticks[at - x->start.set.c];
    }
    x->end.sticks = sticks;
    return 1;
}

/* Rows of the joints of the tree, and of tendons that are sums of them, are the same everywhere. */
static int is_constant(const rb_model *m, const rb_constraint *c)
{
    int t = c->object - m->nv_all;
    if (c->kind != RB_CONSTRAINT_DRY) return 1; /* not looked at beside friction alone */
    return t < 0 ? c->object < m->nv : m->ngauge == 0 && m->tendon_pathnum[t] == 0;
}

static int slide_only(const loops *x)
{
    int alone = x->nclosed == 0;
    for (int i = 0; i < x->start.set.n && alone; i++)
        alone = is_constant(x->s->m, &x->start.set.c[i]);
    return alone;
}

/* Friction that slides has its rows of the start at the end, and nothing to solve there. */
static rb_status take_velocities(loops *x)
{
    double **of_row[] = { &x->u_new };
    x->end.set = x->start.set;
    if (!take_of_rows(x->s->d->arena, &x->end, of_row, 1)) return RB_NOMEM;
    rb_constraints_velocity(&x->end.set, x->v_b, x->u_new);
    return RB_OK;
}

/* Rows at q+, where d is placed. */
static rb_status open_end(loops *x)
{
    rb_stage *s = x->s;
    rb_status status = rb_closure_open(s, &x->end);
    if (status == RB_OK && !find_sticking(x)) status = RB_NOMEM;
    if (status != RB_OK) return status;
    double **of_row[] = { &x->r, &x->r_step, &x->u_b, &x->u_new };
    if (!take_of_rows(s->d->arena, &x->end, of_row, sizeof of_row / sizeof *of_row))
        return RB_NOMEM;
    rb_mass(s->m, s->d);
    status = rb_mass_factor(s->m, s->d);
    for (int i = 0; i < x->end.set.nisland && status == RB_OK; i++) {
        if (s->closed[rb_closure_tree(s, &x->end, i)])
            status = rb_closure_factor(s, &x->end, i, RB_LOOP_RANK_TOL);
    }
    return status;
}

/* From v_b in d->v to v+. RB_UNSOLVED: rows move nevertheless. */
static rb_status close_velocities(loops *x)
{
    rb_stage *s = x->s;
    if (slide_only(x)) return take_velocities(x);
    rb_status status = open_end(x);
    if (status != RB_OK) return status;
    size_t bytes = (size_t)x->end.set.nrow * sizeof(double);
    rb_constraints_velocity(&x->end.set, x->v_b, x->u_b);
    memcpy(x->u_new, x->u_b, bytes);
    memset(x->r, 0, bytes);
    for (int k = 0; k <= REFINEMENTS; k++) {
        rb_closure_solve(&x->end, x->u_new, x->r_step);
        for (int i = 0; i < x->end.set.nrow; i++) x->r[i] += x->r_step[i];
        rb_closure_push(s, &x->end, x->r_step, x->f, s->d->v);
        rb_constraints_velocity(&x->end.set, s->d->v, x->u_new);
    }
    double residual = rb_closure_residual(&x->end, x->v_b, s->d->v, x->u_new);
    if (!(residual <= LOOP_MOVES)) return RB_UNSOLVED;
    s->info->residual = fmax(s->info->residual, residual);
    return RB_OK;
}

/* ---- friction ---------------------------------------------------------------------------------
 */

static int is_taken(const loops *x, int island)
{
    return x->s->closed[rb_closure_tree(x->s, &x->start, island)] != RB_CLOSED_NOT;
}

/* A joint of the island would need more than its friction to stick. */
static int friction_exceeded(const loops *x, int island)
{
    const rb_constraints *set = &x->start.set;
    for (int i = set->island_start[island]; i < set->island_start[island + 1]; i++) {
        const rb_constraint *c = &set->c[set->island_order[i]];
        if (!x->sticks[c - set->c]) continue;
        double p = x->l[c->row] + x->r[rb_stage_find(&x->end.set, &c->id)->row];
        if (!(fabs(p) <= c->bound)) return 1;
    }
    return 0;
}

/* Friction of the motion that was found. again: it was another one. RB_UNSOLVED: it does not
 * converge, and loops have become rows. */
static rb_status reverse_friction(loops *x, int *again)
{
    rb_status status = RB_OK;
    *again = 0;
    for (int i = 0; i < x->start.set.nisland; i++) {
        if (!is_taken(x, i)) continue;
        double change =
            rb_joint_friction_turn(&x->start.set, x->sticks, i, x->u, &x->end.set, x->u_new, x->p);
        int loose = friction_exceeded(x, i);
        if (change <= x->stands && !loose) continue;
        *again = 1;
        if (loose || !(change <= SLIDE_GAIN * x->change[i])) {
            mark_trees(x, i, x->s->loop_rows, 1);
            status = RB_UNSOLVED;
        }
        x->change[i] = change;
    }
    return status;
}

/* Masses of the start, for the impulses there. */
static rb_status go_back(const loops *x)
{
    rb_stage *s = x->s;
    rb_stage_restore(s);
    rb_placed_links(s->m, s->d);
    rb_mass(s->m, s->d);
    return rb_mass_factor(s->m, s->d);
}

/* q+, v+ and friction. RB_UNSOLVED: loops of more trees have become rows. */
static rb_status close_with_friction(loops *x)
{
    rb_stage *s = x->s;
    int again = 1;
    rb_status status = RB_OK;
    s->d->slide = x->slide;
    for (int round = 0; status == RB_OK && again; round++) {
        if (round > 0 && x->nclosed > 0) status = go_back(x);
        rb_joint_friction_force(s, &x->start.set, x->p, x->slide);
        if (status == RB_OK) status = close_positions(x);
        if (status == RB_OK) status = close_velocities(x);
        for (int i = 0; i < x->start.set.nisland && status == RB_UNSOLVED; i++) {
            if (is_taken(x, i)) mark_trees(x, i, s->loop_rows, 1);
        }
        if (status == RB_OK) status = reverse_friction(x, &again);
    }
    s->d->slide = NULL;
    return status;
}

/* ---- rest -------------------------------------------------------------------------------------
 */

/* An island that was at rest and that nothing moves has a velocity that is rounding of the
 * impulses that balance each other, as in (S.19). f = M dv, Mv = M v+. */
static int rests(const loops *x, int island)
{
    const rb_stage *s = x->s;
    const rb_model *m = s->m;
    double energy = 0.0, rounding = 0.0;
    for (int i = 0; i < x->start.of[island].n; i++) {
        int r = x->start.of[island].row[i];
        if (x->start.set.drive[r] != 0.0) return 0;
        if (fabs(x->start.set.error[r]) > RB_GAP_ZERO * s->size) return 0;
    }
    for (int j = 0; j < m->nv; j++) {
        if (x->start.set.tree_island[m->link_tree[m->dof_link[j]]] != island) continue;
        energy += s->d->v[j] * x->Mv[j];
        rounding += x->f[j] * x->f[j] / s->d->M[m->dof_Madr[j]];
    }
    return energy <= RB_REST_DEFECT * RB_REST_DEFECT * rounding;
}

/* d->v is v+ and becomes zero where islands rest; their position is that of the start
 * (new_position.c). RB_UNSOLVED: loops of others that were at rest have become rows, which have
 * more ways to rest. */
static rb_status find_resting(loops *x)
{
    rb_stage *s = x->s;
    const rb_model *m = s->m;
    rb_status status = RB_OK;
    if (x->nclosed == 0) return RB_OK;
    rb_mass_multiply(m, s->d, x->dv, x->f);
    rb_mass_multiply(m, s->d, s->d->v, x->Mv);
    for (int island = 0; island < x->start.set.nisland; island++) {
        if (x->start.of[island].n == 0 || !rested_before(x, island)) continue;
        int rest = rests(x, island);
        mark_trees(x, island, rest ? s->closed : s->loop_rows, rest ? RB_CLOSED_RESTS : 1);
        if (!rest) status = RB_UNSOLVED;
    }
    for (int j = 0; j < m->nv; j++) {
        if (s->closed[m->link_tree[m->dof_link[j]]] == RB_CLOSED_RESTS) s->d->v[j] = 0.0;
    }
    return status;
}

/* ---- energy -----------------------------------------------------------------------------------
 */

/* Parts of the step may do better. */
static int may_shorten(const rb_stage *s)
{
    return !s->final && s->h > RB_LOOP_SHORTEST * s->h_full;
}

/* Work of both impulses on an island. */
static double work(const loops *x, int island)
{
    double sum = rb_closure_work(&x->start, island, x->l, x->u, x->u_a);
    for (int k = 0; k < x->end.set.nisland; k++) {
        if (x->start.set.tree_island[rb_closure_tree(x->s, &x->end, k)] == island)
            sum += rb_closure_work(&x->end, k, x->r, x->u_b, x->u_new);
    }
    return sum;
}

/* Kinetic energy of an island at v_b; Mv = M v_b. */
static double kinetic(const loops *x, int island)
{
    const rb_model *m = x->s->m;
    double twice = 0.0;
    for (int j = 0; j < m->nv; j++) {
        int tree = m->link_tree[m->dof_link[j]];
        if (x->start.set.tree_island[tree] == island) twice += x->v_b[j] * x->Mv[j];
    }
    return 0.5 * twice;
}

/* (S.46). RB_UNSOLVED: the step is too long (too_fast), or loops have become rows. */
static rb_status measure_energy(loops *x, double *made)
{
    rb_stage *s = x->s;
    int shorten = may_shorten(s);
    rb_status status = RB_OK;
    if (x->nclosed == 0) return RB_OK;
    rb_constraints_velocity(&x->start.set, x->v_a, x->u_a);
    rb_mass_multiply(s->m, s->d, x->v_b, x->Mv);
    for (int island = 0; island < x->start.set.nisland; island++) {
        if (x->start.of[island].n == 0 || rested_before(x, island)) continue;
        double sum = work(x, island), most = RB_SMOOTH_ENERGY * kinetic(x, island);
        *made += sum;
        sum += rb_closure_energy(&x->start, island, x->u);
        if ((shorten ? fabs(sum) : sum) <= most) continue;
        if (!shorten) mark_trees(x, island, s->loop_rows, 1);
        s->too_fast |= shorten;
        status = RB_UNSOLVED;
    }
    return status;
}

/* ---- the motion -------------------------------------------------------------------------------
 */

/* The impulse of the step is the sum of both. The next step begins with
 *
 *     l + (p - p_before) / 2,     p = l + r. */
static void report(loops *x)
{
    rb_stage *s = x->s;
    for (int i = 0; i < x->start.set.n; i++) {
        const rb_constraint *c = &x->start.set.c[i];
        if (c->kind == RB_CONSTRAINT_DRY && !x->sticks[i]) x->l[c->row] = x->p[c->row];
        if (!rb_closure_is_closed(&x->start, c)) continue;
        const rb_constraint *end = rb_stage_find(&x->end.set, &c->id);
        const rb_touch *touch = touch_before(s, c);
        for (int r = 0; r < c->nrow; r++) {
            double l = x->l[c->row + r], p = l + x->r[end->row + r];
            x->l[c->row + r] = p;
            x->l_step[c->row + r] = touch ? l + 0.5 * (p - touch->p[r]) : 0.5 * p;
        }
    }
    s->closing = x->start.set;
    s->closing_p = x->l;
    s->closing_next = x->l_step;
    s->closing_sticks = x->sticks;
    s->closing_goal = x->goal;
    s->closing_dv = x->dv;
}

static void ask_for(loops *x)
{
    int driven = rb_stage_is_driven(x->s);
    x->tol = driven ? RB_SMOOTH_TOL_DRIVEN : RB_SMOOTH_TOL;
    x->stands = driven ? SLIDE_STANDS_DRIVEN : SLIDE_STANDS;
    x->rough = driven ? RB_LOOP_ROUGH * x->tol / (RB_LOOP_MISS_DRIVEN * x->s->size) : 0.0;
    x->least = (driven ? RB_LOOP_MISS_DRIVEN : RB_LOOP_MISS) * x->s->size;
}

/* RB_UNSOLVED: loops of more trees have become rows, or the step is too long. */
static rb_status close_motion(rb_stage *s, int *any)
{
    loops x = { .s = s };
    ask_for(&x);
    double residual = s->info->residual;
    rb_status status = begin(&x, any);
    if (status != RB_OK || !*any) return status;
    status = close_with_friction(&x);
    double made = s->energy_made_free;
    if (status == RB_OK) status = find_resting(&x);
    if (status == RB_OK) status = measure_energy(&x, &made);
    if (status != RB_OK) s->info->residual = residual; /* nothing was accepted */
    if (status != RB_OK) return status;
    report(&x);
    rb_stage_take_motion(s, made);
    return RB_OK;
}

static int may_close(const rb_stage *s)
{
    const rb_formulation *f = s->o->formulation;
    return !s->yields && !f->ahead && !f->nonlinear && s->o->scheme != RB_SCHEME_SEMI_IMPLICIT;
}

static int all_loop_rows(const rb_stage *s)
{
    for (int tree = 0; tree < s->m->ntree; tree++) {
        if (!s->loop_rows[tree]) return 0;
    }
    return 1;
}

rb_status rb_stage_close_loops(rb_stage *s, int *any)
{
    rb_status status = RB_UNSOLVED;
    *any = 0;
    s->too_fast = 0;
    if (!may_close(s)) return RB_OK;
    if (all_loop_rows(s)) {
        memset(s->closed, 0, (size_t)s->m->ntree);
        return RB_OK;
    }
    while (status == RB_UNSOLVED && !s->too_fast) {
        rb_mark mark = rb_arena_mark(s->d->arena);
        memset(s->closed, 0, (size_t)s->m->ntree);
        status = close_motion(s, any);
        rb_stage_kinematic_pose(s, 0.0);
        if (status == RB_OK && *any) return RB_OK; /* what was found is in the arena */
        rb_stage_restore(s);
        rb_arena_reset(s->d->arena, mark);
    }
    if (s->too_fast) return rb_fail(s->err, status, "loops make energy: shorten the step");
    return status;
}
