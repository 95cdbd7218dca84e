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
 * from one, are left out of the rows; their gaps are watched instead. */
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
    const rb_solver *ladder; /* the solver `auto`                                               */
    rb_step_info *info;
    rb_error *err;
    rb_meter *meter; /* work of the step                                                        */
    double h;        /* of the part                                                              */
    double h_full;   /* of the whole step                                                        */
    double gravity;  /* |g| [m/s^2]                                                              */
    double size;     /* extent of the model: unit of gaps [m]                                    */
    double tol;      /* relative residual to certify [1]                                         */
    double loose;    /* the one that is taken all the same [1]                                   */
    double deep;     /* overlap that steps may make, of limits [m] or [rad]; see rb_stage_deep    */
    double open_most; /* closure error of loops that they may make [m] or [rad]                 */
    int near_miss;    /* 1: a problem had an answer within opts.loose, not within tol             */
    int ambiguous;    /* 1: cones of this round of restitution have several answers               */

    int without_push_out; /* 1: rows ask for nothing; then: the first answer is theirs (S.36) */
    int final;       /* no halving of the step is left                                           */
    int may_overlap; /* so much, in units of what is allowed, will do: told as below accuracy  */
    int may_yield;   /* 1: a motion without answer is tried again so                             */
    int passed[2]; /* geoms of which tunnelling.c found that they pass through each other         */
    int *passed_through; /* pairs that have gone through, which rows hold                (ngone x 2)
                          */
    int npassed_through; /* -1: all that go by are held */
    int no_answer;    /* 1: a problem of the motion has none; `node` only                         */
    int keep_overlap; /* 1: repairs ask nothing of what is not too deep (S.78)                    */
    int yields;       /* 1: errors of loops stay as they are, what touches yields; 2: so do limits
                         that the start is beyond (S.39)                                          */
    double *half;     /* p~ of loops and limits (S.87); NULL: none, `node` only   (set.nrow)     */
    int corrects;     /* 1: errors of the start are being taken off (S.69)                        */
    unsigned char
        *redundant;  /* rows of loops left to themselves; NULL: none (neq x RB_LOOP_ROWS) */
    double open;     /* largest closure error of the start [m]                                    */
    double missed;   /* largest closure error beyond what was asked for, in units allowed [1]     */
    rb_deepest gaps; /* of the last look at gaps                                               */
    double reach;    /* what impulses changed the speed of a point by, in repairs [m/s]          */
    double *link_dw, *link_dv; /* that change, of each link             (nlink x 3)             */

    /* before the step */
    double *q0, *v0, *act0; /*                                          (nq_all), (nv), (na)    */
    double time0;
    double *mocap0;   /* poses of mocap bodies                          (nmocap x 7)            */
    double *mocap_v0; /* what the caller asked of them                  (nmocap x 6)            */

    /* without contact: smooth motion */
    double *q_free, *v_free, *act_free;
    int rough;        /* 1: they are only good enough for trees that are carried                */
    double *v_smooth; /* v_free before carried trees had what impulses do to smooth terms (nv)  */
    double *v_next;   /* v_free with that, from whose change the next step begins (S.2)  (nv)  */

    /* loops that are closed within it (S.43); NULL where a model has none */
    unsigned char *closed; /* those of the tree are                      (ntree)                 */
    unsigned char *loop_rows; /* those of the tree are left to the rows     (ntree) */
    int too_fast;           /* 1: they make energy because the step is too long                   */
    int more_loop_rows;     /* 1: more of them are than when the motion began                     */
    rb_constraints closing; /* rows of loops at q0                                             */
    const double *closing_p; /* their impulses                          (closing.nrow)          */
    const double *closing_next; /* what the next step may begin with     (closing.nrow)          */
    const unsigned char *closing_sticks; /* dry friction of them that holds   (closing.n)         */
    const double *closing_goal; /* where it does                         (closing.nrow)          */
    const double *closing_dv; /* change of the velocity between the pushes; NULL: none  (nv)     */

    /* where the rows are taken; v_hat NULL: at the start of the step */
    const double *q_hat, *v_hat;
    rb_contact *contacts; /*                                            (touch_max)             */
    int ncontact;
    rb_near near;      /* pairs that were seen from q0                                          */
    int near_complete; /* at the last check, no other pair could touch           */
    int kept_q0;       /* 1: a look at q0 left its gaps (G.33) ..                                */
    unsigned kept_calls; /* .. and they are those of q0 while d->kept_calls is this          */
    int moves_far; /* 0: no geom goes far within the step (S.34)                             */
    int nothing_touches; /* at the last check: nobody touches anybody, nor on the way */
    double *near_l, *near_S, *near_v; /* link_l, dof_S and v of then    (nlink x 3), ..         */
    rb_constraints set;
    rb_constraints first; /* the set at the start of the step: gaps that were there             */
    rb_constraints last;  /* the set before the repair, with its impulses                      */
    const double *last_p; /* NULL: none yet                             (last.nrow)             */
    int middle;           /* 1: rows are those of the middle of the step (S.5), no repair       */
    rb_kept_point *kept_point; /* contacts of the round before                  (npoint) */
    int nkept_point;
    rb_kept_plane *kept_plane; /*                                                        (ncut) */
    int nkept_plane;
    int inelastic;           /* 1: nothing bounces within the step                              */
    const rb_flight *flight; /* contacts that are left out because they fly; NULL: none         */
    int *ghost; /* pairs that are left out because they pass by (S.6)  (nghost x 2)             */
    int nghost;
    rb_contact *seen; /* contacts at q_new, of the last check; NULL: not kept  (touch_max)      */
    int nseen;
    double seen_h; /* time within which the check looks for contacts, and those of seen [s]     */
    rb_paradigms *paradigms; /* `hybrid`: which pairs are constraints; NULL: other steppers     */
    rb_impact_result
        single_impact; /* `hybrid`: the impact of one contact alone; nphase 0: of several    */
    int round; /* of an impact, 1, 2, ..; 0: motion                                              */
    int midpoint_substeps; /* of smooth motion with impulses, in the round before; 0: none */
    int iteration;         /* of smooth motion and rows (S.53), 1, 2, ..; 0: none         */
    int attempts;          /* motions from time0 so far          */
    int part; /* problem of restitution, 1, 2, ..; 0: the first one                             */
    rb_kept *kept; /* NULL: none                                        (set.nisland)           */
    double *u; /* velocity of the rows at v_free, and what the gap adds (set.nrow)              */
    double *bias;     /* the part of u that the gap adds                (set.nrow)              */
    double *u_before; /* velocity of the rows before the step           (set.nrow)              */
    double *e;        /* restitution of constraints that bounce, else 0 (set.n)                 */
    double *start;    /* least gap of its pair at the start of the step (set.n)                 */
    double *room;     /* bias of a constraint before it was to bounce   (set.n)                 */
    double *p; /* impulses                                              (set.nrow)              */
    unsigned char *mode; /*                                             (set.n)                 */
    int plastic;  /* 1: nothing is given back any more in this step                             */
    int unsolved; /* the island that rb_stage_solve_others ended at                             */
    unsigned char *still; /* the island rests                            (set.nisland)           */
    double *found; /* residuals of the problems of rb_stage_solve        (set.nisland)           */
    double *spent; /* work of the costliest of them [units of meter.h]   (set.nisland)           */
    double residual_before; /* info.residual before them                                         */

    /* after it */
    double *v_new, *q_new;
    double *first_v, *first_f; /* first answer; NULL: it is the only one             (nv)     */
    double *first_work;        /* of prescribed motion in it, at each tree [J]       (ntree)      */
    int *first_island;         /* its islands, as tree_island                        (ntree)      */
    double energy_gain;      /* energy that carried trees made, of their kinetic energy [1]      */
    double energy_made_free; /* energy that smooth motion made without impulses [J]              */
    double energy_made;      /* and with them, beside `energy` [J]                               */
    double energy;           /* created in the part [J]                                          */
    double energy_impacts;   /* of it, by impacts [J]                                            */
    double overlap_deepest;  /* penetration of all parts [m]                                     */
    double overlap_made;     /* penetration_made of all parts [m]                                */
    double least_speed;      /* approach that is rounding, rb_flight_floor [m/s]                 */
    unsigned char *pushed;   /* an impulse acts on the tree              (ntree)                 */
    unsigned char *overlaps; /* a contact of the tree overlaps at q_new  (ntree)                 */
    unsigned char *follows_rows; /* it moves by h v+, as its rows believe     (ntree) */
    unsigned char *by_midpoint;  /* it moves by the midpoint rule with impulses (ntree)  */
    unsigned char *resting; /* v = 0 is certified for the tree          (ntree)                 */
} rb_stage;

/* step.c: how a problem of this step is called in files. */
void rb_stage_name(const rb_stage *s, int island, char *text, size_t size);

/* step.c: where a part of the step begins: from d to q0, v0, act0, time0, and back. */
void rb_stage_save(rb_stage *s);
void rb_stage_restore(rb_stage *s);

/* step.c: from q0, v0, act0, time0 to v_new, q_new, act_free, by h; mocap bodies move too. */
rb_status rb_stage_motion(rb_stage *s);

/* step.c: what the motion found becomes the state, and its constraints the touch table. */
void rb_stage_finish(rb_stage *s);

/* step.c: energy, from set, p, v_new, v_free. */
rb_status rb_stage_measure(rb_stage *s);

/* report_energy.c: whether a motion with loops makes energy that shorter ones would not. When it is
 * taken: what it made beside impulses is added to made. Both move d. */
int rb_stage_loops_make_energy(rb_stage *s);
void rb_stage_report_energy(rb_stage *s);

/* step.c: the state by h, in halves where needed. */
rb_status rb_stage_advance(rb_stage *s, double h, int splits);

/* ---- what src/events, the room above, gives to the step ----------------------------------------
 */

/* located.c: a step of length h that is divided where bodies meet. */
rb_status rb_stage_located(rb_stage *s);

/* impulse.c: a step of length h in which bodies go from impact to impact. */
rb_status rb_stage_impulse(rb_stage *s);

/* hybrid.c: a step in which pairs are a matter of impulses or of constraints; then, after a part:
 * pairs that go from one to the other, by what it has shown, told to the sink of events. */
rb_status rb_stage_hybrid(rb_stage *s);
void rb_paradigms_shift(rb_stage *s);

/* flight.c: the contact belongs to the rows. Always so where nothing flies. */
int rb_flight_holds(const rb_flight *flight, int geom1, int geom2, uint32_t feature);

/* ---- the stages of a step ----------------------------------------------------------------------
 */

/* adhesion_contacts.c: contacts of the start, where adhesion needs them and no step was made yet.
 */
void rb_step_first_contacts(const rb_model *m, rb_data *d);

/* adhesion_contacts.c: the table of what touches has s->contacts, where adhesion needs them. */
void rb_stage_keep_adhesion_contacts(rb_stage *s);

/* kinematic.c: mocap bodies get the velocity of this step, of length h, and its rate; then their
 * poses at t seconds after its start; at last their velocities are what the caller asked for again.
 */
rb_status rb_stage_kinematic_begin(rb_stage *s);
void rb_stage_kinematic_pose(rb_stage *s, double t);
void rb_stage_kinematic_end(rb_stage *s, int moved);

/* free_motion.c: v_free, q_free, act_free; the state is as before. */
rb_status rb_stage_free_motion(rb_stage *s);

/* free_motion.c: the same, rough where every tree is expected to be carried. */
rb_status rb_stage_rough_motion(rb_stage *s);

/* free_motion.c: the last digits of what was found roughly. */
rb_status rb_stage_refine_motion(rb_stage *s);

/* free_motion.c: d from q0 and velocity v by h, without contact; dv: change of the velocity to
 * start from, NULL: foretold. made_free. Then: where d is becomes q_free, v_free, act_free. */
rb_status rb_stage_motion_from(rb_stage *s, const double *v, const double *dv, double tol);
void rb_stage_take_motion(rb_stage *s, double made);

/* closed_loops.c: v_free, q_free, act_free with the loops of all trees closed that are not apart;
 * closed, apart where that fails. any 0: there are none, and nothing was found. */
rb_status rb_stage_close_loops(rb_stage *s, int *any);

/* loop_rows.c: before a motion: trees that something pushed in the step before are apart. */
void rb_stage_choose_loop_rows(rb_stage *s);

/* loop_rows.c: after rows were taken: islands that are closed and pushed by nothing are solved;
 * still. RB_UNSOLVED: others are apart now, opened is set. After the check: the same for what
 * overlaps. */
rb_status rb_stage_apart_rows(rb_stage *s);
rb_status rb_stage_check_loop_rows(rb_stage *s);

/* loop_rows.c: p of closed loops, when all is done; and in the touch table what the next step
 * begins with. */
void rb_stage_closed_impulses(rb_stage *s);
void rb_stage_closed_next(rb_stage *s);

/* gaps.c: how far joint j is beyond its limits at q_new, in units of what is allowed [1]. */
double rb_stage_limit_deepened(const rb_stage *s, int j);

/* free_motion.c: the slope of this part becomes that of the last one. */
void rb_stage_keep_slope(rb_stage *s);

/* smooth_impulses.c: actuators put in and take out more energy than smooth terms can make, accuracy
 * is not strict, and nobody asked for bounces. */
int rb_stage_is_driven(const rb_stage *s);

/* free_motion.c: whether a link could turn by more than RB_MIDPOINT_TURN in the step at velocity v
 * (nv). */
int rb_stage_may_turn(const rb_stage *s, const double *v);

/* rows.c: arrays u, p, mode, bias, u_before, e, room for the set, cleared. */
rb_status rb_stage_take_rows(rb_stage *s);

/* rows.c: M factored at d->q, springs and dampers of a step of h in it; L_node: the same without
 * them, but with the inertia of joints that creep (D.38), NULL: not wanted (nM); E: what they add
 * to the diagonal of M, NULL: not wanted (nv). */
rb_status rb_stage_factor(rb_stage *s, double *L_node, double *E);

/* rows.c: gap up to which the constraint counts as closed [m]. */
double rb_stage_closed(const rb_stage *s, const rb_constraint *c);

/* rows.c: what the gap of a constraint may yield by where rows leave no answer (S.39) [m]. */
double rb_stage_yield(const rb_stage *s, const rb_constraint *c);

/* rows.c: contacts and rows at q_hat, M factored at q_hat; u filled. */
rb_status rb_stage_rows(rb_stage *s);

/* rows.c: the set `first`, where rows begin ahead of the start; d and q_hat at q0. */
rb_status rb_stage_rows_at_start(rb_stage *s);

/* near_pairs.c: from the start of the step on, notes pairs while it looks for contacts at the
 * velocity of d. Then: whether q_new is so near that only those can touch. */
rb_status rb_stage_near_find(rb_stage *s, double slack);
int rb_stage_near_holds(rb_stage *s);

/* clearance.c: what is known of the gaps of all pairs is noted at q0, with poses as in d. Then:
 * nothing can meet between q0 and q_free (S.33), and the motion is the smooth one. */
void rb_stage_note_clearance(rb_stage *s);
int rb_stage_is_clear(rb_stage *s);
void rb_stage_take_free(rb_stage *s);

/* separation.c: whether nothing touches at q_new, nor on the way there from q0 (S.34); strides. */
int rb_stage_nothing_touches(rb_stage *s);

/* link_paths.c: how every link goes along dq (nv), and J off (nv), seen from the end of the way
 * that link_l and dof_S, here l and S, belong to; mocap bodies with the velocity of d. */
void rb_stage_link_paths(const rb_stage *s, const double *l, const double *S, const double *dq,
                         const double *off, rb_link_path *link);
/* How the last of those links (branch.h) goes along dq on what the first one hangs on, at the end
 * of the way that d is at. */
rb_link_path rb_stage_link_path_on(const rb_stage *s, int n, const int *links, const double *dq);

/* kept_points.c: in a repair, before q_hat moves: vertices of this round; then, among the contacts
 * of the next round, those of them that it has lost. */
rb_status rb_stage_keep_points(rb_stage *s);
rb_status rb_stage_add_kept_points(rb_stage *s);

/* kept_planes.c: the same for the places of contacts that run; after those of kept_points.c. */
rb_status rb_stage_keep_planes(rb_stage *s);
rb_status rb_stage_add_kept_planes(rb_stage *s);

/* rest.c: p, mode, still, resting of islands that rest with the impulses of the step before. */
rb_status rb_stage_rest_on(rb_stage *s);

/* rest.c: v_new, and zero where an island rests; p may change by rounding there. */
rb_status rb_stage_rest(rb_stage *s);

/* smooth_impulses.c: p, v_new with their effect on smooth terms, carried, and the position q_k (nq)
 * of trees that are; pushed and resting first. */
rb_status rb_stage_smooth_impulses(rb_stage *s, double *q_k);

/* smooth_impulses.c: trees are so long that a turn costs more than the rows; then steps are halved
 * early. */
int rb_stage_is_long(const rb_model *m);

/* refine.c: a certified answer of a cone problem, with a tenth of its residual where doubles can
 * hold it (S.28). Scratch from o->arena. */
rb_status rb_sharpen(const rb_problem *p, const rb_solve_opts *o, double *z, rb_info *info);

/* solve_islands.c: where constraint c of the set may begin: impulse of the step before, or of the
 * round before a repair, along the tangents of now, and its mode. */
void rb_stage_recall(const rb_stage *s, const rb_constraint *c, double *p, unsigned char *mode);
void rb_stage_recall_round(const rb_stage *s, const rb_constraint *c, double *guess);

/* solve_islands.c: u, bias, p_prev and the like of an island. */
void rb_stage_fill(const rb_stage *s, rb_island *island);

/* active_rows.c: p, mode of an island as rows as what they are; those that slide or stay open, as
 * far as it can be foretold, are not in the system (S.42). done 0: no certified answer. */
rb_status rb_stage_solve_active(rb_stage *s, int island, rb_arena *arena, rb_info *info, int *rows,
                                int *done);

/* solve_islands.c: what the problems of this set need; before rb_stage_solve_others. */
rb_status rb_stage_solve_begin(rb_stage *s);

/* solve_islands.c: p, mode of islands that are not still. */
rb_status rb_stage_solve(rb_stage *s);

/* solve_islands.c: p, mode of the islands that are not to be skipped. */
rb_status rb_stage_solve_others(rb_stage *s, const unsigned char *skip);

/* restitution.c: p with what contacts that bounce give back; p of compression is there. */
rb_status rb_stage_restitute(rb_stage *s);

/* ghost.c: pairs whose rows push though nobody would meet; rows are at the start of the step. */
rb_status rb_stage_find_ghosts(rb_stage *s);
int rb_stage_is_ghost(const rb_stage *s, const rb_contact *c);

/* tunnelling.c: after rb_stage_check. RB_UNSOLVED where a geom goes through another one between q0
 * and q_new (S.30); moves d. */
rb_status rb_stage_tunnelling(rb_stage *s);

/* tunnelling.c: whether a geom is farther from where v takes it in the step than from where v_new
 * does by a quarter of its thickness; moves d. */
int rb_stage_is_pushed_aside(rb_stage *s, const double *v);

/* ghost.c: whether one of them does meet on the way from q0 with v_new. */
rb_status rb_stage_ghosts_meet(rb_stage *s, int *meet);

/* midpoint_rows.c: after the first round; rows at the middle for bodies that pivot, v_new, q_new.
 * done 0 though s->middle is set: there is no answer, and the stage is not that of the first round.
 */
rb_status rb_stage_midpoint_rows(rb_stage *s, int *done);

/* new_position.c: a body by itself, the only link of its tree. */
int rb_stage_is_single(const rb_model *m, int link);

/* new_position.c: pushed, the trees that an impulse acts on. */
void rb_stage_find_pushed(rb_stage *s);

/* new_position.c: v_new, q_new, pushed, resting; rest.c with it. */
rb_status rb_stage_new_position(rb_stage *s);

/* new_position.c: bodies of islands with an overlap move as their rows believe (S.17): q_new. 0:
 * all of them do so already. */
rb_status rb_stage_follow_rows(rb_stage *s, int *moved);

/* new_position.c: the velocity that leads from q0 to q_new in h, for the rows of a repair (nv). */
void rb_stage_mean_velocity(const rb_stage *s, double *v_hat);

/* relax.c: where rows of repairs are taken. */
typedef struct rb_relax {
    double *q_hat, *v_hat; /*                                            (nq), (nv)             */
    double *r;             /* how far the round before went from v_hat; NULL: not known  (nv)   */
    double worst;          /* of the round before, as rb_stage_check says                       */
    double share;          /* of the way that is gone [1]                                       */
    int seen;              /* r is that of a round                                              */
    int alternates;        /* 1: repairs go to and fro                                          */
} rb_relax;

rb_status rb_relax_start(rb_stage *s, rb_relax *x);
rb_status rb_relax_next(rb_stage *s, double worst, rb_relax *x);

/* gaps.c: the constraint of that name, NULL: there is none. */
const rb_constraint *rb_stage_find(const rb_constraints *set, const rb_touch_id *id);

/* allowed_overlap.c: overlap that steps may make of a pair of geoms, of a constraint; and what
 * overlap of the model may grow by in a step [m]. */
double rb_stage_pair_overlap(const rb_stage *s, int geom1, int geom2);
double rb_stage_deep(const rb_stage *s, const rb_touch_id *id);
double rb_stage_growth(const rb_stage *s);

/* allowed_overlap.c: where the gap of a constraint that steps may make `deep` too deep may end,
 * when it was `start` before the step [m]. */
double rb_stage_lowest(const rb_stage *s, double start, double deep);

/* gaps.c: the gap a constraint had at the start of the step, 0: it was not near. For contacts the
 * least of all points of the pair: features may change on the way. */
double rb_stage_start_gap(const rb_stage *s, const rb_touch_id *id);

/* gaps.c: the same of all rows: start. Needs first. */
rb_status rb_stage_find_starts(rb_stage *s);

/* redundant_rows.c: takes those rows out of the set; the first time, finds them (S.40). Then:
 * whether row r of equality e is one. */
rb_status rb_stage_drop_redundant(rb_stage *s, int first);
int rb_stage_is_redundant(const rb_stage *s, int e, int r);

/* gaps.c: share of the closure error of loops that this part of the step takes off (S.38). */
double rb_stage_loop_share(const rb_stage *s);

/* gaps.c: closure error of row r of an equality that the step is asked to end with. */
double rb_stage_error_goal(const rb_stage *s, const rb_touch_id *id, int r);

/* gaps.c: overlap, or excess of a limit, beyond which it is an error of the start: more than steps
 * make [m] or [rad]. */
double rb_stage_error_least(const rb_stage *s);

/* gaps.c: what a limit that the start is beyond may yield by in a step without another answer
 * (S.39). start: its gap. */
double rb_stage_yield_error(const rb_stage *s, double start);

/* gaps.c: by which a ball joint is turned [rad]; length of a tendon. */
double rb_stage_ball_angle(const double *q);
double rb_stage_tendon_length(const rb_model *m, int t, const double *q);

/* gaps.c: deepest overlap at q_new that the step made and worst loop, in units of what is allowed:
 * above 1 the step is repaired; overlaps. */
rb_status rb_stage_check(rb_stage *s, double *worst);

/* gaps.c: the same of contacts that were found there, and of limits; not of loops. */
double rb_stage_measure_gaps(rb_stage *s, const rb_contact *found, int n);

/* step.c: contacts yield by force over stiffness: that refuses no step. */
int rb_stage_is_soft(const rb_stage *s);

/* Refuses the step by what the last look found: RB_UNSOLVED with a sentence that names it. */
rb_status rb_stage_refuse_gaps(rb_stage *s, int repairs);

/* reach.c: reach, from v_new; kinematics and frames are those of any position of the step. */
void rb_stage_reach(rb_stage *s);

/* reach.c: in a repair; the bodies could meet within the step, with twice the change that impulses
 * made in the round before. Needs velocity and frames. */
int rb_stage_in_reach(const rb_stage *s, const rb_contact *c);

/* jam.c: after a problem without answer. RB_JAMMED, info and err filled, where the rows of an
 * island prove that there is none, and halving the step cannot help; RB_UNSOLVED elsewhere. */
rb_status rb_stage_jam(rb_stage *s);

/* project.c: after a step that began at that time: errors of positions are taken off d->q; d->v
 * stays. */
rb_status rb_stage_project(rb_stage *s, double start);

/* support_points.c: corners of faces that four points left out, where weight passes through them.
 */
rb_status rb_stage_support_points(rb_stage *s);

/* repair_energy.c: before rows at the middle or the first repair; and v_new, energy at the end. */
rb_status rb_stage_keep_first_answer(rb_stage *s);
rb_status rb_stage_limit_repair_energy(rb_stage *s);

/* Order of constraints in sets and in the table of what touches: < 0: x comes first. */
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
