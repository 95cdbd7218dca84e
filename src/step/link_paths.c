/* Bounds how far links go while their joints go straight.
 *
 * Joints go from q to q (+) dq, with s from 0 to 1. Links turn with w_k and their origins move
 * with x_k', both J(q) dq at s = 0. For a link k on p
 *
 *     w_k' = w_p' + w_p x (axis dq),        x_k'' = x_p'' + w_p' x l_k + w_p x (w_p x l_k)
 *
 * Joints keep their angle to the axes of the link they are on. So B, the bound of w', and W, X and
 * A, those of w, x' and x'', go from link to link:
 *
 *     B_k = B_p + |w_p(0) x axis dq| + B_p |dq|,     W_k = |w_k(0)| + B_k
 *     X_k = X_p + W_p |l_k|,                         A_k = A_p + (B_p + W_p^2) |l_k|         (S.4)
 *
 * The way back from q (+) dq has the same bounds, with J taken there. */
#include <math.h>

#include "math/vec3.h"
#include "step/motion.h"

/* Motion at one end of the way, and what is summed up beside dq. */
typedef struct motion {
    const double *S, *dq, *off;
} motion;

/* Joint j on x: what is before it in its link, and its parent. Returns its shift. */
static double add_joint(const rb_model *m, int j, const motion *at, rb_link_path *x)
{
    int type = m->jnt_type[j], first = m->jnt_dofadr[j];
    int count = type == RB_JOINT_FREE ? 6 : type == RB_JOINT_BALL ? 3 : 1;
    double turn[3] = { 0.0, 0.0, 0.0 }, bend[3];
    for (int i = first; i < first + count; i++) {
        const double *S = at->S + 6 * (ptrdiff_t)i;
        rb_axpy3(at->dq[i], S, turn);
        rb_axpy3(at->off[i], S, x->x_w);
        rb_axpy3(at->off[i], S + 3, x->x);
    }
    if (type == RB_JOINT_SLIDE) return fabs(at->dq[first]);
    rb_cross3(x->w, turn, bend);
    x->B += rb_norm3(bend) + x->B * rb_norm3(turn);
    rb_add3(x->w, turn, x->w);
    if (type == RB_JOINT_FREE) x->X += rb_norm3(at->dq + first);
    return 0.0;
}

/* Link k on its parent p. Between joints of one link the largest of all angles counts. */
static void of_link(const rb_model *m, int k, const double *l, const motion *at,
                    const rb_link_path *p, rb_link_path *x)
{
    double carried[3], W = p->W, slid = 0.0, arms = 0.0;
    *x = *p;
    rb_cross3(p->x_w, l, carried);
    rb_add3(x->x, carried, x->x);
    for (int j = m->link_jntadr[k]; j < m->link_jntadr[k] + m->link_jntnum[k]; j++) {
        slid += add_joint(m, j, at, x);
        W = fmax(W, rb_norm3(x->w) + x->B);
        arms += 2.0 * rb_norm3(m->jnt_pos + 3 * (ptrdiff_t)j);
    }
    double length = rb_norm3(l);
    x->W = rb_norm3(x->w) + x->B;
    x->X += p->W * length + W * arms + slid;
    x->A += (p->B + p->W * p->W) * length;
    if (arms > 0.0 || slid > 0.0) x->A += (x->B + W * W) * (arms + slid) + 2.0 * W * slid;
}

/* The same in a plane: hinges turn about one axis e, and nothing bends. */
static void of_flat(const rb_model *m, int k, const double *l, const motion *at,
                    const rb_link_path *p, rb_link_path *x)
{
    const double *e = m->plane_axes + 6, *S = at->S + 6 * (ptrdiff_t)(k - 1);
    double sign = m->plane_link[k].sign, carried[3], length = rb_norm3(l);
    double arms = 2.0 * rb_norm3(m->jnt_pos + 3 * (ptrdiff_t)(k - 1));
    rb_cross3(p->x_w, l, carried);
    for (int i = 0; i < 3; i++) {
        x->x[i] = p->x[i] + carried[i] + at->off[k - 1] * S[3 + i];
        x->x_w[i] = p->x_w[i] + sign * at->off[k - 1] * e[i];
        x->w[i] = p->w[i] + sign * at->dq[k - 1] * e[i];
    }
    double w = fabs(rb_dot3(x->w, e)), W = fmax(p->W, w);
    x->B = 0.0;
    x->W = w;
    x->X = p->X + p->W * length + W * arms;
    x->A = p->A + p->W * p->W * length + W * W * arms;
}

/* A mocap body goes straight and turns steadily. */
static rb_link_path of_kinematic(const rb_stage *s, int mocap)
{
    const double *v = s->d->mocap_v + 6 * (ptrdiff_t)mocap;
    rb_link_path x = { .W = s->h * rb_norm3(v + 3) };
    rb_scale3(s->h, v, x.x);
    rb_scale3(s->h, v + 3, x.x_w);
    rb_copy3(x.x_w, x.w);
    x.X = rb_norm3(x.x);
    return x;
}

static void of_any(const rb_stage *s, int k, const double *l, const motion *at,
                   const rb_link_path *p, rb_link_path *x)
{
    if (s->m->plane) {
        of_flat(s->m, k, l + 3 * (ptrdiff_t)k, at, p, x);
        return;
    }
    int mocap = s->m->nmocap > 0 ? s->m->body_mocap[s->m->link_body[k]] : -1;
    if (mocap >= 0)
        *x = of_kinematic(s, mocap);
    else
        of_link(s->m, k, l + 3 * (ptrdiff_t)k, at, p, x);
}

void rb_stage_link_paths(const rb_stage *s, const double *l, const double *S, const double *dq,
                         const double *off, rb_link_path *link)
{
    const rb_model *m = s->m;
    motion at = { S, dq, off };
    link[0] = (rb_link_path){ .W = 0.0 };
    for (int k = 1; k < m->nlink; k++) of_any(s, k, l, &at, &link[m->link_parent[k]], &link[k]);
}

rb_link_path rb_stage_link_path_on(const rb_stage *s, int n, const int *links, const double *dq)
{
    motion at = { s->d->dof_S, dq, dq };
    rb_link_path x = { .W = 0.0 };
    for (int i = 0; i < n; i++) {
        rb_link_path p = x;
        of_any(s, links[i], s->d->link_l, &at, &p, &x);
    }
    return x;
}
