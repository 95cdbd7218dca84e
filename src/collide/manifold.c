/* From candidates to a manifold. Equal gaps and places are decided by the order of features, so
 * that rounding does not choose; and by an order that does not see which shape is the first, so
 * that exchanging the shapes keeps the same points. */
#include "collide/manifold.h"

#include "base/assert.h"
#include "base/constants.h"
#include "collide/feature.h"
#include "math/vec3.h"

void rb_points_add(rb_points *points, double gap, const double pos1[3], const double normal[3],
                   uint32_t feature)
{
    RB_ASSERT(points->n < RB_POINTS_MAX);
    if (points->n == RB_POINTS_MAX) return;
    rb_manifold_point *p = &points->at[points->n++];
    p->gap = gap;
    rb_copy3(pos1, p->pos1);
    rb_copy3(normal, p->normal);
    rb_copy3(pos1, p->pos2);
    rb_axpy3(gap, normal, p->pos2);
    p->feature = feature;
}

/* What is left of the candidates: indices, and their places seen along the normal. */
typedef struct selection {
    const rb_manifold_point *at;
    rb_grain grain;
    int n, pick[RB_POINTS_MAX];
    double n0[3];                  /* normal of the closest point                              */
    double flat[RB_POINTS_MAX][3]; /* of each candidate: halfway between its witnesses, relative
                                      to the first, across n0: points behind each other coincide */
} selection;

/* The smaller half of the id first. */
static uint32_t symmetric_key(uint32_t feature)
{
    uint32_t swapped = rb_feature_swap(feature);
    return feature < swapped ? feature : swapped;
}

static void sort_symmetric(selection *s)
{
    for (int i = 1; i < s->n; i++) {
        int which = s->pick[i], k = i;
        uint32_t key = symmetric_key(s->at[which].feature);
        for (; k > 0 && symmetric_key(s->at[s->pick[k - 1]].feature) > key; k--) {
            s->pick[k] = s->pick[k - 1];
        }
        s->pick[k] = which;
    }
}

static double least_gap(const selection *s)
{
    double least = INFINITY;
    for (int i = 0; i < s->n; i++) least = rb_smaller(least, s->at[s->pick[i]].gap);
    return least;
}

/* Puts in front, among the closest points, the first of those whose normal is nearest to n. */
static void lead(selection *s, const double n[3])
{
    double bound = least_gap(s) + s->grain.tie, nearest = INFINITY;
    int first = 0;
    for (int i = 0; i < s->n; i++) {
        const rb_manifold_point *p = &s->at[s->pick[i]];
        if (p->gap > bound) continue;
        double r[3];
        rb_sub3(p->normal, n, r);
        double off = rb_larger(fabs(r[0]), rb_larger(fabs(r[1]), fabs(r[2])));
        if (off >= nearest - RB_GAP_TIE) continue;
        nearest = off;
        first = i;
    }
    int which = s->pick[first];
    for (; first > 0; first--) s->pick[first] = s->pick[first - 1];
    s->pick[0] = which;
}

static void flatten(selection *s)
{
    const rb_manifold_point *o = &s->at[s->pick[0]];
    rb_copy3(o->normal, s->n0);
    for (int i = 0; i < s->n; i++) {
        const rb_manifold_point *p = &s->at[s->pick[i]];
        double *r = s->flat[s->pick[i]];
        for (int k = 0; k < 3; k++) {
            r[k] = 0.5 * (p->pos1[k] - o->pos1[k]) + 0.5 * (p->pos2[k] - o->pos2[k]);
        }
        rb_axpy3(-rb_dot3(r, s->n0), s->n0, r);
    }
}

static double distance2(const selection *s, int a, int b)
{
    double r[3];
    rb_sub3(s->flat[b], s->flat[a], r);
    return rb_dot3(r, r);
}

/* Of points at the same place the first stays, unless a later one is clearly closer. */
static void merge(selection *s)
{
    int kept = 0;
    double near = s->grain.merge * s->grain.merge;
    for (int i = 0; i < s->n; i++) {
        int which = s->pick[i], twin = 0;
        const rb_manifold_point *p = &s->at[which];
        while (twin < kept && s->at[s->pick[twin]].feature != p->feature &&
               distance2(s, s->pick[twin], which) > near) {
            twin++;
        }
        if (twin == kept)
            s->pick[kept++] = which;
        else if (p->gap < s->at[s->pick[twin]].gap - s->grain.tie)
            s->pick[twin] = which;
    }
    s->n = kept;
}

/* ---- reduction --------------------------------------------------------------------------------
 */

/* Twice the area of the triangle a b c seen along the normal, counter-clockwise positive. */
static double area(const selection *s, int a, int b, int c)
{
    double r[3], t[3], w[3];
    rb_sub3(s->flat[b], s->flat[a], r);
    rb_sub3(s->flat[c], s->flat[a], t);
    rb_cross3(r, t, w);
    return rb_dot3(w, s->n0);
}

static double nearest2(const selection *s, int nchosen, const int *chosen, int c)
{
    double near = INFINITY;
    for (int i = 0; i < nchosen; i++) near = rb_smaller(near, distance2(s, chosen[i], c));
    return near;
}

/* How much c adds to a choice of points: with one its distance squared, with two the triangle, with
 * three the largest triangle outside, with more the distance squared from all of them. */
static double gain(const selection *s, int nchosen, const int *chosen, int c)
{
    if (nchosen > 3) return nearest2(s, nchosen, chosen, c);
    if (nchosen == 1) return distance2(s, chosen[0], c);
    if (nchosen == 2) return fabs(area(s, chosen[0], chosen[1], c));
    double turn = area(s, chosen[0], chosen[1], chosen[2]) < 0.0 ? -1.0 : 1.0, best = 0.0;
    for (int i = 0; i < 3; i++) {
        double outside = -turn * area(s, chosen[i], chosen[(i + 1) % 3], c);
        if (outside > best) best = outside;
    }
    return best;
}

/* The point with the largest gain, the first of equal ones. */
static int most_gain(const selection *s, int nchosen, const int *chosen, double *best)
{
    int which = -1;
    *best = 0.0;
    for (int i = 0; i < s->n; i++) {
        double g = gain(s, nchosen, chosen, s->pick[i]);
        if (g <= *best * (1.0 + RB_GAP_TIE)) continue;
        *best = g;
        which = s->pick[i];
    }
    return which;
}

/* Points on a line: the one in the widest gap between the two chosen ends. */
static int most_apart(const selection *s, const int *chosen)
{
    int which = -1;
    double best = 0.0;
    for (int i = 0; i < s->n; i++) {
        int c = s->pick[i];
        double near = rb_smaller(distance2(s, chosen[0], c), distance2(s, chosen[1], c));
        if (near <= best) continue;
        best = near;
        which = c;
    }
    return which;
}

/* The closest point, the one farthest from it, the one that spans the largest triangle with both,
 * and the one that adds most area to that (G.3); where more are asked for, those farthest from all
 * chosen ones. */
static void reduce(selection *s, int most)
{
    if (s->n <= most) return;
    int chosen[RB_MANIFOLD_MAX] = { s->pick[0] }, n = 1;
    double best, span = 0.0;
    while (n < most) {
        int next = most_gain(s, n, chosen, &best);
        if (n == 1) span = sqrt(best);
        if ((n == 2 || n == 3) && best <= s->grain.merge * span) {
            if (n == 2) next = most_apart(s, chosen);
            if (n == 2 && next >= 0) chosen[n++] = next;
            break;
        }
        if (next < 0) break;
        chosen[n++] = next;
    }
    for (int i = 0; i < n; i++) s->pick[i] = chosen[i];
    s->n = n;
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

void rb_points_finish(rb_points *points, const double n[3], double reach, rb_grain grain,
                      rb_manifold *out)
{
    selection s;
    s.at = points->at;
    s.grain = grain;
    s.n = 0;
    for (int i = 0; i < points->n; i++) {
        if (points->at[i].gap <= reach) s.pick[s.n++] = i;
    }
    if (s.n > 1) {
        sort_symmetric(&s);
        lead(&s, n);
        flatten(&s);
        merge(&s);
        reduce(&s, out->most);
    }
    out->n = s.n;
    for (int i = 0; i < s.n; i++) out->point[i] = points->at[s.pick[i]];
    sort_by_feature(out);
}

void rb_point_swap(rb_manifold_point *p)
{
    double pos1[3];
    rb_copy3(p->pos1, pos1);
    rb_copy3(p->pos2, p->pos1);
    rb_copy3(pos1, p->pos2);
    rb_scale3(-1.0, p->normal, p->normal);
    p->feature = rb_feature_swap(p->feature);
}

void rb_manifold_swap(rb_manifold *manifold)
{
    for (int i = 0; i < manifold->n; i++) rb_point_swap(&manifold->point[i]);
    sort_by_feature(manifold);
}
