/* The pair table. A new pair is one function and one line here. */
#include "collide/pairs.h"

#include "collide/manifold.h"
#include "collide/surface.h"

#include <math.h>
#include <stddef.h>

enum { NTYPE = RB_GEOM_MESH + 1 };

/* clang-format off */
static const rb_pair_fn table[NTYPE][NTYPE] = {
    [RB_GEOM_PLANE] = {
        [RB_GEOM_SPHERE]    = rb_plane_sphere,
        [RB_GEOM_CAPSULE]   = rb_plane_capsule,
        [RB_GEOM_ELLIPSOID] = rb_plane_ellipsoid,
        [RB_GEOM_CYLINDER]  = rb_plane_cylinder,
        [RB_GEOM_BOX]       = rb_plane_box,
        [RB_GEOM_MESH]      = rb_plane_hull,
    },
    [RB_GEOM_SPHERE] = {
        [RB_GEOM_SPHERE]    = rb_sphere_sphere,
        [RB_GEOM_CAPSULE]   = rb_sphere_capsule,
        [RB_GEOM_ELLIPSOID] = rb_sphere_ellipsoid,
        [RB_GEOM_CYLINDER]  = rb_sphere_cylinder,
        [RB_GEOM_BOX]       = rb_sphere_box,
        [RB_GEOM_MESH]      = rb_convex_pair,
    },
    [RB_GEOM_CAPSULE] = {
        [RB_GEOM_CAPSULE]   = rb_capsule_capsule,
        [RB_GEOM_ELLIPSOID] = rb_convex_pair,
        [RB_GEOM_CYLINDER]  = rb_convex_pair,
        [RB_GEOM_BOX]       = rb_capsule_box,
        [RB_GEOM_MESH]      = rb_convex_pair,
    },
    [RB_GEOM_ELLIPSOID] = {
        [RB_GEOM_ELLIPSOID] = rb_convex_pair,
        [RB_GEOM_CYLINDER]  = rb_convex_pair,
        [RB_GEOM_BOX]       = rb_convex_pair,
        [RB_GEOM_MESH]      = rb_convex_pair,
    },
    [RB_GEOM_CYLINDER] = {
        [RB_GEOM_CYLINDER]  = rb_convex_pair,
        [RB_GEOM_BOX]       = rb_convex_pair,
        [RB_GEOM_MESH]      = rb_convex_pair,
    },
    [RB_GEOM_BOX] = {
        [RB_GEOM_BOX]       = rb_box_box,
        [RB_GEOM_MESH]      = rb_convex_pair,
    },
    [RB_GEOM_MESH] = {
        [RB_GEOM_MESH]      = rb_convex_pair,
    },
};
/* clang-format on */

rb_pair_fn rb_pair_find(int type1, int type2, int *swap)
{
    *swap = type1 > type2;
    if (type1 < 0 || type2 < 0 || type1 >= NTYPE || type2 >= NTYPE) return NULL;
    return *swap ? table[type2][type1] : table[type1][type2];
}

/* Meshes collide by their hulls. */
static int is_whole(const rb_shape *s)
{
    if (s->type != RB_GEOM_MESH) return 1;
    return s->model && s->asset >= 0 && s->model->mesh_hullvertnum[s->asset] > 0;
}

int rb_pair_call(const rb_shape *shape1, const rb_shape *shape2, double reach, rb_manifold *out)
{
    int swap;
    rb_pair_fn pair = rb_pair_find(shape1->type, shape2->type, &swap);
    out->n = 0;
    out->error = 0.0;
    if (!pair || !is_whole(shape1) || !is_whole(shape2)) return 0;
    if (swap) {
        pair(shape2, shape1, reach, out);
        rb_manifold_swap(out);
    } else {
        pair(shape1, shape2, reach, out);
    }
    return 1;
}

/* x * 0 is 0 where x is finite, else NaN; two sums, which the processor makes at once. */
static int is_finite(const rb_shape *s)
{
    const double *p = s->p, *size = s->size, *R = s->R;
    double a = R[0] * 0.0, b = R[1] * 0.0;
    a += R[2] * 0.0, b += R[3] * 0.0;
    a += R[4] * 0.0, b += R[5] * 0.0;
    a += R[6] * 0.0, b += R[7] * 0.0;
    a += p[0] * 0.0, b += p[1] * 0.0;
    a += size[0] * 0.0, b += size[1] * 0.0;
    a += R[8] * 0.0 + p[2] * 0.0 + size[2] * 0.0;
    return a + b == 0.0 && size[0] >= 0.0 && size[1] >= 0.0 && size[2] >= 0.0;
}

/* Of the points of a surface those that are closest. */
static rb_status surface_manifold(const rb_shape *shape1, const rb_shape *shape2, double reach,
                                  rb_manifold *out)
{
    enum { ROOM = 64 };
    int swap = !rb_is_surface(shape1), ngroup;
    rb_surface_group groups[ROOM];
    const rb_shape *surface = swap ? shape2 : shape1, *convex = swap ? shape1 : shape2;
    rb_status status = rb_surface_points(surface, convex, reach, NULL, ROOM, groups, &ngroup);
    if (status != RB_OK) return status;
    for (int i = 0; i < ngroup; i++) {
        for (int j = 0; j < groups[i].n; j++) {
            int at = out->n < RB_MANIFOLD_MAX ? out->n++ : RB_MANIFOLD_MAX;
            for (int k = 0; at == RB_MANIFOLD_MAX && k < RB_MANIFOLD_MAX; k++) {
                int worst = 1;
                for (int l = 0; l < RB_MANIFOLD_MAX; l++) {
                    worst &= out->point[k].gap >= out->point[l].gap;
                }
                if (worst && out->point[k].gap > groups[i].at[j].gap) at = k;
            }
            if (at < RB_MANIFOLD_MAX) out->point[at] = groups[i].at[j];
        }
    }
    rb_manifold_swap(out);
    if (!swap) rb_manifold_swap(out);
    return RB_OK;
}

static rb_status manifold_of(const rb_shape *shape1, const rb_shape *shape2, double reach,
                             rb_manifold *out)
{
    out->n = 0;
    out->error = 0.0;
    if (!is_finite(shape1) || !is_finite(shape2) || !(reach >= 0.0)) return RB_BAD_INPUT;
    if (rb_is_surface(shape1) || rb_is_surface(shape2)) {
        return surface_manifold(shape1, shape2, reach, out);
    }
    return rb_pair_call(shape1, shape2, reach, out) ? RB_OK : RB_UNSUPPORTED;
}

rb_status rb_pair_manifold(const rb_shape *shape1, const rb_shape *shape2, double reach,
                           rb_manifold *out)
{
    out->most = RB_MANIFOLD_KEEP;
    return manifold_of(shape1, shape2, reach, out);
}

rb_status rb_pair_closest(const rb_shape *shape1, const rb_shape *shape2, double reach,
                          rb_manifold_point *out, int *found)
{
    rb_manifold m;
    m.most = 1;
    rb_status status = manifold_of(shape1, shape2, reach, &m);
    int best = 0;
    for (int i = 1; i < m.n; i++) {
        if (m.point[i].gap < m.point[best].gap) best = i;
    }
    *found = m.n > 0;
    if (m.n > 0) *out = m.point[best];
    return status;
}
