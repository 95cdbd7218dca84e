/* The depth of the origin in D = {x2 - x1} is d if and only if the ball B(0, d) lies inside D. Let
 * a ball of radius rho lie inside D and touch its surface at w, n the direction there. Where n is a
 * maximum of the separation, w = s n with s = -d, and B(0, d) lies inside that ball if rho >= d:
 * the maximum is the highest of all, however many there are,
 *
 *     depth >= rho - |w - (-rho n)| = rho - sqrt((rho + s)^2 + |aside|^2),   w = s n + aside (G.13)
 *
 * Such balls are known without a search:
 *
 *     an ellipsoid with half axes a    rho = min(a)^2 / max(a), at any point [Blaschke 1916]
 *     a side of a cylinder             rho = min(its radius, distance from the rims)
 *     two rims                         an ellipsoid within their sum (G.14)
 *     a rim and an edge along k        a disc within the ellipse of the rim (G.15)
 *     a flat part of D                 a ball within the cone on it (G.16)
 *
 * Two rims: the discs are r_i (a e_i + b_i t_i), a^2 + b_i^2 <= 1, with e_i the direction of the
 * extreme point and t_i the tangent there; a (r_1 e_1 + r_2 e_2) + b r_1 t_1 + c r_2 t_2 with
 * a^2 + b^2 + c^2 <= 1 is an ellipsoid in their sum that touches where the sum does; its axes are
 * bounded by determinant and trace. Rim and edge: seen along k the disc is an ellipse with half
 * axes r and r |u.k|; a disc of radius rho in it, tilted as the rim is, needs rho (1 + 2 slope) of
 * the edge on both sides. Flat part: with a disc of radius R about the foot in it, and the cone
 * from there to the corner of D on the far side, H above and o beside it: rho = R tan(b/2), tan b =
 * H/(R + o).
 *
 * A sum of bodies has the ball of either of them. */
#include "collide/inner.h"

#include <stddef.h>

#include "base/constants.h"
#include "collide/segment.h"
#include "math/vec3.h"

/* ---- curved parts -----------------------------------------------------------------------------
 */

static double ball_of_ellipsoid(const rb_core *core)
{
    const double *a = core->size;
    if (core->kind != RB_CORE_ELLIPSOID) return 0.0;
    double least = rb_smaller(a[0], rb_smaller(a[1], a[2])),
           most = rb_larger(a[0], rb_larger(a[1], a[2]));
    return most > 0.0 ? least * (least / most) : 0.0;
}

/* (G.14): the squares of the half axes have the product `det` and at most the sum `trace`. */
static double ball_of_rims(const rb_couple *couple, const double n[3])
{
    const rb_core *core[2] = { &couple->core1, &couple->core2 };
    double u[2][3], across[2], m[3];
    for (int i = 0; i < 2; i++) {
        if (core[i]->kind != RB_CORE_CYLINDER) return 0.0;
        rb_core_axis(core[i], 2, u[i]);
        rb_cross3(u[i], n, m);
        across[i] = rb_norm3(m);
        if (!(across[i] > 0.0)) return 0.0;
    }
    double r = core[0]->size[0], s = core[1]->size[0];
    rb_cross3(u[0], u[1], m);
    double volume =
        r * s * (r * across[0] + s * across[1]) * (rb_dot3(m, n) / (across[0] * across[1]));
    double trace = (r + s) * (r + s) + r * r + s * s;
    return trace > 0.0 ? 4.0 * (volume / trace) * (volume / trace) / sqrt(trace) : 0.0;
}

/* (G.15); the rim is that of `core`. */
static double ball_of_rim(const rb_core *core, const rb_inner_edge *edge)
{
    double u[3];
    if (core->kind != RB_CORE_CYLINDER) return 0.0;
    rb_core_axis(core, 2, u);
    double along = fabs(rb_dot3(u, edge->u));
    double slope = sqrt(rb_larger(0.0, 1.0 - along * along)) / along;
    return along > 0.0 ? rb_smaller(core->size[0] * along * along, edge->room / (1.0 + 2.0 * slope))
                       : 0.0;
}

double rb_inner_curved(const rb_couple *couple, const double n[3], const rb_inner_edge *edge)
{
    double ball = rb_larger(ball_of_ellipsoid(&couple->core1), ball_of_ellipsoid(&couple->core2));
    if (!edge) return rb_larger(ball, ball_of_rims(couple, n));
    const rb_core *own = edge->second ? &couple->core2 : &couple->core1;
    const rb_core *other = edge->second ? &couple->core1 : &couple->core2;
    if (own->kind == RB_CORE_CYLINDER) ball = rb_larger(ball, rb_smaller(own->size[0], edge->room));
    return rb_larger(ball, ball_of_rim(other, edge));
}

/* ---- flat parts -------------------------------------------------------------------------------
 */

/* How far inside the border of a face of the core the point x lies, seen along the normal; negative
 * outside [m]. */
static double room_in_face(const rb_core *core, int face, const double x[3])
{
    const rb_poly *p = &core->poly;
    double y[3], room = INFINITY;
    rb_sub3(x, core->c, y);
    rb_rot_t(core->R, y, y);
    if (core->kind == RB_CORE_CYLINDER) return core->size[0] - sqrt(y[0] * y[0] + y[1] * y[1]);
    const double *normal = p->plane + 4 * (ptrdiff_t)face;
    int adr = p->loopadr[face], num = p->loopnum[face];
    for (int i = 0; i < num; i++) {
        const double *a = p->vert + 3 * (ptrdiff_t)p->loop[adr + i];
        const double *b = p->vert + 3 * (ptrdiff_t)p->loop[adr + (i + 1 == num ? 0 : i + 1)];
        double k[3], m[3], r[3];
        rb_sub3(b, a, k);
        rb_cross3(normal, k, m);
        rb_sub3(y, a, r);
        room = rb_smaller(room, rb_dot3(m, r) / rb_norm3(k));
    }
    return room;
}

/* Whether the extreme part of a core is orthogonal to n in all its length, to `tie` [m]. */
static int is_level(const rb_core *core, const rb_extreme *e, const double n[3], double tie)
{
    const rb_poly *p = &core->poly;
    double d[3];
    rb_rot_t(core->R, n, d);
    if (e->freedom == 0) return 1;
    if (e->freedom == 1) return e->line.half * fabs(rb_dot3(n, e->line.u)) <= tie;
    if (core->kind == RB_CORE_CYLINDER)
        return core->size[0] * sqrt(d[0] * d[0] + d[1] * d[1]) <= tie;
    int adr = p->loopadr[e->face], num = p->loopnum[e->face];
    double least = INFINITY, most = -INFINITY;
    for (int i = 0; i < num; i++) {
        double height = rb_dot3(d, p->vert + 3 * (ptrdiff_t)p->loop[adr + i]);
        least = rb_smaller(least, height);
        most = rb_larger(most, height);
    }
    return most - least <= tie;
}

/* A point of the extreme part that is not on its border. */
static void middle_of(const rb_core *core, const rb_extreme *e, double x[3])
{
    const rb_poly *p = &core->poly;
    rb_copy3(e->freedom == 1 ? e->line.c : e->x, x);
    if (e->freedom < 2) return;
    if (core->kind == RB_CORE_CYLINDER) {
        double u[3];
        rb_core_axis(core, 2, u);
        rb_copy3(core->c, x);
        rb_axpy3(e->face ? core->size[1] : -core->size[1], u, x);
        return;
    }
    double y[3] = { 0.0, 0.0, 0.0 };
    int adr = p->loopadr[e->face], num = p->loopnum[e->face];
    for (int i = 0; i < num; i++) {
        rb_axpy3(1.0 / num, p->vert + 3 * (ptrdiff_t)p->loop[adr + i], y);
    }
    rb_rot(core->R, y, x);
    rb_add3(x, core->c, x);
}

/* Radius R of a disc in the flat part of D about the foot of the origin [m]; n w there and the
 * point x1 of core 1 that belongs to it. */
static double disc_in_flat(const rb_couple *couple, const rb_extreme e[2], const double nw[3],
                           double x1[3])
{
    const rb_core *core[2] = { &couple->core1, &couple->core2 };
    double x[3], m[3], s, t, most = -INFINITY;
    for (int i = 0; i < 2; i++) {
        if (e[i].freedom < 2) continue;
        middle_of(core[1 - i], &e[1 - i], x);
        double room = room_in_face(core[i], e[i].face, x);
        if (!(room > most)) continue;
        most = room;
        rb_copy3(x, x1);
        if (i == 0) rb_sub3(x, nw, x1);
    }
    if (e[0].freedom != 1 || e[1].freedom != 1) return most;
    if (!rb_lines_cross(&e[0].line, &e[1].line, m, &s, &t)) return most;
    rb_segment_at(&e[0].line, s, x1);
    return rb_norm3(m) * rb_smaller(e[0].line.half - fabs(s), e[1].line.half - fabs(t));
}

/* A point of the core far along n: of a hull the best of a few vertices, since to climb to the last
 * one from the other side would cost more. */
static void far_point(rb_core *core, const double n[3], double x[3])
{
    int hint = core->hint;
    if (!rb_core_aim(core, n)) {
        rb_core_support(core, n, x);
        return;
    }
    rb_core_vertex(core, core->hint, x);
    core->hint = hint; /* the next support is again on this side */
}

int rb_inner_cone(rb_couple *couple, const double n[3], double s, double room, double more)
{
    double back[3] = { -n[0], -n[1], -n[2] }, side[3], far1[3], far2[3], w[3];
    far_point(&couple->core1, back, far1);
    far_point(&couple->core2, n, far2);
    rb_sub3(far2, far1, w);
    double above = rb_dot3(n, w), height = above - s;
    rb_copy3(w, side);
    rb_axpy3(-above, n, side);
    double rise = height / (room + rb_norm3(side));
    return room * rise / (1.0 + sqrt(1.0 + rise * rise)) > more - s;
}

int rb_inner_flat(rb_couple *couple, const double n[3], double s, double x1[3])
{
    const rb_extreme *e = rb_couple_extremes(couple, n);
    if (e[0].freedom + e[1].freedom < 2) return 0;
    double tie = RB_GAP_TIE * couple->scale;
    if (!is_level(&couple->core1, &e[0], n, tie)) return 0;
    if (!is_level(&couple->core2, &e[1], n, tie)) return 0;
    double nw[3] = { s * n[0], s * n[1], s * n[2] };
    double room = disc_in_flat(couple, e, nw, x1);
    if (s >= 0.0) return room >= 0.0;
    return room > -s && rb_inner_cone(couple, n, s, room, 0.0);
}

double rb_inner_depth(double radius, double s, double aside)
{
    double rest = radius + s;
    if (!(rest > 0.0)) return 0.0;
    return -s - aside * aside / (rest + sqrt(rest * rest + aside * aside));
}
