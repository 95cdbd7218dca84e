/* Advance time with hard frictional contact: by steps of one length (`fixed`), by steps that are
 * divided where bodies meet (`located`), from impact to impact (`impulse`), or by both (`hybrid`).
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

/* ---- report of a step -------------------------------------------------------------------------
 */

/* A constraint of a jam: its part of a self-stress, impulses that balance each other while the
 * prescribed motion closes their gaps. */
typedef struct rb_jam_part {
    rb_touch_id id;
    int nrow;        /* numbers of p that count                                                  */
    double p[6];     /* impulse of each row, the largest of all is 1                             */
    double pos[3];   /* contacts: where, world [m]                                               */
    double frame[9]; /* contacts: axes n, t1, t2 as rows, world                                  */
} rb_jam_part;

#define RB_JAM_MAX 16

typedef struct rb_step_info {
    int contacts; /* within reach                                                        */
    int active;   /* with an impulse                                                     */
    int rows;     /* of all problems                                                     */
    int rows_max; /* of the largest one                                                  */
    int islands;
    int solves;    /* complementarity problems solved, repairs and decompression included */
    int repairs;   /* re-linearisations                                                   */
    int parts;     /* that the step was taken in: 1, unless it was divided                */
    int impacts;   /* `located`: all that happen at one instant as one; `impulse`: each      */
    int events;    /* `impulse`, `hybrid`: impacts, micros and shifts, as [Mirtich 1995] count them:
                      each contact that gets an impulse is a collision                            */
    int resolved;  /* the same with collisions that were solved together as one                   */
    int micros;    /* micro-collisions: impulses on contacts that last                            */
    int groups;    /* problems of them, all of one instant as one                                 */
    long looks;    /* `impulse`: gaps of pairs that were computed                            */
    int shifts;    /* `hybrid`: pairs that went from impulses to constraints, or back         */
    int unlocated; /* `located`: 1: too many impacts, the last part is a fixed step       */
    int splits;    /* times that a step or a part of it was halved                        */
    int fallbacks; /* problems that the first method of auto did not finish               */
    int resting;   /* islands certified at rest: v = 0 solves the step                    */
    int below_accuracy; /* problems accepted at opts.loose that missed the accuracy            */
    double work;        /* in units of opts.budget                                      */
    double residual;    /* worst relative residual of an accepted problem [1]                  */
    double velocity_residual; /* the same in velocity units [m/s]                                 */
    double penetration; /* deepest overlap at the new position [m]                             */
    double penetration_made; /* the same beyond what a pair began the step with, where that is an
                                error of the start [m]                                           */
    double gap_error;  /* penetration may be too large by this: searches ended at their cap [m] */
    double loop_error; /* worst closure error of the equalities [m] or [rad]                  */
    double energy_created; /* work of all impulses, less that of prescribed motion [J]            */
    double energy_impacts; /* the part of it by impacts that are located, or by the node rule [J]:
                              not positive by Poisson and Stronge                                 */
    double energy_smooth;  /* created by the midpoint rule itself, where links rotate fast (D.45),
                              (S.55), by loops (S.46), and by chains in parts of a divided step
                              (S.56) [J]; negative: lost                                          */
    int rungs[RB_RUNG_COUNT];
    double projected;      /* overlap that was corrected in positions after the step [m]          */
    double project_energy; /* energy from corrections of positions, in no other balance [J] */
    int njam; /* RB_JAMMED: constraints of the self-stress; the first RB_JAM_MAX are kept  */
    double jam_speed;            /* at which it closes, per unit of impulse [m/s]                 */
    rb_jam_part jam[RB_JAM_MAX]; /*                                                               */
    char path[96]; /* path of the problem with the worst residual                         */
} rb_step_info;

/* Moves q, v, act, mocap, time by one step of h. RB_OK; RB_UNSOLVED (no certified answer),
 * RB_JAMMED (there is none: prescribed motion squeezes bodies that cannot move; info.jam and err
 * name them), RB_BUDGET (more work than opts.budget; err says where it went),
 * RB_CANCELLED (by opts.cancel), RB_FULL (info .contacts says how many), RB_CROWDED,
 * RB_SINGULAR, RB_NOMEM, RB_UNSUPPORTED, RB_BAD_INPUT (options, or a number of the state or of the
 * inputs that is not finite; err names it): the state is unchanged. opts NULL: the defaults. info
 * and err may be NULL.
 */
rb_status rb_step(const rb_model *m, rb_data *d, const rb_step_opts *opts, rb_step_info *info,
                  rb_error *err);

/* ---- before the first step ---------------------------------------------------------------------
 */

typedef struct rb_settle_info {
    double open_before, open; /* largest closure error before and after [m] or [rad]              */
    double energy;            /* change of the energy by it [J]                                   */
    int contacts;             /* RB_FULL: how many there are                                      */
} rb_settle_info;

/* Closes the loops of a state that leaves them open, as keyframes and reference poses do: the least
 * displacement in the metric of the masses, limits and contacts kept, then the velocity nearest to
 * the given one that keeps them closed (S.74). Without this call steps correct the error by
 * velocities and create energy. Nothing changes where loops are closed; info.open is the error that
 * is left. info and err may be NULL. RB_FULL, RB_NOMEM, .. as rb_collide, RB_BAD_INPUT (a
 * number that is not finite; err names it): q and v are unchanged. */
rb_status rb_data_settle(const rb_model *m, rb_data *d, rb_settle_info *info, rb_error *err);

/* ---- forces at rest ----------------------------------------------------------------------------
 */

/* The forces [N] of all contacts that touch at the state of d, as an LCP of accelerations (S.91),
 * given to the sink; it may have no solution. n = 0: nothing touches. The problem is valid during
 * the call; the state is unchanged. RB_BAD_INPUT: a contact approaches, or the sink's own RB_FILE.
 */
rb_status rb_acceleration_problem(const rb_model *m, rb_data *d, const rb_step_opts *opts,
                                  const rb_problem_sink *sink, rb_error *err);

/* One step of each of n simulations of a model, distributed over the workers of `parallel` (NULL:
 * one after the other). info may be NULL. Each simulation uses its own scratch, so that arenas of
 * `parallel` are not needed and opts->parallel must be NULL. status (n) gets the status
 * of each; the first that is not RB_OK is returned. */
rb_status rb_step_many(const rb_model *m, rb_data *const *d, int n, const rb_step_opts *opts,
                       const rb_parallel *parallel, rb_step_info *info, rb_status *status);

/* The same where each simulation has a model of its own, m (n): copies that were changed by
 * rb_model_set_friction and the other rb_model_set_ calls. */
rb_status rb_step_each(const rb_model *const *m, rb_data *const *d, int n, const rb_step_opts *opts,
                       const rb_parallel *parallel, rb_step_info *info, rb_status *status);

#ifdef __cplusplus
}
#endif

#endif
