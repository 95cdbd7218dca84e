/* What the columns of `--ctrl` and `--pd` mean in a model. */
#ifndef RATTLEBACK_CLI_CONTROL_COLUMNS_H
#define RATTLEBACK_CLI_CONTROL_COLUMNS_H

#include "rattleback/io.h"

typedef enum control_kind {
    CONTROL_CTRL, /* control of actuator `at`                                       */
    CONTROL_TAU,  /* force or torque on dof `at`                                    */
    CONTROL_MOCAP /* of mocap body `at`: x y z qw qx qy qz                          */
} control_kind;

typedef struct control_channel {
    control_kind kind;
    int at, component;
} control_channel;

/* Columns of a joint with a target. */
typedef struct control_pd {
    int joint, dof, qadr;
    int q, v; /* columns of position and velocity; v -1: 0              */
    int kp, kd;
} control_pd;

/* A channel for each column: an actuator, a joint, or a mocap body with its component; NULL after a
 * sentence that names the column. */
control_channel *control_channels(const rb_table *table, const char *path, const rb_model *m,
                                  int maximal);

/* The joints that have targets; NULL after a sentence. */
control_pd *control_pd_joints(const rb_table *table, const char *path, const rb_model *m,
                              int maximal, int *count);

/* 1, or 0 after a sentence: a joint that has both a target and a torque. */
int control_pd_alone(const control_pd *pd, int npd, const control_channel *channel, int nchannel,
                     const rb_model *m);

#endif
