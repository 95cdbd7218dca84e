/* Advance time with hard frictional contact: by steps of one length (`fixed`), by steps that are
 * divided where bodies meet (`located`), from impact to impact (`impulse`), or by both (`hybrid`).
 *
 *     q, v -> rows at q -> { impulses -> smooth motion -> gaps at q+ } -> accept or halve -> q+, v+
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

/* ---- options of a step --------------------------------------------------------------------------
 */

/* How positions follow velocities, for every formulation. */
typedef enum rb_scheme {
    RB_SCHEME_NODE = 0, /* impulses at the start of the step, smooth motion after them (S.1)     */
    RB_SCHEME_SEMI_IMPLICIT, /* as printed by Stewart and Trinkle: q+ = q (+) h v+ (S.54)         */
    RB_SCHEME_MOREAU_JEAN /* as printed: q+ = q (+) h (v + v+)/2, contact by velocities (S.59)    */
} rb_scheme;

/* How time is divided into steps. */
typedef enum rb_stepper {
    RB_STEPPER_FIXED = 0, /* every step has length h, impacts act at its start                    */
    RB_STEPPER_LOCATED, /* steps are divided where bodies meet; there the impact is solved alone */
    RB_STEPPER_IMPULSE, /* bodies fly from event to event, all contact is a series of impacts    */
    RB_STEPPER_HYBRID   /* impulses where contact is short, constraints where it lasts            */
} rb_stepper;

/* What steps promise (S.17); which one to take: docs/manual/accuracy.md. Overlap is a share of the
 * extent of the smaller moving body of a pair: half the diagonal of the box around its geoms. */
typedef enum rb_accuracy {
    RB_ACCURACY_STANDARD = 0, /* residual 1e-6, overlap 1e-6                                      */
    RB_ACCURACY_STRICT,       /* 1e-9 and 1e-9                                                    */
    RB_ACCURACY_FAST          /* 1e-3 and 1e-4: large piles, learning                             */
} rb_accuracy;

/* By name: standard, strict, fast. 0: there is none of that name. */
int rb_accuracy_find(const char *name, rb_accuracy *out);
const char *rb_accuracy_name(rb_accuracy accuracy);
double rb_accuracy_tol(rb_accuracy accuracy);     /* relative residual [1]                        */
double rb_accuracy_overlap(rb_accuracy accuracy); /* overlap that steps may make, per extent [1]  */

/* What happened at one contact in an instant, `impulse` and `hybrid`. */
typedef enum rb_event_kind {
    RB_EVENT_IMPACT = 0, /* a single impact, or one of several that were solved together          */
    RB_EVENT_MICRO,      /* a contact of a group that got an impulse                             */
    RB_EVENT_GROUP,      /* contacts within the shell were resolved together                     */
    RB_EVENT_SHIFT       /* `hybrid`: a pair goes from impulses to constraints, or back           */
} rb_event_kind;

const char *rb_event_kind_name(rb_event_kind kind); /* "impact", ...                              */

typedef struct rb_event {
    rb_event_kind kind;
    double time;       /* [s]                                                                     */
    int geom1, geom2;  /* -1: none (a group)                                                      */
    double pos[3];     /* world [m]                                                              */
    double normal[3];  /* from geom1 to geom2                                                    */
    double impulse[3]; /* on geom2, world axes [N s]                                             */
    double speed;      /* rate of the gap before, < 0: approach [m/s]                            */
    double energy;     /* change of the kinetic energy; groups: work of all their impulses [J]    */
    int count;         /* contacts that were solved together                                      */
    int nphase;        /* of a single impact, as in rb_impact_result                             */
    unsigned char phase[16];
    const char *text; /* shifts: the reason; else NULL                                           */
} rb_event;

/* Called for each event of a step, in the order of time. A step that fails has reported events that
 * did not happen: keep them until it returns RB_OK. */
typedef struct rb_event_sink {
    void (*take)(void *ctx, const rb_event *event);
    void *ctx;
} rb_event_sink;

/* Called with each problem before it is solved, as for `--dump-problems`. Nonzero stops the step:
 * it returns RB_FILE, the state is unchanged. */
typedef struct rb_problem_sink {
    int (*take)(void *ctx, const char *name, const rb_problem *problem);
    void *ctx;
} rb_problem_sink;

/* Threads of the caller, for the islands of a step, for large islands and for many simulations. The
 * library starts none: `run` calls task(work, k) once for each k = 0 .. workers - 1, on any number
 * of threads, and returns when all calls have ended. Results have the same bits for any number of
 * workers. Example: docs/manual/simulate.md, many at once. */
typedef struct rb_parallel {
    int workers;
    void (*run)(void *ctx, void (*task)(void *work, int k), void *work);
    void *ctx;
    rb_arena **arena; /* scratch of each worker                                   (workers)      */
} rb_parallel;

/* A controller. `set` writes the inputs of a step (ctrl, tau, wrench, mocap_v). Control instants
 * are the multiples of `every`; the first step that begins at or after one calls `set` before
 * anything else. Rounding of times does not count: a step that misses an instant by a small share
 * of its length begins at it. Between control instants inputs keep their values. Whether a step
 * calls `set` depends on its time and length alone, so that a run from a restored state makes the
 * same calls. A step that is repeated after RB_FULL calls it again. With rb_step_many all workers
 * call `set`. */
typedef struct rb_control {
    rb_status (*set)(
        void *ctx, const rb_model *m, rb_data *d, double h,
        rb_error *err); /* NULL: no controller; a status other than RB_OK ends the step */
    void *ctx;
    double every; /* [s]; 0: at every step                                                       */
} rb_control;

/* 1: a step of length h that begins at `time` calls control->set. */
int rb_control_is_due(const rb_control *control, double time, double h);

/* Start from rb_step_opts_default(), whose values end the comments below; a struct of zeros is
 * refused: RB_BAD_INPUT. */
struct rb_step_opts {
    double h;                          /* [s]; 0: the timestep of the model                       */
    const rb_formulation *formulation; /* cone                                                    */
    const rb_solver *solver;           /* auto                                                    */
    rb_stepper stepper;                /* fixed                                                   */
    rb_scheme scheme;
    rb_restitution_law law; /* of contacts that bounce; Stronge's                                */
    int energy_safe; /* 1: Newton's law too is limited where it would create energy; 0            */
    int directions;  /* of polyhedral cones: even, >= 4; 8                                    */
    rb_accuracy accuracy; /* standard                                                        */
    double tol;         /* relative residual to certify [1]; 0: that of the accuracy             */
    double loose;       /* up to this residual a step that missed tol advances [1];
                           info.below_accuracy counts such problems; 0: never; 1e-3               */
    double friction;    /* replaces every sliding coefficient; NAN: the materials'               */
    double restitution; /* replaces every coefficient; NAN: the materials'                       */
    int cold;           /* 1: no warm start                                                      */
    int max_repair;     /* rounds of nonlinear formulations, 8; 0: none, overlap is not checked   */
    int max_split;      /* times that a step is halved where it has no answer, 10                */
    int keep_errors;    /* 1: keep overlap of the start and joints beyond their limits; 0: correct
                           them in positions within 0.2 s, without velocity. Open loops:
                           rb_data_settle                                                         */
    double project;     /* share of overlap that each step corrects instead [1]; 0               */
    double regularise;  /* `anitescu-potra`, DART note: A_ii := (1 + eps) A_ii; 0                */
    double stick_speed; /* `phantom`, `hybrid-friction`: v_th [m/s]; 1e-3                        */
    double phantom_share; /* `phantom`: rho_j = share T_jj; 1e-6                                  */
    int phantom_directions; /* `phantom`: k >= 2 directions of a half circle; 2                  */
    int lateral;  /* `phantom`, `hybrid-friction`: force across the slip by 1 the linear law, 2 a
                     bristle as along it, 0 none; 1                                                */
    double shell; /* `impulse`: distance at which bodies collide [m]; 0: a share of their size */
    rb_control control;
    double budget; /* work that a step may take, in units of about 1000 multiplications and
                      additions [1]; 0: 4e6, one to four seconds, beyond 100 degrees of freedom
                      in proportion to them; < 0 or INFINITY: unlimited                         */
    int (*cancel)(void *ctx); /* called about every 10 ms within a step, by any of its threads;
                                 nonzero ends the step with RB_CANCELLED; NULL: never             */
    void *cancel_ctx;
    rb_problem_sink sink;
    rb_event_sink events;
    const rb_parallel *parallel; /* NULL: one thread                                             */
};

rb_step_opts rb_step_opts_default(void);

/* The relative residual that steps with these options certify [1]; NULL: the defaults. */
double rb_step_opts_tol(const rb_step_opts *opts);

/* A stepper by its name: fixed, located, impulse, hybrid. 0: there is none of that name. */
int rb_stepper_find(const char *name, rb_stepper *out);
const char *rb_stepper_name(rb_stepper stepper);

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
    double energy_created; /* work of all impulses (contacts, limits, loops, dry friction), less
                              that of mocap bodies and belts (S.25) [J]; of contact that lasts: of
                              second order in h, without drift                                    */
    double energy_impacts; /* the part of it by impacts [J]: not positive by Poisson and Stronge  */
    double energy_smooth;  /* created by smooth motion itself, where links rotate fast (D.45) [J];
                              negative: lost                                                      */
    int rungs[RB_RUNG_COUNT];
    double projected; /* overlap of the start, or by opts.project, that was corrected in positions
                         after the step [m]                                                       */
    double project_energy; /* energy from these corrections, in no other balance [J]              */
    int njam; /* RB_JAMMED: constraints of the self-stress; the first RB_JAM_MAX are kept  */
    double jam_speed;            /* at which it closes, per unit of impulse [m/s]                 */
    rb_jam_part jam[RB_JAM_MAX]; /*                                                               */
    char path[96]; /* path of the problem with the worst residual                         */
} rb_step_info;

/* Moves q, v, act, mocap, time by one step of h. RB_OK; RB_UNSOLVED (no certified answer),
 * RB_JAMMED (there is none: prescribed motion squeezes bodies that cannot move; info.jam and err
 * name them), RB_BUDGET (more work than opts.budget; err says where it went),
 * RB_CANCELLED (by opts.cancel), RB_FULL (info .contacts says how many), RB_CROWDED,
 * RB_SINGULAR, RB_NOMEM, RB_UNSUPPORTED, RB_FILE (by opts.sink), RB_BAD_INPUT (options, or a number
 * of the state or of the inputs that is not finite; err names it): the state is unchanged. opts
 * NULL: the defaults. info and err may be NULL: nothing is reported. m and d may not.
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
 * the given one that keeps them closed (S.40). `rattleback run` calls it unless keep_errors is set.
 * Without this call steps take a fifth of the error off each (S.2), by velocities, and create
 * energy. Nothing changes where loops are closed; info.open is the error that
 * is left. info and err may be NULL. RB_FULL, RB_NOMEM, .. as rb_collide, RB_BAD_INPUT (a
 * number that is not finite; err names it): q and v are unchanged. */
rb_status rb_data_settle(const rb_model *m, rb_data *d, rb_settle_info *info, rb_error *err);

/* ---- forces at rest ----------------------------------------------------------------------------
 */

/* The forces [N] of all contacts that touch at the state of d, as an LCP of accelerations (S.61),
 * given to the sink; it may have no solution. n = 0: nothing touches. The problem is valid during
 * the call; the state is unchanged. RB_BAD_INPUT: a contact approaches, or the sink's own RB_FILE.
 */
rb_status rb_acceleration_problem(const rb_model *m, rb_data *d, const rb_step_opts *opts,
                                  const rb_problem_sink *sink, rb_error *err);

/* One step of each of n simulations of a model, distributed over the workers of `parallel` (NULL:
 * one after the other). info may be NULL. Each simulation uses its own scratch, so that arenas of
 * `parallel` are not needed. opts->parallel must be NULL: else RB_BAD_INPUT, and nothing has
 * happened, to status neither. status (n) gets the status of each; the first that is not RB_OK is
 * returned. */
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
