/* Rays against shapes and models.
 *
 * A ray o + t u and a convex solid have an interval t0 <= t <= t1 in common, or nothing. That of an
 * intersection is the intersection of the intervals: a box is three slabs, a cylinder a slab and a
 * tube, a hull the half-spaces of its faces. A capsule is the convex union of a cylinder and two
 * balls: its interval reaches from the first to the last end of theirs. The ray hits at t0 where it
 * begins outside, else at t1 (G.32). Triangles: ray_surface.c. */
#include "collide/ray.h"

#include <math.h>
#include <stddef.h>

#include "collide/shape.h"
#include "math/vec3.h"

/* What a ray has in common with a solid; t0 > t1: nothing. */
typedef struct interval {
    double t0, t1;
    double n0[3], n1[3]; /* outward normals at its ends, not of unit length */
} interval;

static const interval everything = { .t0 = -INFINITY, .t1 = INFINITY };
static const interval nothing = { .t0 = INFINITY, .t1 = -INFINITY };

/* n.x <= offset */
static void cut_by_plane(interval *s, const rb_local_ray *ray, const double n[3], double offset)
{
    double rate = rb_dot3(n, ray->u), left = offset - rb_dot3(n, ray->o);
    if (rate == 0.0) {
        if (left < 0.0) *s = nothing;
        return;
    }
    double t = left / rate;
    if (rate < 0.0 && t > s->t0) {
        s->t0 = t;
        rb_copy3(n, s->n0);
    } else if (rate > 0.0 && t < s->t1) {
        s->t1 = t;
        rb_copy3(n, s->n1);
    }
}

static void cut_by_slab(interval *s, const rb_local_ray *ray, int axis, double half)
{
    double n[3] = { 0.0, 0.0, 0.0 };
    n[axis] = 1.0;
    cut_by_plane(s, ray, n, half);
    n[axis] = -1.0;
    cut_by_plane(s, ray, n, half);
}

/* |x| <= r of the first `dim` coordinates, x = o + t u. With c the nearest point of the line to the
 * centre, at the parameter tc, the ends are tc -+ sqrt(r^2 - c.c) / |u|: no two large numbers are
 * subtracted however far away the ray begins. */
static interval round_interval(const double *o, const double *u, int dim, double r)
{
    double uu = 0.0, ou = 0.0, cc = 0.0, oo = 0.0;
    for (int i = 0; i < dim; i++) {
        uu += u[i] * u[i];
        ou += o[i] * u[i];
        oo += o[i] * o[i];
    }
    interval s = everything;
    if (uu == 0.0) return oo <= r * r ? s : nothing;
    double tc = -ou / uu;
    for (int i = 0; i < dim; i++) {
        double c = o[i] + tc * u[i];
        cc += c * c;
    }
    double room = r * r - cc;
    if (room < 0.0) return nothing;
    double half = sqrt(room / uu);
    s.t0 = tc - half;
    s.t1 = tc + half;
    for (int i = 0; i < 3; i++) {
        s.n0[i] = i < dim ? o[i] + s.t0 * u[i] : 0.0;
        s.n1[i] = i < dim ? o[i] + s.t1 * u[i] : 0.0;
    }
    return s;
}

static interval ball_at(const rb_local_ray *ray, double z, double r)
{
    double o[3] = { ray->o[0], ray->o[1], ray->o[2] - z };
    return round_interval(o, ray->u, 3, r);
}

static interval cylinder(const rb_local_ray *ray, double r, double half)
{
    interval s = round_interval(ray->o, ray->u, 2, r);
    cut_by_slab(&s, ray, 2, half);
    return s;
}

/* Of two pieces of a convex solid. */
static void join(interval *s, const interval *other)
{
    if (other->t0 > other->t1) return;
    if (other->t0 < s->t0) {
        s->t0 = other->t0;
        rb_copy3(other->n0, s->n0);
    }
    if (other->t1 > s->t1) {
        s->t1 = other->t1;
        rb_copy3(other->n1, s->n1);
    }
}

static interval capsule(const rb_local_ray *ray, double r, double half)
{
    interval s = cylinder(ray, r, half), low = ball_at(ray, -half, r), high = ball_at(ray, half, r);
    if (s.t0 > s.t1) s = nothing;
    join(&s, &low);
    join(&s, &high);
    return s;
}

/* A ball of radius 1 in coordinates that are divided by the semi-axes; t is the same there. */
static interval ellipsoid(const rb_local_ray *ray, const double *size)
{
    double o[3], u[3];
    for (int i = 0; i < 3; i++) {
        o[i] = ray->o[i] / size[i];
        u[i] = ray->u[i] / size[i];
    }
    interval s = round_interval(o, u, 3, 1.0);
    for (int i = 0; i < 3; i++) {
        s.n0[i] /= size[i];
        s.n1[i] /= size[i];
    }
    return s;
}

static interval box(const rb_local_ray *ray, const double *size)
{
    interval s = everything;
    for (int i = 0; i < 3; i++) cut_by_slab(&s, ray, i, size[i]);
    return s;
}

static interval hull(const rb_model *m, int mesh, const rb_local_ray *ray)
{
    interval s = everything;
    const double *plane = m->hull_plane + 4 * (ptrdiff_t)m->mesh_hullfaceadr[mesh];
    for (int f = 0; f < m->mesh_hullfacenum[mesh]; f++, plane += 4)
        cut_by_plane(&s, ray, plane, plane[3]);
    return s;
}

/* ---- one shape --------------------------------------------------------------------------------
 */

/* Seen from above only, and where it is drawn: as large as its size says, endless where that is 0.
 */
static void meet_plane(const rb_local_ray *ray, const double *size, rb_crossing *best)
{
    static const double up[3] = { 0.0, 0.0, 1.0 };
    if (ray->u[2] >= 0.0) return;
    double t = -ray->o[2] / ray->u[2];
    for (int i = 0; i < 2; i++) {
        if (size[i] > 0.0 && fabs(ray->o[i] + t * ray->u[i]) > size[i]) return;
    }
    rb_crossing_take(best, t, up);
}

static void meet_convex(const interval *s, rb_crossing *best)
{
    if (s->t0 > s->t1) return;
    if (s->t0 >= 0.0)
        rb_crossing_take(best, s->t0, s->n0);
    else
        rb_crossing_take(best, s->t1, s->n1);
}

static rb_crossing meet_shape(const rb_shape *shape, const rb_local_ray *ray)
{
    const double *size = shape->size;
    const rb_model *m = shape->model;
    rb_crossing best = { .t = -1.0 };
    interval s = nothing;
    switch (shape->type) {
    case RB_GEOM_PLANE:
        meet_plane(ray, size, &best);
        return best;
    case RB_GEOM_HFIELD:
        rb_ray_hfield(m, shape->asset, ray, &best);
        return best;
    case RB_GEOM_MESH:
        if (shape->surface || m->mesh_hullvertnum[shape->asset] == 0) {
            rb_ray_mesh(m, shape->asset, ray, &best);
            return best;
        }
        s = hull(m, shape->asset, ray);
        break;
    case RB_GEOM_SPHERE:
        s = ball_at(ray, 0.0, size[0]);
        break;
    case RB_GEOM_CAPSULE:
        s = capsule(ray, size[0], size[1]);
        break;
    case RB_GEOM_ELLIPSOID:
        s = ellipsoid(ray, size);
        break;
    case RB_GEOM_CYLINDER:
        s = cylinder(ray, size[0], size[1]);
        break;
    default:
        s = box(ray, size);
        break;
    }
    meet_convex(&s, &best);
    return best;
}

static int is_finite3(const double *x)
{
    return isfinite(x[0]) && isfinite(x[1]) && isfinite(x[2]);
}

static int unit_of(const double from[3], const double direction[3], double u[3])
{
    if (!is_finite3(from) || !is_finite3(direction)) return 0;
    rb_copy3(direction, u);
    return rb_normalize3(u) > 0.0;
}

static void hit_at(const double from[3], const double u[3], const double R[9],
                   const rb_crossing *best, rb_ray_hit *hit)
{
    hit->distance = best->t;
    rb_copy3(from, hit->point);
    rb_axpy3(best->t, u, hit->point);
    rb_rot(R, best->n, hit->normal);
    rb_normalize3(hit->normal);
}

static rb_crossing meet(const rb_shape *shape, const double from[3], const double u[3])
{
    rb_local_ray ray;
    rb_sub3(from, shape->p, ray.o);
    rb_rot_t(shape->R, ray.o, ray.o);
    rb_rot_t(shape->R, u, ray.u);
    return meet_shape(shape, &ray);
}

rb_status rb_ray_shape(const rb_shape *shape, const double from[3], const double direction[3],
                       rb_ray_hit *hit)
{
    double u[3];
    *hit = (rb_ray_hit){ .geom = -1, .distance = INFINITY };
    if (!unit_of(from, direction, u)) return RB_BAD_INPUT;
    rb_crossing best = meet(shape, from, u);
    if (best.t >= 0.0) hit_at(from, u, shape->R, &best, hit);
    return RB_OK;
}

/* ---- a whole model ----------------------------------------------------------------------------
 */

rb_ray_opts rb_ray_opts_default(void)
{
    return (rb_ray_opts){ .exclude_body = -1, .groups = ~0u, .reach = INFINITY };
}

/* Groups are numbers from 0; those beyond the bits of the mask are seen. */
static int is_asked_for(const rb_model *m, const rb_ray_opts *o, int g)
{
    int group = m->geom_group[g], body = m->geom_body[g];
    if (o->exclude_body >= 0 && body == o->exclude_body) return 0;
    if (m->geom_invisible[g] && !o->invisible) return 0;
    if (o->exclude_static && m->body_link[body] == 0) return 0;
    return group < 0 || group > 31 || (o->groups >> group & 1u);
}

/* Whether the ray passes by: the bounding sphere of what has one. */
static int passes_by(const rb_model *m, const rb_shape *shape, const double from[3],
                     const double u[3], double reach)
{
    const double *s = shape->size;
    double radius, c[3];
    switch (shape->type) {
    case RB_GEOM_SPHERE:
        return 0;
    case RB_GEOM_CAPSULE:
        radius = s[0] + s[1];
        break;
    case RB_GEOM_CYLINDER:
        radius = sqrt(s[0] * s[0] + s[1] * s[1]);
        break;
    case RB_GEOM_ELLIPSOID:
    case RB_GEOM_BOX:
        radius = rb_norm3(s);
        break;
    case RB_GEOM_MESH:
        radius = rb_norm3(m->mesh_half + 3 * (ptrdiff_t)shape->asset);
        break;
    default:
        return 0;
    }
    radius *= 1.0 + 1e-9;
    rb_sub3(shape->p, from, c);
    double along = rb_dot3(c, u);
    if (along < -radius || along - radius > reach) return 1;
    rb_axpy3(-along, u, c);
    return rb_dot3(c, c) > radius * radius;
}

rb_status rb_ray(const rb_model *m, const rb_data *d, const double from[3],
                 const double direction[3], const rb_ray_opts *opts, rb_ray_hit *hit)
{
    rb_ray_opts o = opts ? *opts : rb_ray_opts_default();
    rb_crossing nearest = { .t = -1.0 };
    double u[3];
    *hit = (rb_ray_hit){ .geom = -1, .distance = INFINITY };
    if (!unit_of(from, direction, u)) return RB_BAD_INPUT;
    for (int g = 0; g < m->ngeom; g++) {
        if (!is_asked_for(m, &o, g)) continue;
        rb_shape shape = rb_geom_shape(m, d, g);
        double reach = nearest.t >= 0.0 ? nearest.t : o.reach;
        if (!o.hulls && shape.type == RB_GEOM_MESH)
            shape.surface = m->mesh_facenum[shape.asset] > 0;
        if (passes_by(m, &shape, from, u, reach)) continue;
        rb_crossing found = meet(&shape, from, u);
        if (!(found.t >= 0.0) || found.t > o.reach) continue;
        if (nearest.t >= 0.0 && nearest.t <= found.t) continue;
        nearest = found;
        hit->geom = g;
    }
    if (hit->geom >= 0) hit_at(from, u, d->geom_R + 9 * (ptrdiff_t)hit->geom, &nearest, hit);
    return RB_OK;
}
