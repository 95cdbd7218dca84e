/* Time of impact by conservative advancement with curved bounds.
 *
 * At time t the shapes are a gap phi apart along n. Let n rotate with an angular velocity w_f:
 * zero, that of shape 1 or that of shape 2, so that it follows the face that it belongs to. Along n
 * the distance of two points after s more seconds is at least
 *
 *     n.(x2 - x1) + s (n.(u2 - u1) + (w_f x n).(x2 - x1)) - s^2/2 M                           (T.2)
 *
 * with their velocities u = v + w x r and a bound M of its second derivative. The least over all
 * points of a shape is a support value: n.r + s n.((w - w_f) x r) = (n + s n x (w - w_f)).r. So
 *
 *     B(s) = n.(p2 - p1) + s (n.(v2 - v1) + (w_f x n).(p2 - p1)) - s^2/2 M
 *            + min over r2 of (n + s n x (w2 - w_f)).r2
 *            - max over r1 of (n + s n x (w1 - w_f)).r1                                       (T.3)
 *
 * is a bound that holds for all points, at the price of two support points. B is concave and
 * B(0) = phi: the shapes are apart for s up to its root, chords of B find the root from below, and
 * since B is right to the second order the advance converges quadratically to the impact. */
#include "collide/toi.h"

#include <math.h>

#include "base/constants.h"
#include "collide/core.h"
#include "collide/pairs.h"
#include "collide/surface.h"
#include "math/quat.h"
#include "math/vec3.h"

enum {
    MOST_STEPS = 1000, /* lines that turn while they are nearly parallel have needed 160 */
    MOST_CHORDS = 20   /* of one advance; each is safe, the next only longer                      */
};

/* How much longer than without turning an advance with a turning normal may be [1]. Larger: its
 * bound of the second derivative is coarser. */
#define TURNING 16.0

/* Both shapes at one time. */
typedef struct moment {
    rb_placement at[2];
    rb_core core[2];
    rb_manifold_point closest;
    double scale; /* of the pair: extents and distance [m] */
} moment;

typedef struct search {
    const rb_mover *m[2];
    moment now;
    double w_f[3]; /* how the normal rotates                                   */
    double bend;   /* M                                                        */
    double shell;  /* distance to keep [m]                                     */
} search;

/* ---- one moment --------------------------------------------------------------------------------
 */

static rb_shape shape_at(const rb_mover *m, const rb_placement *pose)
{
    rb_shape s = m->shape;
    s.p = pose->p;
    s.R = pose->R;
    return s;
}

/* Cores and scale of the shapes where they are. 0: a shape has no core. */
static int take_cores(const rb_shape shape[2], moment *out)
{
    out->scale = fabs(out->closest.gap);
    for (int k = 0; k < 2; k++) {
        if (shape[k].type == RB_GEOM_PLANE) continue;
        if (!rb_core_make(&shape[k], out->at[k].p, &out->core[k])) return 0;
        out->scale = fmax(out->scale, out->core[k].extent + out->core[k].radius);
    }
    return 1;
}

/* Poses and gap at time t. 0: no entry in the pair table. */
static int look(const search *s, double t, moment *out)
{
    rb_shape shape[2];
    rb_manifold points = { .n = 0, .most = 1 };
    for (int k = 0; k < 2; k++) {
        s->m[k]->pose(s->m[k]->ctx, t, &out->at[k]);
        shape[k] = shape_at(s->m[k], &out->at[k]);
        if (rb_is_surface(&shape[k])) return 0;
    }
    if (!rb_pair_call(&shape[0], &shape[1], INFINITY, &points) || points.n == 0) return 0;
    int best = 0;
    for (int i = 1; i < points.n; i++)
        if (points.point[i].gap < points.point[best].gap) best = i;
    out->closest = points.point[best];
    return take_cores(shape, out);
}

/* Largest value of d.r over the points r of a shape about its centre, and the rate w x r of that
 * point along n. A plane does not turn: d is its normal, or points the other way by rounding. */
static double reach(search *q, int k, const double w[3], const double d[3], double *rate)
{
    rb_core *core = &q->now.core[k];
    *rate = 0.0;
    if (q->m[k]->shape.type == RB_GEOM_PLANE) return 0.0;
    double x[3], turn[3], length = rb_norm3(d);
    rb_core_support(core, d, x);
    rb_axpy3(core->radius / length, d, x);
    rb_cross3(w, x, turn);
    *rate = rb_dot3(q->now.closest.normal, turn);
    return rb_dot3(d, x);
}

/* B(s) of (T.3) less the shell, and its slope. */
static double bound(search *q, double s, double *slope)
{
    const rb_placement *p1 = &q->now.at[0], *p2 = &q->now.at[1];
    const double *n = q->now.closest.normal;
    double w1[3], w2[3], d1[3], d2[3], dp[3], dv[3], dn[3], rate1, rate2;
    rb_sub3(p1->w, q->w_f, w1);
    rb_sub3(p2->w, q->w_f, w2);
    rb_cross3(n, w1, d1);
    rb_cross3(n, w2, d2);
    rb_scale3(s, d1, d1);
    rb_scale3(-s, d2, d2);
    rb_add3(d1, n, d1);
    rb_sub3(d2, n, d2); /* min of a direction is minus the max of its opposite */
    rb_sub3(p2->p, p1->p, dp);
    rb_sub3(p2->v, p1->v, dv);
    rb_cross3(q->w_f, n, dn);
    double far1 = reach(q, 0, w1, d1, &rate1), far2 = reach(q, 1, w2, d2, &rate2);
    double speed = rb_dot3(n, dv) + rb_dot3(dn, dp);
    *slope = speed - s * q->bend - rate1 + rate2;
    return rb_dot3(n, dp) + s * (speed - 0.5 * s * q->bend) - far1 - far2 - q->shell;
}

/* First s > 0 with value + slope s - bend s^2 / 2 = 0, value >= 0; INFINITY: none. */
static double root_of(double value, double slope, double bend)
{
    double below = sqrt(slope * slope + 2.0 * bend * value) - slope;
    return below > 0.0 ? 2.0 * value / below : INFINITY;
}

/* How long the shapes are certainly apart, at most `most`. B is concave, and so is B without its
 * last term: its chords lie below it, its tangent parabolas above it. */
static double advance(search *q, double margin, double most)
{
    double slope, unused, lo = 0.0, at_lo = bound(q, 0.0, &slope) - margin;
    for (int k = 0; k < MOST_CHORDS && at_lo > 0.0; k++) {
        double hi = fmin(most, lo + root_of(at_lo, slope, q->bend));
        double at_hi = bound(q, hi, &unused) - margin;
        if (at_hi >= -0.5 * margin) return hi;
        double next = lo + (hi - lo) * (at_lo / (at_lo - at_hi));
        double here = bound(q, next, &slope) - margin;
        if (!(next > lo) || here < -0.5 * margin) break; /* rounding */
        int close = next - lo <= 1e-2 * next;
        lo = next;
        at_lo = here;
        if (close) break;
    }
    return lo;
}

/* Greatest relative speed and distance of any two points now, and greatest change of the speed. */
typedef struct limits {
    double speed, distance, change;
} limits;

static limits limits_of(const search *q)
{
    const moment *m = &q->now;
    double dv[3], da[3], dp[3];
    rb_sub3(m->at[1].v, m->at[0].v, dv);
    rb_sub3(m->at[1].p, m->at[0].p, dp);
    rb_sub3(q->m[1]->a, q->m[0]->a, da);
    limits l = { .speed = rb_norm3(dv),
                 .distance = rb_norm3(dp),
                 .change = rb_norm3(da) + q->m[0]->bend + q->m[1]->bend };
    for (int k = 0; k < 2; k++) {
        if (q->m[k]->shape.type == RB_GEOM_PLANE) continue;
        double size = m->core[k].extent + m->core[k].radius;
        l.speed += rb_norm3(m->at[k].w) * size;
        l.distance += size;
    }
    return l;
}

/* How long the spheres around both shapes are apart, however fast these rotate (T.6). */
static double spheres_apart(const search *q, double margin)
{
    const moment *m = &q->now;
    double dp[3], dv[3], da[3], size[2] = { 0.0, 0.0 };
    int plane = -1;
    rb_sub3(m->at[1].p, m->at[0].p, dp);
    rb_sub3(m->at[1].v, m->at[0].v, dv);
    rb_sub3(q->m[1]->a, q->m[0]->a, da);
    for (int k = 0; k < 2; k++) {
        if (q->m[k]->shape.type == RB_GEOM_PLANE)
            plane = k;
        else
            size[k] = m->core[k].extent + m->core[k].radius;
    }
    double apart = plane >= 0 ? fabs(rb_dot3(m->closest.normal, dp)) : rb_norm3(dp);
    double room = apart - size[0] - size[1] - margin;
    if (!(room > 0.0)) return 0.0;
    return root_of(room, -rb_norm3(dv), rb_norm3(da) + q->m[0]->path + q->m[1]->path);
}

/* The best of: the greatest speed in any direction (T.5), a fixed normal,
 * normals that rotate with one of the shapes. For the latter M holds for a limited time. */
static double best_advance(search *q, double room, double margin, double most)
{
    limits l = limits_of(q);
    double s = root_of(room, -l.speed, l.change), da[3];
    const double *n = q->now.closest.normal;
    rb_sub3(q->m[1]->a, q->m[0]->a, da);
    rb_zero3(q->w_f);
    q->bend = q->m[0]->bend + q->m[1]->bend - fmin(0.0, rb_dot3(n, da));
    s = fmax(s, advance(q, margin, most));
    if (s >= most) return most;
    int plane = q->m[0]->shape.type == RB_GEOM_PLANE || q->m[1]->shape.type == RB_GEOM_PLANE;
    for (int k = 0; k < 2; k++) {
        double w = rb_norm3(q->now.at[k].w), limit = fmin(most, TURNING * s);
        if (plane || w == 0.0) continue;
        double speed = l.speed + limit * l.change, distance = l.distance + limit * speed;
        rb_copy3(q->now.at[k].w, q->w_f);
        q->bend = l.change + w * (2.0 * speed + w * distance); /* (T.4) */
        s = fmax(s, advance(q, margin, limit));
    }
    return s;
}

/* ---- the search --------------------------------------------------------------------------------
 */

static rb_status finish(rb_toi *out, rb_toi_outcome outcome, double time,
                        const rb_manifold_point *at)
{
    out->outcome = outcome;
    out->time = time;
    if (at) out->at = *at;
    return RB_OK;
}

rb_status rb_toi_find(const rb_mover *m1, const rb_mover *m2, double horizon, rb_toi *out)
{
    search q = { .m = { m1, m2 } };
    moment later;
    double t = 0.0;
    *out = (rb_toi){ .late = INFINITY };
    if (!look(&q, 0.0, &q.now)) return RB_UNSUPPORTED;
    for (out->steps = 1; out->steps < MOST_STEPS; out->steps++) {
        const rb_manifold_point *c = &q.now.closest;
        double margin = RB_GAP_TIE * q.now.scale;
        if (!isfinite(c->gap) || !(rb_dot3(c->normal, c->normal) > 0.5)) return RB_BAD_INPUT;
        if (t == 0.0 && c->gap <= 0.0) return finish(out, RB_TOI_OVERLAP, 0.0, c);
        if (t >= horizon) return finish(out, RB_TOI_NONE, INFINITY, NULL);

        double s = 0.0;
        if (c->gap > margin) s = spheres_apart(&q, margin);
        if (c->gap > margin && t + s < horizon)
            s = fmax(s, best_advance(&q, c->gap - margin, margin, horizon - t));
        if (t + s >= horizon) return finish(out, RB_TOI_NONE, INFINITY, NULL);
        double next = t + s;
        if (s <= 0.1 * RB_TOI_PRECISION) {
            double late = fmin(horizon, next + RB_TOI_PRECISION);
            if (!look(&q, late, &later)) return RB_UNSUPPORTED;
            out->steps++;
            out->late = late;
            if (later.closest.gap <= margin) return finish(out, RB_TOI_HIT, next, c);
            if (!(next > t)) break;
        }
        t = next;
        if (!look(&q, t, &q.now)) return RB_UNSUPPORTED;
    }
    int close = q.now.closest.gap <= RB_SAME_POINT * q.now.scale;
    return finish(out, close ? RB_TOI_GRAZES : RB_TOI_UNFINISHED, t, &q.now.closest);
}

double rb_toi_apart(const rb_mover m[2], const rb_placement at[2], const rb_manifold_point *closest,
                    double shell, double most)
{
    search q = { .m = { &m[0], &m[1] }, .shell = shell };
    rb_shape shape[2];
    q.now.closest = *closest;
    for (int k = 0; k < 2; k++) {
        q.now.at[k] = at[k];
        shape[k] = shape_at(&m[k], &q.now.at[k]);
    }
    if (!take_cores(shape, &q.now)) return 0.0;
    double margin = RB_GAP_TIE * q.now.scale, room = closest->gap - shell - margin;
    return room > 0.0 ? best_advance(&q, room, margin, most) : 0.0;
}

/* ---- rigid flight ------------------------------------------------------------------------------
 */

/* A shape fixed to a body in flight. */
typedef struct rider {
    const rb_ballistic *flight;
    const double *R0;
    double offset[3]; /* of the shape from c, at time 0 */
} rider;

static void fly(const void *ctx, double t, rb_placement *out)
{
    const rider *r = ctx;
    const rb_ballistic *f = r->flight;
    double turn[3], q[4], Q[9], arm[3], spin[3];
    rb_scale3(t, f->w, turn);
    rb_quat_exp(turn, q);
    rb_quat_to_rot(q, Q);
    rb_mul33(Q, r->R0, out->R);
    rb_rot(Q, r->offset, arm);
    rb_cross3(f->w, arm, spin);
    for (int i = 0; i < 3; i++) {
        out->p[i] = f->c[i] + t * (f->v[i] + 0.5 * t * f->a[i]) + arm[i];
        out->v[i] = f->v[i] + t * f->a[i] + spin[i];
        out->w[i] = f->w[i];
    }
}

static int finite_flight(const rb_shape *s, const rb_ballistic *f)
{
    double sum = 0.0;
    for (int i = 0; i < 3; i++)
        sum += fabs(f->c[i]) + fabs(f->v[i]) + fabs(f->a[i]) + fabs(f->w[i]) + fabs(s->p[i]);
    for (int i = 0; i < 9; i++) sum += fabs(s->R[i]);
    return isfinite(sum);
}

rb_status rb_toi_shapes(const rb_shape *shape1, const rb_ballistic *flight1, const rb_shape *shape2,
                        const rb_ballistic *flight2, double horizon, rb_toi *out)
{
    const rb_shape *shape[2] = { shape1, shape2 };
    const rb_ballistic *flight[2] = { flight1, flight2 };
    rider r[2];
    rb_mover m[2];
    if (!(horizon >= 0.0) || !isfinite(horizon)) return RB_BAD_INPUT;
    for (int k = 0; k < 2; k++) {
        const rb_ballistic *f = flight[k];
        double spin = rb_norm3(f->w), arm = 0.0;
        if (!finite_flight(shape[k], f)) return RB_BAD_INPUT;
        r[k] = (rider){ .flight = f, .R0 = shape[k]->R };
        rb_sub3(shape[k]->p, f->c, r[k].offset);
        if (shape[k]->type == RB_GEOM_PLANE) {
            if (spin > 0.0) return RB_UNSUPPORTED;
        } else {
            rb_core core;
            if (!rb_core_make(shape[k], shape[k]->p, &core)) return RB_UNSUPPORTED;
            arm = rb_norm3(r[k].offset) + core.extent + core.radius;
        }
        m[k] =
            (rb_mover){ .shape = *shape[k], .pose = fly, .ctx = &r[k], .bend = spin * spin * arm };
        rb_copy3(f->a, m[k].a);
        if (spin > 0.0) m[k].path = spin * spin * rb_norm3(r[k].offset);
    }
    return rb_toi_find(&m[0], &m[1], horizon, out);
}
