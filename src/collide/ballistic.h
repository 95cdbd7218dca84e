/* A lower bound of the time of impact of bodies in free flight: the key of a heap of pairs. */
#ifndef RB_COLLIDE_BALLISTIC_H
#define RB_COLLIDE_BALLISTIC_H

/* No collision before this time [s], INFINITY: never (T.9). room: distance less the shell [m];
 * speed: closing speed along the normal, turning included [m/s]; accel: relative acceleration along
 * it, > 0 closes [m/s^2]. */
double rb_ballistic_bound(double room, double speed, double accel);

#endif
