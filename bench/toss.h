/* Real tosses of a cube, and how far a simulation is from them.
 *
 * The data: ContactNets, 148 frames a second (docs/design/toss.md). A simulation starts at the
 * state of initial.csv and is compared at every frame behind it, without a correction. */
#ifndef RB_BENCH_TOSS_H
#define RB_BENCH_TOSS_H

#include "rattleback/step.h"

#define RB_TOSS_RATE  148.0  /* frames a second                                          */
#define RB_TOSS_HALF  0.0524 /* [m] half side of the cube, unit of the loss              */
#define RB_TOSS_WIDTH 0.1048 /* [m] unit of the position error                           */

typedef struct rb_toss {
    int id;
    double q[7], v[6]; /* start: position, quaternion; velocity, angular velocity in body axes */
    int start;         /* frame of the file that the simulation starts at                      */
    int nframe;        /* frames from there on, all of them compared                           */
    double *frame;     /* position, quaternion                                  (nframe x 7)   */
} rb_toss;

typedef struct rb_tosses {
    int n;
    rb_toss *toss;
} rb_tosses;

/* initial.csv and tosses.csv of a folder. 0: err has a sentence. */
int rb_tosses_read(const char *folder, rb_tosses *out, rb_error *err);
void rb_tosses_free(rb_tosses *t);

/* Means over the frames of a toss. */
typedef struct rb_toss_error {
    double loss;     /* |dp|^2 / RB_TOSS_HALF + angle^2, metres and radians: the authors'     */
    double position; /* |dp| / RB_TOSS_WIDTH                                                  */
    double angle;    /* [rad]                                                                 */
} rb_toss_error;

/* Simulates toss t on a model whose only joint is free, `substeps` steps a frame. *d may move. */
rb_status rb_toss_run(const rb_model *m, const rb_step_opts *opts, int substeps, const rb_toss *t,
                      rb_data **d, rb_toss_error *out, rb_error *err);

#endif
