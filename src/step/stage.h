/* Within src/step: everything one step works on. Arrays come from the arena of rb_data and are gone
 * when the step ends. */
#ifndef RB_STEP_STAGE_H
#define RB_STEP_STAGE_H

#include "base/meter.h"
#include "collide/near.h"
#include "contact/contact.h"
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
    int wary; /* 1: new points of a pair that comes to collide are watched, not held            */
} rb_flight;

/* hybrid.h */
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

/* The place of a contact that runs, in the round before (S.53). */
typedef struct rb_cut {
    rb_contact contact;  /* as it was                                                            */
    double x_1[3], n[3]; /* its point and normal in the frame of geom 1 [m]                     */
    double x_2[3];       /* its point in the frame of geom 2 [m]                                */
} rb_cut;

/* How a link goes while the joints go straight (S.60), all of it per way. */
typedef struct rb_way {
    double w[3];         /* turning at the end that is looked from [rad]                         */
    double x_w[3], x[3]; /* J off there: turning [rad] and origin [m]                            */
    double W, B, X, A;   /* bounds along the way [rad], [rad], [m], [m]                          */
} rb_way;

/* Rows of an equality, at most. rb_touch.frame of a closed one has what the next step begins with
 * for each, and then the length of the step; of a joint that sticks, its place as well. */
enum { RB_LOOP_ROWS = 6, RB_LOOP_PLACE };

/* Share of the overlap that steps may make which rounds of the node rule may leave, either way: a
 * gap of that is closed [1]. */
#define RB_NODE_LEFT 0.01

typedef enum rb_closed_tree {
    RB_CLOSED_NOT,  /* its loops, if any, are rows  */
    RB_CLOSED,      /* within smooth motion (S.61)  */
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

    int unpushed;    /* 1: rows ask for nothing; then: the first answer is theirs (S.68)          */
    int final;       /* no halving of the step is left                                           */
    int may_overlap; /* so much, in units of what is allowed, will do: told as below accuracy  */
    int may_yield;   /* 1: a motion without answer is tried again so                             */
    int passed[2];   /* geoms of which through.c found that they pass through each other         */
    int *gone;       /* pairs that have gone through, which rows hold                (ngone x 2) */
    int ngone;       /* -1: all that go by are held                                              */
    int no_answer;   /* 1: a problem of the motion has none; `node` only                         */
    int stays;       /* 1: repairs ask nothing of what is not too deep (S.88)                    */
    int yields;      /* 1: errors of loops stay as they are, what touches yields; 2: so do limits
                        that the start is beyond (S.41)                                          */
    double *half;    /* p~ of loops and limits (S.110); NULL: none, `node` only   (set.nrow)     */
    int corrects;    /* 1: errors of the start are being taken off (S.90)                        */
    unsigned char *repeats; /* rows of loops left to themselves; NULL: none (neq x RB_LOOP_ROWS) */
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
    double *v_led;    /* v_free with that, from whose change the next step begins (S.51)  (nv)  */

    /* loops that are closed within it (S.61); NULL where a model has none */
    unsigned char *closed;  /* those of the tree are                      (ntree)                 */
    unsigned char *apart;   /* those of the tree are left to the rows     (ntree)                 */
    int hurried;            /* 1: they make energy because the step is too long                   */
    int opened;             /* 1: more of them are than when the motion began                     */
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
    rb_near near;  /* pairs that were seen from q0                                          */
    int near_held; /* at the last check, no other pair could touch           */
    int kept_q0;   /* 1: a look at q0 left its gaps (G.32) ..                                */
    unsigned kept_calls; /* .. and they are those of q0 while d->kept_calls is this          */
    int strides; /* 0: no geom goes far within the step (S.80)                             */
    int alone;   /* at the last check: nobody touches anybody, nor on the way              */
    double *near_l, *near_S, *near_v; /* link_l, dof_S and v of then    (nlink x 3), ..         */
    rb_constraints set;
    rb_constraints first; /* the set at the start of the step: gaps that were there             */
    rb_constraints last;  /* the set before the repair, with its impulses                      */
    const double *last_p; /* NULL: none yet                             (last.nrow)             */
    int middle;           /* 1: rows are those of the middle of the step (S.47), no repair       */
    rb_kept_point *point; /* contacts of the round before                  (npoint)             */
    int npoint;
    rb_cut *cut; /*                                                        (ncut)               */
    int ncut;
    int inelastic;           /* 1: nothing bounces within the step                              */
    const rb_flight *flight; /* contacts that are left out because they fly; NULL: none         */
    int *ghost; /* pairs that are left out because they pass by (S.45)  (nghost x 2)             */
    int nghost;
    rb_contact *seen; /* contacts at q_new, of the last check; NULL: not kept  (touch_max)      */
    int nseen;
    double seen_h; /* time within which the check looks for contacts, and those of seen [s]     */
    rb_paradigms *paradigms; /* `hybrid`: which pairs are constraints; NULL: other steppers     */
    rb_impact_result lone; /* `hybrid`: the impact of one contact alone; nphase 0: of several    */
    int round; /* of an impact, 1, 2, ..; 0: motion                                              */
    int carry_substeps; /* of smooth motion with impulses, in the round before; 0: none         */
    int turn;  /* of smooth motion and rows (S.39), 1, 2, ..; 0: none                           */
    int tries; /* motions from time0 so far                                                     */
    int part;  /* problem of restitution, 1, 2, ..; 0: the first one                             */
    rb_kept *kept; /* NULL: none                                        (set.nisland)           */
    double *u; /* velocity of the rows at v_free, and what the gap adds (set.nrow)              */
    double *bias;     /* the part of u that the gap adds                (set.nrow)              */
    double *u_before; /* velocity of the rows before the step           (set.nrow)              */
    double *e;        /* restitution of constraints that bounce, else 0 (set.n)                 */
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
    double gain;             /* energy that carried trees made, of their kinetic energy [1]      */
    double made_free;        /* energy that smooth motion made without impulses [J]              */
    double made;             /* and with them, beside `energy` [J]                               */
    double energy;           /* created in the part [J]                                          */
    double energy_impacts;   /* of it, by impacts [J]                                            */
    double deepest;          /* penetration of all parts [m]                                     */
    double made_deepest;     /* penetration_made of all parts [m]                                */
    double least_speed;      /* approach that is rounding, rb_flight_floor [m/s]                 */
    unsigned char *pushed;   /* an impulse acts on the tree              (ntree)                 */
    unsigned char *overlaps; /* a contact of the tree overlaps at q_new  (ntree)                 */
    unsigned char *held;     /* it moves by h v+, as its rows believe     (ntree)                 */
    unsigned char *carried;  /* it moves by the midpoint rule with impulses (ntree)              */
    unsigned char *resting;  /* v = 0 is certified for the tree          (ntree)                 */
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

/* told.c: whether a motion with loops makes energy that shorter ones would not. When it is taken:
 * what it made beside impulses is added to made. Both move d. */
int rb_stage_rises(rb_stage *s);
void rb_stage_tell_energy(rb_stage *s);

/* step.c: the state by h, in halves where needed. */
rb_status rb_stage_advance(rb_stage *s, double h, int splits);

/* located.c: a step of length h that is divided where bodies meet. */
rb_status rb_stage_located(rb_stage *s);

/* hybrid.c: a step in which pairs are a matter of impulses or of constraints. */
rb_status rb_stage_hybrid(rb_stage *s);

/* flight.c: the contact belongs to the rows. Always so where nothing flies. */
int rb_flight_holds(const rb_flight *flight, int geom1, int geom2, uint32_t feature);

/* flight.c: deepest overlap of the pair at the start, <= 0. */
double rb_flight_overlap(const rb_flight *flight, int geom1, int geom2);

/* flight.c: contacts within the next h seconds at q0, v0, and their rates; arrays from the arena.
 * Then: which of them fly, h_full the whole step. */
rb_status rb_flight_find(rb_stage *s, rb_flight *out);
rb_status rb_flight_start(rb_stage *s, double h_full, double near, rb_flight *out);

/* flight.c: least_speed of v0. */
void rb_flight_floor(rb_stage *s);

/* flight.c: speed below which an approach with restitution e is part of rest. */
double rb_flight_slow(const rb_stage *s, double h_full, double e);

/* flight.c: distance of the centres of curvature of a geom from the centre of mass, at most [m];
 * far: that of its own centre; 0: it has corners, and what rolls over them collides. A body that
 * rolls with w comes down with `roll` [m/s^2] beside its weight, where the normal stands still. */
double rb_flight_bend(const rb_model *m, int geom, double far);
double rb_flight_roll(const double w[3], const double normal[3], double bend);

/* flight.c: rate of the gap of a contact at the velocities of d [m/s]. */
double rb_contact_rate(const rb_model *m, const rb_data *d, const rb_contact *contact);

/* impact.c: one of the contacts that were found at q0, v0 may come as an impact. */
int rb_stage_impact_comes(rb_stage *s, double h_full, const rb_flight *found);

/* impact.c: v0 after the impacts of all contacts that touch and approach at q0. */
rb_status rb_stage_impact(rb_stage *s, double h_full);

/* impact.c: v0 after one impact of all of s->contacts, which are sorted; set, p of it. Kinematics
 * are those of q0, v0. */
rb_status rb_stage_strike(rb_stage *s, double h_full);

/* sticky.c: contacts of the start, where adhesion needs them and no step was made yet. */
void rb_step_first_touch(const rb_model *m, rb_data *d);

/* sticky.c: the table of what touches has s->contacts, where adhesion needs them. */
void rb_stage_stick(rb_stage *s);

/* led.c: mocap bodies get the velocity of this step, of length h, and its rate; then their poses
 * at t seconds after its start; at last their velocities are what the caller asked for again. */
rb_status rb_stage_lead(rb_stage *s);
void rb_stage_led_pose(rb_stage *s, double t);
void rb_stage_let_go(rb_stage *s, int moved);

/* free.c: v_free, q_free, act_free; the state is as before. */
rb_status rb_stage_free_motion(rb_stage *s);

/* free.c: the same, rough where every tree is expected to be carried. */
rb_status rb_stage_likely_motion(rb_stage *s);

/* free.c: the last digits of what was found roughly. */
rb_status rb_stage_sharpen_motion(rb_stage *s);

/* free.c: d from q0 and velocity v by h, without contact; dv: change of the velocity to start from,
 * NULL: foretold. made_free. Then: where d is becomes q_free, v_free, act_free. */
rb_status rb_stage_motion_from(rb_stage *s, const double *v, const double *dv, double tol);
void rb_stage_take_motion(rb_stage *s, double made);

/* loops.c: v_free, q_free, act_free with the loops of all trees closed that are not apart; closed,
 * apart where that fails. any 0: there are none, and nothing was found. */
rb_status rb_stage_close_loops(rb_stage *s, int *any);

/* apart.c: before a motion: trees that something pushed in the step before are apart. */
void rb_stage_apart_first(rb_stage *s);

/* apart.c: after rows were taken: islands that are closed and pushed by nothing are solved; still.
 * RB_UNSOLVED: others are apart now, opened is set. After the check: the same for what overlaps. */
rb_status rb_stage_apart_rows(rb_stage *s);
rb_status rb_stage_apart_check(rb_stage *s);

/* apart.c: p of closed loops, when all is done; and in the touch table what the next step
 * begins with. */
void rb_stage_closed_impulses(rb_stage *s);
void rb_stage_closed_next(rb_stage *s);

/* gaps.c: how far joint j is beyond its limits at q_new, in units of what is allowed [1]. */
double rb_stage_limit_deepened(const rb_stage *s, int j);

/* free.c: the slope of this part becomes that of the last one. */
void rb_stage_keep_slope(rb_stage *s);

/* carry.c: actuators put in and take out more energy than smooth terms can make, accuracy is not
 * strict, and nobody asked for bounces. */
int rb_stage_is_driven(const rb_stage *s);

/* free.c: whether a link could turn by more than RB_CARRY_TURN in the step at velocity v (nv). */
int rb_stage_may_turn(const rb_stage *s, const double *v);

/* rows.c: arrays u, p, mode, bias, u_before, e, room for the set, cleared. */
rb_status rb_stage_take_rows(rb_stage *s);

/* rows.c: M factored at d->q, springs and dampers of a step of h in it; L_node: the same without
 * them, but with the inertia of joints that creep (D.37), NULL: not wanted (nM); E: what they add
 * to the diagonal of M, NULL: not wanted (nv). */
rb_status rb_stage_factor(rb_stage *s, double *L_node, double *E);

/* rows.c: gap up to which the constraint counts as closed [m]. */
double rb_stage_closed(const rb_stage *s, const rb_constraint *c);

/* rows.c: what the gap of a constraint may yield by where rows leave no answer (S.41) [m]. */
double rb_stage_yield(const rb_stage *s, const rb_constraint *c);

/* rows.c: contacts and rows at q_hat, M factored at q_hat; u filled. */
rb_status rb_stage_rows(rb_stage *s);

/* rows.c: the set `first`, where rows begin ahead of the start; d and q_hat at q0. */
rb_status rb_stage_look_back(rb_stage *s);

/* near.c: from the start of the step on, notes pairs while it looks for contacts at the velocity of
 * d. Then: whether q_new is so near that only those can touch. */
rb_status rb_stage_near_find(rb_stage *s, double slack);
int rb_stage_near_holds(rb_stage *s);

/* clear.c: what is known of the gaps of all pairs is noted at q0, with poses as in d. Then: nothing
 * can meet between q0 and q_free (S.59), and the motion is the smooth one. */
void rb_stage_note_clear(rb_stage *s);
int rb_stage_is_clear(rb_stage *s);
void rb_stage_take_free(rb_stage *s);

/* span.c: whether nothing touches at q_new, nor on the way there from q0 (S.80); strides. */
int rb_stage_alone(rb_stage *s);

/* ways.c: how every link goes along dq (nv), and J off (nv), seen from the end of the way that
 * link_l and dof_S, here l and S, belong to; mocap bodies with the velocity of d. */
void rb_stage_ways(const rb_stage *s, const double *l, const double *S, const double *dq,
                   const double *off, rb_way *link);
/* How the last of those links (branch.h) goes along dq on what the first one hangs on, at the end
 * of the way that d is at. */
rb_way rb_stage_way_on(const rb_stage *s, int n, const int *links, const double *dq);

/* points.c: in a repair, before q_hat moves: vertices of this round; then, among the contacts of
 * the next round, those of them that it has lost. */
rb_status rb_stage_points_keep(rb_stage *s);
rb_status rb_stage_points_add(rb_stage *s);

/* cuts.c: the same for the places of contacts that run; after those of points.c. */
rb_status rb_stage_cuts_keep(rb_stage *s);
rb_status rb_stage_cuts_add(rb_stage *s);

/* rest.c: p, mode, still, resting of islands that rest with the impulses of the step before. */
rb_status rb_stage_rest_on(rb_stage *s);

/* rest.c: v_new, and zero where an island rests; p may change by rounding there. */
rb_status rb_stage_rest(rb_stage *s);

/* carry.c: p, v_new with their effect on smooth terms, carried, and the position q_k (nq) of trees
 * that are; pushed and resting first. */
rb_status rb_stage_carry(rb_stage *s, double *q_k);

/* carry.c: trees are so long that a turn costs more than the rows; then steps are halved early. */
int rb_stage_is_long(const rb_model *m);

/* sharpen.c: a certified answer of a cone problem, with a tenth of its residual where doubles can
 * hold it (S.54). Scratch from o->arena. */
rb_status rb_sharpen(const rb_problem *p, const rb_solve_opts *o, double *z, rb_info *info);

/* islands.c: where constraint c of the set may begin: impulse of the step before, or of the round
 * before a repair, along the tangents of now, and its mode. */
void rb_stage_recall(const rb_stage *s, const rb_constraint *c, double *p, unsigned char *mode);
void rb_stage_recall_round(const rb_stage *s, const rb_constraint *c, double *guess);

/* islands.c: u, bias, p_prev and the like of an island. */
void rb_stage_fill(const rb_stage *s, rb_island *island);

/* active_rows.c: p, mode of an island as rows as what they are; those that slide or stay open, as
 * far as it can be foretold, are not in the system (S.95). done 0: no certified answer. */
rb_status rb_stage_solve_active(rb_stage *s, int island, rb_arena *arena, rb_info *info, int *rows,
                                int *done);

/* islands.c: what the problems of this set need; before rb_stage_solve_others. */
rb_status rb_stage_solve_begin(rb_stage *s);

/* islands.c: p, mode of islands that are not still. */
rb_status rb_stage_solve(rb_stage *s);

/* islands.c: p, mode of the islands that are not to be skipped. */
rb_status rb_stage_solve_others(rb_stage *s, const unsigned char *skip);

/* restitution.c: p with what contacts that bounce give back; p of compression is there. */
rb_status rb_stage_restitute(rb_stage *s);

/* Islands of an impact that are one plain contact: their impulses, restitution and all, and a mark
 * in skip (nisland); the others are left to the two calls above. */
rb_status rb_stage_single(rb_stage *s, unsigned char *skip);

/* ghost.c: pairs whose rows push though nobody would meet; rows are at the start of the step. */
rb_status rb_stage_find_ghosts(rb_stage *s);
int rb_stage_is_ghost(const rb_stage *s, const rb_contact *c);

/* through.c: after rb_stage_check. RB_UNSOLVED where a geom goes through another one between q0 and
 * q_new (S.66); moves d. */
rb_status rb_stage_through(rb_stage *s);

/* through.c: whether a geom is farther from where v takes it in the step than from where v_new does
 * by a quarter of its thickness; moves d. */
int rb_stage_is_shoved(rb_stage *s, const double *v);

/* ghost.c: whether one of them does meet on the way from q0 with v_new. */
rb_status rb_stage_ghosts_meet(rb_stage *s, int *meet);

/* middle.c: after the first round; rows at the middle for bodies that pivot, v_new, q_new. done 0
 * though s->middle is set: there is no answer, and the stage is not that of the first round. */
rb_status rb_stage_middle(rb_stage *s, int *done);

/* place.c: a body by itself, the only link of its tree. */
int rb_stage_is_single(const rb_model *m, int link);

/* place.c: pushed, the trees that an impulse acts on. */
void rb_stage_find_pushed(rb_stage *s);

/* place.c: v_new, q_new, pushed, resting; rest.c with it. */
rb_status rb_stage_place(rb_stage *s);

/* place.c: bodies of islands with an overlap move as their rows believe (S.42): q_new. 0: all of
 * them do so already. */
rb_status rb_stage_hold(rb_stage *s, int *moved);

/* place.c: the velocity that leads from q0 to q_new in h, for the rows of a repair (nv). */
void rb_stage_way(const rb_stage *s, double *v_hat);

/* relax.c: where rows of repairs are taken. */
typedef struct rb_relax {
    double *q_hat, *v_hat; /*                                            (nq), (nv)             */
    double *r;             /* how far the round before went from v_hat; NULL: not known  (nv)   */
    double worst;          /* of the round before, as rb_stage_check says                       */
    double share;          /* of the way that is gone [1]                                       */
    int seen;              /* r is that of a round                                              */
    int turns;             /* 1: repairs go to and fro                                          */
} rb_relax;

rb_status rb_relax_start(rb_stage *s, rb_relax *x);
rb_status rb_relax_next(rb_stage *s, double worst, rb_relax *x);

/* gaps.c: the constraint of that name, NULL: there is none. */
const rb_constraint *rb_stage_find(const rb_constraints *set, const rb_touch_id *id);

/* deep.c: overlap that steps may make of a pair of geoms, of a constraint; and what overlap of the
 * model may grow by in a step [m]. */
double rb_stage_pair_deep(const rb_stage *s, int geom1, int geom2);
double rb_stage_deep(const rb_stage *s, const rb_touch_id *id);
double rb_stage_growth(const rb_stage *s);

/* deep.c: where the gap of a constraint that steps may make `deep` too deep may end, when it was
 * `start` before the step [m]. */
double rb_stage_lowest(const rb_stage *s, double start, double deep);

/* gaps.c: the gap a constraint had at the start of the step, 0: it was not near. For contacts the
 * least of all points of the pair: features may change on the way. */
double rb_stage_start_gap(const rb_stage *s, const rb_touch_id *id);

/* repeat.c: takes those rows out of the set; the first time, finds them (S.69). Then: whether row r
 * of equality e is one. */
rb_status rb_stage_leave_repeated(rb_stage *s, int first);
int rb_stage_is_repeated(const rb_stage *s, int e, int r);

/* gaps.c: share of the closure error of loops that this part of the step takes off (S.10). */
double rb_stage_loop_share(const rb_stage *s);

/* gaps.c: closure error of row r of an equality that the step is asked to end with. */
double rb_stage_error_goal(const rb_stage *s, const rb_touch_id *id, int r);

/* gaps.c: overlap, or excess of a limit, beyond which it is an error of the start: more than steps
 * make [m] or [rad]. */
double rb_stage_error_least(const rb_stage *s);

/* gaps.c: what a limit that the start is beyond may yield by in a step without another answer
 * (S.41). start: its gap. */
double rb_stage_yield_error(const rb_stage *s, double start);

/* gaps.c: by which a ball joint is turned [rad]; length of a tendon. */
double rb_stage_ball_angle(const double *q);
double rb_stage_tendon_length(const rb_model *m, int t, const double *q);

/* gaps.c: deepest overlap at q_new that the step made and worst loop, in units of what is allowed:
 * above 1 the step is repaired; overlaps. */
rb_status rb_stage_check(rb_stage *s, double *worst);

/* gaps.c: the same of contacts that were found there, and of limits; not of loops. */
double rb_stage_look_gaps(rb_stage *s, const rb_contact *found, int n);

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

/* bearing.c: corners of faces that four points left out, where weight passes through them. */
rb_status rb_stage_bearing(rb_stage *s);

/* temper.c: before rows at the middle or the first repair; and v_new, energy at the end. */
rb_status rb_stage_remember(rb_stage *s);
rb_status rb_stage_temper(rb_stage *s);

/* touch.c */
int rb_touch_order(const rb_touch_id *x, const rb_touch_id *y);
const rb_touch *rb_touch_find(const rb_data *d, const rb_touch_id *id);
void rb_stage_store(rb_stage *s);

#endif
