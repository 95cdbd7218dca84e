/* Within src/step: everything one step works on. Arrays come from the arena of rb_data and are gone
 * when the step ends. */
#ifndef RB_STEP_STAGE_H
#define RB_STEP_STAGE_H

#include "base/meter.h"
#include "collide/near.h"
#include "contact/contact.h"
#include "dynamics/smooth_push.h"
#include "math/vec3.h"
#include "rattleback/impact.h"
#include "rattleback/step.h"

typedef enum rb_flies {
    RB_FLIES_NOT,
    RB_FLIES,     /* leaves, or comes slowly from afar */
    RB_FLIES_FAST /* `hybrid`: comes as an impact      */
} rb_flies;

/* Contacts at the start of a part of a located step. Those that fly towards their impact, or away
 * from one, have no rows; their gaps are watched instead. */
typedef struct rb_flight {
    rb_contact *contacts; /* sorted as rb_collide does                  (n)                     */
    unsigned char *flies; /* rb_flies                                   (n)                     */
    double *speed;        /* rate of the gap [m/s]                      (n)                     */
    int n;
    int watches_new; /* 1: new points of a pair that comes to collide are watched, not held */
} rb_flight;

/* events/hybrid.h */
typedef struct rb_paradigms rb_paradigms;

/* W of an island of a chain, for further problems with the same rows. */
typedef struct rb_kept {
    double *W; /* NULL: not kept                                        (rows x rows)           */
    int known;
    int nG;              /* it is G, W = G G' (rb_island)               (rows x nG); 0: it is W */
    int some;            /* it is that of the rows which `left` does not mark                   */
    unsigned char *left; /* of active_rows.c                            (constraints)           */
} rb_kept;

/* Rows of an equality, at most. */
enum { RB_LOOP_ROWS = 6 };

/* Share of the overlap that steps may make which rounds of the node rule may leave, either way: a
 * gap of that is closed [1]. */
#define RB_NODE_LEFT 0.01

/* The worst of the gaps at the end of a step, in units of what is allowed: a pair of geoms, and
 * limits. */
typedef struct rb_deepest {
    int geom1, geom2;
    double gap, geoms, limits;
} rb_deepest;

/* What is the same in all parts of a step. */
typedef struct rb_step_given {
    double h;         /* length of the whole step [s]                                             */
    double gravity;   /* |g| [m/s^2]                                                              */
    double size;      /* extent of the model: unit of gaps [m]                                    */
    double deep;      /* overlap that a step may make [m], excess of limits [m] or [rad]          */
    double open_most; /* closure error of loops that a step may make [m] or [rad]                 */
} rb_step_given;

/* The state where a part of the step begins. The node rule adds the impulses that v lacks (S.23).
 */
typedef struct rb_step_start {
    double *q, *v, *act; /*                                             (nq_all), (nv), (na)      */
    double time;
    double *mocap;   /* poses of mocap bodies                           (nmocap x 7)              */
    double *mocap_v; /* velocities that the caller asked of them        (nmocap x 6)              */
} rb_step_start;

/* What src/events asks of a part of a step. */
typedef struct rb_step_events {
    int inelastic;           /* 1: nothing bounces within the step                                */
    const rb_flight *flight; /* contacts that fly and have no rows; NULL: none                    */
    double least_speed;      /* approach that is rounding, rb_flight_floor [m/s]                  */
    rb_contact *seen; /* contacts at answer.q, of the last check; NULL: not kept (touch_max) */
    int nseen;
    double seen_h;           /* time ahead for which that check looked for contacts [s]           */
    rb_paradigms *paradigms; /* `hybrid`: which pairs are constraints; NULL: other steppers       */
    rb_impact_result single_impact; /* `hybrid`: impact of a single contact; nphase 0: of several */
} rb_step_events;

/* How the motion of a part is being tried. */
typedef struct rb_step_attempt {
    double tol;           /* relative residual to certify [1]                                 */
    double loose;         /* relative residual up to which an answer may be accepted [1]      */
    int final;            /* 1: the part cannot be halved any more                            */
    int may_overlap;      /* overlap that is accepted, in units of what a step may make; 0: none */
    int may_relax;        /* 1: a motion without answer may be tried with relaxed rows        */
    int relaxed;          /* 1: closure errors of loops are kept, contacts are relaxed (S.21)     */
    int plastic;          /* 1: nothing is given back any more in this step                   */
    int reports;          /* 1: problems of the velocity that is reported, `node` only        */
    rb_constraints last;  /* the set before the repair: answers of it are guesses             */
    const double *last_p; /* its impulses; NULL: none yet                         (last.nrow) */

    /* what came of it */
    int no_answer; /* 1: a problem of the motion has no answer                                    */
    int gains;     /* 1: the motion was given up for the energy that contact makes in it          */
    int near_miss; /* 1: a problem had an answer within opts.loose, not within tol                */
    int ambiguous; /* 1: cones of this round of restitution have several answers                  */
    int unsolved;  /* the island that rb_stage_solve_others ended at                              */

    /* numbers of its problems: see rb_stage_name */
    int count;     /* motions that were computed from start.time so far                           */
    int iteration; /* round of the node rule, 1, 2, ..; 0: none                                   */
    int impact;    /* round of an impact, 1, 2, ..; 0: motion                                     */
    int restitution; /* problem of restitution, 1, 2, ..; 0: the first one                        */
} rb_step_attempt;

/* Smooth motion: without contact. */
typedef struct rb_step_smooth {
    double *q, *v;            /* where it leads                                 (nq_all), (nv)    */
    double *v_next;           /* start.v and the change by smooth motion, which the next step
                                 extrapolates (S.26)                                   (nv)       */
    rb_smooth_memory *memory; /* what its motions leave to each other; NULL: nothing              */
    double left; /* change that one more iteration of the last one would make [1]                 */
    double made; /* energy that it made without impulses [J]                                      */
} rb_step_smooth;

/* Pairs that may touch within the step. */
typedef struct rb_step_near {
    rb_near pairs;       /* those that the search from start.q has seen                           */
    int complete;        /* 1: at the last check no other pair could touch                        */
    int cached;          /* 1: a search at start.q left its gaps in the cache (G.33) ..           */
    unsigned calls;      /* .. and they are those of start.q while the cache has these kept_calls */
    int moves_far;       /* 0: no geom goes far within the step (S.28)                            */
    int nothing_touches; /* 1: at the last check nothing touched, nor on the way there            */
    double *l, *S, *v;   /* link_l, dof_S and v at that search                    (nlink x 3), .. */
} rb_step_near;

/* The complementarity problem of the rows, set, of a motion. */
typedef struct rb_step_problem {
    const double *q, *v;  /* where rows are taken; v NULL: at the start of the step               */
    rb_contact *contacts; /*                                                      (touch_max)     */
    int ncontact;
    rb_constraints first; /* rows at the start of the step, with the gaps there                   */
    double *least_gap;    /* least gap of its pair at the start of the step       (set.n)         */
    double open;          /* largest closure error at the start [m]                               */
    unsigned char *redundant; /* rows of loops that other rows imply; NULL: none
                                 (neq x RB_LOOP_ROWS)                                             */
    rb_kept *kept;    /* NULL: none                                           (set.nisland)   */
    double *u;        /* velocity of the rows at smooth.v, and bias           (set.nrow)      */
    double *bias;     /* the part of u that gaps and errors add               (set.nrow)      */
    double *u_before; /* velocity of the rows before the step                 (set.nrow)      */
    double *e;        /* restitution of constraints that bounce, else 0       (set.n)         */
    double *room;     /* bias of a constraint before it was to bounce         (set.n)         */
} rb_step_problem;

/* What was found: impulses and where they lead. */
typedef struct rb_step_answer {
    double *p;            /* impulses                                             (set.nrow)      */
    unsigned char *mode;  /*                                                      (set.n)         */
    unsigned char *still; /* 1: the island rests                                  (set.nisland)   */
    double *residual;     /* of the problems of rb_stage_solve                    (set.nisland)   */
    double *work;         /* of the costliest of them [units of meter.h]          (set.nisland)   */
    double residual_before; /* info.residual before them                                          */

    double *v, *q, *act;
    double *kick;  /* rb_data.kick of the motion                                  (nv x 2)        */
    double *servo; /* rb_data.servo of the motion                                 (nu)            */
    double *half;  /* p~ of loops and limits (S.23); NULL: none, `node` only      (set.nrow)      */
    double *v_way; /* velocity that leads from start.q to q                       (nv)            */
    double reach;  /* largest change of a speed by impulses; printed schemes [m/s]                */
    rb_deepest gaps;        /* worst gap that the last check found                               */
    double energy;          /* energy that impulses created in the part [J]                      */
    double energy_impacts;  /* the part of it by impacts [J]                                     */
    unsigned char *pushed;  /* an impulse acts on the tree                       (ntree)         */
    unsigned char *marked;  /* scratch of node_rest.c                            (ntree)         */
    unsigned char *resting; /* v = 0 is certified for the tree                   (ntree)         */
} rb_step_answer;

/* What a step works on: the call, what is given, and a part of the step with its rows. Formulas
 * write q0, v0 for start.q, start.v, then v_free for smooth.v, and q_new, v_new for answer.q,
 * answer.v. */
typedef struct rb_stage {
    const rb_model *m;
    rb_data *d;
    const rb_step_opts *o;
    rb_step_info *info;
    rb_error *err;
    rb_meter *meter; /* counts the work of the step                                               */
    const rb_step_given *given;

    double h; /* length of the part of the step that is being computed [s]                        */
    rb_step_start start;
    rb_step_events events;
    rb_step_attempt attempt;
    rb_step_smooth smooth;
    rb_step_near near;
    rb_constraints set; /* rows of the problem                                                    */
    rb_step_problem problem;
    rb_step_answer answer;

    /* of all parts so far */
    double overlap_deepest; /* info.penetration [m]                                               */
    double overlap_made;    /* info.penetration_made [m]                                          */
    int corrects;           /* 1: errors of the start are being taken off (S.35)                  */
} rb_stage;

/* advance.c: writes the name that a problem of this step has in files. */
void rb_stage_name(const rb_stage *s, int island, char *text, size_t size);

/* advance.c: save copies the state of d to q0, v0, act0, time0, where a part of the step begins;
 * restore copies it back. */
void rb_stage_save(rb_stage *s);
void rb_stage_restore(rb_stage *s);

/* advance.c: computes v_new, q_new, act_free from q0, v0, act0, time0 and h. Mocap bodies move too.
 */
rb_status rb_stage_motion(rb_stage *s);

/* advance.c: makes the motion that was found the state, and its constraints the table of touching
 * ones. */
void rb_stage_finish(rb_stage *s);

/* advance.c: moves the state by h, in halves where needed. */
rb_status rb_stage_advance(rb_stage *s, double h, int splits);

/* budget.c: work that a step may take; and RB_BUDGET or RB_CANCELLED, with a sentence, after it was
 * stopped. */
double rb_stage_budget(const rb_stage *s);
double rb_stage_problem_most(const rb_stage *s);
rb_status rb_stage_report_stopped(const rb_stage *s);

/* project.c: after a step that began at time `start`. Takes errors of positions off d->q; d->v
 * is unchanged. */
rb_status rb_stage_project(rb_stage *s, double start);

#endif
