/* Rotation of a rigid body without torque, exact to rounding however long it lasts. */
#ifndef RB_MATH_TOP_H
#define RB_MATH_TOP_H

/* The inertia as the rotation needs it. Axes: any that are fixed to the body. */
typedef struct rb_top {
    double J[6];  /* about the centre of mass, xx yy zz xy xz yz [kg m^2]                        */
    double iJ[6]; /* its inverse                                                                 */
    double moment[3]; /* principal moments, ascending                                            */
    int axis; /* 0, 1, 2: J is diagonal, the other two moments are equal; 3: all three; -1: none  */
} rb_top;

/* 0: the inertia is not positive. */
int rb_top_make(const double J[6], rb_top *top);

/* Orientation q (body to world) and angular velocity w (body axes) after t seconds; t may be
 * negative. The angular momentum in the world and the energy are those of the start to rounding
 * (B.1) to (B.4). */
void rb_top_turn(const rb_top *top, double t, double q[4], double w[3]);

/* dw/dt = J^-1 (J w x w), body axes. */
void rb_top_rate(const rb_top *top, const double w[3], double rate[3]);

/* Bounds of |w| and |dw/dt| for all times. */
double rb_top_spin(const rb_top *top, const double w[3]);
double rb_top_bend(const rb_top *top, const double w[3]);

#endif
