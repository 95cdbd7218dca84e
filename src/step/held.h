/* What holds rows in place while a tree moves by the midpoint rule (S.52). */
#ifndef RB_STEP_HELD_H
#define RB_STEP_HELD_H

#include "step/stage.h"

typedef struct rb_held {
    const rb_stage *s;
    const unsigned char *takes; /* the tree is carried                                  (ntree) */
    const unsigned char *rows;  /* the row is held                                      (nrow)  */
    double tol;                 /* residual that is left, relative to r [1]                     */
} rb_held;

/* z := J_a v, without what is driven; 0 for rows that are not held. */
void rb_held_velocity(const rb_held *x, const double *v, double *z);

/* shift = M^-1 J_a' (J_a M^-1 J_a')^+ r */
rb_status rb_held_shift(const rb_held *x, const double *r, double *shift);

#endif
