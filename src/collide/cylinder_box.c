/* A cylinder against a box without a search. Seen from the box, with the centre of the cylinder as
 * origin, its axis u, radius r and half length l, the centre t and the half sizes h of the box,
 *
 *     s(n) = n.t - sum_k h_k |n_k| - l |n.u| - r |n x u|                                  (G.17)
 *
 * Where they overlap, s < 0, a maximum needs a kink of s: without one there is a tangent along
 * which the curvature of s on the sphere is -s > 0. Kinks are
 *
 *     n = u, n = k         a cap or a face
 *     n.u = 0              the box seen along u is a hexagon, the cylinder a disc
 *     n.k = 0              the box seen along its edge k is a rectangle, the cylinder two ellipses
 *                          and what is between them: corners of the one inside the other are
 *                          nearest to the border along a face, along n.u = 0, or along the normal
 *                          of an ellipse through the corner
 *
 * All of them are examined, so that the highest is the depth as soon as one common point proves
 * that the shapes overlap. Apart, s is the gap if the two points that belong to n lie on both
 * shapes; where a vertex faces a rim no kink is left, and the search of convex.c has to find it. */
#include "base/constants.h"
#include "collide/box.h"
#include "collide/convex.h"
#include "collide/segment.h"
#include "math/vec3.h"

enum { MAX_NEWTON = 40 };

/* Excess of (x/a)^2 + (y/b)^2 over 1 up to which a corner is on an ellipse or in it [1]. Smaller:
 * rounding hides a corner that touches. Larger: corners outside are examined without need. */
static const double near_rim = 1e-9;

/* |n.k| of the axis below which its rims, seen along k, are lines [1]: a depth is off by this part
 * of the radius at most. */
static const double edge_on = 1e-12;

typedef enum kind { FACE, CAP, SIDE, RIM } kind;

/* The pair seen from the box. */
typedef struct seen {
    const double *h;
    double r, l, t[3], u[3];
    double across[3]; /* |k x u| for the axes k of the box */
    double tie, sharp;

    /* the best so far */
    kind kind;
    int axis;  /* FACE: normal; SIDE, RIM: edge of the box that takes part */
    int exact; /* n is that of a face or of a pair of edges                */
    double s, n[3];
    double x2[3]; /* SIDE, RIM: point of the box */
} seen;

static double separation(const seen *p, const double n[3])
{
    double m[3], width = p->h[0] * fabs(n[0]) + p->h[1] * fabs(n[1]) + p->h[2] * fabs(n[2]);
    rb_cross3(n, p->u, m);
    return rb_dot3(n, p->t) - width - (p->l * fabs(rb_dot3(n, p->u)) + p->r * rb_norm3(m));
}

/* ---- faces and caps ---------------------------------------------------------------------------
 */

static void try_flat(seen *p)
{
    const double *u = p->u, *h = p->h, *t = p->t;
    p->s = -INFINITY;
    p->exact = 1;
    for (int k = 0; k < 3; k++) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        p->across[k] = sqrt(u[i] * u[i] + u[j] * u[j]);
        double s = fabs(t[k]) - h[k] - (p->l * fabs(u[k]) + p->r * p->across[k]);
        if (!(s > p->s + p->tie)) continue;
        p->s = s;
        p->axis = k;
        p->kind = FACE;
    }
    double width = h[0] * fabs(u[0]) + h[1] * fabs(u[1]) + h[2] * fabs(u[2]);
    double s = fabs(rb_dot3(t, u)) - p->l - width;
    if (s > p->s + p->tie) {
        p->s = s;
        p->kind = CAP;
    }
}

/* ---- n.u = 0 ----------------------------------------------------------------------------------
 */

/* The edge of the hexagon that separates most, along n = k x u; -1: none better than what is known
 * if it had its vertices. */
static int best_edge(const seen *p, double *s, double n[3])
{
    int best = -1;
    *s = -INFINITY;
    for (int k = 0; k < 3; k++) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        if (!(p->across[k] > RB_KINK_SURE)) continue;
        double ni = -p->u[j] / p->across[k], nj = p->u[i] / p->across[k];
        double along = ni * p->t[i] + nj * p->t[j];
        double here = fabs(along) - p->h[i] * fabs(ni) - p->h[j] * fabs(nj) - p->r;
        if (!(here > *s)) continue;
        *s = here;
        best = k;
        n[k] = 0.0;
        n[i] = along < 0.0 ? -ni : ni;
        n[j] = along < 0.0 ? -nj : nj;
    }
    return best;
}

/* The point x2 of edge k, through x2, next to the axis, and the way m to it from there, of
 * length 1. 1: it is an end of the edge. */
static int foot_on_edge(const seen *p, int k, double x2[3], double m[3])
{
    const double *u = p->u;
    x2[k] = p->t[k];
    double foot = (rb_dot3(x2, u) * u[k] - x2[k]) / (p->across[k] * p->across[k]);
    x2[k] += rb_clamp_to(foot, p->h[k]);
    rb_copy3(x2, m);
    rb_axpy3(-rb_dot3(x2, u), u, m);
    rb_axpy3(-rb_dot3(m, u), u, m);
    return rb_unit(m) > 0.0 && fabs(foot) > p->h[k];
}

/* From edge k, extreme against n, to the point of the hexagon next to the axis. Two edges are one
 * side of it where u is orthogonal to the third: then it may lie on the other. 1: it is a vertex,
 * and n now points to it. */
static int aim_at_side(const seen *p, int k, double n[3], double x2[3])
{
    double m[3];
    for (int i = 0; i < 3; i++) x2[i] = p->t[i] + (n[i] > 0.0 ? -p->h[i] : p->h[i]);
    for (int turn = 0; turn < 3 && foot_on_edge(p, k, x2, m); turn++) {
        int next = -1;
        for (int i = 0; i < 3; i++) {
            if (i != k && m[i] * (x2[i] - p->t[i]) > 0.0 && p->across[i] > RB_KINK_SURE) next = i;
        }
        if (next < 0) {
            rb_copy3(m, n);
            return 1;
        }
        k = next;
    }
    return 0;
}

static void try_side(seen *p)
{
    double s, n[3], x2[3];
    int k = best_edge(p, &s, n);
    if (k < 0) return;
    if (s <= p->s + p->tie && s <= -p->r) return; /* the axis passes through the hexagon */
    int vertex = aim_at_side(p, k, n, x2);
    if (vertex) s = separation(p, n);
    if (!(s > p->s + (vertex ? p->sharp : p->tie))) return;
    p->s = s;
    p->kind = SIDE;
    p->exact = !vertex;
    p->axis = k;
    rb_copy3(n, p->n);
    rb_copy3(x2, p->x2);
}

/* ---- n.k = 0 ----------------------------------------------------------------------------------
 */

/* Two ellipses with half axes r (u.k) and r, seen along edge k of the box. */
typedef struct rims {
    int k, i, j;   /* edge; axes of the plane               */
    double e1[2];  /* from the one to the other, in plane   */
    double flat;   /* |u.k|                                 */
    double middle; /* distance of their centres from 0 [m]  */
} rims;

/* The normal (c, s flat) of the ellipse X^2/flat^2 + Y^2 = r^2 at its point (r flat c, r s) that is
 * nearest to (X, Y), Y >= 0, on the side X > 0 of it: c = x/v, s = y/(1 + (v - 1) flat^2), where
 *
 *     (x/v)^2 + (y/(1 + (v - 1) flat^2))^2 = 1,     x = X/(r flat),  y = Y/r              (G.18)
 *
 * is convex in v on either side of 0, x/v > 0. Newton's method comes from the side of 0 or from the
 * pole. 0: there is none. */
static int ellipse_normal(double flat, double x, double y, double *c, double *s)
{
    double ff = flat * flat, v, sign = x < 0.0 ? -1.0 : 1.0;
    if (x >= 0.0) {
        double rest = 1.0 - y * y, rest_x = 1.0 - x * x;
        v = x * x + y * y >= 1.0 ? 1.0 : x / sqrt(rest);
        if (v < 1.0) v = rb_larger(v, 1.0 - (1.0 - y / sqrt(rest_x)) / ff);
        if (!(v > 0.0)) return 0;
    } else {
        double least = y / (1.0 - ff);
        if (!(least < 1.0)) return 0;
        v = -x / sqrt((1.0 - least) * (1.0 + least));
    }
    for (int i = 0; i < MAX_NEWTON; i++) {
        double below = 1.0 + (sign * v - 1.0) * ff;
        *c = fabs(x) / v;
        *s = y / below;
        if (!(below > 0.0)) return 0;
        double f = *c * *c + *s * *s - 1.0;
        double slope = -2.0 * (*c * *c / v + sign * *s * *s * ff / below);
        if (!(slope < 0.0)) return 0;
        double step = -f / slope;
        v += step;
        if (step <= RB_EPS * v) return 1;
    }
    return 0;
}

/* The corner of the rectangle at `side` of the box, at (x, y) along e1 and across it. */
static void try_corner(seen *p, const rims *q, const double side[2], double x, double y, double arc)
{
    double d = -p->s, X = arc * fabs(x) - q->middle, Y = fabs(y), c, s, n[3];
    double b = p->r * q->flat, zx = X / b, zy = Y / p->r, deep = 1.0 - d / b;
    if (X <= -d || zy > 1.0 + near_rim) return;
    double out = zx > 0.0 ? zx * zx + zy * zy : zy * zy;
    if (out > 1.0 + near_rim || (deep > 0.0 && out <= deep * deep)) return;
    if (!ellipse_normal(q->flat, zx, zy, &c, &s)) return;
    double along = rb_sign_of(x) * arc * c, aside = rb_sign_of(y) * s * q->flat;
    double ni = along * q->e1[0] - aside * q->e1[1], nj = along * q->e1[1] + aside * q->e1[0];
    if (ni * side[0] > 0.0 || nj * side[1] > 0.0) return; /* another corner is before it */
    double length = sqrt(ni * ni + nj * nj);
    n[q->k] = 0.0;
    n[q->i] = ni / length;
    n[q->j] = nj / length;
    double here = separation(p, n);
    if (!(here > p->s + p->sharp)) return;
    p->s = here;
    p->kind = RIM;
    p->exact = 0;
    p->axis = q->k;
    rb_copy3(n, p->n);
}

static void try_rims(seen *p, int k)
{
    rims q = { .k = k, .i = (k + 1) % 3, .j = (k + 2) % 3, .flat = fabs(p->u[k]) };
    if (q.flat < edge_on) return;
    double across = p->across[k];
    q.e1[0] = across > 0.0 ? p->u[q.i] / across : 1.0;
    q.e1[1] = across > 0.0 ? p->u[q.j] / across : 0.0;
    q.middle = p->l * across;
    for (int corner = 0; corner < 4; corner++) {
        double side[2] = { corner & 1 ? 1.0 : -1.0, corner & 2 ? 1.0 : -1.0 };
        double ci = p->t[q.i] + side[0] * p->h[q.i], cj = p->t[q.j] + side[1] * p->h[q.j];
        double x = ci * q.e1[0] + cj * q.e1[1], y = cj * q.e1[0] - ci * q.e1[1];
        try_corner(p, &q, side, x, y, 1.0);
        if (-fabs(x) - q.middle > p->s) try_corner(p, &q, side, x, y, -1.0);
    }
}

/* ---- points -----------------------------------------------------------------------------------
 */

/* The point of the cylinder that is extreme along n, of a whole cap its centre. */
static void cylinder_point(const seen *p, const double n[3], double x[3])
{
    double m[3], along = rb_dot3(p->u, n);
    rb_copy3(n, m);
    rb_axpy3(-along, p->u, m);
    double across = rb_unit(m);
    rb_scale3(along < 0.0 ? -p->l : p->l, p->u, x);
    if (across > RB_KINK_SURE) rb_axpy3(p->r, m, x);
}

/* Whether x lies in the box, or before or behind face k of it. */
static int is_over_face(const seen *p, int k, const double x[3])
{
    int i = (k + 1) % 3, j = (k + 2) % 3;
    return fabs(x[i] - p->t[i]) <= p->h[i] && fabs(x[j] - p->t[j]) <= p->h[j];
}

static int is_in_cylinder(const seen *p, const double x[3])
{
    double r[3], along = rb_dot3(x, p->u);
    rb_copy3(x, r);
    rb_axpy3(-along, p->u, r);
    return fabs(along) <= p->l + p->tie && rb_norm3(r) <= p->r + p->tie;
}

/* The middle of what the side of a cylinder that lies on face k has over it, x being one end. */
static int line_over_face(const seen *p, int k, double x[3])
{
    double lo = rb_dot3(x, p->u) > 0.0 ? -2.0 * p->l : 0.0, hi = lo + 2.0 * p->l;
    if (!(fabs(p->u[k]) <= RB_KINK_SURE)) return 0;
    for (int i = 0; i < 3; i++) {
        double y = x[i] - p->t[i];
        if (i == k) continue;
        if (fabs(p->u[i]) <= RB_KINK_SURE) {
            if (fabs(y) > p->h[i]) return 0;
            continue;
        }
        double a = (-p->h[i] - y) / p->u[i], b = (p->h[i] - y) / p->u[i];
        lo = rb_larger(lo, rb_smaller(a, b));
        hi = rb_smaller(hi, rb_larger(a, b));
    }
    rb_axpy3(0.5 * (lo + hi), p->u, x);
    return lo <= hi;
}

/* Edges along u that touch the side: the middle of what both have in common. */
static void centre_on_line(seen *p)
{
    for (int k = 0; k < 3; k++) {
        double lo = rb_larger(p->t[k] - p->h[k], -p->l), hi = rb_smaller(p->t[k] + p->h[k], p->l);
        if (!(p->across[k] > RB_KINK_SURE) && lo <= hi) p->x2[k] = 0.5 * (lo + hi);
    }
}

/* The point x of the cylinder that belongs to the best direction, if it and its partner, s away
 * along n, are on both shapes. */
static int place(seen *p, double x[3])
{
    if (p->kind == FACE) {
        rb_zero3(p->n);
        p->n[p->axis] = rb_sign_of(p->t[p->axis]);
    }
    if (p->kind == FACE || p->kind == RIM) {
        cylinder_point(p, p->n, x);
        rb_copy3(x, p->x2);
        rb_axpy3(p->s, p->n, p->x2);
        if (p->kind == RIM) return fabs(p->x2[p->axis] - p->t[p->axis]) <= p->h[p->axis];
        return is_over_face(p, p->axis, x) || line_over_face(p, p->axis, x);
    }
    if (p->kind == CAP) {
        rb_scale3(rb_dot3(p->t, p->u) < 0.0 ? -1.0 : 1.0, p->u, p->n);
        for (int k = 0; k < 3; k++) p->x2[k] = p->t[k] + (p->n[k] > 0.0 ? -p->h[k] : p->h[k]);
    }
    if (p->kind == SIDE) centre_on_line(p);
    rb_copy3(p->x2, x);
    rb_axpy3(-p->s, p->n, x);
    return is_in_cylinder(p, x);
}

/* Whether they overlap for sure: one of the two points is in the other shape, or a centre is. */
static int has_common_point(const seen *p)
{
    if (p->kind == FACE && p->s >= -2.0 * p->h[p->axis]) return 1;
    if (p->kind != FACE && is_in_cylinder(p, p->x2)) return 1;
    const double *t = p->t, *h = p->h;
    if (fabs(t[0]) <= h[0] && fabs(t[1]) <= h[1] && fabs(t[2]) <= h[2]) return 1;
    return is_in_cylinder(p, t);
}

int rb_cylinder_box(rb_couple *couple, rb_closest *out)
{
    rb_core *cylinder = &couple->core1, *box = &couple->core2;
    if (cylinder->kind != RB_CORE_CYLINDER || !rb_core_is_box(box)) return 0;
    seen p = { .h = box->size,
               .r = cylinder->size[0],
               .l = cylinder->size[1],
               .tie = RB_GAP_TIE * couple->scale,
               .sharp = RB_GAP_SHARP * couple->scale };
    double w[3], u[3], x[3];
    rb_sub3(box->c, cylinder->c, w);
    rb_core_axis(cylinder, 2, u);
    rb_rot_t(box->R, w, p.t);
    rb_rot_t(box->R, u, p.u);
    try_flat(&p);
    try_side(&p);
    for (int k = 0; k < 3 && p.s < 0.0; k++) try_rims(&p, k);
    if (!place(&p, x) || (p.s < 0.0 && !has_common_point(&p))) return 0;
    out->at = (rb_direction){ .s = p.s, .upper = p.s, .exact = p.exact };
    rb_rot(box->R, p.n, out->at.n);
    rb_rot(box->R, x, out->x1);
    rb_add3(out->x1, cylinder->c, out->x1);
    out->met = 1;
    out->error = 0.0;
    out->capped = out->steps = 0;
    return 1;
}
