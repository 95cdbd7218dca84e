/* Within src/events: the event-driven stepper. Bodies fly; where they meet they collide; contacts
 * that last are trains of impulses at ticks, resolved together (impulse_group.c). Times are counted
 * from the start of the step. Theory: docs/theory/impulses.md, equations (B.*). */
#ifndef RB_EVENTS_IMPULSE_H
#define RB_EVENTS_IMPULSE_H

#include "collide/broad.h"
#include "model/filter.h"
#include "collide/hash_grid.h"
#include "collide/toi.h"
#include "math/top.h"
#include "rattleback/impact.h"
#include "events/events.h"

typedef enum rb_flyer_kind {
    RB_FLYER_FIXED, /* link 0                                                                    */
    RB_FLYER_KINEMATIC, /* a mocap link: constant velocity and spin in a step */
    RB_FLYER_FREE,  /* parabola and free top, in closed form                                     */
    RB_FLYER_DRIVEN /* mechanisms, and bodies with springs, dampers or forces: midpoint rule     */
} rb_flyer_kind;

/* A link on its way: as it was at time t, and as it is at time `now`. */
typedef struct rb_flyer {
    int kind;
    int tree, first; /* first meeting of its list, -1: none                                      */
    int moved;       /* event that changed its velocity last                                     */
    double t;
    double c[3], v[3], a[3]; /* centre of mass (mocap: origin), its velocity, its acceleration    */
    double q[4], w[3]; /* orientation; angular velocity, axes of the body (mocap: world)     */
    double com[3];     /* in the link                                                      */
    double spin, bend; /* bounds of |w| and |dw/dt| from t on                              */
    rb_top top;
    double im; /* 1 / mass                                                                       */

    double now;
    double R[9], x[3], u[3]; /* orientation, c and v at that time                                */
    double q_now[4], w_now[3], w_world[3];

    /* impulse_middle.c: mean velocity of a flight, of c and, axes as w has them, angular; 1: half a
     * flight ahead of the tick, where it is below */
    double mean_u[3], mean_w[3];
    int shifted;
    double x_tick[3], R_tick[9], q_tick[4];
} rb_flyer;

/* Velocity beside that of a hop which is what times of ticks are rounded by [1]. */
#define RB_HOP_ROUNDING (64.0 * RB_EPS)

/* A geom on its link. */
typedef struct rb_rider {
    double pos[3], rot[9]; /* in the link                                                        */
    double far;            /* distance of its centre from the point c of the link [m]            */
    double radius;         /* about its centre [m]; INFINITY: planes                             */
    int round;             /* a sphere about c: spin does not show                               */
    int poly, surface;     /* a box or a hull; triangles                                         */
    double now, p[3], R[9];
    rb_aabb swept; /* from the last change of its flight to the end of the step */
} rb_rider;

enum { RB_MEETING_POINTS = 12 };

/* Two geoms that may meet within the step. */
typedef struct rb_meeting {
    int geom[2], link[2];
    int next[2]; /* in the lists of both links                                                   */
    int heap;    /* place in the heap                                                            */
    double key;  /* they are more than the shell apart, or not looked at again, before it         */
    double at;   /* when they were looked at last                                                 */
    rb_manifold_point closest; /* then                                                           */
    rb_vclip cache;
    int pair;     /* explicit pair of the model, -1: none                                         */
    int in_shell; /* then                                                                         */
    double level; /* largest gap since it was an event or a tick was                             */
    int held;     /* 1: a contact of the last tick                                                */
    int seen;     /* event that collected its points                                              */
    double e, mu;

    /* with a surface of triangles: the points closest to touch, and the least gap of the others */
    rb_manifold_point *point; /*                                          (RB_MEETING_POINTS)    */
    int npoint;
    double beyond;
} rb_meeting;

/* A point of a meeting within reach, at the time of an event. */
typedef struct rb_shell_point {
    rb_contact contact;
    int meeting;
    double speed; /* rate of the gap [m/s]                                                       */
    int turns; /* ticks: what the velocities of its rows change by until half a flight later,   */
    double lead[3], lead_n; /* as a vector of the world and along the normal [m/s]               */
} rb_shell_point;

typedef struct rb_events {
    rb_stage *s;
    double h;     /* of the step                                                                 */
    double tau;   /* between ticks                                                               */
    double tick;  /* the next one                                                                */
    double shell; /* bodies collide within it [m]                                                */
    double rest;  /* gap at which contacts that last are kept                                    */
    double floor; /* gap at the next tick below which they are resolved before it                */

    rb_flyer *flyer;          /*                                          (nlink)                */
    rb_rider *rider;          /*                                          (ngeom)                */
    int *geom_of, *geom_from; /* geoms by link                            (ngeom), (nlink + 1)    */
    int ndriven;

    /* the state of all that is driven, at time q_t and, in rb_data, at time q_now */
    double *q, *v, *act, q_t, q_now;

    /* impulse_driven.c: forces on driven links until the next tick, all and those of contacts with
     * free bodies; q at the event; impulses that halt */
    double *push, *load; /*                                               (nv)                   */
    double *q_event;     /*                                               (nq)                   */
    double *v_end;       /* velocity at the end of the flight             (nv)                   */

    rb_filter filter;
    rb_hash_grid *grid; /* NULL: few geoms, all boxes are compared                                */
    int *found;         /*                                                (ngeom)                */

    rb_meeting *meeting; /*                                               (room)                 */
    int *heap;           /* meetings by key                               (room)                 */
    int n, room;

    int event;   /* its number                                                           */
    int budget;  /* events left until the next tick                                      */
    int *active; /* links whose points are collected              (nlink)                */
    int nactive, ncollected;
    rb_shell_point *point; /*                                             (touch_max)            */
    int npoint;
    int turns;     /* ticks: some point does                                                     */
    double *lead;  /* lead and lead_n of s->contacts                       (touch_max x 4)        */
    double *accel; /* free acceleration of the dofs                       (nv)                   */
    double *v_minus; /* velocity before the event                         (nv)                   */
} rb_events;

/* impulse_flyer.c */
rb_status rb_impulse_flyers(rb_events *x);
rb_status rb_flyer_go(rb_events *x, int link, double t);
void rb_flyer_point(const rb_flyer *f, const double at[3], double v[3]);
void rb_flyer_kick(rb_events *x, int link, const double v[3], const double w[3]);
void rb_flyer_rate(const rb_events *x, int link, double *accel);
rb_status rb_impulse_sync(rb_events *x, int link, double t);
void rb_impulse_take(rb_events *x, int link, double t, const double *v);
rb_status rb_impulse_drive(rb_events *x, double t);

/* impulse_meeting.c: which pairs may meet, how far they are apart, until when that is safe. */
rb_status rb_impulse_meetings(rb_events *x);
rb_status rb_impulse_spread(rb_events *x, int link, double t);
rb_status rb_meeting_look(rb_events *x, int i, double t);
rb_status rb_meeting_points(rb_events *x, int i, double t, double reach);
double rb_meeting_ahead(const rb_events *x, int i, const rb_manifold_point *at, double speed,
                        double ahead);
void rb_meeting_manifold(rb_events *x, int i, double t, double reach, rb_manifold *out);
void rb_meeting_key(rb_events *x, int i, double t);

/* impulse_meeting.c: how far points may be and still take part in a group: what a slow approach
 * closes until the next tick [m]. */
double rb_impulse_reach(const rb_events *x);

/* impulse_heap.c */
void rb_heap_push(rb_events *x, int i);
void rb_heap_move(rb_events *x, int i, double key);

/* impulse_hit.c: all that happens at time t around a meeting, or at a tick around all. */
rb_status rb_impulse_event(rb_events *x, int meeting, double t);
rb_status rb_impulse_tick(rb_events *x);

/* impulse_driven.c: moves q, v, act of driven links in rb_data by h under the push. */
rb_status rb_driven_fly(rb_events *x, double h);

/* impulse_driven.c: moves rb_data, at an event at time t, and the contacts of driven links to the
 * middle of the flight ahead; and back. */
rb_status rb_driven_ahead(rb_events *x, double t, double ahead);
void rb_driven_back(rb_events *x, double t);

/* impulse_driven.c: stops rows of driven links that approach: v_minus, v0, v_free, s->energy.
 * Bounds of dry friction in the next rows are less by what those of `before` took. */
rb_status rb_driven_halt(rb_events *x, double ahead);
void rb_driven_spend(rb_events *x, const rb_constraints *before, const double *p);

/* impulse_driven.c: free acceleration and v_free of driven links, M of the flight factored. */
rb_status rb_driven_rate(rb_events *x, double t, double ahead, int tick);

/* impulse_driven.c: p, v_new such that they and the flight agree: v_end. */
rb_status rb_driven_hold(rb_events *x, double t, double ahead);

/* impulse_driven.c: p becomes the push. */
void rb_driven_take(rb_events *x, double t, double ahead);

/* impulse_driven.c: a row of something that is driven. */
int rb_touches_driven(const rb_events *x, const rb_constraint *c);

/* impulse_group.c: lead of a contact along its rows. */
void rb_impulse_lead_of(const rb_events *x, const rb_constraint *c, double out[3]);

/* impulse_group.c: u of the rows at v_free. */
void rb_impulse_row_speeds(rb_events *x);

/* impulse_hit.c: keys of pairs of driven links that meet before t though it was not predicted. */
rb_status rb_impulse_overlooked(rb_events *x, double t);

/* impulse_meeting.c: the meeting of these geoms, -1: none. */
int rb_meeting_find(const rb_events *x, int geom1, int geom2);

/* impulse_group.c: the contacts of s->contacts, for a flight of `ahead` seconds. */
rb_status rb_impulse_group(rb_events *x, double t, double ahead, int tick);

double rb_flyer_flown(const rb_events *x, int link, double t); /* flight that ends at the tick t */

/* impulse_hit.c: leads of x->point become those of s->contacts. */
void rb_impulse_leads(rb_events *x);

/* impulse_middle.c: lead of x->point of a tick, by the mean velocities of the flights that ended
 * or, v not NULL, by those of the flights to come, of all dofs. */
void rb_impulse_middle(rb_events *x, double t, const double *v);

#endif
