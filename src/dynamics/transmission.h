/* What actuators act on: a row J of moment arms, rate = J v, tau = J' force. Its entries are not
 * stored but visited, once for the rate and once for the forces. */
#ifndef RB_DYNAMICS_TRANSMISSION_H
#define RB_DYNAMICS_TRANSMISSION_H

#include "rattleback/model.h"

/* What is done with the entries of J. */
typedef struct rb_arm_visit {
    const double *v;
    double rate;  /* J v                                                                       */
    double sum;   /* of |J|                                                                    */
    double *out;  /* NULL, or out += scale J                                                   */
    double *out2; /* NULL, or both with |J|: out += scale |J|, out2 += scale2 |J|              */
    double scale, scale2;
} rb_arm_visit;

void rb_transmission_arms(const rb_model *m, const rb_data *d, int i, rb_arm_visit *to);
double rb_transmission_length(const rb_model *m, const rb_data *d, int i);

/* RB_LAW_ORIENTATION: the turn, its rate, and the row of one of its three axes. */
void rb_transmission_turn(const rb_model *m, const rb_data *d, int i, double quat[4], double w[3]);
void rb_transmission_axis(const rb_model *m, const rb_data *d, int i, int axis, rb_arm_visit *to);

/* A contact whose bodies are pulled together along its normal by `share`. */
void rb_transmission_touch(const rb_model *m, const rb_data *d, const rb_touch *touch, double share,
                           rb_arm_visit *to);

#endif
