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

typedef enum rb_scheme {
    RB_SCHEME_MIDPOINT = 0, /* trees without impulses by the midpoint rule, others by v+ (S.5)    */
    RB_SCHEME_SEMI_IMPLICIT /* q+ = q (+) h v+ always                                             */
} rb_scheme;

/* What to do with a problem before it is solved: `--dump-problems`. Return nonzero to stop. */
typedef struct rb_problem_sink {
    int (*take)(void *ctx, const char *name, const rb_problem *problem);
    void *ctx;
} rb_problem_sink;

/* Start from rb_step_opts_default(). */
typedef struct rb_step_opts {
    double h;                          /* [s]; 0: the timestep of the model                       */
    const rb_formulation *formulation; /* cone                                                    */
    const rb_solver *solver;           /* auto                                                    */
    rb_scheme scheme;
    int directions;     /* of polyhedral cones: even, >= 4; 8                                    */
    double tol;         /* relative residual to certify [1]; 1e-9                                */
    double friction;    /* replaces every sliding coefficient; NAN: the materials'               */
    double restitution; /* replaces every coefficient; NAN: the materials'                       */
    int cold;           /* 1: no warm start                                                      */
    int max_repair;     /* re-linearisations after a step, 8                                     */
    double regularise;  /* `anitescu-potra`, DART note: A_ii := (1 + eps) A_ii; 0                */
    double stick_speed; /* `phantom`, `hybrid-friction`: v_th [m/s]; 1e-3                        */
    double phantom_share; /* `phantom`: rho_j = share T_jj; 1e-6                                  */
    int phantom_directions; /* `phantom`: k >= 2 directions of a half circle; 2                  */
    int lateral; /* `phantom`: 1 lateral regularisation (10.4), 0 the variant without     */
    rb_problem_sink sink;
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
