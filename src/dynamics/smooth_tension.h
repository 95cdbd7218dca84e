/* Within smooth motion: what the tension of a chain adds to its inertia in a step (D.39). */
#ifndef RB_DYNAMICS_SMOOTH_TENSION_H
#define RB_DYNAMICS_SMOOTH_TENSION_H

#include "base/arena.h"
#include "dynamics/planar.h"
#include "rattleback/model.h"

typedef struct rb_tension {
    int on;
    double *K;     /* added to the rotational inertia of each link, xx yy zz xy xz yz (nlink x 6) */
    double *alpha; /* angular acceleration                                            (nlink x 3) */
    double *force; /* forces or couples that a link hands on                          (nlink x 3) */
} rb_tension;

int rb_tension_push(const rb_model *m, rb_arena *arena, rb_tension *t);

/* K for a step of h, of links that are placed and accelerate by qdd; on = 0: it is not worth it. */
void rb_tension_find(const rb_model *m, const rb_data *d, double h, const double *qdd,
                     rb_tension *t);

/* force += J'(K alpha) with the accelerations that qdd = dv / h gives to the links. */
void rb_tension_force(const rb_model *m, const rb_data *d, double h, const double *dv,
                      const rb_tension *t, double *force);

/* The same in a plane, where K has one number for each link, and couple = K alpha, a moment on each
 * link, is left in t->alpha (nlink). */
void rb_tension_find_plane(const rb_model *m, double h, const double *qdd, rb_plane *x,
                           rb_tension *t);
void rb_tension_couple_plane(const rb_model *m, double h, const double *dv, const rb_tension *t);

#endif
