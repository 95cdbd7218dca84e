/* The path of an impact through the space of contact velocities: pieces of it in closed form, and
 * sliding arcs as power series. Everything is scaled: K by its largest entry, u by its largest. */
#ifndef RB_CONTACT_IMPACT_PATH_H
#define RB_CONTACT_IMPACT_PATH_H

#include "rattleback/impact.h"

/* Slip that is none, in units of the largest velocity [1]. Larger: short slips are lost. Smaller:
 * rounding of u_t is followed as if it had a direction. */
#define RB_IMPACT_STILL 1e-15

/* Velocity across an attracting ray, in units of the largest velocity, at which the path is on the
 * ray [1]. It is the error this makes. Smaller: more series for nothing. */
#define RB_IMPACT_ON_RAY 1e-14

/* Turning rate of the slip direction that is rounding, in units of the rate of the flow [1].
 * Larger: slow rotations become straight lines. Smaller: planar impacts leave their plane. */
#define RB_IMPACT_STRAIGHT 1e-15

/* Truncation error of a power series, in units of the slip where it begins [1]. */
#define RB_IMPACT_SERIES_TOL 1e-14

/* Slip, in units of the largest velocity, below which the error of a series counts as if there
 * were this much [1]. Larger: arcs close to sticking lose their direction. Smaller: more series. */
#define RB_IMPACT_SLOW 1e-3

/* Rate dz/dp_n of the normal velocity, relative to the terms of its sum, from which on the point
 * can move [1]. Larger: stiff mechanisms are reported as held. Smaller: rounding is taken for a
 * compliance and impulses become huge. */
#define RB_IMPACT_HELD 1e-13

/* Share of the larger eigenvalue of K_tt below which the smaller is rounding [1]. Larger: long
 * needles have no slip across them. Smaller: rounding of points that joints hold passes for a
 * compliance, and what would hold them is divided by it. */
#define RB_IMPACT_FLAT 1e-14

/* Speed of approach that counts as zero, in units of the largest velocity [1]: rounding where a
 * held point stops at once. Larger: slow approaches of held points count as stopped. */
#define RB_IMPACT_HALTED 1e-10

/* Series of one path, over which it is given up: the longest of 1e8 random impacts had 40. */
#define RB_IMPACT_MAX_STEPS 400

/* K split into normal and tangential parts. */
typedef struct rb_impact_flow {
    double k_n;  /* K_nn                                                     */
    double k[2]; /* K_tn                                                     */
    double A[3]; /* K_tt: 11, 22, 12                                         */
    double mu;
    double rate;   /* bound of |du_t/dtau| / |u_t|: |K_tn| + mu |K_tt|         */
    int with_work; /* 1: the work is wanted                                  */
} rb_impact_flow;

/* A point of the path. */
typedef struct rb_impact_point {
    double z;    /* normal velocity                                          */
    double s[2]; /* slip u_t                                                 */
    double p[3]; /* impulse so far: n, t1, t2                                */
    double W;    /* work of the normal impulse                               */
} rb_impact_point;

/* Where a piece of the path ends. All of them are met from below. */
typedef enum rb_impact_goal_kind {
    RB_GOAL_SPEED,
    RB_GOAL_IMPULSE,
    RB_GOAL_WORK
} rb_impact_goal_kind;

typedef struct rb_impact_goal {
    rb_impact_goal_kind kind; /* of z, p_n or W                              */
    double value;
} rb_impact_goal;

/* A straight piece: du/dp_n constant. */
typedef struct rb_impact_line {
    double z;    /* dz/dp_n                                                  */
    double s[2]; /* ds/dp_n                                                  */
    double t[2]; /* dp_t/dp_n                                                */
} rb_impact_line;

/* ---- impact_ray.c: directions that do not turn ------------------------------------------------
 */

/* p_t / p_n that holds the slip at zero (I.9); 0 where it is outside the cone. */
int rb_impact_stick(const rb_impact_flow *f, double t[2]);

/* The direction in which a contact leaves that cannot stick (I.11), and its rate ds/dp_n > 0. */
double rb_impact_leave(const rb_impact_flow *f, double dir[2]);

/* Straight sliding along the unit vector dir at ds/dp_n = rate, and sticking by t. */
rb_impact_line rb_impact_sliding(const rb_impact_flow *f, const double dir[2], double rate);
rb_impact_line rb_impact_sticking(const rb_impact_flow *f, const double t[2]);

/* Normal impulse that a straight piece takes from a point to the goal; INFINITY: never. */
double rb_impact_distance(const rb_impact_line *l, const rb_impact_point *at,
                          const rb_impact_goal *goal);
void rb_impact_advance(const rb_impact_line *l, double dp, rb_impact_point *at);

/* 1: the slip at `at` keeps its direction to rounding; then dir and the rate of the slip are set,
 * and a slip beside an attracting ray is put on it. */
int rb_impact_on_ray(const rb_impact_flow *f, rb_impact_point *at, double dir[2], double *rate);

/* ---- impact_stop.c: the end of a slip
 * ------------------------------------------------------------
 */

/* 1: the slip beside a converging ray ends before the goal, and `at` is where it does. */
int rb_impact_stop(const rb_impact_flow *f, const rb_impact_goal *goal, rb_impact_point *at);

/* ---- impact_arc.c: curved sliding  ------------------------------------------------------------
 */

typedef enum rb_impact_end {
    RB_ARC_GOES_ON = 0,
    RB_ARC_MET, /* the goal                                                                      */
    RB_ARC_DIPS /* z falls through zero on the way to a goal of work                             */
} rb_impact_end;

/* One power series from `at`, as far as it is accurate or to its end. */
rb_impact_end rb_impact_arc(const rb_impact_flow *f, const rb_impact_goal *goal,
                            rb_impact_point *at);

#endif
