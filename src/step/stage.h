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

/* How a link goes while the joints go straight (S.4), all of it per way. */
typedef struct rb_link_path {
    double w[3];         /* turning at the end that is looked from [rad]                         */
    double x_w[3], x[3]; /* J off there: turning [rad] and origin [m]                            */
    double W, B, X, A;   /* bounds along the way [rad], [rad], [m], [m]                          */
} rb_link_path;

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

typedef struct rb_stage {
    const rb_model *m;
    rb_data *d;
    const rb_step_opts *o;
    const rb_solver *ladder; /* the solver `auto`                                                 */
    rb_step_info *info;
    rb_error *err;
    rb_meter *meter;  /* counts the work of the step                                              */
    double h;         /* length of the part of the step that is being computed [s]                */
    double h_full;    /* length of the whole step [s]                                             */
    double gravity;   /* |g| [m/s^2]                                                              */
    double size;      /* extent of the model: unit of gaps [m]                                    */
    double tol;       /* relative residual to certify [1]                                         */
    double loose;     /* relative residual up to which an answer may be accepted [1]     */
    double deep;      /* overlap that a step may make [m], excess of limits [m] or [rad]          */
    double open_most; /* closure error of loops that a step may make [m] or [rad]                 */
    int near_miss;    /* 1: a problem had an answer within opts.loose, not within tol             */
    int reports;      /* 1: problems of the velocity that is reported, `node` only                */
    int ambiguous;    /* 1: cones of this round of restitution have several answers               */

    /* how the motion is being tried */
    int final;           /* 1: the step cannot be halved any more                               */
    int may_overlap;     /* overlap that is accepted, in units of what a step may make; 0: none */
    int may_yield;       /* 1: a motion without answer may be tried with relaxed rows           */
    int yields;          /* 1: closure errors of loops are kept, contacts are relaxed; 2: limits
                            that the start violates are relaxed, too (S.21)                     */
    int no_answer;       /* 1: a problem of the motion has no answer                            */
    int corrects;        /* 1: errors of the start are being taken off (S.36)                   */
    int passed[2];       /* geoms that tunnelling.c found to pass through each other            */
    int *passed_through; /* pairs that did so and get rows now         (npassed_through x 2)    */
    int npassed_through; /* -1: all pairs that may do so get rows                               */
    double *half;        /* p~ of loops and limits (S.23); NULL: none, `node` only (set.nrow)   */
    unsigned char *redundant; /* rows of loops that other rows imply; NULL: none
                                 (neq x RB_LOOP_ROWS)                                             */
    double open;     /* largest closure error at the start [m]                              */
    rb_deepest gaps; /* worst gap that the last check found                                 */
    double reach;    /* largest change of a speed by impulses; printed schemes [m/s]        */

    /* before the step */
    double *q0, *v0, *act0; /*                                          (nq_all), (nv), (na)      */
    double time0;
    double *mocap0;   /* poses of mocap bodies                          (nmocap x 7)              */
    double *mocap_v0; /* velocities that the caller asked of them       (nmocap x 6)              */

    /* smooth motion: without contact */
    double *q_free, *v_free, *act_free;
    rb_smooth_memory *smooth_memory; /* what its motions leave to each other; NULL: nothing       */
    double motion_left; /* change that one more iteration of the last one would make [1]          */
    double *v_next; /* v0 and the change by smooth motion, which the next step extrapolates (S.26)
                       (nv)                                                                       */

    /* where the rows are taken; v_hat NULL: at the start of the step */
    const double *q_hat, *v_hat;
    rb_contact *contacts; /*                                                      (touch_max)     */
    int ncontact;
    rb_near near;        /* pairs that the search from q0 has seen                               */
    int near_complete;   /* 1: at the last check no other pair could touch                       */
    int kept_q0;         /* 1: a search at q0 left its gaps in the cache (G.33) ..               */
    unsigned kept_calls; /* .. and they are those of q0 while the cache has this kept_calls      */
    int moves_far;       /* 0: no geom goes far within the step (S.28)                           */
    int nothing_touches; /* 1: at the last check nothing touched, nor on the way there           */
    double *near_l, *near_S, *near_v; /* link_l, dof_S and v at that search       (nlink x 3), .. */
    rb_constraints set;
    rb_constraints first; /* the set at the start of the step, with the gaps there                */
    rb_constraints last;  /* the set before the repair                                            */
    const double *last_p; /* its impulses; NULL: none yet                         (last.nrow)     */
    int inelastic;        /* 1: nothing bounces within the step                                */
    const rb_flight *flight; /* contacts that fly and have no rows; NULL: none                    */
    rb_contact *seen; /* contacts at q_new, of the last check; NULL: not kept     (touch_max)     */
    int nseen;
    double seen_h;           /* time ahead for which that check looked for contacts [s]           */
    rb_paradigms *paradigms; /* `hybrid`: which pairs are constraints; NULL: other steppers       */
    rb_impact_result single_impact; /* `hybrid`: impact of a single contact; nphase 0: of several */
    int round;     /* of an impact, 1, 2, ..; 0: motion                                   */
    int iteration; /* round of the node rule, 1, 2, ..; 0: none                           */
    int attempts;  /* motions that were computed from time0 so far                        */
    int part;      /* problem of restitution, 1, 2, ..; 0: the first one                  */

    /* the problem and its answer */
    rb_kept *kept;    /* NULL: none                                               (set.nisland)   */
    double *u;        /* velocity of the rows at v_free, and bias                 (set.nrow)      */
    double *bias;     /* the part of u that gaps and errors add                   (set.nrow)      */
    double *u_before; /* velocity of the rows before the step                     (set.nrow)      */
    double *e;        /* restitution of constraints that bounce, else 0           (set.n)         */
    double *start;    /* least gap of its pair at the start of the step           (set.n)         */
    double *room;     /* bias of a constraint before it was to bounce             (set.n)         */
    double *p;        /* impulses                                                 (set.nrow)      */
    unsigned char *mode;  /*                                                      (set.n)         */
    unsigned char *still; /* 1: the island rests                                  (set.nisland)   */
    int plastic;          /* 1: nothing is given back any more in this step                       */
    int unsolved;         /* the island that rb_stage_solve_others ended at                       */
    double *found;        /* residuals of the problems of rb_stage_solve          (set.nisland)   */
    double *spent;        /* work of the costliest of them [units of meter.h]     (set.nisland)   */
    double residual_before; /* info.residual before them                                          */

    /* after the step */
    double *v_new, *q_new;
    double *kick_new;  /* rb_data.kick of the motion                                (nv x 2)      */
    double *servo_new; /* rb_data.servo of the motion                               (nu)          */
    double *v_way;     /* velocity that leads from q0 to q_new             (nv)             */
    double energy_made_free; /* energy that smooth motion made without impulses [J]               */
    double energy;           /* energy that impulses created in the part [J]                      */
    double energy_impacts;   /* the part of it by impacts [J]                                     */
    double overlap_deepest;  /* info.penetration over all parts [m]                               */
    double overlap_made;     /* info.penetration_made over all parts [m]                          */
    double least_speed;      /* approach that is rounding, rb_flight_floor [m/s]                  */
    unsigned char *pushed;   /* an impulse acts on the tree                      (ntree)      */
    unsigned char *marked;   /* scratch of node_rest.c                           (ntree)      */
    unsigned char *resting;  /* v = 0 is certified for the tree                  (ntree)      */
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

/* ---- what src/events, the room above, gives to the step ----------------------------------------
 */

/* located.c: a step of length h that is divided where bodies meet. */
rb_status rb_stage_located(rb_stage *s);

/* impulse.c: a step of length h in which bodies go from impact to impact. */
rb_status rb_stage_impulse(rb_stage *s);

/* hybrid.c: a step in which each pair has either impulses or constraints. After each part,
 * rb_paradigms_shift moves pairs from one to the other by what the part has shown, and reports
 * that as an event. */
rb_status rb_stage_hybrid(rb_stage *s);
void rb_paradigms_shift(rb_stage *s);

/* flight.c: returns 1 where the contact has rows. Always so where nothing flies. */
int rb_flight_holds(const rb_flight *flight, int geom1, int geom2, uint32_t feature);

/* ---- the stages of a step ----------------------------------------------------------------------
 */

/* adhesion_contacts.c: finds the contacts of the start, where adhesion needs them and no step
 * was made yet. */
void rb_step_first_contacts(const rb_model *m, rb_data *d);

/* adhesion_contacts.c: stores s->contacts in the table of touching constraints, where adhesion
 * needs them. */
void rb_stage_keep_adhesion_contacts(rb_stage *s);

/* kinematic.c: begin gives mocap bodies the velocity of a step of length h and its rate; pose
 * moves them to where they are t seconds after the start; end restores the velocities that the
 * caller asked for. */
rb_status rb_stage_kinematic_begin(rb_stage *s);
void rb_stage_kinematic_pose(rb_stage *s, double t);
void rb_stage_kinematic_end(rb_stage *s, int moved);

/* free_motion.c: computes v_free, q_free, act_free. The state is unchanged. */
rb_status rb_stage_free_motion(rb_stage *s);

/* free_motion.c: moves d from q0 and velocity v by h, without contact, and sets
 * energy_made_free. dv: change of the velocity that the iteration begins with, NULL: it is
 * extrapolated. */
rb_status rb_stage_motion_from(rb_stage *s, const double *v, const double *dv, const double *A,
                               double tol);

/* semi_implicit.c, moreau_jean.c: computes the motion of s by the schemes of the papers, as
 * printed. */
rb_status rb_stage_semi_implicit(rb_stage *s);
rb_status rb_stage_moreau_jean(rb_stage *s);

/* gaps.c: how far joint j, or tendon t, is beyond its limits at q_new, in units of what a step may
 * make [1]. d is at q_new. */
double rb_stage_limit_deepened(const rb_stage *s, int j);
double rb_stage_tendon_deepened(const rb_stage *s, int t);

/* free_motion.c: stores the rate of v of this part, from which the next one is extrapolated. */
void rb_stage_keep_slope(rb_stage *s);

/* pushed.c: returns 1 where actuators exchange more energy than the error of smooth motion, the
 * accuracy is not strict, and restitution was not asked for. */
int rb_stage_is_driven(const rb_stage *s);

/* rows.c: takes the arrays u, p, mode, bias, u_before, e, room for the set, cleared. */
rb_status rb_stage_take_rows(rb_stage *s);

/* What rb_stage_factor hands out beside the factor; NULL: not wanted. */
typedef struct rb_stage_stiff {
    double *L;   /* factor without springs and dampers, but with A                     (nM) */
    double *E;   /* what springs, dampers and A add to the diagonal of M               (nv) */
    double *all; /* where they couple dofs: M with all of them (D.55), else untouched  (nM) */
    double *A;   /* likewise: inertia of joints that creep (D.38), from the start of a step:
                    d->act is that of its beginning                                    (nv) */
    int again;   /* likewise: 1: A and M stay, d is in the middle of the step               */
} rb_stage_stiff;

/* rows.c: factors M at d->q, with springs, dampers and servos of a step of h, those of
 * smooth_memory where they are known. out may be NULL. The second does that once more for other
 * servos, where no dofs are coupled: L_node and E are L and E of the first. */
rb_status rb_stage_factor(rb_stage *s, const rb_stage_stiff *out);
rb_status rb_stage_factor_again(rb_stage *s, double *L_node, double *E);

/* rows.c: gap up to which the constraint counts as closed [m]. */
double rb_stage_closed(const rb_stage *s, const rb_constraint *c);

/* rows.c: how far the gap of a constraint may be relaxed where rows have no answer (S.21) [m]. */
double rb_stage_yield(const rb_stage *s, const rb_constraint *c);

/* near_pairs.c: leaves out the contacts that fly towards their impact, or away from one. */
void rb_stage_drop_flying(rb_stage *s);

/* near_pairs.c: find notes the pairs that it sees while it looks for contacts at the velocity of
 * d. holds returns 1 where q_new is so near that only those can touch. */
rb_status rb_stage_near_find(rb_stage *s, double slack);
int rb_stage_near_holds(rb_stage *s);

/* separation.c: returns 1 where nothing touches at q_new, nor on the way there from q0 (S.28).
 * Sets moves_far. */
int rb_stage_nothing_touches(rb_stage *s);

/* link_paths.c: bounds the motion of every link while joints go along dq (nv), beside the
 * velocity J off (nv). l and S are link_l and dof_S of the end that is looked from; mocap bodies
 * have the velocity of d. */
void rb_stage_link_paths(const rb_stage *s, const double *l, const double *S, const double *dq,
                         const double *off, rb_link_path *link);
/* The same for the last of n links (branch.h), relative to what the first one hangs on. d is at
 * the end that is looked from. */
rb_link_path rb_stage_link_path_on(const rb_stage *s, int n, const int *links, const double *dq);

/* rest.c: sets p, mode, still, resting of islands that rest with the impulses of the step
 * before. */
rb_status rb_stage_rest_on(rb_stage *s);

/* rest.c: a search for rest costs islands that interior points solve more than a step, and arches
 * that creep never rest: 1 for others, and for those now and then. */
int rb_stage_rest_is_due(const rb_stage *s, int island);

/* rest.c: computes v_new, which is zero where an island rests. p may change by rounding there. */
rb_status rb_stage_rest(rb_stage *s);

/* refine.c: makes the residual of a certified answer of a cone problem ten times smaller, where
 * doubles can hold it (S.32). Scratch from o->arena. */
rb_status rb_sharpen(const rb_problem *p, const rb_solve_opts *o, double *z, rb_info *info);

/* solve_islands.c: the guess for constraint c: its impulse and mode in the step before, or in
 * the round before a repair, along its present tangents. */
void rb_stage_recall(const rb_stage *s, const rb_constraint *c, double *p, unsigned char *mode);
void rb_stage_recall_round(const rb_stage *s, const rb_constraint *c, double *guess);

/* solve_islands.c: fills u, bias, p_prev and what else the stepper gives to an island. */
void rb_stage_fill(const rb_stage *s, rb_island *island);

/* active_rows.c: computes p and mode of an island with rows of their own kind. Rows that are
 * predicted to slide or to stay open are left out (S.31). *done 0: no certified answer. */
rb_status rb_stage_solve_active(rb_stage *s, int island, rb_arena *arena, rb_info *info, int *rows,
                                int *done);

/* solve_islands.c: prepares what the problems of this set need; before rb_stage_solve_others. */
rb_status rb_stage_solve_begin(rb_stage *s);

/* solve_islands.c: computes p and mode of the islands that are not still. */
rb_status rb_stage_solve(rb_stage *s);

/* solve_islands.c: computes p and mode of the islands that skip does not mark. */
rb_status rb_stage_solve_others(rb_stage *s, const unsigned char *skip);

/* restitution.c: adds to the impulses of compression, p, those of restitution. */
rb_status rb_stage_restitute(rb_stage *s);

/* tunnelling.c: after rb_stage_check. RB_UNSOLVED: a geom passes through another one between q0
 * and q_new (S.19). Moves d. */
rb_status rb_stage_tunnelling(rb_stage *s);

/* pushed.c: returns 1 for a body by itself, the only link of its tree. */
int rb_stage_is_single(const rb_model *m, int link);

/* pushed.c: sets pushed. */
void rb_stage_find_pushed(rb_stage *s);

/* gaps.c: the constraint of that identity, NULL: there is none. */
const rb_constraint *rb_stage_find(const rb_constraints *set, const rb_touch_id *id);

/* allowed_overlap.c: sets deep and open_most, from the accuracy and the size of the model. */
void rb_stage_allow(rb_stage *s);

/* allowed_overlap.c: overlap that a step may make of a pair of geoms, and of a constraint; and
 * how far overlap of the model may grow in a step [m]. */
double rb_stage_pair_overlap(const rb_stage *s, int geom1, int geom2);
double rb_stage_deep(const rb_stage *s, const rb_touch_id *id);
double rb_stage_growth(const rb_stage *s);

/* allowed_overlap.c: lowest gap that a constraint may end with, when it was `start` before the
 * step and may be made `deep` too deep [m]. */
double rb_stage_lowest(const rb_stage *s, double start, double deep);

/* gaps.c: gap of a constraint at the start of the step, 0: it was not near. For a contact the
 * least gap of its pair, since features may change on the way. */
double rb_stage_start_gap(const rb_stage *s, const rb_touch_id *id);

/* gaps.c: where overlap that the pair of a contact began with may end (F.8), 0: there was none. */
double rb_stage_start_floor(const rb_stage *s, const rb_touch_id *id);

/* gaps.c: how deep the pair was: that floor, and overlap below it. */
double rb_stage_start_depth(const rb_stage *s, const rb_touch_id *id);

/* gaps.c: computes the array start, that gap of all constraints, from first. */
rb_status rb_stage_find_starts(rb_stage *s);

/* redundant_rows.c: takes redundant rows out of the set, and finds them the first time (S.8).
 * is_redundant returns 1 where row r of equality e is one. */
rb_status rb_stage_drop_redundant(rb_stage *s, int first);
int rb_stage_is_redundant(const rb_stage *s, int e, int r);

/* gaps.c: share of the closure error of loops that this part of the step takes off (S.57). */
double rb_stage_loop_share(const rb_stage *s);

/* gaps.c: closure error that row r of an equality is asked to end with. */
double rb_stage_error_goal(const rb_stage *s, const rb_touch_id *id, int r);

/* gaps.c: overlap, or excess of a limit, from which on it is an error of the start: more than
 * steps make [m] or [rad]. */
double rb_stage_error_least(const rb_stage *s);

/* gaps.c: how far a limit that the start violates may be relaxed in a step without another
 * answer (S.21). start: its gap. */
double rb_stage_yield_error(const rb_stage *s, double start);

/* gaps.c: rotation angle of a ball joint [rad]; length of a tendon [m]. */
double rb_stage_ball_angle(const double *q);
double rb_stage_tendon_length(const rb_model *m, int t, const double *q);

/* gaps.c: *worst is the deepest overlap that the step made, or the worst loop, at q_new, in
 * units of what is allowed. Above 1 the step is repaired. Sets overlaps. */
rb_status rb_stage_check(rb_stage *s, double *worst);

/* gaps.c: the same for n contacts that were found there, and for limits, but not for loops. */
double rb_stage_measure_gaps(rb_stage *s, const rb_contact *found, int n);

/* gaps.c: returns 1 where contacts have a stiffness. Their overlap refuses no step. */
int rb_stage_is_soft(const rb_stage *s);

/* gaps.c: RB_UNSOLVED, with a sentence that names the worst gap of the last check. */
rb_status rb_stage_refuse_gaps(rb_stage *s, int repairs);

/* jam.c: after a problem without answer that halving the step cannot help. RB_JAMMED: the rows
 * of an island prove that there is none; info and err say which. RB_UNSOLVED elsewhere. */
rb_status rb_stage_jam(rb_stage *s);

/* project.c: after a step that began at time `start`. Takes errors of positions off d->q; d->v
 * is unchanged. */
rb_status rb_stage_project(rb_stage *s, double start);

/* support_points.c: adds corners of faces that the four points of a contact left out, where
 * weight passes through them. */
rb_status rb_stage_support_points(rb_stage *s);

/* Order of constraints in sets and in the table of touching ones. < 0: x comes first. */
RB_INLINE int rb_touch_order(const rb_touch_id *x, const rb_touch_id *y)
{
    if (x->kind != y->kind) return x->kind < y->kind ? -1 : 1;
    if (x->a != y->a) return x->a < y->a ? -1 : 1;
    if (x->b != y->b) return x->b < y->b ? -1 : 1;
    return x->c < y->c ? -1 : x->c > y->c;
}

/* touch.c */
const rb_touch *rb_touch_find(const rb_data *d, const rb_touch_id *id);
void rb_stage_store(rb_stage *s);

#endif
