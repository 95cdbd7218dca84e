/* s(n) = min over D of n.w is concave, and smooth where one corner attains it. At its maximum over
 * unit vectors some edges k of the shapes may be orthogonal to n:
 *
 *     two edges      n = k1 x k2: faces, and crossing edges                               (G.19)
 *     one edge       a maximum on the circle n.k = 0
 *     none           a maximum on the sphere
 *
 * With w the corner at n, gradient of s, T a basis of the tangents and C the curvature of the
 * shapes, Newton's step on circle or sphere is
 *
 *     (T'C T + s 1) y = T'w,      n <- n + T y                                            (G.20)
 *
 * Every direction is judged by its full separation, so that a wrong guess of the edges is useless
 * but never wrong. */
#include "collide/direction.h"

#include "base/constants.h"
#include "collide/inner.h"
#include "collide/segment.h"
#include "math/vec3.h"

enum { MAX_KINKS = 8, MAX_NEWTON = 24, MAX_HALVINGS = 6, MAX_BISECTIONS = 48, MAX_HELP = 4 };

/* Tangent step [1] below which Newton's method has arrived. */
static const double arrived = 4e-16;

/* An edge that may be orthogonal to n. */
typedef struct kink {
    double u[3], length; /* unit vector from end a to end b */
    int second, a, b;    /* of core 2; parts of the core    */
} kink;

typedef struct search {
    rb_couple *couple;
    double tie; /* separations closer than this are equal [m] */
    rb_direction *best;
    int help;               /* times that bisection may help Newton's method */
    const rb_corner *known; /* corners of D: no separation is larger than along one of them */
    int nknown;
    int nkink;
    kink kink[MAX_KINKS];
} search;

static void consider_any(search *s, const double n[3], int exact)
{
    for (int i = 0; i < s->nknown; i++) {
        if (!(rb_dot3(n, s->known[i].w) > s->best->s + s->tie)) return;
    }
    double separation = rb_couple_separation(s->couple, n);
    if (!(separation > s->best->s + s->tie)) return;
    s->best->s = separation;
    s->best->exact = exact;
    rb_copy3(n, s->best->n);
}

static void consider(search *s, const double n[3])
{
    consider_any(s, n, 1);
}

/* ---- which edges ------------------------------------------------------------------------------
 */

static void add_kink(search *s, int second, int a, int b)
{
    const rb_core *core = second ? &s->couple->core2 : &s->couple->core1;
    kink k = { .second = second, .a = a, .b = b };
    double x[3], m[3];
    if (s->nkink == MAX_KINKS) return;
    if (core->kind == RB_CORE_POLY) {
        rb_core_vertex(core, a, x);
        rb_core_vertex(core, b, k.u);
        rb_sub3(k.u, x, k.u);
        k.length = rb_unit(k.u);
    } else {
        rb_core_axis(core, 2, k.u);
        k.length = 2.0 * core->size[1];
    }
    if (!(k.length > 0.0)) return;
    for (int i = 0; i < s->nkink; i++) {
        rb_cross3(k.u, s->kink[i].u, m);
        if (rb_dot3(m, m) <= RB_GAP_TIE * RB_GAP_TIE) return; /* known */
    }
    s->kink[s->nkink++] = k;
}

/* Between two directions next to each other another part of a core became extreme. */
static void add_flips(search *s, const rb_corner *x, const rb_corner *y)
{
    if (x->id1 != y->id1)
        add_kink(s, 0, x->id1 < y->id1 ? x->id1 : y->id1, x->id1 < y->id1 ? y->id1 : x->id1);
    if (x->id2 != y->id2)
        add_kink(s, 1, x->id2 < y->id2 ? x->id2 : y->id2, x->id2 < y->id2 ? y->id2 : x->id2);
}

/* Sides of the triangle of vertices that the corners name; the axis of what has one. */
static void add_core(search *s, const rb_core *core, const double n0[3], const rb_corner *corner,
                     int ncorner, int second)
{
    int id[4], n = 0;
    double u[3];
    if (core->kind == RB_CORE_SEGMENT || core->kind == RB_CORE_CYLINDER) {
        rb_core_axis(core, 2, u);
        if (fabs(rb_dot3(u, n0)) < RB_KINK) add_kink(s, second, 0, 2);
    }
    if (core->kind != RB_CORE_POLY) return;
    for (int i = 0; i < ncorner; i++) {
        int vertex = second ? corner[i].id2 : corner[i].id1, known = 0;
        for (int j = 0; j < n; j++) known |= id[j] == vertex;
        if (!known) id[n++] = vertex;
    }
    for (int i = 0; i + 1 < n; i++) add_kink(s, second, id[i], id[i + 1]);
}

/* ---- faces and pairs of edges -----------------------------------------------------------------
 */

/* The face at the extreme vertex that looks most along n, which points out of the core. */
static void try_face(search *s, rb_core *core, const double n[3], double sign)
{
    const rb_poly *p = &core->poly;
    double d[3], x[3], most = -INFINITY;
    int vertex = rb_core_support(core, n, x), first = p->leave[vertex], entry = first, face = 0;
    rb_rot_t(core->R, n, d);
    do {
        double facing = rb_dot3(d, p->plane + 4 * (ptrdiff_t)p->owner[entry]);
        if (facing > most) {
            most = facing;
            face = p->owner[entry];
        }
        entry = rb_poly_turn(p, entry);
    } while (entry != first);
    rb_rot(core->R, p->plane + 4 * (ptrdiff_t)face, x);
    rb_scale3(sign, x, x);
    consider(s, x);
}

static void try_flat(search *s, rb_core *core, const double n0[3], double sign)
{
    double n[3], u[3];
    rb_scale3(sign, n0, n);
    if (core->kind == RB_CORE_POLY) try_face(s, core, n, sign);
    if (core->kind != RB_CORE_CYLINDER) return;
    rb_core_axis(core, 2, u);
    double along = rb_dot3(u, n0);
    if (1.0 - along * along > RB_KINK * RB_KINK) return;
    rb_scale3(along < 0.0 ? -1.0 : 1.0, u, u);
    consider(s, u);
}

/* Nearly parallel edges are subtracted first, as in (G.5). */
static void try_crossing(search *s, const double a[3], const double b[3], const double n0[3])
{
    double rest[3], n[3];
    rb_copy3(b, rest);
    rb_axpy3(rb_dot3(a, b) < 0.0 ? 1.0 : -1.0, a, rest);
    rb_cross3(a, rest, n);
    if (!(rb_unit(n) > 0.0)) return;
    if (rb_dot3(n, n0) < 0.0) rb_scale3(-1.0, n, n);
    consider(s, n);
}

/* ---- Newton's method --------------------------------------------------------------------------
 */

/* T'C T of one core: how its extreme point moves with n. */
static void add_curvature(const rb_core *core, const double n[3], int nT, double T[2][3],
                          double K[2][2])
{
    double d[3], t[2][3], scale[3] = { 1.0, 1.0, 0.0 }, most = 1.0;
    if (core->kind == RB_CORE_ELLIPSOID) rb_copy3(core->size, scale);
    if (core->kind == RB_CORE_CYLINDER) most = core->size[0];
    if (core->kind != RB_CORE_ELLIPSOID && core->kind != RB_CORE_CYLINDER) return;
    rb_rot_t(core->R, n, d);
    for (int k = 0; k < 3; k++) d[k] *= scale[k];
    double length = rb_norm3(d);
    if (!(length > 0.0)) return;
    rb_scale3(1.0 / length, d, d);
    for (int i = 0; i < nT; i++) {
        rb_rot_t(core->R, T[i], t[i]);
        for (int k = 0; k < 3; k++) t[i][k] *= scale[k];
        rb_axpy3(-rb_dot3(t[i], d), d, t[i]);
    }
    for (int i = 0; i < nT; i++) {
        for (int j = 0; j < nT; j++) K[i][j] += most / length * rb_dot3(t[i], t[j]);
    }
}

/* (G.20); 0 where s has no maximum near n. */
static int newton_step(const rb_couple *couple, const rb_direction *at, const double w[3], int nT,
                       double T[2][3], double y[2])
{
    double K[2][2] = { { at->s, 0.0 }, { 0.0, at->s } }, g[2] = { 0.0, 0.0 };
    add_curvature(&couple->core1, at->n, nT, T, K);
    add_curvature(&couple->core2, at->n, nT, T, K);
    for (int i = 0; i < nT; i++) g[i] = rb_dot3(T[i], w);
    y[1] = 0.0;
    if (!(K[0][0] > 0.0)) return 0;
    if (nT == 1) {
        y[0] = g[0] / K[0][0];
    } else {
        double low = K[1][0] / K[0][0], pivot = K[1][1] - low * K[0][1];
        if (!(pivot > 0.0)) return 0;
        y[1] = (g[1] - low * g[0]) / pivot;
        y[0] = (g[0] - K[0][1] * y[1]) / K[0][0];
    }
    double length = sqrt(y[0] * y[0] + y[1] * y[1]);
    if (length > 0.5) {
        y[0] *= 0.5 / length;
        y[1] *= 0.5 / length;
    }
    return length < INFINITY;
}

/* Goes uphill from at->n on the circle orthogonal to k, or on the sphere where k is NULL. 0: it got
 * stuck. */
static int ascend(search *s, const double *k, rb_direction *at)
{
    rb_corner corner;
    rb_couple_corner(s->couple, at->n, &corner);
    at->s = rb_dot3(at->n, corner.w);
    for (int i = 0; i < MAX_NEWTON; i++) {
        double T[2][3], y[2];
        int nT = k ? 1 : 2;
        if (k) {
            rb_cross3(k, at->n, T[0]);
            rb_unit(T[0]);
        } else {
            rb_orthogonal(at->n, T[0]);
            rb_cross3(at->n, T[0], T[1]);
        }
        if (!newton_step(s->couple, at, corner.w, nT, T, y)) return 0;

        rb_direction next;
        rb_corner there;
        double length = fabs(y[0]) + fabs(y[1]);
        int halvings = 0;
        for (;; halvings++) {
            rb_copy3(at->n, next.n);
            for (int j = 0; j < nT; j++) rb_axpy3(y[j], T[j], next.n);
            if (k) rb_axpy3(-rb_dot3(k, next.n), k, next.n);
            rb_unit(next.n);
            rb_couple_corner(s->couple, next.n, &there);
            next.s = rb_dot3(next.n, there.w);
            if (next.s >= at->s - 0.1 * s->tie || halvings == MAX_HALVINGS) break;
            if (s->help == 0 && (there.id1 != corner.id1 || there.id2 != corner.id2)) break;
            y[0] *= 0.5;
            y[1] *= 0.5;
        }
        if (next.s < at->s - 0.1 * s->tie) {
            add_flips(s, &corner, &there);
            return 0;
        }
        *at = next;
        corner = there;
        if (length <= arrived) return 1;
    }
    return 1;
}

/* The best direction on the great circle from n along its gradient: where the derivative changes
 * its sign, by bisection. For where Newton's method has no maximum in sight. */
static void bisect(search *s, const double *k, rb_direction *at)
{
    rb_corner corner, below, above;
    double g[3], lo = 0.0, hi = RB_KINK;
    rb_couple_corner(s->couple, at->n, &corner);
    below = above = corner;
    rb_copy3(corner.w, g);
    rb_axpy3(-rb_dot3(g, at->n), at->n, g);
    if (k) rb_axpy3(-rb_dot3(g, k), k, g);
    if (!(rb_unit(g) > 0.0)) return;
    for (int i = 0; i < MAX_BISECTIONS; i++) {
        double t = 0.5 * (lo + hi), n[3], tangent[3];
        rb_copy3(at->n, n);
        rb_axpy3(t, g, n);
        rb_copy3(g, tangent);
        rb_axpy3(-t, at->n, tangent);
        rb_couple_corner(s->couple, n, &corner);
        if (rb_dot3(tangent, corner.w) > 0.0) {
            lo = t;
            below = corner;
        } else {
            hi = t;
            above = corner;
        }
    }
    if (hi < RB_KINK) add_flips(s, &below, &above);
    rb_axpy3(0.5 * (lo + hi), g, at->n);
    rb_unit(at->n);
    at->s = rb_couple_separation(s->couple, at->n);
}

/* Newton's method, helped where it does not see a maximum. */
static void climb(search *s, const double *k, rb_direction *at)
{
    for (int i = 0; !ascend(s, k, at) && i < s->help; i++) {
        rb_direction before = *at;
        bisect(s, k, at);
        if (!(at->s > before.s + s->tie)) {
            *at = before;
            return;
        }
    }
}

/* An upper bound of the gap from the extreme points at n, one of them moved along its edge to where
 * it belongs: their distance, or (G.13) where they overlap; INFINITY where the point would
 * leave the edge. */
static double upper_at(const search *s, const double n[3], const rb_corner *corner, const kink *k,
                       double x1[3])
{
    double w[3];
    rb_inner_edge edge;
    rb_copy3(corner->w, w);
    rb_copy3(corner->x1, x1);
    if (k) {
        double t = rb_dot3(w, k->u), shift = k->second ? -t : t;
        int id = k->second ? corner->id2 : corner->id1;
        if (id == k->b) shift = -shift;
        if ((id != k->a && id != k->b) || shift < -s->tie || shift > k->length + s->tie)
            return INFINITY;
        rb_axpy3(-t, k->u, w);
        if (!k->second) rb_axpy3(t, k->u, x1);
        edge = (rb_inner_edge){ k->u, rb_smaller(shift, k->length - shift), k->second };
    }
    double along = rb_dot3(n, w);
    if (along >= 0.0) return rb_norm3(w);
    rb_axpy3(-along, n, w);
    double aside = rb_norm3(w);
    if (aside > RB_CLEAR * s->couple->scale) return INFINITY;
    return -rb_inner_depth(rb_inner_curved(s->couple, n, k ? &edge : NULL), along, aside);
}

/* The best on the circle orthogonal to k that is nearest to n0, or on the sphere; 0: no such
 * circle. */
static int try_free(search *s, const kink *k, const double n0[3], rb_direction *at)
{
    rb_corner corner;
    rb_copy3(n0, at->n);
    if (k) rb_axpy3(-rb_dot3(k->u, n0), k->u, at->n);
    if (!(rb_unit(at->n) > 0.0)) return 0;
    climb(s, k ? k->u : NULL, at);
    rb_couple_corner(s->couple, at->n, &corner);
    at->s = rb_dot3(at->n, corner.w);
    at->upper = upper_at(s, at->n, &corner, k, at->x1);
    return 1;
}

/* A thin ellipsoid bends sharply where it is thin: Newton's method begins there as well. */
static int try_thin(search *s, const rb_core *core, const double n0[3], rb_direction *at)
{
    double u[3];
    int axis = 0;
    if (core->kind != RB_CORE_ELLIPSOID) return 0;
    for (int k = 1; k < 3; k++) {
        if (core->size[k] < core->size[axis]) axis = k;
    }
    rb_core_axis(core, axis, u);
    double along = rb_dot3(u, n0);
    if (1.0 - along * along > RB_KINK * RB_KINK) return 0;
    rb_scale3(along < 0.0 ? -1.0 : 1.0, u, u);
    return try_free(s, NULL, u, at);
}

/* Cores that overlap have no gap above 0; how much below is not computed until it matters. */
static int is_proved_to(const search *s, double tol)
{
    if (s->best->upper == 0.0 && s->couple->curved) tol = RB_DEPTH_NONE * s->couple->scale;
    return s->best->s >= s->best->upper - tol;
}

static int is_proved(const search *s)
{
    return is_proved_to(s, s->tie);
}

/* Separations are flat about their maximum: the normal of a face that is as good to `tie` may be
 * off by the root of that. Next to a curved surface it is the answer only where it is as good to
 * this. */
static double sharp(const search *s)
{
    return s->couple->curved ? RB_GAP_SHARP * s->couple->scale : s->tie;
}

/* A free maximum, whose direction is as good as rounding lets it be. */
static void take_free(search *s, const rb_direction *at)
{
    if (!(at->s > s->best->s + sharp(s))) return;
    s->best->s = at->s;
    s->best->exact = 0;
    rb_copy3(at->n, s->best->n);
}

/* A free maximum that its own points prove is the answer; others wait. */
static int accept(search *s, const rb_direction *at)
{
    if (at->upper - at->s > s->tie) return 0;
    s->best->upper = rb_smaller(s->best->upper, at->upper);
    take_free(s, at);
    rb_copy3(at->x1, s->best->x1);
    s->best->placed = is_proved(s);
    return s->best->placed;
}

/* Faces, and edges that the corners name. */
static int try_exact(search *s, const double n0[3])
{
    double tol = sharp(s);
    try_flat(s, &s->couple->core1, n0, 1.0);
    if (is_proved_to(s, tol)) return 1;
    try_flat(s, &s->couple->core2, n0, -1.0);
    for (int i = 0; i < s->nkink; i++) {
        for (int j = 0; j < i && !is_proved_to(s, tol); j++) {
            try_crossing(s, s->kink[i].u, s->kink[j].u, n0);
        }
    }
    return is_proved_to(s, tol);
}

/* Whether the face or pair of edges that separates best is where the foot of the origin lies. */
static int is_attained(search *s)
{
    rb_direction *best = s->best;
    if (!best->exact || !rb_inner_flat(s->couple, best->n, best->s, best->x1)) return 0;
    best->upper = rb_smaller(best->upper, best->s);
    best->placed = 1;
    return 1;
}

/* Free maxima without help: on the circles of the edges that the corners name, if there are any,
 * and on the sphere. 1: its own points prove one. */
static int try_quickly(search *s, const double n0[3])
{
    rb_direction at;
    int named = s->nkink;
    if (named == 0 && try_free(s, NULL, n0, &at) && accept(s, &at)) return 1;
    for (int i = 0; i < named; i++) {
        kink k = s->kink[i];
        if (try_free(s, &k, n0, &at) && accept(s, &at)) return 1;
    }
    return named > 0 && try_free(s, NULL, n0, &at) && accept(s, &at);
}

/* Free maxima that are not proved come last: where a pair of edges or a face is as good, it is the
 * answer, and its direction is exact. */
void rb_direction_improve(rb_couple *couple, const double n0[3], const rb_corner *corner,
                          int ncorner, rb_effort effort, rb_direction *best)
{
    search s = { .couple = couple,
                 .tie = RB_GAP_TIE * couple->scale,
                 .best = best,
                 .known = corner,
                 .nknown = ncorner };
    add_core(&s, &couple->core1, n0, corner, ncorner, 0);
    add_core(&s, &couple->core2, n0, corner, ncorner, 1);
    if (try_exact(&s, n0) || is_attained(&s)) return;

    /* the depth of polyhedra is attained on a face of their difference, nowhere between */
    if (effort == RB_TRY_EXACT) {
        consider_any(&s, n0, 0);
        return;
    }
    if (try_quickly(&s, n0)) return;
    if (effort == RB_TRY_NEWTON) {
        consider_any(&s, n0, 0);
        return;
    }
    s.help = MAX_HELP;
    rb_direction sphere[3], circle[MAX_KINKS];
    int nsphere = 0, ncircle = 0, known = s.nkink;
    nsphere += try_free(&s, NULL, n0, &sphere[nsphere]);
    if (accept(&s, &sphere[0])) return;
    nsphere += try_thin(&s, &couple->core1, n0, &sphere[nsphere]);
    nsphere += try_thin(&s, &couple->core2, n0, &sphere[nsphere]);
    for (int i = 0; i < s.nkink; i++) {
        kink k = s.kink[i];
        if (!try_free(&s, &k, sphere[0].n, &circle[ncircle])) continue;
        if (accept(&s, &circle[ncircle++])) return;
    }

    /* edges that were met on the way */
    for (int i = known; i < s.nkink; i++) {
        for (int j = 0; j < i; j++) try_crossing(&s, s.kink[i].u, s.kink[j].u, n0);
    }
    for (int i = 0; i < ncircle; i++) take_free(&s, &circle[i]);
    for (int i = 0; i < nsphere; i++) take_free(&s, &sphere[i]);
    consider_any(&s, n0, 0);
}
