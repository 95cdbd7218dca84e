/* The next impact of a model: every pair of geoms that may touch, on the way that their links take.
 *
 * A body that flies alone has a pose in closed form. A link of a mechanism moves as its joints do,
 * with constant rates: its pose comes from the kinematics at that time. Every point of it then has
 * an acceleration of at most
 *
 *     2 sum_k |w_k| sum_k s_k                                                                 (T.7)
 *
 * with the angular velocities w_k of the joints up to the root and bounds s_k of the speed that
 * joint k gives to the points of the geom: the second derivative of a product of motions has the
 * terms w_j x (velocity by k), twice for j above k. */
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "collide/core.h"
#include "model/filter.h"
#include "collide/surface.h"
#include "collide/toi.h"
#include "math/quat.h"
#include "math/vec3.h"
#include "rattleback/dynamics.h"
#include "rattleback/impact.h"

/* The model at a time; kinematics run once for each time. */
typedef struct timeline {
    const rb_model *m;
    rb_data *d;
    double *q0; /* coordinates at the start (nq)                                     */
    double now;
} timeline;

/* A geom and how it moves. */
typedef struct traveller {
    timeline *line;
    int geom, link, flies;
    double c[3], v[3], a[3], w[3]; /* a free body: its centre of mass                 */
    double R0[9], offset[3];       /* of the geom at the start, from c                */
    double p0[3];
} traveller;

/* ---- poses -------------------------------------------------------------------------------------
 */

static void set_time(timeline *k, double t)
{
    if (t == k->now) return;
    if (t > 0.0)
        rb_integrate(k->m, k->q0, k->d->v, t, k->d->q);
    else
        memcpy(k->d->q, k->q0, (size_t)k->m->nq * sizeof *k->q0);
    rb_kinematics(k->m, k->d);
    rb_velocity(k->m, k->d);
    rb_frames(k->m, k->d);
    k->now = t;
}

static void fly(const traveller *g, double t, rb_placement *out)
{
    double turn[3], q[4], Q[9], arm[3], spin[3];
    rb_scale3(t, g->w, turn);
    rb_quat_exp(turn, q);
    rb_quat_to_rot(q, Q);
    rb_mul33(Q, g->R0, out->R);
    rb_rot(Q, g->offset, arm);
    rb_cross3(g->w, arm, spin);
    for (int i = 0; i < 3; i++) {
        out->p[i] = g->c[i] + t * (g->v[i] + 0.5 * t * g->a[i]) + arm[i];
        out->v[i] = g->v[i] + t * g->a[i] + spin[i];
        out->w[i] = g->w[i];
    }
}

static void pose(const void *ctx, double t, rb_placement *out)
{
    const traveller *g = ctx;
    if (g->flies) {
        fly(g, t, out);
        return;
    }
    memset(out, 0, sizeof *out);
    if (g->link == 0) { /* the world does not move */
        memcpy(out->p, g->p0, sizeof out->p);
        memcpy(out->R, g->R0, sizeof out->R);
        return;
    }
    set_time(g->line, t);
    const rb_data *d = g->line->d;
    double r[3], spin[3];
    memcpy(out->p, d->geom_p + 3 * (ptrdiff_t)g->geom, sizeof out->p);
    memcpy(out->R, d->geom_R + 9 * (ptrdiff_t)g->geom, sizeof out->R);
    rb_copy3(d->link_w + 3 * (ptrdiff_t)g->link, out->w);
    rb_sub3(out->p, d->link_p + 3 * (ptrdiff_t)g->link, r);
    rb_cross3(out->w, r, spin);
    rb_add3(d->link_v + 3 * (ptrdiff_t)g->link, spin, out->v);
}

/* ---- bounds ------------------------------------------------------------------------------------
 */

/* A link with a free joint that carries nothing and hangs on nothing. */
static int flies_alone(const rb_model *m, int link)
{
    if (m->link_jntnum[link] != 1 || m->jnt_type[m->link_jntadr[link]] != RB_JOINT_FREE) return 0;
    for (int k = 1; k < m->nlink; k++)
        if (m->link_parent[k] == link) return 0;
    return m->link_parent[link] == 0;
}

/* Angular speed and speed at distance `far` from the origin of the link that one joint gives. */
static void joint_speeds(const rb_model *m, const rb_data *d, int joint, double far, double *w,
                         double *speed)
{
    const double *v = d->v + m->jnt_dofadr[joint];
    double anchor = rb_norm3(m->jnt_pos + 3 * (ptrdiff_t)joint);
    switch ((rb_joint_type)m->jnt_type[joint]) {
    case RB_JOINT_FREE:
        *w = rb_norm3(v + 3);
        *speed = rb_norm3(v) + *w * far;
        return;
    case RB_JOINT_BALL:
        *w = rb_norm3(v);
        *speed = *w * (far + anchor);
        return;
    case RB_JOINT_HINGE:
        *w = fabs(v[0]);
        *speed = *w * (far + anchor);
        return;
    case RB_JOINT_SLIDE:
        *w = 0.0;
        *speed = fabs(v[0]);
        return;
    }
}

/* (T.7): distances are bounded for all angles of the joints, slides for the time of the search. */
static double bend_of(const rb_model *m, const rb_data *d, int geom, double size, double horizon)
{
    double r[3], far, turning = 0.0, speeds = 0.0;
    int link = m->geom_link[geom];
    rb_sub3(d->geom_p + 3 * (ptrdiff_t)geom, d->link_p + 3 * (ptrdiff_t)link, r);
    far = rb_norm3(r) + size;
    for (; link > 0; link = m->link_parent[link]) {
        int first = m->link_jntadr[link], end = first + m->link_jntnum[link];
        double swing = 0.0; /* how far several joints of a link carry its origin about */
        for (int j = first; j < end; j++)
            swing +=
                4.0 * rb_norm3(m->jnt_pos + 3 * (ptrdiff_t)j) +
                (m->jnt_type[j] == RB_JOINT_SLIDE ? horizon * fabs(d->v[m->jnt_dofadr[j]]) : 0.0);
        for (int j = first; j < end; j++) {
            double w = 0.0, speed = 0.0;
            joint_speeds(m, d, j, far + swing, &w, &speed);
            turning += w;
            speeds += speed;
        }
        far += swing + rb_norm3(d->link_l + 3 * (ptrdiff_t)link);
    }
    return 2.0 * turning * speeds;
}

static double size_of(const rb_shape *shape)
{
    rb_core core;
    if (shape->type == RB_GEOM_PLANE) return 0.0;
    return rb_core_make(shape, shape->p, &core) ? core.extent + core.radius : 0.0;
}

static rb_mover make_mover(const rb_model *m, const rb_data *d, double horizon, traveller *g)
{
    int body = m->geom_body[g->geom];
    rb_mover mover = { .shape = { .type = m->geom_type[g->geom],
                                  .size = m->geom_size + 3 * (ptrdiff_t)g->geom,
                                  .p = d->geom_p + 3 * (ptrdiff_t)g->geom,
                                  .R = d->geom_R + 9 * (ptrdiff_t)g->geom,
                                  .model = m,
                                  .asset = m->geom_asset[g->geom],
                                  .surface = rb_geom_is_surface(m, g->geom) },
                       .pose = pose,
                       .ctx = g };
    double size = size_of(&mover.shape);
    g->link = m->geom_link[g->geom];
    rb_copy3(mover.shape.p, g->p0);
    memcpy(g->R0, mover.shape.R, sizeof g->R0);
    g->flies = g->link > 0 && flies_alone(m, g->link);
    if (g->link > 0 && !g->flies) mover.path = mover.bend = bend_of(m, d, g->geom, size, horizon);
    if (!g->flies) return mover;

    double arm[3], spin[3];
    const double *w = d->link_w + 3 * (ptrdiff_t)g->link;
    rb_copy3(w, g->w);
    rb_copy3(d->link_c + 3 * (ptrdiff_t)g->link, arm);
    rb_add3(d->link_p + 3 * (ptrdiff_t)g->link, arm, g->c);
    rb_cross3(w, arm, spin);
    rb_add3(d->link_v + 3 * (ptrdiff_t)g->link, spin, g->v);
    rb_scale3(1.0 - m->body_gravcomp[body], m->option.gravity, g->a);
    rb_sub3(mover.shape.p, g->c, g->offset);
    rb_copy3(g->a, mover.a);
    mover.bend = rb_dot3(w, w) * (rb_norm3(g->offset) + size);
    mover.path = rb_dot3(w, w) * rb_norm3(g->offset);
    return mover;
}

/* ---- all pairs ---------------------------------------------------------------------------------
 */

static rb_status refuse(const rb_model *m, rb_status status, int g1, int g2, rb_error *err)
{
    char name1[160], name2[160];
    return rb_fail(err, status, "%s and %s: %s", rb_geom_title(m, g1, name1, sizeof name1),
                   rb_geom_title(m, g2, name2, sizeof name2),
                   status == RB_BAD_INPUT
                       ? "a pose or velocity is not finite, or too far away"
                       : "no time of impact of these shapes; expected convex ones, no height field "
                         "and no mesh that collides by its triangles");
}

static void take(rb_impact_time *out, int g1, int g2, const rb_toi *toi)
{
    out->pairs++;
    int meets = toi->outcome != RB_TOI_NONE && toi->outcome != RB_TOI_OVERLAP;
    if (toi->outcome == RB_TOI_OVERLAP) out->overlaps++;
    int first = out->toi.outcome == RB_TOI_NONE || out->toi.outcome == RB_TOI_OVERLAP;
    int better = meets ? first || toi->time < out->toi.time
                       : toi->outcome == RB_TOI_OVERLAP && out->toi.outcome == RB_TOI_NONE;
    if (!better) return;
    out->toi = *toi;
    out->geom1 = g1;
    out->geom2 = g2;
}

/* Squares of distances and speeds are finite. */
static rb_status check_geoms(const rb_model *m, const rb_data *d, rb_error *err)
{
    for (int g = 0; g < m->ngeom; g++) {
        const double *p = d->geom_p + 3 * (ptrdiff_t)g, *R = d->geom_R + 9 * (ptrdiff_t)g;
        const double *v = d->link_v + 3 * (ptrdiff_t)m->geom_link[g];
        const double *w = d->link_w + 3 * (ptrdiff_t)m->geom_link[g];
        double sum = rb_dot3(p, p) + rb_dot3(v, v) + rb_dot3(w, w);
        for (int k = 0; k < 9; k++) sum += R[k];
        if (isfinite(sum)) continue;
        char name[160];
        return rb_fail(err, RB_BAD_INPUT,
                       "%s: its pose or velocity is not finite, or it is too far away",
                       rb_geom_title(m, g, name, sizeof name));
    }
    return RB_OK;
}

static rb_status all_pairs(timeline *k, const rb_filter *filter, double horizon,
                           rb_impact_time *out, rb_error *err)
{
    const rb_model *m = k->m;
    rb_status right = check_geoms(m, k->d, err);
    if (right != RB_OK) return right;
    for (int g1 = 0; g1 < m->ngeom; g1++)
        for (int g2 = g1 + 1; g2 < m->ngeom; g2++) {
            int pair;
            if (!rb_filter_pass(filter, g1, g2, &pair)) continue;
            set_time(k, 0.0);
            traveller one = { .line = k, .geom = g1 }, two = { .line = k, .geom = g2 };
            rb_mover m1 = make_mover(m, k->d, horizon, &one);
            rb_mover m2 = make_mover(m, k->d, horizon, &two);
            rb_toi toi;
            int turns = (m1.shape.type == RB_GEOM_PLANE && one.link > 0) ||
                        (m2.shape.type == RB_GEOM_PLANE && two.link > 0);
            rb_status status = turns ? RB_UNSUPPORTED : rb_toi_find(&m1, &m2, horizon, &toi);
            if (status != RB_OK) return refuse(m, status, g1, g2, err);
            take(out, g1, g2, &toi);

            /* pairs that meet later are not the first */
            if (out->toi.outcome == RB_TOI_HIT) horizon = fmin(horizon, out->toi.late);
        }
    return RB_OK;
}

rb_status rb_impact_predict(const rb_model *m, rb_data *d, double horizon, rb_impact_time *out,
                            rb_error *err)
{
    *out =
        (rb_impact_time){ .toi = { .time = INFINITY, .late = INFINITY }, .geom1 = -1, .geom2 = -1 };
    if (!(horizon >= 0.0) || !isfinite(horizon))
        return rb_fail(err, RB_BAD_INPUT, "horizon: expected a finite number of seconds >= 0");
    rb_mark mark = rb_arena_mark(d->arena);
    timeline k = { .m = m, .d = d, .q0 = rb_push(d->arena, double, m->nq + 1) };
    rb_filter filter;
    rb_status status = k.q0 ? rb_filter_make(m, d->arena, &filter) : RB_NOMEM;
    if (status == RB_OK) {
        memcpy(k.q0, d->q, (size_t)m->nq * sizeof *k.q0);
        status = all_pairs(&k, &filter, horizon, out, err);
        set_time(&k, 0.0);
    } else {
        rb_fail(err, status, "out of memory for the pairs");
    }
    rb_arena_reset(d->arena, mark);
    return status;
}
