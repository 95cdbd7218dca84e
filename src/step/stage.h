/* Within src/step: everything one step works on. Arrays come from the arena of rb_data and are gone
 * when the step ends. */
#ifndef RB_STEP_STAGE_H
#define RB_STEP_STAGE_H

#include "base/meter.h"
#include "collide/near.h"
#include "contact/contact.h"
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

/* A vertex that stood on a face in the round before. */
typedef struct rb_kept_point {
    rb_contact contact; /* as it was                                                            */
    double vertex[3];   /* in the frame of its geom [m]                                         */
} rb_kept_point;

/* The place of a contact that runs, in the round before (S.12). */
typedef struct rb_kept_plane {
    rb_contact contact;  /* as it was                                                            */
    double x_1[3], n[3]; /* its point and normal in the frame of geom 1 [m]                     */
    double x_2[3];       /* its point in the frame of geom 2 [m]                                */
} rb_kept_plane;

/* How a link goes while the joints go straight (S.31), all of it per way. */
typedef struct rb_link_path {
    double w[3];         /* turning at the end that is looked from [rad]                         */
    double x_w[3], x[3]; /* J off there: turning [rad] and origin [m]                            */
    double W, B, X, A;   /* bounds along the way [rad], [rad], [m], [m]                          */
} rb_link_path;

/* Rows of an equality, at most. rb_touch.frame of a closed one has what the next step begins with
 * for each, and then the length of the step; of a joint that sticks, its place as well. */
enum { RB_LOOP_ROWS = 6, RB_LOOP_PLACE };

/* Share of the overlap that steps may make which rounds of the node rule may leave, either way: a
 * gap of that is closed [1]. */
#define RB_NODE_LEFT 0.01

typedef enum rb_closed_tree {
    RB_CLOSED_NOT,  /* its loops, if any, are rows  */
    RB_CLOSED,      /* within smooth motion (S.43)  */
    RB_CLOSED_RESTS /* and v = 0 is certified there */
} rb_closed_tree;

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
    int ambiguous;    /* 1: cones of this round of restitution have several answers               */

    /* how the motion is being tried */
    int final;            /* 1: the step cannot be halved any more                               */
    int without_push_out; /* 1: the rows ask for no velocity that takes off overlap (S.36)       */
    int may_overlap;      /* overlap that is accepted, in units of what a step may make; 0: none */
    int may_yield;        /* 1: a motion without answer may be tried with relaxed rows           */
    int yields;           /* 1: closure errors of loops are kept, contacts are relaxed; 2: limits
                             that the start violates are relaxed, too (S.39)                     */
    int keep_overlap;     /* 1: repairs leave overlap that is not too deep (S.78)                */
    int no_answer;        /* 1: a problem of the motion has no answer; `node` only               */
    int corrects;         /* 1: errors of the start are being taken off (S.69)                   */
    int passed[2];        /* geoms that tunnelling.c found to pass through each other            */
    int *passed_through;  /* pairs that did so and get rows now         (npassed_through x 2)    */
    int npassed_through;  /* -1: all pairs that may do so get rows                               */
    double *half;         /* p~ of loops and limits (S.87); NULL: none, `node` only (set.nrow)   */
    unsigned char *redundant; /* rows of loops that other rows imply; NULL: none
                                 (neq x RB_LOOP_ROWS)                                             */
    double open;     /* largest closure error at the start [m]                              */
    double missed;   /* largest closure error beyond its goal, in units of open_most [1]    */
    rb_deepest gaps; /* worst gap that the last check found                                 */
    double reach;    /* largest change of the speed of a point by impulses, in repairs [m/s] */
    double *link_dw, *link_dv; /* that change, for each link                       (nlink x 3)    */

    /* before the step */
    double *q0, *v0, *act0; /*                                          (nq_all), (nv), (na)      */
    double time0;
    double *mocap0;   /* poses of mocap bodies                          (nmocap x 7)              */
    double *mocap_v0; /* velocities that the caller asked of them       (nmocap x 6)              */

    /* smooth motion: without contact */
    double *q_free, *v_free, *act_free;
    int rough;        /* 1: accurate enough only for trees that move by the midpoint rule         */
    double *v_smooth; /* v_free without the effect of impulses on smooth terms       (nv)         */
    double *v_next;   /* v_free with it; the next step extrapolates its change (S.2) (nv)         */

    /* loops that are closed within smooth motion (S.43); NULL where a model has none */
    unsigned char *closed;      /* rb_closed_tree                                 (ntree)         */
    unsigned char *loop_rows;   /* 1: loops of the tree are rows of the problem   (ntree)         */
    int too_fast;               /* 1: they make energy because the step is too long               */
    int more_loop_rows;         /* 1: loops became rows since the motion began                    */
    rb_constraints closing;     /* rows of loops at q0                                            */
    const double *closing_p;    /* their impulses                                 (closing.nrow)  */
    const double *closing_next; /* impulses that the next step begins with        (closing.nrow)  */
    const unsigned char *closing_sticks; /* dry friction of them that sticks      (closing.n)     */
    const double *closing_goal; /* coordinate where it sticks                     (closing.nrow)  */
    const double *closing_dv;   /* change of v between the impulses at both ends; NULL: none (nv) */

    /* where the rows are taken; v_hat NULL: at the start of the step */
    const double *q_hat, *v_hat;
    rb_contact *contacts; /*                                                      (touch_max)     */
    int ncontact;
    rb_near near;        /* pairs that the search from q0 has seen                               */
    int near_complete;   /* 1: at the last check no other pair could touch                       */
    int kept_q0;         /* 1: a search at q0 left its gaps in the cache (G.33) ..               */
    unsigned kept_calls; /* .. and they are those of q0 while the cache has this kept_calls      */
    int moves_far;       /* 0: no geom goes far within the step (S.34)                           */
    int nothing_touches; /* 1: at the last check nothing touched, nor on the way there           */
    double *near_l, *near_S, *near_v; /* link_l, dof_S and v at that search       (nlink x 3), .. */
    rb_constraints set;
    rb_constraints first; /* the set at the start of the step, with the gaps there                */
    rb_constraints last;  /* the set before the repair                                            */
    const double *last_p; /* its impulses; NULL: none yet                         (last.nrow)     */
    int middle;           /* 1: the rows are those of the middle of the step (S.5)                */
    rb_kept_point *kept_point; /*                                                 (nkept_point)   */
    int nkept_point;
    rb_kept_plane *kept_plane; /*                                                 (nkept_plane)   */
    int nkept_plane;
    int inelastic;           /* 1: nothing bounces within the step                                */
    const rb_flight *flight; /* contacts that fly and have no rows; NULL: none                    */
    int *ghost;              /* pairs that pass by each other and have no rows (S.6) (nghost x 2) */
    int nghost;
    rb_contact *seen; /* contacts at q_new, of the last check; NULL: not kept     (touch_max)     */
    int nseen;
    double seen_h;           /* time ahead for which that check looked for contacts [s]           */
    rb_paradigms *paradigms; /* `hybrid`: which pairs are constraints; NULL: other steppers       */
    rb_impact_result single_impact; /* `hybrid`: impact of a single contact; nphase 0: of several */
    int round;             /* of an impact, 1, 2, ..; 0: motion                                   */
    int midpoint_substeps; /* of smooth motion with impulses, one iteration before; 0: none       */
    int iteration;         /* of smooth motion and rows (S.53), 1, 2, ..; 0: none                 */
    int attempts;          /* motions that were computed from time0 so far                        */
    int part;              /* problem of restitution, 1, 2, ..; 0: the first one                  */

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
    double *first_v, *first_f; /* first answer; NULL: it is the only one          (nv)            */
    double *first_work;        /* work of prescribed motion in it, per tree [J]   (ntree)         */
    int *first_island;         /* its islands, as tree_island                     (ntree)         */
    double energy_gain;      /* energy that the midpoint rule made, per kinetic energy [1]        */
    double energy_made_free; /* energy that smooth motion made without impulses [J]               */
    double energy_made;      /* energy that it made with them, which `energy` lacks [J]           */
    double energy;           /* energy that impulses created in the part [J]                      */
    double energy_impacts;   /* the part of it by impacts [J]                                     */
    double overlap_deepest;  /* info.penetration over all parts [m]                               */
    double overlap_made;     /* info.penetration_made over all parts [m]                          */
    double least_speed;      /* approach that is rounding, rb_flight_floor [m/s]                  */
    unsigned char *pushed;   /* an impulse acts on the tree                      (ntree)      */
    unsigned char *overlaps; /* a contact of the tree overlaps at q_new          (ntree)      */
    unsigned char *follows_rows; /* the tree moves by h v+, as its rows assume       (ntree)      */
    unsigned char *by_midpoint;  /* it moves by the midpoint rule with impulses      (ntree)      */
    unsigned char *resting;      /* v = 0 is certified for the tree                  (ntree)      */
} rb_stage;

/* step.c: writes the name that a problem of this step has in files. */
void rb_stage_name(const rb_stage *s, int island, char *text, size_t size);

/* step.c: save copies the state of d to q0, v0, act0, time0, where a part of the step begins;
 * restore copies it back. */
void rb_stage_save(rb_stage *s);
void rb_stage_restore(rb_stage *s);

/* step.c: computes v_new, q_new, act_free from q0, v0, act0, time0 and h. Mocap bodies move too. */
rb_status rb_stage_motion(rb_stage *s);

/* step.c: makes the motion that was found the state, and its constraints the table of touching
 * ones. */
void rb_stage_finish(rb_stage *s);

/* step.c: computes energy from set, p, v_new, v_free. */
rb_status rb_stage_measure(rb_stage *s);

/* report_energy.c: the first returns 1 where a motion with loops makes energy that shorter steps
 * would not make. The second adds to energy_made what an accepted motion made beside impulses.
 * Both move d. */
int rb_stage_loops_make_energy(rb_stage *s);
void rb_stage_report_energy(rb_stage *s);

/* step.c: moves the state by h, in halves where needed. */
rb_status rb_stage_advance(rb_stage *s, double h, int splits);

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

/* free_motion.c: the same with less accuracy, where every tree is expected to move by the
 * midpoint rule with impulses. */
rb_status rb_stage_rough_motion(rb_stage *s);

/* free_motion.c: computes the last digits of a rough motion. */
rb_status rb_stage_refine_motion(rb_stage *s);

/* free_motion.c: moves d from q0 and velocity v by h, without contact, and sets
 * energy_made_free. dv: change of the velocity that the iteration begins with, NULL: it is
 * extrapolated. rb_stage_take_motion makes the position of d q_free, v_free, act_free. */
rb_status rb_stage_motion_from(rb_stage *s, const double *v, const double *dv, const double *A,
                               double tol);
void rb_stage_take_motion(rb_stage *s, double made);

/* closed_loops.c: computes v_free, q_free, act_free with closed loops, for all trees whose loops
 * are not rows. Sets closed, and loop_rows where that fails. *any 0: the model has no such
 * loops, and nothing was computed. */
rb_status rb_stage_close_loops(rb_stage *s, int *any);

/* loop_rows.c: before a motion. Sets loop_rows of the trees that something pushed in the step
 * before. */
void rb_stage_choose_loop_rows(rb_stage *s);

/* loop_rows.c: after rows were taken. Marks as still the islands whose loops are closed and that
 * nothing pushes. RB_UNSOLVED: other loops have become rows, and more_loop_rows is set. The
 * second does the same after the check of gaps, for what overlaps. */
rb_status rb_stage_apart_rows(rb_stage *s);
rb_status rb_stage_check_loop_rows(rb_stage *s);

/* loop_rows.c: impulses of closed loops in p, when all is done; and in the table of touching
 * constraints what the next step begins with. */
void rb_stage_closed_impulses(rb_stage *s);
void rb_stage_closed_next(rb_stage *s);

/* gaps.c: how far joint j is beyond its limits at q_new, in units of what a step may make [1]. */
double rb_stage_limit_deepened(const rb_stage *s, int j);

/* free_motion.c: stores the rate of v of this part, from which the next one is extrapolated. */
void rb_stage_keep_slope(rb_stage *s);

/* smooth_impulses.c: returns 1 where actuators exchange more energy than the error of the midpoint
 * rule, the accuracy is not strict, and restitution was not asked for. */
int rb_stage_is_driven(const rb_stage *s);

/* free_motion.c: returns 1 where a link could turn by more than RB_MIDPOINT_TURN in the step at
 * velocity v (nv). */
int rb_stage_may_turn(const rb_stage *s, const double *v);

/* rows.c: takes the arrays u, p, mode, bias, u_before, e, room for the set, cleared. */
rb_status rb_stage_take_rows(rb_stage *s);

/* What rb_stage_factor hands out beside the factor; NULL: not wanted. */
typedef struct rb_stage_stiff {
    double *L;   /* factor without springs and dampers, but with A                     (nM) */
    double *E;   /* what springs, dampers and A add to the diagonal of M               (nv) */
    double *all; /* where they couple dofs: M with all of them (D.55), else untouched  (nM) */
    double *A;   /* likewise: inertia of joints that creep (D.38), from the start of a step:
                    d->act is that of its beginning                                    (nv) */
    int again;   /* 1: A and M stay, d is in the middle of the step                         */
} rb_stage_stiff;

/* rows.c: factors M at d->q, with springs and dampers of a step of h. out may be NULL. */
rb_status rb_stage_factor(rb_stage *s, const rb_stage_stiff *out);

/* rows.c: gap up to which the constraint counts as closed [m]. */
double rb_stage_closed(const rb_stage *s, const rb_constraint *c);

/* rows.c: how far the gap of a constraint may be relaxed where rows have no answer (S.39) [m]. */
double rb_stage_yield(const rb_stage *s, const rb_constraint *c);

/* rows.c: finds contacts and rows at q_hat, factors M there, and fills u. */
rb_status rb_stage_rows(rb_stage *s);

/* rows.c: builds the set `first`, where rows are taken ahead of the start. d and q_hat are at
 * q0. */
rb_status rb_stage_rows_at_start(rb_stage *s);

/* near_pairs.c: find notes the pairs that it sees while it looks for contacts at the velocity of
 * d. holds returns 1 where q_new is so near that only those can touch. */
rb_status rb_stage_near_find(rb_stage *s, double slack);
int rb_stage_near_holds(rb_stage *s);

/* clearance.c: note keeps the gaps of all pairs at q0, with poses as in d. is_clear returns 1
 * where nothing can meet between q0 and q_free (S.33); take_free then makes the smooth motion
 * the answer. */
void rb_stage_note_clearance(rb_stage *s);
int rb_stage_is_clear(rb_stage *s);
void rb_stage_take_free(rb_stage *s);

/* separation.c: returns 1 where nothing touches at q_new, nor on the way there from q0 (S.34).
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

/* kept_points.c: in a repair. keep stores the vertices of this round before q_hat moves; add
 * puts those that the next round has lost among its contacts. */
rb_status rb_stage_keep_points(rb_stage *s);
rb_status rb_stage_add_kept_points(rb_stage *s);

/* kept_planes.c: the same for places of contacts that run along a surface; after kept_points.c. */
rb_status rb_stage_keep_planes(rb_stage *s);
rb_status rb_stage_add_kept_planes(rb_stage *s);

/* rest.c: sets p, mode, still, resting of islands that rest with the impulses of the step
 * before. */
rb_status rb_stage_rest_on(rb_stage *s);

/* rest.c: computes v_new, which is zero where an island rests. p may change by rounding there. */
rb_status rb_stage_rest(rb_stage *s);

/* smooth_impulses.c: after pushed and resting are known. Computes p and v_new with the effect of
 * impulses on smooth terms, sets by_midpoint, and q_k (nq), the position of the trees that move
 * by it. */
rb_status rb_stage_smooth_impulses(rb_stage *s, double *q_k);

/* smooth_impulses.c: returns 1 where trees are so long that an iteration costs more than the
 * rows. Their steps are halved earlier. */
int rb_stage_is_long(const rb_model *m);

/* refine.c: makes the residual of a certified answer of a cone problem ten times smaller, where
 * doubles can hold it (S.28). Scratch from o->arena. */
rb_status rb_sharpen(const rb_problem *p, const rb_solve_opts *o, double *z, rb_info *info);

/* solve_islands.c: the guess for constraint c: its impulse and mode in the step before, or in
 * the round before a repair, along its present tangents. */
void rb_stage_recall(const rb_stage *s, const rb_constraint *c, double *p, unsigned char *mode);
void rb_stage_recall_round(const rb_stage *s, const rb_constraint *c, double *guess);

/* solve_islands.c: fills u, bias, p_prev and what else the stepper gives to an island. */
void rb_stage_fill(const rb_stage *s, rb_island *island);

/* active_rows.c: computes p and mode of an island with rows of their own kind. Rows that are
 * predicted to slide or to stay open are left out (S.42). *done 0: no certified answer. */
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

/* ghost.c: finds pairs whose rows push although the geoms would not meet. Rows are those of the
 * start of the step. is_ghost returns 1 for a contact of such a pair. */
rb_status rb_stage_find_ghosts(rb_stage *s);
int rb_stage_is_ghost(const rb_stage *s, const rb_contact *c);

/* tunnelling.c: after rb_stage_check. RB_UNSOLVED: a geom passes through another one between q0
 * and q_new (S.30). Moves d. */
rb_status rb_stage_tunnelling(rb_stage *s);

/* tunnelling.c: returns 1 where v_new takes a geom elsewhere than v does, by more than a quarter
 * of its thickness. Moves d. */
int rb_stage_is_pushed_aside(rb_stage *s, const double *v);

/* ghost.c: *meet 1: one of the ghost pairs does meet on the way from q0 with v_new. */
rb_status rb_stage_ghosts_meet(rb_stage *s, int *meet);

/* midpoint_rows.c: after the first round. Computes v_new, q_new with rows at the middle of the
 * step, for bodies that pivot. *done 0 with s->middle set: there is no answer, and the stage is
 * no longer that of the first round. */
rb_status rb_stage_midpoint_rows(rb_stage *s, int *done);

/* new_position.c: returns 1 for a body by itself, the only link of its tree. */
int rb_stage_is_single(const rb_model *m, int link);

/* new_position.c: sets pushed. */
void rb_stage_find_pushed(rb_stage *s);

/* new_position.c: computes v_new, q_new, pushed, resting. */
rb_status rb_stage_new_position(rb_stage *s);

/* new_position.c: moves the bodies of islands with an overlap by h v+, as their rows assume
 * (S.17). *moved 0: all of them moved so already. */
rb_status rb_stage_follow_rows(rb_stage *s, int *moved);

/* new_position.c: v_hat (nv) leads from q0 to q_new in h. The rows of a repair are taken there. */
void rb_stage_mean_velocity(const rb_stage *s, double *v_hat);

/* relax.c: where rows of repairs are taken. */
typedef struct rb_relax {
    double *q_hat, *v_hat; /*                                            (nq), (nv)             */
    double *r;             /* how far the round before went from v_hat; NULL: not known  (nv)   */
    double worst;          /* of the round before, as rb_stage_check says                       */
    double share;          /* of the way that is gone [1]                                       */
    int seen;              /* r is that of a round                                              */
    int alternates;        /* 1: repairs alternate between two places        */
} rb_relax;

rb_status rb_relax_start(rb_stage *s, rb_relax *x);
rb_status rb_relax_next(rb_stage *s, double worst, rb_relax *x);

/* gaps.c: the constraint of that identity, NULL: there is none. */
const rb_constraint *rb_stage_find(const rb_constraints *set, const rb_touch_id *id);

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

/* gaps.c: computes the array start, that gap of all constraints, from first. */
rb_status rb_stage_find_starts(rb_stage *s);

/* redundant_rows.c: takes redundant rows out of the set, and finds them the first time (S.40).
 * is_redundant returns 1 where row r of equality e is one. */
rb_status rb_stage_drop_redundant(rb_stage *s, int first);
int rb_stage_is_redundant(const rb_stage *s, int e, int r);

/* gaps.c: share of the closure error of loops that this part of the step takes off (S.38). */
double rb_stage_loop_share(const rb_stage *s);

/* gaps.c: closure error that row r of an equality is asked to end with. */
double rb_stage_error_goal(const rb_stage *s, const rb_touch_id *id, int r);

/* gaps.c: overlap, or excess of a limit, from which on it is an error of the start: more than
 * steps make [m] or [rad]. */
double rb_stage_error_least(const rb_stage *s);

/* gaps.c: how far a limit that the start violates may be relaxed in a step without another
 * answer (S.39). start: its gap. */
double rb_stage_yield_error(const rb_stage *s, double start);

/* gaps.c: rotation angle of a ball joint [rad]; length of a tendon [m]. */
double rb_stage_ball_angle(const double *q);
double rb_stage_tendon_length(const rb_model *m, int t, const double *q);

/* gaps.c: *worst is the deepest overlap that the step made, or the worst loop, at q_new, in
 * units of what is allowed. Above 1 the step is repaired. Sets overlaps. */
rb_status rb_stage_check(rb_stage *s, double *worst);

/* gaps.c: the same for n contacts that were found there, and for limits, but not for loops. */
double rb_stage_measure_gaps(rb_stage *s, const rb_contact *found, int n);

/* step.c: returns 1 where contacts have a stiffness. Their overlap refuses no step. */
int rb_stage_is_soft(const rb_stage *s);

/* gaps.c: RB_UNSOLVED, with a sentence that names the worst gap of the last check. */
rb_status rb_stage_refuse_gaps(rb_stage *s, int repairs);

/* reach.c: computes reach from v_new. Kinematics and frames are those of any position of the
 * step. */
void rb_stage_reach(rb_stage *s);

/* reach.c: in a repair. Returns 1 where the bodies could meet within the step, with twice the
 * change that impulses made in the round before. Needs velocity and frames. */
int rb_stage_in_reach(const rb_stage *s, const rb_contact *c);

/* jam.c: after a problem without answer that halving the step cannot help. RB_JAMMED: the rows
 * of an island prove that there is none; info and err say which. RB_UNSOLVED elsewhere. */
rb_status rb_stage_jam(rb_stage *s);

/* project.c: after a step that began at time `start`. Takes errors of positions off d->q; d->v
 * is unchanged. */
rb_status rb_stage_project(rb_stage *s, double start);

/* support_points.c: adds corners of faces that the four points of a contact left out, where
 * weight passes through them. */
rb_status rb_stage_support_points(rb_stage *s);

/* repair_energy.c: keep stores the first answer before rows at the middle or the first repair.
 * limit takes the energy that repairs made off v_new, and corrects energy. */
rb_status rb_stage_keep_first_answer(rb_stage *s);
rb_status rb_stage_limit_repair_energy(rb_stage *s);

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
