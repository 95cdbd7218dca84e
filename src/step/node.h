/* Within src/step: the node rule, one step with impulses at its start. */
#ifndef RB_STEP_NODE_H
#define RB_STEP_NODE_H

#include "dynamics/smooth_anderson.h"
#include "step/rows.h"

/* Share of the overlap that steps may make which a step may add to gaps [1]: overlap of the model,
 * which may not grow, is looked at with it too. Smaller: halves of steps, for digits of gaps. */
#define RB_NODE_SINKS 0.1

/* Share of it down to which gaps may sink in a step [1]; twice that where it begins to be taken
 * off. */
#define RB_NODE_HALF 0.5

/* Share of the speed that weight gives in a step, below which a tree may have come to rest [1]:
 * what is faster would fail the certificate, which costs a motion and a problem. */
#define RB_NODE_HARDLY 1e-2

enum { RB_NODE_ADDED = 2 };

/* What the rounds of one motion work on. */
typedef struct rb_node {
    rb_stage *s;
    double slack; /* change of velocities that contacts are looked for with [m/s]                */

    /* at the node */
    double *L;   /* factor of M alone; d->L has springs and dampers of the step  (nM)        */
    double *E;   /* what these add to the diagonal of M                          (nv)        */
    double *all; /* M with all of them where some couple dofs (D.55), else NULL  (nM)        */
    double *A;   /* of them, what holds joints that creep, where all is there    (nv)        */
    int stiff;   /* 1: there are any                                                         */
    double *p0,
        *R0; /* poses of links                                               (nlink x 3, 9) */
    double *v_given; /* v as it was reported; v0 of the stage is that before impulses (nv)       */
    unsigned char
        *fresh;      /* v of the tree is v itself: impulses are half of those to come (ntree) */
    double *u0;      /* J v before the impulses                                      (set.nrow)  */
    double *half;    /* p~ of the velocity that is reported                         (set.nrow)  */
    double *goal;    /* where gaps may end [m]                                       (set.n)     */
    int every_limit; /* 1: limits have rows however far they are                                 */

    /* one round */
    double *v_a; /* velocity after the impulses                                  (nv)        */
    double *v_e; /* the same with springs and dampers in M                       (nv)        */
    double *Wp;  /* J M^-1 J'p, springs and dampers in M                         (set.nrow)  */
    double *dv;  /* what smooth motion changed v_a by in the last round          (nv)        */
    int there;   /* 1: q_new is where p leads, with all digits                               */
    int moved;   /* 1: dv is known                                                           */
    int fine;    /* 1: smooth motion of this round is to have all of its digits              */
    int exact;   /* 1: it has them                                                           */
    rb_smooth_memory memory; /* of smooth motion, from round to round                            */
    signed char *factored; /* servos that the factors are of: holds, creeps      (nu x 2)        */
    double *v_end;   /* where it led                                                 (nv)        */
    double *v_mean;  /* mean velocity of the step, (q+ - q) / h                      (nv)        */
    rb_contact *end; /* contacts at the end                                          (touch_max) */
    int nend;
    double *p_seen, *R_seen; /* poses of links where these were found            (nlink x 3, 9) */
    int looked;              /* 1: they were looked for; 0: they were taken along by their links */
    double closing; /* change of the velocities of contacts by the last problem [m/s]            */
    double *gap;  /* there, of the contacts of the node; NAN: not seen [m]        (set.ncontact) */
    double *bend; /* that less the one of their material points, last seen [m]     (set.ncontact) */
    int *at;      /* their index among them; -1: not seen                         (set.ncontact) */
    unsigned char *gone; /* contacts that are open because their bodies go by     (set.ncontact) */
    double *value; /* velocities of the rows by what was found there               (set.nrow)  */
    double *b;     /* value - W p, before it is mixed                              (set.nrow)  */
    double speed;  /* unit of these velocities [m/s]                                           */
    unsigned char *settled; /* rows of the island are what its answer predicted     (set.nisland) */
    unsigned char *answered; /* s->p of the island is the answer for s->u, RB_NODE_ADDED: but for
                                rows that are new (set.nisland) */
    double *motion; /* of the island, in units of what comes to rest [1]          (set.nisland) */
    unsigned char *is_new; /* the constraint has joined after the last answer       (set.n)       */
    double low;     /* most that gaps have sunk, in units of what they may [1]                  */
    int lifted_not; /* 1: no displacement takes that off, rounds have to                        */
    double sunk;    /* most that gaps miss, in units of what they may [1]                        */
    double off;     /* most that rows miss, where gaps have the unit of the others [1]           */
    int solved;     /* problems of these rows so far                                            */
    int tried;      /* and of those before                                                      */
    double change;  /* of the velocities of rows by the last of them [m/s]                      */
    rb_anderson mixing; /* of b, the values that rows have without impulses                       */

    /* impacts */
    unsigned char
        *bounces;     /* contacts whose impact has been taken                   (set.ncontact) */
    double *v_from;   /* v as it was reported, after impacts                          (nv)        */
    double lost;      /* work of impacts, by v [J]                                                */
    double lost_told; /* and by the velocities that are reported [J]                            */
    double *struck;   /* impulses of impacts                                          (set.nrow)  */

    double *f, *force; /* scratch                                                     (nv)        */
    double *q;         /* scratch                                                     (nq_all)    */
} rb_node;

/* node.c: the motion of s by the rule (S.1), (S.2), (S.9), (S.23), (S.11), (S.25). */
rb_status rb_stage_node(rb_stage *s);

/* node_rows.c: contacts and rows at the node; M factored there. Then: rows of what overlaps at the
 * end and has none, pulled back to the node; added: how many. */
rb_status rb_node_rows(rb_node *x);
rb_status rb_node_add(rb_node *x, int *added);

/* node_rows.c: an end of a range is passed at q_new and has no row. */
int rb_node_limits_missing(const rb_node *x);

/* node_rows.c: inserts into the contacts of the stage, which are sorted. 0: it is there, or there
 * is no room. */
int rb_node_insert(rb_stage *s, const rb_contact *c);

/* node.c: the velocity that leads from the start to answer.q in h (nv). Poses do not tell whole
 * turns: what spins by more than a radian goes with the mean of its velocities. */
void rb_node_find_way(const rb_node *x, double *v);

/* node.c: friction of joints acts half at the start of a step and half at its end (S.24). */
void rb_node_scale_friction(const rb_stage *s, double by);

/* node_rows.c: M^-1 f, without springs and dampers. */
void rb_node_mass_solve(const rb_node *x, double *f);

/* node_rows.c: f := (M + E) v, springs and dampers that couple dofs with it. */
void rb_node_stiff_multiply(const rb_node *x, const double *v, double *f);

/* node_coupled.c, where tendons or muscles couple dofs: x->v_mean := the velocity of the middle
 * that the node predicts without impulses (D.58). Then: the factor with springs and dampers of the
 * last round. */
rb_status rb_node_predict(rb_node *x);

/* node_coupled.c: rb_stage_factor, where dofs are coupled with the slopes at the velocity v. */
rb_status rb_node_factor(rb_node *x, const double *v, const rb_stage_stiff *out);
rb_status rb_node_refactor(rb_node *x);

/* Poses of all links. */
typedef struct rb_node_poses {
    const double *p, *R; /*                                                        (nlink x 3, 9) */
} rb_node_poses;

/* node_values.c: the material points of a contact, its normal and its gap, where its links take
 * them. */
void rb_node_carry(const rb_model *m, const rb_node_poses *from, const rb_node_poses *to,
                   rb_contact *c);

/* node_values.c: contacts at the end, and what the rows came to. */
rb_status rb_node_look(rb_node *x);

/* node_values.c: loop_error of the answer, as its problem predicts it. */
void rb_node_foresee_loops(rb_node *x);

/* node_values.c: unit of the velocities of rows; velocity that they may miss their answer by [m/s];
 * how far they miss it, in units of that [1], INFINITY where an island has no answer; settled:
 * the islands that do not. */
void rb_node_find_speed(rb_node *x);
double rb_node_allowed(const rb_node *x);
double rb_node_missed(rb_node *x);

/* node_values.c: more contacts than an answer of uniform compliance is asked for, or a problem that
 * costs as much; velocity by which
 * constraint i may sink in a step [m/s]; whether a displacement may take that off, of an island. */
int rb_node_is_large(const rb_stage *s, int island);
double rb_node_may_sink(const rb_node *x, int i);
int rb_node_may_lift(const rb_node *x, int island);

/* node_rows.c: something at the end is deeper than it may be. */
int rb_node_is_deep(const rb_node *x);

/* node_lift.c: after rb_node_missed; what gaps have sunk is taken off q_new, and the end
 * looked at again. lifted 0: everything is as it was. */
rb_status rb_node_lift(rb_node *x, int *lifted);

/* node_values.c: after rb_node_add and a look. Islands keep their answer where a displacement takes
 * off what rows that are new have sunk; others are answered no more. */
void rb_node_keep_answers(rb_node *x);

/* node_values.c: share of that velocity that rows of loops may miss [1]. */
double rb_node_loops_share(const rb_node *x);

/* node_impact.c: impacts of the contacts that come fast and close within the step, as the look
 * found; v0 is the velocity after them. any 0: there are none. */
rb_status rb_node_impact(rb_node *x, int *any);

/* node_rest.c: islands that stood and do so still; those that have come to rest; q_new of both. */
rb_status rb_node_rest_on(rb_node *x);
rb_status rb_node_come_to_rest(rb_node *x);
void rb_node_hold_resting(rb_stage *s);

/* node_report.c: v_new, kick, energy, penetration. */
rb_status rb_node_report(rb_node *x);

#endif
