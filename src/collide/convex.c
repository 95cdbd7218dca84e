/* Two convex shapes for which there is no closed form: GJK, and where they overlap the expanding
 * polytope, lead to a direction; the direction is improved until it is that of a pair of features.
 */
#include "collide/convex.h"

#include "base/constants.h"
#include "collide/depth.h"
#include "collide/feature.h"
#include "collide/pairs.h"
#include "collide/segment.h"
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

/* From every face of the polytope that could be the nearest. 1: proved. */
static int improve_faces(rb_couple *couple, const rb_depth *depth, rb_closest *out)
{
    rb_effort effort = couple->curved ? RB_TRY_ALL : RB_TRY_EXACT;
    double known = couple->curved ? RB_DEPTH_NONE * couple->scale : 0.0;
    for (int i = 0; i < depth->n; i++) {
        if (i > 0 && !couple->curved) break;
        if (depth->distance[i] >= -out->at.s - known) break;
        rb_direction_improve(couple, depth->normal[i], depth->face[i], 3, effort, &out->at);
        if (is_proved_to(RB_GAP_TIE * couple->scale, out)) return 1;
    }
    return 0;
}

/* A cylinder among them: it has one edge, its axis, and every pair of edges is soon looked at.
 * Nearly parallel faces have more of them next to the best than the corners of a polytope name. */
static int has_axis(const rb_couple *couple)
{
    return couple->core1.kind == RB_CORE_CYLINDER || couple->core2.kind == RB_CORE_CYLINDER;
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
    if (has_axis(couple)) rb_direction_all(couple, &out->at);
    if (couple->curved && !out->at.exact) improve_here(couple, &out->at);
    if (depth.n > 0) depth_witness(depth.face[0], out->x1);
    out->steps += depth.steps;
    out->error = rb_larger(0.0, -out->at.s - depth.lower);
    out->capped = 0;
    if (depth.complete) return;

    /* no polytope could be grown to the surface */
    int all = rb_direction_all(couple, &out->at);
    if (couple->curved) improve_here(couple, &out->at);
    if (all && !couple->curved)
        out->error = 0.0;
    else
        out->error = rb_larger(0.0, -out->at.s - depth.lower);
    out->capped = out->error > RB_DEPTH_FINE * couple->scale;
}

/* GJK came to its end on polyhedra that are so far apart that the direction of their distance has
 * all its digits. */
static int is_sharp(const rb_couple *couple, const rb_gjk *gjk)
{
    return !gjk->overlap && gjk->distance > RB_FAR * couple->scale &&
           gjk->distance - gjk->lower <= RB_GAP_SHARP * couple->scale;
}

/* Whether the closest points of the simplex lie s n apart. */
static int is_met_at(const rb_couple *couple, const rb_gjk *gjk, double s, const double n[3])
{
    double r[3];
    rb_copy3(gjk->v, r);
    rb_axpy3(-s, n, r);
    return !gjk->overlap && rb_norm3(r) <= RB_SAME_POINT * couple->scale;
}

/* Improves what GJK found. 1: proved. */
static int settle(rb_couple *couple, const rb_gjk *gjk, rb_effort effort, rb_closest *out)
{
    double upper = gjk->overlap ? 0.0 : gjk->distance;
    if (upper < out->at.upper) {
        out->at.upper = upper;
        witness(gjk, out->x1);
    }
    if (is_sharp(couple, gjk)) {
        out->at.s = gjk->lower;
        out->at.exact = 0;
        rb_copy3(gjk->normal, out->at.n);
    } else {
        rb_direction_improve(couple, gjk->normal, gjk->p, gjk->n,
                             gjk->overlap && !couple->curved ? RB_TRY_EXACT : effort, &out->at);
    }
    double tie = RB_GAP_TIE * couple->scale;
    out->met = !out->at.placed && is_met_at(couple, gjk, out->at.s, out->at.n);
    if (out->met) witness(gjk, out->x1);
    int early = couple->curved && effort == RB_TRY_NEWTON && !out->at.placed;
    return is_proved_to(early ? RB_GAP_SHARP * couple->scale : tie, out);
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

void rb_closest_find(rb_couple *couple, rb_closest *out)
{
    rb_gjk gjk;
    couple->seen = 0;
    out->met = 0;
    if (rb_flat_guess(couple, out)) return;
    double tie = RB_GAP_TIE * couple->scale, fine = RB_DEPTH_FINE * couple->scale;
    out->at.s = -INFINITY;
    out->at.upper = INFINITY;
    out->at.placed = out->at.exact = 0;
    out->capped = 0;
    rb_gjk_begin(couple, NULL, &gjk);
    for (int few = couple->curved ? RB_GJK_FEW : RB_GJK_STEPS;; few *= 2) {
        int last = few >= RB_GJK_STEPS;
        rb_gjk_run(couple, 0.01 * tie, last ? RB_GJK_STEPS : few, &gjk);
        last = last || gjk.steps < few || gjk.overlap;
        int all = last && !gjk.overlap;
        int proved = settle(couple, &gjk, all ? RB_TRY_ALL : RB_TRY_NEWTON, out);
        out->steps = gjk.steps;
        if (proved) return;
        if (last) break;
    }
    if (!gjk.overlap && out->error > fine && restart(couple, 0.01 * tie, &gjk, out)) return;

    /* on flat simplices GJK may stall next to an origin that is inside */
    if (!gjk.overlap && gjk.distance > fine) {
        out->capped = out->error > fine;
        return;
    }
    out->error = rb_larger(0.0, -out->at.s);
    if (out->at.s < -(couple->curved ? fine : tie)) find_depth(couple, &gjk, out);
}

/* Features of cores that are apart or touch prove the gap: their points lie on both. */
static int is_met(const rb_closest *closest, double scale, const rb_manifold *m)
{
    if (closest->at.s < -RB_DEPTH_NONE * scale) return 0;
    for (int i = 0; i < m->n; i++) {
        if (m->point[i].feature == RB_FEATURE_NONE) return 0;
    }
    return 1;
}

void rb_convex_pair(const rb_shape *shape1, const rb_shape *shape2, double reach, rb_manifold *out)
{
    rb_couple couple;
    out->n = 0;
    if (!rb_couple_make(shape1, shape2, &couple)) return;
    double radii = couple.core1.radius + couple.core2.radius, w[3];
    rb_sub3(couple.core2.c, couple.core1.c, w);
    if (rb_norm3(w) - couple.core1.extent - couple.core2.extent - radii > reach) return;

    rb_closest closest;
    rb_closest_find(&couple, &closest);
    if (closest.at.s - radii > reach) return;
    rb_contact_points(&couple, &closest, reach, 1, out);
    out->error = closest.capped && !is_met(&closest, couple.scale, out) ? closest.error : 0.0;
    for (int i = 0; i < out->n; i++) {
        rb_add3(out->point[i].pos1, shape1->p, out->point[i].pos1);
        rb_add3(out->point[i].pos2, shape1->p, out->point[i].pos2);
    }
}
