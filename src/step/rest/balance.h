/* Impulses next to given ones that balance the forces on islands that nearly rest. */
#ifndef RB_STEP_BALANCE_H
#define RB_STEP_BALANCE_H

#include "step/stage.h"

typedef struct rb_unbalanced {
    const unsigned char *wanted; /* islands                                       (nisland) */
    const double *push;          /* what acts on a freedom, s of (S.22)            (nv)      */
    const double *rounding;      /* right side of (S.22)                           (ntree)   */
    const double *defect;        /* M v_free + J' s->p                            (nv)      */
} rb_unbalanced;

/* p = s->p + the least change of the rows that may give with J' p = -M v_free, as far as there is
 * one (S.32). */
rb_status rb_stage_balance(rb_stage *s, const rb_unbalanced *x, double *p);

#endif
