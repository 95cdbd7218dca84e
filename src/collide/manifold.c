/* From candidates to a manifold. Equal gaps and places are decided by the order of features, so
 * that rounding does not choose; and by an order that does not see which shape is the first, so
 * that exchanging the shapes keeps the same points. */
#include "collide/manifold.h"

#include "base/assert.h"
#include "base/constants.h"
#include "collide/feature.h"
#include "collide/segment.h"
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

/* The smaller half of the id first. */
static uint32_t symmetric_key(uint32_t feature)
{
    uint32_t swapped = rb_feature_swap(feature);
    return feature < swapped ? feature : swapped;
}

static void sort_symmetric(rb_choice *s)
{
    uint32_t keys[RB_POINTS_MAX];
    for (int i = 0; i < s->n; i++) {
        int which = s->pick[i], k = i;
        uint32_t key = symmetric_key(s->feature[which]);
        for (; k > 0 && keys[k - 1] > key; k--) {
            keys[k] = keys[k - 1];
            s->pick[k] = s->pick[k - 1];
        }
        keys[k] = key;
        s->pick[k] = which;
    }
}

/* Puts in front, among the closest points, the first of those whose normal is nearest to that of
 * the pair. */
RB_SHORT void rb_choice_lead(rb_choice *s)
{
    double least = INFINITY, nearest = INFINITY;
    int first = 0;
    sort_symmetric(s);
    for (int i = 0; i < s->n; i++) least = rb_smaller(least, s->gap[s->pick[i]]);
    for (int i = 0; i < s->n; i++) {
        int which = s->pick[i];
        if (s->gap[which] > least + s->grain.tie) continue;
        if (s->off[which] >= nearest - RB_GAP_TIE) continue;
        nearest = s->off[which];
        first = i;
    }
    int which = s->pick[first];
    for (; first > 0; first--) s->pick[first] = s->pick[first - 1];
    s->pick[0] = which;
}

/* Halfway between its witnesses, relative to the first: points behind each other coincide. */
static void flatten(const rb_manifold_point *at, rb_choice *s)
{
    const rb_manifold_point *o = &at[s->pick[0]];
    double u[3], v[3];
    rb_orthogonal(o->normal, u);
    rb_cross3(o->normal, u, v);
    for (int i = 0; i < s->n; i++) {
        const rb_manifold_point *p = &at[s->pick[i]];
        double r[3], *flat = s->flat[s->pick[i]];
        for (int k = 0; k < 3; k++) {
            r[k] = 0.5 * (p->pos1[k] - o->pos1[k]) + 0.5 * (p->pos2[k] - o->pos2[k]);
        }
        flat[0] = rb_dot3(r, u);
        flat[1] = rb_dot3(r, v);
    }
}

static double distance2(const rb_choice *s, int a, int b)
{
    double x = s->flat[b][0] - s->flat[a][0], y = s->flat[b][1] - s->flat[a][1];
    return x * x + y * y;
}

/* Of points at the same place the first is kept, unless a later one is clearly closer. */
static void merge(rb_choice *s)
{
    int kept = 0;
    double near = s->grain.merge * s->grain.merge;
    for (int i = 0; i < s->n; i++) {
        int which = s->pick[i], twin = 0;
        while (twin < kept && s->feature[s->pick[twin]] != s->feature[which] &&
               distance2(s, s->pick[twin], which) > near) {
            twin++;
        }
        if (twin == kept)
            s->pick[kept++] = which;
        else if (s->gap[which] < s->gap[s->pick[twin]] - s->grain.tie)
            s->pick[twin] = which;
    }
    s->n = kept;
}

/* ---- reduction --------------------------------------------------------------------------------
 */

/* Twice the area of the triangle a b c seen along the normal, counter-clockwise positive. */
static double area(const rb_choice *s, int a, int b, int c)
{
    const double *x = s->flat[a], *y = s->flat[b], *z = s->flat[c];
    return (y[0] - x[0]) * (z[1] - x[1]) - (y[1] - x[1]) * (z[0] - x[0]);
}

static double nearest2(const rb_choice *s, int nchosen, const int *chosen, int c)
{
    double near = INFINITY;
    for (int i = 0; i < nchosen; i++) near = rb_smaller(near, distance2(s, chosen[i], c));
    return near;
}

/* How much c adds to a choice of points: with one its distance squared, with two the triangle, with
 * three, which turn as `turn` has it, the largest triangle outside, with more the distance squared
 * from all of them. */
static double gain(const rb_choice *s, int nchosen, const int *chosen, double turn, int c)
{
    if (nchosen > 3) return nearest2(s, nchosen, chosen, c);
    if (nchosen == 1) return distance2(s, chosen[0], c);
    if (nchosen == 2) return fabs(area(s, chosen[0], chosen[1], c));
    double best = 0.0;
    for (int i = 0; i < 3; i++) {
        double outside = -turn * area(s, chosen[i], chosen[(i + 1) % 3], c);
        if (outside > best) best = outside;
    }
    return best;
}

/* The point with the largest gain, the first of equal ones. */
static int most_gain(const rb_choice *s, int nchosen, const int *chosen, double *best)
{
    int which = -1, turns = nchosen == 3;
    double turn = turns && area(s, chosen[0], chosen[1], chosen[2]) < 0.0 ? -1.0 : 1.0;
    *best = 0.0;
    for (int i = 0; i < s->n; i++) {
        double g = gain(s, nchosen, chosen, turn, s->pick[i]);
        if (g <= *best * (1.0 + RB_GAP_TIE)) continue;
        *best = g;
        which = s->pick[i];
    }
    return which;
}

/* Points on a line: the one in the widest gap between the two chosen ends. */
static int most_apart(const rb_choice *s, const int *chosen)
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
 * and the one that adds most area to that (G.29); further points are those farthest from all chosen
 * ones. */
static void reduce(rb_choice *s, int most)
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

RB_SHORT void rb_choice_reduce(rb_choice *s, int most)
{
    reduce(s, most);
    rb_choice_sort(s);
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

/* Whether p and q would not be merged, wherever the normal that they are seen along lies among
 * theirs. */
RB_INLINE int is_elsewhere(const rb_manifold_point *p, const rb_manifold_point *q,
                           const double n[3], double merge)
{
    const double slant = 0.5, far = 400.0; /* cosine^2; in merge^2 [1] */
    double r[3];
    for (int k = 0; k < 3; k++) {
        r[k] = 0.5 * (p->pos1[k] - q->pos1[k]) + 0.5 * (p->pos2[k] - q->pos2[k]);
    }
    double rr = rb_dot3(r, r), along = rb_dot3(r, n);
    return rr > far * merge * merge && along * along < slant * rr;
}

/* Few points, none of which could be another one but by its name, and then is not closer: the first
 * of each name is kept, independent of the order in merge(). 0: more have to be removed, or it is
 * not certain. */
RB_INLINE int keep_distinct(const rb_manifold_point *at, const double n[3], int most, rb_choice *s)
{
    const double turn = 0.25; /* off [1] */
    int again = 0, kept = 0;
    if (s->n > most + 1) return 0;
    for (int i = 0; i < s->n; i++) {
        const rb_manifold_point *p = &at[s->pick[i]];
        if (!(s->off[s->pick[i]] <= turn)) return 0;
        for (int j = 0; j < i; j++) {
            const rb_manifold_point *q = &at[s->pick[j]];
            int same = p->feature == q->feature;
            if (is_elsewhere(p, q, n, s->grain.merge) == same) return 0;
            if (same && !(p->gap >= q->gap - s->grain.tie)) return 0;
            again |= same << i;
        }
    }
    if (s->n > most && !again) return 0;
    for (int i = 0; i < s->n; i++) {
        s->pick[kept] = s->pick[i];
        kept += !(again >> i & 1);
    }
    s->n = kept;
    rb_choice_sort(s);
    return 1;
}

RB_SHORT void rb_points_finish(rb_points *points, const double n[3], double reach, rb_grain grain,
                               rb_manifold *out)
{
    rb_choice s;
    s.grain = grain;
    s.n = 0;
    for (int i = 0; i < points->n; i++) {
        const rb_manifold_point *p = &points->at[i];
        double r[3];
        if (!(p->gap <= reach)) continue;
        rb_sub3(p->normal, n, r);
        s.pick[s.n++] = i;
        s.gap[i] = p->gap;
        s.feature[i] = p->feature;
        s.off[i] = rb_larger(fabs(r[0]), rb_larger(fabs(r[1]), fabs(r[2])));
    }
    if (s.n > 1 && !keep_distinct(points->at, n, out->most, &s)) {
        rb_choice_lead(&s);
        flatten(points->at, &s);
        merge(&s);
        rb_choice_reduce(&s, out->most);
    }
    out->n = s.n;
    for (int i = 0; i < s.n; i++) out->point[i] = points->at[s.pick[i]];
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
