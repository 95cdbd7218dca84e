/* Stable poses: the part that is dropped, the poses it can rest in, single drops. A pose is a
 * region of the unit sphere of directions d that point down, in the axes of the part. The function
 * h(d) = max over the hull of d.(x - c) is the height of the centre of mass c when the part touches
 * the ground with d down. Poses are the valleys of h. Part of rattleback_io, which makes hulls.
 * Manual: docs/manual/poses.md. Equations (Q.*): docs/theory/poses.md. */
#ifndef RATTLEBACK_POSES_H
#define RATTLEBACK_POSES_H

#include "rattleback/base.h"
#include "rattleback/load.h"
#include "rattleback/model.h"
#include "rattleback/step.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- the part -----------------------------------------------------------------------------------
 */

typedef struct rb_facet {
    double n[3];   /* outward normal, axes of the part                                        */
    double height; /* of the centre of mass above it [m]                                      */
    double area;   /* [m^2]                                                                   */
    double solid;  /* angle it fills, seen from the centre of mass, as a share of the sphere  */
    int start;     /* first entry of its loop                                                 */
    int end;       /* facet that the part rolls to from here; itself: stable                  */
    int pose;      /* that a part rolling from here ends in                                   */
} rb_facet;

typedef struct rb_rest_pose {
    int facet;           /* the lowest one                                                    */
    int nfacet;          /* stable facets that count as this pose                             */
    double height;       /* of the centre of mass [m]                                         */
    double area;         /* of the lowest facet and those in its plane [m^2]                  */
    double barrier;      /* height of the centre of mass at the lowest saddle [m]; or INFINITY */
    double quasi_static; /* probability of the quasi-static estimate                          */
    int rolling;         /* 1: rolls about `axis` without climbing                            */
    double axis[3];      /* unit, axes of the part; 0: about any axis, a ball                 */
} rb_rest_pose;

typedef struct rb_part {
    double mass;       /* [kg]                                                                */
    double com[3];     /* in the frame of the body [m]                                        */
    double inertia[6]; /* about the com: xx yy zz xy xz yz [kg m^2]                           */
    double gravity;    /* [m/s^2]                                                             */
    double ground;     /* height of the floor [m]                                             */
    double radius;     /* of the ball about the centre of mass that holds the part [m]        */
    double size;       /* its largest dimension [m]                                           */
    int nvert, nface, nloop, npose;
    double *vert;   /* of the hull, from the centre of mass [m]        (nvert x 3)              */
    int *loop;      /* vertices of the faces, counter-clockwise        (nloop)                  */
    int *across;    /* face on the other side of the edge from this vertex on (nloop)           */
    rb_facet *face; /* faces of the hull                               (nface)                  */
    rb_rest_pose *pose; /* lowest first                                    (npose) */
    double barrier_max; /* [m] */
    uint64_t fingerprint;
} rb_part;

/* A mesh file (STL, OBJ, ..) as a part with a freejoint on a floor, all with friction and
 * restitution 0.3. scale: metres a unit of the file; density [kg/m^3]; inertia: "exact", of the
 * closed surface, or "convex", of its hull. load may be NULL. NULL: see err. */
rb_spec *rb_part_spec(const char *mesh, double scale, double density, const char *inertia,
                      const rb_load_opts *load, rb_error *err);

/* The only free body of a model on its floor. merge: valleys that are shallower than this share of
 * the radius are one pose (0.005). RB_BAD_INPUT: err says what the model must be. Call rb_part_free
 * in any case. */
rb_status rb_part_read(rb_part *p, const rb_model *m, double merge, rb_error *err);
void rb_part_free(rb_part *p);

/* The pose at the bottom of the valley that direction d (unit, axes of the part) belongs to. */
int rb_part_descend(const rb_part *p, const double d[3]);

/* ---- a drop -------------------------------------------------------------------------------------
 */

typedef enum rb_drop_outcome {
    RB_DROP_DECIDED = 0, /* its energy does not suffice to leave the pose                        */
    RB_DROP_REST,        /* it does not move any more                                            */
    RB_DROP_ROLLING,     /* it rolls on, in this pose                                            */
    RB_DROP_UNSETTLED,   /* moving when its time was over; pose -1                               */
    RB_DROP_FAILED,      /* a step could not be certified; pose -1                               */
    RB_DROP_OUTCOMES
} rb_drop_outcome;

const char *rb_drop_word(rb_drop_outcome outcome);

typedef struct rb_drop {
    int pose;
    rb_drop_outcome outcome;
    double time; /* simulated, the fall before the first possible contact included [s]         */
    int steps;
    int retries; /* steps without an answer, repeated shorter and in the end as fixed steps */
} rb_drop;

typedef struct rb_drop_opts {
    uint64_t seed;
    double height; /* of the centre of mass above the floor at the start [m]                    */
    double spin;   /* standard deviation of each angular velocity at the start [rad/s]          */
    double time;   /* simulated at most [s]                                                     */
    int full;      /* 1: simulate to rest, even where the energy has decided                    */
    rb_step_opts step;
} rb_drop_opts;

/* impulse, seed 1, 10 s; height and step follow from the part: rb_drop_opts_finish. */
rb_drop_opts rb_drop_opts_default(void);

/* Where they are 0: the height 10 sizes of the part, the step a fiftieth of the time that it takes
 * to tip, at most `longest` [s] (INFINITY: any). RB_BAD_INPUT: from that height it would begin in
 * the floor. */
rb_status rb_drop_opts_finish(rb_drop_opts *o, const rb_part *p, double longest, rb_error *err);

/* Drop number k, with random numbers that depend on seed and k alone. *d may move.
 * RB_NOMEM and errors of the model are a status; a step without an answer is RB_DROP_FAILED. */
rb_status rb_drop_run(const rb_part *p, const rb_model *m, const rb_drop_opts *s, int k,
                      rb_data **d, rb_drop *out, rb_error *err);

/* Wilson's interval of k successes in n trials, 95 % two-sided (Q.6). */
void rb_wilson(int k, int n, double *low, double *high);

#ifdef __cplusplus
}
#endif

#endif
