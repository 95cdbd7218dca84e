/* Advance time by fixed steps, with hard frictional contact.
 *
 *     q, v -> free velocity -> gaps -> complementarity problem -> impulses -> v+, q+ -> gaps again
 *
 * Every step carries a certificate. A step that cannot be solved is a status and leaves the state
 * as it was. Theory: docs/theory/stepping.md, equations (S.*). Manual: docs/manual/run.md. */
#ifndef RATTLEBACK_STEP_H
#define RATTLEBACK_STEP_H

#include "rattleback/base.h"
#include "rattleback/collide.h"
#include "rattleback/contact.h"
#include "rattleback/dynamics.h"
#include "rattleback/model.h"
#include "rattleback/solve.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- what a step tells ------------------------------------------------------------------------
 */

typedef struct rb_step_info {
    int contacts; /* within reach                                                        */
    int active;   /* with an impulse                                                     */
    int rows;     /* of all problems                                                     */
    int rows_max; /* of the largest one                                                  */
    int islands;
    int solves;      /* complementarity problems solved, repairs and decompression included */
    int repairs;     /* re-linearisations                                                   */
    int parts;       /* that the step was taken in: 1, unless it was divided                */
    int impacts;     /* `located`: all that happen at one instant as one                    */
    int unlocated;   /* `located`: 1: too many impacts, the last part is a fixed step       */
    int splits;      /* times that a step or a part of it was halved                        */
    int fallbacks;   /* problems that auto finished on a later rung than the first          */
    int resting;     /* islands certified at rest: v = 0 solves the step                    */
    double residual; /* worst relative residual of an accepted problem [1]                  */
    double velocity_residual; /* the same in velocity units [m/s]                                 */
    double penetration;    /* deepest overlap at the new position [m]                             */
    double loop_error;     /* worst closure error of the equalities [m] or [rad]                  */
    double energy_created; /* 1/2 v+'Mv+ - 1/2 vf'Mvf + work of prescribed motion [J]             */
    int rungs[RB_RUNG_COUNT];
    char path[96]; /* path of the problem with the worst residual                         */
} rb_step_info;

/* Moves q, v, act, time by one step of h. RB_OK; RB_UNSOLVED (no certified answer), RB_FULL (info
 * .contacts says how many), RB_SINGULAR, RB_NOMEM, RB_UNSUPPORTED, RB_BAD_INPUT: the state is
 * unchanged. info and err may be NULL. */
rb_status rb_step(const rb_model *m, rb_data *d, const rb_step_opts *opts, rb_step_info *info,
                  rb_error *err);

#ifdef __cplusplus
}
#endif

#endif
