/* Forward dynamics of mechanisms in a plane, rb_model.plane: (D.40), (D.41). What rb_forward_place
 * and rb_forward_solve give, with a third of the instructions; rb_data gets no frames. */
#ifndef RB_DYNAMICS_PLANAR_H
#define RB_DYNAMICS_PLANAR_H

#include "base/arena.h"
#include "rattleback/model.h"

/* One link, axes of the plane. */
typedef struct rb_plane_body {
    double w;             /* angular velocity [rad/s]                                  */
    double r[2];          /* from the anchor of the parent to its own [m]              */
    double u[2];          /* mass times centre of mass, a quarter of a turn ahead      */
    double J, U[2], M[3]; /* articulated inertia: turn, both, xx yy xy                 */
    double most;          /* upper bound of the terms of J: to separate J from rounding */
    double n, f[2];       /* moment and force where nothing accelerates                */
    double D_inv;
    double alpha, b[2]; /* acceleration: angular; of the anchor, less gravity        */
} rb_plane_body;

typedef struct rb_plane {
    double *turn, *sine, *cosine; /* of each link, from its reference (nlink and some) */
    rb_plane_body *body;          /*                                  (nlink)          */
} rb_plane;

/* The model is one, and no wrench acts on a body. */
int rb_plane_takes(const rb_model *m, const rb_data *d);

/* The arrays come from the arena. 0: out of memory. */
int rb_plane_push(const rb_model *m, rb_arena *arena, rb_plane *x);

/* Angles, vectors and angular velocities at d->q, d->v. */
void rb_plane_place(const rb_model *m, const rb_data *d, rb_plane *x);

/* qdd = (M + diag(E) + K)^-1 (tau - c + couple), D is left in d->dof_D. K, couple: added to the
 * inertia of the turn of each link, and to the moment on it; NULL: none          (nlink) */
rb_status rb_plane_solve(const rb_model *m, rb_data *d, const double *E, const double *K,
                         const double *couple, const double *tau, double *qdd, rb_plane *x);

/* alpha and b of links that accelerate by qdd. */
void rb_plane_accelerate(const rb_model *m, const double *qdd, rb_plane *x);

/* Largest angular velocity [rad/s]; not a number where one is not. */
double rb_plane_spin(const rb_model *m, const rb_plane *x);

/* Kinetic energy with the velocities v in the places of x [J]. */
double rb_plane_kinetic(const rb_model *m, const double *v, const rb_plane *x);

/* Power of weight with the velocities v in the places of x [W]. */
double rb_plane_weight_power(const rb_model *m, const double *v, const rb_plane *x);

#endif
