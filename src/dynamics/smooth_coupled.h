/* Within smooth motion: models whose tendons, muscles or servos couple dofs (D.57). */
#ifndef RB_DYNAMICS_SMOOTH_COUPLED_H
#define RB_DYNAMICS_SMOOTH_COUPLED_H

#include "dynamics/coupling.h"

typedef struct rb_smooth_coupled {
    int on;
    int lent; /* 1: the factor is d->L, which somebody else has made */
    rb_coupling terms;
    double *M; /* where it was last asked for                                    (nM) */
    double *L; /* factor of M + E + C there                                      (nM) */
    double *f; /* scratch                                                        (nv) */
} rb_smooth_coupled;

/* Arrays from the arena where the model wants them; 0: out of memory. */
int rb_smooth_coupled_push(const rb_model *m, rb_arena *arena, rb_smooth_coupled *x);

/* The inertia A that joints which creep take on (D.38), d placed at the start: k and b are their
 * stiffness and damping with the bounds of what couples dofs (nv), actuators marked. */
rb_status rb_smooth_coupled_hold(const rb_model *m, rb_data *d, double h, const double *k,
                                 const double *b, rb_smooth_coupled *x, double *A);

/* M, and the factor of M + E + C, where d is placed. */
rb_status rb_smooth_coupled_factor(const rb_model *m, rb_data *d, const double *E,
                                   rb_smooth_coupled *x);

/* qdd := the next dv / h, from dv and the forces on the dofs; dv NULL: (M + E + C)^-1 (force - c)
 */
void rb_smooth_coupled_next(const rb_model *m, rb_data *d, double h, const double *dv,
                            const double *force, rb_smooth_coupled *x, double *qdd);

#endif
