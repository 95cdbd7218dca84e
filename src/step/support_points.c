/* Four points stand for a face. For a disc, or a face with many corners, they span less than the
 * face. Where the weight of a body passes through the part that is left out, the body would tilt
 * until another point touches, and back again. So the corners nearest to the point c are added
 * where the weight of a free body meets the plane of its contact:
 *
 *     c = x_com + t g,     n.(c - x) = 0                                                     (S.6)
 *
 * This is done where c is not between the points that were found. A disc gets the point of its rim
 * towards c, a polyhedron the corners on both sides of that direction. */
#include <math.h>
#include <string.h>

#include "base/constants.h"
#include "collide/core.h"
#include "collide/feature.h"
#include "collide/segment.h"
#include "collide/shape.h"
#include "math/vec3.h"
#include "step/contacts.h"
#include "step/gaps.h"

/* Points of a rim have no vertex; this stands for the one towards c. */
enum { RIM = 0x2fff };

/* The contact of one pair, as one of its bodies stands on it. */
typedef struct support {
    rb_contact *at;
    int n, second;      /* points; 1: geom 2 stands on geom 1                                   */
    double up[3], c[3]; /* normal towards the body that stands, and (S.6)                      */
} support;

static int is_free_body(const rb_model *m, int link)
{
    return link > 0 && m->link_jntnum[link] == 1 && m->link_parent[link] == 0 &&
           m->jnt_type[m->link_jntadr[link]] == RB_JOINT_FREE &&
           (link + 1 == m->nlink || m->link_tree[link + 1] != m->link_tree[link]);
}

/* All points have one normal. */
static int is_flat(const rb_contact *c, int n)
{
    for (int i = 1; i < n; i++) {
        double r[3];
        rb_sub3(c[i].at.normal, c[0].at.normal, r);
        if (rb_norm3(r) > RB_SAME_POINT) return 0;
    }
    return n >= 3;
}

/* Where the weight meets the plane. 0: it does not press. */
static int find_bearing(const rb_stage *s, int link, support *x)
{
    const rb_data *d = s->d;
    const double *g = s->m->option.gravity;
    double com[3], r[3], down = -rb_dot3(g, x->up);
    rb_add3(d->link_p + 3 * (ptrdiff_t)link, d->link_c + 3 * (ptrdiff_t)link, com);
    rb_sub3(com, x->at[0].at.pos1, r);
    double height = rb_dot3(r, x->up);
    if (!(down > RB_KINK * rb_norm3(g)) || !(height > 0.0)) return 0;
    rb_copy3(com, x->c);
    rb_axpy3(height / down, g, x->c);
    return 1;
}

/* On which side of the line from a to b x lies, seen from above. */
static double side(const support *x, const double a[3], const double b[3], const double p[3])
{
    double u[3], r[3], m[3];
    rb_sub3(b, a, u);
    rb_sub3(p, a, r);
    rb_cross3(u, r, m);
    return rb_dot3(m, x->up);
}

/* Whether c is between the points: on no side that has none of them. */
static int is_between(const support *x)
{
    for (int i = 0; i < x->n; i++) {
        for (int j = 0; j < x->n; j++) {
            const double *a = x->at[i].at.pos1, *b = x->at[j].at.pos1;
            int border = i != j && side(x, a, b, x->c) < 0.0;
            for (int k = 0; k < x->n && border; k++)
                border = k == i || k == j || side(x, a, b, x->at[k].at.pos1) >= 0.0;
            if (border) return 0;
        }
    }
    return 1;
}

/* Whether x is over the geom that is stood on: planes and boxes. */
static int is_over(const rb_stage *s, int geom, const double x[3])
{
    rb_shape shape = rb_geom_shape(s->m, s->d, geom);
    double r[3], y[3];
    if (shape.type == RB_GEOM_PLANE) return 1;
    if (shape.type != RB_GEOM_BOX) return 0;
    rb_sub3(x, shape.p, r);
    rb_rot_t(shape.R, r, y);
    for (int k = 0; k < 3; k++) {
        if (fabs(y[k]) > shape.size[k] * (1.0 + RB_SAME_POINT)) return 0;
    }
    return 1;
}

static int order(const rb_contact *a, const rb_contact *b)
{
    return a->at.feature < b->at.feature ? -1 : a->at.feature > b->at.feature;
}

/* The point p of the body that stands, called `half`, becomes a contact of the pair. */
static rb_status add(rb_stage *s, support *x, const double p[3], uint32_t half)
{
    rb_contact c = x->at[0];
    double r[3], foot[3];
    uint32_t face = x->second ? c.at.feature >> 16 : c.at.feature & 0xffff;
    rb_sub3(p, x->second ? c.at.pos1 : c.at.pos2, r);
    c.at.gap = rb_dot3(r, x->up);
    rb_copy3(p, foot);
    rb_axpy3(-c.at.gap, x->up, foot);
    if (!is_over(s, x->second ? c.geom1 : c.geom2, foot)) return RB_OK;
    rb_copy3(x->second ? foot : p, c.at.pos1);
    rb_copy3(x->second ? p : foot, c.at.pos2);
    c.at.feature = x->second ? rb_feature(face, half) : rb_feature(half, face);
    int at = 0;
    while (at < x->n && order(&x->at[at], &c) < 0) at++;
    if (at < x->n && order(&x->at[at], &c) == 0) return RB_OK;
    if (s->problem.ncontact == s->d->touch_max) {
        s->problem.ncontact++; /* the caller learns how many there would be */
        return RB_FULL;
    }
    rb_contact *place = x->at + at;
    memmove(place + 1, place,
            (size_t)(s->problem.contacts + s->problem.ncontact - place) * sizeof *place);
    *place = c;
    s->problem.ncontact++;
    x->n++;
    return RB_OK;
}

/* A cylinder that stands on its end. */
static rb_status add_rim(rb_stage *s, support *x, const rb_shape *cylinder)
{
    double u[3] = { cylinder->R[2], cylinder->R[5], cylinder->R[8] }, p[3], out[3];
    double along = rb_dot3(u, x->up);
    if (1.0 - fabs(along) > RB_SAME_POINT) return RB_OK;
    rb_copy3(cylinder->p, p);
    rb_axpy3(along > 0.0 ? -cylinder->size[1] : cylinder->size[1], u, p);
    rb_sub3(x->c, p, out);
    rb_axpy3(-rb_dot3(out, u), u, out);
    if (!(rb_unit(out) > 0.0)) return RB_OK;
    rb_axpy3(cylinder->size[0], out, p);
    return add(s, x, p, rb_feature_half(RB_VERTEX, RIM));
}

/* Of the vertices of a polyhedron in the plane, on either side of the way from the middle to c, the
 * one that is seen closest to it: the side of the face between them is crossed. */
static rb_status add_corners(rb_stage *s, support *x, const rb_shape *shape)
{
    rb_core core;
    double middle[3] = { 0.0, 0.0, 0.0 }, way[3], origin[3] = { 0.0, 0.0, 0.0 };
    if (!rb_core_make(shape, origin, &core) || core.kind != RB_CORE_POLY) return RB_OK;
    for (int i = 0; i < x->n; i++) rb_axpy3(1.0 / x->n, x->at[i].at.pos1, middle);
    rb_sub3(x->c, middle, way);
    int best[2] = { -1, -1 };
    double most[2] = { -INFINITY, -INFINITY }, tie = RB_SAME_POINT * core.extent, p[3], r[3];
    for (int v = 0; v < core.poly.nvert; v++) {
        rb_core_vertex(&core, v, p);
        rb_sub3(p, x->second ? x->at[0].at.pos2 : x->at[0].at.pos1, r);
        if (fabs(rb_dot3(r, x->up)) > tie) continue;
        int left = side(x, middle, x->c, p) >= 0.0;
        rb_sub3(p, middle, r);
        if (!(rb_unit(r) > tie) || rb_dot3(r, way) <= most[left]) continue;
        most[left] = rb_dot3(r, way);
        best[left] = v;
    }
    for (int k = 0; k < 2; k++) {
        if (best[k] < 0) continue;
        rb_core_vertex(&core, best[k], p);
        rb_status status = add(s, x, p, rb_feature_half(RB_VERTEX, best[k] & 0x3fff));
        if (status != RB_OK) return status;
    }
    return RB_OK;
}

/* Corners of a polyhedron that carried weight in the step before and still touch. A step adds them
 * at its end. If the next one began without them, the body would begin to tilt again and never
 * rest. */
static rb_status add_corners_in_use(rb_stage *s, support *x, const rb_shape *shape)
{
    rb_core core;
    double origin[3] = { 0.0, 0.0, 0.0 }, p[3], r[3];
    const rb_contact *c = x->at;
    double most = rb_stage_pair_overlap(s, c->geom1, c->geom2);
    uint32_t face = x->second ? c->at.feature >> 16 : c->at.feature & 0xffff;
    if (!rb_core_make(shape, origin, &core) || core.kind != RB_CORE_POLY) return RB_OK;
    for (int i = 0; i < s->d->ntouch; i++) {
        const rb_touch *touch = &s->d->touch[i];
        const rb_touch_id *id = &touch->id;
        uint32_t own = x->second ? (uint32_t)id->c & 0xffff : (uint32_t)id->c >> 16;
        uint32_t other = x->second ? (uint32_t)id->c >> 16 : (uint32_t)id->c & 0xffff;
        int v = (int)(own & 0x3fff), corner = own == rb_feature_half(RB_VERTEX, v);
        if (id->kind != RB_CONSTRAINT_CONTACT || id->a != c->geom1 || id->b != c->geom2) continue;
        if (!(touch->p[0] > 0.0) || !corner || other != face || v >= core.poly.nvert) continue;
        rb_core_vertex(&core, v, p);
        rb_sub3(p, x->second ? c->at.pos2 : c->at.pos1, r);
        if (fabs(rb_dot3(r, x->up)) > most) continue; /* not level with the others */
        rb_status status = add(s, x, p, own);
        if (status != RB_OK) return status;
    }
    return RB_OK;
}

/* The points of one pair, seen from one of its bodies. */
static rb_status add_support(rb_stage *s, rb_contact *at, int *n, int second)
{
    int geom = second ? at->geom2 : at->geom1, type = s->m->geom_type[geom];
    support x = { .at = at, .n = *n, .second = second };
    if (type != RB_GEOM_CYLINDER && type != RB_GEOM_MESH) return RB_OK;
    if (!is_free_body(s->m, s->m->geom_link[geom])) return RB_OK;
    rb_scale3(second ? 1.0 : -1.0, at->at.normal, x.up);
    rb_shape shape = rb_geom_shape(s->m, s->d, geom);
    rb_status status = type == RB_GEOM_MESH ? add_corners_in_use(s, &x, &shape) : RB_OK;
    *n = x.n;
    if (status != RB_OK || !find_bearing(s, s->m->geom_link[geom], &x) || is_between(&x))
        return status;
    status = type == RB_GEOM_CYLINDER ? add_rim(s, &x, &shape) : add_corners(s, &x, &shape);
    *n = x.n;
    return status;
}

rb_status rb_stage_support_points(rb_stage *s)
{
    for (int i = 0; i < s->problem.ncontact;) {
        rb_contact *c = &s->problem.contacts[i];
        int n = 1;
        while (i + n < s->problem.ncontact && c[n].geom1 == c->geom1 && c[n].geom2 == c->geom2) n++;
        if (is_flat(c, n)) {
            rb_status status = add_support(s, c, &n, 0);
            if (status == RB_OK) status = add_support(s, c, &n, 1);
            if (status != RB_OK) return status;
        }
        i += n;
    }
    return RB_OK;
}
