/* Capsule against capsule: the axes as segments, then the radii (G.1). Candidates are the crossing
 * of the axes, where it lies within both, and the four ends against the other axis. Nearly parallel
 * capsules rest on the ends of the part they have in common, each with its own gap. */
#include "base/constants.h"
#include "collide/feature.h"
#include "collide/manifold.h"
#include "collide/pairs.h"
#include "collide/segment.h"

typedef struct axes {
    rb_segment a, b;
    double r_a, r_b;
    double tie;
    double across[3]; /* unit, orthogonal to both: the normal where the axes meet */
    rb_points points;
} axes;

/* The spheres at s and t on both axes. `facing`: what the normal has to agree with, or NULL. */
static void add(axes *p, double s, double t, const double *facing)
{
    double x[3], y[3], n[3];
    rb_segment_at(&p->a, s, x);
    rb_segment_at(&p->b, t, y);
    rb_sub3(y, x, n);
    double distance = rb_normalize3(n);
    int end_a = rb_segment_end(&p->a, s), end_b = rb_segment_end(&p->b, t);
    if (distance <= p->tie || (!end_a && !end_b)) {
        /* rounding has no direction, and a crossing has exactly this one */
        rb_scale3(rb_dot3(n, p->across) < 0.0 ? -1.0 : 1.0, p->across, n);
    } else if (!end_a) {
        rb_straighten(p->a.u, n);
    } else if (!end_b) {
        rb_straighten(p->b.u, n);
    }
    if (facing && rb_dot3(facing, n) < RB_FACING) return;

    rb_axpy3(p->r_a, n, x);
    uint32_t half1 = rb_feature_half(RB_CURVED, end_a + 1);
    uint32_t half2 = rb_feature_half(RB_CURVED, end_b + 1);
    rb_points_add(&p->points, distance - (p->r_a + p->r_b), x, n, rb_feature(half1, half2));
}

/* Ends of a segment against the other; `order` says which is which. Ends that see only the end of
 * the other count for the distance, not for the line of contact. */
static void add_ends(axes *p, int of_b, const double *facing)
{
    const rb_segment *own = of_b ? &p->b : &p->a, *other = of_b ? &p->a : &p->b;
    for (int end = -1; end <= 1; end += 2) {
        double x[3];
        rb_segment_at(own, end * own->half, x);
        double foot = rb_segment_foot(other, x);
        if (facing && rb_segment_end(other, foot)) continue;
        if (of_b)
            add(p, foot, end * own->half, facing);
        else
            add(p, end * own->half, foot, facing);
    }
}

void rb_capsule_capsule(const rb_shape *a, const rb_shape *b, double reach, rb_manifold *out)
{
    axes p = { .a = rb_capsule_axis(a),
               .b = rb_capsule_axis(b),
               .r_a = a->size[0],
               .r_b = b->size[0],
               .points = { .n = 0 } };
    double w[3], m[3], s, t;
    rb_sub3(b->p, a->p, w);
    rb_grain grain = rb_grain_of(a->size[0] + a->size[1], b->size[0] + b->size[1], rb_norm3(w));
    p.tie = grain.tie;

    int crossing = rb_lines_cross(&p.a, &p.b, m, &s, &t);
    rb_copy3(m, p.across);
    if (!crossing) rb_orthogonal(p.a.u, p.across);
    rb_normalize3(p.across);
    rb_straighten(p.a.u, p.across);

    /* the closest pair */
    if (crossing && fabs(s) < p.a.half && fabs(t) < p.b.half) add(&p, s, t, NULL);
    add_ends(&p, 0, NULL);
    add_ends(&p, 1, NULL);
    int closest = rb_points_closest(&p.points, grain.tie);
    rb_manifold_point first = p.points.at[closest];

    /* and what else belongs to the line of contact */
    p.points.n = 1;
    p.points.at[0] = first;
    add_ends(&p, 0, first.normal);
    add_ends(&p, 1, first.normal);
    rb_points_finish(&p.points, first.normal, reach, grain, out);
}
