/* While all geoms are far from each other, smooth motion is the answer, and no rows are looked
 * for.
 *
 * At some configuration q* the gap of each pair of geoms that may touch was at least g. All joints
 * are hinges. They go straight from q* to q and to q+, the ends of a step with velocity v at its
 * end. Link k turns by no more than t_k on the way to q+, to q, and by its velocity within the
 * step:
 *
 *     t_k = t_c + max(|sum q - q*| + h |sum v|, |sum q+ - q*|)
 *
 * The sums are over parallel hinges on link c. From link p to k, with l_k in the axes of p and the
 * anchor a_k of the hinge, everything moves by no more than
 *
 *     X_k = X_p + t_p (|l_k| + |a_k|) + t_k |a_k|
 *     Y_g = X_k + t_k r_g + 2 (h W_k)^2 (r_g + |l_k| + 2 |a_k|)
 *
 * Here r_g is how far geom g reaches out of its link. The last term, with a bound W of all angular
 * velocities up to k, is what a swept box (G.30) adds to the velocity of its centre. Nothing can
 * meet, at the start of the step or at its end, if for all pairs a, b, both carried by link c,
 *
 *     Y_a + Y_b - 2 X_c + 2 h dv  <  g                                                       (S.33)
 *
 * g is what (G.33) leaves of the gap: gaps are not measured here. All of these are bounds. Whether
 * they are evaluated changes no bit of the answer, and q* is no part of the state. */
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/constants.h"
#include "collide/kept.h"
#include "math/vec3.h"
#include "model/cache.h"
#include "step/stage.h"

/* How a link may have moved. */
typedef struct bounds {
    double base_t, base_w;   /* of what carries the parallel hinges it hangs on                  */
    double start, end, rate; /* their sums of q - q*, q+ - q*, h v                               */
    double t, w, W;          /* t_k, and bounds of h times the angular velocity: of k, of all    */
    double X;                /*                                                              [m] */
} bounds;

/* ---- the model --------------------------------------------------------------------------------
 */

/* Contacts are the only rows there can be, and hinges the only joints. */
static int takes_model(const rb_model *m)
{
    if (m->nmocap > 0 || m->ngauge > 0 || m->neq > 0 || m->ntendon > 0) return 0;
    for (int j = 0; j < m->njnt; j++) {
        if (m->jnt_type[j] != RB_JOINT_HINGE || m->jnt_limited[j]) return 0;
        if (m->dof_frictionloss[m->jnt_dofadr[j]] > 0.0) return 0;
    }
    return 1;
}

/* Plain steps only. */
static int takes_step(const rb_stage *s)
{
    const rb_formulation *f = s->o->formulation;
    return s->o->stepper == RB_STEPPER_FIXED && s->o->scheme == RB_SCHEME_MIDPOINT && !f->ahead &&
           !f->nonlinear && !s->flight && !s->seen && s->seen_h == 0.0;
}

/* 1, -1: its hinge is parallel to that of the parent, whose turn does not move it; 0: it is not. */
static int sign_of(const rb_model *m, int k)
{
    int p = m->link_parent[k];
    if (p == 0 || m->link_jntnum[k] != 1 || m->link_jntnum[p] != 1) return 0;
    const double *T0 = m->link_turn + 27 * (ptrdiff_t)k, *T1 = T0 + 9;
    const double *of_parent = m->jnt_axis + 3 * (ptrdiff_t)m->link_jntadr[p];
    double R[9], axis[3], plus = 0.0, minus = 0.0;
    for (int i = 0; i < 9; i++) R[i] = T0[i] + T1[i]; /* not turned */
    rb_rot(R, m->jnt_axis + 3 * (ptrdiff_t)m->link_jntadr[k], axis);
    for (int i = 0; i < 3; i++) {
        plus = fmax(plus, fabs(axis[i] - of_parent[i]));
        minus = fmax(minus, fabs(axis[i] + of_parent[i]));
    }
    return plus <= RB_GAP_TIE ? 1 : minus <= RB_GAP_TIE ? -1 : 0;
}

static rb_clear_link make_link(const rb_model *m, int k)
{
    rb_clear_link link = { .length = rb_norm3(m->link_pos + 3 * (ptrdiff_t)k) };
    for (int j = m->link_jntadr[k]; j < m->link_jntadr[k] + m->link_jntnum[k]; j++)
        link.arm += rb_norm3(m->jnt_pos + 3 * (ptrdiff_t)j);
    link.length += link.arm;
    link.sign = sign_of(m, k);
    return link;
}

static int common_link(const rb_model *m, int a, int b)
{
    while (a != b) {
        int deeper = a > b;
        a = deeper ? m->link_parent[a] : a;
        b = deeper ? b : m->link_parent[b];
    }
    return a;
}

/* What is known of links and pairs. */
static void list(const rb_model *m, rb_data *d)
{
    rb_cache *cache = d->cache;
    for (int k = 1; k < m->nlink; k++) cache->clear_link[k] = make_link(m, k);
    for (int i = 0; i < m->nmeet; i++) {
        const int *geom = m->meet[i].geom;
        cache->clear[i].common = common_link(m, m->geom_link[geom[0]], m->geom_link[geom[1]]);
    }
    cache->clear_of = m;
}

/* ---- how far links have moved ------------------------------------------------------------------
 */

/* b is kept where it is not a number. */
static double larger(double a, double b)
{
    return a > b ? a : b;
}

/* Link k on p. */
static void of_link(const rb_stage *s, int k, const bounds *p, const double *q, bounds *x)
{
    const rb_model *m = s->m;
    const rb_clear_link *link = &s->d->cache->clear_link[k];
    bounds y = *p;
    for (int j = m->link_jntadr[k]; j < m->link_jntadr[k] + m->link_jntnum[k]; j++) {
        int at = m->jnt_qadr[j];
        double sign = link->sign < 0 ? -1.0 : 1.0;
        if (link->sign == 0) y = (bounds){ .base_t = y.t, .base_w = y.w, .W = y.W };
        y.start += sign * (s->q0[at] - q[at]);
        y.end += sign * (s->q_free[at] - q[at]);
        y.rate += sign * (s->h * s->v_free[m->jnt_dofadr[j]]);
        double rate = fabs(y.rate);
        y.t = y.base_t + larger(fabs(y.end), fabs(y.start) + rate);
        y.w = y.base_w + rate;
        y.W = larger(y.W, y.w);
    }
    y.X = p->X + p->t * link->length + y.t * link->arm;
    *x = y;
}

/* Y of a geom of a link, with r_g = r. */
static double motion_bound(const rb_clear_link *link, const bounds *x, double r)
{
    return x->X + x->t * r + 2.0 * x->W * x->W * (r + link->length + link->arm);
}

static double slack_of(const rb_stage *s)
{
    return 2.0 * s->h * s->h * s->gravity + RB_GAP_DEEP * s->size;
}

/* (S.33) of all pairs. What is not a number holds nothing. */
static int holds(const rb_stage *s, const bounds *link)
{
    const rb_model *m = s->m;
    const rb_data *d = s->d;
    double slack = slack_of(s);
    for (int i = 0; i < m->nmeet; i++) {
        const int *geom = m->meet[i].geom;
        double off = -2.0 * link[d->cache->clear[i].common].X;
        for (int k = 0; k < 2; k++) {
            int at = m->geom_link[geom[k]];
            off += motion_bound(&d->cache->clear_link[at], &link[at], d->cache->kept_out[geom[k]]);
        }
        if (!(off + slack < d->cache->clear[i].gap)) return 0;
    }
    return 1;
}

/* From clear_q on. Where nothing has moved by half of the least gap, pairs are not looked at one by
 * one. */
static int is_clear(rb_stage *s)
{
    const rb_model *m = s->m;
    rb_data *d = s->d;
    rb_mark mark = rb_arena_mark(d->arena);
    bounds *link = rb_push(d->arena, bounds, m->nlink);
    double room = 0.5 * (d->cache->clear_least - slack_of(s));
    int clear = link != NULL, few = clear;
    if (clear) {
        link[0] = (bounds){ .t = 0.0 };
        for (int k = 1; k < m->nlink; k++) {
            of_link(s, k, &link[m->link_parent[k]], d->cache->clear_q, &link[k]);
            few &=
                motion_bound(&d->cache->clear_link[k], &link[k], d->cache->kept_link_out[k]) < room;
        }
    }
    clear = few || (clear && holds(s, link));
    rb_arena_reset(d->arena, mark);
    return clear;
}

/* ---- the calls --------------------------------------------------------------------------------
 */

void rb_stage_note_clearance(rb_stage *s)
{
    const rb_model *m = s->m;
    rb_data *d = s->d;
    d->cache->clear_known = 0;
    if (d->nclear == 0 || !takes_step(s) || !takes_model(m) || !rb_kept_follow(m, d)) return;
    if (d->cache->clear_of != m) list(m, d);
    d->cache->clear_least = INFINITY;
    for (int i = 0; i < m->nmeet; i++) {
        double gap = d->cache->clear[i].gap = rb_kept_left(m, d, i);
        if (!(gap > 0.0)) return;
        d->cache->clear_least = fmin(d->cache->clear_least, gap);
    }
    memcpy(d->cache->clear_q, s->q0, (size_t)m->nq * sizeof *d->cache->clear_q);
    d->cache->clear_known = 1;
}

int rb_stage_is_clear(rb_stage *s)
{
    rb_data *d = s->d;
    if (!d->cache->clear_known || d->cache->clear_of != s->m || d->cache->kept_of != s->m ||
        !takes_step(s))
        return 0;
    if (d->cache->kept_parent != s->m->option.filter_parent) return 0;
    d->cache->clear_known = is_clear(s);
    return d->cache->clear_known && !s->rough && d->ntouch == 0;
}

void rb_stage_take_free(rb_stage *s)
{
    const rb_model *m = s->m;
    unsigned char *none[] = { s->pushed, s->overlaps, s->follows_rows, s->by_midpoint, s->resting };
    memcpy(s->v_new, s->v_free, (size_t)m->nv * sizeof *s->v_new);
    memcpy(s->q_new, s->q_free, (size_t)m->nq * sizeof *s->q_new);
    for (int i = 0; i < 5; i++) memset(none[i], 0, (size_t)m->ntree);
    s->first_v = NULL;
    s->last_p = NULL;
    s->energy_gain = s->energy = 0.0;
    s->info->contacts = s->info->islands = s->info->resting = 0;
    s->info->penetration = s->info->penetration_made = 0.0;
}
