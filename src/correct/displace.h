/* Within the core: the least displacement, in the metric of the masses, that takes gaps, limits and
 * closure errors where they are asked to end. No velocity comes from it. */
#ifndef RB_CORRECT_DISPLACE_H
#define RB_CORRECT_DISPLACE_H

#include "contact/contact.h"
#include "rattleback/step.h"

/* How errors are to end. A gap g < 0 at the beginning ends at goal(g), one that is open at zero or
 * above; closure errors end at zero or as they began. */
typedef struct rb_displace {
    const rb_model *m;
    rb_data *d;
    const rb_step_opts *o;
    double size;     /* extent of the model [m]                                                */
    double deep;     /* overlap that counts as none [m] or [rad]                               */
    double reach;    /* how far rows are looked for [m] or [rad]                               */
    double share;    /* of each error that is taken off [1]                                    */
    double most;     /* at most this part of the scale: extent, pi for angles [1]              */
    int close_loops; /* 1: closure errors end at zero; 0: as they began                        */
    int only_loops;  /* 1: overlap and limits are kept as they are                             */
    int max_rounds;  /* of rows taken again at the place reached                               */
    rb_error *err;

    /* what came of it */
    double before;     /* deepest overlap of contacts before [m]                                 */
    double after;      /* the same after                                                         */
    double loop_error; /* largest closure error after [m] or [rad]                               */
    int moved;         /* 1: d->q changed                                                        */
    int rounds;        /* of rows                                                                */
    int contacts;      /* RB_FULL: how many there are                                            */
} rb_displace;

/* Moves d->q; d->v must be zero and is not written. Kinematics, velocity and frames of d are those
 * of the new place. RB_OK also where nothing could be moved; RB_FULL, RB_NOMEM, .. as rb_collide.
 */
rb_status rb_displace_run(rb_displace *x);

/* loop_velocity.c: d->v becomes the velocity next to it at which loops stay closed (S.38). */
rb_status rb_loop_velocity(const rb_model *m, rb_data *d);

#endif
