/* Bounds how far links go within a step, by sums along the chains they hang on.
 *
 * The joints go straight from q0 to q_new. Link k on p turns by no more than W_k, and its origin
 * moves by no more than X_k. |dq| are the turns of its joints, s and ds the places of slides and
 * how far they go, a the anchors in the link, and l the place of the link on p:
 *
 *     W_k = W_p + sum |dq|,     X_k = X_p + W_p (|l| + |s| + 2 |a|) + 2 W_k |a| + |ds|
 *     way_k = X_k + W_k r_k                                                                  (S.28)
 *
 * where r_k is how far its geoms reach out of it. Where (G.33) leaves more of the gaps of q0 than
 * both ways, nothing touches at q_new, nor on the way, and neither is searched. Pairs on one first
 * link that moves freely have their ways measured on that link. */
#include <math.h>

#include "base/arena.h"
#include "base/constants.h"
#include "collide/kept.h"
#include "math/vec3.h"
#include "model/cache.h"
#include "step/contacts.h"

/* In the world [0], and on the first link [1]. */
typedef struct span {
    double W[2], X[2];
} span;

/* What the joints of a link do. */
typedef struct joints {
    double turn, slide; /* [rad], [m]                          */
    double arms;        /* twice the distance of anchors [m]   */
    double length;      /* from the origin of the parent [m]   */
} joints;

/* A turn that may be more than half of a whole one is not known by its end. */
static double turn_of(const rb_stage *s, int dof, const double *dq)
{
    double fast = fmax(rb_norm3(s->start.v + dof), rb_norm3(s->answer.v + dof));
    return s->h * fast < RB_PI ? rb_norm3(dq + dof) : INFINITY;
}

static joints joints_of(const rb_stage *s, int k, const double *dq)
{
    const rb_model *m = s->m;
    joints x = { .length = rb_norm3(m->link_pos + 3 * (ptrdiff_t)k) };
    for (int j = m->link_jntadr[k]; j < m->link_jntadr[k] + m->link_jntnum[k]; j++) {
        int dof = m->jnt_dofadr[j];
        x.arms += 2.0 * rb_norm3(m->jnt_pos + 3 * (ptrdiff_t)j);
        switch ((rb_joint_type)m->jnt_type[j]) {
        case RB_JOINT_HINGE:
            x.turn += fabs(dq[dof]);
            break;
        case RB_JOINT_SLIDE:
            x.slide += fabs(dq[dof]);
            x.length += fabs(dq[dof]) + fabs(s->start.q[m->jnt_qadr[j]] - m->jnt_ref[j]);
            break;
        case RB_JOINT_BALL:
            x.turn += turn_of(s, dof, dq);
            break;
        case RB_JOINT_FREE:
            x.turn += turn_of(s, dof + 3, dq);
            x.slide += rb_norm3(dq + dof);
            break;
        }
    }
    return x;
}

/* Link k on p. */
static span span_of(const joints *x, const span *p, int is_root)
{
    span y;
    for (int c = 0; c < 2; c++) {
        y.W[c] = p->W[c] + x->turn;
        y.X[c] = p->X[c] + p->W[c] * (x->length + x->arms) + y.W[c] * x->arms + x->slide;
    }
    if (is_root) y.W[1] = y.X[1] = 0.0;
    return y;
}

/* way (nlink x 2), and whether one of them is more than a share of what its link is thick. */
static int find_motions(const rb_stage *s, const double *dq, span *link, double *way, double share)
{
    const rb_model *m = s->m;
    const rb_data *d = s->d;
    int far = 0;
    link[0] = (span){ .W = { 0.0 } };
    way[0] = way[1] = 0.0;
    for (int k = 1; k < m->nlink; k++) {
        joints x = joints_of(s, k, dq);
        int root = d->cache->kept_root[k];
        link[k] = span_of(&x, &link[m->link_parent[k]], root == k);
        double *to = way + 2 * (ptrdiff_t)k, out = d->cache->kept_link_out[k];
        to[0] = link[k].X[0] + link[k].W[0] * out;
        to[1] = root > 0 ? link[k].X[1] + link[k].W[1] * out : 0.0;
        far |= !(to[0] <= share * d->cache->kept_thin[k]);
    }
    return far;
}

int rb_stage_nothing_touches(rb_stage *s)
{
    const rb_model *m = s->m;
    rb_data *d = s->d;
    s->near.moves_far = 1;
    if (!s->near.cached || s->near.calls != d->cache->kept_calls || d->cache->kept_of != m ||
        m->nmocap > 0 || m->ngauge > 0)
        return 0;
    rb_mark mark = rb_arena_mark(d->arena);
    double *dq = rb_push(d->arena, double, m->nv);
    double *way = rb_push(d->arena, double, 2 * (size_t)m->nlink);
    span *link = rb_push(d->arena, span, m->nlink);
    int alone = 0;
    if (dq && way && link) {
        rb_difference(m, s->start.q, s->answer.q, dq);
        s->near.moves_far = find_motions(s, dq, link, way, RB_THROUGH_SHARE);
        alone = rb_kept_stays(m, d, way, RB_GAP_DEEP * s->given->size);
    }
    rb_arena_reset(d->arena, mark);
    return alone;
}
