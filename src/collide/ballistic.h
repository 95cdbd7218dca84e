/* Lower bounds of the time of impact of bodies in free flight: the keys of a heap of pairs. */
#ifndef RB_COLLIDE_BALLISTIC_H
#define RB_COLLIDE_BALLISTIC_H

/* Largest |omega| that a body with principal moments J > 0 and angular velocity w, in principal
 * axes, ever has while no torque acts on it [rad/s] (T.7). */
double rb_ballistic_spin(const double J[3], const double w[3]);

/* No collision before this time [s], INFINITY: never (T.8). room: distance less the shell [m], > 0;
 * speed: closing speed along the normal, turning included [m/s]; accel: relative acceleration along
 * it, > 0 closes [m/s^2]. */
double rb_ballistic_bound(double room, double speed, double accel);

#endif
