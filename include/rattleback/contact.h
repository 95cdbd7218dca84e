/* Formulations: how contact becomes a complementarity problem, and the options of a step.
 *
 * Theory: docs/theory/contact.md, equations (F.*). Which one to take: docs/manual/run.md. */
#ifndef RATTLEBACK_CONTACT_H
#define RATTLEBACK_CONTACT_H

#include "rattleback/base.h"
#include "rattleback/model.h"
#include "rattleback/solve.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- choices ----------------------------------------------------------------------------------
 */

/* How contact becomes a complementarity problem; files in src/contact/formulations. */
typedef struct rb_formulation rb_formulation;
extern const rb_formulation *const rb_formulations[];        /* NULL terminated */
const rb_formulation *rb_formulation_find(const char *name); /* NULL: none                        */
unsigned rb_formulation_kind(const rb_formulation *f);       /* RB_LCP, RB_BOX or RB_CONE */
const char *rb_formulation_name(const rb_formulation *f);
const char *rb_formulation_summary(const rb_formulation *f);

typedef enum rb_scheme {
    RB_SCHEME_MIDPOINT = 0, /* trees without impulses by the midpoint rule, others by v+ (S.5)    */
    RB_SCHEME_SEMI_IMPLICIT, /* q+ = q (+) h v+ always                                            */
    RB_SCHEME_MOREAU_JEAN, /* q+ = q (+) h (v + v+)/2 always, contact by velocities (S.22)        */
    RB_SCHEME_NODE /* impulses at the start of the step, smooth motion after them (S.101)         */
} rb_scheme;

/* How time is divided into steps. */
typedef enum rb_stepper {
    RB_STEPPER_FIXED = 0, /* every step has length h, impacts act at its end                      */
    RB_STEPPER_LOCATED, /* steps are divided where bodies meet; there the impact is solved alone */
    RB_STEPPER_IMPULSE, /* bodies fly from event to event, all contact is a series of impacts    */
    RB_STEPPER_HYBRID   /* impulses where contact is short, constraints where it lasts            */
} rb_stepper;

/* What steps promise (S.97); which one to take: docs/manual/accuracy.md. */
typedef enum rb_accuracy {
    RB_ACCURACY_STANDARD = 0, /* residual 1e-6, overlap 1e-6 of the smaller moving body           */
    RB_ACCURACY_STRICT,       /* 1e-9 and 1e-9                                                    */
    RB_ACCURACY_FAST          /* 1e-3 and 1e-4: large piles, learning                             */
} rb_accuracy;

/* By name: standard, strict, fast. 0: there is none of that name. */
int rb_accuracy_find(const char *name, rb_accuracy *out);
const char *rb_accuracy_name(rb_accuracy accuracy);
double rb_accuracy_tol(rb_accuracy accuracy);     /* relative residual [1]                        */
double rb_accuracy_overlap(rb_accuracy accuracy); /* overlap that steps may make, per extent [1]  */

/* When an impact ends (I.8); used by single impacts and by steps that end at impacts. */
typedef enum rb_restitution_law {
    RB_POISSON = 0, /* normal impulse of restitution = e times that of compression               */
    RB_NEWTON,      /* speed of separation = e times the speed of approach; may create energy    */
    RB_STRONGE      /* normal work of restitution = e^2 times that of compression                */
} rb_restitution_law;

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

/* Called with each problem before it is solved, as for `--dump-problems`. Nonzero stops the step.
 */
typedef struct rb_problem_sink {
    int (*take)(void *ctx, const char *name, const rb_problem *problem);
    void *ctx;
} rb_problem_sink;

/* Threads of the caller, for the islands of a step and for many simulations. The library starts
 * none: `run` calls task(work, k) once for each k = 0 .. workers - 1, on any number of threads, and
 * returns when all calls have ended. Results have the same bits for any number of workers. */
typedef struct rb_parallel {
    int workers;
    void (*run)(void *ctx, void (*task)(void *work, int k), void *work);
    void *ctx;
    rb_arena **arena; /* scratch of each worker                                   (workers)      */
} rb_parallel;

/* A controller. `set` writes the inputs of a step (ctrl, tau, wrench, mocap_v). Control instants
 * are the multiples of `every`; the first step that begins at or after one calls `set` before
 * anything else. Between control instants inputs keep their values. Whether a step calls `set`
 * depends on its time and length alone, so that a run from a restored state makes the same calls. A
 * step that is repeated after RB_FULL calls it again. With rb_step_many all workers call `set`. */
typedef struct rb_control {
    rb_status (*set)(
        void *ctx, const rb_model *m, rb_data *d, double h,
        rb_error *err); /* NULL: no controller; a status other than RB_OK ends the step */
    void *ctx;
    double every; /* [s]; 0: at every step                                                       */
} rb_control;

/* 1: a step of length h that begins at `time` calls control->set. */
int rb_control_is_due(const rb_control *control, double time, double h);

/* Start from rb_step_opts_default(). */
typedef struct rb_step_opts {
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
    int max_repair;     /* re-linearisations after a step, 8; 0: none, overlap is not checked     */
    int max_split;      /* times that a step is halved where repairs do not end, 10              */
    int keep_errors;    /* 1: keep overlap of the start and joints beyond their limits; 0: correct
                           them in positions within 0.2 s, without velocity                       */
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
} rb_step_opts;

rb_step_opts rb_step_opts_default(void);

/* Sliding coefficient of friction between two geoms (F.1) under these options; NULL: the
 * defaults. */
double rb_pair_friction(const rb_model *m, int geom1, int geom2, const rb_step_opts *opts);

/* The relative residual that steps with these options certify [1]; NULL: the defaults. */
double rb_step_opts_tol(const rb_step_opts *opts);

/* Finds geoms of one mechanism, up to three links from each other, that overlap at all positions of
 * the joints between them (F.29): parts of a joint that are drawn too large. It adds a pair to the
 * spec that excludes them from contact, and a warning that names them. Explicit pairs are kept. `m`
 * is the compiled spec, with hulls; *count is the number found: if it is not 0, compile again.
 * Deterministic. RB_NOMEM, RB_BAD_INPUT. */
rb_status rb_spec_leave_out(rb_spec *spec, const rb_model *m, const rb_alloc *alloc, int *count,
                            rb_error *err);

/* A stepper by its name: fixed, located, impulse, hybrid. 0: there is none of that name. */
int rb_stepper_find(const char *name, rb_stepper *out);
const char *rb_stepper_name(rb_stepper stepper);

#ifdef __cplusplus
}
#endif

#endif
