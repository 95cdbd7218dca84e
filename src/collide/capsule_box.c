/* Capsule against box, in the frame of the box: the axis as a segment x(t) = c + t u, then the
 * radius (G.2).
 *
 * While the axis is outside, dist(x(t), box)^2 is convex and piecewise quadratic in t; half its
 * derivative, sum_k u_k (x_k - clamp(x_k)), is piecewise linear and increasing, with breaks where
 * x_k = +-h_k. Its zero is found by walking the breaks: exact, no iteration (G.7).
 * An axis that enters the box leaves it along the least of the separations of 6 directions (G.8).
 *
 * Further points make a line of contact: the ends of the axis, its crossings with the sides of the
 * face below, the vertices of that face below it. */
#include "base/constants.h"
#include "collide/box.h"
#include "collide/feature.h"
#include "collide/manifold.h"
#include "collide/pairs.h"
#include "collide/segment.h"

typedef struct capsule_on_box {
    const rb_shape *box;
    const double *h;
    double r;
    rb_segment axis; /* in the frame of the box */
    rb_grain grain;
    rb_points points;
} capsule_on_box;

/* A point with its witness q on the box, `outward` unit vector from q to the axis, both in the
 * frame of the box. Shape 1 is the capsule. */
static void add(capsule_on_box *p, double distance, const double q[3], const double outward[3],
                uint32_t half1, uint32_t half2)
{
    double pos1[3], n[3];
    rb_copy3(q, pos1);
    rb_axpy3(distance - p->r, outward, pos1);
    rb_rot(p->box->R, pos1, pos1);
    rb_add3(pos1, p->box->p, pos1);
    rb_rot(p->box->R, outward, n);
    rb_scale3(-1.0, n, n);
    rb_points_add(&p->points, distance - p->r, pos1, n, rb_feature(half1, half2));
}

static uint32_t half_of_axis(const capsule_on_box *p, double t)
{
    return rb_feature_half(RB_CURVED, rb_segment_end(&p->axis, t) + 1);
}

/* Between its ends the axis is orthogonal to the shortest way from an edge or a vertex: what
 * rounding took from a short distance is put back. */
static void sharpen(const capsule_on_box *p, double t, double distance, uint32_t half2,
                    double outward[3])
{
    if (rb_segment_end(&p->axis, t)) return;
    if (half2 >> 14 == RB_VERTEX) rb_straighten(p->axis.u, outward);
    if (half2 >> 14 != RB_EDGE) return;
    int along = (int)(half2 & 0x3fff) / 4;
    double e[3] = { along == 0, along == 1, along == 2 }, m[3];
    rb_cross3(e, p->axis.u, m);

    /* uncertain by eps/|m|, while `outward` is by eps scale/distance */
    if (rb_unit(m) * rb_norm3(p->h) > distance) {
        rb_scale3(rb_dot3(m, outward) < 0.0 ? -1.0 : 1.0, m, outward);
    }
}

/* The sphere at t against the box. `facing`: what its outward direction has to agree with, or NULL.
 * `half2`: the feature it is known to be over, 0xffff: whichever is closest. */
static double add_sphere(capsule_on_box *p, double t, const double *facing, uint32_t half2,
                         double outward[3])
{
    double x[3], q[3];
    uint32_t found;
    rb_segment_at(&p->axis, t, x);
    double distance = rb_box_point(p->h, x, q, outward, &found);
    if (!facing) sharpen(p, t, distance, found, outward);
    if (!facing || rb_dot3(facing, outward) >= RB_FACING) {
        add(p, distance, q, outward, half_of_axis(p, t), half2 == 0xffff ? found : half2);
    }
    return distance;
}

/* ---- the closest point of the axis ------------------------------------------------------------
 */

/* Half the derivative of the squared distance at t. */
static double slope(const capsule_on_box *p, double t)
{
    double sum = 0.0;
    for (int k = 0; k < 3; k++) {
        double x = p->axis.c[k] + t * p->axis.u[k];
        sum += p->axis.u[k] * (x - rb_clamp_to(x, p->h[k]));
    }
    return sum;
}

static double closest_on_axis(const capsule_on_box *p)
{
    const double *c = p->axis.c, *u = p->axis.u, half = p->axis.half;
    double t[8] = { -half };
    int n = 1;
    for (int k = 0; k < 3; k++) {
        if (u[k] == 0.0) continue;
        for (int side = -1; side <= 1; side += 2) {
            double at = (side * p->h[k] - c[k]) / u[k];
            if (!(fabs(at) < half)) continue;
            int i = n++;
            for (; i > 0 && t[i - 1] > at; i--) t[i] = t[i - 1];
            t[i] = at;
        }
    }
    t[n++] = half;

    double before = slope(p, t[0]);
    if (before >= 0.0) return t[0];
    for (int i = 1; i < n; i++) {
        double after = slope(p, t[i]);
        if (after >= 0.0) return t[i - 1] + (t[i] - t[i - 1]) * (before / (before - after));
        before = after;
    }
    return half;
}

/* ---- the line of contact ----------------------------------------------------------------------
 */

/* Vertices of the face that the direction n points out of, against the axis. */
static void add_vertices(capsule_on_box *p, const double n[3])
{
    int axis = rb_main_axis(n), side = n[axis] > 0.0;
    for (int vertex = 0; vertex < 8; vertex++) {
        if ((vertex >> axis & 1) != side) continue;
        double q[3], x[3], outward[3];
        rb_box_vertex(p->h, vertex, q);
        double t = rb_segment_foot(&p->axis, q);
        if (rb_segment_end(&p->axis, t)) continue;
        rb_segment_at(&p->axis, t, x);
        rb_sub3(x, q, outward);
        double distance = rb_unit(outward);
        if (rb_dot3(outward, n) < RB_FACING) continue;
        add(p, distance, q, outward, half_of_axis(p, t), rb_feature_half(RB_VERTEX, vertex));
    }
}

/* The part of the axis over the face `axis` of the box, seen along n: t[0] <= t[1], and the edge
 * that ends it, 0xffff where the axis itself does. 0: no part. */
static int over_face(const capsule_on_box *p, const double n[3], int axis, double t[2],
                     uint32_t edge[2])
{
    const double *c = p->axis.c, *u = p->axis.u;
    t[0] = -p->axis.half;
    t[1] = p->axis.half;
    edge[0] = edge[1] = 0xffff;
    for (int step = 1; step <= 2; step++) {
        /* along n onto the plane of the face, the line is c_k + t u_k in the direction k */
        int k = (axis + step) % 3, along = 3 - axis - k;
        double tilt = n[k] / n[axis], top = rb_sign_of(n[axis]) * p->h[axis];
        double c_k = c[k] - tilt * (c[axis] - top), u_k = u[k] - tilt * u[axis];
        if (u_k == 0.0) {
            if (fabs(c_k) > p->h[k]) return 0;
            continue;
        }
        for (int side = -1; side <= 1; side += 2) {
            double at = (side * p->h[k] - c_k) / u_k;
            int end = side * u_k > 0.0, vertex = (side > 0) << k | (n[axis] > 0.0) << axis;
            if (end ? at >= t[1] : at <= t[0]) continue;
            t[end] = at;
            edge[end] = rb_feature_half(RB_EDGE, rb_box_edge_of(along, vertex));
        }
    }
    return t[0] <= t[1];
}

static void add_line(capsule_on_box *p, const double n[3])
{
    double t[2], outward[3];
    uint32_t edge[2];
    for (int end = -1; end <= 1; end += 2) {
        add_sphere(p, end * p->axis.half, n, 0xffff, outward);
    }
    if (over_face(p, n, rb_main_axis(n), t, edge)) {
        for (int end = 0; end < 2; end++) {
            /* an end of the axis right over an edge is the end, independent of rounding */
            int crosses = edge[end] != 0xffff && fabs(t[end]) < p->axis.half - p->grain.tie;
            if (crosses) add_sphere(p, t[end], n, edge[end], outward);
        }
    }
    add_vertices(p, n);
}

/* ---- the axis inside the box ------------------------------------------------------------------
 */

/* Over the face whose outward normal is n = +-e_axis: the ends of the part over it. */
static void leave_by_face(capsule_on_box *p, int axis, const double n[3])
{
    double t[2];
    uint32_t edge[2], face = rb_feature_half(RB_FACE, rb_box_face_of(axis, n[axis]));
    if (!over_face(p, n, axis, t, edge)) {
        /* by rounding only: the deepest point of the axis is over the face that is left first */
        t[0] = t[1] = rb_clamp_to(0.5 * (t[0] + t[1]), p->axis.half);
    }
    for (int end = 0; end < 2; end++) {
        double q[3];
        rb_segment_at(&p->axis, t[end], q);
        double distance = n[axis] * q[axis] - p->h[axis];
        q[axis] = n[axis] * p->h[axis];
        add(p, distance, q, n, half_of_axis(p, t[end]), edge[end] == 0xffff ? face : edge[end]);
    }
}

/* Across the edge along `axis` that is extreme in the direction n, orthogonal to edge and axis. */
static void leave_by_edge(capsule_on_box *p, int axis, const double n[3], double distance)
{
    rb_segment edge = { .u = { axis == 0, axis == 1, axis == 2 }, .half = p->h[axis] };
    double sign[3], m[3], s, t, q[3];
    for (int k = 0; k < 3; k++) {
        sign[k] = rb_sign_of(n[k]);
        edge.c[k] = k == axis ? 0.0 : sign[k] * p->h[k];
    }
    if (!rb_lines_cross(&edge, &p->axis, m, &s, &t)) s = t = 0.0;
    rb_segment_at(&edge, rb_clamp_to(s, edge.half), q);
    t = rb_clamp_to(t, p->axis.half);
    add(p, distance, q, n, half_of_axis(p, t),
        rb_feature_half(RB_EDGE, rb_box_edge_of(axis, rb_box_vertex_at(sign))));
}

static void leave(capsule_on_box *p, double n[3])
{
    const double *c = p->axis.c, *u = p->axis.u, *h = p->h;
    int face = 0, edge = -1;
    double best = -INFINITY;
    for (int k = 0; k < 3; k++) {
        double s = fabs(c[k]) - h[k] - p->axis.half * fabs(u[k]);
        if (s > best + p->grain.tie) {
            best = s;
            face = k;
        }
    }
    rb_zero3(n);
    n[face] = rb_sign_of(c[face]);

    for (int k = 0; k < 3; k++) {
        double e[3] = { k == 0, k == 1, k == 2 }, m[3];
        rb_cross3(e, u, m);
        double length = rb_norm3(m);
        if (!(length > 0.0)) continue;
        double cm = rb_dot3(c, m), width = 0.0;
        for (int i = 0; i < 3; i++) width += h[i] * fabs(m[i]);
        double s = (fabs(cm) - width) / length;
        if (s > best + p->grain.tie) {
            best = s;
            edge = k;
            rb_scale3(rb_sign_of(cm) / length, m, n);
        }
    }
    if (edge < 0)
        leave_by_face(p, face, n);
    else
        leave_by_edge(p, edge, n, best);
}

void rb_capsule_box(const rb_shape *capsule, const rb_shape *box, double reach, rb_manifold *out)
{
    capsule_on_box p;
    p.box = box;
    p.h = box->size;
    p.r = capsule->size[0];
    p.points.n = 0;
    rb_segment axis = rb_capsule_axis(capsule);
    double w[3], n[3];
    rb_sub3(capsule->p, box->p, w);
    rb_rot_t(box->R, w, p.axis.c);
    rb_rot_t(box->R, axis.u, p.axis.u);
    p.axis.half = axis.half;
    p.grain = rb_grain_of(capsule->size[0] + axis.half, rb_norm3(p.h), rb_norm3(w));

    double distance = add_sphere(&p, closest_on_axis(&p), NULL, 0xffff, n);
    if (distance - p.r > reach) {
        out->n = 0;
        return;
    }
    if (distance > p.grain.tie) {
        if (out->most > 1) add_line(&p, n);
    } else {
        p.points.n = 0;
        leave(&p, n);
    }
    rb_rot(box->R, n, n);
    rb_scale3(-1.0, n, n);
    rb_points_finish(&p.points, n, reach, p.grain, out);
}
