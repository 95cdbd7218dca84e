/* Impulses within smooth motion. A tree of several links that is pushed moves by the midpoint rule
 * with its impulses in it:
 *
 *     M (v+ - v) = h F(q_m, v_m, w) + J'p,    q+ = q (+) h (v_m + w),    v_m = (v + v+)/2 (S.51)
 *
 * So energy changes by the work of the impulses, p.J v_m, and by nothing else. The rows asked for
 * h v+. The displacement w, the least one in the metric of M, makes the rows that push or stick
 * move by that:
 *
 *     J_a h (v_m + w) = J_a h v+,    w = M^-1 J_a' l                                         (S.52)
 *
 * F moves the velocity along with w (D.44). Without that a fast chain would gain or lose energy
 * wherever a position is corrected.
 *
 * The rule and the rows are solved alternately. p comes from the rows, with a free velocity that
 * contains the effect of p on the smooth terms,
 *
 *     v_f := v_f + (v_k - v+),    v_k = v+ of (S.51) with p,    v+ = v_f + M^-1 J'p          (S.53)
 *
 * until v_k = v+, with Anderson's acceleration. Each p is the certified answer of a problem. The
 * rule is not evaluated for the last p where the result can be predicted: with the spin w of the
 * fastest link, terms of the rule change by a share h w of the change of the velocity,
 *
 *     h w max |v+ - v_k|  <=  1e-6 max |v|                                                   (S.54)
 *
 * Where the iteration does not converge the step is halved. */
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/constants.h"
#include "base/error.h"
#include "dynamics/smooth_anderson.h"
#include "dynamics/smooth_push.h"
#include "math/dense.h"
#include "math/vec3.h"
#include "step/held.h"
#include "step/stage.h"

/* RB_IMPULSE_TOL where actuators drive the model and accuracy is not strict: they add and remove
 * far more energy [1]. Larger: robots end elsewhere than with RB_IMPULSE_TOL by as much as shorter
 * steps would change. Smaller: needless iterations, half of the time of a robot that walks. */
#define IMPULSE_TOL_DRIVEN 0.1

/* Change of the velocity by impulses, relative to the largest, from which on the energy of a
 * carried tree is checked however slowly its links rotate [1]. Larger: impacts are not reported in
 * full. Smaller: two evaluations more in steps that have nothing to report. */
#define IMPULSE_IMPACT 0.1

/* Defect at which iterations that do not reach RB_IMPULSE_TOL end: modes that alternate. Larger:
 * energy is made. Smaller: steps are halved [1]. */
#define IMPULSE_LOOSE 1e-3

/* Defect that iterations may have after the fourth, and the share of it after each further one [1].
 * Larger: iterations that wander are followed to their end, and the step is halved all the same.
 * Smaller: steps are halved that would have converged. */
#define IMPULSE_DIVERGES 1e-2
#define IMPULSE_GAIN     0.31622776601683794

/* Tolerance of the midpoint rule within an iteration, relative to that of iterations (S.53) [1].
 * Larger: iterations are disturbed. Smaller: evaluations are wasted. */
#define IMPULSE_SMOOTH 0.1

/* Residual of what holds rows in place (S.52), relative to what it was [1]. Larger: more repairs.
 * Smaller: conjugate gradients that change nothing. */
#define HOLD_TOL 1e-9

/* The same in all iterations but the last, of models that actuators drive and that have no loops
 * [1]. Larger: more iterations. Smaller: conjugate gradients for what the next one changes anyway.
 */
#define HOLD_TOL_ROUGH 1e-4

enum {
    ITERATIONS = 12,  /* of (S.53); 3 to 5 are usual                                      */
    PATIENCE = 4,     /* iterations after which they must converge as IMPULSE_GAIN says      */
    LONG = 40,        /* links of a tree from which on an iteration costs more than rows     */
    MOST_SUBSTEPS = 8 /* of smooth motion with impulses; halves of a step need fewer         */
};

typedef struct motion {
    rb_stage *s;
    unsigned char *moves;  /* the tree moves by this rule                              (ntree)   */
    unsigned char *active; /* the row moves as it was asked to                         (nrow)    */
    double *f, *w, *dv;    /* what smooth motion is given                              (nv)      */
    double *v_k;           /* velocity that it ends with                               (nv)      */
    double *dq;            /* displacement                                             (nv)      */
    double *shift;         /* what takes dq to what the rows were asked for            (nv)      */
    double *t;             /*                                                          (nv)      */
    double *r;             /* what held rows lack                                      (nrow)    */
    double *p;             /* impulses to start from                                   (nrow)    */
    rb_anderson mixing;
    rb_smooth_memory memory;
    rb_plane plane, *flat; /* of a mechanism in a plane; NULL: it is in space */
    int substeps;
    double end;  /* defect at which iterations end [1]  */
    double hold; /* residual of (S.52) at which its search ends, per first one [1] */
    double tol;  /* of the midpoint rule in this iteration [1]  */
    double spin; /* largest angular velocity, without and with impulses [rad/s]                 */
    int impact;  /* impulses are large, or were so that the step was halved                     */
    int left;    /* a tree came to rest in this iteration and leaves the midpoint rule    */
    rb_smooth_energy energy;
    double made; /* energy that the rule made beside work [J]                                   */
} motion;

int rb_stage_is_long(const rb_model *m)
{
    return m->nlink > LONG * m->ntree;
}

static int tree_of(const rb_model *m, int dof)
{
    return m->link_tree[m->dof_link[dof]];
}

static rb_status take_memory(motion *x)
{
    rb_arena *arena = x->s->d->arena;
    double **of_v[] = { &x->f, &x->w, &x->dv, &x->v_k, &x->dq, &x->shift, &x->t };
    double **of_row[] = { &x->r, &x->p };
    int ok = 1;
    for (size_t i = 0; i < sizeof of_v / sizeof *of_v; i++)
        ok = ok && (*of_v[i] = rb_push(arena, double, x->s->m->nv));
    for (size_t i = 0; i < sizeof of_row / sizeof *of_row; i++)
        ok = ok && (*of_row[i] = rb_push(arena, double, x->s->set.nrow));
    ok = ok && (x->active = rb_push(arena, unsigned char, x->s->set.nrow));
    ok = ok && rb_smooth_memory_push(x->s->m, arena, &x->memory);
    x->flat = rb_plane_takes(x->s->m, x->s->d) ? &x->plane : NULL;
    if (x->flat) ok = ok && rb_plane_push(x->s->m, arena, x->flat);
    return ok && rb_anderson_push(arena, x->s->m->nv, &x->mixing) ? RB_OK : RB_NOMEM;
}

/* ---- which trees move by the rule
 * --------------------------------------------------------------------------- */

/* Trees with a link that turns by more than RB_MIDPOINT_TURN in the step, at velocity v; spin is at
 * least the largest angular velocity of all links [rad/s]. Poses are those of the rows. */
static void add_fast(const rb_stage *s, const double *v, unsigned char *fast, double *spin)
{
    const rb_model *m = s->m;
    rb_data *d = s->d;
    memcpy(d->v, v, (size_t)m->nv * sizeof *v);
    rb_velocity(m, d);
    for (int k = 1; k < m->nlink; k++) {
        double w = rb_norm3(d->link_w + 3 * (ptrdiff_t)k);
        if (!(w <= *spin)) *spin = w; /* NaN too */
        if (m->link_tree[k] >= 0 && s->h * w > RB_MIDPOINT_TURN) fast[m->link_tree[k]] = 1;
    }
}

static int is_pushed_chain(const rb_stage *s, int k)
{
    const rb_model *m = s->m;
    int tree = m->link_tree[k], above = m->link_parent[k];
    if (tree < 0 || above == 0 || m->link_tree[above] != tree) return 0;
    return s->pushed[tree] && !s->resting[tree];
}

static int find_trees(rb_stage *s, unsigned char *takes, double *spin)
{
    const rb_model *m = s->m;
    int any = 0;
    *spin = 0.0;
    for (int k = 1; k < m->nlink && !any; k++) any = is_pushed_chain(s, k);
    any = any && (rb_stage_may_turn(s, s->v_free) || rb_stage_may_turn(s, s->v_new));
    if (!any) return 0;
    add_fast(s, s->v_free, takes, spin);
    add_fast(s, s->v_new, takes, spin);
    any = 0;
    for (int tree = 0; tree < m->ntree; tree++)
        takes[tree] = (unsigned char)(takes[tree] << 1); /* fast; 1 is for chains */
    for (int k = 1; k < m->nlink; k++) {
        if (is_pushed_chain(s, k)) takes[m->link_tree[k]] |= 1;
    }
    for (int tree = 0; tree < m->ntree; tree++) any |= takes[tree] = takes[tree] == 3;
    return any;
}

static int touches(const motion *x, const rb_constraint *c)
{
    const int *dof = x->s->set.dof + c->dof;
    for (int k = 0; k < c->ndof; k++) {
        if (x->moves[tree_of(x->s->m, dof[k])]) return 1;
    }
    return 0;
}

/* Rows of a constraint, from the first, that move as they were asked to: a sliding contact is free
 * in its tangents, dry friction at its bound is free. */
static int held_rows(const rb_stage *s, int i)
{
    const rb_constraint *c = &s->set.c[i];
    const double *p = s->p + c->row;
    int pushes = 0;
    for (int r = 0; r < c->nrow; r++) pushes |= p[r] != 0.0;
    if (c->kind == RB_CONSTRAINT_EQUALITY) return c->nrow;
    if (c->kind == RB_CONSTRAINT_CONTACT && s->mode[i] == RB_MODE_OPEN)
        return 0; /* interior points leave a trace of impulse */
    if (!pushes || (c->kind == RB_CONSTRAINT_DRY && fabs(p[0]) >= c->bound)) return 0;
    return c->kind == RB_CONSTRAINT_CONTACT && s->mode[i] == RB_MODE_SLIDE ? 1 : c->nrow;
}

/* They stay active in later iterations, because modes may alternate. */
static void find_active_rows(motion *x)
{
    const rb_stage *s = x->s;
    for (int i = 0; i < s->set.n; i++) {
        const rb_constraint *c = &s->set.c[i];
        int rows = touches(x, c) ? held_rows(s, i) : 0;
        memset(x->active + c->row, 1, (size_t)rows);
    }
}

/* ---- what holds -------------------------------------------------------------------------------
 */

static void clear_others(const motion *x, double *v)
{
    const rb_model *m = x->s->m;
    for (int j = 0; j < m->nv; j++) {
        if (!x->moves[tree_of(m, j)]) v[j] = 0.0;
    }
}

/* shift of (S.52) for the displacement dq. Rows taken ahead, at q_hat, were asked for the way there
 * and h (v+ - v_hat) on top. */
static rb_status find_shift(motion *x)
{
    rb_stage *s = x->s;
    const rb_model *m = s->m;
    memset(x->t, 0, (size_t)m->nv * sizeof *x->t);
    if (s->v_hat) rb_difference(m, s->q0, s->q_hat, x->t);
    for (int j = 0; j < m->nv; j++) {
        double dv = s->v_new[j] - (s->v_hat ? s->v_hat[j] : 0.0);
        x->t[j] += s->h * dv - x->dq[j];
    }
    clear_others(x, x->t);
    find_active_rows(x);
    rb_held held = { .s = s, .takes = x->moves, .rows = x->active, .tol = x->hold };
    rb_held_velocity(&held, x->t, x->r);
    return rb_held_shift(&held, x->r, x->shift);
}

/* ---- iterations
 * ------------------------------------------------------------------------------------
 */

/* v_k, q_k of (S.51) with the impulses there are. */
static rb_status move_smoothly(motion *x, double *q_k)
{
    rb_stage *s = x->s;
    const rb_model *m = s->m;
    rb_data *d = s->d;
    memset(x->f, 0, (size_t)m->nv * sizeof *x->f);
    rb_constraints_force(&s->set, s->p, x->f);
    clear_others(x, x->f);
    for (int j = 0; j < m->nv; j++) {
        double v = x->moves[tree_of(m, j)] ? s->v_new[j] : s->v_free[j];
        x->dv[j] = v - s->v0[j];
    }
    rb_stage_restore(s);
    rb_smooth_push push = { .h = s->h, .f = x->f, .w = x->w, .dv = x->dv };
    push.tol = x->tol;
    push.substeps = x->substeps;
    /* the first impulses of a short tree may be wild, and those of later rounds want one substep */
    push.start = rb_stage_is_long(m) ? s->midpoint_substeps : 0;
    push.watch = x->impact; /* its energy is reported in full */
    push.most = s->final || !rb_stage_is_long(m) ? 0 : MOST_SUBSTEPS;
    push.spin = x->spin;
    push.memory = &x->memory;
    push.energy = &x->energy;
    rb_smooth_info told;
    rb_stage_kinematic_pose(s, 0.5 * s->h);
    rb_status status = rb_smooth_push_step(m, d, &push, &told);
    rb_stage_kinematic_pose(s, s->v_hat ? s->h : 0.0);
    if (status == RB_SINGULAR && !s->final) /* impulses that lead far away: a shorter step may do */
        status = RB_UNSOLVED;
    if (status != RB_OK)
        return rb_fail(s->err, status, "smooth motion with impulses: %s", rb_status_text(status));
    if (!told.converged)
        return rb_fail(s->err, RB_UNSOLVED,
                       "the midpoint rule does not converge with impulses: shorten the step");
    x->substeps = s->midpoint_substeps = told.substeps;
    memcpy(x->v_k, d->v, (size_t)m->nv * sizeof *d->v);
    memcpy(q_k, d->q, (size_t)m->nq * sizeof *d->q);
    rb_stage_restore(s);
    return RB_OK;
}

/* Largest v_k - v+, relative to the largest velocity [1]. It is left in f. */
static double defect(motion *x)
{
    const rb_stage *s = x->s;
    double most = 0.0, size = 0.0;
    for (int j = 0; j < s->m->nv; j++) {
        x->f[j] = x->v_k[j] - s->v_new[j];
        if (!x->moves[tree_of(s->m, j)]) x->f[j] = 0.0;
        if (!x->moves[tree_of(s->m, j)]) continue;
        most = fmax(most, fabs(x->f[j]));
        size = fmax(size, fmax(fabs(s->v_free[j]), fmax(fabs(s->v_new[j]), fabs(s->v0[j]))));
    }
    return size > 0.0 ? most / size : 0.0;
}

/* What the next iteration would find to differ (S.54), relative to the largest velocity [1]. */
static double predicted_defect(const motion *x)
{
    const rb_stage *s = x->s;
    double most = 0.0, size = 0.0;
    for (int j = 0; j < s->m->nv; j++) {
        if (!x->moves[tree_of(s->m, j)]) continue;
        most = fmax(most, fabs(s->v_new[j] - x->v_k[j]));
        size = fmax(size, fmax(fabs(s->v_free[j]), fmax(fabs(s->v_new[j]), fabs(s->v0[j]))));
    }
    return size > 0.0 ? s->h * x->spin * most / size : 0.0;
}

/* The rows with the v_free there is; impulses there are to start from. */
static rb_status solve_rows(rb_stage *s, double *start)
{
    rb_constraints_velocity(&s->set, s->v_free, s->u);
    for (int i = 0; i < s->set.nrow; i++) s->u[i] += s->bias[i];
    memcpy(start, s->p, (size_t)s->set.nrow * sizeof *start);
    s->last = s->set;
    s->last_p = start;
    rb_status status = rb_stage_solve_others(s, s->still);
    if (status == RB_OK) status = rb_stage_restitute(s);
    return status == RB_OK ? rb_stage_rest(s) : status;
}

/* v_f of (S.53), the rows solved again with it. */
static rb_status solve_again(motion *x)
{
    rb_stage *s = x->s;
    for (int j = 0; j < s->m->nv; j++) s->v_free[j] += x->f[j];
    rb_anderson_mix(&x->mixing, x->f, s->v_free);
    rb_status status = solve_rows(s, x->p);
    x->left = 0;
    for (int tree = 0; tree < s->m->ntree; tree++) {
        x->left |= x->moves[tree] && s->resting[tree];
        if (s->resting[tree]) x->moves[tree] = 0;
    }
    return status;
}

/* energy_made of the motion that the last iteration found. */
static void find_made(motion *x, const double *q_k)
{
    rb_stage *s = x->s;
    memcpy(s->d->q, q_k, (size_t)s->m->nq * sizeof *q_k);
    memcpy(s->d->v, x->v_k, (size_t)s->m->nv * sizeof *x->v_k);
    x->made = rb_smooth_energy_made(s->m, s->d, x->flat, &x->energy);
    rb_stage_restore(s);
}

/* The iteration must gain a digit in two iterations. Otherwise halves of the step are cheaper for
 * a long chain: each of them converges in three or four, where the whole step does not. */
static int diverges(const motion *x, double now)
{
    const rb_stage *s = x->s;
    double wanted = IMPULSE_DIVERGES;
    if (s->final || s->iteration < PATIENCE || !rb_stage_is_long(s->m)) return 0;
    for (int k = PATIENCE; k < s->iteration; k++) wanted *= IMPULSE_GAIN;
    return now > wanted;
}

/* Impulses change velocities by a share of what they are, not by what weight adds in a step. */
static int is_impact(const rb_stage *s)
{
    double most = 0.0, size = 0.0;
    for (int j = 0; j < s->m->nv; j++) {
        most = fmax(most, fabs(s->v_new[j] - s->v_free[j]));
        size = fmax(size, fabs(s->v0[j]));
    }
    return most > IMPULSE_IMPACT * size;
}

int rb_stage_is_driven(const rb_stage *s)
{
    int bounces = s->o->restitution > 0.0;
    return s->m->nu > 0 && s->tol > RB_TOL_STRICT && !bounces;
}

static rb_status iterate(motion *x, double *q_k)
{
    rb_stage *s = x->s;
    const rb_model *m = s->m;
    double before = INFINITY;
    x->end = rb_stage_is_driven(s) ? IMPULSE_TOL_DRIVEN : RB_IMPULSE_TOL;
    x->hold = x->end > RB_IMPULSE_TOL && m->neq == 0 ? HOLD_TOL_ROUGH : HOLD_TOL;
    x->tol = fmin(RB_IMPULSE_ROUGH, IMPULSE_SMOOTH * x->end);
    x->impact = !rb_stage_is_driven(s) && (s->info->splits > 0 || is_impact(s));
    memset(x->w, 0, (size_t)m->nv * sizeof *x->w);
    memset(x->active, 0, (size_t)s->set.nrow);
    for (int j = 0; j < m->nv; j++) x->dq[j] = 0.5 * s->h * (s->v0[j] + s->v_new[j]);
    rb_status status = find_shift(x);
    for (s->iteration = 1; status == RB_OK; s->iteration++) {
        for (int j = 0; j < m->nv; j++) x->w[j] += x->shift[j] / s->h;
        status = move_smoothly(x, q_k);
        if (status != RB_OK) return status;
        double now = defect(x);
        rb_difference(m, s->q0, q_k, x->dq);
        for (int j = 0; j < m->nv; j++) s->v_next[j] = s->v_free[j] + x->f[j];
        if (now <= RB_IMPULSE_MET * x->end) return RB_OK;
        if (s->iteration >= ITERATIONS && now <= IMPULSE_LOOSE) {
            s->info->below_accuracy += s->final; /* reported, as problems are */
            return RB_OK;
        }
        if (s->iteration >= ITERATIONS || diverges(x, now))
            return rb_fail(s->err, RB_UNSOLVED,
                           "impulses and smooth motion do not converge together: shorten the step");
        /* what is far from its end need not be known well: a digit more than the last defect */
        x->tol = fmin(RB_IMPULSE_ROUGH, IMPULSE_SMOOTH * fmax(now, x->end));
        if (now > before) rb_anderson_reset(&x->mixing);
        before = now;
        status = solve_again(x);
        if (status != RB_OK) return status;
        for (int j = 0; j < m->nv; j++) x->dq[j] += 0.5 * s->h * (s->v_new[j] - x->v_k[j]);
        if (!x->left && predicted_defect(x) <= RB_IMPULSE_PREDICTED * x->end) return RB_OK;
        status = find_shift(x);
    }
    return status;
}

/* ---- energy -----------------------------------------------------------------------------------
 */

static double kinetic(const motion *x, const double *v)
{
    double twice = 0.0;
    memcpy(x->dv, v, (size_t)x->s->m->nv * sizeof *v);
    clear_others(x, x->dv);
    rb_mass_multiply(x->s->m, x->s->d, x->dv, x->t);
    for (int j = 0; j < x->s->m->nv; j++) twice += x->dv[j] * x->t[j];
    return 0.5 * twice;
}

/* Work of the impulses, with the mean velocity of the step for trees that move by the rule.
 * energy_gain is what the rule made, per kinetic energy (S.55), energy_made the part that (S.18)
 * lacks. dq is that of the rule. */
static void measure_energy(motion *x)
{
    rb_stage *s = x->s;
    const rb_model *m = s->m;
    double sum = x->made;
    s->energy_made = x->made;
    memset(x->f, 0, (size_t)m->nv * sizeof *x->f);
    rb_constraints_force(&s->set, s->p, x->f);
    for (int j = 0; j < m->nv; j++) {
        double half = 0.5 * (s->v_new[j] + s->v_free[j]);
        double mean = x->moves[tree_of(m, j)] ? x->dq[j] / s->h - x->w[j] : half;
        sum += x->f[j] * mean;
        s->energy_made += x->f[j] * (mean - half);
    }
    for (int i = 0; i < s->set.nrow; i++) sum += s->p[i] * s->set.drive[i];
    s->energy_gain = 0.0;
    if (sum <= 0.0) return;
    double most = fmax(kinetic(x, s->v0), kinetic(x, s->v_new));
    if (most > 0.0) s->energy_gain = sum / most;
}

/* A tree that moved by the rule in the round before, but does not in this one, must not keep the
 * effect of old impulses on its velocity. Returns whether there is one; its free velocity is that
 * of smooth motion again. */
static int forget(rb_stage *s)
{
    int any = 0;
    for (int j = 0; j < s->m->nv; j++) {
        int tree = tree_of(s->m, j);
        if (s->by_midpoint[tree] || s->resting[tree] || s->v_free[j] == s->v_smooth[j]) continue;
        s->v_free[j] = s->v_smooth[j];
        any = 1;
    }
    return any;
}

static int all_by_midpoint(const rb_stage *s)
{
    for (int tree = 0; tree < s->m->ntree; tree++) {
        if (!s->by_midpoint[tree]) return 0;
    }
    return 1;
}

/* The motion without contact was computed roughly, but is needed. */
static rb_status move_exactly(rb_stage *s)
{
    size_t bytes = (size_t)s->m->nv * sizeof(double);
    double *v = rb_push(s->d->arena, double, s->m->nv);
    if (!v) return RB_NOMEM;
    memcpy(v, s->v_free, bytes);
    rb_stage_restore(s);
    rb_status status = rb_stage_refine_motion(s);
    memcpy(s->v_free, v, bytes); /* carried trees start from it; the others are about to forget */
    memcpy(s->d->q, s->q_hat, (size_t)s->m->nq * sizeof *s->d->q);
    rb_kinematics(s->m, s->d);
    return status;
}

/* Finds the trees that move by the rule, from pushed and resting. Rows are solved again where a
 * tree leaves it. */
static rb_status choose(rb_stage *s, int *any, double *spin)
{
    rb_mark mark = rb_arena_mark(s->d->arena);
    double *start = rb_push(s->d->arena, double, s->set.nrow);
    rb_status status = start ? RB_OK : RB_NOMEM;
    for (int left = 1; left && status == RB_OK;) {
        memset(s->by_midpoint, 0, (size_t)s->m->ntree);
        *any = find_trees(s, s->by_midpoint, spin);
        if (s->rough && !all_by_midpoint(s)) status = move_exactly(s);
        if (status != RB_OK) break;
        left = forget(s);
        if (left) status = solve_rows(s, start);
        if (left) rb_stage_find_pushed(s);
    }
    rb_arena_reset(s->d->arena, mark);
    return status;
}

static rb_status move_trees(rb_stage *s, double spin, double *q_k)
{
    motion x = { .s = s, .moves = s->by_midpoint, .spin = spin };
    rb_mark mark = rb_arena_mark(s->d->arena);
    rb_status status = take_memory(&x);
    if (status == RB_OK) {
        rb_anderson_reset(&x.mixing);
        status = iterate(&x, q_k);
    }
    if (status != RB_OK) return status;
    find_made(&x, q_k);
    measure_energy(&x);

    /* what is left of (S.52) */
    x.hold = HOLD_TOL;
    status = find_shift(&x);
    for (int j = 0; j < s->m->nv; j++) x.dq[j] = (x.dq[j] + x.shift[j]) / s->h;
    rb_integrate(s->m, s->q0, x.dq, s->h, q_k);
    rb_arena_reset(s->d->arena, mark);
    return status;
}

rb_status rb_stage_smooth_impulses(rb_stage *s, double *q_k)
{
    rb_constraints last = s->last;
    const double *last_p = s->last_p;
    double spin = 0.0;
    int any = 0;
    s->energy_gain = 0.0;
    s->energy_made = s->energy_made_free;
    memset(s->by_midpoint, 0, (size_t)s->m->ntree);
    if (s->o->scheme != RB_SCHEME_MIDPOINT) return RB_OK;
    rb_status status = choose(s, &any, &spin);
    if (status == RB_OK && any) status = move_trees(s, spin, q_k);
    s->iteration = 0;
    s->last = last;
    s->last_p = last_p;
    return status;
}
