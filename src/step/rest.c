/* Rest: an island gets v+ = 0 if, and only if, v = 0 is certified to solve the step.
 *
 * With impulses p inside their cones, v = 0 leaves a velocity v = v_free + M^-1 J' p. It counts as
 * zero where it is no more than the rounding of impulses that balance each other, in the energy of
 * each tree:
 *
 *     v'Mv <= RB_REST_DEFECT^2 sum_j s_j^2 / M_jj,    s = |M v_free| + |J|' |p|              (S.22)
 *
 * There is no threshold of speed: a body that slides by 1e-6 of its weight is far outside.
 *
 * Three sets of impulses are tried: those of the step before, where the island was at rest
 * already, so that it is not solved again; those of the complementarity problem; and those nearest
 * to them that balance the forces. The last ones matter where a light body carries a heavy one. W
 * then says little about the heavy body, but J' p = -M v_free has no masses on its left. */
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/constants.h"
#include "base/pieces.h"
#include "math/dense.h"
#include "math/vec3.h"
#include "solve/cone_crowd.h"
#include "step/balance.h"
#include "step/problems.h"
#include "step/rest.h"
#include "step/rows.h"
#include "step/touch.h"

/* Defect of v = 0, as RB_REST_DEFECT, below which a search for impulses that balance better begins,
 * and its part in units of the residual of the step [1]: the larger of both counts. They must lie
 * in their cones, so that a larger value costs time only. */
#define REST_NEAR     1e-7
#define REST_RESIDUAL 10.0

enum {
    FEW_ENTRIES = 60, /* of M: that of ten links in a chain                                */
    NOW_AND_THEN = 16 /* steps between searches for rest, where they cost more than a step    */
};

typedef struct rest {
    rb_stage *s;
    double *v;                 /* M^-1 J'p + v_free                                    (nv)     */
    double *defect;            /* M v                                                  (nv)     */
    double *push;              /* s of (S.22)                                           (nv)     */
    double *energy, *rounding; /* both sides of (S.22)                                  (ntree)  */
    double *p;                 /* impulses on trial                                    (nrow)   */
} rest;

static int tree_of(const rb_model *m, int dof)
{
    return m->link_tree[m->dof_link[dof]];
}

static rb_status take_memory(rb_stage *s, rest *x)
{
    const rb_model *m = s->m;
    rb_arena *arena = s->d->arena;
    double **of_v[] = { &x->v, &x->defect, &x->push }, **of_tree[] = { &x->energy, &x->rounding };
    *x = (rest){ .s = s };
    x->p = rb_push(arena, double, s->set.nrow);
    int ok =
        x->p && rb_push_rows(arena, of_v, 3, m->nv) && rb_push_rows(arena, of_tree, 2, m->ntree);
    return ok ? RB_OK : RB_NOMEM;
}

/* ---- the defect of v = 0 ----------------------------------------------------------------------
 */

/* One plain contact: its rows in their order, each dof once. */
static void add_three(const double *J, const double *p, int ndof, const int *dof, double *push)
{
    double a = fabs(p[0]), b = fabs(p[1]), c = fabs(p[2]);
    if (a == 0.0 && b == 0.0 && c == 0.0) return;
    for (int k = 0; k < ndof; k++) {
        double sum = push[dof[k]] + fabs(J[k]) * a;
        sum += fabs(J[ndof + k]) * b;
        push[dof[k]] = sum + fabs(J[2 * ndof + k]) * c;
    }
}

/* push += |J|' |p| */
static void add_sizes(const rb_constraints *set, const double *p, double *push)
{
    for (int i = 0; i < set->n; i++) {
        const rb_constraint *c = &set->c[i];
        const int *dof = set->dof + c->dof;
        const double *J = set->J + c->block, *P = p + c->row;
        if (c->nrow == 3) {
            add_three(J, P, c->ndof, dof, push);
            continue;
        }
        for (int r = 0; r < c->nrow; r++, J += c->ndof) {
            double size = fabs(P[r]);
            if (size == 0.0) continue;
            for (int k = 0; k < c->ndof; k++) push[dof[k]] += fabs(J[k]) * size;
        }
    }
}

/* v = v_free + M^-1 J'p */
static void push(rest *x, const double *p)
{
    rb_stage *s = x->s;
    memset(x->v, 0, (size_t)s->m->nv * sizeof *x->v);
    rb_constraints_force(&s->set, p, x->v);
    rb_mass_solve(s->m, s->d, x->v);
    for (int j = 0; j < s->m->nv; j++) x->v[j] += s->smooth.v[j];
}

/* Both sides of (S.22), for all trees at once; v is that of p. */
static void measure(rest *x, const double *p)
{
    rb_stage *s = x->s;
    const rb_model *m = s->m;
    rb_mass_multiply(m, s->d, s->smooth.v, x->push);
    for (int j = 0; j < m->nv; j++) x->push[j] = fabs(x->push[j]);
    add_sizes(&s->set, p, x->push);
    rb_mass_multiply(m, s->d, x->v, x->defect);
    memset(x->energy, 0, (size_t)m->ntree * sizeof *x->energy);
    memset(x->rounding, 0, (size_t)m->ntree * sizeof *x->rounding);
    for (int j = 0; j < m->nv; j++) {
        int tree = tree_of(m, j);
        x->energy[tree] += x->v[j] * x->defect[j];
        x->rounding[tree] += x->push[j] * x->push[j] / s->d->M[m->dof_Madr[j]];
    }
}

/* Largest defect of a tree of the island, relative to what acts on it [1]. */
static double defect_of(const rest *x, int island)
{
    const rb_constraints *set = &x->s->set;
    double worst = 0.0;
    for (int i = set->island_start[island]; i < set->island_start[island + 1]; i++) {
        const rb_constraint *c = &set->c[set->island_order[i]];
        for (int k = 0; k < c->ndof; k++) {
            int tree = tree_of(x->s->m, set->dof[c->dof + k]);
            if (x->energy[tree] > worst * worst * x->rounding[tree])
                worst = sqrt(x->energy[tree] / x->rounding[tree]);
        }
    }
    return worst;
}

/* ---- may it rest ------------------------------------------------------------------------------
 */

static int is_pushed(const rb_constraint *c, const double *p)
{
    for (int r = 0; r < c->nrow; r++) {
        if (p[r] != 0.0) return 1;
    }
    return 0;
}

/* Nothing that the caller moves drags at it, rows that push are closed, and no gap asks for
 * motion. A surface that moves below a sliding contact changes nothing: v = 0 is an answer like
 * any other. */
static int may_rest(const rb_stage *s, const rb_constraint *c, const double *p)
{
    const double *drive = s->set.drive + c->row, *error = s->set.error + c->row;
    double zero = RB_GAP_ZERO * s->given->size;
    int slides = c->kind == RB_CONSTRAINT_CONTACT && s->answer.mode[c - s->set.c] == RB_MODE_SLIDE;
    for (int r = 0; r < c->nrow; r++) {
        int runs = slides && (r == 1 || r == 2);
        if ((drive[r] != 0.0 && !runs) || fabs(error[r]) > zero) return 0;
    }
    if (c->kind > RB_CONSTRAINT_LIMIT) return 1;
    if (s->problem.bias[c->row] < 0.0) return 0;
    return c->gap <= rb_stage_closed(s, c) || !is_pushed(c, p);
}

static int island_may_rest(const rb_stage *s, int island, const double *p)
{
    for (int i = s->set.island_start[island]; i < s->set.island_start[island + 1]; i++) {
        const rb_constraint *c = &s->set.c[s->set.island_order[i]];
        if (!may_rest(s, c, p + c->row)) return 0;
    }
    return 1;
}

/* Twice the energy of the centre of mass of a link that nothing carries. */
static double first_energy(const rest *x, int k)
{
    const rb_model *m = x->s->m;
    const rb_data *d = x->s->d;
    double w[3] = { 0.0 }, v[3] = { 0.0 }, turn[3];
    for (int j = m->link_dofadr[k]; j < m->link_dofadr[k] + m->link_dofnum[k]; j++) {
        rb_axpy3(x->v[j], d->dof_S + 6 * (ptrdiff_t)j, w);
        rb_axpy3(x->v[j], d->dof_S + 6 * (ptrdiff_t)j + 3, v);
    }
    rb_cross3(w, d->link_c + 3 * (ptrdiff_t)k, turn);
    rb_add3(v, turn, v);
    return m->link_mass[k] * rb_dot3(v, v);
}

/* The same of any link at the velocities of d. */
static double com_energy(const rb_model *m, const rb_data *d, int k)
{
    double v[3];
    rb_cross3(d->link_w + 3 * (ptrdiff_t)k, d->link_c + 3 * (ptrdiff_t)k, v);
    rb_add3(d->link_v + 3 * (ptrdiff_t)k, v, v);
    return m->link_mass[k] * rb_dot3(v, v);
}

/* Defect up to which impulses are worth to be balanced better [1]. */
static double nearly(const rb_stage *s)
{
    return fmax(REST_NEAR, REST_RESIDUAL * s->attempt.tol);
}

/* Islands whose defect is above that for sure, found without a product with M: the energy
 * of a tree is at least that of one of its links, and its rounding (S.22) at most
 *
 *     2 n (sum_j |v_free,j| sqrt(M_jj))^2 + 2 sum_j (|J|'|p|)_j^2 / M_jj
 *
 * because (M v)_j^2 <= M_jj v'Mv. energy, rounding, push are scratch here. */
static void find_moving(rest *x, unsigned char *moves)
{
    const rb_stage *s = x->s;
    double near = nearly(s);
    const rb_model *m = s->m;
    double *speed = x->energy, *force = x->rounding;
    memset(x->push, 0, (size_t)m->nv * sizeof *x->push);
    memset(speed, 0, (size_t)m->ntree * sizeof *speed);
    memset(force, 0, (size_t)m->ntree * sizeof *force);
    memset(moves, 0, (size_t)s->set.nisland);
    add_sizes(&s->set, s->answer.p, x->push);
    for (int j = 0; j < m->nv; j++) {
        double M_jj = s->d->M[m->dof_Madr[j]];
        speed[tree_of(m, j)] += fabs(s->smooth.v[j]) * sqrt(M_jj);
        force[tree_of(m, j)] += x->push[j] * x->push[j] / M_jj;
    }
    int chains = m->nlink - 1 > m->ntree;
    for (int first = 1, left = 1; first >= !chains && left; first--) {
        left = 0;
        if (!first) {
            memcpy(s->d->v, x->v, (size_t)m->nv * sizeof *x->v);
            rb_velocity(m, s->d);
        }
        for (int k = 1; k < m->nlink; k++) {
            int tree = m->link_tree[k], island = tree >= 0 ? s->set.tree_island[tree] : -1;
            if (island < 0 || moves[island]) continue;
            left = 1;
            if (first && m->link_tree[m->link_parent[k]] == tree) continue;
            double most = 2.0 * (m->nv * speed[tree] * speed[tree] + force[tree]);
            double energy = first ? first_energy(x, k) : com_energy(m, s->d, k);
            moves[island] = energy > 2.0 * near * near * most;
        }
    }
}

/* An island that is not known to rest already, or to move, may. Products with a small M cost less
 * than finding out who moves. */
static int any_may_rest(rest *x, unsigned char *moves)
{
    const rb_stage *s = x->s;
    int any = 0;
    for (int i = 0; i < s->set.nisland && !any; i++)
        any = !s->answer.still[i] && island_may_rest(s, i, s->answer.p);
    if (!any || s->m->nM <= FEW_ENTRIES) return any;
    find_moving(x, moves);
    for (int i = 0; i < s->set.nisland; i++) {
        if (!s->answer.still[i] && !moves[i] && island_may_rest(s, i, s->answer.p)) return 1;
    }
    return 0;
}

/* A contact of a body at rest sticks, however near its impulse is to the edge of the cone, unless
 * it is held against a moving surface. */
static void set_sticking(rb_stage *s, const rb_constraint *c)
{
    const double *drive = s->set.drive + c->row;
    int runs = c->nrow >= 3 && (drive[1] != 0.0 || drive[2] != 0.0);
    unsigned char *mode = &s->answer.mode[c - s->set.c];
    if (*mode == RB_MODE_SLIDE && !runs) *mode = RB_MODE_STICK;
}

static void set_resting(rb_stage *s, int island)
{
    s->answer.still[island] = 1;
    s->info->resting++;
    for (int i = s->set.island_start[island]; i < s->set.island_start[island + 1]; i++) {
        const rb_constraint *c = &s->set.c[s->set.island_order[i]];
        set_sticking(s, c);
        for (int k = 0; k < c->ndof; k++)
            s->answer.resting[tree_of(s->m, s->set.dof[c->dof + k])] = 1;
    }
}

/* ---- impulses of the step before --------------------------------------------------------------
 */

/* The constraint as it was, and its trees stood still, in the round before a repair as well. */
static int rested_before(const rb_stage *s, const rb_constraint *c, const rb_touch *touch)
{
    if (!touch || touch->nrow != c->nrow || touch->mode == RB_MODE_SLIDE) return 0;
    for (int k = 0; k < c->ndof; k++) {
        int dof = s->set.dof[c->dof + k];
        if (s->start.v[dof] != 0.0 || (s->problem.v && s->problem.v[dof] != 0.0)) return 0;
    }
    if (c->kind != RB_CONSTRAINT_CONTACT) return 1;
    return memcmp(touch->frame, s->set.frame + 9 * c->object, sizeof touch->frame) == 0;
}

/* Takes p and mode of the step before where the island stood and its cones hold them still: what
 * weight asks for goes with the length of the step, or of its part. */
static int recall(rb_stage *s, int island)
{
    double scale = s->d->touch_h > 0.0 ? s->h / s->d->touch_h : 1.0;
    for (int i = s->set.island_start[island]; i < s->set.island_start[island + 1]; i++) {
        int at = s->set.island_order[i];
        const rb_constraint *c = &s->set.c[at];
        const rb_touch *touch = rb_touch_find(s->d, &c->id);
        if (!rested_before(s, c, touch)) return 0;
        for (int r = 0; r < c->nrow; r++) s->answer.p[c->row + r] = scale * touch->p[r];
        if (!rb_constraint_holds(c, s->answer.p + c->row)) return 0;
        s->answer.mode[at] = (unsigned char)touch->mode;
    }
    return 1;
}

static void forget(rb_stage *s, int island)
{
    for (int i = s->set.island_start[island]; i < s->set.island_start[island + 1]; i++) {
        int at = s->set.island_order[i];
        const rb_constraint *c = &s->set.c[at];
        memset(s->answer.p + c->row, 0, (size_t)c->nrow * sizeof *s->answer.p);
        s->answer.mode[at] = RB_MODE_OPEN;
    }
}

rb_status rb_stage_rest_on(rb_stage *s)
{
    rest x;
    int any = 0;
    s->answer.still = rb_push(s->d->arena, unsigned char, s->set.nisland);
    if (!s->answer.still) return RB_NOMEM;
    memset(s->answer.still, 0, (size_t)s->set.nisland);
    memset(s->answer.resting, 0, (size_t)s->m->ntree);
    s->info->resting = 0;
    int ahead = s->problem.v && !s->attempt.last_p;
    if (ahead || s->o->cold || s->o->sink.take || s->o->formulation->kind != RB_CONE) return RB_OK;
    for (int i = 0; i < s->set.nisland; i++) {
        s->answer.still[i] = (unsigned char)(recall(s, i) && island_may_rest(s, i, s->answer.p));
        if (!s->answer.still[i]) forget(s, i);
        any |= s->answer.still[i];
    }
    if (!any) return RB_OK;

    rb_mark mark = rb_arena_mark(s->d->arena);
    rb_status status = take_memory(s, &x);
    if (status != RB_OK) return status;
    push(&x, s->answer.p);
    measure(&x, s->answer.p);
    for (int i = 0; i < s->set.nisland; i++) {
        if (!s->answer.still[i]) continue;
        double defect = defect_of(&x, i);
        s->answer.still[i] = 0;
        if (defect <= RB_REST_DEFECT) {
            set_resting(s, i);
            s->info->residual = fmax(s->info->residual, defect);
        } else {
            forget(s, i);
        }
    }
    rb_arena_reset(s->d->arena, mark);
    return RB_OK;
}

static int island_holds(const rb_stage *s, int island, const double *p)
{
    for (int i = s->set.island_start[island]; i < s->set.island_start[island + 1]; i++) {
        const rb_constraint *c = &s->set.c[s->set.island_order[i]];
        if (!rb_constraint_holds(c, p + c->row)) return 0;
    }
    return 1;
}

static void take_impulses(rb_stage *s, int island, const double *p)
{
    for (int i = s->set.island_start[island]; i < s->set.island_start[island + 1]; i++) {
        const rb_constraint *c = &s->set.c[s->set.island_order[i]];
        memcpy(s->answer.p + c->row, p + c->row, (size_t)c->nrow * sizeof *p);
    }
}

/* ---- after the solve --------------------------------------------------------------------------
 */

/* Islands that rest with what the problem returned; those that nearly do are wanted. */
static int judge(rest *x, unsigned char *wanted)
{
    rb_stage *s = x->s;
    int any = 0;
    for (int i = 0; i < s->set.nisland; i++) {
        wanted[i] = 0;
        if (s->answer.still[i] || !island_may_rest(s, i, s->answer.p)) continue;
        double defect = defect_of(x, i);
        if (defect <= RB_REST_DEFECT)
            set_resting(s, i);
        else
            wanted[i] = defect <= nearly(s) && s->o->formulation->kind == RB_CONE;
        any |= wanted[i];
    }
    return any;
}

/* What counts is the certificate of the impulses that were taken. */
static void report_residual(rb_stage *s)
{
    if (!s->answer.residual) return;
    s->info->residual = s->answer.residual_before;
    for (int i = 0; i < s->set.nisland; i++)
        s->info->residual = fmax(s->info->residual, s->answer.residual[i]);
}

static rb_status judge_balanced(rest *x, const unsigned char *wanted)
{
    rb_stage *s = x->s;
    rb_unbalanced forces = { wanted, x->push, x->rounding, x->defect };
    rb_status status = rb_stage_balance(s, &forces, x->p);
    if (status != RB_OK) return status;
    push(x, x->p);
    measure(x, x->p);
    for (int i = 0; i < s->set.nisland; i++) {
        double defect = wanted[i] && island_holds(s, i, x->p) ? defect_of(x, i) : INFINITY;
        if (defect > RB_REST_DEFECT) continue;
        take_impulses(s, i, x->p);
        set_resting(s, i);
        if (s->answer.residual) s->answer.residual[i] = defect;
    }
    report_residual(s);
    return RB_OK;
}

int rb_stage_rest_is_due(const rb_stage *s, int island)
{
    int n = s->set.island_start[island + 1] - s->set.island_start[island];
    double steps = s->start.time / s->given->h + 0.5;
    int now = steps < 1e9 && (int)steps % NOW_AND_THEN == 0;
    return n < RB_CROWD_LEAST || now;
}

/* A search for the last digits of a large island takes longer than the steps that it would save. */
static int may_refine(const rb_stage *s, int island)
{
    int n = s->set.island_start[island + 1] - s->set.island_start[island];
    return n <= RB_UNIQUE_CONTACTS && rb_stage_rest_is_due(s, island);
}

/* A residual of less than `strict` leaves impulses that slide where they were found: those of
 * small islands that nearly rest are found again with it, and judged so. */
static rb_status judge_refined(rest *x, unsigned char *wanted)
{
    rb_stage *s = x->s;
    int any = 0, near_miss = s->attempt.near_miss;
    double tol = s->attempt.tol, loose = s->attempt.loose;
    rb_step_info told = *s->info;
    unsigned char *mode = rb_push(s->d->arena, unsigned char, s->set.n);
    if (!mode) return RB_NOMEM;
    for (int i = 0; i < s->set.nisland; i++) {
        wanted[i] = wanted[i] && !s->answer.still[i] && may_refine(s, i);
        any |= wanted[i];
        wanted[i] = !wanted[i]; /* what is not to be solved */
    }
    if (!any || tol <= RB_TOL_STRICT) return RB_OK;
    memcpy(mode, s->answer.mode, (size_t)s->set.n);
    memcpy(x->p, s->answer.p, (size_t)s->set.nrow * sizeof *x->p);
    s->attempt.tol = s->attempt.loose = RB_TOL_STRICT;
    rb_status status = rb_stage_solve_others(s, wanted);
    s->attempt.tol = tol;
    s->attempt.loose = loose;
    s->attempt.near_miss = near_miss;
    if (status == RB_UNSOLVED) { /* what was found before will do */
        memcpy(s->answer.mode, mode, (size_t)s->set.n);
        memcpy(s->answer.p, x->p, (size_t)s->set.nrow * sizeof *x->p);
        *s->info = told;
        return RB_OK;
    }
    if (status != RB_OK) return status;
    push(x, s->answer.p);
    memcpy(s->answer.v, x->v, (size_t)s->m->nv * sizeof *x->v);
    measure(x, s->answer.p);
    return judge(x, wanted) ? judge_balanced(x, wanted) : RB_OK;
}

rb_status rb_stage_rest(rb_stage *s)
{
    rest x;
    if (s->set.nrow == 0) {
        memcpy(s->answer.v, s->smooth.v, (size_t)s->m->nv * sizeof *s->answer.v);
        return RB_OK;
    }
    rb_mark mark = rb_arena_mark(s->d->arena);
    unsigned char *wanted = rb_push(s->d->arena, unsigned char, s->set.nisland);
    rb_status status = wanted ? take_memory(s, &x) : RB_NOMEM;
    if (status != RB_OK) return status;
    push(&x, s->answer.p);
    memcpy(s->answer.v, x.v, (size_t)s->m->nv * sizeof *x.v);
    int any = any_may_rest(&x, wanted);
    if (any) measure(&x, s->answer.p);
    if (any && judge(&x, wanted)) {
        status = judge_balanced(&x, wanted);
        if (status == RB_OK) status = judge_refined(&x, wanted);
    }
    for (int j = 0; j < s->m->nv; j++) {
        if (s->answer.resting[tree_of(s->m, j)]) s->answer.v[j] = 0.0;
    }
    rb_arena_reset(s->d->arena, mark);
    s->answer.residual = NULL;
    return status;
}
