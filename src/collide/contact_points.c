/* The points on which two convex cores touch along the direction n of their gap. Seen along n the
 * parts that face each other, patches, overlap in a region whose corners are
 *
 *     a corner of one over the face of the other, with the normal of that face            (G.28)
 *     a crossing of two sides, with normal n
 *     the ends of what two parallel lines have in common, with normal n
 *
 * as for boxes (G.27). The closest point is always the first. */
#include "base/constants.h"
#include "collide/convex.h"
#include "collide/feature.h"
#include "collide/manifold.h"
#include "collide/outline.h"
#include "collide/patch.h"

typedef struct meeting {
    rb_couple *couple;
    const double *n;
    rb_patch patch[2];
    rb_outline outline[2];           /* of faces with many corners       */
    double side[2][RB_PATCH_MAX][3]; /* of faces whose sides were seen */
    int seen[2];
    double radius[2]; /* around the cores [m]              */
    rb_grain grain;
    double gap; /* least one, radii included [m]     */
    rb_points points;
} meeting;

/* ---- points -----------------------------------------------------------------------------------
 */

/* From the core point x1 along the unit vector n to a core point of 2; `gap` between the cores. */
static void add(meeting *c, double gap, const double x1[3], const double n[3], uint32_t half1,
                uint32_t half2)
{
    double pos1[3];
    gap -= c->radius[0] + c->radius[1];
    if (gap < c->gap - c->grain.tie || c->points.n == RB_POINTS_MAX) return;
    rb_copy3(x1, pos1);
    rb_axpy3(c->radius[0], n, pos1);
    rb_points_add(&c->points, gap, pos1, n, rb_feature(half1, half2));
}

/* The same with the core point of either patch given, n out of that one. */
static void add_from(meeting *c, int which, double gap, const double x[3], const double n[3],
                     uint32_t half, uint32_t other)
{
    double x1[3], back[3] = { -n[0], -n[1], -n[2] };
    if (which == 0) {
        add(c, gap, x, n, half, other);
        return;
    }
    rb_copy3(x, x1);
    rb_axpy3(gap, n, x1);
    add(c, gap, x1, back, other, half);
}

/* Corner i of a patch, moved out of a line to the surface of its tube along n. */
static void surface(const rb_patch *patch, int i, const double n[3], double x[3])
{
    double m[3];
    rb_copy3(patch->x[i], x);
    if (patch->tube == 0.0) return;
    rb_copy3(n, m);
    rb_axpy3(-rb_dot3(n, patch->axis), patch->axis, m);
    rb_unit(m);
    rb_axpy3(patch->tube, m, x);
}

/* ---- corners over faces -----------------------------------------------------------------------
 */

/* Unit vectors along the sides of a face, seen along n; zero where there is no side to see. */
static void find_sides(meeting *c, int which)
{
    const rb_patch *face = &c->patch[which];
    c->seen[which] = 1;
    for (int i = 0; i < face->n; i++) {
        double *u = c->side[which][i];
        rb_sub3(face->x[i + 1 == face->n ? 0 : i + 1], face->x[i], u);
        rb_axpy3(-rb_dot3(u, c->n), c->n, u);
        if (!(rb_unit(u) > 0.0)) rb_zero3(u);
    }
}

/* Distance beyond which rounding of an outline decides nothing, nor where sides cross [m]. */
static double margin_of(const meeting *c)
{
    return 2.0 * (c->grain.merge + RB_SAME_POINT * c->couple->scale);
}

/* Whether x, seen along n, is over the face, at most `slack` [m] outside of it. */
static int is_over(meeting *c, int which, const double x[3], double slack)
{
    const rb_patch *face = &c->patch[which];
    double turn = which ? -1.0 : 1.0;
    if (face->disc > 0.0) {
        double r[3];
        rb_sub3(x, face->centre, r);
        rb_axpy3(-rb_dot3(r, face->normal) / rb_dot3(c->n, face->normal), c->n, r);
        return rb_norm3(r) <= face->disc + slack;
    }
    if (c->outline[which].n > 0) {
        int known = rb_outline_has(&c->outline[which], x, fabs(slack) + margin_of(c));
        if (known >= 0) return known;
    }
    if (!c->seen[which]) find_sides(c, which);
    for (int i = 0; i < face->n; i++) {
        double r[3], m[3];
        rb_sub3(x, face->x[i], r);
        rb_cross3(c->side[which][i], r, m);
        if (turn * rb_dot3(m, c->n) < -slack) return 0;
    }
    return 1;
}

/* Corners of the other patch over the face of this one. In front of it a corner has its own foot
 * and the normal of the face, exact for any motion; behind it n is as good. */
static void corners_over_face(meeting *c, int which)
{
    const rb_patch *face = &c->patch[which], *other = &c->patch[1 - which];
    double out[3], foot[3], x[3];
    if (face->n < 3) return;
    rb_scale3(which ? -1.0 : 1.0, c->n, out); /* n out of the face */
    const double *nu = face->normal;
    double back[3] = { -nu[0], -nu[1], -nu[2] };
    for (int i = 0; i < other->n; i++) {
        double r[3];
        surface(other, i, back, x);
        rb_sub3(x, face->x[0], r);
        double height = rb_dot3(r, nu);
        rb_copy3(x, foot);
        rb_axpy3(-height, nu, foot);
        if (height > c->grain.merge && is_over(c, which, x, c->grain.merge) &&
            is_over(c, which, foot, -c->grain.merge)) {
            add_from(c, which, height, foot, nu, face->face, other->corner[i]);
            continue;
        }
        rb_scale3(-1.0, out, r);
        surface(other, i, r, x);
        if (!is_over(c, which, x, c->grain.merge)) continue;
        rb_sub3(x, face->x[0], r);
        height = rb_dot3(r, nu) / rb_dot3(out, nu);
        rb_copy3(x, foot);
        rb_axpy3(-height, out, foot);
        add_from(c, which, height, foot, out, face->face, other->corner[i]);
    }
}

/* ---- sides ------------------------------------------------------------------------------------
 */

static int sides_of(const rb_patch *patch)
{
    return patch->disc > 0.0 ? 0 : patch->n == 2 ? 1 : patch->n;
}

/* Crossing of the sides a a2 of patch 1 and b b2 of patch 2, seen along n. 0: none. */
static int cross_sides(const meeting *c, const double a[3], const double a2[3], const double b[3],
                       const double b2[3], double x1[3], double x2[3])
{
    double u[3], v[3], w[3], m[3];
    rb_sub3(a2, a, u);
    rb_sub3(b2, b, v);
    rb_sub3(b, a, w);
    rb_cross3(u, v, m);
    double whole = rb_dot3(m, c->n);
    double length_u = rb_norm3(u), length_v = rb_norm3(v);
    if (!(fabs(whole) > RB_KINK_SURE * length_u * length_v)) return 0;
    rb_cross3(w, v, m);
    double s = rb_dot3(m, c->n) / whole;
    rb_cross3(w, u, m);
    double t = rb_dot3(m, c->n) / whole;
    double slack_s = c->grain.merge / length_u, slack_t = c->grain.merge / length_v;
    if (s < -slack_s || s > 1.0 + slack_s || t < -slack_t || t > 1.0 + slack_t) return 0;
    s = s < 0.0 ? 0.0 : s > 1.0 ? 1.0 : s;
    t = t < 0.0 ? 0.0 : t > 1.0 ? 1.0 : t;
    rb_copy3(a, x1);
    rb_axpy3(s, u, x1);
    rb_copy3(b, x2);
    rb_axpy3(t, v, x2);

    /* rounding: s and t of nearly parallel sides may not belong together */
    rb_sub3(x2, x1, w);
    rb_axpy3(-rb_dot3(w, c->n), c->n, w);
    return rb_norm3(w) <= c->grain.merge + RB_SAME_POINT * c->couple->scale;
}

static void add_pair(meeting *c, const double x1[3], const double x2[3], uint32_t half1,
                     uint32_t half2)
{
    double r[3];
    rb_sub3(x2, x1, r);
    add(c, rb_dot3(r, c->n), x1, c->n, half1, half2);
}

static void crossings(meeting *c)
{
    const rb_patch *p = &c->patch[0], *q = &c->patch[1];
    const rb_outline *outline = &c->outline[1];
    double back[3] = { -c->n[0], -c->n[1], -c->n[2] };
    for (int i = 0; i < sides_of(p); i++) {
        double a[3], a2[3];
        rb_outline_side side = { .apart = 0 };
        surface(p, i, c->n, a);
        surface(p, (i + 1) % p->n, c->n, a2);
        if (outline->n > 0) side = rb_outline_look(outline, a, a2, margin_of(c));
        for (int j = 0; j < sides_of(q) && !side.apart; j++) {
            double b[3], b2[3], x1[3], x2[3];
            if (outline->n > 0 && rb_outline_misses(outline, &side, j)) continue;
            surface(q, j, back, b);
            surface(q, (j + 1) % q->n, back, b2);
            if (cross_sides(c, a, a2, b, b2, x1, x2)) add_pair(c, x1, x2, p->side[i], q->side[j]);
        }
    }
}

/* The point y of a line that belongs to the end a of another one: the closest, or, where a is the
 * centre of a disc, the one in its plane. 0: there is none. */
static int line_at_end(const meeting *c, const rb_patch *line, const double across[3],
                       const double a[3], double y[3])
{
    double r[3], along = rb_dot3(across, line->axis);
    rb_sub3(line->x[1], line->x[0], r);
    double length = rb_norm3(r);
    rb_sub3(a, line->x[0], r);
    double t = rb_dot3(r, across) / along;
    rb_copy3(line->x[0], y);
    rb_axpy3(t, line->axis, y);
    return t >= -c->grain.merge && t <= length + c->grain.merge;
}

/* End i of the other line, on the rim of its tube that faces this one, and the point y of this
 * line next to it. 0: the line ends before. */
static int rim_at_end(const meeting *c, int which, int i, double x[3], double y[3])
{
    const rb_patch *line = &c->patch[which], *other = &c->patch[1 - which];
    double d[3];
    rb_copy3(other->x[i], x);
    if (other->tube > 0.0) {
        line_at_end(c, line, other->axis, x, y);
        rb_sub3(y, x, d);
        if (rb_unit(d) > RB_CLEAR * c->couple->scale) {
            rb_axpy3(other->tube, d, x);
        } else {
            rb_scale3(which ? 1.0 : -1.0, c->n, d);
            surface(other, i, d, x);
        }
    }
    return line_at_end(c, line, line->axis, x, y);
}

/* Two lines that are nearly parallel: the ends of each over the other, with the distance and normal
 * of their own while it is clear and differs from n. */
static void common_line(meeting *c, int which)
{
    const rb_patch *line = &c->patch[which], *other = &c->patch[1 - which];
    double out[3], x[3], y[3], d[3], aside[3], clear = RB_CLEAR * c->couple->scale;
    rb_scale3(which ? -1.0 : 1.0, c->n, out);
    for (int i = 0; i < 2; i++) {
        if (!rim_at_end(c, which, i, x, y)) continue;
        rb_sub3(x, y, d);
        double height = rb_dot3(d, out), distance = rb_unit(d);
        rb_cross3(d, out, aside);
        int same = rb_norm3(aside) <= RB_TINY_ANGLE && height > 0.0;
        uint32_t half = line->side[0], half_other = other->corner[i];
        if (distance > clear && height >= RB_FACING * distance && !same) {
            rb_axpy3(line->tube, d, y);
            add_from(c, which, distance - line->tube, y, d, half, half_other);
        } else if (same || distance <= clear || height <= -RB_FACING * distance) {
            rb_axpy3(line->tube, out, y);
            add_from(c, which, height - line->tube, y, out, half, half_other);
        }
    }
}

static void lines(meeting *c)
{
    const rb_patch *p = &c->patch[0], *q = &c->patch[1];
    if (p->n != 2 || q->n != 2) return;
    if (fabs(rb_dot3(p->axis, q->axis)) < RB_FACING) return;
    common_line(c, 0);
    common_line(c, 1);
}

/* ---- discs ------------------------------------------------------------------------------------
 */

/* Where the side a b of the other patch passes the rim of a disc: |y + t z| = radius with y and z
 * moved along n into its plane. */
static void side_through_rim(meeting *c, int which, const double a[3], const double b[3],
                             uint32_t side)
{
    const rb_patch *disc = &c->patch[which];
    double y[3], z[3], tilt = rb_dot3(c->n, disc->normal);
    rb_sub3(a, disc->centre, y);
    rb_sub3(b, a, z);
    rb_axpy3(-rb_dot3(y, disc->normal) / tilt, c->n, y);
    rb_axpy3(-rb_dot3(z, disc->normal) / tilt, c->n, z);
    double zz = rb_dot3(z, z), foot[3];
    if (!(zz > 0.0)) return;
    double middle = -rb_dot3(y, z) / zz;
    rb_copy3(y, foot); /* of the centre: a long side passes a small disc with digits left */
    rb_axpy3(middle, z, foot);
    double inside = disc->disc * disc->disc - rb_dot3(foot, foot);
    if (!(inside > 0.0)) return;
    for (int sign = -1; sign <= 1; sign += 2) {
        double t = middle + sign * sqrt(inside / zz), x[3], on[3];
        if (t < 0.0 || t > 1.0) continue;
        rb_copy3(disc->centre, on);
        rb_add3(on, y, on);
        rb_axpy3(t, z, on);
        for (int k = 0; k < 3; k++) x[k] = a[k] + t * (b[k] - a[k]);
        uint32_t rim = rb_feature_half(RB_EDGE, 2 + (sign > 0));
        if (which)
            add_pair(c, x, on, side, rim);
        else
            add_pair(c, on, x, rim, side);
    }
}

static void rim_crossings(meeting *c, int which)
{
    const rb_patch *disc = &c->patch[which], *other = &c->patch[1 - which];
    double toward[3];
    if (disc->disc == 0.0) return;
    rb_scale3(which ? 1.0 : -1.0, c->n, toward);
    for (int i = 0; i < sides_of(other); i++) {
        double a[3], b[3];
        surface(other, i, toward, a);
        surface(other, (i + 1) % other->n, toward, b);
        side_through_rim(c, which, a, b, other->side[i]);
    }
}

/* A point of the plane of a disc, along n from x. */
static void onto_disc(const meeting *c, int which, const double x[3], double y[3])
{
    const rb_patch *disc = &c->patch[which];
    double r[3];
    rb_sub3(x, disc->centre, r);
    double t = -rb_dot3(r, disc->normal) / rb_dot3(c->n, disc->normal);
    rb_copy3(x, y);
    rb_axpy3(t, c->n, y);
}

/* Where two rims cross, seen along n as ellipses that are nearly circles: x moves across n until it
 * is over both, by Newton's method from where circles cross. 0: it does not get there. */
static int meet_rims(const meeting *c, const double start[3], double x1[3], double x2[3])
{
    double x[3], T[2][3];
    rb_copy3(start, x);
    rb_orthogonal(c->n, T[0]);
    rb_cross3(c->n, T[0], T[1]);
    for (int i = 0; i < 8; i++) {
        double f[2], J[2][2];
        for (int k = 0; k < 2; k++) {
            const rb_patch *disc = &c->patch[k];
            double *y = k ? x2 : x1, r[3];
            onto_disc(c, k, x, y);
            rb_sub3(y, disc->centre, r);
            f[k] = rb_dot3(r, r) - disc->disc * disc->disc;
            for (int j = 0; j < 2; j++) {
                double slip = rb_dot3(T[j], disc->normal) / rb_dot3(c->n, disc->normal);
                J[k][j] = 2.0 * (rb_dot3(r, T[j]) - slip * rb_dot3(r, c->n));
            }
        }
        if (fabs(f[0]) + fabs(f[1]) <= RB_GAP_TIE * c->couple->scale * c->couple->scale) return 1;
        double det = J[0][0] * J[1][1] - J[0][1] * J[1][0];
        if (!(fabs(det) > 0.0)) return 0;
        rb_axpy3(-(J[1][1] * f[0] - J[0][1] * f[1]) / det, T[0], x);
        rb_axpy3(-(J[0][0] * f[1] - J[1][0] * f[0]) / det, T[1], x);
    }
    return 0;
}

static void two_rims(meeting *c)
{
    const rb_patch *p = &c->patch[0], *q = &c->patch[1];
    if (p->disc == 0.0 || q->disc == 0.0) return;
    double u[3], v[3];
    rb_sub3(q->centre, p->centre, u);
    rb_axpy3(-rb_dot3(u, c->n), c->n, u);
    double far = rb_unit(u), r = p->disc, s = q->disc;
    if (!(far > c->grain.merge) || far > r + s || far < fabs(r - s)) return;
    double t = 0.5 * (far + (r - s) * (r + s) / far), up = sqrt(rb_larger(0.0, r * r - t * t));
    rb_cross3(c->n, u, v);
    for (int sign = -1; sign <= 1; sign += 2) {
        double x[3], x1[3], x2[3];
        rb_copy3(p->centre, x);
        rb_axpy3(t, u, x);
        rb_axpy3(sign * up, v, x);
        uint32_t rim = rb_feature_half(RB_EDGE, 2 + (sign > 0));
        if (meet_rims(c, x, x1, x2)) add_pair(c, x1, x2, rim, rim);
    }
}

/* ---- the closest point ------------------------------------------------------------------------
 */

/* Whether x is where the other core is extreme, to the accuracy of gaps. */
static int lies_on(meeting *c, int which, const rb_extreme *e, const double x[3])
{
    double r[3], near = c->grain.merge + RB_SAME_POINT * c->couple->scale;
    if (e->freedom == 0) {
        rb_sub3(x, e->x, r);
        return rb_norm3(r) <= near;
    }
    if (e->freedom == 1) {
        rb_segment_at(&e->line, rb_segment_foot(&e->line, x), r);
        rb_sub3(x, r, r);
        return rb_norm3(r) <= near;
    }
    return is_over(c, which, x, near);
}

/* Where one core is extreme in a single point, that one; where both are in lines, their crossing.
 * Two faces, or a face and a line, leave it to their corners. 0: the extreme points along n do not
 * lie opposite each other, n is only near the direction of the gap. */
static int closest_point(meeting *c, const rb_closest *closest, const rb_extreme e[2])
{
    double x1[3], x2[3];
    if (e[0].freedom == 0) {
        rb_copy3(e[0].x, x1);
        rb_copy3(x1, x2);
        rb_axpy3(closest->at.s, c->n, x2);
        if (!lies_on(c, 1, &e[1], x2)) return 0;
    } else if (e[1].freedom == 0) {
        rb_copy3(e[1].x, x1);
        rb_axpy3(-closest->at.s, c->n, x1);
        if (!lies_on(c, 0, &e[0], x1)) return 0;
    } else if (e[0].freedom == 1 && e[1].freedom == 1) {
        double m[3], s, t, miss[3];
        if (!rb_lines_cross(&e[0].line, &e[1].line, m, &s, &t)) return 1;
        if (rb_norm3(m) < RB_KINK_SURE) return 1; /* parallel */

        /* rounding moves the crossing of nearly parallel lines along them; it is on both still */
        rb_segment_at(&e[0].line, rb_clamp_to(s, e[0].line.half), x1);
        rb_segment_at(&e[1].line, rb_segment_foot(&e[1].line, x1), x2);
        rb_segment_at(&e[0].line, rb_segment_foot(&e[0].line, x2), x1);
        rb_sub3(x2, x1, miss);
        rb_axpy3(-closest->at.s, c->n, miss);
        if (rb_norm3(miss) > c->grain.merge + RB_SAME_POINT * c->couple->scale) return 0;
    } else {
        return 1;
    }
    add(c, closest->at.s, x1, c->n, e[0].half, e[1].half);
    return 1;
}

/* Next to a border the normals of parts may separate less than they seem to: points that would be
 * the closest, and whose own normal does not keep their gap, go. */
static void drop_false(meeting *c)
{
    int kept = 0;
    for (int i = 0; i < c->points.n; i++) {
        rb_manifold_point *p = &c->points.at[i];
        double gap = rb_couple_separation(c->couple, p->normal) - c->radius[0] - c->radius[1];
        int leads = p->gap <= c->gap + c->grain.merge;
        if (!leads || gap >= p->gap - c->grain.merge) c->points.at[kept++] = *p;
    }
    c->points.n = kept;
}

static double least_gap(const rb_points *points)
{
    double least = INFINITY;
    for (int i = 0; i < points->n; i++) least = rb_smaller(least, points->at[i].gap);
    return least;
}

/* Where nothing named is opposite: the point of core 1 that the search ended with, or, while apart,
 * that of the flat part of one core which is nearest to the extreme point of the curved other. The
 * distance is flat about its minimum, and points of the search may be displaced by the root of
 * its rounding; a tangential displacement leaves a curved surface by its square. */
static void nameless_point(const meeting *c, double s, const rb_extreme e[2], double x1[3])
{
    const rb_core *core[2] = { &c->couple->core1, &c->couple->core2 };
    for (int curved = 0; s > 0.0 && curved < 2; curved++) {
        const rb_patch *flat = &c->patch[1 - curved];
        double x[3], foot[3];
        if (core[curved]->kind < RB_CORE_CYLINDER || e[curved].freedom > 0) continue;
        if (flat->tube > 0.0) continue;
        rb_copy3(x1, x);
        if (!curved) rb_axpy3(s, c->n, x);
        double miss = rb_patch_foot(flat, x, foot);
        rb_copy3(e[curved].x, x);
        rb_axpy3(curved ? -s : s, c->n, x);
        if (!(rb_patch_foot(flat, x, foot) < miss)) continue;
        rb_copy3(foot, x1);
        if (!curved) rb_axpy3(-s, c->n, x1);
    }
}

/* What the two patches have in common. */
static void common_points(meeting *c)
{
    if (c->patch[0].n < 2 || c->patch[1].n < 2) return;
    if (c->patch[0].n + c->patch[1].n >= 2 * RB_OUTLINE_LEAST) {
        for (int k = 0; k < 2; k++) rb_outline_make(&c->patch[k], c->n, &c->outline[k]);
    }
    corners_over_face(c, 0);
    corners_over_face(c, 1);
    crossings(c);
    lines(c);
    rim_crossings(c, 0);
    rim_crossings(c, 1);
    two_rims(c);
}

void rb_contact_points(rb_couple *couple, const rb_closest *closest, double reach, int whole,
                       rb_manifold *out)
{
    meeting c;
    double back[3] = { -closest->at.n[0], -closest->at.n[1], -closest->at.n[2] };
    c.couple = couple;
    c.n = closest->at.n;
    c.radius[0] = couple->core1.radius;
    c.radius[1] = couple->core2.radius;
    c.gap = closest->at.s - c.radius[0] - c.radius[1];
    c.grain = rb_grain_of(couple->core1.extent + c.radius[0], couple->core2.extent + c.radius[1],
                          couple->scale);
    c.points.n = c.outline[0].n = c.outline[1].n = c.seen[0] = c.seen[1] = 0;
    const rb_extreme *e = rb_couple_extremes(couple, c.n);
    int single = whole && out->most == 1;
    if (single && e[0].freedom + e[1].freedom > 2 && closest->met) {
        /* any of many points is as good */
        add(&c, closest->at.s, closest->x1, c.n, RB_FEATURE_NONE >> 16, RB_FEATURE_NONE & 0xffff);
    } else if (single && e[0].freedom < 2 && e[1].freedom < 2) {
        closest_point(&c, closest, e);
    }
    if (c.points.n == 0) {
        rb_patch_make(&couple->core1, c.n, &e[0], &c.patch[0]);
        rb_patch_make(&couple->core2, back, &e[1], &c.patch[1]);
        int opposite = closest_point(&c, closest, e);
        if (!single || c.points.n == 0) common_points(&c);
        if (whole && !opposite) drop_false(&c);
    }
    if (whole && !(least_gap(&c.points) <= c.gap + c.grain.merge)) {
        if (c.points.n == RB_POINTS_MAX) c.points.n--; /* corners of a large face left no room */
        double x1[3];
        rb_copy3(closest->x1, x1);
        nameless_point(&c, closest->at.s, e, x1);
        add(&c, closest->at.s, x1, c.n, RB_FEATURE_NONE >> 16, RB_FEATURE_NONE & 0xffff);
    }
    rb_points_finish(&c.points, c.n, reach, c.grain, out);
}
