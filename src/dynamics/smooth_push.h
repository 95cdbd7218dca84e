/* Smooth motion with impulses that act evenly over the step (D.43), for the stepper. */
#ifndef RB_DYNAMICS_SMOOTH_PUSH_H
#define RB_DYNAMICS_SMOOTH_PUSH_H

#include "dynamics/smooth_energy.h"
#include "dynamics/smooth_tension.h"
#include "rattleback/dynamics.h"

enum { RB_SMOOTH_KEPT = 16 }; /* substeps that are remembered */

/* What one motion of a step leaves to the next one of the same step (D.39), (D.38). */
typedef struct rb_smooth_memory {
    int substeps; /* 0: nothing yet                                                      */
    double *dv;   /* change of the velocity in each of them      (RB_SMOOTH_KEPT x nv)   */
    double h;     /* length of the substeps that the tension is of [s]; 0: there is none */
    rb_tension tension;
    int known;           /* 1: servos are, as the last substep ended                     */
    signed char *holds;  /* the servo is between the bounds of its force         (nu)    */
    signed char *creeps; /* its damping may hold a joint that creeps             (nu)    */
    signed char *needed; /* without that it would not stay at its bound          (nu)    */
    double *inertia;     /* of joints, for that; INFINITY: to be found           (nv)    */
} rb_smooth_memory;

int rb_smooth_memory_push(const rb_model *m, rb_arena *arena, rb_smooth_memory *memory);

/* How a step begins and ends. */
typedef struct rb_smooth_from {
    const double *dv;         /* change of the velocity to start from; NULL: none        (nv) */
    double tol;               /* tolerance [1]                                                */
    double fast;              /* the same for long chains that turn fast [1]                  */
    rb_smooth_memory *memory; /* NULL: none                                                   */
    const double *A; /* (D.38) where dofs are coupled, whose factor with springs and dampers is
                        d->L; NULL: that of the start                                     (nv) */
} rb_smooth_from;

/* rb_smooth_step, but for how it begins and ends; fast is RB_SMOOTH_TOL_FAST at least. */
rb_status rb_smooth_step_from(const rb_model *m, rb_data *d, double h, const rb_smooth_from *from,
                              rb_smooth_info *info);

/* The tolerance that a step really ends at where tol is asked for [1]. */
double rb_smooth_tol(const rb_model *m, double tol);

/* Moves q, v, act by h under impulses f (nv) that act evenly over it (D.43); the time is as before.
 * Where it does not converge nothing has moved. */
rb_status rb_smooth_push_step(const rb_model *m, rb_data *d, double h, const double *f,
                              rb_smooth_info *info);

#endif
