/* Limits the energy of repairs. Positions follow velocities. A body that turns into another one
 * within a step is pushed out by its velocity, and could gain energy. The first answer of the step
 * had no such push. So a mean of the two is taken that creates no energy:
 *
 *     v+ = (1 - a) v_n + a v_1,    f likewise,    1/2 f.(v+ + v_f) + w <= 0,    least a      (S.35)
 *
 * with f = J'p and w the work of prescribed motion; 1 is the first answer and n the last. This is
 * done for each group of trees that rows of one of the two answers connect. The position is that
 * of the last answer, without overlap. Rows at the middle of the step (S.5) push too, by the bend
 * of the path: there the first answer is that of the rows of the start. Where this would move a
 * body aside by a quarter of its thickness or more, the step is halved instead: the body hits
 * something, and its velocity must show it. */
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/constants.h"
#include "base/error.h"
#include "step/stage.h"

enum { HALVINGS = 52 }; /* of the bracket of a: all digits */

typedef struct repair {
    const rb_stage *s;
    int *group;   /* of a tree: its least tree                         (ntree)                   */
    double *made; /* energy created in it, at its least tree [J]       (ntree)                   */
    double *size; /* of the parts of that sum [J]                      (ntree)                   */
    double *work; /* of prescribed motion, at each tree [J]            (ntree)                   */
    double *f;    /* J'p of the last answer                            (nv)                      */
    double *v;    /* the mixture                                       (nv)                      */
    double *Mv;   /*                                                   (nv)                      */
} repair;

static int tree_of(const rb_stage *s, int dof)
{
    return s->m->link_tree[s->m->dof_link[dof]];
}

/* Work of prescribed motion, told of the first tree of each constraint. */
static void drive_work(const rb_stage *s, double *work)
{
    const rb_constraints *set = &s->set;
    memset(work, 0, (size_t)s->m->ntree * sizeof *work);
    for (int i = 0; i < set->n; i++) {
        const rb_constraint *c = &set->c[i];
        for (int r = c->row; r < c->row + c->nrow && c->ndof > 0; r++)
            work[tree_of(s, set->dof[c->dof])] += s->p[r] * set->drive[r];
    }
}

rb_status rb_stage_keep_first_answer(rb_stage *s)
{
    rb_arena *arena = s->d->arena;
    size_t bytes = (size_t)s->m->nv * sizeof(double);
    s->first_v = rb_push(arena, double, s->m->nv);
    s->first_f = rb_push(arena, double, s->m->nv);
    s->first_work = rb_push(arena, double, s->m->ntree);
    s->first_island = rb_push(arena, int, s->m->ntree);
    if (!s->first_v || !s->first_f || !s->first_work || !s->first_island) return RB_NOMEM;
    memcpy(s->first_v, s->v_new, bytes);
    memset(s->first_f, 0, bytes);
    rb_constraints_force(&s->set, s->p, s->first_f);
    drive_work(s, s->first_work);
    memcpy(s->first_island, s->set.tree_island, (size_t)s->m->ntree * sizeof *s->first_island);
    return RB_OK;
}

/* ---- groups -----------------------------------------------------------------------------------
 */

static int root_of(int *group, int tree)
{
    while (group[tree] != tree) tree = group[tree] = group[group[tree]];
    return tree;
}

/* Trees of one island come into one group; least: scratch (ntree), there are no more islands. */
static void join(int *group, const int *island, int *least, int ntree)
{
    for (int tree = 0; tree < ntree; tree++) least[tree] = -1;
    for (int tree = 0; tree < ntree; tree++) {
        if (island[tree] < 0) continue;
        int *of = &least[island[tree]];
        if (*of < 0) *of = tree;
        int a = root_of(group, *of), b = root_of(group, tree);
        group[a > b ? a : b] = a > b ? b : a;
    }
}

static rb_status find_groups(repair *x)
{
    const rb_stage *s = x->s;
    int n = s->m->ntree;
    int *least = rb_push(s->d->arena, int, n);
    if (!least) return RB_NOMEM;
    for (int tree = 0; tree < n; tree++) x->group[tree] = tree;
    join(x->group, s->first_island, least, n);
    join(x->group, s->set.tree_island, least, n);
    for (int tree = 0; tree < n; tree++) x->group[tree] = root_of(x->group, tree);
    return RB_OK;
}

/* ---- energy -----------------------------------------------------------------------------------
 */

/* Energy that the last answer created, in each group. */
static void measure(repair *x)
{
    const rb_stage *s = x->s;
    memset(x->made, 0, (size_t)s->m->ntree * sizeof *x->made);
    memset(x->size, 0, (size_t)s->m->ntree * sizeof *x->size);
    for (int j = 0; j < s->m->nv; j++) {
        int group = x->group[tree_of(s, j)];
        x->made[group] += 0.5 * x->f[j] * (s->v_new[j] + s->v_free[j]);
        x->size[group] += 0.5 * fabs(x->f[j]) * (fabs(s->v_new[j]) + fabs(s->v_free[j]));
    }
    for (int tree = 0; tree < s->m->ntree; tree++) x->made[x->group[tree]] += x->work[tree];
}

/* What is rounding in a group matters where all of them together would create energy by it. */
static int makes_energy(const repair *x, int group)
{
    double least = x->s->energy > 0.0 ? 0.0 : RB_IMPACT_ROUNDING * x->size[group];
    return x->made[group] > least;
}

/* Energy created in a group with share a of the first answer. */
static double created(const repair *x, int group, double a)
{
    const rb_stage *s = x->s;
    double energy = 0.0;
    for (int tree = group; tree < s->m->ntree; tree++) {
        if (x->group[tree] == group) energy += (1.0 - a) * x->work[tree] + a * s->first_work[tree];
    }
    for (int j = 0; j < s->m->nv; j++) {
        if (x->group[tree_of(s, j)] != group) continue;
        double v = (1.0 - a) * s->v_new[j] + a * s->first_v[j];
        energy += 0.5 * ((1.0 - a) * x->f[j] + a * s->first_f[j]) * (v + s->v_free[j]);
    }
    return energy;
}

static int applies(const rb_stage *s)
{
    if (!s->first_v || s->set.nrow == 0) return 0;
    if (s->o->formulation->nonlinear && !s->without_push_out) return 0;
    return s->o->law != RB_NEWTON || s->o->energy_safe;
}

/* Twice the kinetic energy of a group, with M of the rows. */
static double twice_kinetic(repair *x, int group, const double *v)
{
    const rb_stage *s = x->s;
    double twice = 0.0;
    rb_mass_multiply(s->m, s->d, v, x->Mv);
    for (int j = 0; j < s->m->nv; j++) {
        if (x->group[tree_of(s, j)] == group) twice += v[j] * x->Mv[j];
    }
    return twice;
}

/* v of the group becomes the mixture. (S.35) does not know what impulses did to the smooth terms of
 * a carried tree, whose first answer may be faster than its last though it says otherwise: then 0,
 * and v stays. */
static int mix(repair *x, int group, double a)
{
    const rb_stage *s = x->s;
    int carried = 0;
    for (int tree = 0; tree < s->m->ntree; tree++)
        carried |= x->group[tree] == group && s->by_midpoint[tree];
    for (int j = 0; j < s->m->nv; j++) {
        if (x->group[tree_of(s, j)] == group) x->v[j] = (1.0 - a) * s->v_new[j] + a * s->first_v[j];
    }
    if (!carried) return 1;
    double before = twice_kinetic(x, group, s->v_new);
    if (twice_kinetic(x, group, x->v) <= (1.0 + RB_SMOOTH_ENERGY) * before) return 1;
    for (int j = 0; j < s->m->nv; j++) {
        if (x->group[tree_of(s, j)] == group) x->v[j] = s->v_new[j];
    }
    return 0;
}

/* The least share that creates no energy; made becomes what is left, rounding of the first answer.
 * 1: v is the mixture, 0: nothing to do, -1: it would be faster. */
static int limit_group(repair *x, int group)
{
    double lo = 0.0, hi = 1.0, most = fmax(0.0, created(x, group, hi));
    if (most >= x->made[group]) return 0;
    for (int k = 0; k < HALVINGS; k++) {
        double a = 0.5 * (lo + hi);
        if (created(x, group, a) <= most)
            hi = a;
        else
            lo = a;
    }
    if (!mix(x, group, hi)) return -1;
    x->made[group] = created(x, group, hi);
    return 1;
}

static rb_status take_memory(rb_stage *s, repair *x)
{
    rb_arena *arena = s->d->arena;
    x->s = s;
    x->group = rb_push(arena, int, s->m->ntree);
    x->made = rb_push(arena, double, s->m->ntree);
    x->size = rb_push(arena, double, s->m->ntree);
    x->work = rb_push(arena, double, s->m->ntree);
    x->f = rb_push(arena, double, s->m->nv);
    x->v = rb_push(arena, double, s->m->nv);
    x->Mv = rb_push(arena, double, s->m->nv);
    if (!x->group || !x->made || !x->size || !x->work || !x->f || !x->v || !x->Mv) return RB_NOMEM;
    memset(x->f, 0, (size_t)s->m->nv * sizeof *x->f);
    rb_constraints_force(&s->set, s->p, x->f);
    memcpy(x->v, s->v_new, (size_t)s->m->nv * sizeof *x->v);
    drive_work(s, x->work);
    return find_groups(x);
}

static rb_status limit_groups(rb_stage *s, repair *x)
{
    int any = 0, n = s->m->ntree;
    measure(x);
    for (int group = 0; group < n; group++) {
        if (!makes_energy(x, group)) continue;
        int done = limit_group(x, group);
        if (done < 0 && !s->final)
            return rb_fail(s->err, RB_UNSOLVED, "repairs of a chain make energy: shorten the step");
        any |= done > 0;
    }
    if (!any) return RB_OK;
    if (!s->final && rb_stage_is_pushed_aside(s, x->v))
        return rb_fail(s->err, RB_UNSOLVED, "repairs move a body aside: shorten the step");
    s->energy = 0.0;
    for (int group = 0; group < n; group++) s->energy += x->made[group];
    memcpy(s->v_new, x->v, (size_t)s->m->nv * sizeof *x->v);
    return RB_OK;
}

rb_status rb_stage_limit_repair_energy(rb_stage *s)
{
    repair x;
    if (!applies(s)) return RB_OK;
    rb_mark mark = rb_arena_mark(s->d->arena);
    rb_status status = take_memory(s, &x);
    if (status == RB_OK) status = limit_groups(s, &x);
    rb_arena_reset(s->d->arena, mark);
    return status;
}
