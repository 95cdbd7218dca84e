/* Rays against single shapes, in their own frame. */
#ifndef RB_COLLIDE_RAY_H
#define RB_COLLIDE_RAY_H

#include "rattleback/collide.h"

/* A ray o + t u, t >= 0, in the frame of a shape. */
typedef struct rb_local_ray {
    double o[3], u[3]; /* u has unit length, up to rounding */
} rb_local_ray;

/* The nearest crossing so far: t < 0: none. Normals are outward, not of unit length. */
typedef struct rb_crossing {
    double t, n[3];
} rb_crossing;

/* Takes the crossing t with the normal n where it is ahead and nearer. */
static inline void rb_crossing_take(rb_crossing *best, double t, const double n[3])
{
    if (!(t >= 0.0) || (best->t >= 0.0 && best->t <= t)) return;
    best->t = t;
    for (int i = 0; i < 3; i++) best->n[i] = n[i];
}

/* Triangles of a mesh, seen from both sides. */
void rb_ray_mesh(const rb_model *m, int mesh, const rb_local_ray *ray, rb_crossing *best);

/* The solid below a height field: its triangles, four walls and the bottom. */
void rb_ray_hfield(const rb_model *m, int field, const rb_local_ray *ray, rb_crossing *best);

#endif
