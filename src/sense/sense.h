/* The parts of rb_sensors, one per file. All need kinematics, velocity and frames. */
#ifndef RB_SENSE_SENSE_H
#define RB_SENSE_SENSE_H

#include "rattleback/collide.h"
#include "rattleback/dynamics.h"
#include "rattleback/sensor.h"

/* A model, its data, and what sensors of accelerations and forces need; rb_data.sense_work. */
typedef struct rb_sense {
    const rb_model *m;
    rb_data *d;
    double
        *alpha; /* acceleration of each link: angular, of its origin; from the world (nlink x 6) */
    double
        *wrench; /* that its parent exerts on each body: force, moment about its origin (nbody x 6)
                  */
    double *qdd; /* (nv)                                                        */
    double *force; /* generalised force of all constraints of the last step (nv_all) */
} rb_sense;

/* ---- frames (frames.c) ---- */

typedef struct rb_frame {
    int body;
    double p[3], R[9];
} rb_frame;

rb_frame rb_frame_of(const rb_sense *s, int object, int index);

/* framepos .. framezaxis, framelinvel, frameangvel */
void rb_sense_picture(const rb_sense *s, int i, double out[2]);
void rb_sense_frame(const rb_sense *s, int i, double *out);

/* subtreecom, subtreelinvel, subtreeangmom */
void rb_sense_subtree(const rb_sense *s, int i, double *out);

/* ---- dynamics (forces.c) ---- */

/* Forces of the constraints of the last step, accelerations and forces between bodies. */
rb_status rb_sense_dynamics(rb_sense *s);

/* Acceleration (angular; linear) of a point of a body, gravity taken off: what is felt. */
void rb_felt_acceleration(const rb_sense *s, int body, const double p[3], double a[6]);

/* jointlimitpos .. tendonlimitfrc */
void rb_sense_limit(const rb_sense *s, int i, double *out);

/* ---- contacts (touching.c) ---- */

void rb_sense_touch(const rb_sense *s, int i, double *out);
void rb_sense_contact(const rb_sense *s, int i, double *out);

/* ---- places (ranging.c) ---- */

rb_shape rb_site_zone(const rb_sense *s, int site);
int rb_zone_has(const rb_shape *zone, const double x[3]); /* whether the point is inside */

void rb_sense_range(const rb_sense *s, int i, double *out);
void rb_sense_distance(const rb_sense *s, int i, double *out);
void rb_sense_inside(const rb_sense *s, int i, double *out);

/* ---- samples (delay.c) ---- */

/* Keeps the value as a sample, and replaces it by that of the past. */
void rb_sense_delay(const rb_sense *s, int i, double *value);

#endif
