/* Advance time: fixed steps and steps that end at impacts, with hard frictional contact.
 *
 *     q, v -> free velocity -> gaps -> complementarity problem -> impulses -> v+, q+ -> gaps again
 *
 * Every step carries a certificate. A step that cannot be solved is a status and leaves the state
 * as it was. Theory: docs/theory/stepping.md, equations (S.*). Manual: docs/manual/run.md. */
#ifndef RATTLEBACK_STEP_H
#define RATTLEBACK_STEP_H

#include "rattleback/base.h"
#include "rattleback/collide.h"
#include "rattleback/dynamics.h"
#include "rattleback/model.h"
#include "rattleback/solve.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- choices ----------------------------------------------------------------------------------
 */

/* How contact becomes a complementarity problem; one file each in src/contact. */
typedef struct rb_formulation rb_formulation;
extern const rb_formulation *const rb_formulations[]; /* NULL terminated, src/contact/table.c     */
const rb_formulation *rb_formulation_find(const char *name); /* NULL: none                        */
unsigned rb_formulation_kind(const rb_formulation *f);       /* RB_LCP, RB_BOX or RB_CONE */
const char *rb_formulation_name(const rb_formulation *f);
const char *rb_formulation_summary(const rb_formulation *f);

typedef enum rb_stepper { RB_STEPPER_FIXED = 0, RB_STEPPER_LOCATED } rb_stepper;

typedef enum rb_restitution_law {
    RB_LAW_DEFAULT = 0, /* fixed: newton; located: stronge                                        */
    RB_LAW_NEWTON,      /* u_n+ = -e u_n-                                                         */
    RB_LAW_POISSON,     /* impulse of decompression = e times that of compression                 */
    RB_LAW_STRONGE      /* energy of decompression = e^2 times that of compression                */
} rb_restitution_law;

typedef enum rb_scheme {
    RB_SCHEME_DEFAULT = 0, /* islands without impulses by the midpoint, others by v+ (S.5)        */
    RB_SCHEME_SEMI_IMPLICIT, /* q+ = q (+) h v+ always                                            */
    RB_SCHEME_MOREAU_JEAN    /* q+ = q (+) h (v + v+)/2, velocity-level contact when the gap at the
                                midpoint is closed                                                  */
} rb_scheme;

/* What to do with a problem before it is solved: `--dump-problems`. Return nonzero to stop. */
typedef struct rb_problem_sink {
    int (*take)(void *ctx, const char *name, const rb_problem *problem);
    void *ctx;
} rb_problem_sink;

/* Runs count calls of task(ctx, i), in any order, on as many threads as it likes; NULL: one after
 * the other. Results do not depend on it. */
typedef struct rb_parallel {
    void (*run)(void *pool, int count, void (*task)(void *ctx, int i), void *ctx);
    void *pool;
    int threads;
} rb_parallel;

/* Start from rb_step_opts_default(). */
typedef struct rb_step_opts {
    double h; /* [s]; 0: the timestep of the model                       */
    rb_stepper stepper;
    const rb_formulation *formulation; /* cone                                                    */
    const rb_solver *solver;           /* auto                                                    */
    rb_restitution_law law;
    rb_scheme scheme;
    int directions;     /* of polyhedral cones: even, >= 4; 8                                    */
    double tol;         /* relative residual to certify [1]; 1e-9                                */
    double friction;    /* replaces every sliding coefficient; NAN: the materials'               */
    double restitution; /* replaces every coefficient; NAN: the materials'                       */
    int energy_safe;    /* 1: restitution is lowered until no energy is created                  */
    int cold;           /* 1: no warm start                                                      */
    int max_repair;     /* re-linearisations after a step, 8                                     */
    double regularise;  /* `anitescu-potra`, DART note: A_ii := (1 + eps) A_ii; 0                */
    double stick_speed; /* `phantom`, `hybrid-friction`: v_th [m/s]; 1e-3                        */
    double phantom_share; /* `phantom`: rho_j = share T_jj; 1e-6                                  */
    int phantom_directions; /* `phantom`: k >= 2 directions of a half circle; 2                  */
    int lateral; /* `phantom`: 1 lateral regularisation (10.4), 0 the variant without     */
    rb_problem_sink sink;
    const rb_parallel *parallel;
} rb_step_opts;

rb_step_opts rb_step_opts_default(void);

/* ---- what a step tells ------------------------------------------------------------------------
 */

typedef struct rb_step_info {
    int contacts; /* within reach                                                        */
    int active;   /* with an impulse                                                     */
    int rows;     /* of all problems                                                     */
    int islands;
    int solves;      /* complementarity problems solved, repairs and decompression included */
    int repairs;     /* re-linearisations                                                   */
    int impacts;     /* located: impacts resolved within the step                           */
    int fallbacks;   /* problems that auto finished on a later rung than the first          */
    int resting;     /* islands certified at rest: v = 0 solves the step                    */
    double residual; /* worst relative residual of an accepted problem [1]                  */
    double velocity_residual; /* the same in velocity units [m/s]                                 */
    double penetration;    /* deepest overlap at the new position [m]                             */
    double loop_error;     /* worst closure error of the equalities [m] or [rad]                  */
    double energy_created; /* 1/2 v+'Mv+ - 1/2 vf'Mvf + work of prescribed motion [J]             */
    int rungs[RB_RUNG_COUNT];
    char path[96]; /* path of the problem with the worst residual                         */
    int jam;       /* RB_JAMMED: contacts of the self-stress, indices in rb_data.touch    */
    int jammed[16];
} rb_step_info;

/* Moves q, v, act, time by one step of h (located: one step of h, with the impacts inside it).
 * RB_OK; RB_UNSOLVED (no certified answer), RB_JAMMED (kinematic bodies squeeze what cannot
 * yield), RB_FULL, RB_SINGULAR, RB_NOMEM, RB_UNSUPPORTED: the state is unchanged. err may be NULL.
 */
rb_status rb_step(const rb_model *m, rb_data *d, const rb_step_opts *opts, rb_step_info *info,
                  rb_error *err);

#ifdef __cplusplus
}
#endif

#endif
