/* Within src/events: what the steppers that follow impacts share. The step itself is src/step. */
#ifndef RB_EVENTS_EVENTS_H
#define RB_EVENTS_EVENTS_H

#include "step/stage.h"

/* flight.c: deepest overlap of the pair at the start, <= 0. */
double rb_flight_overlap(const rb_flight *flight, int geom1, int geom2);

/* flight.c: contacts within the next h seconds at q0, v0, and their rates; arrays from the arena.
 * Then: which of them fly, h_full the whole step. */
rb_status rb_flight_find(rb_stage *s, rb_flight *out);
rb_status rb_flight_start(rb_stage *s, double h_full, double near, rb_flight *out);

/* flight.c: least_speed of v0. */
void rb_flight_floor(rb_stage *s);

/* flight.c: speed below which an approach with restitution e is part of rest. */
double rb_flight_slow(const rb_stage *s, double h_full, double e);

/* flight.c: distance of the centres of curvature of a geom from the centre of mass, at most [m];
 * far: that of its own centre; 0: it has corners, and what rolls over them collides. A body that
 * rolls with w comes down with `roll` [m/s^2] beside its weight, where the normal stands still. */
double rb_flight_bend(const rb_model *m, int geom, double far);
double rb_flight_roll(const double w[3], const double normal[3], double bend);

/* flight.c: rate of the gap of a contact at the velocities of d [m/s]. */
double rb_contact_rate(const rb_model *m, const rb_data *d, const rb_contact *contact);

/* impacts.c: one of the contacts that were found at q0, v0 may come as an impact. */
int rb_stage_impact_comes(rb_stage *s, double h_full, const rb_flight *found);

/* impacts.c: v0 after the impacts of all contacts that touch and approach at q0. */
rb_status rb_stage_impact(rb_stage *s, double h_full);

/* impacts.c: v0 after one impact of all of s->contacts, which are sorted; set, p of it. Kinematics
 * are those of q0, v0. */
rb_status rb_stage_strike(rb_stage *s, double h_full);

/* single_contact.c: islands of an impact that are one plain contact: their impulses, restitution
 * and all, and a mark in skip (nisland); the others are left to rb_stage_solve_others. */
rb_status rb_stage_single(rb_stage *s, unsigned char *skip);

#endif
