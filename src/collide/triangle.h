/* One triangle of a surface against a convex shape, for searches over the surface. */
#ifndef RB_COLLIDE_TRIANGLE_H
#define RB_COLLIDE_TRIANGLE_H

#include "collide/gjk.h"
#include "collide/surface.h"

/* Sine [1] by which a neighbour that counts as flat may lean towards the shape. */
#define RB_SEAM 1e-7

/* What is more than so many times as deep, or as far away as it is deep, is another place. */
#define RB_AS_SHALLOW 8.0

/* Share of the extent of a shape [1] by which a peak may be inside it: deeper ones are many, and
 * their sides give the depth. */
#define RB_PEAK_INSIDE 0.05

enum {
    RB_RING_MAX = 256, /* edges that leave a corner                              */
    RB_DEEP_MAX = 64   /* points that overlap, compared with each other          */
};

typedef struct rb_triangle {
    double x[3][3];      /* corners in the frame of the surface              */
    double beyond[3][3]; /* corner beyond the edge k, k + 1                  */
    int border[3];       /* there is none                                    */
    int id, corner[3];   /* numbers for features                             */
    double normal[3];
} rb_triangle;

/* Unit vectors along the edges that leave a corner, in the frame of the surface, counter-clockwise
 * seen from outside. */
typedef struct rb_ring {
    int n, closed; /* closed: the last one is next to the first */
    double r[RB_RING_MAX][3];
} rb_ring;

/* A point that overlaps, and where it is. */
typedef struct rb_deep_point {
    rb_triangle at;
    rb_manifold_point point;
} rb_deep_point;

typedef struct rb_walk {
    const rb_shape *surface, *convex;
    double reach, far; /* far: rb_walk_far */
    const rb_surface_motion *motion;
    rb_couple couple; /* core 2: the convex shape */
    int room, ngroup, full;
    rb_surface_group *groups;
    int ndeep, npeak;
    int peak[RB_DEEP_MAX]; /* corners that were met */
    rb_deep_point *deep;   /*                                                  (RB_DEEP_MAX) */
} rb_walk;

/* The core of a triangle, about its centre, so that its own size decides what rounding is. 0: no
 * area. */
int rb_triangle_core(const rb_shape *surface, rb_triangle *t, rb_core *core);

/* That core becomes a solid. */
void rb_triangle_solid(const rb_triangle *t, rb_core *core);

/* (G.23): n (world axes) leads out of the surface around this part of the triangle, its face, an
 * edge or a corner. */
int rb_triangle_frees(const rb_shape *surface, const rb_triangle *t, uint32_t half,
                      const double n[3]);

/* The same, and the triangle faces that way: a contact there is one of the whole surface. */
int rb_triangle_allows(const rb_shape *surface, const rb_triangle *t, uint32_t half,
                       const double n[3]);

/* The half of a feature id, from this triangle to the whole surface. */
uint32_t rb_triangle_number(const rb_triangle *t, uint32_t half);

/* Normal of the triangle beyond edge i, in the frame of the surface. */
void rb_normal_beyond(const rb_triangle *t, int i, double n[3]);

/* A point of the grid; 0: beyond its border. */
int rb_grid_point(const rb_shape *surface, int row, int col, double x[3]);

void rb_corner_ring(const rb_shape *surface, const rb_triangle *t, int corner, rb_ring *ring);

/* (G.23) for all edges of the ring, which is a peak then and no pit. */
int rb_ring_frees(const rb_ring *ring, const double d[3]);

/* Takes a point of a triangle, relative to the surface's centre, along world axes. */
void rb_walk_add(rb_walk *k, const rb_triangle *t, const rb_manifold_point *p);

/* Points at valleys (G.24); at ridge i, at most that deep; at a peak, corner i (G.25), which is
 * inside the shape or as near as that. */
void rb_meet_valleys(rb_walk *k, const rb_triangle *t);
void rb_meet_ridge(rb_walk *k, const rb_triangle *t, int i, double most);
void rb_meet_peak(rb_walk *k, const rb_triangle *t, int i, double most);

#endif
