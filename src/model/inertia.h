/* Mass, centre of mass and rotational inertia of a rigid body, and what is done with them. */
#ifndef RB_MODEL_INERTIA_H
#define RB_MODEL_INERTIA_H

typedef struct rb_inertia {
    double mass;   /* [kg]                                         */
    double com[3]; /* [m]                                          */
    double I[6];   /* about the com: xx yy zz xy xz yz   [kg m^2]  */
} rb_inertia;

/* The same body seen from a frame in which its own has origin p and rotation R (row major). */
void rb_inertia_move(const double p[3], const double R[9], rb_inertia *body);

/* a += b, both in the same frame. */
void rb_inertia_add(rb_inertia *a, const rb_inertia *b);

/* Moment about the line through `point` along the unit vector `axis` [kg m^2]; no cancellation. */
double rb_inertia_about(const rb_inertia *body, const double point[3], const double axis[3]);

#endif
