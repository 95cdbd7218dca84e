/* Surfaces of triangles against convex shapes: height fields, and meshes with rb.surface. */
#ifndef RB_COLLIDE_SURFACE_H
#define RB_COLLIDE_SURFACE_H

#include "base/meter.h"
#include "collide/sweep.h"
#include "rattleback/collide.h"

enum {
    RB_GROUP_MAX = 8,
    RB_SURFACE_GROUPS = 512 /* planes in which a surface and a shape may touch */
};

/* Points on one plane, at most RB_MANIFOLD_KEEP of which are kept. */
typedef struct rb_surface_group {
    int n;
    rb_manifold_point at[RB_GROUP_MAX];
} rb_surface_group;

/* How both move, where it matters: as for rb_sweep_meets. */
typedef struct rb_surface_motion {
    rb_motion surface, convex;
    double h;
    rb_meter *meter; /* counts the triangles that are looked at closely; may be NULL */
} rb_surface_motion;

/* 1: the shape collides by its triangles. */
static inline int rb_is_surface(const rb_shape *shape)
{
    return shape->type == RB_GEOM_HFIELD || (shape->type == RB_GEOM_MESH && shape->surface);
}

/* 1: a mesh that collides by its triangles (rb_choose_surfaces of src/model/surfaces.c). */
int rb_geom_is_surface(const rb_model *m, int geom);

/* The points of all groups by feature; of two with the same name the closer one. Returns how many;
 * room for RB_MANIFOLD_KEEP of each group. */
int rb_surface_sort(const rb_surface_group *groups, int ngroup, rb_manifold_point *sorted);

/* Points with gap <= reach, normals from the surface to the convex shape, in groups of one plane
 * each; triangles that the motion (may be NULL) does not reach are left out. RB_TOO_LARGE: more
 * groups than room. RB_UNSUPPORTED: the other shape is not convex, or a plane. */
rb_status rb_surface_points(const rb_shape *surface, const rb_shape *convex, double reach,
                            const rb_surface_motion *motion, int room, rb_surface_group *groups,
                            int *ngroup);

#endif
