/* Measured impacts of a square puck on the ground, and two models of them.
 *
 * The data: 250 frames a second, finite differences as velocities (docs/design/square.md). Of every
 * drop the first impact counts: the state two frames before the velocity jumps, the state two
 * frames after it has calmed down, and the time between them. */
#ifndef RB_BENCH_SQUARE_H
#define RB_BENCH_SQUARE_H

#include "rattleback/step.h"

#define RB_SQUARE_FRAME    0.004 /* [s] of one frame                                        */
#define RB_SQUARE_HALF     0.03  /* [m] half side                                           */
#define RB_SQUARE_GYRATION 0.024494897427831779 /* [m] radius of gyration, side / sqrt(6)       */
#define RB_SQUARE_GRAVITY  9.52   /* [m/s^2] what the falls of the file show                 */
#define RB_SQUARE_TURN     0.0334 /* [rad] the file's angles are this much too small at rest */

/* In the plane: x right, z up, theta counter-clockwise. */
typedef struct rb_square_state {
    double x[3]; /* x, z [m], theta [rad]      */
    double v[3]; /* [m/s], [m/s], [rad/s]      */
} rb_square_state;

typedef struct rb_square_impact {
    int drop;
    rb_square_state before, after;
    int frames; /* from the one to the other */
} rb_square_impact;

typedef struct rb_squares {
    int n;                    /* impacts                                                      */
    int drops;                /* drops in the file                                            */
    rb_square_impact *impact; /* (n)                                                          */
} rb_squares;

/* drops.csv of the data. Drops whose first impact has no calm frames around it are left out: drops
 * - n of them. 0: err has a sentence. */
int rb_squares_read(const char *path, rb_squares *out, rb_error *err);
void rb_squares_free(rb_squares *s);

/* Angle between the nearest side and the ground when the lowest corner first touches [rad]. */
double rb_square_tilt(const rb_square_impact *s);

/* The plain model: the lowest corner is the only point that touches, Newton's restitution and
 * Coulomb's friction in one jump, free flight before and behind it. */
void rb_square_point(const rb_square_impact *s, double mu, double e, double v[3]);

/* A simulation of a model whose only joint is free, substeps steps a frame. *d may move. */
rb_status rb_square_simulate(const rb_model *m, const rb_step_opts *opts, int substeps,
                             const rb_square_impact *s, rb_data **d, double v[3], rb_error *err);

/* |v - w| with angular velocities times the radius of gyration [m/s]: the root of the energy. */
double rb_square_distance(const double v[3], const double w[3]);

#endif
