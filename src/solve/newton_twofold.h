/* Newton on the equations (K.7) with the impulses in twofold arithmetic, for problems whose modes
 * drown in rounding: bodies a million times heavier than their neighbours. */
#ifndef RB_SOLVE_NEWTON_TWOFOLD_H
#define RB_SOLVE_NEWTON_TWOFOLD_H

#include "math/twofold.h"
#include "solve/newton.h"

typedef struct rb_newton_twofold {
    rb_newton s;                   /* compliance, modes, derivatives and factors                  */
    double *r_hi, *r_lo;           /* impulses                                            (n)     */
    double *trial_hi, *trial_lo;   /* a step further                                      (n)     */
    double *center_hi, *center_lo; /* compliance acts on r - center                      (n)     */
    double *good_hi, *good_lo;     /* last point of the path                              (n)     */
    double *f_hi, *f_lo, *v_hi, *v_lo; /* of the operator: impulses and velocities of bodies    */
    double *u_lo; /* low part of s->u                                    (n)     */
} rb_newton_twofold;

/* Memory for the impulses and for dense scaled factors; the rest of the work space is that of
 * plain, which must not run in the meantime. */
rb_status rb_newton_twofold_make(const rb_newton *plain, rb_arena *scratch, rb_newton_twofold *t);

/* Follows the solution of decreasing compliance from eps = 1 as far as it goes, then takes
 * proximal steps. r (n) is written, rounded; returns its measure. *arrived = 1: at
 * RB_TWOFOLD_EPS without a gap. */
double rb_newton_twofold_path(rb_newton_twofold *t, rb_compliance kind, double tol, double *r,
                              int *arrived);

/* Proximal steps (K.24) from r with less and less compliance, more where one fails: any solution
 * near r. Returns the measure of r. */
double rb_newton_twofold_near(rb_newton_twofold *t, double tol, double *r);

/* What rb_cones_error would say of r if u = W r + q were exact. */
double rb_newton_twofold_error(rb_newton_twofold *t, const double *r);

/* The last compliance of the path [1]: 1e-16 over this is the share by which a step computed
 * with double factors is wrong. */
#define RB_TWOFOLD_EPS 1e-12

#endif
