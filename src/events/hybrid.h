/* Within src/events: paradigms of pairs of geoms. Contact of a pair is a matter of impulses or of
 * constraints, and shifts from one to the other. Theory: docs/theory/hybrid.md, equations (H.*). */
#ifndef RB_EVENTS_HYBRID_H
#define RB_EVENTS_HYBRID_H

#include "events/events.h"

/* A pair that is in contact by constraints. All others are a matter of impulses. */
typedef struct rb_constraint_pair {
    int geom1, geom2;
    int active; /* a constraint of it had an impulse in the part that is being looked at          */
    int near;   /* a constraint of it was within reach, and neither far nor leaving               */
} rb_constraint_pair;

struct rb_paradigms {
    rb_constraint_pair *pairs; /* by geom1, geom2                                   (room) */
    int n, room;
    double h; /* of the whole step                                                                */
};

/* hybrid.c: speed up to which an approach of the contact is part of lasting contact (H.1), (H.2).
 * Needs kinematics and velocities. */
double rb_paradigms_slow(const rb_stage *s, const int geoms[2], const double normal[3],
                         const rb_material *material);

/* hybrid.c: whether the contact is no row of the part; near: gap that a slow candidate may have, as
 * a share of its way in a step; rates of its gap at both ends of the free motion. */
rb_flies rb_paradigms_flies(const rb_stage *s, const rb_contact *c, double near, double before,
                            double after);

/* hybrid_strike.c: p of the only constraint of the set, by the integral over its impulse.
 * RB_UNSUPPORTED: the law of its friction has none, p is as before. */
rb_status rb_paradigms_strike(rb_stage *s);

/* hybrid_strike.c: counts and reports the impulses p of an impact. */
void rb_paradigms_report(rb_stage *s);

#endif
