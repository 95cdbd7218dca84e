/* What the search for rows has seen need not be looked for again at the end of the step.
 *
 * Rows are looked for at q, where geoms have swept boxes along h v (G.13). Let joints go straight
 * from q to q+, s from 0 to 1, by dq. Links then turn with w_k and their origins move with x_k',
 * both J(q) dq at s = 0, and for a link k on p
 *
 *     w_k' = w_p' + w_p x (axis dq),        x_k'' = x_p'' + w_p' x l_k + w_p x (w_p x l_k)
 *
 * Joints keep their angle to the axes of the link they are on, so that B, the bound of w', and with
 * it those of w and x'', W and A, go from link to link:
 *
 *     B_k = B_p + |w_p(0) x axis dq| + B_p |dq|,     W_k = |w_k(0)| + B_k
 *     A_k = A_p + (B_p + W_p^2) |l_k|
 *
 * With e = J(q) (dq - h v) every point of a geom, its centre at r from the origin of its link and
 * its surface with the arm a about that, is within
 *
 *     |e_x| + |e_w| |r| + (A_k + (B_k + W_k^2) |r|) / 2 + W_k a                              (S.48)
 *
 * of where h v takes it. While that is less than the room its box had, pairs whose boxes did not
 * meet do not touch at q+. */
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "math/vec3.h"
#include "step/stage.h"

typedef struct leeway {
    double w[3];         /* turning at the start of the way, per way [rad]     */
    double e_w[3], e[3]; /* J(q) (dq - h v), turning [rad] and origin [m]       */
    double W, B, A;      /* bounds along the way [rad], [rad], [m]              */
} leeway;

static void copy(double *to, const double *from, int n)
{
    memcpy(to, from, (size_t)n * sizeof *to);
}

/* Poses of links move on before the way is known. */
static int remember(rb_stage *s)
{
    const rb_model *m = s->m;
    rb_data *d = s->d;
    s->near_l = rb_push(d->arena, double, 3 * (size_t)m->nlink);
    s->near_S = rb_push(d->arena, double, 6 * (size_t)m->nv);
    s->near_v = rb_push(d->arena, double, m->nv);
    if (!s->near_l || !s->near_S || !s->near_v || !rb_near_push(m, d->arena, &s->near)) return 0;
    copy(s->near_l, d->link_l, 3 * m->nlink);
    copy(s->near_S, d->dof_S, 6 * m->nv);
    copy(s->near_v, d->v, m->nv);
    return 1;
}

rb_status rb_stage_near_find(rb_stage *s, double slack)
{
    int may = s->m->nmocap == 0 && s->m->ngauge == 0 && s->seen_h == 0.0;
    if (may && !remember(s)) return RB_NOMEM;
    return rb_collide_noting(s->m, s->d, s->h, slack, s->d->touch_max, s->contacts, &s->ncontact,
                             may ? &s->near : NULL, s->err);
}

/* Joint j on x: what is before it in its link, and its parent. Returns the way of a slide. */
static double add_joint(const rb_stage *s, int j, const double *dq, leeway *x)
{
    const rb_model *m = s->m;
    int type = m->jnt_type[j], first = m->jnt_dofadr[j];
    int count = type == RB_JOINT_FREE ? 6 : type == RB_JOINT_BALL ? 3 : 1;
    double turn[3] = { 0.0, 0.0, 0.0 }, bend[3];
    for (int i = first; i < first + count; i++) {
        const double *S = s->near_S + 6 * (ptrdiff_t)i;
        double off = dq[i] - s->h * s->near_v[i];
        rb_axpy3(dq[i], S, turn);
        rb_axpy3(off, S, x->e_w);
        rb_axpy3(off, S + 3, x->e);
    }
    if (type == RB_JOINT_SLIDE) return fabs(dq[first]);
    rb_cross3(x->w, turn, bend);
    x->B += rb_norm3(bend) + x->B * rb_norm3(turn);
    rb_add3(x->w, turn, x->w);
    return 0.0;
}

/* Link k on its parent p. Between joints of one link the largest of all angles counts. */
static void of_link(const rb_stage *s, int k, const leeway *p, const double *dq, leeway *x)
{
    const rb_model *m = s->m;
    const double *l = s->near_l + 3 * (ptrdiff_t)k;
    double carried[3], W = p->W, slid = 0.0, arms = 0.0;
    *x = *p;
    rb_cross3(p->e_w, l, carried);
    rb_add3(x->e, carried, x->e);
    for (int j = m->link_jntadr[k]; j < m->link_jntadr[k] + m->link_jntnum[k]; j++) {
        slid += add_joint(s, j, dq, x);
        W = fmax(W, rb_norm3(x->w) + x->B);
        arms += 2.0 * rb_norm3(m->jnt_pos + 3 * (ptrdiff_t)j);
    }
    x->W = rb_norm3(x->w) + x->B;
    x->A += (p->B + p->W * p->W) * rb_norm3(l);
    if (arms > 0.0 || slid > 0.0) x->A += (x->B + W * W) * (arms + slid) + 2.0 * W * slid;
}

/* What is not a number holds nothing. */
static int geoms_hold(const rb_stage *s, const leeway *link)
{
    const rb_model *m = s->m;
    for (int g = 0; g < m->ngeom; g++) {
        int k = m->geom_link[g];
        if (k == 0) continue;
        const leeway *x = &link[k];
        double r = s->near.far[g];
        double off = rb_norm3(x->e) + rb_norm3(x->e_w) * r;
        off += 0.5 * (x->A + (x->B + x->W * x->W) * r);
        if (x->W > 0.0) off += x->W * s->near.arm[g];
        if (!(off < s->near.room[g])) return 0;
    }
    return 1;
}

int rb_stage_near_holds(rb_stage *s)
{
    const rb_model *m = s->m;
    rb_arena *arena = s->d->arena;
    if (!s->near.known || s->seen) return 0;
    rb_mark mark = rb_arena_mark(arena);
    double *dq = rb_push(arena, double, m->nv);
    leeway *link = rb_push(arena, leeway, m->nlink);
    int holds = dq && link;
    if (holds) {
        rb_difference(m, s->q0, s->q_new, dq);
        link[0] = (leeway){ .W = 0.0 };
        for (int k = 1; k < m->nlink; k++) of_link(s, k, &link[m->link_parent[k]], dq, &link[k]);
        holds = geoms_hold(s, link);
    }
    rb_arena_reset(arena, mark);
    return holds;
}
