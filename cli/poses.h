/* What the files of `rattleback poses` share: the part and its poses, one drop, the record.
 *
 * A pose is a region of the unit sphere of directions that point down in the axes of the part.
 * Over it stands the landscape h(d) = max over the hull of d.(x - c): the height of the centre of
 * mass c when the part touches the ground that way. Poses are the valleys of h.
 * Manual: docs/manual/poses.md. Equations (Q.*): docs/theory/poses.md. */
#ifndef RATTLEBACK_CLI_POSES_H
#define RATTLEBACK_CLI_POSES_H

#include <stdio.h>

#include "model.h"
#include "rattleback/step.h"

/* ---- the part -----------------------------------------------------------------------------------
 */

typedef struct facet {
    double n[3];   /* outward normal, axes of the part                                        */
    double height; /* of the centre of mass above it [m]                                      */
    double area;   /* [m^2]                                                                   */
    double solid;  /* angle it fills, seen from the centre of mass, as a share of the sphere  */
    int start;     /* first entry of its loop                                                 */
    int end;       /* facet that the part rolls to from here; itself: stable                  */
    int pose;      /* that a part rolling from here ends in                                   */
} facet;

typedef struct pose {
    int facet;           /* the lowest one                                                    */
    int nfacet;          /* stable facets that count as this pose                             */
    double height;       /* of the centre of mass [m]                                         */
    double area;         /* of the lowest facet and those in its plane [m^2]                  */
    double barrier;      /* height of the centre of mass at the lowest way out [m]; INFINITY  */
    double quasi_static; /* probability of the quasi-static estimate                          */
    int rolling;         /* 1: rolls about `axis` without climbing                            */
    double axis[3];      /* unit, axes of the part; 0: about any axis, a ball                 */
} pose;

typedef struct part {
    double mass;       /* [kg]                                                                */
    double com[3];     /* in the frame of the body [m]                                        */
    double inertia[6]; /* about the com: xx yy zz xy xz yz [kg m^2]                           */
    double gravity;    /* [m/s^2]                                                             */
    double ground;     /* height of the floor [m]                                             */
    double radius;     /* of the ball about the centre of mass that holds the part [m]        */
    double size;       /* its largest dimension [m]                                           */
    int nvert, nface, nloop, npose;
    double *vert; /* of the hull, from the centre of mass [m]        (nvert x 3)              */
    int *loop;    /* vertices of the faces, counter-clockwise        (nloop)                  */
    int *across;  /* face on the other side of the edge from this vertex on (nloop)           */
    facet *face;  /* faces of the hull                               (nface)                  */
    pose *pose;   /* lowest first                                    (npose)                  */
    double barrier_max; /* [m] */
    uint64_t fingerprint;
} part;

/* The only free body of a model on its floor. merge: valleys that are shallower than this share of
 * the radius are one pose. 0: a sentence was printed; what is there is freed by part_free. */
int part_read(part *p, const rb_model *m, const char *file, double merge);
void part_free(part *p);

/* From the hull to facets, poses and the quasi-static estimate. 0: out of memory. */
int part_find_poses(part *p, double merge);

/* The pose at the bottom of the valley that direction d (unit, axes of the part) belongs to. */
int part_descend(const part *p, const double d[3]);

/* ---- a drop -------------------------------------------------------------------------------------
 */

typedef enum drop_outcome {
    DROP_DECIDED = 0, /* its energy does not suffice to leave the pose                        */
    DROP_REST,        /* it does not move any more                                            */
    DROP_ROLLING,     /* it rolls on, in this pose                                            */
    DROP_UNSETTLED,   /* still lively when its time was over; pose -1                         */
    DROP_FAILED,      /* a step could not be certified; pose -1                               */
    DROP_OUTCOMES
} drop_outcome;

const char *drop_word(drop_outcome outcome);

typedef struct drop {
    int pose;
    drop_outcome outcome;
    double time; /* simulated, the fall before the first possible contact included [s]         */
    int steps;
    int retries; /* tries of steps without an answer, repeated shorter and at last as fixed steps */
} drop;

typedef struct drop_settings {
    uint64_t seed;
    double height; /* of the centre of mass above the floor at the start [m]                    */
    double spin;   /* standard deviation of each angular velocity at the start [rad/s]          */
    double time;   /* simulated at most [s]                                                     */
    int full;      /* 1: to the end, though energy has decided                                  */
    rb_step_opts step;
} drop_settings;

/* Drop number k, from its own random numbers: the same whoever asks, whenever. *d may move.
 * RB_NOMEM and errors of the model are a status; a step without an answer is DROP_FAILED. */
rb_status drop_run(const part *p, const rb_model *m, const drop_settings *s, int k, rb_data **d,
                   drop *out, rb_error *err);

/* ---- many of them -------------------------------------------------------------------------------
 */

typedef struct poses_options {
    model_options model; /* first: the setters of model.h write to it */
    const char *file;    /* the model, or the mesh                    */
    int is_mesh;
    double density, scale;
    const char *inertia, *stepper;
    int drops, threads;
    double precision; /* half-width of all intervals at which to stop; 0: all drops */
    double merge;     /* share of the radius                                        */
    const char *csv, *svg, *record;
    drop_settings drop;
    double friction, restitution; /* NAN: the model's */
} poses_options;

typedef struct poses_tally {
    int drops;
    const int *count; /* drops that ended in each pose    (npose)    */
    int outcome[DROP_OUTCOMES];
    double time; /* sum of the simulated times [s]                   */
    double steps, retries;
    double cpu, wall; /* [s] */
    int interrupted;
} poses_tally;

/* Wilson's interval of k successes in n trials, 95 % two-sided (Q.6). */
void wilson(int k, int n, double *low, double *high);

/* 1, or 0 after a sentence. */
int poses_options_parse(poses_options *o, int argc, char **argv);
void poses_help(FILE *out);

/* The model that o asks for; NULL after a sentence. */
rb_model *poses_load(poses_options *o);

void poses_report_text(const poses_options *o, const part *p, const poses_tally *t);
void poses_report_json(const poses_options *o, const part *p, const poses_tally *t);
int poses_report_svg(const poses_options *o, const part *p, const poses_tally *t);

/* The record of a run: append only, written in blocks in the order of the drops, so that it can be
 * continued after a kill. */
typedef struct poses_record {
    FILE *file;
    const char *path;
    int written; /* drops in it */
} poses_record;

/* What is in the file, drops 0 .. *n - 1, at most `room` of them; opens it for more. A last line
 * that was cut off is removed. 0 after a sentence: another program's file, other settings. */
int poses_record_open(poses_record *r, const char *path, uint64_t settings, int npose, drop *drops,
                      int room, int *n);
int poses_record_append(poses_record *r, const drop *drops, int upto);
int poses_record_close(poses_record *r);
int poses_write_csv(const char *path, const drop *drops, int n);

#endif
