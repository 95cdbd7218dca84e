/* While everything is far from everything else, smooth motion is the motion: no rows are looked
 * for. What is far is not looked at while something else is near.
 *
 * At some q* the gap of each pair of geoms that may touch was at least g. Joints, all of them
 * hinges, go straight from q* to q and q+, the ends of a step with v at its end. Link k turns on
 * the way to q+, and to q and by its velocity within the step, by no more than
 *
 *     t_k = t_c + max(|sum q - q*| + h |sum v|, |sum q+ - q*|)
 *
 * with sums over parallel hinges on c. From link p to k, by l_k in the axes of p and from the
 * anchor a_k of the hinge, everything moves by no more than
 *
 *     X_k = X_p + t_p (|l_k| + |a_k|) + t_k |a_k|
 *     Y_g = X_k + t_k r_g + 2 (h W_k)^2 (r_g + |l_k| + 2 |a_k|)
 *
 * where r_g is how far geom g reaches out of its link, and the last term, with a bound W of all
 * angular velocities up to k, is what a swept box (G.13) has beside the velocity of its centre.
 * Nobody can meet, at the start of the step nor at its end, if for all pairs a, b, both carried by
 * link c,
 *
 *     Y_a + Y_b - 2 X_c + 2 h dv  <  g                                                       (S.59)
 *
 * Where some pairs are nearer than that would stay for RB_CLEAR_STEPS, these are looked at in every
 * step and (S.59) is asked of all others: rows are looked for among the near ones only, and so is
 * overlap at the end of the step, if, along the straight way of the joints to q+,
 *
 *     t_k = t_c + |sum q+ - q*|,   Y_a + Y_b - 2 X_c  <  g   with   Y_g = X_k + t_k r_g      (S.80)
 *
 * Those are bounds: whether they are looked at does not change a bit of the answer, and q* is no
 * part of the state. */
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/constants.h"
#include "collide/bounds.h"
#include "collide/filter.h"
#include "collide/shape.h"
#include "math/vec3.h"
#include "step/stage.h"

/* How a link may have moved. */
typedef struct bounds {
    double base_t, base_w;   /* of what carries the parallel hinges it hangs on                  */
    double start, end, rate; /* their sums of q - q*, q+ - q*, h v                               */
    double t, w, W;          /* t_k, and bounds of h times the angular velocity: of k, of all    */
    double X;                /*                                                              [m] */
} bounds;

/* The same at the end of a step, from q* [0] and from q0 [1] on. */
typedef struct shift {
    double base[2], sum[2], t[2], X[2];
} shift;

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

/* r_g: how far the surface is from the origin of its link, as turns of the link see it. */
static double reach_out(const rb_model *m, const rb_data *d, int g)
{
    int k = m->geom_link[g];
    rb_shape shape = rb_geom_shape(m, d, g);
    double r[3];
    if (k == 0) return 0.0;
    rb_sub3(shape.p, d->link_p + 3 * (ptrdiff_t)k, r);
    return rb_norm3(r) + rb_bounds_arm(&shape);
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

/* All pairs that may touch, and what is known of links and geoms; poses are those of d. */
static rb_status list(const rb_model *m, rb_data *d)
{
    rb_filter filter;
    rb_mark mark = rb_arena_mark(d->arena);
    rb_status status = rb_filter_make(m, d->arena, &filter);
    int n = 0, pair;
    for (int k = 1; k < m->nlink; k++) d->clear_link[k] = make_link(m, k);
    for (int g = 0; g < m->ngeom; g++) {
        rb_clear_link *link = &d->clear_link[m->geom_link[g]];
        d->clear_out[g] = reach_out(m, d, g);
        link->out = fmax(link->out, d->clear_out[g]);
    }
    for (int g1 = 0; g1 < m->ngeom && status == RB_OK; g1++) {
        for (int g2 = g1 + 1; g2 < m->ngeom; g2++) {
            if (!rb_filter_pass(&filter, g1, g2, &pair)) continue;
            int common = common_link(m, m->geom_link[g1], m->geom_link[g2]);
            d->clear[n++] = (rb_clear_pair){ .geom = { g1, g2 }, .pair = pair, .common = common };
        }
    }
    d->clear_n = n;
    d->clear_of = m;
    d->clear_parent = m->option.filter_parent;
    rb_arena_reset(d->arena, mark);
    return status;
}

static int is_listed(const rb_model *m, const rb_data *d)
{
    return d->clear_of == m && d->clear_parent == m->option.filter_parent;
}

/* ---- gaps -------------------------------------------------------------------------------------
 */

/* Radius of a ball about its centre that contains the shape [m]. */
static double outer(const rb_shape *shape)
{
    int is_round = shape->type == RB_GEOM_SPHERE || shape->type == RB_GEOM_CAPSULE;
    return rb_bounds_arm(shape) + (is_round ? shape->size[0] : 0.0);
}

/* Gap of that ball to the other one, at most the true gap of both [m]. */
static double gap_of_ball(const rb_shape *shape, const rb_shape *other)
{
    double r[3], x[3];
    rb_sub3(shape->p, other->p, r);
    rb_rot_t(other->R, r, x);
    if (other->type == RB_GEOM_PLANE) return x[2] - outer(shape);
    if (other->type != RB_GEOM_BOX) return rb_norm3(r) - outer(shape) - outer(other);
    for (int k = 0; k < 3; k++) x[k] = fmax(0.0, fabs(x[k]) - other->size[k]);
    return rb_norm3(x) - outer(shape);
}

static double gap_of(const rb_model *m, const rb_data *d, const rb_clear_pair *pair)
{
    rb_shape a = rb_geom_shape(m, d, pair->geom[0]), b = rb_geom_shape(m, d, pair->geom[1]);
    return fmax(gap_of_ball(&a, &b), gap_of_ball(&b, &a));
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
    const rb_clear_link *link = &s->d->clear_link[k];
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
static double reach_of(const rb_clear_link *link, const bounds *x, double r)
{
    return x->X + x->t * r + 2.0 * x->W * x->W * (r + link->length + link->arm);
}

/* Y of all geoms. Returns 0 where it is not finite. */
static int reach(const rb_stage *s, const bounds *link, double *Y)
{
    const rb_model *m = s->m;
    const rb_data *d = s->d;
    double sum = 0.0;
    for (int g = 0; g < m->ngeom; g++) {
        int k = m->geom_link[g];
        Y[g] = reach_of(&d->clear_link[k], &link[k], d->clear_out[g]);
        sum += Y[g];
    }
    return sum < INFINITY;
}

static double slack_of(const rb_stage *s)
{
    return 2.0 * s->h * s->h * s->gravity + RB_GAP_DEEP * s->size;
}

/* (S.59) of all pairs that are not near. What is not a number holds nothing. */
static int holds(const rb_stage *s, const bounds *link, const double *Y)
{
    const rb_data *d = s->d;
    double slack = slack_of(s);
    for (int i = 0; i < d->clear_n; i++) {
        const rb_clear_pair *pair = &d->clear[i];
        double off = Y[pair->geom[0]] + Y[pair->geom[1]] - 2.0 * link[pair->common].X;
        if (!(off + slack < pair->gap) && !pair->near) return 0;
    }
    return 1;
}

/* Those that would not last, at clear_q. */
static void find_near(const rb_stage *s, const bounds *link, const double *Y)
{
    rb_data *d = s->d;
    double slack = slack_of(s);
    d->clear_near = 0;
    d->clear_least = INFINITY;
    for (int i = 0; i < d->clear_n; i++) {
        rb_clear_pair *pair = &d->clear[i];
        double off = Y[pair->geom[0]] + Y[pair->geom[1]] - 2.0 * link[pair->common].X;
        pair->near = !(RB_CLEAR_STEPS * off + slack < pair->gap);
        d->clear_near += pair->near;
        if (!pair->near) d->clear_least = fmin(d->clear_least, pair->gap);
    }
}

/* From clear_q on; those that are near are found first where that is wanted. Where nothing has
 * moved by half of the least gap, pairs are not looked at one by one. */
static int is_clear(rb_stage *s, int find)
{
    const rb_model *m = s->m;
    rb_arena *arena = s->d->arena;
    rb_mark mark = rb_arena_mark(arena);
    bounds *link = rb_push(arena, bounds, m->nlink);
    double *Y = rb_push(arena, double, m->ngeom);
    double room = 0.5 * (s->d->clear_least - slack_of(s));
    int clear = link && Y, few = clear && !find && room < INFINITY;
    if (clear) {
        const rb_clear_link *of = s->d->clear_link;
        link[0] = (bounds){ .t = 0.0 };
        for (int k = 1; k < m->nlink; k++) {
            of_link(s, k, &link[m->link_parent[k]], s->d->clear_q, &link[k]);
            few &= reach_of(&of[k], &link[k], of[k].out) < room;
        }
    }
    if (clear && !few) {
        clear = reach(s, link, Y);
        if (clear && find) find_near(s, link, Y);
        clear = clear && holds(s, link, Y);
    }
    rb_arena_reset(arena, mark);
    return clear;
}

/* ---- the end of the step -----------------------------------------------------------------------
 */

/* Link k on p. */
static void shift_link(const rb_stage *s, int k, const shift *p, shift *x)
{
    const rb_model *m = s->m;
    const rb_clear_link *link = &s->d->clear_link[k];
    const double *from[2] = { s->d->clear_q, s->q0 };
    shift y = *p;
    for (int j = m->link_jntadr[k]; j < m->link_jntadr[k] + m->link_jntnum[k]; j++) {
        int at = m->jnt_qadr[j];
        for (int i = 0; i < 2; i++) {
            double dq = s->q_new[at] - from[i][at];
            if (link->sign == 0) y.base[i] = y.t[i], y.sum[i] = 0.0;
            y.sum[i] += link->sign < 0 ? -dq : dq;
            y.t[i] = y.base[i] + fabs(y.sum[i]);
        }
    }
    for (int i = 0; i < 2; i++) y.X[i] = p->X[i] + p->t[i] * link->length + y.t[i] * link->arm;
    *x = y;
}

/* How far the points of geom g have moved at most. */
static double way_of(const rb_stage *s, const shift *link, int g, int i)
{
    const shift *x = &link[s->m->geom_link[g]];
    return x->X[i] + x->t[i] * s->d->clear_out[g];
}

/* (S.80) of all pairs that are not near. */
static int stay_far(const rb_stage *s, const shift *link)
{
    const rb_data *d = s->d;
    double slack = RB_GAP_DEEP * s->size;
    for (int i = 0; i < d->clear_n; i++) {
        const rb_clear_pair *pair = &d->clear[i];
        if (pair->near) continue;
        double off = way_of(s, link, pair->geom[0], 0) + way_of(s, link, pair->geom[1], 0);
        if (!(off - 2.0 * link[pair->common].X[0] + slack < pair->gap)) return 0;
    }
    return 1;
}

/* Ways from q0 on are those that near pairs may have gone through each other on. */
int rb_stage_far_holds(rb_stage *s)
{
    const rb_model *m = s->m;
    rb_arena *arena = s->d->arena;
    rb_mark mark = rb_arena_mark(arena);
    shift *link = rb_push(arena, shift, m->nlink);
    double room = 0.5 * (s->d->clear_least - RB_GAP_DEEP * s->size);
    if (!link) return 0;
    int far = 1;
    link[0] = (shift){ .t = { 0.0 } };
    for (int k = 1; k < m->nlink; k++) {
        const shift *x = &link[k];
        shift_link(s, k, &link[m->link_parent[k]], &link[k]);
        far &= x->X[0] + x->t[0] * s->d->clear_link[k].out < room;
    }
    far = far || stay_far(s, link);
    for (int i = 0; far && i < s->near.n; i++) {
        const int *pair = s->near.pair[i];
        for (int side = 0; side < 2; side++)
            s->near.way[pair[side]] = way_of(s, link, pair[side], 1);
    }
    rb_arena_reset(arena, mark);
    return far;
}

/* ---- the calls --------------------------------------------------------------------------------
 */

rb_status rb_stage_note_clear(rb_stage *s)
{
    const rb_model *m = s->m;
    rb_data *d = s->d;
    d->clear_known = 0;
    if (m->ngeom > RB_CLEAR_GEOMS || !takes_step(s) || !takes_model(m)) return RB_OK;
    rb_status status = is_listed(m, d) ? RB_OK : list(m, d);
    if (status != RB_OK) return status;
    for (int i = 0; i < d->clear_n; i++) d->clear[i].gap = gap_of(m, d, &d->clear[i]);
    memcpy(d->clear_q, s->q0, (size_t)m->nq * sizeof *d->clear_q);
    d->clear_known = is_clear(s, 1);
    return RB_OK;
}

int rb_stage_is_clear(rb_stage *s)
{
    rb_data *d = s->d;
    if (!d->clear_known || !is_listed(s->m, d) || !takes_step(s)) return 0;
    d->clear_known = s->listed = is_clear(s, 0);
    return s->listed && d->clear_near == 0 && !s->rough && d->ntouch == 0;
}

int rb_stage_list_near(rb_stage *s)
{
    const rb_model *m = s->m;
    rb_data *d = s->d;
    rb_near *near = &s->near;
    *near = (rb_near){ .known = 1, .capacity = d->clear_near };
    near->pair = (int(*)[3])rb_arena_push(d->arena, (size_t)near->capacity, sizeof *near->pair);
    near->room = rb_push(d->arena, double, m->ngeom);
    near->way = rb_push(d->arena, double, m->ngeom);
    if (!near->pair || !near->room || !near->way) return 0;
    for (int g = 0; g < m->ngeom; g++) near->room[g] = near->way[g] = 0.0;
    for (int i = 0; i < d->clear_n; i++) {
        const rb_clear_pair *pair = &d->clear[i];
        if (!pair->near) continue;
        int *to = near->pair[near->n++];
        to[0] = pair->geom[0], to[1] = pair->geom[1], to[2] = pair->pair;
    }
    return 1;
}

void rb_stage_take_free(rb_stage *s)
{
    const rb_model *m = s->m;
    unsigned char *none[] = { s->pushed, s->overlaps, s->held, s->carried, s->resting };
    memcpy(s->v_new, s->v_free, (size_t)m->nv * sizeof *s->v_new);
    memcpy(s->q_new, s->q_free, (size_t)m->nq * sizeof *s->q_new);
    for (int i = 0; i < 5; i++) memset(none[i], 0, (size_t)m->ntree);
    s->first_v = NULL;
    s->last_p = NULL;
    s->gain = s->energy = 0.0;
    s->info->contacts = s->info->islands = s->info->resting = 0;
    s->info->penetration = 0.0;
}
