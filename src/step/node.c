/* One rule for a step: impulses at its start, the node, and smooth motion after them.
 *
 *     v_a     = v + M^-1 J'p                  rows at q: contacts, limits, friction, loops  (S.1)
 *     (q+,v+) = midpoint(q, v_a, h)           as without contact (D.36)
 *     p       solves the rows whose velocities are the values found at q+                   (S.2)
 *
 * Rounds: W = J M^-1 J' once;  b = value(q+) - W p;  p := solve(W, b);  (q+, v+) anew. They end
 * when the values are those that the answer predicted. What overlaps at q+ and has no row gets one,
 * from the same material points, pulled back to q (S.9). */
#include "step/node.h"

#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/constants.h"
#include "base/error.h"
#include "base/pieces.h"
#include "dynamics/coupling.h"
#include "math/vec3.h"
#include "step/contacts.h"
#include "step/gaps.h"
#include "step/motion.h"
#include "step/problems.h"
#include "step/rows.h"

enum {
    ROUNDS = 24,     /* two to four are usual                                  */
    LAST_ROUNDS = 72 /* the same where the step cannot be halved any more       */
};

/* Share of what is allowed that rounds may be expected to leave without a look [1]. */
#define SURE 0.1

/* Rounds that miss more than this share of the least so far have ended where they are, and what
 * loops and friction may miss then, in units of their goal [1]; gaps as well, where the step cannot
 * be halved any more: that is half of the overlap that steps may make. */
#define STALLS 0.5
#define ENOUGH (0.5 / RB_NODE_LEFT)

/* Tolerance of smooth motion in rounds that will not be the last [1], and how many times what rows
 * may miss the impulses of a round change them by, so that the next one may be the last [1]. */
#define ROUGH  1e-7
#define NEARLY 1e3

/* Share of the tolerance of smooth motion that a rough one may leave and have all of its digits
 * [1]: what it leaves is a prediction. */
#define SURE_DIGITS 0.05

/* Change of the velocity of a loop's row in the last round, in units of that of others [1]. Larger:
 * loops are left open. Smaller: one more round. */
#define LOOPS_CHANGE 0.02

/* Share of what the round before missed, above which coupled dofs get their springs and dampers of
 * the last motion [1]. Larger: more rounds. Smaller: more factorisations. */
#define SLOW 0.05

/* Growth of what rounds miss, from the least of them, with which they lead astray [1]. Smaller:
 * rounds are given up that find their way back. */
#define STRAYS 16.0

/* Work of rounds, in units of the first one [1], from which on those that lead astray are given up:
 * two halves of the step would cost as much. */
#define PATIENCE 2.0

/* Energy that contact may make in a part, per kinetic energy and work of the forces in it [1], and
 * in units of the tolerance, which is what problems know. Smaller: robots that stand on several
 * points are divided; larger: bodies that are jammed gain speed. */
#define MADE_MOST 5e-3
#define MADE_TOL  10.0

static void copy(double *to, const double *from, int n)
{
    memcpy(to, from, (size_t)n * sizeof *to);
}

static rb_status take_memory(rb_node *x)
{
    const rb_model *m = x->s->m;
    rb_arena *arena = x->s->d->arena;
    double **of_v[] = { &x->v_given, &x->v_a, &x->dv,     &x->v_end, &x->v_mean, &x->f,
                        &x->force,   &x->v_e, &x->v_from, &x->E,     &x->A };
    x->p0 = rb_push(arena, double, 6 * (size_t)m->nlink);
    x->R0 = rb_push(arena, double, 18 * (size_t)m->nlink);
    x->L = rb_push(arena, double, m->nM);
    x->q = rb_push(arena, double, m->nq_all);
    x->end = rb_push(arena, rb_contact, x->s->d->touch_max);
    x->fresh = rb_push(arena, unsigned char, m->ntree);
    x->p_seen = x->p0 ? x->p0 + 3 * (ptrdiff_t)m->nlink : NULL;
    x->R_seen = x->R0 ? x->R0 + 9 * (ptrdiff_t)m->nlink : NULL;
    int coupled = rb_coupling_any(m);
    x->all = coupled ? rb_push(arena, double, m->nM) : NULL;
    if (coupled && !x->all) return RB_NOMEM;
    int ok = x->p0 && x->R0 && x->L && x->q && x->end && x->fresh;
    x->factored = rb_push(arena, signed char, 2 * (size_t)m->nu);
    ok = ok && x->factored && rb_push_rows(arena, of_v, 11, m->nv);
    return ok && rb_smooth_memory_push(m, arena, &x->memory) ? RB_OK : RB_NOMEM;
}

/* Springs, dampers or servos may act on what an impulse does within the step. */
static int is_stiff(const rb_model *m)
{
    int any = m->nu > 0 || m->ntendon > 0;
    for (int j = 0; j < m->nv && !any; j++) any = m->dof_damping[j] != 0.0;
    for (int j = 0; j < m->njnt && !any; j++) any = m->jnt_stiffness[j] != 0.0;
    return any;
}

/* v before the impulses: what was reported, and what it lacks (S.23). Who writes v means v itself.
 * What was reported counts springs and dampers with the length of its part: energy of a part of
 * another length is measured from the velocity before its impulses. */
static void begin_velocity(rb_node *x)
{
    rb_stage *s = x->s;
    const rb_model *m = s->m;
    const double *kick = s->d->kick, *of = kick + m->nv;
    copy(x->v_given, s->start.v, m->nv);
    copy(x->v_from, s->start.v, m->nv);
    memset(x->fresh, 1, (size_t)m->ntree);
    int other = s->d->touch_h > 0.0 && s->d->touch_h != s->h && is_stiff(m);
    for (int j = 0; j < m->nv; j++) {
        if (kick[j] != 0.0) x->fresh[m->link_tree[m->dof_link[j]]] = 0;
    }
    for (int j = 0; j < m->nv; j++) {
        if (s->start.v[j] != of[j]) x->fresh[m->link_tree[m->dof_link[j]]] = 1;
    }
    for (int j = 0; j < m->nv; j++) {
        if (!x->fresh[m->link_tree[m->dof_link[j]]]) s->start.v[j] += kick[j];
    }
    if (other) copy(x->v_from, s->start.v, m->nv);
}

static void begin(rb_stage *s)
{
    s->attempt.count++;
    s->near.pairs.known = s->near.cached = 0;
    s->attempt.last_p = NULL;
    s->problem.redundant = NULL;
    s->problem.q = s->start.q;
    s->problem.v = NULL;
    s->answer.residual = s->answer.work = NULL;
    s->answer.half = NULL;
    memset(&s->set, 0, sizeof s->set);
    memset(s->answer.resting, 0, (size_t)s->m->ntree);
    memset(s->answer.marked, 0, (size_t)s->m->ntree);
}

/* Friction of joints, which has no part in the kick, as in the step before. */
static void recall_friction(rb_stage *s)
{
    double scale = s->d->touch_h > 0.0 ? 0.5 * s->h / s->d->touch_h : 0.0;
    for (int i = s->set.ncontact; i < s->set.n; i++) {
        const rb_constraint *c = &s->set.c[i];
        if (c->kind != RB_CONSTRAINT_DRY || c->island < 0 || s->answer.still[c->island]) continue;
        rb_stage_recall(s, c, s->answer.p + c->row, &s->answer.mode[i]);
        s->answer.p[c->row] =
            fmax(-0.5 * c->bound, fmin(0.5 * c->bound, scale * s->answer.p[c->row]));
    }
}

/* ---- one round --------------------------------------------------------------------------------
 */

/* v_a and Wp of the impulses p. */
static void push(rb_node *x)
{
    rb_stage *s = x->s;
    const rb_model *m = s->m;
    copy(x->v_a, s->start.v, m->nv);
    copy(x->v_e, s->start.v, m->nv);
    if (s->set.nrow == 0) return;
    memset(x->f, 0, (size_t)m->nv * sizeof *x->f);
    rb_constraints_force(&s->set, s->answer.p, x->f);
    copy(x->force, x->f, m->nv);
    rb_mass_solve(m, s->d, x->f);
    if (x->stiff)
        rb_node_mass_solve(x, x->force);
    else
        copy(x->force, x->f, m->nv);
    for (int j = 0; j < m->nv; j++) {
        if (!s->answer.resting[m->link_tree[m->dof_link[j]]]) x->v_a[j] += x->force[j];
        x->v_e[j] += x->f[j];
    }
    rb_constraints_velocity(&s->set, x->f, x->Wp);
    for (int r = 0; r < s->set.nrow; r++) x->Wp[r] -= s->set.drive[r];
}

static rb_status move(rb_node *x)
{
    rb_stage *s = x->s;
    const rb_model *m = s->m;
    rb_stage_restore(s);
    double tol = x->fine || s->set.nrow == 0 ? RB_SMOOTH_TOL : ROUGH;
    const double *A = x->all && s->set.nrow > 0 ? x->A : NULL;
    rb_status status = rb_stage_motion_from(s, x->v_a, x->moved ? x->dv : NULL, A, tol);
    if (status != RB_OK) return status;
    x->exact = x->fine || s->smooth.left <= SURE_DIGITS * rb_smooth_tol(m, RB_SMOOTH_TOL);
    for (int j = 0; j < m->nv; j++) x->dv[j] = s->d->v[j] - x->v_a[j];
    x->moved = 1;
    copy(s->answer.q, s->d->q, m->nq);
    copy(x->v_end, s->d->v, m->nv);
    copy(s->answer.act, s->d->act, m->na);
    rb_node_hold_resting(s);
    return RB_OK;
}

static void find_stiff(rb_node *x)
{
    x->stiff = x->all != NULL;
    for (int j = 0; j < x->s->m->nv; j++) x->stiff |= x->E[j] != 0.0;
}

/* What springs and dampers of joint j will not have to be pushed against [m/s]: p~ is, for what it
 * takes off at the end of a step, but where rows hold a joint smooth motion turns its velocity
 * around, v+ = -v_a, and that of the next step will do so, too. The least of both, as some rows
 * hold but a part of that. dv: change of the velocity by the impulses that are expected. */
static double turned_around(const rb_stage *s, int j, double dv)
{
    const rb_data *d = s->d;
    double before =
        d->slope_h[0] > 0.0 && d->slope_time == s->start.time ? -s->h * d->slope[j] : 0.0;
    if (!(before * dv > 0.0)) return 0.0;
    return fabs(before) < fabs(dv) ? before : dv;
}

/* Impulses that last push by what they are expected to, half of which the velocity was reported
 * with (S.23): the first values are taken where that leads. */
static void expect(rb_node *x)
{
    rb_stage *s = x->s;
    const rb_model *m = s->m;
    double scale = s->d->touch_h > 0.0 ? 1.0 + s->h / s->d->touch_h : 0.0;
    for (int j = 0; j < m->nv; j++) {
        int tree = m->link_tree[m->dof_link[j]];
        int idle = x->fresh[tree] || s->answer.resting[tree] || s->set.tree_island[tree] < 0;
        x->f[j] = idle ? 0.0 : -scale * s->d->kick[j];
        x->force[j] = x->stiff ? -x->E[j] * turned_around(s, j, x->f[j]) : 0.0;
    }
    if (x->stiff) {
        rb_mass_solve(m, s->d, x->force);
        for (int j = 0; j < m->nv; j++) x->f[j] += x->force[j];
    }
    for (int j = 0; j < m->nv; j++) x->v_e[j] += x->f[j];
    rb_constraints_velocity(&s->set, x->f, x->b);
    for (int r = 0; r < s->set.nrow; r++) x->Wp[r] += x->b[r] - s->set.drive[r];
    if (x->stiff) {
        rb_mass_multiply(m, s->d, x->f, x->force);
        for (int j = 0; j < m->nv; j++) x->f[j] = x->force[j] + x->E[j] * x->f[j];
        rb_node_mass_solve(x, x->f);
    }
    for (int j = 0; j < m->nv; j++) x->v_a[j] += x->f[j];
}

void rb_node_scale_friction(const rb_stage *s, double by)
{
    for (int i = s->set.ncontact; i < s->set.n; i++) {
        if (s->set.c[i].kind == RB_CONSTRAINT_DRY) s->set.c[i].bound *= by;
    }
}

/* ---- servos -----------------------------------------------------------------------------------
 */

/* How a servo ended a part, in rb_data.servo. */
enum { UNKNOWN, AT_BOUND, HOLDS, DAMPED };

/* Servos hold now what they held in the part before. */
static void recall_servos(rb_node *x)
{
    const rb_data *d = x->s->d;
    int nu = x->s->m->nu;
    x->memory.known = nu > 0 && d->slope_time == x->s->start.time && d->servo[0] != UNKNOWN;
    for (int k = 0; k < nu; k++) {
        x->memory.holds[k] = !x->memory.known || d->servo[k] == HOLDS;
        x->memory.creeps[k] = x->memory.holds[k] || d->servo[k] == DAMPED;
    }
}

static void note_servos(rb_node *x)
{
    memcpy(x->factored, x->memory.holds, (size_t)x->s->m->nu);
    memcpy(x->factored + x->s->m->nu, x->memory.creeps, (size_t)x->s->m->nu);
}

static void report_servos(rb_node *x)
{
    for (int k = 0; k < x->s->m->nu; k++) {
        int damped = x->memory.needed[k] ? DAMPED : AT_BOUND;
        x->s->answer.servo[k] = x->memory.holds[k] ? HOLDS : damped;
    }
}

/* W is that of servos as the motion met them. Before the first problem that may be done. */
static rb_status follow_servos(rb_node *x)
{
    rb_stage *s = x->s;
    size_t nu = (size_t)s->m->nu;
    if (x->all) return RB_OK; /* their factor is made anew where rounds are slow */
    if (memcmp(x->factored, x->memory.holds, nu) == 0 &&
        memcmp(x->factored + nu, x->memory.creeps, nu) == 0)
        return RB_OK;
    double *v_a = x->v_mean; /* the look has not been yet */
    copy(v_a, x->v_a, s->m->nv);
    note_servos(x);
    rb_status status = rb_stage_factor_again(s, x->L, x->E);
    for (int k = 0; s->problem.kept && k < s->set.nisland; k++) s->problem.kept[k].known = 0;
    find_stiff(x);
    push(x);
    if (x->tried == 0) expect(x);
    copy(x->v_a, v_a, s->m->nv);
    return status;
}

/* What p leads to, with rows of all that it leads into. */
static rb_status follow(rb_node *x)
{
    rb_stage *s = x->s;
    int added = 0;
    push(x);
    if (x->tried == 0 && s->set.nrow > 0) expect(x);
    rb_status status = x->there ? RB_OK : move(x);
    if (status == RB_OK && x->solved == 0 && s->set.nrow > 0) status = follow_servos(x);
    if (status == RB_OK) status = rb_node_look(x);
    if (status == RB_OK) status = rb_node_add(x, &added);
    if (status != RB_OK || added == 0) return status;
    s->info->repairs++;
    rb_node_scale_friction(s, 0.5);
    push(x);
    if (x->tried == 0) expect(x);
    status = rb_node_look(x);
    if (status == RB_OK) rb_node_keep_answers(x);
    return status;
}

/* The island has an answer that holds. */
static int holds(const rb_node *x, int island)
{
    return island >= 0 && x->answered[island] && x->settled[island];
}

/* x->b := value - W p; that of islands that have settled is the one of their answer. */
static void find_b(rb_node *x)
{
    const rb_stage *s = x->s;
    for (int i = 0; i < s->set.n; i++) {
        const rb_constraint *c = &s->set.c[i];
        int settled = holds(x, c->island);
        for (int r = c->row; r < c->row + c->nrow; r++)
            x->b[r] = settled ? s->problem.u[r] : x->value[r] - x->Wp[r];
    }
}

/* s->u := b, mixed with those of the rounds before; how far it is from b. */
static double foresee(rb_node *x)
{
    rb_stage *s = x->s;
    double *f = x->value, mixed = 0.0; /* the values are used up here */
    find_b(x);
    for (int r = 0; r < s->set.nrow; r++) {
        f[r] = x->b[r] - s->problem.u[r];
        s->problem.u[r] = x->b[r];
    }
    if (x->solved == 0) return 0.0;
    rb_anderson_mix(&x->mixing, f, s->problem.u);
    for (int i = 0; i < s->set.n; i++) {
        const rb_constraint *c = &s->set.c[i];
        int settled = holds(x, c->island);
        for (int r = c->row; r < c->row + c->nrow; r++) {
            if (settled) s->problem.u[r] = x->b[r];
            mixed = fmax(mixed, fabs(s->problem.u[r] - x->b[r]));
        }
    }
    return mixed;
}

/* The end of the step, moved straight by what p has changed by since it was gone to: what that
 * misses is of the order of h times the change. v_a, v_e, Wp: those of then. */
static void shift(rb_node *x, const double *v_a, const double *v_e, const double *Wp)
{
    rb_stage *s = x->s;
    const rb_model *m = s->m;
    for (int j = 0; j < m->nv; j++) {
        int rests = s->answer.resting[m->link_tree[m->dof_link[j]]];
        x->f[j] = rests ? 0.0 : x->v_e[j] - v_e[j];
        x->v_end[j] += 2.0 * x->f[j] - (x->v_a[j] - v_a[j]);
        x->v_mean[j] += x->f[j];
        x->dv[j] = x->v_end[j] - x->v_a[j];
    }
    rb_integrate(m, s->answer.q, x->f, s->h, x->q);
    copy(s->answer.q, x->q, m->nq);
    rb_node_hold_resting(s);
    for (int i = 0; i < s->set.ncontact; i++) {
        int row = s->set.c[i].row;
        if (x->at[i] >= 0) x->end[x->at[i]].at.gap += s->h * (x->Wp[row] - Wp[row]);
    }
    if (m->neq > 0) rb_node_foresee_loops(x);
}

/* Largest change of the velocities of rows; Wp: before it. Loops are to close more closely than
 * rows need to agree: what the straight way leaves open is h times their change. */
static double change_of(rb_node *x, const double *Wp)
{
    const rb_constraints *set = &x->s->set;
    double change = 0.0, loops = fmin(1.0, fmax(LOOPS_CHANGE, rb_node_loops_share(x)));
    x->closing = 0.0;
    for (int i = 0; i < set->n; i++) {
        double share = set->c[i].kind == RB_CONSTRAINT_EQUALITY ? loops : 1.0;
        for (int r = set->c[i].row; r < set->c[i].row + set->c[i].nrow; r++)
            change = fmax(change, fabs(x->Wp[r] - Wp[r]) / share);
        if (i < set->ncontact) x->closing = fmax(x->closing, change);
    }
    return change;
}

/* Rounds shrink the change of velocities of rows by the rate that the last two tell; what is left
 * after this one and the straight way is that much less than its own change. Wp: before it; mixed:
 * what the answer would miss however little it changes. */
static int is_done(rb_node *x, const double *Wp, double mixed)
{
    double before = x->change, change = change_of(x, Wp);
    double allowed = fmin(rb_node_allowed(x), RB_TOL_STANDARD * x->speed); /* gaps bend by it */
    double rate = x->solved > 1 && change < before ? change / before : 1.0;
    x->change = change;
    x->fine |= change <= NEARLY * allowed;
    if (mixed > allowed || !x->exact || !x->looked || x->low > 1.0) return 0;
    return change <= allowed || rate * change <= (1.0 - rate) * SURE * allowed;
}

/* s->u of constraint i as if its rows were straight; x->b: J v_mean. */
static void straighten(rb_node *x, int i)
{
    rb_stage *s = x->s;
    const rb_constraint *c = &s->set.c[i];
    for (int r = c->row; r < c->row + c->nrow; r++) s->problem.u[r] = x->b[r] - x->Wp[r];
    if (c->kind <= RB_CONSTRAINT_LIMIT) s->problem.u[c->row] += (c->gap - x->goal[i]) / s->h;
    if (c->kind != RB_CONSTRAINT_EQUALITY) return;
    for (int r = c->row; r < c->row + c->nrow; r++)
        s->problem.u[r] += rb_stage_loop_share(s) * s->set.error[r] / s->h;
}

/* The values of a first round are those of a motion without the right impulses: at a dead centre
 * between limits loops are open there by what no impulse closes. Values of rows that were straight
 * are no more than the velocity asks for. */
static void straighten_all(rb_node *x, const unsigned char *skip)
{
    const rb_constraints *set = &x->s->set;
    rb_constraints_velocity(set, x->v_mean, x->b);
    for (int i = 0; i < set->n; i++) {
        if (set->c[i].island < 0 || !skip[set->c[i].island]) straighten(x, i);
    }
}

/* In large islands they bend rows against each other, by the square of a motion that is not that of
 * the answer: far more than their tolerance, so that the problem may be far from any answer, and
 * mostly less than what is missed without another problem. Rows of the first one are straight. */
static void straighten_large(rb_node *x, const unsigned char *skip)
{
    const rb_stage *s = x->s;
    rb_constraints_velocity(&s->set, x->v_mean, x->b);
    for (int i = 0; i < s->set.n; i++) {
        const rb_constraint *c = &s->set.c[i];
        int known = c->island < 0 || skip[c->island] || c->kind == RB_CONSTRAINT_EQUALITY;
        if (!known && rb_node_is_large(s, c->island)) straighten(x, i);
    }
}

/* Impulses of islands that are not skipped; the first ones of loops once more, if need be. */
static rb_status solve_islands(rb_node *x, const unsigned char *skip)
{
    rb_stage *s = x->s;
    double residual = s->info->residual, in_velocity = s->info->velocity_residual;
    rb_status status = rb_stage_solve_others(s, skip);
    if (status != RB_UNSOLVED || x->solved > 1 || s->m->neq == 0) return status;
    s->info->residual = residual; /* what was refused is not reported as accepted */
    s->info->velocity_residual = in_velocity;
    straighten_all(x, skip);
    return rb_stage_solve_others(s, skip);
}

/* p of the rows with the values that were found; done: it changes so little that the end is where
 * it was, but for a straight way. */
static rb_status solve(rb_node *x, int *done)
{
    rb_stage *s = x->s;
    rb_mark mark = rb_arena_mark(s->d->arena);
    double *Wp = rb_push(s->d->arena, double, s->set.nrow);
    double *p = rb_push(s->d->arena, double, s->set.nrow);
    double *v_a = rb_push(s->d->arena, double, 2 * (size_t)s->m->nv), *v_e = v_a + s->m->nv;
    unsigned char *skip = rb_push(s->d->arena, unsigned char, s->set.nisland);
    if (!Wp || !p || !v_a || !skip) return RB_NOMEM;
    copy(Wp, x->Wp, s->set.nrow);
    copy(p, s->answer.p, s->set.nrow);
    copy(v_a, x->v_a, s->m->nv);
    copy(v_e, x->v_e, s->m->nv);
    for (int k = 0; k < s->set.nisland; k++) skip[k] = s->answer.still[k] || holds(x, k);
    double mixed = foresee(x);
    if (x->tried == 0) straighten_large(x, skip);
    x->solved++;
    x->there = 0;
    s->attempt.last = s->set;
    s->attempt.last_p = x->tried++ > 0 ? p : NULL; /* the first one is not followed from p */
    s->attempt.iteration = x->solved - 1;          /* in the names of problems */
    rb_status status = solve_islands(x, skip);
    s->attempt.iteration = 0;
    s->attempt.last_p = NULL;
    s->attempt.no_answer = status == RB_UNSOLVED;
    if (status != RB_OK) return status;
    memset(x->answered, 1, (size_t)s->set.nisland);
    push(x);
    *done = is_done(x, Wp, mixed);
    if (*done) shift(x, v_a, v_e, Wp);
    if (*done && rb_node_limits_missing(x)) *done = 0;
    rb_arena_reset(s->d->arena, mark);
    return RB_OK;
}

/* ---- the rule ---------------------------------------------------------------------------------
 */

/* Rounds that do not end have come as far as will do, but for gaps: those are looked at. */
static int may_end(const rb_node *x)
{
    const rb_stage *s = x->s;
    return s->attempt.may_overlap > 0 &&
           s->info->loop_error <= s->attempt.may_overlap * s->given->open_most;
}

static rb_status refuse(rb_node *x, int rounds)
{
    rb_stage *s = x->s;
    if (rb_stage_measure_gaps(s, x->end, x->nend) > 1.0) return rb_stage_refuse_gaps(s, rounds);
    return rb_fail(s->err, RB_UNSOLVED, "%d rounds of the step do not end: shorten it", rounds);
}

/* Digits of smooth motion that rows cannot see: loops can, and the length of a tendon along its
 * path is known where the model was looked at. */
static int needs_no_look(const rb_model *m)
{
    return m->neq == 0 && m->nspatial == 0;
}

/* The first impulses where dofs are coupled: those that the node asks for. Where its rows have no
 * answer, rounds begin as they do elsewhere. */
static rb_status predict(rb_node *x)
{
    rb_stage *s = x->s;
    rb_mark mark = rb_arena_mark(s->d->arena);
    double residual = s->info->residual, in_velocity = s->info->velocity_residual;
    double *p = rb_push(s->d->arena, double, s->set.nrow);
    if (!p) return RB_NOMEM;
    rb_status status = rb_node_predict(x);
    if (status != RB_OK) return status;
    copy(p, s->answer.p, s->set.nrow);
    memset(x->Wp, 0, (size_t)s->set.nrow * sizeof *x->Wp);
    straighten_all(x, s->answer.still);
    status = rb_stage_solve_others(s, s->answer.still);
    x->tried = status == RB_OK;
    if (status == RB_UNSOLVED) {
        copy(s->answer.p, p, s->set.nrow);
        memset(s->problem.u, 0, (size_t)s->set.nrow * sizeof *s->problem.u);
        s->info->residual = residual; /* what was refused is not reported as accepted */
        s->info->velocity_residual = in_velocity;
        status = RB_OK;
    }
    rb_arena_reset(s->d->arena, mark);
    return status;
}

static rb_status do_rounds(rb_node *x)
{
    rb_stage *s = x->s;
    int done = 0;
    double least = INFINITY, begun = s->meter->all, first = 0.0;
    s->attempt.no_answer = 0;
    x->fine = s->m->nlink - 1 == s->m->ntree; /* no chains: nothing is saved */
    rb_status status = s->answer.residual ? RB_OK : rb_stage_solve_begin(s);
    if (status == RB_OK && x->all && s->set.nrow > 0) status = predict(x);
    double last = INFINITY;
    for (int round = 0; status == RB_OK; round++) {
        int struck = 0;
        status = follow(x);
        if (status != RB_OK || s->set.nrow == 0) return status;
        status = rb_node_impact(x, &struck);
        if (struck) x->there = 0;
        if (status != RB_OK || struck) continue;
        rb_node_find_speed(x);
        double missed = rb_node_missed(x);
        if (missed <= 1.0 && x->low <= 1.0 && x->exact && x->looked) return RB_OK;
        x->fine |= missed <= 1.0 || round > 3;
        x->there = x->exact;
        if (missed <= 1.0) x->closing = INFINITY; /* what comes is looked at */
        int ends = missed <= 1.0 && x->looked && x->low <= 1.0;
        if (ends && !x->exact && needs_no_look(s->m)) return move(x);
        if (missed <= 1.0 && (!x->exact || !x->looked)) continue;
        if (missed <= 1.0 && x->low > 1.0) {
            int lifted = 0;
            status = rb_node_lift(x, &lifted);
            if (status != RB_OK || lifted) return status;
            x->lifted_not = 1;
            missed = rb_node_missed(x);
        }
        if (x->solved == 0) least = INFINITY; /* other rows */
        int stalls = x->exact && x->solved > 3 && x->off > STALLS * least;
        if (stalls && missed <= ENOUGH && (s->attempt.final || x->sunk <= 1.0)) return RB_OK;
        int most = s->attempt.final ? LAST_ROUNDS : ROUNDS;
        if (round >= most && may_end(x)) return RB_OK;
        int strays = x->off > STRAYS * least && s->meter->all - begun > PATIENCE * first;
        if (round >= most || (round > 1 && strays && !s->attempt.final)) return refuse(x, round);
        least = fmin(least, x->off);
        if (x->all && missed > SLOW * last) {
            status = rb_node_refactor(x);
            if (status != RB_OK) return status;
            push(x);
        }
        last = missed;
        status = solve(x, &done);
        if (first == 0.0) first = s->meter->all - begun;
        if (status == RB_OK && done) return RB_OK;
    }
    return status;
}

static double all_mass(const rb_model *m)
{
    double mass = 0.0;
    for (int k = 1; k < m->nlink; k++) mass += m->link_mass[k];
    return mass;
}

/* Work of rows that take off overlap of steps before, and errors of loops: it lifts the bodies on
 * top, and moves links, however short the part is [J]. At most what lifts and moves all of them by
 * all errors: impulses that are far above weight, at a dead centre, make speed of them instead. */
static double lifting(const rb_node *x)
{
    const rb_stage *s = x->s;
    double work = 0.0, way = 0.0, share = rb_stage_loop_share(s);
    for (int i = 0; i < s->set.n; i++) {
        const rb_constraint *c = &s->set.c[i];
        const double *p = s->answer.p + c->row, *error = s->set.error + c->row;
        double up = c->kind <= RB_CONSTRAINT_LIMIT ? fmax(0.0, x->goal[i] - c->gap) : 0.0;
        work += p[0] * up;
        way += up;
        for (int r = 0; r < c->nrow && c->kind == RB_CONSTRAINT_EQUALITY; r++) {
            work += fmax(0.0, -share * p[r] * error[r]);
            way += share * fabs(error[r]);
        }
    }
    double speed = way / s->h;
    return fmin(work / s->h, all_mass(s->m) * (s->given->gravity * way + 0.5 * speed * speed));
}

/* Checks what the step promises (S.17). Where halves of the step do not cure an overlap, a little
 * more is accepted and reported. */
static rb_status check_gaps(rb_node *x)
{
    rb_stage *s = x->s;
    if (rb_stage_is_soft(s) || s->o->max_repair == 0) return RB_OK;
    double worst = rb_stage_measure_gaps(s, x->end, x->nend);
    if (worst <= 1.0 + RB_NODE_SINKS) return RB_OK;
    if (worst > s->attempt.may_overlap) return rb_stage_refuse_gaps(s, s->info->repairs);
    s->info->below_accuracy++;
    return RB_OK;
}

/* Work of impulses along what is rounding of positions [J]. */
static double rounding(const rb_node *x)
{
    const rb_stage *s = x->s;
    double sum = 0.0;
    for (int r = 0; r < s->set.nrow; r++) sum += fabs(s->answer.p[r]);
    return 64.0 * RB_EPS * s->given->size / s->h * sum;
}

static double kinetic(rb_node *x, const double *v)
{
    const rb_model *m = x->s->m;
    double sum = 0.0;
    rb_mass_multiply(m, x->s->d, v, x->f);
    for (int j = 0; j < m->nv; j++) sum += 0.5 * v[j] * x->f[j];
    return sum;
}

/* Kinetic energy of all links at the speed that weight gives in a step [J]. */
static double of_weight(const rb_stage *s)
{
    double speed = s->given->gravity * s->h;
    return 0.5 * all_mass(s->m) * speed * speed;
}

/* Contact that lasts makes and loses a little, of second order; more than that comes of steps that
 * are too long. Impulses of loops that spin fast and what smooth motion takes of them are far more
 * than what moves: there the velocities that are reported say how much that is. */
static int makes_energy(rb_node *x)
{
    rb_stage *s = x->s;
    int last = s->attempt.final && (s->attempt.relaxed || !s->attempt.may_relax);
    if (!(s->answer.energy > rounding(x)) || last) return 0;
    double T = kinetic(x, x->v_a) + kinetic(x, x->dv);
    if (s->m->neq > 0) T = fmin(T, kinetic(x, x->v_given) + kinetic(x, s->answer.v) + of_weight(s));
    return s->answer.energy - lifting(x) > fmax(MADE_MOST, MADE_TOL * s->attempt.tol) * T;
}

void rb_node_find_way(const rb_node *x, double *v)
{
    const rb_stage *s = x->s;
    const rb_model *m = s->m;
    rb_difference(m, s->start.q, s->answer.q, v);
    for (int j = 0; j < m->nv; j++) v[j] /= s->h;
    for (int j = 0; j < m->njnt; j++) {
        int type = m->jnt_type[j], at = m->jnt_dofadr[j] + (type == RB_JOINT_FREE ? 3 : 0);
        if (type != RB_JOINT_FREE && type != RB_JOINT_BALL) continue;
        double w[3];
        for (int k = 0; k < 3; k++) w[k] = 0.5 * (x->v_a[at + k] + x->v_end[at + k]);
        if (s->h * rb_norm3(w) > 1.0) memcpy(v + at, w, sizeof w);
    }
}

/* What located and hybrid steps look at beyond the end. */
static rb_status look_on(rb_stage *s)
{
    double worst;
    return s->events.seen ? rb_stage_check(s, &worst) : RB_OK;
}

/* Change of velocities that contacts are looked for with: more than weight gives in a step, so that
 * impulses seldom lead into what has no row. Where there are many, rows that push nothing cost
 * more. */
static double slack_of(const rb_stage *s)
{
    double many = s->d->ntouch > RB_UNIQUE_CONTACTS ? 1.0 : 2.0;
    return many * s->given->gravity * s->h;
}

rb_status rb_stage_node(rb_stage *s)
{
    rb_node x = { .s = s, .slack = slack_of(s) };
    begin(s);
    rb_status status = take_memory(&x);
    if (status != RB_OK) return status;
    begin_velocity(&x);
    recall_servos(&x);
    note_servos(&x);
    s->smooth.memory = &x.memory;
    status = rb_node_rows(&x);
    if (status == RB_OK) status = rb_node_rest_on(&x);
    if (status == RB_OK) recall_friction(s);
    rb_node_scale_friction(s, 0.5);
    if (status == RB_OK) status = do_rounds(&x);
    rb_node_scale_friction(s, 2.0);
    if (status == RB_OK) status = check_gaps(&x);
    if (status == RB_OK) status = rb_node_come_to_rest(&x);
    if (status == RB_OK) rb_node_find_way(&x, s->answer.v_way);
    if (status == RB_OK) status = rb_node_report(&x);
    report_servos(&x);
    s->smooth.memory = NULL;
    if (status == RB_OK) status = rb_stage_tunnelling(s);
    if (status == RB_OK) status = look_on(s);
    s->attempt.gains = status == RB_OK && makes_energy(&x);
    if (s->attempt.gains)
        status = rb_fail(s->err, RB_UNSOLVED, "contact makes energy: shorten the step");
    if (status != RB_OK) copy(s->start.v, x.v_given, s->m->nv);
    return status;
}
