/* From candidates to a manifold. Equal gaps and places are decided by the order of features, so
 * that rounding does not choose; and by an order that does not see which shape is the first, so
 * that exchanging the shapes keeps the same points. */
#include "collide/manifold.h"

#include "base/assert.h"
#include "base/constants.h"
#include "collide/feature.h"
#include "math/vec3.h"

rb_grain rb_grain_of(double extent1, double extent2, double distance)
{
    double large = fmax(fmax(extent1, extent2), distance), small = fmin(extent1, extent2);
    double tie = RB_GAP_TIE * large;
    return (rb_grain){ .tie = tie, .merge = fmax(RB_SAME_POINT * small, tie) };
}

void rb_points_add(rb_points *points, double gap, const double pos1[3], const double normal[3],
                   uint32_t feature)
{
    if (points->n == RB_POINTS_MAX) {
        RB_ASSERT(!"more candidates than two quadrilaterals can have");
        return;
    }
    rb_manifold_point *p = &points->at[points->n++];
    p->gap = gap;
    rb_copy3(pos1, p->pos1);
    rb_copy3(normal, p->normal);
    rb_copy3(pos1, p->pos2);
    rb_axpy3(gap, normal, p->pos2);
    p->feature = feature;
}

int rb_points_closest(const rb_points *points, double tie)
{
    double least = INFINITY;
    for (int i = 0; i < points->n; i++) least = fmin(least, points->at[i].gap);
    for (int i = 0; i < points->n; i++) {
        if (points->at[i].gap <= least + tie) return i;
    }
    return points->n > 0 ? 0 : -1;
}

/* From a to b, halfway between their witnesses. */
static void between(const rb_manifold_point *a, const rb_manifold_point *b, double r[3])
{
    for (int k = 0; k < 3; k++) {
        r[k] = 0.5 * (b->pos1[k] - a->pos1[k]) + 0.5 * (b->pos2[k] - a->pos2[k]);
    }
}

/* Square of the distance across the normal of a: points behind each other hold the same place. */
static double distance2(const rb_manifold_point *a, const rb_manifold_point *b)
{
    double r[3];
    between(a, b, r);
    rb_axpy3(-rb_dot3(r, a->normal), a->normal, r);
    return rb_dot3(r, r);
}

/* Of points at the same place the first stays, unless a later one is clearly closer. */
static void merge(rb_points *points, rb_grain grain)
{
    int kept = 0;
    for (int i = 0; i < points->n; i++) {
        rb_manifold_point *p = &points->at[i];
        int twin = 0;
        while (twin < kept && points->at[twin].feature != p->feature &&
               distance2(&points->at[twin], p) > grain.merge * grain.merge) {
            twin++;
        }
        if (twin == kept)
            points->at[kept++] = *p;
        else if (p->gap < points->at[twin].gap - grain.tie)
            points->at[twin] = *p;
    }
    points->n = kept;
}

/* Twice the area of the triangle a b c seen along n, counter-clockwise positive. */
static double area(const rb_manifold_point *a, const rb_manifold_point *b,
                   const rb_manifold_point *c, const double n[3])
{
    double r[3], s[3], w[3];
    between(a, b, r);
    between(a, c, s);
    rb_cross3(r, s, w);
    return rb_dot3(w, n);
}

/* What adding c to the triangle gains: twice the area of the part outside its longest-gain side. */
static double gain(const rb_manifold_point *t[3], const rb_manifold_point *c, const double n[3])
{
    double turn = area(t[0], t[1], t[2], n) < 0.0 ? -1.0 : 1.0, best = 0.0;
    for (int i = 0; i < 3; i++) {
        best = fmax(best, -turn * area(t[i], t[(i + 1) % 3], c, n));
    }
    return best;
}

/* The closest point, the one farthest from it, the one that spans the largest triangle with both,
 * and the one that adds most area to that (G.3). Points on a line: the two ends and the closest. */
static void reduce(rb_points *points, rb_grain grain)
{
    if (points->n <= RB_MANIFOLD_KEEP) return;
    const rb_manifold_point *at = points->at;
    int pick[RB_MANIFOLD_KEEP] = { rb_points_closest(points, grain.tie), 0, 0, 0 };
    const double *n = at[pick[0]].normal;

    double best = -1.0;
    for (int i = 0; i < points->n; i++) {
        double far = distance2(&at[pick[0]], &at[i]);
        if (far > best * (1.0 + RB_GAP_TIE)) {
            best = far;
            pick[1] = i;
        }
    }
    double span = sqrt(best);

    best = -1.0;
    for (int i = 0; i < points->n; i++) {
        double a = fabs(area(&at[pick[0]], &at[pick[1]], &at[i], n));
        if (a > best * (1.0 + RB_GAP_TIE)) {
            best = a;
            pick[2] = i;
        }
    }

    int npick = 3;
    if (best <= grain.merge * span) {
        best = -1.0;
        for (int i = 0; i < points->n; i++) {
            double near = fmin(distance2(&at[pick[0]], &at[i]), distance2(&at[pick[1]], &at[i]));
            if (near > best) {
                best = near;
                pick[2] = i;
            }
        }
    } else {
        const rb_manifold_point *t[3] = { &at[pick[0]], &at[pick[1]], &at[pick[2]] };
        best = 0.0;
        for (int i = 0; i < points->n; i++) {
            double more = gain(t, &at[i], n);
            if (more > best * (1.0 + RB_GAP_TIE)) {
                best = more;
                pick[3] = i;
            }
        }
        if (best > grain.merge * span) npick = 4;
    }

    rb_manifold_point kept[RB_MANIFOLD_KEEP];
    for (int k = 0; k < npick; k++) kept[k] = at[pick[k]];
    for (int k = 0; k < npick; k++) points->at[k] = kept[k];
    points->n = npick;
}

static void sort_by_feature(rb_manifold *m)
{
    for (int i = 1; i < m->n; i++) {
        rb_manifold_point p = m->point[i];
        int k = i;
        for (; k > 0 && m->point[k - 1].feature > p.feature; k--) m->point[k] = m->point[k - 1];
        m->point[k] = p;
    }
}

/* The smaller half of the id first. */
static uint32_t symmetric_key(uint32_t feature)
{
    uint32_t swapped = rb_feature_swap(feature);
    return feature < swapped ? feature : swapped;
}

static void sort_symmetric(rb_points *points)
{
    for (int i = 1; i < points->n; i++) {
        uint32_t key = symmetric_key(points->at[i].feature);
        if (symmetric_key(points->at[i - 1].feature) <= key) continue;
        rb_manifold_point p = points->at[i];
        int k = i;
        for (; k > 0 && symmetric_key(points->at[k - 1].feature) > key; k--) {
            points->at[k] = points->at[k - 1];
        }
        points->at[k] = p;
    }
}

/* Puts in front, among the closest points, the first of those whose normal is nearest to n. */
static void lead(rb_points *points, const double n[3], double tie)
{
    int first = rb_points_closest(points, tie);
    if (first < 0) return;
    double bound = points->at[first].gap + tie, nearest = INFINITY;
    for (int i = first; i < points->n; i++) {
        double r[3];
        rb_sub3(points->at[i].normal, n, r);
        double off = rb_norm3(r);
        if (points->at[i].gap > bound || off >= nearest - RB_GAP_TIE) continue;
        nearest = off;
        first = i;
    }
    rb_manifold_point p = points->at[first];
    for (; first > 0; first--) points->at[first] = points->at[first - 1];
    points->at[0] = p;
}

void rb_points_finish(rb_points *points, const double n[3], double reach, rb_grain grain,
                      rb_manifold *out)
{
    int kept = 0;
    for (int i = 0; i < points->n; i++) {
        if (points->at[i].gap <= reach) points->at[kept++] = points->at[i];
    }
    points->n = kept;
    sort_symmetric(points);
    lead(points, n, grain.tie);
    merge(points, grain);
    reduce(points, grain);
    out->n = points->n;
    for (int i = 0; i < points->n; i++) out->point[i] = points->at[i];
    sort_by_feature(out);
}

void rb_manifold_single(rb_manifold *out, double reach, const rb_manifold_point *point)
{
    out->n = point->gap <= reach ? 1 : 0;
    out->point[0] = *point;
}

void rb_manifold_swap(rb_manifold *manifold)
{
    for (int i = 0; i < manifold->n; i++) {
        rb_manifold_point *p = &manifold->point[i];
        double pos1[3];
        rb_copy3(p->pos1, pos1);
        rb_copy3(p->pos2, p->pos1);
        rb_copy3(pos1, p->pos2);
        rb_scale3(-1.0, p->normal, p->normal);
        p->feature = rb_feature_swap(p->feature);
    }
    sort_by_feature(manifold);
}
