/* Convex shapes as general methods see them: a core with a radius around it. Spheres are points,
 * capsules segments; boxes, hulls and triangles polyhedra; cylinders and ellipsoids themselves. */
#ifndef RB_COLLIDE_CORE_H
#define RB_COLLIDE_CORE_H

#include <stddef.h>

#include "math/aim.h"
#include "math/vector.h"
#include "rattleback/collide.h"

typedef enum rb_core_kind {
    RB_CORE_POINT,
    RB_CORE_SEGMENT,
    RB_CORE_POLY,
    RB_CORE_CYLINDER,
    RB_CORE_ELLIPSOID
} rb_core_kind;

/* A polyhedron in its own frame; entries of `loop` are edges, as in rb_model. */
typedef struct rb_poly {
    int nvert, nface, first; /* first: entry of loop where it begins                             */
    const double *vert;      /*                                                      (nvert x 3) */
    const double *plane;     /* outward unit normal, offset                          (nface x 4) */
    const int *loopadr, *loopnum; /*                                                 (nface)     */
    const int *loop, *twin, *owner, *turn;
    const int *leave; /*                                                             (nvert)     */
    const int *star, *next; /* neighbours of vertices, as in rb_model                (nvert x 2) */
    const int *aim; /* where climbs begin, by cells of aim.h; NULL: nowhere        (RB_AIMS)   */
} rb_poly;

typedef struct rb_core {
    rb_core_kind kind;
    double radius;      /* around the core [m]                                                  */
    double c[3];        /* centre relative to that of shape 1, world axes [m]                   */
    const double *R;    /* axes                                                                 */
    const double *size; /* as the shape has it                                                  */
    double extent;      /* largest distance of a point of the core from c [m]                   */
    rb_poly poly;
    int hint; /* vertex where the search for the next support point begins                      */
    double room[24 + 24]; /* vertices and planes of a box                                       */
} rb_core;

/* The box |x_k| <= 1. */
extern const rb_poly rb_unit_box;

/* The hull of a mesh. 0: it has none. */
RB_INLINE int rb_core_hull(const rb_shape *shape, rb_poly *p)
{
    const rb_model *m = shape->model;
    if (!m || shape->asset < 0 || m->mesh_hullvertnum[shape->asset] == 0) return 0;
    int vert = m->mesh_hullvertadr[shape->asset], face = m->mesh_hullfaceadr[shape->asset];
    p->nvert = m->mesh_hullvertnum[shape->asset];
    p->nface = m->mesh_hullfacenum[shape->asset];
    p->first = m->hull_loopadr[face];
    p->vert = m->hull_vert + 3 * (ptrdiff_t)vert;
    p->plane = m->hull_plane + 4 * (ptrdiff_t)face;
    p->loopadr = m->hull_loopadr + face;
    p->loopnum = m->hull_loopnum + face;
    p->loop = m->hull_loop;
    p->twin = m->hull_twin;
    p->owner = m->hull_owner;
    p->turn = m->hull_turn;
    p->leave = m->hull_leave + vert;
    p->star = m->hull_star + 2 * (ptrdiff_t)vert;
    p->next = m->hull_next;
    p->aim = m->hull_aim + RB_AIMS * (ptrdiff_t)shape->asset;
    return 1;
}

/* The core of a shape, about the point `origin` of the world. 0: the shape has none (planes, height
 * fields, meshes without a hull). */
int rb_core_make(const rb_shape *shape, const double origin[3], rb_core *core);

/* The polyhedron is a box, with the half sizes `size`. */
int rb_core_is_box(const rb_core *core);

/* A point of the core that is extreme along n, and which vertex it is, or for curved cores which
 * part (see core.c). n need not have unit length. */
int rb_core_support(rb_core *core, const double n[3], double x[3]);

/* The vertex, end or point of a core without curved parts that rb_core_support calls `id`. 0: there
 * is none. */
int rb_core_corner(const rb_core *core, int id, double x[3]);

/* Lets the next search for a support point of a hull begin at a vertex far along n.
 * 0: the core has none, or so few that all are compared. */
int rb_core_aim(rb_core *core, const double n[3]);

/* Unit vector of axis k of the core, world axes. */
static inline void rb_core_axis(const rb_core *core, int k, double u[3])
{
    u[0] = core->R[k];
    u[1] = core->R[3 + k];
    u[2] = core->R[6 + k];
}

/* World axes, relative to the origin of the pair. */
void rb_core_vertex(const rb_core *core, int vertex, double x[3]);

/* The vertex at the end of an edge. */
static inline int rb_poly_end(const rb_poly *p, int entry)
{
    return p->loop[p->twin[entry]];
}

/* The next edge that leaves the same vertex, in a circle around it. */
static inline int rb_poly_turn(const rb_poly *p, int entry)
{
    return p->turn[entry];
}

/* Height of its highest vertex along d, which is sought from *vertex on. */
double rb_poly_height(const rb_poly *p, const double d[3], int *vertex);

/* Halves of feature ids: an edge by the smaller of its two entries. */
uint32_t rb_core_half_edge(const rb_poly *p, int entry);

#endif
