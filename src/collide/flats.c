/* Faces of stones and feet lie on each other, but never quite: they are turned against each other
 * by 1e-9 to 1e-4, and stand out beyond each other's edges. Then the part of D = {x2 - x1} next to
 * the origin is many facets that are nearly one: those of the two faces, and one for each pair of
 * their edges that cross. All of them are tried. That no other direction m is better, follows from
 * the patch P of D that the faces f1, f2 make. Seen along n it holds a disc of radius R about the
 * foot of the origin, at heights of s to s + delta, so that s(m) <= m.w for every w of it gives
 *
 *     R sin(theta) <= delta + |s| (1 - cos(theta)),      cos(theta) = n.m                   (G.21)
 *
 * which leaves directions next to n, theta < 2 delta / R, where the neighbours of f1 and f2 have no
 * part, and those on the other side, which the ball of (G.16) excludes. R is the least overlap of
 * both outlines along the normals of their edges. */
#include "collide/flats.h"

#include "base/constants.h"
#include "collide/inner.h"
#include "collide/simplex.h"
#include "math/vec3.h"

enum { CORNERS = 12 }; /* of a face, at most */

/* Angle between the faces [rad], and radius of the disc in units of what heights differ by [1].
 * Larger, smaller: directions that are not next to n would have to be looked at. */
static const double most_tilt = 1e-3, least_disc = 100.0;

/* A face: its outward normal towards the other core, and its corners in a circle. */
typedef struct flat {
    const rb_core *core;
    int face, n;
    double normal[3], x[CORNERS][3];
} flat;

static int flat_make(const rb_core *core, int face, double sign, flat *f)
{
    const rb_poly *p = &core->poly;
    f->core = core;
    f->face = face;
    f->n = p->loopnum[face];
    if (f->n > CORNERS) return 0;
    rb_rot(core->R, p->plane + 4 * (ptrdiff_t)face, f->normal);
    rb_scale3(sign, f->normal, f->normal);
    for (int i = 0; i < f->n; i++) rb_core_vertex(core, p->loop[p->loopadr[face] + i], f->x[i]);
    return 1;
}

static void range_along(const flat *f, const double m[3], double range[2])
{
    range[0] = INFINITY;
    range[1] = -INFINITY;
    for (int i = 0; i < f->n; i++) {
        double at = rb_dot3(m, f->x[i]);
        range[0] = rb_smaller(range[0], at);
        range[1] = rb_larger(range[1], at);
    }
}

static void edge_of(const flat *f, int i, double k[3])
{
    rb_sub3(f->x[i + 1 == f->n ? 0 : i + 1], f->x[i], k);
}

/* ---- the facets -------------------------------------------------------------------------------
 */

typedef struct choice {
    const flat *a, *b;
    double tie, near; /* equal separations [m]; largest distance of a direction from that of a */
    double n[3], s;
} choice;

static void consider(choice *c, const double n[3])
{
    double a[2], b[2];
    range_along(c->a, n, a);
    range_along(c->b, n, b);
    if (!(b[0] - a[1] > c->s + c->tie)) return;
    c->s = b[0] - a[1];
    rb_copy3(n, c->n);
}

static int is_near(const double m[3], const double n[3], double most)
{
    double off[3];
    rb_sub3(m, n, off);
    return rb_dot3(off, off) <= most * most;
}

static void consider_edges(choice *c)
{
    for (int i = 0; i < c->a->n; i++) {
        double u[3], v[3], m[3];
        edge_of(c->a, i, u);
        rb_unit(u);
        for (int j = 0; j < c->b->n; j++) {
            edge_of(c->b, j, v);
            rb_unit(v);
            if (!(rb_edges_across(u, v, m) > most_tilt)) continue;
            if (rb_dot3(m, c->a->normal) < 0.0) rb_scale3(-1.0, m, m);
            if (is_near(m, c->a->normal, c->near)) consider(c, m);
        }
    }
}

/* ---- the proof --------------------------------------------------------------------------------
 */

/* R: the least overlap of both outlines along the normals of the edges of a. */
static double overlap_along(const flat *a, const flat *b, const double n[3])
{
    double least = INFINITY;
    for (int i = 0; i < a->n; i++) {
        double k[3], m[3], of_a[2], of_b[2];
        edge_of(a, i, k);
        rb_cross3(k, n, m);
        if (!(rb_unit(m) > 0.0)) return 0.0;
        range_along(a, m, of_a);
        range_along(b, m, of_b);
        least = rb_smaller(least, rb_smaller(of_a[1] - of_b[0], of_b[1] - of_a[0]));
    }
    return least;
}

/* The neighbours of a face look elsewhere. */
static int is_isolated(const flat *f, double angle)
{
    const rb_poly *p = &f->core->poly;
    const double *own = p->plane + 4 * (ptrdiff_t)f->face;
    for (int i = 0; i < f->n; i++) {
        int next = p->owner[p->twin[p->loopadr[f->face] + i]];
        if (is_near(p->plane + 4 * (ptrdiff_t)next, own, angle)) return 0;
    }
    return 1;
}

static double disc_of(const flat *a, const flat *b)
{
    return rb_smaller(overlap_along(a, b, a->normal), overlap_along(b, a, a->normal));
}

static double spread_along(const flat *f, const double n[3])
{
    double range[2];
    range_along(f, n, range);
    return range[1] - range[0];
}

/* The bound of (G.21), with room for what the directions of its terms differ by; INFINITY: none. */
static double angle_of(const flat *a, const flat *b, double disc)
{
    double tilt[3];
    rb_cross3(a->normal, b->normal, tilt);
    double angle = rb_norm3(tilt), delta = spread_along(b, a->normal);
    if (!(angle <= most_tilt) || !(rb_dot3(a->normal, b->normal) > 0.0)) return INFINITY;
    return disc > 0.0 ? 4.0 * (delta / disc + angle + RB_KINK_SURE) : INFINITY;
}

static int is_proved(rb_couple *couple, const choice *c, double disc)
{
    double delta = spread_along(c->a, c->n) + spread_along(c->b, c->n);
    if (!(disc > least_disc * (delta + fabs(c->s)))) return 0;
    if (!is_isolated(c->a, 2.0 * c->near) || !is_isolated(c->b, 2.0 * c->near)) return 0;
    return c->s >= 0.0 || rb_inner_cone(couple, c->n, c->s, 0.5 * disc, delta);
}

int rb_flats_meet(rb_couple *couple, const double n[3], rb_closest *out)
{
    flat a, b;
    if (couple->core1.kind != RB_CORE_POLY || couple->core2.kind != RB_CORE_POLY) return 0;
    const rb_extreme *e = rb_couple_extremes(couple, n);
    if (!flat_make(&couple->core1, e[0].face, 1.0, &a)) return 0;
    if (!flat_make(&couple->core2, e[1].face, -1.0, &b)) return 0;
    double disc = disc_of(&a, &b);
    choice c = { .a = &a, .b = &b, .s = -INFINITY, .tie = RB_GAP_TIE * couple->scale };
    c.near = angle_of(&a, &b, disc);
    if (!(c.near < INFINITY)) return 0;
    consider(&c, a.normal);
    consider(&c, b.normal);
    consider_edges(&c);
    if (!(rb_couple_separation(couple, c.n) >= c.s - c.tie)) return 0;
    if (!is_proved(couple, &c, disc)) return 0;
    *out = (rb_closest){ .at = { .s = c.s, .upper = c.s, .exact = 1 }, .steps = 1 };
    rb_copy3(c.n, out->at.n);
    return 1;
}
