/* Measurements: contacts of the last step with their forces, and sensors.
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

/* How many the last step had, with and without force, also where that is more than `capacity`; the
 * first `capacity` are written to `out` (may be NULL where capacity is 0), in the order of their
 * geoms. */
int rb_contact_forces(const rb_model *m, const rb_data *d, int capacity, rb_contact_force *out);

/* Mean force [N] and torque about the centre of mass [N m], world axes, that all contacts of the
 * last step exerted on a body. Needs kinematics and rb_frames. */
void rb_contact_on_body(const rb_model *m, const rb_data *d, int body, double force[3],
                        double torque[3]);

/* What touched what: normal force [N] between two bodies in the last step; body2 = -1: all others.
 * 0: they did not touch, or touched without force. */
double rb_contact_between(const rb_model *m, const rb_data *d, int body1, int body2);

/* ---- sensors ----------------------------------------------------------------------------------
 */

/* All sensors of the model at the state of d, into d->sensor; the numbers of sensor i begin at
 * rb_model.sensor_adr[i], rb_model.sensor_dim[i] of them. rb_step calls it at its end.
 *
 * Positions and velocities are those of the state. Forces of contacts, limits and equalities are
 * those of the last step, impulse over h; accelerations follow from them and from the forces at the
 * state: M qdd + c = tau + passive + actuation + J' p / h. Before any step constraints have no
 * force. Values of user sensors are left as the caller wrote them.
 *
 * Runs rb_kinematics, rb_velocity, rb_frames and rb_actuation itself. Delayed sensors keep a sample
 * with every call. RB_SINGULAR: a moving part has no inertia, and sensors of accelerations are NAN;
 * the same for RB_NOMEM. */
rb_status rb_sensors(const rb_model *m, rb_data *d);

/* Adds noise of the deviations that the model gives to numbers in the order of rb_data.sensor: the
 * sum of twelve uniform numbers each, the same on every machine. Steps never add noise. */
void rb_sensor_noise(const rb_model *m, rb_rng *rng, double *values);

/* Title of number k of rb_data.sensor: "NAME", or "NAME:0", "NAME:1" .. of a sensor with several; a
 * sensor without a name is "TYPE.INDEX". Written to buf, whose start is returned; what is too long
 * is cut, and "" where k is no number of a sensor. */
const char *rb_sensor_title(const rb_model *m, int k, char *buf, size_t size);

#ifdef __cplusplus
}
#endif

#endif
