/* Two convex shapes that move apart from each other by v t keep a distance D(t), a convex function
 * of t with D' = n.v. Rotation and changes of velocity reduce it by at most k t. So the shapes are
 * apart while
 *
 *     f(t) = D(t) - k t > 0                                                                 (G.31)
 *
 * f is convex, its tangents lie below it: Newton's method from t = 0 approaches the first zero from
 * the left and never passes it, and a tangent that does not fall proves that there is none. Nor is
 * there one where D(t) > k t + (k + |v|) (h - t), so that no distance need be known beyond that.
 * Before a plane f is straight, and its first tangent ends at its zero. A sphere that flies past
 * the edge of a plate is distinguished from one that hits it. */
#include "collide/sweep.h"

#include <math.h>

#include "base/constants.h"
#include "math/vec3.h"

enum { MAX_TANGENTS = 24 }; /* convergence is quadratic; more counts as a hit */

/* Part of the first gap below which what is left of it counts as a hit [1]. Larger: near misses
 * become contacts. Smaller: more tangents for the same answer. */
static const double hit = 1e-9;

/* Part of the step within which the first tangent may end to count as a hit [1]: bodies at rest
 * have gaps of rounding size. Larger: near misses become contacts. Smaller: one more look at them.
 */
static const double soon = 1e-3;

static const rb_manifold_point *closest(const rb_manifold *m)
{
    const rb_manifold_point *best = &m->point[0];
    for (int i = 1; i < m->n; i++) {
        if (m->point[i].gap < best->gap) best = &m->point[i];
    }
    return best;
}

/* The closest points alone come so near: |r + v t| <= k t for some t up to h, as D(t) is not more
 * than the left side. */
static int points_meet(const rb_manifold_point *now, const double v[3], double spread, double h)
{
    double along = now->gap * rb_dot3(now->normal, v), square = now->gap * now->gap;
    double bend = rb_dot3(v, v) - spread * spread;
    if (h * (h * bend + 2.0 * along) + square <= 0.0) return 1;
    return bend > 0.0 && along < 0.0 && -along <= h * bend && along * along >= bend * square;
}

int rb_sweep_meets(const rb_shape *shape1, const rb_motion *motion1, const rb_shape *shape2,
                   const rb_motion *motion2, double h, const rb_manifold_point *now)
{
    double v[3], p[3], spread = motion1->spread + motion2->spread, t = 0.0, first = now->gap;
    rb_shape moved = *shape2;
    rb_manifold manifold;
    manifold.most = 1;
    rb_sub3(motion2->v, motion1->v, v);
    int straight = shape1->type == RB_GEOM_PLANE || shape2->type == RB_GEOM_PLANE;
    double speed = rb_norm3(v) * (1.0 + RB_GAP_TIE);
    moved.p = p;
    for (int i = 0; i < MAX_TANGENTS; i++) {
        double f = now->gap - spread * t;
        if (f <= hit * first) return 1;
        double fall = spread - rb_dot3(now->normal, v);
        if (!(fall > 0.0)) return 0;
        t += f / fall;
        if (t > h) return 0;
        if (i == 0 && (t <= soon * h || straight || points_meet(now, v, spread, h))) return 1;

        rb_copy3(shape2->p, p);
        rb_axpy3(t, v, p);
        rb_pair_call(shape1, &moved, spread * t + (spread + speed) * (h - t), &manifold);
        if (manifold.n == 0) return 0;
        now = closest(&manifold);
    }
    return 1;
}
