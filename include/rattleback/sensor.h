/* What a simulation tells: contacts of the last step with their forces, and sensors.
 *
 * Frames, signs and units are those of MuJoCo; docs/theory/conventions.md has them, the manual is
 * docs/manual/sensors.md. */
#ifndef RATTLEBACK_SENSOR_H
#define RATTLEBACK_SENSOR_H

#include "rattleback/base.h"
#include "rattleback/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- contacts of the last step ----------------------------------------------------------------
 */

/* A point at which two geoms touched, or could have touched, in the last step. Forces are mean
 * values over that step: impulse / h. They act on geom 2, and with the other sign on geom 1. */
typedef struct rb_contact_force {
    int geom1, geom2; /* geom1 < geom2                                                          */
    int body1, body2;
    int mode;          /* rb_mode: RB_MODE_OPEN without force, RB_MODE_STICK, RB_MODE_SLIDE      */
    double gap;        /* at the start of the step [m]                                           */
    double pos[3];     /* where, world [m]                                                       */
    double frame[9];   /* rows: normal from geom 1 to geom 2, two tangents; world                */
    double impulse[6]; /* along n, t1, t2 [N s], about n, t1, t2 [N m s]                         */
    double force[6];   /* the same over the length of the step [N], [N m]; 0 before any step     */
    double slip[2];    /* velocity of geom 2 against geom 1 along t1, t2 after the step [m/s]    */
} rb_contact_force;

/* How many the last step had, with and without force; the first `capacity` are written to `out`
 * (may be NULL where capacity is 0), in the order of their geoms. */
int rb_contact_forces(const rb_model *m, const rb_data *d, int capacity, rb_contact_force *out);

/* Mean force [N] and torque about the centre of mass [N m], world axes, that all contacts of the
 * last step exerted on a body. Needs rb_frames. */
void rb_contact_on_body(const rb_model *m, const rb_data *d, int body, double force[3],
                        double torque[3]);

/* What touched what: normal force [N] between two bodies in the last step; body2 = -1: all others.
 * 0: they did not touch, or touched without force. */
double rb_contact_between(const rb_model *m, const rb_data *d, int body1, int body2);

#ifdef __cplusplus
}
#endif

#endif
