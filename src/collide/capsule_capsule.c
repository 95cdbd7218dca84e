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
    double m[3];  /* orthogonal to both, of no length where they are parallel */
    int crossing; /* 0: they are */
    rb_points points;
} axes;

/* The spheres at s and t on both axes. */
typedef struct place {
    double s, t, square; /* of their distance */
    double w[3];         /* from 1 to 2       */
} place;

static place place_at(const axes *p, double s, double t)
{
    place at = { .s = s, .t = t };
    double x[3];
    rb_segment_at(&p->a, s, x);
    rb_segment_at(&p->b, t, at.w);
    rb_sub3(at.w, x, at.w);
    at.square = rb_dot3(at.w, at.w);
    return at;
}

/* Unit, orthogonal to both axes: the normal where they meet. */
static void across(const axes *p, double n[3])
{
    rb_copy3(p->m, n);
    if (!p->crossing) rb_orthogonal(p->a.u, n);
    rb_unit(n);
    rb_straighten(p->a.u, n);
}

/* Ends 0, 1 of a and 2, 3 of b, each against the other axis. */
static place end_against(const axes *p, int i)
{
    const rb_segment *own = i < 2 ? &p->a : &p->b, *other = i < 2 ? &p->b : &p->a;
    double x[3], end = i % 2 ? own->half : -own->half;
    rb_segment_at(own, end, x);
    double foot = rb_segment_foot(other, x);
    return i < 2 ? place_at(p, end, foot) : place_at(p, foot, end);
}

/* `facing`: what the normal has to agree with, or NULL. */
static void add(axes *p, const place *at, const double *facing)
{
    double x[3], n[3], distance = sqrt(at->square);
    if (facing) {
        /* most are far from it, and known to be without a root; slack for rounding */
        double along = rb_dot3(facing, at->w), least = 0.99 * RB_FACING;
        if (distance > p->tie && (along < 0.0 || along * along < least * least * at->square))
            return;
    }
    rb_segment_at(&p->a, at->s, x);
    rb_copy3(at->w, n);
    rb_unit(n);
    int end_a = rb_segment_end(&p->a, at->s), end_b = rb_segment_end(&p->b, at->t);
    if (distance <= p->tie || (!end_a && !end_b)) {
        /* rounding has no direction, and a crossing has exactly this one */
        double m[3];
        across(p, m);
        rb_scale3(rb_dot3(n, m) < 0.0 ? -1.0 : 1.0, m, n);
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

void rb_capsule_capsule(const rb_shape *a, const rb_shape *b, double reach, rb_manifold *out)
{
    axes p;
    p.a = rb_capsule_axis(a);
    p.b = rb_capsule_axis(b);
    p.r_a = a->size[0];
    p.r_b = b->size[0];
    p.points.n = 0;
    double w[3], s, t;
    rb_sub3(b->p, a->p, w);
    rb_grain grain = rb_grain_of(a->size[0] + a->size[1], b->size[0] + b->size[1], rb_norm3(w));
    p.tie = grain.tie;
    p.crossing = rb_lines_cross(&p.a, &p.b, p.m, &s, &t);

    /* the closest pair: the crossing, else an end */
    place best = { .square = INFINITY }, ends[4];
    if (p.crossing && fabs(s) < p.a.half && fabs(t) < p.b.half) best = place_at(&p, s, t);
    for (int i = 0; i < 4; i++) {
        ends[i] = end_against(&p, i);
        if (ends[i].square >= best.square) continue;
        if (sqrt(ends[i].square) < sqrt(best.square) - grain.tie) best = ends[i];
    }
    add(&p, &best, NULL);
    double n[3];
    rb_copy3(p.points.at[0].normal, n);
    if (p.points.at[0].gap > reach) {
        out->n = 0;
        return;
    }

    /* and what else belongs to the line of contact: ends over the other, not over its end */
    for (int i = 0; i < 4 && out->most > 1; i++) {
        int over_end = i < 2 ? rb_segment_end(&p.b, ends[i].t) : rb_segment_end(&p.a, ends[i].s);
        if (!over_end && sqrt(ends[i].square) - (p.r_a + p.r_b) <= reach) add(&p, &ends[i], n);
    }
    rb_points_finish(&p.points, n, reach, grain, out);
}
