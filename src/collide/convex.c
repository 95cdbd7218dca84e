/* Two convex shapes for which there is no closed form: GJK, and where they overlap the expanding
 * polytope, give a direction; it is improved until it is that of a pair of features. */
#include "collide/convex.h"

#include "base/constants.h"
#include "collide/depth.h"
#include "collide/feature.h"
#include "collide/flats.h"
#include "collide/inner.h"
#include "collide/pairs.h"
#include "collide/segment.h"
#include "collide/simplex.h"
#include "math/vec3.h"

int rb_couple_make(const rb_shape *shape1, const rb_shape *shape2, rb_couple *couple)
{
    double w[3];
    if (!rb_core_make(shape1, shape1->p, &couple->core1)) return 0;
    if (!rb_core_make(shape2, shape1->p, &couple->core2)) return 0;
    rb_sub3(couple->core2.c, couple->core1.c, w);
    couple->scale = rb_larger(rb_norm3(w), rb_larger(couple->core1.extent, couple->core2.extent));
    couple->scale = rb_larger(couple->scale, rb_larger(couple->core1.radius, couple->core2.radius));
    couple->seen = 0;
    couple->enough = INFINITY;
    couple->curved =
        couple->core1.kind >= RB_CORE_CYLINDER || couple->core2.kind >= RB_CORE_CYLINDER;
    return 1;
}

static void witness(const rb_gjk *gjk, double x1[3])
{
    rb_zero3(x1);
    for (int i = 0; i < gjk->n; i++) rb_axpy3(gjk->share[i], gjk->p[i].x1, x1);
}

/* The point of core 1 that belongs to the foot of the origin on the nearest face. */
static void depth_witness(const rb_corner face[3], double x1[3])
{
    double ab[3], ac[3], m[3], k[3], r[3];
    rb_sub3(face[1].w, face[0].w, ab);
    rb_sub3(face[2].w, face[0].w, ac);
    rb_cross3(ab, ac, m);
    double mm = rb_dot3(m, m);
    if (!(mm > 0.0)) return;
    rb_scale3(-1.0, face[0].w, r);
    rb_cross3(r, ac, k);
    double b = rb_dot3(k, m) / mm;
    rb_cross3(ab, r, k);
    double c = rb_dot3(k, m) / mm;
    rb_scale3(1.0 - b - c, face[0].x1, x1);
    rb_axpy3(b, face[1].x1, x1);
    rb_axpy3(c, face[2].x1, x1);
}

static void improve_here(rb_couple *couple, rb_direction *at)
{
    rb_corner corner;
    double n[3];
    rb_copy3(at->n, n);
    rb_couple_corner(couple, n, &corner);
    rb_direction_improve(couple, n, &corner, 1, RB_TRY_ALL, at);
}

/* Whether the bounds of the gap agree to tol [m]. */
static int is_proved_to(double tol, rb_closest *out)
{
    if (out->at.placed) rb_copy3(out->at.x1, out->x1);
    out->error = rb_larger(0.0, out->at.upper - out->at.s);
    return out->error <= tol;
}

/* From every face of the polytope that could be the nearest: of polyhedra those that are
 * equal to rounding. 1: proved. */
static int improve_faces(rb_couple *couple, const rb_depth *depth, rb_closest *out)
{
    rb_effort effort = couple->curved ? RB_TRY_ALL : RB_TRY_EXACT;
    for (int i = 0; i < depth->n; i++) {
        double far = couple->curved ? -out->at.s - RB_DEPTH_NONE * couple->scale
                     : i > 0        ? depth->distance[0] + RB_DEPTH_TIE * couple->scale
                                    : -out->at.s;
        if (depth->distance[i] >= far) break;
        rb_direction_improve(couple, depth->normal[i], depth->face[i], 3, effort, &out->at);
        if (is_proved_to(RB_GAP_TIE * couple->scale, out)) return 1;
    }
    return 0;
}

/* A cylinder among them: it has one edge, its axis, and every pair of edges is soon examined.
 * Nearly parallel faces have more of them next to the best than the corners of a polytope name. */
static int has_axis(const rb_couple *couple)
{
    return couple->core1.kind == RB_CORE_CYLINDER || couple->core2.kind == RB_CORE_CYLINDER;
}

/* Round a cylinder the depth of what is deep inside varies little, and a polytope lists few of the
 * candidate directions: those across the axes of the other core and along them. */
static void improve_around(rb_couple *couple, const rb_core *cylinder, const rb_core *other,
                           rb_direction *at)
{
    double u[3];
    if (cylinder->kind != RB_CORE_CYLINDER) return;
    rb_core_axis(cylinder, 2, u);
    for (int i = 0; i < 12; i++) {
        double a[3], n[3];
        rb_corner corner;
        rb_core_axis(other, i / 2 % 3, a);
        rb_cross3(u, a, n);
        if (i >= 6) rb_cross3(n, u, n);
        if (!(rb_unit(n) > RB_KINK_SURE)) continue;
        if (i % 2) rb_scale3(-1.0, n, n);
        rb_couple_corner(couple, n, &corner);
        rb_direction_improve(couple, n, &corner, 1, RB_TRY_ALL, at);
    }
}

/* Where the cores overlap and no ball has proved it. */
static void find_depth(rb_couple *couple, const rb_gjk *gjk, rb_closest *out)
{
    rb_depth depth;
    out->at.upper = INFINITY;
    double tol = 0.1 * RB_GAP_TIE * couple->scale;
    if (couple->curved) {
        double coarse = rb_smaller(RB_DEPTH_COARSE * couple->scale, 0.01 * -out->at.s);
        tol = rb_larger(coarse, RB_DEPTH_FINE * couple->scale);
    }
    rb_depth_run(couple, gjk, tol, &depth);
    if (improve_faces(couple, &depth, out)) return;
    if (has_axis(couple)) rb_direction_all(couple, RB_PAIRS_MANY, &out->at);
    if (!couple->curved && -out->at.s < RB_DEPTH_TIE * couple->scale)
        rb_direction_all(couple, RB_PAIRS_FEW, &out->at);
    if (couple->curved && !out->at.exact) improve_here(couple, &out->at);
    out->steps += depth.steps;
    double fine = RB_DEPTH_FINE * couple->scale;
    if (couple->curved && -out->at.s - depth.lower > fine) {
        /* a coarse polytope may not name the edge that matters */
        rb_depth_run(couple, gjk, fine, &depth);
        out->steps += depth.steps;
        if (improve_faces(couple, &depth, out)) return;
    }
    if (depth.n > 0) depth_witness(depth.face[0], out->x1);
    out->error = rb_larger(0.0, -out->at.s - depth.lower);
    out->capped = 0;
    if (depth.complete) return;

    /* no polytope could be grown to the surface */
    int all = rb_direction_all(couple, RB_PAIRS_MANY, &out->at);
    improve_around(couple, &couple->core1, &couple->core2, &out->at);
    improve_around(couple, &couple->core2, &couple->core1, &out->at);
    if (couple->curved) improve_here(couple, &out->at);
    if (all && !couple->curved)
        out->error = 0.0;
    else
        out->error = rb_larger(0.0, -out->at.s - depth.lower);
    out->capped = out->error > RB_DEPTH_FINE * couple->scale;
}

/* Whether the closest points of the simplex lie s n apart. */
static int is_met_at(const rb_couple *couple, const rb_gjk *gjk, double s, const double n[3])
{
    double r[3];
    rb_copy3(gjk->v, r);
    rb_axpy3(-s, n, r);
    return !gjk->overlap && rb_norm3(r) <= RB_SAME_POINT * couple->scale;
}

/* Polyhedra so far apart that the direction of their distance has all its digits. */
static int is_far(const rb_couple *couple, const rb_gjk *gjk)
{
    return !couple->curved && !gjk->overlap && gjk->distance > RB_FAR * couple->scale;
}

/* The direction of the features that GJK ended on. */
static int take_named(rb_couple *couple, const rb_gjk *gjk, rb_closest *out)
{
    double n[3], s;
    if (!is_far(couple, gjk) || !rb_simplex_direction(couple, gjk, n, &s)) return 0;
    rb_copy3(n, out->at.n);
    out->at.s = s;
    out->at.exact = 0;
    return 1;
}

/* Its own, where it came to its end. */
static int take_own(const rb_couple *couple, const rb_gjk *gjk, rb_closest *out)
{
    int ended = gjk->distance - gjk->lower <= RB_GAP_SHARP * couple->scale;
    if (gjk->overlap || !(gjk->distance > RB_FAR * couple->scale) || !ended) return 0;
    rb_copy3(gjk->normal, out->at.n);
    out->at.s = gjk->lower;
    out->at.exact = 0;
    return 1;
}

/* Improves what GJK found. 1: proved. */
static int settle(rb_couple *couple, const rb_gjk *gjk, rb_effort effort, rb_closest *out)
{
    double upper = gjk->overlap ? 0.0 : gjk->distance;
    if (upper < out->at.upper) {
        out->at.upper = upper;
        witness(gjk, out->x1);
    }
    if (!take_named(couple, gjk, out) && !take_own(couple, gjk, out)) {
        rb_direction_improve(couple, gjk->normal, gjk->p, gjk->n,
                             gjk->overlap && !couple->curved ? RB_TRY_EXACT : effort, &out->at);
    }
    double tie = RB_GAP_TIE * couple->scale;
    int early = couple->curved && effort == RB_TRY_NEWTON && !out->at.placed;
    int proved = is_proved_to(early ? RB_GAP_SHARP * couple->scale : tie, out);
    int kept = out->at.placed && !out->at.exact; /* the point of a free maximum */
    out->met = !kept && is_met_at(couple, gjk, out->at.s, out->at.n);
    if (out->met) witness(gjk, out->x1);
    return proved;
}

/* GJK again from the best direction there is: its simplex is another one, and on flat ones it is
 * rounding that ends it. 1: proved. */
static int restart(rb_couple *couple, double tol, rb_gjk *gjk, rb_closest *out)
{
    enum { RESTARTS = 4 };
    for (int i = 0; i < RESTARTS; i++) {
        double before = out->error;
        rb_gjk_begin(couple, out->at.n, gjk);
        rb_gjk_run(couple, tol, RB_GJK_STEPS, gjk);
        out->steps += gjk->steps;
        if (settle(couple, gjk, RB_TRY_ALL, out)) return 1;
        if (gjk->overlap || !(out->error < before)) return 0;
    }
    return 0;
}

/* Polyhedra without a separating direction overlap, whatever the result of GJK, by what is missing.
 */
static int prove_overlap(rb_couple *couple, rb_direction *at)
{
    return !couple->curved && rb_direction_all(couple, RB_PAIRS_MANY, at) && at->s < 0.0;
}

static void forget(rb_couple *couple, rb_closest *out)
{
    couple->seen = 0;
    out->at = (rb_direction){ .s = -INFINITY, .upper = INFINITY };
    out->met = out->capped = 0;
}

/* GJK has proved that they are farther apart than `enough`: the direction does not matter. */
static int is_enough(const rb_couple *couple, const rb_gjk *gjk, rb_warm *warm, rb_closest *out)
{
    if (!(gjk->lower > couple->enough)) return 0;
    rb_copy3(gjk->normal, out->at.n);
    out->at.s = gjk->lower;
    out->steps = gjk->steps;
    out->error = 0.0;
    if (warm) rb_simplex_keep(couple, gjk, warm);
    return 1;
}

/* Polyhedra that are far apart, from the simplex of the pose before. 0: they are not, or it is not
 * one pair of features that is the nearest. */
static int find_far(rb_couple *couple, rb_warm *warm, rb_closest *out)
{
    rb_gjk gjk;
    if (!rb_simplex_resume(couple, warm, &gjk)) return 0;
    rb_gjk_run(couple, 0.01 * RB_GAP_TIE * couple->scale, RB_GJK_STEPS, &gjk);
    out->steps = gjk.steps;
    if (is_enough(couple, &gjk, warm, out)) return 1;
    if (!take_named(couple, &gjk, out)) return 0;
    const rb_extreme *e = rb_couple_extremes(couple, out->at.n);
    if (e[0].freedom + e[1].freedom != gjk.n - 1) return 0;
    out->at.upper = gjk.distance;
    out->error = rb_larger(0.0, gjk.distance - out->at.s);
    out->met = is_met_at(couple, &gjk, out->at.s, out->at.n);
    witness(&gjk, out->x1);
    rb_simplex_keep(couple, &gjk, warm);
    return 1;
}

/* Curved shapes: Newton's method from the normal of the pose before. 0: it does not prove its
 * answer. */
static int find_curved(rb_couple *couple, const double n[3], rb_closest *out)
{
    rb_gjk gjk;
    if (!couple->curved || !rb_is_unit3(n)) return 0;
    rb_gjk_begin(couple, n, &gjk);
    out->steps = gjk.steps;
    return settle(couple, &gjk, RB_TRY_NEWTON, out);
}

void rb_closest_find(rb_couple *couple, rb_warm *warm, rb_closest *out)
{
    rb_gjk gjk;
    forget(couple, out);
    if (rb_cylinder_box(couple, out)) return;
    if (warm && (find_far(couple, warm, out) || find_curved(couple, warm->n, out))) return;
    if (warm) forget(couple, out);
    double tie = RB_GAP_TIE * couple->scale, fine = RB_DEPTH_FINE * couple->scale;
    rb_gjk_begin(couple, NULL, &gjk);
    for (int few = couple->curved ? RB_GJK_FEW : RB_GJK_STEPS;; few *= 2) {
        int last = few >= RB_GJK_STEPS;
        rb_gjk_run(couple, 0.01 * tie, last ? RB_GJK_STEPS : few, &gjk);
        if (is_enough(couple, &gjk, warm, out)) return;
        last = last || gjk.steps < few || gjk.overlap;
        int all = last && !gjk.overlap;
        int proved = settle(couple, &gjk, all ? RB_TRY_ALL : RB_TRY_NEWTON, out);
        out->steps = gjk.steps;
        if (warm) rb_simplex_keep(couple, &gjk, warm);
        if (proved) return;
        if (last) break;
    }
    double enough = couple->curved ? fine : 10.0 * tie;
    if (!gjk.overlap && out->error > enough && restart(couple, 0.01 * tie, &gjk, out)) return;

    /* on flat simplices GJK may stall next to an origin that is inside */
    if (!gjk.overlap && gjk.distance > fine) {
        out->capped = out->error > fine && !prove_overlap(couple, &out->at);
        return;
    }
    out->error = rb_larger(0.0, -out->at.s);
    if (out->at.s < -(couple->curved ? fine : tie)) find_depth(couple, &gjk, out);
}

/* The other end of the edge at the extreme vertex of a polyhedron that falls least. */
static int edge_end(const rb_core *core, const rb_extreme *e, double x[3])
{
    if (core->kind != RB_CORE_POLY || e->slope > RB_KINK) {
        rb_copy3(e->x, x);
        return e->part;
    }
    int end = rb_poly_end(&core->poly, e->edge);
    rb_core_vertex(core, end, x);
    return end;
}

int rb_closest_warm(rb_couple *couple, const double n[3], rb_closest *out)
{
    rb_corner corner[2];
    rb_direction *at = &out->at;
    forget(couple, out);
    if (rb_couple_separation(couple, n) > RB_FAR * couple->scale) return 0;
    const rb_extreme *e = rb_couple_extremes(couple, n);
    corner[0].id1 = e[0].part;
    corner[0].id2 = e[1].part;
    rb_sub3(e[1].x, e[0].x, corner[0].w);
    corner[1].id1 = edge_end(&couple->core1, &e[0], corner[1].x1);
    corner[1].id2 = edge_end(&couple->core2, &e[1], corner[1].x2);
    rb_sub3(corner[1].x2, corner[1].x1, corner[1].w);
    rb_direction_improve(couple, n, corner, 2, RB_TRY_EXACT, at);
    if (!at->exact || at->upper > at->s || at->s > RB_SAME_POINT * couple->scale) return 0;
    e = rb_couple_extremes(couple, at->n);
    if (e[0].freedom + e[1].freedom != 2) return 0;
    out->error = 0.0;
    out->steps = 1;
    return 1;
}

/* A point that the search itself found, and no feature names. */
static int has_nameless(const rb_manifold *m)
{
    for (int i = 0; i < m->n; i++) {
        if (m->point[i].feature == RB_FEATURE_NONE) return 1;
    }
    return 0;
}

/* Features of cores that are apart or touch prove the gap: their points lie on both. */
static int is_met(const rb_closest *closest, double scale, const rb_manifold *m)
{
    return closest->at.s >= -RB_DEPTH_NONE * scale && !has_nameless(m);
}

static void to_world(const rb_shape *shape1, rb_manifold *out)
{
    for (int i = 0; i < out->n; i++) {
        rb_add3(out->point[i].pos1, shape1->p, out->point[i].pos1);
        rb_add3(out->point[i].pos2, shape1->p, out->point[i].pos2);
    }
}

/* The direction that the parts which touch along n name: a face and a vertex, or two edges. */
static int named_direction(const rb_couple *couple, const rb_extreme e[2], const double n[3],
                           double m[3])
{
    int faces = e[0].freedom == 2 ? 1 : e[1].freedom == 2 ? 2 : 0;
    if (e[0].freedom + e[1].freedom != 2) return 0;
    if (faces) {
        const rb_core *core = faces == 1 ? &couple->core1 : &couple->core2;
        rb_rot(core->R, core->poly.plane + 4 * (ptrdiff_t)e[faces - 1].face, m);
    } else if (!(rb_edges_across(e[0].line.u, e[1].line.u, m) > RB_KINK_SURE)) {
        return 0;
    }
    rb_scale3(rb_dot3(m, n) < 0.0 ? -1.0 : 1.0, m, m);
    for (int k = 0; k < 3; k++) m[k] += 0.0; /* one zero, not two */
    return 1;
}

/* The first vertex of where a core is extreme, as (G.11) has it. */
static int first_vertex(const rb_core *core, const rb_extreme *e)
{
    const rb_poly *p = &core->poly;
    if (core->kind != RB_CORE_POLY || e->freedom == 0) return e->part;
    if (e->freedom == 2) return p->loop[p->loopadr[e->face]];
    int end = rb_poly_end(p, e->edge);
    return end < e->part ? end : e->part;
}

/* Separation along n from the same vertices, wherever the last climb ended. */
static double separation_again(rb_couple *couple, const double n[3])
{
    double back[3] = { -n[0], -n[1], -n[2] };
    rb_core_aim(&couple->core1, n);
    rb_core_aim(&couple->core2, back);
    couple->seen = 0;
    return rb_couple_separation(couple, n);
}

/* One of several parallel edges, or of faces and edges in one plane, was found, depending on where
 * the search began; from here on nothing depends on that. */
static void name_again(rb_couple *couple, rb_direction *at)
{
    double n[3];
    const rb_extreme *e = rb_couple_extremes(couple, at->n);
    if (named_direction(couple, e, at->n, n)) {
        int id1 = first_vertex(&couple->core1, &e[0]), id2 = first_vertex(&couple->core2, &e[1]);
        double s = rb_separation_from(couple, id1, id2, n);
        if (s >= at->s - RB_GAP_TIE * couple->scale) {
            rb_copy3(n, at->n);
            at->s = s;
            return;
        }
    }
    at->s = separation_again(couple, at->n);
}

/* Where cores touch, or are so close that rb_closest_warm could answer, a direction next to that of
 * two parts is theirs: Newton's method or rounding left it there. */
static int is_nameable(rb_couple *couple, const rb_direction *at)
{
    if (at->exact) return 1;
    if (at->s > RB_SAME_POINT * couple->scale) return 0;
    const rb_extreme *e = rb_couple_extremes(couple, at->n);
    return e[0].freedom + e[1].freedom == 2;
}

/* The manifold of polyhedra that touch along nearly the normal of the pose before. 0: nothing
 * proves that they do. */
static int touch_again(rb_couple *couple, const double n[3], double reach, rb_manifold *out)
{
    rb_closest closest;
    if (couple->curved || !rb_is_unit3(n)) return 0;
    if (!rb_closest_warm(couple, n, &closest) && !rb_flats_meet(couple, n, &closest)) return 0;
    name_again(couple, &closest.at);
    if (closest.at.s - couple->core1.radius - couple->core2.radius > reach) return 1;
    rb_contact_points(couple, &closest, reach, 1, out);
    if (!has_nameless(out)) return 1;
    out->n = 0;
    return 0;
}

void rb_convex_pair_warm(const rb_shape *shape1, const rb_shape *shape2, double reach,
                         rb_warm *warm, rb_manifold *out)
{
    rb_couple couple;
    rb_closest closest;
    out->n = 0;
    if (!rb_couple_make(shape1, shape2, &couple)) return;
    double radii = couple.core1.radius + couple.core2.radius, w[3];
    rb_sub3(couple.core2.c, couple.core1.c, w);
    if (rb_norm3(w) - couple.core1.extent - couple.core2.extent - radii > reach) return;

    if (warm && out->most > 1 && touch_again(&couple, warm->n, reach, out)) {
        to_world(shape1, out);
        return;
    }
    couple.enough = (reach + radii) * (1.0 + RB_GAP_TIE) + 10.0 * RB_GAP_TIE * couple.scale;
    rb_closest_find(&couple, warm, &closest);
    if (closest.at.s > couple.enough) return;
    if (!couple.curved && is_nameable(&couple, &closest.at)) {
        rb_direction *at = &closest.at;
        name_again(&couple, at);
        if (closest.capped) closest.capped = !rb_inner_flat(&couple, at->n, at->s, closest.x1);
    }
    if (closest.at.s - radii > reach) return;
    rb_contact_points(&couple, &closest, reach, 1, out);
    out->error = closest.capped && !is_met(&closest, couple.scale, out) ? closest.error : 0.0;
    to_world(shape1, out);
}

void rb_convex_pair(const rb_shape *shape1, const rb_shape *shape2, double reach, rb_manifold *out)
{
    rb_convex_pair_warm(shape1, shape2, reach, NULL, out);
}
